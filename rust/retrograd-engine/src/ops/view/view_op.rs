//! What view ops of one tensor have in common: the trait that a definition implements, and the primitive that runs them
//! all.

use std::fmt::Debug;

use smallvec::{SmallVec, smallvec};

use crate::autograd::primitive::{
    Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, values,
};
use crate::autograd::{Grads, apply, mode};
use crate::error::{Error, Result};
use crate::ops::Value;
use crate::storage::reclaim::reading;
use crate::tensor::sparse::refused;
use crate::tensor::{DType, Dims, LazyBits, Strides, Tensor, layout};
use crate::transforms;

/// Where the elements of a tensor are in its storage, and what they are.
#[derive(Clone, Debug)]
pub struct Layout {
    pub sizes: Dims,
    pub strides: Strides,
    pub offset: usize,
    pub dtype: DType,
    pub bits: LazyBits,
}

impl Layout {
    /// The layout of `x`, to be changed into that of a view.
    pub fn of(x: &Tensor) -> Self {
        Self::over(x, Dims::from_slice(x.sizes()), Strides::from_slice(x.strides()), x.storage_offset())
    }
    /// Another layout of such elements as `x` has.
    pub fn over(x: &Tensor, sizes: Dims, strides: Strides, offset: usize) -> Self {
        Self { sizes, strides, offset, dtype: x.dtype(), bits: x.lazy_bits() }
    }
    /// One index of an axis, which goes; it is in range, and negative ones count from the end.
    #[inline]
    pub(crate) fn select(&mut self, dim: usize, index: i64) {
        let n = self.sizes.remove(dim) as i64;
        let index = if index < 0 { index + n } else { index };
        self.offset = self.offset.wrapping_add_signed(self.strides.remove(dim) * index as isize);
    }
    /// Every `step`-th index of an axis from `start` up to `end`: negative ones count from the end, and both are
    /// clamped.
    #[inline]
    pub(crate) fn slice(&mut self, dim: usize, start: i64, end: i64, step: i64) {
        let (start, count) = counted(self.sizes[dim], start, end, step);
        self.sizes[dim] = count;
        self.offset = self.offset.wrapping_add_signed(self.strides[dim].wrapping_mul(start as isize));
        self.strides[dim] = self.strides[dim].saturating_mul(step as isize);
    }
    /// A new axis of size 1 in front of axis `dim`, or behind the last.
    pub(crate) fn unsqueeze(&mut self, dim: usize) {
        let stride = match (self.sizes.get(dim), self.strides.get(dim)) {
            (Some(&n), Some(&s)) => (n as isize).saturating_mul(s),
            _ => 1,
        };
        self.sizes.insert(dim, 1);
        self.strides.insert(dim, stride);
    }
    /// The view of `x` with this layout over its storage.
    #[inline]
    pub(crate) fn view_of(&self, x: &Tensor) -> Result<Tensor> {
        if self.dtype == x.dtype() && self.bits == x.lazy_bits() {
            x.view_with(&self.sizes, &self.strides, self.offset)
        } else {
            x.view_of_elements(self.dtype, self.bits, &self.sizes, &self.strides, self.offset)
        }
    }
    /// Whether elements are the same ones in the same order, whatever their place in memory.
    pub(crate) fn has_elements_of(&self, other: &Self) -> bool {
        (self.dtype, self.bits, &self.sizes, &self.strides) == (other.dtype, other.bits, &other.sizes, &other.strides)
    }
    /// Whether elements are of the same dtype, with the same bits.
    pub(crate) fn has_kind_of(&self, other: &Self) -> bool {
        (self.dtype, self.bits) == (other.dtype, other.bits)
    }
    /// This layout of a view of `from`, for a view of a tensor with the same elements from `offset` on. `None` if it
    /// would begin before the memory.
    pub(crate) fn moved(&self, from: &Self, offset: usize) -> Option<Self> {
        // In parts of complex numbers, if one layout has such.
        let unit = |l: &Self| if l.dtype.is_complex() { 2 } else { 1 };
        let (unit, parts) = (unit(from), unit(self));
        let offset = (self.offset * parts + offset * unit).checked_sub(from.offset * unit)?;
        (offset.is_multiple_of(parts)).then(|| Self { offset: offset / parts, ..self.clone() })
    }
    /// Zeros (or a copy of `g`) laid out like this, so that the layout of a view applies to them.
    pub(crate) fn fresh(&self, g: Option<&Tensor>, like: &Tensor) -> Result<Tensor> {
        let strides = layout::preserving_strides(&self.sizes, &self.strides);
        let dtype = if self.dtype.is_complex() { self.dtype } else { like.dtype() };
        let z = crate::ops::create::zeros_strided(&self.sizes, &strides, dtype)?;
        let z = if self.bits.any() { z.memory_as(dtype, self.bits, &self.sizes, &strides, 0)? } else { z };
        match g {
            None => Ok(z),
            Some(g) if g.is_batched() => transforms::widened(&z, g)?.copy_(g),
            Some(g) => z.copy_(g),
        }
    }
    /// `whole`, which is laid out like `base` and has its bits, seen through this layout.
    pub(crate) fn within(&self, base: &Layout, whole: &Tensor) -> Result<Tensor> {
        let moved = self.moved(base, whole.storage_offset());
        let moved = moved.ok_or_else(|| Error::autograd("a view starts before its base"))?;
        super::strided::seen_as(whole, moved)
    }
}

/// Where a slice of an axis of size `n` starts, and how many indices it has: see [`Layout::slice`].
#[inline]
pub(super) fn counted(n: usize, start: i64, end: i64, step: i64) -> (usize, usize) {
    let n = n as i64;
    let clamp = |i: i64| if i < 0 { i.saturating_add(n).max(0) } else { i.min(n) };
    let (start, end) = (clamp(start), clamp(end));
    let count = (end - start).max(0);
    let count = if step == 1 { count } else { count / step + i64::from(count % step != 0) };
    (start as usize, count as usize)
}

/// A view of one tensor.
pub trait ViewOp: Debug + Clone + Send + Sync + 'static {
    const NAME: &'static str;
    const BATCH: Batch<Viewed<Self>> = Batch::Rule(|p, xs, axes, batch| {
        let x = batch_first(xs[0], axes[0], batch)?;
        Ok((out(apply_view(p.0.of_batch(&x), &x)?), smallvec![Some(0)]))
    });
    /// torch's name of the node.
    fn node(&self) -> &'static str;
    /// Layout of the view over the storage of `x`; arguments were checked by the entry.
    fn layout(&self, x: &Tensor) -> Result<Layout>;
    /// The view itself.
    #[inline]
    fn view(&self, x: &Tensor) -> Result<Tensor> {
        self.layout(x)?.view_of(x)
    }
    /// The same of a sparse tensor, which is no view.
    fn sparse(&self, x: &Tensor) -> Result<Tensor> {
        Err(refused(Self::NAME, &[x]))
    }
    /// Gradient of the operand, whose sizes are given.
    fn vjp(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor>;
    /// The same view of a tensor's tangent.
    fn jvp(&self, t: &Tensor) -> Result<Tensor> {
        apply_view(self.clone(), t)
    }
    /// The same view of operands with a batch axis in front of their `ndim` axes.
    fn lift(&self, ndim: usize, batch: usize) -> Self;
    /// As [`ViewOp::lift`], for `value`, whose axis 0 is the batch.
    fn of_batch(&self, value: &Tensor) -> Self {
        self.lift(value.ndim() - 1, value.sizes()[0])
    }
    /// Parameters as `_saved_<name>` shows them.
    const PARAMS: Params<Self> = &[];
    /// As [`ViewOp::PARAMS`], where parameters decide which there are.
    fn params(&self) -> Vec<(&'static str, Value)> {
        values(Self::PARAMS, self)
    }
}

/// Runs a [`ViewOp`] as a primitive.
#[derive(Clone, Debug)]
pub(crate) struct Viewed<V>(pub V);

impl<V: ViewOp> Primitive for Viewed<V> {
    const NAME: &'static str = V::NAME;
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = V::BATCH;
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const TAKES_LAZY: bool = true;
    fn node(&self) -> &'static str {
        self.0.node()
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.forward_one(xs).map(out)
    }
    fn forward_one(&self, xs: &[&Tensor]) -> Result<Tensor> {
        self.0.view(xs[0])
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.0.sparse(xs[0]).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let pulled = self.0.vjp(cx.g(), cx.sizes(0))?;
        // A view that is not differentiated need not keep its base: as the only owner of its memory it may become a
        // `.grad`.
        Ok(one(if cx.differentiating() || pulled.base().is_none() { pulled } else { pulled.alias() }))
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| cx.t(0).map(|t| op.0.jvp(t)).transpose().map(maybe));
    fn params(&self) -> Vec<(&'static str, Value)> {
        self.0.params()
    }
}

/// Whether what is computed of `x` may be differentiated: it is recorded, or has a tangent.
#[inline]
pub fn is_differentiated(x: &Tensor) -> bool {
    let word = mode::word();
    word & mode::COMPOSED != 0 || (mode::records(word) && x.requires_grad())
}

/// The view of `x`, recorded.
#[inline]
pub fn apply_view<V: ViewOp>(view: V, x: &Tensor) -> Result<Tensor> {
    if !is_differentiated(x) {
        let _reading = reading();
        return view.view(x).or_else(|e| if x.is_sparse() { view.sparse(x) } else { Err(e) });
    }
    apply::apply1(Viewed(view), &[x])
}

/// Gives `x` itself the layout of the view, as `t_` and similar ops do: nothing is written, but the write is counted
/// and the history grows by the view's node.
pub fn apply_view_inplace<V: ViewOp>(view: V, x: &Tensor) -> Result<Tensor> {
    let word = mode::word();
    if word & mode::TRANSFORM != 0
        && let Some(level) = transforms::innermost(&[x])?
    {
        transforms::reshape_entry(x, &level, |value| apply_view_inplace(view.of_batch(value), value).map(drop))?;
        return Ok(x.clone());
    }
    let recording = mode::records(word) && x.requires_grad();
    crate::transforms::check_captured(V::NAME, x)?;
    x.check_inplace(recording)?;
    // `before` represents the tensor as it was: same memory, same history, same tangent.
    let before = x.alias();
    before.share_tangents(x)?;
    if recording && let Some(edge) = x.grad_fn()? {
        before.set_history(edge);
    }
    let after = apply_view(view, &before)?;
    x.tell_of_write()?;
    let old = x.history();
    x.replace_body(after.snapshot());
    x.bump_version();
    if let Some(edge) = after.history() {
        x.set_history(edge);
        x.move_retained_grad(old.as_ref());
    }
    x.share_tangents(&after)?;
    Ok(x.clone())
}

/// The number of an axis once a batch axis stands in front of `ndim` axes; a 0-dim tensor has only the batch axis.
pub fn lifted(dim: usize, ndim: usize) -> usize {
    if ndim == 0 { dim } else { dim + 1 }
}

/// `sizes` with the batch in front.
pub fn with_batch(sizes: &[usize], batch: usize) -> Dims {
    std::iter::once(batch).chain(sizes.iter().copied()).collect()
}

/// `x` with its batch axis in front; repeated if it has none.
///
/// `x` itself if the axis is in front already: a view of a value that is batched at further levels runs through all of
/// them, so that one more for every op at every level would double their number with each level.
pub fn batch_first(x: &Tensor, axis: Option<usize>, batch: usize) -> Result<Tensor> {
    match axis {
        Some(0) => Ok(x.clone()),
        Some(a) => super::movedim(x, &[a as i64], &[0]),
        None => super::expand_to(x, &with_batch(x.sizes(), batch)),
    }
}

/// Runs `op`, which works along an axis behind the batch axis, on operands of which those without dims count as having
/// one. The results have no dims of their own if operand `like` has none.
pub fn along_axis<P: Primitive>(
    op: P,
    xs: &[&Tensor],
    axes: &[Option<usize>],
    batch: usize,
    like: usize,
) -> Result<(Outs, SmallVec<[Option<usize>; 1]>)> {
    let lines = xs.iter().zip(axes).map(|(x, axis)| {
        let x = batch_first(x, *axis, batch)?;
        if x.ndim() == 1 { super::unsqueeze(&x, 1) } else { Ok(x) }
    });
    let lines = lines.collect::<Result<SmallVec<[Tensor; 3]>>>()?;
    let outs = apply::apply(op, &lines.iter().collect::<SmallVec<[&Tensor; 3]>>())?;
    let flat = xs[like].ndim() == usize::from(axes[like].is_some());
    let outs: Outs =
        if flat { outs.iter().map(|o| super::reshape_to(o, &[batch])).collect::<Result<_>>()? } else { outs };
    let axes = outs.iter().map(|_| Some(0)).collect();
    Ok((outs, axes))
}

/// Axes, counted from either end, as distinct indices.
pub fn wrap_dims(op: &'static str, dims: &[i64], ndim: usize) -> Result<Dims> {
    let mut wrapped = Dims::new();
    for &d in dims {
        let w = crate::tensor::layout::wrap_dim(op, d, ndim)?;
        if wrapped.contains(&w) {
            return Err(crate::Error::shape(
                op,
                format!("dim {w} appears multiple times in the list of dims {dims:?}"),
            ));
        }
        wrapped.push(w);
    }
    Ok(wrapped)
}
