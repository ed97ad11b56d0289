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
    /// For an output of the node itself: which one. Its tensor here is an alias without history, so no cycle arises.
    output: Option<u32>,
    name: &'static str,
}

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
    pub fn input(tensor: Tensor, name: &'static str) -> Self {
        let version = tensor.version();
        Self { tensor, version, output: None, name }
    }
    pub fn output(tensor: &Tensor, nr: u32, name: &'static str) -> Self {
        Self { version: tensor.version(), tensor: tensor.alias(), output: Some(nr), name }
    }
    /// The kept tensor, after checking that nobody wrote to it since.
    pub fn unpack(&self, node: &NodeRef, recording: bool) -> Result<Tensor> {
        let now = self.tensor.version();
        if now != self.version {
            return Err(self.stale(node, now));
        }
        match self.output {
            Some(nr) if recording => {
                let t = self.tensor.alias();
                t.set_history(Output { node: node.clone(), nr });
                Ok(t)
            }
            _ => Ok(self.tensor.clone()),
        }
    }
    #[cold]
    fn stale(&self, node: &NodeRef, now: u32) -> crate::Error {
        let forward = |n: &Node| n.name().trim_end_matches(|c: char| c.is_ascii_digit()).replace("Backward", "");
        let producer = match self.output {
            Some(nr) => Some((forward(node), nr as usize)),
            None => self.tensor.history().map(|e| (forward(&e.node), e.nr as usize)),
        };
        ErrorKind::StaleSave(Box::new(StaleSave {
            node: node.name().into_owned(),
            input: self.name,
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
        values.iter().map(|v| v.as_ref().map(|s| s.unpack(node, recording)).transpose()).collect()
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
        let unpack = |v: &Option<Saved>| v.as_ref().map(|s| s.unpack(node, run.create_graph)).transpose();
        let kept = slots.values.iter().map(unpack).collect::<Result<_>>()?;
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
        value.map(|s| s.unpack(node, recording)).transpose()
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
    keep.iter()
        .map(|k| {
            if k.for_grads & followed == 0 {
                return Ok(None);
            }
            let i = match k.source {
                Source::Output(i) => return Ok(Some(Saved::output(&outs[i], i as u32, k.name))),
                Source::Input(i) => i,
            };
            if let (0, Some(copy)) = (i, before.and_then(|b| b.copy.as_ref())) {
                return Ok(Some(Saved::input(copy.clone(), k.name)));
            }
            let Some(&x) = xs.get(i) else { return Ok(None) };
            Saved::check(x)?;
            let version = before.map_or_else(|| x.version(), |b| b.versions[i]);
            Ok(Some(Saved { tensor: x.clone(), version, output: None, name: k.name }))
        })
        .collect()
}
