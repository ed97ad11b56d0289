//! What happens to a tile of scores between the two products.

use super::Matrix;
use crate::kernels::real::Real;
use crate::kernels::simd::{Isa, Task};

/// Columns of a tile, and the distance of its rows.
pub(super) const COLUMNS: usize = 256;
/// Partial results of a row: enough to fill vectors, few enough to stay in registers.
const LANES: usize = 16;

/// Floats with an exponential that loops over rows vectorise.
pub trait Exponential: Real {
    /// `exp(x)` for `x` not above the logarithm of the largest number; 0 where that would be denormal.
    fn exponential(self) -> Self;
}

impl Exponential for f32 {
    /// Cephes `expf`: `x = n ln 2 + r`, a polynomial for `exp(r)`, and `n` added to the exponent. Without branches.
    #[inline(always)]
    fn exponential(self) -> f32 {
        const LEAST: f32 = -87.336_54;
        const MAGIC: f32 = 12_582_912.0; // 1.5 * 2^23: added, it rounds to an integer in the lowest bits
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -0.000_212_194_44;
        let x = if self < LEAST { LEAST } else { self };
        let shifted = x * std::f32::consts::LOG2_E + MAGIC;
        let n = shifted - MAGIC;
        let r = x - n * LN2_HIGH - n * LN2_LOW;
        let mut p = 0.000_198_756_91_f32;
        p = p * r + 0.001_398_2;
        p = p * r + 0.008_333_452;
        p = p * r + 0.041_665_796;
        p = p * r + 0.166_666_66;
        p = p * r + 0.5;
        let y = p * r * r + r + 1.0;
        let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
        if self < LEAST { 0.0 } else { y * power }
    }
}

impl Exponential for f64 {
    #[inline(always)]
    fn exponential(self) -> f64 {
        self.exp()
    }
}

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
            *x = x.plus(m);
        }
        return;
    }
    for (c, x) in x.iter_mut().enumerate() {
        // SAFETY: duty 1.
        *x = x.plus(unsafe { *p.offset(c as isize * mask.cs) });
    }
}

/// The largest element; NaN is not looked for.
#[inline(always)]
fn largest<T: Real>(x: &[T]) -> T {
    let mut lanes = [T::of(f64::NEG_INFINITY); LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for part in whole {
        for (m, &v) in lanes.iter_mut().zip(part) {
            *m = if v > *m { v } else { *m };
        }
    }
    let mut m = T::of(f64::NEG_INFINITY);
    for &v in lanes.iter().chain(rest) {
        m = if v > m { v } else { m };
    }
    m
}

/// Exponentials of a row less `top`, in its place; their sum.
#[inline(always)]
fn exponentials<T: Exponential>(x: &mut [T], top: T) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (whole, rest) = x.as_chunks_mut::<LANES>();
    for part in whole {
        for (sum, v) in lanes.iter_mut().zip(part) {
            *v = v.minus(top).exponential();
            *sum = sum.plus(*v);
        }
    }
    let mut sum = T::ZERO;
    for v in rest {
        *v = v.minus(top).exponential();
        sum = sum.plus(*v);
    }
    for &part in &lanes {
        sum = sum.plus(part);
    }
    sum
}

/// Scores become weights relative to the row's largest score so far; what a row has gathered shrinks to the new one.
///
/// Duties: the mask is readable in `rows` and `columns`.
pub(super) struct Soften<'a, T> {
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

impl<T: Exponential> Task for Soften<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Soften { tile, rows, columns, diagonal, mask, tops, sums, out, width } = self;
        let none = T::of(f64::NEG_INFINITY);
        for r in 0..rows {
            let (x, unseen) = tile[r * COLUMNS..][..columns].split_at_mut(seen(diagonal, r, columns));
            unseen.fill(T::ZERO);
            if let Some(mask) = mask {
                // SAFETY: our duty.
                unsafe { add_mask(x, mask, r) };
            }
            let top = largest(x);
            if top == none {
                // Nothing is seen, or nothing but NaN.
                let mut fill = T::ZERO;
                for &v in x.iter() {
                    fill = if v.is_nan() { v } else { fill };
                }
                x.fill(fill);
                sums[r] = sums[r].plus(fill);
                continue;
            }
            let top = if top > tops[r] { top } else { tops[r] };
            let shrink = tops[r].minus(top).exponential();
            sums[r] = sums[r].times(shrink).plus(exponentials(x, top));
            tops[r] = top;
            if shrink != T::ONE {
                for o in &mut out[r * width..][..width] {
                    *o = o.times(shrink);
                }
            }
        }
    }
}

/// Scores become weights, and gradients of weights those of scores: `w = exp(s - lse)`, `ds = w (dw - along)`, where
/// `along` is the sum of `w dw` over the row.
///
/// Duties: the mask is readable in the rows of `lse` and `columns`.
pub(super) struct Pull<'a, T> {
    pub tile: &'a mut [T],
    pub dtile: &'a mut [T],
    pub columns: usize,
    pub diagonal: Option<isize>,
    pub mask: Option<Matrix<T>>,
    pub lse: &'a [T],
    pub along: &'a [T],
}

impl<T: Exponential> Task for Pull<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Pull { tile, dtile, columns, diagonal, mask, lse, along } = self;
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
            for (x, d) in x.iter_mut().zip(d) {
                *x = x.minus(lse).exponential();
                *d = x.times(d.minus(along));
            }
        }
    }
}
