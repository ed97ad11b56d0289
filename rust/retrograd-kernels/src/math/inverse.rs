//! Inverse trigonometric functions.
//!
//! An argument is reduced until an odd polynomial reaches it, and its angle is added to a multiple of pi / 4, which is
//! a sum of two numbers.

use super::super::simd::Vector;
use super::{Tables, polynomial_in_two};

/// `base + quarter pi's low part + r + r c`, where `base` is 0 or the rounded multiple of pi / 2 whose rest is `low`,
/// and no smaller than `|r|` if it is not 0.
#[inline(always)]
fn sum<V: Vector>(base: V, low: V, r: V, c: V) -> V {
    let high = base + r;
    // What the sum lost to rounding.
    let lost = (base - high) + r;
    high + (lost + r.fma(c, low))
}

/// `(near, z, r)`: whether `|x| < 1/2`, and `asin(r) = r + r z P(z)` with `r = |x|` there, else
/// `acos|x| = 2 asin(r)`.
#[inline(always)]
fn half_angle<V: Vector>(x: V) -> (V::Mask, V, V) {
    let (a, half) = (x.abs(), x.of(0.5));
    let near = a.lt(half);
    let z = (a * a).select(near, (x.of(1.0) - a) * half);
    (near, z * polynomial_in_two(z, V::Elem::ASIN), a.select(near, z.sqrt()))
}

/// The angle from -pi / 2 to pi / 2 whose sine is `x`. ULP: 1.25 / 1.5.
#[inline(always)]
pub fn asin<V: Vector>(x: V) -> V {
    let [high, low] = V::Elem::HALF_PI;
    let zero = x.of(0.0);
    let (near, c, r) = half_angle(x);
    let (base, low) = (zero.select(near, x.splat(high)), zero.select(near, x.splat(low)));
    sum(base, low, r.select(near, -(r + r)), c).with_sign_of(x)
}

/// The angle from 0 to pi whose cosine is `x`. ULP: 1.25 / 1.5.
#[inline(always)]
pub fn acos<V: Vector>(x: V) -> V {
    let [high, low] = V::Elem::HALF_PI;
    let zero = x.of(0.0);
    let (near, c, r) = half_angle(x);
    let quarters = x.of(1.0).select(near, x.of(2.0).select(x.lt(zero), zero));
    let r = (-r).select(near, r + r);
    sum(quarters * x.splat(high), quarters * x.splat(low), r.xor(x.and(x.of(-0.0))), c)
}

/// The angle from -pi / 2 to pi / 2 whose tangent is `x`. ULP: 1.5 / 1.5.
#[inline(always)]
pub fn atan<V: Vector>(x: V) -> V {
    let [high, low] = V::Elem::HALF_PI;
    let (a, zero, half, one) = (x.abs(), x.of(0.0), x.of(0.5), x.of(1.0));
    let (middle, far) = (half.lt(a), x.of(2.0).lt(a));
    // The angle less pi / 4, or less pi / 2.
    let above = (-one).select(far, (a - one).select(middle, a));
    let below = a.select(far, (a + one).select(middle, one));
    let r = above / below;
    let z = r * r;
    let quarters = one.select(far, half.select(middle, zero));
    let angle = sum(quarters * x.splat(high), quarters * x.splat(low), r, z * polynomial_in_two(z, V::Elem::ATAN));
    angle.with_sign_of(x)
}

/// The angle from -pi to pi of the point `(x, y)`. ULP: 2 / 2.
///
/// That of the smaller coordinate over the larger one, less pi / 4 where the smaller is more than half of the larger;
/// counted from the multiple of pi / 4 that is next to it.
#[inline(always)]
pub fn atan2<V: Vector>(y: V, x: V) -> V {
    let [high, low] = V::Elem::HALF_PI;
    let (a, b, zero, half, one, two) = (y.abs(), x.abs(), x.of(0.0), x.of(0.5), x.of(1.0), x.of(2.0));
    let (steep, back) = (b.lt(a), one.with_sign_of(x).lt(zero));
    let (small, large) = (b.select(steep, a), a.select(steep, b));
    // Halves where sums could be infinite; they are exact where they count.
    let scale = half.select(one.lt(large), one);
    let (p, q) = (small * scale, large * scale);
    let near = (p + p).lt(q);
    // Two zeros are on an axis, two infinities between two.
    let r = zero.select(small.eq(large), small.select(near, p - q) / large.select(near, p + q));
    let quarters = zero.select(large.eq(zero), zero.select(near, half));
    let (quarters, r) = ((one - quarters).select(steep, quarters), (-r).select(steep, r));
    let (quarters, r) = ((two - quarters).select(back, quarters), (-r).select(back, r));
    let z = r * r;
    let base = quarters * x.splat(high);
    let low = quarters.fma(x.splat(low), quarters.fused(x.splat(high), -base));
    sum(base, low, r, z * polynomial_in_two(z, V::Elem::ATAN)).with_sign_of(y)
}
