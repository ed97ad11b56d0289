//! Writes past the caches, for results that are larger than what of them would be found there.
//!
//! A usual store reads the line that it writes to first. A result of many megabytes is out of the caches before anybody
//! reads it, so for these that read is a third of the traffic of an op. `docs/by-hand.md` has the figures.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::simd::prefetch_lines;
use crate::thresholds::pointwise::{SHARE_OF_CACHE, STREAMED};

/// Whether a result of so many bytes is written past the caches.
pub(super) fn is_streamed(bytes: usize) -> bool {
    cfg!(all(target_arch = "x86_64", not(miri))) && bytes >= STREAMED && bytes >= last_cache() / SHARE_OF_CACHE
}

/// Bytes of the CPU's last cache; 0 if it does not say, and as if there were no end to it where a usual store is as
/// good as any.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn last_cache() -> usize {
    use std::sync::OnceLock;
    static BYTES: OnceLock<usize> = OnceLock::new();
    // The leaf of Intel's manual (volume 2A, CPUID, "Deterministic Cache Parameters"), and that of AMD's, which is like
    // it (volume 3, appendix E, "Cache Topology Information").
    let of_leaf = |leaf: u32| {
        if ask(leaf & 0x8000_0000, 0).eax < leaf {
            return 0;
        }
        let caches = (0..16).map(|i| ask(leaf, i)).take_while(|cache| cache.eax & 31 != 0);
        let bytes = caches.map(|cache| {
            let [ways, parts, line] = [cache.ebx >> 22, (cache.ebx >> 12) & 0x3ff, cache.ebx & 0xfff];
            [ways, parts, line, cache.ecx].iter().fold(1, |bytes: usize, &n| bytes.saturating_mul(n as usize + 1))
        });
        bytes.max().unwrap_or(0)
    };
    *BYTES.get_or_init(|| if writes_whole_lines() { usize::MAX } else { of_leaf(4).max(of_leaf(0x8000_001d)) })
}

/// Whether the CPU is an AMD Zen 5 or a later one, whose stores of 64 bytes read no line first, by what they take.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn writes_whole_lines() -> bool {
    let [name, about] = [0, 1].map(|leaf| ask(leaf, 0));
    let is_amd = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD";
    let family = (about.eax >> 8 & 15) + (about.eax >> 20 & 255);
    is_amd && family >= 26
}

/// What the CPU says of itself.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unused_unsafe, reason = "older compilers have unsafe functions")]
fn ask(leaf: u32, i: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 has the instruction.
    unsafe { std::arch::x86_64::__cpuid_count(leaf, i) }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn last_cache() -> usize {
    0
}

/// Copies `bytes` bytes past the caches, as far as the machine has instructions for it. Meanwhile it asks for as many
/// bytes from each of `ahead`, which need not be valid memory. [`finish`] comes before the end of the work.
///
/// # Safety
/// 1. `from` is readable and initialised, `to` writable, for `bytes` bytes. 2. They do not overlap.
#[inline]
pub(super) unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize, ahead: &[*const u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: (1) `head`, the whole vectors behind it and the rest are together `bytes`; such stores need addresses
    // that are multiples of 16, which `head` sees to. (2) ours. Every x86-64 has the instructions.
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let head = to.align_offset(16).min(bytes);
        std::ptr::copy_nonoverlapping(from, to, head);
        let mut done = head;
        while done + 16 <= bytes {
            // One line at a time, so that reads and writes take turns.
            ahead.iter().for_each(|p| prefetch_lines::<1, _>(p.wrapping_add(done)));
            for _ in 0..((bytes - done) / 16).min(4) {
                _mm_stream_si128(to.add(done).cast::<__m128i>(), _mm_loadu_si128(from.add(done).cast()));
                done += 16;
            }
        }
        std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done);
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: (1, 2) ours.
    unsafe {
        let _ = ahead;
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
