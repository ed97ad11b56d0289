//! The error function's complement and the normal distribution: its function where it is small, and the inverse.

use std::f64::consts::FRAC_1_SQRT_2;

use super::bessel::chebyshev;
use super::chebyshev::ERFCX;
use super::gamma::polynomial;
use super::lanes::{any, blocks, either};
use crate::math;
use crate::simd::Vector;

/// `exp(a^2)` times the complementary error function, for `a` from 0 on.
#[inline(always)]
fn erfcx_above<V: Vector<Elem = f64>>(a: V) -> V {
    // In one variable for all arguments: M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of
    // (1 + 2x) exp(x^2) erfc x in 0 <= x < inf", Math. Comp. 36 (1981).
    let one = a.of(1.0);
    let t = ((a - a.of(3.75)) / (a + a.of(3.75))).select(a.lt(a.of(f64::INFINITY)), one);
    chebyshev(&ERFCX, t) / (a + a + one)
}

/// `exp(a^2)` for `a` from 0 to 30: of the square in two parts, since the rounding error of one would be multiplied by
/// the square.
#[inline(always)]
fn exp_of_square<V: Vector<Elem = f64>>(a: V) -> V {
    let high = a.and(a.splat(f64::from_bits(!0 << 27)));
    let low = (a - high) * (a + high);
    // What is left out of the series is below 1e-18.
    let one = a.of(1.0);
    math::exp(high * high) * low.fma(low.fma(low.fma(a.of(1.0 / 6.0), a.of(0.5)), one), one)
}

/// From where on `exp(x^2)` is infinite, with a margin.
const GONE: f64 = 30.0;

/// `exp(x^2)` times the complementary error function.
#[inline(always)]
fn erfcx_of<V: Vector<Elem = f64>>(x: V) -> V {
    let a = x.abs();
    let mut value = erfcx_above(a);
    let below = x.lt(x.of(0.0));
    if any::<V>(below) {
        let exp = exp_of_square(a.at_most(x.of(GONE)));
        value = (exp + exp - value).select(below, value);
    }
    value
}

/// The complementary error function.
///
/// Below 0.5 from the error function; above, `exp(-a^2)`, whose square is a sum of two, times a polynomial over
/// `a + 2.5` in a multiple of the reciprocal of that.
#[inline(always)]
pub(super) fn erfc_of<V: Vector<Elem = f64>>(x: V) -> V {
    let one = x.of(1.0);
    let a = x.abs().at_most(x.of(ERFC_ZERO));
    let square = a * a;
    let lost = a.fused(a, -square);
    let size = math::exp(-square);
    let u = one.quotient(a + x.of(2.5));
    let t = u.fma(x.of(6.655), x.of(-1.218));
    let tail = size.fma(-lost, size) * (u * polynomial(&ERFCX_TAIL, t));
    let far = (x.of(2.0) - tail).select(x.lt(x.of(0.0)), tail);
    (one - math::erf_below_1(x)).select(x.abs().lt(x.of(0.5)), far)
}

/// The logarithm of the normal distribution function.
#[inline(always)]
fn log_ndtr_of<V: Vector<Elem = f64>>(x: V) -> V {
    let t = x * x.of(FRAC_1_SQRT_2);
    either!(x, x.lt(x.of(-1.0)), math::log(erfcx_above(-t) * x.of(0.5)) - t * t, math::log1p(erfc_of(t) * x.of(-0.5)))
}

/// The quotient of two polynomials with their highest coefficients first.
#[inline(always)]
fn quotient<V: Vector<Elem = f64>>(x: V, [above, below]: &[[f64; 8]; 2]) -> V {
    let (mut p, mut q) = (x.splat(above[0]), x.splat(below[0]));
    for k in 1..8 {
        (p, q) = (p.fma(x, x.splat(above[k])), q.fma(x, x.splat(below[k])));
    }
    p / q
}

/// The number below which a standard normal variable is with probability `1/2 + q`, given the smaller one of that and
/// of its complement; infinite where that is 0, NaN where it is negative.
///
/// M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37 (1988).
#[inline(always)]
fn normal_quantile<V: Vector<Elem = f64>>(q: V, tail: V) -> V {
    either!(
        q,
        q.of(0.425).lt(q.abs()),
        {
            let r = (-math::log(tail)).sqrt();
            let mut x = quotient(r - r.of(1.6), &MIDDLE);
            let far = r.of(5.0).lt(r);
            if any::<V>(far) {
                x = quotient(r - r.of(5.0), &FAR).select(far, x);
            }
            q.of(f64::INFINITY).select(tail.eq(q.of(0.0)), x).with_sign_of(q)
        },
        q * quotient(q.of(0.180625) - q * q, &CENTRE)
    )
}

blocks! {
    /// `exp(x^2)` times the complementary error function.
    erfcx[x] = erfcx_of(x);
    /// The complementary error function.
    erfc[x] = erfc_of(x);
    /// The logarithm of the normal distribution function.
    log_ndtr[x] = log_ndtr_of(x);
    /// The number below which a standard normal variable is with probability `p`; infinite at 0 and 1, NaN outside.
    ndtri[p] = {
        let q = p - p.of(0.5);
        normal_quantile(q, (p.of(1.0) - p).select(p.of(0.0).lt(q), p))
    };
    /// The number whose error function is `x`; infinite at -1 and 1, NaN outside.
    erfinv[x] = {
        let half = x.of(0.5);
        normal_quantile(x * half, (x.of(1.0) - x.abs()) * half) * x.of(FRAC_1_SQRT_2)
    };
}

/// From here on `erfc` is 0.
const ERFC_ZERO: f64 = 28.0;
/// `(x + 2.5) exp(x^2) erfc(x)` for `x` from 0.5 to 28, in `6.655 / (x + 2.5) - 1.218`. 2^-54.0.
const ERFCX_TAIL: [f64; 20] = [
    0.9888864494622853,
    0.54936894891914,
    0.23232126647667137,
    0.06831125771844497,
    0.010003898617079602,
    -0.0014115153343190472,
    -0.0008878281762673178,
    -6.03320984445624e-06,
    7.200756141571539e-05,
    3.2306231222230727e-06,
    -6.9419615354791645e-06,
    -9.479480505914915e-08,
    7.647965482014313e-07,
    -6.154413021963417e-08,
    -8.493374533645042e-08,
    1.9592789104143913e-08,
    7.960399897237916e-09,
    -3.5911248782774796e-09,
    -4.4853817042461156e-10,
    3.4766661856012556e-10,
];

/// Numerator and denominator of [`normal_quantile`] near 1/2, in `0.425^2 - (p - 1/2)^2`.
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
    use std::mem::MaybeUninit;

    use super::super::lanes::{Block, at};
    use super::*;
    use crate::pointwise::{Body, lanes_of_slices_at};
    use crate::simd::InstructionSet;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs().max(1e-300), "{got} for {want}");
    }

    #[test]
    fn the_tail_and_its_inverse() {
        let [erfcx, erfc] = [erfcx as Block<1>, erfc].map(|f| move |x: f64| at(f, [x]));
        let [log_ndtr, ndtri] = [log_ndtr as Block<1>, ndtri].map(|f| move |x: f64| at(f, [x]));
        near(erfcx(0.0), 1.0);
        near(erfcx(1.0), 0.427_583_576_155_807);
        near(erfcx(-1.0), 5.008_980_080_762_283);
        near(erfcx(1e8), 5.641_895_835_477_562e-9);
        assert_eq!([erfcx(f64::INFINITY), erfcx(f64::NEG_INFINITY)], [0.0, f64::INFINITY]);
        for i in -60..=270 {
            let x = 0.1 * f64::from(i);
            near(erfc(x), libm::erfc(x));
        }
        assert_eq!([erfc(f64::INFINITY), erfc(f64::NEG_INFINITY), erfc(0.0)], [0.0, 2.0, 1.0]);
        near(log_ndtr(-30.0), -454.321_243_956_343_25);
        assert_eq!([log_ndtr(f64::INFINITY), log_ndtr(f64::NEG_INFINITY)], [0.0, f64::NEG_INFINITY]);
        for p in [1e-300, 1e-20, 1e-5, 0.07, 0.1, 0.4, 0.9, 1.0 - 1e-10] {
            let x = ndtri(p);
            assert!((0.5 * libm::erfc(-x * FRAC_1_SQRT_2) / p - 1.0).abs() < 1e-12, "{p}");
        }
        assert_eq!([ndtri(0.0), ndtri(1.0), ndtri(0.5)], [f64::NEG_INFINITY, f64::INFINITY, 0.0]);
        assert!([-0.1, 1.1, f64::NAN].iter().all(|p| ndtri(*p).is_nan()));
    }

    /// [`erfc`], with any instructions.
    struct Erfc;
    impl Body<f64, 1> for Erfc {
        #[inline(always)]
        fn f<V: Vector<Elem = f64>>(&self, [x]: [V; 1]) -> V {
            erfc_of(x)
        }
    }

    #[test]
    fn the_complement_is_within_its_bound() {
        let count = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };
        let between =
            |low: f64, high: f64| (0..count).map(move |i| low + (high - low) * f64::from(i) / f64::from(count));
        let special = [0.0, 1e-300, 5e-324, 0.5, 27.2, 28.0, 1e10, f64::MAX, f64::INFINITY, f64::NAN];
        let x: Vec<f64> =
            between(-6.5, 6.0).chain(between(0.4, 27.4)).chain(special).chain(special.map(|x| -x)).collect();
        for level in InstructionSet::available() {
            let mut y = vec![MaybeUninit::new(0.0); x.len()];
            lanes_of_slices_at(level, &Erfc, [&x], &mut y);
            let mut worst = (0.0, 0.0);
            for (&x, y) in x.iter().zip(&y) {
                // SAFETY: it was initialised.
                let (y, want) = (unsafe { y.assume_init() }, libm::erfc(x));
                assert_eq!(y.is_nan(), want.is_nan());
                // Of subnormal results the last place.
                let error = (y - want).abs() / (want * f64::EPSILON).max(5e-324);
                if error > worst.0 {
                    worst = (error, x);
                }
            }
            println!("erfc {level:?} {worst:?}");
            assert!(worst.0 <= 6.0, "{level:?} {worst:?}");
        }
    }

    #[test]
    fn the_inverse_error_function_inverts() {
        use std::f64::consts::{FRAC_2_SQRT_PI, PI};
        let erfinv = |x: f64| at(erfinv, [x]);
        for i in 1..2000 {
            let x = f64::from(i) / 2000.0;
            near(libm::erf(erfinv(x)), x);
            assert_eq!(erfinv(-x), -erfinv(x));
        }
        for x in [1e-300, 1e-20, 1e-5, 1e-3] {
            near(erfinv(x) / x, 1.0 / FRAC_2_SQRT_PI * (1.0 + PI / 12.0 * x * x + 7.0 * PI * PI / 480.0 * x.powi(4)));
        }
        // The complement multiplies a relative error by 64 there.
        let ratio = libm::erfc(erfinv(1.0 - 1e-15)) / (1.0 - (1.0 - 1e-15));
        assert!((ratio - 1.0).abs() < 2e-14, "{ratio}");
        assert!(erfinv(1.0) == f64::INFINITY && erfinv(1.1).is_nan() && erfinv(f64::NAN).is_nan());
        assert!(erfinv(-0.0).is_sign_negative());
    }
}
