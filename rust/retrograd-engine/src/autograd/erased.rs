//! [`Primitive`] without its type: what runs once per op and not per element takes an op as an object, and is compiled
//! once for all of them.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use smallvec::SmallVec;

use super::apply::OpRule;
use super::node::{Grads, Head, Node, NodeRef};
use super::operands;
use super::overlap::{OverlapRules, Reads};
use super::primitive::{Batch, BatchOuts, ComplexRule, Halves, Jvp, Outs, Primitive, Save, Tangents, Vjp};
use super::saved::SavedSlots;
use crate::counted::{Counted, Place};
use crate::error::Result;
use crate::tensor::{DType, Dtypes, Tensor, Value, lazy};

/// What every value of a primitive type has in common.
pub struct Facts {
    pub name: &'static str,
    pub saves: &'static [Save],
    pub batch: Batching,
    /// Whether it is linear in each operand, and has no other way to depend on what it is given.
    pub is_multilinear: bool,
    pub complex: ComplexRule,
    pub takes_lazy: bool,
    pub halves: Halves,
}

/// Which variant of [`Batch`] an op has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batching {
    Pointwise,
    Lift,
    Rule,
    Loop,
}

/// The object-safe twin of [`Primitive`], which implements it.
pub trait AnyPrimitive: Debug + Send + Sync + 'static {
    fn facts(&self) -> &'static Facts;
    fn node(&self) -> &'static str;
    /// Refuses a dtype that the op does not declare.
    fn check_dtype(&self, xs: &[&Tensor]) -> Result<()>;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType>;
    fn dtypes(&self) -> Dtypes;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs>;
    /// As [`Primitive::sparse`].
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs>;
    /// # Safety
    /// As [`Primitive::forward_into`].
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool>;
    fn runs_flat(&self, xs: &[&Tensor], out: &Tensor) -> bool;
    /// # Safety
    /// As [`Primitive::run_flat`].
    unsafe fn run_flat(&self, xs: &[&Tensor], out: &Tensor);
    /// # Safety
    /// As [`Primitive::run_flat_at`].
    unsafe fn run_flat_at(&self, dtype: DType, xs: [(*mut u8, isize); 2], out: *mut u8, n: usize) -> bool;
    fn overlap_rules(&self) -> OverlapRules;
    fn reads(&self, xs: &[&Tensor], i: usize) -> Reads;
    fn vjp(&self, cx: &Vjp) -> Result<Grads>;
    fn jvp(&self, cx: &Jvp) -> Result<Grads>;
    fn inputs(&self) -> u32;
    fn params(&self) -> Vec<(&'static str, Value)>;
    /// The op on operands with a batch axis in front, for [`Batch::Lift`]; the same op for the other variants.
    fn lift(&self, ndims: &[usize], batch: usize) -> Result<Box<dyn Unrecorded>>;
    /// The rule of [`Batch::Rule`]; `None` for the other variants.
    fn batch_rule(&self, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) -> Option<Result<BatchOuts>>;
    /// A copy, to be applied.
    fn boxed(&self) -> Box<dyn Unrecorded>;
    /// A copy, to be kept.
    fn shared(&self) -> Arc<dyn AnyPrimitive>;
}

impl<P: Primitive> AnyPrimitive for P {
    fn facts(&self) -> &'static Facts {
        const {
            let batch = match &P::BATCH {
                Batch::Pointwise => Batching::Pointwise,
                Batch::Lift(_) => Batching::Lift,
                Batch::Rule(_) => Batching::Rule,
                Batch::Loop => Batching::Loop,
            };
            &Facts {
                name: P::NAME,
                saves: P::SAVE,
                batch,
                is_multilinear: matches!(P::JVP, Tangents::Multilinear),
                complex: P::COMPLEX,
                halves: P::HALVES,
                takes_lazy: P::TAKES_LAZY,
            }
        }
    }
    fn node(&self) -> &'static str {
        P::node(self)
    }
    fn check_dtype(&self, xs: &[&Tensor]) -> Result<()> {
        operands::check_dtype(self, xs)
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        P::computes_in(self, xs)
    }
    fn dtypes(&self) -> Dtypes {
        P::dtypes(self)
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        operands::forward(self, xs)
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        P::sparse(self, xs)
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        if !operands::as_they_are(self, xs)? {
            return Ok(false);
        }
        // SAFETY: those of callers.
        unsafe { P::forward_into(self, xs, out) }
    }
    fn runs_flat(&self, xs: &[&Tensor], out: &Tensor) -> bool {
        P::runs_flat(self, xs, out)
    }
    unsafe fn run_flat(&self, xs: &[&Tensor], out: &Tensor) {
        // SAFETY: those of callers.
        unsafe { P::run_flat(self, xs, out) }
    }
    unsafe fn run_flat_at(&self, dtype: DType, xs: [(*mut u8, isize); 2], out: *mut u8, n: usize) -> bool {
        // SAFETY: those of callers.
        unsafe { P::run_flat_at(self, dtype, xs, out, n) }
    }
    fn overlap_rules(&self) -> OverlapRules {
        P::overlap_rules(self)
    }
    fn reads(&self, xs: &[&Tensor], i: usize) -> Reads {
        P::reads(self, xs, i)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        P::vjp(self, cx)
    }
    fn jvp(&self, cx: &Jvp) -> Result<Grads> {
        let run = |cx: &Jvp| match P::HALVES {
            Halves::Loops => P::JVP.apply(self, cx),
            Halves::LoopsAlone | Halves::InFloat32 => operands::jvp_in_float32(cx, &|cx| P::JVP.apply(self, cx)),
        };
        // A rule that is not differentiated in turn may use kernels of its own.
        if !P::TAKES_LAZY && lazy::exist() && !cx.differentiating() {
            return operands::jvp_of_resolved(cx, &run);
        }
        run(cx)
    }
    fn inputs(&self) -> u32 {
        P::inputs(self)
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        P::params(self)
    }
    fn lift(&self, ndims: &[usize], batch: usize) -> Result<Box<dyn Unrecorded>> {
        match P::BATCH {
            Batch::Lift(lift) => Ok(Box::new(Some(lift(self, ndims, batch)?))),
            _ => Ok(self.boxed()),
        }
    }
    fn batch_rule(&self, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) -> Option<Result<BatchOuts>> {
        match P::BATCH {
            Batch::Rule(rule) => Some(rule(self, xs, axes, batch)),
            _ => None,
        }
    }
    fn boxed(&self) -> Box<dyn Unrecorded> {
        Box::new(Some(self.clone()))
    }
    fn shared(&self) -> Arc<dyn AnyPrimitive> {
        Arc::new(self.clone())
    }
}

/// The op's name: the one that messages have, unless that is shared by many ops, whose nodes have names.
pub(crate) fn op_name(op: &dyn AnyPrimitive) -> Cow<'static, str> {
    match op.facts().name {
        "pointwise" | "activation" | "activation_backward" | "loss" => {
            let node = op.node().trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches("Backward");
            let mut name = String::new();
            for c in node.chars() {
                if c.is_ascii_uppercase() && !name.is_empty() {
                    name.push('_');
                }
                name.push(c.to_ascii_lowercase());
            }
            name.into()
        }
        name => name.into(),
    }
}

/// An op that is not in a node yet: `Some` until it is moved into one.
pub trait Unrecorded {
    fn op(&self) -> &dyn AnyPrimitive;
    /// Moves the op into a node, whose head and saved tensors `fill` writes: where they stay, since they are large and
    /// copies of what was just written are slow.
    fn move_into_node(&mut self, fill: &mut dyn FnMut(&mut Head, &mut SavedSlots) -> Result<()>) -> Result<NodeRef>;
}

const TAKEN: &str = "an op is moved into one node, and not used afterwards";

impl<P: Primitive> Unrecorded for Option<P> {
    fn op(&self) -> &dyn AnyPrimitive {
        self.as_ref().expect(TAKEN)
    }
    fn move_into_node(&mut self, fill: &mut dyn FnMut(&mut Head, &mut SavedSlots) -> Result<()>) -> Result<NodeRef> {
        let op = self.take().expect(TAKEN);
        let mut place = Place::<Node<OpRule<P>>>::new();
        let to = place.ptr();
        // SAFETY: a node has a head and a rule, and a rule these two.
        let mut node = unsafe {
            (&raw mut (*to).head).write(Head::new());
            (&raw mut (*to).rule.saved).write(SavedSlots::new(SmallVec::new()));
            (&raw mut (*to).rule.op).write(op);
            place.filled()
        };
        // SAFETY: nobody else has the node yet.
        let Node { head, rule } = unsafe { Counted::contents(&mut node) };
        fill(head, &mut rule.saved)?;
        Ok(node.into())
    }
}
