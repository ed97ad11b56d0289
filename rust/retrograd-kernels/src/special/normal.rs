//! The normal distribution: its function where it is small, and the inverse.

use std::f64::consts::FRAC_1_SQRT_2;

use super::bessel::chebyshev;
use super::chebyshev::ERFCX;

/// `exp(x^2)` times the complementary error function.
pub fn erfcx(x: f64) -> f64 {
    let a = x.abs();
    // In one variable for all arguments: M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of
    // (1 + 2x) exp(x^2) erfc x in 0 <= x < inf", Math. Comp. 36 (1981).
    let t = if a.is_infinite() { 1.0 } else { (a - 3.75) / (a + 3.75) };
    let value = chebyshev(&ERFCX, t) / (1.0 + 2.0 * a);
    if x >= 0.0 || x.is_nan() {
        return value;
    }
    if a > 27.0 {
        return f64::INFINITY;
    }
    // The square in two parts: the rounding error of one would be multiplied by the square.
    let high = f64::from(a as f32);
    let low = (a - high) * (a + high);
    2.0 * (high * high).exp() * low.exp() - value
}

/// The logarithm of the normal distribution function.
pub fn log_ndtr(x: f64) -> f64 {
    let t = x * FRAC_1_SQRT_2;
    if x < -1.0 { (0.5 * erfcx(-t)).ln() - t * t } else { (-0.5 * libm::erfc(t)).ln_1p() }
}

/// A polynomial with its highest coefficient first.
fn horner(c: &[f64], x: f64) -> f64 {
    c.iter().fold(0.0, |sum, c| sum * x + c)
}

/// The number below which a standard normal variable is with probability `p`; infinite at 0 and 1, NaN outside.
///
/// M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37 (1988).
pub fn ndtri(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * horner(&CENTRE[0], r) / horner(&CENTRE[1], r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail == 0.0 {
        return f64::INFINITY.copysign(q);
    }
    // NaN outside of the interval.
    let r = (-tail.ln()).sqrt();
    let x = if r <= 5.0 {
        horner(&MIDDLE[0], r - 1.6) / horner(&MIDDLE[1], r - 1.6)
    } else {
        horner(&FAR[0], r - 5.0) / horner(&FAR[1], r - 5.0)
    };
    x.copysign(q)
}

/// Numerator and denominator of [`ndtri`] near 1/2, in `0.425^2 - (p - 1/2)^2`.
#[rustfmt::skip]
const CENTRE: [[f64; 8]; 2] = [
    [
        2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
        13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665,
    ],
    [
        5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597,
        5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0,
    ],
];

/// In the tails, in `sqrt(-ln(tail)) - 1.6`.
#[rustfmt::skip]
const MIDDLE: [[f64; 8]; 2] = [
    [
        0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684,
        3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835,
    ],
    [
        1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008,
        0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0,
    ],
];

/// Far out, in `sqrt(-ln(tail)) - 5`.
#[rustfmt::skip]
const FAR: [[f64; 8]; 2] = [
    [
        2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124,
        0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
    ],
    [
        2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133,
        0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(1e-300), "{got} for {want}");
    }

    #[test]
    fn the_tail_and_its_inverse() {
        near(erfcx(0.0), 1.0);
        near(erfcx(1.0), 0.427_583_576_155_807);
        near(erfcx(-1.0), 5.008_980_080_762_283);
        near(erfcx(1e8), 5.641_895_835_477_562e-9);
        assert_eq!([erfcx(f64::INFINITY), erfcx(f64::NEG_INFINITY)], [0.0, f64::INFINITY]);
        near(log_ndtr(-30.0), -454.321_243_956_343_25);
        assert_eq!([log_ndtr(f64::INFINITY), log_ndtr(f64::NEG_INFINITY)], [0.0, f64::NEG_INFINITY]);
        for p in [1e-300, 1e-20, 1e-5, 0.07, 0.1, 0.4, 0.9, 1.0 - 1e-10] {
            let x = ndtri(p);
            assert!((0.5 * libm::erfc(-x * FRAC_1_SQRT_2) / p - 1.0).abs() < 1e-12, "{p}");
        }
        assert_eq!([ndtri(0.0), ndtri(1.0), ndtri(0.5)], [f64::NEG_INFINITY, f64::INFINITY, 0.0]);
        assert!([-0.1, 1.1, f64::NAN].iter().all(|p| ndtri(*p).is_nan()));
    }
}
