//! The Hurwitz zeta function, and what is made of it.

use std::f64::consts::PI;
use std::mem::MaybeUninit;

use super::gamma::digamma;
use super::lanes::{any, at, blocks};
use crate::math;
use crate::simd::Vector;

/// Coefficients `B_2j / (2j)!` of the Euler-Maclaurin sum, from `j = 1`.
const EULER_MACLAURIN: [f64; 12] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1209600.0,
    1.0 / 47900160.0,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    -3.3896802963225828e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812523e-19,
];

/// The sum of `(q + k)^-s` over all `k >= 0`, for whole `s` from 2 on.
fn hurwitz_zeta(s: i32, q: f64) -> f64 {
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

/// [`zeta`] of any numbers.
fn zeta_at(s: f64, q: f64) -> f64 {
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
        return at(digamma, [x]);
    }
    // A factorial of 171 or more is infinite.
    let order = n.min(1000) as i32;
    let factorial = (1..=order.min(171)).fold(1.0, |product, k| product * f64::from(k));
    let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
    sign * factorial * hurwitz_zeta(order + 1, x)
}

/// `x^-s` for finite positive `x`, within 2^-52 of itself and `s` times 2^-58.
#[inline(always)]
fn negative_power<V: Vector<Elem = f64>>(x: V, s: V) -> V {
    let (high, low) = math::log_in_two(x);
    let product = -(s * high);
    let exp = math::exp(product);
    // What the product lost to rounding, and the product of what the logarithm did.
    let rest = -(s.fused(high, product) + s * low);
    exp.fma(rest, exp)
}

/// From where to where [`zeta_inside`] computes: `s` up to this ...
const S_MOST: f64 = 30.0;
/// ... and `q` between these.
const Q: [f64; 2] = [1e-9, 1e15];

/// [`zeta`] for `s` from 1 to [`S_MOST`] and `q` in [`Q`].
#[inline(always)]
fn zeta_inside<V: Vector<Elem = f64>>(s: V, q: V) -> V {
    let one = s.of(1.0);
    let s = s.at_least(one).at_most(s.of(S_MOST));
    let (mut a, mut sum) = (q.at_least(s.of(Q[0])).at_most(s.of(Q[1])), s.of(0.0));
    // As in `zeta_by_sum`; for such `s` half as many terms do.
    let enough = s.fma(s.of(0.5), s.of(12.0));
    loop {
        let few = a.lt(enough);
        if !any::<V>(few) {
            break;
        }
        sum = (sum + negative_power(a, s)).select(few, sum);
        a = (a + one).select(few, a);
    }
    let (last, inverse) = (negative_power(a, s), one / a);
    let square = inverse * inverse;
    sum = sum + last * (a / (s - one) + s.of(0.5));
    let (mut factor, mut k) = (s * last * inverse, s);
    for c in EULER_MACLAURIN {
        sum = factor.fma(s.of(c), sum);
        factor = factor * ((k + one) * (k + s.of(2.0)) * square);
        k = k + s.of(2.0);
    }
    sum
}

blocks! {
    /// The zeta function in its usual domain.
    zeta_lanes[s, q] = zeta_inside(s, q);
}

/// The Hurwitz zeta function: infinite at `s = 1` and at its poles `q = 0, -1, ...`, NaN below `s = 1`, and for
/// negative `q` unless `s` is whole.
pub fn zeta([s, q]: [&[f64]; 2], out: &mut [MaybeUninit<f64>]) {
    zeta_lanes([s, q], out);
    for ((&s, &q), out) in s.iter().zip(q).zip(out) {
        if !(s > 1.0 && s <= S_MOST && (Q[0]..=Q[1]).contains(&q)) {
            out.write(zeta_at(s, q));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trigamma;
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(1e-3), "{got} for {want}");
    }

    #[test]
    fn lanes_are_what_the_scalar_function_says() {
        for i in 0..300 {
            let (s, q) = (1.01 + 0.11 * f64::from(i), 0.03 + 0.37 * f64::from(i * 7 % 300));
            near(at(zeta, [s, q]) / zeta_at(s, q), 1.0);
        }
        for (s, q) in [(1.0, 2.0), (0.5, 2.0), (2.0, -1.0), (2.5, -1.5), (3.0, f64::NAN), (f64::INFINITY, 1.0)] {
            assert_eq!(at(zeta, [s, q]).to_bits(), zeta_at(s, q).to_bits());
        }
    }

    #[test]
    fn gamma_family() {
        let euler = 0.577_215_664_901_532_9;
        let digamma = |x| polygamma(0, x);
        near(digamma(1.0), -euler);
        near(digamma(0.5), -euler - 2.0 * 2f64.ln());
        near(digamma(-0.5), 2.0 - euler - 2.0 * 2f64.ln());
        near(at(trigamma, [-0.5]), PI * PI / 2.0 + 4.0);
        near(polygamma(1, 1.0), PI * PI / 6.0);
        near(polygamma(1, -0.5), PI * PI / 2.0 + 4.0);
        near(polygamma(3, 1.0), PI.powi(4) / 15.0);
        near(polygamma(2, 0.5), -14.0 * 1.202_056_903_159_594_2);
        near(polygamma(2, -0.5), -14.0 * 1.202_056_903_159_594_2 + 16.0);
        assert!(polygamma(1, -1.0) > 1e32 && polygamma(1, 0.0) == f64::INFINITY);
        assert!(polygamma(2, -1.0) == f64::NEG_INFINITY && polygamma(1, f64::INFINITY) == 0.0);
        assert!(polygamma(i64::MAX, 0.5).is_infinite());
    }
}
