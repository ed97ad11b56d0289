//! Solutions of triangular systems.
//!
//! Every case is a triangle from the left: one from the right is the transposed system, and layouts express it. A
//! recursion over the matrix product goes down to blocks of `LEAF` rows, from the top of a lower triangle and from
//! the bottom of an upper one, which is a lower one with rows and columns in reverse order.

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::real::Ring;
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::blocks::{Block, add_product, copy_along, part, reversed, reversed_rows, transfer, transposed};

/// Rows that are solved one by one.
const LEAF: usize = 32;
/// Columns that are solved together, if there are so many, and otherwise.
const WIDTHS: [usize; 2] = [32, 8];

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

/// Elements of scratch that [`solve`] needs for a triangle of `n` rows.
pub fn scratch(n: usize) -> usize {
    // What a leaf needs, or the largest block outside of the diagonal, negated.
    if n == 0 { 0 } else { (LEAF * (LEAF + WIDTHS[0])).max(n.pow(2).div_ceil(4)) }
}

/// Rows of the first part of a triangle that is taken apart.
fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(LEAF)
}

/// Solves `A X = B` (`X A = B` unless `left`) in place of B, A being what `triangle` says of the matrix at `al`.
///
/// # Panics
/// If extents disagree, or a matrix leaves its slice.
pub fn solve<T: Scalar>(
    triangle: Triangle,
    left: bool,
    (a, al): (&[T], Layout),
    (b, bl): (&mut [T], Layout),
    scratch: &mut [T],
) {
    solve_within(triangle, left, (Some(a), al), (b, bl), scratch);
}

/// As [`solve`]; without a slice of its own, A is in that of B, with which it shares no element.
pub(crate) fn solve_within<T: Scalar>(
    triangle: Triangle,
    left: bool,
    (a, mut al): (Option<&[T]>, Layout),
    (b, mut bl): (&mut [T], Layout),
    scratch: &mut [T],
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
    if bl.rows > 0 && bl.cols > 0 {
        recurse(triangle, (a, al), (b, bl), scratch);
    }
}

/// As [`solve_within`] from the left, of the matrix at `al` as it is, but for its conjugate.
fn recurse<T: Scalar>(
    triangle: Triangle,
    (a, al): (Option<&[T]>, Layout),
    (b, bl): (&mut [T], Layout),
    scratch: &mut [T],
) {
    let n = al.rows;
    if n <= LEAF {
        let (coefficients, columns) = scratch.split_at_mut(LEAF * LEAF);
        let coefficients = coefficients.as_chunks_mut().0;
        prepare(triangle, (a.unwrap_or(b), al), coefficients);
        let bl = if triangle.upper { reversed_rows(bl) } else { bl };
        // SAFETY: `Leaf` has no duties.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { coefficients: &coefficients[..n], b, bl, columns }) };
    }
    let half = half(n);
    let (first, second) = if triangle.upper { (half..n, 0..half) } else { (0..half, half..n) };
    let [from, to] = [&first, &second].map(|rows| Block { rows: rows.clone(), cols: 0..bl.cols });
    let [corner, last] = [&first, &second].map(|r| part(al, &Block { rows: r.clone(), cols: r.clone() }));
    recurse(triangle, (a, corner), (b, part(bl, &from)), scratch);
    let off = part(al, &Block { rows: second, cols: first });
    let off = copy_along((a.unwrap_or(b), off), scratch, |x| if triangle.conj { x.conj().neg() } else { x.neg() });
    add_product(off, (b, bl), from, to.clone());
    recurse(triangle, (a, last), (b, part(bl, &to)), scratch);
}

/// Writes the rows of a triangle of at most [`LEAF`] rows, a lower one: negated below the diagonal, and inverted on it.
fn prepare<T: Scalar>(triangle: Triangle, (a, al): (&[T], Layout), rows: &mut [[T; LEAF]]) {
    let al = if triangle.upper { reversed(al) } else { al };
    let n = al.rows;
    assert!(n <= rows.len() && n <= LEAF && al.fits(a.len()), "outside the slice: {al:?}");
    let p = a.as_ptr().wrapping_add(al.offset);
    // SAFETY: the matrix is in the slice, and so are its rows, as just checked.
    unsafe { transfer(n, n, (p, al.rs, al.cs), (rows.as_mut_ptr().cast(), LEAF as isize, 1)) };
    for (i, row) in rows[..n].iter_mut().enumerate() {
        if triangle.conj && <T as Ring>::COMPLEX {
            row[..=i].iter_mut().for_each(|x| *x = x.conj());
        }
        row[..i].iter_mut().for_each(|x| *x = x.neg());
        row[i] = if triangle.unit { <T as Ring>::ONE } else { row[i].recip() };
    }
}

/// The solution with a lower triangle, in copies of some columns whose rows are contiguous.
struct Leaf<'a, T> {
    coefficients: &'a [[T; LEAF]],
    b: &'a mut [T],
    bl: Layout,
    columns: &'a mut [T],
}

impl<T: Scalar> Task for Leaf<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { coefficients, b, bl, columns } = self;
        assert!(bl.rows == coefficients.len() && bl.fits(b.len()), "outside the slice: {bl:?}");
        let mut first = 0;
        while first < bl.cols {
            let left = bl.cols - first;
            let width = left.min(if left > WIDTHS[1] { WIDTHS[0] } else { WIDTHS[1] });
            let part = part(bl, &Block { rows: 0..bl.rows, cols: first..first + width });
            // SAFETY: (1) our duty 2; (2) the whole matrix is in the slice.
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
/// 1. The CPU has the instructions of `S`. 2. The matrix is in the slice.
#[inline(always)]
unsafe fn solve_columns<T: Scalar, S: Isa, const W: usize>(
    coefficients: &[[T; LEAF]],
    b: &mut [T],
    bl: Layout,
    x: &mut [[T; W]],
) {
    let Layout { rows: n, cols: width, offset, rs, cs } = bl;
    let x = &mut x[..n];
    let p = b.as_mut_ptr().wrapping_add(offset);
    // SAFETY: duties 1 and 2; `b` is borrowed mutably.
    unsafe {
        if cs == 1 && width == W {
            for (i, row) in x.iter_mut().enumerate() {
                *row = p.offset(i as isize * rs).cast::<[T; W]>().read();
            }
        } else {
            transfer(n, width, (p, rs, cs), (x.as_mut_ptr().cast(), W as isize, 1));
            if width < W {
                x.iter_mut().for_each(|row| row[width..].fill(<T as Ring>::ZERO));
            }
        }
        for i in 0..n {
            let (done, rest) = x.split_at_mut(i);
            T::combine::<S, W>(&mut rest[0], &coefficients[i][..i], done);
            let inverse = coefficients[i][i];
            rest[0].iter_mut().for_each(|x| *x = x.mul(inverse));
        }
        if cs == 1 && width == W {
            for (i, row) in x.iter().enumerate() {
                p.offset(i as isize * rs).cast::<[T; W]>().write(*row);
            }
        } else {
            transfer(n, width, (x.as_ptr().cast(), W as isize, 1), (p, rs, cs));
        }
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;
    use retrograd_kernels::real::Real;

    use super::*;
    use crate::blocks::at;

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
            solve(triangle, left, (&a, whole), (&mut x, bl), &mut vec![<T as Ring>::ZERO; scratch(n)]);
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
        for (n, columns) in [(1, 1), (7, 3), (8, 8), (9, 33), (32, 32), (33, 40), (40, 5), (65, 9), (97, 3)] {
            check::<f32>(n, columns, |x, _| x as f32);
            check::<f64>(n, columns, |x, _| x);
            check::<Complex<f64>>(n, columns, Complex::new);
        }
    }

    #[test]
    fn scratch_is_enough_for_parts() {
        for n in 1..300 {
            assert!(half(n) >= n || half(n) * (n - half(n)) <= scratch(n));
            assert!(scratch(n - 1) <= scratch(n));
        }
    }
}
