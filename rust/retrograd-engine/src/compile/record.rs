//! The recorder: what a function does, as a list of steps over buffers.
//!
//! A tensor is a window onto a storage, and a storage is what a step reads or writes: so whatever shows the same memory
//! (`view`, `detach`, `.data`, a saved tensor) is the same value under another layout, and needs no step.
//!
//! Every storage that a step meets has an origin. What is neither of the call, nor there before it, nor the result of a
//! step came about in a way that a replay cannot repeat, and the recording is refused with the name of what did it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::recording::{
    Buffer, Joint, Leaf, LeafOf, Origin, Output, Rates, Recording, Step, Update, ValueId, What, Window,
};
use crate::autograd::anomaly;
use crate::autograd::engine::{self, Backward, Target};
use crate::autograd::erased::{AnyPrimitive, op_name};
use crate::autograd::mode;
use crate::autograd::node::{Grads, NodeRef, Run, next_sequence_nr};
use crate::autograd::primitive::Outs;
use crate::call_site::CallSite;
use crate::counted::Counted;
use crate::error::Result;
use crate::kernels::thread_values::ThreadValue;
use crate::storage::Storage;
use crate::tensor::{DType, Dims, Scalar, Strides, Tensor};
use crate::thread;
use crate::transforms;

/// Why a function cannot be replayed, and where it was seen.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub why: String,
    pub site: CallSite,
}

/// A storage that the function has made, and no step.
struct Made {
    by: &'static str,
    kind: Kind,
    #[allow(dead_code, reason = "held, so that no other storage gets its address")]
    storage: Counted<Storage>,
}

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    /// It was made from nothing that the function was given.
    Constant,
    /// An op has filled it with these bytes; others may have been written since.
    Filled(Arc<[u8]>),
    /// Nobody has written its elements yet.
    Unwritten,
    /// What has written them is not known.
    Private,
}

/// What is known of a function while it runs.
pub(crate) struct Recorder {
    made: Recording,
    by_storage: HashMap<usize, u32>,
    by_window: HashMap<Window, ValueId>,
    fresh: HashMap<usize, Made>,
    /// Ops that have begun and not ended, the outermost first.
    ops: Vec<&'static str>,
    /// How many primitives are running: what they do inside is theirs.
    inside: u32,
    /// How many rules are running.
    rules: u32,
    /// The innermost rule used what a replay cannot repeat.
    rule_is_private: bool,
    /// The primitive that is running draws random numbers.
    draws: bool,
    /// Leaves that the function itself has made.
    own_leaves: Vec<Tensor>,
    /// Tensors from before the call that require grad.
    met: Vec<Tensor>,
    /// Nodes with a smaller number were there before the call.
    first_seq: u64,
    rates: Option<Arc<dyn Rates>>,
    /// The numbers of the nodes whose saved tensors a backward pass has freed.
    ran: HashSet<u64>,
    refusal: Option<Refusal>,
}

static RECORDER: ThreadValue<RefCell<Option<Box<Recorder>>>> = ThreadValue::new(|| RefCell::new(None));

/// The recorder of a thread, for a thread that goes on with its work.
#[derive(Default)]
pub(crate) struct Carried(Option<Box<Recorder>>);

impl Carried {
    pub(crate) fn exchange(&mut self) {
        RECORDER.with_borrow_mut(|recorder| std::mem::swap(recorder, &mut self.0));
    }
}

/// Runs `f` on the recorder of this thread, if it has one.
fn recorder<R>(f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    RECORDER.try_with(|r| r.try_borrow_mut().ok()?.as_deref_mut().map(f)).ok()?
}

/// Whether a function is being recorded on this thread.
#[inline]
pub fn is_recording() -> bool {
    mode::word() & mode::RECORDED != 0
}

/// Modes in which a function is not recorded: they see what happens, or change it. So does a transform.
const OTHER_MODES: u32 = mode::FORWARD
    | mode::OBSERVED
    | mode::PROFILED
    | mode::DETECT_NAN
    | mode::SAVED_HOOKS
    | mode::WATCH_WRITES
    | mode::INSIDE
    | mode::RECORDED;

/// Whether functions can be recorded, or replayed, in the modes of this thread.
#[inline]
pub fn modes_allow() -> bool {
    mode::word() & OTHER_MODES == 0 && !transforms::has_level() && !anomaly::is_on()
}

/// Begins to record on this thread. `inputs` are the tensors that the function is given.
pub fn begin(inputs: &[Tensor]) {
    let mut recorder = Box::new(Recorder {
        made: Recording {
            inputs: inputs.to_vec(),
            buffers: Vec::new(),
            values: Vec::new(),
            steps: Vec::new(),
            leaves: Vec::new(),
            outputs: Vec::new(),
            backward: None,
        },
        ran: HashSet::new(),
        by_storage: HashMap::new(),
        by_window: HashMap::new(),
        fresh: HashMap::new(),
        ops: Vec::new(),
        inside: 0,
        rules: 0,
        rule_is_private: false,
        draws: false,
        own_leaves: Vec::new(),
        met: Vec::new(),
        first_seq: next_sequence_nr(),
        rates: None,
        refusal: None,
    });
    for (i, x) in inputs.iter().enumerate() {
        if x.lazy_bits().any() || x.is_batched() || x.may_have_tangent() {
            recorder.refuse(|| format!("argument {i} is sparse, lazily conjugated, or stands for other tensors"));
            break;
        }
        let storage = x.storage();
        if !recorder.by_storage.contains_key(&address(&storage)) {
            recorder.add_buffer(storage, Origin::Input(i));
        }
    }
    thread::take_notes();
    RECORDER.set(Some(recorder));
    mode::set(mode::RECORDED, true);
}

/// Ends what [`begin`] began: what was recorded, or why it cannot be replayed. `outputs` are the tensors that the
/// function has returned.
///
/// # Errors
/// If nothing is being recorded.
pub fn end(outputs: &[Tensor]) -> std::result::Result<Recording, Refusal> {
    recorder(Recorder::look);
    let live = recorder(|r| outputs.iter().map(|x| r.output(x)).collect::<Vec<_>>()).unwrap_or_default();
    let live: Vec<usize> = (0..live.len()).filter(|&i| live[i]).collect();
    if !live.is_empty() && recorder(|r| r.refusal.is_none()) == Some(true) {
        differentiate(outputs, live);
    }
    mode::set(mode::RECORDED, false);
    let nothing = || Refusal { why: "nothing is being recorded".into(), site: CallSite::default() };
    let mut recorder = RECORDER.take().ok_or_else(nothing)?;
    match recorder.refusal.take() {
        Some(refusal) => Err(refusal),
        None => Ok(recorder.made),
    }
}

/// Records the backward pass of the results in `live`: what a replay does when somebody asks for it.
fn differentiate(outputs: &[Tensor], live: Vec<usize>) {
    let run = || -> Result<()> {
        let cotangents: Vec<Tensor> =
            live.iter().map(|&i| Tensor::ones(outputs[i].sizes(), outputs[i].dtype())).collect::<Result<_>>()?;
        let begun = recorder(|r| {
            for cotangent in &cotangents {
                let number = r.made.inputs.len();
                r.made.inputs.push(cotangent.clone());
                r.add_buffer(cotangent.storage(), Origin::Input(number));
            }
            (r.made.steps.len(), r.wanted(), r.made.inputs.clone())
        });
        let Some((first, wanted, inputs)) = begun else { return Ok(()) };
        let targets = wanted.iter().filter_map(|leaf| leaf.of(&inputs).grad_edge().transpose());
        let targets = targets.map(|edge| edge.map(Target::Capture)).collect::<Result<Vec<_>>>()?;
        let roots = live.iter().zip(&cotangents).enumerate();
        let roots = roots.map(|(k, (&i, g))| engine::root(&outputs[i], Some(g), k)).collect::<Result<_>>()?;
        let grads = engine::run(Backward { roots, retain_graph: true, create_graph: false, targets })?;
        recorder(|r| {
            if grads.len() != wanted.len() || grads.iter().all(Option::is_none) {
                return r.refuse(|| "a tensor that requires grad leads nowhere".into());
            }
            let grads = grads.iter().map(|g| g.as_ref().and_then(|g| r.value(g))).collect();
            r.made.backward = Some(Joint { first, live, wanted, grads });
        });
        Ok(())
    };
    if let Err(error) = run() {
        refuse(|| format!("its backward pass cannot be recorded: {error}"));
    }
}

/// Ends a recording that came to nothing.
pub fn abandon() {
    mode::set(mode::RECORDED, false);
    drop(RECORDER.take());
}

/// Notes that what is being recorded cannot be replayed.
#[cold]
pub fn refuse(why: impl FnOnce() -> String) {
    recorder(|r| r.refuse(why));
}

impl Recorder {
    fn refuse(&mut self, why: impl FnOnce() -> String) {
        if self.refusal.is_none() {
            self.refusal = Some(Refusal { why: why(), site: CallSite::here() });
        }
    }

    /// Looks for what happened since the last look.
    fn look(&mut self) {
        let noted = thread::take_notes();
        if noted & thread::DREW != 0 {
            match self.inside {
                0 => self.private(|| "random numbers drawn outside of an op that a replay can repeat".into()),
                _ => self.draws = true,
            }
        }
        if noted & thread::GAVE_ADDRESS != 0 {
            self.refuse(|| "numpy(), data_ptr() or the like gave the address of elements away".into());
        }
    }

    /// What a replay cannot repeat: a rule may be replayed as a whole.
    fn private(&mut self, why: impl FnOnce() -> String) {
        if self.rules > 0 {
            self.rule_is_private = true;
        } else {
            self.refuse(why);
        }
    }

    fn add_buffer(&mut self, storage: Counted<Storage>, origin: Origin) -> u32 {
        let number = self.made.buffers.len() as u32;
        self.by_storage.insert(address(&storage), number);
        self.made.buffers.push(Buffer { origin, bytes: storage.bytes(), storage });
        number
    }

    /// The buffer behind a tensor that is an operand or a result of the function.
    fn buffer(&mut self, x: &Tensor) -> u32 {
        let storage = x.storage();
        if let Some(&number) = self.by_storage.get(&address(&storage)) {
            return number;
        }
        let origin = match self.fresh.remove(&address(&storage)) {
            _ if x.is_number() => Origin::Number(x.item().unwrap_or(Scalar::Int(0))),
            Some(Made { kind: Kind::Constant, .. }) => Origin::Constant(bytes_of(&storage)),
            Some(Made { kind: Kind::Filled(bytes), by, .. }) => {
                if bytes_of(&storage) == bytes {
                    Origin::Constant(bytes)
                } else {
                    Origin::Private(by)
                }
            }
            Some(Made { kind: Kind::Unwritten, .. }) => Origin::Step,
            Some(Made { by, .. }) => Origin::Private(by),
            None => Origin::Captured(root(x).clone()),
        };
        self.add_buffer(storage, origin)
    }

    fn window(&mut self, x: &Tensor) -> ValueId {
        let window = Window {
            buffer: self.buffer(x),
            dtype: x.dtype(),
            sizes: Dims::from_slice(x.sizes()),
            strides: Strides::from_slice(x.strides()),
            offset: x.storage_offset(),
        };
        let next = self.made.values.len() as ValueId;
        let id = *self.by_window.entry(window.clone()).or_insert(next);
        if id == next {
            self.made.values.push(window);
        }
        id
    }

    /// The value that a tensor is; `None`, and a refusal, if it is none.
    fn value(&mut self, x: &Tensor) -> Option<ValueId> {
        if x.is_batched() {
            // All entries: what the ops of a transform run on.
            return self.value(&x.physical());
        }
        if x.lazy_bits().any() {
            self.private(|| "a sparse or lazily conjugated tensor".into());
            return None;
        }
        let id = self.window(x);
        let buffer = self.made.values[id as usize].buffer;
        if x.requires_grad() && matches!(self.made.buffers[buffer as usize].origin, Origin::Captured(_)) {
            self.meet(root(x));
        }
        if let Origin::Private(by) = self.made.buffers[buffer as usize].origin {
            self.private(|| format!("what {by} makes cannot be made again without it"));
            return None;
        }
        Some(id)
    }

    /// A tensor that a step has made: its memory, unless it is that of an operand.
    fn result(&mut self, x: &Tensor) -> Option<ValueId> {
        if x.lazy_bits().any() {
            self.private(|| "a sparse or lazily conjugated tensor".into());
            return None;
        }
        let storage = x.storage();
        if !self.by_storage.contains_key(&address(&storage)) {
            self.fresh.remove(&address(&storage));
            self.add_buffer(storage, Origin::Step);
        }
        Some(self.window(x))
    }

    fn push(&mut self, what: What, xs: SmallVec<[Option<ValueId>; 4]>, outs: SmallVec<[Option<ValueId>; 1]>) {
        let draws = std::mem::take(&mut self.draws);
        self.made.steps.push(Step { what, xs, outs, draws });
    }

    fn operands(&mut self, xs: &[&Tensor]) -> SmallVec<[Option<ValueId>; 4]> {
        xs.iter().map(|x| self.value(x)).collect()
    }

    /// Notes a tensor that was there before the call and requires grad.
    fn meet(&mut self, x: &Tensor) {
        let is_own = |own: &Tensor| own.is_same(x);
        let is_before = match x.grad_fn() {
            Ok(Some(output)) => output.node.seq < self.first_seq,
            Ok(None) => true,
            Err(_) => false,
        };
        if is_before && x.requires_grad() && !self.own_leaves.iter().chain(&self.met).any(is_own) {
            self.met.push(x.clone());
        }
    }

    /// Notes a result; whether its history is still to be used.
    fn output(&mut self, x: &Tensor) -> bool {
        let Some(value) = self.value(x) else { return false };
        let is_given = self.made.inputs.iter().any(|input| input.is_same(x));
        let history = if is_given { None } else { x.grad_fn().ok().flatten() };
        let used = history.as_ref().map(|output| self.ran.contains(&output.node.seq));
        let buffer = self.made.values[value as usize].buffer as usize;
        let is_itself = match &self.made.buffers[buffer].origin {
            Origin::Captured(own) => own.is_same(x),
            Origin::Grad(leaf) => self.made.leaves[*leaf].tensor.grad_unseen().is_some_and(|grad| grad.is_same(x)),
            _ => is_given,
        };
        self.made.outputs.push(Output { value, has_history: used == Some(true), is_itself });
        used == Some(false)
    }

    /// Tensors that were there before the call, and that a history may lead to.
    fn wanted(&self) -> Vec<LeafOf> {
        let mut wanted: Vec<LeafOf> = (0..self.made.inputs.len())
            .filter(|&i| self.made.inputs[i].requires_grad())
            .filter(|&i| !self.made.inputs[..i].iter().any(|x| x.is_same(&self.made.inputs[i])))
            .map(LeafOf::Input)
            .collect();
        wanted.extend(self.met.iter().cloned().map(LeafOf::Captured));
        wanted
    }

    fn leaf(&mut self, leaf: &Tensor) -> Option<usize> {
        if self.own_leaves.iter().any(|own| own.is_same(leaf)) {
            return None;
        }
        if let Some(at) = self.made.leaves.iter().position(|l| l.tensor.is_same(leaf)) {
            return Some(at);
        }
        let of = match self.made.inputs.iter().position(|x| x.is_same(leaf)) {
            Some(i) => LeafOf::Input(i),
            None => LeafOf::Captured(leaf.clone()),
        };
        let at = self.made.leaves.len();
        self.made.leaves.push(Leaf { of, found: None, now: None, tensor: leaf.clone() });
        let found = leaf.grad_unseen().and_then(|grad| {
            let storage = grad.storage();
            if !self.by_storage.contains_key(&address(&storage)) {
                self.add_buffer(storage, Origin::Grad(at));
            }
            self.value(&grad)
        });
        let leaf = &mut self.made.leaves[at];
        (leaf.found, leaf.now) = (found, found);
        Some(at)
    }
}

/// The tensor that a view is of, or the tensor itself.
fn root(x: &Tensor) -> &Tensor {
    x.view_of().map_or(x, |view| &view.base)
}

/// What distinguishes a storage while it lives.
fn address(storage: &Counted<Storage>) -> usize {
    Counted::as_ptr(storage).addr()
}

fn bytes_of(storage: &Storage) -> Arc<[u8]> {
    // SAFETY: S1, S5. Nobody writes meanwhile: the function that made it is here.
    unsafe { std::slice::from_raw_parts(storage.ptr(), storage.bytes()) }.into()
}

/// How many hooks a leaf has, and their numbers together.
pub(super) fn hooks_of(x: &Tensor) -> (usize, u64) {
    let Some(meta) = x.inner().meta.get() else { return (0, 0) };
    let own = meta.hooks.lock().iter().fold((0, 0u64), |(n, sum), (id, _)| (n + 1, sum.wrapping_add(*id)));
    meta.post_accumulate.lock().iter().fold(own, |(n, sum), (id, _)| (n + 1, sum.wrapping_add(*id)))
}

/// Ops whose results depend on nothing but their arguments that are no tensors.
const FROM_NOTHING: &[&str] = &[
    "arange",
    "bartlett_window",
    "blackman_window",
    "eye",
    "fftfreq",
    "full",
    "full_like",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "new_full",
    "new_ones",
    "new_zeros",
    "rfftfreq",
    "tensor",
    "as_tensor",
    "asarray",
    "scalar_tensor",
    "tril_indices",
    "triu_indices",
    "zeros",
    "zeros_like",
    "new_tensor",
];

/// Ops whose memory nobody has written yet.
const UNWRITTEN: &[&str] = &["empty", "empty_like", "empty_strided", "new_empty", "empty_permuted"];

/// Notes fresh memory.
#[cold]
pub(crate) fn fresh(x: &Tensor) {
    recorder(|r| {
        if r.inside > 0 {
            return;
        }
        let outermost = r.ops.first().copied();
        let kind = match outermost {
            _ if r.rules > 0 => Kind::Private,
            Some(op) if UNWRITTEN.contains(&op) => Kind::Unwritten,
            Some(op) if !FROM_NOTHING.contains(&op.trim_start_matches("fft_")) => Kind::Private,
            _ => Kind::Constant,
        };
        let storage = x.storage();
        r.fresh.insert(address(&storage), Made { by: outermost.unwrap_or("the function"), kind, storage });
    });
}

/// Notes that a fresh tensor is filled with a number. Of a rule it is not known whether its loops write there later: a
/// gradient may be all zeros in one call and not in the next.
#[cold]
pub(crate) fn filled(x: &Tensor) {
    recorder(|r| {
        if r.rules > 0 {
            return;
        }
        let storage = x.storage();
        if let Some(made) = r.fresh.get_mut(&address(&storage))
            && made.kind == Kind::Private
        {
            made.kind = Kind::Filled(bytes_of(&storage));
        }
    });
}

/// Notes that nobody has written the elements of a fresh tensor.
#[cold]
pub(crate) fn unwritten(x: &Tensor) {
    recorder(|r| {
        if let Some(made) = r.fresh.get_mut(&address(&x.storage())) {
            made.kind = Kind::Unwritten;
        }
    });
}

/// Begins the call of an op.
#[cold]
pub(crate) fn enter_op(name: &'static str) {
    recorder(|r| r.ops.push(name));
}

/// Ends the call of an op.
#[cold]
pub(crate) fn leave_op() {
    recorder(|r| {
        r.ops.pop();
    });
}

/// What a primitive does inside is its own while this lives.
struct Inside;

impl Inside {
    fn enter() -> Self {
        recorder(|r| {
            r.look();
            r.inside += 1;
        });
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        recorder(|r| {
            r.look();
            r.inside -= 1;
        });
    }
}

/// Ops whose results have as many elements as the values of their operands say.
const SIZES_FROM_VALUES: &[&str] =
    &["nonzero", "masked_select", "unique", "unique2", "bincount", "index", "repeat_interleave", "histogramdd"];

/// Runs a primitive, and notes it as a step.
#[cold]
pub(crate) fn forward(op: &dyn AnyPrimitive, xs: &[&Tensor]) -> Result<Outs> {
    let outs = {
        let _inside = Inside::enter();
        op.forward(xs)?
    };
    recorder(|r| {
        if r.inside > 0 {
            return;
        }
        let operands = r.operands(xs);
        // A view is the same memory under another layout.
        let storages: SmallVec<[Counted<Storage>; 4]> = xs.iter().map(|x| x.storage()).collect();
        if outs.iter().all(|o| storages.iter().any(|s| Counted::ptr_eq(s, &o.storage()))) {
            return;
        }
        let name = op_name(op);
        if SIZES_FROM_VALUES.contains(&&*name) && !has_fixed_sizes(&name, xs) {
            r.refuse(|| format!("{name}: how many elements it returns depends on values"));
            return;
        }
        let results = outs.iter().map(|o| r.result(o)).collect();
        r.push(What::Op(op.shared()), operands, results);
    });
    Ok(outs)
}

/// Whether an op among [`SIZES_FROM_VALUES`] is called in a form whose sizes do not depend on values.
fn has_fixed_sizes(name: &str, xs: &[&Tensor]) -> bool {
    name == "index" && xs[1..].iter().all(|x| x.dtype() != DType::Bool && x.dtype() != DType::UInt8)
}

/// Notes that an op is about to write to a tensor.
#[cold]
pub(crate) fn before_write(target: &Tensor) {
    // What it has now is what it has before every call.
    recorder(|r| {
        r.value(target);
    });
}

/// Runs the writing part of an in-place op, and notes it as a step.
#[cold]
pub(crate) fn write<T>(op: &dyn AnyPrimitive, xs: &[&Tensor], run: impl FnOnce() -> Result<T>) -> Result<T> {
    let result = {
        let _inside = Inside::enter();
        run()?
    };
    recorder(|r| {
        if r.inside == 0 {
            let operands = r.operands(xs);
            r.push(What::InPlace(op.shared()), operands, SmallVec::new());
        }
    });
    Ok(result)
}

/// Notes that elements are about to be copied, outside of all primitives.
#[cold]
pub(crate) fn copies(from: &Tensor, to: &Tensor) {
    recorder(|r| {
        if r.inside > 0 || from.is_number() && to.is_number() {
            return;
        }
        let storage = to.storage();
        let is_new = r.fresh.get(&address(&storage)).is_some_and(|made| made.kind == Kind::Private);
        let (from, to) = match is_new && to.nbytes() == storage.bytes() {
            true => (r.value(from), r.result(to)),
            false => (r.value(from), r.value(to)),
        };
        r.push(What::Copy, SmallVec::from_slice(&[from]), SmallVec::from_slice(&[to]));
    });
}

/// Notes that the program reads elements.
#[cold]
pub fn read(what: &'static str, x: &Tensor) {
    if x.is_number() {
        return;
    }
    recorder(|r| {
        if r.inside == 0 {
            r.private(|| format!("{what}() reads elements, which may be others at the next call"));
        }
    });
}

/// Notes that a leaf was made of a tensor.
#[cold]
pub(crate) fn made_leaf(x: &Tensor) {
    recorder(|r| r.own_leaves.push(x.clone()));
}

/// Notes that somebody looks at the gradient of a leaf.
#[cold]
pub(crate) fn grad_read(leaf: &Tensor) {
    recorder(|r| {
        r.leaf(leaf);
    });
}

/// Notes that a leaf is about to get another gradient.
#[cold]
pub(crate) fn grad_set(leaf: &Tensor, grad: Option<&Tensor>) {
    recorder(|r| {
        if let Some(at) = r.leaf(leaf) {
            r.made.leaves[at].now = grad.and_then(|grad| r.value(grad));
        }
    });
}

/// Runs the rule of a node, and notes its ops as steps; or, if it does more than they do, the rule as one.
#[cold]
pub(crate) fn rule(
    node: &NodeRef,
    grads: &[Option<Tensor>],
    saved: &[Option<Tensor>],
    run: Run,
    apply: impl FnOnce() -> Result<Grads>,
) -> Result<Grads> {
    let before = recorder(|r| {
        r.rules += 1;
        if run.frees {
            r.ran.insert(node.seq);
        }
        (r.made.steps.len(), r.made.buffers.len(), std::mem::take(&mut r.rule_is_private))
    });
    let results = apply();
    let Some((first, known, outer)) = before else { return results };
    recorder(|r| {
        r.look();
        if let Ok(results) = &results {
            // Asks for the origin of each.
            for g in results.iter().flatten() {
                r.value(g);
            }
        }
        r.rules -= 1;
        let private = std::mem::replace(&mut r.rule_is_private, outer);
        let Ok(results) = &results else { return };
        if !private {
            return;
        }
        if run.create_graph || grads.iter().chain(saved).chain(results).flatten().any(Tensor::is_batched) {
            r.private(|| format!("{}: its rule cannot be taken apart", node.name()));
            return;
        }
        let writes = |step: &Step| {
            let old = |v: &ValueId| (r.made.values[*v as usize].buffer as usize) < known;
            step.draws || step.written().iter().any(old)
        };
        if r.made.steps[first..].iter().any(writes) {
            r.private(|| format!("{}: its rule writes, or draws random numbers", node.name()));
            return;
        }
        r.made.steps.truncate(first);
        let operands = grads.iter().chain(saved).map(|x| x.as_ref().and_then(|x| r.value(x))).collect();
        let made = results.iter().map(|g| g.as_ref().and_then(|g| r.redo(g, known))).collect();
        let node = node.without_graph();
        r.push(What::Rule { node, grads: grads.len(), run: Run { frees: false, ..run } }, operands, made);
    });
    results
}

impl Recorder {
    /// A result of a rule that is a step as a whole, if its memory is none of the first `known` buffers.
    fn redo(&mut self, x: &Tensor, known: usize) -> Option<ValueId> {
        let id = self.window(x);
        let buffer = self.made.values[id as usize].buffer as usize;
        let origin = &mut self.made.buffers[buffer].origin;
        match origin {
            Origin::Private(_) => *origin = Origin::Step,
            Origin::Step if buffer >= known => {}
            _ => return None,
        }
        Some(id)
    }
}

/// From now on until it is called again, steps of optimizers take their numbers from `rates`.
pub fn set_rates(rates: Option<Arc<dyn Rates>>) {
    recorder(|r| r.rates = rates);
}

/// Notes a step of an optimizer: parameters, gradients and states.
#[cold]
pub(crate) fn updates(update: Update, count: usize, lists: &[&[Tensor]]) {
    recorder(|r| {
        let operands = lists.iter().flat_map(|list| list.iter()).map(|x| r.value(x)).collect();
        let rates = r.rates.clone();
        r.push(What::Update { update, count, rates }, operands, SmallVec::new());
    });
}
