//! `autograd.Function`: a call of a custom function, and the node that runs its backward.
//!
//! The object that users know as `ctx` is the node's Python object. The node's rule owns it. It has a weak reference to
//! its node, and all that the node is made of, so a ctx that outlives its node still works, and makes the node again
//! when it is needed.

mod begin;
mod ctx;
mod jvp;

use std::any::Any;
use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::OnceLock;

use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyNotImplemented, PyTuple, PyType};
use pyo3::{ffi, intern};
use retrograd_engine::Tensor;
use retrograd_engine::autograd::custom::{Call, Edges, forbid_differentiation};
use retrograd_engine::autograd::forward::Hidden;
use retrograd_engine::autograd::saved::{Saved, SavedSlots, pack_saved};
use retrograd_engine::autograd::{GradGuard, Grads, Node, NodeRef, OutMeta, Rule, Run, finite, is_grad_enabled, mode};
use retrograd_engine::counted::{Counted, WeakCounted};
use retrograd_engine::tensor::Noted;
use retrograd_engine::{profiler, transforms};
use smallvec::SmallVec;

use crate::anythread::AnyThread;
use crate::call::{guard, type_name};
use crate::call_site::attached;
use crate::errors::{OrPy, from_py};
use crate::wrap::{unwrap, wrap};

/// The ctx of a custom function: what `forward` leaves for `backward`, and the graph node of the outputs.
///
/// >>> class Halves(rg.autograd.Function):
/// ...     @staticmethod
/// ...     def forward(ctx, x):
/// ...         ctx.save_for_backward(x)
/// ...         ctx.save_for_forward(x)
/// ...         ctx.set_materialize_grads(False)
/// ...         half, sign = x / 2, x.sign()
/// ...         ctx.mark_non_differentiable(sign)
/// ...         return half, sign
/// ...     @staticmethod
/// ...     def backward(ctx, g, _):
/// ...         (x,) = ctx.saved_tensors
/// ...         ctx.maybe_clear_saved_tensors()
/// ...         return None if g is None else g / 2
/// >>> class Negate(rg.autograd.Function):
/// ...     @staticmethod
/// ...     def forward(ctx, x):
/// ...         ctx.mark_dirty(x)
/// ...         return x.neg_()
/// ...     @staticmethod
/// ...     def backward(ctx, g):
/// ...         return -g
/// >>> x = rg.ones(1, requires_grad=True)
/// >>> half, sign = Halves.apply(x)
/// >>> half.grad_fn.name(), half.grad_fn.needs_input_grad, sign.requires_grad
/// ('HalvesBackward', (True,), False)
/// >>> handle = half.grad_fn.register_hook(lambda inputs, outputs: print("after"))
/// >>> handle = half.grad_fn.register_prehook(lambda outputs: print("before"))
/// >>> Negate.apply(half).backward()
/// before
/// after
/// >>> x.grad
/// tensor([-0.5000])
#[pyclass(name = "_FunctionBase", module = "retrograd._core", subclass, weakref, frozen)]
pub struct PyFunctionCtx {
    notes: Mutex<Notes>,
    needs_input_grad: PyOnceLock<Py<PyTuple>>,
    metadata: PyOnceLock<Py<PyDict>>,
    /// Set before `forward` runs.
    begun: OnceLock<Begun>,
    /// The rest of what the node is made of; set when `forward` has returned.
    made: OnceLock<Made>,
    node: Mutex<Option<WeakCounted<Node>>>,
}

/// What the methods of ctx write down.
struct Notes {
    to_save: Option<Py<PyAny>>,
    saved_for_forward: Option<Py<PyAny>>,
    dirty: Option<Py<PyAny>>,
    still: Option<Py<PyAny>>,
    materialize: bool,
    materialize_still: bool,
    pure_view: bool,
    /// `jvp` is running: `saved_tensors` are those for it.
    in_jvp: bool,
}

/// What is known when a call begins.
struct Begun {
    /// Where the gradients of the tensors among the arguments go, if the call is recorded.
    edges: Option<Edges>,
    /// Of each argument of `forward`: whether it is a tensor, for which the node has an edge, and whether it requires
    /// grad.
    args: SmallVec<[(bool, bool); 8]>,
}

/// What the node is made of when `forward` has returned.
struct Made {
    saved: SavedSlots,
    outputs: SmallVec<[OutMeta; 1]>,
    /// Which outputs get zeros for a missing gradient.
    zeros: SmallVec<[bool; 4]>,
}

/// The rule of a node whose backward is written in Python.
pub struct PyFunctionRule {
    ctx: AnyThread<PyFunctionCtx>,
}

impl PyFunctionRule {
    fn made(&self) -> &Made {
        self.ctx.get().made.get().expect("nodes are made from it")
    }
}

impl Rule for PyFunctionRule {
    fn name(&self) -> Cow<'static, str> {
        Python::attach(|py| name_of(self.ctx.bind(py)).into())
    }
    fn apply(&self, node: &NodeRef, grads: &[Option<Tensor>], _run: Run) -> retrograd_engine::Result<Grads> {
        attached(|py| run_backward(self.ctx.bind(py), node, grads)).map_err(from_py)
    }
    fn takes_nothing(&self) -> bool {
        true
    }
    fn saved_slots(&self) -> Option<&SavedSlots> {
        Some(&self.made().saved)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The ctx that a node's rule belongs to, if its function is written in Python.
pub fn ctx_of(rule: &dyn Rule) -> Option<Py<PyAny>> {
    let rule = rule.as_any().downcast_ref::<PyFunctionRule>()?;
    Some(Python::attach(|py| rule.ctx.clone_ref(py).into_any()))
}

/// As [`ctx_of`], without taking a reference.
pub fn ctx_in(rule: &dyn Rule) -> Option<&Py<PyFunctionCtx>> {
    rule.as_any().downcast_ref::<PyFunctionRule>().map(|r| &*r.ctx)
}

/// The node of a ctx, if a call was recorded on it.
pub fn node_of(v: &Bound<'_, PyAny>) -> Option<NodeRef> {
    node_of_ctx(v.cast::<PyFunctionCtx>().ok()?)
}

fn node_of_ctx(ctx: &Bound<'_, PyFunctionCtx>) -> Option<NodeRef> {
    let this = ctx.get();
    let made = this.made.get()?;
    if let Some(node) = this.node.lock().as_ref().and_then(WeakCounted::upgrade) {
        return Some(node);
    }
    // Not under the lock: in anomaly mode Python code runs here.
    let node = new_node(ctx, made.outputs.clone());
    let mut slot = this.node.lock();
    Some(slot.as_ref().and_then(WeakCounted::upgrade).unwrap_or_else(|| {
        *slot = Some(Counted::downgrade(&node));
        node
    }))
}

fn new_node(ctx: &Bound<'_, PyFunctionCtx>, outputs: SmallVec<[OutMeta; 1]>) -> NodeRef {
    let edges = ctx.get().begun.get().and_then(|b| b.edges.as_ref()).map(Edges::to_vec).unwrap_or_default();
    Node::new(PyFunctionRule { ctx: AnyThread::new(ctx.clone().unbind()) }, edges, outputs)
}

fn name_of(ctx: &Bound<'_, PyFunctionCtx>) -> String {
    ctx.get_type().name().map_or_else(|_| "Function".into(), |n| n.to_string())
}

/// Objects of `autograd.function` that `apply` compares with or calls.
struct Face {
    backward: Py<PyAny>,
    jvp: Py<PyAny>,
    setup_context: Py<PyAny>,
    bind: Py<PyAny>,
}

static FACE: PyOnceLock<Face> = PyOnceLock::new();

fn face(py: Python<'_>) -> PyResult<&Face> {
    FACE.get(py).ok_or_else(|| PyRuntimeError::new_err("retrograd.autograd.function is not imported"))
}

/// Tells the core the defaults of `Function`, and the function that binds keywords to positions.
#[pyfunction]
fn _register_function(py: Python<'_>, function: &Bound<'_, PyType>, bind: Py<PyAny>) -> PyResult<()> {
    let get = |name| function.getattr(name).map(Bound::unbind);
    let face = Face { backward: get("backward")?, jvp: get("jvp")?, setup_context: get("setup_context")?, bind };
    let _ = FACE.set(py, face);
    Ok(())
}

// ---- forward

/// The arguments by position: keywords bound to `forward`'s parameters, and in the form with `setup_context` its
/// defaults filled in.
fn bind<'py>(
    face: &Face,
    forward: &Bound<'py, PyAny>,
    separate: bool,
    args: Bound<'py, PyTuple>,
    kwargs: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = args.py();
    if kwargs.is_none() && (!separate || takes_exactly(forward, args.len())) {
        return Ok(args);
    }
    let kwargs = kwargs.unwrap_or_else(|| PyDict::new(py));
    Ok(face.bind.bind(py).call1((forward, separate, args, kwargs))?.cast_into()?)
}

/// A code object, which does not change, and how many positional parameters it has; `None` if there are others.
type Known = (Py<PyAny>, Option<usize>);

/// Code objects of functions that were asked about last.
static KNOWN: Mutex<[Option<Known>; 16]> = Mutex::new([const { None }; 16]);

static CODE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Whether a plain function has `n` positional parameters and nothing else, so that nothing is left to bind.
fn takes_exactly(function: &Bound<'_, PyAny>, n: usize) -> bool {
    let py = function.py();
    let Ok(code) = function.getattr(intern!(py, "__code__")) else { return false };
    if !CODE.import(py, "types", "CodeType").is_ok_and(|class| code.get_type_ptr() == class.as_type_ptr()) {
        return parameters(&code).is_ok_and(|count| count == Some(n));
    }
    // Objects are at addresses that differ in the upper bits.
    let place = (code.as_ptr() as usize >> 6) % 16;
    let known = match &KNOWN.lock()[place] {
        Some((known, count)) if known.is(&code) => Some(*count),
        _ => None,
    };
    let count = known.unwrap_or_else(|| {
        let count = parameters(&code).unwrap_or(None);
        let old = KNOWN.lock()[place].replace((code.unbind(), count));
        drop(old);
        count
    });
    count == Some(n)
}

/// How many positional parameters a code object has; `None` if there are others.
fn parameters(code: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    const VARARGS: u32 = 0x4;
    const VARKEYWORDS: u32 = 0x8;
    let py = code.py();
    let flags: u32 = code.getattr(intern!(py, "co_flags"))?.extract()?;
    let keyword_only: usize = code.getattr(intern!(py, "co_kwonlyargcount"))?.extract()?;
    let plain = flags & (VARARGS | VARKEYWORDS) == 0 && keyword_only == 0;
    if plain { code.getattr(intern!(py, "co_argcount"))?.extract().map(Some) } else { Ok(None) }
}

/// `function(ctx, *args)`. A few arguments need no tuple.
fn call_with_ctx<'py>(
    function: &Bound<'py, PyAny>,
    ctx: &Bound<'py, PyFunctionCtx>,
    args: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    use ffi::PyObject_CallFunctionObjArgs as call;
    let (py, end) = (function.py(), std::ptr::null_mut::<ffi::PyObject>());
    let (f, ctx) = (function.as_ptr(), ctx.as_ptr());
    // SAFETY: objects that are alive, and a null after the last argument.
    unsafe {
        let returned = match args {
            [a] => call(f, ctx, a.as_ptr(), end),
            [a, b] => call(f, ctx, a.as_ptr(), b.as_ptr(), end),
            [a, b, c] => call(f, ctx, a.as_ptr(), b.as_ptr(), c.as_ptr(), end),
            _ => {
                let first = Bound::from_borrowed_ptr(py, ctx);
                let all: SmallVec<[Bound<'py, PyAny>; 8]> =
                    std::iter::once(first).chain(args.iter().cloned()).collect();
                return function.call1(PyTuple::new(py, all)?);
            }
        };
        Bound::from_owned_ptr_or_err(py, returned)
    }
}

/// What `one` makes of each item of a list that ctx wrote down.
#[inline]
fn noted<'py, T>(
    list: Option<&Bound<'py, PyAny>>,
    attribute: &str,
    one: impl Fn(usize, &Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<SmallVec<[T; 2]>> {
    let Some(list) = list else { return Ok(SmallVec::new()) };
    let Ok(list) = list.cast::<PyTuple>() else {
        return Err(PyTypeError::new_err(format!(
            "autograd internal error: saved attribute '{attribute}' is expected to be a tuple but is {}",
            type_name(list)
        )));
    };
    let mut tensors = SmallVec::new();
    for (i, v) in list.iter_borrowed().enumerate() {
        tensors.push(one(i, &v)?);
    }
    Ok(tensors)
}

const RETURNED_AND_SAVED: &str = "An input that has been returned as-is as output is being saved for backward. This is not \
    supported if you override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) \
    or setup ctx inside the forward function itself.";

fn apply<'py>(
    class: &Bound<'py, PyAny>,
    mut args: SmallVec<[Bound<'py, PyAny>; 4]>,
    kwargs: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let face = face(py)?;
    let forward = class.getattr(intern!(py, "forward"))?;
    let setup = class.getattr(intern!(py, "setup_context"))?;
    let separate = !setup.is(&face.setup_context);
    // In a tuple, where Python code sees them.
    let mut inputs = None;
    if kwargs.is_some() || separate {
        let given = PyTuple::new(py, &args)?;
        let bound = bind(face, &forward, separate, given.clone(), kwargs)?;
        if !bound.is(&given) {
            args = bound.iter().collect();
        }
        inputs = Some(bound);
    }
    if transforms::any()
        && let Some(outputs) = transformed(class, &args, separate)?
    {
        return Ok(outputs);
    }

    let mut operands: SmallVec<[Tensor; 4]> = SmallVec::new();
    let mut facts = SmallVec::new();
    for arg in &args {
        let tensor = unwrap(arg);
        facts.push((tensor.is_some(), tensor.is_some_and(Tensor::requires_grad)));
        operands.extend(tensor.cloned());
    }
    let edges = Edges::of(&operands).or_py()?;
    let ctx = begin::ctx(&class.getattr(intern!(py, "_backward_cls"))?, Begun { edges, args: facts })?;

    let noted = || args.iter().map(|arg| ("", unwrap(arg).map_or(Noted::Other, Noted::of))).collect();
    let _span = if profiler::is_open() {
        Some(profiler::function(&class.cast::<PyType>()?.name()?.to_string(), &noted))
    } else {
        None
    };
    let returned = {
        let (_off, _plain) = (GradGuard::new(false), Hidden::from(0));
        match inputs.filter(|_| separate) {
            Some(inputs) => {
                let output = forward.call1(&inputs)?;
                call_with_ctx(&setup, &ctx, &[inputs.into_any(), output.clone()])?;
                output
            }
            None => call_with_ctx(&forward, &ctx, &args)?,
        }
    };
    finish(&ctx, &args, &operands, separate, returned)
}

/// What a call gives under a transform; `None` if it is a call like any other.
#[cold]
fn transformed<'py>(
    class: &Bound<'py, PyAny>,
    args: &[Bound<'py, PyAny>],
    separate: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mapping = transforms::depth() > 0;
    // The vmap rule looks into lists and dicts.
    let may_hold = |a: &Bound<'_, PyAny>| {
        mapping && (a.is_instance_of::<PyTuple>() || a.is_instance_of::<PyList>() || a.is_instance_of::<PyDict>())
    };
    let batched = args.iter().any(|a| unwrap(a).map_or_else(|| may_hold(a), Tensor::is_batched));
    if !separate && transforms::active() > 0 {
        return Err(PyRuntimeError::new_err(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override \
             the setup_context staticmethod. These transforms are the functions of retrograd.func, and those of \
             autograd.functional with vectorize=True: move what forward does with ctx to setup_context(ctx, inputs, output).",
        ));
    }
    if !batched {
        return Ok(None);
    }
    let py = class.py();
    let outputs = BATCHES
        .import(py, "retrograd.autograd.function._vmap", "on_batches")?
        .call1((class, PyTuple::new(py, args)?))?;
    Ok((!outputs.is(PyNotImplemented::get(py))).then_some(outputs))
}

static BATCHES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Makes what `forward` returned part of the graph.
fn finish<'py>(
    ctx: &Bound<'py, PyFunctionCtx>,
    args: &[Bound<'py, PyAny>],
    operands: &[Tensor],
    separate: bool,
    returned: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ctx.py();
    let this = ctx.get();
    let objects: SmallVec<[Bound<'py, PyAny>; 2]> = match returned.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => smallvec::smallvec![returned.clone()],
    };
    let single = !returned.is_instance_of::<PyTuple>();
    let mut results: SmallVec<[Option<Tensor>; 2]> = objects.iter().map(|o| unwrap(o).cloned()).collect();

    let (to_save, dirty, still, materialize_still) = {
        let mut notes = this.notes.lock();
        let [to_save, dirty, still] =
            [notes.to_save.take(), notes.dirty.take(), notes.still.take()].map(|list| list.map(|l| l.into_bound(py)));
        (to_save, dirty, still, notes.materialize_still)
    };
    let dirty = noted(dirty.as_ref(), "dirty_tensors", |i, v| {
        let text = || format!("mark_dirty can only accept variables, but argument {i} is of type {}", type_name(v));
        unwrap(v).cloned().ok_or_else(|| PyRuntimeError::new_err(text()))
    })?;
    let still = noted(still.as_ref(), "non_differentiable", |i, v| {
        let wrong = "mark_non_differentiable only accepts variable arguments, but got";
        let text = || format!("{wrong} {} as argument {i}", type_name(v));
        unwrap(v).cloned().ok_or_else(|| PyRuntimeError::new_err(text()))
    })?;
    let call = Call { operands, dirty: &dirty, still: &still };
    let recording = this.begun.get().is_some_and(|b| b.edges.is_some());
    let to_save = noted(to_save.as_ref().filter(|_| recording), "to_save", |i, v| match unwrap(v) {
        Some(t) => Ok(Some(t.clone())),
        None if v.is_none() => Ok(None),
        None => Err(PyTypeError::new_err(format!(
            "save_for_backward can only save variables, but argument {i} is of type {}",
            type_name(v)
        ))),
    })?;
    for t in to_save.iter().flatten() {
        Saved::check(t).or_py()?;
    }
    if separate {
        let lost = |t: &Tensor| call.is_returned_as_is(t) && to_save.iter().flatten().any(|s| s.is_same(t));
        if results.iter().flatten().any(lost) {
            return Err(PyRuntimeError::new_err(RETURNED_AND_SAVED));
        }
    }

    if mode::word() & mode::DETECT_NAN != 0 {
        let made: SmallVec<[&Tensor; 4]> = results.iter().flatten().filter(|t| !call.is_returned_as_is(t)).collect();
        let operands: SmallVec<[&Tensor; 4]> = operands.iter().collect();
        finite::check_foreign(
            &ctx.getattr(intern!(py, "_forward_cls"))?.getattr(intern!(py, "__name__"))?.to_string(),
            &made,
            &operands,
        )
        .or_py()?;
    }

    // Before results are replaced.
    let propagating = mode::propagates(mode::word()).then(|| {
        let requires_grad = |t: &Option<Tensor>| t.as_ref().is_some_and(|t| call.requires_grad(t));
        results.iter().map(requires_grad).collect::<SmallVec<[bool; 4]>>()
    });
    let node = recording.then_some({
        |results: &[Option<Tensor>], outputs: SmallVec<[OutMeta; 1]>| {
            let keep = |t: &Option<Tensor>| {
                let t = t.as_ref()?;
                Some(match call.result_number(t, results) {
                    Some(nr) => Saved::output(t, nr),
                    None => Saved::input(t.clone()),
                })
            };
            let is_still = |t: &Tensor| !t.dtype().is_differentiable() || still.iter().any(|s| s.is_same(t));
            let zeros = results.iter().map(|r| r.as_ref().is_some_and(|t| materialize_still || !is_still(t))).collect();
            let saved = SavedSlots::new(to_save.iter().map(keep).collect());
            saved.run_once();
            let _ = this.made.set(Made { saved, outputs: outputs.clone(), zeros });
            let node = new_node(ctx, outputs);
            *this.node.lock() = Some(Counted::downgrade(&node));
            node
        }
    });
    call.finish(&mut results, node).or_py()?;
    if mode::word() & mode::SAVED_HOOKS != 0
        && let Some(node) = node_of_ctx(ctx)
    {
        pack_saved(&node, &|nr| results.get(nr).cloned().flatten()).or_py()?;
    }

    if let Some(requires_grad) = propagating {
        let args = &PyTuple::new(py, args)?;
        let tensors_in: SmallVec<[bool; 8]> = args.iter_borrowed().map(|arg| unwrap(&arg).is_some()).collect();
        let outcomes: SmallVec<[jvp::Outcome; 2]> =
            results.iter().zip(requires_grad).map(|(t, requires_grad)| t.clone().map(|t| (t, requires_grad))).collect();
        jvp::propagate(&jvp::Call { ctx, args, operands, tensors_in: &tensors_in, dirty: &dirty, results: &outcomes })?;
        if let Some(node) = node_of_ctx(ctx)
            && let Some(saved) = node.rule().saved_slots()
        {
            saved.share_tangents(&|nr| results.get(nr).and_then(Option::as_ref)).or_py()?;
        }
    }
    ctx.get().end_of_forward();

    let object = |(given, result): (Bound<'py, PyAny>, Option<Tensor>)| match result {
        Some(t) if !unwrap(&given).is_some_and(|g| g.is_same(&t)) => wrap(py, t),
        _ => Ok(given),
    };
    let mut objects = objects.into_iter().zip(results).map(object);
    if single {
        return objects.next().expect("a single result");
    }
    Ok(PyTuple::new(py, objects.collect::<PyResult<SmallVec<[_; 4]>>>()?)?.into_any())
}

fn clone_option(py: Python<'_>, v: &Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    v.as_ref().map(|v| v.clone_ref(py))
}

// ---- backward

/// `backward` or `vjp`, whichever the function defines.
fn user_backward<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let default = &face(py)?.backward;
    let backward = function.getattr(intern!(py, "backward"))?;
    let vjp = function.getattr(intern!(py, "vjp"))?;
    if vjp.is(default) {
        return Ok(backward);
    }
    if !backward.is(default) {
        return Err(PyRuntimeError::new_err(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them.",
        ));
    }
    Ok(vjp)
}

/// Calls the user's backward of a ctx.
fn call_backward<'py>(
    ctx: &Bound<'py, PyFunctionCtx>,
    grads: SmallVec<[Bound<'py, PyAny>; 4]>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ctx.py();
    let function = ctx.getattr(intern!(py, "_forward_cls"))?;
    let user = user_backward(&function)?;
    if function.getattr(intern!(py, "boxed_grads_call"))?.is_truthy()? {
        return user.call1((ctx, PyList::new(py, grads)?));
    }
    call_with_ctx(&user, ctx, &grads)
}

fn run_backward(ctx: &Bound<'_, PyFunctionCtx>, node: &NodeRef, grads: &[Option<Tensor>]) -> PyResult<Grads> {
    let py = ctx.py();
    let this = ctx.get();
    let made = this.made.get().expect("nodes are made from it");
    let materialize = this.notes.lock().materialize;
    let given = grads.iter().enumerate().map(|(i, g)| match g {
        Some(g) => wrap(py, g.clone()),
        None if materialize && made.zeros[i] => {
            let meta = &node.outputs()[i];
            wrap(py, Tensor::full(&meta.sizes, 0i64.into(), meta.dtype).or_py()?)
        }
        None => Ok(py.None().into_bound(py)),
    });
    let returned = call_backward(ctx, given.collect::<PyResult<_>>()?)?;
    let error = |detail: String| PyRuntimeError::new_err(format!("function {} returned {detail}", name_of(ctx)));
    let tensors_in = &this.begun.get().expect("a call has begun").args;
    let expected = tensors_in.len();
    let mut results = Grads::new();
    let mut take = |i: usize, v: &Bound<'_, PyAny>| -> PyResult<()> {
        if !tensors_in[i].0 {
            if v.is_none() {
                return Ok(());
            }
            return Err(error(format!(
                "a gradient different than None at position {}, but the corresponding forward input was not a Variable",
                i + 1
            )));
        }
        results.push(match unwrap(v) {
            Some(g) => Some(g.clone()),
            None if v.is_none() => None,
            None => return Err(PyRuntimeError::new_err(format!("expected Variable or None (got {})", type_name(v)))),
        });
        Ok(())
    };
    match returned.cast::<PyTuple>() {
        Ok(tuple) => {
            let got = tuple.len();
            if got < expected || tuple.iter_borrowed().skip(expected).any(|v| !v.is_none()) {
                return Err(error(format!("an incorrect number of gradients (expected {expected}, got {got})")));
            }
            for (i, v) in tuple.iter_borrowed().take(expected).enumerate() {
                take(i, &v)?;
            }
        }
        Err(_) if expected == 1 => take(0, &returned)?,
        Err(_) => return Err(error(format!("an incorrect number of gradients (expected {expected}, got 1)"))),
    }
    Ok(results)
}

/// `fn(ctx, *args)` without grad mode; if grad mode is on and a gradient among `args` requires grad, the results
/// require grad too, and differentiating them raises.
#[pyfunction]
#[pyo3(signature = (function, args, kwargs))]
fn _once_differentiable<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let returned = {
        let _off = GradGuard::new(false);
        function.call(args, Some(kwargs))?
    };
    if !is_grad_enabled() || !args.iter_borrowed().any(|a| unwrap(&a).is_some_and(Tensor::requires_grad)) {
        return Ok(returned);
    }
    let single = returned.cast::<PyTuple>().is_err();
    let objects = if single { PyTuple::new(py, [returned])? } else { returned.cast_into()? };
    let mut tensors: SmallVec<[Option<Tensor>; 4]> = objects.iter().map(|o| unwrap(&o).cloned()).collect();
    forbid_differentiation(
        &mut tensors,
        "trying to differentiate twice a function that was marked with @once_differentiable",
    );
    let objects = objects.iter().zip(tensors).map(|(o, t)| t.map_or(Ok(o), |t| wrap(py, t)));
    let objects: Vec<_> = objects.collect::<PyResult<_>>()?;
    if single {
        return Ok(objects.into_iter().next().expect("a single result"));
    }
    Ok(PyTuple::new(py, objects)?.into_any())
}

const APPLY: &CStr = c"apply($cls, *args, **kwargs)\n--\n\n\
Run the function on `args`, recording it if a tensor among them requires grad.\n\n\
Keyword arguments are bound to the positions of `forward`'s parameters. Returns what `forward` returned, its\n\
tensors being outputs of a node of class `<Class>Backward`.";

/// `apply`, as CPython calls a class method: PyO3 makes a tuple of the arguments of such a one.
///
/// # Safety
/// 1. The interpreter is held.
/// 2. `class` is a class; `args` points to `nargs` objects followed by one per name in `kwnames` (null or a tuple of
///    str), all alive.
unsafe extern "C" fn apply_entry(
    class: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargs: ffi::Py_ssize_t,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: duty 1.
    let py = unsafe { Python::assume_attached() };
    let run = |py: Python<'_>| {
        // SAFETY: duty 2.
        let object = |i: usize| unsafe { Bound::from_borrowed_ptr(py, *args.add(i)) };
        let positional = nargs as usize;
        // SAFETY: duty 2.
        let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, kwnames) };
        let kwargs = match &names {
            None => None,
            Some(names) => {
                let kwargs = PyDict::new(py);
                for (i, name) in names.cast::<PyTuple>()?.iter_borrowed().enumerate() {
                    kwargs.set_item(name, object(positional + i))?;
                }
                Some(kwargs).filter(|k| !k.is_empty())
            }
        };
        // SAFETY: duty 2.
        let class = unsafe { Bound::from_borrowed_ptr(py, class) };
        apply(&class, (0..positional).map(object).collect(), kwargs).map(Bound::into_ptr)
    };
    // The interpreter is held, but PyO3 must know, or it does not release references that are dropped in here.
    guard(py, "apply", || Python::attach(run))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add_class::<PyFunctionCtx>()?;
    begin::register(py)?;
    let class = py.get_type::<PyFunctionCtx>();
    // Method definitions live as long as the process.
    let apply = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: c"apply".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: apply_entry },
        ml_flags: ffi::METH_CLASS | ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: APPLY.as_ptr(),
    }));
    // SAFETY: a class, and a definition that is alive for good; a new reference, or null with an exception set.
    let apply = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewClassMethod(class.as_type_ptr(), apply))? };
    class.setattr("apply", apply)?;
    m.add_function(wrap_pyfunction!(_register_function, m)?)?;
    m.add_function(wrap_pyfunction!(_once_differentiable, m)?)
}
