//! What CPython must know of tensor objects beyond what PyO3 can say: how to make them fast, what happens when the last
//! reference goes away, and when the cycle collector looks at them.
//!
//! Objects are shown to the collector only while they can be part of a cycle: once they have a history, hooks or
//! attributes.

use std::ffi::{CStr, c_int, c_void};
use std::mem::size_of;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{PyTypeInfo, ffi};
use retrograd::Tensor;

use crate::wrap::{Handle, PyTensor, live, transfer_ownership};

/// `retrograd.Tensor`; lives as long as the process.
static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());
/// PyO3's deallocation of the class.
static DEALLOC: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// Where in an object its `PyTensor`, its dict and its list of weak references are.
static CONTENTS: AtomicUsize = AtomicUsize::new(0);
static DICT: AtomicUsize = AtomicUsize::new(0);
static WEAKREFS: AtomicUsize = AtomicUsize::new(0);

fn class_ptr() -> *mut ffi::PyTypeObject {
    CLASS.load(Ordering::Relaxed)
}

/// Whether an object is of the class itself, not of a subclass.
#[inline]
pub fn is_exact(object: &Bound<'_, PyAny>) -> bool {
    object.get_type_ptr() == class_ptr()
}

/// Where an object's `PyTensor` is. The object must be a tensor for the result to be meaningful.
#[inline]
pub fn contents(object: *mut ffi::PyObject) -> *const PyTensor {
    object.cast::<u8>().wrapping_add(CONTENTS.load(Ordering::Relaxed)).cast()
}

fn pointer_at(object: *mut ffi::PyObject, offset: &AtomicUsize) -> *mut *mut ffi::PyObject {
    object.cast::<u8>().wrapping_add(offset.load(Ordering::Relaxed)).cast()
}

/// A new object of the class for a tensor that has none.
#[inline]
pub fn new_object(py: Python<'_>, t: Tensor) -> PyResult<Bound<'_, PyAny>> {
    let collectable = t.has_history();
    // SAFETY: the class itself.
    let object = unsafe { allocate(py, class_ptr(), t)? };
    if !collectable {
        // SAFETY: an object with the collector's header.
        unsafe { ffi::PyObject_GC_UnTrack(object.as_ptr().cast()) };
    }
    Ok(object)
}

/// As [`new_object`], of a subclass.
pub fn new_object_of<'py>(class: &Bound<'py, PyType>, t: Tensor) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `__new__` is only called with subclasses of the class.
    unsafe { allocate(class.py(), class.as_type_ptr(), t) }
}

/// # Safety
/// `class` is the class or a subclass, and `t` has no object.
#[inline]
unsafe fn allocate(py: Python<'_>, class: *mut ffi::PyTypeObject, t: Tensor) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: allocates a zeroed object. All that such an object consists of, up to what a subclass adds, is the header,
    // which the allocator fills, the `PyTensor`, written here before anybody sees the object, and two pointers that may be
    // null (checked in `register`). The slot of the tensor is set with the interpreter held.
    unsafe {
        let object = ffi::PyType_GenericAlloc(class, 0);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        t.object_slot().store(object.cast(), Ordering::Release);
        contents(object).cast_mut().write(PyTensor(Handle::new(t)));
        Ok(Bound::from_owned_ptr(py, object))
    }
}

/// Shows an object to the cycle collector from now on: it got a hook, a history or attributes.
pub fn show_to_collector(object: &Bound<'_, PyAny>) {
    // SAFETY: an object with the collector's header.
    unsafe {
        if ffi::PyObject_GC_IsTracked(object.as_ptr()) == 0 {
            ffi::PyObject_GC_Track(object.as_ptr().cast());
        }
    }
}

/// A tensor that has an object got a history.
fn got_history(t: &Tensor) {
    Python::attach(|py| {
        if let Some(object) = live(py, t) {
            show_to_collector(&object);
        }
    });
}

/// Sets an attribute as any object does, then shows the object to the collector, since the attribute may lead back to it.
pub fn set_attribute(
    object: &Bound<'_, PyAny>,
    name: &Bound<'_, PyAny>,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    // SAFETY: valid objects; a null value deletes.
    unsafe {
        let value = value.map_or(null_mut(), Bound::as_ptr);
        if ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value) != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        if !(*pointer_at(object.as_ptr(), &DICT)).is_null() {
            show_to_collector(object);
        }
    }
    Ok(())
}

/// Whether the object has something that must survive while the tensor does: attributes, weak references, a subclass.
///
/// # Safety
/// A tensor object, with the interpreter held.
unsafe fn carries_something(object: *mut ffi::PyObject) -> bool {
    // SAFETY: the two pointers are null or valid.
    unsafe {
        let dict = *pointer_at(object, &DICT);
        ffi::Py_TYPE(object) != class_ptr()
            || !(*pointer_at(object, &WEAKREFS)).is_null()
            || (!dict.is_null() && ffi::PyDict_Size(dict) > 0)
    }
}

/// To be called for an object whose last reference goes away, or which the cycle collector wants to finalize: if it has
/// something to keep and the tensor lives on, the tensor takes a reference.
///
/// # Safety
/// A tensor object, with the interpreter held.
pub unsafe fn finalize(object: *mut ffi::PyObject) {
    // SAFETY: by contract. A count of at most 1 (the collector holds a reference of its own) means that nobody else has the
    // object, so nobody borrows its tensor.
    unsafe {
        if ffi::Py_REFCNT(object) <= 1 && carries_something(object) {
            Python::attach(|py| transfer_ownership(py, object));
        }
    }
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: CPython calls this with the interpreter held, once the count is 0. A subclass's deallocation has called
    // `__del__` before; for the class itself the same is done here. If that took a reference, the object lives on.
    unsafe {
        if ffi::Py_TYPE(object) == class_ptr() {
            finalize(object);
            if ffi::Py_REFCNT(object) > 0 {
                return;
            }
        }
        let next: ffi::destructor = std::mem::transmute(DEALLOC.load(Ordering::Relaxed));
        next(object);
    }
}

/// The words that a class object consists of.
fn words(class: *mut ffi::PyTypeObject) -> *mut *mut c_void {
    class.cast()
}

/// Where class objects keep their slot for deallocation, found by looking at a class made for it: the struct is not part of
/// Python's stable interface.
fn dealloc_position(py: Python<'_>) -> PyResult<Option<usize>> {
    let slot = |slot, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [slot(ffi::Py_tp_dealloc, dealloc as *mut c_void), slot(0, null_mut())];
    let name: &CStr = c"retrograd._core._Probe";
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: size_of::<ffi::PyObject>() as c_int,
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec is valid for the call; no object of the class is ever made.
    let probe = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))?.cast_into::<PyType>()? };
    let count = py.get_type::<PyType>().getattr("__basicsize__")?.extract::<usize>()? / size_of::<usize>();
    // SAFETY: a class object has at least `count` words.
    let is_it = |&i: &usize| unsafe { *words(probe.as_type_ptr()).add(i) } == dealloc as *mut c_void;
    let mut hits = (0..count).filter(is_it);
    Ok(hits.next().filter(|_| hits.next().is_none()))
}

/// Adds the class after checking the layout that this file relies on.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    let unknown = || PySystemError::new_err("retrograd: this Python lays out extension classes in an unknown way");
    m.add_class::<PyTensor>()?;
    retrograd::autograd::hooks::on_history(got_history);
    let class = PyTensor::type_object(py);
    let number = |name| class.getattr(name).and_then(|n| n.extract::<usize>());
    let (size, dict, weakrefs) = (number("__basicsize__")?, number("__dictoffset__")?, number("__weakrefoffset__")?);
    let example = crate::errors::OrPy::or_py(Tensor::empty(&[], retrograd::DType::Bool))?;
    let example = Bound::new(py, PyTensor(Handle::new(example)))?;
    let at = std::ptr::from_ref(example.get()) as usize - example.as_ptr() as usize;
    drop(example);
    // Header, PyTensor, dict, weak references: nothing else may be in an object that starts as zeros.
    let word = size_of::<usize>();
    let end = at + size_of::<PyTensor>();
    if at != size_of::<ffi::PyObject>() || (dict, weakrefs, size) != (end, end + word, end + 2 * word) {
        return Err(unknown());
    }
    CONTENTS.store(at, Ordering::Relaxed);
    DICT.store(dict, Ordering::Relaxed);
    WEAKREFS.store(weakrefs, Ordering::Relaxed);
    let position = dealloc_position(py)?.ok_or_else(unknown)?;
    // SAFETY: the position was found in a class object of this interpreter, and is checked once more: the class has PyO3's
    // deallocation there. Nobody uses the class on another thread yet.
    unsafe {
        let word = words(class.as_type_ptr()).add(position);
        let original = ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_dealloc);
        if *word != original {
            return Err(unknown());
        }
        DEALLOC.store(original, Ordering::Relaxed);
        *word = dealloc as *mut c_void;
    }
    CLASS.store(class.as_type_ptr(), Ordering::Relaxed);
    // The class is never freed: `CLASS` points to it.
    std::mem::forget(class);
    Ok(())
}
