//! What CPython must know of tensor objects and PyO3 cannot say: how to make them fast, what happens when the last
//! reference goes, and when the cycle collector traverses them.
//!
//! The collector traverses an object only while it can be part of a cycle: once it has a history, hooks or attributes.

use std::ffi::{CStr, c_int, c_void};
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::exceptions::{PyRuntimeWarning, PySystemError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{PyTypeInfo, ffi, intern};
use retrograd_engine::Tensor;

use crate::object_slot;
use crate::overrides;
use crate::wrap::{Handle, PyTensor, live, transfer_ownership, wrap};

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
    is_exact_ptr(object.as_ptr())
}

/// As [`is_exact`], of a live object.
#[inline]
pub fn is_exact_ptr(object: *mut ffi::PyObject) -> bool {
    // SAFETY: reads the class of an object, which callers have a reference to.
    unsafe { ffi::Py_TYPE(object) == class_ptr() }
}

/// Where an object's `PyTensor` is. The object must be a tensor for the result to be meaningful.
#[inline]
pub fn contents(object: *mut ffi::PyObject) -> *const PyTensor {
    object.cast::<u8>().wrapping_add(CONTENTS.load(Ordering::Relaxed)).cast()
}

/// The object that this is the `PyTensor` of.
#[inline]
pub fn object_of(contents: &PyTensor) -> *mut ffi::PyObject {
    std::ptr::from_ref(contents).cast_mut().cast::<u8>().wrapping_sub(CONTENTS.load(Ordering::Relaxed)).cast()
}

fn pointer_at(object: *mut ffi::PyObject, offset: &AtomicUsize) -> *mut *mut ffi::PyObject {
    object.cast::<u8>().wrapping_add(offset.load(Ordering::Relaxed)).cast()
}

/// A new object of the class for a tensor that has none; if it got one meanwhile on another thread, that.
#[inline]
pub fn new_object(py: Python<'_>, t: Tensor) -> PyResult<Bound<'_, PyAny>> {
    let hidden = CAN_UNTRACK && !t.has_history();
    // SAFETY: the class itself, which an object of the pool is of.
    unsafe {
        let object = match pool::take() {
            Some(object) => ffi::PyObject_Init(object, class_ptr()),
            None => hidden_object(py, class_ptr())?,
        };
        filled(py, object, t, !hidden)
    }
}

/// As [`new_object`], of a subclass.
pub fn new_object_of<'py>(class: &Bound<'py, PyType>, t: Tensor) -> PyResult<Bound<'py, PyAny>> {
    if class.as_type_ptr() != class_ptr() {
        overrides::note_class(class)?;
    }
    // SAFETY: callers make objects of the class and its subclasses only.
    unsafe {
        let object = hidden_object(class.py(), class.as_type_ptr())?;
        filled(class.py(), object, t, true)
    }
}

/// A new object that consists of zeros, hidden from the collector; nobody may see it before it is [`filled`].
///
/// # Safety
/// `class` is the class or a subclass.
#[inline]
unsafe fn hidden_object(py: Python<'_>, class: *mut ffi::PyTypeObject) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: a class whose objects have the collector's header.
    unsafe {
        let object = ffi::PyType_GenericAlloc(class, 0);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        ffi::PyObject_GC_UnTrack(object.cast());
        Ok(object)
    }
}

/// The object of a tensor, from one that only lacks the tensor; the collector may be shown it.
///
/// # Safety
/// 1. `object` has one reference, the caller's, and is hidden from the collector.
/// 2. Behind its header it consists of zeros, but for the place of the `PyTensor`, which may be anything.
#[inline]
unsafe fn filled(py: Python<'_>, object: *mut ffi::PyObject, t: Tensor, shown: bool) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: all that such an object consists of, up to what a subclass adds, is the header, the `PyTensor`, written
    // here before anybody sees the object, and two pointers that may be null (checked in `register`). A `PyTensor` that
    // is dropped leaves the slot.
    unsafe {
        contents(object).cast_mut().write(PyTensor(Handle::new(t)));
        if shown {
            ffi::PyObject_GC_Track(object.cast());
        }
        let bound = Bound::from_owned_ptr(py, object);
        let t: &Tensor = &(*contents(object)).0;
        if object_slot::fill(t.object_slot(), object) { Ok(bound) } else { other_object(t.clone(), bound) }
    }
}

/// The object of a tensor that got one on another thread while `superfluous` was made.
#[cold]
fn other_object<'py>(t: Tensor, superfluous: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = superfluous.py();
    drop(superfluous);
    wrap(py, t)
}

/// Whether objects are hidden from the collector while they cannot be part of a cycle. Showing one must happen once,
/// which the interpreter's lock makes sure of; without that lock, every object is shown from the beginning.
const CAN_UNTRACK: bool = cfg!(not(Py_GIL_DISABLED));

/// Shows an object to the cycle collector from now on: it got a hook, a history or attributes.
pub fn show_to_collector(object: &Bound<'_, PyAny>) {
    // SAFETY: an object with the collector's header.
    unsafe {
        if CAN_UNTRACK && ffi::PyObject_GC_IsTracked(object.as_ptr()) == 0 {
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

/// Sets an attribute as any object does, then shows the object to the collector, since the attribute may lead back to
/// it.
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
        if CAN_UNTRACK && !(*pointer_at(object.as_ptr(), &DICT)).is_null() {
            show_to_collector(object);
        }
        if !is_exact(object) && name.is(intern!(object.py(), "__class__")) {
            overrides::note_class(&object.get_type())?;
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

/// To be called in the deallocation of an object: if it has something to keep and the tensor lives on, the tensor gets
/// the ownership. Returns whether it did; the object may then be gone already.
///
/// # Safety
/// As for [`transfer_ownership`].
unsafe fn preserve(object: *mut ffi::PyObject) -> bool {
    // SAFETY: by contract.
    unsafe { carries_something(object) && Python::attach(|py| transfer_ownership(py, object)) }
}

/// `__del__`, which the deallocation of subclasses calls before it empties their `__slots__`, once for an object. The
/// cycle collector calls it too.
///
/// # Safety
/// A tensor object, with the interpreter held.
pub unsafe fn finalize(object: *mut ffi::PyObject) {
    // SAFETY: by contract. For a deallocation CPython makes a reference, and there is no other one. The collector has a
    // reference and there is at least one more; without the interpreter's lock its objects never have the counts asked
    // for here, which say as well that no reference can be had through a weak one.
    unsafe {
        #[cfg(not(Py_GIL_DISABLED))]
        let deallocating = ffi::Py_REFCNT(object) <= 1;
        #[cfg(Py_GIL_DISABLED)]
        let deallocating =
            (*object).ob_ref_local.load(Ordering::Relaxed) == 1 && (*object).ob_ref_shared.load(Ordering::Relaxed) == 0;
        if deallocating {
            preserve(object);
        }
    }
}

/// The deallocation of the class, with which that of a subclass ends.
unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: CPython calls this with the interpreter held, once the count is 0. What is preserved lives on.
    unsafe {
        if preserve(object) {
            return;
        }
        // Those who look for the object on other threads need not wait for callbacks of weak references.
        #[cfg(Py_GIL_DISABLED)]
        if let Some(t) = (*contents(object)).0.owned() {
            object_slot::clear(t.object_slot(), object);
        }
        if is_bare(object) {
            return free(object);
        }
        let next: ffi::destructor = std::mem::transmute(DEALLOC.load(Ordering::Relaxed));
        next(object);
    }
}

/// Whether an object of the class itself has neither a dict nor weak references.
///
/// # Safety
/// A tensor object, with the interpreter held.
unsafe fn is_bare(object: *mut ffi::PyObject) -> bool {
    // SAFETY: both are null or valid.
    unsafe {
        ffi::Py_TYPE(object) == class_ptr()
            && (*pointer_at(object, &DICT)).is_null()
            && (*pointer_at(object, &WEAKREFS)).is_null()
    }
}

/// What PyO3's deallocation does with a bare object, in a third of the instructions: the counterpart of [`allocate`].
///
/// # Safety
/// As for a deallocation, of a bare object.
unsafe fn free(object: *mut ffi::PyObject) {
    // SAFETY: an object that nobody refers to; its `PyTensor` is all that it has, and is not used any more. What the
    // `PyTensor` drops of Python's waits for the interpreter by itself (`AnyThread`). An object of a class made at run
    // time has a reference to it.
    unsafe {
        let class = ffi::Py_TYPE(object);
        ffi::PyObject_GC_UnTrack(object.cast());
        let dropped = catch_unwind(AssertUnwindSafe(|| std::ptr::drop_in_place(contents(object).cast_mut())));
        if dropped.is_err() {
            Python::attach(|py| PySystemError::new_err("the drop of a tensor panicked").write_unraisable(py, None));
        }
        if dropped.is_err() || !pool::put(object) {
            ffi::PyObject_GC_Del(object.cast());
        }
        ffi::Py_DECREF(class.cast());
    }
}

/// Memory of bare objects of the class itself that were freed, for the next ones: a program makes and frees an object
/// for every result. What is here is no object any more, but for its header, which the collector does not know.
mod pool {
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    use pyo3::ffi;

    use super::{CAN_UNTRACK, contents};

    /// How much is kept: with more results alive than that, the cost of an op is not that of their objects.
    const MOST: usize = 256;

    /// The first one; each has the address of the next one where its `PyTensor` was.
    static FIRST: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());
    static COUNT: AtomicUsize = AtomicUsize::new(0);

    /// Where an entry has the next one's address.
    fn next(object: *mut ffi::PyObject) -> *mut *mut ffi::PyObject {
        contents(object).cast_mut().cast()
    }

    /// Keeps the memory of an object, unless there is enough. The interpreter's lock protects the list; without that
    /// lock nothing is kept.
    ///
    /// # Safety
    /// 1. A bare object of the class itself that is not tracked by the collector; its `PyTensor` was dropped.
    /// 2. Nobody refers to it, and after true nobody frees it.
    /// 3. The interpreter is held.
    #[inline]
    pub unsafe fn put(object: *mut ffi::PyObject) -> bool {
        let count = COUNT.load(Ordering::Relaxed);
        // One that the collector has finalized would never be finalized again.
        // SAFETY: (1) an object with the collector's header.
        if !CAN_UNTRACK || count >= MOST || unsafe { ffi::PyObject_GC_IsFinalized(object) } != 0 {
            return false;
        }
        // SAFETY: (1) and (2) the place of the `PyTensor`, which has room for an address and is not used.
        unsafe { *next(object) = FIRST.load(Ordering::Relaxed) };
        FIRST.store(object, Ordering::Relaxed);
        COUNT.store(count + 1, Ordering::Relaxed);
        true
    }

    /// Memory for an object of the class itself, if some is kept: header, `PyTensor` of any content, two null pointers.
    ///
    /// # Safety
    /// The interpreter is held.
    #[inline]
    pub unsafe fn take() -> Option<*mut ffi::PyObject> {
        let object = FIRST.load(Ordering::Relaxed);
        if object.is_null() {
            return None;
        }
        // SAFETY: what is in the list was put there, with the address of the next one.
        FIRST.store(unsafe { *next(object) }, Ordering::Relaxed);
        COUNT.store(COUNT.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        Some(object)
    }
}

/// The words that a class object consists of.
fn words(class: *mut ffi::PyTypeObject) -> *mut *mut c_void {
    class.cast()
}

/// Where class objects keep their slot for deallocation, found by looking at a class made for it: the struct is not
/// part of Python's stable interface.
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

/// What the class loses where the slot for deallocation is not known.
const NO_SLOT: &CStr =
    c"retrograd does not know how this version of Python lays out classes. All works but this: of a \
    retrograd.Tensor that only a graph refers to, attributes and weak references do not come back with it.";

/// The word of the class that is its slot for deallocation, and holds `now`; None, with a warning, if it is not found.
fn dealloc_slot(class: &Bound<'_, PyType>, now: *mut c_void) -> PyResult<Option<*mut *mut c_void>> {
    let slot = dealloc_position(class.py())?.map(|position| words(class.as_type_ptr()).wrapping_add(position));
    // SAFETY: the position was found in a class object of this interpreter.
    let slot = slot.filter(|&slot| unsafe { *slot } == now);
    if slot.is_none() {
        PyErr::warn(class.py(), &class.py().get_type::<PyRuntimeWarning>(), NO_SLOT, 1)?;
    }
    Ok(slot)
}

/// The one word of an object that holds `now`, the function of a slot; None if it is not one.
pub fn word_with(object: &Bound<'_, PyAny>, now: *mut c_void) -> PyResult<Option<*mut *mut c_void>> {
    let count = object.get_type().getattr("__basicsize__")?.extract::<usize>()? / size_of::<usize>();
    let words = object.as_ptr().cast::<*mut c_void>();
    // SAFETY: an object has at least as many words as its class says.
    let mut hits = (0..count).map(|i| words.wrapping_add(i)).filter(|&word| unsafe { *word } == now);
    Ok(hits.next().filter(|_| !now.is_null() && hits.next().is_none()))
}

/// Leaves deallocation as PyO3 made it, as on a Python whose layout of classes is not known.
#[pyfunction]
fn _forget_dealloc_slot(py: Python<'_>) -> PyResult<()> {
    let class = PyTensor::type_object(py);
    if let Some(slot) = dealloc_slot(&class, dealloc as *mut c_void)? {
        // SAFETY: the slot of the class, which held this before.
        unsafe { *slot = DEALLOC.load(Ordering::Relaxed) };
    }
    // Now the slot is one that is not found.
    dealloc_slot(&class, dealloc as *mut c_void).map(drop)
}

/// Adds the class after checking the layout that this file relies on.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add_class::<PyTensor>()?;
    m.add_function(wrap_pyfunction!(_forget_dealloc_slot, m)?)?;
    if CAN_UNTRACK {
        retrograd_engine::autograd::hooks::on_history(got_history);
    }
    let class = PyTensor::type_object(py);
    let number = |name| class.getattr(name).and_then(|n| n.extract::<usize>());
    let (size, dict, weakrefs) = (number("__basicsize__")?, number("__dictoffset__")?, number("__weakrefoffset__")?);
    let example = crate::errors::OrPy::or_py(Tensor::empty(&[], retrograd_engine::DType::Bool))?;
    let example = Bound::new(py, PyTensor(Handle::new(example)))?;
    let at = std::ptr::from_ref(example.get()) as usize - example.as_ptr() as usize;
    drop(example);
    // Header, PyTensor, dict, weak references: nothing else may be in an object that starts as zeros.
    let word = size_of::<usize>();
    let end = at + size_of::<PyTensor>();
    if at != size_of::<ffi::PyObject>() || (dict, weakrefs, size) != (end, end + word, end + 2 * word) {
        return Err(PySystemError::new_err("retrograd: PyO3 lays out objects in an unknown way"));
    }
    CONTENTS.store(at, Ordering::Relaxed);
    DICT.store(dict, Ordering::Relaxed);
    WEAKREFS.store(weakrefs, Ordering::Relaxed);
    // SAFETY: a class that PyO3 made.
    let original = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_dealloc) };
    DEALLOC.store(original, Ordering::Relaxed);
    if let Some(slot) = dealloc_slot(&class, original)? {
        // SAFETY: the slot of the class. Nobody uses the class on another thread yet.
        unsafe { *slot = dealloc as *mut c_void };
    }
    CLASS.store(class.as_type_ptr(), Ordering::Relaxed);
    // The class is never freed: `CLASS` points to it.
    std::mem::forget(class);
    Ok(())
}
