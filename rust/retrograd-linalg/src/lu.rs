//! The factorization `A = P L U` with partial pivoting, and what follows from it.

use std::ptr::swap_nonoverlapping;

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::parallel::{SharedPtr, split};
use retrograd_kernels::real::{Ordered, Real, Ring};
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::blocks::{Block, add, at, part, transposed};
use crate::matrices::Matrices;
use crate::triangular::{self, Triangle};
use crate::{Scalar, lanes, small};

/// The most columns that are factored one by one.
const LEAF: usize = 32;
/// The most of them that need not stay in L1.
const FEW: usize = 16;
/// Half of L1.
const NEAR_BYTES: usize = 16 << 10;

/// Whether columns are factored one by one.
fn is_leaf<T>(m: usize, n: usize) -> bool {
    n <= FEW || n <= LEAF && m * n * size_of::<T>() <= NEAR_BYTES
}

/// Columns of the first part of a matrix that is taken apart.
fn half(k: usize) -> usize {
    (k / 2).next_multiple_of(FEW)
}

/// Replaces a column-major matrix of `m` rows and `n` columns by `U` and, below its diagonal, `L`. `pivots[i]` is the
/// row, counted from 1, that row `i` was swapped with. Returns 0, or the first diagonal element of `U`, counted from 1,
/// that is zero, as LAPACK's `getrf` does.
pub fn factor<T: Scalar>(m: usize, n: usize, a: &mut [T], pivots: &mut [i32]) -> i32 {
    recurse(a, Layout::column_major(m, n), pivots)
}

/// [`factor`] of some matrices, into `a`: pivots and what it returns, for each.
pub fn factor_all<T: Scalar>(x: Matrices<'_, T>, a: &mut [T], pivots: &mut [i32], info: &mut [i32]) {
    let (Layout { rows: m, cols: n, .. }, count) = (x.layout, x.count());
    let (k, len) = (m.min(n), m * n);
    assert!(a.len() == len * count && pivots.len() == k * count && info.len() == count, "extents disagree");
    if lanes::serve::<T>(count, &[m, n]) {
        return lanes::run(lanes::Factor { x, a, pivots, info });
    }
    for (l, info) in info.iter_mut().enumerate() {
        let a = &mut a[l * len..][..len];
        x.copy_one(l, a);
        *info = factor(m, n, a, &mut pivots[l * k..][..k]);
    }
}

fn recurse<T: Scalar>(a: &mut [T], of: Layout, pivots: &mut [i32]) -> i32 {
    let (m, n) = (of.rows, of.cols);
    let k = m.min(n);
    if k == 0 {
        return 0;
    }
    if is_leaf::<T>(m, n) {
        // SAFETY: `Leaf` has no duties.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { a, of, pivots }) };
    }
    let first = if k < n && is_leaf::<T>(m, k) { k } else { half(k) };
    let (top, rest, right) = (0..first, first..m, first..n);
    let (left_pivots, right_pivots) = pivots.split_at_mut(first);
    let info = recurse(a, part(of, &Block { rows: 0..m, cols: top.clone() }), left_pivots);
    swap_rows(a, part(of, &Block { rows: 0..m, cols: right.clone() }), left_pivots, false);
    let [upper, lower] = [&top, &rest]
        .map(|rows| [&top, &right].map(|cols| part(of, &Block { rows: rows.clone(), cols: cols.clone() })));
    let (unit, p) = (Triangle { unit: true, ..Triangle::default() }, a.as_mut_ptr());
    assert!(of.fits(a.len()) && of.distinct(), "outside the slice: {of:?}");
    // SAFETY: the matrix is in the slice, which is borrowed mutably, its elements are distinct, and these parts share
    // none.
    unsafe {
        triangular::solve_negated(unit, true, (p.cast_const(), upper[0]), (p, upper[1]));
        add((p.cast_const(), lower[0], false), (p.cast_const(), upper[1]), (p, lower[1]));
        triangular::negate(p, upper[1]);
    }
    if first == m {
        return info;
    }
    let second = recurse(a, lower[1], right_pivots);
    swap_rows(a, lower[0], right_pivots, false);
    right_pivots.iter_mut().for_each(|pivot| *pivot += first as i32);
    match (info, second) {
        (0, 0) => 0,
        (0, second) => second + first as i32,
        (info, _) => info,
    }
}

/// Nanoseconds that a swap of two elements takes.
const SWAP_COST: f64 = 1.0;
/// Columns whose rows a thread swaps at a time.
const SWAPPED: usize = 32;
/// Columns whose elements are swapped together.
const STRIP: usize = 8;

/// Swaps row `i` with row `pivots[i] - 1`, in this order, or `backwards`, which undoes it.
fn swap_rows<T: Scalar>(a: &mut [T], of: Layout, pivots: &[i32], backwards: bool) {
    assert!(of.fits(a.len()) && of.distinct() && pivots.len() <= of.rows, "outside the slice: {of:?}");
    assert!(pivots.iter().all(|&pivot| 0 < pivot && pivot as usize <= of.rows), "a pivot is not a row");
    let (n, p) = (pivots.len(), SharedPtr(a.as_mut_ptr().wrapping_add(of.offset)));
    split(of.cols, SWAPPED, (n * of.cols) as f64 * SWAP_COST, &|cols| {
        // Rows of all of these columns if they are contiguous, or else of a few columns, which stay in L1.
        let strip = if of.cs == 1 { cols.len() } else { STRIP };
        for j in cols.clone().step_by(strip.max(1)) {
            let width = strip.min(cols.end - j);
            let corner = p.get().wrapping_offset(j as isize * of.cs);
            for i in 0..n {
                let i = if backwards { n - 1 - i } else { i };
                let other = pivots[i] as usize - 1;
                if i == other {
                    continue;
                }
                let (x, y) =
                    (corner.wrapping_offset(i as isize * of.rs), corner.wrapping_offset(other as isize * of.rs));
                // SAFETY: rows `i` and `other` of columns `j` to `j + width` are in the slice, which is borrowed
                // mutably, and no other piece has these columns. Elements of the matrix are distinct.
                unsafe {
                    if of.cs == 1 {
                        swap_nonoverlapping(x, y, width);
                    } else {
                        for c in 0..width as isize {
                            x.offset(c * of.cs).swap(y.offset(c * of.cs));
                        }
                    }
                }
            }
        }
    });
}

/// What is solved with the factors of `A`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// Whether the equation is `X A = B`.
    pub right: bool,
    /// Whether the adjoint of `A` is meant.
    pub adjoint: bool,
}

impl Side {
    /// The triangles that are solved with, in this order, and whether rows are swapped after them.
    fn triangles(self) -> ([Triangle; 2], bool) {
        let shared = Triangle { transposed: self.adjoint, conj: self.adjoint, ..Triangle::default() };
        let lower = Triangle { unit: true, ..shared };
        let upper = Triangle { upper: true, ..shared };
        if self.right != self.adjoint { ([upper, lower], true) } else { ([lower, upper], false) }
    }
}

/// Solves `A X = B`, or what `side` says, in place of B; `lu` and `pivots` are what [`factor`] makes of `A`.
///
/// # Panics
/// If extents disagree, or a pivot is not a row.
pub fn solve<T: Scalar>(side: Side, (lu, al): (&[T], Layout), pivots: &[i32], (b, bl): (&mut [T], Layout)) {
    let (triangles, after) = side.triangles();
    let rows = if side.right { transposed(bl) } else { bl };
    if !after {
        swap_rows(b, rows, pivots, false);
    }
    for triangle in triangles {
        triangular::solve(triangle, !side.right, (lu, al), (&mut *b, bl));
    }
    if after {
        swap_rows(b, rows, pivots, true);
    }
}

/// [`solve`] with some matrices: B, with some matrices for as many of A, has its solutions in `x`, one after the other.
///
/// # Panics
/// If extents disagree, or a pivot is not a row.
pub fn solve_all<T: Scalar>(side: Side, lu: Matrices<'_, T>, pivots: &[i32], b: Matrices<'_, T>, x: &mut [T]) {
    let (Layout { rows, cols, .. }, count) = (b.layout, b.count());
    let n = if side.right { cols } else { rows };
    assert!([lu.layout.rows, lu.layout.cols] == [n, n] && lu.count() == count, "extents disagree");
    assert!(x.len() == rows * cols * count && pivots.len() == n * count, "extents disagree");
    if lanes::serve::<T>(count, &[rows, cols]) {
        let (triangles, after) = side.triangles();
        return lanes::run(lanes::Solve { triangles: &triangles, left: !side.right, pivots, after, a: lu, b, x });
    }
    for l in 0..count {
        let x = &mut x[l * rows * cols..][..rows * cols];
        b.copy_one(l, x);
        let x = (x, Layout::column_major(rows, cols));
        solve(side, (lu.data, lu.layout(l)), &pivots[l * n..][..n], x);
    }
}

/// Writes the inverse of `A`, by its factors of `n` rows, to `out`.
pub fn invert<T: Scalar>(n: usize, lu: &[T], pivots: &[i32], out: &mut [T]) {
    scaled_inverse(n, T::ONE, false, lu, pivots, out);
}

/// [`invert`] of some matrices.
pub fn invert_all<T: Scalar>(n: usize, lu: &[T], pivots: &[i32], out: &mut [T]) {
    let (len, count) = (n * n, pivots.len() / n.max(1));
    if lanes::serve::<T>(count, &[n]) {
        let (side, lu) = (Side { right: true, adjoint: false }, Matrices::in_a_row(n, count, lu));
        return triangular::with_identities(n, count, |one| solve_all(side, lu, pivots, one, out));
    }
    for l in 0..count {
        let part = l * len..(l + 1) * len;
        invert(n, &lu[part.clone()], &pivots[l * n..][..n], &mut out[part]);
    }
}

/// Columns of a triangular matrix that are solved for together.
const PANEL: usize = 64;

/// Writes the inverse of `A`, or its adjoint, times a number, to `out`: `U^-1 L^-1 P^T` or `P L^-H U^-H`, from the left
/// to the right, which is the order of the columns of `out`. The first factor is an upper triangle.
fn scaled_inverse<T: Scalar>(n: usize, scale: T, adjoint: bool, lu: &[T], pivots: &[i32], out: &mut [T]) {
    out.fill(T::ZERO);
    out.iter_mut().step_by(n + 1).for_each(|x| *x = scale);
    let whole = Layout::column_major(n, n);
    let shared = Triangle { transposed: adjoint, conj: adjoint, ..Triangle::default() };
    let [lower, upper] = [Triangle { unit: true, ..shared }, Triangle { upper: true, ..shared }];
    let (first, second) = if adjoint { (lower, upper) } else { (upper, lower) };
    assert!(lu.len() == n * n && out.len() == n * n, "extents disagree");
    let (a, b) = (SharedPtr(lu.as_ptr().cast_mut()), SharedPtr(out.as_mut_ptr()));
    // Nanoseconds: a third of the terms of a product, each a hundredth.
    split(n, PANEL, (n * n) as f64 * n as f64 / 300.0, &|panels| {
        for start in panels.step_by(PANEL) {
            let (rows, cols) = (start..n.min(start + PANEL), start..n);
            let triangle = part(whole, &Block { rows: cols.clone(), cols: cols.clone() });
            let panel = part(whole, &Block { rows, cols });
            // SAFETY: the matrices are in their slices, as just checked, which are borrowed apart, and each piece has
            // other rows.
            unsafe { triangular::solve_at(first, false, (a.get().cast_const(), triangle), (b.get(), panel)) };
        }
    });
    triangular::solve(second, false, (lu, whole), (out, whole));
    swap_rows(out, if adjoint { whole } else { transposed(whole) }, pivots, true);
}

/// The diagonal of `U`, and whether the rows were swapped an odd number of times.
pub fn diagonal<'a, T: Scalar>(n: usize, lu: &'a [T], pivots: &[i32]) -> (impl Iterator<Item = T> + 'a, bool) {
    let odd = pivots.iter().zip(1..).filter(|&(&pivot, i)| pivot != i).count() % 2 == 1;
    (lu.iter().copied().step_by(n + 1), odd)
}

/// Writes the conjugated cofactors of `A`, `conj(det A) A^-H`, times a number, by its factors of `n` rows, to `out`.
/// Zeros on the diagonal of `U` are replaced, in the factors, by numbers that do not matter beside the largest: the
/// cofactors are polynomials of `A`, so those of a matrix so near are as good.
pub fn cofactors<T: Scalar>(n: usize, times: T, lu: &mut [T], pivots: &[i32], out: &mut [T]) {
    let scale = regular_determinant(n, lu, pivots).conj().mul(times);
    scaled_inverse(n, scale, true, lu, pivots, out);
}

/// The determinant by factors whose zeros on the diagonal are replaced.
fn regular_determinant<T: Scalar>(n: usize, lu: &mut [T], pivots: &[i32]) -> T {
    let largest = lu.iter().step_by(n + 1).fold(<T::Real as Ring>::ZERO, |most, x| most.larger(x.size()));
    let scale = if largest == <T::Real as Ring>::ZERO { <T::Real as Ring>::ONE } else { largest };
    for x in lu.iter_mut().step_by(n + 1).filter(|x| **x == T::ZERO) {
        *x = T::of_real(Ring::mul(scale, T::EPSILON));
    }
    let (diagonal, odd) = diagonal(n, lu, pivots);
    diagonal.fold(if odd { T::ONE.neg() } else { T::ONE }, Ring::mul)
}

/// [`cofactors`] of some matrices, times a number for each; `own` has as many elements.
pub fn cofactors_all<T: Scalar>(n: usize, times: &[T], lu: &mut [T], pivots: &[i32], own: &mut [T], out: &mut [T]) {
    let (len, count) = (n * n, times.len());
    let in_lanes = lanes::serve::<T>(count, &[n]);
    for (l, &times) in times.iter().enumerate() {
        let part = l * len..(l + 1) * len;
        let (lu, pivots) = (&mut lu[part.clone()], &pivots[l * n..][..n]);
        if in_lanes {
            let scale = regular_determinant(n, lu, pivots).conj().mul(times);
            let own = &mut own[part];
            own.fill(T::ZERO);
            own.iter_mut().step_by(n + 1).for_each(|x| *x = scale);
        } else {
            cofactors(n, times, lu, pivots, &mut out[part]);
        }
    }
    if in_lanes {
        let [lu, scales] = [&*lu, &*own].map(|x| Matrices::in_a_row(n, count, x));
        solve_all(Side { right: true, adjoint: true }, lu, pivots, scales, out);
    }
}

/// The factorization of at most [`LEAF`] columns, from the left to the right: each is brought up to date only when it
/// is due, by all before it at once.
struct Leaf<'a, T> {
    a: &'a mut [T],
    of: Layout,
    pivots: &'a mut [i32],
}

impl<T: Scalar> Task for Leaf<'_, T> {
    type Out = i32;
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> i32 {
        let Self { a, of, pivots } = self;
        let (m, n) = (of.rows, of.cols);
        assert!(of.fits(a.len()) && of.rs == 1 && n <= LEAF, "outside the slice: {of:?}");
        if m <= small::MOST[0] {
            // SAFETY: (1) our duty 2; (2) the slice has the matrix, as just checked, and is borrowed mutably.
            let info = unsafe { T::factor_small::<S>([m, n], a.as_mut_ptr().wrapping_add(of.offset), of.cs, pivots) };
            if let Some(info) = info {
                return info;
            }
        }
        let mut info = 0;
        let mut factors = [T::ZERO; LEAF];
        for j in 0..n {
            let (done, column) = a.split_at_mut(at(of, 0, j));
            let column = &mut column[..m];
            let top = j.min(m);
            for (k, &pivot) in pivots[..top].iter().enumerate() {
                column.swap(k, pivot as usize - 1);
            }
            for k in 0..top {
                let factor = column[k].neg();
                factors[k] = factor;
                for (x, &l) in column[k + 1..top].iter_mut().zip(&done[at(of, k + 1, k)..]) {
                    *x = x.add(factor.mul(l));
                }
            }
            if j >= m {
                continue;
            }
            // SAFETY: (1) our duty 2; (2) the columns before this one, which has as many elements.
            unsafe {
                let columns = if j > 0 { done[at(of, top, 0)..].as_ptr() } else { done.as_ptr() };
                T::add_columns::<S>(&mut column[top..], &factors[..top], columns, of.cs);
            }
            // SAFETY: our duty 2.
            let pivot = j + unsafe { T::largest::<S>(&column[j..]) };
            pivots[j] = pivot as i32 + 1;
            column.swap(j, pivot);
            let value = column[j];
            if value == T::ZERO {
                if info == 0 {
                    info = j as i32 + 1;
                }
                continue;
            }
            if pivot != j {
                for k in 0..j {
                    done.swap(at(of, j, k), at(of, pivot, k));
                }
            }
            let below = &mut column[j + 1..];
            // The reciprocal of the smallest numbers is infinite.
            if value.size() >= T::Real::SQUARES[0] {
                let inverse = value.recip();
                below.iter_mut().for_each(|x| *x = x.mul(inverse));
            } else {
                below.iter_mut().for_each(|x| *x = x.div(value));
            }
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;
    use retrograd_kernels::parallel::set_num_threads;

    use super::*;

    /// A number that looks random.
    fn noise(seed: usize) -> f64 {
        let x = (seed as f64 * 12.9898).sin() * 43758.5453;
        2.0 * (x - x.floor()) - 1.0
    }

    fn check<T: Scalar>(m: usize, n: usize, of: impl Fn(f64, f64) -> T) {
        let matrix: Vec<T> = (0..m * n).map(|i| of(noise(i), noise(i + 77777))).collect();
        let (mut lu, mut pivots) = (matrix.clone(), vec![0; m.min(n)]);
        let info = factor(m, n, &mut lu, &mut pivots);
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
        let (mut lu, mut pivots) = (a.clone(), vec![0; n]);
        assert_eq!(factor(n, n, &mut lu, &mut pivots), 0);
        let (mut inverse, mut own, mut cofactors_of) = (a.clone(), lu.clone(), a.clone());
        invert(n, &lu, &pivots, &mut inverse);
        cofactors(n, T::ONE, &mut own, &pivots, &mut cofactors_of);
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
        for (m, n) in [
            (1, 1),
            (3, 5),
            (9, 17),
            (5, 3),
            (8, 8),
            (31, 33),
            (70, 70),
            (100, 40),
            (40, 100),
            (20, 50),
            (50, 20),
            (150, 140),
        ] {
            check::<f64>(m, n, |x, _| x);
            check::<Complex<f64>>(m, n, Complex::new);
        }
    }

    #[test]
    fn pivots_are_the_first_of_the_largest() {
        // Equal numbers from row 3 on, which is beyond the first vector of no instruction set, and from row 40 on.
        for first in [3, 40] {
            let mut column: Vec<f32> = (0..67).map(|i| if i < first { 1.0 } else { -2.0 }).collect();
            column[1] = f32::NAN;
            let mut pivots = [0];
            assert_eq!(factor(67, 1, &mut column, &mut pivots), 0);
            assert_eq!(pivots, [first + 1]);
        }
    }

    /// Elimination by the book: the first of the largest, rows swapped in place.
    fn eliminated(m: usize, n: usize, a: &mut [f64], pivots: &mut [i32]) {
        for k in 0..m.min(n) {
            let mut pivot = k;
            let mut most = -1.0;
            for i in k..m {
                if a[k * m + i].abs() > most {
                    (most, pivot) = (a[k * m + i].abs(), i);
                }
            }
            pivots[k] = pivot as i32 + 1;
            (0..n).for_each(|j| a.swap(j * m + k, j * m + pivot));
            let value = a[k * m + k];
            if value != 0.0 {
                (k + 1..m).for_each(|i| a[k * m + i] /= value);
            }
            for j in k + 1..n {
                for i in k + 1..m {
                    a[j * m + i] -= a[k * m + i] * a[j * m + k];
                }
            }
        }
    }

    /// Of small numbers that are equal to many others, with zeros on the diagonal of U, infinities and NaN.
    #[test]
    fn small_ones_are_factored_by_the_book() {
        for (m, n) in (1..=33).chain([40, 63, 64, 65]).flat_map(|m| [(m, m), (m, 5), (5, m), (m, 32)]) {
            for seed in 0..12 {
                let mut a: Vec<f64> = (0..m * n).map(|i| (noise(i + 1000 * seed) * 2.0).round()).collect();
                match seed {
                    1 => a.iter_mut().skip(m * (n / 2)).take(m).for_each(|x| *x = 0.0),
                    2 => a[m * n / 2] = f64::INFINITY,
                    3 => a[m * n / 3] = f64::NAN,
                    4 => a.iter_mut().take(m).for_each(|x| *x = f64::NAN),
                    5 => a[0] = 1e-310,
                    6 => a.iter_mut().for_each(|x| *x *= 1e-310),
                    _ => {}
                }
                let (mut want, mut pivots_wanted) = (a.clone(), vec![0; m.min(n)]);
                eliminated(m, n, &mut want, &mut pivots_wanted);
                let mut pivots = pivots_wanted.clone();
                let info = factor(m, n, &mut a, &mut pivots);
                let zero = (0..m.min(n)).find(|k| a[k * m + k] == 0.0).map_or(0, |k| k as i32 + 1);
                assert_eq!(info, zero, "{m} {n} {seed}");
                assert!(seed != 1 || n / 2 >= m || info != 0, "{m} {n}");
                // Where quotients are rounded, the largest may be another one from there on.
                let same = pivots.iter().zip(&pivots_wanted).take_while(|(a, b)| a == b).count();
                assert!(same >= 2.min(pivots.len()), "{m} {n} {seed}: {pivots:?} {pivots_wanted:?}");
                if same < pivots.len() {
                    continue;
                }
                for (i, (x, y)) in a.iter().zip(&want).enumerate() {
                    let tiny = seed == 6 && i % m <= i / m;
                    let near = (x - y).abs() <= 1e-9 * y.abs().max(if tiny { 1e-310 } else { 1.0 });
                    assert!(x == y || x.is_nan() && y.is_nan() || near, "{m} {n} {seed}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn threads_change_no_bit() {
        for n in [70, 300, 530] {
            let a: Vec<f32> = (0..n * n).map(|i| noise(i) as f32).collect();
            let [one, two, five] = [1, 2, 5].map(|threads| {
                set_num_threads(threads);
                let (mut lu, mut pivots, mut inverse) = (a.clone(), vec![0; n], a.clone());
                factor(n, n, &mut lu, &mut pivots);
                invert(n, &lu, &pivots, &mut inverse);
                (pivots, lu.iter().chain(&inverse).map(|x| x.to_bits()).collect::<Vec<_>>())
            });
            assert!(one == two && one == five, "{n}");
        }
    }
}
