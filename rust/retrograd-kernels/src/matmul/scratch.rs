//! The buffer of copied blocks: one for each thread, reused between calls.

use std::cell::Cell;
use std::mem::MaybeUninit;

use crate::thread_values::ThreadValue;

/// A cache line.
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "space only")] [MaybeUninit<u8>; 64]);

static BUFFER: ThreadValue<Cell<Vec<Line>>> = ThreadValue::new(|| Cell::new(Vec::new()));

/// Runs `f` with space for `len` elements, uninitialised, on a cache line.
///
/// The buffer only grows; the blocking bounds it to about five megabytes. A call from inside `f`, or
/// from a thread that is being torn down, gets a buffer of its own.
pub(super) fn with<T: Copy>(len: usize, f: impl FnOnce(*mut T)) {
    let lines = (len * size_of::<T>()).div_ceil(size_of::<Line>());
    let mut buffer = BUFFER.try_with(Cell::take).unwrap_or_default();
    if buffer.capacity() < lines {
        buffer = Vec::with_capacity(lines);
    }
    f(buffer.as_mut_ptr().cast());
    // A thread being torn down has no place for it: the buffer is freed.
    let _ = BUFFER.try_with(|b| b.set(buffer));
}
