//! Levels of forward mode as Python sees them: public ones, opened by the user, are found without their number.

use std::cell::RefCell;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use retrograd_engine::Tensor;
use retrograd_engine::autograd::forward;
use retrograd_engine::kernels::thread_values::ThreadValue;

use crate::errors::OrPy;
use crate::wrap::{unwrap, wrap, wrap_option};

/// Numbers of the public levels that are open on this thread.
static PUBLIC: ThreadValue<RefCell<Vec<usize>>> = ThreadValue::new(|| RefCell::new(Vec::new()));

/// Opens a level; returns its number.
pub fn open(public: bool) -> usize {
    let level = forward::enter();
    if public {
        PUBLIC.with_borrow_mut(|all| all.push(level));
    }
    level
}

/// Closes a level with those inside it.
pub fn close(level: usize, public: bool) -> PyResult<()> {
    if public && !PUBLIC.with_borrow(|all| all.contains(&level)) {
        return Err(not_last(Some(level as i64)));
    }
    while forward::depth() > level {
        forward::exit(forward::depth() - 1).or_py()?;
    }
    PUBLIC.with_borrow_mut(|all| all.retain(|&open| open < level));
    Ok(())
}

/// The public levels of this thread, for one that continues in its place.
pub fn public() -> Vec<usize> {
    PUBLIC.with_borrow(Clone::clone)
}

/// Lets this thread know the public levels of another one.
pub fn know(levels: Vec<usize>) {
    PUBLIC.set(levels);
}

fn innermost() -> Option<usize> {
    PUBLIC.with_borrow(|all| all.last().copied())
}

fn not_last(level: Option<i64>) -> PyErr {
    let given = level.map_or_else(String::new, |level| format!(", but got {level}"));
    PyRuntimeError::new_err(match innermost() {
        Some(last) => format!(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported: the last \
             is {last}{given}"
        ),
        None => format!(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported: none is \
             open{given}"
        ),
    })
}

/// Opens a level of forward mode inside those that are open on this thread; returns its number.
#[pyfunction]
fn _enter_dual_level() -> usize {
    open(true)
}

/// Closes the innermost level that was opened by the user, which must be `level` if that is given.
#[pyfunction]
#[pyo3(signature = (level = None))]
fn _exit_dual_level(level: Option<i64>) -> PyResult<()> {
    let last = innermost();
    if level.is_some() && level != last.map(|last| last as i64) {
        return Err(not_last(level));
    }
    let Some(last) = last else {
        return Err(PyRuntimeError::new_err(
            "Dual level must be a positive number. Trying to exit a forward AD level but no level exists: \
             enter_dual_level() opens one",
        ));
    };
    forward::exit(last).or_py()?;
    PUBLIC.with_borrow_mut(Vec::pop);
    Ok(())
}

/// The number of the innermost level that was opened by the user, -1 if there is none.
#[pyfunction]
fn _current_dual_level() -> i64 {
    innermost().map_or(-1, |level| level as i64)
}

fn part<'a>(v: &'a Bound<'_, PyAny>, what: &str) -> PyResult<&'a Tensor> {
    unwrap(v).ok_or_else(|| PyTypeError::new_err(format!("{what} must be Tensor, not {}", crate::call::type_name(v))))
}

/// Whether, since the level was opened, something happened that makes reverse mode give another result.
#[pyfunction]
fn _dual_level_differs(level: usize) -> bool {
    forward::differs(level)
}

/// A view of `primal` that has a tangent at an open level.
#[pyfunction]
fn _make_dual<'py>(
    primal: &Bound<'py, PyAny>,
    tangent: &Bound<'py, PyAny>,
    level: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if level >= forward::depth() {
        let open = forward::depth();
        return Err(PyRuntimeError::new_err(format!(
            "Invalid level given to _make_dual: {level}, where {open} are open, counted from 0"
        )));
    }
    let dual = forward::make_dual(
        part(primal, "make_dual(): argument 'tensor'")?,
        part(tangent, "make_dual(): argument 'tangent'")?,
        level,
        None,
    )
    .or_py()?;
    wrap(primal.py(), dual)
}

/// A view of the tensor without its tangent at an open level, and that tangent.
#[pyfunction]
fn _unpack_dual<'py>(dual: &Bound<'py, PyAny>, level: usize) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (primal, tangent) = forward::unpack_dual(part(dual, "unpack_dual(): argument 'dual'")?, level).or_py()?;
    Ok((wrap(dual.py(), primal)?, wrap_option(dual.py(), tangent)?))
}

/// Whether forward mode is on on this thread.
#[pyfunction]
fn _is_fwd_grad_enabled() -> bool {
    forward::is_enabled()
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    for f in [
        wrap_pyfunction!(_enter_dual_level, m)?,
        wrap_pyfunction!(_exit_dual_level, m)?,
        wrap_pyfunction!(_current_dual_level, m)?,
        wrap_pyfunction!(_dual_level_differs, m)?,
        wrap_pyfunction!(_make_dual, m)?,
        wrap_pyfunction!(_unpack_dual, m)?,
        wrap_pyfunction!(_is_fwd_grad_enabled, m)?,
    ] {
        m.add_function(f)?;
    }
    Ok(())
}
