//! Bessel functions of orders 0 and 1, and the Airy function: Chebyshev series of what is left after growth, zeros and
//! oscillation were divided out.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_4, PI};

use super::chebyshev::*;
use super::lanes::{any, blocks, either};
use crate::math;
use crate::simd::Vector;

/// The sum of `c[j] T_j(t)` by Clenshaw's recurrence, the even and the odd terms side by side: `T_2j(t) = T_j(u)` and
/// `T_2j+1(t) = t V_j(u)` with `u = 2 t^2 - 1`, and neither waits for the other.
#[inline(always)]
pub(super) fn chebyshev<V: Vector<Elem = f64>>(c: &[f64], t: V) -> V {
    let zero = t.of(0.0);
    let u = (t + t).fma(t, t.of(-1.0));
    let twice = u + u;
    let [mut even, mut odd] = [[zero; 2]; 2];
    let (pairs, rest) = c.as_chunks::<2>();
    if let &[last] = rest {
        even = [t.splat(last), zero];
    }
    for &[a, b] in pairs[1..].iter().rev() {
        even = [twice.fma(even[0], t.splat(a) - even[1]), even[0]];
        odd = [twice.fma(odd[0], t.splat(b) - odd[1]), odd[0]];
    }
    let [a, b] = pairs[0];
    odd = [twice.fma(odd[0], t.splat(b) - odd[1]), odd[0]];
    u.fma(even[0], t.splat(a) - even[1]) + t * (odd[0] - odd[1])
}

/// `exp(-|x|)` times the modified Bessel function of the first kind, of order 0 or 1.
#[inline(always)]
fn scaled_bessel_i<const ORDER: u8, V: Vector<Elem = f64>>(x: V) -> V {
    let a = x.abs();
    let (below, from) = if ORDER == 0 { (&I0_BELOW_8[..], &I0_FROM_8[..]) } else { (&I1_BELOW_8[..], &I1_FROM_8[..]) };
    let value = either!(a, x.of(8.0).lt(a), chebyshev(from, x.of(16.0) / a - x.of(1.0)) / a.sqrt(), {
        let value = chebyshev(below, a.fma(x.of(0.25), x.of(-1.0)));
        if ORDER == 0 { value } else { value * a }
    });
    if ORDER == 0 { value } else { value.with_sign_of(x) }
}

/// The modified Bessel function of the first kind, of order 0 or 1.
#[inline(always)]
fn bessel_i<const ORDER: u8, V: Vector<Elem = f64>>(x: V) -> V {
    const MOST: f64 = 700.0;
    let a = x.abs();
    let most = x.of(MOST);
    let mut value = math::exp(a.at_most(most)) * scaled_bessel_i::<ORDER, V>(x);
    if any::<V>(most.lt(a)) {
        // The exponential in two factors, since it may be infinite where the product is not.
        value = (value * math::exp(a - most)).select(most.lt(a), value);
        value = value.select(a.lt(x.of(f64::INFINITY)), if ORDER == 0 { a } else { x });
    }
    value
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

/// `y` for positive `x`; infinite, with the sign of `end`, at 0, and NaN below.
#[inline(always)]
fn above_zero<V: Vector<Elem = f64>>(y: V, x: V, end: f64) -> V {
    let zero = x.of(0.0);
    y.select(zero.lt(x), x.of(f64::INFINITY * end).select(x.eq(zero), x.of(f64::NAN)))
}

/// The modified Bessel function of the second kind, of order 0 or 1, times `exp(x)` if `SCALED`; infinite at 0, NaN
/// below.
#[inline(always)]
fn bessel_k<const ORDER: u8, const SCALED: bool, V: Vector<Elem = f64>>(x: V) -> V {
    let value = either!(
        x,
        x.of(2.0).lt(x),
        {
            let from = if ORDER == 0 { &K0_FROM_2[..] } else { &K1_FROM_2[..] };
            let value = chebyshev(from, x.of(4.0) / x - x.of(1.0)) / x.sqrt();
            if SCALED { value } else { value * math::exp(-x) }
        },
        {
            // DLMF 10.31.1 and 10.31.2, where the logarithm joins the sum term by term.
            let (y, log) = (x * x * x.of(0.25), math::log(x.at_least(x.of(1e-323)) * x.of(0.5)));
            let [of_i, of_k] = &OF_ORDER[ORDER as usize];
            let mut sum = x.of(0.0);
            for k in (0..TERMS).rev() {
                sum = sum.fma(y, (-log).fma(x.splat(of_i[k]), x.splat(of_k[k])));
            }
            let value = if ORDER == 0 { sum } else { x.of(1.0) / x - x * sum * x.of(0.5) };
            if SCALED { value * math::exp(x) } else { value }
        }
    );
    above_zero(value, x, 1.0)
}

/// `a - zero`, with all of its digits.
#[inline(always)]
fn distance<V: Vector<Elem = f64>>(a: V, [zero, low]: [f64; 2]) -> V {
    (a - a.splat(zero)) - a.splat(low)
}

/// The product of `a^2 - zero^2`.
#[inline(always)]
fn off_zeros<V: Vector<Elem = f64>>(a: V, [p, q]: [[f64; 2]; 2]) -> V {
    (distance(a, p) * (a + a.splat(p[0]))) * (distance(a, q) * (a + a.splat(q[0])))
}

/// The Bessel function of the first kind, of order 0 or 1, for `a` from 0 to 5.
#[inline(always)]
fn bessel_j_below_5<const ORDER: u8, V: Vector<Elem = f64>>(a: V) -> V {
    let t = (a * a).fma(a.of(0.08), a.of(-1.0));
    if ORDER == 0 {
        let value = off_zeros(a, J0_ZEROS) * chebyshev(&J0_BELOW_5, t);
        // Exact at 0.
        (a * a).fma(a.of(-0.25), a.of(1.0)).select(a.lt(a.of(1e-5)), value)
    } else {
        a * (off_zeros(a, J1_ZEROS) * chebyshev(&J1_BELOW_5, t))
    }
}

/// The Bessel function of the first kind, or the second one if `SECOND`, of order 0 or 1, for `a` from 5 on (DLMF
/// 10.17.3 and 10.17.4); 0 at infinity.
#[inline(always)]
fn bessel_from_5<const ORDER: u8, const SECOND: bool, V: Vector<Elem = f64>>(a: V) -> V {
    let inverse = a.of(1.0) / a;
    let t = (inverse * inverse).fma(a.of(50.0), a.of(-1.0));
    let (p, q) = if ORDER == 0 { (&P0_FROM_5[..], &Q0_FROM_5[..]) } else { (&P1_FROM_5[..], &Q1_FROM_5[..]) };
    let (p, q) = (chebyshev(p, t), inverse * chebyshev(q, t));
    // The root of 2 times the cosine and the sine of `a - pi / 4`, or of `a - 3 pi / 4`.
    let (sin, cos) = (math::sin(a), math::cos(a));
    let (c, s) = if ORDER == 0 { (cos + sin, sin - cos) } else { (sin - cos, -(sin + cos)) };
    let sum = if SECOND { p.fma(s, q * c) } else { p.fma(c, -(q * s)) };
    a.of(0.0).select(a.eq(a.of(f64::INFINITY)), sum / (a * a.of(PI)).sqrt())
}

/// The Bessel function of the first kind, of order 0 or 1.
#[inline(always)]
fn bessel_j<const ORDER: u8, V: Vector<Elem = f64>>(x: V) -> V {
    let a = x.abs();
    let far = x.of(5.0).lt(a);
    let value = either!(a, far, bessel_from_5::<ORDER, false, V>(a), bessel_j_below_5::<ORDER, V>(a));
    if ORDER == 0 { value } else { value.xor(x.and(x.of(-0.0))) }
}

/// The Bessel function of the second kind, of order 0 or 1, for `x` from 0 to 5.
#[inline(always)]
fn bessel_y_below_5<const ORDER: u8, V: Vector<Elem = f64>>(x: V) -> V {
    either!(
        x,
        x.of(2.0).lt(x),
        {
            let (zero, c) = if ORDER == 0 { (Y0_ZERO, &Y0_BELOW_5[..]) } else { (Y1_ZERO, &Y1_BELOW_5[..]) };
            distance(x, zero) * chebyshev(c, (x - x.of(3.5)) * x.of(1.0 / 1.5))
        },
        {
            // DLMF 10.8.1.
            let log = math::log(x) * bessel_j_below_5::<ORDER, V>(x);
            let t = (x * x).fma(x.of(0.5), x.of(-1.0));
            if ORDER == 0 {
                log.fma(x.of(FRAC_2_PI), chebyshev(&Y0_BELOW_2, t))
            } else {
                (log - x.of(1.0) / x).fma(x.of(FRAC_2_PI), x * chebyshev(&Y1_BELOW_2, t))
            }
        }
    )
}

/// The Bessel function of the second kind, of order 0 or 1; minus infinity at 0, NaN below.
#[inline(always)]
fn bessel_y<const ORDER: u8, V: Vector<Elem = f64>>(x: V) -> V {
    let far = x.of(5.0).lt(x);
    let value = either!(x, far, bessel_from_5::<ORDER, true, V>(x), bessel_y_below_5::<ORDER, V>(x));
    above_zero(value, x, -1.0)
}

/// `sin(angle) / angle`, 1 at 0 and 0 at infinity.
#[inline(always)]
fn sine_over<V: Vector<Elem = f64>>(angle: V) -> V {
    let (a, infinity) = (angle.abs(), angle.of(f64::INFINITY));
    let value = angle.of(1.0).select(a.eq(angle.of(0.0)), math::sin(angle) / angle);
    angle.of(0.0).select(a.eq(infinity), value)
}

/// The square root of `pi sqrt(a)`.
#[inline(always)]
fn airy_divisor<V: Vector<Elem = f64>>(a: V) -> V {
    (a.sqrt() * a.of(PI)).sqrt()
}

/// The Airy function of the first kind.
#[inline(always)]
fn airy<V: Vector<Elem = f64>>(x: V) -> V {
    let a = x.abs();
    let z = a * a.sqrt() * x.of(2.0 / 3.0);
    let value = either!(
        x,
        x.of(2.0).lt(x),
        {
            // 2 / 3 2^(3/2), the `z` of 2.
            const LEAST: f64 = 1.885_618_083_164_126_7;
            let t = x.of(2.0 * LEAST) / z - x.of(1.0);
            chebyshev(&AI_FROM_2, t) * math::exp(-z) / (airy_divisor(a) * x.of(2.0))
        },
        {
            either!(
                x,
                x.lt(x.of(-4.0)),
                {
                    // DLMF 9.7.9.
                    let inverse = x.of(1.0) / z;
                    let part = inverse * x.of(16.0 / 3.0);
                    let t = (part + part).fma(part, x.of(-1.0));
                    let angle = z - x.of(FRAC_PI_4);
                    let sum =
                        math::cos(angle) * chebyshev(&AI_COS, t) + math::sin(angle) * inverse * chebyshev(&AI_SIN, t);
                    sum / airy_divisor(a)
                },
                chebyshev(&AI_BETWEEN, (x + x.of(1.0)) / x.of(3.0))
            )
        }
    );
    // Infinite numbers, and those whose `z` is.
    x.of(0.0).select(z.eq(x.of(f64::INFINITY)), value)
}

blocks! {
    /// The modified Bessel function of the first kind, of order 0.
    bessel_i0[x] = bessel_i::<0, V>(x);
    /// The modified Bessel function of the first kind, of order 1.
    bessel_i1[x] = bessel_i::<1, V>(x);
    /// `exp(-|x|)` times the modified Bessel function of the first kind, of order 0.
    scaled_bessel_i0[x] = scaled_bessel_i::<0, V>(x);
    /// `exp(-|x|)` times the modified Bessel function of the first kind, of order 1.
    scaled_bessel_i1[x] = scaled_bessel_i::<1, V>(x);
    /// The modified Bessel function of the second kind, of order 0; infinite at 0, NaN below.
    bessel_k0[x] = bessel_k::<0, false, V>(x);
    /// As [`bessel_k0`], of order 1.
    bessel_k1[x] = bessel_k::<1, false, V>(x);
    /// `exp(x)` times [`bessel_k0`].
    scaled_bessel_k0[x] = bessel_k::<0, true, V>(x);
    /// `exp(x)` times [`bessel_k1`].
    scaled_bessel_k1[x] = bessel_k::<1, true, V>(x);
    /// The Bessel function of the first kind, of order 0.
    bessel_j0[x] = bessel_j::<0, V>(x);
    /// The Bessel function of the first kind, of order 1.
    bessel_j1[x] = bessel_j::<1, V>(x);
    /// The Bessel function of the second kind, of order 0; minus infinity at 0, NaN below.
    bessel_y0[x] = bessel_y::<0, V>(x);
    /// As [`bessel_y0`], of order 1.
    bessel_y1[x] = bessel_y::<1, V>(x);
    /// The spherical Bessel function of the first kind, of order 0: `sin(x) / x`.
    spherical_bessel_j0[x] = sine_over(x);
    /// `sin(pi x) / (pi x)`.
    sinc[x] = either!(x, x.abs().eq(x.of(f64::INFINITY)), x.of(f64::NAN), sine_over(x * x.of(PI)));
    /// The Airy function of the first kind.
    airy_ai[x] = airy(x);
}

/// The first two zeros above 0, each a sum of two numbers.
const J0_ZEROS: [[f64; 2]; 2] =
    [[2.404825557695773, -1.176691651530894e-16], [5.520078110286311, 8.088597146146722e-17]];
/// As [`J0_ZEROS`].
const J1_ZEROS: [[f64; 2]; 2] =
    [[3.8317059702075125, -1.5269184090088067e-16], [7.015586669815619, -9.414165653410389e-17]];
/// The zero between 2 and 5, as a sum of two numbers.
const Y0_ZERO: [f64; 2] = [3.957678419314858, -1.0764340697562706e-16];
/// As [`Y0_ZERO`].
const Y1_ZERO: [f64; 2] = [2.197141326031017, -4.8259835876454966e-17];

#[cfg(test)]
mod tests {
    use super::super::lanes::{Block, at};
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(1e-3), "{got} for {want}");
    }

    /// Both sides of each border agree, and values are those of DLMF.
    #[test]
    fn values_and_borders() {
        for (i, k) in [(bessel_i0 as Block<1>, bessel_k0 as Block<1>), (bessel_i1, bessel_k1)] {
            let [i, k] = [i, k].map(|f| move |x: f64| at(f, [x]));
            near(i(8f64.next_up()), i(8.0));
            let [above, below] = [700f64.next_up(), 700f64.next_down()];
            near(i(above) / i(below), (above - below).exp());
            near(k(2f64.next_up()), k(2.0));
            assert!(k(-1.0).is_nan() && k(0.0) == f64::INFINITY);
            assert_eq!((k(f64::INFINITY), i(f64::INFINITY)), (0.0, f64::INFINITY));
        }
        for x in [1e-3, 0.5, 1.9, 2.5, 7.0, 9.0, 50.0, 600.0] {
            // The Wronskian, DLMF 10.28.2.
            let [i0, i1] = [at(scaled_bessel_i0, [x]), at(scaled_bessel_i1, [x])];
            let [k0, k1] = [at(scaled_bessel_k0, [x]), at(scaled_bessel_k1, [x])];
            near((i0 * k1 + i1 * k0) * x, 1.0);
            // DLMF 10.5.2.
            let [j0, j1] = [at(bessel_j0, [x]), at(bessel_j1, [x])];
            let [y0, y1] = [at(bessel_y0, [x]), at(bessel_y1, [x])];
            near((j1 * y0 - j0 * y1) * x, std::f64::consts::FRAC_2_PI);
        }
        for f in [bessel_j0 as Block<1>, bessel_j1, bessel_y0, bessel_y1] {
            for border in [2.0, 5.0f64] {
                near(at(f, [border.next_up()]), at(f, [border]));
            }
            assert_eq!(at(f, [f64::INFINITY]), 0.0);
            assert!(at(f, [f64::NAN]).is_nan());
        }
        near(at(bessel_i0, [1.0]), 1.266_065_877_752_008_4);
        near(at(bessel_i1, [-1.0]), -0.565_159_103_992_485_1);
        near(at(bessel_i0, [100.0]) / 1e42, 1.073_751_707_131_073_8);
        let airy = |x: f64| at(airy_ai, [x]);
        near(airy(0.0), 0.355_028_053_887_817_2);
        near(airy(2f64.next_up()), airy(2.0));
        near(airy(-4.000_000_000_000_001), airy(-4.0));
        assert_eq!([airy(f64::INFINITY), airy(f64::NEG_INFINITY), airy(1e300)], [0.0; 3]);
        assert_eq!([0.0, f64::INFINITY].map(|x| at(spherical_bessel_j0, [x])), [1.0, 0.0]);
        assert_eq!([at(bessel_j0, [0.0]), at(bessel_j1, [0.0]), at(bessel_y0, [0.0])], [1.0, 0.0, f64::NEG_INFINITY]);
    }
}
