//! A thread's mark that it is reading. `rust/retrograd-kernels/tests/loom.rs` runs this file under every order of
//! threads.

use super::atomic::{AtomicU64, Ordering};

/// One thread's mark.
pub struct Slot {
    /// Odd while the thread is reading.
    sequence: AtomicU64,
}

impl Slot {
    pub fn new() -> Self {
        Self { sequence: AtomicU64::new(0) }
    }
    /// The thread reads from here on; `order` makes its loads come after the mark.
    #[inline(always)]
    pub fn begin(&self, order: impl FnOnce()) {
        // `Release` for the reading before: whoever finds this mark may never see that of its end.
        self.sequence.store(self.sequence.load(Ordering::Relaxed) + 1, Ordering::Release);
        order();
    }
    /// The thread does not read any more: its loads, and its writes, come before the mark.
    #[inline(always)]
    pub fn end(&self) {
        self.sequence.store(self.sequence.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
    /// The number that this reading has, if the thread is reading.
    pub fn sequence_if_reading(&self) -> Option<u64> {
        let sequence = self.sequence.load(Ordering::Acquire);
        (sequence % 2 == 1).then_some(sequence)
    }
    /// Whether the reading of this number has come to its end.
    pub fn has_moved_on(&self, sequence: u64) -> bool {
        self.sequence.load(Ordering::Acquire) != sequence
    }
}
