//! The exponential and what is made of it.

use super::super::simd::Vector;
use super::{Tables, polynomial, polynomial_in_two};

/// `(n, r)` with `x = n ln 2 + r`: `n` an integer, `|r| <= ln 2 / 2`.
#[inline(always)]
pub(super) fn reduced<V: Vector>(x: V) -> (V, V) {
    let n = x.nearest(x.splat(V::Elem::LOG2_E[0]));
    let [high, low] = V::Elem::LN_2;
    (n, (-n).fma(x.splat(low), (-n).fma(x.splat(high), x)))
}

/// `exp(r) - 1 - r` of what [`reduced`] leaves: about `r^2 / 2`.
#[inline(always)]
pub(super) fn beyond<V: Vector>(r: V) -> V {
    r * r * polynomial_in_two(r, V::Elem::EXP)
}

/// `(n, r, s)` with `exp(x) = 2^n (1 + r + s)`, as [`reduced`] and [`beyond`] have them.
#[inline(always)]
fn parts<V: Vector>(x: V) -> (V, V, V) {
    let (n, r) = reduced(x);
    (n, r, beyond(r))
}

/// `exp(x)` for arguments within the limits of [`exp`], or NaN; of those below, anything.
#[inline(always)]
pub(super) fn exp_in_range<V: Vector>(x: V) -> V {
    let (n, r) = reduced(x);
    let (one, p) = (x.of(1.0), polynomial_in_two(r, V::Elem::EXP));
    // An instruction less, whose roundings, were they two, would show.
    let power = if V::FUSED { p.fma(r, one).fma(r, one) } else { one + (r * r).fma(p, r) };
    power.ldexp(n)
}

/// The exponential. ULP: 1 / 1.5.
///
/// What is 0 is not computed: on its way there it would be subnormal, which takes a CPU a hundred cycles.
#[inline(always)]
pub fn exp<V: Vector>(x: V) -> V {
    let y = exp_in_range(x.at_most(x.splat(V::Elem::EXP_MAX)));
    x.of(0.0).select(x.lt(x.splat(V::Elem::EXP_MIN)), y)
}

/// Two to the power `x`, which is within the limits of [`exp2`] or NaN.
#[inline(always)]
pub(super) fn exp2_in_range<V: Vector>(x: V) -> V {
    let n = x.nearest(x.of(1.0));
    let r = x - n;
    r.fma(polynomial_in_two(r, V::Elem::EXP2), x.of(1.0)).ldexp(n)
}

/// Two to the power `x`. ULP: 1.25 / 1.5.
#[inline(always)]
pub fn exp2<V: Vector>(x: V) -> V {
    exp2_in_range(x.at_least(x.splat(V::Elem::EXP2_MIN)).at_most(x.splat(V::Elem::EXP2_MAX)))
}

/// `exp(x) - 1`, accurate near 0. ULP: 1.5 / 2.
#[inline(always)]
pub fn expm1<V: Vector>(x: V) -> V {
    let (n, r, s) = parts(x.at_least(x.splat(V::Elem::EXPM1_MIN)).at_most(x.splat(V::Elem::EXP_MAX)));
    // (exp(x) - 1) / 2^n. What a number below 2^-64 takes from 1 is rounded off.
    let base = x.of(1.0) - (-n).at_least(x.of(-64.0)).pow2();
    ((base + r) + s).ldexp(n).with_sign_of(x)
}

/// The hyperbolic tangent. ULP: 2 / 2. Never beyond 1.
///
/// An odd polynomial near 0; above, `expm1(2x) / (expm1(2x) + 2)` with both divided by the power of two in the
/// exponential. Where vectors look numbers up, a polynomial for each quarter of an octave: half of the instructions.
#[inline(always)]
pub fn tanh<V: Vector>(x: V) -> V {
    let a = x.abs().at_most(x.splat(V::Elem::TANH_ONE));
    if V::LOOKUP {
        let rows = V::Elem::TANH_QUARTERS;
        let place = a.at_least(x.of(0.0625));
        let d = a - place.lookup(&rows[0]);
        let mut i = rows.len() - 1;
        let mut sum = place.lookup(&rows[i]);
        while i > 1 {
            i -= 1;
            sum = sum.fma(d, place.lookup(&rows[i]));
        }
        return sum.with_sign_of(x);
    }
    let z = a * a;
    let near = (z * polynomial_in_two(z, V::Elem::TANH)).fma(a, a);
    let (n, r, s) = parts(a + a);
    let (one, inverse) = (x.of(1.0), (-n).pow2());
    // The error of the numerator is in the denominator too, where it takes most of itself back.
    let above = ((one - inverse) + r) + s;
    let far = above.quotient(above + (inverse + inverse));
    near.select(a.lt(x.of(0.55)), far).with_sign_of(x)
}

/// Half of the exponential of a number from 0 on; infinite only where the hyperbolic sine is.
#[inline(always)]
fn half_exp<V: Vector>(a: V) -> V {
    let one = a.of(1.0);
    let (n, r, s) = parts(a.at_most(a.splat(V::Elem::EXP_MAX) + one));
    (one + (r + s)).ldexp(n - one)
}

/// The hyperbolic sine. ULP: 2 / 2.
#[inline(always)]
pub fn sinh<V: Vector>(x: V) -> V {
    let a = x.abs();
    let z = a * a;
    let near = (z * polynomial(z, V::Elem::SINH)).fma(a, a);
    let half = half_exp(a);
    near.select(a.lt(x.of(1.0)), half - x.of(0.25) / half).with_sign_of(x)
}

/// The hyperbolic cosine. ULP: 1.5 / 2.
#[inline(always)]
pub fn cosh<V: Vector>(x: V) -> V {
    let half = half_exp(x.abs());
    half + x.of(0.25) / half
}

/// The logistic function `1 / (1 + exp(-x))`. ULP: 2 / 2.
#[inline(always)]
pub fn sigmoid<V: Vector>(x: V) -> V {
    // Of a negative exponent, so that nothing overflows and results below 1 keep their digits.
    let small = exp_in_range((-x.abs()).at_least(x.splat(V::Elem::EXP_MIN)));
    let one = x.of(1.0);
    let below = one + small;
    let inverse = below.near_reciprocal();
    // What the sum lost to rounding, and what the reciprocal lacks.
    let lost = small - (below - one);
    let rest = inverse * (-lost).fma(inverse, inverse.fused(-below, one));
    let above = small.select(x.lt(x.of(0.0)), one);
    above.fma(inverse, above * rest)
}
