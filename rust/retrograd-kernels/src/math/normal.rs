//! The normal distribution.

use super::super::simd::Vector;
use super::exp::exp2_in_range;
use super::{Tables, erf, polynomial_in_two};

/// The distribution function of the standard normal distribution.
///
/// Float32: 4 ULP from -1 on, and 6e-6 of the result down to -5.5; below that 1e-11, which vanishes. Float64: 2^-52 of
/// 1, so that small results lose digits, as they do in `(1 + erf(x / sqrt(2))) / 2`.
#[inline(always)]
pub fn normal_cdf<V: Vector>(x: V) -> V {
    let one = x.of(1.0);
    if V::Elem::LOG2_TAIL.is_empty() {
        return x.of(0.5) * (one + erf(x * x.of(std::f64::consts::FRAC_1_SQRT_2)));
    }
    let tail = exp2_in_range(polynomial_in_two(x.abs().at_most(x.of(TAIL_ZERO)), V::Elem::LOG2_TAIL));
    tail.select(x.lt(x.of(0.0)), one - tail)
}

/// From here on the tail is 0 in float32: the fit of its logarithm is -150.6.
const TAIL_ZERO: f64 = 11.475;
