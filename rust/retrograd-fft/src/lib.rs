//! Fourier transforms of lines: those of `retrograd_kernels::fft` where it has a plan for a length, and others on top
//! of rustfft and realfft. Plans are cached.
//!
//! A crate of its own so that the transforms are compiled once, and not whenever an op changes. It starts no thread:
//! whoever has many lines divides them.

mod cache;
mod prime;

use std::sync::Arc;

use num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use retrograd_kernels::fft::{ColumnPlan, Plan, RealPlan, Transformed};

pub use retrograd_kernels::fft::LongPlan;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use cache::Cache;
use prime::{PrimeLength, RealPrime};

/// What the parts of transformed numbers can be: f32 or f64. Each plans by functions that are no generic ones, so that
/// this crate, and not the one that calls it, compiles the transforms.
pub trait Number: FftNum + Transformed {
    #[doc(hidden)]
    fn line_plan(n: usize) -> Option<Arc<Plan<Self>>>;
    #[doc(hidden)]
    fn column_plan(n: usize) -> Option<Arc<ColumnPlan<Self>>>;
    #[doc(hidden)]
    fn long_line_plan(n: usize) -> Option<Arc<LongPlan<Self>>>;
    #[doc(hidden)]
    fn real_line_plan(n: usize) -> Option<Arc<RealPlan<Self>>>;
    #[doc(hidden)]
    fn real_prime_plan(n: usize, inverse: bool) -> Option<Arc<RealPrime<Self>>>;
    #[doc(hidden)]
    fn complex_plan(n: usize, inverse: bool) -> Arc<dyn Fft<Self>>;
    #[doc(hidden)]
    fn half_plan(n: usize) -> Arc<dyn RealToComplex<Self>>;
    #[doc(hidden)]
    fn real_plan(n: usize) -> Arc<dyn ComplexToReal<Self>>;
}

macro_rules! numbers {
    ($($T:ty),*) => { $(
        impl Number for $T {
            fn line_plan(n: usize) -> Option<Arc<Plan<Self>>> {
                static KEPT: Cache<Option<Arc<Plan<$T>>>> = Cache::new();
                if worth_vectors(n) { KEPT.get(n, || Plan::new(n).map(Arc::new)) } else { None }
            }
            fn column_plan(n: usize) -> Option<Arc<ColumnPlan<Self>>> {
                static KEPT: Cache<Option<Arc<ColumnPlan<$T>>>> = Cache::new();
                KEPT.get(n, || ColumnPlan::new(n).map(Arc::new))
            }
            fn long_line_plan(n: usize) -> Option<Arc<LongPlan<Self>>> {
                static KEPT: Cache<Option<Arc<LongPlan<$T>>>> = Cache::new();
                KEPT.get(n, || LongPlan::new(n).map(Arc::new))
            }
            fn real_line_plan(n: usize) -> Option<Arc<RealPlan<Self>>> {
                static KEPT: Cache<Option<Arc<RealPlan<$T>>>> = Cache::new();
                KEPT.get(n, || RealPlan::new(n).map(Arc::new))
            }
            fn real_prime_plan(n: usize, inverse: bool) -> Option<Arc<RealPrime<Self>>> {
                static KEPT: [Cache<Option<Arc<RealPrime<$T>>>>; 2] = [Cache::new(), Cache::new()];
                let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
                KEPT[usize::from(inverse)].get(n, || RealPrime::new(n, direction).map(Arc::new))
            }
            fn complex_plan(n: usize, inverse: bool) -> Arc<dyn Fft<Self>> {
                static KEPT: [Cache<Arc<dyn Fft<$T>>>; 2] = [Cache::new(), Cache::new()];
                let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
                KEPT[usize::from(inverse)].get(n, || match PrimeLength::new(n, direction) {
                    Some(plan) => Arc::new(plan),
                    None => FftPlanner::new().plan_fft(n, direction),
                })
            }
            fn half_plan(n: usize) -> Arc<dyn RealToComplex<Self>> {
                static KEPT: Cache<Arc<dyn RealToComplex<$T>>> = Cache::new();
                KEPT.get(n, || RealFftPlanner::new().plan_fft_forward(n))
            }
            fn real_plan(n: usize) -> Arc<dyn ComplexToReal<Self>> {
                static KEPT: Cache<Arc<dyn ComplexToReal<$T>>> = Cache::new();
                KEPT.get(n, || RealFftPlanner::new().plan_fft_inverse(n))
            }
        }
    )* };
}
numbers!(f32, f64);

/// Whether a line of `n` complex numbers takes less in vectors than by rustfft, which is faster where a line is short:
/// in float32 360 take 1.1 times as long in vectors, 500 half, 512 0.9 times, 1000 0.7 times.
fn worth_vectors(n: usize) -> bool {
    n >= 400
}

/// The plan for contiguous lines of `n` complex numbers that are divided among threads, if they are as long as that:
/// shorter ones have none, and need no look into the cache.
pub fn long_plan<T: Number>(n: usize) -> Option<Arc<LongPlan<T>>> {
    if n > LongPlan::<T>::NEAR { T::long_line_plan(n) } else { None }
}

/// A transform of lines of one length to lines of one length. Threads share it.
pub trait Lines: Send + Sync {
    /// The type of the parts of complex numbers.
    type Part: Number;
    type From: Copy;
    type To: Copy;
    /// Numbers in a line that it reads.
    fn reads(&self) -> usize;
    /// Numbers in a line that it writes.
    fn writes(&self) -> usize;
    /// Numbers of scratch memory that it needs, of arbitrary values.
    fn scratch(&self) -> usize;
    /// Transforms one line, or several that follow each other, and multiplies the results by `scale`; what is in `from`
    /// afterwards may be anything.
    ///
    /// # Panics
    /// If a slice does not have the length of as many lines as the others, or the scratch memory is too short.
    fn run(&self, from: &mut [Self::From], to: &mut [Self::To], scratch: &mut [Complex<Self::Part>], scale: Self::Part);
    /// Whether [`Self::run_from`] may be called.
    fn keeps(&self) -> bool {
        false
    }
    /// As [`Self::run`], with what it reads left as it is.
    fn run_from(
        &self,
        _from: &[Self::From],
        _to: &mut [Self::To],
        _scratch: &mut [Complex<Self::Part>],
        _scale: Self::Part,
    ) {
        unreachable!("a transform that destroys what it reads")
    }
    /// Lines that [`Self::run_beside`] transforms together; None if it may not be called.
    fn beside(&self) -> Option<usize> {
        None
    }
    /// Transforms `lines` lines, at most as many as [`Self::beside`] says, that lie side by side: their first numbers
    /// follow each other, and the next ones are `steps` further in either memory.
    ///
    /// # Safety
    /// 1. `from` is readable and initialised, `to` writable, for these lines. 2. Both are the same lines, or disjoint.
    ///
    /// # Panics
    /// If the scratch memory is shorter than [`Self::scratch`] says.
    unsafe fn run_beside(
        &self,
        _lines: usize,
        _from: *const Self::From,
        _to: *mut Self::To,
        _steps: [isize; 2],
        _scratch: &mut [Complex<Self::Part>],
        _scale: Self::Part,
    ) {
        unreachable!("a transform of contiguous lines alone")
    }
}

/// Complex numbers that have room for as many parts.
fn complex(parts: usize) -> usize {
    parts.div_ceil(2)
}

/// Scratch memory as parts of complex numbers, of which there are `parts`.
fn parts<T>(scratch: &mut [Complex<T>], parts: usize) -> *mut T {
    assert!(scratch.len() >= complex(parts), "scratch memory for the transform");
    scratch.as_mut_ptr().cast()
}

fn scale_all<T: Number>(line: &mut [Complex<T>], by: T) {
    if by != T::one() {
        line.iter_mut().for_each(|z| *z = Complex::new(z.re * by, z.im * by));
    }
}

/// The pairs of a line of `n` numbers in `from` and one of `m` in `to`.
///
/// # Panics
/// If the slices are not of as many lines.
fn pairs<'s, A, B>(from: &'s [A], n: usize, to: &'s mut [B], m: usize) -> impl Iterator<Item = (&'s [A], &'s mut [B])> {
    assert!(from.len().is_multiple_of(n) && to.len() == from.len() / n * m, "slices of as many lines");
    from.chunks_exact(n).zip(to.chunks_exact_mut(m))
}

/// `to[k] = sum of from[j] exp(-2 pi i j k / n)`, or `+2 pi i` for the inverse.
pub struct ComplexLines<T: Number> {
    n: usize,
    inverse: bool,
    lines: Option<Arc<Plan<T>>>,
    columns: Option<Arc<ColumnPlan<T>>>,
    /// Where there is no plan in vectors.
    other: Option<Arc<dyn Fft<T>>>,
}

impl<T: Number> ComplexLines<T> {
    /// The transform of `n` numbers, at least one.
    pub fn new(n: usize, inverse: bool) -> Self {
        let (lines, columns) = (T::line_plan(n), T::column_plan(n));
        let other = lines.is_none().then(|| T::complex_plan(n, inverse));
        Self { n, inverse, lines, columns, other }
    }
}

impl<T: Number> Lines for ComplexLines<T> {
    type Part = T;
    type From = Complex<T>;
    type To = Complex<T>;
    fn reads(&self) -> usize {
        self.n
    }
    fn writes(&self) -> usize {
        self.n
    }
    fn scratch(&self) -> usize {
        let lines = match (&self.lines, &self.other) {
            (Some(plan), _) => complex(plan.work()),
            (None, Some(plan)) => plan.get_outofplace_scratch_len().max(plan.get_immutable_scratch_len()),
            (None, None) => 0,
        };
        lines.max(self.columns.as_ref().map_or(0, |plan| complex(plan.work())))
    }
    fn run(&self, from: &mut [Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>], scale: T) {
        match &self.other {
            None => self.run_from(from, to, scratch, scale),
            Some(plan) => {
                plan.process_outofplace_with_scratch(from, to, scratch);
                scale_all(to, scale);
            }
        }
    }
    fn keeps(&self) -> bool {
        true
    }
    fn run_from(&self, from: &[Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>], scale: T) {
        if let Some(plan) = &self.other {
            plan.process_immutable_with_scratch(from, to, scratch);
            return scale_all(to, scale);
        }
        let plan = self.lines.as_ref().expect("a plan in vectors where there is no other");
        let work = parts(scratch, plan.work());
        for (from, to) in pairs(from, self.n, to, self.n) {
            // SAFETY: (1) lines of `n` numbers, which are pairs of parts, and scratch memory as asserted; (2) mutable
            // slices are disjoint from others.
            unsafe { plan.run(self.inverse, scale, from.as_ptr().cast(), to.as_mut_ptr().cast(), work) };
        }
    }
    fn beside(&self) -> Option<usize> {
        self.columns.is_some().then_some(ColumnPlan::<T>::LINES)
    }
    unsafe fn run_beside(
        &self,
        lines: usize,
        from: *const Complex<T>,
        to: *mut Complex<T>,
        steps: [isize; 2],
        scratch: &mut [Complex<T>],
        scale: T,
    ) {
        let plan = self.columns.as_ref().expect("lines side by side where there is a plan for them");
        let work = parts(scratch, plan.work());
        // SAFETY: (1, 2) ours, of numbers that are pairs of parts; scratch memory as asserted.
        unsafe { plan.run(self.inverse, scale, lines, from.cast(), to.cast(), steps, work) };
    }
}

/// What the first number of a half spectrum is multiplied by, and the last one of an even length: those that stand for
/// one number of the whole spectrum, while each of the others stands for two.
fn ends<T: Number>(half: &mut [Complex<T>], n: usize, by: T) {
    half[0] = half[0] * by;
    if n > 1 && n.is_multiple_of(2) {
        half[n / 2] = half[n / 2] * by;
    }
}

/// Plans of transforms of `n` real numbers, or to them.
enum OfReal<T: Number, P: ?Sized> {
    Vectors(Arc<RealPlan<T>>),
    Prime(Arc<RealPrime<T>>),
    /// Of an odd number of them: that of complex numbers, forward or inverse.
    Odd(Arc<dyn Fft<T>>),
    Even(Arc<P>),
}

impl<T: Number, P: ?Sized> OfReal<T, P> {
    fn new(n: usize, inverse: bool, even: impl FnOnce(usize) -> Arc<P>) -> Self {
        if let Some(plan) = T::real_line_plan(n) {
            return Self::Vectors(plan);
        }
        if n.is_multiple_of(2) {
            return Self::Even(even(n));
        }
        match T::real_prime_plan(n, inverse) {
            Some(plan) => Self::Prime(plan),
            None => Self::Odd(T::complex_plan(n, inverse)),
        }
    }
    fn scratch(&self, n: usize, even: impl FnOnce(&P) -> usize) -> usize {
        match self {
            Self::Vectors(plan) => complex(plan.work()),
            Self::Prime(plan) => plan.scratch(),
            Self::Odd(plan) => 2 * n + plan.get_outofplace_scratch_len(),
            Self::Even(plan) => even(plan),
        }
    }
}

/// The transform of real numbers: its first `n / 2 + 1` results, or all, of which the others are their conjugates.
pub struct RealLines<T: Number> {
    n: usize,
    plan: OfReal<T, dyn RealToComplex<T>>,
    whole: bool,
    ends: T,
}

impl<T: Number> RealLines<T> {
    /// The transform of `n` numbers, at least one; `ends` is a factor of the results that have no mirrored one.
    pub fn new(n: usize, whole: bool, ends: T) -> Self {
        Self { n, plan: OfReal::new(n, false, T::half_plan), whole, ends }
    }

    /// What follows the transform of a line: of the first half of `to` it makes the rest.
    fn finish(&self, to: &mut [Complex<T>]) {
        let (first, rest) = to.split_at_mut(self.n / 2 + 1);
        ends(first, self.n, self.ends);
        for (mirrored, z) in rest.iter_mut().rev().zip(&first[1..]) {
            *mirrored = z.conj();
        }
    }
}

impl<T: Number> Lines for RealLines<T> {
    type Part = T;
    type From = T;
    type To = Complex<T>;
    fn reads(&self) -> usize {
        self.n
    }
    fn writes(&self) -> usize {
        if self.whole { self.n } else { self.n / 2 + 1 }
    }
    fn scratch(&self) -> usize {
        self.plan.scratch(self.n, |plan| plan.get_scratch_len())
    }
    fn run(&self, from: &mut [T], to: &mut [Complex<T>], scratch: &mut [Complex<T>], scale: T) {
        let OfReal::Even(plan) = &self.plan else { return self.run_from(from, to, scratch, scale) };
        let (n, half) = (self.n, self.n / 2 + 1);
        let scratch = &mut scratch[..plan.get_scratch_len()];
        for (from, to) in from.chunks_exact_mut(n).zip(to.chunks_exact_mut(self.writes())) {
            plan.process_with_scratch(from, &mut to[..half], scratch).expect("lines of the plan's lengths");
            scale_all(&mut to[..half], scale);
            self.finish(to);
        }
    }
    fn keeps(&self) -> bool {
        !matches!(self.plan, OfReal::Even(_))
    }
    fn run_from(&self, from: &[T], to: &mut [Complex<T>], scratch: &mut [Complex<T>], scale: T) {
        let (n, m) = (self.n, self.writes());
        for (from, to) in pairs(from, n, to, m) {
            match &self.plan {
                OfReal::Vectors(plan) => {
                    let work = parts(scratch, plan.work());
                    // SAFETY: (1) a line of `n` numbers and one of at least `n / 2 + 1` pairs, and scratch memory as
                    // asserted; (2) mutable slices are disjoint from others.
                    unsafe { plan.forward(scale, from.as_ptr(), to.as_mut_ptr().cast(), work) };
                }
                OfReal::Prime(plan) => plan.forward(from, &mut to[..n / 2 + 1], scratch, scale),
                OfReal::Odd(plan) => {
                    let (line, scratch) = scratch.split_at_mut(n);
                    let (result, scratch) = scratch.split_at_mut(n);
                    for (z, &re) in line.iter_mut().zip(from) {
                        *z = Complex::new(re, T::zero());
                    }
                    plan.process_outofplace_with_scratch(line, result, scratch);
                    // A sum of real numbers, whatever rounding says.
                    result[0].im = T::zero();
                    to[..n / 2 + 1].copy_from_slice(&result[..n / 2 + 1]);
                    scale_all(&mut to[..n / 2 + 1], scale);
                }
                OfReal::Even(_) => unreachable!("a transform that destroys what it reads"),
            }
            self.finish(to);
        }
    }
}

/// The inverse of [`RealLines`]: `n` real numbers of the first `n / 2 + 1` of their transform. The imaginary parts of
/// the first one and, if `n` is even, of the last one count as 0.
pub struct HalfLines<T: Number> {
    n: usize,
    plan: OfReal<T, dyn ComplexToReal<T>>,
    ends: T,
}

impl<T: Number> HalfLines<T> {
    /// The transform to `n` numbers, at least one; `ends` is a factor of the operands that have no mirrored one.
    pub fn new(n: usize, ends: T) -> Self {
        Self { n, plan: OfReal::new(n, true, T::real_plan), ends }
    }
}

impl<T: Number> Lines for HalfLines<T> {
    type Part = T;
    type From = Complex<T>;
    type To = T;
    fn reads(&self) -> usize {
        self.n / 2 + 1
    }
    fn writes(&self) -> usize {
        self.n
    }
    fn scratch(&self) -> usize {
        self.plan.scratch(self.n, |plan| plan.get_scratch_len())
    }
    fn run(&self, from: &mut [Complex<T>], to: &mut [T], scratch: &mut [Complex<T>], scale: T) {
        let OfReal::Even(plan) = &self.plan else { return self.run_from(from, to, scratch, scale) };
        let (half, n) = (self.reads(), self.n);
        let scratch = &mut scratch[..plan.get_scratch_len()];
        for (from, to) in from.chunks_exact_mut(half).zip(to.chunks_exact_mut(n)) {
            ends(from, n, self.ends);
            from[0].im = T::zero();
            from[half - 1].im = T::zero();
            plan.process_with_scratch(from, to, scratch).expect("lines of the plan's lengths");
            if scale != T::one() {
                to.iter_mut().for_each(|x| *x = *x * scale);
            }
        }
    }
    fn keeps(&self) -> bool {
        !matches!(self.plan, OfReal::Even(_))
    }
    fn run_from(&self, from: &[Complex<T>], to: &mut [T], scratch: &mut [Complex<T>], scale: T) {
        let n = self.n;
        for (from, to) in pairs(from, self.reads(), to, n) {
            match &self.plan {
                OfReal::Vectors(plan) => {
                    let work = parts(scratch, plan.work());
                    // SAFETY: (1) a line of `n / 2 + 1` pairs and one of `n` numbers, and scratch memory as asserted;
                    // (2) mutable slices are disjoint from others.
                    unsafe { plan.inverse(scale, self.ends, from.as_ptr().cast(), to.as_mut_ptr(), work) };
                }
                OfReal::Prime(plan) => plan.inverse(from[0].re * self.ends, from, to, scratch, scale),
                OfReal::Odd(plan) => {
                    let (line, scratch) = scratch.split_at_mut(n);
                    let (result, scratch) = scratch.split_at_mut(n);
                    line[..from.len()].copy_from_slice(from);
                    line[0] = Complex::new(line[0].re * self.ends, T::zero());
                    for (k, z) in from.iter().enumerate().skip(1) {
                        line[n - k] = z.conj();
                    }
                    plan.process_outofplace_with_scratch(line, result, scratch);
                    for (x, z) in to.iter_mut().zip(result) {
                        *x = z.re * scale;
                    }
                }
                OfReal::Even(_) => unreachable!("a transform that destroys what it reads"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustfft::num_traits::{One, Zero};

    use super::*;

    type C = Complex<f64>;

    /// The definition.
    fn transform(x: &[C], sign: f64) -> Vec<C> {
        let n = x.len();
        let turn = |jk: usize| C::from_polar(1.0, sign * std::f64::consts::TAU * (jk % n) as f64 / n as f64);
        (0..n).map(|k| x.iter().enumerate().map(|(j, z)| z * turn(j * k)).sum()).collect()
    }

    fn run<L: Lines>(lines: &L, from: &[L::From], zero: L::To) -> Vec<L::To> {
        let mut to = vec![zero; from.len() / lines.reads() * lines.writes()];
        let zero = Complex::new(L::Part::zero(), L::Part::zero());
        lines.run(&mut from.to_vec(), &mut to, &mut vec![zero; lines.scratch()], L::Part::one());
        to
    }

    fn close(a: &[C], b: &[C]) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-11 * a.norm().max(1.0)), "{a:?} {b:?}");
    }

    #[test]
    fn lines_are_what_the_definition_says() {
        let zero = C::new(0.0, 0.0);
        for n in [1, 2, 3, 4, 5, 8, 13, 16, 60, 101, 107, 127, 128, 256, 337, 480, 1009] {
            let x: Vec<C> = (0..n).map(|i| C::new((i as f64).sin(), (3.0 * i as f64).cos())).collect();
            let real: Vec<f64> = x.iter().map(|z| z.re).collect();
            let of_real: Vec<C> = real.iter().map(|&re| re.into()).collect();
            for (inverse, sign) in [(false, -1.0), (true, 1.0)] {
                let lines = ComplexLines::new(n, inverse);
                close(&run(&lines, &x, zero), &transform(&x, sign));
                let (mut to, mut scratch) = (vec![zero; 2 * n], vec![zero; lines.scratch()]);
                lines.run_from(&[&x[..], &of_real].concat(), &mut to, &mut scratch, 1.0);
                close(&to, &[transform(&x, sign), transform(&of_real, sign)].concat());
            }
            let whole = transform(&of_real, -1.0);
            close(&run(&RealLines::new(n, true, 1.0), &real, zero), &whole);
            close(&run(&RealLines::new(n, false, 1.0), &real, zero), &whole[..n / 2 + 1]);
            // The imaginary part of what is real by symmetry does not count.
            let mut half = whole[..n / 2 + 1].to_vec();
            half[0].im = 5.0;
            if n.is_multiple_of(2) {
                half[n / 2].im = 7.0;
            }
            let back: Vec<C> = run(&HalfLines::new(n, 1.0), &half, 0.0).iter().map(|x| C::from(x / n as f64)).collect();
            close(&back, &of_real);
            let mut weighted = whole[..n / 2 + 1].to_vec();
            ends(&mut weighted, n, 0.5);
            close(&run(&RealLines::new(n, false, 0.5), &real, zero), &weighted);
            let back: Vec<C> =
                run(&HalfLines::new(n, 2.0), &weighted, 0.0).iter().map(|x| C::from(x / n as f64)).collect();
            close(&back, &of_real);
        }
    }
}
