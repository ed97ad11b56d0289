//! Views and in-place writes: what a view knows of its base, and how a write to a view becomes part of the base's
//! graph.

use std::any::Any;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use smallvec::smallvec;

use super::arith::{Layout, cloned, node_of_view, same_view};
use super::mode;
use super::node::{Edge, Grads, Node, NodeRef, OutMeta, Output, Rule, Run};
use super::saved::SavedSlots;
use crate::counted::{Counted, WeakCounted};
use crate::error::{Error, Result};
use crate::storage::reclaim::in_op;
use crate::tensor::{Tensor, flag};

/// Under which circumstances a view was made; in-place writes through it depend on that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Creation {
    Plain,
    NoGrad,
    Inference,
    /// One of several outputs of one op (`unbind`, `split`, `chunk`).
    Multi,
    /// Returned by a custom function.
    Custom,
}

/// What a view knows about the tensor that it is a view of.
pub struct ViewOf {
    /// The root base, never itself a view.
    pub base: Tensor,
    /// The innermost of the duals on the way from the base to this view: tangents are views of its tangent.
    pub(super) dual: Option<Tensor>,
    creation: AtomicU8,
    /// The version at which the view's history was last right.
    seen: AtomicU32,
}

impl ViewOf {
    #[inline]
    pub(crate) fn new(source: &Tensor) -> Self {
        let word = mode::word();
        let creation = if word & mode::INFERENCE != 0 {
            Creation::Inference
        } else if !mode::records(word) {
            Creation::NoGrad
        } else {
            source.view_of().map_or(Creation::Plain, ViewOf::creation)
        };
        Self {
            base: source.base().unwrap_or(source).clone(),
            dual: match source.view_of() {
                Some(_) if source.has_flag(flag::DUAL) => Some(source.clone()),
                Some(v) => v.dual.clone(),
                None => None,
            },
            creation: AtomicU8::new(creation as u8),
            seen: AtomicU32::new(source.version()),
        }
    }
    pub fn creation(&self) -> Creation {
        match self.creation.load(Ordering::Relaxed) {
            0 => Creation::Plain,
            1 => Creation::NoGrad,
            2 => Creation::Inference,
            3 => Creation::Multi,
            _ => Creation::Custom,
        }
    }
    pub fn set_creation(&self, c: Creation) {
        self.creation.store(c as u8, Ordering::Relaxed);
    }
    pub(crate) fn set_seen(&self, version: u32) {
        self.seen.store(version, Ordering::Relaxed);
    }
    /// Why a write through this view (or, `indirect`, to its base) cannot be recorded; `None` if it can.
    fn refusal(&self, indirect: bool, of: &Tensor) -> Option<String> {
        let what = if indirect { "its base or another view of its base has been" } else { "is being" };
        let view = || match of.history() {
            Some(o) => format!("Output {} of {} is a view and {what} modified inplace", o.nr, o.node.forward_name()),
            None => format!("A view {what} modified inplace"),
        };
        const AMBIGUOUS: &str = "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your \
                                 code by moving both the view and the inplace either both inside";
        const TRACKED: &str = "block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to \
                               be tracked).";
        Some(match self.creation() {
            Creation::Plain => return None,
            Creation::NoGrad => format!(
                "A view was created in no_grad mode and {what} modified inplace with grad mode enabled. {AMBIGUOUS} the no_grad \
                 {TRACKED}"
            ),
            Creation::Inference => format!(
                "A view was created in inference mode and {what} modified inplace in normal mode. {AMBIGUOUS} the \
                 inference_mode {TRACKED}"
            ),
            Creation::Multi => format!(
                "{}. This view is the output of a function that returns multiple views. Such functions do not allow the \
                 output views to be modified inplace. You should replace the inplace operation by an out-of-place one, or \
                 write to the base through an index.",
                view()
            ),
            Creation::Custom => format!(
                "{}. This view was created inside a custom Function (or because an input was returned as-is) and the \
                 autograd logic to handle view+inplace would override the custom backward associated with the custom \
                 Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output \
                 of the custom Function.",
                view()
            ),
        })
    }
}

impl Tensor {
    #[inline]
    pub(crate) fn view_of(&self) -> Option<&ViewOf> {
        self.inner().view.as_ref()
    }
    /// The root tensor this one is a view of.
    pub fn base(&self) -> Option<&Tensor> {
        self.view_of().map(|v| &v.base)
    }
    /// The part of `base` that this view is of its own base: a view again, if `base` is laid out as that one and
    /// reaches as far. `None` if this is no view.
    pub fn same_view_of(&self, base: &Tensor) -> Result<Option<Tensor>> {
        self.base().map(|own| same_view(own, self, base)).transpose()
    }
    /// Whether `base` has the layout of the tensor that this one is a view of.
    pub fn fits_base(&self, base: &Tensor) -> bool {
        self.base().is_some_and(|own| {
            let (own, given) = (Layout::of(own), Layout::of(base));
            own.has_elements_of(&given) && own.offset == given.offset
        })
    }
    /// Marks how a view came about, for the rules on writing to it.
    pub(crate) fn set_creation(&self, c: Creation) {
        if let Some(v) = self.view_of() {
            v.set_creation(c);
        }
    }

    /// The node that computed this tensor, brought up to date if the tensor is a view whose base was written since.
    pub fn grad_fn(&self) -> Result<Option<Output>> {
        if let Some(v) = self.view_of()
            && v.seen.load(Ordering::Relaxed) != self.version()
        {
            self.refresh_view(v)?;
        }
        match self.history() {
            None if self.is_batched() => self.physical().grad_fn(),
            own => Ok(own),
        }
    }

    /// As [`Tensor::grad_fn`], but as last recorded; of a batched tensor, whose value has the history, none.
    pub(crate) fn history(&self) -> Option<Output> {
        if self.has_flag(flag::HISTORY) { self.inner().history.lock().clone() } else { None }
    }

    /// Whether an op computed this tensor, as far as recorded.
    #[inline]
    pub fn has_history(&self) -> bool {
        self.has_flag(flag::HISTORY) || self.is_batched() && self.physical().has_history()
    }

    /// Runs `f` on the node that computed this tensor, if nobody else holds the node at this moment.
    pub fn with_sole_node<R>(&self, f: impl FnOnce(&Node) -> R) -> Option<R> {
        let history = self.inner().history.try_lock()?;
        let edge = history.as_ref()?;
        (Counted::strong_count(&edge.node) == 1).then(|| f(&edge.node))
    }

    /// The node that computed this tensor, if nobody else holds it at this moment.
    pub fn sole_node(&self) -> Option<NodeRef> {
        let history = self.inner().history.try_lock()?;
        let edge = history.as_ref()?;
        (Counted::strong_count(&edge.node) == 1).then(|| edge.node.clone())
    }

    /// Makes `output` the history of this tensor.
    pub(crate) fn set_history(&self, output: Output) {
        self.set_flag(flag::REQUIRES_GRAD | flag::HISTORY, true);
        let old = self.inner().history.lock().replace(output);
        if let Some(old) = old {
            super::node::drop_later(old.node);
        }
        if let Some(v) = self.view_of() {
            v.set_seen(self.version());
        }
        self.tell_of_history();
    }

    /// Has the gradient of this tensor, a fresh one, go along `edge`.
    pub(crate) fn set_edge(&self, edge: Edge) {
        match edge {
            Edge::Node(output) => self.set_history(output),
            Edge::Leaf(leaf) => self.stand_for(leaf),
        }
    }

    /// As [`Tensor::set_history`], of a tensor that nobody else has seen (if somebody has, it works as well).
    #[inline]
    pub(crate) fn begin_history(&mut self, output: Output) {
        let version = if self.view_of().is_some() { self.version() } else { 0 };
        let Some(inner) = self.inner_mut() else { return self.set_history(output) };
        *inner.flags.get_mut() |= flag::REQUIRES_GRAD | flag::HISTORY;
        if let Some(v) = &inner.view {
            v.set_seen(version);
        }
        if let Some(old) = inner.history.get_mut().replace(output) {
            super::node::drop_later(old.node);
        }
    }

    #[cold]
    fn refresh_view(&self, v: &ViewOf) -> Result<()> {
        let tracked = self.has_flag(flag::HISTORY) || v.base.requires_grad();
        if !tracked {
            return Ok(());
        }
        if let Some(why) = v.refusal(true, self) {
            return Err(Error::autograd(why));
        }
        let Some(edge) = v.base.grad_edge()? else { return Ok(()) };
        let node = node_of_view(Layout::of(&v.base), Layout::of(self), edge, OutMeta::of(self));
        // A request to retain the gradient moves to the tensor's new node.
        let old = self.history();
        self.set_history(Output { node, nr: 0 });
        self.move_retained_grad(old.as_ref());
        Ok(())
    }

    /// Checks the rules on in-place writes; nothing is changed. `recording`: the write becomes part of a graph.
    pub(crate) fn check_inplace(&self, recording: bool) -> Result<()> {
        self.check_not_frozen()?;
        if recording { self.check_recorded_write() } else { Ok(()) }
    }

    /// As [`Tensor::check_inplace`], for what writes to the memory and not only to the handle: what is checked is true
    /// until the reading ends (S7).
    pub(crate) fn check_write(&self, op: &'static str, recording: bool) -> Result<()> {
        let (_, storage) = self.memory(in_op());
        if !storage.is_writable() {
            return Err(storage.refusal(op));
        }
        self.check_inplace(recording)
    }

    /// As [`Tensor::check_write`], for what gives a sparse tensor other elements, and writes to no memory of it.
    pub(crate) fn check_write_or_exchange(&self, op: &'static str, recording: bool) -> Result<()> {
        if self.is_sparse() { self.check_inplace(recording) } else { self.check_write(op, recording) }
    }

    /// What must not be written to as part of a graph: special views first, then leaves and views of leaves.
    pub(crate) fn check_recorded_write(&self) -> Result<()> {
        if let Some(v) = self.view_of() {
            if let Some(why) = v.refusal(false, self) {
                return Err(Error::autograd(why));
            }
            if self.requires_grad() && v.base.is_leaf() {
                return Err(Error::autograd(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation. Write to it \
                     inside no_grad, or to a clone.",
                ));
            }
        }
        if self.has_flag(flag::REQUIRES_GRAD) && self.is_leaf() {
            return Err(Error::autograd(
                "a leaf Variable that requires grad is being used in an in-place operation. Write to it inside no_grad, or to \
                 a clone.",
            ));
        }
        Ok(())
    }

    /// Makes `node`, whose output 0 is the new value of this tensor, part of the graph.
    pub(crate) fn rebase(&self, node: NodeRef) -> Result<()> {
        self.rebase_to(Output { node, nr: 0 }, 0)
    }

    /// Makes `output`, the new value of this tensor, part of the graph. The tensor's old value was operand
    /// `written` of the node; a view can only be written by a node with one output.
    pub(crate) fn rebase_to(&self, output: Output, written: usize) -> Result<()> {
        let Some(v) = self.view_of() else {
            let old = self.history();
            self.set_history(output);
            self.move_retained_grad(old.as_ref());
            return Ok(());
        };
        let (base, node) = (&v.base, output.node);
        let mut edges = node.edges.clone();
        if edges.len() <= written {
            edges.resize(written + 1, None);
        }
        edges[written] = base.grad_edge()?;
        let rule = CopySlices { inner: node, written, base: Layout::of(base), view: Layout::of(self) };
        if let Some(saved) = rule.saved_slots() {
            saved.run_once();
        }
        let slices: NodeRef = Node::new(rule, edges, smallvec![OutMeta::of(base)]);
        if let Some(saved) = slices.rule.saved_slots() {
            saved.lead_to_base(&slices);
        }
        let old = base.history();
        base.set_history(Output { node: slices, nr: 0 });
        base.move_retained_grad(old.as_ref());
        // The write raised the version, so other views derive their history anew when asked. So must this one, which
        // may have been asked between the write and now.
        v.set_seen(self.version().wrapping_sub(1));
        Ok(())
    }
}

/// Makes the history of `t`, the result of a write to a view, lead to the node that the view's base has since.
pub(super) fn follow_write(t: &Tensor, written: &WeakCounted<Node>) {
    let Some(node) = written.upgrade() else { return };
    let Some(CopySlices { base, view, .. }) = node.rule.as_any().downcast_ref() else { return };
    let (base, view) = (base.clone(), view.clone());
    let view = node_of_view(base, view, Edge::Node(Output { node, nr: 0 }), OutMeta::of(t));
    t.set_history(Output { node: view, nr: 0 });
}

/// History of a base after a write to one of its views: the base's gradient outside the view passes through, the part
/// under the view goes through the rule of the op that wrote.
struct CopySlices {
    inner: NodeRef,
    /// Which operand of `inner` is the view's old value; its edge leads to the base's old history here.
    written: usize,
    base: Layout,
    view: Layout,
}

impl Rule for CopySlices {
    fn name(&self) -> Cow<'static, str> {
        "torch::autograd::CopySlices".into()
    }
    fn apply(&self, node: &NodeRef, grads: &[Option<Tensor>], run: Run) -> Result<Grads> {
        if let Some(saved) = self.saved_slots() {
            saved.check(node)?;
        }
        let at = self.written;
        let Some(g) = &grads[0] else { return Ok(smallvec![None; self.inner.edges.len().max(at + 1)]) };
        let whole = self.base.fresh(Some(g), g)?;
        let part = self.view.within(&self.base, &whole)?;
        let given = cloned(&part)?;
        let mut results = self.inner.rule.apply(&self.inner, &[Some(given)], run)?;
        if results.len() <= at {
            results.resize(at + 1, None);
        }
        match results[at].take() {
            Some(r) => {
                let r = super::engine::fit(r, part.sizes(), part.dtype(), "CopySlices", 0)?;
                part.copy_(&r)?;
            }
            None => {
                part.zero_()?;
            }
        }
        results[at] = Some(whole);
        Ok(results)
    }
    fn inputs(&self) -> u32 {
        self.inner.rule.inputs()
    }
    fn saved_slots(&self) -> Option<&SavedSlots> {
        self.inner.rule.saved_slots()
    }
    fn slot_name(&self, slot: usize) -> &'static str {
        self.inner.rule.slot_name(slot)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
