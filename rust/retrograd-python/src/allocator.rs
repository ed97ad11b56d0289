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
use std::ptr::null_mut;

use pyo3::prelude::*;

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
    stage: Cell<Stage>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// No block was freed yet; nothing would give it back at the end of the thread.
    New,
    Open,
    /// The thread ends, or waits for the system to note that it shall be told of that.
    Closed,
}

thread_local! {
    /// Nothing in it is dropped: it is there as long as the thread is.
    static LISTS: Lists = const {
        Lists {
            first: [const { Cell::new(null_mut()) }; LARGEST / STEP],
            room: [const { Cell::new(0) }; LARGEST / STEP],
            stage: Cell::new(Stage::New),
        }
    };
    /// Dropped when the thread ends.
    static END: End = const { End };
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        LISTS.with(Lists::close);
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

impl Lists {
    #[cold]
    fn open(&self) {
        // What is freed meanwhile goes to the system.
        self.stage.set(Stage::Closed);
        if END.try_with(|_| ()).is_ok() {
            for (index, room) in self.room.iter().enumerate() {
                room.set(KEPT / block(index).size());
            }
            self.stage.set(Stage::Open);
        }
    }

    fn close(&self) {
        self.stage.set(Stage::Closed);
        for (index, first) in self.first.iter().enumerate() {
            self.room[index].set(0);
            while let Some(at) = self.take(index) {
                // SAFETY: the system gave it, for this layout.
                unsafe { System.dealloc(at, block(index)) };
            }
            debug_assert!(first.get().is_null());
        }
    }

    #[inline(always)]
    fn take(&self, index: usize) -> Option<*mut u8> {
        let at = self.first[index].get();
        if at.is_null() {
            return None;
        }
        // SAFETY: a block of a list begins with the address of the next one.
        self.first[index].set(unsafe { at.cast::<*mut u8>().read() });
        Some(at)
    }

    /// Puts a block on its list, or gives it to the system.
    ///
    /// # Safety
    /// The system gave it for `block(index)`, and nobody uses it any more.
    #[inline(always)]
    unsafe fn put(&self, index: usize, at: *mut u8) {
        let room = self.room[index].get();
        if room == 0 {
            // SAFETY: as here.
            return unsafe { self.put_elsewhere(index, at) };
        }
        self.room[index].set(room - 1);
        // SAFETY: at least 16 bytes, aligned to as many, which nobody uses.
        unsafe { at.cast::<*mut u8>().write(self.first[index].get()) };
        self.first[index].set(at);
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
        LISTS.with(|lists| match lists.take(index) {
            Some(at) => {
                lists.room[index].set(lists.room[index].get() + 1);
                at
            }
            // SAFETY: its size is not 0.
            None => unsafe { System.alloc(block(index)) },
        })
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match index(layout) {
            // SAFETY: that of callers: `alloc` gave it for this layout.
            Some(index) => LISTS.with(|lists| unsafe { lists.put(index, at) }),
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
    LISTS.with(|lists| {
        let open = lists.stage.get() == Stage::Open;
        let kept = |(index, room): (usize, &Cell<usize>)| {
            let size = block(index).size();
            (KEPT / size - room.get()) * size
        };
        if open { lists.room.iter().enumerate().map(kept).sum() } else { 0 }
    })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_kept_bytes, m)?)
}
