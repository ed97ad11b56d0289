//! Eigenvalues and eigenvectors of Hermitian matrices.

use std::mem::MaybeUninit;

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::{temp_mat_scratch, temp_mat_uninit};
use faer::mat::AsMatMut;
use faer::traits::ext::*;
use faer::{MatMut, MatRef, Par};

use crate::number::{Number, all_finite};
use crate::{diagonal, real_parts, tridiagonal};

/// Bytes of scratch for a matrix of `n` rows.
pub fn scratch<T: Number>(n: usize, vectors: bool) -> usize {
    let bytes = match vectors {
        _ if n == 0 => return 0,
        true => self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default()),
        false => StackReq::all_of(&[
            temp_mat_scratch::<T>(n, n),
            temp_mat_scratch::<T>(1, n),
            temp_mat_scratch::<T::Real>(n, 1),
            tridiag_in_place_scratch::<T>(n, Par::Seq, Default::default()),
        ]),
    };
    bytes.unaligned_bytes_required()
}

/// The eigenvalues in ascending order, and orthonormal eigenvectors as the columns of `v`, of the matrix whose lower
/// triangle `a` has; `room` takes `n` numbers. Whether that succeeded: not for matrices with infinities or NaN.
pub fn eigh<T: Number>(
    n: usize,
    a: &[T],
    values: &mut [T::Real],
    v: Option<&mut [T]>,
    room: &mut [T],
    scratch: &mut [MaybeUninit<u8>],
) -> bool {
    if n == 0 {
        return true;
    }
    if !(0..n).all(|j| all_finite(&a[j * n + j..(j + 1) * n])) {
        return false;
    }
    let a = MatRef::from_column_major_slice(a, n, n);
    let stack = MemStack::new(scratch);
    let Some(v) = v else { return only_values(a, values, stack) };
    let v = MatMut::from_column_major_slice_mut(v, n, n);
    let done = self_adjoint_evd(a, diagonal(&mut room[..n]), Some(v), Par::Seq, stack, Default::default()).is_ok();
    real_parts(&room[..n], values);
    done
}

/// [`eigh`] without vectors.
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
    tridiagonal::values(&mut values[..n], &mut beside[..n - 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::{adjoint, distance, noise, product};
    use faer::c64;

    fn check<T: Number<Real: Into<f64>>>(n: usize) {
        let half = noise::<T>(n * n, 2);
        let a: Vec<T> = half.iter().zip(adjoint(n, n, &half)).map(|(a, b)| *a + b).collect();
        let (mut w, mut v) = (vec![T::Real::zero(); n], vec![T::zero(); n * n]);
        let mut bytes = vec![MaybeUninit::uninit(); scratch::<T>(n, true)];
        let mut room = vec![T::zero(); n];
        assert!(eigh(n, &a, &mut w, Some(&mut v), &mut room, &mut bytes));
        let scaled: Vec<T> = v.iter().enumerate().map(|(i, v)| v.mul_real(w[i / n])).collect();
        assert!(distance(&product(n, n, n, &a, &v), &scaled) < 1e-11, "{n}");
        assert!(w.windows(2).all(|w| w[0] <= w[1]));
        let mut only = vec![T::Real::zero(); n];
        assert!(eigh(n, &a, &mut only, None, &mut room, &mut bytes));
        assert!(w.iter().zip(&only).all(|(a, b)| Into::<f64>::into((*a - *b).abs()) < 1e-11));
    }

    #[test]
    fn vectors_are_multiplied_by_values() {
        for n in [1, 2, 3, 8, 33, 140] {
            check::<f64>(n);
            check::<c64>(n);
        }
        let mut w = [0.0];
        assert!(!eigh(1, &[f64::NAN], &mut w, None, &mut [0.0], &mut []));
    }
}
