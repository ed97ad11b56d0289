//! The mode word: everything an op entry must know about the calling thread, in one thread-local integer.

use crate::thread::{self, local};

/// Ops record nodes.
pub const GRAD: u32 = thread::FIRST_MODE;
/// Inference mode is on.
pub const INFERENCE: u32 = 1 << 1;
/// A forward-mode level is open.
pub const FORWARD: u32 = 1 << 2;
/// A transform (vmap, func.grad, ...) is active.
pub const TRANSFORM: u32 = 1 << 3;
/// Saved-tensor hooks are active.
pub const SAVED_HOOKS: u32 = 1 << 4;
/// The engine takes over gradients with strides other than the leaf's, and says nothing of it.
pub const LOOSE_GRADS: u32 = 1 << 5;
/// Somebody wants to know of in-place writes before they happen.
pub const WATCH_WRITES: u32 = 1 << 6;
/// A transform other than `vmap` runs a function: what was captured is not to be written in place.
pub const INSIDE: u32 = 1 << 7;
/// Backward passes may not use other threads.
pub const SINGLE_THREADED: u32 = 1 << 8;

/// Somebody lists the ops that run.
pub const OBSERVED: u32 = 1 << 9;
/// A session notes what runs (`profiler.rs`).
pub const PROFILED: u32 = 1 << 10;

/// Results are searched for a NaN that their op made.
pub const DETECT_NAN: u32 = 1 << 11;
/// They are searched for infinities too.
pub const DETECT_INF: u32 = 1 << 12;

/// Ops convert their operands (`autocast.rs`).
pub const AUTOCAST: u32 = 1 << 13;

/// A function is being recorded (`compile/record.rs`).
pub const RECORDED: u32 = 1 << 14;

/// Bits under which rules must consist of ops: their tangents, batches or names matter.
pub const COMPOSED: u32 = FORWARD | TRANSFORM | OBSERVED;

/// Bits that send an op down its slow path.
pub const SPECIAL: u32 = COMPOSED | PROFILED | DETECT_NAN | RECORDED;

/// The calling thread's mode word.
#[inline]
pub fn word() -> u32 {
    local(|t| t.mode.get())
}

/// Sets or clears bits; returns the word as it was.
pub fn set(bits: u32, on: bool) -> u32 {
    local(|t| {
        let old = t.mode.get();
        t.mode.set(if on { old | bits } else { old & !bits });
        old
    })
}

/// Puts `bits` back as they are in a word that [`set`] returned. Gives the word that results.
pub fn restore(bits: u32, word: u32) -> u32 {
    local(|t| {
        let word = t.mode.get() & !bits | word & bits;
        t.mode.set(word);
        word
    })
}

/// Exchanges the calling thread's mode word.
pub(super) fn exchange(word: &mut u32) {
    *word = local(|t| t.mode.replace(*word));
}

/// Whether ops record nodes on this thread.
pub fn is_grad_enabled() -> bool {
    word() & GRAD != 0
}

/// Whether ops record under this mode word: grad mode is on, and inference mode, which is stronger, is off.
#[inline]
pub fn records(word: u32) -> bool {
    word & (GRAD | INFERENCE) == GRAD
}

/// Whether ops propagate tangents under this mode word: a forward level is open, and inference mode is off.
#[inline]
pub fn propagates(word: u32) -> bool {
    word & (FORWARD | INFERENCE) == FORWARD
}

/// Switches recording for this thread.
pub fn set_grad_enabled(on: bool) {
    set(GRAD, on);
}

/// Puts modes back as they were when dropped.
#[must_use = "the mode is restored when the guard is dropped"]
pub struct GradGuard {
    bits: u32,
    old: u32,
}

impl GradGuard {
    /// Recording on or off until the guard is dropped.
    pub fn new(on: bool) -> Self {
        Self::with(GRAD, on)
    }
    /// Bits as they are now are what they will be when the guard is dropped, whatever happens meanwhile.
    pub fn keeping(bits: u32) -> Self {
        Self { bits, old: word() }
    }
    /// Any bits, on or off, until the guard is dropped.
    pub fn with(bits: u32, on: bool) -> Self {
        Self { bits, old: set(bits, on) }
    }
}

impl Drop for GradGuard {
    fn drop(&mut self) {
        restore(self.bits, self.old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_nest_and_restore() {
        assert!(is_grad_enabled());
        {
            let _off = GradGuard::new(false);
            assert!(!is_grad_enabled());
            {
                let _on = GradGuard::new(true);
                assert!(is_grad_enabled());
            }
            assert!(!is_grad_enabled());
        }
        assert!(is_grad_enabled());
    }
}
