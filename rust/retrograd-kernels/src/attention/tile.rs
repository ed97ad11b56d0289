//! What happens to a tile of scores between the two products.

use super::Matrix;
use crate::pointwise::row;
use crate::real::Real;
use crate::rows::{OfSum, Scaled, ShiftedBy, dot, exp_and_sum, larger, row_max};
use crate::simd::{Isa, Task};
use crate::thresholds::attention::{COLUMNS, ROWS};

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

/// Scores become weights relative to the row's largest score so far; what a row has gathered shrinks to the new one.
///
/// Duties: the mask is readable in the rows of `tops` and in `columns`.
pub(super) struct SoftmaxTile<'a, T> {
    pub tile: &'a mut [T],
    pub columns: usize,
    pub diagonal: Option<isize>,
    pub mask: Option<Matrix<T>>,
    pub tops: &'a mut [T],
    pub sums: &'a mut [T],
    /// Rows of `width`; none before the first columns.
    pub gathered: &'a mut [T],
    pub width: usize,
}

impl<T: Real> Task for SoftmaxTile<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let SoftmaxTile { tile, columns, diagonal, mask, tops, sums, gathered, width } = self;
        // A row without a score that counts has no largest one. Its weights are relative to 0.
        let finite = |top: T| if top == T::of(f64::NEG_INFINITY) { T::ZERO } else { top };
        let mut shrink = [T::ZERO; ROWS];
        for (r, (top, shrink)) in tops.iter_mut().zip(&mut shrink).enumerate() {
            let (x, unseen) = tile[r * COLUMNS..][..columns].split_at_mut(seen(diagonal, r, columns));
            unseen.fill(T::ZERO);
            if let Some(mask) = mask {
                // SAFETY: our duty.
                unsafe { add_mask(x, mask, r) };
            }
            // SAFETY: Task 2.
            let now = larger(*top, unsafe { row_max::<S, T>(x) });
            *shrink = top.sub(finite(now));
            *top = now;
        }
        let p = shrink[..tops.len()].as_mut_ptr();
        // SAFETY: (1, 2) the output is the input; (3) Task 2.
        unsafe { row::<S, T, 1, _>(&ShiftedBy(T::ZERO), tops.len(), [p.cast_const()], p) };
        for (r, (&top, &shrink)) in tops.iter().zip(&shrink).enumerate() {
            let p = tile[r * COLUMNS..][..seen(diagonal, r, columns)].as_mut_ptr();
            // SAFETY: (1, 2) the output is the input; (3) Task 2.
            let sum = unsafe { exp_and_sum::<S, T>(p.cast_const(), finite(top), seen(diagonal, r, columns), p) };
            sums[r] = sums[r].mul(shrink).add(sum);
            if shrink != T::ONE
                && let Some(gathered) = gathered.get_mut(r * width..(r + 1) * width)
            {
                for v in gathered {
                    *v = v.mul(shrink);
                }
            }
        }
    }
}

/// Rows are divided by their sums; the largest scores become the logarithms of the sums of exponentials.
///
/// Duties: 1. `from` is readable and initialised, `to` writable, for as many rows of `width` as there are sums, and
/// they are disjoint.
pub(super) struct Ending<'a, T> {
    pub sums: &'a mut [T],
    pub tops: &'a mut [T],
    pub from: Matrix<T>,
    pub to: Matrix<T>,
    pub width: usize,
}

impl<T: Real> Task for Ending<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Ending { sums, tops, from, to, width } = self;
        let mut logs = [T::ZERO; ROWS];
        let p = logs[..sums.len()].as_mut_ptr();
        // SAFETY: (1) as many numbers on both sides; (2) they are apart; (3) Task 2.
        unsafe { row::<S, T, 1, _>(&OfSum::<true>, sums.len(), [sums.as_ptr()], p) };
        for ((sum, top), log) in sums.iter_mut().zip(tops).zip(logs) {
            *top = top.add(log);
            // A row without columns.
            *sum = if *sum == T::ZERO { T::ZERO } else { T::ONE.div(*sum) };
        }
        // SAFETY: (1) ours; Task 2.
        unsafe { ScaledRows { from, to, sizes: [sums.len(), width], factors: sums }.run::<S>() };
    }
}

/// Rows, each times its factor, or all times the only one.
///
/// Duties: 1. `from` is readable and initialised, `to` writable, in these sizes, and they are disjoint.
pub(super) struct ScaledRows<'a, T> {
    pub from: Matrix<T>,
    pub to: Matrix<T>,
    pub sizes: [usize; 2],
    pub factors: &'a [T],
}

impl<T: Real> Task for ScaledRows<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let ScaledRows { from, to, sizes: [rows, width], factors } = self;
        for r in 0..rows {
            let factor = *factors.get(r).unwrap_or(&factors[0]);
            if from.cs == 1 && to.cs == 1 {
                // SAFETY: (1, 2) ours; (3) Task 2.
                unsafe { row::<S, T, 1, _>(&Scaled(factor), width, [from.at(r, 0).cast_const()], to.at(r, 0)) };
                continue;
            }
            for c in 0..width {
                // SAFETY: (1) ours.
                unsafe { *to.at(r, c) = (*from.at(r, c)).mul(factor) };
            }
        }
    }
}

/// The inner products of rows of `x` with those of `y`, which lie one after the other.
///
/// Duties: 1. `x` is readable and initialised in as many rows of `width` as there are products, and nobody writes it
/// meanwhile.
pub(super) struct InnerProducts<'a, T> {
    pub x: Matrix<T>,
    pub y: &'a [T],
    pub width: usize,
    pub to: &'a mut [T],
}

impl<T: Real> Task for InnerProducts<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let InnerProducts { x, y, width, to } = self;
        for (r, to) in to.iter_mut().enumerate() {
            let y = &y[r * width..][..width];
            // SAFETY: (1) ours; Task 2.
            *to = unsafe {
                if x.cs == 1 {
                    dot::<S, T>(std::slice::from_raw_parts(x.at(r, 0), width), y)
                } else {
                    (0..width).fold(T::ZERO, |sum, c| sum.add(y[c].mul(*x.at(r, c))))
                }
            };
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
