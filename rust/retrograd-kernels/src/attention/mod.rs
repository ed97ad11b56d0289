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
use crate::thresholds::attention::{COLUMNS, PACKED_FROM, PANEL, PANEL_BYTES, ROWS, STRIP};
use tile::{SoftmaxTile, SoftmaxTileBackward};

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
        let to = panels.as_mut_ptr();
        // Strips of rows that are adjacent in the panel: one run is written at a time.
        for j in (0..self.keys).step_by(STRIP) {
            let at = to.wrapping_add(j / w * w * width + j % w);
            if x.cs == 1 && j + STRIP <= self.keys {
                for c in 0..width {
                    for k in 0..STRIP {
                        // SAFETY: duties 1 and 2 for the source. A panel has a multiple of `STRIP` columns, and all
                        // panels were just found to fit.
                        unsafe { *at.add(c * w + k) = *x.at(j + k, c) }
                    }
                }
                continue;
            }
            for k in 0..STRIP.min(self.keys - j) {
                for c in 0..width {
                    // SAFETY: as above.
                    unsafe { *at.add(c * w + k) = *x.at(j + k, c) }
                }
            }
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

    /// The inner products of `m` rows of `x` with those of `g`, one after the other.
    ///
    /// # Safety
    /// 1. The rows are readable. 2. Nobody writes them meanwhile.
    unsafe fn inner_products(&self, x: Matrix<T>, m: usize, g: &[T], to: &mut [T]) {
        for (r, to) in to.iter_mut().enumerate().take(m) {
            let g = &g[r * self.value_width..][..self.value_width];
            *to = Self::NOTHING;
            for (c, &g) in g.iter().enumerate() {
                // SAFETY: duties 1 and 2.
                *to = to.add(g.mul(unsafe { *x.at(r, c) }));
            }
        }
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
            unsafe { copy_scaled(head.query.from(i, 0), m, width, self.scale, q) };
            o[..m * value_width].fill(Self::NOTHING);
            sums.fill(Self::NOTHING);
            tops.fill(T::of(f64::NEG_INFINITY));
            let seen = self.seen(&rows);
            for j in (0..seen).step_by(COLUMNS) {
                let columns = j..seen.min(j + COLUMNS);
                let n = columns.len();
                let a = Matrix::rows(q.as_mut_ptr(), width);
                // SAFETY: duty 1; the copy of the query has `m` rows, the tile `ROWS`.
                unsafe { self.product(m, a, keys, width, columns.clone(), tile) };
                let soften = SoftmaxTile {
                    tile: &mut *tile,
                    rows: m,
                    columns: n,
                    diagonal: self.diagonal(&rows, &columns),
                    mask: head.mask.map(|mask| mask.from(i, j)),
                    tops: &mut *tops,
                    sums: &mut *sums,
                    out: &mut *o,
                    width: value_width,
                };
                // SAFETY: duty 1 for the mask; rows and columns are within its extents.
                unsafe { for_isa(InstructionSet::detect(), soften) };
                let v = head.value.from(j, 0);
                // SAFETY: (1) the tile, and duty 1. (2), (3) `o` is borrowed mutably, its `m` rows are filled. (4) Duty
                // 1.
                unsafe {
                    let (p, c) = (tile.as_ptr(), o.as_mut_ptr());
                    gemm(m, value_width, n, p, COLUMNS as isize, 1, v.p, v.rs, v.cs, true, c, value_width as isize, 1);
                }
            }
            let share = |r: usize| if sums[r] == Self::NOTHING { Self::NOTHING } else { T::ONE.div(sums[r]) };
            // SAFETY: duty 2.
            unsafe { write_scaled(&o[..m * value_width], value_width, share, out.from(i, 0)) };
            for r in 0..m {
                // SAFETY: duty 2.
                unsafe { *lse.add(i + r) = tops[r].add(sums[r].ln()) }
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
                copy_scaled(head.query.from(i, 0), m, width, self.scale, q);
                copy_scaled(to.grad.from(i, 0), m, value_width, T::ONE, g);
            }
            // SAFETY: duty 1.
            unsafe { self.inner_products(to.out.from(i, 0), m, g, along) };
            dq.fill(Self::NOTHING);
            let seen = self.seen(&rows);
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
                        let k = head.key.from(j, 0);
                        gemm(m, width, n, dp, across, 1, k.p, k.rs, k.cs, true, dq.as_mut_ptr(), width as isize, 1);
                    }
                }
            }
            if let Some(to) = to.query {
                // SAFETY: duty 2.
                unsafe { write_scaled(&dq[..m * width], width, |_| self.scale, to.from(i, 0)) };
            }
        }
    }
}

/// `m` rows of `x`, scaled, one after the other.
///
/// # Safety
/// 1. The rows are readable. 2. Nobody writes them meanwhile.
unsafe fn copy_scaled<T: Real>(x: Matrix<T>, m: usize, width: usize, scale: T, to: &mut [T]) {
    for (r, to) in to.chunks_mut(width.max(1)).take(m).enumerate() {
        if x.cs == 1 {
            // SAFETY: duties 1 and 2.
            let from = unsafe { std::slice::from_raw_parts(x.at(r, 0), to.len()) };
            for (o, &v) in to.iter_mut().zip(from) {
                *o = v.mul(scale);
            }
            continue;
        }
        for (c, o) in to.iter_mut().enumerate() {
            // SAFETY: duties 1 and 2.
            *o = unsafe { *x.at(r, c) }.mul(scale);
        }
    }
}

/// Rows of `width` to rows of `to`, each times its factor.
///
/// # Safety
/// 1. The rows are writable, and disjoint from all else.
unsafe fn write_scaled<T: Real>(from: &[T], width: usize, factors: impl Fn(usize) -> T, to: Matrix<T>) {
    for (r, from) in from.chunks(width.max(1)).enumerate() {
        let factor = factors(r);
        if to.cs == 1 {
            // SAFETY: duty 1.
            let row = unsafe { std::slice::from_raw_parts_mut(to.at(r, 0), from.len()) };
            for (o, &v) in row.iter_mut().zip(from) {
                *o = v.mul(factor);
            }
            continue;
        }
        for (c, &v) in from.iter().enumerate() {
            // SAFETY: duty 1.
            unsafe { *to.at(r, c) = v.mul(factor) }
        }
    }
}
