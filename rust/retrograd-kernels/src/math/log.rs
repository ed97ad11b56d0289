//! Logarithms.
//!
//! With `f = m - 1`, `s = f / (2 + f)` and `h = f^2 / 2`, `log(1 + f) = f - (h - s (h + R(s^2)))`: the largest term is
//! exact, and the next one is small compared with it. The identity is that of P. T. P. Tang, "Table-driven
//! implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16 (1990), in the form without
//! tables.

use super::super::real::Ring;
use super::super::simd::{Format, Vector};
use super::{Tables, polynomial};

/// `(h, t)` with `log(1 + f) = f - (h - t)`, for `1 + f` from sqrt(1/2) to sqrt(2).
#[inline(always)]
fn tail<V: Vector>(f: V) -> (V, V) {
    let s = f.quotient(f + f.of(2.0));
    let z = s * s;
    let half = f * f * f.of(0.5);
    (half, s * z.fma(polynomial(z, V::Elem::LOG), half))
}

/// The natural logarithm. ULP: 1 / 1.5.
#[inline(always)]
pub fn log<V: Vector>(x: V) -> V {
    let (m, k) = x.split();
    let f = m - x.of(1.0);
    let [high, low] = V::Elem::LN_2;
    let beyond = if V::Elem::LOG_BEYOND.is_empty() {
        let (half, t) = tail(f);
        k.fma(x.splat(low), t) - half
    } else {
        (f * f).fma(polynomial(f, V::Elem::LOG_BEYOND), k * x.splat(low))
    };
    k.fma(x.splat(high), f + beyond).with_ends_of_log(x)
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
    k.fma(x.splat(high), f - (half - low)).with_ends_of_log(odds)
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
    k.fma(x.splat(high), f - (half - low)).with_ends_of_log(u).with_sign_of(x)
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
    (sum + (((whole - sum) + product) + rest)).with_ends_of_log(x)
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

/// The number whose hyperbolic tangent is `x`; infinite at -1 and 1. ULP: 2.5 / 2.
///
/// `log((1 + a) / (1 - a)) / 2` with the numerator and the denominator brought together by a power of two, of whose
/// ratio `tail`'s `s` is made.
#[inline(always)]
pub fn atanh<V: Vector>(x: V) -> V {
    let (a, one) = (x.abs(), x.of(1.0));
    let (above, below) = (one + a, one - a);
    let (_, k) = (above / below).split();
    let power = k.pow2();
    let near = below * power;
    // What the sum and the difference lost to rounding.
    let lost = (a - (above - one)) - power * ((one - below) - a);
    let s = ((above - near) + lost) / (above + near);
    let z = s * s;
    let [high, low] = V::Elem::LN_2;
    let k = k * x.of(0.5);
    let low = k.fma(x.splat(low), s * (z * polynomial(z, V::Elem::LOG)) * x.of(0.5));
    let y = k.fma(x.splat(high), s + low);
    let end = x.of(f64::INFINITY).select(a.eq(one), x.of(f64::NAN));
    y.select(a.lt(one), end).with_sign_of(x)
}

/// `log(1 + w)`, or `log(2 x)` for large `x`.
#[inline(always)]
fn log1p_or_of_twice<V: Vector>(w: V, x: V) -> V {
    let large = x.splat(V::Elem::INTEGER).lt(x);
    let y = log1p(x.select(large, w));
    y + x.of(std::f64::consts::LN_2).select(large, x.of(0.0))
}

/// The number whose hyperbolic sine is `x`. ULP: 2 / 2.
#[inline(always)]
pub fn asinh<V: Vector>(x: V) -> V {
    let (a, one) = (x.abs(), x.of(1.0));
    // sqrt(1 + a^2) - 1 without cancellation.
    let beyond = (a * a) / (a.fma(a, one).sqrt() + one);
    log1p_or_of_twice(a + beyond, a).with_sign_of(x)
}

/// The number from 0 on whose hyperbolic cosine is `x`. ULP: 2.5 / 2.
#[inline(always)]
pub fn acosh<V: Vector>(x: V) -> V {
    let (one, two) = (x.of(1.0), x.of(2.0));
    let t = x - one;
    let t = x.of(f64::NAN).select(t.lt(x.of(0.0)), t);
    log1p_or_of_twice(t + (t * (t + two)).sqrt(), x)
}
