//! Reductions and scans: what they share, and their definitions.
//!
//! `ReduceAxes` says which axes an op reduces; `run` takes a kernel over them. Results are contiguous.

pub mod aminmax;
pub mod covariance;
pub mod cumulative;
pub mod difference;
pub mod extreme;
pub mod gradient;
pub mod hash;
mod lines;
pub mod logic;
pub mod masked;
pub mod moments;
pub mod nan;
pub mod norm;
pub mod prod;
pub mod renorm;
pub mod scan;
pub mod softmax;
pub mod sum;

use smallvec::SmallVec;

use super::{Entry, Value, view};
use crate::error::{Error, Result};
use crate::kernels::reduce::{Reduce, reduce};
use crate::tensor::layout::{Dims, Strides, wrap_dim};
use crate::tensor::{Element, Tensor, copy};

pub(crate) use extreme::Ties;
pub use sum::sum_to_size;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &covariance::COV,
    &covariance::CORRCOEF,
    &sum::SUM,
    &sum::SUM_OVER,
    &sum::SUM_TO,
    &sum::MEAN,
    &sum::MEAN_OVER,
    &prod::PROD,
    &prod::PROD_DIM,
    &extreme::AMAX,
    &extreme::AMIN,
    &extreme::MAX,
    &extreme::MAX_DIM,
    &extreme::MAX_OF,
    &extreme::MIN,
    &extreme::MIN_DIM,
    &extreme::MIN_OF,
    &extreme::ARGMAX,
    &extreme::ARGMIN,
    &moments::VAR_UNBIASED,
    &moments::VAR_DIM,
    &moments::VAR,
    &moments::STD_UNBIASED,
    &moments::STD_DIM,
    &moments::STD,
    &moments::VAR_MEAN_UNBIASED,
    &moments::VAR_MEAN_DIM,
    &moments::VAR_MEAN,
    &moments::STD_MEAN_UNBIASED,
    &moments::STD_MEAN_DIM,
    &moments::STD_MEAN,
    &logic::ALL,
    &logic::ALL_DIMS,
    &logic::ANY,
    &logic::ANY_DIMS,
    &logic::COUNT_NONZERO,
    &softmax::LOGSUMEXP,
    &softmax::SOFTMAX,
    &softmax::LOG_SOFTMAX,
    &softmax::FUNCTIONAL_SOFTMAX,
    &softmax::FUNCTIONAL_LOG_SOFTMAX,
    &softmax::SOFTMIN,
    &scan::CUMSUM,
    &scan::CUMPROD,
    &norm::NORM,
    &norm::NORM_NAMED,
    &norm::VECTOR_NORM,
    &norm::MATRIX_NORM,
    &norm::MATRIX_NORM_NUMBER,
    &norm::LINALG_NORM_NAMED,
    &norm::LINALG_NORM,
    &norm::DIST,
    &nan::NANSUM,
    &nan::NANMEAN,
    &cumulative::CUMMAX,
    &cumulative::CUMMIN,
    &cumulative::LOGCUMSUMEXP,
    &aminmax::AMINMAX,
    &difference::DIFF,
    &difference::TRAPEZOID,
    &difference::TRAPEZOID_EVEN,
    &difference::CUMULATIVE_TRAPEZOID,
    &difference::CUMULATIVE_TRAPEZOID_EVEN,
    &gradient::GRADIENT,
    &gradient::GRADIENT_STEPS,
    &gradient::GRADIENT_PLACES,
    &norm::FROBENIUS_NORM,
    &norm::NORM_EXCEPT_DIM,
    &renorm::RENORM,
    &hash::HASH_TENSOR,
];

/// Entries of reductions under a mask.
pub static MASKED_ROSTER: &[&Entry] = &[
    &masked::MASKED_SUM,
    &masked::MASKED_PROD,
    &masked::MASKED_CUMSUM,
    &masked::MASKED_CUMPROD,
    &masked::MASKED_AMAX,
    &masked::MASKED_AMIN,
    &masked::MASKED_ARGMAX,
    &masked::MASKED_ARGMIN,
    &masked::MASKED_MEAN,
    &masked::MASKED_MEDIAN,
    &masked::MASKED_NORM,
    &masked::MASKED_VAR,
    &masked::MASKED_STD,
    &masked::MASKED_SOFTMAX,
    &masked::MASKED_LOG_SOFTMAX,
    &masked::MASKED_SOFTMIN,
    &masked::MASKED_NORMALIZE,
    &masked::MASKED_LOGADDEXP,
    &masked::MASKED_LOGSUMEXP,
];

/// The axes that an op reduces.
#[derive(Clone, Debug)]
pub(crate) struct ReduceAxes {
    /// As the caller said it; `None` if no dims were given.
    given: Option<SmallVec<[i64; 4]>>,
    /// In rising order; `None` for all.
    axes: Option<SmallVec<[usize; 4]>>,
    pub(crate) keepdim: bool,
}

impl ReduceAxes {
    /// All axes; the result has no dims.
    pub(crate) fn all() -> Self {
        Self { given: None, axes: None, keepdim: false }
    }

    /// No axis: elementwise.
    pub(crate) fn none() -> Self {
        Self { given: Some(SmallVec::new()), axes: Some(SmallVec::new()), keepdim: false }
    }

    /// As in torch, no dims or an empty list mean all.
    pub(crate) fn dims(op: &'static str, dims: Option<&[i64]>, ndim: usize, keepdim: bool) -> Result<Self> {
        let given = dims.map(SmallVec::from_slice);
        let axes = match dims {
            None | Some([]) => None,
            Some(dims) => Some(wrap_dims(op, dims, ndim)?),
        };
        Ok(Self { given, axes, keepdim })
    }

    /// One axis.
    pub(crate) fn dim(op: &'static str, dim: i64, ndim: usize, keepdim: bool) -> Result<Self> {
        Self::dims(op, Some(&[dim]), ndim, keepdim)
    }

    /// Whether dims were given, if only an empty list.
    pub(crate) fn is_given(&self) -> bool {
        self.given.is_some()
    }

    pub(crate) fn has(&self, axis: usize) -> bool {
        self.axes.as_ref().is_none_or(|axes| axes.contains(&axis))
    }

    /// The reduced axes of a tensor of `ndim` dims.
    pub(crate) fn axes(&self, ndim: usize) -> SmallVec<[usize; 4]> {
        (0..ndim).filter(|&axis| self.has(axis)).collect()
    }

    /// What `f` makes of `x`: of an operand that is repeated along axes that stay, of one repetition, as the results
    /// are repeated as well.
    #[inline]
    pub(crate) fn once_each(&self, x: &Tensor, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        let part = if self.is_all() || x.is_contiguous() { None } else { self.repetition(x)? };
        let y = f(part.as_ref().unwrap_or(x))?;
        match part {
            Some(_) => copy::copy(&view::expand_to(&y, &self.sizes(x.sizes()))?),
            None => Ok(y),
        }
    }

    /// One repetition of an operand that is repeated along axes that stay.
    fn repetition(&self, x: &Tensor) -> Result<Option<Tensor>> {
        let repeats = |axis: usize| x.strides()[axis] == 0 && x.sizes()[axis] > 1 && !self.has(axis);
        if !(0..x.ndim()).any(repeats) {
            return Ok(None);
        }
        let sizes: Dims = (0..x.ndim()).map(|axis| if repeats(axis) { 1 } else { x.sizes()[axis] }).collect();
        Tensor::from_parts(x.storage(), x.dtype(), &sizes, x.strides(), x.storage_offset()).map(Some)
    }

    /// Sizes of the result with a 1 in place of each reduced axis.
    pub(crate) fn kept(&self, sizes: &[usize]) -> Dims {
        sizes.iter().enumerate().map(|(axis, &n)| if self.has(axis) { 1 } else { n }).collect()
    }

    /// Sizes of the result.
    pub(crate) fn sizes(&self, sizes: &[usize]) -> Dims {
        if self.keepdim {
            return self.kept(sizes);
        }
        sizes.iter().enumerate().filter(|&(axis, _)| !self.has(axis)).map(|(_, &n)| n).collect()
    }

    /// Whether the reduced axes of a tensor of `ndim` dims are the last ones, if any.
    pub(crate) fn is_trailing(&self, ndim: usize) -> bool {
        let axes = self.axes(ndim);
        axes.first().is_none_or(|&first| first + axes.len() == ndim)
    }

    /// Number of elements that make one element of the result.
    pub(crate) fn count(&self, sizes: &[usize]) -> usize {
        sizes.iter().enumerate().filter(|&(axis, _)| self.has(axis)).fold(1, |n, (_, &size)| n.saturating_mul(size))
    }

    /// Sizes and strides of the axes of `x` that are kept, and of those that are reduced.
    pub(crate) fn split(&self, x: &Tensor) -> ((Dims, Strides), (Dims, Strides)) {
        let (mut kept, mut reduced) = ((Dims::new(), Strides::new()), (Dims::new(), Strides::new()));
        for (axis, (&size, &stride)) in x.sizes().iter().zip(x.strides()).enumerate() {
            let side = if self.has(axis) { &mut reduced } else { &mut kept };
            side.0.push(size);
            side.1.push(stride);
        }
        (kept, reduced)
    }

    /// The sizes as `(before, reduced, after)`, for reduced axes that are neighbours.
    pub(crate) fn block(&self, sizes: &[usize]) -> [usize; 3] {
        let axes = self.axes(sizes.len());
        // Saturating, since a tensor without elements may have any other sizes.
        let product = |sizes: &[usize]| sizes.iter().fold(1usize, |n, &size| n.saturating_mul(size));
        match (axes.first(), axes.last()) {
            (Some(&first), Some(&last)) => {
                [product(&sizes[..first]), product(&sizes[first..=last]), product(&sizes[last + 1..])]
            }
            _ => [product(sizes), 1, 1],
        }
    }

    /// The same axes behind a batch axis. `ndim` is that without the batch.
    pub(crate) fn lifted(&self, ndim: usize) -> Self {
        let axes: SmallVec<[usize; 4]> = self.axes(ndim).iter().map(|axis| axis + 1).collect();
        Self { given: Some(axes.iter().map(|&axis| axis as i64).collect()), axes: Some(axes), keepdim: self.keepdim }
    }

    /// A tensor of the result's shape, seen in the shape of the operand.
    pub(crate) fn expand(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        super::view::expand_to(&self.aligned(g, sizes)?, sizes)
    }

    /// A tensor of the result's shape with its reduced axes back as 1 (leading ones may be left out), so that it
    /// broadcasts against the operand.
    pub(crate) fn aligned(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        let kept = self.kept(sizes);
        // `g` is `kept` without some of its ones; if those led, it broadcasts as it is.
        let lead = kept.len().saturating_sub(g.ndim());
        if kept[lead..] == *g.sizes() { Ok(g.clone()) } else { super::view::reshape_to(g, &kept) }
    }

    /// The same axes of a tensor with one more behind the `ndim` that it had, which is not reduced.
    pub(crate) fn without_last(&self, ndim: usize) -> Self {
        Self { axes: Some(self.axes(ndim)), ..self.clone() }
    }

    /// Whether no dims were named, so that all are reduced.
    pub(crate) fn is_all(&self) -> bool {
        self.axes.is_none()
    }

    /// The same axes, kept with size 1.
    pub(crate) fn keeping(&self) -> Self {
        Self { keepdim: true, ..self.clone() }
    }

    /// The one dim of an op that takes one, as `_saved_dim` shows it.
    pub(crate) fn saved_dim(&self) -> Value {
        self.given.as_ref().and_then(|given| given.first()).map_or(Value::None, |&dim| dim.into())
    }

    /// The dims as `_saved_dim` shows them.
    pub(crate) fn saved_dims(&self) -> Value {
        self.given.as_ref().map_or(Value::None, |given| Value::Ints(given.to_vec()))
    }
}

/// Dims counted from either end as axes in rising order, each named once.
pub(crate) fn wrap_dims(op: &'static str, dims: &[i64], ndim: usize) -> Result<SmallVec<[usize; 4]>> {
    let mut axes: SmallVec<[usize; 4]> = dims.iter().map(|&dim| wrap_dim(op, dim, ndim)).collect::<Result<_>>()?;
    axes.sort_unstable();
    if let Some(twice) = axes.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::shape(
            op,
            format!("dim {} appears multiple times in the list of dims {dims:?}: name each dim once", twice[0]),
        ));
    }
    Ok(axes)
}

/// Takes `r` over the axes of `x`, whose elements are `T`, into a fresh tensor.
pub(crate) fn run<T: Element, R: Reduce<T>>(r: &R, x: &Tensor, over: &ReduceAxes) -> Result<Tensor>
where
    R::O: Element,
{
    let out = Tensor::empty(&over.sizes(x.sizes()), <R::O as Element>::DTYPE)?;
    // SAFETY: (Into 1) the tensor is fresh, contiguous, and has the result's sizes and dtype.
    unsafe { run_into(r, x, over, out.ptr::<R::O>()) };
    Ok(out)
}

/// As [`run`], into memory.
///
/// # Safety
/// 1. `out` is writable for every element of the result and disjoint from `x`.
pub(crate) unsafe fn run_into<T: Element, R: Reduce<T>>(r: &R, x: &Tensor, over: &ReduceAxes, out: *mut R::O) {
    let from = x.ptr::<T>().cast_const();
    if over.is_all() && x.numel() > 0 {
        // SAFETY: (1) S1 and S3: all axes of `x`; (2, 3) duty 1.
        return unsafe { reduce(r, &[], &[], x.sizes(), x.strides(), from, out) };
    }
    with_axes(x, over, &mut |[kept, reduced], [kept_strides, reduced_strides]| {
        // SAFETY: (1) S1 and S3: `kept` and `reduced` are the axes of `x`; (2, 3) duty 1.
        unsafe { reduce(r, kept, kept_strides, reduced, reduced_strides, from, out) }
    });
}

/// Takes the sizes and the strides of the axes that are kept, and of those that are reduced.
type OverAxes<'a> = dyn FnMut([&[usize]; 2], [&[isize]; 2]) + 'a;

/// Calls `f`, unless there is no result. Compiled once, for all kernels.
fn with_axes(x: &Tensor, over: &ReduceAxes, f: &mut OverAxes<'_>) {
    let ((kept, kept_strides), (mut reduced, mut reduced_strides)) = over.split(x);
    if kept.contains(&0) {
        return;
    }
    if reduced.contains(&0) {
        // One empty axis replaces all: the product of the others may not fit.
        (reduced, reduced_strides) = (Dims::from_slice(&[0]), Strides::from_slice(&[0]));
    }
    f([&kept, &reduced], [&kept_strides, &reduced_strides]);
}
