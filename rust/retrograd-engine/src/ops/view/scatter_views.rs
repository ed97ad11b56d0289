//! Copies in which a part that a view looks at is replaced: select_scatter, slice_scatter, diagonal_scatter.

use retrograd_macros::op;

use super::slice::{Diagonal, Select, Slice};
use super::view_op::{ViewOp, apply_view};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, out};
use crate::error::{Error, Result};
use crate::ops::Value;
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Scalar, Tensor};

/// A copy of the first operand with the second in the place that `part` looks at. Reverse: `g` with zeros there, and
/// `g` there.
#[derive(Clone, Debug)]
struct Patch<V> {
    part: V,
    node: &'static str,
}

impl<V: ViewOp> Primitive for Patch<V> {
    const NAME: &'static str = V::NAME;
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> =
        Batch::Lift(|p, ndims, batch| Ok(Patch { part: p.part.lift(ndims[0], batch), node: p.node }));
    const JVP: Tangents<Self> = Tangents::Linear(u32::MAX);
    fn node(&self) -> &'static str {
        self.node
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let whole = copy::copy(xs[0])?;
        let l = self.part.layout(&whole)?;
        let part = Tensor::from_parts(whole.storage(), whole.dtype(), &l.sizes, &l.strides, l.offset)?;
        copy::copy_into(xs[1], &part)?;
        Ok(out(whole))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        let rest = cx.when(0, || {
            let l = self.part.layout(g)?;
            apply1(self.clone(), &[g, &Tensor::full(&l.sizes, Scalar::Int(0), g.dtype())?])
        })?;
        let part = cx.when(1, || apply_view(self.part.clone(), g))?;
        Ok([rest, part].into_iter().collect())
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        self.part.params().into_iter().filter(|(name, _)| *name != "self_sym_sizes").collect()
    }
}

/// Runs the op, for a `src` of exactly the sizes of the part.
fn patched<V: ViewOp>(op: &'static str, part: V, node: &'static str, x: &Tensor, src: &Tensor) -> Result<Tensor> {
    let wanted = part.layout(x)?.sizes;
    if src.sizes() != &wanted[..] {
        return Err(Error::shape(
            op,
            format!(
                "expected src to have a size equal to the slice of self. src size = {:?}, slice size = {:?}",
                src.sizes(),
                &wanted[..]
            ),
        ));
    }
    apply1(Patch { part, node }, &[x, src])
}

/// A copy of `input` with `src` at one index of an axis.
///
/// Args: `src` of the sizes of `input` without the axis; `dim` the axis; `index` along it, negative counted from the
/// end.
/// Returns: a fresh tensor. Derivative: `g` with zeros at the index, and `g` there. Raises: IndexError if the axis or
/// index does not exist; RuntimeError if `src` has other sizes.
///
/// >>> rg.select_scatter(rg.zeros(2, 2), rg.tensor([1.0, 2.0]), 0, 1).tolist()
/// [[0.0, 0.0], [1.0, 2.0]]
#[op(function, method)]
pub fn select_scatter(input: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    // Says what is wrong with the axis or the index.
    super::select(&input.detach(), dim, index)?;
    let dim = wrap_dim("select_scatter", dim, input.ndim())?;
    let part = Select { dim, index, from: Dims::from_slice(input.sizes()) };
    patched("select_scatter", part, "SelectScatterBackward0", input, src)
}

/// A copy of `input` with `src` in every `step`-th index of an axis from `start` up to `end`.
///
/// Args: `src` of the sizes of that part; `dim` the axis; `start`, `end` may be negative and are clamped, None for the
/// ends of the axis. Returns: a fresh tensor. Derivative: `g` with zeros in that part, and `g` there. Raises:
/// IndexError if the axis does not exist; RuntimeError if `src` has other sizes or `step` is not positive.
///
/// >>> rg.slice_scatter(rg.zeros(4), rg.ones(2), 0, 0, 4, 2).tolist()
/// [1.0, 0.0, 1.0, 0.0]
#[op(function, method, out, "(dim=0, start=None, end=None, step=1)")]
pub fn slice_scatter(
    input: &Tensor,
    src: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    input.detach().slice(dim, start, end, step)?;
    let dim = wrap_dim("slice_scatter", dim, input.ndim())?;
    let (start, end) = (start.unwrap_or(0), end.unwrap_or(i64::MAX));
    let part = Slice { dim, start, end, step, from: Dims::from_slice(input.sizes()) };
    patched("slice_scatter", part, "SliceScatterBackward0", input, src)
}

/// A copy of `input` with `src` on the diagonals of two axes.
///
/// Args: `src` of the sizes of the diagonals; `offset`, `dim1`, `dim2` as for `diagonal`. Returns: a fresh
/// tensor. Derivative: `g` with zeros on the diagonals, and `g` there. Raises: IndexError if an axis does not exist;
/// RuntimeError if `src` has other sizes.
///
/// >>> rg.diagonal_scatter(rg.zeros(2, 2), rg.tensor([1.0, 2.0])).tolist()
/// [[1.0, 0.0], [0.0, 2.0]]
#[op(function, method, "(offset=0, dim1=0, dim2=1)")]
pub fn diagonal_scatter(input: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    input.detach().diagonal(offset, dim1, dim2)?;
    let n = input.ndim();
    let dims = [wrap_dim("diagonal_scatter", dim1, n)?, wrap_dim("diagonal_scatter", dim2, n)?];
    let part = Diagonal { offset, dims, from: Dims::from_slice(input.sizes()) };
    patched("diagonal_scatter", part, "DiagonalScatterBackward0", input, src)
}

#[cfg(test)]
mod tests {
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        gradcheck(&|xs| xs[0].select_scatter(&xs[1], 1, -2)?.exp(), &[x.clone(), noise(2, &[3])]);
        gradcheck(&|xs| xs[0].slice_scatter(&xs[1], 1, Some(1), None, 2)?.exp(), &[x.clone(), noise(3, &[3, 2])]);
        gradcheck(&|xs| xs[0].diagonal_scatter(&xs[1], 1, 0, 1)?.exp(), &[x.clone(), noise(4, &[3])]);
        assert!(x.select_scatter(&noise(2, &[1]), 1, 0).is_err() && x.diagonal_scatter(&x, 0, 0, 0).is_err());
    }
}
