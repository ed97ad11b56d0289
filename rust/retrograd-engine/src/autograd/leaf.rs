//! The autograd face of a tensor: requires_grad, is_leaf, grad, detach, and the node that accumulates into a leaf.

use std::any::Any;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::atomic::Ordering;

use smallvec::smallvec;

use super::apply::GradEdges;
use super::node::{Edge, Grads, Node, NodeRef, OutMeta, Output, Rule, Run};
use crate::compile::record;
use crate::counted::{Counted, WeakCounted};
use crate::error::{Error, Result};
use crate::profiler;
use crate::storage::reclaim::reading;
use crate::tensor::{Body, DType, Inner, MemoryFormat, Noted, Tensor, flag, layout};

/// A weak reference to a tensor.
#[derive(Clone)]
pub struct WeakTensor(WeakCounted<Inner>);

impl WeakTensor {
    pub fn upgrade(&self) -> Option<Tensor> {
        self.0.upgrade().map(Tensor::from_inner)
    }
    /// Whether there is still such a tensor.
    pub(super) fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// A leaf as the end of an edge. The leaf's node is made on request only; then it lives as long as anybody
/// holds it or an edge leads to the leaf.
pub struct LeafRef {
    leaf: Tensor,
    /// The layout that the leaf had when it was used; it may have got another one in place since.
    layout: u32,
}

impl LeafRef {
    #[inline]
    pub(crate) fn new(leaf: &Tensor) -> Self {
        Self::at(leaf, leaf.layout_number())
    }
    #[inline]
    fn at(leaf: &Tensor, layout: u32) -> Self {
        leaf.meta().edges.fetch_add(1, Ordering::Relaxed);
        if let Some(node) = leaf.live_accumulator() {
            leaf.pin_accumulator(&node);
        }
        Self { leaf: leaf.clone(), layout }
    }
    /// How many edges lead to the leaf.
    pub(super) fn edges(&self) -> usize {
        self.leaf.meta().edges.load(Ordering::Relaxed)
    }
    /// Sizes and dtype of the leaf when it was used.
    pub(crate) fn expects(&self) -> (&[usize], DType) {
        let used = self.leaf.body_number(self.layout);
        (&used.sizes, used.dtype)
    }
}

impl Clone for LeafRef {
    fn clone(&self) -> Self {
        Self::at(&self.leaf, self.layout)
    }
}

impl Deref for LeafRef {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.leaf
    }
}

impl Drop for LeafRef {
    fn drop(&mut self) {
        let meta = self.leaf.meta();
        if meta.edges.fetch_sub(1, Ordering::Relaxed) == 1 && self.leaf.has_flag(flag::ACCUMULATOR) {
            let mut pinned = meta.pinned.lock();
            // Another thread may have made an edge, and found the node pinned, meanwhile.
            let node = if meta.edges.load(Ordering::Relaxed) == 0 { pinned.take() } else { None };
            drop(pinned);
            drop(node);
        }
    }
}

/// Accumulates into a leaf's `.grad`. The engine treats leaves itself; the rule only says which leaf.
struct AccumulateGrad(Tensor);

impl Rule for AccumulateGrad {
    fn name(&self) -> Cow<'static, str> {
        "torch::autograd::AccumulateGrad".into()
    }
    fn apply(&self, _node: &NodeRef, grads: &[Option<Tensor>], run: Run) -> Result<Grads> {
        if let Some(g) = grads.first().and_then(Option::as_ref) {
            super::accumulate::accumulate(&self.0, g.clone(), run.create_graph)?;
        }
        Ok(Grads::new())
    }
    fn leaf(&self) -> Option<&Tensor> {
        Some(&self.0)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Tensor {
    pub fn downgrade(&self) -> WeakTensor {
        WeakTensor(Counted::downgrade(self.counted()))
    }

    /// Whether ops on this tensor are recorded.
    // Its flag tells of most tensors, and is all that callers have inline: an op asks several times.
    #[inline(always)]
    pub fn requires_grad(&self) -> bool {
        self.has_flag(flag::REQUIRES_GRAD)
            || (self.has_flag(flag::BATCHED) || self.view_of().is_some()) && self.requires_grad_of_another()
    }
    /// Of a batched tensor that has no flag of its own, or of a view.
    fn requires_grad_of_another(&self) -> bool {
        if self.has_flag(flag::BATCHED) {
            return self.physical().requires_grad();
        }
        self.view_of().is_some_and(|v| v.base.has_flag(flag::REQUIRES_GRAD))
    }

    /// Whether no op computed this tensor (as far as autograd knows).
    pub fn is_leaf(&self) -> bool {
        if self.has_flag(flag::HISTORY | flag::BATCHED) {
            return self.is_batched() && self.physical().is_leaf();
        }
        match self.view_of() {
            None => true,
            Some(_) => self.grad_fn().map_or(true, |e| e.is_none()),
        }
    }

    /// Marks a leaf as wanting a gradient, or not.
    pub fn set_requires_grad(&self, on: bool) -> Result<()> {
        if on && !self.dtype().is_differentiable() {
            return Err(Error::autograd(format!(
                "only Tensors of floating point and complex dtype can require gradients, got {}",
                self.dtype().name()
            )));
        }
        if on && self.is_inference() && super::mode::word() & super::mode::INFERENCE == 0 {
            return Err(Error::autograd(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed: clone it first.",
            ));
        }
        if self.is_batched() {
            return self.physical().set_requires_grad(on);
        }
        if !self.is_leaf() {
            if on {
                return Ok(());
            }
            return Err(Error::autograd(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a \
                 subgraph that doesn't require differentiation use var_no_grad = var.detach().",
            ));
        }
        if record::is_recording() && on && !self.has_flag(flag::REQUIRES_GRAD) {
            record::made_leaf(self);
        }
        self.set_flag(flag::REQUIRES_GRAD, on);
        Ok(())
    }

    /// As [`Tensor::grad_edge`], at the end of a list: an edge that is returned goes through memory twice.
    #[inline]
    pub(super) fn push_grad_edge(&self, edges: &mut GradEdges) -> Result<()> {
        if !self.requires_grad() {
            edges.push(None);
        } else if self.view_of().is_some() || self.has_flag(flag::BATCHED | flag::STANDS_IN) {
            edges.push(self.grad_edge()?);
        } else if self.has_flag(flag::HISTORY)
            && let Some(Output { node, nr }) = &*self.inner().history.lock()
        {
            edges.push(Some(Edge::Node(Output { node: node.clone(), nr: *nr })));
        } else {
            edges.push(Some(Edge::Leaf(LeafRef::new(self))));
        }
        Ok(())
    }

    /// The node and output whose gradient is this tensor's: its history, or the accumulator of a leaf.
    #[inline]
    pub fn grad_edge(&self) -> Result<Option<Edge>> {
        if !self.requires_grad() {
            return Ok(None);
        }
        let output = if self.view_of().is_none() { self.history() } else { self.grad_fn()? };
        if let Some(output) = output {
            return Ok(Some(Edge::Node(output)));
        }
        if self.is_batched() {
            return self.physical().grad_edge();
        }
        // A view made without grad mode reports the requires_grad of its base, but no gradient goes through it.
        Ok(self.has_flag(flag::REQUIRES_GRAD).then(|| Edge::Leaf(self.as_leaf())))
    }

    /// This leaf as the end of an edge, or the leaf that it replaces.
    fn as_leaf(&self) -> LeafRef {
        if self.has_flag(flag::STANDS_IN)
            && let Some(leaf) = self.meta().stands_for.get()
        {
            return leaf.clone();
        }
        LeafRef::new(self)
    }

    /// Makes this tensor a leaf whose gradient accumulates into another one.
    pub(crate) fn stand_for(&self, leaf: LeafRef) {
        if self.meta().stands_for.set(leaf).is_ok() {
            self.set_flag(flag::REQUIRES_GRAD | flag::STANDS_IN, true);
        }
    }

    /// As [`Tensor::grad_edge`], for captures: a view that no gradient goes through has an edge too, which receives
    /// nothing.
    pub fn target_edge(&self) -> Result<Option<Edge>> {
        if !self.requires_grad() {
            return Ok(None);
        }
        Ok(Some(self.grad_edge()?.unwrap_or_else(|| Edge::Leaf(LeafRef::new(&self.physical())))))
    }

    /// The one accumulating node of a leaf; made on request, and owned by the caller.
    pub fn accumulator(&self) -> NodeRef {
        let mut slot = self.meta().accumulator.lock();
        if let Some(node) = slot.as_ref().and_then(WeakCounted::upgrade) {
            return node;
        }
        let node: NodeRef = Node::new(AccumulateGrad(self.clone()), smallvec![], smallvec![OutMeta::of(self)]);
        *slot = Some(Counted::downgrade(&node));
        drop(slot);
        self.set_flag(flag::ACCUMULATOR, true);
        self.pin_accumulator(&node);
        node
    }

    /// Keeps the leaf's node while graphs lead to the leaf.
    fn pin_accumulator(&self, node: &NodeRef) {
        let meta = self.meta();
        let mut pinned = meta.pinned.lock();
        if meta.edges.load(Ordering::Relaxed) > 0 {
            *pinned = Some(node.clone());
        }
    }

    /// The accumulating node, if somebody holds it.
    pub fn live_accumulator(&self) -> Option<NodeRef> {
        if !self.has_flag(flag::ACCUMULATOR) {
            return None;
        }
        self.inner().meta.get().and_then(|m| m.accumulator.lock().as_ref().and_then(WeakCounted::upgrade))
    }

    /// The accumulated gradient.
    pub fn grad(&self) -> Option<Tensor> {
        if record::is_recording() {
            record::grad_read(self);
        }
        self.grad_unseen()
    }

    /// As [`Tensor::grad`], for who records what functions do.
    pub(crate) fn grad_unseen(&self) -> Option<Tensor> {
        self.inner().meta.get().and_then(|m| m.grad.lock().clone())
    }

    /// Replaces `.grad` by a gradient that is known to fit.
    pub(crate) fn replace_grad(&self, grad: Option<Tensor>) {
        if grad.is_some() || self.inner().meta.get().is_some() {
            let old = std::mem::replace(&mut *self.meta().grad.lock(), grad);
            drop(old);
        }
    }

    /// The dtype that gradients are cast to; `None`: they are not cast.
    pub fn grad_dtype(&self) -> Option<DType> {
        let set = self.inner().meta.get().and_then(|m| *m.grad_dtype.lock());
        set.unwrap_or(Some(self.dtype()))
    }

    pub fn set_grad_dtype(&self, dtype: Option<DType>) -> Result<()> {
        if !self.is_leaf() {
            return Err(Error::autograd("grad_dtype can only be set on leaf tensors."));
        }
        if let (Some(want), Some(g)) = (dtype, self.grad())
            && g.dtype() != want
        {
            return Err(Error::autograd(format!(
                "Cannot set grad_dtype to '{}' because there is already a gradient with dtype '{}'. Please clear the gradient \
                 (.grad = None) before changing grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype.",
                want.name(),
                g.dtype().name()
            )));
        }
        *self.meta().grad_dtype.lock() = Some(dtype);
        Ok(())
    }

    /// Replaces `.grad` after checking that it fits.
    pub fn set_grad(&self, grad: Option<Tensor>) -> Result<()> {
        self.check_own_gradient("grad")?;
        if let Some(g) = &grad {
            if g.is_same(self) {
                return Err(Error::autograd("can't assign Variable as its own grad"));
            }
            if let Some(want) = self.grad_dtype()
                && g.dtype() != want
            {
                return Err(Error::autograd(format!(
                    "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must \
                     match the tensor's grad_dtype (defaults to the tensor's dtype).",
                    g.dtype().name(),
                    want.name()
                )));
            }
            if g.sizes() != self.sizes() {
                return Err(Error::autograd(format!(
                    "attempting to assign a gradient of size '{:?}' to a tensor of size '{:?}'. Please ensure that the \
                     gradient and the tensor are the same size",
                    g.sizes(),
                    self.sizes()
                )));
            }
        }
        if record::is_recording() {
            record::grad_set(self, grad.as_ref());
        }
        self.replace_grad(grad);
        Ok(())
    }

    /// A leaf over the same memory and version counter that does not require grad.
    pub fn detach(&self) -> Tensor {
        self.alias()
    }

    /// Forgets the history in place.
    pub fn detach_(&self) -> Result<()> {
        if self.is_batched() {
            return self.physical().detach_();
        }
        crate::transforms::check_captured("detach_", self)?;
        if self.view_of().is_some() {
            return Err(Error::autograd(
                "Can't detach views in-place. Use detach() instead. If you are using multi-view functions like split() or \
                 chunk(), use their unsafe_* forms.",
            ));
        }
        let old = self.inner().history.lock().take();
        self.set_flag(flag::REQUIRES_GRAD | flag::RETAINS_GRAD | flag::HISTORY, false);
        if let Some(edge) = old {
            super::node::drop_later(edge.node);
        }
        Ok(())
    }

    /// Asks for the gradient of a non-leaf to be accumulated into its `.grad`.
    pub fn retain_grad(&self) -> Result<()> {
        self.check_own_gradient("retain_grad")?;
        if !self.requires_grad() {
            return Err(Error::autograd("can't retain_grad on Tensor that has requires_grad=False"));
        }
        let Some(edge) = self.grad_fn()? else { return Ok(()) };
        if self.has_flag(flag::RETAINS_GRAD) {
            return Ok(());
        }
        edge.node.hooks().retain.lock().insert(edge.nr, self.downgrade());
        self.set_flag(flag::RETAINS_GRAD, true);
        Ok(())
    }

    pub fn retains_grad(&self) -> bool {
        self.has_flag(flag::RETAINS_GRAD)
    }

    /// After an in-place op: moves `retain_grad` to the tensor's new node.
    pub(crate) fn move_retained_grad(&self, old: Option<&Output>) {
        if !self.has_flag(flag::RETAINS_GRAD) {
            return;
        }
        if let Some(old) = old
            && let Some(hooks) = old.node.hooks.get()
        {
            hooks.retain.lock().remove(&old.nr);
        }
        if let Some(new) = self.history() {
            new.node.hooks().retain.lock().insert(new.nr, self.downgrade());
        }
    }
}

impl Tensor {
    /// The same memory as a leaf that counts its own writes (`.data`).
    pub fn data(&self) -> Tensor {
        self.alias_uncounted()
    }

    /// Takes over storage, sizes and dtype of `source`, as a write.
    pub fn set_(&self, source: &Tensor) -> Result<()> {
        let _op = profiler::op("set", true, || vec![("self", Noted::of(self)), ("source", Noted::of(source))]);
        check_own_memory("set_", &[self, source])?;
        crate::transforms::check_captured("set_", self)?;
        if source.dtype() != self.dtype() {
            return Err(Error::dtype(
                "set_",
                format!(
                    "Could not set tensor of type {} to a tensor of type {}: convert with .to() first",
                    source.dtype().name(),
                    self.dtype().name()
                ),
            ));
        }
        self.check_not_frozen()?;
        if super::mode::records(super::mode::word()) && self.requires_grad() {
            self.check_recorded_write()?;
        }
        self.tell_of_write()?;
        self.take_body(source.snapshot());
        Ok(())
    }

    /// Gives the tensor other sizes, row-major, in place: the elements stay where they are in memory, and new ones are
    /// not initialised. Memory that is too small grows, for all tensors that share it.
    pub fn resize_(&self, sizes: &[usize]) -> Result<()> {
        self.resize_in(sizes, None)
    }

    /// As [`Tensor::resize_`], in a memory format; if one is given, the tensor gets its strides even with the same
    /// sizes.
    pub fn resize_in(&self, sizes: &[usize], format: Option<MemoryFormat>) -> Result<()> {
        let _op =
            profiler::op("resize", true, || vec![("self", Noted::of(self)), ("size", Noted::Value(sizes.into()))]);
        check_own_memory("resize_", &[self])?;
        crate::transforms::check_captured("resize_", self)?;
        if self.requires_grad() {
            return Err(Error::autograd("cannot resize variables that require grad: clone it, or use reshape"));
        }
        if sizes == self.sizes() && format.is_none() {
            return Ok(());
        }
        if format == Some(MemoryFormat::Preserve) {
            return Err(Error::shape(
                "resize_",
                "Unsupported memory formatPreserve: there are no strides to take over",
            ));
        }
        self.check_not_frozen()?;
        let strides = format.unwrap_or(MemoryFormat::Contiguous).strides("resize_", sizes, &[])?;
        let (before, offset) = (self.storage().bytes(), self.storage_offset());
        self.make_room("resize_", layout::checked_numel("resize_", sizes)?, offset)?;
        self.tell_of_write()?;
        super::arith::fill_from(&self.storage(), self.dtype(), before)?;
        let resized = Tensor::from_parts(self.storage(), self.dtype(), sizes, &strides, offset)?;
        self.take_body(resized.snapshot());
        Ok(())
    }

    /// Inference tensors are written in inference mode only.
    pub(crate) fn check_not_frozen(&self) -> Result<()> {
        if self.is_inference() && super::mode::word() & super::mode::INFERENCE == 0 {
            return Err(Error::autograd(
                "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a \
                 normal tensor before doing inplace update.",
            ));
        }
        Ok(())
    }

    /// Replaces the layout and counts that as a write. Whoever has the same memory has the same counter.
    fn take_body(&self, mut body: crate::tensor::Body) {
        let reading = reading();
        let stays = body.storage.get(&reading).is_some_and(|storage| Counted::ptr_eq(&storage, &self.storage()));
        // Lazy bits are the tensor's own.
        body.bits = self.lazy_bits();
        body.version = if stays { self.body().version.share(&reading) } else { self.own_version() };
        self.replace_body(body);
        self.bump_version();
    }

    /// Takes over storage, sizes and dtype of `other`; the version counter and the graph stay as they are.
    pub fn set_data(&self, other: &Tensor) -> Result<()> {
        check_own_memory("set_data", &[self, other])?;
        if self.requires_grad() && !other.dtype().is_differentiable() {
            return Err(Error::autograd(format!(
                "data set to a tensor that requires gradients must be floating point or complex dtype, got {}",
                other.dtype().name()
            )));
        }
        self.replace_body(Body { version: self.own_version(), ..other.snapshot() });
        self.set_flag(flag::INFERENCE, other.is_inference());
        Ok(())
    }
}

impl Tensor {
    /// Something about the tensor's own place in the graph, which a batched one does not have.
    pub(crate) fn check_own_gradient(&self, what: &'static str) -> Result<()> {
        if self.is_batched() {
            return Err(Error::not_implemented(format!(
                "vmap: {what} is not supported on a batched tensor: its gradient is part of that of all entries. Take \
                 gradients with func.grad or func.vjp"
            )));
        }
        Ok(())
    }
}

/// An op on the memory of the tensors themselves, which batched ones do not have.
fn check_own_memory(op: &'static str, xs: &[&Tensor]) -> Result<()> {
    if xs.iter().any(|x| x.is_batched()) {
        return Err(Error::not_implemented(format!(
            "vmap: {op} is not supported, because the memory of a batched tensor is that of all entries: make a new tensor"
        )));
    }
    Ok(())
}
