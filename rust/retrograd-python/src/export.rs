//! Tensors as Python's data: numbers, nested lists, NumPy arrays over the same memory.

use std::any::Any;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyList, PyTuple};
use retrograd_engine::autograd::is_grad_enabled;
use retrograd_engine::compile;
use retrograd_engine::profiler;
use retrograd_engine::storage::reclaim::reading;
use retrograd_engine::tensor::{FromScalar, copy, lazy};
use retrograd_engine::transforms::check_read;
use retrograd_engine::{DType, Scalar, Tensor};

use crate::anythread::AnyThread;
use crate::convert::number;
use crate::errors::{OrPy, warn_py};
use crate::wrap::PyTensor;

/// The warning when a number that requires grad leaves the graph.
pub const SCALAR_WARNING: &str = "Converting a tensor with requires_grad=True to a scalar may lead to unexpected \
     behavior.\nConsider using tensor.detach() first.";

/// Whether writes and reads past autograd would go unnoticed.
pub fn requires_grad(t: &Tensor) -> bool {
    t.requires_grad() && is_grad_enabled()
}

// ---- numbers and lists

/// `item()`: the only element as a Python number.
pub fn item<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    if t.numel() != 1 {
        return Err(PyRuntimeError::new_err(format!(
            "a Tensor with {} elements cannot be converted to Scalar",
            t.numel()
        )));
    }
    let _op = profiler::item(t);
    number(py, t.item().or_py()?)
}

/// `tolist()`: nested lists, or a number for a 0-dim tensor.
pub fn tolist<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    check_read("tolist", t).or_py()?;
    let _reading = reading();
    if t.ndim() == 0 {
        return item(py, t);
    }
    // A copy: making the numbers may run Python code, by way of the garbage collector, that writes to the tensor.
    retrograd_engine::match_dtype!(any, t.dtype(), T => nested(py, t.sizes(), &t.to_vec::<T>().or_py()?))
}

/// A scalar on its way into a list.
struct Item(Scalar);

impl<'py> IntoPyObject<'py> for Item {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        number(py, self.0)
    }
}

fn nested<'py, T: FromScalar + Copy>(py: Python<'py>, sizes: &[usize], values: &[T]) -> PyResult<Bound<'py, PyAny>> {
    let (&n, inner) = sizes.split_first().expect("0-dim tensors are no lists");
    if inner.is_empty() {
        return Ok(PyList::new(py, values.iter().map(|v| Item(v.to_scalar())))?.into_any());
    }
    // Not the product of the sizes, which may not fit where there are no elements.
    let step = values.len().checked_div(n).unwrap_or(0);
    let rows: Vec<_> = (0..n).map(|i| nested(py, inner, &values[i * step..(i + 1) * step])).collect::<PyResult<_>>()?;
    Ok(PyList::new(py, rows)?.into_any())
}

fn only(t: &Tensor) -> PyResult<Scalar> {
    if t.numel() != 1 {
        return Err(PyValueError::new_err("only one element tensors can be converted to Python scalars"));
    }
    t.item().or_py()
}

/// `bool(t)`.
pub fn truth(t: &Tensor) -> PyResult<bool> {
    if compile::is_recording() {
        compile::read("bool", t);
    }
    retrograd_engine::ops::queries::is_nonzero(t).or_py()
}

/// A complex number that is real.
fn real(s: Scalar, what: &str) -> PyResult<Scalar> {
    match s {
        Scalar::Complex(_, im) if im != 0.0 => {
            Err(PyRuntimeError::new_err(format!("value cannot be converted to type {what} without overflow")))
        }
        Scalar::Complex(re, _) => Ok(Scalar::Float(re)),
        s => Ok(s),
    }
}

/// `float(t)`.
pub fn float(py: Python<'_>, t: &Tensor) -> PyResult<f64> {
    let _op = profiler::item(t);
    let s = real(only(t)?, "double")?;
    if requires_grad(t) {
        warn_py(py, SCALAR_WARNING)?;
    }
    Ok(s.as_f64())
}

/// `int(t)`: truncates.
pub fn int<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let _op = profiler::item(t);
    match real(only(t)?, "int64_t")? {
        // Python truncates without a bound, and refuses nan and inf.
        Scalar::Float(x) => PyFloat::new(py, x).call_method0("__int__"),
        s => Ok(s.as_i64().into_pyobject(py)?.into_any()),
    }
}

/// `operator.index(t)`.
pub fn index(t: &Tensor) -> PyResult<i64> {
    if t.numel() != 1 || !t.dtype().is_integral() {
        return Err(PyTypeError::new_err("only integer tensors of a single element can be converted to an index"));
    }
    let _op = profiler::item(t);
    t.item().or_py().map(Scalar::as_i64)
}

/// `complex(t)`.
pub fn complex<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let _op = profiler::item(t);
    let s = only(t)?;
    let im = if let Scalar::Complex(_, im) = s { im } else { 0.0 };
    number(py, Scalar::Complex(s.as_f64(), im))
}

// ---- NumPy

/// Lends a tensor's memory to NumPy; the base of the array owns it.
#[pyclass(frozen, name = "_ArrayInterface", module = "retrograd._core")]
struct ArrayInterface {
    tensor: Tensor,
    typestr: &'static str,
}

#[pymethods]
impl ArrayInterface {
    #[getter(__array_interface__)]
    fn array_interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let t = &self.tensor;
        let reading = reading();
        let size = t.dtype().size() as ffi::Py_ssize_t;
        let d = PyDict::new(py);
        d.set_item(intern!(py, "version"), 3)?;
        d.set_item(intern!(py, "typestr"), self.typestr)?;
        d.set_item(intern!(py, "shape"), PyTuple::new(py, t.sizes())?)?;
        if !t.is_contiguous() {
            let strides: Vec<_> = t.strides().iter().map(|&s| s * size).collect();
            d.set_item(intern!(py, "strides"), PyTuple::new(py, strides)?)?;
        }
        d.set_item(intern!(py, "data"), (t.data_ptr(&reading).addr(), t.storage().read_only().is_some()))?;
        Ok(d)
    }
}

/// The array interface's name of a dtype; `None` where NumPy has no such dtype.
fn typestr(dtype: DType) -> Option<&'static str> {
    let little = cfg!(target_endian = "little");
    let either = |names: [&'static str; 2]| Some(names[usize::from(little)]);
    match dtype {
        DType::Bool => Some("|b1"),
        DType::UInt8 => Some("|u1"),
        DType::Int8 => Some("|i1"),
        DType::Int16 => either([">i2", "<i2"]),
        DType::Int32 => either([">i4", "<i4"]),
        DType::Int64 => either([">i8", "<i8"]),
        DType::Float16 => either([">f2", "<f2"]),
        DType::Float32 => either([">f4", "<f4"]),
        DType::Float64 => either([">f8", "<f8"]),
        DType::Complex64 => either([">c8", "<c8"]),
        DType::Complex128 => either([">c16", "<c16"]),
        DType::UInt16 => either([">u2", "<u2"]),
        DType::UInt32 => either([">u4", "<u4"]),
        DType::UInt64 => either([">u8", "<u8"]),
        DType::BFloat16 | DType::Complex32 => None,
    }
}

/// A copy of a tensor whose elements are to be conjugated or negated.
fn detached_copy(t: &Tensor) -> PyResult<Option<Tensor>> {
    if t.lazy_bits().any() { copy::copy(t).map(Some).or_py() } else { Ok(None) }
}

static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// `numpy(force=False)`: an array over the same memory, which can no longer be resized.
pub fn numpy<'py>(py: Python<'py>, t: &Tensor, force: bool) -> PyResult<Bound<'py, PyAny>> {
    if !force && requires_grad(t) {
        return Err(PyRuntimeError::new_err(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        ));
    }
    if t.is_sparse() {
        return Err(PyTypeError::new_err(format!(
            "can't convert {} layout tensor to numpy. Use Tensor.to_dense() first.",
            t.layout().title()
        )));
    }
    check_read("numpy", t).or_py()?;
    let resolved = if force { detached_copy(t)? } else { None };
    let t = resolved.as_ref().unwrap_or(t);
    lazy::check_resolved("numpy", t).or_py()?;
    // Nobody else has this tensor: its layout stays as it is.
    let tensor = t.detach();
    let typestr = typestr(tensor.dtype()).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "Got unsupported ScalarType {}: NumPy has no such dtype, convert with .float() first",
            tensor.dtype().scalar_type_name()
        ))
    })?;
    tensor.storage().fix_address();
    ASARRAY.import(py, "numpy", "asarray")?.call1((ArrayInterface { tensor, typestr },))
}

/// `__array__(dtype=None, copy=None)`: what `numpy.asarray(t)` calls.
pub fn array<'py>(
    py: Python<'py>,
    t: &Tensor,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let a = numpy(py, t, false)?;
    let own = a.getattr("dtype")?;
    let to = match dtype {
        Some(d) if !d.is_none() => py.import("numpy")?.call_method1("dtype", (d,))?,
        _ => own.clone(),
    };
    if copy == Some(false) && !to.eq(&own)? {
        return Err(PyValueError::new_err(format!(
            "Unable to avoid copy while creating an array: the tensor is {}, not {to}",
            t.dtype().name()
        )));
    }
    let kwargs = PyDict::new(py);
    kwargs.set_item("copy", copy == Some(true))?;
    a.call_method("astype", (to,), Some(&kwargs))
}

/// `__array_wrap__`: what NumPy's functions return for a tensor. Bools come as uint8, as in torch.
pub fn array_wrap<'py>(py: Python<'py>, array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let t = crate::buffer::share(array)?;
    let t = if t.dtype() == DType::Bool { retrograd_engine::tensor::copy::cast(&t, DType::UInt8).or_py()? } else { t };
    crate::wrap::wrap(py, t)
}

// ---- hooks that stay behind

/// The Python hooks on a tensor, which copies and files do not have.
#[pyfunction]
fn _hooks<'py>(py: Python<'py>, t: &Bound<'py, PyTensor>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let t = &t.get().0;
    let mut found = Vec::new();
    let mut see = |hook: &dyn Any| found.extend(hook.downcast_ref::<AnyThread<PyAny>>().map(|f| f.bind(py).clone()));
    t.tensor_hooks().or_py()?.iter().for_each(|(_, hook)| see(hook.as_any()));
    t.post_accumulate_hooks().iter().for_each(|(_, hook)| see(hook.as_any()));
    Ok(found)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<ArrayInterface>()?;
    m.add_function(wrap_pyfunction!(_hooks, m)?)
}
