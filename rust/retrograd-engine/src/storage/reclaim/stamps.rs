//! The order in which bodies are published, and readings begin. `rust/retrograd-kernels/tests/loom.rs` runs this file
//! under every order of threads.

use super::atomic::{AtomicU64, Ordering};

/// The stamp of what was published last. A reading that begins after this call sees all that has a stamp up to it.
#[inline(always)]
pub fn latest(stamps: &AtomicU64) -> u64 {
    stamps.load(Ordering::Acquire)
}

/// Gives `f`, which publishes a body, the next stamp. One thread at a time.
pub fn publish(stamps: &AtomicU64, f: impl FnOnce(u64)) {
    let stamp = stamps.load(Ordering::Relaxed) + 1;
    f(stamp);
    // Whoever finds this stamp finds the body.
    stamps.store(stamp, Ordering::Release);
}
