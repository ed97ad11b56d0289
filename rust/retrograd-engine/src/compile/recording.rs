//! What is known of a call of a function: steps over buffers, and what the call was given and returned.

use std::fmt::Write;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::autograd::erased::{AnyPrimitive, op_name};
use crate::autograd::node::{NodeRef, Run};
use crate::counted::Counted;
use crate::optim::{Adam, Sgd};
use crate::storage::Storage;
use crate::tensor::{DType, Dims, Scalar, Strides, Tensor};

/// Where a storage comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// Of this argument of the call.
    Input(usize),
    /// It was there before the call; the tensor through which the function had it first.
    Captured(Tensor),
    /// The gradient that this leaf had when the call began.
    Grad(usize),
    /// A number among operands.
    Number(Scalar),
    /// A number, written out for an op by the plan.
    Fixed(Tensor),
    /// Made by the function from nothing that it was given: its bytes when it was first used.
    Constant(Arc<[u8]>),
    /// Made by a step.
    Step,
    /// Made by this op in a way that a replay cannot repeat.
    Private(&'static str),
}

#[derive(Debug)]
pub(super) struct Buffer {
    pub origin: Origin,
    pub bytes: usize,
    /// Lives as long as the recording, so that no other storage gets its address.
    pub storage: Counted<Storage>,
}

/// A tensor as the recorder sees it: a window onto a buffer. Offset in elements, from the beginning of the storage.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Window {
    pub buffer: u32,
    pub dtype: DType,
    pub sizes: Dims,
    pub strides: Strides,
    pub offset: usize,
}

/// Index of a [`Window`] in a recording.
pub(super) type ValueId = u32;

/// Where a gradient is accumulated: a leaf that was there before the call.
#[derive(Clone, Debug)]
pub(super) enum LeafOf {
    Input(usize),
    Captured(Tensor),
}

impl LeafOf {
    /// The leaf of a call with these arguments.
    pub fn of<'a>(&'a self, inputs: &'a [Tensor]) -> &'a Tensor {
        match self {
            LeafOf::Input(i) => &inputs[*i],
            LeafOf::Captured(x) => x,
        }
    }
    /// Whether both are the same argument, or the same memory.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (LeafOf::Input(i), LeafOf::Input(j)) => i == j,
            (LeafOf::Captured(x), LeafOf::Captured(y)) => x.shares_storage(y),
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub of: LeafOf,
    /// Its `.grad` when the call began.
    pub found: Option<ValueId>,
    /// Its `.grad` now.
    pub now: Option<ValueId>,
    pub tensor: Tensor,
}

/// The numbers of an optimizer's step, which may be others at every call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    Sgd(Sgd),
    Adam(Adam),
}

/// Has the numbers of an optimizer's step when the step is replayed.
pub trait Rates: Send + Sync {
    /// The numbers as they are now; `None` if they are none any more.
    fn now(&self) -> Option<Update>;
}

/// What a step does.
#[derive(Clone)]
pub(super) enum What {
    /// An op: results from operands.
    Op(Arc<dyn AnyPrimitive>),
    /// An op that writes to its first operand.
    InPlace(Arc<dyn AnyPrimitive>),
    /// The rule of a node: gradients of its inputs, from those of its outputs (as many as are given) and what it saved.
    Rule { node: NodeRef, grads: usize, run: Run },
    /// Writes the elements of its operand to its result, which need not be all of a buffer.
    Copy,
    /// A step of an optimizer: parameters, as many gradients, and their states, one list after the other.
    Update { update: Update, count: usize, rates: Option<Arc<dyn Rates>> },
}

#[derive(Clone)]
pub(super) struct Step {
    pub what: What,
    pub xs: SmallVec<[Option<ValueId>; 4]>,
    pub outs: SmallVec<[Option<ValueId>; 1]>,
    /// It draws random numbers.
    pub draws: bool,
}

impl Step {
    /// What the step does, as far as two recordings can be compared by it.
    pub fn describe(&self, text: &mut String) {
        let _ = match &self.what {
            What::Op(op) => write!(text, "{op:?}"),
            What::InPlace(op) => write!(text, "in place {op:?}"),
            What::Rule { node, grads, run } => write!(text, "{} {:?} {grads} {run:?}", node.name(), node.rule.op()),
            What::Copy => write!(text, "copy"),
            What::Update { update, .. } => match update {
                Update::Sgd(sgd) => write!(text, "{:?}", Sgd { lr: 0.0, ..*sgd }),
                Update::Adam(adam) => write!(text, "{:?}", Adam { lr: 0.0, ..*adam }),
            },
        };
        let _ = write!(text, " {:?} {:?}", self.xs, self.outs);
    }
    /// The name of the op.
    pub fn name(&self) -> String {
        match &self.what {
            What::Op(op) => op_name(&**op).into_owned(),
            What::InPlace(op) => format!("{}_", op_name(&**op).trim_end_matches('_')),
            What::Rule { node, .. } => node.name().into_owned(),
            What::Copy => "copy".into(),
            What::Update { update: Update::Sgd(_), .. } => "sgd".into(),
            What::Update { update: Update::Adam(_), .. } => "adam".into(),
        }
    }
    /// What the step writes to that was there before it.
    pub fn written(&self) -> SmallVec<[ValueId; 4]> {
        match &self.what {
            What::InPlace(_) => self.xs[..1].iter().copied().flatten().collect(),
            What::Copy => self.outs.iter().copied().flatten().collect(),
            // All but the gradients.
            What::Update { count, .. } => {
                self.xs[..*count].iter().chain(&self.xs[2 * count..]).copied().flatten().collect()
            }
            What::Op(_) | What::Rule { .. } => SmallVec::new(),
        }
    }
}

/// What a function did.
pub struct Recording {
    pub(super) inputs: Vec<Tensor>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) values: Vec<Window>,
    pub(super) steps: Vec<Step>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) outputs: Vec<Output>,
    /// How the results are differentiated, if that is left to the caller.
    pub(super) backward: Option<Joint>,
}

/// The backward pass of the results, recorded after the function.
pub(super) struct Joint {
    /// The step with which it begins.
    pub first: usize,
    /// The results that have a history, by their place among all. Their cotangents are the inputs after the arguments.
    pub live: Vec<usize>,
    /// What the history leads to: arguments and captured tensors.
    pub wanted: Vec<LeafOf>,
    /// The gradient of each of them.
    pub grads: Vec<Option<ValueId>>,
}

/// A tensor that the function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Output {
    pub value: ValueId,
    /// It has a history, all of which was freed by a backward pass.
    pub has_history: bool,
    /// It is an argument or a captured tensor itself, and not another tensor with its memory.
    pub is_itself: bool,
}
