//! A run of the engine: what hooks may query of it, and how it finds the slot of a node.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::super::node::Edge;
use crate::error::{Error, Result};

/// Where the free use of `Node::mark` is claimed.
static MARKS_TAKEN: AtomicBool = AtomicBool::new(false);
static NEXT_RUN: AtomicU64 = AtomicU64::new(1);

/// An id that no other run of this process has.
pub(super) fn next_run() -> u64 {
    NEXT_RUN.fetch_add(1, Ordering::Relaxed)
}

const SLOT_BITS: u32 = 32;

/// A callback of [`queue_callback`].
pub type AtEnd = Box<dyn FnOnce() -> Result<()>>;

/// What hooks may query of the run that calls them.
pub(super) struct Frame {
    pub id: u64,
    pub slots: Slots,
    /// By slot: on a path to a target. Empty: everything is.
    pub needed: Vec<bool>,
    at_end: RefCell<Vec<AtEnd>>,
    outer: *const Frame,
    around: Around,
}

/// What a run knows of those around it.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// How many they are.
    pub depth: u32,
    /// They accumulate into every leaf; so does the run itself, once it is a frame's.
    for_all_leaves: bool,
}

impl Around {
    pub fn here() -> Self {
        let outermost = Self { depth: 0, for_all_leaves: true };
        current(|frame| Self { depth: frame.around.depth + 1, ..frame.around }).unwrap_or(outermost)
    }
}

thread_local! {
    static CURRENT: Cell<*const Frame> = const { Cell::new(null()) };
}

impl Frame {
    pub fn new(id: u64, slots: Slots, needed: Vec<bool>, around: Around) -> Self {
        let around = Around { for_all_leaves: around.for_all_leaves && needed.is_empty(), ..around };
        Self { id, slots, needed, at_end: RefCell::default(), outer: null(), around }
    }
    pub fn needs(&self, slot: u32) -> bool {
        self.needed.is_empty() || self.needed[slot as usize]
    }
    /// Runs the queued callbacks, those that they queue included.
    pub fn finish(&self) -> Result<()> {
        loop {
            let queued = std::mem::take(&mut *self.at_end.borrow_mut());
            if queued.is_empty() {
                return Ok(());
            }
            for callback in queued {
                callback()?;
            }
        }
    }
}

/// Makes a frame the current one of this thread for as long as it lives.
pub(super) struct Entered<'a>(pub &'a Frame);

impl<'a> Entered<'a> {
    pub fn new(frame: &'a mut Frame) -> Self {
        frame.outer = CURRENT.get();
        CURRENT.set(frame);
        Self(frame)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.0.outer);
    }
}

/// Calls `f` with the innermost run under way on this thread.
fn current<R>(f: impl FnOnce(&Frame) -> R) -> Option<R> {
    let frame = CURRENT.get();
    // SAFETY: null, or set by `Entered` to a frame that outlives it and reset when it goes; frames stay on their
    // thread.
    unsafe { frame.as_ref() }.map(f)
}

/// The id of the run under way on this thread; none other of this process has it.
pub fn current_run() -> Option<u64> {
    current(|frame| frame.id)
}

/// Whether the runs under way on this thread, one inside the other, all accumulate into every leaf. A node may then run
/// the graph of its own past; otherwise that would reach leaves that were not requested.
pub fn runs_are_for_all_leaves() -> bool {
    Around::here().for_all_leaves
}

/// Whether the run under way on this thread passes `edge` on the way to its targets.
pub fn run_reaches(edge: &Edge) -> bool {
    current(|frame| frame.slots.get(edge).is_some_and(|slot| frame.needs(slot))).unwrap_or(false)
}

/// Has `callback` called when the run under way on this thread has ended well.
pub fn queue_callback(callback: AtEnd) -> Result<()> {
    current(|frame| frame.at_end.borrow_mut().push(callback))
        .ok_or_else(|| Error::autograd("Final callbacks can only be installed during backward pass."))
}

/// Finds a node's slot.
pub(super) enum Slots {
    /// Run id in the upper half of the mark.
    Marks(u64),
    /// By the mark's address, which distinguishes nodes from leaves as well.
    Table(HashMap<*const AtomicU64, u32>),
}

/// Where the node or leaf that an edge leads to stores its slot.
fn mark_of(edge: &Edge) -> &AtomicU64 {
    match edge {
        Edge::Node(output) => &output.node.mark,
        Edge::Leaf(leaf) => &leaf.meta().mark,
    }
}

impl Slots {
    pub fn claim(id: u64) -> Self {
        if MARKS_TAKEN.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // 32 bits of the id repeat after 4e9 runs; 0 is never used, fresh nodes carry it.
            let run = id & 0xFFFF_FFFF;
            if run != 0 {
                return Slots::Marks(run);
            }
            MARKS_TAKEN.store(false, Ordering::Release);
        }
        Slots::Table(HashMap::new())
    }
    pub fn get(&self, edge: &Edge) -> Option<u32> {
        match self {
            Slots::Marks(run) => {
                let mark = mark_of(edge).load(Ordering::Relaxed);
                (mark >> SLOT_BITS == *run).then_some(mark as u32)
            }
            Slots::Table(map) => map.get(&std::ptr::from_ref(mark_of(edge))).copied(),
        }
    }
    pub fn set(&mut self, edge: &Edge, slot: u32) {
        match self {
            Slots::Marks(run) => mark_of(edge).store(*run << SLOT_BITS | u64::from(slot), Ordering::Relaxed),
            Slots::Table(map) => {
                map.insert(std::ptr::from_ref(mark_of(edge)), slot);
            }
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        if let Slots::Marks(_) = self {
            MARKS_TAKEN.store(false, Ordering::Release);
        }
    }
}
