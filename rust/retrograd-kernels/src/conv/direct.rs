//! Convolutions between single channels, as depthwise ones are: sums over the taps without a matrix product, whose
//! panels would be used for one row only.

use std::ops::Range;

use super::grid::Grid;
use crate::matmul::{Routine, Simd, Vectors, sum};

/// Some rows of one channel of the small side.
///
/// Duties: `copy` is a padded copy of layout `grid`, readable for [`super::grid::SLACK`] more elements; `offsets` are
/// those of the grid, `w` has one element for each; `y` is where row 0 begins, writable for the positions of `rows`,
/// and overlaps neither.
pub(super) struct Direct<'a, T> {
    pub grid: &'a Grid,
    pub offsets: &'a [usize],
    pub copy: *const T,
    pub w: *const T,
    /// What the sums start from.
    pub start: T,
    /// `d * height + h` is row `h` of plane `d`.
    pub rows: Range<usize>,
    pub y: *mut T,
}

impl<T: Vectors> Routine for Direct<'_, T> {
    type Elem = T;

    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        let [_, height, width] = self.grid.extents();
        // SAFETY: our duties: `y` is where a row's positions begin, `x` where they begin in the copy.
        unsafe {
            for row in self.rows.clone() {
                let (d, h) = (row / height, row % height);
                let x = self.copy.add(d * self.grid.units[0] + h * self.grid.units[1]);
                let y = self.y.add(row * width);
                let mut at = 0;
                while at < width {
                    let columns = (4 * V::LEN).min(width - at);
                    let (x, y) = (x.add(at), y.add(at));
                    match columns.div_ceil(V::LEN) {
                        1 => self.strip::<V, 1>(x, y, columns),
                        2 => self.strip::<V, 2>(x, y, columns),
                        3 => self.strip::<V, 3>(x, y, columns),
                        _ => self.strip::<V, 4>(x, y, columns),
                    }
                    at += columns;
                }
            }
        }
    }
}

impl<T: Vectors> Direct<'_, T> {
    /// `columns` positions of a row, in `C` vectors, of which the last may be shorter.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`]; the positions lie in one row.
    #[inline(always)]
    unsafe fn strip<V: Simd<Elem = T>, const C: usize>(&self, x: *const T, y: *mut T, columns: usize) {
        // SAFETY: our duties; the last vector reads past its row, but not past the slack, and is written in part.
        unsafe {
            let mut acc = [V::splat(&raw const self.start); C];
            for (r, &offset) in self.offsets.iter().enumerate() {
                let w = V::splat(self.w.add(r));
                let x = x.add(offset);
                for (j, acc) in acc.iter_mut().enumerate() {
                    *acc = w.fma(V::load(x.add(j * V::LEN)), *acc);
                }
            }
            for (j, acc) in acc.iter().enumerate() {
                let left = columns - j * V::LEN;
                if left >= V::LEN {
                    acc.store(y.add(j * V::LEN));
                } else {
                    acc.store_first(y.add(j * V::LEN), left);
                }
            }
        }
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
