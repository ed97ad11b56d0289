//! References to Python objects that the engine holds, and may drop on a thread that does not hold the interpreter.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use pyo3::prelude::*;

/// A reference that any thread may drop: the drop waits for the interpreter.
///
/// Nothing that holds one may be dropped under a lock that a thread holding the interpreter may wait for.
pub struct AnyThread<T>(ManuallyDrop<Py<T>>);

impl<T> AnyThread<T> {
    pub fn new(object: Py<T>) -> Self {
        Self(ManuallyDrop::new(object))
    }
}

impl<T> Deref for AnyThread<T> {
    type Target = Py<T>;
    fn deref(&self) -> &Py<T> {
        &self.0
    }
}

impl<T> Drop for AnyThread<T> {
    fn drop(&mut self) {
        // Without an interpreter (at its end) the object cannot be given back: it is left alone.
        Python::try_attach(|py| {
            // SAFETY: taken once, here.
            unsafe { ManuallyDrop::take(&mut self.0) }.drop_ref(py);
        });
    }
}
