//! Sine, cosine and tangent.
//!
//! Sine and cosine are a sine of the distance to their nearest zero, so that they are relatively accurate there. Pi is
//! subtracted in three parts by multiply-adds of exact products, good to `TURNS_MAX`; arguments beyond it go to the C
//! library, whose reduction is that of M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric functions",
//! SIGNUM 18 (1983).

use super::super::simd::{Format, Vector};
use super::{Tables, polynomial};

/// `x - q pi`.
#[inline(always)]
fn reduced<V: Vector>(x: V, q: V) -> V {
    let [a, b, c] = V::Elem::PI;
    let q = -q;
    q.fused(x.splat(c), q.fused(x.splat(b), q.fused(x.splat(a), x)))
}

/// The sine of `|r| <= pi / 2`, and a little beyond.
#[inline(always)]
fn sin_in_range<V: Vector>(r: V) -> V {
    let z = r * r;
    // What the square lost to rounding, times the mean slope there: 0.4 ULP near pi / 2.
    let lost = r.fused(r, -z);
    let correction = z.fused(polynomial(z, V::Elem::SIN), lost * r.of(-0.145));
    let a = r.abs();
    correction.fused(a, a).at_most(r.of(1.0)).with_sign_of(r)
}

/// The sine of radians. ULP: 2 / 2. Never beyond 1.
#[inline(always)]
pub fn sin<V: Vector>(x: V) -> V {
    let shift = x.splat(V::Elem::SHIFT);
    // The number of half turns, in the last bits of a sum: odd ones change the sign.
    let turns = x.fma(x.of(std::f64::consts::FRAC_1_PI), shift);
    let r = reduced(x, turns - shift);
    let y = sin_in_range(r.xor(turns.low_to_sign()));
    y.patched(x.abs().lt(x.splat(V::Elem::TURNS_MAX)), [x], |[x]| V::Elem::sin_of_large(x))
}

/// The cosine of radians. ULP: 2 / 2. Never beyond 1.
#[inline(always)]
pub fn cos<V: Vector>(x: V) -> V {
    let (shift, half) = (x.splat(V::Elem::SHIFT), x.of(0.5));
    // `cos((n + 1/2) pi + r)` is `-sin(r)` for even `n`, `sin(r)` for odd ones.
    let turns = x.fma(x.of(std::f64::consts::FRAC_1_PI), -half) + shift;
    let r = reduced(x, turns - shift + half);
    let y = sin_in_range(-r.xor(turns.low_to_sign()));
    // Exact at 0, also where sums of products are rounded twice.
    let y = x.of(1.0).select(x.abs().lt(x.splat(V::Elem::COS_ONE)), y);
    y.patched(x.abs().lt(x.splat(V::Elem::TURNS_MAX)), [x], |[x]| V::Elem::cos_of_large(x))
}

/// The tangent of radians. ULP: 2.5 / 2.
#[inline(always)]
pub fn tan<V: Vector>(x: V) -> V {
    let (shift, one) = (x.splat(V::Elem::SHIFT), x.of(1.0));
    // The number of quarter turns: after an odd one the tangent is that of the rest, inverted.
    let turns = x.fma(x.of(std::f64::consts::FRAC_2_PI), shift);
    let r = reduced(x, (turns - shift) * x.of(0.5));
    let z = r * r;
    let t = r.fma(z * polynomial(z, V::Elem::TAN), r);
    let odd = one.or(turns.low_to_sign()).lt(x.of(0.0));
    let y = (-one).select(odd, t) / t.select(odd, one);
    y.patched(x.abs().lt(x.splat(V::Elem::TURNS_MAX)), [x], |[x]| V::Elem::tan_of_large(x))
}
