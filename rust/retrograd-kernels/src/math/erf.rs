//! The error function.

use super::super::simd::Vector;
use super::exp::{beyond, exp_in_range, reduced};
use super::log::log;
use super::{Tables, polynomial, polynomial_in_two};

/// The error function. ULP: 1.5 / 2. Never beyond 1.
///
/// Below 1 an odd polynomial; above, 1 less the exponential of a polynomial, whose errors are small compared with 1.
#[inline(always)]
pub fn erf<V: Vector>(x: V) -> V {
    let one = x.of(1.0);
    let a = x.abs();
    let near = erf_below_1(a);
    let far = one - exp_in_range(polynomial_in_two(a.at_most(x.splat(V::Elem::ERF_ONE)), V::Elem::LOG_ERFC));
    near.select(a.lt(one), far).with_sign_of(x)
}

/// [`erf`] of numbers from -1 to 1.
#[inline(always)]
pub fn erf_below_1<V: Vector>(x: V) -> V {
    x.fma(polynomial_in_two(x * x, V::Elem::ERF), x)
}

/// One less the error function, in float32. ULP: 4.
///
/// Below 0.6 from the error function; above, `exp(-a^2)`, whose square is a sum of two, times a polynomial over
/// `a + 3` in a multiple of the reciprocal of that.
#[inline(always)]
pub fn erfc<V: Vector<Elem = f32>>(x: V) -> V {
    let (one, zero) = (x.of(1.0), x.of(0.0));
    let a = x.abs().at_most(x.of(ERFC_ZERO));
    let square = a * a;
    let lost = a.fused(a, -square);
    let three = x.of(3.0);
    let sum = a + three;
    let u = one / sum;
    // What the sum and the quotient lost, in units of `u`.
    let rest = (-u).fused(sum, one) - u * (a - (sum - three));
    let scale = x.of(9.5);
    let t = (u * rest).fma(scale, u.fma(scale, x.of(-1.71875)));
    // Factors of the exponential, whose argument they are added to.
    let (n, r) = reduced(-square);
    let r = r + (rest - lost);
    let size = one + (r + beyond(r));
    let tail = (size * (u * polynomial(t, &ERFCX))).ldexp(n);
    let far = (x.of(2.0) - tail).select(x.lt(zero), tail);
    (one - erf_below_1(x)).select(x.abs().lt(x.of(0.6)), far)
}

/// The number whose error function is `x`, in float32; infinite at -1 and 1. ULP: 3.
///
/// The quotient of both in `w = -log(1 - x^2)`, in two parts as M. Giles has it, "Approximating the erfinv function",
/// GPU Computing Gems, Jade Edition (2011).
#[inline(always)]
pub fn erfinv<V: Vector<Elem = f32>>(x: V) -> V {
    let (a, one) = (x.abs(), x.of(1.0));
    let w = -log((one - a) * (one + a));
    let far = x.of(5.0).lt(w);
    let mut quotient = polynomial(w - x.of(2.5703125), &ERFINV_NEAR);
    if V::mask_bits(far) != 0 {
        quotient = polynomial(w.sqrt() - x.of(3.0), &ERFINV_FAR).select(far, quotient);
    }
    x * quotient
}

/// From here on `erfc` is 0 in float32.
const ERFC_ZERO: f64 = 10.1;

/// `(x + 3) exp(x^2) erfc(x)` for `x` from 0.49 to 10.1, in `9.5 / (x + 3) - 1.71875`. 2^-25.5.
const ERFCX: [f32; 9] = [
    1.1540785,
    0.6261938,
    0.26937234,
    0.08900944,
    0.020809697,
    0.002577035,
    -0.00019554836,
    -0.00012211179,
    -8.049312e-06,
];

/// `erfinv(x) / x` in `w - 2.5703125` for `w = -log(1 - x^2)` up to 5, where the first coefficient is all but a
/// float32. 2^-26.6.
const ERFINV_NEAR: [f32; 10] = [
    1.5187302,
    0.24603456,
    -0.004435174,
    -0.0011916009,
    0.0002163506,
    -6.3745e-06,
    -3.2310602e-06,
    4.773709e-07,
    1.772269e-08,
    -8.76588e-09,
];

/// The same in `sqrt(w) - 3` from 5 to 16. 2^-26.3.
const ERFINV_FAR: [f32; 10] = [
    2.8329768,
    1.0016751,
    0.009445573,
    -0.0076395315,
    0.005683154,
    -0.0035869647,
    0.0014959825,
    -7.661352e-05,
    -0.00031869145,
    0.00012898228,
];
