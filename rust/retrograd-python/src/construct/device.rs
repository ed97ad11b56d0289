//! `retrograd.device`: names of devices, of which the CPU is the only one that is there.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyString, PyTuple};
use retrograd_engine::tensor::device;

use crate::call::{misfit, type_name};
use crate::convert;
use crate::errors::OrPy;

/// Where a tensor's memory is: `device(type='cpu')`.
///
/// Programs name other devices, such as 'cuda', to ask or to compare; a tensor on one is refused. As a context it
/// changes nothing.
///
/// Raises: RuntimeError for what is no name of a device.
///
/// >>> rg.device("cpu:0"), rg.ones(1).device == rg.device("cpu")
/// (device(type='cpu', index=0), True)
/// >>> rg.device("cuda" if rg.cuda.is_available() else "cpu")
/// device(type='cpu')
#[pyclass(name = "device", module = "retrograd", frozen, eq, hash, skip_from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyDevice {
    kind: &'static str,
    index: Option<u32>,
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (r#type, index = None))]
    fn new(r#type: &Bound<'_, PyAny>, index: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(index) = index else { return extract(r#type) };
        let Ok(name) = r#type.extract::<&str>() else { return Err(misfit("device", "type", Some(0), "str", r#type)) };
        let device = named(name)?;
        if device.index.is_some() {
            return Err(PyRuntimeError::new_err(format!(
                "type (string) must not include an index because index was passed explicitly: {name}"
            )));
        }
        Ok(Self { index: Some(number(index)?), ..device })
    }
    /// The name without the index, such as 'cpu'.
    #[getter]
    fn r#type(&self) -> &'static str {
        self.kind
    }
    /// The index after the colon, or None.
    #[getter]
    fn index(&self) -> Option<u32> {
        self.index
    }
    fn __repr__(&self) -> String {
        match self.index {
            None => format!("device(type='{}')", self.kind),
            Some(i) => format!("device(type='{}', index={i})", self.kind),
        }
    }
    pub fn __str__(&self) -> String {
        self.index.map_or_else(|| self.kind.into(), |i| format!("{}:{i}", self.kind))
    }
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().__str__(),))
    }
    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        device::demand_cpu(slf.get().kind).or_py()?;
        Ok(slf)
    }
    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {}
}

fn number(index: &Bound<'_, PyAny>) -> PyResult<u32> {
    match convert::integer(index) {
        Some(n) if !index.is_instance_of::<PyBool>() => {
            u32::try_from(n).map_err(|_| PyRuntimeError::new_err(format!("Device index must not be negative, got {n}")))
        }
        _ => Err(misfit("device", "index", Some(1), "int", index)),
    }
}

fn named(name: &str) -> PyResult<PyDevice> {
    device::named(name).or_py().map(|(kind, index)| PyDevice { kind, index })
}

/// A device, its name, or the index of an accelerator, which would be one of CUDA.
fn extract(v: &Bound<'_, PyAny>) -> PyResult<PyDevice> {
    if let Ok(d) = v.cast::<PyDevice>() {
        return Ok(*d.get());
    }
    match v.extract::<&str>() {
        Ok(name) => named(name),
        Err(_) if is_index(v) => Ok(PyDevice { kind: "cuda", index: Some(number(v)?) }),
        Err(_) => Err(PyTypeError::new_err(format!("argument 'device' must be str or device, not {}", type_name(v)))),
    }
}

fn is_index(v: &Bound<'_, PyAny>) -> bool {
    convert::integer(v).is_some() && !v.is_instance_of::<PyBool>()
}

/// The name of what may be given as a device; whether there is such a device is for the core to say.
pub fn name(v: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(name) = v.cast::<PyString>() {
        return name.to_str().ok().map(str::to_owned);
    }
    if let Ok(device) = v.cast::<PyDevice>() {
        return Some(device.get().__str__());
    }
    is_index(v).then(|| extract(v).ok().map(|device| device.__str__())).flatten()
}

/// Checks a `device=` argument: `None`, or the CPU by its name or as a device.
pub fn check(v: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match v.filter(|v| !v.is_none()) {
        None => Ok(()),
        Some(v) => device::demand_cpu(extract(v)?.kind).or_py(),
    }
}

static CPU: PyOnceLock<Py<PyDevice>> = PyOnceLock::new();

/// The device of every tensor.
pub fn cpu(py: Python<'_>) -> PyResult<Py<PyDevice>> {
    CPU.get_or_try_init(py, || Py::new(py, PyDevice { kind: "cpu", index: None })).map(|d| d.clone_ref(py))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyDevice>()
}
