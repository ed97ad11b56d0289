//! Tensors from Python's data: nested sequences of numbers, NumPy arrays and scalars, other tensors.
//!
//! A nested sequence is walked twice, once for the dtype and once for the elements, with a fast path for lists of
//! floats and ints. Its sizes are those of the first element at each depth; the second walk checks the others against
//! them, and trusts neither the first walk nor a length it read earlier, since conversions may run Python code.

pub mod device;
mod number;
mod sparse;

use std::cell::Cell;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyComplex, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use retrograd_engine::storage::reclaim::reading;
use retrograd_engine::tensor::copy;
use retrograd_engine::{DType, Scalar, Tensor, warn};

use crate::call::{flag, misfit, type_name};
use crate::errors::{OrPy, warn_py};
use crate::wrap::{unwrap, wrap};
use crate::{buffer, convert, dtype};
use number::Number;

/// Axes that a nested sequence may have, as in torch.
const MAX_NDIM: usize = 128;

// ---- a walk over nested data

/// What the walks over one nested sequence share.
struct NestedWalk {
    /// What was called, for messages.
    op: &'static str,
    sizes: Vec<usize>,
    /// Whether the warning about tensors that require grad was given.
    warned: Cell<bool>,
}

/// Whether Python code may index `v` by position: lists, ranges, arrays, ... but no mappings.
pub fn is_sequence(v: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive and the interpreter held.
    unsafe { ffi::PySequence_Check(v.as_ptr()) != 0 }
}

/// The sizes of nested data, read off the first element at each depth.
fn sizes_of(op: &str, data: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let mut sizes = Vec::new();
    let mut at = data.clone();
    while !is_leaf(&at) {
        if buffer::is_array(&at) {
            sizes.extend(at.getattr("shape")?.extract::<Vec<usize>>()?);
            break;
        }
        if !is_sequence(&at) || buffer::is_generic(&at) {
            break;
        }
        let n = at.len()?;
        sizes.push(n);
        if n == 0 {
            break;
        }
        let first = at.get_item(0)?;
        if first.is(&at) || sizes.len() > MAX_NDIM {
            return Err(too_deep(op, &at));
        }
        at = first;
    }
    Ok(sizes)
}

#[cold]
fn too_deep(op: &str, v: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("{op}: too many dimensions '{}'", type_name(v)))
}

#[cold]
fn no_number(op: &str, v: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("{op}: new(): invalid data type '{}'", type_name(v)))
}

/// Whether `v` is one element for sure.
fn is_leaf(v: &Bound<'_, PyAny>) -> bool {
    v.is_instance_of::<PyFloat>()
        || v.is_instance_of::<PyInt>()
        || v.is_instance_of::<PyComplex>()
        || unwrap(v).is_some()
}

/// The dtype that holds all of nested data.
fn infer(op: &str, v: &Bound<'_, PyAny>, depth: usize) -> PyResult<DType> {
    if let Some(d) = plain_dtype(v) {
        return Ok(d);
    }
    if depth > MAX_NDIM {
        let endless = v.cast::<PyList>().is_ok_and(|list| list.iter().any(|item| item.is(v)));
        let told = || PyTypeError::new_err(format!("{op}: new(): self-referential lists are incompatible"));
        return Err(if endless { told() } else { too_deep(op, v) });
    }
    if let Ok(list) = v.cast_exact::<PyList>() {
        return infer_all(op, list.iter().map(Ok), depth);
    }
    if let Ok(tuple) = v.cast_exact::<PyTuple>() {
        return infer_all(op, tuple.iter().map(Ok), depth);
    }
    infer_slow(op, v, depth)
}

/// The dtype of a number of exactly one of Python's types.
#[inline]
fn plain_dtype(v: &Bound<'_, PyAny>) -> Option<DType> {
    if v.is_exact_instance_of::<PyFloat>() {
        Some(Scalar::Float(0.0).dtype())
    } else if v.is_exact_instance_of::<PyInt>() {
        Some(DType::Int64)
    } else if v.is_exact_instance_of::<PyBool>() {
        Some(DType::Bool)
    } else if v.is_exact_instance_of::<PyComplex>() {
        Some(Scalar::Complex(0.0, 0.0).dtype())
    } else {
        None
    }
}

fn infer_all<'py>(op: &str, items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>, depth: usize) -> PyResult<DType> {
    let mut all: Option<DType> = None;
    for item in items {
        let d = infer(op, &item?, depth + 1)?;
        all = Some(all.map_or(d, |a| a.promote(d)));
    }
    Ok(all.unwrap_or_else(retrograd_engine::tensor::default_dtype))
}

fn infer_slow(op: &str, v: &Bound<'_, PyAny>, depth: usize) -> PyResult<DType> {
    if let Some(t) = unwrap(v) {
        return Ok(t.dtype());
    }
    // Before Python's numbers: numpy.float64 is a float, and numpy.complex128 a complex, by inheritance.
    if buffer::is_array(v) {
        return buffer::numpy_dtype(v);
    }
    if buffer::is_generic(v) && !v.is_instance_of::<PyString>() && !v.is_instance_of::<PyBytes>() {
        return buffer::generic_dtype(v);
    }
    if v.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float(0.0).dtype());
    }
    if v.is_instance_of::<PyInt>() {
        return Ok(DType::Int64);
    }
    if v.is_instance_of::<PyComplex>() {
        return Ok(Scalar::Complex(0.0, 0.0).dtype());
    }
    if v.is_instance_of::<PyString>() || v.is_instance_of::<PyBytes>() {
        return Err(no_number(op, v));
    }
    if !is_sequence(v) {
        return Err(PyRuntimeError::new_err(format!("{op}: Could not infer dtype of {}", type_name(v))));
    }
    infer_all(op, (0..v.len()?).map(|i| v.get_item(i)), depth)
}

impl NestedWalk {
    /// A contiguous tensor of the elements, in row-major order.
    fn build<T: Number>(&self, data: &Bound<'_, PyAny>) -> PyResult<Tensor> {
        let mut filled = Ok(());
        let t = Tensor::build::<T>(&self.sizes, |out| {
            let mut at = 0;
            filled = self.fill(data, 0, out, &mut at);
            debug_assert!(filled.is_err() || at == out.len());
        })
        .or_py()?;
        filled.map(|()| t)
    }

    /// Writes the elements of `v`, which is `depth` sequences deep, to `out` from `at` on.
    fn fill<T: Number>(&self, v: &Bound<'_, PyAny>, depth: usize, out: &mut [T], at: &mut usize) -> PyResult<()> {
        let Some(&want) = self.sizes.get(depth) else {
            out[*at] = T::read(self, v)?;
            *at += 1;
            return Ok(());
        };
        if let Ok(list) = v.cast_exact::<PyList>() {
            self.check_len(list.len(), want, depth)?;
            return self.fill_all(list.iter().map(Ok), want, depth, out, at);
        }
        if let Ok(tuple) = v.cast_exact::<PyTuple>() {
            self.check_len(tuple.len(), want, depth)?;
            return self.fill_all(tuple.iter().map(Ok), want, depth, out, at);
        }
        if buffer::is_array(v) {
            return self.fill_block(&buffer::copied(v)?, depth, out, at);
        }
        if let Some(t) = unwrap(v) {
            return self.fill_block(t, depth, out, at);
        }
        if !is_sequence(v) {
            return Err(PyTypeError::new_err(format!(
                "{}: not a sequence: expected {want} elements at dim {depth}, got {}",
                self.op,
                type_name(v)
            )));
        }
        self.check_len(v.len()?, want, depth)?;
        self.fill_all((0..want).map(|i| v.get_item(i)), want, depth, out, at)
    }

    fn fill_all<'py, T: Number>(
        &self,
        items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
        want: usize,
        depth: usize,
        out: &mut [T],
        at: &mut usize,
    ) -> PyResult<()> {
        let mut got = 0;
        if depth + 1 == self.sizes.len() {
            for (item, slot) in items.zip(&mut out[*at..*at + want]) {
                *slot = T::read(self, &item?)?;
                got += 1;
            }
            *at += got;
        } else {
            for item in items.take(want) {
                self.fill(&item?, depth + 1, out, at)?;
                got += 1;
            }
        }
        // A list can shrink while it is read.
        self.check_len(got, want, depth)
    }

    /// The elements of an array or tensor that stands where the nested data has axes left.
    fn fill_block<T: Number>(&self, t: &Tensor, depth: usize, out: &mut [T], at: &mut usize) -> PyResult<()> {
        // The sizes that are checked are those of the elements.
        let _reading = reading();
        let rest = &self.sizes[depth..];
        for (axis, &want) in rest.iter().enumerate() {
            self.check_len(t.sizes().get(axis).copied().unwrap_or(1), want, depth + axis)?;
        }
        if t.ndim() != rest.len() {
            return Err(PyValueError::new_err(format!(
                "{}: expected {} dimensions below dim {depth} (got {})",
                self.op,
                rest.len(),
                t.ndim()
            )));
        }
        let block = t.to_vec::<T>().or_py()?;
        out[*at..*at + block.len()].copy_from_slice(&block);
        *at += block.len();
        Ok(())
    }

    fn check_len(&self, got: usize, want: usize, depth: usize) -> PyResult<()> {
        if got == want {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "{}: expected sequence of length {want} at dim {depth} (got {got})",
            self.op
        )))
    }

    /// The only element of a tensor that is a number in promotion.
    fn element(&self, py: Python<'_>, t: &Tensor) -> PyResult<Scalar> {
        if t.numel() != 1 {
            return Err(PyValueError::new_err(format!(
                "{}: only one element tensors can be converted to Python scalars, got one of shape {:?}",
                self.op,
                t.sizes()
            )));
        }
        if t.requires_grad() && !self.warned.replace(true) {
            warn_py(py, crate::export::SCALAR_WARNING)?;
        }
        t.item().or_py()
    }
}

// ---- memory that objects offer

/// The tensor that an object makes of itself by DLPack or as an array, over its memory unless a copy is requested;
/// `None` for plain data and other objects.
fn offered(v: &Bound<'_, PyAny>, copied: bool) -> PyResult<Option<Tensor>> {
    let plain = v.is_exact_instance_of::<PyList>() || v.is_exact_instance_of::<PyTuple>() || plain_dtype(v).is_some();
    if plain || buffer::is_generic(v) || v.is_instance_of::<PyType>() {
        return Ok(None);
    }
    if v.hasattr("__dlpack__")? {
        let t = from_dlpack(v)?;
        return if copied { copy::copy(&t).or_py().map(Some) } else { Ok(Some(t)) };
    }
    if v.hasattr("__array__")? {
        let array = v.call_method0("__array__")?;
        if buffer::is_array(&array) {
            return if copied { buffer::copied(&array) } else { buffer::share(&array) }.map(Some);
        }
    }
    Ok(None)
}

/// A tensor over the memory of an object with `__dlpack__`, or of a capsule.
fn from_dlpack(v: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let t = v.py().import("retrograd.utils.dlpack")?.call_method1("from_dlpack", (v,))?;
    Ok(unwrap(&t).expect("from_dlpack returns a tensor").clone())
}

// ---- tensors

/// A fresh tensor of any data that `tensor()` takes; of the inferred dtype if none is given. `op` is what was called.
pub fn from_data(op: &'static str, data: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    if let Some(t) = unwrap(data) {
        let t = t.detach();
        return match dtype {
            Some(d) if d != t.dtype() => copy::cast(&t, d),
            _ => copy::copy(&t),
        }
        .or_py();
    }
    if buffer::is_array(data) {
        let t = buffer::copied(data)?;
        return dtype.map_or(Ok(t.clone()), |d| copy::cast(&t, d)).or_py();
    }
    if data.is_instance_of::<PyString>() {
        return Err(no_number(op, data));
    }
    if let Some(t) = offered(data, true)? {
        return dtype.map_or(Ok(t.clone()), |d| copy::cast(&t, d)).or_py();
    }
    if data.cast::<PyList>().is_ok_and(|list| list.get_item(0).is_ok_and(|first| buffer::is_array(&first))) {
        warn::once(warn::Once::ListOfArrays, LIST_WARNING);
    }
    let walk = NestedWalk { op, sizes: sizes_of(op, data)?, warned: Cell::new(false) };
    let dtype = dtype.map_or_else(|| infer(op, data, 0), Ok)?;
    retrograd_engine::match_dtype!(any, dtype, T => walk.build::<T>(data))
}

/// Marks a fresh tensor as requiring grad.
pub fn mark(t: &Tensor, requires_grad: bool) -> PyResult<()> {
    if requires_grad && !t.dtype().is_differentiable() {
        return Err(PyRuntimeError::new_err(format!(
            "Only Tensors of floating point and complex dtype can require gradients, got {}",
            t.dtype().name()
        )));
    }
    if requires_grad { t.set_requires_grad(true).or_py() } else { Ok(()) }
}

/// The `dtype=` and `device=` arguments of a factory.
fn options(name: &str, dtype: Option<&Bound<'_, PyAny>>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DType>> {
    device::check(device)?;
    dtype
        .map(|d| {
            dtype::extract(d).ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "{name}(): argument 'dtype' must be retrograd.dtype, not {}",
                    type_name(d)
                ))
            })
        })
        .transpose()
}

pub fn no_pinning(op: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "{op}: Cannot access accelerator device when none is available.: pin_memory is for accelerators; 'cpu' is the only \
         device"
    ))
}

const LIST_WARNING: &str = "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting \
     the list to a single numpy.ndarray with numpy.array() before converting to a tensor.";

/// Warns that a tensor is given to a `call` that is for data.
pub fn warn_of_copy(py: Python<'_>, call: &str) -> PyResult<()> {
    warn_py(
        py,
        &format!(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or \
             sourceTensor.detach().clone().requires_grad_(True), rather than {call}(sourceTensor)."
        ),
    )
}

/// A tensor with a copy of `data`, a leaf of the graph.
///
/// Args: `data` a number, a nested sequence of numbers, a NumPy array or scalar; `dtype` that of the result, else the
/// one that holds all of `data` (ints are int64, floats the default dtype).
/// Raises: ValueError for ragged nesting and ints that do not fit; TypeError and RuntimeError for what is no number.
///
/// >>> rg.tensor([[1, 2], [3, 4]])
/// tensor([[1, 2],
///         [3, 4]])
#[pyfunction]
#[pyo3(signature = (data, *, dtype = None, device = None, requires_grad = false, pin_memory = false))]
fn tensor<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: bool,
    pin_memory: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let _op = retrograd_engine::profiler::op("tensor", false, Vec::new);
    let dtype = options("tensor", dtype, device)?;
    if pin_memory {
        return Err(no_pinning("tensor"));
    }
    if unwrap(data).is_some() {
        warn_of_copy(py, "retrograd.tensor")?;
    }
    let t = from_data("tensor", data, dtype)?;
    mark(&t, requires_grad)?;
    wrap(py, t)
}

/// `data` as a tensor: itself if it is one, over the same memory if it is a NumPy array, else a copy.
///
/// >>> x = rg.ones(2)
/// >>> rg.as_tensor(x) is x
/// True
#[pyfunction]
#[pyo3(signature = (data, dtype = None, device = None))]
fn as_tensor<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = options("as_tensor", dtype, device)?;
    let t = match unwrap(data) {
        Some(t) if dtype.is_none_or(|d| d == t.dtype()) => return Ok(data.clone()),
        Some(t) => t.clone(),
        None if buffer::is_array(data) => buffer::share(data)?,
        None => match offered(data, false)? {
            Some(t) => t,
            None => return wrap(py, from_data("as_tensor", data, dtype)?),
        },
    };
    wrap(py, dtype.map_or(Ok(t.clone()), |d| retrograd_engine::ops::memory::cast(&t, d)).or_py()?)
}

/// `obj` as a tensor, over the same memory where that can be.
///
/// Args: `obj` a tensor, NumPy array or scalar, DLPack capsule, any object with a buffer, `__dlpack__` or `__array__`,
/// or nested sequences of numbers; `copy` True forces a copy, False forbids one; `requires_grad` of the result, `obj`'s
/// own if not given.
/// Raises: ValueError if `copy=False` and the result needs one.
///
/// >>> import numpy as np, retrograd as rg
/// >>> rg.asarray(np.array([1, 2])), rg.asarray([1.0], dtype=rg.float64)
/// (tensor([1, 2]), tensor([1.], dtype=retrograd.float64))
#[pyfunction]
#[pyo3(signature = (obj, *, dtype = None, device = None, copy = None, requires_grad = None))]
fn asarray<'py>(
    py: Python<'py>,
    obj: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    copy: Option<&Bound<'py, PyAny>>,
    requires_grad: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = options("asarray", dtype, device)?;
    let copy = copy.map(|v| flag("asarray", "copy", None, v)).transpose()?;
    let requires_grad = requires_grad.map(|v| flag("asarray", "requires_grad", None, v)).transpose()?;
    // SAFETY: the object is alive and the interpreter held.
    let has_buffer = || unsafe { ffi::PyObject_CheckBuffer(obj.as_ptr()) != 0 };
    let shared = if let Some(t) = unwrap(obj) {
        Some(t.clone())
    } else if buffer::is_array(obj) {
        Some(if copy == Some(true) { buffer::copied(obj)? } else { buffer::share(obj)? })
    } else if obj.is_instance_of::<PyCapsule>() {
        Some(from_dlpack(obj)?)
    } else if !buffer::is_generic(obj) && has_buffer() {
        Some(buffer::from_bytes(obj, dtype.unwrap_or_else(retrograd_engine::tensor::default_dtype), -1, 0)?)
    } else if copy != Some(false) {
        offered(obj, false)?
    } else {
        None
    };
    let Some(t) = shared else {
        if copy == Some(false) {
            return Err(PyValueError::new_err("asarray: can't alias arbitrary sequence into a tensor."));
        }
        let t = from_data("asarray", obj, dtype)?;
        mark(&t, requires_grad == Some(true))?;
        return wrap(py, t);
    };
    let to = dtype.unwrap_or(t.dtype());
    if copy == Some(false) && to != t.dtype() {
        return Err(PyValueError::new_err(format!(
            "asarray: can't alias tensor with dtype '{}' into dtype '{}'.",
            t.dtype().scalar_type_name(),
            to.scalar_type_name()
        )));
    }
    let mut out = if to != t.dtype() {
        retrograd_engine::ops::memory::cast(&t, to).or_py()?
    } else if copy == Some(true) && !buffer::is_array(obj) {
        retrograd_engine::ops::memory::cloned(&t).or_py()?
    } else {
        t
    };
    match requires_grad {
        Some(false) if out.requires_grad() => out = out.detach(),
        Some(true) if !out.requires_grad() => mark(&out, true)?,
        _ => {}
    }
    wrap(py, out)
}

// ---- for the tensor class

/// `Tensor(data)`: numbers in the default dtype; a lone int is a size.
pub fn legacy(data: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let dtype = retrograd_engine::tensor::default_dtype();
    if data.is_exact_instance_of::<PyInt>() {
        return legacy_of_size(data, &PyTuple::empty(data.py()));
    }
    if !is_sequence(data) {
        return Err(PyTypeError::new_err(format!("Tensor: new(): data must be a sequence (got {})", type_name(data))));
    }
    from_data("Tensor", data, Some(dtype))
}

/// `Tensor(size, ...)`: not initialised.
pub fn legacy_of_size<'py>(first: &Bound<'py, PyAny>, rest: &Bound<'py, PyTuple>) -> PyResult<Tensor> {
    let mut given =
        vec![convert::integer(first).ok_or_else(|| misfit("new", "size", Some(0), "tuple of ints", first))?];
    given.extend(sizes_in_row("new", rest, 1)?);
    let sizes = retrograd_engine::ops::create::sizes("Tensor", &given).or_py()?;
    Tensor::empty(&sizes, retrograd_engine::tensor::default_dtype())
        .and_then(retrograd_engine::ops::create::uninitialised)
        .or_py()
}

/// Sizes that are given one by one, from the argument at position `from` on.
pub fn sizes_in_row(function: &str, given: &Bound<'_, PyTuple>, from: usize) -> PyResult<Vec<i64>> {
    let size = |(i, v): (usize, Bound<'_, PyAny>)| {
        convert::integer(&v).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{function}(): argument 'size' failed to unpack the object at pos {} with error \"type must be tuple of \
                 ints,but got {}\"",
                from + i + 1,
                type_name(&v)
            ))
        })
    };
    given.iter().enumerate().map(size).collect()
}

/// A sequence or array used as a subscript: a mask if it holds truth values or bytes, else positions.
pub fn index_tensor(k: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let dtype = match infer("index", k, 0)? {
        mask @ (DType::Bool | DType::UInt8) => mask,
        _ => DType::Int64,
    };
    from_data("index", k, Some(dtype))
}

/// The device of every tensor.
pub fn cpu(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    device::cpu(py).map(|d| d.into_bound(py).into_any())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    device::register(m)?;
    buffer::register(m)?;
    m.add_function(wrap_pyfunction!(tensor, m)?)?;
    m.add_function(wrap_pyfunction!(as_tensor, m)?)?;
    m.add_function(wrap_pyfunction!(sparse::sparse_coo_tensor, m)?)?;
    m.add_function(wrap_pyfunction!(sparse::sparse_csr_tensor, m)?)?;
    m.add_function(wrap_pyfunction!(asarray, m)?)
}
