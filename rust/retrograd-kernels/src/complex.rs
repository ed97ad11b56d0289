//! Functions of one complex number, in double precision. Ops on complex64 round the result.
//!
//! Branch cuts, signed zeros, infinities and NaN are those of ISO C, Annex G, which torch has from the C library. None
//! is meant for the inner loop of a training step: each takes tens of nanoseconds.

use std::f64::consts::{FRAC_PI_2, LN_2, LN_10, PI};

use num_complex::Complex;

use crate::real::{Complex as _, Field as _, Ring as _};

/// A complex number in double precision.
pub type C = Complex<f64>;

const EPSILON: f64 = f64::EPSILON;

fn is_finite(z: C) -> bool {
    z.re.is_finite() && z.im.is_finite()
}

/// `i z`.
fn turned(z: C) -> C {
    C::new(-z.im, z.re)
}

/// `-i z`.
fn turned_back(z: C) -> C {
    C::new(z.im, -z.re)
}

/// Both parts exchanged: the mirror image for which odd functions have one in turn, `asin(z)` and `asinh` for example.
fn mirrored(z: C) -> C {
    C::new(z.im, z.re)
}

/// The number of this size at this angle.
fn polar(size: f64, angle: f64) -> C {
    if angle == 0.0 {
        // Without this an infinite size would make a real number's imaginary part NaN.
        return C::new(size, angle);
    }
    let (sin, cos) = angle.sin_cos();
    C::new(size * cos, size * sin)
}

/// `exp` of this is finite with a margin.
const LARGE: f64 = 700.0;

/// `factor` times the exponential.
fn scaled_exp(z: C, factor: f64) -> C {
    if z.re.is_infinite() && !z.im.is_finite() {
        return if z.re < 0.0 { C::ZERO } else { C::new(z.re, f64::NAN) };
    }
    if z.re > LARGE && z.re < 2.0 * LARGE {
        // In two steps: the size may be infinite where the parts are not.
        let (part, rest) = (polar(factor * LARGE.exp(), z.im), (z.re - LARGE).exp());
        return C::new(part.re * rest, part.im * rest);
    }
    polar(factor * z.re.exp(), z.im)
}

/// The exponential.
pub fn exp(z: C) -> C {
    scaled_exp(z, 1.0)
}

/// Two to the power `z`.
pub fn exp2(z: C) -> C {
    if z.re.is_infinite() { exp(C::new(z.re, z.im * LN_2)) } else { polar(z.re.exp2(), z.im * LN_2) }
}

/// `exp(z) - 1`, accurate near 0.
pub fn expm1(z: C) -> C {
    if !is_finite(z) {
        return exp(z).sub(C::ONE);
    }
    // exp(x) cos(y) - 1 = (exp(x) - 1) cos(y) - (1 - cos(y)).
    let half = (0.5 * z.im).sin();
    C::new(z.re.exp_m1() * z.im.cos() - 2.0 * half * half, exp(z).im)
}

/// The exact sum of two numbers as a rounded one and the rest.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// `a + x^2 + y^2` with one rounding, about: where the sum cancels.
fn plus_squares(a: f64, x: f64, y: f64) -> f64 {
    let (p, q) = (x * x, y * y);
    let (first, lost) = two_sum(a, p);
    let (sum, lost_too) = two_sum(first, q);
    sum + (lost + lost_too + x.mul_add(x, -p) + y.mul_add(y, -q))
}

/// The logarithm of the magnitude.
fn log_abs(z: C) -> f64 {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (large, small) = if x < y { (y, x) } else { (x, y) };
    if large > 0.5 && large < 1.75 && small < 1.75 {
        return 0.5 * plus_squares(-1.0, large, small).ln_1p();
    }
    // Scaled where the magnitude is infinite or loses digits.
    let scale: f64 = if large > 1e300 {
        -64.0
    } else if large < 1e-290 {
        128.0
    } else {
        0.0
    };
    libm::hypot(x * scale.exp2(), y * scale.exp2()).ln() - scale * LN_2
}

/// The natural logarithm, cut along the negative axis.
pub fn ln(z: C) -> C {
    C::new(log_abs(z), z.im.atan2(z.re))
}

/// The logarithm to base 2.
pub fn log2(z: C) -> C {
    let z = ln(z);
    C::new(z.re / LN_2, z.im / LN_2)
}

/// The logarithm to base 10.
pub fn log10(z: C) -> C {
    let z = ln(z);
    C::new(z.re / LN_10, z.im / LN_10)
}

/// `ln(1 + z)`, accurate near 0.
pub fn ln_1p(z: C) -> C {
    let angle = z.im.atan2(z.re + 1.0);
    if libm::hypot(z.re, z.im) < 0.5 {
        return C::new(0.5 * plus_squares(2.0 * z.re, z.re, z.im).ln_1p(), angle);
    }
    C::new(log_abs(C::new(z.re + 1.0, z.im)), angle)
}

/// The square root in the right half plane, cut along the negative axis.
pub fn sqrt(z: C) -> C {
    if z == C::ZERO {
        return C::new(0.0, z.im);
    }
    let size = z.re.abs().max(z.im.abs());
    if z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im);
    }
    // Scaled by powers of 4 where the magnitude is infinite or loses digits.
    let (scale, back) = match size {
        _ if size > 1e300 => (0.25, 2.0),
        _ if size < 1e-290 => (128f64.exp2(), (-64f64).exp2()),
        _ => (1.0, 1.0),
    };
    let (x, y) = (z.re * scale, z.im * scale);
    let root = (0.5 * (x.abs() + libm::hypot(x, y))).sqrt();
    let other = 0.5 * y.abs() / root;
    if x >= 0.0 {
        C::new(root * back, (other * back).copysign(y))
    } else {
        C::new(other * back, (root * back).copysign(y))
    }
}

/// The hyperbolic sine.
pub fn sinh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return C::new(x.sinh(), y);
    }
    if !y.is_finite() {
        return C::new(
            if x == 0.0 {
                x
            } else if x.is_infinite() {
                x.abs()
            } else {
                f64::NAN
            },
            f64::NAN,
        );
    }
    if x.abs() > LARGE {
        let half = scaled_exp(C::new(x.abs(), y), 0.5);
        return C::new(half.re * 1f64.copysign(x), half.im);
    }
    C::new(x.sinh() * y.cos(), x.cosh() * y.sin())
}

/// The hyperbolic cosine.
pub fn cosh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return C::new(x.cosh(), if x.is_nan() { y } else { y * x.signum() });
    }
    if !y.is_finite() {
        return C::new(if x.is_infinite() { x.abs() } else { f64::NAN }, if x == 0.0 { 0.0 } else { f64::NAN });
    }
    if x.abs() > LARGE {
        let half = scaled_exp(C::new(x.abs(), y), 0.5);
        return C::new(half.re, half.im * 1f64.copysign(x));
    }
    C::new(x.cosh() * y.cos(), x.sinh() * y.sin())
}

/// The hyperbolic tangent.
pub fn tanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.is_infinite() {
        let sign = if y.is_finite() && y.abs() > 1.0 { y.sin() * y.cos() } else { y };
        return C::new(1f64.copysign(x), 0f64.copysign(sign));
    }
    if y == 0.0 {
        return C::new(x.tanh(), y);
    }
    if !y.is_finite() {
        return C::new(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    let (sin, cos) = y.sin_cos();
    if x.abs() > 300.0 {
        // The squares below would be infinite.
        return C::new(1f64.copysign(x), 4.0 * sin * cos * (-2.0 * x.abs()).exp());
    }
    let (sinh, cosh) = (x.sinh(), x.cosh());
    // Where `sinh` is small, what its square adds to `cos^2` is exact enough.
    let below = sinh * sinh + cos * cos;
    C::new(sinh * cosh / below, sin * cos / below)
}

/// The sine.
pub fn sin(z: C) -> C {
    if z.im.is_infinite() && !z.re.is_finite() {
        return C::new(f64::NAN, f64::INFINITY);
    }
    turned_back(sinh(turned(z)))
}

/// The cosine.
pub fn cos(z: C) -> C {
    cosh(turned(z))
}

/// The tangent.
pub fn tan(z: C) -> C {
    turned_back(tanh(turned(z)))
}

// The inverse functions are those of T. E. Hull, T. F. Fairgrieve and P. T. P. Tang, "Implementing the complex arcsine
// and arccosine functions using exception handling", ACM TOMS 23 (1997): no part loses its digits to the other, near
// the branch points either.

/// Beyond this the first term of an expansion is the function.
const FAR: f64 = 1.0 / EPSILON;
/// Below this `z` is the function.
const NEAR: f64 = 1e-9;

/// `(hypot(a, b) - b) / 2`, of which `length` is the first term, without cancellation.
fn half_excess(a: f64, b: f64, length: f64) -> f64 {
    if b < 0.0 {
        (length - b) / 2.0
    } else if b == 0.0 {
        a / 2.0
    } else {
        a * a / (length + b) / 2.0
    }
}

/// The parts of `asinh(x + i y)`, `x` and `y` not negative: the real one, and the imaginary one as the sine of an angle
/// or as the coordinates of a point at this angle.
struct HardWork {
    real: f64,
    sine: Option<f64>,
    /// `(y, x)` of the point.
    point: (f64, f64),
}

fn hard_work(x: f64, y: f64) -> HardWork {
    let (r, s) = (libm::hypot(x, y + 1.0), libm::hypot(x, y - 1.0));
    // Half the sum of the distances to the branch points, which is at least 1.
    let a = (0.5 * (r + s)).max(1.0);
    let away = (y - 1.0).abs();
    let real = if a >= 10.0 {
        (a + (a * a - 1.0).sqrt()).ln()
    } else if y == 1.0 && x < EPSILON * EPSILON / 128.0 {
        x.sqrt()
    } else if x >= EPSILON * away {
        let less = half_excess(x, 1.0 + y, r) + half_excess(x, 1.0 - y, s);
        (less + (less * (a + 1.0)).sqrt()).ln_1p()
    } else if y < 1.0 {
        x / ((1.0 - y) * (1.0 + y)).sqrt()
    } else {
        ((y - 1.0) + ((y - 1.0) * (y + 1.0)).sqrt()).ln_1p()
    };
    let sine = y / a;
    if sine <= 0.6417 && y >= 1e-150 {
        return HardWork { real, sine: Some(sine), point: (0.0, 0.0) };
    }
    let point = if y < 1e-150 {
        (y * FAR, a * FAR)
    } else if y == 1.0 && x < EPSILON / 128.0 {
        (y, x.sqrt() * (0.5 * (a + y)).sqrt())
    } else if x >= EPSILON * away {
        let less = half_excess(x, y + 1.0, r) + half_excess(x, y - 1.0, s);
        (y, (less * (a + y)).sqrt())
    } else if y > 1.0 {
        // Both times a large number, lest the second one vanishes.
        let large = FAR * FAR;
        (y * large, x * large * y / ((y + 1.0) * (y - 1.0)).sqrt())
    } else {
        (y, ((1.0 - y) * (1.0 + y)).sqrt())
    };
    HardWork { real, sine: None, point }
}

/// The inverse hyperbolic sine, cut along the imaginary axis beyond -i and i.
pub fn asinh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        return match () {
            () if x.is_infinite() => z,
            () if y.is_infinite() => C::new(y, f64::NAN),
            () if y == 0.0 => z,
            () => C::new(f64::NAN, f64::NAN),
        };
    }
    let (re, im) = if x > FAR || y > FAR {
        let far = ln(C::new(x, y));
        (far.re + LN_2, far.im)
    } else if x < NEAR && y < NEAR {
        return z;
    } else {
        let work = hard_work(x, y);
        (work.real, work.sine.map_or_else(|| work.point.0.atan2(work.point.1), f64::asin))
    };
    C::new(re.copysign(z.re), im.copysign(z.im))
}

/// The inverse sine, cut along the real axis beyond -1 and 1.
pub fn asin(z: C) -> C {
    mirrored(asinh(mirrored(z)))
}

/// The inverse cosine, cut along the real axis beyond -1 and 1.
pub fn acos(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        return match () {
            () if x.is_infinite() => C::new(f64::NAN, f64::NEG_INFINITY),
            () if y.is_infinite() => C::new(f64::NAN, -z.im),
            () if x == 0.0 => C::new(FRAC_PI_2, f64::NAN),
            () => C::new(f64::NAN, f64::NAN),
        };
    }
    let (re, im) = if x > FAR || y > FAR {
        let far = ln(C::new(z.re, y));
        (far.im, far.re + LN_2)
    } else if x < NEAR && y < NEAR {
        (FRAC_PI_2 - z.re, y)
    } else {
        let work = hard_work(y, x);
        let re = match work.sine {
            Some(cosine) => cosine.copysign(z.re).acos(),
            None => work.point.1.atan2(work.point.0.copysign(z.re)),
        };
        (re, work.real)
    };
    C::new(re, im.copysign(-z.im))
}

/// The inverse hyperbolic cosine, cut along the real axis below 1.
pub fn acosh(z: C) -> C {
    let w = acos(z);
    C::new(w.im.abs(), if w.im.is_nan() { w.re } else { w.re.copysign(z.im) })
}

/// The real part of `1 / (x + i y)`, where one of the two is large.
fn real_part_of_reciprocal(x: f64, y: f64) -> f64 {
    let large = x.abs().max(y.abs());
    if large.is_infinite() {
        return 0f64.copysign(x);
    }
    let (x, y) = (x / large, y / large);
    x / (x * x + y * y) / large
}

/// The inverse hyperbolic tangent, cut along the real axis beyond -1 and 1.
pub fn atanh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if y == 0.0 && x <= 1.0 {
        return C::new(libm::atanh(z.re), z.im);
    }
    if x == 0.0 {
        return C::new(z.re, z.im.atan());
    }
    if x.is_nan() || y.is_nan() {
        let re = if x.is_infinite() || y.is_infinite() { 0f64.copysign(z.re) } else { f64::NAN };
        return C::new(re, if y.is_infinite() { FRAC_PI_2.copysign(z.im) } else { f64::NAN });
    }
    let (re, im) = if x > FAR || y > FAR {
        (real_part_of_reciprocal(x, y), FRAC_PI_2)
    } else if x < NEAR && y < NEAR {
        return z;
    } else {
        let re = if x == 1.0 && y < EPSILON {
            0.5 * (LN_2 - y.ln())
        } else {
            0.25 * (4.0 * x / ((x - 1.0) * (x - 1.0) + y * y)).ln_1p()
        };
        let im = if x == 1.0 { 2f64.atan2(-y) } else { (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y) };
        (re, 0.5 * im)
    };
    C::new(re.copysign(z.re), im.copysign(z.im))
}

/// The inverse tangent, cut along the imaginary axis beyond -i and i.
pub fn atan(z: C) -> C {
    mirrored(atanh(mirrored(z)))
}

/// The product of Annex G, which torch's powers have from the C library: infinite if a factor is, as long as the other
/// one is not 0, though formulas with a NaN in them would make both parts NaN.
fn product(a: C, b: C) -> C {
    let product = a.mul(b);
    let infinite = |z: C| z.re.is_infinite() || z.im.is_infinite();
    let terms = [a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re];
    let recovered = infinite(a) || infinite(b) || terms.into_iter().any(f64::is_infinite);
    if !(product.re.is_nan() && product.im.is_nan() && recovered) {
        return product;
    }
    // Infinite parts become 1 where there is one, and NaN 0.
    let unit = |z: C| {
        let large = infinite(z);
        let part = |x: f64| match x {
            _ if x.is_nan() || large && x.is_finite() => 0f64.copysign(x),
            _ if large => 1f64.copysign(x),
            _ => x,
        };
        C::new(part(z.re), part(z.im))
    };
    let direction = unit(a).mul(unit(b));
    C::new(f64::INFINITY * direction.re, f64::INFINITY * direction.im)
}

/// `base` to the power `exponent`: `exp(exponent log(base))`.
pub fn pow(base: C, exponent: C) -> C {
    exp(product(exponent, ln(base)))
}

/// The logistic function.
pub fn sigmoid(z: C) -> C {
    if z.re < 0.0 {
        // Of a negative exponent, so that nothing overflows.
        let small = exp(z);
        return small.div(C::ONE.add(small));
    }
    C::ONE.div(C::ONE.add(exp(z.neg())))
}

/// `sin(pi z) / (pi z)`, 1 at 0.
pub fn sinc(z: C) -> C {
    let angle = C::new(PI * z.re, PI * z.im);
    if z == C::ZERO { C::ONE } else { sin(angle).div(angle) }
}

/// `z / |z|`, 0 at 0.
pub fn sign(z: C) -> C {
    let size = z.abs();
    if size == 0.0 { C::ZERO } else { C::new(z.re / size, z.im / size) }
}

/// `log(exp(a) + exp(b))` without overflow.
pub fn log_add_exp(a: C, b: C) -> C {
    let (small, large) = if a.re < b.re || a.re.is_nan() { (a, b) } else { (b, a) };
    if small.is_nan() || large.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    if !small.re.is_finite() && small.re == large.re {
        // Of two numbers that are 0 to the exponential the angle is either.
        return if small.re < 0.0 { small } else { ln(exp(small).add(exp(large))) };
    }
    ln_1p(exp(small.sub(large))).add(large)
}

#[cfg(test)]
mod tests;
