//! Attention of one head by tiles: the scores of some rows against some columns at a time, never all of them.
//!
//! Forward: for each block of rows, blocks of columns are processed in turn; a row has the largest score so far,
//! the sum of exponentials and the weighted values relative to it, and scales both down when a larger score
//! comes. Backward: the weights of a tile are computed again from the scores and the saved logarithms of the sums. Both
//! products of a tile are those of `kernels::matmul`; `tile` has what is between them.

mod tile;

use std::ops::Range;

use super::real::Real;

use super::matmul::{GemmScalar, gemm};
use super::real::Ring;
use super::simd::{InstructionSet, for_isa};
use crate::pointwise::copy_strided;
use crate::thresholds::attention::{COLUMNS, PACKED_FROM, PANEL, PANEL_BYTES, ROWS};
use tile::{Ending, InnerProducts, ScaledRows, SoftmaxTile, SoftmaxTileBackward};

/// A matrix at any strides, in elements.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<T> {
    pub p: *mut T,
    pub rs: isize,
    pub cs: isize,
}

impl<T: Copy> Matrix<T> {
    fn at(self, i: usize, j: usize) -> *mut T {
        self.p.wrapping_offset((i as isize).wrapping_mul(self.rs).wrapping_add((j as isize).wrapping_mul(self.cs)))
    }
    fn from(self, i: usize, j: usize) -> Self {
        Self { p: self.at(i, j), ..self }
    }
    /// Rows of `width`, one after the other.
    fn rows(p: *mut T, width: usize) -> Self {
        Self { p, rs: width as isize, cs: 1 }
    }
}

/// What all heads have in common.
#[derive(Clone, Copy, Debug)]
pub struct Plan<T> {
    pub queries: usize,
    pub keys: usize,
    /// Of queries and keys.
    pub width: usize,
    pub value_width: usize,
    pub scale: T,
    /// Row `i` sees only the columns up to `i`.
    pub causal: bool,
}

/// What a head reads: `query` (queries, width), `key` (keys, width), `value` (keys, value_width), and a mask that is
/// added to the scores (queries, keys).
#[derive(Clone, Copy, Debug)]
pub struct Head<T> {
    pub query: Matrix<T>,
    pub key: Matrix<T>,
    pub value: Matrix<T>,
    pub mask: Option<Matrix<T>>,
}

/// What the backward pass reads, and where it adds to: `query` is written, `key` and `value` are added to, where given.
#[derive(Clone, Copy, Debug)]
pub struct Gradients<T> {
    pub grad: Matrix<T>,
    pub out: Matrix<T>,
    /// One number for each row.
    pub lse: *const T,
    pub query: Option<Matrix<T>>,
    pub key: Option<Matrix<T>>,
    pub value: Option<Matrix<T>>,
}

/// A matrix with its rows read as columns, maybe copied to panels of `panel_width` columns.
#[derive(Clone, Copy)]
enum Flipped<T> {
    Panels(*const T),
    Strided(Matrix<T>),
}

fn panel_width<T>(width: usize) -> usize {
    if width * PANEL * size_of::<T>() <= PANEL_BYTES { PANEL } else { PANEL / 2 }
}

impl<T: Real + GemmScalar> Plan<T> {
    const NOTHING: T = <T as Ring>::ZERO;

    fn packs(&self) -> bool {
        self.queries >= PACKED_FROM
    }
    fn panels(&self, width: usize) -> usize {
        if self.packs() { self.keys.next_multiple_of(64) * width } else { 0 }
    }
    /// How many products the two matrix products of a head sum.
    pub fn terms(&self) -> f64 {
        self.queries as f64 * self.keys as f64 * (self.width + self.value_width) as f64
    }

    /// Elements of scratch that [`Plan::forward`] takes.
    pub fn forward_scratch(&self) -> usize {
        self.panels(self.width) + ROWS * (COLUMNS + self.width + self.value_width + 2)
    }
    /// Elements of scratch that [`Plan::backward`] takes.
    pub fn backward_scratch(&self) -> usize {
        self.panels(self.width)
            + self.panels(self.value_width)
            + ROWS * (2 * COLUMNS + 2 * self.width + self.value_width + 1)
    }

    /// The rows of `x` (keys, width) as columns.
    ///
    /// # Safety
    /// 1. `x` is readable. 2. Nobody writes it meanwhile.
    unsafe fn flipped(&self, x: Matrix<T>, width: usize, panels: &mut [T]) -> Flipped<T> {
        if !self.packs() {
            return Flipped::Strided(x);
        }
        let w = panel_width::<T>(width);
        assert!(panels.len() >= self.panels(width), "the panels hold all rows");
        for (panel, j) in panels.chunks_exact_mut(w * width.max(1)).zip((0..self.keys).step_by(w)) {
            let (sizes, strides) = ([width, w.min(self.keys - j)], [x.cs, x.rs]);
            // SAFETY: (1) duty 1, and a panel has `width` runs of `w`; (2) the panel is borrowed mutably; (3) runs lie
            // apart.
            unsafe { copy_strided(&sizes, x.at(j, 0), &strides, panel.as_mut_ptr(), &[w as isize, 1]) };
        }
        Flipped::Panels(panels.as_ptr())
    }

    /// Writes the products of `m` rows of `a` with columns `columns` of `b`, whose start is a multiple of `COLUMNS`, to
    /// a tile.
    ///
    /// # Safety
    /// 1. `a` is readable, `b` is what `flipped` made of something still readable. 2. The tile has `m` rows.
    unsafe fn product(
        &self,
        m: usize,
        a: Matrix<T>,
        b: Flipped<T>,
        width: usize,
        columns: Range<usize>,
        tile: &mut [T],
    ) {
        let (c, n) = (tile.as_mut_ptr(), columns.len());
        debug_assert!(tile.len() >= m * COLUMNS && n <= COLUMNS);
        let rs = COLUMNS as isize;
        match b {
            // SAFETY: (1), (2), (4) our duties; (3) the tile is borrowed mutably.
            Flipped::Strided(b) => unsafe {
                gemm(m, n, width, a.p, a.rs, a.cs, b.at(columns.start, 0), b.cs, b.rs, false, c, rs, 1);
            },
            Flipped::Panels(p) => {
                let w = panel_width::<T>(width);
                for j in (0..n).step_by(w) {
                    let panel = p.wrapping_add((columns.start + j) * width);
                    // SAFETY: as above; panel `j / w` of `width` runs of `w` is in the scratch, and its columns in the
                    // tile.
                    unsafe {
                        gemm(m, w.min(n - j), width, a.p, a.rs, a.cs, panel, w as isize, 1, false, c.add(j), rs, 1)
                    }
                }
            }
        }
    }

    /// Rows of `x`, scaled, one after the other.
    ///
    /// # Safety
    /// 1. The rows are readable and initialised, and nobody writes them meanwhile.
    unsafe fn copy_rows(&self, x: Matrix<T>, sizes: [usize; 2], scale: T, to: &mut [T]) {
        assert!(to.len() >= sizes[0] * sizes[1], "there is room for all rows");
        let to = Matrix::rows(to.as_mut_ptr(), sizes[1]);
        // SAFETY: (1) ours; as just asked for, and borrowed mutably.
        unsafe { for_isa(InstructionSet::detect(), ScaledRows { from: x, to, sizes, factors: &[scale] }) };
    }

    /// The columns that rows `rows` see.
    fn seen(&self, rows: &Range<usize>) -> usize {
        if self.causal { self.keys.min(rows.end) } else { self.keys }
    }
    /// The offset of a tile's diagonal to the right, where columns after it are masked.
    fn diagonal(&self, rows: &Range<usize>, columns: &Range<usize>) -> Option<isize> {
        self.causal.then(|| rows.start as isize - columns.start as isize)
    }

    /// Weighted values of one head to `out`, and the logarithm of each row's sum of exponentials to `lse`.
    ///
    /// # Safety
    /// 1. What the head reads is readable in the extents of the plan and initialised, and nobody writes it meanwhile.
    /// 2. `out` (queries, value_width) and `lse` (queries) are writable and disjoint from all else.
    pub unsafe fn forward(&self, head: &Head<T>, out: Matrix<T>, lse: *mut T, scratch: &mut [T]) {
        let (width, value_width) = (self.width, self.value_width);
        let (panels, rest) = scratch.split_at_mut(self.panels(width));
        let (tile, rest) = rest.split_at_mut(ROWS * COLUMNS);
        let (q, rest) = rest.split_at_mut(ROWS * width);
        let (sums, rest) = rest.split_at_mut(ROWS);
        let (tops, o) = rest.split_at_mut(ROWS);
        // SAFETY: duty 1.
        let keys = unsafe { self.flipped(head.key, width, panels) };
        for i in (0..self.queries).step_by(ROWS) {
            let rows = i..self.queries.min(i + ROWS);
            let m = rows.len();
            // SAFETY: duty 1.
            unsafe { self.copy_rows(head.query.from(i, 0), [m, width], self.scale, q) };
            sums.fill(Self::NOTHING);
            tops.fill(T::of(f64::NEG_INFINITY));
            let seen = self.seen(&rows);
            if seen == 0 {
                o.fill(Self::NOTHING);
            }
            for j in (0..seen).step_by(COLUMNS) {
                let columns = j..seen.min(j + COLUMNS);
                let n = columns.len();
                let a = Matrix::rows(q.as_mut_ptr(), width);
                // SAFETY: duty 1; the copy of the query has `m` rows, the tile `ROWS`.
                unsafe { self.product(m, a, keys, width, columns.clone(), tile) };
                let soften = SoftmaxTile {
                    tile: &mut *tile,
                    columns: n,
                    diagonal: self.diagonal(&rows, &columns),
                    mask: head.mask.map(|mask| mask.from(i, j)),
                    tops: &mut tops[..m],
                    sums: &mut *sums,
                    gathered: if j == 0 { &mut [] } else { &mut *o },
                    width: value_width,
                };
                // SAFETY: duty 1 for the mask; rows and columns are within its extents.
                unsafe { for_isa(InstructionSet::detect(), soften) };
                let v = head.value.from(j, 0);
                let (p, c, after) = (tile.as_ptr(), o.as_mut_ptr(), j > 0);
                // SAFETY: (1) the tile, and duty 1. (2), (3) `o` is borrowed mutably, its `m` rows are written when the
                // first columns are. (4) Duty 1.
                unsafe {
                    gemm(m, value_width, n, p, COLUMNS as isize, 1, v.p, v.rs, v.cs, after, c, value_width as isize, 1);
                }
            }
            let from = Matrix::rows(o.as_mut_ptr(), value_width);
            let end = Ending { sums: &mut sums[..m], tops, from, to: out.from(i, 0), width: value_width };
            // SAFETY: (1) `o` has `m` rows; duty 2. (2) Duty 2: `lse` has a number for each row.
            unsafe {
                for_isa(InstructionSet::detect(), end);
                lse.add(i).copy_from_nonoverlapping(tops.as_ptr(), m);
            }
        }
    }

    /// Gradients of one head.
    ///
    /// # Safety
    /// 1. What is read is readable in the extents of the plan and initialised, and nobody writes it meanwhile.
    /// 2. What is written is writable in the extents of what it is the gradient of, disjoint from all else, and holds
    ///    numbers where it is added to.
    pub unsafe fn backward(&self, head: &Head<T>, to: &Gradients<T>, scratch: &mut [T]) {
        let (width, value_width) = (self.width, self.value_width);
        let (panels, rest) = scratch.split_at_mut(self.panels(width));
        let (value_panels, rest) = rest.split_at_mut(self.panels(value_width));
        let (tile, rest) = rest.split_at_mut(ROWS * COLUMNS);
        let (dtile, rest) = rest.split_at_mut(ROWS * COLUMNS);
        let (q, rest) = rest.split_at_mut(ROWS * width);
        let (dq, rest) = rest.split_at_mut(ROWS * width);
        let (along, g) = rest.split_at_mut(ROWS);
        // SAFETY: duty 1.
        let (keys, values) =
            unsafe { (self.flipped(head.key, width, panels), self.flipped(head.value, value_width, value_panels)) };
        let across = COLUMNS as isize;
        for i in (0..self.queries).step_by(ROWS) {
            let rows = i..self.queries.min(i + ROWS);
            let m = rows.len();
            // SAFETY: duty 1.
            unsafe {
                self.copy_rows(head.query.from(i, 0), [m, width], self.scale, q);
                self.copy_rows(to.grad.from(i, 0), [m, value_width], T::ONE, g);
                let along = InnerProducts { x: to.out.from(i, 0), y: &*g, width: value_width, to: &mut along[..m] };
                for_isa(InstructionSet::detect(), along);
            }
            let seen = self.seen(&rows);
            if seen == 0 {
                dq.fill(Self::NOTHING);
            }
            for j in (0..seen).step_by(COLUMNS) {
                let columns = j..seen.min(j + COLUMNS);
                let n = columns.len();
                // SAFETY: duty 1; the copies have `m` rows, the tiles `ROWS`.
                unsafe {
                    self.product(m, Matrix::rows(q.as_mut_ptr(), width), keys, width, columns.clone(), tile);
                    let a = Matrix::rows(g.as_mut_ptr(), value_width);
                    self.product(m, a, values, value_width, columns.clone(), dtile);
                }
                // SAFETY: duty 1: rows `rows` of the logarithms.
                let lse = unsafe { std::slice::from_raw_parts(to.lse.add(i), m) };
                let pull = SoftmaxTileBackward {
                    tile: &mut *tile,
                    dtile: &mut *dtile,
                    columns: n,
                    diagonal: self.diagonal(&rows, &columns),
                    mask: head.mask.map(|mask| mask.from(i, j)),
                    lse,
                    along: &*along,
                };
                // SAFETY: duty 1 for the mask; rows and columns are within its extents.
                unsafe { for_isa(InstructionSet::detect(), pull) };
                let (p, dp) = (tile.as_ptr(), dtile.as_ptr());
                // SAFETY: (1) tiles and copies in this scratch, and duty 1 for the keys. (2), (3) Duty 2, and `dq`,
                // which is borrowed mutably. (4) Both duties.
                unsafe {
                    if let Some(dv) = to.value {
                        let c = dv.at(j, 0);
                        gemm(
                            n,
                            value_width,
                            m,
                            p,
                            1,
                            across,
                            g.as_ptr(),
                            value_width as isize,
                            1,
                            true,
                            c,
                            dv.rs,
                            dv.cs,
                        );
                    }
                    if let Some(dk) = to.key {
                        gemm(
                            n,
                            width,
                            m,
                            dp,
                            1,
                            across,
                            q.as_ptr(),
                            width as isize,
                            1,
                            true,
                            dk.at(j, 0),
                            dk.rs,
                            dk.cs,
                        );
                    }
                    if to.query.is_some() {
                        let (k, c, after) = (head.key.from(j, 0), dq.as_mut_ptr(), j > 0);
                        gemm(m, width, n, dp, across, 1, k.p, k.rs, k.cs, after, c, width as isize, 1);
                    }
                }
            }
            if let Some(to) = to.query {
                let (from, to) = (Matrix::rows(dq.as_mut_ptr(), width), to.from(i, 0));
                let scaled = ScaledRows { from, to, sizes: [m, width], factors: &[self.scale] };
                // SAFETY: (1) the rows of the scratch, and duty 2.
                unsafe { for_isa(InstructionSet::detect(), scaled) };
            }
        }
    }
}
