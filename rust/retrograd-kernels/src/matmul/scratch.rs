//! The buffers of copied blocks: one of each kind for each thread, reused between calls.

use std::cell::Cell;
use std::mem::MaybeUninit;

use crate::thread_values::ThreadValue;

/// A cache line.
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "space only")] [MaybeUninit<u8>; 64]);

/// A buffer of one thread.
pub(super) struct Buffer(ThreadValue<Cell<Vec<Line>>>);

/// For a block of A.
pub(super) static A: Buffer = Buffer(ThreadValue::new(|| Cell::new(Vec::new())));
/// For a block of B.
pub(super) static B: Buffer = Buffer(ThreadValue::new(|| Cell::new(Vec::new())));

/// Runs `f` with space for `len` elements, uninitialised, on a cache line.
///
/// The buffer only grows; the blocking bounds it to about five megabytes. A call from inside `f`, or
/// from a thread that is being torn down, gets a buffer of its own.
pub(super) fn with<T: Copy>(of: &'static Buffer, len: usize, f: impl FnOnce(*mut T)) {
    let lines = (len * size_of::<T>()).div_ceil(size_of::<Line>());
    let mut buffer = of.0.try_with(Cell::take).unwrap_or_default();
    if buffer.capacity() < lines {
        buffer = Vec::with_capacity(lines);
    }
    f(buffer.as_mut_ptr().cast());
    // A thread being torn down has no place for it: the buffer is freed.
    let _ = of.0.try_with(|b| b.set(buffer));
}
