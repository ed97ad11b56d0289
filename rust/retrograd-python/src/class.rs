//! The class `retrograd.Tensor`: made by hand on top of `_TensorBase`, because PyO3 offers no way to say what happens to an
//! object whose last reference goes away, nor what the cycle collector finds behind it.
//!
//! Objects have, after what `_TensorBase` has, a pointer to their `__dict__`. They are shown to the cycle collector only
//! while they can be part of a cycle: once they have a history, hooks or attributes.

use std::ffi::{c_int, c_void};
use std::mem::size_of;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{PyTypeInfo, ffi};
use retrograd::Tensor;

use crate::hook;
use crate::wrap::{Handle, PyTensor, change_sides, sole_owner};

/// `retrograd.Tensor`; lives as long as the process.
static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
/// Slots of `_TensorBase`.
static NEW_BASE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DEALLOC_BASE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
/// Where in an object its `PyTensor`, its list of weak references and its dict are.
static CONTENTS: AtomicUsize = AtomicUsize::new(0);
static WEAKREFS: AtomicUsize = AtomicUsize::new(0);
static DICT: AtomicUsize = AtomicUsize::new(0);

fn class_ptr() -> *mut ffi::PyTypeObject {
    CLASS.load(Ordering::Relaxed)
}

/// Whether an object is of the class itself, not of a subclass.
#[inline]
pub fn is_exact(object: &Bound<'_, PyAny>) -> bool {
    object.get_type_ptr() == class_ptr()
}

/// The class.
pub fn class(py: Python<'_>) -> Bound<'_, PyType> {
    // SAFETY: set at import to a type that is never freed.
    unsafe { Bound::from_borrowed_ptr(py, class_ptr().cast()).cast_into_unchecked() }
}

/// Where an object's `PyTensor` is. The object must be one of `_TensorBase` for the result to be meaningful.
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
    let seen_by_collector = t.has_history();
    // SAFETY: allocates a zeroed object of the class. All that such an object consists of is the header, which the
    // allocator fills, the `PyTensor`, written here before anybody sees the object, and two pointers that may be null
    // (checked in `register`). The slot of the tensor is set with the interpreter held.
    unsafe {
        let object = ffi::PyType_GenericAlloc(class_ptr(), 0);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        if !seen_by_collector {
            ffi::PyObject_GC_UnTrack(object.cast());
        }
        t.host().store(object.cast(), Ordering::Release);
        contents(object).cast_mut().write(PyTensor(Handle::new(t)));
        Ok(Bound::from_owned_ptr(py, object))
    }
}

/// Shows an object to the cycle collector from now on: it got a hook or a history.
pub fn show_to_collector(object: &Bound<'_, PyAny>) {
    // SAFETY: an object of a class with the collector's header, which `_TensorBase` alone never makes.
    unsafe {
        if ffi::PyObject_GC_IsTracked(object.as_ptr()) == 0 {
            ffi::PyObject_GC_Track(object.as_ptr().cast());
        }
    }
}

/// Whether the object carries something that must survive while the tensor does.
unsafe fn carries_something(object: *mut ffi::PyObject) -> bool {
    // SAFETY: by contract a tensor object; the two pointers are null or valid.
    unsafe {
        let dict = *pointer_at(object, &DICT);
        ffi::Py_TYPE(object) != class_ptr()
            || !(*pointer_at(object, &WEAKREFS)).is_null()
            || (!dict.is_null() && ffi::PyDict_Size(dict) > 0)
    }
}

/// Called for an object that is about to be deallocated (with a count of 0, or of 1 by a subclass's deallocation), or by
/// the cycle collector, which holds a reference of its own.
unsafe extern "C" fn finalize(object: *mut ffi::PyObject) {
    // SAFETY: CPython calls this with the interpreter held, for an object of the class or a subclass. A count of at most 1
    // means that nobody else has the object, so nobody borrows its tensor.
    unsafe {
        if ffi::Py_REFCNT(object) <= 1 && carries_something(object) {
            Python::attach(|py| change_sides(py, object));
        }
    }
}

/// The constructor: as the base's, and the tensor learns which object stands for it.
unsafe extern "C" fn new(
    class: *mut ffi::PyTypeObject,
    args: *mut ffi::PyObject,
    kwargs: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython's contract for the slot is that of the base's, which makes objects of any subclass.
    unsafe {
        let base: ffi::newfunc = std::mem::transmute(NEW_BASE.load(Ordering::Relaxed));
        let object = base(class, args, kwargs);
        if !object.is_null() {
            (*contents(object)).0.host().store(object.cast(), Ordering::Release);
        }
        object
    }
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: CPython calls this with the interpreter held, once the count is 0. A subclass has called `finalize` before
    // and calls this as its base; for the class itself it is called here. If that took a reference, the object lives on.
    unsafe {
        if ffi::Py_TYPE(object) == class_ptr() {
            finalize(object);
            if ffi::Py_REFCNT(object) > 0 {
                return;
            }
        }
        ffi::PyObject_GC_UnTrack(object.cast());
        let dict = std::mem::replace(&mut *pointer_at(object, &DICT), std::ptr::null_mut());
        ffi::Py_XDECREF(dict);
        let base: ffi::destructor = std::mem::transmute(DEALLOC_BASE.load(Ordering::Relaxed));
        base(object);
    }
}

unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: CPython calls this with the interpreter held. Nothing here makes or drops references.
    unsafe {
        let see = |p: *mut ffi::PyObject| if p.is_null() { 0 } else { visit(p, arg) };
        let found = see(ffi::Py_TYPE(object).cast());
        if found != 0 {
            return found;
        }
        let found = see(*pointer_at(object, &DICT));
        if found != 0 {
            return found;
        }
        sole_owner(object).map_or(0, |t| hook::visit_tensor(t, &see))
    }
}

unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: CPython calls this with the interpreter held and the object alive.
    unsafe {
        let dict = std::mem::replace(&mut *pointer_at(object, &DICT), std::ptr::null_mut());
        ffi::Py_XDECREF(dict);
        Python::attach(|_| sole_owner(object).map(hook::clear_tensor));
    }
    0
}

/// Setting attributes makes the object visible to the collector, since the dict may lead back to it.
unsafe extern "C" fn set_attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: CPython's contract for the slot is that of the generic function.
    unsafe {
        let result = ffi::PyObject_GenericSetAttr(object, name, value);
        if result == 0 && !(*pointer_at(object, &DICT)).is_null() && ffi::PyObject_GC_IsTracked(object) == 0 {
            ffi::PyObject_GC_Track(object.cast());
        }
        result
    }
}

/// A number that the class object tells of itself.
fn attribute(class: &Bound<'_, PyType>, name: &str) -> PyResult<usize> {
    class.getattr(name)?.extract()
}

/// Makes the class and checks the layout that this file relies on.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    let base = PyTensor::type_object(py);
    let size = attribute(&base, "__basicsize__")?;
    let weakrefs = attribute(&base, "__weakrefoffset__")?;
    let example = Bound::new(py, PyTensor(Handle::new(crate::errors::OrPy::or_py(Tensor::empty(&[], retrograd::DType::Bool))?)))?;
    let at = std::ptr::from_ref(example.get()) as usize - example.as_ptr() as usize;
    // Header, PyTensor, weak references: nothing else may be in an object that starts as zeros.
    if at != size_of::<ffi::PyObject>() || size != at + size_of::<PyTensor>() + size_of::<usize>() || weakrefs != size - size_of::<usize>() {
        return Err(PySystemError::new_err("retrograd: unexpected layout of extension objects"));
    }
    CONTENTS.store(at, Ordering::Relaxed);
    WEAKREFS.store(weakrefs, Ordering::Relaxed);
    DICT.store(size, Ordering::Relaxed);

    let mut members = [
        ffi::PyMemberDef {
            name: c"__dictoffset__".as_ptr(),
            type_code: ffi::Py_T_PYSSIZET,
            offset: size as ffi::Py_ssize_t,
            flags: ffi::Py_READONLY,
            doc: std::ptr::null(),
        },
        // SAFETY: zeros end the list.
        unsafe { std::mem::zeroed() },
    ];
    let getset = Box::leak(Box::new([
        ffi::PyGetSetDef {
            name: c"__dict__".as_ptr(),
            get: Some(ffi::PyObject_GenericGetDict),
            set: Some(ffi::PyObject_GenericSetDict),
            doc: std::ptr::null(),
            closure: std::ptr::null_mut(),
        },
        ffi::PyGetSetDef::default(),
    ]));
    let slot = |slot, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_doc, c"A multi-dimensional array that autograd can follow.".as_ptr().cast_mut().cast()),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, getset.as_mut_ptr().cast()),
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_finalize, finalize as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_setattro, set_attribute as *mut c_void),
        slot(0, std::ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"retrograd.Tensor".as_ptr(),
        basicsize: (size + size_of::<usize>()) as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE | ffi::Py_TPFLAGS_HAVE_GC) as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec and all it points to are valid for the call, the getset list for ever; the slots fit the layout.
    let class = unsafe {
        let class = ffi::PyType_FromSpecWithBases(&mut spec, base.as_ptr());
        Bound::from_owned_ptr_or_err(py, class)?.cast_into::<PyType>()?
    };
    for (slot, kept) in [(ffi::Py_tp_new, &NEW_BASE), (ffi::Py_tp_dealloc, &DEALLOC_BASE)] {
        // SAFETY: a heap type, which has both slots.
        kept.store(unsafe { ffi::PyType_GetSlot(base.as_type_ptr(), slot) }, Ordering::Relaxed);
    }
    CLASS.store(class.as_type_ptr(), Ordering::Relaxed);
    m.add("Tensor", &class)?;
    // The class is never freed: `CLASS` points to it.
    std::mem::forget(class);
    Ok(())
}
