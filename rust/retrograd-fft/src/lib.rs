//! Fourier transforms of lines, contiguous in memory, on top of rustfft and realfft, with plans that are cached.
//!
//! A crate of its own so that the transforms are compiled once, and not whenever a kernel or an op changes. It starts
//! no thread: whoever has many lines divides them. No transform is scaled.

mod cache;
mod prime;

use std::sync::Arc;

use num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use cache::Cache;
use prime::PrimeLength;

/// What the parts of transformed numbers can be: f32 or f64. Each plans by functions that are no generic ones, so that
/// this crate, and not the one that calls it, compiles the transforms.
pub trait Number: FftNum {
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
            fn complex_plan(n: usize, inverse: bool) -> Arc<dyn Fft<Self>> {
                static KEPT: [Cache<dyn Fft<$T>>; 2] = [Cache::new(), Cache::new()];
                let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
                KEPT[usize::from(inverse)].get(n, || match PrimeLength::new(n, direction) {
                    Some(plan) => Arc::new(plan),
                    None => FftPlanner::new().plan_fft(n, direction),
                })
            }
            fn half_plan(n: usize) -> Arc<dyn RealToComplex<Self>> {
                static KEPT: Cache<dyn RealToComplex<$T>> = Cache::new();
                KEPT.get(n, || RealFftPlanner::new().plan_fft_forward(n))
            }
            fn real_plan(n: usize) -> Arc<dyn ComplexToReal<Self>> {
                static KEPT: Cache<dyn ComplexToReal<$T>> = Cache::new();
                KEPT.get(n, || RealFftPlanner::new().plan_fft_inverse(n))
            }
        }
    )* };
}
numbers!(f32, f64);

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
    /// Transforms one line, or several that follow each other; what is in `from` afterwards may be anything.
    ///
    /// # Panics
    /// If a slice does not have the length of as many lines as the others, or the scratch memory is too short.
    fn run(&self, from: &mut [Self::From], to: &mut [Self::To], scratch: &mut [Complex<Self::Part>]);
    /// Whether [`Self::run_from`] may be called.
    const KEEPS: bool = false;
    /// As [`Self::run`], with what it reads left as it is.
    fn run_from(&self, _from: &[Self::From], _to: &mut [Self::To], _scratch: &mut [Complex<Self::Part>]) {
        unreachable!("a transform that destroys what it reads")
    }
}

/// `to[k] = sum of from[j] exp(-2 pi i j k / n)`, or `+2 pi i` for the inverse.
pub struct ComplexLines<T>(Arc<dyn Fft<T>>);

impl<T: Number> ComplexLines<T> {
    /// The transform of `n` numbers, at least one.
    pub fn new(n: usize, inverse: bool) -> Self {
        Self(T::complex_plan(n, inverse))
    }
}

impl<T: Number> Lines for ComplexLines<T> {
    type Part = T;
    type From = Complex<T>;
    type To = Complex<T>;
    const KEEPS: bool = true;
    fn reads(&self) -> usize {
        self.0.len()
    }
    fn writes(&self) -> usize {
        self.0.len()
    }
    fn scratch(&self) -> usize {
        self.0.get_outofplace_scratch_len().max(self.0.get_immutable_scratch_len())
    }
    fn run(&self, from: &mut [Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.0.process_outofplace_with_scratch(from, to, scratch);
    }
    fn run_from(&self, from: &[Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.0.process_immutable_with_scratch(from, to, scratch);
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

/// The transform of real numbers: its first `n / 2 + 1` results, or all, of which the others are their conjugates.
pub struct RealLines<T> {
    plan: Arc<dyn RealToComplex<T>>,
    whole: bool,
    ends: T,
}

impl<T: Number> RealLines<T> {
    /// The transform of `n` numbers, at least one; `ends` is a factor of the results that have no mirrored one.
    pub fn new(n: usize, whole: bool, ends: T) -> Self {
        Self { plan: T::half_plan(n), whole, ends }
    }
}

impl<T: Number> Lines for RealLines<T> {
    type Part = T;
    type From = T;
    type To = Complex<T>;
    fn reads(&self) -> usize {
        self.plan.len()
    }
    fn writes(&self) -> usize {
        if self.whole { self.plan.len() } else { self.plan.complex_len() }
    }
    fn scratch(&self) -> usize {
        self.plan.get_scratch_len()
    }
    fn run(&self, from: &mut [T], to: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        let (n, half) = (self.plan.len(), self.plan.complex_len());
        let scratch = &mut scratch[..self.plan.get_scratch_len()];
        for (from, to) in from.chunks_exact_mut(n).zip(to.chunks_exact_mut(self.writes())) {
            let (first, rest) = to.split_at_mut(half);
            self.plan.process_with_scratch(from, first, scratch).expect("lines of the plan's lengths");
            ends(first, n, self.ends);
            for (mirrored, z) in rest.iter_mut().rev().zip(&first[1..]) {
                *mirrored = z.conj();
            }
        }
    }
}

/// The inverse of [`RealLines`]: `n` real numbers of the first `n / 2 + 1` of their transform. The imaginary parts of
/// the first one and, if `n` is even, of the last one count as 0.
pub struct HalfLines<T> {
    plan: Arc<dyn ComplexToReal<T>>,
    ends: T,
}

impl<T: Number> HalfLines<T> {
    /// The transform to `n` numbers, at least one; `ends` is a factor of the operands that have no mirrored one.
    pub fn new(n: usize, ends: T) -> Self {
        Self { plan: T::real_plan(n), ends }
    }
}

impl<T: Number> Lines for HalfLines<T> {
    type Part = T;
    type From = Complex<T>;
    type To = T;
    fn reads(&self) -> usize {
        self.plan.complex_len()
    }
    fn writes(&self) -> usize {
        self.plan.len()
    }
    fn scratch(&self) -> usize {
        self.plan.get_scratch_len()
    }
    fn run(&self, from: &mut [Complex<T>], to: &mut [T], scratch: &mut [Complex<T>]) {
        let (half, n) = (self.plan.complex_len(), self.plan.len());
        let scratch = &mut scratch[..self.plan.get_scratch_len()];
        for (from, to) in from.chunks_exact_mut(half).zip(to.chunks_exact_mut(n)) {
            ends(from, n, self.ends);
            from[0].im = T::zero();
            if n.is_multiple_of(2) {
                from[half - 1].im = T::zero();
            }
            self.plan.process_with_scratch(from, to, scratch).expect("lines of the plan's lengths");
        }
    }
}

#[cfg(test)]
mod tests {
    use rustfft::num_traits::Zero;

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
        lines.run(&mut from.to_vec(), &mut to, &mut vec![zero; lines.scratch()]);
        to
    }

    fn close(a: &[C], b: &[C]) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-11 * a.norm().max(1.0)), "{a:?} {b:?}");
    }

    #[test]
    fn lines_are_what_the_definition_says() {
        let zero = C::new(0.0, 0.0);
        for n in [1, 2, 3, 4, 5, 8, 13, 16, 60, 101, 107, 128, 337] {
            let x: Vec<C> = (0..n).map(|i| C::new((i as f64).sin(), (3.0 * i as f64).cos())).collect();
            let real: Vec<f64> = x.iter().map(|z| z.re).collect();
            let of_real: Vec<C> = real.iter().map(|&re| re.into()).collect();
            for (inverse, sign) in [(false, -1.0), (true, 1.0)] {
                let lines = ComplexLines::new(n, inverse);
                close(&run(&lines, &x, zero), &transform(&x, sign));
                let (mut to, mut scratch) = (vec![zero; 2 * n], vec![zero; lines.scratch()]);
                lines.run_from(&[&x[..], &of_real].concat(), &mut to, &mut scratch);
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
