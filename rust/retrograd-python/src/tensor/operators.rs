//! The operators of `Tensor`.

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyNotImplemented};
use retrograd::{DType, Scalar, Tensor, ops};

use super::Any;
use crate::call_site::detached;
use crate::errors::OrPy;
use crate::wrap::{PyTensor, unwrap, wrap};
use crate::{buffer, convert};

/// Elements above which an operator gives up the interpreter while it runs.
const DETACH_ABOVE: usize = 1 << 16;

type Binary = fn(&Tensor, &Tensor) -> retrograd::Result<Tensor>;

fn not_implemented(py: Python<'_>) -> Any<'_> {
    PyNotImplemented::get(py).to_owned().into_any()
}

#[inline]
fn run2(py: Python<'_>, f: Binary, a: &Tensor, b: &Tensor) -> PyResult<Tensor> {
    if a.numel().max(b.numel()) > DETACH_ABOVE { detached(py, || f(a, b)).or_py() } else { f(a, b).or_py() }
}

/// `a op b`; foreign operands get their turn.
#[inline]
fn binary<'py>(slf: &Bound<'py, PyTensor>, other: &Any<'py>, f: Binary) -> PyResult<Any<'py>> {
    let py = slf.py();
    let a = &slf.get().0;
    if let Some(b) = unwrap(other) {
        return wrap(py, run2(py, f, a, b)?);
    }
    match number(other, a.dtype())? {
        Some(b) => wrap(py, run2(py, f, a, &b)?),
        None => Ok(not_implemented(py)),
    }
}

/// `b op a` for a number `b`.
fn reflected<'py>(slf: &Bound<'py, PyTensor>, other: &Any<'py>, f: Binary) -> PyResult<Any<'py>> {
    let (py, a) = (slf.py(), &slf.get().0);
    match number(other, a.dtype())? {
        Some(b) => wrap(py, run2(py, f, &b, a)?),
        None => Ok(not_implemented(py)),
    }
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
        Some(s) => Tensor::number(s).or_py().map(Some),
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
    Tensor::number(number).or_py()
}

fn add(a: &Tensor, b: &Tensor) -> retrograd::Result<Tensor> {
    a.add(b)
}
fn sub(a: &Tensor, b: &Tensor) -> retrograd::Result<Tensor> {
    a.sub(b)
}
fn div(a: &Tensor, b: &Tensor) -> retrograd::Result<Tensor> {
    a.div(b)
}
fn rpow(a: &Tensor, b: &Tensor) -> retrograd::Result<Tensor> {
    a.pow(b)
}

#[pymethods]
impl PyTensor {
    fn __richcmp__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, op: CompareOp) -> PyResult<Any<'py>> {
        let f: Binary = match op {
            CompareOp::Eq => Tensor::eq,
            CompareOp::Ne => Tensor::ne,
            CompareOp::Lt => Tensor::lt,
            CompareOp::Le => Tensor::le,
            CompareOp::Gt => Tensor::gt,
            CompareOp::Ge => Tensor::ge,
        };
        if matches!(op, CompareOp::Eq | CompareOp::Ne)
            && buffer::is_array(other)
            && let Ok(array) = buffer::copied(other)
        {
            return wrap(slf.py(), run2(slf.py(), f, &slf.get().0, &array)?);
        }
        binary(slf, other, f)
    }
    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, add)
    }
    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, |b, a| a.add(b))
    }
    fn __iadd__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, |a, b| a.add_(b))
    }
    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, sub)
    }
    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, |b, a| ops::pointwise::arith::rsub(a, b, retrograd::Scalar::Int(1)))
    }
    fn __isub__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, |a, b| a.sub_(b))
    }
    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::mul)
    }
    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, |b, a| a.mul(b))
    }
    fn __imul__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::mul_)
    }
    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, div)
    }
    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, |b, a| a.reciprocal()?.mul(b))
    }
    /// `other / self` under the name that no operator calls any more.
    fn __rdiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, |a, b| a.reciprocal()?.mul(b))
    }
    fn __itruediv__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, |a, b| a.div_(b))
    }
    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::remainder)
    }
    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, Tensor::remainder)
    }
    fn __imod__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::remainder_)
    }
    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::floor_divide)
    }
    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, Tensor::floor_divide)
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
        match unwrap(other) {
            Some(b) => wrap(slf.py(), run2(slf.py(), Tensor::matmul, &slf.get().0, b)?),
            None => Ok(not_implemented(slf.py())),
        }
    }
    fn __pow__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, modulo: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        if modulo.is_some() {
            return Ok(not_implemented(slf.py()));
        }
        binary(slf, other, rpow)
    }
    fn __rpow__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, modulo: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        if modulo.is_some() {
            return Ok(not_implemented(slf.py()));
        }
        reflected(slf, other, rpow)
    }
    fn __ipow__(slf: &Bound<'_, Self>, other: Operand, modulo: Option<&Any<'_>>) -> PyResult<()> {
        let _ = modulo;
        assign(slf, &other, Tensor::pow_)
    }
    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::bitwise_and)
    }
    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, Tensor::bitwise_and)
    }
    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::bitwise_or)
    }
    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, Tensor::bitwise_or)
    }
    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::bitwise_xor)
    }
    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, Tensor::bitwise_xor)
    }
    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::bitwise_left_shift)
    }
    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, Tensor::bitwise_left_shift)
    }
    fn __ilshift__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::bitwise_left_shift_)
    }
    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        binary(slf, other, Tensor::bitwise_right_shift)
    }
    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        reflected(slf, other, Tensor::bitwise_right_shift)
    }
    fn __irshift__(slf: &Bound<'_, Self>, other: Operand) -> PyResult<()> {
        assign(slf, &other, Tensor::bitwise_right_shift_)
    }
    fn __invert__<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        if !self.0.dtype().is_integral() {
            return Err(PyTypeError::new_err(format!(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors, got {}",
                self.0.dtype().name()
            )));
        }
        wrap(py, self.0.bitwise_not().or_py()?)
    }
    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, self.0.neg().or_py()?)
    }
    fn __pos__<'py>(slf: Bound<'py, Self>) -> PyResult<Any<'py>> {
        if slf.get().0.dtype() == DType::Bool {
            return Err(PyRuntimeError::new_err("The `+` operator, on a bool tensor is not supported."));
        }
        Ok(slf.into_any())
    }
    fn __abs__<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, self.0.abs().or_py()?)
    }
}
