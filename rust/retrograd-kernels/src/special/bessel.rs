//! Bessel functions of orders 0 and 1, and the Airy function.
//!
//! `J` and `Y` are those of the C library (`libm::j0` and others). The modified functions and `Ai` are Chebyshev series
//! of what is left after their growth was divided out.

use std::f64::consts::{FRAC_PI_4, PI};

use super::chebyshev::*;

/// The sum of `c[j] T_j(t)` by Clenshaw's recurrence, the even and the odd terms side by side: `T_2j(t) = T_j(u)` and
/// `T_2j+1(t) = t V_j(u)` with `u = 2 t^2 - 1`, and neither waits for the other.
pub(super) fn chebyshev(c: &[f64], t: f64) -> f64 {
    let u = 2.0 * t * t - 1.0;
    let twice = 2.0 * u;
    let [mut even, mut odd] = [[0.0; 2]; 2];
    let step = |[b, before]: [f64; 2], c: f64| [twice * b - before + c, b];
    let (pairs, rest) = c.as_chunks::<2>();
    if let &[last] = rest {
        even = step(even, last);
    }
    for &[a, b] in pairs[1..].iter().rev() {
        (even, odd) = (step(even, a), step(odd, b));
    }
    let odd = step(odd, pairs[0][1]);
    u * even[0] - even[1] + pairs[0][0] + t * (odd[0] - odd[1])
}

/// `exp(-|x|)` times the modified Bessel function of the first kind, of order 0 or 1.
pub fn scaled_bessel_i(order: u8, x: f64) -> f64 {
    let a = x.abs();
    let (below, from) = if order == 0 { (&I0_BELOW_8[..], &I0_FROM_8[..]) } else { (&I1_BELOW_8[..], &I1_FROM_8[..]) };
    if a > 8.0 {
        let value = chebyshev(from, 16.0 / a - 1.0) / a.sqrt();
        return if order == 1 && x < 0.0 { -value } else { value };
    }
    let value = chebyshev(below, 0.25 * a - 1.0);
    if order == 1 { x * value } else { value }
}

/// The modified Bessel function of the first kind, of order 0 or 1.
pub fn bessel_i(order: u8, x: f64) -> f64 {
    let a = x.abs();
    if a < 700.0 {
        return a.exp() * scaled_bessel_i(order, x);
    }
    if a.is_infinite() {
        return if order == 1 { x } else { a };
    }
    // The exponential in halves, since it may be infinite where the product is not.
    let half = (0.5 * a).exp();
    half * scaled_bessel_i(order, x) * half
}

/// Terms of the power series of [`bessel_k`]: those left out are below 1e-20 up to `x = 2`.
const TERMS: usize = 13;

/// `1 / (k! (k + nu)!)` and, for [`bessel_k`], `psi(k + 1) + psi(k + nu + 1)` times half of it (DLMF 10.31.1).
const fn series(nu: usize) -> [[f64; TERMS]; 2] {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let (mut of_i, mut of_k) = ([0.0; TERMS], [0.0; TERMS]);
    let (mut k, mut inverse, mut psi, mut psi_above) = (0, 1.0, -EULER, if nu == 1 { 1.0 - EULER } else { -EULER });
    while k < TERMS {
        of_i[k] = inverse;
        of_k[k] = 0.5 * (psi + psi_above) * inverse;
        k += 1;
        psi += 1.0 / k as f64;
        psi_above += 1.0 / (k + nu) as f64;
        inverse /= (k * (k + nu)) as f64;
    }
    [of_i, of_k]
}
const OF_ORDER: [[[f64; TERMS]; 2]; 2] = [series(0), series(1)];

/// The modified Bessel function of the second kind, of order 0 or 1, times `exp(x)` if `scaled`; infinite at 0, NaN
/// below.
pub fn bessel_k(order: u8, scaled: bool, x: f64) -> f64 {
    if x < 0.0 || x.is_nan() {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x <= 2.0 {
        // DLMF 10.31.1 and 10.31.2, where the logarithm joins the sum term by term.
        let (y, log) = (0.25 * x * x, (0.5 * x).ln());
        let [of_i, of_k] = &OF_ORDER[order as usize];
        let sum = (0..TERMS).rev().fold(0.0, |sum, k| sum * y + (of_k[k] - log * of_i[k]));
        let value = if order == 0 { sum } else { 1.0 / x - 0.5 * x * sum };
        return if scaled { value * x.exp() } else { value };
    }
    let from = if order == 0 { &K0_FROM_2 } else { &K1_FROM_2 };
    let value = chebyshev(from, 4.0 / x - 1.0) / x.sqrt();
    if scaled { value } else { value * (-x).exp() }
}

/// The spherical Bessel function of the first kind, of order 0: `sin(x) / x`.
pub fn spherical_bessel_j0(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        x.sin() / x
    }
}

/// The Airy function of the first kind.
pub fn airy_ai(x: f64) -> f64 {
    let a = x.abs();
    let z = 2.0 / 3.0 * a * a.sqrt();
    if x > 2.0 {
        // 2 / 3 2^(3/2), the `z` of 2. Beyond, the exponential is below the least number.
        const LEAST: f64 = 1.885_618_083_164_126_7;
        return if z > 760.0 {
            0.0
        } else {
            chebyshev(&AI_FROM_2, 2.0 * LEAST / z - 1.0) * (-z).exp() / (2.0 * (PI * a.sqrt()).sqrt())
        };
    }
    if x >= -4.0 {
        return chebyshev(&AI_BETWEEN, (x + 1.0) / 3.0);
    }
    if a.is_infinite() {
        return 0.0;
    }
    // DLMF 9.7.9.
    let inverse = 1.0 / z;
    let t = 2.0 * (16.0 / 3.0 * inverse).powi(2) - 1.0;
    let (sin, cos) = (z - FRAC_PI_4).sin_cos();
    (cos * chebyshev(&AI_COS, t) + sin * inverse * chebyshev(&AI_SIN, t)) / (PI * a.sqrt()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(1e-3), "{got} for {want}");
    }

    /// Both sides of each border agree, and values are those of DLMF.
    #[test]
    fn values_and_borders() {
        for order in [0, 1] {
            near(bessel_i(order, 8f64.next_up()), bessel_i(order, 8.0));
            let [above, below] = [700f64.next_up(), 700f64.next_down()];
            near(bessel_i(order, above) / bessel_i(order, below), (above - below).exp());
            near(bessel_k(order, true, 2f64.next_up()), bessel_k(order, true, 2.0));
            assert!(bessel_k(order, false, -1.0).is_nan() && bessel_k(order, false, 0.0) == f64::INFINITY);
            assert_eq!((bessel_k(order, false, f64::INFINITY), bessel_i(order, f64::INFINITY)), (0.0, f64::INFINITY));
            // The Wronskian, DLMF 10.28.2.
            for x in [1e-3, 0.5, 1.9, 2.5, 7.0, 9.0, 50.0, 600.0] {
                let [i0, i1] = [0, 1].map(|n| scaled_bessel_i(n, x));
                let [k0, k1] = [0, 1].map(|n| bessel_k(n, true, x));
                near((i0 * k1 + i1 * k0) * x, 1.0);
            }
        }
        near(bessel_i(0, 1.0), 1.266_065_877_752_008_4);
        near(bessel_i(1, -1.0), -0.565_159_103_992_485_1);
        near(bessel_i(0, 100.0) / 1e42, 1.073_751_707_131_073_8);
        near(airy_ai(0.0), 0.355_028_053_887_817_2);
        near(airy_ai(2f64.next_up()), airy_ai(2.0));
        near(airy_ai(-4.000_000_000_000_001), airy_ai(-4.0));
        assert_eq!([airy_ai(f64::INFINITY), airy_ai(f64::NEG_INFINITY), airy_ai(1e300)], [0.0; 3]);
        assert_eq!((spherical_bessel_j0(0.0), spherical_bessel_j0(f64::INFINITY)), (1.0, 0.0));
    }
}
