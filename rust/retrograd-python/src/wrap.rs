//! Python objects for tensors, with identity: the same tensor comes back as the same object.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use pyo3::ffi;
use pyo3::prelude::*;
use retrograd::Tensor;

/// A multi-dimensional array that autograd can follow.
#[pyclass(name = "Tensor", module = "retrograd", subclass, weakref, frozen)]
pub struct PyTensor(pub Tensor);

impl Drop for PyTensor {
    fn drop(&mut self) {
        // Runs inside the object's deallocation, with the interpreter held: from now on the next wrap makes a new object.
        self.0.host().store(null_mut(), Ordering::Release);
    }
}

/// The Python object of a tensor: the live one if there is one, else a new one.
#[inline]
pub fn wrap(py: Python<'_>, t: Tensor) -> PyResult<Bound<'_, PyAny>> {
    if let Some(live) = live(py, &t) {
        return Ok(live);
    }
    let host = t.host() as *const std::sync::atomic::AtomicPtr<()>;
    let object = Bound::new(py, PyTensor(t))?;
    // SAFETY: the new object owns a handle on the tensor, so its slot is alive.
    unsafe { &*host }.store(object.as_ptr().cast(), Ordering::Release);
    Ok(object.into_any())
}

/// The object that stands for this tensor now, if any.
#[inline]
pub fn live<'py>(py: Python<'py>, t: &Tensor) -> Option<Bound<'py, PyAny>> {
    let p: *mut ffi::PyObject = t.host().load(Ordering::Acquire).cast();
    // SAFETY: the slot is set to an object that owns a handle on `t`, and cleared in that object's deallocation; both
    // happen with the interpreter held, as we hold it. An object being deallocated has a count of 0 and is not revived.
    unsafe {
        if p.is_null() || ffi::Py_REFCNT(p) == 0 {
            return None;
        }
        Some(Bound::from_borrowed_ptr(py, p))
    }
}

/// The core tensor of an object that is one (of the exact class or a subclass).
#[inline]
pub fn unwrap<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    let t = match object.cast_exact::<PyTensor>() {
        Ok(t) => t,
        Err(_) => object.cast::<PyTensor>().ok()?,
    };
    let inner = &t.get().0;
    // An object made by a subclass's constructor does not know its tensor's slot until it is first used.
    if inner.host().load(Ordering::Relaxed).is_null() {
        inner.host().store(object.as_ptr().cast(), Ordering::Release);
    }
    Some(inner)
}

/// `None` becomes None.
pub fn wrap_option(py: Python<'_>, t: Option<Tensor>) -> PyResult<Bound<'_, PyAny>> {
    t.map_or_else(|| Ok(py.None().into_bound(py)), |t| wrap(py, t))
}
