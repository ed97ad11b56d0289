//! The factorization `A = P L U` with partial pivoting, and what follows from it.

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::real::{Ordered, Real, Ring};
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::blocks::{Block, add_product, at, copy_along, part, transfer, transposed};
use crate::triangular::{self, Triangle};

/// The most columns that are factored one by one.
const LEAF: usize = 32;
/// Half of L1.
const NEAR_BYTES: usize = 16 << 10;
/// Elements of a row of a leaf: the least of these that holds its columns.
const WIDTHS: [usize; 3] = [8, 16, LEAF];

/// Elements of scratch that [`factor`] needs for a matrix of `m` rows and `n` columns.
pub fn scratch(m: usize, n: usize) -> usize {
    let k = m.min(n);
    // The rows of a leaf; or the block below the diagonal, negated; or what a triangle needs.
    (m * width(n.min(LEAF))).max(m * half(k)).max(triangular::scratch(k))
}

/// Elements of a row that holds `n` columns.
fn width(n: usize) -> usize {
    WIDTHS.into_iter().find(|&width| n <= width).unwrap_or(LEAF)
}

/// Whether columns are factored one by one: few of them, whose rows stay in L1.
fn is_leaf<T>(m: usize, n: usize) -> bool {
    n <= WIDTHS[0] || n <= LEAF && m * width(n) * size_of::<T>() <= NEAR_BYTES
}

/// Columns of the first part of a matrix that is taken apart.
fn half(k: usize) -> usize {
    (k / 2).next_multiple_of(WIDTHS[0])
}

/// Replaces a column-major matrix of `m` rows and `n` columns by `U` and, below its diagonal, `L`. `pivots[i]` is the
/// row, counted from 1, that row `i` was swapped with. Returns 0, or the first diagonal element of `U`, counted from 1,
/// that is zero, as LAPACK's `getrf` does.
pub fn factor<T: Scalar>(m: usize, n: usize, a: &mut [T], pivots: &mut [i32], scratch: &mut [T]) -> i32 {
    recurse(a, Layout::column_major(m, n), pivots, scratch)
}

fn recurse<T: Scalar>(a: &mut [T], of: Layout, pivots: &mut [i32], scratch: &mut [T]) -> i32 {
    let (m, n) = (of.rows, of.cols);
    let k = m.min(n);
    if k == 0 {
        return 0;
    }
    if is_leaf::<T>(m, n) {
        // SAFETY: `Leaf` has no duties.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { a, of, pivots, scratch }) };
    }
    let first = if k < n && is_leaf::<T>(m, k) { k } else { half(k) };
    let (top, rest, right) = (0..first, first..m, first..n);
    let (left_pivots, right_pivots) = pivots.split_at_mut(first);
    let info = recurse(a, part(of, &Block { rows: 0..m, cols: top.clone() }), left_pivots, scratch);
    swap_rows(a, part(of, &Block { rows: 0..m, cols: right.clone() }), left_pivots, false);
    let (corner, beside) =
        (Block { rows: top.clone(), cols: top.clone() }, Block { rows: top.clone(), cols: right.clone() });
    let (corner, unit) = (part(of, &corner), Triangle { unit: true, ..Triangle::default() });
    triangular::solve_within(unit, true, (None, corner), (a, part(of, &beside)), scratch);
    if first == m {
        return info;
    }
    let below = part(of, &Block { rows: rest.clone(), cols: top.clone() });
    let factors = copy_along((a, below), scratch, Ring::neg);
    let corner = Block { rows: rest, cols: right };
    add_product(factors, (a, of), beside, corner.clone());
    let second = recurse(a, part(of, &corner), right_pivots, scratch);
    swap_rows(a, below, right_pivots, false);
    right_pivots.iter_mut().for_each(|pivot| *pivot += first as i32);
    match (info, second) {
        (0, 0) => 0,
        (0, second) => second + first as i32,
        (info, _) => info,
    }
}

/// Swaps row `i` with row `pivots[i] - 1`, in this order, or `backwards`, which undoes it.
fn swap_rows<T: Scalar>(a: &mut [T], of: Layout, pivots: &[i32], backwards: bool) {
    let in_order = |swap: &mut dyn FnMut(usize, usize)| {
        let n = pivots.len();
        for i in 0..n {
            let i = if backwards { n - 1 - i } else { i };
            swap(i, pivots[i] as usize - 1);
        }
    };
    if of.cs == 1 && of.cols > 0 {
        return in_order(&mut |i, other| {
            let (i, other) = (at(of, i, 0), at(of, other, 0));
            if i != other {
                let (head, tail) = a.split_at_mut(i.max(other));
                head[i.min(other)..][..of.cols].swap_with_slice(&mut tail[..of.cols]);
            }
        });
    }
    for j in 0..of.cols {
        in_order(&mut |i, other| a.swap(at(of, i, j), at(of, other, j)));
    }
}

/// What is solved with the factors of `A`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// Whether the equation is `X A = B`.
    pub right: bool,
    /// Whether the adjoint of `A` is meant.
    pub adjoint: bool,
}

/// Elements of scratch that [`solve`] needs for a matrix of `n` rows.
pub fn solve_scratch(n: usize) -> usize {
    triangular::scratch(n)
}

/// Solves `A X = B`, or what `side` says, in place of B; `lu` and `pivots` are what [`factor`] makes of `A`.
///
/// # Panics
/// If extents disagree, or a pivot is not a row.
pub fn solve<T: Scalar>(
    side: Side,
    (lu, al): (&[T], Layout),
    pivots: &[i32],
    (b, mut bl): (&mut [T], Layout),
    scratch: &mut [T],
) {
    let turned = side.right != side.adjoint;
    if side.right {
        bl = transposed(bl);
    }
    let shared = Triangle { transposed: turned, conj: side.adjoint, ..Triangle::default() };
    let lower = Triangle { unit: true, ..shared };
    let upper = Triangle { upper: true, ..shared };
    if turned {
        triangular::solve(upper, true, (lu, al), (b, bl), scratch);
        triangular::solve(lower, true, (lu, al), (b, bl), scratch);
        swap_rows(b, bl, pivots, true);
    } else {
        swap_rows(b, bl, pivots, false);
        triangular::solve(lower, true, (lu, al), (b, bl), scratch);
        triangular::solve(upper, true, (lu, al), (b, bl), scratch);
    }
}

/// Writes the inverse of `A`, by its factors of `n` rows, to `out`.
pub fn invert<T: Scalar>(n: usize, lu: &[T], pivots: &[i32], out: &mut [T], scratch: &mut [T]) {
    scaled_inverse(n, T::ONE, false, lu, pivots, out, scratch);
}

/// Columns of a triangular matrix that are solved for together.
const PANEL: usize = 64;

/// Writes the inverse of `A`, or its adjoint, times a number, to `out`: `U^-1 L^-1 P^T` or `P L^-H U^-H`, from the left
/// to the right, which is the order of the columns of `out`. The first factor is an upper triangle.
fn scaled_inverse<T: Scalar>(
    n: usize,
    scale: T,
    adjoint: bool,
    lu: &[T],
    pivots: &[i32],
    out: &mut [T],
    scratch: &mut [T],
) {
    out.fill(T::ZERO);
    out.iter_mut().step_by(n + 1).for_each(|x| *x = scale);
    let whole = Layout::column_major(n, n);
    let shared = Triangle { transposed: adjoint, conj: adjoint, ..Triangle::default() };
    let [lower, upper] = [Triangle { unit: true, ..shared }, Triangle { upper: true, ..shared }];
    let (first, second) = if adjoint { (lower, upper) } else { (upper, lower) };
    for start in (0..n).step_by(PANEL) {
        let (rows, cols) = (start..n.min(start + PANEL), start..n);
        let triangle = part(whole, &Block { rows: cols.clone(), cols: cols.clone() });
        triangular::solve(first, false, (lu, triangle), (out, part(whole, &Block { rows, cols })), scratch);
    }
    triangular::solve(second, false, (lu, whole), (out, whole), scratch);
    swap_rows(out, if adjoint { whole } else { transposed(whole) }, pivots, true);
}

/// The diagonal of `U`, and whether the rows were swapped an odd number of times.
pub fn diagonal<'a, T: Scalar>(n: usize, lu: &'a [T], pivots: &[i32]) -> (impl Iterator<Item = T> + 'a, bool) {
    let odd = pivots.iter().zip(1..).filter(|&(&pivot, i)| pivot != i).count() % 2 == 1;
    (lu.iter().copied().step_by(n + 1), odd)
}

/// Writes the conjugated cofactors of `A`, `conj(det A) A^-H`, times a number, by its factors of `n` rows, to `out`;
/// `own` has as many elements. Zeros on the diagonal of `U` are replaced by numbers that do not matter beside the
/// largest: the cofactors are polynomials of `A`, so those of a matrix so near are as good.
pub fn cofactors<T: Scalar>(
    n: usize,
    times: T,
    lu: &[T],
    pivots: &[i32],
    own: &mut [T],
    out: &mut [T],
    scratch: &mut [T],
) {
    own.copy_from_slice(lu);
    let largest = lu.iter().step_by(n + 1).fold(<T::Real as Ring>::ZERO, |most, x| most.larger(x.size()));
    let scale = if largest == <T::Real as Ring>::ZERO { <T::Real as Ring>::ONE } else { largest };
    for x in own.iter_mut().step_by(n + 1).filter(|x| **x == T::ZERO) {
        *x = T::of_real(Ring::mul(scale, T::EPSILON));
    }
    let (diagonal, odd) = diagonal(n, own, pivots);
    let det = diagonal.fold(if odd { T::ONE.neg() } else { T::ONE }, Ring::mul);
    scaled_inverse(n, det.conj().mul(times), true, own, pivots, out, scratch);
}

/// The factorization of at most [`LEAF`] columns, in a copy whose rows are contiguous.
struct Leaf<'a, T> {
    a: &'a mut [T],
    of: Layout,
    pivots: &'a mut [i32],
    scratch: &'a mut [T],
}

impl<T: Scalar> Task for Leaf<'_, T> {
    type Out = i32;
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> i32 {
        let [narrow, middle, _] = WIDTHS;
        if self.of.cols <= narrow {
            // SAFETY: our duty 2.
            unsafe { self.factor::<S, { WIDTHS[0] }>() }
        } else if self.of.cols <= middle {
            // SAFETY: our duty 2.
            unsafe { self.factor::<S, { WIDTHS[1] }>() }
        } else {
            // SAFETY: our duty 2.
            unsafe { self.factor::<S, { WIDTHS[2] }>() }
        }
    }
}

impl<T: Scalar> Leaf<'_, T> {
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    #[inline(always)]
    unsafe fn factor<S: Isa, const W: usize>(self) -> i32 {
        let Self { a, of, pivots, scratch } = self;
        let (m, n) = (of.rows, of.cols);
        assert!(of.fits(a.len()) && of.rs == 1 && n <= W, "outside the slice: {of:?}");
        let (rows, _) = scratch[..m * W].as_chunks_mut::<W>();
        let (p, row_step) = (a.as_mut_ptr().wrapping_add(of.offset), W as isize);
        // SAFETY: the matrix is in its slice, as just checked, and the copy has as many rows and at least as many
        // columns.
        unsafe { transfer(m, n, (p.cast_const(), 1, of.cs), (rows.as_mut_ptr().cast(), row_step, 1)) };
        if n < W {
            rows.iter_mut().for_each(|row| row[n..].fill(T::ZERO));
        }
        let mut info = 0;
        for k in 0..m.min(n) {
            let pivot = k + largest(rows[k..].iter().map(|row| row[k].size()));
            pivots[k] = pivot as i32 + 1;
            let value = rows[pivot][k];
            if value == T::ZERO {
                if info == 0 {
                    info = k as i32 + 1;
                }
                continue;
            }
            rows.swap(k, pivot);
            // The reciprocal of the smallest numbers is infinite.
            let inverse = if value.size() >= T::Real::SQUARES[0] { Some(value.recip()) } else { None };
            let (done, below) = rows.split_at_mut(k + 1);
            // What is left of the row.
            let mut first = done[k];
            first[..=k].fill(T::ZERO);
            for row in below {
                let factor = match inverse {
                    Some(inverse) => row[k].mul(inverse),
                    None => row[k].div(value),
                };
                // SAFETY: duty 1.
                unsafe { T::add_scaled::<S, W>(row, factor.neg(), &first, k) };
                row[k] = factor;
            }
        }
        // SAFETY: as above.
        unsafe { transfer(m, n, (rows.as_ptr().cast(), row_step, 1), (p, 1, of.cs)) };
        info
    }
}

/// The index of the first of the largest numbers; 0 if all are NaN.
#[inline(always)]
fn largest<R: Real>(sizes: impl Iterator<Item = R>) -> usize {
    let mut most = R::ONE.neg();
    let mut at = 0;
    for (i, size) in sizes.enumerate() {
        if size > most {
            (most, at) = (size, i);
        }
    }
    at
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

    fn check<T: Scalar>(m: usize, n: usize, of: impl Fn(f64, f64) -> T) {
        let matrix: Vec<T> = (0..m * n).map(|i| of(noise(i), noise(i + 77777))).collect();
        let (mut lu, mut pivots) = (matrix.clone(), vec![0; m.min(n)]);
        let info = factor(m, n, &mut lu, &mut pivots, &mut vec![T::ZERO; scratch(m, n)]);
        assert_eq!(info, 0);
        let mut product = vec![T::ZERO; m * n];
        for i in 0..m {
            for j in 0..n {
                let mut sum = T::ZERO;
                for k in 0..=i.min(j) {
                    let l = if k == i { T::ONE } else { lu[k * m + i] };
                    sum = sum.add(l.mul(lu[j * m + k]));
                }
                product[j * m + i] = sum;
            }
        }
        swap_rows(&mut product, Layout::column_major(m, n), &pivots, true);
        for (x, y) in product.iter().zip(&matrix) {
            assert!(x.sub(*y).size() < <T::Real as Real>::of(1e-11), "{m} {n}");
        }
    }

    fn check_inverse<T: Scalar>(n: usize, of: impl Fn(f64, f64) -> T) {
        let a: Vec<T> = (0..n * n).map(|i| of(noise(i), noise(i + 77777))).collect();
        let (mut lu, mut pivots, mut spare) = (a.clone(), vec![0; n], vec![T::ZERO; scratch(n, n)]);
        assert_eq!(factor(n, n, &mut lu, &mut pivots, &mut spare), 0);
        let mut spare = vec![T::ZERO; solve_scratch(n)];
        let (mut inverse, mut own, mut cofactors_of) = (a.clone(), a.clone(), a.clone());
        invert(n, &lu, &pivots, &mut inverse, &mut spare);
        cofactors(n, T::ONE, &lu, &pivots, &mut own, &mut cofactors_of, &mut spare);
        let (diagonal, odd) = diagonal(n, &lu, &pivots);
        let det = diagonal.fold(if odd { T::ONE.neg() } else { T::ONE }, Ring::mul);
        let small = <T::Real as Real>::of(1e-9);
        for i in 0..n {
            for j in 0..n {
                let sum = (0..n).fold(T::ZERO, |sum, k| sum.add(a[k * n + i].mul(inverse[j * n + k])));
                let want = if i == j { T::ONE } else { T::ZERO };
                assert!(sum.sub(want).size() < small, "{n}");
                let cofactor = det.conj().mul(inverse[i * n + j].conj());
                let off = cofactors_of[j * n + i].sub(cofactor).size();
                assert!(off <= Ring::mul(small, det.size()), "{n}");
            }
        }
    }

    #[test]
    fn inverses_and_cofactors() {
        for n in [1, 2, 8, 9, 33, 64, 65, 70, 130] {
            check_inverse::<f64>(n, |x, _| x);
            check_inverse::<Complex<f64>>(n, Complex::new);
        }
    }

    #[test]
    fn products_of_the_factors() {
        for (m, n) in
            [(1, 1), (3, 5), (9, 17), (5, 3), (8, 8), (31, 33), (70, 70), (100, 40), (40, 100), (20, 50), (50, 20)]
        {
            check::<f64>(m, n, |x, _| x);
            check::<Complex<f64>>(m, n, Complex::new);
        }
    }
}
