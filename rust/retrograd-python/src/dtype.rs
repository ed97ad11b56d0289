//! `retrograd.dtype`: one object per element type.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyType};
use retrograd_engine::DType;

/// An element type, such as `retrograd.float32`.
///
/// >>> rg.float32.itemsize, rg.float32.is_floating_point, rg.ones(2).dtype
/// (4, True, retrograd.float32)
#[pyclass(name = "dtype", module = "retrograd", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyDType(pub DType);

#[pymethods]
impl PyDType {
    fn __repr__(&self) -> String {
        format!("retrograd.{}", self.0.name())
    }
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }
    /// Whether it is floating point; complex ones are not.
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.0.is_floating()
    }
    /// Whether it is complex.
    #[getter]
    fn is_complex(&self) -> bool {
        self.0.is_complex()
    }
    /// The complex dtype whose parts have this one: of bfloat16 and integers, torch's choice.
    ///
    /// >>> rg.float64.to_complex(), rg.float16.to_complex()
    /// (retrograd.complex128, retrograd.complex32)
    fn to_complex(&self, py: Python<'_>) -> PyResult<Py<Self>> {
        object(py, self.0.complex())
    }
    /// The real dtype of the parts of a complex one; others unchanged.
    ///
    /// >>> rg.complex64.to_real()
    /// retrograd.float32
    fn to_real(&self, py: Python<'_>) -> PyResult<Py<Self>> {
        object(py, self.0.real())
    }
    /// Whether it has negative numbers.
    #[getter]
    fn is_signed(&self) -> bool {
        self.0.is_signed()
    }
}

static OBJECTS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

/// The Python object of a dtype.
pub fn object(py: Python<'_>, dtype: DType) -> PyResult<Py<PyDType>> {
    let all =
        OBJECTS.get_or_try_init(py, || DType::ALL.iter().map(|&d| Py::new(py, PyDType(d))).collect::<PyResult<_>>())?;
    Ok(all[dtype as usize].clone_ref(py))
}

/// A dtype given as such, or as one of Python's number types.
pub fn extract(value: &Bound<'_, PyAny>) -> Option<DType> {
    if let Ok(d) = value.cast::<PyDType>() {
        return Some(d.get().0);
    }
    let t = value.cast::<PyType>().ok()?;
    let py = value.py();
    if t.is(py.get_type::<PyFloat>()) {
        Some(DType::Float64)
    } else if t.is(py.get_type::<PyInt>()) {
        Some(DType::Int64)
    } else if t.is(py.get_type::<PyBool>()) {
        Some(DType::Bool)
    } else if t.is(py.get_type::<PyComplex>()) {
        Some(DType::Complex128)
    } else {
        None
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyDType>()?;
    for d in DType::ALL {
        m.add(d.name(), object(m.py(), d)?)?;
    }
    for (alias, d) in [
        ("float", DType::Float32),
        ("double", DType::Float64),
        ("half", DType::Float16),
        ("int", DType::Int32),
        ("long", DType::Int64),
        ("short", DType::Int16),
        ("chalf", DType::Complex32),
        ("cfloat", DType::Complex64),
        ("cdouble", DType::Complex128),
    ] {
        m.add(alias, object(m.py(), d)?)?;
    }
    m.add_function(wrap_pyfunction!(get_default_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(set_default_dtype, m)?)?;
    Ok(())
}

/// The dtype of floating tensors that are made without naming one.
///
/// >>> rg.get_default_dtype()
/// retrograd.float32
#[pyfunction]
fn get_default_dtype(py: Python<'_>) -> PyResult<Py<PyDType>> {
    object(py, retrograd_engine::tensor::default_dtype())
}

/// Set the default floating dtype to float32 or float64.
///
/// Raises: TypeError for other dtypes and objects.
///
/// >>> rg.set_default_dtype(rg.float64)
/// >>> rg.tensor([1.0]).dtype
/// retrograd.float64
/// >>> rg.set_default_dtype(rg.float32)
#[pyfunction]
fn set_default_dtype(d: &Bound<'_, PyAny>) -> PyResult<()> {
    let dtype = extract(d).ok_or_else(|| {
        PyTypeError::new_err("invalid dtype object: only floating-point types are supported as the default type")
    })?;
    retrograd_engine::tensor::set_default_dtype(dtype).map_err(crate::errors::to_py)
}
