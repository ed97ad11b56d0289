//! Powers.

use std::mem::MaybeUninit;

use super::gamma::polynomial;
use super::lanes::{any, blocks};
use crate::math;
use crate::pointwise::{Body, lanes_of_slices};
use crate::simd::{Format, Vector};

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
/// Two to the power of a number that is no more than 1 below is infinite in float64.
const EXP2_INFINITY: f64 = 1030.0;
/// Two to the power of a smaller number is 0.
const EXP2_ZERO: f64 = -1076.0;

/// 2 / ln 2, 2 / (3 ln 2) and 2 / (5 ln 2), the first coefficients of the series of [`LOG2`], as sums of two numbers.
const LOG2_FIRST: [[f64; 2]; 3] = [
    [2.8853900817779268, 4.0710547481862066e-17],
    [0.9617966939259756, 5.0577616648125907e-17],
    [0.5770780163555853, 5.2551030481378675e-17],
];
/// What follows them, for a sum that is good to 2^-72: minimax by Remez' exchange, of the error relative to the sum.
const LOG2_REST: [f64; 7] = [
    0.4121985831111983,
    0.3205988979435688,
    0.2623081953459513,
    0.22195247162979695,
    0.19239433852266652,
    0.16858065568588873,
    0.1718294419414017,
];
/// ln 2, the first coefficient of the series of [`EXP2`], as a sum of two numbers.
const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.3190468138462996e-17];
/// What follows it, for a power that is good to 2^-57.3: minimax by Remez' exchange.
const EXP2_REST: [f64; 10] = [
    0.24022650695910133,
    0.05550410866482169,
    0.009618129107593592,
    0.0013333558146386578,
    0.0001540353045780965,
    1.5252733862633362e-05,
    1.3215434932489253e-06,
    1.0178047970614698e-07,
    7.073842650031931e-09,
    4.4572095869489994e-10,
];

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

/// A step of Horner's scheme, `z * sum + c`, of sums of two numbers.
#[inline(always)]
fn next_sum<V: Vector<Elem = f64>>([z, z_rest]: [V; 2], [sum, rest]: [V; 2], [c, c_rest]: [V; 2]) -> (V, V) {
    let next = z.fma(sum, c);
    (next, z_rest.fma(sum, z.fma(rest, z.fused(sum, c - next) + c_rest)))
}

/// The binary logarithm of a finite positive number, as a sum of two numbers that is good to 2^-66 of itself. The
/// argument of the series is a sum of two too and, from the third term on, so is each step of Horner's scheme.
#[inline(always)]
fn log2_in_two<V: Vector<Elem = f64>>(x: V) -> (V, V) {
    let one = x.of(1.0);
    let (m, k) = x.split();
    let (above, below) = (m - one, m + one);
    let s = above.quotient(below);
    let s_rest = (-s).fma(m - (below - one), (-s).fused(below, above)) * below.near_reciprocal();
    let z = s * s;
    let z_rest = (s + s).fma(s_rest, s.fused(s, -z));
    let beyond = polynomial(&LOG2_REST, z);
    let [c0, c1, c2] = LOG2_FIRST.map(|[first, second]| [x.splat(first), x.splat(second)]);
    let sum = z.fma(beyond, c2[0]);
    let rest = z.fma(beyond, c2[0] - sum) + c2[1];
    let (sum, rest) = next_sum([z, z_rest], [sum, rest], c1);
    let (sum, rest) = next_sum([z, z_rest], [sum, rest], c0);
    let log = s.fma(sum, k);
    (log, s_rest.fma(sum, s.fma(rest, s.fused(sum, k - log))))
}

/// Two to the power of a sum of two numbers, of which the second one is small beside the first.
#[inline(always)]
fn exp2_of_two<V: Vector<Elem = f64>>(x: V, rest: V) -> V {
    let (zero, one) = (x.of(0.0), x.of(1.0));
    // What is 0 is not computed, as in `math::exp`. Beyond the limits the second number is anything.
    let gone = x.lt(x.of(EXP2_ZERO));
    let x = zero.select(gone, x.at_most(x.of(EXP2_INFINITY)));
    let rest = rest.at_most(one).at_least(-one);
    let n = x.nearest(one);
    let d = x - n;
    let r = d + rest;
    let low = (d - r) + rest;
    // The first term and 1, and what their sum lost.
    let ln_2 = x.of(LN_2[0]);
    let sum = r.fma(ln_2, one);
    let lost = low.fma(ln_2, r.fma(x.of(LN_2[1]), r.fused(ln_2, one - sum)));
    let power = sum + (r * r).fma(polynomial(&EXP2_REST, r), lost);
    zero.select(gone, power.ldexp(n))
}

/// `x` to the power `e`, both of them float32 numbers: `2^(e log2 |x|)`, to 2^-33 of the result, which is then rounded
/// to float32.
#[inline(always)]
fn single<V: Vector<Elem = f64>>(x: V, e: V) -> V {
    // Larger exponents take any base other than 1 out of float32.
    let limit = x.of(f64::from(1u32 << 31));
    let power = e.at_most(limit).at_least(-limit) * log2(x.abs());
    with_special_cases(exp2(power.at_most(x.of(LARGE)).at_least(x.of(-LARGE))), x, e)
}

/// `x` to the power `e`: `2^(e log2 |x|)`, where the logarithm and its product are sums of two numbers.
#[inline(always)]
fn double<V: Vector<Elem = f64>>(x: V, e: V) -> V {
    // Larger exponents take any base other than 1 out of float64.
    let limit = x.of((1u128 << 70) as f64);
    let e = e.at_most(limit).at_least(-limit);
    let (high, low) = log2_in_two(x.abs());
    let power = e * high;
    let rest = e.fma(low, e.fused(high, -power));
    with_special_cases(exp2_of_two(power, rest), x, e)
}

/// `y`, which is the power `e` of the magnitude of `x` unless one is zero, infinite or NaN, as the power of `x`.
/// Special cases are those of C's `pow`.
#[inline(always)]
fn with_special_cases<V: Vector<Elem = f64>>(mut y: V, x: V, e: V) -> V {
    let (zero, one, infinity) = (x.of(0.0), x.of(1.0), x.of(f64::INFINITY));
    let size = x.abs();
    let finite = size.lt(infinity);
    if !V::all(V::both(V::both(zero.lt(size), finite), e.eq(e))) {
        y = infinity.select(e.lt(zero), zero).select(size.eq(zero), y);
        y = infinity.select(zero.lt(e), zero).select(size.eq(infinity), y);
        y = y.select(V::both(x.eq(x), e.eq(e)), x + e);
        y = one.select(e.eq(zero), one.select(x.eq(one), y));
    }
    let negative = one.with_sign_of(x).lt(zero);
    if any::<V>(negative) {
        // The distance to an even number, which all from the limit on are.
        let limit = x.splat(2.0 * f64::INTEGER);
        let size = e.abs().at_most(limit);
        let rest = (size - ((size + limit) - limit)).abs();
        let others = x.of(f64::NAN).select(V::both(x.lt(zero), finite), y);
        let power = y.select(rest.eq(zero), (-y).select(rest.eq(one), others));
        y = power.select(negative, y);
    }
    y
}

blocks! {
    /// `x` to the power `e`, both of them float32 numbers.
    single_power[x, e] = single(x, e);
    /// `x` to the power `e`. ULP: 0.7, and 0.8 of subnormal results.
    power[x, e] = double(x, e);
}

blocks! {
    /// `x` times two to the power `e`.
    times_power_of_two[x, e] = x * math::exp2(e);
}

/// [`single`] of one exponent.
struct SinglePowerOf(f64);
impl Body<f64, 1> for SinglePowerOf {
    #[inline(always)]
    fn f<V: Vector<Elem = f64>>(&self, [x]: [V; 1]) -> V {
        single(x, x.splat(self.0))
    }
}

/// [`double`] of one exponent.
struct PowerOf(f64);
impl Body<f64, 1> for PowerOf {
    // It would save a tenth of the time.
    const PAIRED: bool = false;
    #[inline(always)]
    fn f<V: Vector<Elem = f64>>(&self, [x]: [V; 1]) -> V {
        double(x, x.splat(self.0))
    }
}

/// [`single_power`] of one exponent.
pub fn single_power_of(e: f64, x: &[f64], out: &mut [MaybeUninit<f64>]) {
    lanes_of_slices(&SinglePowerOf(e), [x], out);
}

/// [`power`] of one exponent.
pub fn power_of(e: f64, x: &[f64], out: &mut [MaybeUninit<f64>]) {
    lanes_of_slices(&PowerOf(e), [x], out);
}

#[cfg(test)]
mod tests {
    use std::f64::consts::SQRT_2;

    use super::super::at;
    use super::*;
    use crate::pointwise::{lanes_of_slices_at, lanes1_at};
    use crate::simd::InstructionSet;

    /// What `docs/accuracy.md` says of normal results.
    const POWER_ULP: f64 = 0.7;

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
                single_power_of(e.into(), &[x.into()], &mut y);
                let got = at(single_power, [x.into(), e.into()]) as f32;
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
                unsafe { lanes1_at(level, &SinglePowerOf(e), &[x.len()], x.as_ptr(), &[1], y.as_mut_ptr(), &[1]) };
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
                    single_power([&x, &e], &mut y);
                    // SAFETY: they were initialised.
                    y.into_iter().map(|y| unsafe { y.assume_init() }.to_bits()).collect::<Vec<u64>>()
                };
                let mut want = run(&pairs);
                pairs[k] = odd[(n + k) % odd.len()];
                want[k] = at(single_power, pairs[k]).to_bits();
                assert_eq!(run(&pairs), want, "{:?} at {k} of {n}", pairs[k]);
            }
        }
    }
    /// [`power`], with any instructions.
    struct Power;
    impl Body<f64, 2> for Power {
        #[inline(always)]
        fn f<V: Vector<Elem = f64>>(&self, [x, e]: [V; 2]) -> V {
            double(x, e)
        }
    }

    fn powers(level: InstructionSet, x: &[f64], e: &[f64]) -> Vec<f64> {
        let mut y = vec![MaybeUninit::new(f64::NAN); x.len()];
        lanes_of_slices_at(level, &Power, [x, e], &mut y);
        // SAFETY: they were initialised.
        y.into_iter().map(|y| unsafe { y.assume_init() }).collect()
    }

    /// Numbers from 0 to 1.
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(2 * seed + 1);
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 * 2f64.powi(-53)
        }
    }

    /// The distance in floats; infinite between numbers of different signs.
    fn distance(y: f64, want: f64) -> u64 {
        if y.is_nan() || want.is_nan() || y.is_sign_negative() != want.is_sign_negative() {
            return if y.is_nan() && want.is_nan() { 0 } else { u64::MAX };
        }
        y.to_bits().abs_diff(want.to_bits())
    }

    #[test]
    fn special_cases_are_those_of_c() {
        let sizes = [
            0.0,
            1.0,
            0.5,
            2.0,
            3.0,
            4.0,
            2.5,
            1.0 - f64::EPSILON / 2.0,
            1.0 + f64::EPSILON,
            5e-324,
            1e-310,
            f64::MIN_POSITIVE,
            1e-200,
            1e15,
            2f64.powi(51) + 0.5,
            2f64.powi(51) + 1.0,
            2f64.powi(52) + 1.0,
            2f64.powi(53) - 1.0,
            2f64.powi(53),
            2f64.powi(53) + 2.0,
            1023.0,
            1024.0,
            1074.0,
            1075.0,
            1e19,
            1e300,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ];
        let all: Vec<f64> = sizes.into_iter().flat_map(|x| [x, -x]).collect();
        let (x, e): (Vec<f64>, Vec<f64>) = all.iter().flat_map(|&x| all.iter().map(move |&e| (x, e))).unzip();
        for level in InstructionSet::available() {
            for ((&x, &e), y) in x.iter().zip(&e).zip(powers(level, &x, &e)) {
                let want = x.powf(e);
                assert!(distance(y, want) <= 1, "{level:?} {x:e} to {e:e}: {y:e}, not {want:e}");
                let mut of_number = [MaybeUninit::new(0.0)];
                lanes_of_slices_at(level, &PowerOf(e), [&[x]], &mut of_number);
                // SAFETY: it was initialised.
                assert_eq!(distance(unsafe { of_number[0].assume_init() }, y), 0, "{level:?} {x:e} to {e:e}");
            }
            // Small powers of small integers, and of two, are exact.
            for (x, most) in [(2.0, 1023), (3.0, 33), (5.0, 22), (10.0, 22), (-7.0, 18)] {
                let e: Vec<f64> = (0..=most).map(f64::from).collect();
                let want: Vec<f64> = (0..=most).map(|e| f64::powi(x, e)).collect();
                assert_eq!(powers(level, &vec![x; e.len()], &e), want, "{level:?} {x}");
            }
        }
    }

    /// Bases of every size with exponents that take them to every power of two, also beyond those that are numbers.
    fn regimes(count: usize) -> (Vec<f64>, Vec<f64>) {
        let mut unit = noise(1);
        let mut pairs = Vec::new();
        for i in 0..count {
            let x = match i % 6 {
                0 => f64::exp2(2.0 * unit() - 1.0),
                1 => f64::exp2(2040.0 * unit() - 1020.0),
                2 => 1.0 + (unit() - 0.5) * f64::exp2(-52.0 * unit()),
                3 => [0.707, 1.414][i / 6 % 2] + 0.001 * unit(),
                4 => f64::from_bits((unit() * 2f64.powi(52)) as u64),
                _ => 4.0 * unit(),
            };
            let power = if i % 7 == 0 { 4.0 * unit() - 2.0 } else { 2120.0 * unit() - 1090.0 };
            let e = power / x.log2();
            if e.is_finite() {
                pairs.push((x, e));
                pairs.push((-x, e.round()));
            }
        }
        pairs.into_iter().unzip()
    }

    #[test]
    fn powers_of_every_size_are_those_of_the_c_library() {
        let (x, e) = regimes(if cfg!(debug_assertions) { 12_000 } else { 1_000_000 });
        for level in InstructionSet::available() {
            let mut different = 0;
            for ((&x, &e), y) in x.iter().zip(&e).zip(powers(level, &x, &e)) {
                let want = x.powf(e);
                assert!(distance(y, want) <= 1, "{level:?} {x:e} to {e:e}: {y:e}, not {want:e}");
                different += usize::from(y != want && !y.is_nan());
            }
            assert!(different * 15 < x.len(), "{level:?}: {different} of {} are not the same", x.len());
        }
    }

    /// A number as a sum of two.
    type Two = [f64; 2];

    fn product([a, b]: Two, [c, d]: Two) -> Two {
        let high = a * c;
        let rest = a.mul_add(c, -high) + (a * d + b * c);
        [high + rest, (high - (high + rest)) + rest]
    }

    /// `x` to the power `n / 2`, to some 90 bits.
    fn power_in_two(x: f64, n: i32) -> Two {
        let root = x.sqrt();
        let mut result = if n % 2 == 0 { [1.0, 0.0] } else { [root, (-root).mul_add(root, x) / (2.0 * root)] };
        let (mut square, mut rest) = ([x, 0.0], n.unsigned_abs() / 2);
        while rest > 0 {
            if rest % 2 == 1 {
                result = product(result, square);
            }
            rest /= 2;
            // The last square is of no use and may be out of range.
            square = if rest > 0 { product(square, square) } else { square };
        }
        if n > 0 {
            return result;
        }
        let [high, low] = result;
        let inverse = 1.0 / high;
        [inverse, inverse * ((-inverse).mul_add(high, 1.0) - inverse * low)]
    }

    #[test]
    fn errors_of_powers_are_within_their_bound() {
        let mut unit = noise(2);
        let count = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
        let mut pairs = Vec::new();
        for i in 0..count {
            // Where the series of the logarithm is longest, near 1, and elsewhere.
            let x = match i % 4 {
                0 => 1.0 + (unit() - 0.5) * f64::exp2(-10.0 * unit()),
                1 => [0.7072, 1.414][i / 4 % 2] + 0.004 * (unit() - 0.5),
                2 => f64::exp2(200.0 * unit() - 100.0),
                _ => 4.0 * unit() + 0.01,
            };
            let n = (2.0 * (1800.0 * unit() - 900.0) / x.log2()).round();
            if n.abs() < 1e5 && n != 0.0 {
                pairs.push((x, n as i32));
            }
        }
        let (x, e): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(x, n)| (x, f64::from(n) / 2.0)).unzip();
        for level in InstructionSet::available() {
            let mut worst = (0.0, 0.0, 0);
            // Means of what is added to exponents where the series is longest, and to the rest beside 1 of `2^r`.
            let [mut base, mut result] = [[0.0; 2]; 2];
            for (&(x, n), y) in pairs.iter().zip(powers(level, &x, &e)) {
                let [high, low] = power_in_two(x, n);
                let unit = f64::from_bits(high.to_bits() & f64::INFINITY.to_bits());
                let error = ((y - high) - low) / (unit * f64::EPSILON);
                if error.abs() > worst.0 {
                    worst = (error.abs(), x, n);
                }
                if 1.41 < x && x < SQRT_2 {
                    base = [base[0] + error * f64::from(n.signum()), base[1] + 1.0];
                }
                result = [result[0] + if high / unit < SQRT_2 { error } else { -error }, result[1] + 1.0];
            }
            let means = [base, result].map(|[sum, count]| sum / count);
            println!("pow {level:?} {worst:?} {means:?}");
            assert!(means.iter().all(|mean| mean.abs() < 0.02), "{level:?} {means:?}");
            assert!(worst.0 <= POWER_ULP, "{level:?} {worst:?}");
        }
    }

    #[test]
    fn the_documentation_states_the_bound() {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/accuracy.md")).unwrap();
        assert!(text.contains(&format!("of float64\n  is within {POWER_ULP} ULP")));
    }

    #[test]
    fn powers_do_not_depend_on_their_place() {
        let (x, e) = regimes(200);
        for level in InstructionSet::available() {
            let want = powers(level, &x, &e);
            for n in 0..40 {
                for start in [0, 1, 5, 64] {
                    let mut y = vec![MaybeUninit::new(-7.0); n + 20];
                    lanes_of_slices_at(level, &Power, [&x[start..start + n], &e[start..start + n]], &mut y[..n]);
                    // SAFETY: they were initialised.
                    let y: Vec<u64> = y.into_iter().map(|y| unsafe { y.assume_init() }.to_bits()).collect();
                    let want: Vec<u64> = want[start..start + n].iter().map(|y| y.to_bits()).collect();
                    assert_eq!(y[..n], want, "{level:?}");
                    assert!(y[n..].iter().all(|&y| y == f64::to_bits(-7.0)), "{level:?}");
                }
            }
        }
    }
}
