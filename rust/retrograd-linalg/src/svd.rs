//! Singular values and vectors.

use std::mem::MaybeUninit;

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::svd::bidiag::{bidiag_in_place, bidiag_in_place_scratch};
use faer::linalg::svd::{ComputeSvdVectors, SvdParams, svd as decompose, svd_scratch};
use faer::traits::ComplexField;
use faer::traits::ext::*;
use faer::{Auto, MatMut, MatRef, Par, Spec};

use crate::eigh::InVectors;
use crate::number::{Number, Scale, all_finite};
use crate::{bidiagonal, diagonal, householder, real_parts};

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
/// 128, 200 rows of float32 have halves of 100, and all takes 7.0 ms; where these are halved once more, 4.9. 80 rows of
/// float64 take 0.65 ms as a whole and 0.56 by halves, 48 rows as long either way.
const WORTH_HALVES: usize = 48;

/// A matrix with so many times as many rows as columns becomes triangular before it becomes bidiagonal.
const WORTH_TRIANGLE: usize = 2;

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
    let all = svd_scratch::<T>(m, n, vectors.faer(), vectors.faer(), Par::Seq, params);
    if vectors != Vectors::None {
        return all.unaligned_bytes_required();
    }
    let (m, n) = (m.max(n), m.min(n));
    let reduced = match T::IS_REAL {
        true => StackReq::EMPTY,
        false => bidiag_in_place_scratch::<T>(m, n, Par::Seq, Default::default()),
    };
    let only = StackReq::all_of(&[
        StackReq::new::<T>(m * n + 3 * n),
        StackReq::new::<T>(room_of(m, n)),
        StackReq::new::<f64>(2 * n),
        reduced,
    ]);
    all.or(only).unaligned_bytes_required()
}

/// Numbers of scratch to make a matrix triangular, and then bidiagonal.
fn room_of(m: usize, n: usize) -> usize {
    householder::scratch(m, n).max(bidiagonal::scratch(m, n))
}

/// The singular values of a matrix, without vectors; false if they were not found.
fn only_values<T: InVectors>(
    [m, n]: [usize; 2],
    a: &[T],
    values: &mut [<T as ComplexField>::Real],
    stack: &mut MemStack,
) -> bool {
    let (rows, columns) = (m.max(n), m.min(n));
    let (mut f, stack) = stack.make_with(m * n, |_| T::ZERO);
    if m >= n {
        f.copy_from_slice(a);
    } else {
        // The transpose has the same.
        for (to, i) in f.chunks_exact_mut(rows).zip(0..) {
            to.iter_mut().zip(a[i..].iter().step_by(m)).for_each(|(to, x)| *to = *x);
        }
    }
    let (mut beside, stack) = stack.make_with(3 * columns, |_| T::ZERO);
    let (mut room, stack) = stack.make_with(room_of(rows, columns), |_| T::ZERO);
    let (mut numbers, stack) = stack.make_with(2 * columns, |_| 0.0);
    let (tau, beside) = beside.split_at_mut(columns);
    let (d, e) = beside.split_at_mut(columns);
    let mut left = rows;
    if rows >= WORTH_TRIANGLE * columns {
        householder::factor(rows, columns, &mut f, tau, &mut room);
        left = columns;
        for j in 0..columns {
            f.copy_within(j * rows..j * rows + j + 1, j * columns);
            f[j * columns + j + 1..(j + 1) * columns].fill(T::ZERO);
        }
    }
    let f = &mut f[..left * columns];
    if T::IS_REAL {
        bidiagonal::reduce(left, columns, f, d, e, &mut room);
    } else {
        // Our loops over complex numbers do not run in vectors, faer's do.
        let [tau, others] = [tau, &mut *e].map(|x| {
            let count = x.len();
            MatMut::from_column_major_slice_mut(x, 1, count)
        });
        let others = others.subcols_mut(0, columns - 1);
        let all = MatMut::from_column_major_slice_mut(&mut *f, left, columns);
        bidiag_in_place(all, tau, others, Par::Seq, stack, Default::default());
        d.iter_mut().zip(f.iter().step_by(left + 1)).for_each(|(to, x)| *to = *x);
        e.iter_mut().zip(f[left.min(f.len())..].iter().step_by(left + 1)).for_each(|(to, x)| *to = *x);
    }
    // The matrix of their magnitudes has the same singular values.
    let all = d.iter().chain(&e[..columns - 1]);
    numbers.iter_mut().zip(all).for_each(|(to, x)| *to = ComplexField::abs_impl(x).into());
    if !numbers.iter().all(|x| x.is_finite()) {
        return false;
    }
    let (d, e) = numbers[..2 * columns - 1].split_at_mut(columns);
    let found = bidiagonal::values(d, e, <T as ComplexField>::Real::epsilon_impl().into());
    values.iter_mut().zip(d).for_each(|(to, x)| *to = <T as ComplexField>::Real::from_f64_impl(*x));
    found
}

/// The singular values of `a` in descending order, and if wanted its left and right singular vectors, as the columns of
/// `u` and `v`; `room` takes as many numbers as there are values. What is left of `a` may be anything. Returns 0,
/// [`NOT_FINITE`], or 1 if the iteration did not converge.
#[allow(clippy::too_many_arguments)]
pub fn svd<T: InVectors>(
    m: usize,
    n: usize,
    a: &mut [T],
    values: &mut [<T as ComplexField>::Real],
    vectors: Option<(&mut [T], &mut [T])>,
    room: &mut [T],
    scratch: &mut [MaybeUninit<u8>],
) -> i32 {
    if !all_finite(a) {
        return NOT_FINITE;
    }
    let (k, scale) = (m.min(n), Scale::of([&*a]));
    scale.divide(a);
    if k > 0 && vectors.is_none() && only_values([m, n], a, &mut values[..k], MemStack::new(scratch)) {
        scale.multiply(&mut values[..k]);
        return 0;
    }
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
    scale.multiply(values);
    i32::from(!done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::{adjoint, distance, noise, product};
    use faer::c64;

    fn check<T: InVectors>(m: usize, n: usize, vectors: Vectors) {
        let a = noise::<T>(m * n, 3);
        let k = m.min(n);
        let (nu, nv) = if vectors == Vectors::Full { (m, n) } else { (k, k) };
        let (mut s, mut u, mut v) =
            (vec![<T as ComplexField>::Real::zero(); k], vec![T::one(); m * nu], vec![T::one(); n * nv]);
        let mut room = vec![T::zero(); k];
        let mut bytes = vec![MaybeUninit::uninit(); scratch::<T>(m, n, vectors)];
        assert!(svd(m, n, &mut a.clone(), &mut s, Some((&mut u, &mut v)), &mut room, &mut bytes) == 0);
        let us: Vec<T> = u[..m * k].iter().enumerate().map(|(i, u)| u.mul_real(s[i / m])).collect();
        assert!(distance(&product(m, k, n, &us, &adjoint(n, k, &v[..n * k])), &a) < 1e-11, "{m} {n}");
        let identity =
            |n: usize| (0..n * n).map(|i| if i / n == i % n { T::one() } else { T::zero() }).collect::<Vec<T>>();
        assert!(distance(&product(nu, m, nu, &adjoint(m, nu, &u), &u), &identity(nu)) < 1e-11);
        assert!(distance(&product(nv, n, nv, &adjoint(n, nv, &v), &v), &identity(nv)) < 1e-11);
        let mut only = vec![<T as ComplexField>::Real::zero(); k];
        let mut bytes = vec![MaybeUninit::uninit(); scratch::<T>(m, n, Vectors::None)];
        assert!(svd(m, n, &mut a.clone(), &mut only, None, &mut room, &mut bytes) == 0);
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
        assert_eq!(svd(1, 1, &mut [f64::INFINITY], &mut [0.0], None, &mut [0.0], &mut []), NOT_FINITE);
    }
}
