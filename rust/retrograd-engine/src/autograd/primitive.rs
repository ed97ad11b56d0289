//! What a definition must state about a differentiable op: the one trait with no defaults for its rules.

use std::fmt::Debug;
use std::marker::PhantomData;

use smallvec::SmallVec;

use super::apply::apply_any;
use super::erased::AnyPrimitive;
use super::mode;
use super::node::{Grads, NodeRef, Run};
use super::operands::Results;
use super::overlap::{OverlapRules, Reads};
use super::saved::SavedTensors;
use crate::error::{Error, Result};
use crate::tensor::{DType, Dtypes, Tensor, Value, sparse};

/// Results of an op.
pub type Outs = SmallVec<[Tensor; 1]>;

/// Where a saved tensor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Input(usize),
    Output(usize),
}

/// A tensor the rule uses, the name it is shown under (`_saved_<name>`), and for which inputs' gradients.
#[derive(Clone, Copy, Debug)]
pub struct Save {
    pub source: Source,
    pub name: &'static str,
    /// Bit i: saved only if input i requires grad; all ones: if any does.
    pub for_grads: u32,
}

impl Save {
    pub const fn input(i: usize, name: &'static str) -> Self {
        Self { source: Source::Input(i), name, for_grads: u32::MAX }
    }
    pub const fn output(i: usize, name: &'static str) -> Self {
        Self { source: Source::Output(i), name, for_grads: u32::MAX }
    }
    /// SavedTensors only when the gradient of this input is needed.
    pub const fn when(self, input: usize) -> Self {
        Self { for_grads: 1 << input, ..self }
    }
}

/// Names of parameters, and how to read them.
pub type Params<P> = &'static [(&'static str, fn(&P) -> Value)];

/// The parameters of an op, with their values.
pub(crate) fn values<P>(params: Params<P>, op: &P) -> Vec<(&'static str, Value)> {
    params.iter().map(|(name, value)| (*name, value(op))).collect()
}

/// Lists the parameters of an op, which is `op` in the values: fields of that name, or other values.
///
/// ```text
/// const PARAMS: Params<Self> = params!(op; alpha, dim: op.over.saved_dim());
/// ```
macro_rules! params {
    ($op:ident; $($name:ident $(: $value:expr)?),* $(,)?) => {
        &[$((stringify!($name), |$op| {
            let _ = $op;
            $crate::tensor::Value::from(params!(@ $op $name $($value)?))
        })),*]
    };
    (@ $op:ident $name:ident) => { $op.$name };
    (@ $op:ident $name:ident $value:expr) => { $value };
}
pub(crate) use params;

/// How an op acts on operands with an additional batch axis.
pub enum Batch<P> {
    /// Elementwise with broadcasting: align the batch axis in front of the operands' dims. The VJP is elementwise too:
    /// of a block of the cotangent and of what was saved, it is that block of the gradients (`engine/chain.rs`).
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

/// How an op differentiates in forward mode.
pub enum Tangents<P> {
    /// No result changes with an operand.
    Zero,
    /// Linear in the operands of the mask together (bit i: operand i): the op on their tangents, with zeros where one
    /// has none; the other operands stay as they are.
    Linear(u32),
    /// One result, linear in each operand alone: a sum over the operands of the op with the tangent in the operand's
    /// place.
    Multilinear,
    /// A rule of its own: tangents of the results, `None` for zero.
    Rule(fn(&P, &Jvp) -> Result<Grads>),
}

impl<P: Primitive> Tangents<P> {
    /// The tangents of the op's results.
    pub fn apply(&self, op: &P, cx: &Jvp) -> Result<Grads> {
        let run = |xs: &[&Tensor]| apply_any(&mut *op.boxed(), xs);
        match *self {
            Tangents::Zero => Ok(none(cx)),
            Tangents::Linear(mask) => linear(&run, mask, cx),
            Tangents::Multilinear => multilinear(&run, cx),
            Tangents::Rule(rule) => rule(op, cx),
        }
    }
}

/// What an op's VJP rule, which is written for real numbers, means for complex ones (design D22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplexRule {
    /// The op is complex-analytic in every operand: the engine conjugates what the rule is given and what it returns.
    Analytic,
    /// The op is linear with real coefficients, so the conjugates cancel: the rule is given the gradient as it is.
    RealLinear,
    /// The op is not analytic in an operand: the rule is written for complex numbers, and given the gradient as it is.
    Own,
}

/// How an op takes halves, where they are among its dtypes (design D23).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// Its loops convert them as they read and write.
    Loops,
    /// So do its loops, but its rules, which take several ops, run in float32.
    LoopsAlone,
    /// Its loops do not know them: it runs in float32 on converted operands, and its results of that dtype are
    /// converted back, and so do its rules.
    InFloat32,
}

/// A differentiable op: its parameters are the fields of the implementing type, its operands tensors.
///
/// The engine does the rest once for all: it reduces gradients of broadcast operands, casts them, checks versions,
/// accumulates. Rules are written in tensor ops, so their own derivatives need no rule.
pub trait Primitive: Debug + Clone + Send + Sync + 'static {
    /// The op's name in messages.
    const NAME: &'static str;
    /// torch's name of the node: by default that of the op.
    const NODE: &'static str = node_name::<Self>();
    /// What the VJP needs of operands and results.
    const SAVE: &'static [Save];
    /// Parameters as `_saved_<name>` shows them.
    const PARAMS: Params<Self> = &[];
    /// The dtypes that the op computes in (see [`Primitive::computes_in`]): others are refused before anything runs.
    const DTYPES: Dtypes = Dtypes::STORED;
    /// How the op batches.
    const BATCH: Batch<Self>;
    /// How the op differentiates in forward mode.
    const JVP: Tangents<Self>;
    /// How the VJP rule treats complex numbers. A forgotten mark makes gradients of complex operands wrong; the
    /// records' differences tell.
    const COMPLEX: ComplexRule = ComplexRule::Analytic;
    /// How the op takes halves.
    const HALVES: Halves = Halves::Loops;
    /// Whether the op takes tensors with lazy bits as they are, as views do: others are given copies without them.
    const TAKES_LAZY: bool = false;
    /// Bit i: result i is a statistic that stays in float32 if the op takes halves in float32.
    const STATISTICS: u32 = 0;

    /// The name of the node, where it depends on parameters.
    fn node(&self) -> &'static str {
        Self::NODE
    }

    /// The dtype that the kernel runs in, after promotion.
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(xs[0].dtype())
    }

    /// As [`Primitive::DTYPES`], where parameters decide which of them.
    #[inline(always)]
    fn dtypes(&self) -> Dtypes {
        Self::DTYPES
    }

    /// torch's name of the kernel, in the message that it is not there for a dtype.
    fn kernel_name(&self) -> &'static str {
        Self::NAME
    }

    /// The op itself, on plain memory, in one of [`Primitive::DTYPES`] that its loops know ([`Primitive::HALVES`]).
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs>;

    /// As [`Primitive::forward`], of an op with one result: to be stated by those of which small tensors have many.
    #[inline]
    fn forward_one(&self, xs: &[&Tensor]) -> Result<Tensor> {
        self.forward(xs).map(Tensor::of_list)
    }

    /// The op itself, of operands some of which are sparse.
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(sparse::refused(Self::NAME, xs))
    }

    /// Writes the result to `out`, which may be operand 0 itself, if that can be done at once; `false` lets the caller
    /// compute a fresh result and copy it. Nothing may be written before all checks passed.
    ///
    /// # Safety
    /// 1. No two elements of `out` share memory, unless [`Primitive::overlap_rules`] allow it. 2. The memory that
    ///    operands share with `out` is what these rules allow.
    unsafe fn forward_into(&self, _xs: &[&Tensor], _out: &Tensor) -> Result<bool> {
        Ok(false)
    }

    /// Whether [`Primitive::run_flat`] is there for operands of these layouts and dtypes, and a result that has its own
    /// already: one loop over contiguous memory, in which an operand of one element is repeated.
    fn runs_flat(&self, _xs: &[&Tensor], _out: &Tensor) -> bool {
        false
    }

    /// Writes the result to `out`, without a look at what [`Primitive::runs_flat`] has found.
    ///
    /// # Safety
    /// 1. `runs_flat` holds, or it holds for these tensors with as many elements fewer in each that has more than one.
    /// 2. Each operand is `out` itself, or shares no memory with it.
    unsafe fn run_flat(&self, _xs: &[&Tensor], _out: &Tensor) {
        unreachable!("{}: has no flat loop", Self::NAME)
    }

    /// As [`Primitive::run_flat`], for an op of two operands, where their elements and those of the result are; false,
    /// and nothing is written, for an op that has no such loop.
    ///
    /// # Safety
    /// As [`Primitive::run_flat`], for operands of `dtype` with a step of 1, or of 0 for one that is repeated, and `n`
    /// elements of the result.
    unsafe fn run_flat_at(&self, _dtype: DType, _xs: [(*mut u8, isize); 2], _out: *mut u8, _n: usize) -> bool {
        false
    }

    /// What the op, written to operand 0, allows of memory that elements share.
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules::ELEMENTWISE
    }

    /// As [`Primitive::overlap_rules`], of operand `i` alone, where operands differ in it.
    fn reads(&self, _xs: &[&Tensor], _i: usize) -> Reads {
        self.overlap_rules().reads
    }

    /// Gradients of the operands.
    fn vjp(&self, cx: &Vjp) -> Result<Grads>;

    /// Bit i: operand i is differentiable by nature, unlike an index or a mask, and so counts among the node's inputs.
    fn inputs(&self) -> u32 {
        u32::MAX
    }

    /// As [`Primitive::PARAMS`], where parameters decide which there are.
    fn params(&self) -> Vec<(&'static str, Value)> {
        values(Self::PARAMS, self)
    }
}

/// What a VJP rule is given.
pub struct Vjp<'a> {
    pub node: &'a NodeRef,
    pub grads: &'a [Option<Tensor>],
    pub saved: SavedTensors,
    pub run: Run,
}

impl Vjp<'_> {
    /// The gradient of the (first) output.
    pub fn g(&self) -> &Tensor {
        self.grads[0].as_ref().expect("the engine runs a node with one output only when it has received its gradient")
    }
    /// The gradient of output `i`, if one was received.
    pub fn g_of(&self, i: usize) -> Option<&Tensor> {
        self.grads.get(i).and_then(Option::as_ref)
    }
    /// The tensor saved by entry `i` of `SAVE`.
    pub fn saved(&self, i: usize) -> Result<&Tensor> {
        self.saved
            .get(i)
            .and_then(Option::as_ref)
            .ok_or_else(|| Error::autograd(format!("{}: rule uses a value that was not saved", self.node.name())))
    }
    /// Whether the gradient of operand `i` is wanted.
    pub fn needs(&self, i: usize) -> bool {
        self.run.needs(i)
    }
    /// Whether the gradients are differentiated in turn: the rule's ops are recorded, or propagate tangents. Then the
    /// rule must consist of ops; otherwise it may use a kernel of its own.
    pub fn differentiating(&self) -> bool {
        self.run.create_graph || mode::word() & mode::COMPOSED != 0
    }
    /// Whether the rule is to consist of ops: also where it is recorded, and each of its ops becomes a step of the
    /// replay. For rules that are no more than a few ops; one that takes the place of many stays what it is.
    pub fn in_steps(&self) -> bool {
        self.differentiating() || mode::word() & mode::RECORDED != 0
    }
    /// Sizes of operand `i`, which must require grad.
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
    pub tangents: &'a [Option<Tensor>],
}

impl Jvp<'_> {
    /// The tangent of operand `i`, if it has one.
    pub fn t(&self, i: usize) -> Option<&Tensor> {
        self.tangents.get(i).and_then(Option::as_ref)
    }
    /// As [`Vjp::differentiating`]: whether the tangents are differentiated in turn.
    pub fn differentiating(&self) -> bool {
        let word = mode::word();
        let all = || self.xs.iter().copied().chain(self.tangents.iter().flatten());
        word & (mode::COMPOSED | mode::RECORDED) != 0 || mode::records(word) && all().any(Tensor::requires_grad)
    }
    /// The sum of parts of a tangent, `None` for zero.
    pub fn sum(parts: impl IntoIterator<Item = Option<Tensor>>) -> Result<Option<Tensor>> {
        let mut parts = parts.into_iter().flatten();
        parts.next().map(|first| parts.try_fold(first, |sum, part| sum.add(&part))).transpose()
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

fn none(cx: &Jvp) -> Grads {
    cx.outs.iter().map(|_| None).collect()
}

/// An op on other operands. Not a type parameter: what uses it is compiled once for all ops.
type OnOthers<'a> = &'a dyn Fn(&[&Tensor]) -> Result<Outs>;

/// See [`Tangents::Linear`].
fn linear(run: OnOthers, mask: u32, cx: &Jvp) -> Result<Grads> {
    let moves = |i: usize| mask >> i.min(31) & 1 != 0;
    if !(0..cx.xs.len()).any(|i| moves(i) && cx.t(i).is_some()) {
        return Ok(none(cx));
    }
    let operand = |(i, x): (usize, &&Tensor)| match (moves(i), cx.t(i)) {
        (false, _) => Ok(Tensor::clone(x)),
        (true, Some(t)) => Ok(t.clone()),
        (true, None) => Tensor::full(x.sizes(), 0i64.into(), x.dtype()),
    };
    let operands: SmallVec<[Tensor; 4]> = cx.xs.iter().enumerate().map(operand).collect::<Result<_>>()?;
    let refs: SmallVec<[&Tensor; 4]> = operands.iter().collect();
    Ok(run(&refs)?.into_iter().map(Some).collect())
}

/// See [`Tangents::Multilinear`].
fn multilinear(run: OnOthers, cx: &Jvp) -> Result<Grads> {
    let part = |i: usize| {
        let part = |t| {
            let mut xs: SmallVec<[&Tensor; 4]> = cx.xs.iter().copied().collect();
            xs[i] = t;
            run(&xs).map(|mut outs| outs.swap_remove(0))
        };
        cx.t(i).map(part).transpose()
    };
    let parts: SmallVec<[Option<Tensor>; 3]> = (0..cx.xs.len()).map(part).collect::<Result<_>>()?;
    Jvp::sum(parts).map(maybe)
}

/// A node's name made of an op's: `log_softmax` becomes `LogSoftmaxBackward0`.
struct NodeName {
    bytes: [u8; 64],
    len: usize,
}

impl NodeName {
    /// The name in torch's capitals: of each word's first letter, and of a letter after a digit.
    const fn new(op: &str) -> Self {
        let mut name = Self { bytes: [0; 64], len: 0 };
        let (op, mut i, mut start) = (op.as_bytes(), 0, true);
        while i < op.len() {
            if op[i] == b'_' {
                start = true;
            } else {
                name.push(if start { op[i].to_ascii_uppercase() } else { op[i] });
                start = op[i].is_ascii_digit();
            }
            i += 1;
        }
        let (suffix, mut i) = (b"Backward0", 0);
        while i < suffix.len() {
            name.push(suffix[i]);
            i += 1;
        }
        name
    }
    const fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }
}

/// A node's name made of the op's: see `NodeName`.
pub const fn node_name<P: Primitive>() -> &'static str {
    struct Of<P>(PhantomData<P>);
    impl<P: Primitive> Of<P> {
        const NAME: &'static NodeName = &NodeName::new(P::NAME);
    }
    let name = Of::<P>::NAME;
    match std::str::from_utf8(name.bytes.split_at(name.len).0) {
        Ok(name) => name,
        Err(_) => panic!("names of ops are ASCII"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_as_torch_names_them() {
        for (op, node) in [
            ("mul", "MulBackward0"),
            ("log_softmax", "LogSoftmaxBackward0"),
            ("log1p", "Log1PBackward0"),
            ("expm1", "Expm1Backward0"),
            ("max_pool2d_with_indices", "MaxPool2DWithIndicesBackward0"),
        ] {
            let name = NodeName::new(op);
            assert_eq!(std::str::from_utf8(&name.bytes[..name.len]), Ok(node));
        }
    }
}
