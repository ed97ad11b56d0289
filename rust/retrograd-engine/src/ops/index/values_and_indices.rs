//! The rules of ops that choose elements along an axis and return them with their indices: max, sort, topk, ...

use crate::error::Result;
use crate::ops::view;
use crate::tensor::Tensor;

/// An index, or what goes with it, with the axis back that a reduction took away.
fn with_axis(t: &Tensor, axis: usize, ndim: usize) -> Result<Tensor> {
    if t.ndim() < ndim { t.unsqueeze(axis as i64) } else { Ok(t.clone()) }
}

/// Reverse: `g` at the indices chosen along an axis of an operand of these sizes, added up in zeros.
pub(crate) fn to_chosen(g: &Tensor, index: &Tensor, axis: usize, sizes: &[usize]) -> Result<Tensor> {
    if sizes.is_empty() {
        return view::reshape_to(g, sizes);
    }
    let [g, index] = [with_axis(g, axis, sizes.len())?, with_axis(index, axis, sizes.len())?];
    Tensor::zeros(sizes, g.dtype())?.scatter_add(axis as i64, &index, &g)
}

/// Forward: the elements of the tangent at the indices chosen, in the shape of the result.
pub(crate) fn at_chosen(t: &Tensor, index: &Tensor, axis: usize) -> Result<Tensor> {
    if t.ndim() == 0 {
        return view::reshape_to(t, index.sizes());
    }
    let chosen = t.gather(axis as i64, &with_axis(index, axis, t.ndim())?)?;
    view::reshape_to(&chosen, index.sizes())
}
