//! Powers.

use super::gamma::polynomial;
use super::lanes::blocks;
use crate::math;
use crate::pointwise::{Body, lanes_of_slices};
use crate::simd::Vector;

/// `log2((1 + s) / (1 - s)) / s` in `z = s^2`, for `(1 + s) / (1 - s)` from sqrt(1/2) to sqrt(2): to 2^-45.
const LOG2: [f64; 6] = [
    2.88539008177785,
    0.9617966941133067,
    0.5770779423767693,
    0.41220925105640094,
    0.31990575499809787,
    0.2828992828717168,
];
/// `(2^r - 1) / r` for `|r| <= 1/2`; what it makes of `2^r` is good to 2^-34.
const EXP2: [f64; 7] = [
    0.6931471807045325,
    0.24022651066561085,
    0.05550410365990265,
    0.009618038132051419,
    0.0013333935056357418,
    0.00015466756321662743,
    1.5196156398770082e-05,
];
/// Two to the power of a larger number is not in the range of float32, and a smaller one is a normal number of float64.
const LARGE: f64 = 1000.0;

/// The binary logarithm of a finite positive number, to 2^-45 of itself.
#[inline(always)]
fn log2<V: Vector<Elem = f64>>(x: V) -> V {
    let (m, k) = x.split();
    let s = (m - x.of(1.0)).quotient(m + x.of(1.0));
    s.fma(polynomial(&LOG2, s * s), k)
}

/// Two to the power of a number of no more than [`LARGE`], to 2^-34 of itself.
#[inline(always)]
fn exp2<V: Vector<Elem = f64>>(x: V) -> V {
    let (one, n) = (x.of(1.0), x.nearest(x.of(1.0)));
    let r = x - n;
    r.fma(polynomial(&EXP2, r), one).ldexp(n)
}

/// `x` to the power `e`, both of them float32 numbers: `2^(e log2 |x|)`, to 2^-33 of the result, which is then rounded
/// to float32. Special cases are those of C's `pow`.
#[inline(always)]
fn to_the<V: Vector<Elem = f64>>(x: V, e: V) -> V {
    let (zero, infinity) = (x.of(0.0), x.of(f64::INFINITY));
    let log = log2(x.abs());
    let power = e * log;
    let usual = V::both(V::both(zero.lt(x), x.lt(infinity)), power.abs().lt(x.of(LARGE)));
    if V::all(usual) { exp2(power) } else { of_any(x, e, log) }
}

/// [`to_the`] of any numbers, by what [`log2`] gives of `|x|`: the same where there is no special case.
#[inline(always)]
fn of_any<V: Vector<Elem = f64>>(x: V, e: V, log: V) -> V {
    let (zero, one, nan) = (x.of(0.0), x.of(1.0), x.of(f64::NAN));
    // Larger exponents are even numbers, and take any base other than 1 out of float32 as well.
    let e = e.at_most(x.of(f64::from(1u32 << 31))).at_least(x.of(-f64::from(1u32 << 31)));
    let size = x.abs();
    let y = exp2((e * log.with_ends_of_log(size)).at_most(x.of(LARGE)).at_least(x.of(-LARGE)));
    let half = e * x.of(0.5);
    let of_integer = y.select(half.nearest(one).eq(half), -y);
    let of_others = nan.select(V::both(x.lt(zero), size.lt(x.of(f64::INFINITY))), y);
    let of_negative = of_integer.select(e.nearest(one).eq(e), of_others);
    let y = of_negative.select(one.with_sign_of(x).lt(zero), y);
    one.select(e.eq(zero), one.select(x.eq(one), y))
}

blocks! {
    /// `x` to the power `e`, both of them float32 numbers.
    power[x, e] = to_the(x, e);
}

blocks! {
    /// `x` times two to the power `e`.
    times_power_of_two[x, e] = x * math::exp2(e);
}

/// [`to_the`] of one exponent.
struct PowerOf(f64);
impl Body<f64, 1> for PowerOf {
    #[inline(always)]
    fn f<V: Vector<Elem = f64>>(&self, [x]: [V; 1]) -> V {
        to_the(x, x.splat(self.0))
    }
}

/// [`power`] of one exponent.
pub fn power_of(e: f64, x: &[f64], out: &mut [std::mem::MaybeUninit<f64>]) {
    lanes_of_slices(&PowerOf(e), [x], out);
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::super::at;
    use super::*;
    use crate::pointwise::lanes1_at;
    use crate::simd::InstructionSet;

    const ENDS: [f32; 24] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.999_999_94,
        1.000_000_1,
        -1.000_000_1,
        7.5,
        -7.5,
        1e-45,
        -1e-45,
        1e38,
        16_777_216.0,
        16_777_215.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        2_147_483_904.0,
    ];

    #[test]
    fn powers_of_float32() {
        let others = (0..400).map(|i| (i as f32 * 0.731).sin() * 10f32.powi(i % 9 - 4));
        let all: Vec<f32> = ENDS.into_iter().chain(others).collect();
        for &x in &all {
            for &e in &all {
                let mut y = [MaybeUninit::new(0.0)];
                power_of(e.into(), &[x.into()], &mut y);
                let got = at(power, [x.into(), e.into()]) as f32;
                // The exact result, rounded once, of double precision.
                let want = f64::from(x).powf(e.into()) as f32;
                let near = got == want || (got - want).abs() <= f32::EPSILON * want.abs();
                let alike = near && got.is_sign_negative() == want.is_sign_negative();
                assert!(alike || got.is_nan() && want.is_nan(), "{x} to {e}: {got}, not {want}");
                // SAFETY: it was initialised.
                assert_eq!(got.to_bits(), (unsafe { y[0].assume_init() } as f32).to_bits());
            }
        }
    }

    /// Numbers whose powers are ordinary, from 0.01 to 4, and exponents from -2.5 to 2.5.
    fn usual(i: usize) -> [f64; 2] {
        [(i * 7919 % 10007) as f32 / 2500.0 + 0.01, (i * 6151 % 9973) as f32 / 2000.0 - 2.5].map(f64::from)
    }

    #[test]
    fn to_33_bits_with_every_instruction_set() {
        let exponents = [0.3, -0.7, 1.7, 2.5, -4.25, 17.0, -31.5, 88.0].map(|e: f32| f64::from(e));
        let x: Vec<f64> = (0..4000).map(|i| usual(i)[0] * if i % 3 == 0 { 1e-3 } else { 1.0 }).collect();
        for level in InstructionSet::available() {
            for e in exponents {
                let mut y = vec![0.0; x.len()];
                // SAFETY: (1) both have the elements; (2, 3) the output is another vector, and contiguous.
                unsafe { lanes1_at(level, &PowerOf(e), &[x.len()], x.as_ptr(), &[1], y.as_mut_ptr(), &[1]) };
                for (&x, y) in x.iter().zip(y) {
                    let want = x.powf(e);
                    // Beyond are numbers that float32 does not have.
                    let outside = want.abs() < 1e-45 || want.abs() > 1e39;
                    assert!(outside || ((y - want) / want).abs() <= 2f64.powi(-33), "{level:?} {x} to {e}: {y}");
                }
            }
        }
    }

    #[test]
    fn numbers_times_powers_of_two() {
        for e in -1070..1030 {
            // Exact, but where the power is subnormal or infinite.
            let got = at(times_power_of_two, [-1.3125, e.into()]);
            let want = if e > 1023 { f64::NEG_INFINITY } else { -1.3125 * libm::ldexp(1.0, e) };
            assert_eq!(got, want, "{e}");
        }
        for (x, e) in [(3.0, 0.3), (-7.25, -20.7), (1e-3, 99.9)] {
            let want = x * f64::exp2(e);
            assert!((at(times_power_of_two, [x, e]) - want).abs() <= 4.0 * f64::EPSILON * want.abs(), "{x} {e}");
        }
        assert!(at(times_power_of_two, [0.0, f64::INFINITY]).is_nan());
        assert!(at(times_power_of_two, [f64::NAN, 1.0]).is_nan() && at(times_power_of_two, [1.0, f64::NAN]).is_nan());
        assert_eq!(at(times_power_of_two, [5.0, f64::NEG_INFINITY]), 0.0);
    }

    #[test]
    fn a_special_case_changes_nothing_beside_it() {
        let odd = [[-2.0, 3.0], [0.0, -1.0], [f64::INFINITY, 0.5], [3.0, 1e30], [f64::NAN, 1.0], [2.0, f64::NAN]];
        for n in 1..40 {
            for k in 0..n {
                let mut pairs: Vec<[f64; 2]> = (0..n).map(|i| usual(i + 40 * n)).collect();
                let run = |pairs: &[[f64; 2]]| {
                    let [x, e]: [Vec<f64>; 2] = [0, 1].map(|k| pairs.iter().map(|pair| pair[k]).collect());
                    let mut y = vec![MaybeUninit::new(f64::NAN); pairs.len()];
                    power([&x, &e], &mut y);
                    // SAFETY: they were initialised.
                    y.into_iter().map(|y| unsafe { y.assume_init() }.to_bits()).collect::<Vec<u64>>()
                };
                let mut want = run(&pairs);
                pairs[k] = odd[(n + k) % odd.len()];
                want[k] = at(power, pairs[k]).to_bits();
                assert_eq!(run(&pairs), want, "{:?} at {k} of {n}", pairs[k]);
            }
        }
    }
}
