//! The first few of a long line, without keys for the others.

use super::buffer::Buffer;
use super::keys::{Key, Line, Packing};
use super::rank::{Rank, Ranked};
use crate::Result;
use crate::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use crate::thresholds::sort::BLOCK;

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
            let mut any = false;
            for &rank in &ranks {
                any |= rank <= bar;
            }
            if !any {
                continue;
            }
            for (i, &rank) in ranks[..count].iter().enumerate() {
                // Written in any case and kept if it counts, without a branch.
                // SAFETY: duty 2: there were at most `most` before this block.
                unsafe { *to.add(len) = packing.key(rank ^ flip, start + i) };
                len += usize::from(rank <= bar);
            }
            if len > most {
                // SAFETY: written above.
                unsafe { keys.set_len(len) };
                keys.cut(k);
                len = k;
                // Later elements of the same rank come after these.
                match keys[k - 1].above(packing.index_bits).checked_sub(1) {
                    Some(rank) => bar = T::Rank::low(rank),
                    None => return,
                }
            }
        }
        // SAFETY: written above.
        unsafe { keys.set_len(len) };
    }
}
