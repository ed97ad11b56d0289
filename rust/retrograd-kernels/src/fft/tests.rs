use num_complex::Complex;

use super::*;
use crate::testing::noise;

/// A sum whose rounding is added up as well (A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation
/// endlicher Summen", ZAMM 54 (1974)).
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for x in terms {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The definition, of all numbers of `x`.
fn transform(x: &[Complex<f64>], inverse: bool) -> Vec<Complex<f64>> {
    let n = x.len();
    let turn = |k: usize| {
        let (re, im) = root(k, n);
        Complex::new(re, if inverse { -im } else { im })
    };
    let turns: Vec<_> = (0..n).map(turn).collect();
    let terms = |k: usize| -> Vec<_> { x.iter().enumerate().map(|(j, z)| z * turns[j * k % n]).collect() };
    (0..n).map(terms).map(|t| Complex::new(sum(t.iter().map(|z| z.re)), sum(t.iter().map(|z| z.im)))).collect()
}

fn numbers(seed: u64, n: usize) -> Vec<Complex<f64>> {
    noise(seed, 2 * n).chunks_exact(2).map(|z| Complex::new(z[0], z[1])).collect()
}

fn parts<T: Real>(x: &[Complex<f64>]) -> Vec<T> {
    x.iter().flat_map(|z| [T::of(z.re), T::of(z.im)]).collect()
}

/// Memory to work in, of values that spoil what is computed with them.
fn work<T: Real>(n: usize) -> Vec<T> {
    vec![T::of(f64::NAN); n]
}

/// Whether the error is what rounding explains: it grows with the logarithm of the length. The definition's terms, of
/// float64 numbers, are rounded as well.
fn check<T: Real + Into<f64>>(got: &[T], want: &[Complex<f64>], scale: f64, n: usize, what: &str) {
    let norm = want.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt() * scale;
    let error =
        got.chunks_exact(2).zip(want).map(|(z, w)| (Complex::new(z[0].into(), z[1].into()) - w * scale).norm_sqr());
    let error = error.sum::<f64>().sqrt() / norm;
    let unit = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    assert!(got.len() == 2 * want.len());
    assert!(
        error < unit * (1.0 + 0.3 * (n as f64).log2()),
        "{what} of {n} numbers of {} bytes: {error}",
        size_of::<T>()
    );
}

fn lines<T: Transformed + Into<f64>>(level: InstructionSet, n: usize) {
    let x = numbers(n as u64, n);
    let Some(plan) = Plan::<T>::at(level, n) else { panic!("no plan for {n}") };
    for inverse in [false, true] {
        let want = transform(&x, inverse);
        let from = parts::<T>(&x);
        let (mut to, mut memory) = (work::<T>(2 * n), work::<T>(plan.work()));
        // SAFETY: (1) of these lengths; (2) four allocations.
        unsafe { plan.run(inverse, T::of(0.5), from.as_ptr(), to.as_mut_ptr(), memory.as_mut_ptr()) };
        check(&to, &want, 0.5, n, "transform");
        let (p, mut memory) = (to.as_mut_ptr(), work::<T>(plan.work()));
        to.copy_from_slice(&from);
        // SAFETY: (1) of these lengths; (2) in place.
        unsafe { plan.run(inverse, T::ONE, p, p, memory.as_mut_ptr()) };
        check(&to, &want, 1.0, n, "transform in place");
    }
    let plan = RealPlan::with(plan);
    let x = noise(n as u64, 2 * n);
    let whole: Vec<_> = x.iter().map(|&re| Complex::new(T::of(re).into(), 0.0)).collect();
    let want = transform(&whole, false);
    let from: Vec<T> = x.iter().map(|&x| T::of(x)).collect();
    let (mut to, mut memory) = (work::<T>(2 * n + 2), work::<T>(plan.work()));
    // SAFETY: (1) of these lengths; (2) three allocations.
    unsafe { plan.forward(T::of(2.0), from.as_ptr(), to.as_mut_ptr(), memory.as_mut_ptr()) };
    check(&to, &want[..=n], 2.0, 2 * n, "transform of real numbers");
    assert!(to[1] == T::ZERO && to[2 * n + 1] == T::ZERO);
    // What does not count, and what is divided out again.
    (to[1], to[2 * n + 1]) = (T::of(7.0), T::of(-3.0));
    (to[0], to[2 * n]) = (to[0].mul(T::of(0.25)), to[2 * n].mul(T::of(0.25)));
    let (mut back, mut memory) = (work::<T>(2 * n), work::<T>(plan.work()));
    let scale = T::of(0.25 / n as f64);
    // SAFETY: (1) of these lengths; (2) three allocations.
    unsafe { plan.inverse(scale, T::of(4.0), to.as_ptr(), back.as_mut_ptr(), memory.as_mut_ptr()) };
    let want: Vec<_> = x.chunks_exact(2).map(|x| Complex::new(x[0], x[1])).collect();
    check(&back, &want, 1.0, 2 * n, "inverse to real numbers");
}

fn columns_<T: Transformed + Into<f64>>(level: InstructionSet, n: usize) {
    let plan = ColumnPlan::<T>::at(level, n).expect("a plan");
    for count in [1, 3, pad::<T>(), ColumnPlan::<T>::LINES - 1, ColumnPlan::<T>::LINES] {
        let (step, to_step) = (count + 2, count + 1);
        let x = numbers(n as u64, n * step);
        let from = parts::<T>(&x);
        for inverse in [false, true] {
            let (mut to, mut memory) = (vec![T::of(9.0); 2 * n * to_step], work::<T>(plan.work()));
            let steps = [step as isize, to_step as isize];
            let (p, work) = (to.as_mut_ptr(), memory.as_mut_ptr());
            // SAFETY: (1) of these lengths; (2) three allocations.
            unsafe { plan.run(inverse, T::of(0.5), count, from.as_ptr(), p, steps, work) };
            for i in 0..count {
                let line: Vec<_> = (0..n).map(|j| x[j * step + i]).collect();
                let got: Vec<T> =
                    (0..n).flat_map(|j| [to[2 * (j * to_step + i)], to[2 * (j * to_step + i) + 1]]).collect();
                check(&got, &transform(&line, inverse), 0.5, n, "transform of columns");
            }
            let beside = (0..n).flat_map(|j| [to[2 * (j * to_step + count)], to[2 * (j * to_step + count) + 1]]);
            assert!(beside.eq(vec![T::of(9.0); 2 * n]), "numbers beside the lines");
        }
    }
}

#[test]
fn lines_are_what_the_definition_says() {
    for level in InstructionSet::available() {
        // Each radix, first, in the middle and last, and matrices that are no whole vectors.
        for n in [16, 24, 36, 60, 64, 100, 144, 196, 225, 256, 360, 480, 500, 512, 630, 1000, 1024] {
            lines::<f32>(level, n);
            lines::<f64>(level, n);
        }
    }
}

#[test]
fn columns_are_what_the_definition_says() {
    for level in InstructionSet::available() {
        for n in [4, 6, 8, 9, 10, 14, 15, 16, 35, 49, 64, 120, 210, 343] {
            columns_::<f32>(level, n);
            columns_::<f64>(level, n);
        }
    }
}

/// Blocks from the last to the first: none of a pass waits for another.
fn long<T: Transformed + Into<f64>>(level: InstructionSet, x: &[Complex<f64>], inverse: bool, want: &[Complex<f64>]) {
    let n = x.len();
    let plan = LongPlan::<T>::at(level, n).expect("a plan");
    let from = parts::<T>(x);
    let (mut between, mut memory) = (work::<T>(plan.between()), work::<T>(plan.work()));
    let mut to = work::<T>(2 * n);
    let [first, second] = plan.blocks();
    for block in (0..first).rev() {
        // SAFETY: (1) of these lengths; (2) three allocations.
        unsafe { plan.first(inverse, block, from.as_ptr(), between.as_mut_ptr(), memory.as_mut_ptr()) };
    }
    for block in (0..second).rev() {
        let (between, to) = (between.as_ptr(), to.as_mut_ptr());
        // SAFETY: (1) all blocks of the first pass were computed; (2) three allocations of these lengths.
        unsafe { plan.second(inverse, T::of(0.5), block, between, to, memory.as_mut_ptr()) };
    }
    check(&to, want, 0.5, n, "transform in two passes");
}

#[test]
fn long_lines_are_what_the_definition_says() {
    // Matrices of one block and of several, and sides that are no whole vectors.
    for n in [16, 24, 60, 225, 256, 630, 1296, 1600, 4900] {
        let x = numbers(n as u64, n);
        for inverse in [false, true] {
            let want = transform(&x, inverse);
            for level in InstructionSet::available() {
                long::<f32>(level, &x, inverse, &want);
                long::<f64>(level, &x, inverse, &want);
            }
        }
    }
    assert!(LongPlan::<f32>::at(InstructionSet::detect(), 2 * 1009).is_none());
    assert!(LongPlan::<f64>::new(LongPlan::<f64>::NEAR).is_none());
}

#[test]
fn a_line_does_not_depend_on_those_beside_it() {
    let n = 60;
    let plan = ColumnPlan::<f32>::at(InstructionSet::detect(), n).expect("a plan");
    let x = parts::<f32>(&numbers(1, n * 16));
    let run = |first: usize, count: usize| {
        let (mut to, mut memory) = (vec![0.0f32; 2 * n * count], work::<f32>(plan.work()));
        let (p, work) = (to.as_mut_ptr(), memory.as_mut_ptr());
        // SAFETY: (1) of these lengths; (2) three allocations.
        unsafe { plan.run(false, 1.0, count, x[2 * first..].as_ptr(), p, [16, count as isize], work) };
        to
    };
    let all = run(0, 16);
    for i in 0..16 {
        let one = run(i, 1);
        let of_all: Vec<_> = (0..n).flat_map(|j| [all[2 * (16 * j + i)], all[2 * (16 * j + i) + 1]]).collect();
        assert_eq!(one, of_all, "line {i}");
    }
}

#[test]
fn other_lengths_have_no_plan() {
    for n in [0, 1, 2, 3, 5, 7, 11, 22, 97, 1009, 2018] {
        assert!(Plan::<f32>::at(InstructionSet::detect(), n).is_none());
        assert!(ColumnPlan::<f64>::at(InstructionSet::detect(), n).is_none());
    }
}
