//! The error function.

use super::super::simd::Vector;
use super::exp::exp_in_range;
use super::{Tables, polynomial};

/// The error function. ULP: 1.5 / 2. Never beyond 1.
///
/// Below 1 an odd polynomial; above, 1 less the exponential of a polynomial, whose errors are small compared with 1.
#[inline(always)]
pub fn erf<V: Vector>(x: V) -> V {
    let one = x.of(1.0);
    let a = x.abs();
    let near = erf_below_1(a);
    let far = one - exp_in_range(polynomial(a.at_most(x.splat(V::Elem::ERF_ONE)), V::Elem::LOG_ERFC));
    near.select(a.lt(one), far).with_sign_of(x)
}

/// [`erf`] of numbers from -1 to 1.
#[inline(always)]
pub fn erf_below_1<V: Vector>(x: V) -> V {
    x.fma(polynomial(x * x, V::Elem::ERF), x)
}
