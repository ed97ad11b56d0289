//! Special functions in double precision: ops on float32 round the result. Most are blocks, functions over slices that
//! are compiled for every instruction set.

mod bessel;
mod chebyshev;
mod gamma;
mod implicit;
mod incomplete_gamma;
mod jet;
mod lanes;
mod logarithms;
mod normal;
mod polynomials;
mod powers;
mod zeta;

pub use bessel::{
    airy_ai, bessel_i0, bessel_i1, bessel_j0, bessel_j1, bessel_k0, bessel_k1, bessel_y0, bessel_y1, scaled_bessel_i0,
    scaled_bessel_i1, scaled_bessel_k0, scaled_bessel_k1, sinc, spherical_bessel_j0,
};
pub use gamma::{digamma, lgamma, trigamma};
pub use implicit::{dirichlet_sample_slope, gamma_sample_slope};
pub use incomplete_gamma::{Incomplete, gammainc, gammaincc, incomplete_gamma_by_a};
pub use lanes::{Block, at};
pub use logarithms::{entropy, x_log_y, x_log1p_y};
pub use normal::{erfc, erfcx, erfinv, log_ndtr, ndtri};
pub use polynomials::{
    chebyshev_t, chebyshev_u, chebyshev_v, chebyshev_w, hermite_h, hermite_he, laguerre_l, legendre_p,
    shifted_chebyshev_t, shifted_chebyshev_u, shifted_chebyshev_v, shifted_chebyshev_w,
};
pub use powers::{power, power_of, single_power, single_power_of, times_power_of_two};
pub use zeta::{polygamma, zeta};

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

    #[test]
    fn divisors() {
        assert_eq!((gcd(-4, 6), gcd(0, 0), gcd(i64::MIN, 0)), (2, 0, i64::MIN));
        assert_eq!((lcm(-4, 6), lcm(0, 3), lcm(i64::MIN, -1)), (12, 0, i64::MIN));
    }
}
