//! `retrograd.memory_format` and `retrograd.layout`: names of memory orders, and of ways to keep elements.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use retrograd_engine::tensor::{Layout, MemoryFormat};

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

/// How a tensor keeps its elements: `strided`, `sparse_coo` or `sparse_csr`.
///
/// >>> rg.ones(1).layout, rg.ones(1).to_sparse().layout
/// (retrograd.strided, retrograd.sparse_coo)
#[pyclass(name = "layout", module = "retrograd", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyLayout(pub Layout);

#[pymethods]
impl PyLayout {
    fn __repr__(&self) -> String {
        format!("retrograd.{}", self.0.name())
    }
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
}

static LAYOUTS: PyOnceLock<[Py<PyLayout>; 3]> = PyOnceLock::new();

/// The object of a layout.
pub fn layout(py: Python<'_>, of: Layout) -> PyResult<Py<PyLayout>> {
    let make = || {
        let [a, b, c] = Layout::ALL.map(|layout| Py::new(py, PyLayout(layout)));
        Ok::<_, PyErr>([a?, b?, c?])
    };
    Ok(LAYOUTS.get_or_try_init(py, make)?[of as usize].clone_ref(py))
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
    for of in Layout::ALL {
        m.add(of.name(), layout(m.py(), of)?)?;
    }
    Ok(())
}
