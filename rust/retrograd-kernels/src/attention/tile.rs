//! What happens to a tile of scores between the two products.

use super::Matrix;
use crate::pointwise::row;
use crate::real::Real;
use crate::rows::{ShiftedBy, exp_and_sum, row_max};
use crate::simd::{Isa, Task};
use crate::thresholds::attention::COLUMNS;

/// The columns of a row that are seen.
#[inline(always)]
fn seen(diagonal: Option<isize>, row: usize, columns: usize) -> usize {
    match diagonal {
        None => columns,
        Some(d) => (d + row as isize + 1).clamp(0, columns as isize) as usize,
    }
}

/// Adds a row of the mask.
///
/// # Safety
/// 1. The first `x.len()` elements of row `r` are readable.
#[inline(always)]
unsafe fn add_mask<T: Real>(x: &mut [T], mask: Matrix<T>, r: usize) {
    let p = mask.at(r, 0).cast_const();
    if mask.cs == 1 {
        // SAFETY: duty 1.
        let row = unsafe { std::slice::from_raw_parts(p, x.len()) };
        for (x, &m) in x.iter_mut().zip(row) {
            *x = x.add(m);
        }
        return;
    }
    for (c, x) in x.iter_mut().enumerate() {
        // SAFETY: duty 1.
        *x = x.add(unsafe { *p.offset(c as isize * mask.cs) });
    }
}

/// Exponentials of a row less `top`, in its place; their sum.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn exponentials<S: Isa, T: Real>(x: &mut [T], top: T) -> T {
    let p = x.as_mut_ptr();
    // SAFETY: (1, 2) the output is the input; (3) duty 1.
    unsafe { exp_and_sum::<S, T>(p.cast_const(), top, x.len(), p) }
}

/// Scores become weights relative to the row's largest score so far; what a row has gathered shrinks to the new one.
///
/// Duties: the mask is readable in `rows` and `columns`.
pub(super) struct SoftmaxTile<'a, T> {
    pub tile: &'a mut [T],
    pub rows: usize,
    pub columns: usize,
    pub diagonal: Option<isize>,
    pub mask: Option<Matrix<T>>,
    pub tops: &'a mut [T],
    pub sums: &'a mut [T],
    pub out: &'a mut [T],
    pub width: usize,
}

impl<T: Real> Task for SoftmaxTile<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let SoftmaxTile { tile, rows, columns, diagonal, mask, tops, sums, out, width } = self;
        let none = T::of(f64::NEG_INFINITY);
        for r in 0..rows {
            let (x, unseen) = tile[r * COLUMNS..][..columns].split_at_mut(seen(diagonal, r, columns));
            unseen.fill(T::ZERO);
            if let Some(mask) = mask {
                // SAFETY: our duty.
                unsafe { add_mask(x, mask, r) };
            }
            // SAFETY: Task 2.
            let top = unsafe { row_max::<S, T>(x) };
            if top == none {
                // All columns are masked, or all seen scores are NaN.
                let mut fill = T::ZERO;
                for &v in x.iter() {
                    fill = if v.is_nan() { v } else { fill };
                }
                x.fill(fill);
                sums[r] = sums[r].add(fill);
                continue;
            }
            let top = if top > tops[r] { top } else { tops[r] };
            let shrink = tops[r].sub(top).exp();
            // SAFETY: Task 2.
            sums[r] = sums[r].mul(shrink).add(unsafe { exponentials::<S, T>(x, top) });
            tops[r] = top;
            if shrink != T::ONE {
                for o in &mut out[r * width..][..width] {
                    *o = o.mul(shrink);
                }
            }
        }
    }
}

/// Scores become weights, and gradients of weights those of scores: `w = exp(s - lse)`, `ds = w (dw - along)`, where
/// `along` is the sum of `w dw` over the row.
///
/// Duties: the mask is readable in the rows of `lse` and `columns`.
pub(super) struct SoftmaxTileBackward<'a, T> {
    pub tile: &'a mut [T],
    pub dtile: &'a mut [T],
    pub columns: usize,
    pub diagonal: Option<isize>,
    pub mask: Option<Matrix<T>>,
    pub lse: &'a [T],
    pub along: &'a [T],
}

impl<T: Real> Task for SoftmaxTileBackward<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let SoftmaxTileBackward { tile, dtile, columns, diagonal, mask, lse, along } = self;
        for (r, (&lse, &along)) in lse.iter().zip(along).enumerate() {
            let at = r * COLUMNS..r * COLUMNS + columns;
            let n = if lse == T::of(f64::NEG_INFINITY) { 0 } else { seen(diagonal, r, columns) };
            let (x, unseen) = tile[at.clone()].split_at_mut(n);
            let (d, dunseen) = dtile[at].split_at_mut(n);
            unseen.fill(T::ZERO);
            dunseen.fill(T::ZERO);
            if let Some(mask) = mask {
                // SAFETY: our duty.
                unsafe { add_mask(x, mask, r) };
            }
            let p = x.as_mut_ptr();
            // SAFETY: (1, 2) the output is the input; (3) Task 2.
            unsafe { row::<S, T, 1, _>(&ShiftedBy(lse), x.len(), [p.cast_const()], p) };
            for (x, d) in x.iter().zip(d) {
                *d = x.mul(d.sub(along));
            }
        }
    }
}
