//! Between Python objects and the core's dynamic values.

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyString, PyTuple};
use retrograd_engine::ops::{Kind, Value};
use retrograd_engine::{Scalar, Tensor};

use crate::errors::OrPy;
use crate::wrap::{unwrap, wrap};
use crate::{dtype, format, generator};

/// A Python (or NumPy) number as a scalar.
#[inline]
pub fn scalar(v: &Bound<'_, PyAny>) -> Option<Scalar> {
    if let Ok(x) = v.cast_exact::<PyFloat>() {
        return Some(Scalar::Float(x.value()));
    }
    if v.is_exact_instance_of::<PyInt>() {
        return v.extract::<i64>().ok().map(Scalar::Int);
    }
    scalar_slow(v)
}

fn scalar_slow(v: &Bound<'_, PyAny>) -> Option<Scalar> {
    if let Ok(b) = v.cast::<PyBool>() {
        return Some(Scalar::Bool(b.is_true()));
    }
    if let Ok(x) = v.cast::<PyFloat>() {
        return Some(Scalar::Float(x.value()));
    }
    if v.is_instance_of::<PyInt>() {
        return v.extract::<i64>().ok().map(Scalar::Int);
    }
    if let Ok(c) = v.cast::<PyComplex>() {
        return Some(Scalar::Complex(c.real(), c.imag()));
    }
    if is_numpy_scalar(v) {
        let item = v.call_method0("item").ok()?;
        return if is_numpy_scalar(&item) { None } else { scalar(&item) };
    }
    None
}

/// Whether the object is a NumPy scalar; NumPy is not imported for the question.
pub fn is_numpy_scalar(v: &Bound<'_, PyAny>) -> bool {
    let t = v.get_type();
    t.module().is_ok_and(|m| m == "numpy")
        && v.getattr("shape").is_ok_and(|s| s.is_truthy().is_ok_and(|full| !full))
        && !t.name().is_ok_and(|n| n == "ndarray")
}

/// An integer, from anything with `__index__`.
pub fn integer(v: &Bound<'_, PyAny>) -> Option<i64> {
    integer_unless_interrupted(v).ok().flatten()
}

/// As [`integer`]; an error if an `__index__` was interrupted.
pub fn integer_unless_interrupted(v: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if v.is_exact_instance_of::<PyInt>() {
        return Ok(v.extract().ok());
    }
    if v.is_instance_of::<PyFloat>() || v.is_instance_of::<PyString>() {
        return Ok(None);
    }
    if let Some(t) = unwrap(v) {
        let holds = t.numel() == 1 && t.dtype().is_integral();
        return Ok(if holds { t.item().ok().map(Scalar::as_i64) } else { None });
    }
    v.extract().map(Some).or_else(|why| if is_interrupt(v.py(), &why) { Err(why) } else { Ok(None) })
}

/// Whether an error says that the program is to stop, and not that a value will not do.
pub fn is_interrupt(py: Python<'_>, why: &PyErr) -> bool {
    !why.is_instance_of::<PyException>(py)
}

fn sequence_of<'py, T>(v: &Bound<'py, PyAny>, f: impl Fn(&Bound<'py, PyAny>) -> Option<T>) -> Option<Vec<T>> {
    if let Ok(t) = v.cast::<PyTuple>() {
        return t.iter_borrowed().map(|x| f(&x)).collect();
    }
    if let Ok(l) = v.cast::<PyList>() {
        return l.iter().map(|x| f(&x)).collect();
    }
    None
}

/// Integers from a tuple or list.
pub fn integers(v: &Bound<'_, PyAny>) -> Option<Vec<i64>> {
    sequence_of(v, integer)
}

/// Tensors from a tuple or list.
pub fn tensors(v: &Bound<'_, PyAny>) -> Option<Vec<Tensor>> {
    sequence_of(v, |x| unwrap(x).cloned())
}

/// The argument as a value of this kind; `None` if it is not one.
pub fn argument(v: &Bound<'_, PyAny>, kind: Kind, optional: bool) -> Option<Value> {
    if let Some(t) = unwrap(v) {
        return match kind {
            Kind::Tensor | Kind::Operand => Some(Value::Tensor(t.clone())),
            Kind::Scalar | Kind::Float if t.ndim() == 0 && !t.requires_grad() => t.item().ok().map(Value::Scalar),
            Kind::Int => integer(v).map(Value::from),
            Kind::Ints => integer(v).map(|i| Value::Ints(vec![i])),
            _ => None,
        };
    }
    if v.is_none() {
        return optional.then_some(Value::None);
    }
    match kind {
        Kind::Tensor => None,
        Kind::Operand => Tensor::shared_number(scalar(v)?).ok().map(Value::Tensor),
        Kind::Scalar => scalar(v).map(Value::Scalar),
        Kind::Bool => match scalar(v)? {
            s @ Scalar::Bool(_) => Some(Value::Scalar(s)),
            _ => None,
        },
        Kind::Int => integer(v).map(Value::from),
        Kind::Float => match scalar(v)? {
            Scalar::Complex(..) => None,
            s => Some(Value::Scalar(Scalar::Float(s.as_f64()))),
        },
        Kind::Ints | Kind::Size => integers(v).map(Value::Ints).or_else(|| integer(v).map(|i| Value::Ints(vec![i]))),
        Kind::OpenInts => {
            let open = |v: &Bound<'_, PyAny>| if v.is_none() { Some(None) } else { integer(v).map(Some) };
            sequence_of(v, open).or_else(|| integer(v).map(|i| vec![Some(i)])).map(Value::OpenInts)
        }
        Kind::Floats => {
            let number =
                |v: &Bound<'_, PyAny>| scalar(v).filter(|s| !matches!(s, Scalar::Complex(..))).map(Scalar::as_f64);
            sequence_of(v, number).or_else(|| number(v).map(|x| vec![x])).map(Value::Floats)
        }
        Kind::Tensors | Kind::Varargs => tensors(v).map(Value::Tensors),
        Kind::DType => dtype::extract(v).map(Value::DType),
        Kind::Str => v.extract().ok().map(Value::Str),
        Kind::Generator => generator::extract(v).map(Value::Generator),
        Kind::Device => crate::construct::device::name(v).map(Value::Str),
        Kind::Layout => v.cast::<format::PyLayout>().ok().map(|layout| Value::Layout(layout.get().0)),
        Kind::MemoryFormat => format::extract(v).map(Value::MemoryFormat),
    }
}

/// What a kind is called in messages.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Tensor => "Tensor",
        Kind::Operand => "Tensor or Number",
        Kind::Scalar => "Number",
        Kind::Bool => "bool",
        Kind::Int => "int",
        Kind::Float => "float",
        Kind::Ints | Kind::Size => "tuple of ints",
        Kind::OpenInts => "int or tuple of ints and None",
        Kind::Floats => "float or tuple of floats",
        Kind::Tensors | Kind::Varargs => "tuple of Tensors",
        Kind::DType => "retrograd.dtype",
        Kind::Str => "str",
        Kind::Generator => "retrograd.Generator",
        Kind::Device => "device ('cpu' is the only one)",
        Kind::Layout => "retrograd.layout",
        Kind::MemoryFormat => "retrograd.memory_format",
    }
}

/// A scalar as a Python number.
pub fn number(py: Python<'_>, s: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match s {
        Scalar::Bool(b) => PyBool::new(py, b).to_owned().into_any(),
        Scalar::Int(i) => i.into_pyobject(py)?.into_any(),
        Scalar::UInt(i) => i.into_pyobject(py)?.into_any(),
        Scalar::Float(x) => PyFloat::new(py, x).into_any(),
        Scalar::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any(),
    })
}

/// A value of the core as a Python object; the module and the name of the op that it is a result of name tuples.
pub fn object<'py>(py: Python<'py>, name: (&str, &str), v: Value) -> PyResult<Bound<'py, PyAny>> {
    match v {
        Value::Tensor(t) => wrap(py, t),
        Value::None | Value::Default => Ok(py.None().into_bound(py)),
        Value::Scalar(s) => number(py, s),
        Value::Ints(v) => Ok(PyTuple::new(py, v)?.into_any()),
        Value::OpenInts(v) => Ok(PyTuple::new(py, v)?.into_any()),
        Value::Floats(v) => Ok(PyTuple::new(py, v)?.into_any()),
        Value::Tensors(v) => {
            let items: Vec<_> = v.into_iter().map(|t| wrap(py, t)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
        Value::DType(d) => Ok(dtype::object(py, d)?.into_bound(py).into_any()),
        Value::Str(s) => Ok(PyString::new(py, &s).into_any()),
        Value::Layout(layout) => Ok(format::layout(py, layout)?.into_bound(py).into_any()),
        Value::MemoryFormat(f) => Ok(Py::new(py, format::PyMemoryFormat(f))?.into_bound(py).into_any()),
        Value::Generator(_) => Err(PyTypeError::new_err("a generator is not a result")),
        Value::Tuple(items, fields) => {
            let items: Vec<_> = items.into_iter().map(|v| object(py, name, v)).collect::<PyResult<_>>()?;
            let tuple = PyTuple::new(py, items)?;
            if fields.is_empty() { Ok(tuple.into_any()) } else { named(py, name, fields)?.call1(tuple) }
        }
    }
}

static NAMED: PyOnceLock<Py<pyo3::types::PyDict>> = PyOnceLock::new();

/// The named tuple class of an op's results, `retrograd.return_types.max`; of `linalg.svd` it is `linalg_svd`.
fn named<'py>(py: Python<'py>, (module, name): (&str, &str), fields: &[&str]) -> PyResult<Bound<'py, PyAny>> {
    let cache = NAMED.get_or_init(py, || pyo3::types::PyDict::new(py).unbind()).bind(py);
    let name = name.trim_end_matches('_');
    let name = if module == "linalg" { format!("linalg_{name}") } else { name.to_owned() };
    if let Some(class) = cache.get_item(&name)? {
        return Ok(class);
    }
    let class = py.import("retrograd.return_types")?.call_method1("_of", (&name, PyTuple::new(py, fields)?))?;
    cache.set_item(name, &class)?;
    Ok(class)
}

/// The operand of an operator: a tensor, or a number as a 0-dim tensor. `None` for foreign objects.
#[inline]
pub fn operand(v: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    if let Some(t) = unwrap(v) {
        return Ok(Some(t.clone()));
    }
    match scalar(v) {
        Some(s) => Tensor::shared_number(s).or_py().map(Some),
        None => Ok(None),
    }
}
