//! Solutions of triangular systems.
//!
//! Every case is a triangle from the left: one from the right is the transposed system, and layouts express it. A
//! recursion over the matrix product goes down to blocks of `LEAF` rows, from the top of a lower triangle and from
//! the bottom of an upper one, which is a lower one with rows and columns in reverse order.

use std::mem::MaybeUninit;

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::parallel::{SharedPtr, split};
use retrograd_kernels::real::Ring;
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::blocks::{Block, add, at, part, reversed, reversed_rows, transfer_here, transposed};
use crate::matrices::{Matrices, Places};
use crate::{Scalar, lanes};

/// Rows that are solved one by one.
const LEAF: usize = 32;
/// Columns that are solved together, if there are so many.
const WIDTH: usize = 64;
/// The least and the most columns of a strip.
const STRIPS: [usize; 2] = [128, 256];
/// Nanoseconds for each byte of the square of A and each column of B.
const BYTE_COST: f64 = 0.003;
/// Nanoseconds that an element takes whose sign is changed.
const NEGATION_COST: f64 = 0.2;

/// What is solved with a triangle of n rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Triangle {
    pub upper: bool,
    /// Whether the transpose is meant.
    pub transposed: bool,
    /// Whether the conjugate is meant.
    pub conj: bool,
    /// Whether the diagonal is ones, and not read.
    pub unit: bool,
}

/// Rows of the first part of a triangle that is taken apart.
fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(LEAF)
}

/// Solves `A X = B` (`X A = B` unless `left`) in place of B, A being what `triangle` says of the matrix at `al`.
///
/// # Panics
/// If extents disagree, or a matrix leaves its slice.
pub fn solve<T: Scalar>(triangle: Triangle, left: bool, (a, al): (&[T], Layout), (b, bl): (&mut [T], Layout)) {
    assert!(al.fits(a.len()) && bl.fits(b.len()) && bl.distinct(), "outside the slice: {al:?} {bl:?}");
    // SAFETY: the matrices are in their slices, as just checked, which are borrowed apart.
    unsafe { solve_at(triangle, left, (a.as_ptr(), al), (b.as_mut_ptr(), bl)) }
}

/// Solves with some matrices, one triangle of them after the other: B, with some matrices for as many of A, has its
/// solutions in `x`, one after the other.
///
/// # Panics
/// If extents disagree, or a matrix leaves its slice.
pub fn solve_all<T: Scalar>(triangles: &[Triangle], left: bool, a: Matrices<'_, T>, b: Matrices<'_, T>, x: &mut [T]) {
    let (Layout { rows, cols, .. }, count) = (b.layout, b.count());
    let n = if left { rows } else { cols };
    assert!([a.layout.rows, a.layout.cols] == [n, n] && a.count() == count, "extents disagree");
    assert!(x.len() == rows * cols * count, "extents disagree");
    if lanes::serve::<T>(count, &[rows, cols]) {
        return lanes::run(lanes::Solve { triangles, left, pivots: &[], after: false, a, b, x });
    }
    for l in 0..count {
        let x = &mut x[l * rows * cols..][..rows * cols];
        b.copy_one(l, x);
        for &triangle in triangles {
            solve(triangle, left, (a.data, a.layout(l)), (&mut *x, Layout::column_major(rows, cols)));
        }
    }
}

/// As [`solve_all`] from the left, with B the identity.
pub fn invert_all<T: Scalar>(triangles: &[Triangle], a: Matrices<'_, T>, x: &mut [T]) {
    let (n, count) = (a.layout.rows, a.count());
    let len = n * n;
    assert!(x.len() == len * count, "extents disagree");
    if lanes::serve::<T>(count, &[n]) {
        return with_identities(n, count, |b| solve_all(triangles, true, a, b, x));
    }
    for l in 0..count {
        let x = &mut x[l * len..][..len];
        x.fill(<T as Ring>::ZERO);
        x.iter_mut().step_by(n + 1).for_each(|x| *x = <T as Ring>::ONE);
        for &triangle in triangles {
            solve(triangle, true, (a.data, a.layout(l)), (&mut *x, Layout::column_major(n, n)));
        }
    }
}

/// `count` identities of `n` rows, which fit into lanes.
pub(crate) fn with_identities<T: Scalar>(n: usize, count: usize, f: impl FnOnce(Matrices<'_, T>)) {
    let mut one = [<T as Ring>::ZERO; lanes::MOST * lanes::MOST];
    one[..n * n].iter_mut().step_by(n + 1).for_each(|x| *x = <T as Ring>::ONE);
    f(Matrices::new(&one, Layout::column_major(n, n), Places::Apart { count, first: 0, step: 0 }));
}

/// As [`solve`], of matrices that may be parts of one.
///
/// # Safety
/// The duties of [`solve_negated`].
pub(crate) unsafe fn solve_at<T: Scalar>(triangle: Triangle, left: bool, a: (*const T, Layout), b: (*mut T, Layout)) {
    let is_leaf = a.1.rows <= LEAF;
    // SAFETY: ours.
    unsafe {
        solve_signed(triangle, left, !is_leaf, a, b);
        if !is_leaf {
            negate(b.0, b.1);
        }
    }
}

/// As [`solve`], but writes `-X`, whose products are added where those of X are subtracted.
///
/// # Safety
/// 1. A is readable and initialised at `al` of `a`, B also writable at `bl` of `b`. 2. Elements of B are distinct, and
///    none is in A. 3. No other thread touches B or writes A during the call.
pub(crate) unsafe fn solve_negated<T: Scalar>(
    triangle: Triangle,
    left: bool,
    a: (*const T, Layout),
    b: (*mut T, Layout),
) {
    // SAFETY: ours.
    unsafe { solve_signed(triangle, left, true, a, b) }
}

/// As [`solve_negated`], or the solution itself, of a triangle that is no more than a leaf.
///
/// # Safety
/// The duties of [`solve_negated`].
unsafe fn solve_signed<T: Scalar>(
    triangle: Triangle,
    left: bool,
    negated: bool,
    (a, mut al): (*const T, Layout),
    (b, mut bl): (*mut T, Layout),
) {
    let mut triangle = triangle;
    if triangle.transposed == left {
        al = transposed(al);
        triangle.upper = !triangle.upper;
    }
    if !left {
        bl = transposed(bl);
    }
    assert!(al.cols == al.rows && bl.rows == al.rows, "extents disagree: {al:?} {bl:?}");
    if bl.rows == 0 || bl.cols == 0 {
        return;
    }
    let cost = (al.rows * al.rows) as f64 * bl.cols as f64 * size_of::<T>() as f64 * BYTE_COST;
    let (a, b, width) = (SharedPtr(a.cast_mut()), SharedPtr(b), strip(bl.cols));
    split(bl.cols, width, cost, &|cols| {
        // Every column has the same neighbours in a product for any number of threads.
        for start in cols.clone().step_by(width) {
            let cols = start..cols.end.min(start + width);
            let strip = part(bl, &Block { rows: 0..bl.rows, cols });
            // SAFETY: duties 1 to 3; other pieces have other columns.
            unsafe { recurse(triangle, negated, (a.get().cast_const(), al), (b.get(), strip)) };
        }
    });
}

/// Columns of a strip that one thread solves: a few strips make up the whole.
fn strip(cols: usize) -> usize {
    cols.div_ceil(4).next_multiple_of(WIDTH).clamp(STRIPS[0], STRIPS[1])
}

/// Changes the sign of a matrix.
///
/// # Safety
/// 1. The matrix is writable and initialised at `of` of `b`, and no other thread touches it during the call.
pub(crate) unsafe fn negate<T: Scalar>(b: *mut T, of: Layout) {
    let of = if of.cs.unsigned_abs() < of.rs.unsigned_abs() { transposed(of) } else { of };
    let b = SharedPtr(b);
    split(of.cols, 1, (of.rows * of.cols) as f64 * NEGATION_COST, &|cols| {
        for j in cols {
            let column = b.get().wrapping_add(at(of, 0, j));
            // SAFETY: duty 1; no other piece has this column.
            unsafe {
                if of.rs == 1 {
                    let column = std::slice::from_raw_parts_mut(column, of.rows);
                    column.iter_mut().for_each(|x| *x = x.neg());
                } else {
                    for i in 0..of.rows as isize {
                        let x = column.offset(i * of.rs);
                        *x = (*x).neg();
                    }
                }
            }
        }
    });
}

/// As [`solve_negated`] from the left, of the matrix at `al` as it is, but for its conjugate; the solution itself, if
/// it is not to be `negated` and the triangle is no more than a leaf.
///
/// # Safety
/// The duties of [`solve_negated`].
unsafe fn recurse<T: Scalar>(
    triangle: Triangle,
    negated: bool,
    (a, al): (*const T, Layout),
    (b, bl): (*mut T, Layout),
) {
    let n = al.rows;
    if n <= LEAF {
        let bl = if triangle.upper { reversed_rows(bl) } else { bl };
        // SAFETY: (1) ours. (2) Coefficients as `Leaf` asks, whose other duties are ours.
        return unsafe {
            let mut rows = MaybeUninit::uninit();
            let coefficients = prepare(triangle, (a, al), &mut rows);
            for_isa(InstructionSet::detect(), Leaf { coefficients, negated, b, bl });
        };
    }
    let half = half(n);
    let (first, second) = if triangle.upper { (half..n, 0..half) } else { (0..half, half..n) };
    let [from, to] = [&first, &second].map(|rows| part(bl, &Block { rows: rows.clone(), cols: 0..bl.cols }));
    let [corner, last] = [&first, &second].map(|r| part(al, &Block { rows: r.clone(), cols: r.clone() }));
    let off = part(al, &Block { rows: second, cols: first });
    // SAFETY: duties 1 to 3, for parts of both; rows that are read and those that are written share no element.
    unsafe {
        recurse(triangle, true, (a, corner), (b, from));
        add((a, off, triangle.conj), (b.cast_const(), from), (b, to));
        recurse(triangle, true, (a, last), (b, to));
    }
}

/// Writes the rows of a triangle of at most [`LEAF`] rows, a lower one, with the negated inverses on its diagonal, and
/// returns the first of them.
///
/// # Safety
/// 1. The matrix is readable and initialised at `al` of `a`.
unsafe fn prepare<T: Scalar>(
    triangle: Triangle,
    (a, al): (*const T, Layout),
    rows: &mut MaybeUninit<[[T; LEAF]; LEAF]>,
) -> *const T {
    let al = if triangle.upper { reversed(al) } else { al };
    let n = al.rows;
    assert!(n <= LEAF && al.cols == n, "no leaf: {al:?}");
    let to = rows.as_mut_ptr().cast::<T>();
    // SAFETY: duty 1; the rows have space for as many elements, which are there after the transfer.
    unsafe {
        transfer_here(n, n, (a.wrapping_add(al.offset), al.rs, al.cs), (to, LEAF as isize, 1));
        for i in 0..n {
            let row = std::slice::from_raw_parts_mut(to.add(i * LEAF), n);
            if triangle.conj && <T as Ring>::COMPLEX {
                row[..=i].iter_mut().for_each(|x| *x = x.conj());
            }
            row[i] = if triangle.unit { <T as Ring>::ONE } else { row[i].recip() }.neg();
        }
    }
    to
}

/// The solution with a lower triangle, negated if so told, in copies of some columns whose rows are contiguous.
///
/// Duties: 1. There are coefficients, rows of [`LEAF`], for as many rows as B has, which are at most so many. 2. B is
/// writable and initialised at `bl` of `b`; no other thread touches it.
struct Leaf<T> {
    coefficients: *const T,
    negated: bool,
    b: *mut T,
    bl: Layout,
}

impl<T: Scalar> Task for Leaf<T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let mut copy = MaybeUninit::<[T; LEAF * WIDTH]>::uninit();
        for first in (0..self.bl.cols).step_by(WIDTH) {
            let cols = first..self.bl.cols.min(first + WIDTH);
            let bl = part(self.bl, &Block { rows: 0..self.bl.rows, cols });
            // SAFETY: (1) our duty 2 of tasks; (2) our duties, for a part of B; (3) the copy has so many elements.
            unsafe { Self { bl, ..self }.solve_columns::<S>(copy.as_mut_ptr().cast()) };
        }
    }
}

impl<T: Scalar> Leaf<T> {
    /// Solves at most [`WIDTH`] columns, in `copy`.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. Our duties. 3. The copy has space for rows as long as
    ///    [`Scalar::padded`] makes them.
    #[inline(always)]
    unsafe fn solve_columns<S: Isa>(self, copy: *mut T) {
        let Layout { rows: n, cols: width, offset, rs, cs } = self.bl;
        let padded = T::padded::<S>(width);
        assert!(n <= LEAF && width <= WIDTH, "no leaf: {:?}", self.bl);
        let (p, step, last) = (self.b.wrapping_add(offset), padded as isize, n as isize - 1);
        // Squares are turned fast if columns ascend: the copy has its rows reversed rather.
        let (p, rs, first, step) =
            if rs < 0 { (p.wrapping_offset(last * rs), -rs, last * step, -step) } else { (p, rs, 0, step) };
        // SAFETY: duties 1 to 3.
        unsafe {
            let first = copy.offset(first);
            if cs == 1 {
                for i in 0..n as isize {
                    T::copy_row::<S>(width, p.offset(i * rs), first.offset(i * step), true);
                }
            } else {
                for i in 0..n {
                    std::slice::from_raw_parts_mut(
                        copy.add(i * padded + width).cast::<MaybeUninit<T>>(),
                        padded - width,
                    )
                    .fill(MaybeUninit::new(<T as Ring>::ZERO));
                }
                T::turn::<S>(n, width, (p, rs, cs), (first, step, 1));
            }
            T::substitute::<S, LEAF>(n, self.coefficients, copy, padded);
            if !self.negated {
                std::slice::from_raw_parts_mut(copy, n * padded).iter_mut().for_each(|x| *x = x.neg());
            }
            if cs == 1 {
                for i in 0..n as isize {
                    T::copy_row::<S>(width, first.offset(i * step), p.offset(i * rs), false);
                }
            } else {
                T::turn::<S>(n, width, (first, step, 1), (p, rs, cs));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;
    use retrograd_kernels::parallel::set_num_threads;
    use retrograd_kernels::real::Real;

    use super::*;

    /// A number that looks random.
    fn noise(seed: usize) -> f64 {
        let x = (seed as f64 * 12.9898).sin() * 43758.5453;
        2.0 * (x - x.floor()) - 1.0
    }

    fn check<T: Scalar>(n: usize, columns: usize, of: impl Fn(f64, f64) -> T) {
        let mut a: Vec<T> = (0..n * n).map(|i| of(noise(i) / n as f64, noise(i + 777) / n as f64)).collect();
        a.iter_mut().step_by(n + 1).for_each(|x| *x = of(2.0, 1.0));
        let given: Vec<T> = (0..n * columns).map(|i| of(noise(i + 5), noise(i + 55))).collect();
        let whole = Layout::column_major(n, n);
        for choice in 0..64 {
            let on = |bit: usize| choice >> bit & 1 == 1;
            let triangle = Triangle { upper: on(0), transposed: on(1), conj: on(2), unit: on(3) };
            let (left, row_major) = (on(4), on(5));
            let (rows, cols) = if left { (n, columns) } else { (columns, n) };
            let bl = if row_major { Layout::row_major(rows, cols) } else { Layout::column_major(rows, cols) };
            let mut x = given.clone();
            solve(triangle, left, (&a, whole), (&mut x, bl));
            let factor = |i: usize, j: usize| {
                let (i, j) = if triangle.transposed { (j, i) } else { (i, j) };
                let inside = if triangle.upper { i <= j } else { i >= j };
                match (i == j, inside) {
                    (true, _) if triangle.unit => <T as Ring>::ONE,
                    (_, true) if triangle.conj => a[at(whole, i, j)].conj(),
                    (_, true) => a[at(whole, i, j)],
                    (_, false) => <T as Ring>::ZERO,
                }
            };
            for i in 0..rows {
                for j in 0..cols {
                    let term = |k: usize| {
                        if left { factor(i, k).mul(x[at(bl, k, j)]) } else { x[at(bl, i, k)].mul(factor(k, j)) }
                    };
                    let sum = (0..n).fold(<T as Ring>::ZERO, |sum, k| sum.add(term(k)));
                    let off = sum.sub(given[at(bl, i, j)]).size();
                    assert!(off < <T::Real as Real>::of(1e-4), "{n} {columns} {triangle:?} {left} {row_major}");
                }
            }
        }
    }

    #[test]
    fn solutions_solve() {
        for (n, columns) in [(1, 1), (7, 3), (8, 8), (9, 33), (32, 32), (33, 40), (40, 5), (65, 9), (97, 3), (34, 130)]
        {
            check::<f32>(n, columns, |x, _| x as f32);
            check::<f64>(n, columns, |x, _| x);
            check::<Complex<f64>>(n, columns, Complex::new);
        }
    }

    /// Sizes beyond every block, strip and threshold.
    #[test]
    fn threads_change_no_bit() {
        for (n, columns) in [(70, 129), (97, 300), (130, 1030)] {
            let a: Vec<f32> = (0..n * n).map(|i| noise(i) as f32 + if i % (n + 1) == 0 { 9.0 } else { 0.0 }).collect();
            let b: Vec<f32> = (0..n * columns).map(|i| noise(i + 5) as f32).collect();
            for choice in 0..8 {
                let on = |bit: usize| choice >> bit & 1 == 1;
                let triangle = Triangle { upper: on(0), transposed: on(1), ..Triangle::default() };
                let bl = if on(2) { Layout::row_major(n, columns) } else { Layout::column_major(n, columns) };
                let [one, two, five] = [1, 2, 5].map(|threads| {
                    set_num_threads(threads);
                    let mut x = b.clone();
                    solve(triangle, true, (&a, Layout::column_major(n, n)), (&mut x, bl));
                    x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
                });
                assert!(one == two && one == five, "{n} {columns} {triangle:?} {bl:?}");
            }
        }
    }
}
