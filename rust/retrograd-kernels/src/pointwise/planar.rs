//! Loops over bodies that take the parts of complex numbers in vectors, for functions of complex numbers that
//! `kernels::math` makes.
//!
//! The parts of a block are taken apart, so that a vector holds parts of one kind, and put together again.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use num_complex::Complex;

use super::super::real::{self, Real};
use super::super::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use super::walk::{Operand, Pieces, walk};
use crate::thresholds::pointwise::PLANAR;

/// A body over vectors of real and of imaginary parts. Implementors mark its functions `#[inline(always)]`.
pub trait Planar<T: Real>: Sync {
    /// The body.
    fn f<V: Vector<Elem = T>>(&self, re: V, im: V) -> (V, V);
    /// Whether the body is right for this number.
    fn holds(&self, re: T, im: T) -> bool;
    /// The function of other numbers.
    fn elsewhere(&self, z: Complex<f64>) -> Complex<f64>;
}

/// `o[..] = f(a[..])` over strided operands.
///
/// # Safety
/// As [`map1`](super::map1).
pub unsafe fn planar1<T: Real + Into<f64>, F: Planar<T>>(
    f: &F,
    sizes: &[usize],
    a: *const Complex<T>,
    a_strides: &[isize],
    o: *mut Complex<T>,
    o_strides: &[isize],
) {
    let body: Parts<F, T> = Parts { level: InstructionSet::detect(), f, dtype: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, [Operand::output(o, o_strides), Operand::input(a, a_strides)]) };
}

/// A body and the type of the parts, for the walk.
struct Parts<'f, F, T> {
    level: InstructionSet,
    f: &'f F,
    dtype: PhantomData<fn(T)>,
}

impl<T: Real + Into<f64>, F: Planar<T>> Pieces for Parts<'_, F, T> {
    unsafe fn run(&self, n: usize, p: &[*mut u8]) {
        // SAFETY: Row 1 and 2 are our 1 and 2.
        unsafe { for_isa(self.level, Row { f: self.f, n, a: p[1].cast_const().cast(), o: p[0].cast::<Complex<T>>() }) }
    }
}

/// Contiguous elements. Duties: 1. the input is readable and initialised, the output writable, for `n` elements; 2. the
/// output is the input, or disjoint from it.
struct Row<'f, F, T> {
    f: &'f F,
    n: usize,
    a: *const Complex<T>,
    o: *mut Complex<T>,
}

impl<T: Real + Into<f64>, F: Planar<T>> Task for Row<'_, F, T> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Row { f, n, a, o } = self;
        let (mut re, mut im) = ([T::ZERO; PLANAR], [T::ZERO; PLANAR]);
        for start in (0..n).step_by(PLANAR) {
            let m = PLANAR.min(n - start);
            // SAFETY: duty 1; nothing is written while the slice lives.
            let block = unsafe { std::slice::from_raw_parts(a.add(start), m) };
            let mut held = true;
            for i in 0..m {
                (re[i], im[i]) = (block[i].re, block[i].im);
                held &= f.holds(re[i], im[i]);
            }
            for i in (0..m).step_by(T::Vector::<S>::LEN) {
                // SAFETY: whole vectors fit the arrays, whose length is a multiple of every vector's.
                unsafe {
                    let (x, y) = (re.as_mut_ptr().add(i), im.as_mut_ptr().add(i));
                    let (u, v) = f.f(T::Vector::<S>::load(x), T::Vector::<S>::load(y));
                    u.store(x);
                    v.store(y);
                }
            }
            if !held {
                elsewhere(f, block, &mut re, &mut im);
            }
            for i in 0..m {
                // SAFETY: duty 1.
                unsafe { o.add(start + i).write(Complex { re: re[i], im: im[i] }) };
            }
        }
    }
}

/// The results of the numbers that the body is not for.
#[cold]
fn elsewhere<T: Real + Into<f64>, F: Planar<T>>(f: &F, block: &[Complex<T>], re: &mut [T], im: &mut [T]) {
    for (i, z) in block.iter().enumerate().filter(|(_, z)| !f.holds(z.re, z.im)) {
        let value = f.elsewhere(Complex { re: z.re.into(), im: z.im.into() });
        (re[i], im[i]) = (T::of(value.re), T::of(value.im));
    }
}

/// The magnitudes of complex numbers: `o[..] = |a[..]|` over strided operands.
///
/// # Safety
/// As [`map1`](super::map1).
pub unsafe fn magnitudes<T: Real>(
    sizes: &[usize],
    a: *const Complex<T>,
    a_strides: &[isize],
    o: *mut T,
    o_strides: &[isize],
) where
    Complex<T>: real::Complex<Real = T>,
{
    let body: Lengths<T> = Lengths { level: InstructionSet::detect(), dtype: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, [Operand::output(o, o_strides), Operand::input(a, a_strides)]) };
}

/// The type of the parts, for the walk.
struct Lengths<T> {
    level: InstructionSet,
    dtype: PhantomData<fn(T)>,
}

impl<T: Real> Pieces for Lengths<T>
where
    Complex<T>: real::Complex<Real = T>,
{
    unsafe fn run(&self, n: usize, p: &[*mut u8]) {
        // SAFETY: duty 1; elements of other sizes do not overlap, by duty 2.
        let row = unsafe {
            LengthsRow {
                a: std::slice::from_raw_parts(p[1].cast_const().cast::<Complex<T>>(), n),
                o: std::slice::from_raw_parts_mut(p[0].cast::<MaybeUninit<T>>(), n),
            }
        };
        // SAFETY: the task has no duties.
        unsafe { for_isa(self.level, row) }
    }
}

/// Contiguous elements.
struct LengthsRow<'a, T> {
    a: &'a [Complex<T>],
    o: &'a mut [MaybeUninit<T>],
}

impl<T: Real> Task for LengthsRow<'_, T>
where
    Complex<T>: real::Complex<Real = T>,
{
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let LengthsRow { a, o } = self;
        for (a, o) in a.chunks(PLANAR).zip(o.chunks_mut(PLANAR)) {
            let mut held = true;
            for i in 0..a.len() {
                let square = a[i].re.mul(a[i].re).add(a[i].im.mul(a[i].im));
                // Neither infinite nor without its digits.
                held &= (square > T::SQUARES[0]) & (square < T::SQUARES[1]);
                o[i].write(square.sqrt());
            }
            if !held {
                scaled_lengths(a, o);
            }
        }
    }
}

/// The magnitudes of numbers whose squares are too large or too small.
#[cold]
fn scaled_lengths<T: Real>(a: &[Complex<T>], o: &mut [MaybeUninit<T>])
where
    Complex<T>: real::Complex<Real = T>,
{
    for (a, o) in a.iter().zip(o) {
        o.write(real::Complex::abs(*a));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::math;
    use super::*;
    use crate::complex;

    struct Turned;
    impl<T: Real> Planar<T> for Turned {
        fn f<V: Vector<Elem = T>>(&self, re: V, im: V) -> (V, V) {
            (math::exp(re), -im)
        }
        fn holds(&self, re: T, _: T) -> bool {
            re > T::ZERO
        }
        fn elsewhere(&self, z: Complex<f64>) -> Complex<f64> {
            complex::exp(z)
        }
    }

    #[test]
    fn parts_come_back_in_their_places() {
        for n in [0, 1, 7, 16, 33, 2 * PLANAR + 5] {
            let a: Vec<Complex<f64>> = (0..n).map(|i| Complex::new(i as f64 % 9.0 - 2.0, 0.1 * i as f64)).collect();
            let expected = |z: Complex<f64>| match z.re > 0.0 {
                true => Complex::new(z.re.exp(), -z.im),
                false => complex::exp(z),
            };
            let mut out = vec![Complex::new(0.0, 0.0); 2 * n];
            // SAFETY: (1) `n` elements, every second one of the output; (2) disjoint; (3) distinct places.
            unsafe { planar1(&Turned, &[n], a.as_ptr(), &[1], out.as_mut_ptr(), &[2]) };
            let near = |x: Complex<f64>, y: Complex<f64>| (x.re - y.re).abs() <= 1e-14 * y.re.abs() && x.im == y.im;
            assert!((0..n).all(|i| near(out[2 * i], expected(a[i]))));
            let mut inside = a.clone();
            let p = inside.as_mut_ptr();
            // SAFETY: (1) `n` elements; (2) the output is the input; (3) contiguous.
            unsafe { planar1(&Turned, &[n], p.cast_const(), &[1], p, &[1]) };
            assert!((0..n).all(|i| near(inside[i], expected(a[i]))));
        }
    }

    #[test]
    fn magnitudes_of_all_sizes() {
        let a = [(3.0f32, 4.0), (0.0, -0.0), (3e38, 1e38), (3e-45, 4e-45), (f32::NAN, f32::INFINITY), (0.0, -2.0)];
        let a: Vec<Complex<f32>> = a.iter().cycle().take(3 * PLANAR).map(|&(x, y)| Complex::new(x, y)).collect();
        let mut out = vec![0.0; a.len()];
        // SAFETY: (1) as many elements; (2) disjoint; (3) contiguous.
        unsafe { magnitudes(&[a.len()], a.as_ptr(), &[1], out.as_mut_ptr(), &[1]) };
        assert!(
            out.iter().zip([5.0, 0.0, 3.1622777e38, 5e-45, f32::INFINITY, 2.0].iter().cycle()).all(|(x, y)| x == y)
        );
    }
}
