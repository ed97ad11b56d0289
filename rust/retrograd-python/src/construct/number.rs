//! One Python object as one element of a tensor.

use half::{bf16, f16};
use num_complex::Complex;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use retrograd_engine::tensor::{Element, FromScalar, Truth};
use retrograd_engine::{DType, Scalar};

use super::NestedWalk;
use crate::buffer;
use crate::call::type_name;
use crate::wrap::unwrap;

/// An element type that Python numbers can be read as.
pub(super) trait Number: Element + FromScalar {
    fn read(walk: &NestedWalk, v: &Bound<'_, PyAny>) -> PyResult<Self>;
}

macro_rules! number {
    ($(($t:ty) $walk:ident, $v:ident => $read:expr;)*) => { $(impl Number for $t {
        #[inline]
        fn read($walk: &NestedWalk, $v: &Bound<'_, PyAny>) -> PyResult<Self> { $read }
    })* };
}
number! {
    (f64) w, v => float(w, v);
    (f32) w, v => Ok(float(w, v)? as f32);
    // By way of float32, as torch.
    (f16) w, v => Ok(f16::from_f32(float(w, v)? as f32));
    (bf16) w, v => Ok(bf16::from_f32(float(w, v)? as f32));
    (i64) w, v => integer(w, v, DType::Int64);
    (i32) w, v => Ok(integer(w, v, DType::Int32)? as i32);
    (i16) w, v => Ok(integer(w, v, DType::Int16)? as i16);
    (i8) w, v => Ok(integer(w, v, DType::Int8)? as i8);
    (u8) w, v => Ok(integer(w, v, DType::UInt8)? as u8);
    (u16) w, v => Ok(integer(w, v, DType::UInt16)? as u16);
    (u32) w, v => Ok(integer(w, v, DType::UInt32)? as u32);
    (u64) w, v => match v.cast_exact::<PyInt>() {
        Ok(v) if v.ge(0)? => v.extract(),
        _ => Ok(integer(w, v, DType::UInt64)? as u64),
    };
    (Truth) w, v => truth(w, v).map(Truth::from);
    (Complex<f32>) w, v => complex(w, v).map(|(re, im)| Complex::new(re as f32, im as f32));
    (Complex<f16>) w, v => complex(w, v).map(|(re, im)| Complex::new(f16::from_f64(re), f16::from_f64(im)));
    (Complex<f64>) w, v => complex(w, v).map(|(re, im)| Complex::new(re, im));
}

#[inline]
fn float(walk: &NestedWalk, v: &Bound<'_, PyAny>) -> PyResult<f64> {
    match v.cast_exact::<PyFloat>() {
        Ok(x) => Ok(x.value()),
        Err(_) => float_slow(walk, v),
    }
}

fn float_slow(walk: &NestedWalk, v: &Bound<'_, PyAny>) -> PyResult<f64> {
    if v.is_exact_instance_of::<PyInt>() {
        return v.extract();
    }
    if let Some(t) = unwrap(v) {
        return match walk.element(v.py(), t)? {
            Scalar::Complex(_, im) if im != 0.0 => Err(overflow(walk, DType::Float64)),
            s => Ok(s.as_f64()),
        };
    }
    if v.is_instance_of::<PyComplex>() || buffer::is_generic(v) && buffer::generic_dtype(v)?.is_complex() {
        return Err(PyTypeError::new_err(format!("{}: must be real number, not complex", walk.op)));
    }
    // Numbers, `__float__` and `__index__`; else "must be real number, not str".
    v.extract()
}

#[inline]
fn integer(walk: &NestedWalk, v: &Bound<'_, PyAny>, dtype: DType) -> PyResult<i64> {
    if v.is_exact_instance_of::<PyInt>() {
        return checked(walk, unpack(walk, v)?, dtype);
    }
    integer_slow(walk, v, dtype)
}

fn integer_slow(walk: &NestedWalk, v: &Bound<'_, PyAny>, dtype: DType) -> PyResult<i64> {
    if let Some(t) = unwrap(v) {
        if !t.dtype().is_integral() || t.numel() != 1 {
            return Err(PyTypeError::new_err(format!(
                "{}: only integer tensors of a single element can be converted to an index",
                walk.op
            )));
        }
        return checked(walk, walk.element(v.py(), t)?.as_i64(), dtype);
    }
    if let Ok(b) = v.cast::<PyBool>() {
        return Ok(i64::from(b.is_true()));
    }
    if let Ok(x) = v.cast::<PyFloat>() {
        return truncated(walk, x.value(), dtype);
    }
    if buffer::is_generic(v) && buffer::generic_dtype(v)? == DType::Bool {
        return v.is_truthy().map(i64::from);
    }
    checked(walk, unpack(walk, v)?, dtype)
}

fn unpack(walk: &NestedWalk, v: &Bound<'_, PyAny>) -> PyResult<i64> {
    v.extract::<i64>().map_err(|e| {
        if e.is_instance_of::<PyOverflowError>(v.py()) {
            let op = walk.op;
            PyValueError::new_err(format!("{op}: Overflow when unpacking long long: the int does not fit 64 bits"))
        } else {
            e
        }
    })
}

#[cold]
fn overflow(walk: &NestedWalk, dtype: DType) -> PyErr {
    let (op, dtype) = (walk.op, dtype.name());
    PyRuntimeError::new_err(format!("{op}: value cannot be converted to type {dtype} without overflow"))
}

/// The lowest and highest value of an integer dtype.
const fn range(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::UInt8 => (0, u8::MAX as i64),
        DType::Int8 => (i8::MIN as i64, i8::MAX as i64),
        DType::Int16 => (i16::MIN as i64, i16::MAX as i64),
        DType::UInt16 => (0, u16::MAX as i64),
        DType::UInt32 => (0, u32::MAX as i64),
        DType::UInt64 => (0, i64::MAX),
        DType::Int32 => (i32::MIN as i64, i32::MAX as i64),
        _ => (i64::MIN, i64::MAX),
    }
}

/// An int that fits. As in torch, a uint8 may be given as a negative number down to -255, and wraps.
#[inline]
fn checked(walk: &NestedWalk, x: i64, dtype: DType) -> PyResult<i64> {
    let (lo, hi) = range(dtype);
    let lo = if lo == 0 { -hi } else { lo };
    if x < lo || x > hi { Err(overflow(walk, dtype)) } else { Ok(x) }
}

fn truncated(walk: &NestedWalk, x: f64, dtype: DType) -> PyResult<i64> {
    let (lo, hi) = range(dtype);
    // For int64 the upper bound rounds to 2^63, which does not fit; all smaller doubles do.
    let fits = x >= lo as f64 && if hi == i64::MAX { x < hi as f64 } else { x <= hi as f64 };
    if fits { Ok(x as i64) } else { Err(overflow(walk, dtype)) }
}

fn truth(walk: &NestedWalk, v: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Some(t) = unwrap(v) {
        return walk.element(v.py(), t).map(|s| !s.is_zero());
    }
    let number = v.is_instance_of::<PyInt>() || v.is_instance_of::<PyFloat>() || v.is_instance_of::<PyComplex>();
    if number || buffer::is_generic(v) {
        return v.is_truthy();
    }
    Err(PyTypeError::new_err(format!("{}: must be bool or number, not {}", walk.op, type_name(v))))
}

fn complex(walk: &NestedWalk, v: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
    if let Some(t) = unwrap(v) {
        return Ok(match walk.element(v.py(), t)? {
            Scalar::Complex(re, im) => (re, im),
            s => (s.as_f64(), 0.0),
        });
    }
    if let Ok(z) = v.cast::<PyComplex>() {
        return Ok((z.real(), z.imag()));
    }
    if buffer::is_generic(v) && buffer::generic_dtype(v)?.is_complex() {
        let z = v.call_method0("item")?;
        return z.cast::<PyComplex>().map(|z| (z.real(), z.imag())).map_err(PyErr::from);
    }
    float(walk, v).map(|re| (re, 0.0))
}
