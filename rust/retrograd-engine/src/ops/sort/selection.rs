//! What the ops of this family have in common: the trait that a definition implements, and the primitive that runs them
//! all.

use std::fmt::Debug;

use smallvec::smallvec;

use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, one};
use crate::error::{Error, Result};
use crate::kernels::sort::{Line, Pick, choose_along};
use crate::match_dtype;
use crate::ops::index::{at_chosen, to_chosen};
use crate::ops::view::{along_axis, with_batch};
use crate::ops::{Value, view};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dims, Dtypes, Strides, Tensor};

/// Which elements of a line are chosen, and what the op is called.
pub trait Choose: Pick + Debug + Clone + Send + Sync + 'static {
    const NAME: &'static str;
    /// As [`Primitive::DTYPES`].
    const DTYPES: Dtypes = Dtypes::ORDERED;
    /// torch's name of the kernel.
    const KERNEL: &'static str = Self::NAME;
    /// torch's name of the node.
    fn node(&self) -> &'static str;
    /// How many elements are chosen of a line of `n`.
    fn count(&self, n: usize) -> usize;
    /// For ops that choose one element in place of the axis: whether the axis stays, with size 1.
    fn keepdim(&self) -> Option<bool> {
        None
    }
    /// Whether the results have the memory layout of the operand; else they are contiguous.
    const KEEPS_LAYOUT: bool = false;
}

/// An op that chooses along an axis. Results: the elements and their indices.
#[derive(Clone, Debug)]
struct Chosen<C> {
    choose: C,
    /// As the caller said it.
    dim: i64,
    axis: usize,
    sizes: Dims,
}

impl<C: Choose> Primitive for Chosen<C> {
    const NAME: &'static str = C::NAME;
    const SAVE: &'static [Save] = &[Save::output(1, "indices")];
    const DTYPES: Dtypes = C::DTYPES;
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let axis = p.axis + 1;
        let mut sizes = with_batch(&p.sizes, batch);
        if sizes.len() == 1 {
            sizes.push(1);
        }
        let op = Chosen { choose: p.choose.clone(), dim: axis as i64, axis, sizes };
        along_axis(op, xs, axes, batch, 0)
    });
    fn node(&self) -> &'static str {
        self.choose.node()
    }
    fn kernel_name(&self) -> &'static str {
        C::KERNEL
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (values, indices) = chosen(&self.choose, xs[0], self.axis)?;
        if self.choose.keepdim() != Some(false) || xs[0].ndim() == 0 {
            return Ok(smallvec![values, indices]);
        }
        // Fresh, so that the axis may go without a view being made.
        let without = |t: Tensor| {
            let (mut sizes, mut strides) = (Dims::from_slice(t.sizes()), Strides::from_slice(t.strides()));
            sizes.remove(self.axis);
            strides.remove(self.axis);
            Tensor::from_parts(t.storage(), t.dtype(), &sizes, &strides, 0)
        };
        Ok(smallvec![without(values)?, without(indices)?])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        to_chosen(cx.g(), cx.saved(0)?, self.axis, cx.sizes(0)).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let t = cx.t(0).map(|t| at_chosen(t, &cx.outs[1], op.axis)).transpose()?;
        Ok(smallvec![t, None])
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = vec![("dim", self.dim.into())];
        if let Some(keepdim) = self.choose.keepdim() {
            params.push(("keepdim", keepdim.into()));
        }
        params.push(("self_sym_sizes", self.sizes[..].into()));
        params
    }
}

/// The elements chosen along an axis, which keeps its place, and their indices; not recorded.
pub fn chosen<C: Choose>(choose: &C, x: &Tensor, axis: usize) -> Result<(Tensor, Tensor)> {
    let from = Line { n: x.sizes().get(axis).copied().unwrap_or(1), step: x.strides().get(axis).copied().unwrap_or(1) };
    let mut sizes = Dims::from_slice(x.sizes());
    if let Some(n) = sizes.get_mut(axis) {
        *n = choose.count(*n);
    }
    let (values, indices) = if C::KEEPS_LAYOUT {
        (x.empty_like_layout(x.dtype())?, x.empty_like_layout(DType::Int64)?)
    } else {
        (Tensor::empty(&sizes, x.dtype())?, Tensor::empty(&sizes, DType::Int64)?)
    };
    if values.numel() == 0 {
        return Ok((values, indices));
    }
    let to = Line { n: sizes.get(axis).copied().unwrap_or(1), step: values.strides().get(axis).copied().unwrap_or(1) };
    let others = |strides: &[isize]| -> Strides {
        strides.iter().enumerate().filter(|&(d, _)| d != axis).map(|(_, &s)| s).collect()
    };
    let outer: Dims = sizes.iter().enumerate().filter(|&(d, _)| d != axis).map(|(_, &n)| n).collect();
    let (a_outer, o_outer) = (others(x.strides()), others(values.strides()));
    match_dtype!(ordered, x.dtype(), T => {
        let (a, v, i) = (x.ptr::<T>().cast_const(), values.ptr::<T>(), indices.ptr::<i64>());
        // SAFETY: (1) S1 and S3, and a line without elements has no results; (2) the results are fresh, of one layout,
        // and have `to.n` elements along the axis.
        unsafe { choose_along(&outer, &a_outer, &o_outer, from, to, a, v, i, choose) }?;
    });
    Ok((values, indices))
}

/// Runs an op of this family: the elements chosen and their indices.
pub fn along<C: Choose>(choose: C, x: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let axis = wrap_dim(C::NAME, dim, x.ndim())?;
    let mut outs = apply(Chosen { choose, dim, axis, sizes: Dims::from_slice(x.sizes()) }, &[x])?;
    let indices = outs.swap_remove(1);
    Ok((outs.swap_remove(0), indices))
}

/// The size of an axis that must have elements; 0-dim tensors have one.
pub fn size_along(op: &'static str, x: &Tensor, dim: i64) -> Result<usize> {
    let axis = wrap_dim(op, dim, x.ndim())?;
    match x.sizes().get(axis) {
        Some(0) => Err(Error::index(
            op,
            format!("{op}(): Expected reduction dim {axis} to have non-zero size, got shape {:?}", x.sizes()),
        )),
        n => Ok(n.copied().unwrap_or(1)),
    }
}

/// All elements behind the first `lead` axes as one line.
pub fn as_lines(x: &Tensor, lead: usize) -> Result<Tensor> {
    let x = crate::tensor::copy::contiguous(x)?;
    let (outer, inner) = x.sizes().split_at(lead);
    let mut sizes = Dims::from_slice(outer);
    sizes.push(inner.iter().product());
    view::reshape_to(&x, &sizes)
}
