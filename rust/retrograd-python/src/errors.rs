//! The one place where errors of the core become Python exceptions, and back.

use std::sync::Arc;

use pyo3::exceptions::{
    PyAssertionError, PyIndexError, PyMemoryError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyUserWarning,
    PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use retrograd_engine::error::{ErrorClass, NonFinite};
use retrograd_engine::{Error, ErrorKind};

/// The Python exception for an error of the core.
#[cold]
pub fn to_py(e: Error) -> PyErr {
    if let ErrorKind::Foreign(any) = e.kind()
        && let Some(err) = any.downcast_ref::<PyErr>()
    {
        return Python::attach(|py| err.clone_ref(py));
    }
    if let ErrorKind::NonFinite(facts) = e.kind() {
        return Python::attach(|py| non_finite(py, facts).unwrap_or_else(|e| e));
    }
    let message = e.to_string();
    match e.kind().class() {
        ErrorClass::Runtime => PyRuntimeError::new_err(message),
        ErrorClass::Type => PyTypeError::new_err(message),
        ErrorClass::Value => PyValueError::new_err(message),
        ErrorClass::Assertion => PyAssertionError::new_err(message),
        ErrorClass::Index => PyIndexError::new_err(message),
        ErrorClass::NotImplemented => PyNotImplementedError::new_err(message),
        ErrorClass::Memory => PyMemoryError::new_err(message),
        ErrorClass::Linalg => Python::attach(|py| match LINALG.import(py, "retrograd.linalg", "LinAlgError") {
            Ok(class) => PyErr::from_type(class.clone(), message),
            Err(e) => e,
        }),
    }
}

static LINALG: PyOnceLock<Py<PyType>> = PyOnceLock::new();

static NON_FINITE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception that says what made a NaN or an infinity, with the facts as attributes.
fn non_finite(py: Python<'_>, facts: &NonFinite) -> PyResult<PyErr> {
    let class = NON_FINITE.import(py, "retrograd.autograd.anomaly_mode", "NonFiniteError")?;
    let error = class.call1((facts.to_string(),))?;
    error.setattr("op", &facts.maker)?;
    error.setattr("called", facts.called)?;
    error.setattr("gradient", facts.gradient_of.is_some().then_some(facts.result))?;
    error.setattr("index", PyTuple::new(py, &facts.index)?)?;
    error.setattr("value", crate::convert::number(py, facts.value)?)?;
    let line = facts.location.as_ref().map(|place| (&place.file, place.line, &place.function, &place.text));
    error.setattr("line", line)?;
    Ok(PyErr::from_value(error))
}

/// Carries a Python exception through the core; it comes out of [`to_py`] unchanged.
#[cold]
pub fn from_py(e: PyErr) -> Error {
    ErrorKind::Foreign(Arc::new(e)).into()
}

/// `?` from a result of the core to a result of PyO3.
pub trait OrPy<T> {
    fn or_py(self) -> PyResult<T>;
}

impl<T> OrPy<T> for retrograd_engine::Result<T> {
    #[inline]
    fn or_py(self) -> PyResult<T> {
        self.map_err(to_py)
    }
}

/// Receives the core's warnings.
pub fn warn(message: &str) -> retrograd_engine::Result<()> {
    Python::attach(|py| warn_py(py, message)).map_err(from_py)
}

/// Runs the handlers of signals that were received, such as that of Ctrl-C.
pub fn interrupted() -> retrograd_engine::Result<()> {
    Python::attach(|py| py.check_signals()).map_err(from_py)
}

/// A `UserWarning` that points at the caller's line.
pub fn warn_py(py: Python<'_>, message: &str) -> PyResult<()> {
    let text = std::ffi::CString::new(message).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}
