//! Linear maps along one axis, given by a table: every result is a weighted sum of a few elements.

use super::real::Ring;
use super::simd::{InstructionSet, Isa, Task, for_isa};
use crate::{OutOfMemory, Result};

/// For every position along an axis of the result, which positions of the operand it sums, and with which weights.
#[derive(Clone, Debug, PartialEq)]
pub struct ResampleTable {
    /// The operand's size along the axis; no tap is at it or beyond.
    from: usize,
    /// Where the taps of a position begin; one more entry than there are positions.
    starts: Vec<usize>,
    taps: Vec<(usize, f64)>,
}

/// An empty vector with space for `n` entries.
fn with_capacity<T>(n: usize) -> Result<Vec<T>> {
    let mut v = Vec::new();
    v.try_reserve_exact(n).map_err(|_| OutOfMemory { bytes: n.saturating_mul(size_of::<T>()) })?;
    Ok(v)
}

impl ResampleTable {
    /// From the taps of each position, `most` at most. An error if there is no memory for them.
    ///
    /// # Panics
    /// If a tap is outside the operand.
    pub fn new<I: IntoIterator<Item = (usize, f64)>>(
        from: usize,
        most: usize,
        positions: impl ExactSizeIterator<Item = I>,
    ) -> Result<Self> {
        let mut table = Self { from, starts: with_capacity(positions.len().saturating_add(1))?, taps: Vec::new() };
        table.taps = with_capacity(positions.len().saturating_mul(most))?;
        table.starts.push(0);
        for taps in positions {
            table.taps.extend(taps);
            table.starts.push(table.taps.len());
        }
        assert!(table.taps.iter().all(|t| t.0 < from), "taps lie inside the operand");
        Ok(table)
    }
    pub fn from(&self) -> usize {
        self.from
    }
    pub fn to(&self) -> usize {
        self.starts.len() - 1
    }
    /// The table of the adjoint map.
    pub fn transposed(&self) -> Self {
        let mut starts = vec![0; self.from + 1];
        for &(i, _) in &self.taps {
            starts[i + 1] += 1;
        }
        for i in 0..self.from {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut taps) = (starts.clone(), vec![(0, 0.0); self.taps.len()]);
        for o in 0..self.to() {
            for &(i, w) in &self.taps[self.starts[o]..self.starts[o + 1]] {
                taps[next[i]] = (o, w);
                next[i] += 1;
            }
        }
        Self { from: self.to(), starts, taps }
    }
}

/// Duties: 1. `x` is readable for `outer` blocks of `table.from` rows of `inner` elements. 2. `y` is writable for
/// `outer` blocks of `table.to()` such rows and overlaps nothing else. 3. `weights` are those of the table's taps.
struct Along<'a, T> {
    table: &'a ResampleTable,
    weights: &'a [T],
    outer: usize,
    inner: usize,
    x: *const T,
    y: *mut T,
}

impl<T: Ring> Along<'_, T> {
    /// # Safety
    /// The duties of [`Along`], with rows of one element.
    #[inline(always)]
    unsafe fn elements(&self) {
        let (from, to) = (self.table.from, self.table.to());
        for b in 0..self.outer {
            // SAFETY: duties 1 and 2.
            let (x, y) = unsafe { (self.x.add(b * from), self.y.add(b * to)) };
            for o in 0..to {
                let (start, end) = (self.table.starts[o], self.table.starts[o + 1]);
                let mut sum = T::ZERO;
                for k in start..end {
                    // SAFETY: duty 1: taps are inside the operand.
                    let term = unsafe { *x.add(self.table.taps[k].0) }.mul(self.weights[k]);
                    // Not added to zero: that would lose the sign of a negative zero.
                    sum = if k == start { term } else { sum.add(term) };
                }
                // SAFETY: duty 2.
                unsafe { *y.add(o) = sum }
            }
        }
    }
}

impl<T: Ring> Task for Along<'_, T> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let (from, to, n) = (self.table.from, self.table.to(), self.inner);
        if n == 1 {
            // SAFETY: our own duties.
            return unsafe { self.elements() };
        }
        for b in 0..self.outer {
            for o in 0..to {
                let (start, end) = (self.table.starts[o], self.table.starts[o + 1]);
                // SAFETY: duties 1 and 2: taps are inside the operand; rows do not overlap.
                let (first, second, y) = unsafe {
                    let row = |k: usize| {
                        let i = if k < end { self.table.taps[k].0 } else { 0 };
                        self.x.add((b * from + i) * n)
                    };
                    (row(start), row(start + 1), self.y.add((b * to + o) * n))
                };
                match end - start {
                    0 => {
                        for j in 0..n {
                            // SAFETY: duty 2.
                            unsafe { *y.add(j) = T::ZERO }
                        }
                        continue;
                    }
                    1 => {
                        let w = self.weights[start];
                        for j in 0..n {
                            // SAFETY: duties 1 and 2.
                            unsafe { *y.add(j) = (*first.add(j)).mul(w) }
                        }
                        continue;
                    }
                    _ => {}
                }
                let (v, w) = (self.weights[start], self.weights[start + 1]);
                for j in 0..n {
                    // SAFETY: duties 1 and 2.
                    unsafe { *y.add(j) = (*first.add(j)).mul(v).add((*second.add(j)).mul(w)) }
                }
                for k in start + 2..end {
                    let w = self.weights[k];
                    // SAFETY: duty 1: taps are inside the operand.
                    let x = unsafe { self.x.add((b * from + self.table.taps[k].0) * n) };
                    for j in 0..n {
                        // SAFETY: duties 1 and 2.
                        unsafe { *y.add(j) = (*y.add(j)).add((*x.add(j)).mul(w)) }
                    }
                }
            }
        }
    }
}

/// Applies a table along the middle axis of `outer` by `table.from()` by `inner` elements.
///
/// # Panics
/// If the slices do not hold these.
pub fn along<T: Ring>(table: &ResampleTable, x: &[T], y: &mut [T], outer: usize, inner: usize) {
    assert!(x.len() == outer * table.from * inner && y.len() == outer * table.to() * inner, "whole blocks");
    let weights: Vec<T> = table.taps.iter().map(|&(_, w)| T::constant(w.into())).collect();
    let task = Along { table, weights: &weights, outer, inner, x: x.as_ptr(), y: y.as_mut_ptr() };
    // SAFETY: (1, 2) the lengths were checked, and a mutable borrow overlaps nothing; (3) as made.
    unsafe { for_isa(InstructionSet::detect(), task) }
}
