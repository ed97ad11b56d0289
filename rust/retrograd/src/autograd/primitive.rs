//! What a room must state about a differentiable op: the one trait with no defaults for its rules.

use std::fmt::Debug;

use smallvec::SmallVec;

use super::apply::{apply_any, first};
use super::erased::AnyPrimitive;
use super::mode;
use super::node::{Grads, NodeRef, Run};
use super::overlap::{Reads, Sharing};
use super::saved::Kept;
use crate::error::{Error, Result};
use crate::tensor::{DType, Tensor, Value};

/// Results of an op.
pub type Outs = SmallVec<[Tensor; 1]>;

/// Where a kept tensor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Input(usize),
    Output(usize),
}

/// A tensor the rule uses, the name it is shown under (`_saved_<name>`), and for which inputs' gradients.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    pub source: Source,
    pub name: &'static str,
    /// Bit i: kept only if input i is followed; all ones: if any is.
    pub for_grads: u32,
}

impl Keep {
    pub const fn input(i: usize, name: &'static str) -> Self {
        Self { source: Source::Input(i), name, for_grads: u32::MAX }
    }
    pub const fn output(i: usize, name: &'static str) -> Self {
        Self { source: Source::Output(i), name, for_grads: u32::MAX }
    }
    /// Kept only when the gradient of this input is needed.
    pub const fn when(self, input: usize) -> Self {
        Self { for_grads: 1 << input, ..self }
    }
}

/// How an op acts on operands with an additional batch axis.
pub enum Batch<P> {
    /// Elementwise with broadcasting: align the batch axis in front of the operands' dims.
    Pointwise,
    /// The same op with its parameters (dims, sizes) adjusted takes operands whose axis 0 is the batch. Given: the
    /// number of dims of each operand without the batch axis, and the batch size.
    Lift(fn(&P, ndims: &[usize], batch: usize) -> Result<P>),
    /// A rule of its own: operands with the position of their batch axis; results with theirs.
    Rule(BatchRule<P>),
    /// No rule: run the op once per entry.
    Loop,
}

/// See [`Batch::Rule`].
pub type BatchRule<P> = fn(&P, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) -> Result<BatchOuts>;

/// Results, and where their batch axes are.
pub type BatchOuts = (Outs, SmallVec<[Option<usize>; 1]>);

/// A differentiable op: its parameters are the fields of the implementing type, its operands tensors.
///
/// The engine does the rest once for all: it reduces gradients of broadcast operands, casts them, checks versions,
/// accumulates. Rules are written in tensor ops, so their own derivatives need no rule.
pub trait Primitive: Debug + Clone + Send + Sync + 'static {
    /// The op's name in messages.
    const NAME: &'static str;
    /// What the VJP needs of operands and results.
    const KEEP: &'static [Keep];
    /// How the op batches.
    const BATCH: Batch<Self>;

    /// torch's name of the node.
    fn node(&self) -> &'static str;

    /// The op itself, on plain memory.
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs>;

    /// Writes the result to `out`, which may be operand 0 itself, if that can be done at once; `false` lets the caller
    /// compute a fresh result and copy it. Nothing may be written before all checks passed.
    fn forward_into(&self, _xs: &[&Tensor], _out: &Tensor) -> Result<bool> {
        Ok(false)
    }

    /// What the op, written to operand 0, minds of memory that elements share.
    fn sharing(&self) -> Sharing {
        Sharing::ELEMENTWISE
    }

    /// As [`Primitive::sharing`], of operand `i` alone, where operands differ in it.
    fn reads(&self, _xs: &[&Tensor], _i: usize) -> Reads {
        self.sharing().reads
    }

    /// Gradients of the operands.
    fn vjp(&self, cx: &Vjp) -> Result<Grads>;

    /// Tangents of the results; `None` for zero.
    fn jvp(&self, cx: &Jvp) -> Result<Grads>;

    /// Bit i: operand i is differentiable by nature, unlike an index or a mask, and so counts among the node's inputs.
    fn inputs(&self) -> u32 {
        u32::MAX
    }

    /// Parameters as `_saved_<name>` shows them.
    fn params(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// What a VJP rule is given.
pub struct Vjp<'a> {
    pub node: &'a NodeRef,
    pub grads: &'a [Option<Tensor>],
    pub kept: Kept,
    pub run: Run,
}

impl Vjp<'_> {
    /// The gradient of the (first) output.
    pub fn g(&self) -> &Tensor {
        self.grads[0].as_ref().expect("the engine runs a node with one output only when its gradient arrived")
    }
    /// The gradient of output `i`, if one arrived.
    pub fn g_of(&self, i: usize) -> Option<&Tensor> {
        self.grads.get(i).and_then(Option::as_ref)
    }
    /// The tensor kept by entry `i` of `KEEP`.
    pub fn kept(&self, i: usize) -> Result<&Tensor> {
        self.kept
            .get(i)
            .and_then(Option::as_ref)
            .ok_or_else(|| Error::autograd(format!("{}: rule asked for a value that was not kept", self.node.name())))
    }
    /// Whether the gradient of operand `i` is wanted.
    pub fn needs(&self, i: usize) -> bool {
        self.run.needs(i)
    }
    /// Whether the gradients are differentiated in turn: the rule's ops are recorded, or push tangents. Then the rule must
    /// consist of ops; otherwise it may use a kernel of its own.
    pub fn differentiating(&self) -> bool {
        self.run.create_graph || mode::word() & mode::SPECIAL != 0
    }
    /// Sizes of operand `i`, which must be followed.
    pub fn sizes(&self, i: usize) -> &[usize] {
        self.node.input_meta(i).map_or(&[], |(sizes, _)| sizes)
    }
    pub fn dtype(&self, i: usize) -> DType {
        self.node.input_meta(i).map_or(DType::Float32, |(_, dtype)| dtype)
    }
    /// Evaluates `f` if the gradient of operand `i` is wanted.
    pub fn when(&self, i: usize, f: impl FnOnce() -> Result<Tensor>) -> Result<Option<Tensor>> {
        self.needs(i).then(f).transpose()
    }
}

/// What a JVP rule is given: operands, results and the operands' tangents.
pub struct Jvp<'a> {
    pub xs: &'a [&'a Tensor],
    pub outs: &'a [Tensor],
    pub ts: &'a [Option<Tensor>],
}

impl Jvp<'_> {
    /// The tangent of operand `i`, if it has one.
    pub fn t(&self, i: usize) -> Option<&Tensor> {
        self.ts.get(i).and_then(Option::as_ref)
    }
    /// As [`Vjp::differentiating`]: whether the tangents are differentiated in turn.
    pub fn differentiating(&self) -> bool {
        let word = mode::word();
        let all = || self.xs.iter().copied().chain(self.ts.iter().flatten());
        word & mode::SPECIAL != 0 || mode::records(word) && all().any(Tensor::requires_grad)
    }
}

/// One gradient or tangent.
pub fn one(t: Tensor) -> Grads {
    let mut v = Grads::new();
    v.push(Some(t));
    v
}

/// One gradient or tangent, or none.
pub fn maybe(t: Option<Tensor>) -> Grads {
    let mut v = Grads::new();
    v.push(t);
    v
}

/// The result of an op with one output.
pub fn out(t: Tensor) -> Outs {
    let mut v = Outs::new();
    v.push(t);
    v
}

/// JVP of an op that is linear in its only tensor operand: the op applied to the tangent.
pub fn linear(op: &dyn AnyPrimitive, cx: &Jvp) -> Result<Grads> {
    match cx.t(0) {
        None => Ok(cx.outs.iter().map(|_| None).collect()),
        Some(t) => Ok(apply_any(&mut *op.boxed(), &[t])?.into_iter().map(Some).collect()),
    }
}

/// JVP of an op with one output that is linear in each operand (multilinear): a sum over the operands of the op with the
/// tangent in the operand's place.
pub fn linear_in_each(op: &dyn AnyPrimitive, cx: &Jvp) -> Result<Grads> {
    let mut sum: Option<Tensor> = None;
    for i in 0..cx.xs.len() {
        let Some(t) = cx.t(i) else { continue };
        let mut xs: SmallVec<[&Tensor; 4]> = cx.xs.iter().copied().collect();
        xs[i] = t;
        let part = first(apply_any(&mut *op.boxed(), &xs)?);
        sum = Some(match sum {
            None => part,
            Some(s) => s.add(&part)?,
        });
    }
    Ok(maybe(sum))
}

/// JVP of an op with one output that is jointly linear in all operands: the op applied to the tangents, zeros where
/// there is none.
pub fn jointly_linear(op: &dyn AnyPrimitive, cx: &Jvp) -> Result<Grads> {
    if cx.ts.iter().all(Option::is_none) {
        return Ok(maybe(None));
    }
    let filled: Vec<Tensor> = cx
        .xs
        .iter()
        .zip(cx.ts)
        .map(|(x, t)| t.clone().map_or_else(|| Tensor::full(x.sizes(), 0i64.into(), x.dtype()), Ok))
        .collect::<Result<_>>()?;
    let refs: Vec<&Tensor> = filled.iter().collect();
    Ok(maybe(Some(first(apply_any(&mut *op.boxed(), &refs)?))))
}
