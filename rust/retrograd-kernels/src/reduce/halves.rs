//! Rows of halves, made float32 a few blocks at a time: the same trees as those of float32.

use super::super::pointwise::{Half, narrow, widen};
use super::engine::{Cascade, ELEMENT_COST};
use super::{BLOCK, Reduce, row};
use crate::parallel::{SharedPtr, split};
use crate::thresholds::reduce::PART;

/// Elements that are converted at a time: a power of two of blocks, so that the tree stays the same.
const CHUNK: usize = 4 * BLOCK;

/// Reduces rows of `n` halves each, contiguous and one after the other, on several threads if they are long.
///
/// # Panics
/// If the number of elements is not that of the results times `n`.
pub fn reduce_rows_of_halves<R: Reduce<f32, O = f32>>(r: &R, half: Half, n: usize, x: &[u16], o: &mut [u16]) {
    assert!(x.len() == n * o.len());
    let cost = x.len() as f64 * ELEMENT_COST;
    if let [o] = o
        && n >= 2 * PART
    {
        let mut parts = vec![r.init(); n.div_ceil(PART)];
        let out = SharedPtr(parts.as_mut_ptr());
        split(n, PART, cost, &|range| {
            for start in range.clone().step_by(PART) {
                let part = accumulated(r, half, &x[start..(start + PART).min(range.end)]);
                // SAFETY: the part's place is this piece's alone.
                unsafe { *out.get().add(start / PART) = part };
            }
        });
        let mut cascade = Cascade::default();
        parts.into_iter().for_each(|part| cascade.push(r, part));
        return *o = rounded(half, r.finish(cascade.total(r), n));
    }
    let out = SharedPtr(o.as_mut_ptr());
    split(o.len(), 1, cost, &|range| {
        for i in range {
            let sum = r.finish(accumulated(r, half, &x[i * n..(i + 1) * n]), n);
            // SAFETY: the result's place is this piece's alone.
            unsafe { *out.get().add(i) = rounded(half, sum) };
        }
    });
}

/// The accumulator of a row.
fn accumulated<R: Reduce<f32>>(r: &R, half: Half, x: &[u16]) -> R::Acc {
    let mut wide = [0f32; CHUNK];
    let mut cascade = Cascade::default();
    for x in x.chunks(CHUNK) {
        // SAFETY: (widen 1, 2; row 1) `x.len()` elements of both.
        let acc = unsafe {
            widen(half, x.len(), x.as_ptr(), wide.as_mut_ptr());
            row(r, x.len(), wide.as_ptr(), 1)
        };
        if x.len() < CHUNK && cascade.is_empty() {
            return acc;
        }
        cascade.push(r, acc);
    }
    cascade.total(r)
}

fn rounded(half: Half, x: f32) -> u16 {
    let mut o = 0;
    // SAFETY: (narrow 1, 2) one element of both.
    unsafe { narrow(half, 1, &x, &mut o) };
    o
}
