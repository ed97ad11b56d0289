//! Vectors without any named instruction, for architectures that have no others here: the compiler makes what it can of
//! the loops. Tests compare those of SSE2 with them.

use std::ops::{Add, Div, Mul, Neg, Sub};

use half::{bf16, f16};

use super::super::pointwise::{bf16_of_f32, f16_of_f32, f32_of_bf16, f32_of_f16};
use super::vector::{Isa, Vector};

/// What every CPU of this architecture runs.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Isa for Portable {
    type F32 = Lanes<f32, 4>;
    type F64 = Lanes<f64, 2>;

    #[inline(always)]
    unsafe fn load_f16(p: *const f16) -> Self::F32 {
        // SAFETY: duty 1.
        Lanes(unsafe { p.cast::<[f16; 4]>().read_unaligned() }.map(f32_of_f16))
    }
    #[inline(always)]
    unsafe fn load_bf16(p: *const bf16) -> Self::F32 {
        // SAFETY: duty 1.
        Lanes(unsafe { p.cast::<[bf16; 4]>().read_unaligned() }.map(f32_of_bf16))
    }
    #[inline(always)]
    unsafe fn store_f16(x: Self::F32, p: *mut f16) {
        // SAFETY: duty 1.
        unsafe { p.cast::<[f16; 4]>().write_unaligned(x.0.map(f16_of_f32)) }
    }
    #[inline(always)]
    unsafe fn store_bf16(x: Self::F32, p: *mut bf16) {
        // SAFETY: duty 1.
        unsafe { p.cast::<[bf16; 4]>().write_unaligned(x.0.map(bf16_of_f32)) }
    }
}

/// An array as a vector: 16 bytes, which is what baselines have registers of.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<T, const N: usize>([T; N]);

/// Whether a fused multiply-add is one instruction here.
const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// Methods that do `$e` to each lane.
macro_rules! each {
    ($n:expr, $x:ident, $y:ident: $($name:ident => $e:expr),+ $(,)?) => { $(
        #[inline(always)]
        fn $name(self, o: Self) -> Self {
            let mut out = self;
            for i in 0..$n {
                let ($x, $y) = (self.0[i], o.0[i]);
                out.0[i] = $e;
            }
            out
        }
    )+ };
}

macro_rules! portable {
    ($($t:ident, $bits:ident, $n:literal, |$a:ident, $b:ident, $c:ident| $fused:expr);+) => { $(
        impl Add for Lanes<$t, $n> {
            type Output = Self;
            each!($n, x, y: add => x + y);
        }
        impl Sub for Lanes<$t, $n> {
            type Output = Self;
            each!($n, x, y: sub => x - y);
        }
        impl Mul for Lanes<$t, $n> {
            type Output = Self;
            each!($n, x, y: mul => x * y);
        }
        impl Div for Lanes<$t, $n> {
            type Output = Self;
            each!($n, x, y: div => x / y);
        }
        impl Neg for Lanes<$t, $n> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.xor(self.of(-0.0))
            }
        }
        impl Vector for Lanes<$t, $n> {
            type Elem = $t;
            /// All bits of a lane set, or none.
            type Mask = Self;
            const LEN: usize = $n;
            const FUSED: bool = FUSED;

            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: duty 2; an array has the layout of its elements.
                Self(unsafe { p.cast::<[$t; $n]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn load_first(p: *const $t, len: usize) -> Self {
                let mut out = [0.0; $n];
                for (i, x) in out.iter_mut().enumerate().take(len) {
                    // SAFETY: duty 2, for each `i < len`.
                    *x = unsafe { *p.add(i) };
                }
                Self(out)
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: duty 1; an array has the layout of its elements.
                unsafe { p.cast::<[$t; $n]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            unsafe fn store_first(self, p: *mut $t, len: usize) {
                for (i, &x) in self.0.iter().enumerate().take(len) {
                    // SAFETY: duty 1, for each `i < len`.
                    unsafe { *p.add(i) = x }
                }
            }
            #[inline(always)]
            unsafe fn transpose(from: *const $t, step: isize, to: *mut $t, to_step: isize) {
                // As integers, since not every CPU keeps the bits of a NaN that it moves as a float.
                let (from, to) = (from.cast::<$bits>(), to.cast::<$bits>());
                let mut rows = [[0; $n]; $n];
                for (i, row) in (0..).zip(&mut rows) {
                    // SAFETY: duty 2.
                    *row = unsafe { from.offset(i * step).cast::<[$bits; $n]>().read_unaligned() };
                }
                for j in 0..$n {
                    let row = rows.map(|row| row[j]);
                    // SAFETY: duty 3.
                    unsafe { to.offset(j as isize * to_step).cast::<[$bits; $n]>().write_unaligned(row) };
                }
            }
            #[inline(always)]
            fn splat(self, x: $t) -> Self {
                Self([x; $n])
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                let mut out = c;
                for i in 0..$n {
                    let (x, y, z) = (self.0[i], b.0[i], c.0[i]);
                    out.0[i] = if FUSED { x.mul_add(y, z) } else { x * y + z };
                }
                out
            }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                let mut out = c;
                for i in 0..$n {
                    let ($a, $b, $c) = (self.0[i], b.0[i], c.0[i]);
                    out.0[i] = if FUSED { $a.mul_add($b, $c) } else { $fused };
                }
                out
            }
            each!($n, x, y:
                at_most => if x > y { y } else { x },
                at_least => if x < y { y } else { x },
                lt => $t::from_bits(((x < y) as $bits).wrapping_neg()),
                eq => $t::from_bits(((x == y) as $bits).wrapping_neg()),
                and => $t::from_bits(x.to_bits() & y.to_bits()),
                or => $t::from_bits(x.to_bits() | y.to_bits()),
                xor => $t::from_bits(x.to_bits() ^ y.to_bits()),
                bits_plus => $t::from_bits(x.to_bits().wrapping_add(y.to_bits())),
            );
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(self.0.map($t::sqrt))
            }
            #[inline(always)]
            fn select(self, mask: Self, o: Self) -> Self {
                o.xor(mask.and(self.xor(o)))
            }
            #[inline(always)]
            fn both(a: Self, b: Self) -> Self {
                a.and(b)
            }
            #[inline(always)]
            fn mask_bits(mask: Self) -> u32 {
                let mut bits = 0;
                for i in 0..$n {
                    bits |= u32::from(mask.0[i].to_bits() != 0) << i;
                }
                bits
            }
            #[inline(always)]
            fn up(self) -> Self {
                let mut out = self;
                for i in 0..$n {
                    out.0[i] = $t::from_bits(self.0[i].to_bits() << ($t::MANTISSA_DIGITS - 1));
                }
                out
            }
            #[inline(always)]
            fn low_to_sign(self) -> Self {
                let mut out = self;
                for i in 0..$n {
                    out.0[i] = $t::from_bits(self.0[i].to_bits() << ($bits::BITS - 1));
                }
                out
            }
            #[inline(always)]
            fn down(self) -> Self {
                let mut out = self;
                for i in 0..$n {
                    out.0[i] = $t::from_bits(self.0[i].to_bits() >> ($t::MANTISSA_DIGITS - 1));
                }
                out
            }
        }
    )+ };
}
portable!(
    f32, u32, 4, |a, b, c| (f64::from(a) * f64::from(b) + f64::from(c)) as f32;
    f64, u64, 2, |a, b, c| fused(a, b, c)
);

/// `a * b + c` of the exact product, which Dekker's method gives as a sum of two numbers.
///
/// T. J. Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18 (1971).
#[inline(always)]
fn fused(a: f64, b: f64, c: f64) -> f64 {
    let (a1, a0) = halves(a);
    let (b1, b0) = halves(b);
    let p = a * b;
    if p == 0.0 {
        return p + c;
    }
    let p0 = ((a1 * b1 - p) + a1 * b0 + a0 * b1) + a0 * b0;
    let s = p + c;
    let z = s - p;
    s + ((p - (s - z)) + (c - z) + p0)
}

/// A number as the sum of two of 26 bits.
#[inline(always)]
fn halves(x: f64) -> (f64, f64) {
    let t = 134_217_729.0 * x;
    let high = t - (t - x);
    (high, x - high)
}
