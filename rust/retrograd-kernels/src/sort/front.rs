//! The first few of a long line, without keys for the others.

use super::buffer::Buffer;
use super::keys::{Key, Line, Packing};
use super::rank::{Rank, Ranked};
use crate::Result;
use crate::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use crate::thresholds::sort::{BLOCK, HELD};

/// Lists the keys of at least the first `k > 0` in order.
///
/// # Safety
/// 1. `a` is readable along `line`. 2. The keys fit, and `packing` is that of all ranks.
pub unsafe fn front<T: Ranked, K: Key>(
    level: InstructionSet,
    a: *const T,
    line: Line,
    k: usize,
    packing: &Packing<T::Rank>,
    keys: &mut Buffer<K>,
) -> Result<()> {
    let most = 2 * k + BLOCK;
    let to = keys.clear(most + BLOCK)?;
    // SAFETY: (Front 1, 3) duties 1 and 2; (2) made above.
    unsafe { for_isa(level, Front { a, line, k, most, packing, keys, to }) };
    Ok(())
}

/// Duties: 1. `a` is readable along `line`. 2. `to` is the space of `keys`, for `most + BLOCK` of them, and `0 < k <
/// most`. 3. The keys fit, and `packing` is that of all ranks.
struct Front<'a, T: Ranked, K> {
    a: *const T,
    line: Line,
    k: usize,
    /// Keys from which on they are cut down to `k`.
    most: usize,
    packing: &'a Packing<T::Rank>,
    keys: &'a mut Buffer<K>,
    to: *mut K,
}

impl<T: Ranked, K: Key> Task for Front<'_, T, K> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Front { a, line: Line { n, step }, k, most, packing, keys, to } = self;
        let flip = packing.flip;
        // Few keys are held in order, each put in its place, so that the bar is always as low as it can be.
        let held = k <= HELD;
        // Elements beyond this rank are not among the first `k`.
        let mut bar = T::Rank::MAX;
        let mut len = 0;
        for start in (0..n).step_by(BLOCK) {
            let count = BLOCK.min(n - start);
            // SAFETY: duty 1.
            let at = unsafe { a.offset(start as isize * step) };
            let mut ranks = [T::Rank::MAX; BLOCK];
            if step == 1 && count == BLOCK {
                for (i, rank) in ranks.iter_mut().enumerate() {
                    // SAFETY: duty 1.
                    *rank = unsafe { *at.add(i) }.rank() ^ flip;
                }
            } else {
                for (i, rank) in ranks[..count].iter_mut().enumerate() {
                    // SAFETY: duty 1.
                    *rank = unsafe { *at.offset(i as isize * step) }.rank() ^ flip;
                }
            }
            // One byte for each element, looked through eight at a time.
            let mut below = [0u8; BLOCK.next_multiple_of(8)];
            for (byte, &rank) in below.iter_mut().zip(&ranks) {
                *byte = u8::from(rank <= bar);
            }
            if count < BLOCK {
                below[count..].fill(0);
            }
            for (at, eight) in below.as_chunks::<8>().0.iter().enumerate() {
                let mut eight = u64::from_le_bytes(*eight);
                while eight != 0 {
                    let i = 8 * at + eight.trailing_zeros() as usize / 8;
                    eight &= eight - 1;
                    let rank = ranks[i];
                    let key = packing.key(rank ^ flip, start + i);
                    if !held {
                        // SAFETY: duty 2: there were at most `most` before this block.
                        unsafe { *to.add(len) = key };
                        len += 1;
                        continue;
                    }
                    // The bar may be lower than it was at the start of the block.
                    if rank > bar {
                        continue;
                    }
                    // If all places are taken, the last of them becomes free.
                    let mut place = len.min(k - 1);
                    len = place + 1;
                    // SAFETY: duty 2: fewer than `k` places, and those before `place` were written.
                    unsafe {
                        while place > 0 && *to.add(place - 1) > key {
                            *to.add(place) = *to.add(place - 1);
                            place -= 1;
                        }
                        *to.add(place) = key;
                    }
                    if len == k {
                        // SAFETY: duty 2 and written above.
                        match bar_after::<T::Rank, K>(unsafe { *to.add(k - 1) }, packing) {
                            Some(rank) => bar = rank,
                            None => {
                                // SAFETY: written above.
                                unsafe { keys.set_len(len) };
                                return;
                            }
                        }
                    }
                }
            }
            if len > most {
                // SAFETY: written above.
                unsafe { keys.set_len(len) };
                keys.cut(k);
                len = k;
                match bar_after(keys[k - 1], packing) {
                    Some(rank) => bar = rank,
                    None => return,
                }
            }
        }
        // SAFETY: written above.
        unsafe { keys.set_len(len) };
    }
}

/// The rank up to which later elements come before `last`: those of its own rank come after it.
#[inline(always)]
fn bar_after<R: Rank, K: Key>(last: K, packing: &Packing<R>) -> Option<R> {
    last.above(packing.index_bits).checked_sub(1).map(R::low)
}
