//! Short cuts in front of PyO3's functions for the operators of `Tensor` that programs use most: calls on objects of
//! the class itself, and on floats and integers of Python's own, which need nothing that PyO3 does before and after. In
//! every other call, and while a tensor may be asked first, PyO3's function runs, and where a slot of the class is not
//! found, there is no short cut.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use retrograd_engine::ops::index;
use retrograd_engine::{Result, Scalar, Tensor};

use crate::call::guard;
use crate::call_site::DETACH_ABOVE;
use crate::class;
use crate::convert::is_interrupt;
use crate::errors::to_py;
use crate::overrides::state;
use crate::wrap::wrap;

type Object = *mut ffi::PyObject;

/// The operators with two operands: their slots, the methods that Python makes of them, and their names.
const BINARY: [(i32, [&str; 2], &str); 5] = [
    (ffi::Py_nb_add, ["__add__", "__radd__"], "add"),
    (ffi::Py_nb_subtract, ["__sub__", "__rsub__"], "sub"),
    (ffi::Py_nb_multiply, ["__mul__", "__rmul__"], "mul"),
    (ffi::Py_nb_true_divide, ["__truediv__", "__rtruediv__"], "div"),
    (ffi::Py_nb_matrix_multiply, ["__matmul__", "__rmatmul__"], "matmul"),
];
/// The last of them takes no numbers.
const MATMUL: usize = BINARY.len() - 1;

/// PyO3's functions, by their place in [`BINARY`], and that for subscripts.
static ORIGINALS: [AtomicPtr<c_void>; BINARY.len()] = [const { AtomicPtr::new(null_mut()) }; BINARY.len()];
static SUBSCRIPT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// The tensor of an object of the class itself.
///
/// # Safety
/// An object that is alive for as long as the reference.
#[inline(always)]
unsafe fn exact<'a>(object: Object) -> Option<&'a Tensor> {
    // SAFETY: objects of the class are tensor objects.
    class::is_exact_ptr(object).then(|| unsafe { &*(*class::contents(object)).0 })
}

/// The number that an object is, if it is a float or an integer of Python's own that fits.
///
/// # Safety
/// An object that is alive, with the interpreter held.
#[inline(always)]
unsafe fn number(object: Object) -> Option<Scalar> {
    // SAFETY: by contract.
    unsafe {
        if ffi::PyFloat_CheckExact(object) != 0 {
            return Some(Scalar::Float(ffi::PyFloat_AsDouble(object)));
        }
        integer(object).map(Scalar::Int)
    }
}

/// The value of an integer of Python's own that fits.
///
/// # Safety
/// As for [`number`].
#[inline(always)]
unsafe fn integer(object: Object) -> Option<i64> {
    let mut overflow = 0;
    // SAFETY: by contract, and a place for the flag. An int converts without an exception.
    unsafe {
        if ffi::PyLong_CheckExact(object) == 0 {
            return None;
        }
        let value = ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow);
        (overflow == 0).then_some(value)
    }
}

/// What an operator gives its caller.
#[inline(always)]
fn object(py: Python<'_>, result: Result<Tensor>) -> PyResult<Object> {
    wrap(py, result.map_err(to_py)?).map(Bound::into_ptr)
}

#[inline(always)]
fn run(which: usize, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    match which {
        0 => a.add(b),
        1 => a.sub(b),
        2 => a.mul(b),
        3 => a.div(b),
        _ => a.matmul(b),
    }
}

/// The operator on two objects; `None` leaves it to PyO3's function.
///
/// # Safety
/// Objects that are alive, with the interpreter held.
#[inline(always)]
unsafe fn short<const N: usize>(py: Python<'_>, a: Object, b: Object) -> Option<PyResult<Object>> {
    if state::possible() {
        return None;
    }
    // SAFETY: by contract. A large op gives up the interpreter, which is PyO3's to do.
    unsafe {
        let x = exact(a)?;
        if x.numel() > DETACH_ABOVE {
            return None;
        }
        if let Some(y) = exact(b) {
            return (y.numel() <= DETACH_ABOVE).then(|| object(py, run(N, x, y)));
        }
        let y = if N == MATMUL { None } else { number(b) };
        y.map(|y| object(py, Tensor::shared_number(y).and_then(|y| run(N, x, &y))))
    }
}

/// Runs a short cut, or PyO3's function where there is none.
///
/// # Safety
/// 1. Objects that are alive, with the interpreter held.
/// 2. `original` has the function that was in a slot for two objects.
#[inline(always)]
unsafe fn either(
    name: &str,
    [a, b]: [Object; 2],
    original: &AtomicPtr<c_void>,
    short: impl FnOnce(Python<'_>) -> Option<PyResult<Object>>,
) -> Object {
    // SAFETY: (1).
    let py = unsafe { Python::assume_attached() };
    let mut taken = true;
    let result = guard(py, name, || {
        let result = short(py);
        taken = result.is_some();
        result.unwrap_or(Ok(null_mut()))
    });
    if taken {
        return result;
    }
    // SAFETY: (2).
    unsafe { transmute::<*mut c_void, ffi::binaryfunc>(original.load(Ordering::Relaxed))(a, b) }
}

/// The slot of an operator.
unsafe extern "C" fn binary<const N: usize>(a: Object, b: Object) -> Object {
    // SAFETY: CPython calls with its interpreter held and live objects; `register` has noted the function.
    unsafe { either(BINARY[N].2, [a, b], &ORIGINALS[N], |py| short::<N>(py, a, b)) }
}

/// `x[key]` for an integer or a slice of integers; `None` leaves it to PyO3's function.
///
/// # Safety
/// Objects that are alive, with the interpreter held.
#[inline(always)]
unsafe fn part(py: Python<'_>, x: Object, key: Object) -> Option<PyResult<Object>> {
    if state::possible() {
        return None;
    }
    // SAFETY: by contract, and places for the numbers of a slice. There are no subclasses of slices.
    unsafe {
        let x = exact(x)?;
        if let Some(i) = integer(key) {
            return Some(object(py, index::get_int(x, i)));
        }
        if ffi::PySlice_Check(key) == 0 {
            return None;
        }
        let (mut start, mut stop, mut step) = (0, 0, 0);
        if ffi::PySlice_Unpack(key, &raw mut start, &raw mut stop, &raw mut step) != 0 {
            // PyO3 must know that the interpreter is held, or it does not release what is dropped.
            return Python::attach(|py| {
                let why = PyErr::fetch(py);
                if is_interrupt(py, &why) { Some(Err(why)) } else { None }
            });
        }
        Some(object(py, index::get_slice(x, start as i64, stop as i64, step as i64)))
    }
}

/// The slot for subscripts.
unsafe extern "C" fn subscript(x: Object, key: Object) -> Object {
    // SAFETY: as for [`binary`].
    unsafe { either("__getitem__", [x, key], &SUBSCRIPT, |py| part(py, x, key)) }
}

const SHORT: [ffi::binaryfunc; BINARY.len()] = [binary::<0>, binary::<1>, binary::<2>, binary::<3>, binary::<4>];

/// Puts a function in front of what is in a slot of the class, and in the methods that have it, from which subclasses
/// take it. Notes what was there.
fn put(
    class: &Bound<'_, PyType>,
    slot: i32,
    methods: &[&str],
    short: ffi::binaryfunc,
    original: &AtomicPtr<c_void>,
) -> PyResult<()> {
    // SAFETY: a class that PyO3 made.
    let now = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), slot) };
    let mut words = vec![class::word_with(class, now)?];
    for &method in methods {
        words.push(class::word_with(&class.getattr(method)?, now)?);
    }
    let Some(words) = words.into_iter().collect::<Option<Vec<_>>>() else { return Ok(()) };
    original.store(now, Ordering::Relaxed);
    for word in words {
        // SAFETY: the only word of the object that held the function. Nobody uses the class on another thread yet.
        unsafe { *word = short as *mut c_void };
    }
    Ok(())
}

pub fn register(class: &Bound<'_, PyType>) -> PyResult<()> {
    for (i, (slot, methods, _)) in BINARY.iter().enumerate() {
        put(class, *slot, methods, SHORT[i], &ORIGINALS[i])?;
    }
    put(class, ffi::Py_mp_subscript, &["__getitem__"], subscript, &SUBSCRIPT)
}
