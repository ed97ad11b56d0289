//! The logarithm of the gamma function and its derivatives.

use std::f64::consts::PI;

use super::bessel::chebyshev;
use super::chebyshev::LOG_GAMMA;
use super::lanes::{any, blocks};
use crate::math;
use crate::simd::Vector;

/// `sum of c[k] x^k`.
#[inline(always)]
pub(super) fn polynomial<V: Vector<Elem = f64>>(c: &[f64], x: V) -> V {
    let mut sum = x.splat(c[c.len() - 1]);
    for &c in c[..c.len() - 1].iter().rev() {
        sum = sum.fma(x, x.splat(c));
    }
    sum
}

/// `B_2j / (2j (2j - 1))` from `j = 1`: the terms of Stirling's series, DLMF 5.11.1.
pub(super) const STIRLING: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360360.0,
    1.0 / 156.0,
    -3617.0 / 122400.0,
    43867.0 / 244188.0,
];
/// `B_2j / 2j` from `j = 1`: the terms of the asymptotic series of the derivative, DLMF 5.11.2.
const DIGAMMA: [f64; 7] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
/// `B_2j` from `j = 1`: those of the second one.
const TRIGAMMA: [f64; 8] =
    [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0, -3617.0 / 510.0];

/// From here on the logarithm of the gamma function comes from Stirling's series.
const LARGE: f64 = 8.5;

/// For `x` from -1/2 to [`LARGE`], `(d, product, low)`: the recurrence leads to `2 + d`, and the logarithm of the gamma
/// function is that of `2 + d` plus the logarithm of the product, or minus it in the lanes of `low`.
#[inline(always)]
fn recurrence<V: Vector<Elem = f64>>(x: V) -> (V, V, V::Mask) {
    let one = x.of(1.0);
    let m = x.nearest(one);
    let low = m.lt(x.of(2.0));
    let mut product = (x * (x + one)).abs().select(m.lt(one), x).select(low, one);
    for i in 1..=6 {
        let i = x.of(f64::from(i));
        product = (product * (x - i)).select((i + one).lt(m), product);
    }
    (x - m, product, low)
}

/// The logarithm of `Gamma(2 + d)`, for `d` from -1/2 to 1/2.
#[inline(always)]
fn log_gamma_near_2<V: Vector<Elem = f64>>(d: V) -> V {
    d * chebyshev(&LOG_GAMMA, d + d)
}

/// The logarithm of the gamma function from [`LARGE`] on, given that of `x` (DLMF 5.11.1).
#[inline(always)]
fn by_stirling<V: Vector<Elem = f64>>(x: V, log: V) -> V {
    let inverse = x.of(1.0) / x;
    let series = inverse * polynomial(&STIRLING, inverse * inverse);
    // `ln(2 pi) / 2 - 1/2`.
    (x - x.of(0.5)).fma(log - x.of(1.0), series + x.of(0.418_938_533_204_672_7))
}

/// The logarithm of the gamma function for positive `x`.
#[inline(always)]
pub(super) fn log_gamma_above<V: Vector<Elem = f64>>(x: V) -> V {
    let large = x.of(LARGE).lt(x);
    let (d, product, low) = recurrence(x.at_most(x.of(LARGE)));
    let log = math::log(x.select(large, product));
    by_stirling(x, log).select(large, log_gamma_near_2(d) + (-log).select(low, log))
}

/// The distance to the nearest integer, for numbers below 2^51; 0 beyond.
#[inline(always)]
fn off_integer<V: Vector<Elem = f64>>(x: V) -> V {
    let near = x.nearest(x.of(1.0));
    (x - near).select(x.abs().lt(x.of(2.0f64.powi(51))), x.of(0.0))
}

/// The logarithm of the magnitude of the gamma function.
#[inline(always)]
fn log_gamma_of<V: Vector<Elem = f64>>(x: V) -> V {
    let below = x.lt(x.of(-0.5));
    let y = (-x).select(below, x);
    let large = x.of(LARGE).lt(y);
    let (d, product, low) = recurrence(y.at_most(x.of(LARGE)));
    let mut argument = y.select(large, product);
    let mut reflected = x.of(1.0);
    if any::<V>(below) {
        // DLMF 5.5.3: the logarithm of this less that of the gamma function of `y`; of small numbers it joins the
        // logarithm of the product.
        let divisor = y * math::sin(off_integer(x) * x.of(PI)).abs();
        reflected = x.of(PI) / divisor;
        let joined = (product * x.of(PI)).select(low, x.of(PI)) / divisor.select(low, divisor * product);
        argument = y.select(large, joined).select(below, argument);
    }
    let log = math::log(argument);
    let near_2 = log_gamma_near_2(d);
    let small = (log - near_2).select(below, near_2 + (-log).select(low, log));
    let mut far = by_stirling(y, log);
    if any::<V>(V::both(below, large)) {
        far = (math::log(reflected) - far).select(below, far);
    }
    x.of(f64::INFINITY).select(x.abs().eq(x.of(f64::INFINITY)), far.select(large, small))
}

/// The logarithmic derivative of the gamma function: infinite at 0 with the sign of `-x`, NaN at its other poles.
#[inline(always)]
fn digamma_of<V: Vector<Elem = f64>>(x: V) -> V {
    let (zero, one, ten) = (x.of(0.0), x.of(1.0), x.of(10.0));
    let below = x.lt(zero);
    let mut y = (one - x).select(below, x);
    // The sum of the reciprocals of `y`, `y + 1`, .. below 10 as one fraction. From 10 on the first term left out of
    // the series is below 1e-16.
    let (mut above, mut divisor) = (zero, one);
    for _ in 0..10 {
        let small = y.lt(ten);
        above = above.fma(y, divisor).select(small, above);
        divisor = (divisor * y).select(small, divisor);
        y = (y + one).select(small, y);
    }
    let inverse = one / y;
    let square = inverse * inverse;
    let series = inverse.fma(x.of(0.5), square * polynomial(&DIGAMMA, square));
    let mut value = (math::log(y) - series) - above / divisor;
    if any::<V>(below) {
        // DLMF 5.5.4; the tangent only depends on the distance to the nearest pole.
        let angle = off_integer(x) * x.of(PI);
        let reflected = value - x.of(PI) * math::cos(angle) / math::sin(angle);
        let pole = angle.eq(zero);
        value = x.of(f64::NAN).select(pole, reflected).select(below, value);
    }
    x.of(f64::INFINITY).xor((-x).and(x.of(-0.0))).select(x.eq(zero), value)
}

/// The derivative of the digamma function. At poles below 0 it is large instead of infinite, as in torch.
#[inline(always)]
fn trigamma_of<V: Vector<Elem = f64>>(x: V) -> V {
    let (zero, one) = (x.of(0.0), x.of(1.0));
    let below = x.lt(zero);
    let mut y = (one - x).select(below, x);
    // As in `digamma_of`, with squares.
    let (mut above, mut divisor) = (zero, one);
    for _ in 0..12 {
        let (small, square) = (y.lt(x.of(12.0)), y * y);
        above = above.fma(square, divisor).select(small, above);
        divisor = (divisor * square).select(small, divisor);
        y = (y + one).select(small, y);
    }
    let inverse = one / y;
    let square = inverse * inverse;
    let series = inverse + square * x.of(0.5) + inverse * square * polynomial(&TRIGAMMA, square);
    let mut value = above / divisor + series;
    if any::<V>(below) {
        // DLMF 5.15.6.
        let cosecant = x.of(PI) / math::sin(x * x.of(PI));
        value = cosecant.fma(cosecant, -value).select(below, value);
    }
    value
}

blocks! {
    /// The logarithm of the magnitude of the gamma function.
    lgamma[x] = log_gamma_of(x);
    /// The logarithmic derivative of the gamma function: infinite at 0 with the sign of `-x`, NaN at its other poles.
    digamma[x] = digamma_of(x);
    /// The derivative of the digamma function. At poles below 0 it is large instead of infinite, as in torch.
    trigamma[x] = trigamma_of(x);
}

#[cfg(test)]
mod tests {
    use super::super::lanes::at;
    use super::super::polygamma;
    use super::*;

    fn near(got: f64, want: f64, x: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(0.1), "{got} for {want} at {x}");
    }

    #[test]
    fn they_are_what_scalar_functions_say() {
        for i in -400..2000 {
            let x = 0.0173 * f64::from(i) + 1e-3;
            let near_pole = x < 0.0 && (x - x.round()).abs() < 0.02;
            near(at(lgamma, [x]), libm::lgamma(x), x);
            if !near_pole {
                near(at(trigamma, [x]), polygamma(1, x), x);
            }
        }
        for x in [1e-300, 1e-20, 1e-3, 1.0 - 1e-9, 1.0 + 1e-9, 2.0 - 1e-9, 2.0 + 1e-9, 1e5, 1e20, 1e300, -1e-20, -0.3] {
            let (got, want) = (at(lgamma, [x]), libm::lgamma(x));
            assert!((got - want).abs() <= 2e-15 * want.abs(), "{got} for {want} at {x}");
        }
    }

    #[test]
    fn ends() {
        let inf = f64::INFINITY;
        for x in [0.0, -0.0, -1.0, -7.0, -1e300, inf, -inf] {
            assert_eq!(at(lgamma, [x]), inf, "{x}");
        }
        assert_eq!([1.0, 2.0].map(|x| at(lgamma, [x])), [0.0; 2]);
        assert_eq!([0.0, -0.0, inf].map(|x| at(digamma, [x])), [-inf, inf, inf]);
        assert!([-1.0, -5.0, -inf, f64::NAN].iter().all(|&x| at(digamma, [x]).is_nan()));
        assert_eq!([0.0, inf, 1e-200].map(|x| at(trigamma, [x])), [inf, 0.0, inf]);
        assert!(at(trigamma, [-1.0]) > 1e30 && at(lgamma, [f64::NAN]).is_nan() && at(trigamma, [f64::NAN]).is_nan());
    }
}
