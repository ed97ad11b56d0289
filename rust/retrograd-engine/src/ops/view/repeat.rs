//! Copies that repeat: repeat, tile, repeat_interleave.

use retrograd_macros::op;

use super::reshape_to;
use super::shape::checked_sizes;
use super::view_op::with_batch;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dims, Tensor};

/// `repeat`: reverse `g` summed over the repetitions.
#[derive(Clone, Debug)]
struct Repeat {
    repeats: Dims,
    from: Dims,
    /// `from` with ones in front, as many axes as `repeats`.
    padded: Dims,
}

impl Repeat {
    /// The sizes with an axis of repetitions in front of every axis.
    fn apart(&self) -> Dims {
        self.repeats.iter().zip(&self.padded).flat_map(|(&r, &n)| [r, n]).collect()
    }
}

impl Primitive for Repeat {
    const NAME: &'static str = "repeat";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; repeats: &*op.repeats, self_sym_sizes: &*op.from);
    const BATCH: Batch<Self> = Batch::Lift(|p, _, batch| {
        let [from, padded] = [&p.from, &p.padded].map(|sizes| with_batch(sizes, batch));
        Ok(Self { repeats: with_batch(&p.repeats, 1), from, padded })
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let sizes: Vec<i64> =
            self.repeats.iter().zip(&self.padded).map(|(&r, &n)| r.saturating_mul(n) as i64).collect();
        let whole = Tensor::empty(&checked_sizes(Self::NAME, &sizes)?, xs[0].dtype())?;
        if whole.numel() > 0 {
            let ones: Dims = self.padded.iter().flat_map(|&n| [1, n]).collect();
            copy::copy_into(&reshape_to(xs[0], &ones)?, &reshape_to(&whole, &self.apart())?)?;
        }
        Ok(out(whole))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let dims: Vec<i64> = (0..self.repeats.len()).map(|axis| 2 * axis as i64).collect();
        if dims.is_empty() {
            return Ok(one(cx.g().clone()));
        }
        reshape_to(&reshape_to(cx.g(), &self.apart())?.sum_dims(&dims, false)?, &self.from).map(one)
    }
}

/// `input` repeated along each axis.
///
/// Args: `repeats` how often, one number per axis, further axes in front. Returns: a fresh tensor. Derivative: `g`
/// summed over the repetitions. Raises: RuntimeError for fewer numbers than axes, or a negative one.
///
/// >>> rg.tensor([1.0, 2.0]).repeat(2, 2).tolist()
/// [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
#[op(method)]
pub fn repeat(input: &Tensor, #[size] repeats: &[i64]) -> Result<Tensor> {
    let Some(lead) = repeats.len().checked_sub(input.ndim()) else {
        return Err(Error::shape(
            "repeat",
            format!(
                "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: got {} for \
                 shape {:?}",
                repeats.len(),
                input.sizes()
            ),
        ));
    };
    if let Some(r) = repeats.iter().find(|&&r| r < 0) {
        return Err(Error::shape(
            "repeat",
            format!("Trying to create tensor with negative dimension {r}: {repeats:?}"),
        ));
    }
    let padded = std::iter::repeat_n(1, lead).chain(input.sizes().iter().copied()).collect();
    let repeats = repeats.iter().map(|&r| r as usize).collect();
    apply1(Repeat { repeats, from: Dims::from_slice(input.sizes()), padded }, &[input])
}

/// `input` repeated along each axis; see `repeat`. Axes in front that have no number are repeated once.
///
/// Args: `dims` how often. Raises: RuntimeError for a negative number.
///
/// >>> rg.tile(rg.tensor([1.0, 2.0]), (2,)).tolist()
/// [1.0, 2.0, 1.0, 2.0]
#[op(function, method)]
pub fn tile(input: &Tensor, #[size] dims: &[i64]) -> Result<Tensor> {
    let missing = input.ndim().saturating_sub(dims.len());
    let repeats: Vec<i64> = std::iter::repeat_n(1, missing).chain(dims.iter().copied()).collect();
    repeat(input, &repeats)
}

/// The index `i` as often as `repeats` says, for each `i`.
///
/// Args: `repeats` an int32 or int64 vector; `output_size` the sum, if it is known. Returns: a vector of that dtype; it
/// has no derivative. Raises: NotImplementedError for another dtype; RuntimeError for a negative number, or a sum that
/// is not `output_size`.
///
/// >>> rg.repeat_interleave(rg.tensor([1, 0, 2])).tolist()
/// [0, 2, 2]
#[op(function, name = "repeat_interleave", "(*, output_size=None)")]
pub fn repeated_indices(repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    const OP: &str = "repeat_interleave";
    if repeats.ndim() != 1 {
        return Err(Error::shape(OP, "repeat_interleave only accept 1D vector as repeat"));
    }
    if !matches!(repeats.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::no_kernel("repeat_interleave_cpu", repeats.dtype()));
    }
    // A copy: what is added up here is what is written by below (S6).
    let counts = copy::cast(repeats, DType::Int64)?.to_vec::<i64>()?;
    if counts.iter().any(|&n| n < 0) {
        return Err(Error::shape(OP, "repeats can not be negative"));
    }
    let sum = counts.iter().try_fold(0i64, |a, &n| a.checked_add(n)).unwrap_or(i64::MAX);
    if output_size.is_some_and(|n| n != sum) {
        return Err(Error::shape(OP, format!("allocated size does not match required size: the repeats sum to {sum}")));
    }
    let length = checked_sizes(OP, &[sum])?;
    let indices = Tensor::build::<i64>(&length, |to| {
        let mut at = 0;
        for (i, &n) in counts.iter().enumerate() {
            to[at..at + n as usize].fill(i as i64);
            at += n as usize;
        }
    })?;
    copy::cast(&indices, repeats.dtype())
}

/// The input as a vector if there is no dim, and the dim.
fn along(input: &Tensor, dim: Option<i64>) -> Result<(Tensor, usize)> {
    match dim {
        None => Ok((input.reshape(&[-1])?, 0)),
        Some(d) if input.ndim() == 0 => Err(Error::index(
            "repeat_interleave",
            format!("Dimension specified as {d} but tensor has no dimensions: leave dim out"),
        )),
        Some(d) => Ok((input.clone(), wrap_dim("repeat_interleave", d, input.ndim())?)),
    }
}

/// Each element of `input`, or each index of an axis, repeated as often as `repeats` says.
///
/// Args: `repeats` an int32 or int64 vector with a number for each index, or a tensor of one number; `dim` an axis,
/// None for the elements in row-major order; `output_size` the size that results, if it is known. Returns: a fresh
/// tensor.
/// Derivative: `g` summed over the repetitions. Raises: RuntimeError if `repeats` has another length or a negative
/// number; NotImplementedError if it has another dtype.
///
/// >>> rg.repeat_interleave(rg.tensor([1.0, 2.0]), rg.tensor([1, 2])).tolist()
/// [1.0, 2.0, 2.0]
#[op(function, method, "(dim=None, *, output_size=None)")]
pub fn repeat_interleave(
    input: &Tensor,
    repeats: &Tensor,
    dim: Option<i64>,
    output_size: Option<i64>,
) -> Result<Tensor> {
    let (x, axis) = along(input, dim)?;
    let n = x.sizes()[axis];
    let repeats = match repeats.ndim() {
        0 => repeats.expand(&[n as i64])?,
        1 if repeats.sizes()[0] == 1 => repeats.expand(&[n as i64])?,
        1 if repeats.sizes()[0] == n => repeats.clone(),
        1 => {
            return Err(Error::shape(
                "repeat_interleave",
                format!(
                    "repeats must have the same size as input along dim, but got repeats.size(0) = {} and input.size({axis}) = {n}",
                    repeats.sizes()[0]
                ),
            ));
        }
        _ => return Err(Error::shape("repeat_interleave", "repeats must be 0-dim or 1-dim tensor")),
    };
    x.index_select(axis as i64, &repeated_indices(&repeats, output_size)?)
}

/// Each element of `input`, or each index of an axis, `repeats` times.
///
/// >>> rg.repeat_interleave(rg.tensor([1.0, 2.0]), 2).tolist()
/// [1.0, 1.0, 2.0, 2.0]
#[op(function, method, name = "repeat_interleave", "(dim=None, *, output_size=None)")]
pub fn repeat_each(input: &Tensor, repeats: i64, dim: Option<i64>, output_size: Option<i64>) -> Result<Tensor> {
    const OP: &str = "repeat_interleave";
    let (x, axis) = along(input, dim)?;
    let n = x.sizes()[axis];
    if repeats < 0 {
        return Err(Error::shape(OP, format!("Repeats must be non-negative, got {repeats}")));
    }
    let total = (n as i64).saturating_mul(repeats);
    if output_size.is_some_and(|size| size != total) {
        return Err(Error::shape(OP, format!("Invalid output_size: {repeats} times {n} indices are {total}")));
    }
    let mut wide: Vec<i64> = x.sizes().iter().map(|&n| n as i64).collect();
    let mut merged = wide.clone();
    merged[axis] = total;
    wide.insert(axis + 1, repeats);
    let spread = x.unsqueeze(axis as i64 + 1)?.expand(&wide)?;
    crate::ops::memory::clone_in(OP, &spread, crate::tensor::MemoryFormat::Contiguous)?.view_sizes(&merged)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 2]);
        gradcheck(&|xs| xs[0].repeat(&[2, 1, 3])?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].tile(&[3])?.exp(), from_ref(&x));
        let counts = Tensor::from_slice(&[2i64, 0, 1], &[3]).unwrap();
        gradcheck(&|xs| xs[0].repeat_interleave(&counts, Some(0), None)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].repeat_each(2, Some(1), None)?.exp(), from_ref(&x));
        assert!(x.repeat(&[2]).is_err() && x.repeat(&[i64::MAX, i64::MAX]).is_err() && x.repeat(&[-1, 1]).is_err());
        assert!(x.repeat_each(i64::MAX, None, None).is_err() && x.repeat_each(-1, None, None).is_err());
        assert_eq!(noise(1, &[]).repeat(&[]).unwrap().ndim(), 0);
    }
}
