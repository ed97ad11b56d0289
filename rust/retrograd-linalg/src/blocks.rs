//! Parts of a matrix in a slice, and the product by which recursions update one part by another.

use std::ops::Range;

use retrograd_kernels::matmul::{Layout, gemm};

use crate::Scalar;

/// Rows and columns of a matrix.
#[derive(Clone, Debug)]
pub struct Block {
    pub rows: Range<usize>,
    pub cols: Range<usize>,
}

/// The layout of a block.
pub fn part(of: Layout, block: &Block) -> Layout {
    let offset = of.offset as isize + block.rows.start as isize * of.rs + block.cols.start as isize * of.cs;
    Layout { rows: block.rows.len(), cols: block.cols.len(), offset: offset as usize, ..of }
}

/// The layout of the transposed matrix.
pub fn transposed(of: Layout) -> Layout {
    Layout { rows: of.cols, cols: of.rows, rs: of.cs, cs: of.rs, ..of }
}

/// The layout with the order of rows and columns reversed, which makes a lower triangle of an upper one.
pub fn reversed(of: Layout) -> Layout {
    reversed_rows(Layout { cs: -of.cs, offset: last(of, of.cols, of.cs), ..of })
}

/// The layout with the order of rows reversed.
pub fn reversed_rows(of: Layout) -> Layout {
    Layout { rs: -of.rs, offset: last(of, of.rows, of.rs), ..of }
}

/// The offset of the last element along an axis.
fn last(of: Layout, n: usize, step: isize) -> usize {
    (of.offset as isize + n.saturating_sub(1) as isize * step) as usize
}

/// Where element (i, j) is.
#[inline(always)]
pub fn at(of: Layout, i: usize, j: usize) -> usize {
    (of.offset as isize + i as isize * of.rs + j as isize * of.cs) as usize
}

/// A column-major copy of a matrix.
pub fn copy<T: Scalar>((a, of): (&[T], Layout), to: &mut [T], f: impl Fn(T) -> T) {
    for (j, column) in to[..of.rows * of.cols].chunks_exact_mut(of.rows.max(1)).enumerate() {
        for (i, x) in column.iter_mut().enumerate() {
            *x = f(a[at(of, i, j)]);
        }
    }
}

/// `c += factor * b`, with `b` and `c` disjoint blocks of one matrix.
///
/// # Panics
/// If the matrix leaves its slice, a block the matrix, or the blocks meet.
pub fn add_product<T: Scalar>(factor: (&[T], Layout), (data, of): (&mut [T], Layout), b: Block, c: Block) {
    let (a, al) = factor;
    assert!(al.fits(a.len()) && of.fits(data.len()) && of.distinct(), "outside the slice: {al:?} {of:?}");
    for block in [&b, &c] {
        assert!(block.rows.end <= of.rows && block.cols.end <= of.cols, "outside the matrix: {block:?} {of:?}");
    }
    let apart = |x: &Range<usize>, y: &Range<usize>| x.end <= y.start || y.end <= x.start;
    assert!(apart(&b.rows, &c.rows) || apart(&b.cols, &c.cols), "blocks meet: {b:?} {c:?}");
    let (bl, cl) = (part(of, &b), part(of, &c));
    let (m, n, k) = (al.rows, bl.cols, al.cols);
    assert!(bl.rows == k && cl.rows == m && cl.cols == n, "extents disagree: {al:?} {bl:?} {cl:?}");
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let (from, to) = (a.as_ptr().wrapping_add(al.offset), data.as_mut_ptr());
    let (bp, cp) = (to.wrapping_add(bl.offset).cast_const(), to.wrapping_add(cl.offset));
    // SAFETY: (1), (2) the matrices are in their slices, and the blocks in the matrix, as just checked; (3) elements of
    // the matrix are distinct and the blocks share none; (4) the borrows last as long as the call.
    unsafe { gemm(m, n, k, from, al.rs, al.cs, bp, bl.rs, bl.cs, true, cp, cl.rs, cl.cs) }
}
