//! Linear maps along one axis, given by a table: every result is a weighted sum of a few elements.

// Loops over the lanes of several arrays.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

use super::parallel::{SharedPtr, split};
use super::pointwise::copy_run;
use super::real::Ring;
use super::simd::{InstructionSet, Isa, Task, for_isa};
use crate::{OutOfMemory, Result};

/// What an element of the result takes in nanoseconds.
const COST: f64 = 0.3;
/// Elements from which on a stretch is copied: fewer take longer to call the copy than to be picked one by one.
const COPIED: usize = 8;
/// Positions that are summed together.
const LANES: usize = 8;

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
    /// The element that position `o` is a copy of, if it is one.
    fn copied(&self, o: usize) -> Option<usize> {
        match self.taps[self.starts[o]..self.starts[o + 1]] {
            [(i, 1.0)] => Some(i),
            _ => None,
        }
    }
    /// The element that each position is a copy of, if all are copies.
    pub fn copies(&self) -> Option<Vec<usize>> {
        (0..self.to()).map(|o| self.copied(o)).collect()
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
    /// Elements as they are, each position with its own one.
    Picks { to: usize, len: usize },
    /// Weighted sums.
    Sums { to: usize, len: usize },
}

impl Stretch {
    /// The first position.
    fn to(&self) -> usize {
        match *self {
            Stretch::Copy { to, .. } | Stretch::Picks { to, .. } | Stretch::Sums { to, .. } => to,
        }
    }
}

/// The stretches of a table, for blocks of `inner` elements.
fn stretches(table: &ResampleTable, inner: usize) -> Vec<Stretch> {
    let (mut all, mut o) = (Vec::new(), 0);
    while o < table.to() {
        let mut len = 1;
        let next = match table.copied(o) {
            None => Stretch::Sums { to: o, len },
            Some(from) => {
                while o + len < table.to() && table.copied(o + len) == Some(from + len) {
                    len += 1;
                }
                if len * inner >= COPIED { Stretch::Copy { from, to: o, len } } else { Stretch::Picks { to: o, len } }
            }
        };
        match (all.last_mut(), &next) {
            (None | Some(Stretch::Copy { .. }), _) | (_, Stretch::Copy { .. }) => all.push(next),
            (Some(Stretch::Sums { len: before, .. }), _)
            | (Some(Stretch::Picks { len: before, .. }), Stretch::Picks { .. }) => *before += len,
            // Picks among sums are sums.
            (Some(last), _) => *last = Stretch::Sums { to: last.to(), len: o + len - last.to() },
        }
        o += len;
    }
    all
}

/// Positions of a line that are sums of equally many elements.
struct Group<T> {
    taps: usize,
    /// In ascending order, the last ones filled up with their last; and whether they are neighbours.
    positions: Vec<([usize; LANES], bool)>,
    /// The elements of all first taps of the first positions, then of all second ones, and so on.
    places: Vec<[usize; LANES]>,
    weights: Vec<[T; LANES]>,
    /// Of two to four taps, neighbours of which each sums the elements behind those of the one before: the first
    /// position and the first element.
    runs: Vec<[usize; 2]>,
    weights_of_runs: Vec<[T; LANES]>,
}

impl<T: Ring> Group<T> {
    /// Of the sums among the stretches of a table; those that are left of groups, too few for the lanes, come behind.
    fn all(table: &ResampleTable, weights: &[T], stretches: &[Stretch]) -> (Vec<Self>, Vec<usize>) {
        let sums = |stretch: &Stretch| match *stretch {
            Stretch::Sums { to, len } => to..to + len,
            _ => 0..0,
        };
        let count = |o: usize| table.starts[o + 1] - table.starts[o];
        let mut positions: Vec<usize> = stretches.iter().flat_map(sums).collect();
        positions.sort_by_key(|&o| count(o));
        let (mut groups, mut rest) = (Vec::new(), Vec::new());
        for all in positions.chunk_by(|&a, &b| count(a) == count(b)) {
            let left = all.len() % LANES;
            let (all, few) = all.split_at(all.len() - if left < LANES / 2 { left } else { 0 });
            rest.extend(few);
            let Some(taps) = all.first().map(|&o| count(o)) else { continue };
            let lanes = |some: &[usize]| -> ([usize; LANES], bool) {
                let all = std::array::from_fn(|l| some[l.min(some.len() - 1)]);
                (all, all.windows(2).all(|pair| pair[0] + 1 == pair[1]))
            };
            let follow = |(to, neighbours): &([usize; LANES], bool)| {
                let taps = &table.taps[table.starts[to[0]]..table.starts[to[LANES - 1] + 1]];
                *neighbours && taps.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0)
            };
            let (runs, positions): (Vec<_>, Vec<_>) =
                all.chunks(LANES).map(lanes).partition(|some| (2..=4).contains(&taps) && follow(some));
            let each = |of: &[([usize; LANES], bool)]| -> Vec<[usize; LANES]> {
                of.iter().flat_map(|some| (0..taps).map(|k| some.0.map(|o| table.starts[o] + k))).collect()
            };
            let weights_of =
                |taps: Vec<[usize; LANES]>| taps.into_iter().map(|taps| taps.map(|k| weights[k])).collect();
            let places = each(&positions).into_iter().map(|taps| taps.map(|k| table.taps[k].0)).collect();
            groups.push(Self {
                taps,
                places,
                weights: weights_of(each(&positions)),
                weights_of_runs: weights_of(each(&runs)),
                runs: runs.iter().map(|(to, _)| [to[0], table.taps[table.starts[to[0]]].0]).collect(),
                positions,
            });
        }
        (groups, rest)
    }
}

impl<T: Ring> Group<T> {
    /// The sums of `TAPS` elements that follow one another.
    ///
    /// # Safety
    /// The duties of [`Along`], for the block at `y` and its source at `x`, with rows of one element, of whose table
    /// the group is, with `TAPS` taps.
    #[inline(always)]
    unsafe fn add_runs<const TAPS: usize>(&self, x: *const T, y: *mut T) {
        for (&[to, from], weights) in self.runs.iter().zip(self.weights_of_runs.chunks_exact(TAPS)) {
            // SAFETY: duty 1: the taps of `LANES` positions, one after the other.
            let x = unsafe { x.add(from).cast::<[[T; TAPS]; LANES]>().read_unaligned() };
            let mut sum = [T::ZERO; LANES];
            for l in 0..LANES {
                sum[l] = x[l][0].mul(weights[0][l]);
                for k in 1..TAPS {
                    sum[l] = sum[l].add(x[l][k].mul(weights[k][l]));
                }
            }
            // SAFETY: duty 2: so many neighbours.
            unsafe { y.add(to).cast::<[T; LANES]>().write_unaligned(sum) };
        }
    }
}

/// Which block of the operand a block of the result is made of.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// Of as many blocks of the result as this has entries, the block of the operand, among `span` of them; so on for
    /// all that follow.
    pub places: &'a [usize],
    pub span: usize,
}

impl Sources<'_> {
    /// Each of its own.
    pub const SAME: Self = Sources { places: &[0], span: 1 };
}

/// The sources of blocks, one after the other. A quotient for each would take as long as a short line.
struct SourceWalk<'a> {
    sources: Sources<'a>,
    set: usize,
    nth: usize,
}

impl<'a> SourceWalk<'a> {
    fn new(sources: Sources<'a>, first: usize) -> Self {
        let count = sources.places.len();
        Self { sources, set: first / count, nth: first % count }
    }
    #[inline(always)]
    fn next(&mut self) -> usize {
        let Sources { places, span } = self.sources;
        let source = self.set * span + places[self.nth];
        (self.set, self.nth) = if self.nth + 1 == places.len() { (self.set + 1, 0) } else { (self.set, self.nth + 1) };
        source
    }
}

/// Duties: 1. `x` is readable for the blocks of `table.from` rows of `inner` elements that are the `sources` of
/// `blocks`. 2. `y` is writable for `blocks` of `table.to()` such rows and overlaps nothing else. 3. `weights` are
/// those of the table's taps. 4. Where rows have one element, `stretches` has the copies alone, `picks` the positions
/// that are picked, each with its element, and `groups` and `rest` are the sums.
struct Along<'a, T> {
    table: &'a ResampleTable,
    weights: &'a [T],
    stretches: &'a [Stretch],
    picks: &'a [[usize; 2]],
    groups: &'a [Group<T>],
    rest: &'a [usize],
    sources: Sources<'a>,
    blocks: Range<usize>,
    inner: usize,
    x: *const T,
    y: *mut T,
}

impl<T: Ring> Along<'_, T> {
    /// Some positions of a block, each a copy.
    ///
    /// # Safety
    /// The duties of [`Along`], for the block at `y` and its source at `x`, and there are these positions, of one tap
    /// each.
    #[inline(always)]
    unsafe fn picks(&self, x: *const T, y: *mut T, positions: Range<usize>) {
        let n = self.inner;
        let taps = &self.table.taps[self.table.starts[positions.start]..];
        for (o, &(i, _)) in positions.zip(taps) {
            for j in 0..n {
                // SAFETY: duties 1 and 2: taps are inside the operand.
                unsafe { *y.add(o * n + j) = *x.add(i * n + j) }
            }
        }
    }

    /// The sums of a block, in rows of one element.
    ///
    /// # Safety
    /// The duties of [`Along`], for the block at `y` and its source at `x`, with rows of one element.
    #[inline(always)]
    unsafe fn elements(&self, x: *const T, y: *mut T) {
        for group in self.groups {
            // SAFETY: our own duties.
            unsafe {
                match group.taps {
                    2 => group.add_runs::<2>(x, y),
                    3 => group.add_runs::<3>(x, y),
                    4 => group.add_runs::<4>(x, y),
                    _ => {}
                }
            }
            let (mut places, mut weights) = (group.places.iter(), group.weights.iter());
            for &(to, neighbours) in &group.positions {
                let mut sum = [T::ZERO; LANES];
                for k in 0..group.taps {
                    let (Some(places), Some(weights)) = (places.next(), weights.next()) else { break };
                    let mut terms = [T::ZERO; LANES];
                    for l in 0..LANES {
                        // SAFETY: duty 1: taps are inside the operand.
                        terms[l] = unsafe { *x.add(places[l]) }.mul(weights[l]);
                    }
                    for l in 0..LANES {
                        // Not added to zero: that would lose the sign of a negative zero.
                        sum[l] = if k == 0 { terms[l] } else { sum[l].add(terms[l]) };
                    }
                }
                if neighbours {
                    // SAFETY: duty 2.
                    unsafe { y.add(to[0]).cast::<[T; LANES]>().write_unaligned(sum) };
                    continue;
                }
                for l in 0..LANES {
                    // SAFETY: duty 2.
                    unsafe { *y.add(to[l]) = sum[l] };
                }
            }
        }
        for &o in self.rest {
            let (start, end) = (self.table.starts[o], self.table.starts[o + 1]);
            let mut sum = T::ZERO;
            for k in start..end {
                // SAFETY: duty 1: taps are inside the operand.
                let term = unsafe { *x.add(self.table.taps[k].0) }.mul(self.weights[k]);
                // As above.
                sum = if k == start { term } else { sum.add(term) };
            }
            // SAFETY: duty 2.
            unsafe { *y.add(o) = sum }
        }
    }

    /// Some positions of a block, in rows of any size.
    ///
    /// # Safety
    /// The duties of [`Along`], for the block at `y` and its source at `x`, and there are these positions.
    #[inline(always)]
    unsafe fn rows(&self, x: *const T, y: *mut T, positions: Range<usize>) {
        let n = self.inner;
        for o in positions {
            let (start, end) = (self.table.starts[o], self.table.starts[o + 1]);
            // SAFETY: duties 1 and 2: taps are inside the operand; rows do not overlap.
            let (first, second, y) = unsafe {
                let row = |k: usize| {
                    let i = if k < end { self.table.taps[k].0 } else { 0 };
                    x.add(i * n)
                };
                (row(start), row(start + 1), y.add(o * n))
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
                let x = unsafe { x.add(self.table.taps[k].0 * n) };
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
        let (n, mut sources) = (self.inner, SourceWalk::new(self.sources, self.blocks.start));
        for b in self.blocks.clone() {
            let source = sources.next();
            // SAFETY: duties 1 and 2.
            let (x, y) = unsafe { (self.x.add(source * self.table.from * n), self.y.add(b * self.table.to() * n)) };
            for stretch in self.stretches {
                // SAFETY: our own duties; a table's stretches are positions of the result, and what they copy is inside
                // the operand, which does not overlap the result.
                unsafe {
                    match *stretch {
                        Stretch::Copy { from, to, len } => {
                            copy_run(x.add(from * n).cast(), y.add(to * n).cast(), len * n * size_of::<T>());
                        }
                        Stretch::Picks { to, len } => self.picks(x, y, to..to + len),
                        Stretch::Sums { to, len } => self.rows(x, y, to..to + len),
                    }
                }
            }
            for &[to, from] in self.picks {
                // SAFETY: duties 1 and 2: taps are inside the operand.
                unsafe { *y.add(to) = *x.add(from) }
            }
            if n == 1 {
                // SAFETY: our own duties.
                unsafe { self.elements(x, y) }
            }
        }
    }
}

/// Lines that are copies, in a loop of its own: what sums need would stand in the registers of one.
///
/// Duties: those of [`Along`] for rows of one element, without sums.
struct CopiedLines<'a, T>(Along<'a, T>);

impl<T: Ring> Task for CopiedLines<'_, T> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Along { table, stretches, picks, sources, blocks, x, y, .. } = self.0;
        let (from, to, mut sources) = (table.from, table.to(), SourceWalk::new(sources, blocks.start));
        for b in blocks {
            let source = sources.next();
            // SAFETY: duties 1 and 2.
            let (x, y) = unsafe { (x.add(source * from), y.add(b * to)) };
            for stretch in stretches {
                if let Stretch::Copy { from, to, len } = *stretch {
                    // SAFETY: as for `Along`.
                    unsafe { copy_run(x.add(from).cast(), y.add(to).cast(), len * size_of::<T>()) };
                }
            }
            for &[to, from] in picks {
                // SAFETY: as for `Along`.
                unsafe { *y.add(to) = *x.add(from) }
            }
        }
    }
}

/// Applies a table along the middle axis of `outer` by `table.from()` by `inner` elements. Threads share the outer
/// ones, which are those of the result: each is made of the one that `sources` has for it.
///
/// # Panics
/// If the slices do not hold these, or a source is not there; not where there is no result.
pub fn along<T: Ring>(table: &ResampleTable, sources: Sources<'_>, x: &[T], y: &mut [T], outer: usize, inner: usize) {
    if y.is_empty() {
        return;
    }
    let Sources { places, span } = sources;
    assert!(outer.is_multiple_of(places.len()) && places.iter().all(|&place| place < span), "sources of all blocks");
    let blocks = outer / places.len() * span;
    assert!(x.len() == blocks * table.from * inner && y.len() == outer * table.to() * inner, "whole blocks");
    let weights: Vec<T> = table.taps.iter().map(|&(_, w)| T::constant(w.into())).collect();
    let (weights, mut stretches) = (&weights[..], stretches(table, inner));
    let (mut picks, mut groups, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    if inner == 1 {
        (groups, rest) = Group::all(table, weights, &stretches);
        stretches.retain(|stretch| {
            if let Stretch::Picks { to, len } = *stretch {
                picks.extend((to..to + len).map(|o| [o, table.taps[table.starts[o]].0]));
            }
            matches!(stretch, Stretch::Copy { .. })
        });
    }
    let (stretches, picks, groups, rest) = (&stretches[..], &picks[..], &groups[..], &rest[..]);
    let cost = (table.taps.len().max(table.to()) * outer * inner) as f64 * COST;
    let (x, y) = (SharedPtr(x.as_ptr().cast_mut()), SharedPtr(y.as_mut_ptr()));
    split(outer, 1, cost, &|blocks| {
        let (x, y) = (x.get().cast_const(), y.get());
        // SAFETY: (1, 2) the lengths and the sources were checked, a mutable borrow overlaps nothing, and no other
        // piece has these blocks; (3, 4) as made.
        unsafe {
            let task = Along { table, weights, stretches, picks, groups, rest, sources, blocks, inner, x, y };
            if inner == 1 && groups.is_empty() && rest.is_empty() {
                for_isa(InstructionSet::detect(), CopiedLines(task));
            } else {
                for_isa(InstructionSet::detect(), task);
            }
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
        let one = stretches(&table(), 1);
        let (a, b) = (Stretch::Copy { from: 0, to: 3, len: 11 }, Stretch::Copy { from: 9, to: 17, len: 11 });
        assert_eq!(one, [Stretch::Picks { to: 0, len: 3 }, a, Stretch::Sums { to: 14, len: 3 }, b]);
        assert_eq!(stretches(&table(), 8)[0], Stretch::Copy { from: 2, to: 0, len: 1 });
        // A border of three around 40: single elements, and a copy of the line.
        let reflected = |o: usize| [(o.abs_diff(3).min(81 - o), 1.0)];
        let one = stretches(&ResampleTable::new(40, 1, (0..46).map(reflected)).unwrap(), 1);
        let [left, right] = [0, 43].map(|to| Stretch::Picks { to, len: 3 });
        assert_eq!(one, [left, Stretch::Copy { from: 0, to: 3, len: 40 }, right]);
    }

    /// Runs of as many elements for each position, one after the other, and with a gap or a step back between some.
    #[test]
    fn elements_that_follow_one_another() {
        for taps in 1..7 {
            for n in [1, 4, 7, 8, 9, 15, 16, 20, 40] {
                for (every, by) in [(n + 1, 0), (11, 1), (9, -1)] {
                    let first = |o: usize| (o * taps).wrapping_add_signed((o / every) as isize * by);
                    let run = |o: usize| (0..taps).map(move |k| (first(o) + k, 0.5 + (o + k) as f64 / 8.0));
                    let table = ResampleTable::new(first(n - 1) + taps + 1, taps, (0..n).map(run)).unwrap();
                    check(&table, 3, 1);
                    check(&table, 2, 5);
                }
            }
        }
    }

    #[test]
    fn short_copies_are_elements() {
        let reflected = |o: usize| [(o.abs_diff(3).min(81 - o), 1.0)];
        let table = ResampleTable::new(40, 1, (0..46).map(reflected)).unwrap();
        for inner in [1, 2, 3, 9] {
            let x: Vec<f64> = (0..2 * 40 * inner).map(|i| i as f64).collect();
            let mut y = vec![-1.0; 2 * 46 * inner];
            along(&table, Sources::SAME, &x, &mut y, 2, inner);
            for (at, &y) in y.iter().enumerate() {
                let (b, o, j) = (at / inner / 46, at / inner % 46, at % inner);
                assert_eq!(y, ((b * 40 + reflected(o)[0].0) * inner + j) as f64);
            }
        }
    }

    /// What a table says, position by position.
    fn check(table: &ResampleTable, outer: usize, inner: usize) {
        let (from, to) = (table.from(), table.to());
        let x: Vec<f32> = (0..outer * from * inner).map(|i| (i as f32 * 0.7).sin()).collect();
        let mut y = vec![f32::NAN; outer * to * inner];
        along(table, Sources::SAME, &x, &mut y, outer, inner);
        for (at, &y) in y.iter().enumerate() {
            let (b, o, j) = (at / inner / to, at / inner % to, at % inner);
            let taps = &table.taps[table.starts[o]..table.starts[o + 1]];
            let terms = taps.iter().map(|&(i, w)| x[(b * from + i) * inner + j] * w as f32);
            let want = terms.reduce(|a, b| a + b).unwrap_or(0.0);
            assert!(y.to_bits() == want.to_bits(), "{outer} {inner}: {o} is {y}, not {want}");
        }
    }

    #[test]
    fn every_number_of_positions_and_taps() {
        for to in [0, 1, 2, 3, 4, 7, 8, 9, 11, 12, 16, 37, 100] {
            for from in [1, 2, 5, 8, 19] {
                for outer in [0, 1, 3, 9] {
                    // As many taps everywhere, and numbers that alternate, in runs and one by one.
                    for taps in 0..5 {
                        let at = |o: usize, k: usize| ((o * 7 + k * 3) % from, 0.25 * (k + 1) as f64);
                        let even = |o: usize| (0..taps).map(move |k| at(o, k)).collect::<Vec<_>>();
                        let uneven = |o: usize| (0..(o / taps.max(1)) % 5).map(move |k| at(o, k)).collect::<Vec<_>>();
                        for inner in [1, 3] {
                            check(&ResampleTable::new(from, 5, (0..to).map(even)).unwrap(), outer, inner);
                            let table = ResampleTable::new(from, 5, (0..to).map(uneven)).unwrap();
                            check(&table, outer, inner);
                            check(&table.transposed(), outer, inner);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn elements_are_picked_as_they_are() {
        for to in [5, 8, 40, 75, 112] {
            let place = |o: usize| [(o * 56 / to, 1.0)];
            let table = ResampleTable::new(56, 1, (0..to).map(place)).unwrap();
            for (outer, inner) in [(1, 1), (9, 1), (3, 2), (2, 11)] {
                check(&table, outer, inner);
                check(&table.transposed(), outer, inner);
            }
        }
        let twice = ResampleTable::new(20, 1, (0..40).map(|o| [(o / 2, 1.0)])).unwrap();
        assert_eq!(stretches(&twice, 1), [Stretch::Picks { to: 0, len: 40 }]);
        assert_eq!(stretches(&twice.transposed(), 1), [Stretch::Sums { to: 0, len: 20 }]);
        // Not a number and negative zeros stay what they are.
        let x: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { -0.0 } else { f64::NAN }).collect();
        let mut y = vec![1.0; 40];
        along(&twice, Sources::SAME, &x, &mut y, 1, 1);
        assert!(y.iter().enumerate().all(|(o, y)| y.to_bits() == x[o / 2].to_bits()));
    }

    #[test]
    fn copies_and_sums_make_the_line() {
        let table = table();
        for (outer, inner) in [(3, 1), (2, 5), (1, 9), (0, 4)] {
            check(&table, outer, inner);
        }
        let mut y = [1.0f64; 28];
        along(&table, Sources::SAME, &[-0.0; 20], &mut y, 1, 1);
        assert!(y.iter().enumerate().all(|(o, y)| y.is_sign_negative() == (o != 15)));
    }

    #[test]
    fn blocks_are_made_of_their_sources() {
        let (table, places) = (table(), [2, 0, 0, 3, 2]);
        for (sets, inner) in [(1, 1), (3, 1), (2, 3), (40, 8)] {
            let x: Vec<f32> = (0..sets * 4 * 20 * inner).map(|i| (i as f32 * 0.7).sin()).collect();
            let chosen: Vec<f32> = (0..sets * 5)
                .flat_map(|b| x.chunks(20 * inner).nth(b / 5 * 4 + places[b % 5]).unwrap().to_vec())
                .collect();
            let (mut y, mut wanted) = (vec![f32::NAN; sets * 5 * 28 * inner], vec![0.0; sets * 5 * 28 * inner]);
            along(&table, Sources { places: &places, span: 4 }, &x, &mut y, sets * 5, inner);
            along(&table, Sources::SAME, &chosen, &mut wanted, sets * 5, inner);
            assert_eq!(y, wanted);
        }
        let mut none = [0.0f32; 0];
        along(&table, Sources { places: &[], span: 4 }, &[], &mut none, 0, 1);
    }
}
