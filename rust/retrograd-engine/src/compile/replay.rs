//! Replays: the steps of a program, one after the other, on what the call is given.

use std::ptr::null_mut;
use std::sync::Arc;

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::backward::{BackwardProgram, parted};
use super::compare::OtherNumber;
use super::explain::{Nobody, Times, Watch, explained};
use super::program::{GradOfLeaf, Met, Place, Plan, Planned, Way};
use super::record;
use super::recording::{LeafOf, Output, Recording, Update, ValueId, What, Window};
use crate::autograd::apply::{run_rule, write_result};
use crate::autograd::erased::AnyPrimitive;
use crate::autograd::mode::{self, GradGuard};
use crate::autograd::node::Grads;
use crate::counted::Counted;
use crate::error::{Error, Result};
use crate::kernels::parallel::SharedPtr;
use crate::optim::AdamState;
use crate::storage::Storage;
use crate::storage::reclaim::reading;
use crate::tensor::{LazyBits, Scalar, Tensor, copy, default_dtype, lazy};

/// A function as it ran once, for calls that are like that one.
pub struct Program {
    plan: Plan,
    /// The modes in which it ran.
    word: u32,
    frame: Mutex<Frame>,
    /// How the results are differentiated, if they have a history.
    backward: Option<Arc<BackwardProgram>>,
}

/// The tensors of a replay, by value: those that are the same at every call stay.
struct Frame {
    arena: Counted<Storage>,
    tensors: Vec<Option<Tensor>>,
    /// Where the elements of each begin.
    at: Vec<SharedPtr<u8>>,
}

/// Modes that change what a function does.
const MODES: u32 = mode::GRAD | mode::INFERENCE;

/// What came of a call.
pub enum Replayed {
    /// The results.
    Done(Vec<Tensor>),
    /// The call is another one than that which was recorded. Nothing was done.
    Other,
    /// It is like it, but a replay is under way. Nothing was done.
    Busy,
}

impl Program {
    /// The program of a recording. `numbers` are those that each replay is given, in this order.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(recording: Recording, numbers: &[OtherNumber]) -> Result<Self> {
        let word = mode::word() & MODES;
        let (recording, backward) = parted(recording, numbers, word & !mode::GRAD)?;
        Self::of(recording, numbers, word, backward)
    }

    /// The program of a recording, in modes.
    pub(super) fn of(
        recording: Recording,
        numbers: &[OtherNumber],
        word: u32,
        backward: Option<Arc<BackwardProgram>>,
    ) -> Result<Self> {
        let _reading = reading();
        let plan = Plan::new(recording, numbers);
        let arena = Storage::allocate(plan.arena)?;
        let mut frame =
            Frame { arena, tensors: vec![None; plan.values.len()], at: vec![SharedPtr(null_mut()); plan.values.len()] };
        for (b, bytes, at_each_call) in &plan.initial {
            if let (Place::Arena(at), false) = (&plan.places[*b as usize], at_each_call) {
                frame.write_bytes(*at, bytes);
            }
        }
        for (v, w) in plan.values.iter().enumerate() {
            let t = match &plan.places[w.buffer as usize] {
                Place::Arena(at) => {
                    let offset = at / w.dtype.size() + w.offset;
                    Some(Tensor::from_parts(frame.arena.clone(), w.dtype, &w.sizes, &w.strides, offset)?)
                }
                Place::Fixed(number) => Some(number.clone()),
                Place::Captured(x) => Some(shown(x, w)?),
                Place::Input(_) | Place::Grad(_) | Place::Own | Place::Made | Place::Nowhere | Place::Number(_) => None,
            };
            if let Some(t) = t {
                frame.set(v as ValueId, t);
            }
        }
        Ok(Self { plan, word, frame: Mutex::new(frame), backward })
    }

    /// Captured tensors that a replay writes to.
    pub fn written(&self) -> Vec<Tensor> {
        let of = |&b: &u32| match &self.plan.places[b as usize] {
            Place::Captured(x) => Some(x.clone()),
            _ => None,
        };
        self.plan.writes.iter().filter_map(of).collect()
    }

    /// Captured leaves whose gradient a replay reads or changes.
    pub fn leaves(&self) -> Vec<Tensor> {
        let of = |leaf: &GradOfLeaf| match &leaf.of {
            LeafOf::Captured(x) => Some(x.clone()),
            LeafOf::Input(_) => None,
        };
        self.plan.leaves.iter().filter_map(of).collect()
    }

    /// How many elements the steps make, at most.
    pub fn elements(&self) -> usize {
        let values = |step: &Planned| step.step.xs.iter().chain(&step.step.outs).flatten().copied().collect::<Vec<_>>();
        let numel = |v: ValueId| self.plan.values[v as usize].sizes.iter().product::<usize>();
        self.plan.steps.iter().map(|step| values(step).into_iter().map(numel).max().unwrap_or(0)).sum()
    }

    /// How many of the steps are taken together with others, block by block.
    #[cfg(test)]
    pub(super) fn in_blocks(&self) -> usize {
        self.plan.runs.iter().map(|run| run.steps.len()).sum()
    }

    /// The steps as text, one per line, after a title: the op, its operands and results, which steps are taken
    /// together, bytes that are read and written, and how long each took, if `times` are given.
    pub fn explain(&self, title: &str, times: Option<&Times>) -> String {
        explained(&self.plan, title, times)
    }

    /// Whether a call with these arguments is like the recorded one.
    fn fits(&self, inputs: &[Tensor]) -> bool {
        let plan = &self.plan;
        if inputs.len() != plan.inputs.len()
            || mode::word() & (MODES | mode::AUTOCAST) != self.word
            || !record::modes_allow()
            || default_dtype() != plan.default_dtype
        {
            return false;
        }
        for (i, (x, meta)) in inputs.iter().zip(&plan.inputs).enumerate() {
            let alike = x.sizes() == &meta.sizes[..]
                && x.strides() == &meta.strides[..]
                && x.dtype() == meta.dtype
                && x.requires_grad() == meta.requires_grad
                && x.is_leaf() == meta.is_leaf
                && !x.is_batched()
                && !x.may_have_tangent()
                && !(lazy::exist() && x.lazy_bits().any());
            let storage = || Counted::as_ptr(&x.storage());
            let apart = |j: usize| Counted::as_ptr(&inputs[j].storage()) != storage();
            if !alike || (meta.shares != i && apart(meta.shares)) {
                return false;
            }
            if meta.shares == i && inputs.len() > 1 && (0..i).any(|j| !apart(j)) {
                return false;
            }
            if !plan.writes.is_empty()
                && plan.captured.iter().any(|met| Counted::as_ptr(&met.tensor.storage()) == storage())
            {
                return false;
            }
        }
        if !plan.captured.iter().all(Met::is_as_met) {
            return false;
        }
        plan.leaves.iter().all(|leaf| {
            let grad = leaf.of.of(inputs).grad();
            match (leaf.found, grad) {
                (None, None) => true,
                (Some(v), Some(grad)) => {
                    let w = &plan.values[v as usize];
                    grad.sizes() == &w.sizes[..] && grad.strides() == &w.strides[..] && grad.dtype() == w.dtype
                }
                _ => false,
            }
        })
    }

    /// Replays the program, if the call is like the recorded one.
    ///
    /// # Errors
    /// Those of its steps, which then have done what they did.
    pub fn replay(&self, inputs: &[Tensor], numbers: &[Scalar]) -> Result<Replayed> {
        self.watched(inputs, numbers, &mut Nobody)
    }

    /// As [`replay`](Self::replay); adds how long each step takes to `times`, which has none yet.
    ///
    /// # Errors
    /// Those of its steps, which then have done what they did.
    pub fn timed(&self, inputs: &[Tensor], numbers: &[Scalar], times: &mut Times) -> Result<Replayed> {
        self.watched(inputs, numbers, times)
    }

    #[inline]
    fn watched(&self, inputs: &[Tensor], numbers: &[Scalar], watch: &mut impl Watch) -> Result<Replayed> {
        let _reading = reading();
        if !self.fits(inputs) {
            return Ok(Replayed::Other);
        }
        // Another thread, or a step itself, may be replaying it.
        let Some(mut frame) = self.frame.try_lock() else { return Ok(Replayed::Busy) };
        let Some(updates) = self.updates() else { return Ok(Replayed::Other) };
        let _off = GradGuard::with(mode::GRAD, false);
        let frame = &mut *frame;
        let done = self.begin(frame, inputs, numbers).and_then(|()| self.run(frame, &updates, watch));
        let results = done.and_then(|()| self.finish(frame, inputs, numbers));
        self.plan.dynamic.iter().chain(&self.plan.kept).for_each(|&v| frame.tensors[v as usize] = None);
        results.map(Replayed::Done)
    }

    /// The numbers of the optimizers' steps; `None` if they are others in kind.
    fn updates(&self) -> Option<SmallVec<[Update; 1]>> {
        let mut all = SmallVec::new();
        for planned in &self.plan.steps {
            if let What::Update { update, rates, .. } = &planned.step.what {
                let now = match rates {
                    Some(rates) => rates.now()?,
                    None => *update,
                };
                let alike = match (update, &now) {
                    (Update::Sgd(a), Update::Sgd(b)) => (a.momentum != 0.0) == (b.momentum != 0.0),
                    (Update::Adam(_), Update::Adam(_)) => true,
                    _ => false,
                };
                if !alike {
                    return None;
                }
                all.push(now);
            }
        }
        Some(all)
    }

    /// Has a tensor for each value whose memory is there when the call begins.
    fn begin(&self, frame: &mut Frame, inputs: &[Tensor], numbers: &[Scalar]) -> Result<()> {
        let plan = &self.plan;
        for &b in &plan.writes {
            match &plan.places[b as usize] {
                Place::Input(i) => inputs[*i].check_write("compile", false)?,
                Place::Captured(x) => x.check_write("compile", false)?,
                _ => {}
            }
        }
        let mut own: SmallVec<[(u32, Counted<Storage>); 4]> = SmallVec::new();
        for &v in &plan.dynamic {
            let v = v as usize;
            let w = &plan.values[v];
            match &plan.places[w.buffer as usize] {
                Place::Input(i) => {
                    let shows = |j: usize| {
                        let meta = &plan.inputs[j];
                        meta.shares == *i && plan.offsets[j] == w.offset && meta.is_window(w)
                    };
                    let t = match (0..inputs.len()).find(|&j| shows(j)) {
                        Some(j) => inputs[j].clone(),
                        None => shown_from(&inputs[*i], plan.offsets[*i], w)?,
                    };
                    frame.set(v as ValueId, t);
                    continue;
                }
                Place::Grad(leaf) => {
                    let leaf = &plan.leaves[*leaf];
                    let Some(grad) = leaf.of.of(inputs).grad() else { continue };
                    let found = leaf.found.map(|v| &plan.values[v as usize]);
                    let t = match found {
                        Some(found) if found == w => grad,
                        Some(found) => shown_from(&grad, found.offset, w)?,
                        None => grad,
                    };
                    frame.set(v as ValueId, t);
                    continue;
                }
                Place::Number(i) => {
                    frame.set(v as ValueId, Tensor::number(*numbers.get(*i).ok_or_else(lost)?)?);
                    continue;
                }
                Place::Own => {}
                _ => continue,
            }
            let storage = match own.iter().find(|(b, _)| *b == w.buffer) {
                Some((_, storage)) => storage.clone(),
                None => {
                    let storage = Storage::allocate(plan.bytes[w.buffer as usize])?;
                    own.push((w.buffer, storage.clone()));
                    storage
                }
            };
            frame.set(v as ValueId, Tensor::from_parts(storage, w.dtype, &w.sizes, &w.strides, w.offset)?);
        }
        for (b, bytes, at_each_call) in &plan.initial {
            match &plan.places[*b as usize] {
                Place::Arena(at) if *at_each_call => frame.write_bytes(*at, bytes),
                Place::Own => {
                    if let Some((_, storage)) = own.iter().find(|(own, _)| own == b) {
                        // SAFETY: S1: the storage has as many bytes, and nobody else has it yet.
                        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), storage.ptr(), bytes.len()) };
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn run(&self, frame: &mut Frame, updates: &[Update], watch: &mut impl Watch) -> Result<()> {
        let mut updates = updates.iter();
        let mut runs = self.plan.runs.iter().peekable();
        let mut at = 0;
        while let Some(planned) = self.plan.steps.get(at) {
            watch.begins(at);
            if let Some(run) = runs.next_if(|run| run.steps.start == at) {
                run.take(&self.plan.steps, |v| (frame.get(Some(v)), frame.at[v as usize].get()))?;
                at = run.steps.end;
                for &v in self.plan.steps[run.steps.clone()].iter().flat_map(|planned| &planned.drops) {
                    frame.tensors[v as usize] = None;
                }
                continue;
            }
            at += 1;
            if planned.way == Way::Flat
                && let Some(step) = &planned.pointwise
                && let Some(dtype) = step.by_address
            {
                let at = |v: ValueId| frame.at[v as usize].get();
                let ([a, b], (x, y)) = (step.steps(), (step.xs[0].0, step.xs[1].0));
                // SAFETY: 1. The plan has asked, for windows like these. 2. It has the result apart from all that is in
                // use. Values have their places before they are used: those that are there when a call begins, and
                // those that steps have made.
                unsafe { step.op.run_flat_at(dtype, [(at(x), a), (at(y), b)], at(step.out), step.n) };
                planned.drops.iter().for_each(|&v| frame.tensors[v as usize] = None);
                continue;
            }
            let step = &planned.step;
            match &step.what {
                What::Op(op) if planned.way == Way::Flat => {
                    let xs = frame.operands(&step.xs);
                    // SAFETY: 1. The plan has asked, for windows like these. 2. It has the result apart from all that
                    // is in use.
                    unsafe { op.run_flat(&xs, frame.get(step.outs[0])) };
                }
                What::Op(op) if planned.way == Way::Into => {
                    let xs = frame.operands(&step.xs);
                    let out = frame.get(step.outs[0]);
                    into(&**op, &xs, out)?;
                }
                What::Op(op) => {
                    let outs = op.forward(&frame.operands(&step.xs))?;
                    self.show(frame, planned, outs.into_iter().map(Some))?;
                }
                What::InPlace(op) => {
                    let xs = frame.operands(&step.xs);
                    in_place(&**op, &xs)?;
                    if !self.is_inside(step.xs[0]) {
                        xs[0].bump_version();
                    }
                }
                What::Rule { node, grads, run } => {
                    let get = |v: &Option<ValueId>| v.map(|v| frame.get(Some(v)).clone());
                    let (g, saved) = step.xs.split_at(*grads);
                    let g: Grads = g.iter().map(get).collect();
                    let made = run_rule(node, &g, saved.iter().map(get).collect(), *run)?;
                    self.show(frame, planned, made.into_iter())?;
                }
                What::Copy => {
                    let to = frame.get(step.outs[0]);
                    copy::copy_into(frame.get(step.xs[0]), to)?;
                    if !self.is_inside(step.outs[0]) {
                        to.bump_version();
                    }
                }
                What::Update { count, .. } => {
                    let Some(update) = updates.next() else { return Err(lost()) };
                    let all: Vec<Tensor> = step.xs.iter().map(|&v| frame.get(v).clone()).collect();
                    apply_update(update, *count, &all)?;
                }
            }
            for &v in &planned.drops {
                frame.tensors[v as usize] = None;
            }
        }
        watch.begins(at);
        Ok(())
    }

    /// Whether a value's memory is the program's own.
    fn is_inside(&self, v: Option<ValueId>) -> bool {
        let place = v.map(|v| &self.plan.places[self.plan.values[v as usize].buffer as usize]);
        !matches!(place, Some(Place::Input(_) | Place::Captured(_) | Place::Grad(_)))
    }

    /// Has tensors for what a step has made, and for other windows onto it.
    fn show(&self, frame: &mut Frame, planned: &Planned, made: impl Iterator<Item = Option<Tensor>>) -> Result<()> {
        let values = &self.plan.values;
        for (v, made) in planned.step.outs.iter().zip(made) {
            let Some(v) = v else { continue };
            let Some(made) = made else { return Err(lost()) };
            let w = &values[*v as usize];
            if made.sizes() != &w.sizes[..] || made.strides() != &w.strides[..] || made.dtype() != w.dtype {
                return Err(other_layout(&planned.step.name(), &made, w));
            }
            for &other in &planned.shows {
                if values[other as usize].buffer == w.buffer {
                    let shown = shown_from(&made, w.offset, &values[other as usize])?;
                    frame.set(other, shown);
                }
            }
            frame.set(*v, made);
        }
        Ok(())
    }

    /// Gives leaves their gradients, and the caller the results.
    fn finish(&self, frame: &mut Frame, inputs: &[Tensor], numbers: &[Scalar]) -> Result<Vec<Tensor>> {
        for leaf in &self.plan.leaves {
            if let Some(becomes) = leaf.becomes {
                let grad = becomes.map(|v| frame.get(Some(v)).clone());
                leaf.of.of(inputs).replace_grad(grad);
            }
        }
        let result = |o: &Output| {
            let x = frame.get(Some(o.value)).clone();
            // Another tensor with its memory.
            let x = if o.is_itself || self.is_inside(Some(o.value)) { x } else { x.alias() };
            Ok(if o.has_history { x.with_used_history()? } else { x })
        };
        let mut results: Vec<Tensor> = self.plan.outputs.iter().map(result).collect::<Result<_>>()?;
        if let Some(backward) = &self.backward {
            let additional = results.split_off(results.len() - backward.additional());
            backward.attach(&mut results, &additional, inputs, numbers)?;
        }
        Ok(results)
    }
}

/// A window onto the memory of `x`, which shares its version counter: `x` itself, if it shows the same.
fn shown(x: &Tensor, w: &Window) -> Result<Tensor> {
    let is_itself = x.dtype() == w.dtype
        && x.sizes() == &w.sizes[..]
        && x.strides() == &w.strides[..]
        && x.storage_offset() == w.offset;
    if is_itself { Ok(x.clone()) } else { x.memory_as(w.dtype, LazyBits::NONE, &w.sizes, &w.strides, w.offset) }
}

/// As [`shown`], where `x` may begin elsewhere in its storage than it did when it was recorded.
fn shown_from(x: &Tensor, recorded: usize, w: &Window) -> Result<Tensor> {
    let offset = (w.offset + x.storage_offset()).checked_sub(recorded).ok_or_else(lost)?;
    x.memory_as(w.dtype, LazyBits::NONE, &w.sizes, &w.strides, offset)
}

#[cold]
fn lost() -> Error {
    Error::autograd("compile: a replay has lost a value")
}

#[cold]
fn other_layout(op: &str, made: &Tensor, w: &Window) -> Error {
    Error::autograd(format!(
        "compile: {op} has made {} {:?} where it made {} {:?} when it was recorded: call the function without compile",
        made.dtype().name(),
        made.sizes(),
        w.dtype.name(),
        w.sizes
    ))
}

impl Frame {
    fn get(&self, v: Option<ValueId>) -> &Tensor {
        let t = v.and_then(|v| self.tensors[v as usize].as_ref());
        t.expect("a plan has each value before it is used")
    }
    fn set(&mut self, v: ValueId, t: Tensor) {
        self.at[v as usize] = SharedPtr(t.op_ptr());
        self.tensors[v as usize] = Some(t);
    }
    fn operands(&self, xs: &[Option<ValueId>]) -> SmallVec<[&Tensor; 4]> {
        let mut all = SmallVec::new();
        for &v in xs {
            all.push(self.get(v));
        }
        all
    }
    fn write_bytes(&mut self, at: usize, bytes: &[u8]) {
        // SAFETY: S1: the plan has made the arena large enough for the buffer there. Only the replay that has the frame
        // writes to it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.arena.ptr().add(at), bytes.len()) };
    }
}

/// Runs an op whose result goes to `out`, memory that no operand shares.
fn into(op: &dyn AnyPrimitive, xs: &[&Tensor], out: &Tensor) -> Result<()> {
    // SAFETY: (1) the layout is that of a fresh result; (2) the plan has the result apart from all that is in use.
    if unsafe { op.forward_into(xs, out)? } {
        return Ok(());
    }
    let made = op.forward(xs)?;
    copy::copy_into(&made[0], out)
}

/// Runs an op that writes to its first operand, as it did when it was recorded: what it may write to was checked then,
/// and the windows are the same.
fn in_place(op: &dyn AnyPrimitive, xs: &[&Tensor]) -> Result<()> {
    let direct =
        op.overlap_rules().repeats != crate::autograd::overlap::Repeats::Refused || !xs[0].may_overlap_itself();
    // SAFETY: (1) just asked for; (2) the op was recorded after `overlap::check`, and operands lie in their buffers as
    // they did then; buffers lie apart.
    if direct && unsafe { op.forward_into(xs, xs[0])? } {
        return Ok(());
    }
    let made = op.forward(xs)?;
    write_result(op.facts().name, &made[0], xs[0])
}

fn apply_update(update: &Update, count: usize, all: &[Tensor]) -> Result<()> {
    let (params, rest) = all.split_at(count);
    let (grads, rest) = rest.split_at(count);
    match update {
        Update::Sgd(sgd) => sgd.step(params, grads, rest),
        Update::Adam(adam) => {
            let (means, rest) = rest.split_at(count);
            let (squares, rest) = rest.split_at(count);
            let (steps, largest) = rest.split_at(count);
            adam.step(params, grads, AdamState { means, squares, largest, steps })
        }
    }
}
