//! Parts of a matrix in a slice, and the product by which recursions update one part by another.

use std::ops::Range;

use retrograd_kernels::matmul::{Layout, gemm_conj};

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

/// Side of the squares in which a matrix changes its order: a row of one fills a cache line.
const SQUARE: usize = 8;

/// Copies a matrix between memories of any strides, in squares. Not a part of its callers, of which there are many.
///
/// # Safety
/// 1. Every element is readable at `from` and writable at `to`, which share no memory.
#[inline(never)]
pub unsafe fn transfer<T: Scalar>(
    rows: usize,
    cols: usize,
    from: (*const T, isize, isize),
    to: (*mut T, isize, isize),
) {
    // SAFETY: duty 1.
    unsafe { transfer_here(rows, cols, from, to) }
}

/// As [`transfer`], for a caller that knows some of the strides.
///
/// # Safety
/// As [`transfer`].
#[inline(always)]
pub unsafe fn transfer_here<T: Scalar>(
    rows: usize,
    cols: usize,
    (from, rs, cs): (*const T, isize, isize),
    (to, to_rs, to_cs): (*mut T, isize, isize),
) {
    let mut square = [[T::ZERO; SQUARE]; SQUARE];
    for first in (0..rows).step_by(SQUARE) {
        for start in (0..cols).step_by(SQUARE) {
            // SAFETY: duty 1.
            unsafe {
                let from = from.offset(first as isize * rs + start as isize * cs);
                let to = to.offset(first as isize * to_rs + start as isize * to_cs);
                let (m, n) = (SQUARE.min(rows - first), SQUARE.min(cols - start));
                if rs == 1 && to_cs == 1 && m == SQUARE && n == SQUARE {
                    for (j, column) in square.iter_mut().enumerate() {
                        *column = from.offset(j as isize * cs).cast::<[T; SQUARE]>().read();
                    }
                    for i in 0..SQUARE {
                        let mut row = [T::ZERO; SQUARE];
                        for (x, column) in row.iter_mut().zip(&square) {
                            *x = column[i];
                        }
                        to.offset(i as isize * to_rs).cast::<[T; SQUARE]>().write(row);
                    }
                } else if cs == 1 && to_rs == 1 && m == SQUARE && n == SQUARE {
                    for (i, row) in square.iter_mut().enumerate() {
                        *row = from.offset(i as isize * rs).cast::<[T; SQUARE]>().read();
                    }
                    for j in 0..SQUARE {
                        let mut column = [T::ZERO; SQUARE];
                        for (x, row) in column.iter_mut().zip(&square) {
                            *x = row[j];
                        }
                        to.offset(j as isize * to_cs).cast::<[T; SQUARE]>().write(column);
                    }
                } else {
                    for j in 0..n as isize {
                        for i in 0..m as isize {
                            *to.offset(i * to_rs + j * to_cs) = *from.offset(i * rs + j * cs);
                        }
                    }
                }
            }
        }
    }
}

/// A column-major copy of a matrix.
pub fn copy<T: Scalar>((a, of): (&[T], Layout), to: &mut [T], f: impl Fn(T) -> T) {
    let n = of.rows;
    assert!(of.fits(a.len()) && n * of.cols <= to.len(), "outside the slice: {of:?}");
    if of.rs == 1 {
        for j in 0..if n == 0 { 0 } else { of.cols } {
            let from = &a[at(of, 0, j)..][..n];
            to[j * n..(j + 1) * n].iter_mut().zip(from).for_each(|(to, &x)| *to = f(x));
        }
        return;
    }
    let from = (a.as_ptr().wrapping_add(of.offset), of.rs, of.cs);
    // SAFETY: the matrix and its copy are in the slices, as just checked, which are borrowed apart.
    unsafe { transfer(n, of.cols, from, (to.as_mut_ptr(), 1, n as isize)) };
    to[..n * of.cols].iter_mut().for_each(|x| *x = f(*x));
}

/// A copy of a matrix whose rows are contiguous if its own are, and otherwise its columns.
pub fn copy_along<'a, T: Scalar>((a, of): (&[T], Layout), to: &'a mut [T], f: impl Fn(T) -> T) -> (&'a [T], Layout) {
    if of.cs == 1 {
        copy((a, transposed(of)), to, f);
        (to, Layout::row_major(of.rows, of.cols))
    } else {
        copy((a, of), to, f);
        (to, Layout::column_major(of.rows, of.cols))
    }
}

/// `c = a b`, or `c += a b` if `adds`, with A conjugated if so told.
///
/// # Panics
/// If extents disagree, or a matrix leaves its slice.
pub fn multiply<T: Scalar>(
    (a, al, conj): (&[T], Layout, bool),
    (b, bl): (&[T], Layout),
    adds: bool,
    (c, cl): (&mut [T], Layout),
) {
    let (m, n, k) = (al.rows, bl.cols, al.cols);
    assert!(bl.rows == k && cl.rows == m && cl.cols == n, "extents disagree: {al:?} {bl:?} {cl:?}");
    let fit = al.fits(a.len()) && bl.fits(b.len()) && cl.fits(c.len()) && cl.distinct();
    assert!(fit, "outside the slice: {al:?} {bl:?} {cl:?}");
    let (a, b) = (a.as_ptr().wrapping_add(al.offset), b.as_ptr().wrapping_add(bl.offset));
    let c = c.as_mut_ptr().wrapping_add(cl.offset);
    // SAFETY: (1), (2) the matrices are in their slices, as just checked; (3) elements of C are distinct, as just
    // checked, and its slice is borrowed apart; (4) the slices are borrowed for the call.
    unsafe { gemm_conj(m, n, k, a, al.rs, al.cs, b, bl.rs, bl.cs, adds, c, cl.rs, cl.cs, [conj, false]) }
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
    let to = data.as_mut_ptr();
    // SAFETY: the matrices are in their slices, and the blocks in the matrix, as just checked, elements of the matrix
    // are distinct, and the blocks share none.
    unsafe { add((a.as_ptr(), al, false), (to.cast_const(), bl), (to, cl)) }
}

/// `c += a * b`, with A conjugated if so told.
///
/// # Safety
/// 1. A and B are readable and initialised where they are said to be, C also writable; extents agree. 2. Elements of C
///    are distinct, and none is in A or B. 3. No other thread touches C or writes A or B during the call.
pub unsafe fn add<T: Scalar>(
    (a, al, conj): (*const T, Layout, bool),
    (b, bl): (*const T, Layout),
    (c, cl): (*mut T, Layout),
) {
    let (m, n, k) = (al.rows, bl.cols, al.cols);
    let (a, b, c) = (a.wrapping_add(al.offset), b.wrapping_add(bl.offset), c.wrapping_add(cl.offset));
    // SAFETY: (1), (2) duty 1; (3) duty 2; (4) duty 3.
    unsafe { gemm_conj(m, n, k, a, al.rs, al.cs, b, bl.rs, bl.cs, true, c, cl.rs, cl.cs, [conj, false]) }
}
