//! Floats as their bits: the next one, and the parts of one.

use half::{bf16, f16};

use crate::pointwise::{Map1, Map2};

/// The next float from `a` towards `b`, which may be a half.
#[derive(Clone, Copy, Debug)]
pub struct NextAfter;

macro_rules! next_after {
    ($($t:ty, $zero:expr;)*) => { $(
        impl Map2<$t, $t, $t> for NextAfter {
            #[inline(always)]
            fn f(&self, a: $t, b: $t) -> $t {
                if a.is_nan() || b.is_nan() {
                    return <$t>::NAN;
                }
                if a == b {
                    return b;
                }
                if a == $zero {
                    let tiny = <$t>::from_bits(1);
                    return if b > $zero { tiny } else { -tiny };
                }
                // Magnitudes are ordered as their bits are.
                let bits = a.to_bits();
                <$t>::from_bits(if (b > a) == (a > $zero) { bits + 1 } else { bits - 1 })
            }
        }
    )* };
}
next_after! {
    f32, 0.0;
    f64, 0.0;
    f16, f16::ZERO;
    bf16, bf16::ZERO;
}

/// The fraction of a number, from 1/2 to 1 in magnitude, and the power of two that it is to be multiplied by. Zeros,
/// infinities and NaN are their own fractions.
#[inline(always)]
fn parts(x: f64) -> (f64, i32) {
    const EXPONENT: u64 = 0x7ff << 52;
    let below = if x.abs() < f64::MIN_POSITIVE { 54 } else { 0 };
    // A subnormal number has its exponent in the position of its first digit.
    let bits = (if below == 0 { x } else { x * (1u64 << 54) as f64 }).to_bits();
    if x == 0.0 || bits & EXPONENT == EXPONENT {
        return (x, 0);
    }
    (f64::from_bits(bits & !EXPONENT | 1022 << 52), (bits >> 52 & 0x7ff) as i32 - 1022 - below)
}

/// The fraction of `parts`.
#[derive(Clone, Copy, Debug)]
pub struct Fraction;
/// The exponent of `parts`.
#[derive(Clone, Copy, Debug)]
pub struct Exponent;

impl Map1<f64, f64> for Fraction {
    #[inline(always)]
    fn f(&self, x: f64) -> f64 {
        parts(x).0
    }
}
impl Map1<f32, f32> for Fraction {
    #[inline(always)]
    fn f(&self, x: f32) -> f32 {
        parts(x.into()).0 as f32
    }
}
impl Map1<f64, i32> for Exponent {
    #[inline(always)]
    fn f(&self, x: f64) -> i32 {
        parts(x).1
    }
}
impl Map1<f32, i32> for Exponent {
    #[inline(always)]
    fn f(&self, x: f32) -> i32 {
        parts(x.into()).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours() {
        let next = |a: f64, b: f64| Map2::f(&NextAfter, a, b);
        assert_eq!([next(1.0, 2.0), next(1.0, 0.0)], [1.0f64.next_up(), 1.0f64.next_down()]);
        assert_eq!([next(-1.0, 2.0), next(-1.0, -2.0)], [(-1.0f64).next_up(), (-1.0f64).next_down()]);
        assert_eq!([next(0.0, 1.0), next(-0.0, -1.0)], [5e-324, -5e-324]);
        assert_eq!([next(f64::MAX, f64::INFINITY), next(f64::INFINITY, 0.0)], [f64::INFINITY, f64::MAX]);
        assert!(next(0.0, -0.0).is_sign_negative() && next(f64::NAN, 1.0).is_nan() && next(1.0, f64::NAN).is_nan());
        assert_eq!(Map2::f(&NextAfter, f16::ONE, f16::MAX).to_f32(), 1.000_976_6);
        assert_eq!(Map2::f(&NextAfter, bf16::ONE, bf16::MAX).to_f32(), 1.007_812_5);
    }

    #[test]
    fn fractions_and_exponents() {
        for x in [1.0, -0.3, 3.0, 1e300, 1e-310, -5e-324, f64::MAX, f64::MIN_POSITIVE] {
            let (fraction, exponent) = parts(x);
            assert!((0.5..1.0).contains(&fraction.abs()));
            assert_eq!(libm::ldexp(fraction, exponent), x);
        }
        for x in [0.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(parts(x), (x, 0));
        }
        assert!(parts(f64::NAN).0.is_nan() && parts(-0.0).0.is_sign_negative());
        // Below the normal numbers, without a bit lost.
        for x in [3.0f32, 1e-40] {
            let (fraction, exponent) = (Map1::<f32, f32>::f(&Fraction, x), Map1::<f32, i32>::f(&Exponent, x));
            assert!((0.5..1.0).contains(&fraction));
            assert_eq!(libm::ldexp(fraction.into(), exponent), x.into());
        }
    }
}
