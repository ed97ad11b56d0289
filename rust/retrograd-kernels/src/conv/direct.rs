//! Convolutions whose sums are taken from the padded copy as it lies: between single channels, as depthwise ones are,
//! and few others, so that the panels of a matrix product would be read a few times only.

use std::ops::Range;

use super::grid::Grid;
use crate::matmul::{Routine, Rows, Simd, Vectors, lanes, sum};
use crate::thresholds::matmul::DEPTH_BYTES;

/// Some pieces of every channel of the small side.
///
/// Duties: `copy` is a padded copy of layout `grid`, readable for [`super::grid::SLACK`] more elements; `offsets` are
/// those of the grid, `w` has a row with one element for each, for each of `channels`; `start` has one element for each
/// channel, or is null; `y` is writable for the positions of `pieces` in each channel, and overlaps none of them.
pub(super) struct Direct<'a, T> {
    pub grid: &'a Grid,
    pub offsets: &'a [usize],
    pub copy: *const T,
    pub w: *const T,
    pub channels: usize,
    /// What the sums of each channel start from; null for zeros.
    pub start: *const T,
    /// Below [`pieces`].
    pub pieces: Range<usize>,
    /// Where the first channel begins; the others follow it.
    pub y: *mut T,
}

/// What it takes to write a row of a panel, two vectors, in multiplications of two vectors: with 5, 32 channels of rows
/// of 56 positions, seven eighths of whole vectors, took the same time both ways.
const PANEL_STEPS: usize = 3;

/// Whether sums of `channels` over `terms` terms are taken directly: what is lost in vectors that rows do not fill is
/// less than panels take, and a part of the weights stays in the cache.
pub(super) fn is_direct<T: Vectors>(grid: &Grid, channels: usize, terms: usize) -> bool {
    let (lanes, [_, _, width]) = (lanes::<T>(), grid.extents());
    let filled = width.next_multiple_of(lanes) * channels <= width * (channels + PANEL_STEPS);
    channels == 1 || filled && (channels <= PANEL_STEPS || terms * size_of::<T>() <= DEPTH_BYTES)
}

/// How many pieces the positions are.
pub(super) fn pieces<T: Vectors>(grid: &Grid) -> usize {
    let [depth, height, width] = grid.extents();
    depth * height * width.div_ceil(lanes::<T>())
}

/// Neighbours in a row of positions, as many as a vector has, or those that are left.
#[derive(Clone, Copy, Default)]
struct Piece {
    /// Where the first one lies in the copy, for a tap of offset 0.
    x: usize,
    /// Where it is in a channel of the small side.
    y: usize,
    len: usize,
}

impl<T: Vectors> Routine for Direct<'_, T> {
    type Elem = T;

    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        // SAFETY: our duties.
        unsafe {
            // Of one channel a sum would wait for the one before it.
            if self.channels == 1 { self.walk::<V, 4>() } else { self.walk::<V, 2>() }
        }
    }
}

impl<T: Vectors> Direct<'_, T> {
    /// All positions, `C` pieces at a time.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`].
    #[inline(always)]
    unsafe fn walk<V: Simd<Elem = T>, const C: usize>(&self) {
        let [_, height, width] = self.grid.extents();
        let (start, beside) = (self.pieces.start, width.div_ceil(V::LEN));
        let (mut row, mut at) = (start / beside, start % beside * V::LEN);
        let mut pieces = [Piece::default(); C];
        let mut count = 0;
        let mut x = row / height * self.grid.units[0] + row % height * self.grid.units[1];
        for _ in self.pieces.clone() {
            pieces[count] = Piece { x: x + at, y: row * width + at, len: V::LEN.min(width - at) };
            count += 1;
            if count == C {
                // SAFETY: our duties; the pieces are among ours.
                unsafe { self.columns::<V, C>(&pieces) }
                count = 0;
            }
            at += V::LEN;
            if at >= width {
                (row, at) = (row + 1, 0);
                x = row / height * self.grid.units[0] + row % height * self.grid.units[1];
            }
        }
        if count > 0 {
            // The last one is summed more than once.
            for i in count..C {
                pieces[i] = pieces[count - 1];
            }
            // SAFETY: as above.
            unsafe { self.columns::<V, C>(&pieces) }
        }
    }

    /// The sums of all channels at some pieces.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`]; the pieces are among ours.
    #[inline(always)]
    unsafe fn columns<V: Simd<Elem = T>, const C: usize>(&self, pieces: &[Piece; C]) {
        let rows = Rows::of::<T>(self.offsets.len() as isize);
        let mut i = 0;
        while i < self.channels {
            let left = self.channels - i;
            // SAFETY: our duties, for as many channels as are left at least.
            unsafe {
                i += match left {
                    8.. if C == 2 && V::ROWS >= 8 => self.tile::<V, 8, C>(i, &rows, pieces),
                    6.. if C == 2 && V::ROWS == 6 => self.tile::<V, 6, C>(i, &rows, pieces),
                    4.. if C == 2 => self.tile::<V, 4, C>(i, &rows, pieces),
                    2.. if C == 2 => self.tile::<V, 2, C>(i, &rows, pieces),
                    _ => self.tile::<V, 1, C>(i, &rows, pieces),
                }
            }
        }
    }

    /// The sums of the `R` channels from `first` on at some pieces; returns `R`.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`]; there are as many channels, the pieces are among ours.
    #[inline(always)]
    unsafe fn tile<V: Simd<Elem = T>, const R: usize, const C: usize>(
        &self,
        first: usize,
        rows: &Rows,
        pieces: &[Piece; C],
    ) -> usize {
        let [depth, height, width] = self.grid.extents();
        // SAFETY: our duties; a vector reads past its piece, but not past the slack, and is written in part.
        unsafe {
            let mut acc = [[V::zero(); C]; R];
            if !self.start.is_null() {
                for (i, acc) in acc.iter_mut().enumerate() {
                    *acc = [V::splat(self.start.add(first + i)); C];
                }
            }
            let w = self.w.add(first * self.offsets.len());
            let x: [*const T; C] = std::array::from_fn(|j| self.copy.wrapping_add(pieces[j].x));
            for (r, &offset) in self.offsets.iter().enumerate() {
                let mut row = [V::zero(); C];
                for (j, v) in row.iter_mut().enumerate() {
                    *v = V::load(x[j].add(offset));
                }
                for (i, acc) in acc.iter_mut().enumerate() {
                    let w = V::splat(rows.at(w.add(r), i));
                    for (j, acc) in acc.iter_mut().enumerate() {
                        *acc = w.fma(row[j], *acc);
                    }
                }
            }
            let y = self.y.add(first * depth * height * width);
            for (i, acc) in acc.iter().enumerate() {
                let y = y.add(i * depth * height * width);
                for (j, acc) in acc.iter().enumerate() {
                    let to = y.add(pieces[j].y);
                    if pieces[j].len == V::LEN { acc.store(to) } else { acc.store_first(to, pieces[j].len) }
                }
            }
        }
        R
    }
}

/// The weight's gradient from one channel of the small side: for each tap the sum of products, added to `out`.
///
/// Duties: those of [`Direct`] for all rows and some of the grid's offsets, `y` being read and `out` written, one
/// element for each tap.
pub(super) struct Dots<'a, T> {
    pub grid: &'a Grid,
    pub offsets: &'a [usize],
    pub copy: *const T,
    pub y: *const T,
    pub out: *mut T,
}

/// Taps that are summed together.
pub(super) const TAPS: usize = 8;

impl<T: Vectors> Routine for Dots<'_, T> {
    type Elem = T;

    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        let mut at = 0;
        // SAFETY: our duties; taps `at ..` below their number.
        unsafe {
            while self.offsets.len() - at >= TAPS {
                self.taps::<V, TAPS>(at);
                at += TAPS;
            }
            while at < self.offsets.len() {
                self.taps::<V, 1>(at);
                at += 1;
            }
        }
    }
}

impl<T: Vectors> Dots<'_, T> {
    /// The sums of `N` taps.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`]; `first + N` is at most the number of taps.
    #[inline(always)]
    unsafe fn taps<V: Simd<Elem = T>, const N: usize>(&self, first: usize) {
        let [depth, height, width] = self.grid.extents();
        // SAFETY: our duties. Of a vector that reaches past the row only the part inside is read: what follows may be
        // infinite, and its product with zero would be NaN.
        unsafe {
            let mut acc = [V::zero(); N];
            let mut y = self.y;
            for d in 0..depth {
                for h in 0..height {
                    let x = self.copy.add(d * self.grid.units[0] + h * self.grid.units[1]);
                    for at in (0..width).step_by(V::LEN) {
                        let left = width - at;
                        if left >= V::LEN {
                            let g = V::load(y.add(at));
                            for (j, acc) in acc.iter_mut().enumerate() {
                                *acc = g.fma(V::load(x.add(self.offsets[first + j] + at)), *acc);
                            }
                        } else {
                            let g = V::load_first(y.add(at), left);
                            for (j, acc) in acc.iter_mut().enumerate() {
                                *acc = g.fma(V::load_first(x.add(self.offsets[first + j] + at), left), *acc);
                            }
                        }
                    }
                    y = y.add(width);
                }
            }
            for (j, &acc) in acc.iter().enumerate() {
                let out = self.out.add(first + j);
                *out = (*out).plus(sum(acc));
            }
        }
    }
}
