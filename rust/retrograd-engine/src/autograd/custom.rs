//! Calls of custom functions: which results require grad, and how they become outputs of the function's node.
//!
//! The host language runs the function and decides what its node does; what must hold between operands and results
//! (returned operands, operands written in place, views) is decided here.

use std::any::Any;
use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use super::anomaly;
use super::mode::{self, GradGuard};
use super::node::{Edge, Grads, Node, NodeRef, OutMeta, Output, Rule, Run};
use super::view::Creation;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// Where the gradients of a call's tensor operands go.
pub struct Edges(SmallVec<[Option<Edge>; 2]>);

impl Edges {
    /// The edges to record before the function runs; `None` if nothing is recorded: no operand requires grad, or grad
    /// mode is off.
    pub fn of(operands: &[Tensor]) -> Result<Option<Self>> {
        if !mode::records(mode::word()) || !operands.iter().any(Tensor::requires_grad) {
            return Ok(None);
        }
        let edge = |x: &Tensor| if x.dtype().is_differentiable() { x.grad_edge() } else { Ok(None) };
        let edges = Self(operands.iter().map(edge).collect::<Result<_>>()?);
        if anomaly::is_on() {
            anomaly::used(edges.0.iter().flatten());
        }
        Ok(Some(edges))
    }
    pub fn to_vec(&self) -> SmallVec<[Option<Edge>; 2]> {
        self.0.clone()
    }
}

impl Drop for Edges {
    fn drop(&mut self) {
        for edge in self.0.drain(..).flatten() {
            edge.give_up();
        }
    }
}

/// What a custom function stated of its operands and results.
pub struct Call<'a> {
    pub operands: &'a [Tensor],
    /// Operands it wrote to.
    pub dirty: &'a [Tensor],
    /// Results that are marked as not differentiable.
    pub still: &'a [Tensor],
}

fn holds(list: &[Tensor], t: &Tensor) -> bool {
    list.iter().any(|x| x.is_same(t))
}

impl Call<'_> {
    /// Whether a result has gradients and tangents.
    pub fn requires_grad(&self, result: &Tensor) -> bool {
        result.dtype().is_differentiable() && !holds(self.still, result)
    }

    /// An operand among the results that the function did not write to.
    pub fn is_returned_as_is(&self, t: &Tensor) -> bool {
        holds(self.operands, t) && !holds(self.dirty, t)
    }

    /// Which of the results that require grad this tensor is. To be called before [`Call::finish`].
    pub fn result_number(&self, t: &Tensor, results: &[Option<Tensor>]) -> Option<u32> {
        if self.is_returned_as_is(t) || !self.requires_grad(t) {
            return None;
        }
        results.iter().rposition(|r| r.as_ref().is_some_and(|r| r.is_same(t))).map(|nr| nr as u32)
    }

    /// Counts the writes to dirty operands and makes the results outputs of the node that `node` makes, if one is given
    /// and a result is differentiable. A result may be replaced: an operand returned as is becomes a fresh view of
    /// itself.
    ///
    /// Nothing changes if the result is an error of the rules on in-place writes.
    pub fn finish<F>(&self, results: &mut [Option<Tensor>], node: Option<F>) -> Result<()>
    where
        F: FnOnce(&[Option<Tensor>], SmallVec<[OutMeta; 1]>) -> NodeRef,
    {
        let differentiable = results.iter().flatten().filter(|t| self.requires_grad(t)).count();
        let node = node.filter(|_| differentiable > 0);
        self.check(results, node.is_some())?;
        for t in self.dirty {
            t.bump_version();
        }
        // A result that is no tensor has a place among the node's outputs like any other.
        let nothing = || OutMeta { sizes: smallvec![], dtype: crate::DType::Float32 };
        let metas = |results: &[Option<Tensor>]| -> SmallVec<[OutMeta; 1]> {
            results.iter().map(|r| r.as_ref().map_or_else(nothing, OutMeta::of)).collect()
        };
        let node = node.map(|make| make(results, metas(results)));
        for (nr, slot) in results.iter_mut().enumerate() {
            let Some(t) = slot else { continue };
            let (operand, dirty) = (holds(self.operands, t), holds(self.dirty, t));
            let output = node.clone().filter(|_| self.requires_grad(t)).map(|node| Output { node, nr: nr as u32 });
            match output {
                None if !t.requires_grad() && operand && !dirty => *t = view_of_itself(t)?,
                None if !t.requires_grad() => {}
                None if operand => *t = t.detach(),
                // A view made without grad mode reports its base's requires_grad (VIEW-2), here as elsewhere.
                None if t.view_of().is_none() => t.detach_()?,
                None => {}
                Some(output) if dirty => {
                    let written = self.operands.iter().position(|x| x.is_same(t)).unwrap_or(0);
                    t.rebase_to(output, written)?;
                }
                Some(output) => {
                    if operand {
                        *t = view_of_itself(t)?;
                    }
                    t.set_history(output);
                }
            }
            if !(operand && dirty) {
                t.set_creation(if differentiable > 1 && node.is_some() { Creation::Multi } else { Creation::Custom });
            }
        }
        Ok(())
    }

    /// The rules on operands written in place.
    fn check(&self, results: &[Option<Tensor>], recording: bool) -> Result<()> {
        for t in self.dirty {
            if !results.iter().flatten().any(|r| r.is_same(t)) {
                return Err(Error::autograd(
                    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are \
                     modified inplace must all be outputs of the Function.",
                ));
            }
            if !recording || !self.requires_grad(t) {
                continue;
            }
            if t.is_leaf() && t.view_of().is_none() && t.requires_grad() {
                return Err(Error::autograd(
                    "a leaf Variable that requires grad has been used in an in-place operation. Pass a clone to the Function.",
                ));
            }
            if !holds(self.operands, t) {
                crate::warn::warn(
                    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should \
                     be passed to ctx.mark_dirty().",
                )?;
            }
            if t.view_of().is_some() {
                t.check_inplace(true)?;
                if results.len() > 1 {
                    return Err(Error::autograd(
                        "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot \
                         return more than one Tensor. Make sure the input is not a view (using .clone(), for example), or \
                         split it into two Functions: one doing the inplace that returns a single Tensor and a second one that \
                         does the other operations.",
                    ));
                }
            }
        }
        Ok(())
    }
}

fn view_of_itself(t: &Tensor) -> Result<Tensor> {
    let _off = GradGuard::new(false);
    super::arith::alias(t)
}

/// Raises when it is differentiated through.
struct DelayedError(String);

impl Rule for DelayedError {
    fn name(&self) -> Cow<'static, str> {
        "torch::autograd::Error".into()
    }
    fn apply(&self, _node: &NodeRef, _grads: &[Option<Tensor>], _run: Run) -> Result<Grads> {
        Err(Error::autograd(self.0.clone()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Replaces tensors by aliases that require grad and whose node raises `message`.
pub fn forbid_differentiation(tensors: &mut [Option<Tensor>], message: &str) {
    let metas = tensors.iter().flatten().map(OutMeta::of).collect();
    let node: NodeRef = Node::new(DelayedError(message.into()), smallvec![], metas);
    for (nr, t) in tensors.iter_mut().flatten().enumerate() {
        *t = t.alias();
        if t.dtype().is_differentiable() {
            t.set_history(Output { node: node.clone(), nr: nr as u32 });
        }
    }
}
