//! Threads, locks and atomics, for the files that `tests/loom.rs` compiles with loom's instead.

pub use parking_lot::{Condvar, Mutex};
pub use std::sync::{Arc, atomic};

/// Lets others run, in the `turns`th turn of a wait.
pub fn pause(turns: u32) {
    if turns < 2000 { std::hint::spin_loop() } else { std::thread::yield_now() }
}
