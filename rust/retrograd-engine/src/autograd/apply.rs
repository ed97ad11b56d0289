//! The one entry through which every differentiable op runs: mode word, kernel, recording.

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;

use smallvec::{SmallVec, smallvec};

use super::anomaly;
use super::complex;
use super::erased::{AnyPrimitive, Batching, Unrecorded};
use super::finite;
use super::forward::BeforeWrite;
use super::mode::{self, GradGuard};
use super::node::{Edge, Grads, Node, NodeRef, OutMeta, Output, Rule, Run};
use super::observe;
use super::operands::{self, Results};
use super::overlap::{self, OverlapRules};
use super::primitive::{Halves, Outs, Primitive, Save, Source, Vjp};
use super::saved::{Before, Saved, SavedItem, SavedSlots, SavedTensors, pack_before, pack_saved, save_values};
use crate::autocast;
use crate::compile::record;
use crate::error::{Error, Result};
use crate::profiler;
use crate::storage::reclaim::reading;
use crate::tensor::layout::broadcast;
use crate::tensor::{DType, Dims, Form, Tensor, lazy};
use crate::transforms;

/// The rule of a node made by an op.
pub(super) struct OpRule<P: ?Sized> {
    pub saved: SavedSlots,
    pub op: P,
}

/// Without the op's type: compiled once.
impl OpRule<dyn AnyPrimitive> {
    fn run(&self, node: &NodeRef, grads: &[Option<Tensor>], run: Run) -> Result<Grads> {
        let saved = self.saved.unpack_for(node, run)?;
        // No gradient may be needed: a view made without grad mode may require grad, but its edge leads nowhere.
        if run.needs == 0 || grads.iter().all(Option::is_none) {
            return Ok(node.edges.iter().map(|_| None).collect());
        }
        let reading = reading();
        let results = if lazy::exist() && !self.op.facts().takes_lazy {
            self.run_resolved(node, grads, saved, run)
        } else {
            self.run_unpacked(node, grads, saved, run, reading.mode())
        };
        if results.is_err() {
            self.saved.unclaim(run);
        }
        results
    }
    #[inline]
    fn run_unpacked(
        &self,
        node: &NodeRef,
        grads: &[Option<Tensor>],
        saved: SavedTensors,
        run: Run,
        word: u32,
    ) -> Result<Grads> {
        if word & (mode::DETECT_NAN | mode::AUTOCAST | mode::RECORDED) != 0 {
            self.run_specially(node, grads, saved, run)
        } else {
            self.vjp(node, grads, saved, run)
        }
    }
    /// A rule that is not differentiated in turn may use kernels of its own, which do not know lazy bits.
    #[cold]
    fn run_resolved(&self, node: &NodeRef, grads: &[Option<Tensor>], saved: SavedTensors, run: Run) -> Result<Grads> {
        let word = mode::word();
        if run.create_graph || word & mode::COMPOSED != 0 {
            return self.run_unpacked(node, grads, saved, run, word);
        }
        let resolved = |x: &Option<Tensor>| x.as_ref().map(Tensor::resolved).transpose();
        let grads: Grads = grads.iter().map(resolved).collect::<Result<_>>()?;
        self.run_unpacked(node, &grads, saved.iter().map(resolved).collect::<Result<_>>()?, run, word)
    }
    #[inline]
    fn vjp(&self, node: &NodeRef, grads: &[Option<Tensor>], saved: SavedTensors, run: Run) -> Result<Grads> {
        vjp(&self.op, node, grads, saved, run)
    }
    /// The rule in a mode that is not meant for its ops.
    #[cold]
    fn run_specially(&self, node: &NodeRef, grads: &[Option<Tensor>], saved: SavedTensors, run: Run) -> Result<Grads> {
        let _below = autocast::below();
        if mode::word() & mode::RECORDED != 0 {
            let kept = saved.clone();
            record::rule(node, grads, &kept, run, || self.vjp(node, grads, saved, run))
        } else if mode::word() & mode::DETECT_NAN != 0 {
            self.run_checked(node, grads, saved, run)
        } else {
            self.vjp(node, grads, saved, run)
        }
    }
    /// The rule's results are searched for NaN as a whole, its ops are not: some make an infinity on the way.
    fn run_checked(&self, node: &NodeRef, grads: &[Option<Tensor>], saved: SavedTensors, run: Run) -> Result<Grads> {
        let kept = saved.clone();
        let word = mode::word();
        let results = {
            let _off = GradGuard::with(mode::DETECT_NAN, false);
            self.vjp(node, grads, saved, run)?
        };
        finite::check_rule(node, &results, grads, || finite::saved_names(node, &kept), word)?;
        Ok(results)
    }
    fn item(&self, node: &NodeRef, name: &str) -> Result<Option<SavedItem>> {
        let saves = self.op.facts().saves;
        let slots: SmallVec<[usize; 2]> = (0..saves.len()).filter(|&i| saves[i].name == name).collect();
        Ok(match slots[..] {
            [] => self.op.params().into_iter().find(|(n, _)| *n == name).map(|(_, v)| SavedItem::Value(v)),
            [i] => Some(SavedItem::Tensor(match self.saved.unpack_one(node, i, true)? {
                // Other nodes may have the same tensor, which is nobody's to write to.
                Some(number) if number.is_number() => Some(Tensor::number(number.item()?)?),
                tensor => tensor,
            })),
            // One name for several slots: a list of tensors.
            ref slots => {
                let tensors = slots.iter().map(|&i| self.saved.unpack_one(node, i, true));
                Some(SavedItem::Tensors(tensors.filter_map(Result::transpose).collect::<Result<_>>()?))
            }
        })
    }
    fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.op.facts().saves.iter().map(|k| k.name).collect();
        names.dedup();
        names.extend(self.op.params().into_iter().map(|(n, _)| n));
        names
    }
}

/// The rule of an op, for numbers of whatever kind the gradients are.
#[inline]
fn vjp(
    op: &dyn AnyPrimitive,
    node: &NodeRef,
    grads: &[Option<Tensor>],
    saved: SavedTensors,
    run: Run,
) -> Result<Grads> {
    if complex::any(grads) {
        complex::vjp(op, node, grads, saved, run)
    } else if operands::any_half(grads) && op.facts().halves != Halves::Loops {
        operands::vjp_in_float32(op, node, grads, &saved, run)
    } else {
        op.vjp(&Vjp { node, grads, saved, run })
    }
}

/// Runs the rule of a node on what it saved at another time.
pub(crate) fn run_rule(node: &NodeRef, grads: &[Option<Tensor>], saved: SavedTensors, run: Run) -> Result<Grads> {
    let op = node.rule.op().ok_or_else(|| Error::autograd(format!("{}: its rule is not an op's", node.name())))?;
    vjp(op, node, grads, saved, run)
}

/// Stands for a node whose outputs alone are known.
struct Meta;

impl Rule for Meta {
    fn name(&self) -> Cow<'static, str> {
        "Meta".into()
    }
    fn apply(&self, _: &NodeRef, _: &[Option<Tensor>], _: Run) -> Result<Grads> {
        Ok(Grads::new())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Node {
    /// A node with the same op, which saves nothing and leads nowhere: its rule can be asked what its inputs were like.
    pub(crate) fn without_graph(&self) -> NodeRef {
        let meta = |edge: &Edge| {
            let (sizes, dtype) = edge.expects();
            let node = Node::new(Meta, SmallVec::new(), smallvec![OutMeta { sizes: sizes.into(), dtype }]);
            Edge::Node(Output { node, nr: 0 })
        };
        let mut op = self.rule.op().expect("rules of ops are recorded").boxed();
        let node = op.move_into_node(&mut |head, _| {
            head.edges = self.edges.iter().map(|edge| edge.as_ref().map(meta)).collect();
            head.outputs = self.outputs.clone();
            head.number();
            Ok(())
        });
        node.expect("what fills it does not fail")
    }
}

/// The rule of a result whose history a backward pass has used up.
struct Used;

impl Rule for Used {
    fn name(&self) -> Cow<'static, str> {
        "CompiledBackward".into()
    }
    fn apply(&self, _: &NodeRef, _: &[Option<Tensor>], _: Run) -> Result<Grads> {
        Err(Error::autograd(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already \
             been freed). The compiled function has run the backward pass of this result itself.",
        ))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Tensor {
    /// This tensor, as the result of a node that has run and cannot run again.
    pub(crate) fn with_used_history(self) -> Result<Tensor> {
        let mut x = self.alias();
        let node = Node::new(Used, SmallVec::new(), smallvec![OutMeta::of(&x)]);
        x.begin_history(Output { node, nr: 0 });
        Ok(x)
    }
}

impl<P: Primitive> OpRule<P> {
    fn erased(&self) -> &OpRule<dyn AnyPrimitive> {
        self
    }
}

impl<P: Primitive> Rule for OpRule<P> {
    fn name(&self) -> Cow<'static, str> {
        self.op.node().into()
    }
    fn apply(&self, node: &NodeRef, grads: &[Option<Tensor>], run: Run) -> Result<Grads> {
        self.erased().run(node, grads, run)
    }
    fn saved_slots(&self) -> Option<&SavedSlots> {
        Some(&self.saved)
    }
    fn inputs(&self) -> u32 {
        self.op.inputs()
    }
    fn saved(&self, node: &NodeRef, name: &str) -> Result<Option<SavedItem>> {
        self.erased().item(node, name)
    }
    fn slot_name(&self, slot: usize) -> &'static str {
        P::SAVE[slot].name
    }
    fn saved_names(&self) -> Vec<&'static str> {
        self.erased().names()
    }
    fn op(&self) -> Option<&dyn AnyPrimitive> {
        Some(&self.op)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Runs an op; records a node if grad mode is on and an operand requires grad.
#[inline]
pub fn apply<P: Primitive>(op: P, xs: &[&Tensor]) -> Result<Outs> {
    applied(op, xs)
}

/// As [`apply`], for ops with one result.
#[inline]
pub fn apply1<P: Primitive>(op: P, xs: &[&Tensor]) -> Result<Tensor> {
    applied(op, xs)
}

#[inline(always)]
fn applied<P: Primitive, R: Results>(op: P, xs: &[&Tensor]) -> Result<R> {
    let reading = reading();
    let word = reading.mode();
    if word & mode::SPECIAL != 0 {
        return apply_special(&mut Some(op), xs, word).map(R::of_list);
    }
    operands::check_dtype(&op, xs)?;
    let mut results: R = operands::forward(&op, xs)?;
    if mode::records(word) && operands::any(xs, Tensor::requires_grad) {
        record_fresh(&mut Some(op), xs, results.each(), word)?;
    }
    Ok(results)
}

/// As [`apply`], of an op whose type is not known.
pub(crate) fn apply_any(op: &mut dyn Unrecorded, xs: &[&Tensor]) -> Result<Outs> {
    let reading = reading();
    let word = reading.mode();
    if word & mode::SPECIAL != 0 {
        return apply_special(op, xs, word);
    }
    op.op().check_dtype(xs)?;
    let mut outs = op.op().forward(xs)?;
    if mode::records(word) && operands::any(xs, Tensor::requires_grad) {
        record_fresh(op, xs, &mut outs, word)?;
    }
    Ok(outs)
}

/// The op with a forward level or a transform switched on.
#[cold]
fn apply_special(op: &mut dyn Unrecorded, xs: &[&Tensor], word: u32) -> Result<Outs> {
    if word & mode::TRANSFORM != 0
        && let Some(level) = transforms::innermost(xs)?
    {
        return transforms::run(op.op(), xs, &level);
    }
    if word & mode::OBSERVED != 0 {
        observe::note(op.op(), xs);
    }
    let _span = (word & mode::PROFILED != 0).then(|| profiler::primitive(op.op(), false, xs));
    op.op().check_dtype(xs)?;
    let recorded = word & mode::RECORDED != 0;
    let mut outs = if recorded { record::forward(op.op(), xs)? } else { op.op().forward(xs)? };
    if word & mode::DETECT_NAN != 0 {
        finite::check_results(op.op(), xs, &outs, word)?;
    }
    let mut node = None;
    if mode::records(word) && operands::any(xs, Tensor::requires_grad) {
        node = record_outs(op, xs, &mut outs, word)?;
    }
    if mode::propagates(word) {
        super::forward::propagate_tangents(op_of(node.as_ref(), op), xs, &outs)?;
        share_tangents(node.as_ref(), &outs)?;
    }
    Ok(outs)
}

/// The op that ran: recording moved it into its node.
fn op_of<'a>(node: Option<&'a NodeRef>, op: &'a dyn Unrecorded) -> &'a dyn AnyPrimitive {
    node.and_then(|node| node.rule.op()).unwrap_or_else(|| op.op())
}

/// Results that their node saves are saved with their tangents.
fn share_tangents(node: Option<&NodeRef>, outs: &[Tensor]) -> Result<()> {
    match node.and_then(|node| node.rule.saved_slots()) {
        Some(saved) => saved.share_tangents(&|nr| outs.get(nr)),
        None => Ok(()),
    }
}

/// The op in one of its forms: a fresh result, or written into operand 0, or to the tensor of [`with_out`].
#[inline]
pub fn apply_as<P: Primitive>(form: Form, op: P, xs: &[&Tensor]) -> Result<Tensor> {
    if form == Form::InPlace {
        return apply_inplace(op, xs);
    }
    if form == Form::Out
        && let Some(out) = write_to_given(&op, xs)?
    {
        return Ok(out);
    }
    apply1(op, xs)
}

thread_local! {
    /// Where the next op of the form [`Form::Out`] may write its result.
    static GIVEN: Cell<Option<Tensor>> = const { Cell::new(None) };
}

/// Calls an op in the form [`Form::Out`]. Its result is `out` if it could be written there at once, which needs an
/// elementwise op with a result of the sizes and the dtype of `out`, whose memory none of the operands has. Otherwise
/// it is another tensor, and `out` is as it was.
pub fn with_out<R>(out: &Tensor, operands: &[&Tensor], call: impl FnOnce() -> R) -> R {
    struct Before(Option<Tensor>);
    impl Drop for Before {
        fn drop(&mut self) {
            GIVEN.set(self.0.take());
        }
    }
    let is_apart = operands.iter().all(|x| !x.shares_storage(out));
    let _before = Before(GIVEN.replace(is_apart.then(|| out.clone())));
    call()
}

/// Writes the result to the tensor of [`with_out`], which is returned, if that can be done at once.
#[cold]
fn write_to_given(op: &dyn AnyPrimitive, xs: &[&Tensor]) -> Result<Option<Tensor>> {
    let Some(out) = GIVEN.take() else { return Ok(None) };
    let reading = reading();
    let is_elementwise =
        matches!(op.facts().batch, Batching::Pointwise) && op.overlap_rules() == OverlapRules::ELEMENTWISE;
    if !is_elementwise || !is_unobserved(xs, reading.mode()) || out.may_overlap_itself() {
        return Ok(None);
    }
    let mut sizes = Dims::new();
    for x in xs {
        if x.shares_storage(&out) {
            return Ok(None);
        }
        sizes = broadcast(op.facts().name, &sizes, x.sizes())?;
    }
    op.check_dtype(xs)?;
    if sizes[..] != *out.sizes() || op.computes_in(xs)? != out.dtype() {
        return Ok(None);
    }
    out.check_write(op.facts().name, false)?;
    // SAFETY: (1) as tested; (2) no operand has the memory of the target.
    if !unsafe { op.forward_into(xs, &out)? } {
        return Ok(None);
    }
    out.bump_version();
    Ok(Some(out))
}

/// Whether an op that writes to a tensor is in no mode that would see it, is not recorded, and meets no tensor that is
/// to be resolved first.
#[inline(always)]
fn is_unobserved(xs: &[&Tensor], word: u32) -> bool {
    word & (mode::SPECIAL | mode::INSIDE | mode::WATCH_WRITES | mode::INFERENCE) == 0
        && !lazy::exist()
        && !(mode::records(word) && xs.iter().any(|x| x.requires_grad()))
}

/// Where the gradients of an op's operands go.
pub(crate) type GradEdges = SmallVec<[Option<Edge>; 2]>;

/// Puts the edges of operands where their node has them.
#[inline(always)]
fn push_grad_edges(xs: &[&Tensor], edges: &mut GradEdges) -> Result<()> {
    for x in xs {
        if x.dtype().is_differentiable() {
            x.push_grad_edge(edges)?;
        } else {
            edges.push(None);
        }
    }
    Ok(())
}

/// Bit i: operand i has an edge. Operands from 31 on share the last bit.
#[inline(always)]
pub(super) fn edge_bits(edges: &[Option<Edge>]) -> u32 {
    let mut bits = 0;
    for (i, edge) in edges.iter().enumerate() {
        bits |= u32::from(edge.is_some()) << i.min(31);
    }
    bits
}

/// Makes the node of an op that ran. `before` is given for an op that wrote to operand 0, with the edges of that time.
///
/// What the node has is written to its place at once: what is moved there is read again a moment after it was written,
/// in other pieces, and the CPU waits for each of them.
#[inline(always)]
fn record(
    op: &mut dyn Unrecorded,
    xs: &[&Tensor],
    outs: &[Tensor],
    before: Option<(&Before, GradEdges)>,
) -> Result<NodeRef> {
    let saves = op.op().facts().saves;
    let (before, mut edges) = before.unzip();
    let node = op.move_into_node(&mut |head, saved| {
        match edges.take() {
            Some(edges) => head.edges = edges,
            None => push_grad_edges(xs, &mut head.edges)?,
        }
        for o in outs {
            head.outputs.push(OutMeta::of(o));
        }
        if !saves.is_empty() {
            save_values(saves, &head.edges, xs, outs, before, saved.values_mut())?;
        }
        head.number();
        Ok(())
    })?;
    if anomaly::is_on() {
        anomaly::recorded(&node);
    }
    Ok(node)
}

/// A node of an op that saves nothing, for a result that was made in another way.
pub(crate) fn node_of<P: Primitive>(op: P, edge: Edge, output: OutMeta) -> NodeRef {
    Node::new(OpRule { saved: SavedSlots::new(SmallVec::new()), op }, smallvec![Some(edge)], smallvec![output])
}

/// Records an op with fresh results.
fn record_fresh(op: &mut dyn Unrecorded, xs: &[&Tensor], outs: &mut [Tensor], word: u32) -> Result<()> {
    if word & mode::SAVED_HOOKS != 0 || outs.len() != 1 {
        return record_outs(op, xs, outs, word).map(drop);
    }
    // The one result takes the node: no reference to it is counted up and down.
    if outs[0].dtype().is_differentiable() {
        let node = record(op, xs, outs, None)?;
        outs[0].begin_history(Output { node, nr: 0 });
    }
    Ok(())
}

/// As [`record_fresh`]; gives the node, if a result is differentiable.
#[cold]
fn record_outs(op: &mut dyn Unrecorded, xs: &[&Tensor], outs: &mut [Tensor], word: u32) -> Result<Option<NodeRef>> {
    if !outs.iter().any(|o| o.dtype().is_differentiable()) {
        return Ok(None);
    }
    let node = record(op, xs, outs, None)?;
    for (nr, o) in outs.iter_mut().enumerate() {
        if o.dtype().is_differentiable() {
            o.begin_history(Output { node: node.clone(), nr: nr as u32 });
        }
    }
    if word & mode::SAVED_HOOKS != 0 {
        pack_saved(&node, &|nr| outs.get(nr).cloned())?;
    }
    Ok(Some(node))
}

/// Runs the op and writes its result to operand 0, which is returned.
#[inline]
pub fn apply_inplace<P: Primitive>(op: P, xs: &[&Tensor]) -> Result<Tensor> {
    let reading = reading();
    if is_plain_write(xs, reading.mode()) && op.overlap_rules() == OverlapRules::ELEMENTWISE {
        operands::check_dtype(&op, xs)?;
        // SAFETY: (1) the target is contiguous; (2) no other operand has its memory.
        if operands::as_they_are(&op, xs)? && unsafe { op.forward_into(xs, xs[0])? } {
            xs[0].bump_version();
            return Ok(xs[0].clone());
        }
    }
    apply_any_inplace(&mut Some(op), xs)
}

/// Whether an op that writes to operand 0 is unobserved, and its target is plain and shares its memory with no other
/// operand: the op checks and does all that there is.
#[inline]
fn is_plain_write(xs: &[&Tensor], word: u32) -> bool {
    let (target, others) = (xs[0], &xs[1..]);
    is_unobserved(xs, word)
        && target.is_contiguous()
        && target.check_write("", false).is_ok()
        && !others.iter().any(|x| x.shares_storage(target))
}

/// As [`apply_inplace`], of an op whose type is not known.
pub(crate) fn apply_any_inplace(op: &mut dyn Unrecorded, xs: &[&Tensor]) -> Result<Tensor> {
    let _reading = reading();
    let target = xs[0];
    let word = mode::word();
    let facts = op.op().facts();
    if word & (mode::TRANSFORM | mode::INSIDE | mode::OBSERVED) != 0 {
        transforms::check_captured(facts.name, target)?;
        if let Some(level) = transforms::innermost(xs)? {
            return transforms::run_inplace(op.op(), xs, &level);
        }
        if word & mode::OBSERVED != 0 {
            observe::note(op.op(), xs);
        }
    }
    let _span = (word & mode::PROFILED != 0).then(|| profiler::primitive(op.op(), true, xs));
    let recording =
        mode::records(word) && target.dtype().is_differentiable() && operands::any(xs, Tensor::requires_grad);
    target.check_write_or_exchange(facts.name, recording)?;
    op.op().check_dtype(xs)?;
    overlap::check(op.op(), xs)?;
    let propagating = if mode::propagates(word) { BeforeWrite::of(xs)? } else { None };
    // Edges are those of before the write: afterwards views of the same memory have other histories.
    let before = if recording {
        let mut grad_edges = GradEdges::new();
        push_grad_edges(xs, &mut grad_edges)?;
        let copy = propagating.as_ref().and_then(BeforeWrite::target);
        Some((before_write(facts.saves, xs, copy, &grad_edges, word)?, grad_edges))
    } else {
        None
    };
    target.tell_of_write()?;
    let recorded = word & mode::RECORDED != 0;
    if recorded {
        record::before_write(target);
    }
    let detecting = (word & mode::DETECT_NAN != 0).then(|| finite::before_write(xs));
    // Kernels rest on targets that do not overlap themselves, unless the op knows of others.
    let direct = op.op().overlap_rules().repeats != overlap::Repeats::Refused || !target.may_overlap_itself();
    let write = || {
        // SAFETY: (1) just asked for; (2) `overlap::check` held the operands against the rules.
        if !(direct && unsafe { op.op().forward_into(xs, target)? }) {
            let result = Tensor::of_list(op.op().forward(xs)?);
            write_result(facts.name, &result, target)?;
        }
        Ok(())
    };
    if recorded {
        record::write(op.op(), xs, write)?;
    } else {
        write()?;
    }
    target.bump_version();
    let mut recorded = None;
    if let Some((before, grad_edges)) = before {
        let node = record(op, xs, std::slice::from_ref(target), Some((&before, grad_edges)))?;
        target.rebase(node.clone())?;
        if word & mode::SAVED_HOOKS != 0 {
            pack_saved(&node, &|_| Some(target.clone()))?;
        }
        recorded = Some(node);
    }
    if let Some(before) = propagating {
        before.propagate(op_of(recorded.as_ref(), op), xs, target)?;
        share_tangents(recorded.as_ref(), std::slice::from_ref(target))?;
    }
    if let Some(before) = detecting {
        finite::check_written(op_of(recorded.as_ref(), op), xs, before, word)?;
    }
    Ok(target.clone())
}

/// What a recorded write needs of the state before it. Errors of what cannot be saved are raised here, before anything
/// is written. `copy` is what was, if that has been copied.
fn before_write(
    saves: &'static [Save],
    xs: &[&Tensor],
    copy: Option<&Tensor>,
    grad_edges: &[Option<Edge>],
    word: u32,
) -> Result<Before> {
    let bits = edge_bits(grad_edges);
    let needed = |k: &&Save| k.for_grads & bits != 0;
    let copy = if saves.iter().filter(needed).any(|k| k.source == Source::Input(0)) {
        Some(match copy {
            // With its history and its tangents.
            Some(copy) => copy.clone(),
            None => {
                let copy = crate::tensor::copy::copy(xs[0])?;
                if let Some(edge) = &grad_edges[0] {
                    copy.set_edge(edge.clone());
                }
                copy
            }
        })
    } else {
        None
    };
    for k in saves.iter().filter(needed) {
        if let Source::Input(i) = k.source
            && i > 0
            && let Some(x) = xs.get(i)
        {
            Saved::check(x)?;
        }
    }
    let versions = xs.iter().map(|x| x.version()).collect();
    let mut before = Before { copy, versions, packed: SmallVec::new() };
    if word & mode::SAVED_HOOKS != 0 {
        pack_before(saves, grad_edges, xs, &mut before)?;
    }
    Ok(before)
}

/// Copies a fresh result into the tensor an in-place op writes to; checks that shape and dtype allow it.
pub(crate) fn write_result(op: &'static str, result: &Tensor, target: &Tensor) -> Result<()> {
    check_target(op, result.sizes(), result.dtype(), target)?;
    if target.is_sparse() {
        return target.take_elements(op, result);
    }
    crate::tensor::copy::copy_into(result, target)
}

/// Whether a result of these sizes and dtype may be written to `target`.
pub(crate) fn check_target(op: &'static str, sizes: &[usize], dtype: DType, target: &Tensor) -> Result<()> {
    if sizes != target.sizes() {
        return Err(Error::shape(
            op,
            format!(
                "output with shape {:?} doesn't match the broadcast shape {sizes:?}: an in-place op cannot change the shape of \
                 its tensor; use the out-of-place form",
                target.sizes()
            ),
        ));
    }
    if !dtype.can_cast(target.dtype()) {
        return Err(Error::dtype(
            op,
            format!(
                "result type {} can't be cast to the desired output type {}: use the out-of-place form",
                dtype.scalar_type_name(),
                target.dtype().scalar_type_name()
            ),
        ));
    }
    Ok(())
}
