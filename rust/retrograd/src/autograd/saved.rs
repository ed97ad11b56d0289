//! Values that a node keeps for its rule, with the version they had.

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::node::{Node, NodeRef, Output, Run};
use super::primitive::{Keep, Source};
use crate::error::{ErrorKind, Result, StaleSave};
use crate::ops::Value;
use crate::tensor::Tensor;

/// One kept tensor.
#[derive(Clone)]
pub struct Saved {
    tensor: Tensor,
    version: u32,
    /// For an output of the node itself: which one, otherwise [`INPUT`]. The tensor of an output is an alias without
    /// history, so no cycle arises.
    output: u32,
}

/// Stands for "no output of the node".
const INPUT: u32 = u32::MAX;

/// What `_saved_*` attributes give.
pub enum SavedItem {
    Tensor(Option<Tensor>),
    Tensors(Vec<Tensor>),
    Value(Value),
}

impl Saved {
    /// Whether a tensor may be kept at all.
    pub fn check(tensor: &Tensor) -> Result<()> {
        if tensor.is_inference() {
            return Err(crate::Error::autograd(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in \
                 computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it \
                 in autograd.",
            ));
        }
        Ok(())
    }
    pub fn input(tensor: Tensor) -> Self {
        let version = tensor.version();
        Self { tensor, version, output: INPUT }
    }
    pub fn output(tensor: &Tensor, nr: u32) -> Self {
        Self { version: tensor.version(), tensor: tensor.alias(), output: nr }
    }
    /// The kept tensor, after checking that nobody wrote to it since.
    fn unpack(&self, node: &NodeRef, slot: usize, recording: bool) -> Result<Tensor> {
        let now = self.tensor.version();
        if now != self.version {
            return Err(self.stale(node, slot, now));
        }
        if self.output == INPUT || !recording {
            return Ok(self.tensor.clone());
        }
        let t = self.tensor.alias();
        t.set_history(Output { node: node.clone(), nr: self.output });
        Ok(t)
    }
    #[cold]
    fn stale(&self, node: &NodeRef, slot: usize, now: u32) -> crate::Error {
        let forward = |n: &Node| n.name().trim_end_matches(|c: char| c.is_ascii_digit()).replace("Backward", "");
        let producer = match self.output {
            nr if nr != INPUT => Some((forward(node), nr as usize)),
            _ => self.tensor.history().map(|e| (forward(&e.node), e.nr as usize)),
        };
        ErrorKind::StaleSave(Box::new(StaleSave {
            node: node.name().into_owned(),
            input: node.rule.kept_name(slot),
            dtype: self.tensor.dtype(),
            sizes: self.tensor.sizes().to_vec(),
            saved: self.version,
            now,
            producer,
        }))
        .into()
    }
}

/// The kept tensors of a node, one slot per `Keep` of its op; freed after a run that does not retain the graph.
#[derive(Default)]
pub struct KeptSlots(Mutex<Slots>);

#[derive(Default)]
struct Slots {
    values: SmallVec<[Option<Saved>; 2]>,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ready,
    /// A run that will free the values is using them: no other run may.
    Claimed,
    Freed,
}

/// Unpacked slots.
pub type Kept = SmallVec<[Option<Tensor>; 3]>;

impl KeptSlots {
    pub fn new(values: SmallVec<[Option<Saved>; 2]>) -> Self {
        Self(Mutex::new(Slots { values, state: State::Ready }))
    }
    pub fn is_freed(&self) -> bool {
        self.0.lock().state == State::Freed
    }
    /// Frees the tensors. A node that kept none can run again.
    pub fn release(&self) {
        let values = {
            let mut slots = self.0.lock();
            if slots.values.iter().all(Option::is_none) {
                return;
            }
            slots.state = State::Freed;
            std::mem::take(&mut slots.values)
        };
        drop(values);
    }
    /// The values, after checking that nobody wrote to them since.
    pub fn unpack(&self, node: &NodeRef, recording: bool) -> Result<Kept> {
        let values = {
            let slots = self.0.lock();
            if slots.state != State::Ready {
                return Err(freed(node));
            }
            slots.values.clone()
        };
        let unpack = |(i, v): (usize, &Option<Saved>)| v.as_ref().map(|s| s.unpack(node, i, recording)).transpose();
        values.iter().enumerate().map(unpack).collect()
    }
    /// The values for the node's rule. A run that frees them has them for itself until it calls [`KeptSlots::release`], or
    /// [`KeptSlots::unclaim`] if it failed.
    pub fn unpack_for(&self, node: &NodeRef, run: Run) -> Result<Kept> {
        let mut slots = self.0.lock();
        if slots.values.is_empty() && slots.state == State::Ready {
            return Ok(Kept::new());
        }
        if slots.state != State::Ready {
            return Err(freed(node));
        }
        let mut kept = Kept::new();
        for (i, v) in slots.values.iter().enumerate() {
            kept.push(match v {
                Some(s) => Some(s.unpack(node, i, run.create_graph)?),
                None => None,
            });
        }
        if run.frees && slots.values.iter().any(Option::is_some) {
            slots.state = State::Claimed;
        }
        Ok(kept)
    }
    /// Lets others use the values again.
    pub fn unclaim(&self) {
        let mut slots = self.0.lock();
        if slots.state == State::Claimed {
            slots.state = State::Ready;
        }
    }
    /// As [`KeptSlots::unpack`], one slot only.
    pub fn unpack_one(&self, node: &NodeRef, slot: usize, recording: bool) -> Result<Option<Tensor>> {
        let value = {
            let slots = self.0.lock();
            if slots.state != State::Ready {
                return Err(freed(node));
            }
            slots.values.get(slot).cloned().flatten()
        };
        value.map(|s| s.unpack(node, slot, recording)).transpose()
    }
}

#[cold]
pub(crate) fn freed(node: &NodeRef) -> crate::Error {
    ErrorKind::Freed { node: node.name().into_owned() }.into()
}

/// What an op overwrote that its rule may need.
#[derive(Default)]
pub(crate) struct Before {
    /// A copy of operand 0.
    pub copy: Option<Tensor>,
    /// Versions of the operands.
    pub versions: SmallVec<[u32; 3]>,
}

/// Packs what `keep` lists, as far as the followed inputs need it. `before` is given for an op that wrote to operand 0.
pub(crate) fn pack(
    keep: &'static [Keep],
    followed: u32,
    xs: &[&Tensor],
    outs: &[Tensor],
    before: Option<&Before>,
) -> Result<SmallVec<[Option<Saved>; 2]>> {
    let one = |k: &Keep| -> Result<Option<Saved>> {
        if k.for_grads & followed == 0 {
            return Ok(None);
        }
        let i = match k.source {
            Source::Output(i) => return Ok(Some(Saved::output(&outs[i], i as u32))),
            Source::Input(i) => i,
        };
        if let (0, Some(copy)) = (i, before.and_then(|b| b.copy.as_ref())) {
            return Ok(Some(Saved::input(copy.clone())));
        }
        let Some(&x) = xs.get(i) else { return Ok(None) };
        Saved::check(x)?;
        let version = before.map_or_else(|| x.version(), |b| b.versions[i]);
        Ok(Some(Saved { tensor: x.clone(), version, output: INPUT }))
    };
    let mut values = SmallVec::new();
    for k in keep {
        values.push(one(k)?);
    }
    Ok(values)
}
