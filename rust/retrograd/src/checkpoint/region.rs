//! A checkpointed call: what its nodes hold in place of the tensors that they would have saved, and how to have them.
//!
//! Saved-tensor hooks put a [`Slot`] there. At the first unpack in a pass the call is repeated under hooks that collect
//! the tensors in the same order, and each slot is given its own.
//!
//! Nested calls need no more than this. Tensors that an inner call saves go to its own slots, since the innermost hooks
//! act; its inputs are saved by the outer call. So to have the inner one's inputs, the outer one is repeated, by
//! unpacking them. The inner call in this repetition is a new one.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Hooked;
use crate::engine::autograd::saved::{PackedValue, Saved, SavedHooks, SavedSlots, pack_saved};
use crate::engine::autograd::{GradGuard, Grads, Node, NodeRef, Rule, Run, engine, mode};
use crate::engine::{DType, Tensor};
use crate::{Error, Result};

/// Calls the function once more.
type Again = Box<dyn Fn(Vec<Tensor>) -> Result<()> + Send + Sync>;

/// How two calls are compared.
pub(super) struct How {
    pub compares: bool,
    pub early_stop: bool,
}

pub(super) struct Region {
    again: Again,
    inputs: Option<NodeRef>,
    how: How,
    first: Mutex<First>,
    /// By the pass that they belong to. The pass alone holds them, in a callback: they die with it, whether or not it
    /// succeeds.
    recomputations: Mutex<HashMap<u64, Weak<Recomputation>>>,
}

/// What the first call saved.
#[derive(Default)]
struct First {
    saves: Vec<Save>,
    /// By position: the node that holds the slot is there.
    alive: Vec<bool>,
    /// The call has returned.
    complete: bool,
}

/// What must be the same of a saved tensor and of the one that is computed again.
#[derive(Clone, PartialEq, Eq)]
struct Save {
    sizes: Vec<usize>,
    dtype: DType,
}

impl Save {
    fn of(t: &Tensor) -> Self {
        Self { sizes: t.sizes().to_vec(), dtype: t.dtype() }
    }
}

impl fmt::Display for Save {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sizes {:?}, dtype {}", self.sizes, self.dtype.name())
    }
}

/// The tensors that a repeated call saved and that have not been used, by position.
#[derive(Default)]
struct Recomputation(Mutex<HashMap<usize, Tensor>>);

/// Panics while a lock is held leave nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Region {
    pub fn new(again: Again, inputs: Vec<Tensor>, how: How) -> Result<Arc<Self>> {
        let inputs = if inputs.is_empty() { None } else { Some(Inputs::node(inputs)?) };
        let (first, recomputations) = (Mutex::default(), Mutex::default());
        Ok(Arc::new(Self { again, inputs, how, first, recomputations }))
    }

    /// The first call has returned.
    pub fn complete(&self) {
        lock(&self.first).complete = true;
    }

    fn unpack(self: &Arc<Self>, position: usize) -> Result<Tensor> {
        let found = lock(&self.recomputation()?.0).remove(&position);
        found.ok_or_else(|| {
            Error::autograd(format!(
                "checkpoint: Unpack is being triggered for a tensor that was already unpacked once, the tensor at position \
                 {position}: {}. A rule may read what it saved only once in a pass",
                lock(&self.first).saves[position]
            ))
        })
    }

    /// That of the pass under way, made on the first request; outside of a pass it is there for one tensor.
    fn recomputation(self: &Arc<Self>) -> Result<Arc<Recomputation>> {
        let run = engine::current_run();
        if let Some(done) = run.and_then(|run| lock(&self.recomputations).get(&run).and_then(Weak::upgrade)) {
            return Ok(done);
        }
        let done = self.recompute()?;
        if let Some(run) = run {
            let mut all = lock(&self.recomputations);
            all.retain(|_, other| other.strong_count() > 0);
            all.insert(run, Arc::downgrade(&done));
            drop(all);
            let held = done.clone();
            engine::queue_callback(Box::new(move || {
                drop(held);
                Ok(())
            }))?;
        }
        Ok(done)
    }

    fn recompute(self: &Arc<Self>) -> Result<Arc<Recomputation>> {
        let inputs = match &self.inputs {
            None => Vec::new(),
            Some(node) => {
                let slots = node.rule().saved_slots().expect("the rule of inputs has slots");
                slots.unpack(node, true)?.into_iter().flatten().collect()
            }
        };
        let (expected, complete) = {
            let first = lock(&self.first);
            (first.saves.len(), first.complete)
        };
        let done = Arc::new(Recomputation::default());
        let saves = Arc::new(Mutex::new(Vec::new()));
        let repeated = Repeated { region: self.clone(), done: done.clone(), saves: saves.clone(), expected };
        {
            let _mode = GradGuard::keeping(mode::GRAD | mode::INFERENCE);
            mode::set(mode::INFERENCE, false);
            mode::set(mode::GRAD, true);
            let _hooks = Hooked::new(Hooks(Which::Repeated(repeated)))?;
            match catch_unwind(AssertUnwindSafe(|| (self.again)(inputs))) {
                Ok(result) => result?,
                Err(payload) if payload.is::<Enough>() => {}
                Err(payload) => resume_unwind(payload),
            }
        }
        let saves = std::mem::take(&mut *lock(&saves));
        self.compare(&saves, expected, complete)?;
        Ok(done)
    }

    fn compare(&self, now: &[Save], expected: usize, complete: bool) -> Result<()> {
        let first = lock(&self.first);
        let was = &first.saves[..expected];
        // A call that has not returned yet is repeated to the end unless stopped, so there may be more.
        if now.len() < expected || (complete && now.len() > expected) {
            return Err(different_number(was, now));
        }
        let differs = |i: &usize| was[*i] != now[*i] && first.alive[*i];
        let different: Vec<usize> = (0..expected).filter(differs).collect();
        if self.how.compares && !different.is_empty() {
            return Err(different_facts(was, now, &different));
        }
        Ok(())
    }
}

// ---- hooks

/// Saved-tensor hooks of the first call, or of a repeated one.
pub(super) struct Hooks(Which);

enum Which {
    First(Arc<Region>),
    Repeated(Repeated),
}

struct Repeated {
    region: Arc<Region>,
    done: Arc<Recomputation>,
    saves: Arc<Mutex<Vec<Save>>>,
    expected: usize,
}

/// Ends a repeated call.
struct Enough;

impl Hooks {
    pub fn first(region: &Arc<Region>) -> Self {
        Self(Which::First(region.clone()))
    }
}

impl SavedHooks for Hooks {
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn PackedValue>> {
        match &self.0 {
            Which::First(region) => {
                let mut first = lock(&region.first);
                first.saves.push(Save::of(tensor));
                first.alive.push(true);
                Ok(Box::new(Slot { region: region.clone(), position: first.saves.len() - 1 }))
            }
            Which::Repeated(repeated) => repeated.pack(tensor),
        }
    }
}

impl Repeated {
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn PackedValue>> {
        let position = {
            let mut saves = lock(&self.saves);
            saves.push(Save::of(tensor));
            saves.len() - 1
        };
        // Without its graph: an op's own result would keep alive the node that it is saved in.
        let plain = if tensor.requires_grad() { tensor.detach() } else { tensor.clone() };
        if lock(&self.region.first).alive.get(position) == Some(&true) {
            lock(&self.done.0).insert(position, plain.clone());
        }
        if cfg!(panic = "unwind") && self.region.how.early_stop && position + 1 >= self.expected {
            resume_unwind(Box::new(Enough));
        }
        // The function may run a backward pass through what it computes.
        Ok(Box::new(AsItIs(plain)))
    }
}

/// Stands in a node for a tensor that it would have saved. When the node lets go of it, the tensor is not needed.
struct Slot {
    region: Arc<Region>,
    position: usize,
}

impl PackedValue for Slot {
    fn unpack(&self) -> Result<Tensor> {
        self.region.unpack(self.position)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.region.first).alive[self.position] = false;
        let under_way: Vec<_> = lock(&self.region.recomputations).values().filter_map(Weak::upgrade).collect();
        for done in under_way {
            let unused = lock(&done.0).remove(&self.position);
            drop(unused);
        }
    }
}

struct AsItIs(Tensor);

impl PackedValue for AsItIs {
    fn unpack(&self) -> Result<Tensor> {
        Ok(self.0.clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

// ---- inputs

/// The rule of a node that saves tensors the way ops do: writes to them are noticed, and the hooks of an enclosing call
/// apply to them. It is part of no graph.
struct Inputs(SavedSlots);

impl Inputs {
    fn node(inputs: Vec<Tensor>) -> Result<NodeRef> {
        inputs.iter().try_for_each(Saved::check)?;
        let slots = SavedSlots::new(inputs.into_iter().map(|x| Some(Saved::input(x))).collect());
        let node = Node::new(Self(slots), Default::default(), Default::default());
        pack_saved(&node, &|_| None)?;
        Ok(node)
    }
}

impl Rule for Inputs {
    fn name(&self) -> Cow<'static, str> {
        "CheckpointBackward".into()
    }
    fn apply(&self, _node: &NodeRef, _grads: &[Option<Tensor>], _run: Run) -> Result<Grads> {
        Ok(Grads::new())
    }
    fn saved_slots(&self) -> Option<&SavedSlots> {
        Some(&self.0)
    }
    fn slot_name(&self, _slot: usize) -> &'static str {
        "argument"
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

// ---- errors

fn numbers(was: &[Save], now: &[Save]) -> String {
    format!(
        "Number of tensors saved during forward: {}\nNumber of tensors saved during recomputation: {}.\n",
        was.len(),
        now.len()
    )
}

fn pair(was: &[Save], now: &[Save], i: usize) -> String {
    let text = |saves: &[Save]| saves.get(i).map_or_else(|| "none was saved".into(), ToString::to_string);
    format!("tensor at position {i}:\nsaved metadata: {}\nrecomputed metadata: {}\n", text(was), text(now))
}

#[cold]
fn different_number(was: &[Save], now: &[Save]) -> Error {
    let both = was.len().min(now.len());
    let first = (0..both).find(|&i| was[i] != now[i]).unwrap_or(both);
    let more = "trying to save more tensors during recomputation than during the original forward pass. ";
    Error::autograd(format!(
        "checkpoint: {}A different number of tensors was saved during the original forward and recomputation.\n{}The first \
         that differs is the {}The function must do the same in every call",
        if now.len() > was.len() { more } else { "" },
        numbers(was, now),
        pair(was, now, first)
    ))
}

#[cold]
fn different_facts(was: &[Save], now: &[Save], positions: &[usize]) -> Error {
    let mut text = String::from(
        "checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n",
    );
    for &i in positions {
        let _ = write!(text, "{}", pair(was, now, i));
    }
    text.push_str(&numbers(was, now));
    text.push_str("The function must do the same in every call");
    Error::autograd(text)
}
