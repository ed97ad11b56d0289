//! `retrograd.memory_format` and `retrograd.layout`: names of memory orders.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use retrograd::tensor::MemoryFormat;

/// The order of a tensor's axes in memory: `contiguous_format`, `preserve_format`, `channels_last`, `channels_last_3d`.
///
/// >>> rg.channels_last, rg.zeros(2, 3, 4, 5).to(memory_format=rg.channels_last).stride()
/// (retrograd.channels_last, (60, 1, 15, 3))
#[pyclass(name = "memory_format", module = "retrograd", frozen, eq, hash)]
#[derive(PartialEq, Eq)]
pub struct PyMemoryFormat(pub MemoryFormat);

impl std::hash::Hash for PyMemoryFormat {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
    }
}

#[pymethods]
impl PyMemoryFormat {
    fn __repr__(&self) -> String {
        format!("retrograd.{}", self.0.name())
    }
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
}

/// How a tensor's elements are stored: `strided`, the only way there is.
///
/// >>> rg.ones(1).layout
/// retrograd.strided
#[pyclass(name = "layout", module = "retrograd", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyLayout;

#[pymethods]
impl PyLayout {
    fn __repr__(&self) -> &'static str {
        "retrograd.strided"
    }
    fn __reduce__(&self) -> &'static str {
        "strided"
    }
}

static STRIDED: PyOnceLock<Py<PyLayout>> = PyOnceLock::new();

/// The object of the layout of all tensors.
pub fn strided(py: Python<'_>) -> PyResult<Py<PyLayout>> {
    STRIDED.get_or_try_init(py, || Py::new(py, PyLayout)).map(|layout| layout.clone_ref(py))
}

/// A memory format given as an argument.
pub fn extract(value: &Bound<'_, PyAny>) -> Option<MemoryFormat> {
    value.cast::<PyMemoryFormat>().ok().map(|format| format.get().0)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyMemoryFormat>()?;
    m.add_class::<PyLayout>()?;
    for format in MemoryFormat::ALL {
        m.add(format.name(), Py::new(m.py(), PyMemoryFormat(format))?)?;
    }
    m.add("strided", strided(m.py())?)
}
