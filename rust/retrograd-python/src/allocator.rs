//! The allocator of the extension: each thread keeps small blocks that were freed, for the next ones.
//!
//! An op makes a tensor, its storage and a node, and a program soon drops them. The C library's cache has seven blocks
//! of a size: with a graph alive, each further block is a search of some 650 instructions. Here a list per size serves
//! them in 15, up to [`KEPT`] bytes a size. What is larger, and what a full list does not take, is the system's.
//!
//! A block that another thread frees goes to that thread's list: blocks are bytes that the system gave, and belong to
//! whoever has them. A thread that ends gives its blocks back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null;

use pyo3::prelude::*;
use retrograd_engine::kernels::thread_block;

/// Sizes are rounded up to multiples of this, which is also the alignment that they all have.
const STEP: usize = 16;
/// The largest size that lists have.
const LARGEST: usize = 512;
/// Bytes that a thread keeps of one size.
const KEPT: usize = 1 << 16;

struct Lists {
    /// By size, the first block; each has the address of the next one at its beginning.
    first: [Cell<*mut u8>; LARGEST / STEP],
    /// By size, how many more blocks are taken.
    room: [Cell<usize>; LARGEST / STEP],
}

#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum Stage {
    /// No block was freed yet; nothing would give it back at the end of the thread.
    New = 0,
    Open,
    /// The thread ends, or waits for the system to note that it shall be told of that.
    Closed,
}

/// What a thread has of the allocator.
#[repr(C)]
struct Local {
    stage: Cell<Stage>,
    /// Null, unless the stage is `Open`.
    lists: Cell<*const Lists>,
}

thread_block!(
    /// Hands what the calling thread has to `f`.
    ///
    /// SAFETY: (1) Zeros are `Stage::New` and a null pointer.
    unsafe fn local: Local = "retrograd_python_blocks", begins with 0, else
        Local { stage: Cell::new(Stage::New), lists: Cell::new(null()) }
);

thread_local! {
    /// Dropped when the thread ends.
    static END: End = const { End };
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        local(Local::close);
    }
}

/// Where the lists have blocks of this layout, if they do.
#[inline(always)]
fn index(layout: Layout) -> Option<usize> {
    // No value of this allocator's has size 0; the subtraction would give a large number then.
    let index = layout.size().wrapping_sub(1) / STEP;
    (index < LARGEST / STEP && layout.align() <= STEP).then_some(index)
}

/// What the system is asked for.
fn block(index: usize) -> Layout {
    let size = (index + 1) * STEP;
    // SAFETY: a power of two, and far from overflow.
    unsafe { Layout::from_size_align_unchecked(size, STEP) }
}

impl Local {
    /// The lists, while the thread has them.
    #[inline(always)]
    fn lists(&self) -> Option<&Lists> {
        // SAFETY: what `open` made lives until `close`, which nothing that has the lists calls.
        unsafe { self.lists.get().as_ref() }
    }

    #[cold]
    fn open(&self) {
        // What is freed meanwhile goes to the system.
        self.stage.set(Stage::Closed);
        if END.try_with(|_| ()).is_err() {
            return;
        }
        // SAFETY: the layout has a size.
        let lists = unsafe { System.alloc_zeroed(Layout::new::<Lists>()) }.cast::<Lists>();
        // SAFETY: zeros are null pointers and numbers; nobody else has what the system gave.
        let Some(made) = (unsafe { lists.as_ref() }) else { return };
        for (index, room) in made.room.iter().enumerate() {
            room.set(KEPT / block(index).size());
        }
        self.lists.set(lists);
        self.stage.set(Stage::Open);
    }

    fn close(&self) {
        self.stage.set(Stage::Closed);
        let at = self.lists.replace(null());
        // SAFETY: what `open` made.
        let Some(lists) = (unsafe { at.as_ref() }) else { return };
        for index in 0..lists.first.len() {
            while let Some(at) = lists.take(index) {
                // SAFETY: the system gave it, for this layout.
                unsafe { System.dealloc(at, block(index)) };
            }
        }
        // SAFETY: the system gave it, for this layout, and nobody has it any more.
        unsafe { System.dealloc(at.cast_mut().cast(), Layout::new::<Lists>()) };
    }

    /// Puts a block on its list, or gives it to the system.
    ///
    /// # Safety
    /// The system gave it for `block(index)`, and nobody uses it any more.
    #[inline(always)]
    unsafe fn put(&self, index: usize, at: *mut u8) {
        match self.lists() {
            Some(lists) if lists.room[index].get() != 0 => {
                lists.room[index].set(lists.room[index].get() - 1);
                // SAFETY: at least 16 bytes, aligned to as many, which nobody uses.
                unsafe { at.cast::<*mut u8>().write(lists.first[index].get()) };
                lists.first[index].set(at);
            }
            // SAFETY: as here.
            _ => unsafe { self.put_elsewhere(index, at) },
        }
    }

    /// # Safety
    /// As for `put`.
    #[cold]
    unsafe fn put_elsewhere(&self, index: usize, at: *mut u8) {
        if self.stage.get() == Stage::New {
            self.open();
        }
        // SAFETY: that of callers.
        unsafe { System.dealloc(at, block(index)) };
    }
}

impl Lists {
    #[inline(always)]
    fn take(&self, index: usize) -> Option<*mut u8> {
        let at = self.first[index].get();
        if at.is_null() {
            return None;
        }
        // SAFETY: a block of a list begins with the address of the next one.
        self.first[index].set(unsafe { at.cast::<*mut u8>().read() });
        self.room[index].set(self.room[index].get() + 1);
        Some(at)
    }
}

pub struct Blocks;

#[global_allocator]
static BLOCKS: Blocks = Blocks;

// SAFETY: a block comes from the system, with the size and alignment of its index, which its layout gives again, or
// with its layout. It is on one list at most, of one thread, from when it was given up until it is taken. No call
// unwinds.
unsafe impl GlobalAlloc for Blocks {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(index) = index(layout) else {
            // SAFETY: that of callers.
            return unsafe { System.alloc(layout) };
        };
        match local(|t| t.lists().and_then(|lists| lists.take(index))) {
            Some(at) => at,
            // SAFETY: its size is not 0.
            None => unsafe { System.alloc(block(index)) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match index(layout) {
            // SAFETY: that of callers: `alloc` gave it for this layout.
            Some(index) => local(|t| unsafe { t.put(index, at) }),
            // SAFETY: as above.
            None => unsafe { System.dealloc(at, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if index(layout).is_none() {
            // SAFETY: that of callers.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: that of callers; what is given has as many bytes.
        unsafe {
            let at = self.alloc(layout);
            if !at.is_null() {
                at.write_bytes(0, layout.size());
            }
            at
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: callers pass a size that makes a layout.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (index(layout), index(new)) {
            // SAFETY: that of callers.
            (None, None) => unsafe { System.realloc(at, layout, size) },
            (a, b) if a == b => at,
            // SAFETY: that of callers; both have as many bytes as are copied.
            _ => unsafe {
                let moved = self.alloc(new);
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(at, layout.size().min(size));
                    self.dealloc(at, layout);
                }
                moved
            },
        }
    }
}

/// Bytes in the lists of the calling thread.
#[pyfunction]
fn _kept_bytes() -> usize {
    let kept = |(index, room): (usize, &Cell<usize>)| {
        let size = block(index).size();
        (KEPT / size - room.get()) * size
    };
    local(|t| t.lists().map_or(0, |lists| lists.room.iter().enumerate().map(kept).sum()))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_kept_bytes, m)?)
}
