use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ndarray::{Array2, Axis, ShapeBuilder};
use num_complex::Complex;

use super::super::simd::{InstructionSet, SimdElement, Vector};
use super::super::strided::row_major;
use super::*;
use crate::naive;
use crate::pointwise::Half;
use crate::real::{Real, Ring};
use crate::truth::Truth;

const UGLY: [usize; 16] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65, 130, 1025, 3000];

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f32 - 50.0).collect()
}

/// A shape cut into kept and reduced axes, with strides and a start in a buffer.
struct Case {
    kept: (Vec<usize>, Vec<isize>),
    red: (Vec<usize>, Vec<isize>),
    start: usize,
    buffer: usize,
}

fn cases() -> Vec<Case> {
    let mut shapes: Vec<Vec<usize>> = Vec::new();
    for &n in &UGLY {
        shapes.extend([vec![n], vec![3, n], vec![n, 5], vec![n, 1], vec![3, n, 4]]);
    }
    shapes.extend([vec![], vec![2, 70, 3, 5], vec![33, 700], vec![130, 65, 2]]);
    // Short rows of which many are reduced.
    shapes.extend([vec![9, 3, 8], vec![150, 2, 33], vec![2, 70, 3, 11], vec![70, 1, 127], vec![5, 2, 128]]);
    let mut cases = Vec::new();
    for sizes in shapes {
        let total = sizes.iter().product::<usize>().max(1);
        let plain = row_major(&sizes).to_vec();
        let mut transposed = vec![1isize; sizes.len()];
        for i in 1..sizes.len() {
            transposed[i] = transposed[i - 1] * sizes[i - 1] as isize;
        }
        let spaced = plain.iter().map(|s| s * 2).collect();
        let negative = plain.iter().map(|s| -s).collect();
        let mut expanded = plain.clone();
        expanded.iter_mut().step_by(2).for_each(|s| *s = 0);
        for (strides, start) in
            [(plain, 0), (transposed, 0), (spaced, 0), (negative, total - 1), (expanded, 0)] as [(Vec<isize>, usize); 5]
        {
            for mask in 0..1usize << sizes.len() {
                let pick = |want: usize| -> (Vec<usize>, Vec<isize>) {
                    (0..sizes.len()).filter(|i| mask >> i & 1 == want).map(|i| (sizes[i], strides[i])).unzip()
                };
                cases.push(Case { kept: pick(0), red: pick(1), start, buffer: 2 * total });
            }
        }
    }
    cases
}

fn run<A: SimdElement, R: Reduce<A>>(level: InstructionSet, r: &R, case: &Case, a: &[A], blank: R::O) -> Vec<R::O> {
    let mut o = vec![blank; case.kept.0.iter().product()];
    // SAFETY: every position of a case is in `case.buffer` elements from its start.
    unsafe {
        let a = a.as_ptr().add(case.start);
        reduce_at(level, r, &case.kept.0, &case.kept.1, &case.red.0, &case.red.1, a, o.as_mut_ptr());
    }
    o
}

/// The elements of each result, in order.
fn lines_of<A: Copy>(case: &Case, a: &[A]) -> Vec<Vec<A>> {
    let sizes = [&case.kept.0[..], &case.red.0].concat();
    let strides = [&case.kept.1[..], &case.red.1].concat();
    naive::rows(naive::array(a, case.start, &sizes, &strides), case.kept.0.len())
}

#[test]
fn every_reducer_on_every_layout() {
    for case in cases() {
        let a = numbers(case.buffer);
        let wide: Vec<f64> = a.iter().map(|&x| x as f64).collect();
        let ints: Vec<i16> = a.iter().map(|&x| x as i16).collect();
        let flags: Vec<Truth> = a.iter().map(|&x| (x > 40.0).into()).collect();
        let mut poisoned = a.clone();
        poisoned.iter_mut().step_by(97).for_each(|x| *x = f32::NAN);
        let lines = lines_of(&case, &a);
        let bad = lines_of(&case, &poisoned);
        let small = lines.iter().all(|l| l.len() < 40_000);
        for level in InstructionSet::available() {
            let label = format!("{level:?} kept {:?} reduced {:?}", case.kept, case.red);
            // Integers in f32: every partial sum is exact, so any order gives the same bits.
            let sums: Vec<f32> = lines.iter().map(|l| l.iter().sum::<f32>()).collect();
            assert!(!small || run(level, &Sum, &case, &a, 9.0) == sums, "sum {label}");
            assert!(run(level, &Sum, &case, &ints, 9) == sums.iter().map(|&x| x as i64).collect::<Vec<_>>(), "{label}");
            for (got, line) in run(level, &Length, &case, &a, 9.0).iter().zip(&lines) {
                let want = line.iter().map(|&x| f64::from(x * x)).sum::<f64>().sqrt();
                assert!((f64::from(*got) - want).abs() <= 1e-5 * want, "length {label}");
            }
            let max: Vec<f32> = lines.iter().map(|l| l.iter().copied().fold(f32::NEG_INFINITY, f32::max)).collect();
            assert!(run(level, &Max, &case, &a, 9.0) == max, "max {label}");
            let got = run(level, &Min, &case, &poisoned, 9.0);
            for (got, line) in got.iter().zip(&bad) {
                let want = line.iter().copied().fold(f32::INFINITY, f32::min);
                assert!(if line.iter().any(|x| x.is_nan()) { got.is_nan() } else { *got == want }, "min {label}");
            }
            let picked = lines_of(&case, &flags);
            let any: Vec<Truth> = picked.iter().map(|l| l.iter().any(|x| x.get()).into()).collect();
            let all: Vec<Truth> = picked.iter().map(|l| l.iter().all(|x| x.get()).into()).collect();
            assert!(run(level, &Any, &case, &flags, Truth::FALSE) == any);
            let some: Vec<f32> =
                bad.iter().map(|l| l.iter().filter(|x| !x.is_nan()).sum::<f32>()).map(|x| x + 0.0).collect();
            assert!(!small || run(level, &NanSum, &case, &poisoned, 9.0) == some, "nansum {label}");
            // NaN is no zero.
            let counts: Vec<i64> = bad.iter().map(|l| l.iter().filter(|&&x| x != 0.0).count() as i64).collect();
            assert!(run(level, &CountNonzero, &case, &poisoned, 9) == counts, "counts {label}");
            let trues: Vec<i64> = picked.iter().map(|l| l.iter().filter(|x| x.get()).count() as i64).collect();
            assert!(run(level, &CountNonzero, &case, &flags, 9) == trues, "counts {label}");
            assert!(run(level, &Sum, &case, &flags, 9) == trues, "sums of bools {label}");
            let lengths: Vec<i64> = lines.iter().map(|l| l.len() as i64).collect();
            assert!(run(level, &Sum, &case, &vec![Truth::TRUE; case.buffer], 9) == lengths, "all true {label}");
            assert!(run(level, &All, &case, &flags, Truth::FALSE) == all);
            for (got, line) in run(level, &Moments, &case, &wide, [0.0; 2]).iter().zip(&lines) {
                let n = line.len() as f64;
                let mean = line.iter().map(|&x| x as f64).sum::<f64>() / n;
                let m2 = line.iter().map(|&x| (x as f64 - mean).powi(2)).sum::<f64>();
                let near = (got[0] - mean).abs() <= 1e-10 && (got[1] - m2).abs() <= 1e-9 * (1.0 + m2);
                assert!(if n == 0.0 { got[0].is_nan() } else { near }, "moments {label} {got:?} {mean} {m2}");
            }
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    for case in cases() {
        let a: Vec<f32> = numbers(case.buffer).iter().map(|x| x * 0.1).collect();
        let bits = |level| run(level, &Sum, &case, &a, 9.0).iter().map(|x: &f32| x.to_bits()).collect::<Vec<_>>();
        let first = bits(InstructionSet::BASELINE);
        // Zeros for NaN give the bits of the sum without NaN.
        let (mut poisoned, mut zeros) = (a.clone(), a.clone());
        poisoned.iter_mut().step_by(7).for_each(|x| *x = f32::NAN);
        zeros.iter_mut().step_by(7).for_each(|x| *x = 0.0);
        for level in InstructionSet::available() {
            assert!(bits(level) == first, "{level:?}");
            let [of_numbers, of_all] =
                [run(level, &NanSum, &case, &poisoned, 9.0), run(level, &Sum, &case, &zeros, 9.0)]
                    .map(|sums| sums.iter().map(|x: &f32| x.to_bits()).collect::<Vec<_>>());
            assert!(of_numbers == of_all, "{level:?}");
        }
    }
}

/// Short rows are reduced side by side: each as if it were alone, NaN and the elements after it among them.
#[test]
fn a_row_has_the_same_bits_beside_others_and_alone() {
    fn check<T: Real + SimdElement + std::fmt::Debug, R: Reduce<T, O = T>>(
        r: &R,
        a: &[T],
        n: usize,
        rows: usize,
        what: &str,
    ) {
        let case = |kept: (Vec<usize>, Vec<isize>)| Case { kept, red: (vec![n], vec![1]), start: 0, buffer: 0 };
        for level in InstructionSet::available() {
            let bits = |x: &[T]| x.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>();
            let beside = run(level, r, &case((vec![rows], vec![n as isize])), a, T::ONE);
            let alone: Vec<T> = a
                .chunks_exact(n)
                .take(rows)
                .map(|row| run(level, r, &case((vec![], vec![])), row, T::ONE)[0])
                .collect();
            assert_eq!(bits(&beside), bits(&alone), "{what} of {rows} rows of {n}, {level:?}");
        }
    }
    for n in (1..40).chain([47, 48, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257]) {
        for rows in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 21, 33] {
            let mut a: Vec<f64> = numbers(n * rows).iter().map(|&x| f64::from(x) * 0.01 + 0.3).collect();
            if n % 3 == 0 {
                a.iter_mut().step_by(29).for_each(|x| *x = f64::NAN);
            }
            let narrow: Vec<f32> = a.iter().map(|&x| x as f32).collect();
            check(&Sum, &narrow, n, rows, "sums");
            check(&Max, &narrow, n, rows, "maxima");
            check(&NanSum, &narrow, n, rows, "sums without NaN");
            check(&Length, &narrow, n, rows, "lengths");
            check(&Prod, &a, n, rows, "products");
            check(&Min, &a, n, rows, "minima");
        }
    }
}

#[test]
fn infinities_of_both_signs_have_no_sum_without_nan_either() {
    for n in [4, 9, 70, 300, 3000, 100_000] {
        for level in InstructionSet::available() {
            let mut x = vec![f64::NAN; n];
            let sum = |x: &[f64]| {
                let mut o = [9.0, 9.0];
                // SAFETY: all elements; then two columns of half as many.
                unsafe {
                    reduce_at(level, &NanSum, &[], &[], &[n], &[1], x.as_ptr(), o.as_mut_ptr());
                    let whole = o[0];
                    reduce_at(level, &NanSum, &[2], &[1], &[n / 2], &[2], x.as_ptr(), o.as_mut_ptr());
                    [whole, o[0]]
                }
            };
            assert_eq!(sum(&x), [0.0; 2], "{level:?} {n}");
            x[0] = f64::INFINITY;
            assert_eq!(sum(&x), [f64::INFINITY; 2], "{level:?} {n}");
            x[n / 2 * 2 - 2] = f64::NEG_INFINITY;
            assert!(sum(&x).iter().all(|sum| sum.is_nan()), "{level:?} {n}");
        }
    }
}

#[test]
fn the_error_of_a_long_sum_is_logarithmic() {
    let n = (1 << 22) + 13;
    let a = vec![0.1f32; n];
    let exact = 0.1f32 as f64 * n as f64;
    let mut o = [0f32; 2];
    // SAFETY: `n` elements; then a matrix of two columns.
    unsafe {
        reduce(&Sum, &[], &[], &[n], &[1], a.as_ptr(), o.as_mut_ptr());
        assert!((o[0] as f64 / exact - 1.0).abs() < 4e-7, "{}", o[0]);
        reduce(&Sum, &[2], &[1], &[n / 2], &[2], a.as_ptr(), o.as_mut_ptr());
        // 64 rows in sequence, all rounded the same way: up to 32 half units of 6e-8.
        assert!((o[1] as f64 / (n / 2) as f64 / 0.1f32 as f64 - 1.0).abs() < 2e-6, "{}", o[1]);
    }
}

/// A half, and the conversions to it and from it.
type Format = (Half, fn(f32) -> u16, fn(u16) -> f32);

#[test]
fn halves_have_the_sums_of_float32() {
    let [f16, bf16]: [Format; 2] = [
        (Half::F16, |x| half::f16::from_f32(x).to_bits(), |h| half::f16::from_bits(h).to_f32()),
        (Half::BF16, |x| half::bf16::from_f32(x).to_bits(), |h| half::bf16::from_bits(h).to_f32()),
    ];
    let mut sizes = vec![(3, 1000), (2, 9000), (1, 65_536), (1, 200_001), (300, 300), (2, 1024), (2, 4095)];
    sizes.extend([(40, 3), (5000, 3), (4097, 8), (700, 17), (100, 100)]);
    sizes.extend((1..=64).chain(250..=340).map(|n| (2, n)));
    for (rows, n) in sizes {
        for (half, of, wide) in [f16, bf16] {
            // Sums of these numbers depend on their order.
            let halves: Vec<u16> = numbers(rows * n).iter().map(|x| of(x / 7.0 + 0.3)).collect();
            let a: Vec<f32> = halves.iter().map(|&h| wide(h)).collect();
            let (mut want, mut got) = (vec![0f32; rows], vec![0u16; rows]);
            // SAFETY: contiguous rows.
            unsafe { reduce(&Sum, &[rows], &[n as isize], &[n], &[1], a.as_ptr(), want.as_mut_ptr()) };
            for (row, want) in halves.chunks(n).zip(&want) {
                let sum = Unrounded(AtomicU32::new(0));
                reduce_halves(&sum, half, [n, 1], row, &mut [0]);
                assert_eq!(sum.0.into_inner(), want.to_bits(), "{half:?} {rows} {n}");
            }
            reduce_halves(&Sum, half, [n, 1], &halves, &mut got);
            assert!(got.iter().zip(&want).all(|(got, want)| *got == of(*want)), "{half:?} {rows} {n}");
            // NaN in every place that a block treats in its own way.
            let poisoned: Vec<u16> =
                halves.iter().enumerate().map(|(i, &h)| if i % 5 == 3 { of(f32::NAN) } else { h }).collect();
            let a: Vec<f32> = poisoned.iter().map(|&h| wide(h)).collect();
            // SAFETY: contiguous rows.
            unsafe { reduce(&NanSum, &[rows], &[n as isize], &[n], &[1], a.as_ptr(), want.as_mut_ptr()) };
            reduce_halves(&NanSum, half, [n, 1], &poisoned, &mut got);
            assert!(got.iter().zip(&want).all(|(got, want)| *got == of(*want)), "nansum {half:?} {rows} {n}");
        }
    }
}

#[test]
fn columns_of_halves_have_the_results_of_float32() {
    let [f16, bf16]: [Format; 2] = [
        (Half::F16, |x| half::f16::from_f32(x).to_bits(), |h| half::f16::from_bits(h).to_f32()),
        (Half::BF16, |x| half::bf16::from_f32(x).to_bits(), |h| half::bf16::from_bits(h).to_f32()),
    ];
    // More columns than a strip has, and so few that rows are read as wide ones; more rows than a group; more small
    // blocks than are taken at a time, and a few of the last.
    let sizes = [
        (1, 1, 100),
        (2, 3, 65),
        (3, 64, 80),
        (1, 65, 511),
        (2, 200, 513),
        (1, 1030, 1100),
        (4, 5, 64),
        (1, 1000, 3),
        (1, 64 * 32, 4),
        (1, 64 * 32 + 5, 4),
        (2, 333, 64),
        (205, 5, 4),
        (410, 5, 4),
        (411, 3, 3),
        (300, 20, 3),
        (33, 8, 60),
    ];
    for (matrices, n, width) in sizes {
        for (half, of, wide) in [f16, bf16] {
            let halves: Vec<u16> = numbers(matrices * n * width).iter().map(|x| of(x / 7.0 + 0.3)).collect();
            let poisoned: Vec<u16> =
                halves.iter().enumerate().map(|(i, &h)| if i % 97 == 3 { of(f32::NAN) } else { h }).collect();
            fn check<R: InVectors<f32> + Reduce<f32, O = f32>>(
                r: &R,
                (half, of, wide): Format,
                [matrices, n, width]: [usize; 3],
                x: &[u16],
            ) {
                let a: Vec<f32> = x.iter().map(|&h| wide(h)).collect();
                let (mut want, mut got) = (vec![0f32; matrices * width], vec![0u16; matrices * width]);
                let (kept, steps) = ([matrices, width], [(n * width) as isize, 1]);
                // SAFETY: matrices of `n` rows, one after the other.
                unsafe { reduce(r, &kept, &steps, &[n], &[width as isize], a.as_ptr(), want.as_mut_ptr()) };
                reduce_halves(r, half, [n, width], x, &mut got);
                let same = |got: u16, want: f32| got == of(want) || wide(got).is_nan() && want.is_nan();
                assert!(got.iter().zip(&want).all(|(got, want)| same(*got, *want)), "{half:?} {matrices} {n} {width}");
            }
            let (format, sizes) = ((half, of, wide), [matrices, n, width]);
            check(&Sum, format, sizes, &halves);
            check(&Mean, format, sizes, &halves);
            check(&Max, format, sizes, &poisoned);
            check(&Min, format, sizes, &poisoned);
            check(&NanSum, format, sizes, &poisoned);
            check(&Length, format, sizes, &halves);
        }
    }
    reduce_halves(&Sum, Half::F16, [3, 0], &[], &mut []);
    let mut none = [7; 3];
    reduce_halves(&Sum, Half::BF16, [0, 3], &[], &mut none);
    assert_eq!(none, [0; 3]);
}

/// A sum that keeps what it was before it was rounded.
struct Unrounded(AtomicU32);

impl Reduce<f32> for Unrounded {
    type Acc = f32;
    type O = f32;
    fn init(&self) -> f32 {
        0.0
    }
    fn step(&self, acc: f32, x: f32) -> f32 {
        acc + x
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        a + b
    }
    fn finish(&self, acc: f32, _: usize) -> f32 {
        self.0.store(acc.to_bits(), Relaxed);
        acc
    }
}

impl InVectors<f32> for Unrounded {
    fn combine_vectors<V: Vector<Elem = f32>>(&self, a: V, b: V) -> V {
        a + b
    }
}

#[test]
fn a_row_split_at_powers_of_two_blocks_gives_the_same_bits() {
    let a: Vec<f32> = numbers(50_000).iter().map(|x| x * 0.1).collect();
    let mut whole = [0f32];
    let mut cascade = Cascade::default();
    // SAFETY: the parts lie in `a`.
    unsafe {
        reduce(&Sum, &[], &[], &[a.len()], &[1], a.as_ptr(), whole.as_mut_ptr());
        for part in a.chunks(BLOCK << 3) {
            cascade.push::<f32, _>(&Sum, row(&Sum, part.len(), part.as_ptr(), 1));
        }
    }
    let joined: f32 = cascade.total::<f32, _>(&Sum);
    assert_eq!(joined.to_bits(), whole[0].to_bits());
}

#[test]
fn scans_on_all_layouts_and_in_place() {
    for level in InstructionSet::available() {
        for &n in &UGLY {
            for &m in &[1usize, 5, 300] {
                let a = numbers(n * m);
                // Columns, rows, and columns of every second element.
                for (outer, along, gap) in [(1isize, m as isize, 1), (n as isize, 1, 1), (2, 2 * m as isize, 2)] {
                    let mut on = vec![-1f32; gap * n * m];
                    for (to, &from) in on.iter_mut().step_by(gap).zip(&a) {
                        *to = from;
                    }
                    let from = on.clone();
                    let mut o = vec![-1f32; gap * n * m];
                    let mut want = Array2::from_shape_vec((m, n).set_f(along != 1), a.clone()).unwrap();
                    want.accumulate_axis_inplace(Axis(1), |&before, x| *x += before);
                    let mut all = vec![-1f32; gap * n * m];
                    for (to, &from) in all.iter_mut().step_by(gap).zip(&want.into_raw_vec_and_offset().0) {
                        *to = from;
                    }
                    // SAFETY: `n * m` elements on both sides; the second call is in place.
                    unsafe {
                        let (p, q) = (o.as_mut_ptr(), on.as_mut_ptr());
                        scan_at(level, &CumSum, &[m], &[outer], &[outer], n, along, along, from.as_ptr(), p);
                        scan_at(level, &CumSum, &[m], &[outer], &[outer], n, along, along, q, q);
                    }
                    assert!(o == all && on == all, "{level:?} {n} {m} {gap}");
                }
            }
        }
    }
}

/// Powers of the imaginary unit have exact products in any order.
#[test]
fn products_of_complex_numbers() {
    fn check<T>(of: impl Fn(i64) -> T)
    where
        T: Ring + SimdElement + PartialEq + Send + Sync,
        Prod: Reduce<T, O = T>,
        CumProd: Reduce<T, O = T>,
    {
        for case in cases() {
            let a = numbers(case.buffer);
            let turns: Vec<T> = a.iter().map(|&x| of(x as i64)).collect();
            let want: Vec<T> =
                lines_of(&case, &a).iter().map(|line| of(line.iter().map(|&x| x as i64).sum())).collect();
            let got = run(InstructionSet::detect(), &Prod, &case, &turns, T::ZERO);
            assert!(got == want, "kept {:?} reduced {:?}", case.kept, case.red);
        }
        for (m, n) in [(1, 33), (20, 9), (300, 4)] {
            let a: Vec<i64> = numbers(m * n).iter().map(|&x| x as i64).collect();
            let turns: Vec<T> = a.iter().map(|&x| of(x)).collect();
            for (outer, along) in [(n, 1), (1, m)] {
                let (mut o, mut want) = (vec![T::ZERO; m * n], vec![T::ZERO; m * n]);
                for line in 0..m {
                    for i in 0..n {
                        want[line * outer + i * along] = of((0..=i).map(|k| a[line * outer + k * along]).sum());
                    }
                }
                let (outer, along) = ([outer as isize], along as isize);
                // SAFETY: `m * n` elements on both sides.
                unsafe { scan(&CumProd, &[m], &outer, &outer, n, along, along, turns.as_ptr(), o.as_mut_ptr()) };
                assert!(o == want, "{m} {n} {along}");
            }
        }
    }
    let turn = |x: i64| [(1i8, 0i8), (0, 1), (-1, 0), (0, -1)][x.rem_euclid(4) as usize];
    check(|x| Complex::<f32>::new(turn(x).0.into(), turn(x).1.into()));
    check(|x| Complex::<f64>::new(turn(x).0.into(), turn(x).1.into()));
}

/// Groups of lines side by side add up in the same order as each by itself: the same bits, in both directions.
#[test]
fn scans_of_many_lines_are_those_of_each() {
    fn check<T: SimdElement + PartialEq>(of: impl Fn(usize) -> T)
    where
        CumSum: Reduce<T, O = T>,
    {
        for level in InstructionSet::available() {
            for (lines, n) in [
                (1, 40),
                (16, 16),
                (17, 33),
                (40, 100),
                (35, 15),
                (20, 28),
                (16, 31),
                (12, 9),
                (40, 4),
                (33, 7),
                (20, 8),
                (9, 3),
            ] {
                let a: Vec<T> = (0..lines * n).map(&of).collect();
                for along in [1, -1] {
                    let first = if along < 0 { n - 1 } else { 0 };
                    let (mut o, mut want, mut on) = (a.clone(), a.clone(), a.clone());
                    // SAFETY: `lines` lines of `n` elements, from their first or last one; the last call is in place.
                    unsafe {
                        let (from, to) = (a.as_ptr().add(first), o.as_mut_ptr().add(first));
                        let outer = [n as isize];
                        scan_at(level, &CumSum, &[lines], &outer, &outer, n, along, along, from, to);
                        for line in 0..lines {
                            let (from, to) = (from.add(line * n), want.as_mut_ptr().add(first + line * n));
                            scan_at(level, &CumSum, &[], &[], &[], n, along, along, from, to);
                        }
                        let q = on.as_mut_ptr().add(first);
                        scan_at(level, &CumSum, &[lines], &outer, &outer, n, along, along, q, q);
                    }
                    assert!(o == want && on == want, "{level:?} {lines} {n} {along}");
                }
            }
        }
    }
    check(|i| ((i * 37 + 11) % 101) as f32 / 7.0 - 6.0);
    check(|i| ((i * 37 + 11) % 101) as f64 / 7.0 - 6.0);
}

#[test]
fn row_moments_match() {
    for &n in &UGLY {
        let a = numbers(2 * n);
        // SAFETY: `2 n` elements.
        let (mean, m2) = unsafe { row_moments(a.as_ptr(), n, 2) };
        let line: Vec<f64> = a.iter().step_by(2).map(|&x| x as f64).collect();
        let want = line.iter().sum::<f64>() / n as f64;
        let squares = line.iter().map(|x| (x - want).powi(2)).sum::<f64>();
        assert!(n == 0 && mean.is_nan() || (mean as f64 - want).abs() < 1e-4);
        assert!((m2 as f64 - squares).abs() <= 1e-5 * squares, "{n} {m2} {squares}");
    }
}
