//! Special functions of one number, in double precision. Ops on float32 round the result.
//!
//! None is meant for the inner loop of a training step: each takes tens of nanoseconds.

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
    if q.is_infinite() {
        return 0.0;
    }
    // Terms one by one up to where the series for the rest converges; beyond 200 terms of such a power nothing is left.
    let (mut a, mut sum) = (q, 0.0);
    while a < 12.0 + f64::from(s.min(200)) {
        sum += a.powi(-s);
        a += 1.0;
    }
    let s = f64::from(s);
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

/// The modified Bessel function of the first kind, of order 0 or 1.
pub fn bessel_i(order: u8, x: f64) -> f64 {
    let a = x.abs();
    let nu = f64::from(order);
    let value = if a <= 30.0 {
        // The power series: all its terms are positive, so nothing cancels.
        let y = 0.25 * a * a;
        let mut term = if order == 0 { 1.0 } else { 0.5 * a };
        let (mut sum, mut k) = (term, 1.0);
        while term > sum * 1e-17 {
            term *= y / (k * (k + nu));
            sum += term;
            k += 1.0;
        }
        sum
    } else {
        // The asymptotic series, whose least term is below 1e-20 from here on.
        let mu = 4.0 * nu * nu;
        let (mut term, mut sum, mut k) = (1.0f64, 1.0, 1.0);
        while term.abs() > 1e-17 && k < 60.0 {
            term *= ((2.0 * k - 1.0) * (2.0 * k - 1.0) - mu) / (8.0 * k * a);
            sum += term;
            k += 1.0;
        }
        // The square root by its factors, since the product may be infinite where the exponential is.
        a.exp() / ((2.0 * PI).sqrt() * a.sqrt()) * sum
    };
    if order == 1 && x < 0.0 { -value } else { value }
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
    fn bessel_functions() {
        // The two series agree where they meet.
        for order in [0, 1] {
            near(bessel_i(order, 30f64.next_up()) / bessel_i(order, 30.0), (30f64.next_up() - 30.0).exp());
        }
        near(bessel_i(0, 1.0), 1.266_065_877_752_008_4);
        near(bessel_i(1, -1.0), -0.565_159_103_992_485_1);
        near(bessel_i(0, 100.0) / 1e42, 1.073_751_707_131_073_8);
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
