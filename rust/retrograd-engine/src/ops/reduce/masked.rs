//! Reductions and normalizations of the elements that a mask names: the module `masked`.
//!
//! Elements outside the mask are replaced by the identity of the reduction (0 for a sum), so that they do not count and
//! get no gradient; then the plain op runs. Means and variances divide by the number of elements in the mask.

use retrograd_macros::op;

use super::extreme::{amax, amin, argmax, argmin};
use super::norm::vector;
use super::prod::prod_dim;
use super::softmax::{log_softmax, logsumexp, softmax, softmin};
use super::sum::sum_over;
use crate::error::{Error, Result};
use crate::ops::memory::cast;
use crate::ops::pointwise::binary::logaddexp;
use crate::ops::pointwise::complex::conj_physical;
use crate::ops::pointwise::select::{maximum, where_};
use crate::ops::sort::nanmedian_dim;
use crate::ops::view::{broadcast_to, reshape_to};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Scalar, Tensor};

/// The axes to reduce, in rising order: all where none is named.
fn axes(op: &'static str, dim: Option<&[i64]>, ndim: usize) -> Result<Vec<i64>> {
    let Some(dims) = dim.filter(|dims| !dims.is_empty()) else { return Ok((0..ndim as i64).collect()) };
    let mut axes: Vec<i64> = Vec::with_capacity(dims.len());
    for &dim in dims {
        let axis = wrap_dim(op, dim, ndim)? as i64;
        if axes.contains(&axis) {
            return Err(Error::shape(op, format!("dim={dim} appears multiple times in the list of dims {dims:?}")));
        }
        axes.push(axis);
    }
    axes.sort_unstable();
    Ok(axes)
}

/// The mask in bool and in the sizes of the input.
fn canonical(op: &'static str, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    if mask.ndim() > x.ndim() {
        return Err(Error::index(
            op,
            format!(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input): mask of shape {:?}, \
                 input of shape {:?}",
                mask.sizes(),
                x.sizes()
            ),
        ));
    }
    let mask = cast(&mask.detach(), DType::Bool)?;
    let sizes: Vec<i64> = x.sizes().iter().map(|&n| n as i64).collect();
    if mask.sizes() == x.sizes() { Ok(mask) } else { broadcast_to(&mask, &sizes) }
}

/// What does not change a reduction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Identity {
    Zero,
    One,
    Lowest,
    Highest,
    NaN,
}

impl Identity {
    fn of(self, op: &'static str, dtype: DType) -> Result<Scalar> {
        let bound = |infinity: f64, whole: fn((i64, i64)) -> i64| match dtype {
            d if d.is_floating() => Ok(Scalar::Float(infinity)),
            d if d.is_complex() || d == DType::Bool => {
                Err(Error::not_implemented(format!("identity of {op} on {} input: it has no order", d.name())))
            }
            d => Ok(Scalar::Int(whole(match d {
                DType::UInt8 => (0, i64::from(u8::MAX)),
                DType::Int8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
                DType::Int16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
                DType::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
                _ => (i64::MIN, i64::MAX),
            }))),
        };
        match self {
            Self::Zero => Ok(Scalar::Int(0)),
            Self::One => Ok(Scalar::Int(1)),
            Self::Lowest => bound(f64::NEG_INFINITY, |ends| ends.0),
            Self::Highest => bound(f64::INFINITY, |ends| ends.1),
            Self::NaN => Ok(Scalar::Float(f64::NAN)),
        }
    }
}

/// The input with the identity outside the mask.
fn filled(op: &'static str, x: &Tensor, mask: Option<&Tensor>, identity: Identity) -> Result<Tensor> {
    let Some(mask) = mask else { return Ok(x.clone()) };
    let mask = canonical(op, x, mask)?;
    where_(&mask, x, &Tensor::full(&[], identity.of(op, x.dtype())?, x.dtype())?)
}

/// The dtype of a sum or product: int64 for integers, unless one is asked for.
fn accumulated(x: &Tensor, dtype: Option<DType>) -> DType {
    dtype.unwrap_or(if x.dtype().is_integral() { DType::Int64 } else { x.dtype() })
}

fn summed(
    op: &'static str,
    x: &Tensor,
    axes: &[i64],
    keepdim: bool,
    dtype: DType,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    sum_over(&filled(op, x, mask, Identity::Zero)?, Some(axes), keepdim, Some(dtype))
}

/// How many elements count, along the axes: a number without a mask.
fn counted(op: &'static str, x: &Tensor, axes: &[i64], keepdim: bool, mask: Option<&Tensor>) -> Result<Tensor> {
    match mask {
        Some(mask) => sum_over(&canonical(op, x, mask)?, Some(axes), keepdim, None),
        None => {
            let sizes = axes.iter().map(|&axis| x.sizes().get(axis as usize).map_or(1, |&n| n as i64));
            Tensor::full(&[], Scalar::Int(sizes.product()), DType::Int64)
        }
    }
}

/// The sum of the elements in the mask, over dimensions.
///
/// Args: `input` any dtype; `dim` an integer or a list, None for all; `keepdim` keeps them with size 1; `dtype`
/// converts first (int64 for integers and bool); `mask` says which elements count, None for all: a bool tensor that
/// broadcasts to `input` and has no more dims. Returns: a tensor without (or with size 1 in) the dimensions; 0 where
/// nothing counts.
/// Derivative: `g` inside the mask, 0 outside. Raises: IndexError for a dimension out of range or a mask with more
/// dims; RuntimeError for a mask that does not broadcast, or a dimension named twice.
///
/// >>> rg.masked.sum(rg.tensor([1.0, 2.0, 4.0]), mask=rg.tensor([True, False, True])).item()
/// 5.0
#[op(function, module = "masked", name = "sum", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_sum(
    input: &Tensor,
    dim: Option<&[i64]>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let axes = axes("sum", dim, input.ndim())?;
    summed("sum", input, &axes, keepdim == Some(true), accumulated(input, dtype), mask)
}

/// The product of the elements in the mask, over dimensions.
///
/// Args, Raises: as `masked.sum`. Returns: 1 where nothing counts. Derivative: inside the mask `g` times the product of
/// the others, 0 outside.
///
/// >>> rg.masked.prod(rg.tensor([1.0, 2.0, 4.0]), mask=rg.tensor([True, False, True])).item()
/// 4.0
#[op(function, module = "masked", name = "prod", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_prod(
    input: &Tensor,
    dim: Option<&[i64]>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let axes = axes("prod", dim, input.ndim())?;
    let mut x = cast(&filled("prod", input, mask, Identity::One)?, accumulated(input, dtype))?;
    for &axis in axes.iter().rev() {
        x = prod_dim(&x, axis, keepdim == Some(true), None)?;
    }
    Ok(x)
}

/// The sums up to each element of those in the mask, along a dimension.
///
/// Args: `input`, `mask` as `masked.sum`; `dim` the dimension; `dtype` converts first. Returns: the same shape and,
/// unless `dtype` is given, the same dtype; outside the mask the sum so far. Derivative: the sum of `g` from each
/// element on, inside the mask. Raises: as `masked.sum`; NotImplementedError for bool.
///
/// >>> rg.masked.cumsum(rg.tensor([1.0, 2.0, 4.0]), 0, mask=rg.tensor([True, False, True])).tolist()
/// [1.0, 1.0, 5.0]
#[op(function, module = "masked", name = "cumsum", "(*, dtype=None, mask=None)")]
pub fn masked_cumsum(input: &Tensor, dim: i64, dtype: Option<DType>, mask: Option<&Tensor>) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(input.dtype());
    if dtype == DType::Bool {
        return Err(Error::no_kernel("cumsum_out_cpu", dtype));
    }
    filled("cumsum", input, mask, Identity::Zero)?.cumsum(dim, Some(dtype))
}

/// The products up to each element of those in the mask, along a dimension.
///
/// Args, Raises: as `masked.cumsum`. Returns: the same shape; outside the mask the product so far. Derivative: that of
/// `cumprod`, inside the mask.
///
/// >>> rg.masked.cumprod(rg.tensor([3.0, 2.0, 4.0]), 0, mask=rg.tensor([True, False, True])).tolist()
/// [3.0, 3.0, 12.0]
#[op(function, module = "masked", name = "cumprod", "(*, dtype=None, mask=None)")]
pub fn masked_cumprod(input: &Tensor, dim: i64, dtype: Option<DType>, mask: Option<&Tensor>) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(input.dtype());
    if dtype == DType::Bool {
        return Err(Error::no_kernel("cumprod_out_cpu", dtype));
    }
    filled("cumprod", input, mask, Identity::One)?.cumprod(dim, Some(dtype))
}

/// The largest of the elements in the mask, over dimensions.
///
/// Args: as `masked.sum`; `dtype` converts the result. Returns: minus infinity, of integers the smallest, where nothing
/// counts. Derivative: `g`, split evenly among equal elements. Raises: as `masked.sum`; NotImplementedError for a mask
/// on bool or complex numbers.
///
/// >>> rg.masked.amax(rg.tensor([1.0, 9.0, 4.0]), mask=rg.tensor([True, False, True])).item()
/// 4.0
#[op(function, module = "masked", name = "amax", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_amax(
    input: &Tensor,
    dim: Option<&[i64]>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let x = filled("amax", input, mask, Identity::Lowest)?;
    let axes = axes("amax", dim, input.ndim())?;
    cast(&amax(&x, Some(&axes), keepdim == Some(true))?, dtype.unwrap_or(input.dtype()))
}

/// The smallest of the elements in the mask, over dimensions.
///
/// Args, Derivative, Raises: as `masked.amax`. Returns: infinity, of integers the largest, where nothing counts.
///
/// >>> rg.masked.amin(rg.tensor([2.0, 0.0, 4.0]), mask=rg.tensor([True, False, True])).item()
/// 2.0
#[op(function, module = "masked", name = "amin", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_amin(
    input: &Tensor,
    dim: Option<&[i64]>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let x = filled("amin", input, mask, Identity::Highest)?;
    let axes = axes("amin", dim, input.ndim())?;
    cast(&amin(&x, Some(&axes), keepdim == Some(true))?, dtype.unwrap_or(input.dtype()))
}

/// The first index of the largest element in the mask: of all (as if flattened) or along a dimension.
///
/// Args: `input` any real dtype but bool; `dim` the dimension, None for all; `keepdim` keeps reduced dimensions with
/// size 1; `dtype` of the result, by default that of `input`, as in torch; `mask` as `masked.sum`. No derivative.
/// Raises: as `argmax` and `masked.sum`.
///
/// >>> rg.masked.argmax(rg.tensor([1, 9, 4]), mask=rg.tensor([True, False, True])).item()
/// 2
#[op(function, module = "masked", name = "argmax", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_argmax(
    input: &Tensor,
    dim: Option<i64>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let x = filled("argmax", input, mask, Identity::Lowest)?;
    cast(&argmax(&x, dim, keepdim == Some(true))?, dtype.unwrap_or(input.dtype()))
}

/// The first index of the smallest element in the mask: of all (as if flattened) or along a dimension.
///
/// Args, Raises: as `masked.argmax`. No derivative.
///
/// >>> rg.masked.argmin(rg.tensor([5, 0, 4]), mask=rg.tensor([True, False, True])).item()
/// 2
#[op(function, module = "masked", name = "argmin", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_argmin(
    input: &Tensor,
    dim: Option<i64>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let x = filled("argmin", input, mask, Identity::Highest)?;
    cast(&argmin(&x, dim, keepdim == Some(true))?, dtype.unwrap_or(input.dtype()))
}

/// The mean of the elements in the mask, over dimensions.
///
/// Args: as `masked.sum`, of a floating or complex dtype. Returns: NaN where nothing counts. Derivative: inside the
/// mask `g` over the number of elements that count. Raises: as `masked.sum`; ValueError for integers.
///
/// >>> rg.masked.mean(rg.tensor([1.0, 9.0, 4.0]), mask=rg.tensor([True, False, True])).item()
/// 2.5
#[op(function, module = "masked", name = "mean", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_mean(
    input: &Tensor,
    dim: Option<&[i64]>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let source = if dtype.is_some() { "Optional" } else { "Input" };
    let dtype = dtype.unwrap_or(input.dtype());
    if dtype.is_integral() {
        return Err(Error::value(
            "mean",
            format!(
                "mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. Got: {}",
                dtype.name()
            ),
        ));
    }
    let (axes, keepdim) = (axes("mean", dim, input.ndim())?, keepdim == Some(true));
    summed("mean", input, &axes, keepdim, dtype, mask)?.div(&counted("mean", input, &axes, keepdim, mask)?)
}

/// The median of the elements in the mask, along a dimension: the one in the middle of their order, the lower of two.
///
/// Args: `input` any real dtype; `dim` the dimension; `keepdim`, `mask` as `masked.sum`; `dtype` of the result of
/// integers. NaN counts no more than what is outside the mask. Returns: NaN where nothing counts. Derivative: `g` for
/// the element that was chosen. Raises: as `masked.sum`; ValueError for integers where nothing counts.
///
/// >>> rg.masked.median(rg.tensor([1.0, 9.0, 4.0]), mask=rg.tensor([True, False, True])).item()
/// 1.0
#[op(function, module = "masked", name = "median", "(dim=-1, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_median(
    input: &Tensor,
    dim: i64,
    keepdim: bool,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let floating = input.dtype().is_floating();
    if input.dtype().is_complex() {
        return Err(Error::no_kernel("nanmedian", input.dtype()));
    }
    let x = if floating { input.clone() } else { cast(input, DType::Float32)? };
    let middle = nanmedian_dim(&filled("median", &x, mask, Identity::NaN)?, dim, keepdim)?.0;
    if floating {
        return Ok(middle);
    }
    if middle.detach().ne(&middle.detach())?.any()?.is_nonzero()? {
        return Err(Error::value(
            "median",
            "masked median expects no fully masked out rows if dtype is not floating point",
        ));
    }
    cast(&middle, dtype.unwrap_or(input.dtype()))
}

/// The norm of the elements in the mask, over dimensions.
///
/// Args: `input` a floating or complex dtype; `ord` the order of `linalg.vector_norm`; the rest as `masked.sum`.
/// Returns: 0, for the order minus infinity infinity, where nothing counts. Derivative: that of the norm, inside the
/// mask. Raises: as `masked.sum`; RuntimeError for integers.
///
/// >>> rg.masked.norm(rg.tensor([3.0, 9.0, 4.0]), mask=rg.tensor([True, False, True])).item()
/// 5.0
#[op(function, module = "masked", name = "norm", "(ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_norm(
    input: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let identity = if ord.as_f64() == f64::NEG_INFINITY { Identity::Highest } else { Identity::Zero };
    let x = filled("norm", input, mask, identity)?;
    let axes = axes("norm", dim, input.ndim())?;
    vector("linalg.vector_norm", &x, ord, Some(&axes), keepdim == Some(true), Some(dtype.unwrap_or(input.dtype())))
}

/// The variance of the elements in the mask.
#[allow(clippy::too_many_arguments)]
fn variance(
    op: &'static str,
    x: &Tensor,
    dim: Option<&[i64]>,
    unbiased: Option<bool>,
    correction: Option<Scalar>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    if unbiased.is_some() && correction.is_some() {
        return Err(Error::assertion(op, "Only one of unbiased and correction may be given"));
    }
    let correction = match (correction, unbiased) {
        (Some(c), _) => c.as_f64(),
        (None, Some(false)) => 0.0,
        (None, _) => 1.0,
    };
    let dtype = dtype.unwrap_or(if x.dtype().is_integral() { DType::Float32 } else { x.dtype() });
    let wide = if dtype.is_integral() { DType::Float32 } else { dtype };
    let (axes, keepdim) = (axes(op, dim, x.ndim())?, keepdim == Some(true));
    let mut count = counted(op, x, &axes, true, mask)?;
    let mean = summed(op, x, &axes, true, dtype, mask)?.div(&count)?;
    let centred = x.sub(&mean)?;
    let conjugate = if centred.dtype().is_complex() { conj_physical(&centred)? } else { centred.clone() };
    let total = summed(op, &centred.mul(&conjugate)?, &axes, keepdim, wide, mask)?;
    if mask.is_some() && !keepdim {
        count = reshape_to(&count, total.sizes())?;
    }
    if correction != 0.0 {
        let real = if wide.is_complex() { wide.real() } else { wide };
        let left = cast(&count, real)?.plus(-correction)?;
        count = maximum(&left, &Tensor::full(&[], Scalar::Int(0), real)?)?;
    }
    cast(&total.div(&count)?, dtype)
}

/// The variance of the elements in the mask, over dimensions.
///
/// Args: `input` any dtype but bool; `unbiased` false divides by the number of elements that count, else by one less;
/// `correction` instead of it what is taken off that number; the rest as `masked.sum`. Returns: NaN where nothing
/// counts; of complex numbers the mean of `abs(input - mean) ** 2`, as a complex number. Derivative: that of the sums
/// that it is composed of. Raises: as `masked.sum`; RuntimeError for bool; AssertionError for both of `unbiased` and
/// `correction`.
///
/// >>> rg.masked.var(rg.tensor([1.0, 9.0, 4.0]), unbiased=False, mask=rg.tensor([True, False, True])).item()
/// 2.25
#[op(
    function,
    module = "masked",
    name = "var",
    "(dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None)"
)]
pub fn masked_var(
    input: &Tensor,
    dim: Option<&[i64]>,
    unbiased: Option<bool>,
    correction: Option<Scalar>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    variance("var", input, dim, unbiased, correction, keepdim, dtype, mask)
}

/// The standard deviation of the elements in the mask, over dimensions: the root of `masked.var`.
///
/// Args, Raises: as `masked.var`. Returns: NaN where nothing counts. Derivative: `g / (2 * result)` through the
/// variance.
///
/// >>> rg.masked.std(rg.tensor([1.0, 9.0, 4.0]), unbiased=False, mask=rg.tensor([True, False, True])).item()
/// 1.5
#[op(
    function,
    module = "masked",
    name = "std",
    "(dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None)"
)]
pub fn masked_std(
    input: &Tensor,
    dim: Option<&[i64]>,
    unbiased: Option<bool>,
    correction: Option<Scalar>,
    keepdim: Option<bool>,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    variance("std", input, dim, unbiased, correction, keepdim, dtype, mask)?.sqrt()
}

/// Exponentials of the elements in the mask along a dimension, scaled to sum to one.
///
/// Args: `input` a floating dtype; `dim` the dimension; `dtype` converts first; `mask` as `masked.sum`. Returns: the
/// same shape; 0 outside the mask, NaN where nothing counts. Derivative: `result * (g - sum(g * result))`. Raises: as
/// `softmax` and `masked.sum`.
///
/// >>> rg.masked.softmax(rg.tensor([1.0, 9.0, 1.0]), 0, mask=rg.tensor([True, False, True])).tolist()
/// [0.5, 0.0, 0.5]
#[op(function, module = "masked", name = "softmax", "(*, dtype=None, mask=None)")]
pub fn masked_softmax(input: &Tensor, dim: i64, dtype: Option<DType>, mask: Option<&Tensor>) -> Result<Tensor> {
    softmax(&filled("amax", input, mask, Identity::Lowest)?, dim, dtype)
}

/// The logarithm of `masked.softmax`, computed without it.
///
/// Args, Raises: as `masked.softmax`. Returns: minus infinity outside the mask, NaN where nothing counts. Derivative:
/// `g - exp(result) * sum(g)`.
///
/// >>> rg.masked.log_softmax(rg.tensor([0.0, 9.0]), 0, mask=rg.tensor([True, False])).tolist()
/// [0.0, -inf]
#[op(function, module = "masked", name = "log_softmax", "(*, dtype=None, mask=None)")]
pub fn masked_log_softmax(input: &Tensor, dim: i64, dtype: Option<DType>, mask: Option<&Tensor>) -> Result<Tensor> {
    log_softmax(&filled("amax", input, mask, Identity::Lowest)?, dim, dtype)
}

/// The softmax of the negated elements in the mask.
///
/// Args, Returns, Raises: as `masked.softmax`. Derivative: that of `softmax`, negated.
///
/// >>> rg.masked.softmin(rg.tensor([1.0, -9.0, 1.0]), 0, mask=rg.tensor([True, False, True])).tolist()
/// [0.5, 0.0, 0.5]
#[op(function, module = "masked", name = "softmin", "(*, dtype=None, mask=None)")]
pub fn masked_softmin(input: &Tensor, dim: i64, dtype: Option<DType>, mask: Option<&Tensor>) -> Result<Tensor> {
    softmin(&filled("amin", input, mask, Identity::Highest)?, Some(dim), 3, dtype)
}

/// The elements in the mask over their norm, along a dimension.
///
/// Args: `input` a floating or complex dtype; `ord` the order of `linalg.vector_norm`; `dim` the dimension; `eps` the
/// least that is divided by; `dtype` the norm is computed in; `mask` as `masked.sum`. Returns: the same shape; 0
/// outside the mask. Derivative: that of the quotient. Raises: as `masked.norm`.
///
/// >>> rg.masked.normalize(rg.tensor([4.0, 9.0, -4.0]), 1, 0, mask=rg.tensor([True, False, True])).tolist()
/// [0.5, 0.0, -0.5]
#[op(function, module = "masked", name = "normalize", "(*, eps=1e-12, dtype=None, mask=None)")]
pub fn masked_normalize(
    input: &Tensor,
    ord: Scalar,
    dim: i64,
    eps: f64,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let x = filled("normalize", input, mask, Identity::Zero)?;
    let norm = masked_norm(input, ord, Some(&[dim]), Some(true), dtype, mask)?;
    let least = Tensor::full(&[], Scalar::Float(eps), norm.dtype())?;
    x.div(&maximum(&norm, &least)?)
}

/// The logarithm of the sum of exponentials of two tensors, of the elements in their masks.
///
/// Args: `input`, `other` floating dtypes whose shapes broadcast; `dtype` of the result, by default that of `input`;
/// `input_mask`, `other_mask` say which elements count, None for all. Returns: the broadcast shape; the other element
/// where one is outside its mask, minus infinity where both are. Derivative: `g * exp(input - result)`, and likewise
/// for `other`. Raises: as `logaddexp` and `masked.sum`.
///
/// >>> rg.masked.logaddexp(rg.tensor([0.0]), rg.tensor([3.0]), input_mask=rg.tensor([False])).tolist()
/// [3.0]
#[op(function, module = "masked", name = "logaddexp", "(*, dtype=None, input_mask=None, other_mask=None)")]
pub fn masked_logaddexp(
    input: &Tensor,
    other: &Tensor,
    dtype: Option<DType>,
    input_mask: Option<&Tensor>,
    other_mask: Option<&Tensor>,
) -> Result<Tensor> {
    let one = filled("logaddexp", input, input_mask, Identity::Lowest)?;
    let two = filled("logaddexp", other, other_mask, Identity::Lowest)?;
    cast(&logaddexp(&one, &two)?, dtype.unwrap_or(input.dtype()))
}

/// The logarithm of the sum of exponentials of the elements in the mask, over dimensions.
///
/// Args: `input` any dtype but bool; `dtype` of the result, by default that of `input`; the rest as `masked.sum`.
/// Returns: minus infinity where nothing counts. Derivative: `g * exp(input - result)`, 0 outside the mask. Raises: as
/// `masked.sum`.
///
/// >>> rg.masked.logsumexp(rg.tensor([2.0, 9.0]), mask=rg.tensor([True, False])).item()
/// 2.0
#[op(function, module = "masked", name = "logsumexp", "(dim=None, *, keepdim=False, dtype=None, mask=None)")]
pub fn masked_logsumexp(
    input: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let axes = axes("logsumexp", dim, input.ndim())?;
    // Of complex numbers minus infinity is real.
    let x = match mask {
        Some(mask) if input.dtype().is_complex() => {
            let nothing = Tensor::full(&[], Scalar::Complex(f64::NEG_INFINITY, 0.0), input.dtype())?;
            where_(&canonical("logsumexp", input, mask)?, input, &nothing)?
        }
        _ => filled("logsumexp", input, mask, Identity::Lowest)?,
    };
    cast(&logsumexp(&x, &axes, keepdim)?, dtype.unwrap_or(input.dtype()))
}
