//! Solutions of triangular systems.
//!
//! Every case is one: a lower triangle from the left. A triangle from the right is the transposed system, an upper one
//! that with rows and columns in reverse order, and layouts express both. The triangle is copied first: conjugated if
//! asked for, negated below the diagonal, so that the recursion only adds products, and inverted on it.

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::blocks::{Block, add_product, at, part, reversed, reversed_rows, transposed};

/// Rows that are solved one by one.
const LEAF: usize = 16;
/// Columns that are solved together.
const WIDTH: usize = 8;

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
    n * n
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
    let n = al.rows;
    let (mut upper, mut al, mut bl) = (triangle.upper, al, bl);
    if triangle.transposed == left {
        al = transposed(al);
        upper = !upper;
    }
    if !left {
        bl = transposed(bl);
    }
    assert!(al.cols == n && bl.rows == n, "extents disagree: {al:?} {bl:?}");
    if n == 0 || bl.cols == 0 {
        return;
    }
    if upper {
        al = reversed(al);
        bl = reversed_rows(bl);
    }
    let lower = prepare(triangle, (a, al), scratch);
    forward((lower, Layout::column_major(n, n)), (b, bl));
}

/// As [`solve`] from the left, of a lower triangle that is neither transposed nor conjugated, in the slice of B itself.
pub(crate) fn solve_within<T: Scalar>(triangle: Triangle, a: &mut [T], al: Layout, bl: Layout, scratch: &mut [T]) {
    let n = al.rows;
    if n > 0 && bl.cols > 0 {
        let lower = prepare(triangle, (a, al), scratch);
        forward((lower, Layout::column_major(n, n)), (a, bl));
    }
}

/// The copy of a lower triangle that the module's documentation describes, column-major.
fn prepare<'a, T: Scalar>(triangle: Triangle, (a, al): (&[T], Layout), scratch: &'a mut [T]) -> &'a [T] {
    let n = al.rows;
    let lower = &mut scratch[..n * n];
    for j in 0..n {
        let column = &mut lower[j * n..(j + 1) * n];
        for (i, to) in column.iter_mut().enumerate().skip(j + 1) {
            let x = a[at(al, i, j)].neg();
            *to = if triangle.conj { x.conj() } else { x };
        }
        column[j] = match triangle.unit {
            true => T::ONE,
            false if triangle.conj => a[at(al, j, j)].conj().recip(),
            false => a[at(al, j, j)].recip(),
        };
    }
    lower
}

/// Solves with a prepared lower triangle.
fn forward<T: Scalar>((lower, ll): (&[T], Layout), (b, bl): (&mut [T], Layout)) {
    let n = ll.rows;
    if n <= LEAF {
        // SAFETY: `Leaf` has no duties.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { lower, ll, b, bl }) };
    }
    let half = (n / 2).next_multiple_of(LEAF);
    let (top, rest, cols) = (0..half, half..n, 0..bl.cols);
    forward(
        (lower, part(ll, &Block { rows: top.clone(), cols: top.clone() })),
        (b, part(bl, &Block { rows: top.clone(), cols: cols.clone() })),
    );
    let below = part(ll, &Block { rows: rest.clone(), cols: top.clone() });
    let (first, second) = (Block { rows: top, cols: cols.clone() }, Block { rows: rest.clone(), cols });
    add_product((lower, below), (b, bl), first, second.clone());
    forward((lower, part(ll, &Block { rows: rest.clone(), cols: rest })), (b, part(bl, &second)));
}

/// The solution with at most [`LEAF`] rows, in copies of [`WIDTH`] columns whose rows are contiguous.
struct Leaf<'a, T> {
    lower: &'a [T],
    ll: Layout,
    b: &'a mut [T],
    bl: Layout,
}

impl<T: Scalar> Task for Leaf<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { lower, ll, b, bl } = self;
        let n = ll.rows;
        let mut rows = [[T::ZERO; WIDTH]; LEAF];
        let mut first = 0;
        while first < bl.cols {
            let width = WIDTH.min(bl.cols - first);
            for (i, row) in rows[..n].iter_mut().enumerate() {
                for (j, x) in row[..width].iter_mut().enumerate() {
                    *x = b[at(bl, i, first + j)];
                }
            }
            for k in 0..n {
                let column = &lower[at(ll, k, k)..][..n - k];
                let (done, below) = rows[..n].split_at_mut(k + 1);
                let row = &mut done[k];
                for x in row.iter_mut() {
                    *x = x.mul(column[0]);
                }
                for (to, &factor) in below.iter_mut().zip(&column[1..]) {
                    for (to, &x) in to.iter_mut().zip(row.iter()) {
                        *to = to.add(x.mul(factor));
                    }
                }
            }
            for (i, row) in rows[..n].iter().enumerate() {
                for (j, &x) in row[..width].iter().enumerate() {
                    b[at(bl, i, first + j)] = x;
                }
            }
            first += width;
        }
    }
}
