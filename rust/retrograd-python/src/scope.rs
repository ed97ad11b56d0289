//! Scopes: settings for the time of a `with` block, in the calling thread or for all.
//!
//! A scope is entered and left by one call into this crate. An interrupt is only raised between instructions of Python,
//! and the interpreter puts none between `__enter__` and the block, so a scope that was entered is left. When it is
//! left, it closes what was opened inside it and is still open.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};
use pyo3::{ffi, intern};
use retrograd_engine::Tensor;
use retrograd_engine::autocast;
use retrograd_engine::autograd::mode::{self, DETECT_INF, DETECT_NAN, GRAD, INFERENCE, LOOSE_GRADS, SINGLE_THREADED};
use retrograd_engine::autograd::{anomaly, forward, hooks, saved};
use retrograd_engine::generator::default_generator;
use retrograd_engine::transforms::{self, IsGiven, Randomness};
use smallvec::SmallVec;

use crate::anythread::AnyThread;
use crate::call::{flag, misfit, type_name};
use crate::call_site::attached;
use crate::dtype::PyDType;
use crate::dual;
use crate::errors::{OrPy, from_py};
use crate::wrap::{unwrap, wrap};

/// What is on or off.
#[derive(Clone, Copy)]
enum Switch {
    Grad(bool),
    Inference(bool),
    Forward(bool),
    GradLayout(bool),
    Multithreading(bool),
    Anomaly { on: bool, check_nan: bool },
    DetectNan { on: bool, check_inf: bool },
}

impl Switch {
    /// Makes it so. Returns what was before.
    fn set(self) -> Before {
        let word = |bits, on| Before::Word { bits, word: mode::set(bits, on) };
        match self {
            Switch::Grad(on) => word(GRAD, on),
            Switch::GradLayout(on) => word(LOOSE_GRADS, !on),
            Switch::Multithreading(on) => word(SINGLE_THREADED, !on),
            Switch::Inference(on) => {
                let word = mode::set(INFERENCE, on);
                mode::set(GRAD, !on);
                Before::Word { bits: INFERENCE | GRAD, word }
            }
            Switch::Forward(on) => Before::Forward(forward::set_enabled(on)),
            Switch::Anomaly { on, check_nan } => {
                let before = Before::Anomaly { on: anomaly::is_on(), check_nan: anomaly::checks_nan() };
                anomaly::set(on, check_nan);
                before
            }
            Switch::DetectNan { on, check_inf } => {
                let word = mode::set(DETECT_NAN, on);
                mode::set(DETECT_INF, on && check_inf);
                Before::Word { bits: DETECT_NAN | DETECT_INF, word }
            }
        }
    }
    fn is_on(self) -> bool {
        match self {
            Switch::Grad(on)
            | Switch::Inference(on)
            | Switch::Forward(on)
            | Switch::GradLayout(on)
            | Switch::Multithreading(on)
            | Switch::Anomaly { on, .. }
            | Switch::DetectNan { on, .. } => on,
        }
    }
}

/// What holds while a scope is entered.
enum What {
    Switch(Switch),
    /// A level of batches.
    Batch {
        size: usize,
        randomness: Randomness,
        private: bool,
    },
    /// A level of tangents; a public one is found without its number.
    Dual {
        public: bool,
    },
    /// The rule of a custom function, which does not see this level of batches and those inside.
    Rule {
        level: usize,
    },
    /// A transform, or what belongs to one that ended (`begins` False): out of inference mode. Ops record with
    /// `records`, else if they did outside.
    Transform {
        begins: bool,
        records: bool,
        propagates: bool,
        given: Option<Py<PyAny>>,
    },
    /// `pack_hook` and `unpack_hook` of the object.
    SavedHooks,
    NoSavedHooks(String),
    /// Is called before writes in place.
    WriteWatch(Py<PyAny>),
    /// An attribute has a value, by default the scope itself. With a message it is refused where the attribute has one
    /// that counts as true.
    Value {
        of: Py<PyAny>,
        name: Py<PyString>,
        value: Option<Py<PyAny>>,
        alone: Option<String>,
    },
    /// The default generator is put back at the end.
    Random,
    /// A region of autocast; `None`: as the attributes of the object say.
    Autocast(Option<autocast::Settings>),
    /// An object is cleared at the end.
    Cleared(Py<PyAny>),
    /// Several, entered in order and left in the opposite one; `value` is what entering gives.
    All {
        scopes: Vec<Py<Scope>>,
        value: Py<PyAny>,
    },
}

/// What was before, to be put back.
enum Before {
    Word { bits: u32, word: u32 },
    Forward(bool),
    Anomaly { on: bool, check_nan: bool },
    Batch(usize),
    Dual { level: usize, public: bool },
    Rule { level: usize, to: usize },
    Transform { running: Option<usize>, word: u32, forward: Option<bool> },
    SavedHooks,
    NoSavedHooks(Option<String>),
    WriteWatch,
    Value { of: Py<PyAny>, name: Py<PyString>, value: Py<PyAny> },
    Random(Vec<u8>),
    Autocast(autocast::Settings),
    Cleared(Py<PyAny>),
    All(Vec<Py<Scope>>),
}

impl What {
    /// Makes it so. Returns what was before, and what `__enter__` gives.
    fn begin<'py>(&self, scope: &Bound<'py, Scope>) -> PyResult<(Before, Bound<'py, PyAny>)> {
        let py = scope.py();
        let none = || py.None().into_bound(py);
        let number = |n: usize| n.into_pyobject(py).map(Bound::into_any).map_err(PyErr::from);
        Ok(match self {
            &What::Switch(switch) => (switch.set(), none()),
            &What::Batch { size, randomness, private } => {
                let enter = if private { transforms::enter_private } else { transforms::enter };
                let level = enter(size, randomness);
                (Before::Batch(level), number(level)?)
            }
            &What::Dual { public } => {
                let level = dual::open(public);
                (Before::Dual { level, public }, number(level)?)
            }
            &What::Rule { level } => (Before::Rule { level, to: transforms::hide_from(level) }, none()),
            What::Transform { begins, records, propagates, given } => {
                let running =
                    begins.then(|| transforms::begin(given.as_ref().map(|given| is_given(given.clone_ref(py)))));
                let forward = propagates.then(|| forward::set_enabled(true));
                let word = mode::set(INFERENCE, false);
                let outside = mode::records(word);
                mode::set(GRAD, *records || outside);
                let outside = outside.into_pyobject(py)?.to_owned().into_any();
                (Before::Transform { running, word, forward }, outside)
            }
            What::SavedHooks => {
                let hook = |name| scope.getattr(name);
                let hooks = crate::saved::hooks(hook(intern!(py, "pack_hook"))?, hook(intern!(py, "unpack_hook"))?)?;
                saved::push_hooks(hooks).or_py()?;
                (Before::SavedHooks, none())
            }
            What::NoSavedHooks(why) => (Before::NoSavedHooks(saved::forbid_hooks(Some(why.clone())).or_py()?), none()),
            What::WriteWatch(watch) => {
                watch_writes(watch.clone_ref(py));
                (Before::WriteWatch, none())
            }
            What::Value { of, name, value, alone } => {
                let before = of.bind(py).getattr(name.bind(py))?;
                if let Some(why) = alone
                    && before.is_truthy()?
                {
                    return Err(PyRuntimeError::new_err(why.replace("{}", &before.str()?.to_cow()?)));
                }
                let value = value.as_ref().map_or_else(|| scope.clone().into_any(), |value| value.bind(py).clone());
                of.bind(py).setattr(name.bind(py), &value)?;
                (Before::Value { of: of.clone_ref(py), name: name.clone_ref(py), value: before.unbind() }, value)
            }
            What::Random => (Before::Random(default_generator().read(|g| g.state()).to_vec()), none()),
            What::Autocast(region) => {
                let region = region.map_or_else(|| region_of(scope), Ok)?;
                (Before::Autocast(autocast::enter(region)), scope.clone().into_any())
            }
            What::Cleared(object) => (Before::Cleared(object.clone_ref(py)), none()),
            What::All { scopes, value } => {
                let mut entered: Vec<Py<Scope>> = Vec::with_capacity(scopes.len());
                for scope in scopes {
                    if let Err(e) = Scope::enter(scope.bind(py)) {
                        Before::All(entered).put_back(py)?;
                        return Err(e);
                    }
                    entered.push(scope.clone_ref(py));
                }
                (Before::All(entered), value.bind(py).clone())
            }
        })
    }
}

impl Before {
    fn put_back(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            &Before::Word { bits, word } => drop(mode::restore(bits, word)),
            &Before::Forward(on) => drop(forward::set_enabled(on)),
            &Before::Anomaly { on, check_nan } => anomaly::set(on, check_nan),
            &Before::Batch(level) => {
                while transforms::depth() >= level {
                    transforms::exit(transforms::depth()).or_py()?;
                }
            }
            &Before::Dual { level, public } => dual::close(level, public)?,
            &Before::Rule { level, to } => transforms::unhide(level, to),
            &Before::Transform { running, word, forward } => {
                mode::restore(INFERENCE | GRAD, word);
                if let Some(on) = forward {
                    forward::set_enabled(on);
                }
                if let Some(before) = running {
                    transforms::end(before);
                }
            }
            Before::SavedHooks => saved::pop_hooks().or_py()?,
            Before::NoSavedHooks(why) => drop(saved::forbid_hooks(why.clone()).or_py()?),
            Before::WriteWatch => drop(hooks::watch_writes(None)),
            Before::Value { of, name, value } => of.bind(py).setattr(name.bind(py), value)?,
            Before::Random(state) => {
                // Nothing is set, which a function that is recorded may not do, where nothing was drawn.
                if default_generator().read(|g| g.state()) != *state {
                    default_generator().with(|g| g.set_state(state)).map_err(PyRuntimeError::new_err)?;
                }
            }
            &Before::Autocast(before) => autocast::leave(before),
            Before::Cleared(object) => drop(object.bind(py).call_method0(intern!(py, "clear"))?),
            Before::All(scopes) => {
                let mut failed = Ok(());
                for scope in scopes.iter().rev() {
                    failed = scope.get().leave(py).and(failed);
                }
                failed?;
            }
        }
        Ok(())
    }
}

/// The region that an object of `amp.autocast` describes. One for another device changes nothing but the cache.
fn region_of(scope: &Bound<'_, Scope>) -> PyResult<autocast::Settings> {
    let py = scope.py();
    let dtype = scope.getattr(intern!(py, "fast_dtype"))?;
    let dtype = match dtype.cast::<PyDType>() {
        Ok(dtype) => dtype.get().0,
        Err(_) => return Err(misfit("set_autocast_dtype", "dtype", Some(1), "retrograd.dtype", &dtype)),
    };
    let enabled = flag("set_autocast_enabled", "enabled", Some(1), &scope.getattr(intern!(py, "_enabled"))?)?;
    let caches = scope.getattr(intern!(py, "_cache_enabled"))?;
    let caches = match caches.cast::<PyBool>() {
        Ok(caches) => caches.is_true(),
        Err(_) => {
            return Err(PyTypeError::new_err(format!("enabled must be a bool (got {})", type_name(&caches))));
        }
    };
    let device: String = scope.getattr(intern!(py, "device"))?.extract()?;
    if device == "cpu" || device.starts_with("cpu:") {
        Ok(autocast::Settings { enabled, dtype, caches })
    } else {
        Ok(autocast::Settings { caches, ..autocast::settings() })
    }
}

/// Whether a tensor shares memory with one in the tree `given`.
fn is_given(given: Py<PyAny>) -> IsGiven {
    let given = AnyThread::new(given);
    Arc::new(move |t: &Tensor| {
        attached(|py| -> PyResult<bool> {
            let flatten = py.import(intern!(py, "retrograd._tree"))?.getattr(intern!(py, "flatten"))?;
            let (leaves, _): (Vec<Bound<'_, PyAny>>, Bound<'_, PyAny>) = flatten.call1((given.bind(py),))?.extract()?;
            Ok(leaves.iter().filter_map(unwrap).any(|leaf| leaf.storage_key() == t.storage_key()))
        })
        .map_err(from_py)
    })
}

fn watch_writes(watch: Py<PyAny>) {
    let watch = AnyThread::new(watch);
    let told: Arc<hooks::WriteWatch> = Arc::new(move |t: &Tensor| {
        attached(|py| watch.bind(py).call1((wrap(py, t.clone())?,)).map(drop)).map_err(from_py)
    });
    drop(hooks::watch_writes(Some(told)));
}

#[derive(Default)]
struct State {
    /// One for each time that the scope was entered and not left.
    held: SmallVec<[Before; 1]>,
    /// Of a scope that acts when it is made: what was before that.
    made: Option<Before>,
    entered: bool,
}

/// Something that holds for the time of a `with` block.
#[pyclass(name = "_Scope", module = "retrograd._core", subclass, frozen)]
pub struct Scope {
    what: What,
    state: Mutex<State>,
}

impl Scope {
    fn of(what: What) -> Self {
        Self { what, state: Mutex::default() }
    }
    fn enter<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        {
            let mut state = this.state.lock();
            if state.made.is_some() {
                state.entered = true;
                if let What::Switch(Switch::Grad(on)) = this.what {
                    mode::set(GRAD, on);
                }
                return Ok(slf.py().None().into_bound(slf.py()));
            }
        }
        let (before, value) = this.what.begin(slf)?;
        this.state.lock().held.push(before);
        Ok(value)
    }
    fn leave(&self, py: Python<'_>) -> PyResult<()> {
        let before = {
            let mut state = self.state.lock();
            if state.made.is_some() {
                drop(state);
                return self.undo(py);
            }
            state.held.pop()
        };
        // A hook of backward may leave a block, for itself: those in force there are those of its node.
        let before = before.or_else(|| matches!(self.what, What::SavedHooks).then_some(Before::SavedHooks));
        let before = before.ok_or_else(|| PyRuntimeError::new_err("__exit__: this block has not been entered"))?;
        before.put_back(py)
    }
    /// Puts back what was before a scope that acts when it is made.
    fn undo(&self, py: Python<'_>) -> PyResult<()> {
        self.state.lock().made.as_ref().map_or(Ok(()), |before| before.put_back(py))
    }
}

/// A scope that acts when it is made, and is dropped with an exception on its way before it was entered, never came to
/// its `with`: the statement did not finish.
impl Drop for Scope {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if let Some(before) = state.made.take()
            && !state.entered
        {
            Python::try_attach(|py| {
                // SAFETY: the interpreter is held.
                if !unsafe { ffi::PyErr_Occurred() }.is_null() {
                    // Switches alone act when they are made, and putting one back calls nothing of Python's.
                    let _ = before.put_back(py);
                }
            });
        }
    }
}

#[pymethods]
impl Scope {
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::enter(slf)
    }
    #[pyo3(signature = (kind = None, value = None, trace = None))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        value: Option<&Bound<'_, PyAny>>,
        trace: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = (kind, value, trace);
        self.leave(py)
    }
    /// What it switches to.
    #[getter]
    fn mode(&self) -> PyResult<bool> {
        match self.what {
            What::Switch(switch) => Ok(switch.is_on()),
            _ => Err(PyAttributeError::new_err("mode")),
        }
    }
    /// Puts back what was before a switch that acts when it is made.
    fn _undo(&self, py: Python<'_>) -> PyResult<()> {
        self.undo(py)
    }
}

/// A switch that acts when it is made.
fn acting(switch: Switch) -> Scope {
    let scope = Scope::of(What::Switch(switch));
    scope.state.lock().made = Some(switch.set());
    scope
}

/// Classes that classes of the package are made of: `Name("_Name", (signature), arguments) { scope }`.
macro_rules! bases {
    ($($(#[$doc:meta])* $name:ident($python:literal, $signature:tt, $($arg:ident: $type:ty),*) $scope:block)*) => {$(
        $(#[$doc])*
        #[pyclass(name = $python, module = "retrograd._core", extends = Scope, subclass, frozen)]
        struct $name;

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = $signature)]
            fn new($($arg: $type),*) -> PyResult<PyClassInitializer<Self>> {
                fn scope($($arg: $type),*) -> PyResult<Scope> {
                    let made = $scope;
                    Ok(made)
                }
                Ok(PyClassInitializer::from(scope($($arg),*)?).add_subclass(Self))
            }
        }
    )*};
}

bases! {
    /// Ops record, or not.
    Recording("_Recording", (on), on: bool) { Scope::of(What::Switch(Switch::Grad(on))) }
    /// As `_Recording`, from the call on.
    RecordingSwitch("_RecordingSwitch", (mode), mode: Bound<'_, PyAny>) {
        acting(Switch::Grad(flag("set_grad_enabled", "enabled", Some(0), &mode)?))
    }
    /// Inference mode, or the normal mode within it.
    InferenceMode("_InferenceMode", (mode), mode: bool) { Scope::of(What::Switch(Switch::Inference(mode))) }
    /// Ops propagate tangents, or not; from the call on.
    ForwardSwitch("_ForwardSwitch", (mode), mode: bool) { acting(Switch::Forward(mode)) }
    /// Gradients get the layout of their leaves, or not; from the call on.
    GradLayoutSwitch("_GradLayoutSwitch", (enable = true), enable: bool) { acting(Switch::GradLayout(enable)) }
    /// Backward passes may use other threads, or not; from the call on.
    MultithreadingSwitch("_MultithreadingSwitch", (mode), mode: Bound<'_, PyAny>) {
        acting(Switch::Multithreading(flag("set_multithreading_enabled", "enabled", Some(0), &mode)?))
    }
    /// Anomaly mode.
    Anomaly("_Anomaly", (check_nan = true), check_nan: bool) {
        Scope::of(What::Switch(Switch::Anomaly { on: true, check_nan }))
    }
    /// Anomaly mode or not, from the call on.
    AnomalySwitch("_AnomalySwitch", (mode, check_nan = true), mode: Bound<'_, PyAny>, check_nan: bool) {
        let on = flag("set_anomaly_enabled", "enabled", Some(0), &mode)?;
        acting(Switch::Anomaly { on, check_nan })
    }
    /// Results are searched for NaN and infinities, or not.
    DetectNan("_DetectNan", (enabled = true, *, check_inf = true), enabled: bool, check_inf: bool) {
        Scope::of(What::Switch(Switch::DetectNan { on: enabled, check_inf }))
    }
    /// A level of tangents.
    DualLevel("_DualLevel", (),) { Scope::of(What::Dual { public: true }) }
    /// Saved-tensor hooks are refused.
    NoSavedHooks("_NoSavedTensorsHooks", (error_message), error_message: String) {
        Scope::of(What::NoSavedHooks(error_message))
    }
    /// An attribute has another value.
    Value("_Value", (of, name, value, alone = None), of: Py<PyAny>, name: Py<PyString>, value: Py<PyAny>,
        alone: Option<String>) {
        Scope::of(What::Value { of, name, value: Some(value), alone })
    }
    /// An attribute is the scope itself.
    Current("_Current", (of, name, alone = None), of: Py<PyAny>, name: Py<PyString>, alone: Option<String>) {
        Scope::of(What::Value { of, name, value: None, alone })
    }
    /// The default generator is put back.
    RandomState("_RandomState", (),) { Scope::of(What::Random) }
    /// Several scopes as one.
    All("_All", (value, scopes), value: Py<PyAny>, scopes: Vec<Py<Scope>>) {
        Scope::of(What::All { scopes, value })
    }
}

/// The hooks that the object has as attributes see what is saved.
#[pyclass(name = "_SavedTensorsHooks", module = "retrograd._core", extends = Scope, subclass, frozen)]
struct SavedHooks;

#[pymethods]
impl SavedHooks {
    /// Arguments are for `__init__`.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Scope::of(What::SavedHooks)).add_subclass(Self)
    }
}

/// A region of autocast, as the attributes of the object say.
#[pyclass(name = "_Autocast", module = "retrograd._core", extends = Scope, subclass, frozen)]
struct Autocast;

#[pymethods]
impl Autocast {
    /// Arguments are for `__init__`.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Scope::of(What::Autocast(None))).add_subclass(Self)
    }
}

/// A region of autocast as the calling thread is in now.
#[pyfunction]
fn _present_autocast() -> Scope {
    Scope::of(What::Autocast(Some(autocast::settings())))
}

fn randomness_of(name: &str) -> PyResult<Randomness> {
    match name {
        "error" => Ok(Randomness::Error),
        "same" => Ok(Randomness::Same),
        "different" => Ok(Randomness::Different),
        other => Err(PyValueError::new_err(format!(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got {other}"
        ))),
    }
}

/// A batch level inside those that are open on this thread; gives its number.
#[pyfunction]
fn _batch_level(size: usize, randomness: &str) -> PyResult<Scope> {
    Ok(Scope::of(What::Batch { size, randomness: randomness_of(randomness)?, private: false }))
}

/// As `_batch_level`, for a batch of gradients or tangents: the function runs once, and may be refused random numbers.
#[pyfunction]
#[pyo3(signature = (size, randomness = "same"))]
fn _private_level(size: usize, randomness: &str) -> PyResult<Scope> {
    Ok(Scope::of(What::Batch { size, randomness: randomness_of(randomness)?, private: true }))
}

/// Hides a batch level and those inside it from ops: the rule of a custom function runs there.
#[pyfunction]
fn _rule_of_level(level: usize) -> Scope {
    Scope::of(What::Rule { level })
}

/// A level of tangents inside those that are open on this thread; gives its number, by which alone it is found.
#[pyfunction]
fn _private_dual_level() -> Scope {
    Scope::of(What::Dual { public: false })
}

/// A transform that records what its function does; gives whether ops record outside. The function may write to what it
/// makes and to the tensors in `given`, or, with None, to any.
#[pyfunction]
fn _reversing(given: Option<Py<PyAny>>) -> Scope {
    Scope::of(What::Transform { begins: true, records: true, propagates: false, given })
}

/// As `_reversing`, of a transform that moves the arguments of its function.
#[pyfunction]
fn _pushing(given: Option<Py<PyAny>>) -> Scope {
    Scope::of(What::Transform { begins: true, records: false, propagates: true, given })
}

/// A time without inference mode, in which ops record if they do outside; gives whether they do.
#[pyfunction]
fn _out_of_inference() -> Scope {
    Scope::of(What::Transform { begins: false, records: false, propagates: false, given: None })
}

/// `watch(tensor)` is called before every write in place on this thread.
#[pyfunction]
fn _write_watch(watch: Py<PyAny>) -> Scope {
    Scope::of(What::WriteWatch(watch))
}

/// `object.clear()` is called at the end.
#[pyfunction]
fn _cleared(object: Py<PyAny>) -> Scope {
    Scope::of(What::Cleared(object))
}

/// Whether backward passes of this thread may use others.
#[pyfunction]
fn _is_multithreading_enabled() -> bool {
    mode::word() & SINGLE_THREADED == 0
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Scope>()?;
    m.add_class::<Recording>()?;
    m.add_class::<RecordingSwitch>()?;
    m.add_class::<InferenceMode>()?;
    m.add_class::<ForwardSwitch>()?;
    m.add_class::<GradLayoutSwitch>()?;
    m.add_class::<MultithreadingSwitch>()?;
    m.add_class::<Anomaly>()?;
    m.add_class::<AnomalySwitch>()?;
    m.add_class::<DetectNan>()?;
    m.add_class::<DualLevel>()?;
    m.add_class::<SavedHooks>()?;
    m.add_class::<NoSavedHooks>()?;
    m.add_class::<Autocast>()?;
    m.add_class::<Value>()?;
    m.add_class::<Current>()?;
    m.add_class::<RandomState>()?;
    m.add_class::<All>()?;
    for f in [
        wrap_pyfunction!(_present_autocast, m)?,
        wrap_pyfunction!(_batch_level, m)?,
        wrap_pyfunction!(_private_level, m)?,
        wrap_pyfunction!(_rule_of_level, m)?,
        wrap_pyfunction!(_private_dual_level, m)?,
        wrap_pyfunction!(_reversing, m)?,
        wrap_pyfunction!(_pushing, m)?,
        wrap_pyfunction!(_out_of_inference, m)?,
        wrap_pyfunction!(_write_watch, m)?,
        wrap_pyfunction!(_cleared, m)?,
        wrap_pyfunction!(_is_multithreading_enabled, m)?,
    ] {
        m.add_function(f)?;
    }
    Ok(())
}
