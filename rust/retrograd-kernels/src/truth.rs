//! The element of bool tensors.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A byte that is true if it is not 0: the element of bool tensors.
///
/// Memory holds any byte: `empty` does not write it, `view` reinterprets it, and other libraries write to what they
/// share. A Rust `bool` must be 0 or 1, so element memory is never read as one. Two true bytes are equal, whatever
/// their bits.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Truth(u8);

impl Truth {
    pub const FALSE: Self = Self(0);
    pub const TRUE: Self = Self(1);

    #[inline(always)]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Truth {
    #[inline(always)]
    fn from(b: bool) -> Self {
        Self(b as u8)
    }
}
impl From<Truth> for bool {
    #[inline(always)]
    fn from(t: Truth) -> Self {
        t.get()
    }
}
impl PartialEq for Truth {
    #[inline(always)]
    fn eq(&self, o: &Self) -> bool {
        self.get() == o.get()
    }
}
impl Eq for Truth {}
impl PartialOrd for Truth {
    #[inline(always)]
    fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}
impl Ord for Truth {
    #[inline(always)]
    fn cmp(&self, o: &Self) -> Ordering {
        self.get().cmp(&o.get())
    }
}
impl Hash for Truth {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}
impl Not for Truth {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        (!self.get()).into()
    }
}
impl BitAnd for Truth {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, o: Self) -> Self {
        (self.get() & o.get()).into()
    }
}
impl BitOr for Truth {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, o: Self) -> Self {
        (self.get() | o.get()).into()
    }
}
impl BitXor for Truth {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, o: Self) -> Self {
        (self.get() ^ o.get()).into()
    }
}
impl fmt::Debug for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointwise::Cast;
    use crate::real::Ring;

    #[test]
    fn every_byte_but_zero_is_true_and_all_of_those_are_one_value() {
        for byte in 0..=u8::MAX {
            let t = Truth(byte);
            assert_eq!(t.get(), byte != 0);
            assert_eq!(t, Truth::from(byte != 0));
            assert_eq!(t.cmp(&Truth::TRUE), (byte != 0).cmp(&true));
            assert_eq!(t.partial_cmp(&Truth::FALSE), (byte != 0).partial_cmp(&false));
            for o in [0, 1, 2, 255].map(Truth) {
                let order = t.get().cmp(&o.get());
                assert_eq!(
                    [t < o, t <= o, t > o, t >= o],
                    [order.is_lt(), order.is_le(), order.is_gt(), order.is_ge()]
                );
            }
            let as_int: i64 = t.cast();
            let as_float: f32 = t.cast();
            let again: Truth = t.cast();
            assert_eq!(
                (as_int, as_float, again.0),
                (i64::from(byte != 0), f32::from(u8::from(byte != 0)), (byte != 0) as u8)
            );
        }
    }

    #[test]
    fn arithmetic_gives_bytes_of_0_and_1() {
        for a in [0, 1, 2, 254, 255] {
            for b in [0, 1, 2, 254, 255] {
                let (p, q) = (a != 0, b != 0);
                let (a, b) = (Truth(a), Truth(b));
                assert_eq!([a.add(b).0, a.mul(b).0, a.sub(b).0, a.neg().0], [p | q, p & q, p ^ q, !p].map(u8::from));
            }
        }
    }
}
