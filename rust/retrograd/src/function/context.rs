//! What a function leaves for its rules.

use std::any::{Any, type_name};
use std::sync::Arc;

use crate::engine::autograd::NodeRef;
use crate::engine::{self, Error};
use crate::{Result, Tensor};

/// What `forward` of a [`Function`](crate::Function) leaves for `backward` and `jvp`, and what these ask.
///
/// Methods that note something are for `forward`; [`Context::saved_tensors`] and what tells of gradients are for the
/// rules.
pub struct Context {
    pub(crate) notes: Notes,
    /// By place of the inputs: whether it is a tensor that requires grad.
    pub(crate) needs: Arc<[bool]>,
    pub(crate) saved: Available,
    /// By place, of what the rule is given: whether it is more than zeros in the place of none.
    pub(crate) received: Vec<bool>,
}

/// What the methods of a context note.
pub(crate) struct Notes {
    pub save: Vec<Option<Tensor>>,
    pub save_for_forward: Option<Vec<Option<Tensor>>>,
    pub dirty: Vec<Tensor>,
    pub still: Vec<Tensor>,
    pub materialize: bool,
    pub kept: Kept,
}

/// Values that are no tensors.
pub(crate) type Kept = Vec<Arc<dyn Any + Send + Sync>>;

/// Where saved tensors come from.
pub(crate) enum Available {
    /// `forward` is running.
    NotYet,
    /// The node has them, with the versions that they had.
    OfNode(NodeRef),
    Here(Vec<Option<Tensor>>),
}

impl Context {
    pub(crate) fn of_forward(needs: Vec<bool>) -> Self {
        let notes = Notes {
            save: Vec::new(),
            save_for_forward: None,
            dirty: Vec::new(),
            still: Vec::new(),
            materialize: true,
            kept: Kept::new(),
        };
        Self { notes, needs: needs.into(), saved: Available::NotYet, received: Vec::new() }
    }

    pub(crate) fn of_rule(needs: Arc<[bool]>, kept: Kept, saved: Available, received: Vec<bool>) -> Self {
        let mut context = Self::of_forward(Vec::new());
        context.notes.kept = kept;
        Self { needs, saved, received, ..context }
    }

    /// Saves tensors, inputs and outputs above all, for the rules. A later call replaces what an earlier one saved.
    ///
    /// `backward` is refused them if they were written to since; they are freed after a backward pass that does not
    /// retain the graph. What is saved in another way is neither checked nor freed, and an output held in another way
    /// is never freed at all.
    ///
    /// Items are `&Tensor` or `Option<&Tensor>`.
    pub fn save_for_backward<'a, T: Into<Option<&'a Tensor>>>(&mut self, tensors: impl IntoIterator<Item = T>) {
        self.notes.save = tensors.into_iter().map(|t| t.into().cloned()).collect();
    }

    /// Saves tensors for `jvp` alone, which otherwise has those of [`Context::save_for_backward`].
    pub fn save_for_forward<'a, T: Into<Option<&'a Tensor>>>(&mut self, tensors: impl IntoIterator<Item = T>) {
        self.notes.save_for_forward = Some(tensors.into_iter().map(|t| t.into().cloned()).collect());
    }

    /// Keeps a value that is no tensor, for [`Context::kept`]: one for each type.
    pub fn keep<T: Send + Sync + 'static>(&mut self, value: T) {
        self.notes.kept.retain(|v| !v.is::<T>());
        self.notes.kept.push(Arc::new(value));
    }

    /// Says which inputs `forward` wrote to. They must be among the outputs.
    pub fn mark_dirty<'a>(&mut self, inputs: impl IntoIterator<Item = &'a Tensor>) {
        self.notes.dirty = inputs.into_iter().cloned().collect();
    }

    /// Says which outputs have no gradient. `backward` is given zeros for them.
    pub fn mark_non_differentiable<'a>(&mut self, outputs: impl IntoIterator<Item = &'a Tensor>) {
        self.notes.still = outputs.into_iter().cloned().collect();
    }

    /// Whether gradients that `backward` was not sent are given to it as zeros with memory of their own, as they are
    /// unless this is called with `false`. Then they are zeros of one element, repeated: to be read, and not to be
    /// written. [`Context::has_gradient`] tells which they are, so that a rule can leave out what comes of zeros.
    pub fn set_materialize_grads(&mut self, on: bool) {
        self.notes.materialize = on;
    }

    /// Whether the input in this place is a tensor that requires grad, by [`Arguments`](crate::Arguments)' count.
    ///
    /// `false` for a place that there is not.
    pub fn needs_input_grad(&self, place: usize) -> bool {
        self.needs.get(place).copied().unwrap_or(false)
    }

    /// Whether `backward` was sent a gradient of the output in this place, or `jvp` a tangent of the input; otherwise
    /// it was given zeros.
    pub fn has_gradient(&self, place: usize) -> bool {
        self.received.get(place).copied().unwrap_or(false)
    }

    /// The saved tensors, as many as are asked for: `let [x, y] = ctx.saved_tensors()?;`.
    ///
    /// Errors: a saved tensor was written to since, or was freed by an earlier backward pass; another number of tensors
    /// was saved; one of them is `None` (see [`Context::saved_options`]); `forward` is still running.
    pub fn saved_tensors<const N: usize>(&self) -> Result<[Tensor; N]> {
        let saved = self.saved_options()?;
        let count = saved.len();
        if count != N {
            return Err(Error::autograd(format!(
                "saved_tensors: {count} tensors were saved, and {N} are asked for: save_for_backward and the pattern must \
                 have the same number"
            )));
        }
        let tensors: Option<Vec<Tensor>> = saved.into_iter().collect();
        tensors.and_then(|all| <[Tensor; N]>::try_from(all).ok()).ok_or_else(|| {
            Error::autograd("saved_tensors: None was saved in the place of a tensor: ask for saved_options()")
        })
    }

    /// As [`Context::saved_tensors`], whatever their number, and with `None` where that was saved.
    pub fn saved_options(&self) -> Result<Vec<Option<Tensor>>> {
        match &self.saved {
            Available::NotYet => Err(Error::autograd(
                "saved_tensors: forward is still running, and what it saves is there for backward and jvp alone",
            )),
            Available::Here(tensors) => Ok(tensors.clone()),
            Available::OfNode(node) => {
                let Some(slots) = node.rule().saved_slots() else { return Ok(Vec::new()) };
                let record = engine::autograd::is_grad_enabled();
                Ok(slots.unpack(node, record)?.into_iter().map(|t| t.map(Tensor)).collect())
            }
        }
    }

    /// What [`Context::keep`] kept of this type.
    ///
    /// Errors: nothing of this type was kept.
    pub fn kept<T: Send + Sync + 'static>(&self) -> Result<&T> {
        self.notes.kept.iter().find_map(|v| v.downcast_ref()).ok_or_else(|| {
            let name = type_name::<T>();
            Error::autograd(format!("kept: forward kept no value of type {name}: call ctx.keep with one"))
        })
    }
}
