//! A call of a custom function, whatever it is written as, and the node that runs its backward.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use super::arguments::Places;
use super::context::{Available, Context, Kept, Notes};
use super::{forward_mode, vmap};
use crate::engine::autograd::custom::{Call, Edges, forbid_differentiation};
use crate::engine::autograd::forward::Hidden;
use crate::engine::autograd::saved::{Saved, SavedSlots, pack_saved};
use crate::engine::autograd::{GradGuard, Grads, Node, NodeRef, OutMeta, Rule, Run, finite, mode};
use crate::engine::tensor::Noted;
use crate::engine::{self, Error, profiler, transforms};
use crate::{Result, Tensor, site};

type Raw = engine::Tensor;

/// A custom function, called with the arguments that it was made for.
pub(crate) trait Custom {
    /// Its outputs, by place; `inputs` are those that it was made for, or one entry of a batch of them.
    fn forward(&self, ctx: &mut Context, inputs: &Places) -> Result<Places>;
    /// To be asked for when `forward` has returned.
    fn rules(&self) -> Arc<dyn Rules>;
    /// A rule for batches: outputs with the places of their batch axes. `None` if there is none.
    fn vmap(&self, _batch: &vmap::Entries) -> Result<Option<vmap::Batches>> {
        Ok(None)
    }
    fn name(&self) -> &'static str {
        self.rules().name()
    }
}

/// The derivatives of a custom function.
pub(crate) trait Rules: Send + Sync {
    fn name(&self) -> &'static str;
    /// Gradients by place of the inputs, from those by place of the outputs, `None` where there is no tensor.
    fn backward(&self, ctx: &Context, gradients: Places) -> Result<Places>;
    /// Tangents by place of the outputs, from those by place of the inputs; `None` if there is no such rule.
    fn jvp(&self, ctx: &Context, tangents: Places) -> Result<Option<Places>>;
    /// `backward` is not to be differentiated.
    fn once_differentiable(&self) -> bool {
        false
    }
}

/// What a node runs.
struct CustomRule {
    rules: Arc<dyn Rules>,
    saved: SavedSlots,
    needs: Arc<[bool]>,
    kept: Kept,
    materialize: bool,
    /// By place of the inputs: whether it is a tensor, for which the node has an edge.
    tensors_in: Vec<bool>,
    /// The same of the outputs.
    tensors_out: Vec<bool>,
}

impl Rule for CustomRule {
    fn name(&self) -> Cow<'static, str> {
        node_name(self.rules.name()).into()
    }
    fn apply(&self, node: &NodeRef, grads: &[Option<Raw>], _run: Run) -> engine::Result<Grads> {
        let received = grads.iter().map(Option::is_some).collect();
        let given = (0..self.tensors_out.len()).map(|k| {
            if !self.tensors_out[k] {
                return Ok(None);
            }
            let meta = &node.outputs()[k];
            match grads.get(k).cloned().flatten() {
                Some(g) => Ok(Some(Tensor(g))),
                None => zeros(&meta.sizes, meta.dtype, self.materialize).map(|t| Some(Tensor(t))),
            }
        });
        let given = given.collect::<Result<Places>>()?;
        let saved = Available::OfNode(node.clone());
        let ctx = Context::of_rule(self.needs.clone(), self.kept.clone(), saved, received);
        let mut returned = {
            let _off = self.rules.once_differentiable().then(|| GradGuard::new(false));
            self.rules.backward(&ctx, given)?
        };
        let derived = engine::autograd::is_grad_enabled() && grads.iter().flatten().any(Raw::requires_grad);
        if self.rules.once_differentiable() && derived {
            let mut raw: Vec<Option<Raw>> = returned.into_iter().map(|t| t.map(|t| t.0)).collect();
            let why = "trying to differentiate twice a function that was marked with @once_differentiable";
            forbid_differentiation(&mut raw, &format!("{why}: {}", self.rules.name()));
            returned = raw.into_iter().map(|t| t.map(Tensor)).collect();
        }
        self.gradients(returned)
    }
    fn takes_nothing(&self) -> bool {
        true
    }
    fn saved_slots(&self) -> Option<&SavedSlots> {
        Some(&self.saved)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl CustomRule {
    /// What `backward` returned, checked, for the edges alone.
    fn gradients(&self, returned: Places) -> Result<Grads> {
        let error =
            |detail: String| Error::autograd(format!("function {} returned {detail}", node_name(self.rules.name())));
        let (expected, got) = (self.tensors_in.len(), returned.len());
        if got < expected || returned.iter().skip(expected).any(Option::is_some) {
            return Err(error(format!("an incorrect number of gradients (expected {expected}, got {got})")));
        }
        let mut grads = Grads::new();
        for (i, (g, &is_tensor)) in returned.into_iter().zip(&self.tensors_in).enumerate() {
            match (g, is_tensor) {
                (g, true) => grads.push(g.map(|g| g.0)),
                (None, false) => {}
                (Some(_), false) => {
                    return Err(error(format!(
                        "a gradient different than None at position {}, but the corresponding forward input was not a \
                         Variable",
                        i + 1
                    )));
                }
            }
        }
        Ok(grads)
    }
}

/// Zeros in the place of none: `whole` with memory for each element, otherwise for one.
pub(super) fn zeros(sizes: &[usize], dtype: engine::DType, whole: bool) -> Result<Raw> {
    if whole {
        return Raw::full(sizes, 0i64.into(), dtype);
    }
    let sizes: Vec<i64> = sizes.iter().map(|&n| n as i64).collect();
    Raw::full(&[], 0i64.into(), dtype)?.expand(&sizes)
}

/// The node's name in messages and graphs: `my_exp` and `MyExp` become `MyExpBackward`.
pub(super) fn node_name(name: &str) -> String {
    let mut words: String = String::with_capacity(name.len() + "Backward".len());
    for word in name.split('_') {
        let mut letters = word.chars();
        words.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        words.push_str(letters.as_str());
    }
    words + "Backward"
}

/// Runs a function on the tensors in `inputs`, recording it if one of them requires grad.
#[track_caller]
pub(crate) fn call(function: &dyn Custom, inputs: &Places) -> Result<Places> {
    site::here();
    if transforms::any()
        && let Some(outputs) = vmap::batched(function, inputs)?
    {
        return Ok(outputs);
    }
    let operands: Vec<Raw> = inputs.iter().flatten().map(|t| t.0.clone()).collect();
    let edges = Edges::of(&operands)?;
    let needs = inputs.iter().map(|t| t.as_ref().is_some_and(|t| t.0.requires_grad())).collect();
    let mut ctx = Context::of_forward(needs);
    let noted = || operands.iter().map(|t| ("", Noted::of(t))).collect();
    let _span = profiler::is_open().then(|| profiler::function(function.name(), &noted));
    let outputs = {
        let (_off, _plain) = (GradGuard::new(false), Hidden::from(0));
        function.forward(&mut ctx, inputs)?
    };
    // The ops of `forward` noted places of their own.
    site::here();
    Finish { function, inputs, operands, edges, rules: function.rules(), ctx }.run(outputs)
}

/// A call whose `forward` has returned.
pub(super) struct Finish<'a> {
    pub function: &'a dyn Custom,
    pub inputs: &'a Places,
    pub operands: Vec<Raw>,
    edges: Option<Edges>,
    pub rules: Arc<dyn Rules>,
    pub ctx: Context,
}

impl Finish<'_> {
    pub fn notes(&self) -> &Notes {
        &self.ctx.notes
    }

    /// Makes the outputs part of the graph.
    fn run(self, outputs: Places) -> Result<Places> {
        let raw = |list: &[Tensor]| list.iter().map(|t| t.0.clone()).collect::<Vec<Raw>>();
        let (dirty, still) = (raw(&self.notes().dirty), raw(&self.notes().still));
        let call = Call { operands: &self.operands, dirty: &dirty, still: &still };
        let mut results: Vec<Option<Raw>> = outputs.into_iter().map(|t| t.map(|t| t.0)).collect();
        let save = if self.edges.is_some() { self.notes().save.as_slice() } else { &[] };
        save.iter().flatten().try_for_each(|t| Saved::check(&t.0))?;
        if mode::word() & mode::DETECT_NAN != 0 {
            let made: Vec<&Raw> = results.iter().flatten().filter(|t| !call.is_returned_as_is(t)).collect();
            let operands: Vec<&Raw> = self.operands.iter().collect();
            finite::check_foreign(self.rules.name(), &made, &operands)?;
        }
        // Before results are replaced.
        let requires_grad: Vec<bool> =
            results.iter().map(|t| t.as_ref().is_some_and(|t| call.requires_grad(t))).collect();
        let mut made = None;
        let node = self.edges.as_ref().map(|edges| {
            |results: &[Option<Raw>], metas: _| -> NodeRef {
                let keep = |t: &Option<Tensor>| {
                    let t = &t.as_ref()?.0;
                    Some(match call.result_number(t, results) {
                        Some(nr) => Saved::output(t, nr),
                        None => Saved::input(t.clone()),
                    })
                };
                let saved = SavedSlots::new(save.iter().map(keep).collect());
                saved.run_once();
                let node = self.node(saved, edges, results, metas);
                made = Some(node.clone());
                node
            }
        });
        call.finish(&mut results, node)?;
        if mode::word() & mode::SAVED_HOOKS != 0
            && let Some(node) = &made
        {
            pack_saved(node, &|nr| results.get(nr).cloned().flatten())?;
        }
        if mode::propagates(mode::word()) {
            forward_mode::propagate(&self, &dirty, &results, &requires_grad)?;
            if let Some(saved) = made.as_ref().and_then(|node| node.rule().saved_slots()) {
                saved.share_tangents(&|nr| results.get(nr).and_then(Option::as_ref))?;
            }
        }
        Ok(results.into_iter().map(|t| t.map(Tensor)).collect())
    }

    fn node(
        &self,
        saved: SavedSlots,
        edges: &Edges,
        results: &[Option<Raw>],
        metas: impl IntoIterator<Item = OutMeta>,
    ) -> NodeRef {
        let rule = CustomRule {
            rules: self.rules.clone(),
            saved,
            needs: self.ctx.needs.clone(),
            kept: self.notes().kept.clone(),
            materialize: self.notes().materialize,
            tensors_in: self.inputs.iter().map(Option::is_some).collect(),
            tensors_out: results.iter().map(Option::is_some).collect(),
        };
        Node::new(rule, edges.to_vec(), metas.into_iter().collect())
    }
}
