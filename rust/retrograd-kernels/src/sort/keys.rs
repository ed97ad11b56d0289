//! The elements of a line as integers whose plain order is the order wanted: a rank, and below it the index.

use std::mem::replace;

use super::buffer::Buffer;
use super::rank::{Rank, Ranked};
use crate::Result;
use crate::parallel::{SharedPtr, split};
use crate::thresholds::sort::{BY_DIGITS, BY_PLACES, LONG, PIECES};

/// An integer that holds a rank above an index.
pub trait Key: Copy + Ord + Send + Sync {
    const BITS: u32;
    /// Whether long lines are sorted digit by digit. Of wide keys, comparison is as fast (measured).
    const BY_DIGITS: bool;
    fn new(rank: u64, index: usize, index_bits: u32) -> Self;
    /// The bits from `shift` on.
    fn above(self, shift: u32) -> u64;
    fn index(self, index_bits: u32) -> usize;
}

macro_rules! keys {
    ($($k:ty, $by_digits:literal;)*) => { $(impl Key for $k {
        const BITS: u32 = <$k>::BITS;
        const BY_DIGITS: bool = $by_digits;
        #[inline(always)]
        fn new(rank: u64, index: usize, index_bits: u32) -> Self {
            (rank as $k) << index_bits | index as $k
        }
        #[inline(always)]
        fn above(self, shift: u32) -> u64 {
            (self >> shift) as u64
        }
        #[inline(always)]
        fn index(self, index_bits: u32) -> usize {
            (self & ((1 << index_bits) - 1)) as usize
        }
    })* };
}
keys!(u64, true; u128, false;);

/// What the keys of a line hold: `rank - low` in `rank_bits` bits, above an index in `index_bits`. Ranks are inverted
/// (`rank ^ flip`) for a descending order.
#[derive(Clone, Copy, Debug)]
pub struct Packing<R> {
    pub flip: R,
    pub low: u64,
    pub rank_bits: u32,
    pub index_bits: u32,
}

impl<R: Rank> Packing<R> {
    /// For all ranks of the type, in a line of `n > 0` elements.
    pub fn whole(n: usize, falling: bool) -> Self {
        let index_bits = usize::BITS - (n - 1).leading_zeros();
        Self { flip: if falling { R::MAX } else { R::ZERO }, low: 0, rank_bits: R::BITS, index_bits }
    }
    /// For the ranks from `low` to `high`.
    fn between(self, low: R, high: R) -> Self {
        let (low, high) = (low.into(), high.into());
        Self { low, rank_bits: u64::BITS - (high - low).leading_zeros(), ..self }
    }
    /// Whether the keys fit a `K`. Index and rank each leave buffers, so that shifts by either are in range.
    pub fn fits<K: Key>(&self) -> bool {
        self.index_bits + self.rank_bits <= K::BITS && self.index_bits < K::BITS
    }
    #[inline(always)]
    pub fn key<K: Key>(&self, rank: R, index: usize) -> K {
        K::new((rank ^ self.flip).into().wrapping_sub(self.low), index, self.index_bits)
    }
}

/// The line of an operand that a kernel runs along: number of elements, and their distance.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub n: usize,
    pub step: isize,
}

/// The packing that takes the fewest bits for this line, which has elements.
///
/// # Safety
/// 1. `a` is readable along `line`.
pub unsafe fn tightest<T: Ranked>(a: *const T, line: Line, packing: Packing<T::Rank>) -> Packing<T::Rank> {
    let (mut low, mut high) = (T::Rank::MAX, T::Rank::ZERO);
    for i in 0..line.n {
        // SAFETY: duty 1.
        let rank = unsafe { *a.offset(i as isize * line.step) }.rank() ^ packing.flip;
        (low, high) = (low.min(rank), high.max(rank));
    }
    packing.between(low, high)
}

/// What it takes to read an element and to write its key, in nanoseconds.
const LIST_COST: f64 = 1.0;

/// The keys of all elements of a line.
///
/// # Safety
/// 1. `a` is readable along `line`. 2. The keys fit.
pub unsafe fn list<T: Ranked, K: Key>(
    a: *const T,
    line: Line,
    packing: &Packing<T::Rank>,
    keys: &mut Buffer<K>,
) -> Result<()> {
    let (a, to) = (SharedPtr(a.cast_mut()), SharedPtr(keys.clear(line.n)?));
    split(line.n, 1 << 12, line.n as f64 * LIST_COST, &|piece| {
        // SAFETY: duty 1; there is space for `line.n` keys, and every piece writes its own.
        let put = |i: usize, offset: isize| unsafe {
            *to.get().add(i) = packing.key((*a.get().offset(offset)).rank(), i);
        };
        // A loop of its own, so that it is vectorized.
        if line.step == 1 {
            piece.for_each(|i| put(i, i as isize));
        } else {
            piece.for_each(|i| put(i, i as isize * line.step));
        }
    });
    // SAFETY: they were written above.
    unsafe { keys.set_len(line.n) };
    Ok(())
}

/// Memory for the keys of a line.
#[derive(Debug)]
pub struct KeyBuffers<K> {
    pub line: Buffer<K>,
    /// For sorting.
    spare: Buffer<K>,
}

impl<K> Default for KeyBuffers<K> {
    fn default() -> Self {
        Self { line: Buffer::default(), spare: Buffer::default() }
    }
}

/// The keys of a line, for an op to bring those it chooses to the front.
#[derive(Debug)]
pub struct Keys<'a, K> {
    buffers: &'a mut KeyBuffers<K>,
    rank_bits: u32,
    index_bits: u32,
    /// The least key of a NaN; nothing comes after NaN.
    nan: Option<K>,
    /// Whether the keys stand in the order of their indices.
    by_index: bool,
}

/// What an element takes in one pass, in nanoseconds.
const PASS_COST: f64 = 1.0;

impl<'a, K: Key> Keys<'a, K> {
    /// Keys made with `packing`; `by_index` if they stand in the order of their indices.
    pub fn new<T: Ranked>(buffers: &'a mut KeyBuffers<K>, packing: &Packing<T::Rank>, by_index: bool) -> Self {
        // A NaN that is out of the packing's range is not in the line.
        let inside = |nan: &T::Rank| {
            let above = (*nan ^ packing.flip).into().checked_sub(packing.low);
            above.is_some_and(|above| u64::BITS - above.leading_zeros() <= packing.rank_bits)
        };
        let nan = T::NAN.filter(inside).map(|nan| packing.key(nan, 0));
        Self { buffers, rank_bits: packing.rank_bits, index_bits: packing.index_bits, nan, by_index }
    }
    pub fn count(&self) -> usize {
        self.buffers.line.len()
    }
    /// Whether the `i`-th key and the next are those of equal numbers.
    pub fn is_repeated(&self, i: usize) -> bool {
        let [key, next] = [self.buffers.line[i], self.buffers.line[i + 1]];
        key.above(self.index_bits) == next.above(self.index_bits) && !self.is_nan(next)
    }
    /// In ascending order.
    fn is_nan(&self, key: K) -> bool {
        self.nan.is_some_and(|nan| key >= nan)
    }
    /// How many elements are not NaN, in ascending order.
    pub fn numbers(&self) -> usize {
        self.buffers.line.iter().filter(|&&key| !self.is_nan(key)).count()
    }
    /// Brings the `k`-th in order to the front.
    pub fn bring(&mut self, k: usize) {
        self.by_index = false;
        let line = &mut self.buffers.line;
        if !by_places(line) {
            line.select_nth_unstable(k);
        }
        self.buffers.line.swap(0, k);
    }
    /// Brings the one that is now at place `i` to the front.
    pub fn to_front(&mut self, i: usize) {
        self.by_index = false;
        self.buffers.line.swap(0, i);
    }
    /// Puts at least the first `k` in order.
    pub fn sort_first(&mut self, k: usize) -> Result<()> {
        // Selecting one half costs as much as sorting the other half by digits.
        if k <= self.count() / 2 && self.count() > BY_PLACES {
            self.by_index = false;
            self.buffers.line.cut(k);
        }
        self.sort()
    }
    /// Puts all in order.
    pub fn sort(&mut self) -> Result<()> {
        let KeyBuffers { line, spare } = &mut *self.buffers;
        let digits = self.rank_bits.div_ceil(8);
        // By digits of the rank, equal elements keep the order that they have.
        let by_digits = K::BY_DIGITS && self.by_index && line.len() >= BY_DIGITS * digits as usize;
        self.by_index = false;
        if !by_digits {
            if !by_places(line) {
                line.sort_unstable();
            }
            return Ok(());
        }
        for digit in 0..digits {
            let shift = self.index_bits + 8 * digit;
            let to = spare.clear(line.len())?;
            // SAFETY: (1) space for as many keys.
            let moved = unsafe {
                if line.len() < LONG { pass::<K, 1>(line, to, shift) } else { pass::<K, PIECES>(line, to, shift) }
            };
            if moved {
                // SAFETY: (1) all were written.
                unsafe { spare.set_len(line.len()) };
                std::mem::swap(line, spare);
            }
        }
        Ok(())
    }
    /// The index of the `i`-th.
    #[inline(always)]
    pub fn index(&self, i: usize) -> usize {
        self.buffers.line[i].index(self.index_bits)
    }
}

/// Puts a few keys in order, no two of which are equal: the place of each is the number of those that are less. It has
/// no branches, of which sorting takes every second the wrong way. False, with nothing done, if they are more.
fn by_places<K: Key>(keys: &mut [K]) -> bool {
    let n = keys.len();
    if !(1..=BY_PLACES).contains(&n) {
        return false;
    }
    let mut sorted = [keys[0]; BY_PLACES];
    for &key in &*keys {
        sorted[keys.iter().map(|&other| usize::from(other < key)).sum::<usize>()] = key;
    }
    keys.copy_from_slice(&sorted[..n]);
    true
}

/// Puts the keys of `from` into `to` in the order of the digit at `shift`, equal ones in the order they have. `false`
/// if that is the order they have, and nothing was done. The result does not depend on `N`, the number of pieces.
///
/// # Safety
/// 1. `to` is writable for as many keys, and disjoint from `from`.
unsafe fn pass<K: Key, const N: usize>(from: &[K], to: *mut K, shift: u32) -> bool {
    let n = from.len();
    let size = n.div_ceil(N);
    let part = |piece: usize| &from[(piece * size).min(n)..((piece + 1) * size).min(n)];
    let cost = n as f64 * PASS_COST;
    // For every piece and digit: first how many, then where the next one goes.
    let mut places = [[0usize; 256]; N];
    let shared = SharedPtr(places.as_mut_ptr());
    split(N, 1, cost, &|pieces| {
        for piece in pieces {
            // SAFETY: a place of the array, this piece's alone.
            let counts = unsafe { &mut *shared.get().add(piece) };
            part(piece).iter().for_each(|key| counts[key.above(shift) as u8 as usize] += 1);
        }
    });
    let mut next = 0;
    for digit in 0..256 {
        let before = next;
        for counts in &mut places {
            next += replace(&mut counts[digit], next);
        }
        if next - before == n {
            return false;
        }
    }
    let (shared, to) = (SharedPtr(places.as_mut_ptr()), SharedPtr(to));
    split(N, 1, cost, &|pieces| {
        for piece in pieces {
            // SAFETY: a place of the array, this piece's alone.
            let places = unsafe { &mut *shared.get().add(piece) };
            for &key in part(piece) {
                let place = &mut places[key.above(shift) as u8 as usize];
                // SAFETY: duty 1: each piece counted as many keys of this digit as it now has, so that places are less
                // than `n` and no two keys have the same.
                unsafe { *to.get().add(*place) = key };
                *place += 1;
            }
        }
    });
    true
}
