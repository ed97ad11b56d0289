//! Writes past the caches, for results that are larger than what of them would be found there.
//!
//! A usual store reads the line that it writes to first. A result of several megabytes is out of the near caches before
//! anybody reads it, so for these that read is a third of the traffic of an op. `docs/by-hand.md` has the figures.

use crate::thresholds::pointwise::STREAMED;

/// Whether a result of so many bytes is written past the caches.
pub(super) fn is_streamed(bytes: usize) -> bool {
    cfg!(all(target_arch = "x86_64", not(miri))) && bytes >= STREAMED
}

/// Copies `bytes` bytes past the caches, as far as the machine has instructions for it. [`finish`] comes before the end
/// of the work.
///
/// # Safety
/// 1. `from` is readable and initialised, `to` writable, for `bytes` bytes. 2. They do not overlap.
#[inline]
pub(super) unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: (1) `head`, the whole vectors behind it and the rest are together `bytes`; such stores need addresses
    // that are multiples of 16, which `head` sees to. (2) ours. Every x86-64 has the instructions.
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let head = to.align_offset(16).min(bytes);
        std::ptr::copy_nonoverlapping(from, to, head);
        let mut done = head;
        while done + 16 <= bytes {
            _mm_stream_si128(to.add(done).cast::<__m128i>(), _mm_loadu_si128(from.add(done).cast()));
            done += 16;
        }
        std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done);
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: (1, 2) ours.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes);
    }
}

/// Has other threads see what [`stream`] wrote on this one before what is written next.
pub(super) fn finish() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
