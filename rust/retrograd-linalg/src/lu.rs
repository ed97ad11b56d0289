//! The factorization `A = P L U` with partial pivoting, and what follows from it.

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::real::{Ordered, Real, Ring};
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::blocks::{Block, add_product, at, copy, part};
use crate::triangular::{self, Triangle};

/// Columns that are factored one by one.
const LEAF: usize = 32;
/// Elements that are computed together.
const WIDTH: usize = 8;

/// Elements of scratch that [`factor`] needs for a matrix of `m` rows and `n` columns.
pub fn scratch(m: usize, n: usize) -> usize {
    let k = m.min(n);
    // The rows of a leaf; or the block below the diagonal, negated; or a triangle.
    (m * n.min(LEAF).next_multiple_of(WIDTH)).max(m * k.div_ceil(2).next_multiple_of(WIDTH)).max(triangular::scratch(k))
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
    if n <= LEAF {
        // SAFETY: `Leaf` has no duties.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { a, of, pivots, scratch }) };
    }
    let first = if k <= LEAF { k } else { (k / 2).next_multiple_of(WIDTH) };
    let (top, rest, right) = (0..first, first..m, first..n);
    let (left_pivots, right_pivots) = pivots.split_at_mut(first);
    let info = recurse(a, part(of, &Block { rows: 0..m, cols: top.clone() }), left_pivots, scratch);
    swap_rows(a, part(of, &Block { rows: 0..m, cols: right.clone() }), left_pivots, false);
    let (corner, beside) =
        (Block { rows: top.clone(), cols: top.clone() }, Block { rows: top.clone(), cols: right.clone() });
    triangular::solve_within(
        Triangle { unit: true, ..Triangle::default() },
        a,
        part(of, &corner),
        part(of, &beside),
        scratch,
    );
    if first == m {
        return info;
    }
    let below = part(of, &Block { rows: rest.clone(), cols: top.clone() });
    let factors = &mut scratch[..below.rows * below.cols];
    copy((a, below), factors, |x| x.neg());
    let corner = Block { rows: rest, cols: right };
    add_product((factors, Layout::column_major(below.rows, below.cols)), (a, of), beside, corner.clone());
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
    for j in 0..of.cols {
        let mut swap = |i: usize| a.swap(at(of, i, j), at(of, pivots[i] as usize - 1, j));
        if backwards { (0..pivots.len()).rev().for_each(&mut swap) } else { (0..pivots.len()).for_each(&mut swap) }
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
    let transposed = side.right != side.adjoint;
    if side.right {
        bl = crate::blocks::transposed(bl);
    }
    let shared = Triangle { transposed, conj: side.adjoint, ..Triangle::default() };
    let lower = Triangle { unit: true, ..shared };
    let upper = Triangle { upper: true, ..shared };
    if transposed {
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
    out.fill(T::ZERO);
    out.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
    let layout = Layout::column_major(n, n);
    solve(Side::default(), (lu, layout), pivots, (out, layout), scratch);
}

/// The diagonal of `U`, and whether the rows were swapped an odd number of times.
pub fn diagonal<'a, T: Scalar>(n: usize, lu: &'a [T], pivots: &[i32]) -> (impl Iterator<Item = T> + 'a, bool) {
    let odd = pivots.iter().zip(1..).filter(|&(&pivot, i)| pivot != i).count() % 2 == 1;
    (lu.iter().copied().step_by(n + 1), odd)
}

/// Writes the conjugated cofactors of `A`, `conj(det A) A^-H`, by its factors of `n` rows, to `out`; `own` has as many
/// elements. Zeros on the diagonal of `U` are replaced by numbers that do not matter beside the largest: the cofactors
/// are polynomials of `A`, so those of a matrix so near are as good.
pub fn cofactors<T: Scalar>(n: usize, lu: &[T], pivots: &[i32], own: &mut [T], out: &mut [T], scratch: &mut [T]) {
    own.copy_from_slice(lu);
    let largest = lu.iter().step_by(n + 1).fold(<T::Real as Ring>::ZERO, |most, x| most.larger(x.size()));
    let scale = if largest == <T::Real as Ring>::ZERO { <T::Real as Ring>::ONE } else { largest };
    for x in own.iter_mut().step_by(n + 1).filter(|x| **x == T::ZERO) {
        *x = T::of_real(Ring::mul(scale, T::EPSILON));
    }
    let (diagonal, odd) = diagonal(n, own, pivots);
    let det = diagonal.fold(if odd { T::ONE.neg() } else { T::ONE }, Ring::mul);
    out.fill(T::ZERO);
    out.iter_mut().step_by(n + 1).for_each(|x| *x = det.conj());
    let layout = Layout::column_major(n, n);
    solve(Side { adjoint: true, right: false }, (own, layout), pivots, (out, layout), scratch);
}

/// The factorization of at most [`LEAF`] columns, in a copy whose rows are whole vectors.
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
        let Self { a, of, pivots, scratch } = self;
        let (m, n) = (of.rows, of.cols);
        let groups = n.div_ceil(WIDTH);
        let (rows, _) = scratch[..m * groups * WIDTH].as_chunks_mut::<WIDTH>();
        for j in 0..n {
            let column = &a[at(of, 0, j)..][..m];
            for (row, &x) in rows.chunks_exact_mut(groups).zip(column) {
                row[j / WIDTH][j % WIDTH] = x;
            }
        }
        let mut info = 0;
        for k in 0..m.min(n) {
            let (group, lane) = (k / WIDTH, k % WIDTH);
            let mut pivot = k;
            let mut largest = rows[k * groups + group][lane].size();
            for i in k + 1..m {
                let size = rows[i * groups + group][lane].size();
                if size > largest {
                    (pivot, largest) = (i, size);
                }
            }
            pivots[k] = pivot as i32 + 1;
            let value = rows[pivot * groups + group][lane];
            if value == T::ZERO {
                if info == 0 {
                    info = k as i32 + 1;
                }
                continue;
            }
            if pivot != k {
                for g in 0..groups {
                    rows.swap(k * groups + g, pivot * groups + g);
                }
            }
            // The reciprocal of the smallest numbers is infinite.
            let inverse = if largest >= T::Real::SQUARES[0] { Some(value.recip()) } else { None };
            let (done, below) = rows.split_at_mut((k + 1) * groups);
            let done = &done[k * groups..];
            let mut first = done[group];
            first[..=lane].fill(T::ZERO);
            for row in below.chunks_exact_mut(groups) {
                let x = row[group][lane];
                let factor = match inverse {
                    Some(inverse) => x.mul(inverse),
                    None => x.div(value),
                };
                for (to, &x) in row[group].iter_mut().zip(&first) {
                    *to = to.sub(x.mul(factor));
                }
                row[group][lane] = factor;
                for (to, from) in row[group + 1..].iter_mut().zip(&done[group + 1..]) {
                    for (to, &x) in to.iter_mut().zip(from) {
                        *to = to.sub(x.mul(factor));
                    }
                }
            }
        }
        for j in 0..n {
            let column = &mut a[at(of, 0, j)..][..m];
            for (row, x) in rows.chunks_exact(groups).zip(column) {
                *x = row[j / WIDTH][j % WIDTH];
            }
        }
        info
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
