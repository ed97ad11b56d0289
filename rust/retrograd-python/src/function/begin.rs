//! The ctx of a call, made without calling its class where that would do nothing else.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use pyo3::{PyTypeInfo, ffi};

use super::{Begun, PyFunctionCtx};

/// What making an object of the class `_FunctionBase` takes.
struct Plan {
    /// Where in an object its `PyFunctionCtx` is.
    at: usize,
    class: Py<PyType>,
    /// The slots of the class and of its subclasses that do not define `__new__` or `__init__`, as addresses.
    new: usize,
    init: usize,
    /// The `__new__` of `object`.
    bare: ffi::newfunc,
}

static PLAN: OnceLock<Plan> = OnceLock::new();

fn slot(class: *mut ffi::PyTypeObject, slot: c_int) -> usize {
    // SAFETY: callers give classes that are alive.
    unsafe { ffi::PyType_GetSlot(class, slot) as usize }
}

impl Plan {
    /// Whether a call of the class makes an object of it from a new `PyFunctionCtx`, and that is all.
    fn covers(&self, class: &Bound<'_, PyType>) -> bool {
        let (class, base) = (class.as_type_ptr(), self.class.as_ptr().cast());
        // SAFETY: classes that are alive.
        let (metaclass, derived) = unsafe { (ffi::Py_TYPE(class.cast()), ffi::PyType_IsSubtype(class, base) != 0) };
        derived
            && metaclass == &raw mut ffi::PyType_Type
            && slot(class, ffi::Py_tp_new) == self.new
            && slot(class, ffi::Py_tp_init) == self.init
    }
}

/// A ctx from a call of `class`, for a call of its function that begins.
pub fn ctx<'py>(class: &Bound<'py, PyAny>, begun: Begun) -> PyResult<Bound<'py, PyFunctionCtx>> {
    let py = class.py();
    if let Some(plan) = PLAN.get()
        && let Ok(class) = class.cast::<PyType>()
        && plan.covers(class)
    {
        let nothing = PyTuple::empty(py);
        // SAFETY: a class and an empty tuple. What PyO3 does in the `__new__` that is not called: an object of a
        // subclass begins as one of `_FunctionBase` does, and consists of zeros where `object` does not fill it, up to
        // the `PyFunctionCtx` that is written here before anybody sees the object (checked in `register`).
        unsafe {
            let object = (plan.bare)(class.as_type_ptr(), nothing.as_ptr(), null_mut());
            let object = Bound::from_owned_ptr_or_err(py, object)?;
            object.as_ptr().cast::<u8>().add(plan.at).cast::<PyFunctionCtx>().write(PyFunctionCtx::of(begun.into()));
            return Ok(object.cast_into_unchecked());
        }
    }
    let ctx: Bound<'py, PyFunctionCtx> = class.call0()?.cast_into()?;
    let _ = ctx.get().begun.set(begun);
    Ok(ctx)
}

/// Notes how the objects of the class are laid out.
pub fn register(py: Python<'_>) -> PyResult<()> {
    let class = PyFunctionCtx::type_object(py);
    let example = Bound::new(py, PyFunctionCtx::of(OnceLock::new()))?;
    let at = std::ptr::from_ref(example.get()) as usize - example.as_ptr() as usize;
    // Header, PyFunctionCtx, weak references: what else an object might have would have to be made.
    let (word, size) = (size_of::<usize>(), class.getattr("__basicsize__")?.extract::<usize>()?);
    if at != size_of::<ffi::PyObject>() || size != at + size_of::<PyFunctionCtx>() + word {
        // Then classes are called.
        return Ok(());
    }
    let base = &raw mut ffi::PyBaseObject_Type;
    // SAFETY: `object` has a `__new__`, whose slot is of this type.
    let bare = unsafe { std::mem::transmute::<usize, ffi::newfunc>(slot(base, ffi::Py_tp_new)) };
    let (new, init) = (slot(class.as_type_ptr(), ffi::Py_tp_new), slot(class.as_type_ptr(), ffi::Py_tp_init));
    let _ = PLAN.set(Plan { at, class: class.unbind(), new, init, bare });
    Ok(())
}
