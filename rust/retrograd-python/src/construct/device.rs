//! `retrograd.device`: the name of the one device there is.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBool;

use crate::call::{misfit, type_name};
use crate::convert;

/// Where a tensor's memory is: `device(type='cpu')`.
///
/// Raises: RuntimeError for any other name than 'cpu', which may have an index.
///
/// >>> rg.device("cpu:0"), rg.ones(1).device == rg.device("cpu")
/// (device(type='cpu', index=0), True)
#[pyclass(name = "device", module = "retrograd", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyDevice {
    index: Option<u32>,
}

impl PyDevice {
    fn named(name: &str) -> PyResult<Self> {
        let index = match name.strip_prefix("cpu") {
            Some("") => Some(None),
            Some(rest) => rest.strip_prefix(':').and_then(|n| n.parse().ok()).map(Some),
            None => None,
        };
        index.map(|index| Self { index }).ok_or_else(|| PyRuntimeError::new_err(retrograd::ops::no_device(name)))
    }
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (r#type, index = None))]
    fn new(r#type: &Bound<'_, PyAny>, index: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut device = extract(r#type)?;
        let index = index.map(number).transpose()?;
        if index.is_some() {
            if device.index.is_some() {
                return Err(PyRuntimeError::new_err(format!("device: '{}' has an index already", device.__str__())));
            }
            device.index = index;
        }
        Ok(device)
    }
    /// 'cpu'.
    #[getter]
    fn r#type(&self) -> &'static str {
        "cpu"
    }
    /// The index after the colon, or None.
    #[getter]
    fn index(&self) -> Option<u32> {
        self.index
    }
    fn __repr__(&self) -> String {
        match self.index {
            None => "device(type='cpu')".into(),
            Some(i) => format!("device(type='cpu', index={i})"),
        }
    }
    fn __str__(&self) -> String {
        self.index.map_or_else(|| "cpu".into(), |i| format!("cpu:{i}"))
    }
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().__str__(),))
    }
}

fn number(index: &Bound<'_, PyAny>) -> PyResult<u32> {
    match convert::integer(index) {
        Some(n) if !index.is_instance_of::<PyBool>() => {
            u32::try_from(n).map_err(|_| PyRuntimeError::new_err(format!("Device index must not be negative, got {n}")))
        }
        _ => Err(misfit("device", "index", Some(1), "int", index)),
    }
}

fn extract(v: &Bound<'_, PyAny>) -> PyResult<PyDevice> {
    if let Ok(d) = v.cast::<PyDevice>() {
        return Ok(PyDevice { index: d.get().index });
    }
    match v.extract::<&str>() {
        Ok(name) => PyDevice::named(name),
        Err(_) => Err(PyTypeError::new_err(format!("argument 'device' must be str or device, not {}", type_name(v)))),
    }
}

/// Checks a `device=` argument: `None`, a name or a device.
pub fn check(v: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    v.filter(|v| !v.is_none()).map_or(Ok(()), |v| extract(v).map(|_| ()))
}

static CPU: PyOnceLock<Py<PyDevice>> = PyOnceLock::new();

/// The device of every tensor.
pub fn cpu(py: Python<'_>) -> PyResult<Py<PyDevice>> {
    CPU.get_or_try_init(py, || Py::new(py, PyDevice { index: None })).map(|d| d.clone_ref(py))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyDevice>()
}
