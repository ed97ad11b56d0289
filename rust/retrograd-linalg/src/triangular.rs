//! Solutions of triangular systems.
//!
//! Every case is a triangle from the left: one from the right is the transposed system, and layouts express it. A
//! recursion over the matrix product goes down to blocks of `LEAF` rows, from the top of a lower triangle and from
//! the bottom of an upper one, which is a lower one with rows and columns in reverse order.

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::parallel::{SharedPtr, split};
use retrograd_kernels::real::Ring;
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::blocks::{Block, add, at, part, reversed, reversed_rows, transfer, transposed};

/// Rows that are solved one by one.
const LEAF: usize = 32;
/// Columns that are solved together, if there are so many, and otherwise.
const WIDTHS: [usize; 2] = [64, 16];
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

/// As [`solve`], of matrices that may be parts of one.
///
/// # Safety
/// The duties of [`solve_negated`].
pub(crate) unsafe fn solve_at<T: Scalar>(triangle: Triangle, left: bool, a: (*const T, Layout), b: (*mut T, Layout)) {
    // SAFETY: ours.
    unsafe {
        solve_negated(triangle, left, a, b);
        negate(b.0, b.1);
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
            unsafe { recurse(triangle, (a.get().cast_const(), al), (b.get(), strip)) };
        }
    });
}

/// Columns of a strip that one thread solves: a few strips make up the whole.
fn strip(cols: usize) -> usize {
    cols.div_ceil(4).next_multiple_of(WIDTHS[0]).clamp(STRIPS[0], STRIPS[1])
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

/// As [`solve_negated`] from the left, of the matrix at `al` as it is, but for its conjugate.
///
/// # Safety
/// The duties of [`solve_negated`].
unsafe fn recurse<T: Scalar>(triangle: Triangle, (a, al): (*const T, Layout), (b, bl): (*mut T, Layout)) {
    let n = al.rows;
    if n <= LEAF {
        let mut coefficients = [[<T as Ring>::ZERO; LEAF]; LEAF];
        // SAFETY: duty 1.
        unsafe { prepare(triangle, (a, al), &mut coefficients) };
        let bl = if triangle.upper { reversed_rows(bl) } else { bl };
        // SAFETY: the duties of `Leaf` are ours.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { coefficients: &coefficients[..n], b, bl }) };
    }
    let half = half(n);
    let (first, second) = if triangle.upper { (half..n, 0..half) } else { (0..half, half..n) };
    let [from, to] = [&first, &second].map(|rows| part(bl, &Block { rows: rows.clone(), cols: 0..bl.cols }));
    let [corner, last] = [&first, &second].map(|r| part(al, &Block { rows: r.clone(), cols: r.clone() }));
    let off = part(al, &Block { rows: second, cols: first });
    // SAFETY: duties 1 to 3, for parts of both; rows that are read and those that are written share no element.
    unsafe {
        recurse(triangle, (a, corner), (b, from));
        add((a, off, triangle.conj), (b.cast_const(), from), (b, to));
        recurse(triangle, (a, last), (b, to));
    }
}

/// Writes the rows of a triangle of at most [`LEAF`] rows, a lower one, with the negated inverses on its diagonal.
///
/// # Safety
/// 1. The matrix is readable and initialised at `al` of `a`.
unsafe fn prepare<T: Scalar>(triangle: Triangle, (a, al): (*const T, Layout), rows: &mut [[T; LEAF]; LEAF]) {
    let al = if triangle.upper { reversed(al) } else { al };
    let n = al.rows;
    assert!(n <= LEAF && al.cols == n, "no leaf: {al:?}");
    // SAFETY: duty 1; the rows hold as many elements.
    unsafe { transfer(n, n, (a.wrapping_add(al.offset), al.rs, al.cs), (rows.as_mut_ptr().cast(), LEAF as isize, 1)) };
    for (i, row) in rows[..n].iter_mut().enumerate() {
        if triangle.conj && <T as Ring>::COMPLEX {
            row[..=i].iter_mut().for_each(|x| *x = x.conj());
        }
        row[i] = if triangle.unit { <T as Ring>::ONE } else { row[i].recip() }.neg();
    }
}

/// The negated solution with a lower triangle, in copies of some columns whose rows are contiguous.
///
/// Duties: B has as many rows as there are coefficients, and is writable and initialised at `bl` of `b`; no other
/// thread touches it.
struct Leaf<'a, T> {
    coefficients: &'a [[T; LEAF]],
    b: *mut T,
    bl: Layout,
}

impl<T: Scalar> Task for Leaf<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { coefficients, b, bl } = self;
        let mut columns = [<T as Ring>::ZERO; LEAF * WIDTHS[0]];
        let mut first = 0;
        while first < bl.cols {
            let left = bl.cols - first;
            let width = left.min(if left > WIDTHS[1] { WIDTHS[0] } else { WIDTHS[1] });
            let part = part(bl, &Block { rows: 0..bl.rows, cols: first..first + width });
            // SAFETY: (1) our duty 2; (2) the duties of the leaf.
            unsafe {
                if width > WIDTHS[1] {
                    solve_columns::<T, S, { WIDTHS[0] }>(coefficients, b, part, columns.as_chunks_mut().0);
                } else {
                    solve_columns::<T, S, { WIDTHS[1] }>(coefficients, b, part, columns.as_chunks_mut().0);
                }
            }
            first += width;
        }
    }
}

/// Solves at most `W` columns, in `x`.
///
/// # Safety
/// 1. The CPU has the instructions of `S`. 2. The matrix is writable and initialised at `bl` of `b`, and no other
///    thread touches it.
#[inline(always)]
unsafe fn solve_columns<T: Scalar, S: Isa, const W: usize>(
    coefficients: &[[T; LEAF]],
    b: *mut T,
    bl: Layout,
    x: &mut [[T; W]],
) {
    let Layout { rows: n, cols: width, offset, rs, cs } = bl;
    let x = &mut x[..n];
    let p = b.wrapping_add(offset);
    // Squares are turned fast if columns ascend: the copy has its rows reversed rather.
    let (step, last) = (W as isize, n as isize - 1);
    let (p, rs, first, step) = if rs < 0 { (p.wrapping_offset(last * rs), -rs, last, -step) } else { (p, rs, 0, step) };
    let copy = x.as_mut_ptr().wrapping_offset(first);
    // SAFETY: duties 1 and 2; the copy has as many rows.
    unsafe {
        if cs == 1 && width == W {
            for i in 0..n as isize {
                *copy.offset(i * step.signum()) = p.offset(i * rs).cast::<[T; W]>().read();
            }
        } else {
            T::turn::<S>(n, width, (p, rs, cs), (copy.cast(), step, 1));
            if width < W {
                x.iter_mut().for_each(|row| row[width..].fill(<T as Ring>::ZERO));
            }
        }
        T::substitute::<S, LEAF, W>(coefficients, x);
        let copy = x.as_ptr().wrapping_offset(first);
        if cs == 1 && width == W {
            for i in 0..n as isize {
                p.offset(i * rs).cast::<[T; W]>().write(*copy.offset(i * step.signum()));
            }
        } else {
            T::turn::<S>(n, width, (copy.cast(), step, 1), (p, rs, cs));
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
