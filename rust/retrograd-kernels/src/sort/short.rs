//! Lines of few elements, many of them side by side: sorted by exchanges of neighbours, which have no branches.

use super::First;
use super::keys::Line;
use super::rank::{Rank, Ranked};
use crate::parallel::{SharedPtr, split};
use crate::simd::{InstructionSet, Isa, Task, for_isa};
use crate::strided::{Axes, Axis, Offsets};
use crate::thresholds::sort::SHORT;

/// Lines that are sorted side by side.
const LANES: usize = 32;

/// The fewest that are worth it.
const FEWEST: usize = 8;

/// Whether lines of `n` elements, so many at equal distances, are sorted side by side.
pub fn are_short(n: usize, lines: usize) -> bool {
    n <= SHORT && lines >= FEWEST
}

/// Which elements of short lines are chosen: as many as `to` has, from the place `first` of their order on.
#[derive(Clone, Copy)]
pub struct ShortLines {
    pub from: Line,
    pub to: Line,
    pub first: First,
    pub falling: bool,
}

/// What an element takes, in nanoseconds.
const COST: f64 = 1.0;

impl ShortLines {
    /// Writes the chosen elements and their indices, for every position of the axes, of which that at `beside` is long.
    ///
    /// # Safety
    /// 1. and 2. as [`super::choose_along`], for these axes. 3. [`are_short`] says so.
    #[inline(never)]
    pub unsafe fn choose<T: Ranked>(
        self,
        mut axes: Axes<2>,
        beside: usize,
        a: *const T,
        values: *mut T,
        indices: *mut i64,
    ) {
        let lines = axes.remove(beside);
        let (a, values, indices) = (SharedPtr(a.cast_mut()), SharedPtr(values), SharedPtr(indices));
        let elements = axes.iter().map(|axis| axis.size).product::<usize>() * lines.size * self.from.n;
        split(lines.size, LANES, elements as f64 * COST, &|some| {
            let start = some.start as isize;
            let lines = Axis { size: some.len(), ..lines };
            for [pa, po] in Offsets::new(&axes) {
                let [pa, po] = [pa + start * lines.strides[0], po + start * lines.strides[1]];
                // SAFETY: ours, for some of the lines, which no other piece has.
                unsafe {
                    let (a, values) = (a.get().offset(pa), values.get().offset(po));
                    self.choose_side_by_side(lines, a.cast_const(), values, indices.get().offset(po));
                }
            }
        });
    }

    /// # Safety
    /// As [`Self::choose`], for `lines`.
    #[inline(always)]
    unsafe fn choose_side_by_side<T: Ranked>(self, lines: Axis<2>, a: *const T, values: *mut T, indices: *mut i64) {
        let Self { from, to, first, falling } = self;
        let flip = if falling { T::Rank::MAX } else { T::Rank::ZERO };
        let mut table = Table { ranks: [[T::Rank::ZERO; LANES]; SHORT], indices: [[T::Rank::ZERO; LANES]; SHORT] };
        let (level, [across, results]) = (InstructionSet::detect(), lines.strides);
        for start in (0..lines.size).step_by(LANES) {
            let some = start as isize..lines.size.min(start + LANES) as isize;
            for (i, (ranks, indices)) in table.ranks.iter_mut().zip(&mut table.indices).enumerate().take(from.n) {
                for (line, rank) in some.clone().zip(ranks) {
                    // SAFETY: duty 1.
                    *rank = unsafe { *a.offset(line * across + i as isize * from.step) }.rank() ^ flip;
                }
                indices.fill(T::Rank::low(i as u64));
            }
            let firsts = match first {
                First::At(first) => [first; LANES],
                First::ByNumbers(first) => {
                    table.numbers(from.n, T::NAN.map(|nan| nan ^ flip)).map(|n| first(n, from.n))
                }
            };
            // SAFETY: there are no duties.
            unsafe { for_isa(level, Exchanges { n: from.n, table: &mut table }) };
            for j in 0..to.n {
                for (lane, line) in some.clone().enumerate() {
                    let i = table.indices[firsts[lane] + j][lane].into() as i64;
                    let o = line * results + j as isize * to.step;
                    // SAFETY: duties 1 and 2: `i` is an index of the line.
                    unsafe {
                        *values.offset(o) = *a.offset(line * across + i as isize * from.step);
                        *indices.offset(o) = i;
                    }
                }
            }
        }
    }
}

/// What the elements of lines are sorted by, and their indices: for each place in the order, those of all lines.
struct Table<R> {
    ranks: [[R; LANES]; SHORT],
    indices: [[R; LANES]; SHORT],
}

impl<R: Rank> Table<R> {
    /// How many of the first `n` ranks of each line are not that of NaN.
    fn numbers(&self, n: usize, nan: Option<R>) -> [usize; LANES] {
        let mut numbers = [n; LANES];
        for ranks in self.ranks[..n].iter().filter(|_| nan.is_some()) {
            for (numbers, &rank) in numbers.iter_mut().zip(ranks) {
                *numbers -= usize::from(Some(rank) == nan);
            }
        }
        numbers
    }
}

/// Puts the first `n` places of all lines in order; those of equal ranks keep theirs.
struct Exchanges<'t, R> {
    n: usize,
    table: &'t mut Table<R>,
}

impl<R: Rank> Task for Exchanges<'_, R> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Table { ranks, indices } = self.table;
        for i in 1..self.n {
            for j in (0..i).rev() {
                for lane in 0..LANES {
                    let [low, high] = [ranks[j][lane], ranks[j + 1][lane]];
                    let [before, after] = [indices[j][lane], indices[j + 1][lane]];
                    let exchanged = high < low;
                    ranks[j][lane] = if exchanged { high } else { low };
                    ranks[j + 1][lane] = if exchanged { low } else { high };
                    indices[j][lane] = if exchanged { after } else { before };
                    indices[j + 1][lane] = if exchanged { before } else { after };
                }
            }
        }
    }
}
