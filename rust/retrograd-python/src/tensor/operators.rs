//! The operators of `Tensor`.

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyNotImplemented};
use retrograd_engine::{DType, Scalar, Tensor, ops};

use super::Any;
use crate::call_site::{DETACH_ABOVE, detached};
use crate::errors::OrPy;
use crate::overrides::{self, state};
use crate::wrap::{PyTensor, unwrap, wrap};
use crate::{buffer, convert};

type Binary = fn(&Tensor, &Tensor) -> retrograd_engine::Result<Tensor>;

fn not_implemented(py: Python<'_>) -> Any<'_> {
    PyNotImplemented::get(py).to_owned().into_any()
}

#[inline]
fn run2(py: Python<'_>, f: Binary, a: &Tensor, b: &Tensor) -> PyResult<Tensor> {
    if a.numel().max(b.numel()) > DETACH_ABOVE { detached(py, || f(a, b)).or_py() } else { f(a, b).or_py() }
}

/// `a op b`; foreign operands get their turn.
#[inline]
fn binary<'py>(slf: &Bound<'py, PyTensor>, other: &Any<'py>, name: &str, f: Binary) -> PyResult<Any<'py>> {
    let py = slf.py();
    if state::possible()
        && let Some(taken) = overrides::operator(name, &[slf, other])?
    {
        return Ok(taken);
    }
    let a = &slf.get().0;
    if let Some(b) = unwrap(other) {
        return wrap(py, run2(py, f, a, b)?);
    }
    match number(other, a.dtype())? {
        Some(b) => wrap(py, run2(py, f, a, &b)?),
        None => foreign(slf, other, name),
    }
}

/// `b op a` for a number `b`.
fn reflected<'py>(slf: &Bound<'py, PyTensor>, other: &Any<'py>, name: &str, f: Binary) -> PyResult<Any<'py>> {
    if state::possible()
        && let Some(taken) = overrides::operator(name, &[slf, other])?
    {
        return Ok(taken);
    }
    let (py, a) = (slf.py(), &slf.get().0);
    match number(other, a.dtype())? {
        Some(b) => wrap(py, run2(py, f, &b, a)?),
        None => foreign(slf, other, name),
    }
}

/// An operator of a tensor and an object that is neither tensor nor number: it may be one that is asked.
#[cold]
fn foreign<'py>(slf: &Any<'py>, other: &Any<'py>, name: &str) -> PyResult<Any<'py>> {
    Ok(overrides::operator(name, &[slf, other])?.unwrap_or_else(|| not_implemented(slf.py())))
}

/// The right side of `a op= b`. For anything else PyO3 returns NotImplemented, and Python computes `a = a op b`.
struct Operand(Tensor);

impl FromPyObject<'_, '_> for Operand {
    type Error = PyErr;
    fn extract(other: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match convert::operand(&other)? {
            Some(b) => Ok(Self(b)),
            None => Err(PyTypeError::new_err("no operand")),
        }
    }
}

/// `a op= b`.
fn assign(slf: &Bound<'_, PyTensor>, other: &Operand, f: Binary) -> PyResult<()> {
    run2(slf.py(), f, &slf.get().0, &other.0).map(drop)
}

/// A number as a tensor, for an op with a tensor of a dtype.
fn number(other: &Any<'_>, beside: DType) -> PyResult<Option<Tensor>> {
    match convert::scalar(other) {
        Some(s) => Tensor::shared_number(s).or_py().map(Some),
        None if other.is_instance_of::<PyInt>() => large_number(other, beside).map(Some),
        None => Ok(None),
    }
}

/// An int that is none of int64's. As in torch, one of uint64's wraps around beside integers and is rounded beside
/// others.
#[cold]
fn large_number(other: &Any<'_>, beside: DType) -> PyResult<Tensor> {
    let Ok(n) = other.extract::<u64>() else {
        return Err(PyOverflowError::new_err("int too big to convert"));
    };
    let number = if beside.is_integral() { Scalar::Int(n.cast_signed()) } else { Scalar::Float(n as f64) };
    Tensor::shared_number(number).or_py()
}

fn add(a: &Tensor, b: &Tensor) -> retrograd_engine::Result<Tensor> {
    a.add(b)
}
fn sub(a: &Tensor, b: &Tensor) -> retrograd_engine::Result<Tensor> {
    a.sub(b)
}
fn div(a: &Tensor, b: &Tensor) -> retrograd_engine::Result<Tensor> {
    a.div(b)
}
fn rpow(a: &Tensor, b: &Tensor) -> retrograd_engine::Result<Tensor> {
    a.pow(b)
}

#[pymethods]
impl PyTensor {
    fn __richcmp__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, op: CompareOp) -> PyResult<Any<'py>> {
        let (name, f): (&str, Binary) = match op {
            // The name under which tensors are told of it is another one than foreign objects get, as in torch.
            CompareOp::Eq if state::possible() && overrides::would_ask(slf) => ("__eq__", Tensor::eq),
            CompareOp::Eq => ("eq", Tensor::eq),
            CompareOp::Ne => ("ne", Tensor::ne),
            CompareOp::Lt => ("lt", Tensor::lt),
            CompareOp::Le => ("le", Tensor::le),
            CompareOp::Gt => ("gt", Tensor::gt),
            CompareOp::Ge => ("ge", Tensor::ge),
        };
        if matches!(op, CompareOp::Eq | CompareOp::Ne)
            && buffer::is_array(other)
            && let Ok(array) = buffer::copied(other)
        {
            return wrap(slf.py(), run2(slf.py(), f, &slf.get().0, &array)?);
        }
        binary(slf, other, name, f)
    }
    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "add", add)
    }
    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "add", |b, a| a.add(b))
    }
    fn __iadd__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, |a, b| a.add_(b))
    }
    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "sub", sub)
    }
    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "__rsub__", |b, a| ops::pointwise::arith::rsub(a, b, retrograd_engine::Scalar::Int(1)))
    }
    fn __isub__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, |a, b| a.sub_(b))
    }
    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "mul", Tensor::mul)
    }
    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "mul", |b, a| a.mul(b))
    }
    fn __imul__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::mul_)
    }
    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "div", div)
    }
    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "__rtruediv__", |b, a| a.reciprocal()?.mul(b))
    }
    /// `other / self` under the name that no operator calls any more.
    fn __rdiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "__rdiv__", |a, b| a.reciprocal()?.mul(b))
    }
    fn __itruediv__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, |a, b| a.div_(b))
    }
    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "remainder", Tensor::remainder)
    }
    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "__rmod__", Tensor::remainder)
    }
    fn __imod__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::remainder_)
    }
    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "__floordiv__", Tensor::floor_divide)
    }
    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "__rfloordiv__", Tensor::floor_divide)
    }
    fn __ifloordiv__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::floor_divide_)
    }
    fn __iand__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::bitwise_and_)
    }
    fn __ior__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::bitwise_or_)
    }
    fn __ixor__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::bitwise_xor_)
    }
    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        if state::possible()
            && let Some(taken) = overrides::operator("matmul", &[slf, other])?
        {
            return Ok(taken);
        }
        match unwrap(other) {
            Some(b) => wrap(slf.py(), run2(slf.py(), Tensor::matmul, &slf.get().0, b)?),
            None => foreign(slf, other, "matmul"),
        }
    }
    /// Only what is asked can be on the left.
    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        foreign(slf, other, "__rmatmul__")
    }
    fn __pow__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, modulo: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        if modulo.is_some() {
            return Ok(not_implemented(slf.py()));
        }
        binary(slf, other, "__pow__", rpow)
    }
    fn __rpow__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, modulo: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        if modulo.is_some() {
            return Ok(not_implemented(slf.py()));
        }
        reflected(slf, other, "__rpow__", rpow)
    }
    fn __ipow__(slf: &Bound<'_, Self>, other: Operand, modulo: Option<&Any<'_>>) -> PyResult<()> {
        let _ = modulo;
        assign(slf, &other, Tensor::pow_)
    }
    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "__and__", Tensor::bitwise_and)
    }
    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "bitwise_and", Tensor::bitwise_and)
    }
    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "__or__", Tensor::bitwise_or)
    }
    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "bitwise_or", Tensor::bitwise_or)
    }
    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "__xor__", Tensor::bitwise_xor)
    }
    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "bitwise_xor", Tensor::bitwise_xor)
    }
    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "__lshift__", Tensor::bitwise_left_shift)
    }
    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "__rlshift__", Tensor::bitwise_left_shift)
    }
    fn __ilshift__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::bitwise_left_shift_)
    }
    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, "__rshift__", Tensor::bitwise_right_shift)
    }
    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, "__rrshift__", Tensor::bitwise_right_shift)
    }
    fn __irshift__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::bitwise_right_shift_)
    }
    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        if state::possible()
            && let Some(taken) = overrides::member("__invert__", &[slf])?
        {
            return Ok(taken);
        }
        let (py, x) = (slf.py(), &slf.get().0);
        if !x.dtype().is_integral() {
            return Err(PyTypeError::new_err(format!(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors, got {}",
                x.dtype().name()
            )));
        }
        wrap(py, x.bitwise_not().or_py()?)
    }
    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        if state::possible()
            && let Some(taken) = overrides::member("neg", &[slf])?
        {
            return Ok(taken);
        }
        let (py, x) = (slf.py(), &slf.get().0);
        wrap(py, x.neg().or_py()?)
    }
    fn __pos__<'py>(slf: Bound<'py, Self>) -> PyResult<Any<'py>> {
        if state::possible()
            && let Some(taken) = overrides::member("positive", &[&slf])?
        {
            return Ok(taken);
        }
        if slf.get().0.dtype() == DType::Bool {
            return Err(PyRuntimeError::new_err("The `+` operator, on a bool tensor is not supported."));
        }
        Ok(slf.into_any())
    }
    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        if state::possible()
            && let Some(taken) = overrides::member("abs", &[slf])?
        {
            return Ok(taken);
        }
        let (py, x) = (slf.py(), &slf.get().0);
        wrap(py, x.abs().or_py()?)
    }
}
