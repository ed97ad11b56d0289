//! Errors in units in the last place, per instruction set, against the C library; and properties of all functions.

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write;

use super::super::pointwise::{Body, lanes1_at};
use super::super::real::Real;
use super::super::simd::{InstructionSet, Vector};
use super::super::special::at;
use super::*;

macro_rules! bodies {
    ($($name:ident $f:ident $reference:expr, $bounds:expr;)*) => {
        $(
            struct $name;
            impl<T: Real> Body<T, 1> for $name {
                #[inline(always)]
                fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
                    $f(x)
                }
            }
        )*
        /// Name, float32 and float64 version, reference, bounds.
        fn functions() -> Vec<Function> {
            vec![$(Function {
                name: stringify!($f),
                single: |level, x| run(level, &$name, x),
                double: |level, x| run(level, &$name, x),
                reference: $reference,
                bounds: $bounds,
            }),*]
        }
    };
}

struct Function {
    name: &'static str,
    single: fn(InstructionSet, &[f32]) -> Vec<f32>,
    double: fn(InstructionSet, &[f64]) -> Vec<f64>,
    reference: fn(f64) -> f64,
    /// Of float32 and of float64.
    bounds: [f64; 2],
}

bodies! {
    Exp exp f64::exp, [1.0, 1.5];
    Exp2 exp2 f64::exp2, [1.25, 1.5];
    Expm1 expm1 f64::exp_m1, [1.5, 2.0];
    Log log f64::ln, [1.0, 1.5];
    Log1p log1p f64::ln_1p, [1.5, 2.0];
    Log2 log2 f64::log2, [1.0, 1.5];
    Log10 log10 f64::log10, [1.0, 1.5];
    Sin sin f64::sin, [2.0, 2.0];
    Cos cos f64::cos, [2.0, 2.0];
    Tanh tanh f64::tanh, [2.0, 2.0];
    Sigmoid sigmoid |x| { let e = (-x.abs()).exp(); if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) } }, [2.0, 2.0];
    Erf erf libm::erf, [1.5, 2.0];
    Tan tan f64::tan, [2.5, 2.0];
    Asin asin f64::asin, [1.25, 1.5];
    Acos acos f64::acos, [1.25, 1.5];
    Atan atan f64::atan, [1.5, 1.5];
    Sinh sinh f64::sinh, [2.0, 2.0];
    Cosh cosh f64::cosh, [1.5, 2.0];
    Asinh asinh libm::asinh, [2.0, 2.0];
    Acosh acosh |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, [2.5, 2.0];
    Atanh atanh libm::atanh, [2.5, 2.0];
    Logit logit |x| {
        let near = 0.25 < x && x < 0.75;
        if near { ((x + x - 1.0) / (1.0 - x)).ln_1p() } else { (x / (1.0 - x)).ln() }
    }, [4.0, 5.0];
}

fn run<T: Real, F: Body<T, 1>>(level: InstructionSet, f: &F, x: &[T]) -> Vec<T> {
    let mut y = vec![T::ZERO; x.len()];
    // SAFETY: (1) both have the elements; (2, 3) the output is fresh and contiguous.
    unsafe { lanes1_at(level, f, &[x.len()], x.as_ptr(), &[1], y.as_mut_ptr(), &[1]) };
    y
}

/// The error of `y` in units in the last place that a float32 has at `want`.
fn error32(y: f32, want: f64) -> f64 {
    let near = want as f32;
    if near.is_nan() || y.is_nan() {
        return if near.is_nan() && y.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if near.is_infinite() || y.is_infinite() || want == 0.0 || y == 0.0 && near == 0.0 {
        return if near == y && near.is_sign_negative() == y.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    let exponent = (want.abs().to_bits() >> 52) as i32 - 1023;
    (f64::from(y) - want).abs() / 2f64.powi((exponent - 23).max(-149))
}

/// The distance in floats: the error up to that of the reference.
fn distance(y: f64, want: f64) -> f64 {
    if y.is_nan() || want.is_nan() {
        return if y.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let place = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    if y == 0.0 && want == 0.0 && y.is_sign_negative() != want.is_sign_negative() {
        return f64::INFINITY;
    }
    (i128::from(place(y)) - i128::from(place(want))).unsigned_abs() as f64
}

const SPECIAL: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    10.0,
    1000.0,
    1e-320,
    -1e-320,
    1e-40,
    -1e-40,
    5e-324,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    std::f64::consts::PI,
];

/// Every `step`-th bit pattern.
fn singles(step: usize) -> impl Iterator<Item = Vec<f32>> {
    let mut bits = (0..=u32::MAX).step_by(step).map(f32::from_bits);
    std::iter::from_fn(move || {
        let chunk: Vec<f32> = bits.by_ref().take(1 << 16).collect();
        (!chunk.is_empty()).then_some(chunk)
    })
}

fn worst32(f: &Function, level: InstructionSet, step: usize) -> (f64, f32) {
    let mut worst = (-1.0, 0.0);
    let special: Vec<f32> = SPECIAL.iter().map(|&x| x as f32).collect();
    // Densely where the functions bend.
    let dense: Vec<f32> = (-100_000..100_000).map(|i| i as f32 * 1.0003e-4).collect();
    for x in singles(step).chain([special, dense]) {
        for (&x, y) in x.iter().zip((f.single)(level, &x)) {
            let error = error32(y, (f.reference)(f64::from(x)));
            if error > worst.0 {
                worst = (error, x);
            }
        }
    }
    worst
}

/// Points of every exponent, and dense ones where the functions bend.
fn doubles(count: u64) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut x: Vec<f64> = SPECIAL.to_vec();
    for i in 0..count {
        let unit = (next() >> 11) as f64 * 2f64.powi(-53);
        x.push(f64::from_bits(next()));
        x.push((unit - 0.5) * [4.0, 40.0, 1500.0, 1e6][(i % 4) as usize]);
        x.push(1.0 + (unit - 0.5) * 0.1);
    }
    x
}

fn worst64(f: &Function, level: InstructionSet, count: u64) -> (f64, f64) {
    let x = doubles(count);
    let mut worst = (-1.0, 0.0);
    for (&x, y) in x.iter().zip((f.double)(level, &x)) {
        let error = distance(y, (f.reference)(x));
        if error > worst.0 {
            worst = (error, x);
        }
    }
    worst
}

fn check(step: usize, count: u64) {
    let (mut report, mut wrong) = (String::new(), String::new());
    for f in functions() {
        for level in InstructionSet::available() {
            let (e32, x32) = worst32(&f, level, step);
            let (e64, x64) = worst64(&f, level, count);
            let line = format!("{:8} {:8} {e32:.3} at {x32:e}   {e64} at {x64:e}\n", f.name, level.name());
            // The reference of float64 is itself off by up to one.
            if e32 > f.bounds[0] || e64 > f.bounds[1].ceil() + 1.0 {
                wrong += &line;
            }
            report.write_str(&line).unwrap();
        }
    }
    println!("{report}");
    assert!(wrong.is_empty(), "beyond their bounds:\n{wrong}");
}

#[test]
fn errors_are_within_bounds() {
    // Millions of points where the build is optimised.
    if cfg!(debug_assertions) { check(65_521, 4_000) } else { check(1009, 100_000) }
}

#[test]
#[ignore = "all float32 numbers: minutes, and only in an optimised build"]
fn errors_are_within_bounds_everywhere() {
    check(1, 20_000_000);
}

struct NormalCdf;
impl<T: Real> Body<T, 1> for NormalCdf {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        normal_cdf(x)
    }
}

#[test]
fn the_normal_distribution_has_an_accurate_tail() {
    let x: Vec<f32> = (-90_000..60_000).map(|i| i as f32 * 1.003e-4).collect();
    let double: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    for level in InstructionSet::available() {
        for ((&x, y), z) in x.iter().zip(run(level, &NormalCdf, &x)).zip(run(level, &NormalCdf, &double)) {
            let want = 0.5 * libm::erfc(-f64::from(x) * std::f64::consts::FRAC_1_SQRT_2);
            assert!((z - want).abs() <= 2f64.powi(-52), "{x}: {z} for {want}, {level:?}");
            let (error, ulp) = ((f64::from(y) - want).abs(), error32(y, want));
            let fits = if x >= -1.0 { ulp <= 4.0 } else { error <= if x >= -5.5 { 6e-6 * want } else { 1e-11 } };
            assert!(fits, "{x}: {y} for {want}, {ulp} units, {level:?}");
        }
        let special = run(level, &NormalCdf, &[0.0f32, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, -40.0]);
        assert_eq!(special, [0.5, 1.0, 0.0, 1.0, 0.0, 0.0], "{level:?}");
        assert!(run(level, &NormalCdf, &[f32::NAN])[0].is_nan() && run(level, &NormalCdf, &[f64::NAN])[0].is_nan());
    }
}

macro_rules! single {
    ($($name:ident $f:ident)*) => { $(
        struct $name;
        impl Body<f32, 1> for $name {
            #[inline(always)]
            fn f<V: Vector<Elem = f32>>(&self, [x]: [V; 1]) -> V {
                $f(x)
            }
        }
    )* };
}
single! { Erfc erfc Erfinv erfinv }

#[test]
fn error_functions_of_float32_are_within_bounds() {
    let (step, parts) = if cfg!(debug_assertions) { (65_521, 20_000) } else { (211, 2_000_000) };
    let dense = |low: f64, high: f64| (0..parts).map(move |i| (low + (high - low) * i as f64 / parts as f64) as f32);
    let special = || SPECIAL.iter().map(|&x| x as f32);
    for level in InstructionSet::available() {
        let x: Vec<f32> = singles(step).flatten().chain(dense(-6.0, 10.2)).chain(special()).collect();
        let errors = x.iter().zip(run(level, &Erfc, &x)).map(|(&x, y)| (error32(y, libm::erfc(f64::from(x))), x));
        let worst = errors.fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
        println!("erfc {level:?} {worst:?}");
        assert!(worst.0 <= 4.0, "erfc {level:?} {worst:?}");
        let next = (1..1000).map(|i| f32::from_bits(1f32.to_bits() - i));
        let x: Vec<f32> = singles(step).flatten().chain(dense(-1.0, 1.0)).chain(special()).chain(next).collect();
        let inverse = |x: f32| at(crate::special::erfinv, [f64::from(x)]);
        let errors = x.iter().zip(run(level, &Erfinv, &x)).map(|(&x, y)| (error32(y, inverse(x)), x));
        let worst = errors.fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
        println!("erfinv {level:?} {worst:?}");
        assert!(worst.0 <= 3.0, "erfinv {level:?} {worst:?}");
    }
}

/// Angles of points with this first coordinate.
struct Atan2<T>(T);
impl<T: Real> Body<T, 1> for Atan2<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [y]: [V; 1]) -> V {
        atan2(y, y.splat(self.0))
    }
}

#[test]
fn angles_of_points_are_within_bounds() {
    let points = doubles(if cfg!(debug_assertions) { 100 } else { 2_000 });
    let single: Vec<f32> = points.iter().map(|&x| x as f32).collect();
    for level in InstructionSet::available() {
        let (mut worst32, mut worst64) = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0));
        for (&x, &x32) in points.iter().zip(&single) {
            // Of all sizes, and of the size of `x`.
            let y: Vec<f64> = points.iter().flat_map(|&y| [y, x * y]).collect();
            for (&y, angle) in y.iter().zip(run(level, &Atan2(x), &y)) {
                let error = distance(angle, y.atan2(x));
                if error > worst64.0 {
                    worst64 = (error, y, x);
                }
            }
            let y: Vec<f32> = single.iter().flat_map(|&y| [y, x32 * y]).collect();
            for (&y, angle) in y.iter().zip(run(level, &Atan2(x32), &y)) {
                let error = error32(angle, f64::from(y).atan2(f64::from(x32)));
                if error > worst32.0 {
                    worst32 = (error, y, x32);
                }
            }
        }
        println!("atan2 {level:?} {worst32:?} {worst64:?}");
        assert!(worst32.0 <= 2.0 && worst64.0 <= 3.0, "{level:?} {worst32:?} {worst64:?}");
    }
}

#[test]
fn the_documentation_lists_the_bounds() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/accuracy.md")).unwrap();
    let (vectorized, _) = text.split_once("\n## Special functions").unwrap();
    let listed: Vec<&str> = vectorized.lines().filter(|line| line.starts_with("| `")).collect();
    let bounds: Vec<String> =
        functions().iter().map(|f| format!("| `{}` | {} | {} |", f.name, f.bounds[0], f.bounds[1])).collect();
    assert_eq!(listed, bounds);
}

#[test]
fn results_do_not_depend_on_the_place() {
    // All but the sign of what is no number, which Rust leaves to the compiler.
    let x: Vec<f64> = doubles(40).into_iter().chain((0..100).map(|i| (i - 50) as f64 * 0.13)).collect();
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    for f in functions() {
        for level in InstructionSet::available() {
            let (y, z) = ((f.double)(level, &x), (f.single)(level, &single));
            for i in 0..x.len() {
                for n in [1, 2, 3, 5, 9, 17] {
                    let end = (i + n).min(x.len());
                    let alone = (f.double)(level, &x[i..end]);
                    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                    assert!(alone.iter().zip(&y[i..end]).all(same), "{} {level:?}", f.name);
                    let alone = (f.single)(level, &single[i..end]);
                    let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                    assert!(alone.iter().zip(&z[i..end]).all(same), "{} {level:?}", f.name);
                }
            }
        }
    }
}

#[test]
fn odd_functions_are_odd_to_the_last_bit() {
    const ODD: [&str; 9] = ["sin", "tanh", "erf", "tan", "asin", "atan", "sinh", "asinh", "atanh"];
    let x: Vec<f64> = doubles(2_000).into_iter().filter(|x| !x.is_nan()).collect();
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let (minus_x, minus_single): (Vec<f64>, Vec<f32>) = x.iter().map(|&x| (-x, -x as f32)).unzip();
    for f in functions().iter().filter(|f| ODD.contains(&f.name)) {
        for level in InstructionSet::available() {
            let pairs = (f.double)(level, &x).into_iter().zip((f.double)(level, &minus_x));
            for (&x, (y, z)) in x.iter().zip(pairs) {
                assert!(y.to_bits() == (-z).to_bits() || y.is_nan() && z.is_nan(), "{} {x:e} {level:?}", f.name);
            }
            let pairs = (f.single)(level, &single).into_iter().zip((f.single)(level, &minus_single));
            for (&x, (y, z)) in single.iter().zip(pairs) {
                assert!(y.to_bits() == (-z).to_bits() || y.is_nan() && z.is_nan(), "{} {x:e} {level:?}", f.name);
            }
        }
    }
}

#[test]
fn results_stay_in_their_range_and_are_exact_where_they_can_be() {
    let x: Vec<f64> = doubles(4_000);
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    for level in InstructionSet::available() {
        for f in functions().iter().filter(|f| ["sin", "cos", "tanh", "erf", "sigmoid"].contains(&f.name)) {
            assert!((f.double)(level, &x).iter().all(|y| y.is_nan() || y.abs() <= 1.0), "{} {level:?}", f.name);
            assert!((f.single)(level, &single).iter().all(|y| y.is_nan() || y.abs() <= 1.0), "{} {level:?}", f.name);
        }
        let within = |name, low: f64, high: f64| {
            let f = functions().into_iter().find(|f| f.name == name).unwrap();
            let fits = |y: &f64| y.is_nan() || (low..=high).contains(y);
            assert!((f.double)(level, &x).iter().all(fits), "{name} {level:?}");
            let (low, high) = (low as f32, high as f32);
            let fits = |y: &f32| y.is_nan() || (low..=high).contains(y);
            assert!((f.single)(level, &single).iter().all(fits), "{name} {level:?}");
        };
        within("asin", -FRAC_PI_2, FRAC_PI_2);
        within("atan", -FRAC_PI_2, FRAC_PI_2);
        within("acos", 0.0, PI);
        within("cosh", 1.0, f64::INFINITY);
        let powers: Vec<f64> = (-1074..1024).map(|k| 2f64.powi(k.max(-1022)) * 2f64.powi((k + 1022).min(0))).collect();
        let exponents: Vec<f64> = (-1074..1024).map(f64::from).collect();
        assert_eq!(run(level, &Log2, &powers), exponents);
        assert_eq!(run(level, &Exp2, &exponents), powers);
        let tens: Vec<f64> = (0..=22).map(|k| 10f64.powi(k)).collect();
        assert_eq!(run(level, &Log10, &tens), (0..=22).map(f64::from).collect::<Vec<_>>());
        let tens: Vec<f32> = (0..=10).map(|k| 10f32.powi(k)).collect();
        assert_eq!(run(level, &Log10, &tens), (0..=10).map(|k| k as f32).collect::<Vec<_>>());
    }
}
