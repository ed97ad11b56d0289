//! Linear maps along one axis, given by a table: every result is a weighted sum of a few elements.

use super::parallel::{SharedPtr, split};
use super::real::Ring;
use super::simd::{InstructionSet, Isa, Task, for_isa};
use crate::{OutOfMemory, Result};

/// What an element of the result takes in nanoseconds.
const COST: f64 = 0.3;
/// Elements from which on a stretch is copied: fewer take longer to call the copy than to be read one by one.
const COPIED: usize = 8;
/// Positions for each stretch, of a line in which short stretches are stretches of their own.
const FEW: usize = 4;

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

/// Neighbouring positions of the result, of which a line is made.
#[derive(Debug, PartialEq)]
enum Stretch {
    /// The operand's elements from `from` on, as they are.
    Copy { from: usize, to: usize, len: usize },
    /// Weighted sums.
    Sums { to: usize, len: usize },
}

/// The stretches of a table, for blocks of `inner` elements. Where there would be many, short ones are sums.
fn stretches(table: &ResampleTable, inner: usize) -> Vec<Stretch> {
    let all = stretches_from(table, inner, 1);
    if all.len() * FEW <= table.to() { all } else { stretches_from(table, inner, COPIED) }
}

/// [`stretches`], of which copies have at least `least` elements.
fn stretches_from(table: &ResampleTable, inner: usize, least: usize) -> Vec<Stretch> {
    // The element of which a position is a copy.
    let copied = |o: usize| match table.taps[table.starts[o]..table.starts[o + 1]] {
        [(i, 1.0)] => Some(i),
        _ => None,
    };
    let (mut all, mut sums, mut o) = (Vec::new(), 0, 0);
    while o < table.to() {
        let mut len = 1;
        if let Some(from) = copied(o) {
            while o + len < table.to() && copied(o + len) == Some(from + len) {
                len += 1;
            }
            if len * inner >= least {
                if sums < o {
                    all.push(Stretch::Sums { to: sums, len: o - sums });
                }
                all.push(Stretch::Copy { from, to: o, len });
                sums = o + len;
            }
        }
        o += len;
    }
    if sums < o {
        all.push(Stretch::Sums { to: sums, len: o - sums });
    }
    all
}

/// Duties: 1. `x` is readable for `outer` blocks of `table.from` rows of `inner` elements. 2. `y` is writable for
/// `outer` blocks of `table.to()` such rows and overlaps nothing else. 3. `weights` are those of the table's taps.
struct Along<'a, T> {
    table: &'a ResampleTable,
    weights: &'a [T],
    stretches: &'a [Stretch],
    outer: usize,
    inner: usize,
    x: *const T,
    y: *mut T,
}

impl<T: Ring> Along<'_, T> {
    /// Some positions of block `b`, in blocks of one element.
    ///
    /// # Safety
    /// The duties of [`Along`], with rows of one element, and there are these positions.
    #[inline(always)]
    unsafe fn elements(&self, b: usize, positions: std::ops::Range<usize>) {
        // SAFETY: duties 1 and 2.
        let (x, y) = unsafe { (self.x.add(b * self.table.from), self.y.add(b * self.table.to())) };
        for o in positions {
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

    /// As [`Along::elements`], in blocks of any size.
    ///
    /// # Safety
    /// The duties of [`Along`], and there are these positions.
    #[inline(always)]
    unsafe fn rows(&self, b: usize, positions: std::ops::Range<usize>) {
        let (from, to, n) = (self.table.from, self.table.to(), self.inner);
        for o in positions {
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

impl<T: Ring> Task for Along<'_, T> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let (from, to, n) = (self.table.from, self.table.to(), self.inner);
        for b in 0..self.outer {
            for stretch in self.stretches {
                // SAFETY: our own duties; a table's stretches are positions of the result, and what they copy is inside
                // the operand, which does not overlap the result.
                unsafe {
                    match *stretch {
                        Stretch::Copy { from: i, to: o, len } => {
                            let (x, y) = (self.x.add((b * from + i) * n), self.y.add((b * to + o) * n));
                            if len * n >= COPIED {
                                x.copy_to_nonoverlapping(y, len * n);
                            } else {
                                (0..len * n).for_each(|j| *y.add(j) = *x.add(j));
                            }
                        }
                        Stretch::Sums { to, len } if n == 1 => self.elements(b, to..to + len),
                        Stretch::Sums { to, len } => self.rows(b, to..to + len),
                    }
                }
            }
        }
    }
}

/// Applies a table along the middle axis of `outer` by `table.from()` by `inner` elements. Threads share the outer
/// ones.
///
/// # Panics
/// If the slices do not hold these.
pub fn along<T: Ring>(table: &ResampleTable, x: &[T], y: &mut [T], outer: usize, inner: usize) {
    assert!(x.len() == outer * table.from * inner && y.len() == outer * table.to() * inner, "whole blocks");
    let weights: Vec<T> = table.taps.iter().map(|&(_, w)| T::constant(w.into())).collect();
    let (weights, stretches) = (&weights[..], &stretches(table, inner)[..]);
    let cost = (table.taps.len().max(table.to()) * outer * inner) as f64 * COST;
    let (x, to) = (SharedPtr(x.as_ptr().cast_mut()), SharedPtr(y.as_mut_ptr()));
    split(outer, 1, cost, &|some| {
        let (before, outer) = (some.start, some.len());
        // SAFETY: (1, 2) the lengths were checked, a mutable borrow overlaps nothing, and no other piece has these
        // blocks; (3) as made.
        unsafe {
            let x = x.get().cast_const().add(before * table.from * inner);
            let y = to.get().add(before * table.to() * inner);
            for_isa(InstructionSet::detect(), Along { table, weights, stretches, outer, inner, x, y });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of 20 that repeats its ends, adds some, and leaves one out.
    fn table() -> ResampleTable {
        let taps = |o: usize| match o {
            0..3 => vec![(2 - o, 1.0)],
            3..14 => vec![(o - 3, 1.0)],
            14 => vec![(3, 0.5), (4, 1.0), (5, 2.0)],
            15 => vec![],
            16 => vec![(1, 2.0)],
            _ => vec![(o - 8, 1.0)],
        };
        ResampleTable::new(20, 3, (0..28).map(taps)).unwrap()
    }

    #[test]
    fn stretches_are_the_positions_in_order() {
        let one = stretches_from(&table(), 1, COPIED);
        let (a, b) = (Stretch::Copy { from: 0, to: 3, len: 11 }, Stretch::Copy { from: 9, to: 17, len: 11 });
        assert_eq!(one, [Stretch::Sums { to: 0, len: 3 }, a, Stretch::Sums { to: 14, len: 3 }, b]);
        assert_eq!(stretches(&table(), 8)[0], Stretch::Copy { from: 2, to: 0, len: 1 });
        // A border of three around 40: copies of one element, and of the line.
        let reflected = |o: usize| [(o.abs_diff(3).min(81 - o), 1.0)];
        let one = stretches(&ResampleTable::new(40, 1, (0..46).map(reflected)).unwrap(), 1);
        let copies = [(3, 0, 1), (2, 1, 1), (1, 2, 1), (0, 3, 40), (38, 43, 1), (37, 44, 1), (36, 45, 1)];
        assert_eq!(one, copies.map(|(from, to, len)| Stretch::Copy { from, to, len }));
    }

    #[test]
    fn short_copies_are_elements() {
        let reflected = |o: usize| [(o.abs_diff(3).min(81 - o), 1.0)];
        let table = ResampleTable::new(40, 1, (0..46).map(reflected)).unwrap();
        for inner in [1, 2, 3, 9] {
            let x: Vec<f64> = (0..2 * 40 * inner).map(|i| i as f64).collect();
            let mut y = vec![-1.0; 2 * 46 * inner];
            along(&table, &x, &mut y, 2, inner);
            for (at, &y) in y.iter().enumerate() {
                let (b, o, j) = (at / inner / 46, at / inner % 46, at % inner);
                assert_eq!(y, ((b * 40 + reflected(o)[0].0) * inner + j) as f64);
            }
        }
    }

    #[test]
    fn copies_and_sums_make_the_line() {
        let table = table();
        for (outer, inner) in [(3, 1), (2, 5), (1, 9), (0, 4)] {
            let x: Vec<f32> = (0..outer * 20 * inner).map(|i| (i as f32 * 0.7).sin()).collect();
            let mut y = vec![f32::NAN; outer * 28 * inner];
            along(&table, &x, &mut y, outer, inner);
            for (at, &y) in y.iter().enumerate() {
                let (b, o, j) = (at / inner / 28, at / inner % 28, at % inner);
                let taps = &table.taps[table.starts[o]..table.starts[o + 1]];
                let want = taps.iter().map(|&(i, w)| x[(b * 20 + i) * inner + j] * w as f32).sum::<f32>();
                assert!(y == want, "{outer} {inner}: {o} is {y}, not {want}");
            }
        }
        let mut y = [1.0f64; 28];
        along(&table, &[-0.0; 20], &mut y, 1, 1);
        assert!(y.iter().enumerate().all(|(o, y)| y.is_sign_negative() == (o != 15)));
    }
}
