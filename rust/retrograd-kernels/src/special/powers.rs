//! Powers.

use super::lanes::blocks;
use crate::math;
use crate::pointwise::{Body, lanes_of_slices};
use crate::simd::Vector;

/// `x` to the power `e`, both of them float32 numbers: `exp(e log |x|)`, to 2^-44 of the result, which is then rounded
/// to float32. Special cases are those of C's `pow`.
#[inline(always)]
fn to_the<V: Vector<Elem = f64>>(x: V, e: V) -> V {
    let (zero, one, nan) = (x.of(0.0), x.of(1.0), x.of(f64::NAN));
    // Larger exponents are even numbers, and take any base other than 1 out of float32 as well.
    let e = e.at_most(x.of(f64::from(1u32 << 31))).at_least(x.of(-f64::from(1u32 << 31)));
    let size = x.abs();
    let y = math::exp(e * math::log(size));
    let half = e * x.of(0.5);
    let of_integer = y.select(half.nearest(one).eq(half), -y);
    let of_others = nan.select(V::both(x.lt(zero), size.lt(x.of(f64::INFINITY))), y);
    let of_negative = of_integer.select(e.nearest(one).eq(e), of_others);
    let y = of_negative.select(one.with_sign_of(x).lt(zero), y);
    one.select(e.eq(zero), one.select(x.eq(one), y))
}

blocks! {
    /// `x` to the power `e`, both of them float32 numbers.
    power[x, e] = to_the(x, e);
}

/// [`power`] of one exponent.
pub fn power_of(e: f64, x: &[f64], out: &mut [std::mem::MaybeUninit<f64>]) {
    struct PowerOf(f64);
    impl Body<f64, 1> for PowerOf {
        #[inline(always)]
        fn f<V: Vector<Elem = f64>>(&self, [x]: [V; 1]) -> V {
            to_the(x, x.splat(self.0))
        }
    }
    lanes_of_slices(&PowerOf(e), [x], out);
}

#[cfg(test)]
mod tests {
    use super::super::at;
    use super::*;

    const ENDS: [f32; 24] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.999_999_94,
        1.000_000_1,
        -1.000_000_1,
        7.5,
        -7.5,
        1e-45,
        -1e-45,
        1e38,
        16_777_216.0,
        16_777_215.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        2_147_483_904.0,
    ];

    #[test]
    fn powers_of_float32() {
        let others = (0..400).map(|i| (i as f32 * 0.731).sin() * 10f32.powi(i % 9 - 4));
        let all: Vec<f32> = ENDS.into_iter().chain(others).collect();
        for &x in &all {
            for &e in &all {
                let mut y = [std::mem::MaybeUninit::new(0.0)];
                power_of(e.into(), &[x.into()], &mut y);
                let got = at(power, [x.into(), e.into()]) as f32;
                // The exact result, rounded once, of double precision.
                let want = f64::from(x).powf(e.into()) as f32;
                let near = got == want || (got - want).abs() <= f32::EPSILON * want.abs();
                let alike = near && got.is_sign_negative() == want.is_sign_negative();
                assert!(alike || got.is_nan() && want.is_nan(), "{x} to {e}: {got}, not {want}");
                // SAFETY: it was initialised.
                assert_eq!(got.to_bits(), (unsafe { y[0].assume_init() } as f32).to_bits());
            }
        }
    }
}
