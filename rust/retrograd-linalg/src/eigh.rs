//! Eigenvalues and eigenvectors of Hermitian matrices.

use std::mem::MaybeUninit;

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::{temp_mat_scratch, temp_mat_uninit};
use faer::mat::AsMatMut;
use faer::traits::ComplexField;
use faer::traits::ext::*;
use faer::{MatMut, MatRef, Par};
use retrograd_kernels::real::{Real, Ring};

use crate::number::{Number, Scale, all_finite};
use crate::{Scalar, diagonal, hermitian, householder, real_parts, tridiagonal};

/// A number whose loops and whose parts' loops run in vectors.
pub trait InVectors: Number<Real: Real + Into<f64>> + Scalar<Real = <Self as ComplexField>::Real> {}
impl<T: Number<Real: Real + Into<f64>> + Scalar<Real = <T as ComplexField>::Real>> InVectors for T {}

/// Matrices of at least so many rows leave the near caches: faer's reduction reads one triangle alone, and its divide
/// and conquer, of vectors, consists of products of large matrices. Without vectors, and with them.
const LARGE: [usize; 2] = [320, 256];
/// The same of complex matrices: our loops over complex numbers do not run in vectors, faer's do.
const LARGE_COMPLEX: usize = 48;

fn is_large<T: Number>(n: usize, vectors: bool) -> bool {
    n >= if T::IS_REAL { LARGE[usize::from(vectors)] } else { LARGE_COMPLEX }
}

/// Bytes of scratch for a matrix of `n` rows.
pub fn scratch<T: Number>(n: usize, vectors: bool) -> usize {
    let bytes = match vectors {
        _ if n == 0 => return 0,
        true if is_large::<T>(n, true) => {
            self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default())
        }
        false if is_large::<T>(n, false) => StackReq::all_of(&[
            temp_mat_scratch::<T>(n, n),
            temp_mat_scratch::<T>(1, n),
            temp_mat_scratch::<T::Real>(n, 1),
            tridiag_in_place_scratch::<T>(n, Par::Seq, Default::default()),
        ]),
        _ => StackReq::all_of(&[
            StackReq::new::<T>(n * n),
            StackReq::new::<T>(n),
            StackReq::new::<T::Real>(n),
            StackReq::new::<T>(room_of(n)),
        ]),
    };
    bytes.unaligned_bytes_required()
}

/// Numbers of scratch for the reduction, and then for its reflections.
fn room_of(n: usize) -> usize {
    hermitian::scratch(n).max(householder::scratch(n, n))
}

/// The eigenvalues in ascending order, and orthonormal eigenvectors as the columns of `v`, of the matrix whose lower
/// triangle `a` has, of which anything may be left; `room` takes `n` numbers. Whether that succeeded: not for matrices
/// with infinities or NaN.
pub fn eigh<T: InVectors>(
    n: usize,
    a: &mut [T],
    values: &mut [<T as ComplexField>::Real],
    v: Option<&mut [T]>,
    room: &mut [T],
    scratch: &mut [MaybeUninit<u8>],
) -> bool {
    if n == 0 {
        return true;
    }
    let column = |j: usize| j * n + j..(j + 1) * n;
    if !(0..n).all(|j| all_finite(&a[column(j)])) {
        return false;
    }
    let scale = Scale::of((0..n).map(|j| &a[column(j)]));
    (0..n).for_each(|j| scale.divide(&mut a[column(j)]));
    let found = near_one(n, a, values, v, room, scratch);
    scale.multiply(&mut values[..n]);
    found
}

/// [`eigh`] of a matrix whose numbers are near 1.
fn near_one<T: InVectors>(
    n: usize,
    a: &[T],
    values: &mut [<T as ComplexField>::Real],
    v: Option<&mut [T]>,
    room: &mut [T],
    scratch: &mut [MaybeUninit<u8>],
) -> bool {
    let stack = MemStack::new(scratch);
    if !is_large::<T>(n, v.is_some()) {
        return by_rotations(n, a, values, v, stack);
    }
    let a = MatRef::from_column_major_slice(a, n, n);
    let Some(v) = v else { return only_values(a, values, stack) };
    let v = MatMut::from_column_major_slice_mut(v, n, n);
    let done = self_adjoint_evd(a, diagonal(&mut room[..n]), Some(v), Par::Seq, stack, Default::default()).is_ok();
    real_parts(&room[..n], values);
    done
}

/// [`eigh`] of a large matrix without vectors.
fn only_values<T: Number>(a: MatRef<'_, T>, values: &mut [T::Real], stack: &mut MemStack) -> bool {
    let n = a.nrows();
    // SAFETY: every element is written before it is read: the triangle here, reflections by the reduction, and the
    // numbers beside the diagonal below.
    let (mut reduced, stack) = unsafe { temp_mat_uninit::<T, _, _>(n, n, stack) };
    // SAFETY: as above.
    let (mut reflections, stack) = unsafe { temp_mat_uninit::<T, _, _>(1, n - 1, stack) };
    // SAFETY: as above.
    let (mut beside, stack) = unsafe { temp_mat_uninit::<T::Real, _, _>(n, 1, stack) };
    let (mut reduced, reflections) = (reduced.as_mat_mut(), reflections.as_mat_mut());
    reduced.copy_from_triangular_lower(a);
    tridiag_in_place(reduced.as_mut(), reflections, Par::Seq, stack, Default::default());
    let beside = beside.as_mat_mut().col_mut(0).try_as_col_major_mut().expect("a column").as_slice_mut();
    for i in 0..n {
        values[i] = reduced[(i, i)].real();
        // The matrix with magnitudes beside the diagonal has the same eigenvalues.
        beside[i] = if i + 1 < n { reduced[(i + 1, i)].abs() } else { T::Real::zero() };
    }
    let (values, beside) = (&mut values[..n], &mut beside[..n - 1]);
    all_finite(values) && all_finite(beside) && tridiagonal::values(values, beside)
}

/// [`eigh`] by rotations of the reflections' product.
fn by_rotations<T: InVectors>(
    n: usize,
    a: &[T],
    values: &mut [<T as ComplexField>::Real],
    v: Option<&mut [T]>,
    stack: &mut MemStack,
) -> bool {
    let (mut f, stack) = stack.make_with(n * n, |_| T::ZERO);
    for j in 0..n {
        f[j * n + j..(j + 1) * n].copy_from_slice(&a[j * n + j..(j + 1) * n]);
        f[j * n..j * n + j].iter_mut().zip(a[j..].iter().step_by(n)).for_each(|(to, x)| *to = Scalar::conj(*x));
    }
    let (mut tau, stack) = stack.make_with(n, |_| T::ZERO);
    let (mut beside, stack) = stack.make_with(n, |_| <<T as Scalar>::Real as Ring>::ZERO);
    let (mut room, _) = stack.make_with(room_of(n), |_| T::ZERO);
    hermitian::tridiagonalize(n, &mut f, &mut tau, &mut room);
    let (values, beside) = (&mut values[..n], &mut beside[..n - 1]);
    values.iter_mut().zip(f.iter().step_by(n + 1)).for_each(|(to, x)| *to = x.real());
    beside.iter_mut().zip(f[1..].iter().step_by(n + 1)).for_each(|(to, x)| *to = x.real());
    if !all_finite(values) || !all_finite(beside) {
        return false;
    }
    let Some(v) = v else { return tridiagonal::values(values, beside) };
    // The reflections are columns of one row less, and so is their product, which is then put in its place.
    let m = n - 1;
    for j in 0..m {
        f.copy_within(j * n + 1..(j + 1) * n, j * m);
    }
    householder::product(m, m, &f[..m * m], &tau[..m], &mut v[..m * m], &mut room);
    for j in (0..m).rev() {
        v.copy_within(j * m..(j + 1) * m, (j + 1) * n + 1);
        v[(j + 1) * n] = T::ZERO;
    }
    v[..n].fill(T::ZERO);
    v[0] = T::ONE;
    let parts = size_of::<T>() / size_of_val(&values[0]);
    // SAFETY: a number is one real number, or two.
    let parts = unsafe { std::slice::from_raw_parts_mut(v.as_mut_ptr().cast(), n * n * parts) };
    tridiagonal::vectors(values, beside, parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::{adjoint, distance, noise, product};
    use faer::{c32, c64};

    fn check<T: InVectors + Number<Real: Into<f64>>>(n: usize, a: &[T], near: f64) {
        let (mut w, mut v) = (vec![<T as ComplexField>::Real::zero(); n], vec![T::zero(); n * n]);
        let mut bytes = vec![MaybeUninit::uninit(); scratch::<T>(n, true)];
        let mut room = vec![T::zero(); n];
        assert!(eigh(n, &mut a.to_vec(), &mut w, Some(&mut v), &mut room, &mut bytes));
        let scaled: Vec<T> = v.iter().enumerate().map(|(i, v)| v.mul_real(w[i / n])).collect();
        assert!(distance(&product(n, n, n, a, &v), &scaled) < near, "{n}");
        let one: Vec<T> = (0..n * n).map(|i| if i / n == i % n { T::one() } else { T::zero() }).collect();
        assert!(distance(&product(n, n, n, &adjoint(n, n, &v), &v), &one) < near, "{n}: orthonormal");
        assert!(w.windows(2).all(|w| w[0] <= w[1]));
        let mut only = vec![<T as ComplexField>::Real::zero(); n];
        let mut bytes = vec![MaybeUninit::uninit(); scratch::<T>(n, false)];
        assert!(eigh(n, &mut a.to_vec(), &mut only, None, &mut room, &mut bytes));
        assert!(w.iter().zip(&only).all(|(a, b)| Into::<f64>::into((*a - *b).abs()) < near));
    }

    fn symmetric<T: Number>(n: usize) -> Vec<T> {
        let half = noise::<T>(n * n, 2);
        half.iter().zip(adjoint(n, n, &half)).map(|(a, b)| *a + b).collect()
    }

    #[test]
    fn vectors_are_multiplied_by_values() {
        for n in [1, 2, 3, 8, 33, 140] {
            check(n, &symmetric::<f64>(n), 1e-11);
            check(n, &symmetric::<c64>(n), 1e-11);
            check(n, &symmetric::<f32>(n), 3e-3);
            check(n, &symmetric::<c32>(n), 3e-3);
        }
        let mut w = [0.0];
        assert!(!eigh(1, &mut [f64::NAN], &mut w, None, &mut [0.0], &mut []));
    }

    #[test]
    fn large_matrices_go_another_way() {
        LARGE.into_iter().for_each(|n| check(n, &symmetric::<f64>(n), 1e-10));
    }

    /// Equal eigenvalues, parts that have nothing to do with each other, graded rows, zeros, large and small numbers.
    #[test]
    fn matrices_that_are_hard() {
        let n = 40;
        let a = symmetric::<f64>(n);
        let of = |f: &dyn Fn(usize, usize) -> f64| (0..n * n).map(|k| f(k / n, k % n)).collect::<Vec<f64>>();
        check(n, &of(&|_, _| 0.0), 1e-12);
        check(n, &of(&|_, _| 1.0), 1e-12);
        check(n, &of(&|i, j| f64::from(i == j)), 1e-12);
        check(n, &of(&|i, j| if i / 7 == j / 7 { a[i * n + j] } else { 0.0 }), 1e-12);
        check(n, &of(&|i, j| a[i * n + j] * 0.3f64.powi((i + j) as i32)), 1e-12);
        check(n, &of(&|i, j| a[i * n + j] * 0.3f64.powi((2 * n - i - j) as i32)), 1e-12);
        check(n, &of(&|i, j| if i.abs_diff(j) == 1 { 1.0 } else { 0.0 }), 1e-12);
        check(n, &of(&|i, j| if i == j { i.abs_diff(n / 2) as f64 } else { f64::from(i.abs_diff(j) == 1) }), 1e-12);
        check(n, &a.iter().map(|x| x * 1e-200).collect::<Vec<_>>(), 1e-12);
        // The largest eigenvalue is more than a number can be.
        for vectors in [false, true] {
            let (mut most, mut w, mut v) = ([f64::MAX; 9], [0.0; 3], [0.0; 9]);
            let mut bytes = vec![MaybeUninit::uninit(); scratch::<f64>(3, vectors)];
            assert!(eigh(3, &mut most, &mut w, vectors.then_some(&mut v[..]), &mut [0.0; 3], &mut bytes));
            assert!(w[..2].iter().all(|w| w.abs() < 1e-15 * f64::MAX) && w[2] == f64::INFINITY);
            assert!(v.iter().all(|v| v.is_finite()));
        }
        let (mut w, mut v) = (vec![0.0; n], vec![0.0; n * n]);
        let mut bytes = vec![MaybeUninit::uninit(); scratch::<f64>(n, true)];
        let large: Vec<f64> = a.iter().map(|x| x * 1e200).collect();
        assert!(eigh(n, &mut large.clone(), &mut w, Some(&mut v), &mut vec![0.0; n], &mut bytes));
        let back: Vec<f64> = v.iter().enumerate().map(|(i, v)| v * (w[i / n] * 1e-200)).collect();
        assert!(distance(&product(n, n, n, &a, &v), &back) < 1e-11);
    }
}
