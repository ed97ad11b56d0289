//! The slot in which a tensor or a node has its Python object, without owning it.
//!
//! An object is found by a thread that has no reference to it, so it must not be freed between reading the slot and
//! taking a reference. Where there is a lock of the interpreter, holding that is enough. A free-threaded interpreter
//! has none: there the lowest bit of a slot that is not empty is a lock, and an object leaves its slot under that lock
//! before it is freed. No Python code runs, and nothing is waited for, while a slot is locked.

use std::sync::atomic::AtomicPtr;

use pyo3::ffi;
use pyo3::prelude::*;

pub type Slot = AtomicPtr<()>;

/// What is in a slot.
pub enum Found<'py> {
    Nothing,
    Object(Bound<'py, PyAny>),
    /// The last reference to this object is gone and its deallocation is under way: nobody can have it any more, unless
    /// the deallocation revives it.
    Dying(*mut ffi::PyObject),
}

#[cfg(not(Py_GIL_DISABLED))]
mod locked_interpreter {
    use std::ptr::null_mut;
    use std::sync::atomic::Ordering;

    use super::{Bound, Found, Python, Slot, ffi};

    /// The object in a slot, with a reference of its own.
    #[inline]
    pub fn find<'py>(py: Python<'py>, slot: &Slot) -> Found<'py> {
        let object: *mut ffi::PyObject = slot.load(Ordering::Acquire).cast();
        if object.is_null() {
            return Found::Nothing;
        }
        // SAFETY: objects leave their slot in their deallocation, with the interpreter held as we hold it: this one was
        // not freed. With a count above 0 it is not being deallocated either.
        unsafe {
            if ffi::Py_REFCNT(object) == 0 {
                Found::Dying(object)
            } else {
                Found::Object(Bound::from_borrowed_ptr(py, object))
            }
        }
    }

    /// Puts an object into an empty slot. Returns false if the slot is not empty.
    ///
    /// # Safety
    /// The object calls [`clear`] before it is freed.
    #[inline]
    pub unsafe fn fill(slot: &Slot, object: *mut ffi::PyObject) -> bool {
        let empty = slot.load(Ordering::Relaxed).is_null();
        if empty {
            slot.store(object.cast(), Ordering::Release);
        }
        empty
    }

    /// Empties the slot if this object is in it.
    #[inline]
    pub fn clear(slot: &Slot, object: *mut ffi::PyObject) {
        if slot.load(Ordering::Relaxed) == object.cast() {
            slot.store(null_mut(), Ordering::Release);
        }
    }

    /// Nothing to hold: the interpreter is held.
    pub struct Locked;

    /// Keeps the slot as it is, if this object is in it, until the result is dropped.
    pub fn lock(slot: &Slot, object: *mut ffi::PyObject) -> Option<Locked> {
        (slot.load(Ordering::Relaxed) == object.cast()).then_some(Locked)
    }

    /// Lets [`find`] take references to an object that was revived.
    ///
    /// # Safety
    /// A valid object.
    pub unsafe fn allow_references(_object: *mut ffi::PyObject) {}

    /// Waits for a deallocation that is under way on another thread: there is none while the interpreter is held.
    pub fn wait(_py: Python<'_>, _waited: &mut u32) -> bool {
        false
    }
}

#[cfg(Py_GIL_DISABLED)]
mod free_threaded {
    use std::ptr::null_mut;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::{Bound, Found, Python, Slot, ffi};

    const LOCK: usize = 1;

    /// A slot that is not empty and locked by this thread; unlocked when dropped, with `object` in it.
    pub struct Locked<'a> {
        slot: &'a Slot,
        object: *mut ffi::PyObject,
    }

    impl Drop for Locked<'_> {
        fn drop(&mut self) {
            self.slot.store(self.object.cast(), Ordering::Release);
        }
    }

    fn lock_any(slot: &Slot) -> Option<Locked<'_>> {
        let mut now = slot.load(Ordering::Relaxed);
        let mut spins = 0;
        loop {
            if now.is_null() {
                return None;
            }
            let open = now.map_addr(|a| a & !LOCK);
            let taken = open.map_addr(|a| a | LOCK);
            match slot.compare_exchange_weak(open, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Locked { slot, object: open.cast() }),
                Err(other) => now = other,
            }
            // Whoever has the lock does a few instructions; but the system may have stopped that thread.
            spins += 1;
            if spins % 64 == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }

    /// The object in a slot, with a reference of its own.
    pub fn find<'py>(py: Python<'py>, slot: &Slot) -> Found<'py> {
        let Some(locked) = lock_any(slot) else { return Found::Nothing };
        let object = locked.object;
        // SAFETY: an object leaves its slot under the lock before it is freed, so its memory is there. `fill` has made
        // `PyUnstable_TryIncRef` possible; it refuses objects whose count came to 0, except in the thread that owns the
        // object after a finalizer has run, which is what the counts are read for: both are 0 only then, or when it
        // refuses.
        unsafe {
            let local = (*object).ob_ref_local.load(Ordering::Relaxed);
            let shared = (*object).ob_ref_shared.load(Ordering::Relaxed) >> 2;
            if (local, shared) == (0, 0) || ffi::PyUnstable_TryIncRef(object) == 0 {
                return Found::Dying(object);
            }
            drop(locked);
            Found::Object(Bound::from_owned_ptr(py, object))
        }
    }

    /// Puts an object into an empty slot. Returns false if the slot is not empty.
    ///
    /// # Safety
    /// The object is valid, and calls [`clear`] before it is freed.
    pub unsafe fn fill(slot: &Slot, object: *mut ffi::PyObject) -> bool {
        // SAFETY: a valid object, by contract.
        unsafe { allow_references(object) };
        slot.compare_exchange(null_mut(), object.cast(), Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Empties the slot if this object is in it.
    pub fn clear(slot: &Slot, object: *mut ffi::PyObject) {
        if let Some(mut locked) = lock(slot, object) {
            locked.object = null_mut();
        }
    }

    /// Keeps the slot as it is, if this object is in it, until the result is dropped.
    pub fn lock(slot: &Slot, object: *mut ffi::PyObject) -> Option<Locked<'_>> {
        lock_any(slot).filter(|locked| locked.object == object)
    }

    /// Lets [`find`] take references to an object that was revived.
    ///
    /// # Safety
    /// A valid object.
    pub unsafe fn allow_references(object: *mut ffi::PyObject) {
        // SAFETY: by contract.
        unsafe { ffi::PyUnstable_EnableTryIncRef(object) };
    }

    /// Waits a moment for a deallocation that is under way on another thread. Returns false if it has waited long: the
    /// deallocation may be that of this thread, further out.
    pub fn wait(py: Python<'_>, waited: &mut u32) -> bool {
        *waited += 1;
        match *waited {
            0..100 => py.detach(std::thread::yield_now),
            100..1100 => py.detach(|| std::thread::sleep(Duration::from_millis(1))),
            _ => return false,
        }
        true
    }
}

#[cfg(Py_GIL_DISABLED)]
pub use free_threaded::{allow_references, clear, fill, find, lock, wait};
#[cfg(not(Py_GIL_DISABLED))]
pub use locked_interpreter::{allow_references, clear, fill, find, lock, wait};
