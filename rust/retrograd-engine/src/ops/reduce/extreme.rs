//! Largest and smallest elements, and where they are.

use retrograd_macros::op;
use smallvec::smallvec;

use super::sum::{reduce_halves, sum_of};
use super::{ReduceAxes, run};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{
    Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::reduce::{Max, Min, best};
use crate::kernels::simd::InstructionSet;
use crate::match_dtype;
use crate::ops::index::{at_chosen, to_chosen};
use crate::ops::pointwise::select::where_;
use crate::ops::{Value, view};
use crate::tensor::copy;
use crate::tensor::layout::{Dims, may_overlap};
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Refuses to look for an extreme among no elements.
fn check_some(op: &'static str, x: &Tensor, over: &ReduceAxes) -> Result<()> {
    let none = over.axes(x.ndim()).into_iter().find(|&axis| x.sizes()[axis] == 0);
    match none {
        Some(axis) if !over.is_all() => Err(Error::index(
            op,
            format!("Expected reduction dim {axis} to have non-zero size, got shape {:?}", x.sizes()),
        )),
        _ if x.numel() == 0 && over.is_all() => {
            let detail = "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the \
                          'dim' argument.";
            Err(if op.starts_with("arg") { Error::index(op, detail) } else { Error::shape(op, detail) })
        }
        _ => Ok(()),
    }
}

/// `max`, `min` of all elements and `amax`, `amin`: reverse `g`, split evenly among equal elements.
#[derive(Clone, Debug)]
struct ExtremeAlong {
    max: bool,
    /// `max()`, whose NaNs share the gradient, rather than `amax()`, where they make it NaN.
    full: bool,
    over: ReduceAxes,
}

impl ExtremeAlong {
    fn op(&self) -> &'static str {
        match (self.max, self.full) {
            (true, true) => "max",
            (false, true) => "min",
            (true, false) => "amax",
            (false, false) => "amin",
        }
    }
}

/// Where an operand equals its element of the result, in how many places, and over which axes.
pub(crate) struct Ties {
    mask: Tensor,
    count: Tensor,
    over: ReduceAxes,
    /// There is always such a place, NaN or not: the rest is cut off.
    nan: bool,
}

impl Ties {
    /// `nan`: if the result is NaN, the NaNs of the operand count as equal to it.
    pub(crate) fn of(x: &Tensor, result: &Tensor, over: &ReduceAxes, nan: bool) -> Result<Self> {
        let result = over.aligned(result, x.sizes())?;
        let mut mask = x.eq(&result)?;
        if nan {
            mask = where_(&result.ne(&result)?, &x.ne(x)?, &mask)?;
        }
        let count = sum_of(&mask, over.keeping(), None)?;
        Ok(Self { mask, count, over: over.clone(), nan })
    }
    /// Reverse: `g`, split evenly among the places of an operand of these sizes.
    pub(crate) fn split(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        // Divided before it is expanded: one division per element of the result.
        let share = self.over.aligned(g, sizes)?.div(&self.count)?;
        if self.nan { where_(&self.mask, &share, &Tensor::number(Scalar::Int(0))?) } else { share.mul(&self.mask) }
    }
    /// Forward: the mean of the tangent over the places.
    pub(crate) fn mean(&self, t: &Tensor) -> Result<Tensor> {
        let chosen = where_(&self.mask, t, &Tensor::full(&[], Scalar::Int(0), t.dtype())?)?;
        let sum = sum_of(&chosen, self.over.clone(), None)?;
        sum.div(&view::reshape_to(&self.count, sum.sizes())?)
    }
}

impl Primitive for ExtremeAlong {
    const NAME: &'static str = "amax";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result")];
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::LoopsAlone;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]), ..*op }));
    fn node(&self) -> &'static str {
        match (self.max, self.full) {
            (true, true) => "MaxBackward1",
            (false, true) => "MinBackward1",
            (true, false) => "AmaxBackward0",
            (false, false) => "AminBackward0",
        }
    }
    fn kernel_name(&self) -> &'static str {
        self.op()
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        check_some(self.op(), x, &self.over)?;
        if let Some(half) = x.dtype().half() {
            let result = match self.max {
                true => reduce_halves(&Max, half, x, &self.over),
                false => reduce_halves(&Min, half, x, &self.over),
            };
            return result.map(out);
        }
        match_dtype!(numeric, x.dtype(), T => {
            if self.max { run::<T, _>(&Max, x, &self.over) } else { run::<T, _>(&Min, x, &self.over) }.map(out)
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ties::of(cx.saved(0)?, cx.saved(1)?, &self.over, self.full)?.split(cx.g(), cx.sizes(0)).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        Ties::of(cx.xs[0], &cx.outs[0], &op.over, op.full)?.mean(t).map(one)
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        if self.full {
            return Vec::new();
        }
        let dim = if self.over.is_given() { self.over.saved_dims() } else { Value::Ints(Vec::new()) };
        vec![("dim", dim), ("keepdim", self.over.keepdim.into())]
    }
}

/// `max` and `min` along a dimension: reverse `g` to the index found.
#[derive(Clone, Debug)]
struct ExtremeDim {
    max: bool,
    over: ReduceAxes,
    sizes: Dims,
}

impl ExtremeDim {
    fn axis(&self, ndim: usize) -> usize {
        self.over.axes(ndim).first().copied().unwrap_or(0)
    }
}

impl Primitive for ExtremeDim {
    const NAME: &'static str = "max";
    const SAVE: &'static [Save] = &[Save::output(1, "indices")];
    const PARAMS: Params<Self> = params!(op;
        dim: op.over.saved_dim(),
        keepdim: op.over.keepdim,
        self_sym_sizes: &op.sizes[..],
    );
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let mut sizes = view::with_batch(&op.sizes, batch);
        let over = if op.sizes.is_empty() {
            sizes.push(1);
            ReduceAxes::dim(Self::NAME, 1, 2, op.over.keepdim)?
        } else {
            op.over.lifted(op.sizes.len())
        };
        view::along_axis(Self { max: op.max, over, sizes }, xs, axes, batch, 0)
    });
    fn node(&self) -> &'static str {
        if self.max { "MaxBackward0" } else { "MinBackward0" }
    }
    fn kernel_name(&self) -> &'static str {
        if self.max { "max" } else { "min" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let op = if self.max { "max" } else { "min" };
        check_some(op, xs[0], &self.over)?;
        best_of(self.max, xs[0], &self.over)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let sizes = cx.sizes(0);
        to_chosen(cx.g(), cx.saved(0)?, self.axis(sizes.len()), sizes).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let t = cx.t(0).map(|t| at_chosen(t, &cx.outs[1], op.axis(t.ndim()))).transpose()?;
        Ok(smallvec![t, None])
    });
}

/// The extreme values and their first indices.
fn best_of(max: bool, x: &Tensor, over: &ReduceAxes) -> Result<Outs> {
    let sizes = over.sizes(x.sizes());
    let indices = Tensor::empty(&sizes, DType::Int64)?;
    let values = Tensor::empty(&sizes, x.dtype())?;
    if x.numel() == 0 {
        return Ok(smallvec![values, indices]);
    }
    // The order of all elements is that of the axes: along scattered ones, a copy is looked through in less time.
    let scattered = indices.numel() == 1 && !x.is_contiguous() && !may_overlap(x.sizes(), x.strides());
    let x = &if scattered { copy::contiguous(x)? } else { x.clone() };
    let ((kept, kept_strides), (reduced, reduced_strides)) = over.split(x);
    match_dtype!(numeric, x.dtype(), T => {
        let (level, a, v, i) = (InstructionSet::detect(), x.ptr::<T>().cast_const(), values.ptr::<T>(), indices.ptr::<i64>());
        let kernel = if max { best::<T, true> } else { best::<T, false> };
        // SAFETY: (1) S1 and S3: `kept` and `reduced` are the axes of `x`; (2, 3) the results are fresh.
        unsafe { kernel(level, &kept, &kept_strides, &reduced, &reduced_strides, a, v, i) };
        Ok(smallvec![values, indices])
    })
}

/// `argmax`, `argmin`.
#[derive(Clone, Debug)]
struct ArgExtreme {
    max: bool,
    over: ReduceAxes,
}

impl Primitive for ArgExtreme {
    const NAME: &'static str = "argmax";
    const NODE: &'static str = "NotDifferentiable";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { max: op.max, over: op.over.lifted(ndims[0]) }));
    const JVP: Tangents<Self> = Tangents::Zero;
    fn kernel_name(&self) -> &'static str {
        if self.max { "argmax" } else { "argmin" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let op = if self.max { "argmax" } else { "argmin" };
        if xs[0].dtype() == DType::Bool {
            return Err(Error::dtype(op, "does not support bool input: convert with .to(uint8)"));
        }
        check_some(op, xs[0], &self.over)?;
        let mut found = best_of(self.max, xs[0], &self.over)?;
        Ok(out(found.swap_remove(1)))
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(maybe(None))
    }
}

fn amax_of(input: &Tensor, max: bool, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    let over = ReduceAxes::dims(if max { "amax" } else { "amin" }, dim, input.ndim(), keepdim)?;
    apply1(ExtremeAlong { max, full: false, over }, &[input])
}

fn max_along(input: &Tensor, max: bool, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let over = ReduceAxes::dim(if max { "max" } else { "min" }, dim, input.ndim(), keepdim)?;
    let mut outs = apply(ExtremeDim { max, over, sizes: Dims::from_slice(input.sizes()) }, &[input])?;
    let indices = outs.swap_remove(1);
    Ok((outs.swap_remove(0), indices))
}

fn arg_of(input: &Tensor, max: bool, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    let op = if max { "argmax" } else { "argmin" };
    let dims = dim.map(|d| [d]);
    let over = ReduceAxes::dims(op, dims.as_ref().map(|d| &d[..]), input.ndim(), keepdim)?;
    apply1(ArgExtreme { max, over }, &[input])
}

impl Tensor {
    /// The maximum over `dims` (all, if empty); see `amax`.
    pub fn amax(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        amax_of(self, true, Some(dims), keepdim)
    }
    /// The minimum over `dims` (all, if empty); see `amin`.
    pub fn amin(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        amax_of(self, false, Some(dims), keepdim)
    }
}

/// The maximum over dimensions.
///
/// Args: `input` any real dtype; `dim` an integer or a list, none for all; `keepdim` keeps them with size 1. NaN wins
/// over every number. Returns: a tensor without (or with size 1 in) the dimensions. Derivative: `g`, split evenly among
/// equal elements.
/// Raises: IndexError for a dimension out of range or of size 0; RuntimeError for no dims of an empty tensor.
///
/// >>> rg.amax(rg.tensor([[1.0, 5.0], [3.0, 4.0]]), dim=1).tolist()
/// [5.0, 4.0]
#[op(
    function, method,
    out = OutDtype::Same(&[
        "Expected the dtype for input and out to match, but got {Result} for input's dtype and {Out} for out's dtype.",
    ]),
    norust, "(dim=None, keepdim=False)"
)]
pub fn amax(input: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    amax_of(input, true, Some(dim.unwrap_or(&[])), keepdim)
}

/// The minimum over dimensions.
///
/// Args, Returns, Derivative, Raises: as `amax`.
///
/// >>> rg.amin(rg.tensor([[1.0, 5.0], [3.0, 4.0]]), dim=1).tolist()
/// [1.0, 3.0]
#[op(
    function, method,
    out = OutDtype::Same(&[
        "Expected the dtype for input and out to match, but got {Result} for input's dtype and {Out} for out's dtype.",
    ]),
    norust, "(dim=None, keepdim=False)"
)]
pub fn amin(input: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    amax_of(input, false, Some(dim.unwrap_or(&[])), keepdim)
}

/// The maximum of all elements.
///
/// Args: `input` any real dtype. Returns: a 0-dim tensor; NaN if there is one.
/// Derivative: `g`, split evenly among equal elements. Raises: RuntimeError for an empty tensor.
///
/// >>> rg.max(rg.tensor([1.0, 3.0, 2.0])).item()
/// 3.0
#[op(function, method, out)]
pub fn max(input: &Tensor) -> Result<Tensor> {
    apply1(ExtremeAlong { max: true, full: true, over: ReduceAxes::all() }, &[input])
}

/// The maximum along a dimension and the first index where it stands.
///
/// Args: `input` any real dtype; `dim` the dimension; `keepdim` keeps it with size 1. Returns: `(values, indices)`,
/// indices in int64. Derivative: `g` to the index found. Raises: IndexError for a dimension out of range or of size 0.
///
/// >>> values, indices = rg.max(rg.tensor([[1.0, 5.0], [3.0, 4.0]]), 1)
/// >>> indices.tolist()
/// [1, 1]
#[op(function, method, out, name = "max", fields("values", "indices"), "(keepdim=False)")]
pub fn max_dim(input: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    max_along(input, true, dim, keepdim)
}

/// The larger of two tensors, elementwise: `maximum(input, other)`.
///
/// Args: `other` a tensor with a shape that broadcasts against that of `input`.
///
/// >>> rg.max(rg.tensor([1.0, 3.0]), rg.tensor([2.0, 2.0])).tolist()
/// [2.0, 3.0]
#[op(function, method, out, norust, name = "max")]
pub fn max_of(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    input.maximum(other)
}

/// The minimum of all elements.
///
/// Args, Returns, Derivative, Raises: as the full `max`.
///
/// >>> rg.min(rg.tensor([1.0, 3.0, 2.0])).item()
/// 1.0
#[op(function, method, out)]
pub fn min(input: &Tensor) -> Result<Tensor> {
    apply1(ExtremeAlong { max: false, full: true, over: ReduceAxes::all() }, &[input])
}

/// The minimum along a dimension and the first index where it stands.
///
/// Args, Returns, Derivative, Raises: as `max` along a dimension.
///
/// >>> values, indices = rg.min(rg.tensor([[1.0, 5.0], [3.0, 4.0]]), 1)
/// >>> indices.tolist()
/// [0, 0]
#[op(function, method, out, name = "min", fields("values", "indices"), "(keepdim=False)")]
pub fn min_dim(input: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    max_along(input, false, dim, keepdim)
}

/// The smaller of two tensors, elementwise: `minimum(input, other)`.
///
/// Args: `other` a tensor with a shape that broadcasts against that of `input`.
///
/// >>> rg.min(rg.tensor([1.0, 3.0]), rg.tensor([2.0, 2.0])).tolist()
/// [1.0, 2.0]
#[op(function, method, out, norust, name = "min")]
pub fn min_of(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    input.minimum(other)
}

/// The first index of the maximum, of all elements (as if flattened) or along a dimension.
///
/// Args: `input` any real dtype but bool; `dim` the dimension, None for all; `keepdim` keeps reduced dimensions with
/// size 1. Returns: int64. No derivative. Raises: IndexError for a dimension out of range or no elements; RuntimeError
/// for bool.
///
/// >>> rg.argmax(rg.tensor([1.0, 3.0, 2.0])).item()
/// 1
#[op(function, method, out, "(dim=None, keepdim=False)")]
pub fn argmax(input: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    arg_of(input, true, dim, keepdim)
}

/// The first index of the minimum, of all elements (as if flattened) or along a dimension.
///
/// Args, Returns, Raises: as `argmax`.
///
/// >>> rg.argmin(rg.tensor([1.0, 3.0, 2.0])).item()
/// 0
#[op(function, method, out, "(dim=None, keepdim=False)")]
pub fn argmin(input: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    arg_of(input, false, dim, keepdim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[5], &[2, 3], &[3, 1, 4]] {
            let x = [noise(3, sizes)];
            gradcheck(&|xs| xs[0].amax(&[], false), &x);
            gradcheck(&|xs| xs[0].amin(&[0], true), &x);
            gradcheck(&|xs| xs[0].amax(&[-1], false), &x);
            gradcheck(&|xs| xs[0].max(), &x);
            gradcheck(&|xs| xs[0].min(), &x);
            gradcheck(&|xs| Ok(xs[0].max_dim(0, false)?.0), &x);
            gradcheck(&|xs| Ok(xs[0].min_dim(-1, true)?.0), &x);
        }
    }

    fn grad(x: &[f64], sizes: &[usize], f: impl Fn(&Tensor) -> Result<Tensor>) -> Vec<f64> {
        let x = Tensor::from_slice(x, sizes).unwrap();
        x.set_requires_grad(true).unwrap();
        crate::autograd::backward(&f(&x).unwrap()).unwrap();
        x.grad().unwrap().to_vec::<f64>().unwrap()
    }

    #[test]
    fn ties_and_nan() {
        let nan = f64::NAN;
        assert_eq!(grad(&[2.0, 1.0, 2.0], &[3], |x| x.max()), [0.5, 0.0, 0.5]);
        assert_eq!(grad(&[2.0, 1.0, 2.0], &[3], |x| x.amax(&[0], false)), [0.5, 0.0, 0.5]);
        assert_eq!(grad(&[2.0, 1.0, 2.0], &[3], |x| Ok(x.max_dim(0, false)?.0)), [1.0, 0.0, 0.0]);
        assert_eq!(grad(&[1.0, nan, nan], &[3], |x| x.max()), [0.0, 0.5, 0.5]);
        assert!(grad(&[1.0, nan], &[2], |x| x.amax(&[0], false)).iter().all(|g| g.is_nan()));
    }

    #[test]
    fn values_and_refusals() {
        let x = Tensor::from_slice(&[3i64, 9, 9, 1, 0, 0], &[2, 3]).unwrap();
        let (values, indices) = x.max_dim(1, false).unwrap();
        assert_eq!((values.to_vec::<i64>().unwrap(), indices.to_vec::<i64>().unwrap()), (vec![9, 1], vec![1, 0]));
        assert_eq!(x.argmin(None, true).unwrap().sizes(), &[1, 1]);
        assert_eq!(x.argmin(None, false).unwrap().item().unwrap(), Scalar::Int(4));
        assert_eq!(x.argmax(Some(0), false).unwrap().to_vec::<i64>().unwrap(), [0, 0, 0]);
        let e = Tensor::empty(&[0, 3], DType::Float32).unwrap();
        assert!(e.max().is_err() && e.max_dim(0, false).is_err() && e.amax(&[0], false).is_err());
        assert!(e.argmax(None, false).is_err() && e.amax(&[], false).is_err());
        assert_eq!(e.max_dim(1, false).unwrap().0.sizes(), &[0]);
        assert!(Tensor::full(&[2], Scalar::Bool(true), DType::Bool).unwrap().argmax(None, false).is_err());
    }
}
