//! What every op asks of the calling thread, in one value that is quickly found.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::kernels::thread_block;
use crate::storage::reclaim::Place;

/// The mode word of a thread that begins.
pub(crate) const FIRST_MODE: u32 = 1;

/// Nothing in it is dropped: it is there as long as the thread is.
#[repr(C)]
pub(crate) struct Local {
    /// The mode word (`autograd/mode.rs`).
    pub mode: Cell<u32>,
    /// How many guards say that the thread is reading (`storage/reclaim.rs`).
    pub depth: Cell<u32>,
    /// The stamp of the moment in which the thread began to read.
    pub began: Cell<u64>,
    /// Where other threads see that this one is reading.
    pub place: Cell<Option<&'static Place>>,
    /// The number that the thread's next node gets at least (`autograd/node.rs`).
    pub next_seq: Cell<u64>,
    /// The thread's number among those of the process, from 1 on; 0 before it has one.
    pub number: Cell<u32>,
    /// Whether a drop of nodes is under way (`autograd/node.rs`).
    pub dropping: Cell<Dropping>,
    /// What happened since somebody asked ([`DREW`], [`GAVE_ADDRESS`]), for who records what functions do.
    pub noted: Cell<u32>,
}

#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub(crate) enum Dropping {
    No = 0,
    Yes,
    /// And others wait until it is done.
    OthersWait,
}

/// Random numbers were drawn, or a generator was given another state.
pub(crate) const DREW: u32 = 1;
/// Somebody outside was given the address of elements.
pub(crate) const GAVE_ADDRESS: u32 = 1 << 1;

/// Notes that something happened.
#[inline]
pub(crate) fn note(what: u32) {
    local(|t| t.noted.set(t.noted.get() | what));
}

/// What happened since this was called last.
pub(crate) fn take_notes() -> u32 {
    local(|t| t.noted.take())
}

thread_block!(
    /// Hands what the calling thread has to `f`.
    ///
    /// SAFETY: (1) Zeros are numbers, `Dropping::No` and no place, and the first field is the mode word.
    unsafe pub(crate) fn local: Local = concat!("retrograd_engine_", env!("CARGO_PKG_VERSION_MAJOR"), "_",
        env!("CARGO_PKG_VERSION_MINOR"), "_", env!("CARGO_PKG_VERSION_PATCH"), "_local"),
    begins with FIRST_MODE, else Local {
        mode: Cell::new(FIRST_MODE),
        depth: Cell::new(0),
        began: Cell::new(0),
        place: Cell::new(None),
        next_seq: Cell::new(0),
        number: Cell::new(0),
        dropping: Cell::new(Dropping::No),
        noted: Cell::new(0),
    }
);

/// The calling thread's number. None is given twice.
#[inline]
pub(crate) fn number() -> u32 {
    local(|t| match t.number.get() {
        0 => first_number(t),
        number => number,
    })
}

#[cold]
fn first_number(t: &Local) -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    t.number.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    t.number.get()
}
