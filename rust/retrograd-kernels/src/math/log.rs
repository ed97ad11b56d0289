//! Logarithms.
//!
//! With `f = m - 1`, `s = f / (2 + f)` and `h = f^2 / 2`, `log(1 + f) = f - (h - s (h + R(s^2)))`: the largest term is
//! exact, and the next one is small compared with it. The identity is that of P. T. P. Tang, "Table-driven
//! implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16 (1990), in the form without
//! tables.

use super::super::real::Ring;
use super::super::simd::Vector;
use super::{Tables, polynomial};

/// `(h, t)` with `log(1 + f) = f - (h - t)`, for `1 + f` from sqrt(1/2) to sqrt(2).
#[inline(always)]
fn tail<V: Vector>(f: V) -> (V, V) {
    let s = f / (f + f.of(2.0));
    let z = s * s;
    let half = f * f * f.of(0.5);
    (half, s * (half + z * polynomial(z, V::Elem::LOG)))
}

/// `y` for finite positive `x`, else the logarithm's special values.
#[inline(always)]
fn at_ends<V: Vector>(y: V, x: V) -> V {
    let zero = x.of(0.0);
    let not_above = x.of(f64::NEG_INFINITY).select(x.eq(zero), x.of(f64::NAN));
    y.select(x.lt(x.of(f64::INFINITY)), x).select(zero.lt(x), not_above)
}

/// The natural logarithm. ULP: 1 / 1.5.
#[inline(always)]
pub fn log<V: Vector>(x: V) -> V {
    let (m, k) = x.split();
    let f = m - x.of(1.0);
    let (half, t) = tail(f);
    let [high, low] = V::Elem::LN_2;
    let low = k.fma(x.splat(low), t);
    at_ends(k.fma(x.splat(high), f - (half - low)), x)
}

/// The log-odds `log(x / (1 - x))`. ULP: 4 / 5.
#[inline(always)]
pub fn logit<V: Vector>(x: V) -> V {
    let one = x.of(1.0);
    let odds = x / (one - x);
    let (m, k) = odds.split();
    // Near 1/2, where the odds are near 1, their distance to it from `x` itself.
    let f = (((x + x) - one) / (one - x)).select(k.eq(x.of(0.0)), m - one);
    let (half, t) = tail(f);
    let [high, low] = V::Elem::LN_2;
    let low = k.fma(x.splat(low), t);
    at_ends(k.fma(x.splat(high), f - (half - low)), odds)
}

/// `log(1 + x)`, accurate near 0. ULP: 1.5 / 2.
#[inline(always)]
pub fn log1p<V: Vector>(x: V) -> V {
    let one = x.of(1.0);
    let u = one + x;
    let (m, k) = u.split();
    // (1 + x) / 2^k - 1 from `x` itself, of which `u` lost digits; where `u` is large, what it lost is negligible.
    let scale = (-k).at_least(x.of(-64.0)).pow2();
    let f = x.fma(scale, scale - one).select(k.lt(x.of(60.0)), m - one);
    let (half, t) = tail(f);
    let [high, low] = V::Elem::LN_2;
    let low = k.fma(x.splat(low), t);
    at_ends(k.fma(x.splat(high), f - (half - low)), u).with_sign_of(x)
}

/// `k c + log(m) e` of the parts of `x`, where `c` and `e` are sums of two: the logarithm is carried as a sum of two as
/// well, so that powers of the base come out exact.
#[inline(always)]
fn to_base<V: Vector>(x: V, c: [V::Elem; 2], e: [V::Elem; 2]) -> V {
    let (m, k) = x.split();
    let f = m - x.of(1.0);
    let (half, t) = tail(f);
    let high = f - half;
    let low = ((f - high) - half) + t;
    let scale = x.splat(e[0]);
    let product = high * scale;
    let exact = high.fused(scale, -product);
    let rest = low.fma(scale, high.fma(x.splat(e[1]), k.fma(x.splat(c[1]), exact)));
    let whole = k * x.splat(c[0]);
    let sum = whole + product;
    at_ends(sum + (((whole - sum) + product) + rest), x)
}

/// The natural logarithm of finite positive numbers, as a sum of two numbers that is good to about 2^-57.
#[inline(always)]
pub fn log_in_two<V: Vector>(x: V) -> (V, V) {
    let (m, k) = x.split();
    let f = m - x.of(1.0);
    let (half, t) = tail(f);
    let [ln_high, ln_low] = V::Elem::LN_2;
    let whole = k * x.splat(ln_high);
    let sum = whole + f;
    // What the sum and the square lost to rounding.
    let lost = (whole - sum) + f;
    let square = f * f.of(0.5);
    let rest = (t - square.fused(f, -half)) + k.fma(x.splat(ln_low), lost);
    let near = sum - half;
    let rest = ((sum - near) - half) + rest;
    let high = near + rest;
    (high, (near - high) + rest)
}

/// The logarithm to base 2. ULP: 1 / 1.5; exact for powers of two.
#[inline(always)]
pub fn log2<V: Vector>(x: V) -> V {
    to_base(x, [V::Elem::ONE, V::Elem::ZERO], V::Elem::LOG2_E)
}

/// The logarithm to base 10. ULP: 1 / 1.5.
#[inline(always)]
pub fn log10<V: Vector>(x: V) -> V {
    to_base(x, V::Elem::LOG10_2, V::Elem::LOG10_E)
}
