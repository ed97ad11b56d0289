//! Eigenvectors of triangles in which pairs of conjugate eigenvalues have squares of two rows, by substitution.

use std::ops::{Div, Mul, Sub};

use faer::c64;
use retrograd_kernels::simd::{InstructionSet, Isa, Task, for_isa};

use crate::schur::step;

/// An eigenvalue, and what belongs to it: real, or one of a pair of conjugates.
trait Value: Copy + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    fn of(parts: [f64; 2]) -> Self;
    fn parts(self) -> [f64; 2];

    /// A size that no square overflows in.
    #[inline(always)]
    fn size(self) -> f64 {
        let [re, im] = self.parts();
        re.abs() + im.abs()
    }

    #[inline(always)]
    fn real(x: f64) -> Self {
        Self::of([x, 0.0])
    }
}

impl Value for f64 {
    #[inline(always)]
    fn of([re, _]: [f64; 2]) -> Self {
        re
    }
    #[inline(always)]
    fn parts(self) -> [f64; 2] {
        [self, 0.0]
    }
}

impl Value for c64 {
    #[inline(always)]
    fn of([re, im]: [f64; 2]) -> Self {
        c64::new(re, im)
    }
    #[inline(always)]
    fn parts(self) -> [f64; 2] {
        [self.re, self.im]
    }
}

/// Elements of a vector are kept below it; quotients of what is, are numbers.
const LARGE: f64 = 1e50;
/// A distance of eigenvalues that is less counts as this, and so does one that is next to nothing of an eigenvalue.
const TINY: f64 = 1e-80;

/// The eigenvectors of `t`, the Schur form of a real matrix of `n` rows in the layout of [`crate::schur::decompose`],
/// as the columns of `x`, whose numbers are all 0 before. Of a pair of conjugate `values`, the first column has the
/// real part of the vector of the first, and the second its imaginary part. The vectors have any length.
///
/// Column by column as LAPACK's `trevc`: numbers behind are known, and take their part of all before them.
pub fn substitute(n: usize, t: &[f64], values: &[c64], x: &mut [f64]) {
    // SAFETY: the task has no duties of its own.
    unsafe { for_isa(InstructionSet::detect(), All { n, t, values, x }) }
}

struct All<'a> {
    n: usize,
    t: &'a [f64],
    values: &'a [c64],
    x: &'a mut [f64],
}

impl Task for All<'_> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let All { n, t, values, x } = self;
        let t = Triangle { step: step(n), t };
        let mut k = 0;
        while k < n {
            let value = values[k];
            if value.im == 0.0 {
                let mut x = Vector { re: &mut x[k * n..][..n], im: &mut [] };
                x.set(k, 1.0);
                x.subtract(k, 1.0, t.column(k));
                t.solve(k, value.re, x);
                k += 1;
            } else {
                let (re, im) = x[k * n..][..2 * n].split_at_mut(n);
                // The vector of the square itself, by the row that is farther from 0.
                let (a, b, c, d) = (t.at(k, k), t.at(k, k + 1), t.at(k + 1, k), t.at(k + 1, k + 1));
                let [first, second] = if b.abs() >= c.abs() {
                    [c64::new(1.0, 0.0), c64::new((value.re - a) / b, value.im / b)]
                } else {
                    [c64::new((value.re - d) / c, value.im / c), c64::new(1.0, 0.0)]
                };
                let mut x = Vector { re, im };
                for (i, part) in [(k, first), (k + 1, second)] {
                    x.set(i, part);
                    x.subtract(k, part, t.column(i));
                }
                t.solve(k, value, x);
                k += 2;
            }
        }
    }
}

struct Triangle<'a> {
    step: usize,
    t: &'a [f64],
}

impl<'a> Triangle<'a> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.t[j * self.step + i]
    }

    #[inline(always)]
    fn column(&self, j: usize) -> &'a [f64] {
        &self.t[j * self.step..][..self.step]
    }

    /// Divides the first `rows` numbers of a vector by the matrix of as many rows and columns less `value`.
    #[inline(always)]
    fn solve<V: Value>(&self, rows: usize, value: V, mut x: Vector) {
        let least = (f64::EPSILON * value.size()).max(TINY);
        let mut end = rows;
        while end > 0 {
            let j = end - 1;
            let last = x.at::<V>(j);
            if j == 0 || self.at(j, j - 1) == 0.0 {
                let last = last / apart(V::real(self.at(j, j)) - value, least);
                x.set(j, last);
                x.subtract(j, last, self.column(j));
                x.bound(last.size());
                end = j;
            } else {
                let i = j - 1;
                let first = x.at::<V>(i);
                let (a, d) = (V::real(self.at(i, i)) - value, V::real(self.at(j, j)) - value);
                let (b, c) = (V::real(self.at(i, j)), V::real(self.at(j, i)));
                // Elimination with the row whose first number is larger.
                let ([p, q, of], [r, s, from]) =
                    if a.size() >= c.size() { ([a, b, first], [c, d, last]) } else { ([c, d, last], [a, b, first]) };
                let p = apart(p, least);
                let by = r / p;
                let last = (from - by * of) / apart(s - by * q, least);
                let first = (of - q * last) / p;
                x.set(j, last);
                x.set(i, first);
                x.subtract(i, last, self.column(j));
                x.subtract(i, first, self.column(i));
                x.bound(first.size().max(last.size()));
                end = i;
            }
        }
    }
}

/// A distance of eigenvalues, or the least that counts as one.
#[inline(always)]
fn apart<V: Value>(x: V, least: f64) -> V {
    if x.size() < least { V::real(least) } else { x }
}

/// The real and the imaginary parts of a vector, if it has these.
struct Vector<'a> {
    re: &'a mut [f64],
    im: &'a mut [f64],
}

impl Vector<'_> {
    #[inline(always)]
    fn at<V: Value>(&self, i: usize) -> V {
        V::of([self.re[i], if self.im.is_empty() { 0.0 } else { self.im[i] }])
    }

    #[inline(always)]
    fn set<V: Value>(&mut self, i: usize, value: V) {
        let [re, im] = value.parts();
        self.re[i] = re;
        if !self.im.is_empty() {
            self.im[i] = im;
        }
    }

    /// Subtracts `by` times a column of the matrix from the first `rows` numbers.
    #[inline(always)]
    fn subtract<V: Value>(&mut self, rows: usize, by: V, column: &[f64]) {
        let [by_re, by_im] = by.parts();
        let column = &column[..rows];
        if self.im.is_empty() {
            for (x, t) in self.re[..rows].iter_mut().zip(column) {
                *x -= by_re * t;
            }
        } else {
            for ((x, y), t) in self.re[..rows].iter_mut().zip(&mut self.im[..rows]).zip(column) {
                *x -= by_re * t;
                *y -= by_im * t;
            }
        }
    }

    /// Scales the vector, one number of which has `size`, if that is too large.
    #[inline(always)]
    fn bound(&mut self, size: f64) {
        if size > LARGE {
            self.scale(size.recip());
        }
    }

    #[inline(never)]
    fn scale(&mut self, by: f64) {
        self.re.iter_mut().chain(&mut *self.im).for_each(|x| *x *= by);
    }
}
