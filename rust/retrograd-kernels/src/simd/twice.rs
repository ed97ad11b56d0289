//! Two vectors as one.
//!
//! The steps of a function wait for each other, and a CPU looks ahead no further than its scheduler holds instructions,
//! some two turns of a loop. Where two arguments take each step together, it always has one to go on with.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::vector::Vector;

/// Two vectors, each step of which is next to the other's.
#[derive(Clone, Copy, Debug)]
pub struct Twice<V>(V, V);

impl<V> Twice<V> {
    /// Of both.
    #[inline(always)]
    pub fn new(first: V, second: V) -> Self {
        Self(first, second)
    }
    /// Both.
    #[inline(always)]
    pub fn parts(self) -> (V, V) {
        (self.0, self.1)
    }
}

macro_rules! operators {
    ($($trait:ident $name:ident),+) => { $(
        impl<V: Vector> $trait for Twice<V> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, o: Self) -> Self {
                Self(self.0.$name(o.0), self.1.$name(o.1))
            }
        }
    )+ };
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl<V: Vector> Neg for Twice<V> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

/// Methods of one, two or three vectors, of both halves.
macro_rules! methods {
    ($($name:ident $($o:ident)*),+) => { $(
        #[inline(always)]
        fn $name(self $(, $o: Self)*) -> Self {
            Self(self.0.$name($($o.0),*), self.1.$name($($o.1),*))
        }
    )+ };
}

impl<V: Vector> Vector for Twice<V> {
    type Elem = V::Elem;
    type Mask = (V::Mask, V::Mask);
    const LEN: usize = 2 * V::LEN;

    const FUSED: bool = V::FUSED;
    const LOOKUP: bool = V::LOOKUP;
    #[inline(always)]
    fn lookup(self, table: &[V::Elem; 32]) -> Self {
        Self(self.0.lookup(table), self.1.lookup(table))
    }

    #[inline(always)]
    unsafe fn load(p: *const V::Elem) -> Self {
        // SAFETY: duties 1 and 2, for either half.
        unsafe { Self(V::load(p), V::load(p.add(V::LEN))) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const V::Elem, len: usize) -> Self {
        // SAFETY: duties 1 and 2, for the elements of either half.
        unsafe {
            if len < V::LEN {
                let first = V::load_first(p, len);
                Self(first, first.of(0.0))
            } else {
                Self(V::load(p), V::load_first(p.add(V::LEN), len - V::LEN))
            }
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut V::Elem) {
        // SAFETY: duty 1, for either half.
        unsafe {
            self.0.store(p);
            self.1.store(p.add(V::LEN));
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut V::Elem, len: usize) {
        // SAFETY: duty 1, for the elements of either half.
        unsafe {
            if len < V::LEN {
                self.0.store_first(p, len);
            } else {
                self.0.store(p);
                self.1.store_first(p.add(V::LEN), len - V::LEN);
            }
        }
    }
    #[inline(always)]
    unsafe fn transpose(from: *const V::Elem, step: isize, to: *mut V::Elem, to_step: isize) {
        for i in 0..2 {
            for j in 0..2 {
                let (i, j, len) = (i as isize, j as isize, V::LEN as isize);
                // SAFETY: duties 1 to 3, for a quarter of the square.
                unsafe {
                    V::transpose(from.offset(len * (i * step + j)), step, to.offset(len * (j * to_step + i)), to_step);
                }
            }
        }
    }

    #[inline(always)]
    fn splat(self, x: V::Elem) -> Self {
        let all = self.0.splat(x);
        Self(all, all)
    }
    #[inline(always)]
    fn lt(self, o: Self) -> Self::Mask {
        (self.0.lt(o.0), self.1.lt(o.1))
    }
    #[inline(always)]
    fn eq(self, o: Self) -> Self::Mask {
        (self.0.eq(o.0), self.1.eq(o.1))
    }
    #[inline(always)]
    fn select(self, mask: Self::Mask, o: Self) -> Self {
        Self(self.0.select(mask.0, o.0), self.1.select(mask.1, o.1))
    }
    #[inline(always)]
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        (V::both(a.0, b.0), V::both(a.1, b.1))
    }
    #[inline(always)]
    fn mask_bits(mask: Self::Mask) -> u32 {
        V::mask_bits(mask.0) | V::mask_bits(mask.1) << V::LEN
    }
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let (a, b) = (self.0.split(), self.1.split());
        (Self(a.0, b.0), Self(a.1, b.1))
    }
    methods!(
        fma b c, fused b c, near_reciprocal, quotient o, sqrt, at_most o, at_least o, and o, or o, xor o, bits_plus o, up,
        down, low_to_sign, ldexp n, with_ends_of_log x
    );
}
