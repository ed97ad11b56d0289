//! Solutions by least squares and pseudoinverses of matrices whose full rank a QR decomposition proves.
//!
//! The smallest singular value of `A = Q R` is at least `1 / |R^-1|`, and the largest at most `|R|`, in the Frobenius
//! norm. If these bounds are apart by more than a tolerance and rounding, no singular value counts as 0, and `R` and
//! `Q` solve. Otherwise nothing is said of the rank. All matrices have at least as many rows as columns, and wide ones
//! are given as their adjoints.

use retrograd_kernels::matmul::Layout;

use crate::Scalar;
use crate::blocks::{Block, part};
use crate::householder;
use crate::number::{Number, all_finite, norm};
use crate::triangular::{self, Triangle};

/// Singular values up to the larger of `atol` and `rtol` times the largest one count as 0.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    pub atol: f64,
    pub rtol: f64,
}

/// Columns of the inverse of a triangle that are computed together.
const PANEL: usize = 32;

/// What rounding makes of the singular values of a matrix with `m` rows, next to its norm: of those that a QR
/// decomposition leaves in `R`, and of those that are computed. Errors grow as the root of their number; up to 300 rows
/// of float32 they were less than a quarter of this (`rounding_is_less_than_is_allowed_for`).
fn rounding<T: Scalar<Real: Into<f64>>>(m: usize) -> f64 {
    8.0 * (m as f64).sqrt() * T::EPSILON.into()
}

impl Tolerance {
    /// Whether all singular values are above it, where `inverse` and `norm` are the norms of `R^-1` and `R`.
    fn is_below<T: Scalar<Real: Into<f64>>>(self, m: usize, inverse: f64, norm: f64) -> bool {
        let Self { atol, rtol } = self;
        // No comparison holds for NaN, and an inverse without digits is 0.
        let bound = (rtol * norm).max(atol).max(0.0) + rounding::<T>(m) * norm;
        inverse > 0.0 && !atol.is_nan() && !rtol.is_nan() && 1.0 / inverse > bound
    }
}

const UPPER: Triangle = Triangle { upper: true, transposed: false, conj: false, unit: false };
const ADJOINT: Triangle = Triangle { transposed: true, conj: true, ..UPPER };

/// The numbers of scratch for [`solve`] with `k` right sides, and for [`inverse`] with none.
pub fn scratch(m: usize, n: usize, k: usize) -> usize {
    n + n * n + householder::scratch(m, n.max(k))
}

/// Writes the upper triangle of the first `n` rows of `a`, and zeros below it, to a square.
fn copy_triangle<T: Scalar>(m: usize, n: usize, a: &[T], to: &mut [T]) {
    to.fill(T::ZERO);
    (0..n).for_each(|j| to[j * n..=j * n + j].copy_from_slice(&a[j * m..=j * m + j]));
}

/// The norms of the inverse of the upper triangle of `a`, and of the triangle; `room` takes a square.
fn norms<T: Number<Real: Into<f64>> + Scalar<Real: Into<f64>>>(
    m: usize,
    n: usize,
    a: &[T],
    room: &mut [T],
) -> [f64; 2] {
    copy_triangle(m, n, a, room);
    let of_triangle = norm(room);
    room.fill(T::ZERO);
    room.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
    let (whole, triangle) = (Layout::column_major(n, n), Layout { rows: n, ..Layout::column_major(m, n) });
    for start in (0..n).step_by(PANEL) {
        // Rows below the panel are 0.
        let end = n.min(start + PANEL);
        let panel = part(whole, &Block { rows: 0..end, cols: start..end });
        triangular::solve(UPPER, true, (a, part(triangle, &Block { rows: 0..end, cols: 0..end })), (room, panel));
    }
    [norm(room).into(), of_triangle.into()]
}

/// Writes to `x` the `n` rows for which `|A x - b|` is smallest, for each of `k` right sides `b` of `m` rows; or if
/// `adjoint` says so the `m` rows of the shortest solution of `A^H x = b`. Whether all singular values are proven to be
/// above the tolerance, and the solution is finite: otherwise there is none. What `a` and `b` have is lost.
pub fn solve<T: Number<Real: Into<f64>> + Scalar<Real: Into<f64>>>(
    [m, n, k]: [usize; 3],
    a: &mut [T],
    adjoint: bool,
    b: &mut [T],
    x: &mut [T],
    tolerance: Tolerance,
    scratch: &mut [T],
) -> bool {
    let (tau, scratch) = scratch.split_at_mut(n);
    let (square, scratch) = scratch.split_at_mut(n * n);
    householder::factor(m, n, a, tau, scratch);
    let [of_inverse, of_triangle] = norms(m, n, a, square);
    if !tolerance.is_below::<T>(m, of_inverse, of_triangle) {
        return false;
    }
    let triangle = Layout { rows: n, ..Layout::column_major(m, n) };
    let first = Layout { rows: n, ..Layout::column_major(m, k) };
    if adjoint {
        for (to, from) in x.chunks_exact_mut(m).zip(b.chunks_exact(n)) {
            to[..n].copy_from_slice(from);
            to[n..].fill(T::ZERO);
        }
        triangular::solve(ADJOINT, true, (a, triangle), (x, first));
        householder::apply(m, k, a, tau, x, false, scratch);
    } else {
        householder::apply(m, k, a, tau, b, true, scratch);
        triangular::solve(UPPER, true, (a, triangle), (b, first));
        for (to, from) in x.chunks_exact_mut(n).zip(b.chunks_exact(m)) {
            to.copy_from_slice(&from[..n]);
        }
    }
    all_finite(x)
}

/// The adjoint of the pseudoinverse of `a`, `Q R^-H`, if all singular values are proven to be above the tolerance. What
/// `a` has is lost.
pub fn inverse<T: Number<Real: Into<f64>> + Scalar<Real: Into<f64>>>(
    [m, n]: [usize; 2],
    a: &mut [T],
    p: &mut [T],
    tolerance: Tolerance,
    scratch: &mut [T],
) -> bool {
    let (tau, scratch) = scratch.split_at_mut(n);
    let (triangle, scratch) = scratch.split_at_mut(n * n);
    householder::factor(m, n, a, tau, scratch);
    householder::product(m, n, a, tau, p, scratch);
    copy_triangle(m, n, a, triangle);
    let whole = Layout::column_major(n, n);
    triangular::solve(ADJOINT, false, (triangle, whole), (p, Layout::column_major(m, n)));
    // Q leaves the norm of R^-H as it is.
    tolerance.is_below::<T>(m, norm(p).into(), norm(triangle).into())
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use faer::traits::ComplexField;
    use faer::traits::ext::*;
    use faer::{c32, c64};
    use retrograd_kernels::real::Real;

    use super::*;
    use crate::number::tests::{adjoint, distance, noise, product};
    use crate::svd::{self, Vectors};

    const ABOVE_0: Tolerance = Tolerance { atol: 0.0, rtol: 0.0 };

    /// `k` orthonormal columns of `m` rows.
    fn basis<T: Number + Scalar>(m: usize, k: usize, seed: u64) -> Vec<T> {
        let (mut a, mut tau, mut q) = (noise::<T>(m * k, seed), vec![T::ZERO; k], vec![T::ZERO; m * k]);
        let mut room = vec![T::ZERO; householder::scratch(m, k)];
        householder::factor(m, k, &mut a, &mut tau, &mut room);
        householder::product(m, k, &a, &tau, &mut q, &mut room);
        q
    }

    /// A matrix with these singular values.
    fn with_values<T: Number + Scalar>(m: usize, values: &[f64]) -> Vec<T> {
        let n = values.len();
        let (mut u, v) = (basis::<T>(m, n, 1), basis::<T>(n, n, 2));
        for (column, &s) in u.chunks_exact_mut(m).zip(values) {
            column.iter_mut().for_each(|x| *x = Scalar::scale(*x, <<T as Scalar>::Real as Real>::of(s)));
        }
        product(m, n, n, &u, &adjoint(n, n, &v))
    }

    /// What both routines say, which must be the same, and the adjoint of the pseudoinverse.
    fn proven<T: Number<Real: Into<f64>> + Scalar<Real: Into<f64>>>(
        [m, n]: [usize; 2],
        a: &[T],
        tolerance: Tolerance,
    ) -> Option<Vec<T>> {
        let (mut room, mut p) = (vec![T::ONE; scratch(m, n, 2)], vec![T::ONE; m * n]);
        let inverted = inverse([m, n], &mut a.to_vec(), &mut p, tolerance, &mut room);
        for adjoint in [false, true] {
            let (rows, columns) = if adjoint { (n, m) } else { (m, n) };
            let (mut b, mut x) = (noise::<T>(rows * 2, 3), vec![T::ONE; columns * 2]);
            let solved = solve([m, n, 2], &mut a.to_vec(), adjoint, &mut b, &mut x, tolerance, &mut room);
            assert_eq!(solved, inverted, "{m} {n} {tolerance:?}");
        }
        inverted.then_some(p)
    }

    fn check<T: Number<Real: Into<f64>> + Scalar<Real: Into<f64>>>(m: usize, n: usize, digits: f64) {
        let values: Vec<f64> = (0..n).map(|i| 1.0 + i as f64 / n as f64).collect();
        let a = with_values::<T>(m, &values);
        let p = proven([m, n], &a, ABOVE_0).expect("of full rank");
        let mut one = vec![T::ZERO; n * n];
        one.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
        assert!(distance(&product(n, m, n, &adjoint(m, n, &p), &a), &one) < digits, "{m} {n}");
        // The columns of the pseudoinverse's adjoint are combinations of those of A.
        let projected = product(m, n, n, &a, &product(n, m, n, &adjoint(m, n, &p), &p));
        assert!(distance(&projected, &p) < digits, "{m} {n}");
        let mut room = vec![T::ONE; scratch(m, n, 3)];
        let (b, mut x) = (noise::<T>(m * 3, 4), vec![T::ONE; n * 3]);
        assert!(solve([m, n, 3], &mut a.clone(), false, &mut b.clone(), &mut x, ABOVE_0, &mut room));
        assert!(distance(&x, &product(n, m, 3, &adjoint(m, n, &p), &b)) < digits, "{m} {n}");
        let (b, mut x) = (noise::<T>(n * 3, 5), vec![T::ONE; m * 3]);
        assert!(solve([m, n, 3], &mut a.clone(), true, &mut b.clone(), &mut x, ABOVE_0, &mut room));
        assert!(distance(&x, &product(m, n, 3, &p, &b)) < digits, "{m} {n}");
    }

    #[test]
    fn solutions_and_inverses() {
        for (m, n) in [(1, 1), (5, 1), (5, 3), (8, 8), (33, 32), (70, 50), (100, 100)] {
            check::<f64>(m, n, 1e-11);
            check::<c64>(m, n, 1e-11);
            check::<f32>(m, n, 1e-3);
            check::<c32>(m, n, 1e-3);
        }
    }

    fn check_bound<T: Number<Real: Into<f64>> + Scalar<Real: Into<f64>>>() {
        let rtol = 0.01;
        let relative = Tolerance { atol: 0.0, rtol };
        for (m, n) in [(2, 2), (9, 4), (40, 40), (60, 50)] {
            for (smallest, expected) in [(0.0, Some(false)), (0.0099, Some(false)), (0.02, None), (0.3, Some(true))] {
                let mut values = vec![1.0; n];
                values[n - 1] = smallest;
                let a = with_values::<T>(m, &values);
                let found = proven([m, n], &a, relative).is_some();
                assert!(expected.is_none_or(|expected| found == expected), "{m} {n} {smallest}");
                let absolute = Tolerance { atol: 0.01, rtol: 0.0 };
                assert_eq!(proven([m, n], &a, absolute).is_some(), smallest > 0.01, "{m} {n} {smallest}");
                // What is asked for least: rounding alone decides.
                assert_eq!(proven([m, n], &a, ABOVE_0).is_some(), smallest > 0.0, "{m} {n} {smallest}");
                for tolerance in [Tolerance { atol: f64::NAN, rtol }, Tolerance { atol: 0.0, rtol: f64::NAN }] {
                    assert!(proven([m, n], &a, tolerance).is_none());
                }
            }
        }
        // The norms are those of Frobenius: of values 1 and t, `1 / |R^-1|` is a little less than t.
        for (t, expected) in [(0.0101, true), (0.010001, false), (0.0099, false)] {
            assert_eq!(proven([2, 2], &with_values::<T>(2, &[1.0, t]), relative).is_some(), expected, "{t}");
        }
        for strange in [f64::NAN, f64::INFINITY] {
            let mut a = with_values::<T>(5, &[1.0, 1.0, 1.0]);
            a[7] = T::of_real(<<T as Scalar>::Real as Real>::of(strange));
            assert!(proven([5, 3], &a, ABOVE_0).is_none());
        }
    }

    #[test]
    fn full_rank_is_said_above_the_tolerance_alone() {
        check_bound::<f32>();
        check_bound::<f64>();
        check_bound::<c32>();
        check_bound::<c64>();
        // Negative tolerances leave zeros to singular values.
        let below = Tolerance { atol: f64::NEG_INFINITY, rtol: -1.0 };
        assert!(proven::<f64>([2, 2], &[1.0, 1.0, 1.0, 1.0], below).is_none());
    }

    #[test]
    fn small_values_show_where_no_diagonal_is_small() {
        // Kahan's triangle: the smallest singular value is far below the last element of the diagonal.
        let (n, sine, cosine) = (60, 1.2f64.sin(), 1.2f64.cos());
        let mut a = vec![0.0; n * n];
        for j in 0..n {
            (0..=j).for_each(|i| a[j * n + i] = sine.powi(i as i32) * if i == j { 1.0 } else { -cosine });
        }
        let last = a[n * n - 1];
        assert!(last > 0.01);
        assert!(proven([n, n], &a, Tolerance { atol: 0.0, rtol: last / 1000.0 }).is_none());
        assert!(proven([n, n], &a, Tolerance { atol: 0.0, rtol: 1e-15 }).is_some());
    }

    /// The largest change of a singular value that rounding to `T` makes, next to what is allowed for.
    fn rounded<T: crate::eigh::InVectors>(m: usize, n: usize, seed: u64) -> f64 {
        let a = noise::<T>(m * n, seed);
        let (mut factors, mut tau) = (a.clone(), vec![T::ZERO; n]);
        householder::factor(m, n, &mut factors, &mut tau, &mut vec![T::ZERO; householder::scratch(m, n)]);
        let triangle: Vec<T> =
            (0..n * n).map(|e| if e % n <= e / n { factors[e / n * m + e % n] } else { T::ZERO }).collect();
        let values = |rows: usize, a: &[T]| {
            let mut wide: Vec<f64> = a.iter().map(|x| x.re().into()).collect();
            let (mut s, mut room) = (vec![0.0; n], vec![0.0; n]);
            let mut bytes = vec![MaybeUninit::uninit(); svd::scratch::<f64>(rows, n, Vectors::None)];
            assert_eq!(svd::svd(rows, n, &mut wide, &mut s, None, &mut room, &mut bytes), 0);
            s
        };
        let (exact, of_triangle) = (values(m, &a), values(n, &triangle));
        // Those that are computed in the dtype itself are off, too.
        let mut real = vec![<T as ComplexField>::Real::zero(); n];
        let mut bytes = vec![MaybeUninit::uninit(); svd::scratch::<T>(m, n, Vectors::None)];
        assert_eq!(svd::svd(m, n, &mut a.clone(), &mut real, None, &mut vec![T::ZERO; n], &mut bytes), 0);
        let off = |s: &[f64]| s.iter().zip(&exact).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        let computed: Vec<f64> = real.into_iter().map(Into::into).collect();
        off(&of_triangle).max(off(&computed)) / (rounding::<T>(m) * exact.iter().map(|s| s * s).sum::<f64>().sqrt())
    }

    #[test]
    fn rounding_is_less_than_is_allowed_for() {
        for (m, n) in [(1, 1), (2, 2), (3, 2), (10, 10), (40, 7), (100, 100), (300, 60)] {
            for seed in 1..4 {
                let off = rounded::<f32>(m, n, seed);
                assert!(off < 0.25, "{m} {n}: {off}");
            }
        }
    }
}
