//! Singular values and vectors.

use std::mem::MaybeUninit;

use faer::dyn_stack::MemStack;
use faer::linalg::svd::{ComputeSvdVectors, SvdParams, svd as decompose, svd_scratch};
use faer::traits::ext::*;
use faer::{Auto, MatMut, MatRef, Par, Spec};

use crate::number::{Number, all_finite};
use crate::{diagonal, real_parts};

/// What [`svd`] returns for matrices with infinities or NaN.
pub const NOT_FINITE: i32 = -1;

/// Which singular vectors there are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    None,
    /// As many as there are singular values.
    Thin,
    /// A basis of each space.
    Full,
}

impl Vectors {
    fn faer(self) -> ComputeSvdVectors {
        match self {
            Vectors::None => ComputeSvdVectors::No,
            Vectors::Thin => ComputeSvdVectors::Thin,
            Vectors::Full => ComputeSvdVectors::Full,
        }
    }
}

/// Rows of a bidiagonal matrix from which on its decomposition is put together from those of its halves. With faer's
/// 128, 200 rows of float32 have halves of 100, and all takes 7.0 ms; with this they are halved once more, and 4.9.
const WORTH_HALVES: usize = 96;

/// faer's own, but for what is halved. Values alone are iterated for whatever the size: halves need vectors, and 200
/// rows take 3.8 ms with them and 3.1 without.
fn params<T: Number>(vectors: bool) -> Spec<SvdParams, T> {
    let mut params = <SvdParams as Auto<T>>::auto();
    params.recursion_threshold = if vectors { WORTH_HALVES } else { usize::MAX };
    Spec::new(params)
}

/// Bytes of scratch for a matrix of `m` rows.
pub fn scratch<T: Number>(m: usize, n: usize, vectors: Vectors) -> usize {
    let params = params::<T>(vectors != Vectors::None);
    svd_scratch::<T>(m, n, vectors.faer(), vectors.faer(), Par::Seq, params).unaligned_bytes_required()
}

/// The singular values of `a` in descending order, and if wanted its left and right singular vectors, as the columns of
/// `u` and `v`; `room` takes as many numbers as there are values. Returns 0, [`NOT_FINITE`], or 1 if
/// the iteration did not converge.
#[allow(clippy::too_many_arguments)]
pub fn svd<T: Number>(
    m: usize,
    n: usize,
    a: &[T],
    values: &mut [T::Real],
    vectors: Option<(&mut [T], &mut [T])>,
    room: &mut [T],
    scratch: &mut [MaybeUninit<u8>],
) -> i32 {
    if !all_finite(a) {
        return NOT_FINITE;
    }
    let k = m.min(n);
    let a = MatRef::from_column_major_slice(a, m, n);
    let (u, v) = match vectors {
        Some((u, v)) => {
            let columns = |x: &[T], rows: usize| x.len().checked_div(rows).unwrap_or(0);
            let (nu, nv) = (columns(u, m), columns(v, n));
            // Of a basis, faer counts on zeros where it writes none.
            u.fill(T::zero());
            v.fill(T::zero());
            (Some(MatMut::from_column_major_slice_mut(u, m, nu)), Some(MatMut::from_column_major_slice_mut(v, n, nv)))
        }
        None => (None, None),
    };
    let params = params(u.is_some());
    let done = decompose(a, diagonal(&mut room[..k]), u, v, Par::Seq, MemStack::new(scratch), params).is_ok();
    real_parts(&room[..k], values);
    i32::from(!done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::{adjoint, distance, noise, product};
    use faer::c64;

    fn check<T: Number<Real: Into<f64>>>(m: usize, n: usize, vectors: Vectors) {
        let a = noise::<T>(m * n, 3);
        let k = m.min(n);
        let (nu, nv) = if vectors == Vectors::Full { (m, n) } else { (k, k) };
        let (mut s, mut u, mut v) = (vec![T::Real::zero(); k], vec![T::one(); m * nu], vec![T::one(); n * nv]);
        let mut room = vec![T::zero(); k];
        let mut bytes = vec![MaybeUninit::uninit(); scratch::<T>(m, n, vectors)];
        assert!(svd(m, n, &a, &mut s, Some((&mut u, &mut v)), &mut room, &mut bytes) == 0);
        let us: Vec<T> = u[..m * k].iter().enumerate().map(|(i, u)| u.mul_real(s[i / m])).collect();
        assert!(distance(&product(m, k, n, &us, &adjoint(n, k, &v[..n * k])), &a) < 1e-11, "{m} {n}");
        let identity =
            |n: usize| (0..n * n).map(|i| if i / n == i % n { T::one() } else { T::zero() }).collect::<Vec<T>>();
        assert!(distance(&product(nu, m, nu, &adjoint(m, nu, &u), &u), &identity(nu)) < 1e-11);
        assert!(distance(&product(nv, n, nv, &adjoint(n, nv, &v), &v), &identity(nv)) < 1e-11);
        let mut only = vec![T::Real::zero(); k];
        assert!(svd(m, n, &a, &mut only, None, &mut room, &mut bytes) == 0);
        assert!(s.iter().zip(&only).all(|(a, b)| Into::<f64>::into((*a - *b).abs()) < 1e-11));
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        for (m, n) in [(1, 1), (2, 5), (5, 2), (7, 7), (40, 33), (3, 30), (140, 135)] {
            for vectors in [Vectors::Thin, Vectors::Full] {
                check::<f64>(m, n, vectors);
                check::<c64>(m, n, vectors);
            }
        }
        assert_eq!(svd(1, 1, &[f64::INFINITY], &mut [0.0], None, &mut [0.0], &mut []), NOT_FINITE);
    }
}
