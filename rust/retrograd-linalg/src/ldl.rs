//! The factorization `A = L D L^H`, or `L D L^T` of complex symmetric matrices, by Bunch and Kaufman's pivoting (Some
//! stable methods for calculating inertia and solving symmetric linear systems, 1977), as LAPACK's `sytf2` and `hetf2`
//! have it for the lower triangle.
//!
//! `D` has blocks of one row, or of two rows where a diagonal element is small beside those below it. `pivots[k]` is
//! the row, counted from 1, that row `k` was swapped with; of a block of two rows both have the negative of the row
//! that the second one was swapped with.

use retrograd_kernels::real::{Field, Real, Ring};

use crate::Scalar;

/// What the transpose in `L D L^T` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Symmetric,
    Hermitian,
}

impl Kind {
    /// The element on the other side of the diagonal.
    #[inline(always)]
    fn mirror<T: Scalar>(self, x: T) -> T {
        if self == Kind::Hermitian { x.conj() } else { x }
    }
    /// A diagonal element, which is real in a Hermitian matrix.
    #[inline(always)]
    fn diagonal<T: Scalar>(self, x: T) -> T {
        if self == Kind::Hermitian { T::of_real(x.re()) } else { x }
    }
}

/// The row below `k` of column `k` whose element is largest, and its size.
fn largest<T: Scalar>(column: &[T], rows: std::ops::Range<usize>) -> (usize, T::Real) {
    let mut best = (rows.start, <T::Real as Ring>::ZERO);
    for i in rows {
        if column[i].size() > best.1 {
            best = (i, column[i].size());
        }
    }
    best
}

/// Replaces the lower triangle of a column-major matrix of `n` rows by `D` and, below it, `L`. Returns 0, or the first
/// block of `D`, counted from 1, that is zero.
pub fn factor<T: Scalar>(kind: Kind, n: usize, a: &mut [T], pivots: &mut [i32]) -> i32 {
    let zero = <T::Real as Ring>::ZERO;
    let alpha = <T::Real as Real>::of((1.0 + 17f64.sqrt()) / 8.0);
    let at = |i: usize, j: usize| j * n + i;
    let (mut info, mut k) = (0, 0);
    while k < n {
        let size = |x: T| kind.diagonal(x).size();
        let here = size(a[at(k, k)]);
        let (row, below) = largest(&a[at(0, k)..][..n], k + 1..n);
        if (here <= zero && below <= zero) || here.is_nan() {
            if info == 0 {
                info = k as i32 + 1;
            }
            a[at(k, k)] = kind.diagonal(a[at(k, k)]);
            pivots[k] = k as i32 + 1;
            k += 1;
            continue;
        }
        let (mut step, mut pivot) = (1, k);
        if here < Ring::mul(alpha, below) {
            // The largest element of that row, off the diagonal.
            let mut beside = zero;
            for j in k..row {
                beside = if a[at(row, j)].size() > beside { a[at(row, j)].size() } else { beside };
            }
            for i in row + 1..n {
                beside = if a[at(i, row)].size() > beside { a[at(i, row)].size() } else { beside };
            }
            if here < Ring::mul(Ring::mul(alpha, below), Field::div(below, beside)) {
                pivot = row;
                step = if size(a[at(row, row)]) >= Ring::mul(alpha, beside) { 1 } else { 2 };
            }
        }
        let last = k + step - 1;
        if pivot != last {
            // Rows and columns `last` and `pivot`, in the lower triangle.
            for i in pivot + 1..n {
                a.swap(at(i, last), at(i, pivot));
            }
            for j in last + 1..pivot {
                let x = a[at(j, last)];
                a[at(j, last)] = kind.mirror(a[at(pivot, j)]);
                a[at(pivot, j)] = kind.mirror(x);
            }
            a[at(pivot, last)] = kind.mirror(a[at(pivot, last)]);
            let x = kind.diagonal(a[at(last, last)]);
            a[at(last, last)] = kind.diagonal(a[at(pivot, pivot)]);
            a[at(pivot, pivot)] = x;
            if step == 2 {
                a.swap(at(k + 1, k), at(pivot, k));
            }
        }
        if step == 1 {
            let d = kind.diagonal(a[at(k, k)]);
            a[at(k, k)] = d;
            let inverse = d.recip();
            let (done, rest) = a.split_at_mut((k + 1) * n);
            let column = &mut done[k * n..];
            for j in k + 1..n {
                let factor = kind.mirror(column[j]).mul(inverse);
                let to = &mut rest[(j - k - 1) * n..][..n];
                for i in j..n {
                    to[i] = to[i].sub(column[i].mul(factor));
                }
                to[j] = kind.diagonal(to[j]);
            }
            column[k + 1..].iter_mut().for_each(|x| *x = x.mul(inverse));
            pivots[k] = pivot as i32 + 1;
        } else {
            let (d11, d21, d22) = (kind.diagonal(a[at(k, k)]), a[at(k + 1, k)], kind.diagonal(a[at(k + 1, k + 1)]));
            (a[at(k, k)], a[at(k + 1, k + 1)]) = (d11, d22);
            let (done, rest) = a.split_at_mut((k + 2) * n);
            let (first, second) = done[k * n..].split_at_mut(n);
            // Scaled by the element off the diagonal, which is the largest of the block.
            let (p, q) = (d11.div(kind.mirror(d21)), d22.div(d21));
            let scale = p.mul(q).sub(T::ONE).recip();
            for j in k + 2..n {
                // Row j of the columns is that of L times D.
                let (x, y) = (first[j], second[j]);
                let l1 = q.mul(x).sub(y).div(kind.mirror(d21)).mul(scale);
                let l2 = p.mul(y).sub(x).div(d21).mul(scale);
                let (f1, f2) = (kind.mirror(l1), kind.mirror(l2));
                let to = &mut rest[(j - k - 2) * n..][..n];
                for i in j..n {
                    to[i] = to[i].sub(first[i].mul(f1)).sub(second[i].mul(f2));
                }
                to[j] = kind.diagonal(to[j]);
                first[j] = l1;
                second[j] = l2;
            }
            (pivots[k], pivots[k + 1]) = (-(pivot as i32 + 1), -(pivot as i32 + 1));
        }
        k += step;
    }
    info
}

/// Whether numbers can be the pivots of `n` rows: each a row, negative ones in pairs.
pub fn are_pivots(n: usize, pivots: &[i32]) -> bool {
    let is_row = |p: i32| (1..=n).contains(&(p.unsigned_abs() as usize));
    pivots.len() == n
        && pivots.iter().all(|&p| is_row(p))
        && pivots.chunk_by(|a, b| (*a < 0) == (*b < 0)).all(|run| run[0] > 0 || run.len() % 2 == 0)
}

/// Solves `A X = B` in place of the column-major `B` of `n` rows; `ld` and `pivots` are what [`factor`] makes of `A`.
///
/// # Panics
/// If extents disagree, or unless [`are_pivots`].
pub fn solve<T: Scalar>(kind: Kind, n: usize, ld: &[T], pivots: &[i32], b: &mut [T]) {
    assert!(are_pivots(n, pivots) && ld.len() == n * n);
    if n == 0 {
        return;
    }
    for x in b.chunks_exact_mut(n) {
        let mut k = 0;
        while k < n {
            let (column, d) = (&ld[k * n..][..n], kind.diagonal(ld[k * n + k]));
            let pivot = pivots[k].unsigned_abs() as usize - 1;
            if pivots[k] > 0 {
                x.swap(k, pivot);
                let top = x[k];
                x[k + 1..].iter_mut().zip(&column[k + 1..]).for_each(|(x, &l)| *x = x.sub(l.mul(top)));
                x[k] = top.div(d);
                k += 1;
            } else {
                x.swap(k + 1, pivot);
                let (next, e) = (&ld[(k + 1) * n..][..n], column[k + 1]);
                let (x1, x2) = (x[k], x[k + 1]);
                for i in k + 2..n {
                    x[i] = x[i].sub(column[i].mul(x1)).sub(next[i].mul(x2));
                }
                let (p, q) = (d.div(kind.mirror(e)), kind.diagonal(next[k + 1]).div(e));
                let scale = p.mul(q).sub(T::ONE).recip();
                let (x1, x2) = (x1.div(kind.mirror(e)), x2.div(e));
                x[k] = q.mul(x1).sub(x2).mul(scale);
                x[k + 1] = p.mul(x2).sub(x1).mul(scale);
                k += 2;
            }
        }
        while k > 0 {
            let rows = if pivots[k - 1] > 0 { 1 } else { 2 };
            for row in k - rows..k {
                let column = &ld[row * n..][..n];
                x[row] = (k..n).fold(x[row], |sum, i| sum.sub(kind.mirror(column[i]).mul(x[i])));
            }
            x.swap(k - 1, pivots[k - 1].unsigned_abs() as usize - 1);
            k -= rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    /// A number that looks random.
    fn noise(seed: usize) -> f64 {
        let x = (seed as f64 * 12.9898).sin() * 43758.5453;
        2.0 * (x - x.floor()) - 1.0
    }

    #[test]
    fn solutions() {
        type C = Complex<f64>;
        for kind in [Kind::Symmetric, Kind::Hermitian] {
            for n in [1, 2, 3, 5, 8, 30] {
                let mut a = vec![C::ZERO; n * n];
                for j in 0..n {
                    for i in j..n {
                        // Small diagonals make blocks of two rows.
                        let x = if i == j {
                            C::new(0.1 * noise(i), noise(i + 999))
                        } else {
                            C::new(noise(i * n + j), noise(i + 7 * j))
                        };
                        a[j * n + i] = if i == j { kind.diagonal(x) } else { x };
                        a[i * n + j] = if i == j { kind.diagonal(x) } else { kind.mirror(x) };
                    }
                }
                let (mut ld, mut pivots) = (a.clone(), vec![0; n]);
                assert_eq!(factor(kind, n, &mut ld, &mut pivots), 0);
                assert!(n < 8 || pivots.iter().any(|&p| p < 0), "{pivots:?}");
                let b: Vec<C> = (0..n).map(|i| C::new(noise(i + 31), noise(i + 57))).collect();
                let mut x = b.clone();
                solve(kind, n, &ld, &pivots, &mut x);
                for i in 0..n {
                    let sum = (0..n).fold(C::ZERO, |sum, j| sum + a[j * n + i] * x[j]);
                    assert!((sum - b[i]).size() < 1e-10, "{kind:?} {n}: {sum} {}", b[i]);
                }
            }
        }
        assert!(!are_pivots(2, &[-1, 2]) && !are_pivots(2, &[0, 1]) && are_pivots(3, &[1, -2, -3]));
    }
}
