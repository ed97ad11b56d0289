//! Sums and means.

use retrograd_macros::op;

use super::{ReduceAxes, run, run_into};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, one, out};
use crate::error::{Error, Result};
use crate::kernels::pointwise::Half;
use crate::kernels::reduce::{self, InVectors, Reduce};
use crate::match_dtype;
use crate::ops::memory::cast;
use crate::ops::{Value, view};
use crate::tensor::complex::pairs;
use crate::tensor::copy;
use crate::tensor::layout::{Dims, copied, expands_to};
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Sizes of a batch of operands.
fn batched(sizes: &[usize], batch: usize) -> Dims {
    std::iter::once(batch).chain(sizes.iter().copied()).collect()
}

/// `sum`: reverse `g` expanded over the reduced axes.
#[derive(Clone, Debug)]
struct Sum {
    over: ReduceAxes,
    dtype: Option<DType>,
    sizes: Dims,
}

impl Primitive for Sum {
    const NAME: &'static str = "sum";
    const DTYPES: Dtypes = Dtypes::ALL;
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, batch| {
        Ok(Self { over: op.over.lifted(ndims[0]), dtype: op.dtype, sizes: batched(&op.sizes, batch) })
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.over.is_given() { "SumBackward1" } else { "SumBackward0" }
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        let dtype = xs[0].dtype();
        Ok(if dtype.is_wide_unsigned() { DType::Int64 } else { dtype })
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.forward_one(xs).map(out)
    }
    fn forward_one(&self, xs: &[&Tensor]) -> Result<Tensor> {
        let dtype = accumulated(xs[0].dtype(), self.dtype);
        let converted = if xs[0].dtype() == dtype { None } else { Some(into_accumulator(xs[0], dtype)?) };
        let x = converted.as_ref().unwrap_or(xs[0]);
        let sum = self.over.once_each(x, |x| {
            match_dtype!(numeric, x.dtype(), T => run::<T, _>(&reduce::Sum, x, &self.over),
                else sum_of_others(&reduce::Sum, x, &self.over))
        })?;
        if sum.dtype() == dtype { Ok(sum) } else { copy::cast(&sum, dtype) }
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        match xs[0].elements() {
            Some(elements) if !self.over.is_given() => elements.values().sum(self.dtype).map(out),
            _ => Err(crate::tensor::sparse::refused(Self::NAME, xs)),
        }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        self.over.expand(cx.g(), cx.sizes(0)).map(one)
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = Vec::new();
        if self.over.is_given() {
            params.push(("dim", self.over.saved_dims()));
            params.push(("keepdim", self.over.keepdim.into()));
        }
        params.push(("self_sym_sizes", self.sizes[..].into()));
        params
    }
}

/// A sum, or mean, of anything but integers.
pub(super) fn sum_of_fields<R>(r: &R, x: &Tensor, over: &ReduceAxes) -> Result<Tensor>
where
    R: InVectors<f32> + Reduce<f32, O = f32> + Reduce<f64, O = f64>,
{
    over.once_each(x, |x| match_dtype!(floats, x.dtype(), T => run::<T, _>(r, x, over), else sum_of_others(r, x, over)))
}

/// A sum, or mean, of halves, which accumulate in float32, or of complex numbers: the sums of their parts.
fn sum_of_others<R>(r: &R, x: &Tensor, over: &ReduceAxes) -> Result<Tensor>
where
    R: InVectors<f32> + Reduce<f32, O = f32> + Reduce<f64, O = f64>,
{
    if let Some(half) = x.dtype().half() {
        return reduce_halves(r, half, x, over);
    }
    let out = Tensor::empty(&over.sizes(x.sizes()), x.dtype())?;
    let (x, over) = (pairs(x)?, over.without_last(x.ndim()));
    match_dtype!(floats, x.dtype(), T => {
        // SAFETY: (Into 1) fresh, contiguous memory of two reals for every complex result.
        unsafe { run_into::<T, _>(r, &x, &over, out.op_ptr().cast::<T>()) }
    });
    Ok(out)
}

/// A reduction of halves in float32. Rows and columns of contiguous tensors are made float32 as they are read, others
/// in whole.
pub(super) fn reduce_halves<R>(r: &R, half: Half, x: &Tensor, over: &ReduceAxes) -> Result<Tensor>
where
    R: InVectors<f32> + Reduce<f32, O = f32>,
{
    let (sizes, axes) = (over.sizes(x.sizes()), over.axes(x.ndim()));
    let neighbours = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    if !(x.is_contiguous() && neighbours && x.numel() > 0) {
        return copy::cast(&run::<f32, _>(r, &copy::cast(x, DType::Float32)?, over)?, x.dtype());
    }
    let out = Tensor::empty(&sizes, x.dtype())?;
    // SAFETY: S1 to S3: contiguous, with so many elements of two bytes; `out` is fresh, and nobody else has it yet.
    let (from, to) = unsafe {
        let from = std::slice::from_raw_parts(x.op_ptr().cast::<u16>().cast_const(), x.numel());
        (from, std::slice::from_raw_parts_mut(out.op_ptr().cast::<u16>(), out.numel()))
    };
    let [_, n, width] = over.block(x.sizes());
    reduce::reduce_halves(r, half, [n, width], from, to);
    Ok(out)
}

/// Dtype of a sum or product: the one asked for, else int64 for integers and bool.
pub(super) fn accumulated(x: DType, asked: Option<DType>) -> DType {
    asked.unwrap_or(if x.is_integral() { DType::Int64 } else { x })
}

/// The operand in the dtype in which its elements are taken. Integers are taken as they are: they accumulate in int64.
pub(super) fn into_accumulator(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype().is_integral() && dtype.is_integral() { Ok(x.clone()) } else { copy::cast(x, dtype) }
}

/// The operand of an op that computes halves in float32, where a half was asked for: it has that precision from the
/// start.
pub(super) fn as_asked(input: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(half) if half.half().is_some() => cast(input, half),
        _ => Ok(input.clone()),
    }
}

/// The dtype of a sum or product that is computed in it, halves in float32.
pub(super) fn accumulated_wide(x: DType, asked: Option<DType>) -> DType {
    match accumulated(x, asked) {
        dtype if dtype.half().is_some() => DType::Float32,
        dtype => dtype,
    }
}

/// A recorded sum over `over`.
pub(super) fn sum_of(input: &Tensor, over: ReduceAxes, dtype: Option<DType>) -> Result<Tensor> {
    apply1(Sum { over, dtype, sizes: copied(input.dims()) }, &[input])
}

/// The sum of all elements.
///
/// Args: `input` any dtype; `dtype` the dtype to convert to before summing (int64 for integers and bool).
/// Returns: a 0-dim tensor; 0 for an empty one. Derivative: `g` for every element.
///
/// >>> rg.sum(rg.tensor([1.0, 2.0, 3.0])).item()
/// 6.0
#[op(function, method, "(*, dtype=None)")]
pub fn sum(input: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    sum_of(input, ReduceAxes::all(), dtype)
}

/// The sum over dimensions.
///
/// Args: `input` any dtype; `dim` an integer or a list, None or an empty list for all; `keepdim` keeps them with size
/// 1; `dtype` as for the full sum. Returns: a tensor without (or with size 1 in) the summed dimensions. Derivative:
/// `g`, expanded. Raises: IndexError for a dimension out of range; RuntimeError if one is named twice.
///
/// >>> rg.sum(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1).tolist()
/// [3.0, 7.0]
#[op(function, method, out = COMPUTED, norust, name = "sum", "(keepdim=False, *, dtype=None)")]
pub fn sum_over(input: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    sum_of(input, ReduceAxes::dims("sum", dim, input.ndim(), keepdim)?, dtype)
}

impl Tensor {
    /// The sum over `dims` (all, if empty); see `sum_over`.
    pub fn sum_dims(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        sum_over(self, Some(dims), keepdim, None)
    }
    /// The mean over `dims` (all, if empty); see `mean_over`.
    pub fn mean_dims(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        mean_over(self, Some(dims), keepdim, None)
    }
}

/// Undoes a broadcast from `sizes`: sums the axes that it added or widened. Recorded.
pub fn sum_to_size(x: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    if x.sizes() == sizes {
        return Ok(x.clone());
    }
    if !expands_to(sizes, x.sizes()) {
        return Err(Error::shape(
            "sum_to_size",
            format!("size {{{sizes:?}}} is not expandable to size {{{:?}}}.", x.sizes()),
        ));
    }
    let lead = x.ndim() - sizes.len();
    let dims: Vec<i64> = (0..x.ndim())
        .filter(|&axis| axis < lead || (sizes[axis - lead] == 1 && x.sizes()[axis] != 1))
        .map(|axis| axis as i64)
        .collect();
    let summed = x.sum_dims(&dims, true)?;
    if lead == 0 { Ok(summed) } else { view::reshape_to(&summed, sizes) }
}

/// Sums the tensor down to a size that broadcasts to its own; the tensor itself if nothing is to be summed.
///
/// Args: `size` a shape that expands to the tensor's. Derivative: `g`, expanded.
/// Raises: RuntimeError if `size` does not expand to the tensor's shape.
///
/// >>> rg.ones(2, 3).sum_to_size(3).tolist()
/// [2.0, 2.0, 2.0]
#[op(method, norust, name = "sum_to_size")]
pub fn sum_to(input: &Tensor, #[size] size: &[i64]) -> Result<Tensor> {
    if size.is_empty() {
        // As in torch, also of a 0-dim tensor, whose integers widen.
        return input.sum(None);
    }
    sum_to_size(input, &crate::ops::create::sizes("sum_to_size", size)?)
}

/// `mean`: reverse `g / n` expanded over the reduced axes.
#[derive(Clone, Debug)]
struct Mean {
    over: ReduceAxes,
    dtype: Option<DType>,
    sizes: Dims,
}

impl Primitive for Mean {
    const NAME: &'static str = "mean";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, batch| {
        Ok(Self { over: op.over.lifted(ndims[0]), dtype: op.dtype, sizes: batched(&op.sizes, batch) })
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.over.is_given() { "MeanBackward1" } else { "MeanBackward0" }
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(self.dtype.unwrap_or(xs[0].dtype()))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::cast(xs[0], self.dtype.unwrap_or(xs[0].dtype()))?;
        sum_of_fields(&reduce::Mean, &x, &self.over).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // Of no elements there is nothing to divide, nor to differentiate.
        let n = self.over.count(cx.sizes(0)).max(1);
        // Divided before it is expanded: one division per element of the result.
        let share = cx.g().div(&Tensor::number(Scalar::Int(n as i64))?)?;
        self.over.expand(&share, cx.sizes(0)).map(one)
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = Vec::new();
        if self.over.is_given() {
            params.push(("dim", self.over.saved_dims()));
            params.push(("keepdim", self.over.keepdim.into()));
        }
        let numel = self.sizes.iter().fold(1usize, |n, &size| n.saturating_mul(size));
        params.push(("self_sym_numel", (numel as i64).into()));
        params.push(("self_sym_sizes", self.sizes[..].into()));
        params
    }
}

/// A recorded mean over `over`.
pub(super) fn mean_of(input: &Tensor, over: ReduceAxes, dtype: Option<DType>) -> Result<Tensor> {
    let found = dtype.unwrap_or(input.dtype());
    if found.is_integral() {
        let which = if dtype.is_some() { "Optional" } else { "Input" };
        return Err(Error::dtype(
            "mean",
            format!(
                "could not infer output dtype. {which} dtype must be either a floating point or complex dtype. Got: {} \
                 ({}). Pass dtype=float32 to convert first",
                found.scalar_type_name(),
                found.name()
            ),
        ));
    }
    apply1(Mean { over, dtype, sizes: Dims::from_slice(input.sizes()) }, &[input])
}

/// The mean of all elements.
///
/// Args: `input` a floating or complex dtype, or any with `dtype` given, to which it is converted first.
/// Returns: a 0-dim tensor; NaN for an empty one. Derivative: `g / n` for every element.
/// Raises: RuntimeError for integers without `dtype`.
///
/// >>> rg.mean(rg.tensor([1.0, 2.0, 6.0])).item()
/// 3.0
#[op(function, method, "(*, dtype=None)")]
pub fn mean(input: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    mean_of(input, ReduceAxes::all(), dtype)
}

/// The mean over dimensions.
///
/// Args: `dim` an integer or a list, None or an empty list for all; `keepdim` keeps them with size 1; `dtype` as for
/// the full mean. Returns: a tensor without (or with size 1 in) the dimensions. Derivative: `g / n`, expanded.
/// Raises: IndexError for a dimension out of range; RuntimeError for integers without `dtype`.
///
/// >>> rg.mean(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0).tolist()
/// [2.0, 3.0]
#[op(function, method, out, norust, name = "mean", "(keepdim=False, *, dtype=None)")]
pub fn mean_over(input: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    mean_of(input, ReduceAxes::dims("mean", dim, input.ndim(), keepdim)?, dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{complex_noise, gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[4], &[2, 3], &[0, 3], &[2, 1, 3]] {
            let x = [noise(1, sizes)];
            gradcheck(&|xs| xs[0].sum(None), &x);
            gradcheck(&|xs| xs[0].sum_dims(&[-1], false), &x);
            gradcheck(&|xs| xs[0].sum_dims(&[0], true), &x);
            if x[0].numel() > 0 {
                gradcheck(&|xs| xs[0].mean(None), &x);
                gradcheck(&|xs| xs[0].mean_dims(&[0], false), &x);
            }
        }
        let z = [complex_noise(1, &[2, 3])];
        gradcheck(&|zs| zs[0].sum(None), &z);
        gradcheck(&|zs| zs[0].t()?.sum_dims(&[-1], true), &z);
        gradcheck(&|zs| zs[0].mean_dims(&[0], false), &z);
        let x = [noise(2, &[2, 3, 4])];
        gradcheck(&|xs| xs[0].sum_dims(&[0, -1], false), &x);
        gradcheck(&|xs| xs[0].mean_dims(&[1, 0], true), &x);
        gradcheck(&|xs| sum_to_size(&xs[0], &[3, 1]), &x);
        gradcheck(&|xs| sum_to_size(&xs[0], &[]), &x);
    }

    #[test]
    fn values_and_dtypes() {
        let x = Tensor::from_slice(&[1i32, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        assert_eq!(x.sum(None).unwrap().item().unwrap(), Scalar::Int(21));
        assert_eq!(x.sum(Some(DType::Int32)).unwrap().dtype(), DType::Int32);
        assert_eq!(x.sum_dims(&[0], false).unwrap().to_vec::<i64>().unwrap(), [5, 7, 9]);
        assert_eq!(x.sum_dims(&[1], true).unwrap().sizes(), &[2, 1]);
        let f = Tensor::from_slice(&[1.5f32, 1.5], &[2]).unwrap();
        assert_eq!(f.sum(Some(DType::Int64)).unwrap().item().unwrap(), Scalar::Int(2));
        assert!(f.sum_dims(&[0, -1], false).is_err() && f.sum_dims(&[1], false).is_err() && x.mean(None).is_err());
        let e = Tensor::empty(&[0, 3], DType::Float32).unwrap();
        assert_eq!(e.sum_dims(&[0], false).unwrap().to_vec::<f32>().unwrap(), [0.0; 3]);
        assert!(e.mean(None).unwrap().to_vec::<f32>().unwrap()[0].is_nan());
        let huge = Tensor::empty(&[1 << 40, 1 << 20, 0], DType::Float32).unwrap();
        assert_eq!(huge.sum_dims(&[0, 1], false).unwrap().sizes(), &[0]);
        assert_eq!(huge.sum(None).unwrap().item().unwrap(), Scalar::Float(0.0));
        assert!(huge.sum_dims(&[2], false).is_err());
    }
}
