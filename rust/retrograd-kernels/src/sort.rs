//! Sorting along one axis: for every line of elements, which of them come first.
//!
//! A line is sorted, or some of it selected, as integers ([`Keys`]) that hold rank, direction, and the index that
//! decides between equal elements. No two keys are equal, so that every algorithm gives the same result.

mod buffer;
mod front;
mod keys;
mod rank;
mod short;

pub use keys::{Key, Keys, Line};
pub use rank::Ranked;

use front::front;
use keys::{KeyBuffers, Packing, list, tightest};
use short::{ShortLines, are_short};

use super::simd::InstructionSet;
use super::strided::{Axes, Offsets, longest, plan_in_order};
use crate::Result;
use crate::parallel::{SharedPtr, split, try_split};
use crate::thresholds::sort::FEW;

/// The first place of those that are chosen, in the order of a line.
#[derive(Clone, Copy, Debug)]
pub enum First {
    At(usize),
    /// By how many of the elements are not NaN, which come first in ascending order, and how many there are.
    ByNumbers(fn(numbers: usize, n: usize) -> usize),
}

/// Which elements of a line are chosen.
pub trait Pick: Sync {
    /// Whether the greatest come first in the order.
    fn falling(&self) -> bool {
        false
    }
    /// How many elements that come first in the order [`Pick::pick`] must know, of a line of `n`; at least one.
    fn needs(&self, n: usize) -> usize {
        n
    }
    /// From which place on the chosen elements stand in the order, if it is all that decides.
    fn in_order(&self) -> Option<First> {
        None
    }
    /// Brings the keys of the chosen elements to the front.
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<()>;
}

/// What an element of a line takes, and an element of the result, in nanoseconds.
const ELEMENT_COST: f64 = 4.0;
const WRITE_COST: f64 = 2.0;

/// For every position of the `outer` axes: lets `pick` choose from the line of `a` at that place, and writes the
/// elements and indices of the first `to.n` it chose to the line of the results there.
///
/// # Safety
/// 1. `a` is readable along `from`, which has elements, at every position. 2. `values` and `indices` are writable along
///    `to` at every position, with equal strides, and overlap neither `a` nor each other.
#[allow(clippy::too_many_arguments)]
pub unsafe fn choose_along<T: Ranked>(
    outer: &[usize],
    a_outer: &[isize],
    o_outer: &[isize],
    from: Line,
    to: Line,
    a: *const T,
    values: *mut T,
    indices: *mut i64,
    pick: &impl Pick,
) -> Result<()> {
    let axes: Axes<2> = plan_in_order(outer, [a_outer, o_outer]);
    let lines = axes.iter().map(|axis| axis.size).product::<usize>();
    let longest = longest(&axes);
    let parts = longest.map_or(1, |i| axes[i].size);
    if let (Some(i), Some(first)) = (longest.filter(|_| are_short(from.n, parts)), pick.in_order()) {
        let of = ShortLines { from, to, first, falling: pick.falling() };
        // SAFETY: ours.
        unsafe { of.choose(axes, i, a, values, indices) };
        return Ok(());
    }
    let (a, values, indices) = (SharedPtr(a.cast_mut()), SharedPtr(values), SharedPtr(indices));
    try_split(parts, 1, (lines * from.n) as f64 * ELEMENT_COST, &|piece| {
        let mut axes = axes.clone();
        let mut start = [0; 2];
        if let Some(i) = longest {
            start = axes[i].strides.map(|s| piece.start as isize * s);
            axes[i].size = piece.len();
        }
        let mut desk = Desk::default();
        for [pa, po] in Offsets::new(&axes) {
            let [pa, po] = [start[0] + pa, start[1] + po];
            // SAFETY: duties 1 and 2: a position of the axes, which no other piece has.
            unsafe {
                let (values, indices) = (values.get().offset(po), indices.get().offset(po));
                desk.line(from, to, a.get().offset(pa), values, indices, pick)?;
            }
        }
        Ok(())
    })
}

/// Memory for lines that are worked on one after the other.
#[derive(Default)]
struct Desk {
    narrow: KeyBuffers<u64>,
    wide: KeyBuffers<u128>,
}

impl Desk {
    /// One line.
    ///
    /// # Safety
    /// As [`choose_along`], at one position.
    unsafe fn line<T: Ranked>(
        &mut self,
        from: Line,
        to: Line,
        a: *const T,
        values: *mut T,
        indices: *mut i64,
        pick: &impl Pick,
    ) -> Result<()> {
        let mut packing = Packing::whole(from.n, pick.falling());
        let few = Some(pick.needs(from.n)).filter(|needed| needed.saturating_mul(FEW) <= from.n);
        if few.is_none() && !packing.fits::<u64>() {
            // SAFETY: duty 1.
            packing = unsafe { tightest(a, from, packing) };
        }
        // SAFETY: duties 1 and 2; each has space for what it is given.
        unsafe {
            if packing.fits::<u64>() {
                work(&mut self.narrow, from, to, a, values, indices, pick, few, &packing)
            } else {
                work(&mut self.wide, from, to, a, values, indices, pick, few, &packing)
            }
        }
    }
}

/// One line by keys of one width, of all elements or of the first `few` and some more.
///
/// # Safety
/// 1. and 2. as [`choose_along`], at one position. 3. The keys fit, and those of all
///    ranks do if `few` are requested; `few` is not 0.
#[allow(clippy::too_many_arguments)]
unsafe fn work<T: Ranked, K: Key>(
    buffers: &mut KeyBuffers<K>,
    from: Line,
    to: Line,
    a: *const T,
    values: *mut T,
    indices: *mut i64,
    pick: &impl Pick,
    few: Option<usize>,
    packing: &Packing<T::Rank>,
) -> Result<()> {
    // SAFETY: duties 1 and 3.
    unsafe {
        match few {
            Some(k) => front(InstructionSet::detect(), a, from, k, packing, &mut buffers.line)?,
            None => list(a, from, packing, &mut buffers.line)?,
        }
    }
    let mut keys = Keys::new::<T>(buffers, packing, few.is_none());
    pick.pick(&mut keys)?;
    let (keys, a, values, indices) = (&keys, SharedPtr(a.cast_mut()), SharedPtr(values), SharedPtr(indices));
    split(to.n, 1 << 12, to.n as f64 * WRITE_COST, &|piece| {
        for j in piece {
            let (i, o) = (keys.index(j), j as isize * to.step);
            // SAFETY: duties 1 and 2: `i` is an index of the line; every piece writes its own.
            unsafe {
                *values.get().offset(o) = *a.get().offset(i as isize * from.step);
                *indices.get().offset(o) = i as i64;
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests;
