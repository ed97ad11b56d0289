//! A program: a recording without what nobody needs, with a place for each buffer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::blocks::{Run, runs};
use super::compare::OtherNumber;
use super::order::gathered;
use super::pointwise::Pointwise;
use super::record::hooks_of;
use super::recording::{Buffer, Leaf, LeafOf, Origin, Output, Recording, Step, ValueId, What, Window};
use crate::autograd::erased::Batching;
use crate::counted::Counted;
use crate::error::Result;
use crate::tensor::{DType, Dims, Strides, Tensor, default_dtype};

/// Where a buffer is during a replay.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The memory of an argument.
    Input(usize),
    /// The memory of a tensor that the function has besides its arguments.
    Captured(Tensor),
    /// The memory of the gradient that this leaf has.
    Grad(usize),
    /// The same elements at every call, which nobody writes to.
    Fixed(Tensor),
    /// This number of those that each call is given.
    Number(usize),
    /// Bytes of the arena, from here on.
    Arena(usize),
    /// Memory of its own at each call, since it outlives that.
    Own,
    /// What the step returns that makes it.
    Made,
    /// No step of the program has to do with it.
    Nowhere,
}

/// A leaf whose `.grad` is another one after the call.
#[derive(Clone, Debug)]
pub(super) struct GradOfLeaf {
    pub of: LeafOf,
    /// What it was when the call began: there was one, with this layout.
    pub found: Option<ValueId>,
    /// What it is afterwards, if it changes.
    pub becomes: Option<Option<ValueId>>,
}

/// How the result of a step comes into being.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// The step is one loop over contiguous memory, from there to there.
    Flat,
    /// The step writes to the memory that is there for it.
    Into,
    /// The step makes tensors.
    Makes,
}

pub(super) struct Planned {
    pub step: Step,
    pub way: Way,
    /// The step as a loop, if it is taken as one: alone or in a run.
    pub pointwise: Option<Pointwise>,
    /// Other values that show what this step has made.
    pub shows: SmallVec<[ValueId; 2]>,
    /// Values that nobody needs after this step, and which are not in the arena.
    pub drops: SmallVec<[ValueId; 2]>,
}

/// What an argument must be like for the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InputMeta {
    pub dtype: DType,
    pub sizes: Dims,
    pub strides: Strides,
    pub requires_grad: bool,
    pub is_leaf: bool,
    /// The first argument with the same memory.
    pub shares: usize,
}

impl InputMeta {
    /// Whether a window shows what an argument like this shows.
    pub fn is_window(&self, w: &Window) -> bool {
        self.dtype == w.dtype && self.sizes == w.sizes && self.strides == w.strides
    }
}

/// A captured tensor as it was met.
pub(super) struct Met {
    pub tensor: Tensor,
    pub address: usize,
    pub requires_grad: bool,
    pub hooks: (usize, u64),
}

impl Met {
    pub fn is_as_met(&self) -> bool {
        let x = &self.tensor;
        x.op_ptr().addr() == self.address && x.requires_grad() == self.requires_grad && hooks_of(x) == self.hooks
    }
}

/// What can be replayed.
pub(super) struct Plan {
    pub inputs: Vec<InputMeta>,
    /// Where each argument began in its storage when it was recorded.
    pub offsets: Vec<usize>,
    /// Values that are other tensors at each call, from its beginning on.
    pub dynamic: Vec<ValueId>,
    /// Values that steps make as they go, and that are there when the call ends.
    pub kept: Vec<ValueId>,
    pub values: Vec<Window>,
    pub places: Vec<Place>,
    /// What constants begin with, and whether they do so at each call, since it changes them.
    pub initial: Vec<(u32, Arc<[u8]>, bool)>,
    pub steps: Vec<Planned>,
    /// In the order of their steps.
    pub runs: Vec<Run>,
    pub leaves: Vec<GradOfLeaf>,
    pub outputs: Vec<Output>,
    pub arena: usize,
    /// The size of each buffer.
    pub bytes: Vec<usize>,
    pub default_dtype: DType,
    /// Buffers outside of the program that it writes to.
    pub writes: Vec<u32>,
    /// Captured tensors, as they have to be.
    pub captured: Vec<Met>,
    /// How many steps the function has, with those that are not needed.
    pub recorded: usize,
}

/// Bytes between the beginnings of two buffers are a multiple of this.
pub(super) const ALIGNMENT: usize = 64;

impl Plan {
    /// `numbers` are buffers of numbers that are given at each call, in this order.
    pub fn new(recording: Recording, numbers: &[OtherNumber]) -> Self {
        let Recording { inputs, mut buffers, mut values, mut steps, leaves, outputs, .. } = recording;
        let recorded = steps.len();
        remove_copies(&mut steps, &buffers, &mut values, &outputs, &leaves);
        remove_repetitions(&mut steps, &buffers, &mut values, &outputs, &leaves);
        show_repeated_once(&mut steps, &buffers, &mut values);
        write_numbers_out(&mut steps, &mut buffers, &mut values, numbers);
        let buffer = |v: ValueId| values[v as usize].buffer as usize;
        let is_outside =
            |b: usize| matches!(buffers[b].origin, Origin::Input(_) | Origin::Captured(_) | Origin::Grad(_));
        // What outlives the call.
        let escapes = escaping(&buffers, &values, &outputs, &leaves);
        // From the last step on, what is needed of what others have made.
        let mut needed = escapes.clone();
        let mut keep = vec![false; steps.len()];
        for (i, step) in steps.iter().enumerate().rev() {
            let makes = step.outs.iter().flatten().any(|&v| needed[buffer(v)]);
            let writes = step.written().iter().any(|&v| needed[buffer(v)] || is_outside(buffer(v)));
            keep[i] = step.draws || makes || writes;
            if keep[i] {
                step.xs.iter().flatten().for_each(|&v| needed[buffer(v)] = true);
            }
        }
        let mut kept = keep.iter();
        steps.retain(|_| *kept.next().expect("one for each step"));

        let mut ways: Vec<Way> = steps.iter().map(|step| way_of(step, &values, &buffers)).collect();
        let mut loops: Vec<Option<Pointwise>> =
            steps.iter().zip(&ways).map(|(step, &way)| Pointwise::of(step, way, &values, &buffers)).collect();
        if let Some(order) = gathered(&steps, &loops, &values, &buffers) {
            steps = order.iter().map(|&i| steps[i].clone()).collect();
            ways = order.iter().map(|&i| ways[i]).collect();
            loops = order.iter().map(|&i| loops[i].take()).collect();
        }
        let mut written = vec![false; buffers.len()];
        steps.iter().flat_map(Step::written).for_each(|v| written[buffer(v)] = true);
        // The first and the last step that has to do with a buffer.
        let mut life: Vec<Option<Range<usize>>> = vec![None; buffers.len()];
        for (i, step) in steps.iter().enumerate() {
            for &v in step.xs.iter().chain(&step.outs).flatten() {
                let life = life[buffer(v)].get_or_insert(i..i);
                life.end = i + 1;
            }
        }
        let mut made = vec![false; buffers.len()];
        for (step, _) in steps.iter().zip(&ways).filter(|(_, way)| **way == Way::Makes) {
            step.outs.iter().flatten().for_each(|&v| made[buffer(v)] = true);
        }
        let runs = runs(&loops, &values, &buffers);
        let mut inside = vec![false; buffers.len()];
        for run in &runs {
            for v in steps[run.clone()].iter().flat_map(|step| step.outs.iter().flatten()) {
                let b = buffer(*v);
                let within = life[b].as_ref().is_some_and(|life| life.start >= run.start && life.end <= run.end);
                inside[b] |= within && !escapes[b] && !written[b];
            }
            // A block of it is no block of a part of it.
            for v in steps[run.clone()].iter().flat_map(|step| step.xs.iter().flatten()) {
                inside[buffer(*v)] &= covers(&values[*v as usize], buffers[buffer(*v)].bytes);
            }
        }
        // Taken block by block, the first step of a run has not read all of its operands when the last step begins to
        // write: what either uses is there for the whole run.
        for run in &runs {
            for v in steps[run.clone()].iter().flat_map(|step| step.xs.iter().chain(&step.outs).flatten()) {
                if let Some(life) = &mut life[buffer(*v)] {
                    *life = life.start.min(run.start)..life.end.max(run.end);
                }
            }
        }
        let mut arena = Arena::default();
        let (mut initial, mut captured, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = vec![Place::Nowhere; buffers.len()];
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        // Large ones first: small ones find a place between them.
        order.sort_by_key(|&b| std::cmp::Reverse(buffers[b].bytes));
        for b in order {
            let info = &buffers[b];
            if written[b] && is_outside(b) {
                writes.push(b as u32);
            }
            places[b] = match &info.origin {
                Origin::Input(i) => Place::Input(*i),
                Origin::Grad(leaf) => Place::Grad(*leaf),
                Origin::Captured(x) => {
                    captured.push(Met {
                        address: x.op_ptr().addr(),
                        requires_grad: x.requires_grad(),
                        hooks: hooks_of(x),
                        tensor: x.clone(),
                    });
                    Place::Captured(x.clone())
                }
                _ if life[b].is_none() && !escapes[b] => Place::Nowhere,
                Origin::Fixed(x) => Place::Fixed(x.clone()),
                Origin::Number(number) => match numbers.iter().position(|n| n.buffer as usize == b) {
                    Some(i) => Place::Number(i),
                    None => Tensor::number(*number).map_or(Place::Nowhere, Place::Fixed),
                },
                Origin::Constant(bytes) => {
                    initial.push((b as u32, bytes.clone(), written[b] || escapes[b]));
                    if escapes[b] { Place::Own } else { arena.place(0..steps.len(), info.bytes) }
                }
                Origin::Step | Origin::Private(_) if inside[b] => Place::Nowhere,
                Origin::Step | Origin::Private(_) if made[b] => Place::Made,
                Origin::Step | Origin::Private(_) if escapes[b] => Place::Own,
                Origin::Step | Origin::Private(_) => arena.place(life[b].clone().unwrap_or(0..steps.len()), info.bytes),
            };
        }
        let mut steps: Vec<Planned> = steps
            .into_iter()
            .zip(ways)
            .zip(loops)
            .map(|((step, way), pointwise)| Planned {
                step,
                way,
                pointwise,
                shows: SmallVec::new(),
                drops: SmallVec::new(),
            })
            .collect();
        let is_inside = |v: ValueId| inside[buffer(v)].then(|| buffer(v));
        let runs = runs.into_iter().map(|run| Run::new(run, &steps, &values, &is_inside)).collect();
        let mut used = vec![false; values.len()];
        for planned in &steps {
            planned.step.xs.iter().chain(&planned.step.outs).flatten().for_each(|&v| used[v as usize] = true);
        }
        outputs.iter().for_each(|o| used[o.value as usize] = true);
        leaves.iter().filter_map(|l| l.now).for_each(|v| used[v as usize] = true);
        let mut makers = vec![None; buffers.len()];
        for (i, planned) in steps.iter().enumerate() {
            if planned.way == Way::Makes {
                planned.step.outs.iter().flatten().for_each(|&v| makers[buffer(v)] = Some(i));
            }
        }
        for v in (0..values.len() as ValueId).filter(|&v| used[v as usize]) {
            if let Some(i) = makers[buffer(v)]
                && !steps[i].step.outs.contains(&Some(v))
            {
                steps[i].shows.push(v);
            }
        }
        for (b, life) in life.iter().enumerate() {
            if let (Place::Made, Some(life), false) = (&places[b], life, escapes[b]) {
                let shown = (0..values.len() as ValueId).filter(|&v| used[v as usize] && buffer(v) == b);
                steps[life.end - 1].drops.extend(shown);
            }
        }
        let offsets = inputs.iter().map(Tensor::storage_offset).collect();
        let inputs = input_metas(&inputs);
        let is_dynamic = |v: &ValueId| {
            let place = &places[buffer(*v)];
            used[*v as usize] && matches!(place, Place::Input(_) | Place::Grad(_) | Place::Own | Place::Number(_))
        };
        let is_kept = |v: &ValueId| used[*v as usize] && matches!(places[buffer(*v)], Place::Made);
        let kept = (0..values.len() as ValueId).filter(is_kept).collect();
        let dynamic = (0..values.len() as ValueId).filter(is_dynamic).collect();
        let leaves = leaves
            .into_iter()
            .map(|l| GradOfLeaf { of: l.of, found: l.found, becomes: (l.now != l.found).then_some(l.now) })
            .collect();
        let arena = arena.bytes;
        Self {
            inputs,
            offsets,
            dynamic,
            kept,
            values,
            places,
            initial,
            steps,
            runs,
            leaves,
            outputs,
            arena,
            bytes: buffers.iter().map(|b| b.bytes).collect(),
            default_dtype: default_dtype(),
            writes,
            captured,
            recorded,
        }
    }
}

/// What arguments are like.
pub(super) fn input_metas(inputs: &[Tensor]) -> Vec<InputMeta> {
    let metas = inputs.iter().map(|x| {
        let shares = inputs.iter().position(|y| Counted::ptr_eq(&x.storage(), &y.storage()));
        InputMeta {
            dtype: x.dtype(),
            sizes: x.sizes().into(),
            strides: x.strides().into(),
            requires_grad: x.requires_grad(),
            is_leaf: x.is_leaf(),
            shares: shares.unwrap_or(0),
        }
    });
    metas.collect()
}

/// Whether a window shows all bytes of its buffer.
pub(super) fn covers(window: &Window, bytes: usize) -> bool {
    window.offset == 0 && window.sizes.iter().product::<usize>() * window.dtype.size() == bytes
}

/// A value as it was when it was recorded.
pub(super) fn shown(values: &[Window], buffers: &[Buffer], v: ValueId) -> Result<Tensor> {
    let w = &values[v as usize];
    let buffer = &buffers[w.buffer as usize];
    match buffer.origin {
        Origin::Number(number) => Tensor::number(number),
        _ => Tensor::from_parts(buffer.storage.clone(), w.dtype, &w.sizes, &w.strides, w.offset),
    }
}

/// How the result of a step comes into being.
fn way_of(step: &Step, values: &[Window], buffers: &[Buffer]) -> Way {
    let is_whole = |v: ValueId| {
        let w = &values[v as usize];
        covers(w, buffers[w.buffer as usize].bytes)
    };
    match step.outs[..] {
        _ if matches!(step.what, What::Copy | What::InPlace(_) | What::Update { .. }) => Way::Into,
        [Some(v)] if !step.draws && is_whole(v) => way_into(step, values, buffers, v),
        _ => Way::Makes,
    }
}

/// How the step can write its result to memory that is there: it is asked to.
fn way_into(step: &Step, values: &[Window], buffers: &[Buffer], result: ValueId) -> Way {
    let What::Op(op) = &step.what else { return Way::Makes };
    let shown = |v: ValueId| shown(values, buffers, v);
    let xs: Result<SmallVec<[Tensor; 4]>> = step.xs.iter().map(|&v| shown(v.expect("an op's operand"))).collect();
    let w = &values[result as usize];
    let (Ok(xs), Ok(out)) = (xs, Tensor::empty_strided(&w.sizes, &w.strides, w.dtype)) else { return Way::Makes };
    let xs: SmallVec<[&Tensor; 4]> = xs.iter().collect();
    if op.runs_flat(&xs, &out) {
        return Way::Flat;
    }
    // SAFETY: (1, 2) the result is fresh.
    match unsafe { op.forward_into(&xs, &out) } {
        Ok(true) => Way::Into,
        _ => Way::Makes,
    }
}

/// By buffer, whether it outlives the call: it is handed out, or becomes a gradient.
fn escaping(buffers: &[Buffer], values: &[Window], outputs: &[Output], leaves: &[Leaf]) -> Vec<bool> {
    let mut escapes = vec![false; buffers.len()];
    let kept = outputs.iter().map(|o| o.value).chain(leaves.iter().filter_map(|l| l.now));
    kept.for_each(|v| escapes[values[v as usize].buffer as usize] = true);
    escapes
}

/// Takes out copies of what nobody uses afterwards: the copy is the original from then on.
fn remove_copies(
    steps: &mut Vec<Step>,
    buffers: &[Buffer],
    values: &mut [Window],
    outputs: &[Output],
    leaves: &[Leaf],
) {
    let mut escapes = escaping(buffers, values, outputs, leaves);
    let mut last = vec![0; buffers.len()];
    for (i, step) in steps.iter().enumerate() {
        step.xs.iter().chain(&step.outs).flatten().for_each(|&v| last[values[v as usize].buffer as usize] = i);
    }
    let mut gone = vec![false; steps.len()];
    for (i, step) in steps.iter().enumerate() {
        let is_copy = matches!(&step.what, What::Op(op) if op.facts().name == "clone");
        let ([Some(from), ..], [Some(to)]) = (&step.xs[..], &step.outs[..]) else { continue };
        let (from, to) = (&values[*from as usize], &values[*to as usize]);
        let (old, new) = (from.buffer, to.buffer);
        let whole = |w: &Window| covers(w, buffers[w.buffer as usize].bytes);
        let alike = from.sizes == to.sizes && from.strides == to.strides && from.dtype == to.dtype;
        let made = matches!(buffers[old as usize].origin, Origin::Step);
        if is_copy && alike && made && whole(from) && whole(to) && last[old as usize] == i && !escapes[old as usize] {
            gone[i] = true;
            values.iter_mut().filter(|w| w.buffer == new).for_each(|w| w.buffer = old);
            last[old as usize] = last[new as usize];
            escapes[old as usize] = escapes[new as usize];
        }
    }
    let mut gone = gone.iter();
    steps.retain(|_| !gone.next().expect("one for each step"));
}

/// Takes out ops that make what another one has made already: of the same operands, which nobody writes to. Rules that
/// are differentiated twice are full of them.
fn remove_repetitions(
    steps: &mut Vec<Step>,
    buffers: &[Buffer],
    values: &mut [Window],
    outputs: &[Output],
    leaves: &[Leaf],
) {
    // What is changed, or handed out.
    let mut taken = escaping(buffers, values, outputs, leaves);
    steps.iter().flat_map(Step::written).for_each(|v| taken[values[v as usize].buffer as usize] = true);
    // Constants of the same bytes are one.
    let mut constants: HashMap<&[u8], u32> = HashMap::new();
    let first: Vec<u32> = (0u32..)
        .zip(buffers)
        .map(|(b, info)| match &info.origin {
            Origin::Constant(bytes) if !taken[b as usize] => *constants.entry(bytes).or_insert(b),
            _ => b,
        })
        .collect();
    values.iter_mut().for_each(|w| w.buffer = first[w.buffer as usize]);
    let mut made: HashMap<String, u32> = HashMap::new();
    let mut gone = vec![false; steps.len()];
    for (step, gone) in steps.iter().zip(&mut gone) {
        let (What::Op(op), false, [Some(out)]) = (&step.what, step.draws, &step.outs[..]) else { continue };
        let result = &values[*out as usize];
        let (new, all) = (result.buffer, step.xs.iter().chain(&step.outs).flatten());
        let is_own =
            matches!(buffers[new as usize].origin, Origin::Step) && covers(result, buffers[new as usize].bytes);
        // What such ops have besides operands are numbers, which their words show.
        let facts = op.facts();
        if !is_own
            || !(facts.batch == Batching::Pointwise || facts.is_multilinear)
            || all.clone().any(|&v| taken[values[v as usize].buffer as usize])
        {
            continue;
        }
        let mut key = format!("{op:?}");
        for &v in all {
            let w = &values[v as usize];
            let buffer = if w.buffer == new { u32::MAX } else { w.buffer };
            // Along an axis of one element no stride is taken.
            let strides = w.sizes.iter().zip(&w.strides).map(|(&size, &stride)| if size > 1 { stride } else { 0 });
            let strides: SmallVec<[isize; 4]> = strides.collect();
            let _ = write!(key, "|{buffer} {:?} {:?} {strides:?} {}", w.dtype, w.sizes, w.offset);
        }
        match made.entry(key) {
            Entry::Occupied(first) => {
                *gone = true;
                let first = *first.get();
                values.iter_mut().filter(|w| w.buffer == new).for_each(|w| w.buffer = first);
            }
            Entry::Vacant(entry) => {
                entry.insert(new);
            }
        }
    }
    let mut gone = gone.iter();
    steps.retain(|_| !gone.next().expect("one for each step"));
}

/// Gives ops that have a flat loop their numbers as elements of the dtype that they compute in.
fn write_numbers_out(steps: &mut [Step], buffers: &mut Vec<Buffer>, values: &mut Vec<Window>, numbers: &[OtherNumber]) {
    for step in steps {
        let (What::Op(op), [Some(out)]) = (&step.what, &step.outs[..]) else { continue };
        let fixed = |v: ValueId, buffers: &[Buffer], values: &[Window]| {
            let b = values[v as usize].buffer;
            let is_given = numbers.iter().any(|n| n.buffer == b);
            matches!(buffers[b as usize].origin, Origin::Number(_)) && !is_given
        };
        let operands: SmallVec<[ValueId; 4]> = step.xs.iter().flatten().copied().collect();
        if operands.len() != step.xs.len() || !operands.iter().any(|&v| fixed(v, buffers, values)) {
            continue;
        }
        let written = || -> Result<Option<SmallVec<[Tensor; 4]>>> {
            let xs: SmallVec<[Tensor; 4]> =
                operands.iter().map(|&v| shown(values, buffers, v)).collect::<Result<_>>()?;
            let dtype = op.computes_in(&xs.iter().collect::<SmallVec<[&Tensor; 4]>>())?;
            let w = &values[*out as usize];
            let result = Tensor::empty_strided(&w.sizes, &w.strides, w.dtype)?;
            // A few elements are repeated, since a loop of two operands takes both as they are.
            let sizes: &[usize] = if result.numel() <= REPEATED { &w.sizes } else { &[1] };
            let of = |(x, &v): (Tensor, &ValueId)| match fixed(v, buffers, values) {
                true => Tensor::full(sizes, x.item()?, dtype),
                false => Ok(x),
            };
            let xs: SmallVec<[Tensor; 4]> = xs.into_iter().zip(&operands).map(of).collect::<Result<_>>()?;
            let flat = op.runs_flat(&xs.iter().collect::<SmallVec<[&Tensor; 4]>>(), &result);
            Ok(flat.then_some(xs))
        };
        let Ok(Some(xs)) = written() else { continue };
        for (i, x) in xs.into_iter().enumerate() {
            if fixed(operands[i], buffers, values) {
                let storage = x.storage();
                let window = Window {
                    buffer: buffers.len() as u32,
                    dtype: x.dtype(),
                    sizes: x.sizes().into(),
                    strides: x.strides().into(),
                    offset: 0,
                };
                buffers.push(Buffer { origin: Origin::Fixed(x), bytes: storage.bytes(), storage });
                step.xs[i] = Some(values.len() as ValueId);
                values.push(window);
            }
        }
    }
}

/// Shows an element that was expanded as that element alone, to ops that have a flat loop for it.
fn show_repeated_once(steps: &mut [Step], buffers: &[Buffer], values: &mut Vec<Window>) {
    for step in steps {
        let (What::Op(op), [Some(out)]) = (&step.what, &step.outs[..]) else { continue };
        let is_repeated = |w: &Window| w.sizes.iter().product::<usize>() > 1 && w.strides.iter().all(|&s| s == 0);
        let xs: SmallVec<[ValueId; 4]> = step.xs.iter().flatten().copied().collect();
        if xs.len() != step.xs.len() || !xs.iter().any(|&v| is_repeated(&values[v as usize])) {
            continue;
        }
        let before = values.len();
        let mut once = xs.clone();
        for v in &mut once {
            let w = &values[*v as usize];
            if is_repeated(w) {
                let alone = Window { sizes: [1].as_slice().into(), strides: [1].as_slice().into(), ..w.clone() };
                *v = values.len() as ValueId;
                values.push(alone);
            }
        }
        let w = &values[*out as usize];
        let result = Tensor::empty_strided(&w.sizes, &w.strides, w.dtype);
        let operands = || -> Result<bool> {
            let xs: SmallVec<[Tensor; 4]> = once.iter().map(|&v| shown(values, buffers, v)).collect::<Result<_>>()?;
            let dtype = op.computes_in(&xs.iter().collect::<SmallVec<[&Tensor; 4]>>())?;
            // Numbers become elements of that dtype later.
            let element = |x: Tensor| if x.is_number() { Tensor::full(&[1], x.item()?, dtype) } else { Ok(x) };
            let xs: SmallVec<[Tensor; 4]> = xs.into_iter().map(element).collect::<Result<_>>()?;
            Ok(op.runs_flat(&xs.iter().collect::<SmallVec<[&Tensor; 4]>>(), &result?))
        };
        if operands().unwrap_or(false) {
            step.xs = once.into_iter().map(Some).collect();
        } else {
            values.truncate(before);
        }
    }
}

/// Up to so many elements a number is written out for all of them.
const REPEATED: usize = 64;

/// Memory for buffers that are there for some of the steps.
#[derive(Default)]
struct Arena {
    bytes: usize,
    /// Where each buffer is, and when.
    taken: Vec<(Range<usize>, Range<usize>)>,
}

impl Arena {
    /// A place that nobody has who is there at the same time: the first that is large enough.
    fn place(&mut self, life: Range<usize>, bytes: usize) -> Place {
        let bytes = bytes.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        let meets = |other: &Range<usize>| other.start < life.end && life.start < other.end;
        let mut others: Vec<&Range<usize>> =
            self.taken.iter().filter(|(when, _)| meets(when)).map(|(_, at)| at).collect();
        others.sort_by_key(|at| at.start);
        let mut start = 0;
        for other in others {
            if start + bytes <= other.start {
                break;
            }
            start = start.max(other.end);
        }
        self.taken.push((life, start..start + bytes));
        self.bytes = self.bytes.max(start + bytes);
        Place::Arena(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_that_are_there_at_the_same_time_share_no_memory() {
        let mut arena = Arena::default();
        let at = |place: Place| match place {
            Place::Arena(at) => at,
            other => panic!("{other:?}"),
        };
        let (a, b) = (at(arena.place(0..2, 100)), at(arena.place(1..3, 10)));
        let (c, d) = (at(arena.place(2..4, 128)), at(arena.place(3..5, 64)));
        assert_eq!((a, b, c, d), (0, 128, 0, 128));
        assert_eq!(arena.bytes, 192);
    }
}
