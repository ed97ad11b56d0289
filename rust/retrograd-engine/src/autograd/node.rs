//! Nodes of the graph and the edges between them.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64};

use smallvec::SmallVec;

use super::anomaly;
use super::erased::AnyPrimitive;
use super::hooks::NodeHooks;
use super::leaf::{LeafRef, WeakTensor};
use super::mode;
use super::saved::{SavedItem, SavedSlots};
use crate::call_site::CallSite;
use crate::counted::{Counted, WeakCounted};
use crate::error::Result;
use crate::kernels::thread_values::ThreadValue;
use crate::profiler;
use crate::tensor::layout::copied;
use crate::tensor::{DType, Dims, Tensor};
use crate::thread::{self, Dropping, local};

/// Gradients, one per output (on the way in) or per input (on the way out); `None` means zeros.
pub type Grads = SmallVec<[Option<Tensor>; 2]>;
pub type NodeRef = Counted<Node>;

/// Output `nr` of `node`.
#[derive(Clone)]
pub struct Output {
    pub node: NodeRef,
    pub nr: u32,
}

/// Where a gradient goes next.
#[derive(Clone)]
pub enum Edge {
    /// To the node that computed the operand.
    Node(Output),
    /// To a leaf, which accumulates.
    Leaf(LeafRef),
}

/// A weak reference to where an edge leads.
#[derive(Clone)]
pub enum WeakEdge {
    Node(WeakCounted<Node>, u32),
    Leaf(WeakTensor),
}

impl WeakEdge {
    pub fn upgrade(&self) -> Option<Edge> {
        Some(match self {
            WeakEdge::Node(node, nr) => Edge::Node(Output { node: node.upgrade()?, nr: *nr }),
            WeakEdge::Leaf(leaf) => Edge::Leaf(LeafRef::new(&leaf.upgrade()?)),
        })
    }
}

impl From<Output> for Edge {
    fn from(output: Output) -> Self {
        match output.node.rule.leaf() {
            None => Edge::Node(output),
            Some(leaf) => Edge::Leaf(LeafRef::new(leaf)),
        }
    }
}

impl Edge {
    /// The node and output that the edge leads to; makes the node of a leaf if it does not exist.
    pub fn output(&self) -> Output {
        match self {
            Edge::Node(output) => output.clone(),
            Edge::Leaf(leaf) => Output { node: leaf.accumulator(), nr: 0 },
        }
    }
    /// Which output it leads to.
    pub fn nr(&self) -> u32 {
        match self {
            Edge::Node(output) => output.nr,
            Edge::Leaf(_) => 0,
        }
    }
    /// Sizes and dtype of gradients that go along the edge.
    pub(crate) fn expects(&self) -> (&[usize], DType) {
        match self {
            Edge::Node(Output { node, nr }) => {
                let meta = &node.outputs[*nr as usize];
                (&meta.sizes, meta.dtype)
            }
            Edge::Leaf(leaf) => leaf.expects(),
        }
    }
    pub fn downgrade(&self) -> WeakEdge {
        match self {
            Edge::Node(output) => WeakEdge::Node(Counted::downgrade(&output.node), output.nr),
            Edge::Leaf(leaf) => WeakEdge::Leaf(leaf.downgrade()),
        }
    }
    /// Drops the edge without recursion.
    pub(crate) fn give_up(self) {
        if let Edge::Node(output) = self {
            drop_later(output.node);
        }
    }
}

/// What the engine must know about an output of a node to validate a gradient for it.
#[derive(Clone, Debug)]
pub struct OutMeta {
    pub sizes: Dims,
    pub dtype: DType,
}

impl OutMeta {
    #[inline(always)]
    pub fn of(t: &Tensor) -> Self {
        Self { sizes: copied(t.dims()), dtype: t.dtype() }
    }
}

/// How a node is being run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The rule's own ops are recorded, so that its results can be differentiated.
    pub create_graph: bool,
    /// The saved tensors are freed after this run: nobody else may use them any more.
    pub frees: bool,
    /// Bit i: the gradient of input i is wanted. Inputs from 31 on share the last bit.
    pub needs: u32,
}

impl Run {
    pub fn needs(self, input: usize) -> bool {
        self.needs & (1 << input.min(31)) != 0
    }
}

/// What a node does with gradients. Ops implement it through [`super::Primitive`]; foreign functions directly.
pub trait Rule: Send + Sync {
    /// torch's name of the node, such as `MulBackward0`.
    fn name(&self) -> Cow<'static, str>;
    /// Gradients of the inputs from those of the outputs.
    fn apply(&self, node: &NodeRef, grads: &[Option<Tensor>], run: Run) -> Result<Grads>;
    /// Whether the rule runs even if no gradient was received: a foreign one may return some all the same.
    fn takes_nothing(&self) -> bool {
        false
    }
    /// The saved tensors. A run that does not retain the graph frees them; a second one is then refused.
    fn saved_slots(&self) -> Option<&SavedSlots> {
        None
    }
    /// Bit i: edge i is shown. The others belong to operands that are never differentiated.
    fn inputs(&self) -> u32 {
        u32::MAX
    }
    /// What was saved of the argument with this name; `None` if there is none.
    fn saved(&self, _node: &NodeRef, _name: &str) -> Result<Option<SavedItem>> {
        Ok(None)
    }
    /// Names that [`Rule::saved`] gives values for.
    fn saved_names(&self) -> Vec<&'static str> {
        Vec::new()
    }
    /// The name of the tensor in this slot.
    fn slot_name(&self, _slot: usize) -> &'static str {
        "saved_tensors"
    }
    /// The tensor that this node accumulates into, if it is a leaf's node.
    fn leaf(&self) -> Option<&Tensor> {
        None
    }
    /// The op, if the rule is that of one.
    fn op(&self) -> Option<&dyn AnyPrimitive> {
        None
    }
    /// For downcasting by the crate that made the rule.
    fn as_any(&self) -> &dyn Any;
}

/// A node without its rule: its place in the graph.
pub struct Head {
    /// Larger than the number of every node this one leads to: descending order is a topological order.
    pub(crate) seq: u64,
    /// The number of the thread that made it.
    pub(crate) thread: u32,
    /// The engine's run and slot, packed; see `engine`.
    pub(crate) mark: AtomicU64,
    /// Where the op was called.
    pub(crate) origin: CallSite,
    pub(crate) edges: SmallVec<[Option<Edge>; 2]>,
    pub(crate) outputs: SmallVec<[OutMeta; 1]>,
    pub(crate) hooks: OnceLock<Box<NodeHooks>>,
    /// Non-owning: the Python object of this node.
    pub(crate) object_slot: AtomicPtr<()>,
}

/// One recorded op.
pub struct Node<R: ?Sized = dyn Rule> {
    pub(crate) head: Head,
    pub(crate) rule: R,
}

impl<R: ?Sized> Deref for Node<R> {
    type Target = Head;
    fn deref(&self) -> &Head {
        &self.head
    }
}

/// Sequence number of the nodes of leaves, which run as soon as they have received all their gradients.
pub const LEAF_SEQ: u64 = u64::MAX;

/// Exchanges the number that the calling thread's next node gets at least, and the thread's own.
pub(super) fn exchange_numbers(seq: &mut u64, thread: &mut u32) {
    local(|t| (*seq, *thread) = (t.next_seq.replace(*seq), t.number.replace(*thread)));
}

/// The number that the next node of the calling thread gets, unless it leads to a node of another thread.
pub fn next_sequence_nr() -> u64 {
    local(|t| t.next_seq.get())
}

/// A number larger than all earlier ones of this thread and than those of the nodes that `edges` lead to.
fn next_seq(edges: &[Option<Edge>]) -> u64 {
    local(|t| {
        let mut seq = t.next_seq.get();
        for e in edges.iter().flatten() {
            if let Edge::Node(output) = e {
                seq = seq.max(output.node.seq + 1);
            }
        }
        t.next_seq.set(seq + 1);
        if t.mode.get() & mode::PROFILED != 0 {
            profiler::node_made(seq);
        }
        seq
    })
}

impl<R: Rule + 'static> Node<R> {
    pub fn new(rule: R, edges: SmallVec<[Option<Edge>; 2]>, outputs: SmallVec<[OutMeta; 1]>) -> NodeRef {
        let seq = if rule.leaf().is_some() { LEAF_SEQ } else { next_seq(&edges) };
        let mut head = Head::new();
        (head.seq, head.edges, head.outputs) = (seq, edges, outputs);
        let node = Counted::new(Self { head, rule }).into();
        if anomaly::is_on() && seq != LEAF_SEQ {
            anomaly::recorded(&node);
        }
        node
    }
}

impl<R: Rule + 'static> From<Counted<Node<R>>> for NodeRef {
    #[inline(always)]
    fn from(node: Counted<Node<R>>) -> Self {
        // SAFETY: the same address.
        unsafe { Counted::unsized_by(node, |node| node as *const Node) }
    }
}

impl Head {
    /// That of a node which is made now, and leads nowhere yet.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            seq: 0,
            thread: thread::number(),
            mark: AtomicU64::new(0),
            origin: CallSite::here(),
            edges: SmallVec::new(),
            outputs: SmallVec::new(),
            hooks: OnceLock::new(),
            object_slot: AtomicPtr::new(null_mut()),
        }
    }
    /// Gives the node its number, once it has its edges.
    #[inline(always)]
    pub(super) fn number(&mut self) {
        self.seq = next_seq(&self.edges);
    }
}

impl Node {
    pub fn name(&self) -> Cow<'static, str> {
        self.rule.name()
    }
    /// What messages call the op that made it: `Exp` for `ExpBackward0`.
    pub(crate) fn forward_name(&self) -> String {
        self.name().trim_end_matches(|c: char| c.is_ascii_digit()).replace("Backward", "")
    }
    /// Number of creation on its thread; `u64::MAX` for leaf nodes.
    pub fn sequence_nr(&self) -> u64 {
        self.hooks_if_any().and_then(|h| *h.sequence_nr.lock()).unwrap_or(self.seq)
    }
    /// Changes what [`Node::sequence_nr`] returns. The engine uses the number of creation.
    pub fn set_sequence_nr(&self, number: u64) {
        *self.hooks().sequence_nr.lock() = Some(number);
    }
    /// One entry per differentiable input.
    pub fn next_edges(&self) -> impl Iterator<Item = Option<&Edge>> {
        self.edges.iter().enumerate().filter(|(i, _)| self.shows(*i)).map(|(_, edge)| edge.as_ref())
    }
    /// Whether edge `i` is that of a differentiable input.
    fn shows(&self, i: usize) -> bool {
        self.rule.inputs() & (1 << i.min(31)) != 0
    }
    /// The gradients of the differentiable inputs, of those of all operands.
    pub(crate) fn shown(&self, all: &[Option<Tensor>]) -> Grads {
        all.iter().enumerate().filter(|(i, _)| self.shows(*i)).map(|(_, g)| g.clone()).collect()
    }
    /// Puts the gradients of the differentiable inputs among those of all operands.
    pub(crate) fn put_shown(&self, shown: Grads, all: &mut Grads) {
        let mut shown = shown.into_iter();
        for (i, g) in all.iter_mut().enumerate() {
            if self.shows(i) {
                *g = shown.next().flatten();
            }
        }
    }
    pub fn outputs(&self) -> &[OutMeta] {
        &self.outputs
    }
    pub fn rule(&self) -> &dyn Rule {
        &self.rule
    }
    /// Where the op was called, if the host language knows.
    pub fn origin(&self) -> CallSite {
        self.origin
    }
    pub fn hooks(&self) -> &NodeHooks {
        self.hooks.get_or_init(Box::default)
    }
    /// The hooks, if there ever were any.
    pub fn hooks_if_any(&self) -> Option<&NodeHooks> {
        self.hooks.get().map(Box::as_ref)
    }
    /// The slot for the node's Python object; null if there is none. The core only stores it.
    pub fn object_slot(&self) -> &AtomicPtr<()> {
        &self.object_slot
    }
    /// Sizes and dtype of the operand at input `i`, if it requires grad.
    pub(crate) fn input_meta(&self, i: usize) -> Option<(&[usize], DType)> {
        self.edges.get(i)?.as_ref().map(Edge::expects)
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        for edge in &mut self.edges {
            if let Some(Edge::Node(_)) = edge
                && let Some(edge) = edge.take()
            {
                edge.give_up();
            }
        }
    }
}

/// Nodes whose last reference was dropped while a drop of nodes was under way.
static DYING: ThreadValue<RefCell<Vec<NodeRef>>> = ThreadValue::new(|| RefCell::new(Vec::new()));

/// Drops a reference to a node without recursion: chains of a million nodes are freed by this loop.
pub(crate) fn drop_later(node: NodeRef) {
    // Others hold it (if they give it up at this moment, the depth is one), or it leads nowhere.
    if Counted::strong_count(&node) > 1 || node.seq == LEAF_SEQ {
        return;
    }
    // At thread exit the queue may be gone: then the nodes left are dropped recursively.
    local(|t| {
        if t.dropping.get() != Dropping::No {
            if DYING.try_with(|d| d.borrow_mut().push(node)).is_ok() {
                t.dropping.set(Dropping::OthersWait);
            }
            return;
        }
        t.dropping.set(Dropping::Yes);
        drop(node);
        while t.dropping.get() == Dropping::OthersWait {
            match DYING.try_with(|d| d.borrow_mut().pop()) {
                Ok(Some(next)) => drop(next),
                _ => t.dropping.set(Dropping::Yes),
            }
        }
        t.dropping.set(Dropping::No);
    });
}
