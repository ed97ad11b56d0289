//! Special functions of one number, in double precision. Ops on float32 round the result.
//!
//! None is meant for the inner loop of a training step: each takes tens of nanoseconds.

mod bessel;
mod chebyshev;
mod incomplete_gamma;
mod jet;
mod normal;
mod polynomials;

pub use bessel::{airy_ai, bessel_i, bessel_k, scaled_bessel_i, spherical_bessel_j0};
pub use incomplete_gamma::{Incomplete, incomplete_gamma, incomplete_gamma_by_a};
pub use libm::{j0 as bessel_j0, j1 as bessel_j1, y0 as bessel_y0, y1 as bessel_y1};
pub use normal::{erfcx, log_ndtr, ndtri};
pub use polynomials::{Chebyshev, chebyshev, hermite_h, hermite_he, laguerre_l, legendre_p};

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// Coefficients `B_2j / (2j)!` of the Euler-Maclaurin sum, from `j = 1`.
const EULER_MACLAURIN: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1209600.0,
    1.0 / 47900160.0,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
];

/// Coefficients `B_2j / 2j` of the asymptotic series of [`digamma`], from `j = 1`.
const DIGAMMA: [f64; 7] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];

/// The logarithmic derivative of the gamma function: infinite at 0 with the sign of `-x`, NaN at its other poles.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        // A pole at every integer; the tangent only depends on the distance to it.
        return if x == x.trunc() || x.is_infinite() {
            f64::NAN
        } else {
            digamma(1.0 - x) - PI / (PI * x.fract()).tan()
        };
    }
    // From 10 on the first term left out of the series is below 1e-16.
    let (mut x, mut less) = (x, 0.0);
    while x < 10.0 {
        less += 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = DIGAMMA.iter().rev().fold(0.0, |sum, c| (sum + c) * y);
    x.ln() - 0.5 / x - series - less
}

/// The sum of `(q + k)^-s` over all `k >= 0`, for whole `s` from 2 on.
pub fn hurwitz_zeta(s: i32, q: f64) -> f64 {
    if q < 0.0 {
        // The sum over all integers, of both signs, less the terms left of `q`. For squares it has a closed form, which
        // is large instead of infinite at the poles, as in torch.
        let f = q - q.floor();
        let sign = if s % 2 == 0 { 1.0 } else { -1.0 };
        let all =
            if s == 2 { (PI / (PI * q).sin()).powi(2) } else { hurwitz_zeta(s, f) + sign * hurwitz_zeta(s, 1.0 - f) };
        return all - sign * hurwitz_zeta(s, 1.0 - q);
    }
    zeta_by_sum(f64::from(s), q, |a| a.powi(-s))
}

/// The sum of `(q + k)^-s` for `q` from 0 on, given the power of exponent `-s`.
fn zeta_by_sum(s: f64, q: f64, power: impl Fn(f64) -> f64) -> f64 {
    if q.is_infinite() {
        return 0.0;
    }
    // Terms one by one up to where the series for the rest converges; beyond 200 terms of such a power nothing is left.
    let (mut a, mut sum) = (q, 0.0);
    while a < 12.0 + s.min(200.0) {
        sum += power(a);
        a += 1.0;
    }
    let last = a.powf(-s);
    sum += last * a / (s - 1.0) + 0.5 * last;
    let mut factor = s * last / a;
    for (j, c) in EULER_MACLAURIN.iter().enumerate() {
        sum += c * factor;
        let k = s + 2.0 * j as f64;
        factor *= (k + 1.0) * (k + 2.0) / (a * a);
    }
    sum
}

/// The Hurwitz zeta function: infinite at `s = 1` and at its poles `q = 0, -1, ...`, NaN below `s = 1`, and for
/// negative `q` unless `s` is whole.
pub fn zeta(s: f64, q: f64) -> f64 {
    if s.is_nan() || q.is_nan() || s < 1.0 {
        f64::NAN
    } else if s == 1.0 || q <= 0.0 && q == q.floor() {
        f64::INFINITY
    } else if s == s.floor() && s < 1e9 {
        hurwitz_zeta(s as i32, q)
    } else if q < 0.0 {
        f64::NAN
    } else if s.is_infinite() {
        // The first term alone.
        if q == 1.0 { 1.0 } else { q.powf(-s) }
    } else {
        zeta_by_sum(s, q, |a| a.powf(-s))
    }
}

/// The derivative of order `n` of [`digamma`].
pub fn polygamma(n: i64, x: f64) -> f64 {
    if n == 0 {
        return digamma(x);
    }
    // A factorial of 171 or more is infinite.
    let order = n.min(1000) as i32;
    let factorial = (1..=order.min(171)).fold(1.0, |product, k| product * f64::from(k));
    let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
    sign * factorial * hurwitz_zeta(order + 1, x)
}

/// The number whose error function is `x`; infinite at -1 and 1, NaN outside.
pub fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if a >= 1.0 || a.is_nan() {
        return if a == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    }
    if a == 0.0 {
        return x;
    }
    // Within 0.3 % of the root; each step of Halley's method triples the number of digits.
    let shape = 0.147;
    let log = (-a * a).ln_1p();
    let middle = 2.0 / (PI * shape) + 0.5 * log;
    let mut y = ((middle * middle - log / shape).sqrt() - middle).sqrt();
    if a < 1e-3 {
        // The difference above cancels here.
        y = a / FRAC_2_SQRT_PI;
    }
    for _ in 0..3 {
        // In the tail by the complement, as 1 - a is exact there.
        let miss = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let step = miss / (FRAC_2_SQRT_PI * (-y * y).exp());
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// `sin(pi x) / (pi x)`.
pub fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

/// `-x log x`, continued by 0 at 0 and by minus infinity below.
pub fn entropy(x: f64) -> f64 {
    if x > 0.0 {
        -x * x.ln()
    } else if x == 0.0 {
        0.0
    } else if x < 0.0 {
        f64::NEG_INFINITY
    } else {
        x
    }
}

/// `x log(y)`, 0 where `x` is 0 unless `y` is NaN.
pub fn x_log(x: f64, log: f64, y: f64) -> f64 {
    if x == 0.0 && !y.is_nan() { 0.0 } else { x * log }
}

/// `log(exp(a) + exp(b))` without overflow.
pub fn log_add_exp(a: f64, b: f64) -> f64 {
    if a == b && a.is_infinite() {
        return a;
    }
    a.max(b) + (-(a - b).abs()).exp().ln_1p()
}

/// `log2(2^a + 2^b)` without overflow.
pub fn log_add_exp2(a: f64, b: f64) -> f64 {
    if a == b && a.is_infinite() {
        return a;
    }
    a.max(b) + (-(a - b).abs()).exp2().ln_1p() * std::f64::consts::LOG2_E
}

/// The greatest common divisor; wraps where its magnitude does not fit.
pub fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

/// The least common multiple, 0 if one of the numbers is; wraps.
pub fn lcm(a: i64, b: i64) -> i64 {
    match gcd(a, b) {
        0 => 0,
        g => a.wrapping_div(g).wrapping_mul(b).wrapping_abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(1e-3), "{got} for {want}");
    }

    #[test]
    fn gamma_family() {
        let euler = 0.577_215_664_901_532_9;
        near(digamma(1.0), -euler);
        near(digamma(0.5), -euler - 2.0 * 2f64.ln());
        near(digamma(-0.5), 2.0 - euler - 2.0 * 2f64.ln());
        assert!(digamma(-3.0).is_nan() && digamma(-0.0) == f64::INFINITY && digamma(0.0) == f64::NEG_INFINITY);
        near(polygamma(1, 1.0), PI * PI / 6.0);
        near(polygamma(1, -0.5), PI * PI / 2.0 + 4.0);
        near(polygamma(3, 1.0), PI.powi(4) / 15.0);
        near(polygamma(2, 0.5), -14.0 * 1.202_056_903_159_594_2);
        near(polygamma(2, -0.5), -14.0 * 1.202_056_903_159_594_2 + 16.0);
        assert!(polygamma(1, -1.0) > 1e32 && polygamma(1, 0.0) == f64::INFINITY);
        assert!(polygamma(2, -1.0) == f64::NEG_INFINITY && polygamma(1, f64::INFINITY) == 0.0);
        assert!(polygamma(i64::MAX, 0.5).is_infinite());
    }

    #[test]
    fn the_inverse_error_function_inverts() {
        for i in 1..2000 {
            let x = f64::from(i) / 2000.0;
            near(libm::erf(erfinv(x)), x);
            assert_eq!(erfinv(-x), -erfinv(x));
        }
        for x in [1e-300, 1e-20, 1e-5, 1e-3] {
            near(erfinv(x) / x, 1.0 / FRAC_2_SQRT_PI * (1.0 + PI / 12.0 * x * x + 7.0 * PI * PI / 480.0 * x.powi(4)));
        }
        near(libm::erfc(erfinv(1.0 - 1e-15)) / 1e-15, (1.0 - (1.0 - 1e-15)) / 1e-15);
        assert!(erfinv(1.0) == f64::INFINITY && erfinv(1.1).is_nan() && erfinv(f64::NAN).is_nan());
    }

    #[test]
    fn divisors() {
        assert_eq!((gcd(-4, 6), gcd(0, 0), gcd(i64::MIN, 0)), (2, 0, i64::MIN));
        assert_eq!((lcm(-4, 6), lcm(0, 3), lcm(i64::MIN, -1)), (12, 0, i64::MIN));
    }
}
