//! Saved tensors: what a node holds for its rule, with the versions that it had, or what a hook made of it.

mod hook_stack;
mod unwritten;

use std::any::Any;
use std::sync::Arc;

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::anomaly;
use super::apply::edge_bits;
use super::mode::GradGuard;
use super::node::{Edge, Node, NodeRef, Output, Run};
use super::primitive::{Save, Source};
use super::view::follow_write;
use crate::call_site::CallSite;
use crate::counted::{Counted, WeakCounted};
use crate::error::{Error, ErrorKind, Freed, Result, StaleSave};
use crate::tensor::{Tensor, Value};
pub(super) use hook_stack::{Carried, InForce};
use hook_stack::{Suspended, innermost};
pub use hook_stack::{forbid_hooks, pop_hooks, push_hooks};

/// One saved tensor.
#[derive(Clone)]
pub struct Saved(SavedForm);

#[derive(Clone)]
enum SavedForm {
    Plain {
        tensor: Tensor,
        version: u32,
        /// For an output of the node itself: which one, otherwise [`INPUT`]. The tensor of an output is an alias
        /// without history, so no cycle arises.
        output: u32,
    },
    /// The output of an op that wrote to a view.
    Part {
        tensor: Tensor,
        version: u32,
        /// The node that the view's base has since. It owns the value.
        written: WeakCounted<Node>,
    },
    Packed(Arc<Packed>),
}

/// Means "no output of the node".
const INPUT: u32 = u32::MAX;

/// What a hook made of a saved tensor, and the tensor's place in the graph.
struct Packed {
    value: Box<dyn PackedValue>,
    link: Link,
    /// Has the tensor's tangents, which the hook need not preserve; none if it was packed outside of all levels.
    tangents: Option<Tensor>,
}

enum Link {
    /// The tensor did not require grad.
    Constant,
    /// It is this output of the node that saves it.
    Output(u32),
    /// It is the output of an op that wrote to a view.
    Part(WeakCounted<Node>),
    /// Its gradient goes this way.
    Edge(Edge),
}

/// A pair of hooks for saved tensors: what [`SavedHooks::pack`] returns is saved instead.
pub trait SavedHooks: Send + Sync {
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn PackedValue>>;
}

/// What a hook made of a saved tensor.
pub trait PackedValue: Send + Sync {
    /// The tensor again, or another one in its place. Whatever history it has is ignored.
    fn unpack(&self) -> Result<Tensor>;
    /// For the crate that made the hook, which may look for reference cycles through it.
    fn as_any(&self) -> &dyn Any;
}

/// What `_saved_*` attributes give.
pub enum SavedItem {
    Tensor(Option<Tensor>),
    Tensors(Vec<Tensor>),
    Value(Value),
}

/// What [`SavedSlots::each`] shows of a saved tensor.
pub enum Seen<'a> {
    /// The tensor, and which output of the node it is, if it is one.
    Tensor(&'a Tensor, Option<u32>),
    /// A hook has it.
    Packed,
}

impl Saved {
    /// Refuses tensors that may not be saved at all.
    #[inline]
    pub fn check(tensor: &Tensor) -> Result<()> {
        if tensor.is_inference() {
            return Err(Error::autograd(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in \
                 computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it \
                 in autograd.",
            ));
        }
        Ok(())
    }
    #[inline(always)]
    pub fn input(tensor: Tensor) -> Self {
        let version = tensor.version();
        Self(SavedForm::Plain { tensor, version, output: INPUT })
    }
    pub fn output(tensor: &Tensor, nr: u32) -> Self {
        Self(SavedForm::Plain { version: tensor.version(), tensor: tensor.alias(), output: nr })
    }
    /// The saved tensor, and the version that it had; `None` if a hook has it.
    fn tensor_and_version(&self) -> Option<(&Tensor, u32)> {
        match &self.0 {
            SavedForm::Plain { tensor, version, .. } | SavedForm::Part { tensor, version, .. } => {
                Some((tensor, *version))
            }
            SavedForm::Packed(_) => None,
        }
    }
    /// The saved tensor, if nobody wrote to it since and no hook has it.
    #[inline]
    fn fresh(&self, node: &NodeRef, recording: bool) -> Result<Option<Tensor>> {
        let Some((tensor, version)) = self.tensor_and_version() else { return Ok(None) };
        if tensor.version() != version {
            return Ok(None);
        }
        if !recording
            || !tensor.dtype().is_differentiable()
            || matches!(&self.0, SavedForm::Plain { output: INPUT, .. })
        {
            return Ok(Some(tensor.clone()));
        }
        let t = tensor.alias();
        match &self.0 {
            SavedForm::Plain { output, .. } => t.set_history(Output { node: node.clone(), nr: *output }),
            SavedForm::Part { written, .. } => follow_write(&t, written),
            SavedForm::Packed(_) => {}
        }
        t.share_tangents(tensor)?;
        Ok(Some(t))
    }
    /// The saved tensor: as it was, after checking that nobody wrote to it since, or as the hook unpacks it.
    fn unpack(&self, node: &NodeRef, slot: usize, recording: bool) -> Result<Tensor> {
        match &self.0 {
            SavedForm::Packed(packed) => packed.unpack(node),
            _ => self.fresh(node, recording)?.ok_or_else(|| self.stale(node, slot)),
        }
    }
    /// A tensor that hooks have not seen, and should. Plain numbers they never see.
    fn is_plain(&self) -> bool {
        self.tensor_and_version().is_some_and(|(tensor, _)| !tensor.is_number())
    }
    /// What `hooks` make of the tensor. Of an output they see the tensor that `outputs` gives, if it does.
    fn pack(&self, hooks: &dyn SavedHooks, outputs: &Outputs) -> Result<Self> {
        let Some((tensor, _)) = self.tensor_and_version() else {
            return Err(Error::autograd(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is \
                 allowed at a time.",
            ));
        };
        let output = |nr: u32| outputs(nr as usize).unwrap_or_else(|| tensor.clone());
        let (shown, link) = match &self.0 {
            SavedForm::Plain { output: nr, .. } if *nr != INPUT => (output(*nr), Link::Output(*nr)),
            SavedForm::Part { written, .. } => (output(0), Link::Part(written.clone())),
            _ => (tensor.clone(), tensor.grad_edge()?.map_or(Link::Constant, Link::Edge)),
        };
        let before = shown.version();
        let value = {
            let (_unhooked, _plain) = (Suspended::new(), GradGuard::new(false));
            hooks.pack(&shown)?
        };
        if shown.version() != before {
            return Err(Error::autograd(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be \
                 modified by in-place operations, as what is saved would then not be what the op used: clone the tensor in the \
                 hook first.",
            ));
        }
        let tangents = tensor.bearer_of_tangents()?;
        Ok(Self(SavedForm::Packed(Arc::new(Packed { value, link, tangents }))))
    }
    #[cold]
    fn stale(&self, node: &NodeRef, slot: usize) -> Error {
        let Some((tensor, version)) = self.tensor_and_version() else { unreachable!("packed values have no version") };
        let producer = match &self.0 {
            SavedForm::Plain { output: nr, .. } if *nr != INPUT => Some((node.forward_name(), *nr as usize)),
            SavedForm::Part { .. } => Some((node.forward_name(), 0)),
            _ => tensor.history().map(|e| (e.node.forward_name(), e.nr as usize)),
        };
        ErrorKind::StaleSave(Box::new(StaleSave {
            node: node.name().into_owned(),
            input: node.rule.slot_name(slot),
            dtype: tensor.dtype(),
            sizes: tensor.sizes().to_vec(),
            saved: version,
            now: tensor.version(),
            producer,
            saved_at: node.origin.location(),
            written_at: tensor.last_write().location(),
            needed_at: CallSite::here().location(),
            traced: anomaly::is_on(),
        }))
        .into()
    }
}

impl Link {
    /// Which output of the node it is, if it is one.
    fn output(&self) -> Option<u32> {
        match self {
            Self::Output(nr) => Some(*nr),
            Self::Part(_) => Some(0),
            Self::Constant | Self::Edge(_) => None,
        }
    }
}

impl Packed {
    fn unpack(&self, node: &NodeRef) -> Result<Tensor> {
        let given = {
            let _unhooked = Suspended::new();
            self.value.unpack()?
        };
        let tangents = self.tangents.as_ref().filter(|bearer| bearer.may_have_tangent());
        if matches!(self.link, Link::Constant) && !given.requires_grad() && tangents.is_none() {
            return Ok(given);
        }
        let t = given.alias();
        t.share_tangents(&given)?;
        if let Some(bearer) = tangents {
            t.borrow_tangents(bearer)?;
        }
        match &self.link {
            Link::Constant => {}
            Link::Output(nr) => t.set_history(Output { node: node.clone(), nr: *nr }),
            Link::Part(written) => follow_write(&t, written),
            Link::Edge(edge) => t.set_edge(edge.clone()),
        }
        Ok(t)
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        if let Link::Edge(edge) = std::mem::replace(&mut self.link, Link::Constant) {
            edge.give_up();
        }
    }
}

/// Finds the output of a node with this number.
type Outputs<'a> = dyn Fn(usize) -> Option<Tensor> + 'a;

/// Passes what a new node saves to the hooks in force.
#[cold]
pub fn pack_saved(node: &NodeRef, outputs: &Outputs) -> Result<()> {
    let (Some(saved), Some(hooks)) = (node.rule.saved_slots(), innermost()) else { return Ok(()) };
    for slot in 0..saved.len() {
        // Operands of an op that writes in place were packed before.
        if saved.is_plain(slot) {
            saved.pack(slot, &*hooks, outputs)?;
        }
    }
    Ok(())
}

// ---- the values of a node

/// The saved tensors of a node, one slot per `Save` of its op; freed after a run that does not retain the graph.
pub struct SavedSlots(Mutex<Slots>);

type Values = SmallVec<[Option<Saved>; 2]>;

enum Slots {
    Held {
        values: Values,
        /// A run that will free the values is using them: no other run may.
        claimed: bool,
        /// To be freed like others even if there are no values.
        once: bool,
    },
    Freed {
        by: CallSite,
        /// How many slots there were.
        count: usize,
    },
}

/// Unpacked slots.
pub type SavedTensors = SmallVec<[Option<Tensor>; 3]>;

fn unpack_all(values: &Values, node: &NodeRef, recording: bool) -> Result<SavedTensors> {
    let unpack = |(i, v): (usize, &Option<Saved>)| v.as_ref().map(|s| s.unpack(node, i, recording)).transpose();
    values.iter().enumerate().map(unpack).collect()
}

impl SavedSlots {
    #[inline(always)]
    pub fn new(values: SmallVec<[Option<Saved>; 2]>) -> Self {
        Self(Mutex::new(Slots::Held { values, claimed: false, once: false }))
    }
    /// The slots of a node that nobody else has yet.
    #[inline(always)]
    pub(super) fn values_mut(&mut self) -> &mut SmallVec<[Option<Saved>; 2]> {
        match self.0.get_mut() {
            Slots::Held { values, .. } => values,
            Slots::Freed { .. } => unreachable!("a node that nobody has ran"),
        }
    }
    /// The error of a second run, if the tensors were freed.
    pub fn check(&self, node: &NodeRef) -> Result<()> {
        self.held(node, |_| ())
    }
    pub fn is_freed(&self) -> bool {
        matches!(*self.0.lock(), Slots::Freed { .. })
    }
    /// How many slots there are, with a tensor or without, or were before they were freed.
    pub fn len(&self) -> usize {
        match &*self.0.lock() {
            Slots::Held { values, .. } => values.len(),
            Slots::Freed { count, .. } => *count,
        }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether there is a tensor in this slot.
    pub fn holds(&self, slot: usize) -> bool {
        matches!(&*self.0.lock(), Slots::Held { values, .. } if values.get(slot).is_some_and(Option::is_some))
    }
    fn is_plain(&self, slot: usize) -> bool {
        matches!(&*self.0.lock(), Slots::Held { values, .. } if values.get(slot).and_then(Option::as_ref).is_some_and(Saved::is_plain))
    }
    /// Has [`SavedSlots::release`] free the slots even if there is nothing in them.
    pub fn run_once(&self) {
        if let Slots::Held { once, .. } = &mut *self.0.lock() {
            *once = true;
        }
    }
    /// Frees the tensors, for a call at `by`. A node that saved none can run again.
    pub fn release(&self, by: CallSite) {
        let values = {
            let mut slots = self.0.lock();
            let Slots::Held { values, once, claimed } = &mut *slots else { return };
            if !*once && values.iter().all(Option::is_none) {
                *claimed = false;
                return;
            }
            let values = std::mem::take(values);
            *slots = Slots::Freed { by, count: values.len() };
            values
        };
        drop(values);
    }
    /// Runs `f` on the values if the node may use them. Errors are made after the lock: they may call the host for
    /// words.
    fn held<R>(&self, node: &NodeRef, f: impl FnOnce(&Values) -> R) -> Result<R> {
        let by = match &*self.0.lock() {
            Slots::Held { values, claimed: false, .. } => return Ok(f(values)),
            Slots::Held { .. } => CallSite::default(),
            Slots::Freed { by, .. } => *by,
        };
        Err(freed(node, by))
    }
    /// The values, after checking that nobody wrote to them since.
    pub fn unpack(&self, node: &NodeRef, recording: bool) -> Result<SavedTensors> {
        unpack_all(&self.held(node, Clone::clone)?, node, recording)
    }
    /// The values for the node's rule. A run that frees them has them for itself until it calls
    /// [`SavedSlots::release`], or [`SavedSlots::unclaim`] if it failed.
    pub fn unpack_for(&self, node: &NodeRef, run: Run) -> Result<SavedTensors> {
        // Hooks and errors run foreign code, so not under the lock: for them the values are cloned.
        let (values, by) = match &mut *self.0.lock() {
            Slots::Held { values, claimed, .. } if !*claimed => {
                *claimed = run.frees && !values.is_empty();
                let mut saved = SavedTensors::new();
                for v in values.iter() {
                    let unpacked = match v {
                        None => None,
                        Some(s) => match s.fresh(node, run.create_graph) {
                            Ok(None) | Err(_) => break,
                            Ok(tensor) => tensor,
                        },
                    };
                    saved.push(unpacked);
                }
                if saved.len() == values.len() {
                    return Ok(saved);
                }
                (Some(values.clone()), CallSite::default())
            }
            Slots::Held { .. } => (None, CallSite::default()),
            Slots::Freed { by, .. } => (None, *by),
        };
        let Some(values) = values else { return Err(freed(node, by)) };
        unpack_all(&values, node, run.create_graph).inspect_err(|_| self.unclaim(run))
    }
    /// Lets others use the values again that [`SavedSlots::unpack_for`] gave to `run`, if it claimed them.
    pub fn unclaim(&self, run: Run) {
        if run.frees
            && let Slots::Held { claimed, .. } = &mut *self.0.lock()
        {
            *claimed = false;
        }
    }
    /// As [`SavedSlots::unpack`], one slot only.
    pub fn unpack_one(&self, node: &NodeRef, slot: usize, recording: bool) -> Result<Option<Tensor>> {
        let value = self.held(node, |values| values.get(slot).cloned().flatten())?;
        value.map(|s| s.unpack(node, slot, recording)).transpose()
    }
    /// Passes the tensor in a slot to `hooks` and saves what they make of it.
    fn pack(&self, slot: usize, hooks: &dyn SavedHooks, outputs: &Outputs) -> Result<()> {
        let value = match &*self.0.lock() {
            Slots::Held { values, .. } => values.get(slot).cloned().flatten(),
            Slots::Freed { .. } => None,
        };
        let Some(value) = value else { return Ok(()) };
        let packed = value.pack(hooks, outputs)?;
        let old = match &mut *self.0.lock() {
            Slots::Held { values, .. } => values.get_mut(slot).and_then(|v| v.replace(packed)),
            Slots::Freed { .. } => Some(packed),
        };
        drop(old);
        Ok(())
    }
    /// As [`push_hooks`], for the tensor in this slot alone, at once.
    pub fn register_hooks(&self, slot: usize, hooks: &dyn SavedHooks) -> Result<()> {
        let refusal = match &*self.0.lock() {
            Slots::Freed { .. } => Some(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are \
                 freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through \
                 the graph a second time or if you need to access saved variables after calling backward.",
            ),
            Slots::Held { values, .. } if values.get(slot).is_none_or(Option::is_none) => {
                Some("Calling register_hooks on a saved tensor with value None is forbidden: there is nothing to pack.")
            }
            Slots::Held { .. } => None,
        };
        match refusal {
            Some(why) => Err(Error::autograd(why)),
            None => self.pack(slot, hooks, &|_| None),
        }
    }
    /// Runs `f` on what a hook made of the tensor in a slot.
    pub fn with_packed<R>(&self, slot: usize, f: impl FnOnce(&dyn PackedValue) -> R) -> Option<R> {
        let packed = match &*self.0.lock() {
            Slots::Held { values, .. } => match values.get(slot)?.as_ref()?.0 {
                SavedForm::Packed(ref packed) => packed.clone(),
                SavedForm::Plain { .. } | SavedForm::Part { .. } => return None,
            },
            Slots::Freed { .. } => return None,
        };
        Some(f(&*packed.value))
    }
    /// Gives the saved outputs of the node the tangents of its results, which `out` has by number: in forward over
    /// reverse the rule needs both.
    #[cold]
    pub fn share_tangents<'a>(&self, out: &dyn Fn(usize) -> Option<&'a Tensor>) -> Result<()> {
        // Not under the lock: tangents that are replaced may take objects of the host with them.
        let values = match &*self.0.lock() {
            Slots::Held { values, .. } => values.clone(),
            Slots::Freed { .. } => return Ok(()),
        };
        for value in values.iter().flatten() {
            let (tensor, output) = match &value.0 {
                SavedForm::Plain { tensor, output, .. } => (tensor, *output),
                SavedForm::Part { tensor, .. } => (tensor, 0),
                SavedForm::Packed(packed) => {
                    if let (Some(bearer), Some(nr)) = (&packed.tangents, packed.link.output())
                        && let Some(out) = out(nr as usize)
                    {
                        bearer.borrow_tangents(out)?;
                    }
                    continue;
                }
            };
            if let Some(out) = out(output as usize) {
                tensor.share_tangents(out)?;
            }
        }
        Ok(())
    }
    /// Has the outputs that are saved, written to a view, lead to the history that its base has since.
    pub(crate) fn lead_to_base(&self, written: &NodeRef) {
        if let Slots::Held { values, .. } = &mut *self.0.lock() {
            for value in values.iter_mut().flatten() {
                if let SavedForm::Plain { tensor, version, output } = &value.0
                    && *output != INPUT
                {
                    let (tensor, version) = (tensor.clone(), *version);
                    *value = Saved(SavedForm::Part { tensor, version, written: Counted::downgrade(written) });
                }
            }
        }
    }
    /// Shows `see` what is in the slots, with their numbers. `see` runs under the lock, so it only takes notes.
    pub fn each(&self, mut see: impl FnMut(usize, Seen)) {
        let Slots::Held { values, .. } = &*self.0.lock() else { return };
        for (slot, value) in values.iter().enumerate() {
            match value.as_ref().map(|saved| &saved.0) {
                None => {}
                Some(SavedForm::Plain { tensor, output, .. }) => {
                    see(slot, Seen::Tensor(tensor, (*output != INPUT).then_some(*output)));
                }
                Some(SavedForm::Part { tensor, .. }) => see(slot, Seen::Tensor(tensor, Some(0))),
                Some(SavedForm::Packed(_)) => see(slot, Seen::Packed),
            }
        }
    }
    /// Bytes of the slots where there are more than the node has room for.
    pub fn spilled_bytes(&self) -> usize {
        match &*self.0.lock() {
            Slots::Held { values, .. } if values.spilled() => values.capacity() * size_of::<Option<Saved>>(),
            _ => 0,
        }
    }
    /// Shows `see` what hooks made of the tensors and nobody else holds, unless they are in use at this moment.
    pub fn each_packed(&self, mut see: impl FnMut(&dyn PackedValue)) {
        let Some(slots) = self.0.try_lock() else { return };
        let Slots::Held { values, .. } = &*slots else { return };
        for v in values.iter().flatten() {
            if let SavedForm::Packed(packed) = &v.0
                && Arc::strong_count(packed) == 1
            {
                see(&*packed.value);
            }
        }
    }
}

#[cold]
pub(crate) fn freed(node: &NodeRef, by: CallSite) -> Error {
    let (recorded_at, freed_at, needed_at) = (node.origin.location(), by.location(), CallSite::here().location());
    ErrorKind::Freed(Box::new(Freed { node: node.name().into_owned(), recorded_at, freed_at, needed_at })).into()
}

/// What an op overwrites that its rule may need.
pub(crate) struct Before {
    /// A copy of operand 0, with its history.
    pub copy: Option<Tensor>,
    /// Versions of the operands.
    pub versions: SmallVec<[u32; 3]>,
    /// What saved-tensor hooks made of the operands that are saved, by entry of `SAVE`.
    pub packed: Values,
}

/// Saves the values that `saves` lists, as far as the inputs that require grad need them. `before` is given for an op
/// that wrote to operand 0.
#[inline(always)]
pub(super) fn save_values(
    saves: &'static [Save],
    edges: &[Option<Edge>],
    xs: &[&Tensor],
    outs: &[Tensor],
    before: Option<&Before>,
    values: &mut Values,
) -> Result<()> {
    let bits = edge_bits(edges);
    for (k, save) in saves.iter().enumerate() {
        match save.source {
            _ if save.for_grads & bits == 0 => values.push(None),
            Source::Output(i) => values.push(Some(Saved::output(&outs[i], i as u32))),
            Source::Input(i) => match (xs.get(i), before) {
                (Some(&x), None) => {
                    Saved::check(x)?;
                    values.push(Some(Saved::input(x.clone())));
                }
                (Some(_), Some(before)) => values.push(match before.packed.get(k) {
                    Some(packed) => packed.clone(),
                    None => save_before_write(i, xs, edges, before)?,
                }),
                (None, _) => values.push(None),
            },
        }
    }
    Ok(())
}

/// Operand `i`, of those with these edges, as it was before a write to operand 0.
fn save_before_write(i: usize, xs: &[&Tensor], edges: &[Option<Edge>], before: &Before) -> Result<Option<Saved>> {
    let Some(&x) = xs.get(i) else { return Ok(None) };
    if let (0, Some(copy)) = (i, &before.copy) {
        return Ok(Some(Saved::input(copy.clone())));
    }
    Saved::check(x)?;
    let mut tensor = x.clone();
    // The target, and its base if it is a view, will own the node: the node must own neither them nor a view of them.
    if whole(x).is_same(whole(xs[0])) {
        tensor = x.alias();
        if let Some(edge) = &edges[i] {
            tensor.set_edge(edge.clone());
        }
    }
    Ok(Some(Saved(SavedForm::Plain { tensor, version: before.versions[i], output: INPUT })))
}

/// What `t` is a view of, or itself.
fn whole(t: &Tensor) -> &Tensor {
    t.base().unwrap_or(t)
}

/// As [`pack_saved`], for the operands of an op that is about to write to operand 0.
#[cold]
pub(crate) fn pack_before(
    saves: &'static [Save],
    edges: &[Option<Edge>],
    xs: &[&Tensor],
    before: &mut Before,
) -> Result<()> {
    let Some(hooks) = innermost() else { return Ok(()) };
    let bits = edge_bits(edges);
    for k in saves {
        let value = match k.source {
            Source::Input(i) if k.for_grads & bits != 0 => save_before_write(i, xs, edges, before)?,
            _ => None,
        };
        let packed = |v: Saved| if v.is_plain() { v.pack(&*hooks, &|_| None) } else { Ok(v) };
        before.packed.push(value.map(packed).transpose()?);
    }
    Ok(())
}
