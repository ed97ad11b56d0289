//! Masks: masked_select, nonzero.

use retrograd_macros::op;
use smallvec::{SmallVec, smallvec};

use super::advanced::{and_none, index_at, put_at, read_at};
use super::walk::{counted, nonzero_positions};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, one, out};
use crate::error::{Error, Result};
use crate::kernels::parallel::SharedPtr;
use crate::ops::{OneOrMany, view};
use crate::storage::reclaim::reading;
use crate::tensor::layout::{broadcast, expanded_strides};
use crate::tensor::{DType, Dims, Scalar, Tensor};

/// `masked_select`. Reverse: `g` at the true elements of the mask, in zeros.
#[derive(Clone, Debug)]
struct MaskedSelect;

/// The mask in the sizes it and the operand broadcast to, with an axis if it has none.
fn whole_mask(mask: &Tensor, sizes: &[usize]) -> Result<(Tensor, Dims)> {
    let mut whole = broadcast("masked_select", sizes, mask.sizes())?;
    if whole.is_empty() {
        whole.push(1);
    }
    Ok((view::expand_to(mask, &whole)?, whole))
}

impl Primitive for MaskedSelect {
    const NAME: &'static str = "masked_select";
    const SAVE: &'static [Save] = &[Save::input(1, "mask"), Save::input(0, "self")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, batch| {
        if axes[1].is_some() {
            return Err(Error::not_implemented(
                "vmap: Attempted to vmap over `mask` in masked_select(self, mask) We cannot support this because for each batch \
                 this would return a differently shaped Tensor. Use where or masked_fill",
            ));
        }
        let x = view::batch_first(xs[0], axes[0], batch)?;
        let (mask, whole) = whole_mask(xs[1], &x.sizes()[1..])?;
        let mut sizes: Dims = smallvec![1; whole.len() + 2 - x.ndim()];
        sizes[0] = batch;
        sizes.extend_from_slice(&x.sizes()[1..]);
        let x = view::expand_to(&view::reshape_to(&x, &sizes)?, &view::with_batch(&whole, batch))?;
        Ok((out(index_at(&x, &[1], &[&mask])?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let (mask, whole) = whole_mask(xs[1], x.sizes())?;
        let strides = expanded_strides(x.sizes(), x.strides(), &whole);
        let x = Tensor::from_parts(x.storage(), x.dtype(), &whole, &strides, x.storage_offset())?;
        read_at(Self::NAME, &x, &[0], &[&mask]).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (mask, whole) = whole_mask(cx.saved(0)?, cx.sizes(0))?;
        let zeros = Tensor::full(&whole, Scalar::Int(0), cx.g().dtype())?;
        Ok(and_none(cx, one(put_at(&zeros, &[0], &[&mask], cx.g(), false)?)))
    }
}

/// The elements of `input` where `mask` is true, in row-major order.
///
/// Args: `mask` bool, broadcast against `input`. Returns: a fresh vector. Derivative: `g` at those elements, zeros
/// elsewhere. Raises: RuntimeError if `mask` is not bool or the shapes do not broadcast.
///
/// >>> rg.masked_select(rg.tensor([1.0, 2.0, 3.0]), rg.tensor([True, False, True])).tolist()
/// [1.0, 3.0]
#[op(function, method, out = OutDtype::Same(&["masked_select(): self and result must have the same scalar type"]))]
pub fn masked_select(input: &Tensor, mask: &Tensor) -> Result<Tensor> {
    if mask.dtype() != DType::Bool {
        return Err(Error::dtype(
            "masked_select",
            format!(
                "masked_select: expected BoolTensor for mask, got {}: compare or convert with .to(bool)",
                mask.dtype().name()
            ),
        ));
    }
    apply1(MaskedSelect, &[input, mask])
}

/// Refuses a batch of results of different sizes.
fn refuse_batched(op: &'static str, x: &Tensor) -> Result<()> {
    if x.is_batched() { Err(dynamic_shape(op)) } else { Ok(()) }
}

#[cold]
pub(crate) fn dynamic_shape(op: &'static str) -> Error {
    Error::not_implemented(format!(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{op}. The \
         entries would have results of different sizes: use where or masked_fill"
    ))
}

/// The positions of the elements that are not zero, one row each.
///
/// Args: `input` any dtype. Returns: int64 of sizes `(n, ndim)`. Not differentiable.
///
/// >>> rg.nonzero(rg.tensor([[0.0, 1.0], [2.0, 0.0]])).tolist()
/// [[0, 1], [1, 0]]
#[op(function, method, out)]
pub fn nonzero(input: &Tensor) -> Result<Tensor> {
    refuse_batched("nonzero", input)?;
    let counted = if input.ndim() == 0 { None } else { Some(counted(input)?) };
    let n = match &counted {
        Some(counted) => counted.count(),
        None => usize::from(!input.item()?.is_zero()),
    };
    // As in torch, the positions along one axis are contiguous.
    let flat = Tensor::build::<i64>(&[n * input.ndim()], |all| {
        let to: SmallVec<[_; 8]> = all.chunks_exact_mut(n).map(|axis| SharedPtr(axis.as_mut_ptr())).collect();
        // SAFETY: (1) and (2) a chunk of `n` elements for each axis.
        counted.iter().for_each(|counted| unsafe { counted.write(input.sizes(), &to) });
    })?;
    Tensor::from_parts(flat.storage(), DType::Int64, &[n, input.ndim()], &[1, n as isize], 0)
}

/// The positions of the elements that are not zero: one row each, or one vector per axis, which is what `x[...]` takes.
///
/// Args: `input` any dtype, a 0-dim tensor counts as a vector; `as_tuple` whether to return a tuple.
/// Returns: int64, a tensor of sizes `(n, ndim)` or `ndim` vectors of size `n`. Not differentiable.
///
/// >>> rg.nonzero(rg.tensor([[0.0, 1.0], [2.0, 0.0]]), as_tuple=True)
/// (tensor([0, 1]), tensor([1, 0]))
#[op(function, method, norust, name = "nonzero", "(*, as_tuple)")]
pub fn nonzero_as(input: &Tensor, as_tuple: bool) -> Result<OneOrMany> {
    if as_tuple { nonzero_tuple(input).map(OneOrMany::Many) } else { nonzero(input).map(OneOrMany::One) }
}

/// The positions of the elements that are not zero, one vector per axis; what `x[...]` takes as indices.
pub fn nonzero_tuple(input: &Tensor) -> Result<Vec<Tensor>> {
    let _reading = reading();
    refuse_batched("nonzero", input)?;
    vectors(input)
}

/// `nonzero_static`: rows beyond the last position are filled.
#[derive(Clone, Copy, Debug)]
struct NonzeroStatic {
    size: usize,
    fill: i64,
}

impl Primitive for NonzeroStatic {
    const NAME: &'static str = "nonzero_static";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let x = view::batch_first(xs[0], axes[0], batch)?;
        let rows = x.unbind(0)?.iter().map(|x| apply1(*op, &[x])).collect::<Result<Vec<_>>>()?;
        let rows = match rows.is_empty() {
            true => Tensor::full(&[0, op.size, x.ndim() - 1], Scalar::Int(0), DType::Int64)?,
            false => view::stack(&rows, 0)?,
        };
        Ok((out(rows), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let positions = if xs[0].ndim() == 0 { Vec::new() } else { nonzero_positions(xs[0])? };
        let ndim = positions.len();
        let axes: Vec<&[i64]> = positions.iter().map(|axis| axis.as_slice().unwrap_or(&[])).collect();
        let rows = Tensor::build::<i64>(&[self.size, ndim], |out| {
            for (i, row) in out.chunks_exact_mut(ndim.max(1)).enumerate() {
                for (place, axis) in row.iter_mut().zip(&axes) {
                    *place = axis.get(i).copied().unwrap_or(self.fill);
                }
            }
        });
        rows.map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(Grads::new())
    }
}

/// The positions of the first `size` elements that are not zero, one row each, and `fill_value` in rows for which there
/// is none.
///
/// Args: `input` any dtype; `size` how many rows; `fill_value` an integer. Returns: int64 of sizes `(size, ndim)`. Not
/// differentiable. Raises: RuntimeError for a negative `size`.
///
/// >>> rg.nonzero_static(rg.tensor([0.0, 2.0]), size=2).tolist()
/// [[1], [-1]]
#[op(function, method, out, "(*, size, fill_value=-1)")]
pub fn nonzero_static(input: &Tensor, size: i64, fill_value: i64) -> Result<Tensor> {
    let size = usize::try_from(size).map_err(|_| {
        let detail = format!("nonzero_static: 'size' must be an non-negative integer (it is {size})");
        Error::shape("nonzero_static", detail)
    })?;
    apply1(NonzeroStatic { size, fill: fill_value }, &[input])
}

/// The positions of the elements that are not zero: `nonzero(condition, as_tuple=True)`.
///
/// Args: `condition` any dtype, a 0-dim tensor counts as a vector. Returns: `ndim` int64 vectors. Not differentiable.
///
/// >>> rg.where(rg.tensor([[0.0, 1.0], [2.0, 0.0]]))
/// (tensor([0, 1]), tensor([1, 0]))
#[op(function, norust, name = "where")]
pub fn where_nonzero(condition: &Tensor) -> Result<Vec<Tensor>> {
    refuse_batched("where", condition)?;
    vectors(condition)
}

fn vectors(input: &Tensor) -> Result<Vec<Tensor>> {
    let input = if input.ndim() == 0 { view::reshape_to(&input.detach(), &[1])? } else { input.clone() };
    nonzero_positions(&input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn positions_on_every_axis() {
        for sizes in [&[7][..], &[3, 4, 5], &[2, 1, 3, 2], &[2, 0, 3], &[0], &[4, 3, 0]] {
            let n: usize = sizes.iter().product();
            let x: Vec<f64> = (0..n).map(|i| f64::from(i % 3 == 1 || i % 7 == 0)).collect();
            let _reading = reading();
            let found = nonzero_positions(&Tensor::from_slice(&x, sizes).unwrap()).unwrap();
            assert_eq!(found.len(), sizes.len());
            for (d, found) in found.iter().enumerate() {
                let after: usize = sizes[d + 1..].iter().product();
                let want = (0..n).filter(|&i| x[i] != 0.0).map(|i| (i / after % sizes[d]) as i64);
                assert!(found.to_vec::<i64>().unwrap().into_iter().eq(want), "{sizes:?} {d}");
            }
        }
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[0.0f64, 1.0, f64::NAN, 0.0, -0.0, 2.0], &[2, 3]).unwrap();
        assert_eq!(x.nonzero().unwrap().to_vec::<i64>().unwrap(), [0, 1, 0, 2, 1, 2]);
        assert_eq!(nonzero_tuple(&x).unwrap()[1].to_vec::<i64>().unwrap(), [1, 2, 2]);
        let m = Tensor::from_slice(&[true, false, true], &[3]).unwrap();
        assert_eq!(x.masked_select(&m).unwrap().numel(), 4);
        let s = Tensor::from_slice(&[3.0f64], &[]).unwrap();
        assert_eq!(s.masked_select(&m).unwrap().to_vec::<f64>().unwrap(), [3.0, 3.0]);
        assert_eq!(s.nonzero().unwrap().sizes(), [1, 0]);
        assert_eq!(s.masked_select(&Tensor::from_slice(&[true], &[]).unwrap()).unwrap().sizes(), [1]);
        assert!(x.masked_select(&x).is_err() && noise(1, &[2]).masked_select(&m).is_err());
    }

    #[test]
    fn derivatives() {
        let m = Tensor::from_slice(&[true, false, true], &[3]).unwrap();
        gradcheck(&|xs| xs[0].masked_select(&m)?.exp(), &[noise(1, &[2, 3])]);
        gradcheck(&|xs| xs[0].masked_select(&m)?.exp(), &[noise(1, &[2, 1])]);
        gradcheck(&|xs| xs[0].masked_select(&m)?.exp(), &[noise(1, &[])]);
    }
}
