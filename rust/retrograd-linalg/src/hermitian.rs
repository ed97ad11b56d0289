//! Hermitian matrices become tridiagonal by Householder reflections.

use faer::traits::ext::*;
use retrograd_kernels::real::Real;
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::householder::reflection;
use crate::number::Number;

/// Columns whose products are added up together.
const COLUMNS: usize = 4;

/// The numbers of scratch for a matrix of `n` rows.
pub fn scratch(n: usize) -> usize {
    4 * n
}

/// Makes a column-major matrix, of which both triangles are there, `Q T Q^H` with a tridiagonal `T` of real numbers.
/// Its diagonal is that of `a` afterwards, the numbers beside it are below that, and further below are the reflections
/// whose product is `Q` without its first row and column, in LAPACK's format; `tau` has one number for each.
///
/// As LAPACK's `hetd2`, but that each column is read once: the change of the step before is made to it, and it is added
/// to the product with the next reflection.
pub fn tridiagonalize<T: Number + Scalar>(n: usize, a: &mut [T], tau: &mut [T], scratch: &mut [T]) {
    let (changes, scratch) = scratch.split_at_mut(2 * n);
    let (v, w) = scratch.split_at_mut(n);
    for k in 0..n {
        let (column, columns) = a[k * n..].split_at_mut(n);
        if k > 0 {
            // SAFETY: the task has no duties of its own.
            unsafe {
                for_isa(InstructionSet::detect(), Change { from: k, by: factors(n, k, changes), column, changes })
            };
        }
        column[k] = T::from_real_impl(&column[k].real());
        if k + 1 == n {
            break;
        }
        let (first, below) = column[k + 1..].split_first_mut().expect("a row for each reflection");
        (*first, tau[k]) = reflection(*first, below);
        v[k + 1] = T::ONE;
        v[k + 2..].copy_from_slice(below);
        let changes = &mut changes[..];
        // SAFETY: as above.
        unsafe { for_isa(InstructionSet::detect(), Step { n, k, columns, changes, tau: tau[k], v, w }) };
    }
}

/// Changes a column of a matrix, from row `from` on, by the two vectors of the step before, times the numbers `by`,
/// which are taken away.
pub(crate) struct Change<'a, T> {
    pub from: usize,
    pub by: [T; 2],
    pub column: &'a mut [T],
    /// Both vectors, one after the other, as long as the column.
    pub changes: &'a [T],
}

impl<T: Scalar> Task for Change<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Change { from, by, column, changes } = self;
        let n = column.len();
        // SAFETY: our duty 2; there are two columns of `n` elements, apart from this one.
        unsafe {
            let changes = changes[from..2 * n].as_ptr();
            T::add_columns::<S>(&mut column[from..], &[by[0].neg(), by[1].neg()], changes, n as isize);
        }
    }
}

/// What the change `v w^H + w v^H` takes from column `k` of `v` and of `w`.
#[inline(always)]
fn factors<T: Scalar>(n: usize, k: usize, changes: &[T]) -> [T; 2] {
    [n + k, k].map(|i| Scalar::conj(changes[i]))
}

/// Makes the change of the step before to the columns behind `k`, and the vectors of the next change out of reflection
/// `v`: they are `v` and `w = tau A v + alpha v`.
struct Step<'a, T> {
    n: usize,
    k: usize,
    columns: &'a mut [T],
    changes: &'a mut [T],
    tau: T,
    v: &'a [T],
    w: &'a mut [T],
}

impl<T: Scalar> Task for Step<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Step { n, k, columns, changes, tau, v, w } = self;
        let from = k + 1;
        let (v, w) = (&v[..n], &mut w[from..n]);
        w.fill(T::ZERO);
        for (some, first) in columns.chunks_mut(COLUMNS * n).zip((from..n).step_by(COLUMNS)) {
            if k > 0 {
                for (i, column) in some.chunks_exact_mut(n).enumerate() {
                    // SAFETY: our duty 2.
                    unsafe { Change { from, by: factors(n, first + i, changes), column, changes }.run::<S>() };
                }
            }
            let factors = &v[first..n.min(first + COLUMNS)];
            // SAFETY: our duty 2; there are as many columns of `n` elements, apart from the sums.
            unsafe { T::add_columns::<S>(w, factors, some[from..].as_ptr(), n as isize) };
        }
        w.iter_mut().for_each(|w| *w = w.mul(tau));
        let v = &v[from..];
        // SAFETY: our duty 2; a column of as many elements, apart from the sums.
        unsafe {
            let alpha = tau.mul(T::dot::<S>(w, v)).scale(T::Real::of(-0.5));
            T::add_columns::<S>(w, &[alpha], v.as_ptr(), 0);
        }
        changes[from..n].copy_from_slice(v);
        changes[n + from..2 * n].copy_from_slice(w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::householder;
    use crate::number::tests::{adjoint, distance, noise, product};
    use faer::{c32, c64};

    fn check<T: Number<Real: Into<f64>> + Scalar>(n: usize, near: f64) {
        let half = noise::<T>(n * n, 2);
        let a: Vec<T> = half.iter().zip(adjoint(n, n, &half)).map(|(a, b)| *a + b).collect();
        let (mut f, mut tau, mut room) = (a.clone(), vec![T::zero(); n - 1], vec![T::zero(); scratch(n)]);
        tridiagonalize(n, &mut f, &mut tau, &mut room);
        let mut t = vec![T::zero(); n * n];
        for i in 0..n {
            t[i * n + i] = f[i * n + i];
            if i + 1 < n {
                (t[i * n + i + 1], t[(i + 1) * n + i]) = (f[i * n + i + 1], f[i * n + i + 1]);
            }
        }
        assert!(t.iter().all(|x| Into::<f64>::into(x.imag()) == 0.0), "real numbers");
        let m = n - 1;
        let v: Vec<T> = (0..m * m).map(|i| f[i / m.max(1) * n + i % m.max(1) + 1]).collect();
        let mut part = vec![T::zero(); m * m];
        let mut room = vec![T::zero(); householder::scratch(m, m)];
        householder::product(m, m, &v, &tau, &mut part, &mut room);
        let mut q = vec![T::zero(); n * n];
        q[0] = T::one();
        (0..m * m).for_each(|i| q[(i / m + 1) * n + i % m + 1] = part[i]);
        let back = product(n, n, n, &product(n, n, n, &q, &t), &adjoint(n, n, &q));
        assert!(distance(&back, &a) < near, "{n}: {}", distance(&back, &a));
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        for n in [1, 2, 3, 4, 5, 6, 9, 17, 33, 70] {
            check::<f64>(n, 1e-12);
            check::<c64>(n, 1e-12);
            check::<f32>(n, 1e-3);
            check::<c32>(n, 1e-3);
        }
    }
}
