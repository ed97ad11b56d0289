//! `retrograd.Size`: a tuple, parts of which are sizes too. What is called most, making one and asking for an item, is
//! here; the rest is Python's.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use pyo3::{ffi, intern};

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Makes the base of the class, which the Python package completes.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    let doc = c"A tuple of ints, parts of which are sizes too: the base of `Size`.";
    let mut slots = [
        ffi::PyType_Slot { slot: ffi::Py_tp_doc, pfunc: doc.as_ptr().cast_mut().cast() },
        ffi::PyType_Slot { slot: ffi::Py_mp_subscript, pfunc: subscript as *mut c_void },
        ffi::PyType_Slot { slot: 0, pfunc: null_mut() },
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE;
    let mut spec = ffi::PyType_Spec {
        name: c"retrograd._core._Size".as_ptr(),
        // Those of a tuple.
        basicsize: 0 as c_int,
        itemsize: 0 as c_int,
        flags: flags as c_uint,
        slots: slots.as_mut_ptr(),
    };
    let bases = PyTuple::new(py, [py.get_type::<PyTuple>()])?;
    // SAFETY: the spec and its slots live until the call has copied them; `bases` is a tuple of types.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&mut spec, bases.as_ptr()))? };
    m.add("_Size", class)
}

/// Registers the class of the Python package.
pub fn set_class(class: &Bound<'_, PyAny>) -> PyResult<()> {
    let base = class.py().import(intern!(class.py(), "retrograd._core"))?.getattr(intern!(class.py(), "_Size"))?;
    let class = class.cast::<PyType>()?;
    assert!(class.is_subclass(&base)?, "the class of sizes has the base that was made for it");
    let _ = CLASS.set(class.py(), class.clone().unbind());
    Ok(())
}

/// Sizes as a `retrograd.Size`.
pub fn size<'py>(py: Python<'py>, sizes: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    match CLASS.get(py) {
        Some(class) => of_items(class.bind(py), sizes.iter().map(|n| Ok(n.into_pyobject(py)?.into_any()))),
        None => Ok(PyTuple::new(py, sizes)?.into_any()),
    }
}

/// An object of the class with these items.
fn of_items<'py>(
    class: &Bound<'py, PyType>,
    items: impl ExactSizeIterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    // SAFETY: the class is that of a tuple (`set_class`), so that the call makes one of as many items, and no other
    // thread has it yet. Each item is set once, to a reference of its own.
    unsafe {
        let made = ffi::PyType_GenericAlloc(class.as_ptr().cast(), items.len() as ffi::Py_ssize_t);
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        for (i, item) in items.enumerate() {
            if ffi::PyTuple_SetItem(made.as_ptr(), i as ffi::Py_ssize_t, item?.into_ptr()) != 0 {
                return Err(PyErr::fetch(py));
            }
        }
        Ok(made)
    }
}

/// `sizes[key]`: an item, or a part, which is a size too.
///
/// # Safety
/// 1. `of` is a tuple and `key` an object, and the caller holds the interpreter.
unsafe extern "C" fn subscript(of: *mut ffi::PyObject, key: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: duty 1. A tuple has the slot, and it is such a function; what it gives is a new reference or null.
    let (py, found) = unsafe {
        let slot = ffi::PyType_GetSlot(&raw mut ffi::PyTuple_Type, ffi::Py_mp_subscript);
        let found = transmute::<*mut c_void, ffi::binaryfunc>(slot)(of, key);
        if found.is_null() || ffi::PySlice_Check(key) == 0 {
            return found;
        }
        let py = Python::assume_attached();
        (py, Bound::from_owned_ptr(py, found))
    };
    let made = match (CLASS.get(py), found.cast::<PyTuple>()) {
        (Some(class), Ok(part)) => of_items(class.bind(py), part.iter().map(Ok)),
        _ => Ok(found),
    };
    match made {
        Ok(made) => made.into_ptr(),
        Err(error) => {
            error.restore(py);
            null_mut()
        }
    }
}
