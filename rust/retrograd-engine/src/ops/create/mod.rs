//! Creation of tensors from nothing: what factories share, and constant fills.

pub mod frequencies;
pub mod like;
pub mod products;
pub mod range;
pub mod signal;
pub mod spaced;
pub mod triangle;
pub mod window;

use std::sync::atomic::{AtomicBool, Ordering};

use retrograd_macros::op;

use super::pointwise::check_number;
use super::{Entry, TensorOptions};
use crate::compile::record;
use crate::counted::Counted;
use crate::error::{Error, Result};
use crate::kernels::parallel::{SharedPtr, split};
use crate::match_dtype;
use crate::storage::Storage;
use crate::storage::reclaim::reading;
use crate::tensor::layout::{Dims, Strides};
use crate::tensor::{Category, DType, FromScalar, MemoryFormat, Scalar, Tensor, default_dtype};

pub(crate) use like::blank;
pub(crate) use range::{eye, linspace};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &EMPTY,
    &EMPTY_STRIDED,
    &EMPTY_PERMUTED,
    &ZEROS,
    &ONES,
    &FULL,
    &SCALAR_TENSOR,
    &range::ARANGE_TO,
    &range::ARANGE_FROM,
    &range::RANGE,
    &range::LINSPACE,
    &range::LINSPACE_TENSORS,
    &range::EYE,
    &like::EMPTY_LIKE,
    &like::ZEROS_LIKE,
    &like::ONES_LIKE,
    &like::FULL_LIKE,
    &like::NEW_EMPTY,
    &like::NEW_EMPTY_STRIDED,
    &like::NEW_ZEROS,
    &like::NEW_ONES,
    &like::NEW_FULL,
    &triangle::TRIL,
    &triangle::TRIU,
    &frequencies::FFTFREQ,
    &frequencies::RFFTFREQ,
    &spaced::LOGSPACE,
    &spaced::LOGSPACE_TENSORS,
    &spaced::TRIL_INDICES,
    &spaced::TRIU_INDICES,
    &signal::BARTLETT,
    &signal::BLACKMAN,
    &signal::COSINE,
    &signal::EXPONENTIAL,
    &signal::GAUSSIAN,
    &signal::GENERAL_COSINE,
    &signal::GENERAL_HAMMING,
    &signal::HAMMING,
    &signal::HANN,
    &signal::KAISER,
    &signal::NUTTALL,
    &window::HANN_WINDOW,
    &window::HAMMING_WINDOW,
    &window::BLACKMAN_WINDOW,
    &window::BARTLETT_WINDOW,
    &window::KAISER_WINDOW,
    &products::COMBINATIONS,
];

/// Sizes given by a caller; they must not be negative.
pub fn sizes(op: &'static str, size: &[i64]) -> Result<Dims> {
    size.iter()
        .map(|&n| {
            usize::try_from(n).map_err(|_| {
                Error::shape(
                    op,
                    format!("Trying to create tensor with negative dimension {n}: {size:?}. Dimension size must be non-negative."),
                )
            })
        })
        .collect()
}

/// Zeros with the given dense strides.
pub(crate) fn zeros_strided(sizes: &[usize], strides: &[isize], dtype: DType) -> Result<Tensor> {
    let t = Tensor::empty_strided(sizes, strides, dtype)?;
    clear(&t);
    Ok(t)
}

/// Bytes that one thread clears at a time: whole pages.
const CLEARED: usize = 1 << 16;
/// What a byte takes in nanoseconds.
const BYTE_COST: f64 = 0.03;

/// Sets all bytes of a fresh tensor to zero.
fn clear(t: &Tensor) {
    let (p, bytes) = (SharedPtr(t.storage().ptr()), t.storage().bytes());
    split(bytes, CLEARED, bytes as f64 * BYTE_COST, &|some| {
        // SAFETY: S1: the storage has `bytes` writable bytes and nobody else has it yet. All-zero bytes are 0 in every
        // dtype.
        unsafe { std::ptr::write_bytes(p.get().add(some.start), 0, some.len()) };
    });
    if record::is_recording() {
        record::filled(t);
    }
}

/// Sets all elements of a fresh dense tensor.
fn set_all(t: &Tensor, value: Scalar) {
    match_dtype!(any, t.dtype(), T => {
        // SAFETY: S1 to S3: a dense tensor's elements are `numel` places from its first; nobody else has the storage
        // yet.
        unsafe {
            let (first, n) = (t.ptr::<T>().cast::<std::mem::MaybeUninit<T>>(), t.numel());
            std::slice::from_raw_parts_mut(first, n).fill(std::mem::MaybeUninit::new(T::from_scalar(value)));
        }
    });
}

static FILL: AtomicBool = AtomicBool::new(false);

/// Whether memory that nobody initialised is filled where a program can see it: with NaN, or the largest integer.
pub fn fill_uninitialised(on: bool) {
    FILL.store(on, Ordering::Relaxed);
}

/// A fresh tensor as ops give it out that do not initialise it.
pub fn uninitialised(t: Tensor) -> Result<Tensor> {
    fill_from(&t.storage(), t.dtype(), 0)?;
    Ok(t)
}

/// Fills the bytes of a storage from one on, which no tensor has reached so far, if the setting asks for it.
pub(crate) fn fill_from(storage: &Counted<Storage>, dtype: DType, from: usize) -> Result<()> {
    let (first, end) = (from.div_ceil(dtype.size()), storage.bytes() / dtype.size());
    if !FILL.load(Ordering::Relaxed) || first >= end {
        return Ok(());
    }
    let value = match dtype {
        DType::Bool => Scalar::Bool(true),
        DType::UInt8 => Scalar::Int(i64::from(u8::MAX)),
        DType::Int8 => Scalar::Int(i64::from(i8::MAX)),
        DType::Int16 => Scalar::Int(i64::from(i16::MAX)),
        DType::Int32 => Scalar::Int(i64::from(i32::MAX)),
        DType::Int64 => Scalar::Int(i64::MAX),
        _ => Scalar::Float(f64::NAN),
    };
    let _reading = reading();
    set_all(&Tensor::from_parts(storage.clone(), dtype, &[end - first], &[1], first)?, value);
    Ok(())
}

impl Tensor {
    /// Zeros.
    ///
    /// ```
    /// use retrograd_engine::{DType, Tensor};
    /// assert_eq!(Tensor::zeros(&[2], DType::Float32).unwrap().to_vec::<f32>().unwrap(), [0.0, 0.0]);
    /// ```
    pub fn zeros(sizes: &[usize], dtype: DType) -> Result<Tensor> {
        let t = Tensor::empty(sizes, dtype)?;
        clear(&t);
        Ok(t)
    }

    /// Ones.
    pub fn ones(sizes: &[usize], dtype: DType) -> Result<Tensor> {
        Tensor::full(sizes, Scalar::Int(1), dtype)
    }

    /// `0, 1, ..., n - 1` in int64; empty if `n` is not positive.
    pub fn arange(n: i64) -> Result<Tensor> {
        Tensor::build::<i64>(&[n.max(0) as usize], |out| {
            for (i, x) in out.iter_mut().enumerate() {
                *x = i as i64;
            }
        })
    }
}

/// A tensor whose elements are not initialised.
///
/// Args: `size` integers or one sequence of them; `dtype` (the default float dtype); `requires_grad` makes it a leaf
/// that collects a gradient. Returns: a contiguous tensor.
/// Raises: RuntimeError for a negative size, more elements than memory can address, or a dtype without gradient if
/// `requires_grad`; MemoryError if there is not enough memory.
///
/// >>> rg.empty(2, 3).shape
/// retrograd.Size([2, 3])
#[op(function, out, "(*, memory_format=None)")]
pub fn empty(
    #[size] size: &[i64],
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    let dtype = options.float_dtype("empty")?;
    let size = sizes("empty", size)?;
    let t = uninitialised(match memory_format {
        None | Some(MemoryFormat::Contiguous) => Tensor::empty(&size, dtype)?,
        Some(MemoryFormat::Preserve) => {
            return Err(Error::shape("empty", "unsupported memory format Preserve: there is nothing to take it from"));
        }
        Some(format) => Tensor::empty_strided(&size, &format.strides("empty", &size, &[])?, dtype)?,
    })?;
    options.leaf(t)
}

/// A tensor with the given strides, not initialised.
///
/// Args: `size`, `stride` sequences of integers, none of them negative; `dtype` (float32 unless another is the
/// default).
/// Returns: a tensor over memory just large enough. Raises: RuntimeError for negative numbers, and for lengths that
/// differ.
///
/// >>> rg.empty_strided((2, 3), (1, 2)).stride()
/// (1, 2)
#[op(function)]
pub fn empty_strided(size: &[i64], stride: &[i64], #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.float_dtype("empty_strided")?;
    options.leaf(uninitialised(blank_strided("empty_strided", size, stride, dtype)?)?)
}

/// A tensor whose dimensions are in another order in memory, not initialised.
///
/// Args: `size` a sequence of integers; `physical_layout` the dimensions from the outermost in memory to the innermost,
/// each once; `dtype` (the default float dtype). Returns: a tensor without gaps. Raises: RuntimeError for negative
/// sizes, and for dimensions that are missing, named twice or out of range.
///
/// >>> rg.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
/// (3, 1, 6)
#[op(function)]
pub fn empty_permuted(size: &[i64], physical_layout: &[i64], #[options] options: TensorOptions) -> Result<Tensor> {
    const OP: &str = "empty_permuted";
    let dtype = options.float_dtype(OP)?;
    let refused = |detail: String| Err(Error::shape(OP, detail));
    if size.len() != physical_layout.len() {
        return refused(format!(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = {} is not equal to \
             len(physical_layout) = {}",
            size.len(),
            physical_layout.len()
        ));
    }
    let mut order = Dims::new();
    for (i, &dim) in physical_layout.iter().enumerate() {
        let Some(axis) = usize::try_from(dim).ok().filter(|&axis| axis < size.len()) else {
            return refused(format!(
                "Dimension out of range (expected to be between 0 and {}, but got {dim} at index {i}). NB: negative dims not \
                 currently supported; file an issue if you want it.",
                size.len() - 1
            ));
        };
        if order.contains(&axis) {
            return refused(format!("Duplicate dim not allowed: {physical_layout:?}"));
        }
        order.push(axis);
    }
    let sizes = sizes(OP, size)?;
    let mut strides = Strides::from_elem(1, sizes.len());
    let mut step = 1isize;
    for &axis in order.iter().rev() {
        strides[axis] = step;
        step = step.saturating_mul(sizes[axis].max(1) as isize);
    }
    options.leaf(uninitialised(Tensor::empty_strided(&sizes, &strides, dtype)?)?)
}

/// A tensor with strides that a caller gave, not initialised.
pub(crate) fn blank_strided(op: &'static str, size: &[i64], stride: &[i64], dtype: DType) -> Result<Tensor> {
    let size = sizes(op, size)?;
    if size.len() != stride.len() {
        return Err(Error::shape(
            op,
            format!("dimensionality of sizes ({}) must match dimensionality of strides ({})", size.len(), stride.len()),
        ));
    }
    if stride.iter().any(|&s| s < 0) {
        return Err(Error::shape(
            op,
            format!(
                "Storage size calculation overflowed with sizes={size:?} and strides={stride:?}: strides must not be negative"
            ),
        ));
    }
    let strides: Strides = stride.iter().map(|&s| s as isize).collect();
    Tensor::empty_strided(&size, &strides, dtype)
}

/// A tensor of zeros.
///
/// Args, Returns, Raises: as `empty`.
///
/// >>> rg.zeros(2).tolist()
/// [0.0, 0.0]
#[op(function, out)]
pub fn zeros(#[size] size: &[i64], #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.float_dtype("zeros")?;
    options.leaf(Tensor::zeros(&sizes("zeros", size)?, dtype)?)
}

/// A tensor of ones.
///
/// Args, Returns, Raises: as `empty`.
///
/// >>> rg.ones(2, dtype=rg.int64).tolist()
/// [1, 1]
#[op(function, out)]
pub fn ones(#[size] size: &[i64], #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.float_dtype("ones")?;
    options.leaf(Tensor::ones(&sizes("ones", size)?, dtype)?)
}

/// A tensor with every element equal to one number.
///
/// Args: `size` a sequence of integers; `fill_value` a number; `dtype` (that of the number: bool, int64, the default
/// float or complex dtype); the rest as `empty`.
/// Raises: as `empty`, and RuntimeError if the dtype cannot hold the number.
///
/// >>> rg.full((2,), 7).tolist()
/// [7, 7]
#[op(function, out)]
pub fn full(size: &[i64], fill_value: Scalar, #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or("full", fill_value.dtype())?;
    check_number("full", fill_value, dtype)?;
    options.leaf(Tensor::full(&sizes("full", size)?, fill_value, dtype)?)
}

/// A 0-dim tensor of a number.
///
/// Args: `s` a number; `dtype` (the default float dtype, or its complex counterpart for a complex number); the rest as
/// `empty`. Raises: as `full`.
///
/// >>> rg.scalar_tensor(3).item()
/// 3.0
#[op(function)]
pub fn scalar_tensor(s: Scalar, #[options] options: TensorOptions) -> Result<Tensor> {
    let usual = if s.category() == Category::Complex { s.dtype() } else { default_dtype() };
    let dtype = options.dtype_or("scalar_tensor", usual)?;
    check_number("scalar_tensor", s, dtype)?;
    options.leaf(Tensor::full(&[], s, dtype)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_values_are_checked() {
        let usual = TensorOptions::default();
        let make = |size: &[i64]| zeros(size, usual);
        assert_eq!(make(&[2, 0]).unwrap().sizes(), &[2, 0]);
        let text = make(&[2, -1]).unwrap_err().to_string();
        assert!(text.contains("Trying to create tensor with negative dimension -1: [2, -1]"), "{text}");
        assert!(make(&[1 << 40, 1 << 40]).is_err() && make(&[1 << 46]).is_err());
        assert!(full(&[2], Scalar::Int(300), DType::UInt8.into()).is_err());
        assert!(full(&[2], Scalar::Float(f64::NAN), DType::Int32.into()).is_err());
        assert!(ones(&[2], usual.dtype(DType::Int64).requires_grad(true)).is_err());
        let w = ones(&[2], usual.requires_grad(true)).unwrap();
        assert!(w.requires_grad() && w.is_leaf());
        assert_eq!(full(&[2], Scalar::Bool(true), usual).unwrap().dtype(), DType::Bool);
    }

    #[test]
    fn helpers() {
        assert_eq!(Tensor::arange(3).unwrap().to_vec::<i64>().unwrap(), [0, 1, 2]);
        assert_eq!(Tensor::arange(-3).unwrap().numel(), 0);
        assert_eq!(Tensor::ones(&[2], DType::Int8).unwrap().to_vec::<i8>().unwrap(), [1, 1]);
        assert_eq!(Tensor::zeros(&[0], DType::Complex64).unwrap().numel(), 0);
    }
}
