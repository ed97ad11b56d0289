//! `retrograd.compile`: calls of Python functions that are recorded, and replays of them.
//!
//! The package decides what to record; what happens at every call is here: the arguments are taken apart, what the
//! function reads is compared with what it read, and the results are put together.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use retrograd_engine::compile::{self, OtherNumber, Program, Rates, Recording, Replayed, Times, Update};
use retrograd_engine::optim::{Adam, Sgd};
use retrograd_engine::{Scalar, Tensor};
use smallvec::SmallVec;

use crate::call_site::{DETACH_ABOVE, attached, detached};
use crate::errors::OrPy;
use crate::wrap::{unwrap, wrap};

/// Where tensors are in what a function takes or returns, and all else that is there.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    tensors: SmallVec<[Tensor; 8]>,
}

enum Node {
    Tensor,
    /// A tuple, a list or a dict of so many entries, which follow; those of a dict with their keys.
    Tuple(usize),
    List(usize),
    Dict(usize),
    /// What has no tensors in it.
    Other(Py<PyAny>),
}

impl Tree {
    fn add(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(t) = unwrap(object) {
            self.nodes.push(Node::Tensor);
            self.tensors.push(t.clone());
        } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            self.nodes.push(Node::Tuple(tuple.len()));
            for entry in tuple.iter() {
                self.add(&entry)?;
            }
        } else if let Ok(list) = object.cast_exact::<PyList>() {
            self.nodes.push(Node::List(list.len()));
            for entry in list.iter() {
                self.add(&entry)?;
            }
        } else if let Ok(dict) = object.cast_exact::<PyDict>() {
            self.nodes.push(Node::Dict(dict.len()));
            for (key, entry) in dict.iter() {
                self.nodes.push(Node::Other(key.unbind()));
                self.add(&entry)?;
            }
        } else {
            self.nodes.push(Node::Other(object.clone().unbind()));
        }
        Ok(())
    }

    fn of_call(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut tree = Self::default();
        for arg in args.iter() {
            tree.add(&arg)?;
        }
        if let Some(kwargs) = kwargs.filter(|kwargs| !kwargs.is_empty()) {
            tree.add(kwargs.as_any())?;
        }
        Ok(tree)
    }

    /// Whether tensors and all else are in the same places; numbers at `free` may be others.
    fn fits(&self, py: Python<'_>, other: &Self, free: &[usize]) -> bool {
        self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).enumerate().all(|(i, pair)| match pair {
                (Node::Tensor, Node::Tensor) => true,
                (Node::Tuple(a), Node::Tuple(b)) | (Node::List(a), Node::List(b)) | (Node::Dict(a), Node::Dict(b)) => {
                    a == b
                }
                (Node::Other(a), Node::Other(b)) => {
                    let (a, b) = (a.bind(py), b.bind(py));
                    let are_numbers = || number(a).is_some() && number(b).is_some();
                    same(a, b) || free.contains(&i) && a.get_type().is(b.get_type()) && are_numbers()
                }
                _ => false,
            })
    }
}

/// What the nodes stand for, with these tensors in the places.
fn build<'py>(
    py: Python<'py>,
    nodes: &mut std::slice::Iter<'_, Node>,
    tensors: &mut std::vec::IntoIter<Tensor>,
) -> PyResult<Bound<'py, PyAny>> {
    let missing = || PyTypeError::new_err("a result is not where it was");
    match nodes.next().ok_or_else(missing)? {
        Node::Tensor => wrap(py, tensors.next().ok_or_else(missing)?),
        Node::Tuple(n) => {
            let entries: Vec<_> = (0..*n).map(|_| build(py, nodes, tensors)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, entries)?.into_any())
        }
        Node::List(n) => {
            let entries: Vec<_> = (0..*n).map(|_| build(py, nodes, tensors)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, entries)?.into_any())
        }
        Node::Dict(n) => {
            let dict = PyDict::new(py);
            for _ in 0..*n {
                let key = build(py, nodes, tensors)?;
                dict.set_item(key, build(py, nodes, tensors)?)?;
            }
            Ok(dict.into_any())
        }
        Node::Other(object) => Ok(object.bind(py).clone()),
    }
}

/// Whether an object is what it was: itself, or an equal number or string of the same type.
fn same(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    if a.is(b) {
        return true;
    }
    let plain = a.is_instance_of::<PyFloat>() || a.is_instance_of::<PyInt>() || a.is_instance_of::<PyString>();
    if !plain || !a.get_type().is(b.get_type()) {
        return false;
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
        return a.value().to_bits() == b.value().to_bits();
    }
    a.eq(b).unwrap_or(false)
}

/// A place that a function reads, with what it found there.
struct Guard {
    /// A dict, or a cell of a closure.
    holder: Py<PyAny>,
    /// Of the dict; none for a cell.
    key: Option<Py<PyAny>>,
    /// None if there was nothing.
    found: Option<Py<PyAny>>,
    /// How many entries the dict or list that was found had.
    entries: Option<usize>,
}

impl Guard {
    fn now<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let holder = self.holder.bind(py);
        let Some(key) = &self.key else { return holder.getattr(intern!(py, "cell_contents")).ok() };
        if let Ok(dict) = holder.cast::<PyDict>() {
            return dict.get_item(key.bind(py)).ok().flatten();
        }
        holder.get_item(key.bind(py)).ok()
    }
    fn holds(&self, py: Python<'_>) -> bool {
        match (self.now(py), &self.found) {
            (None, None) => true,
            (Some(now), Some(found)) => {
                same(&now, found.bind(py)) && self.entries.is_none_or(|n| now.len().is_ok_and(|now| now == n))
            }
            _ => false,
        }
    }
}

/// Where a number is that each replay is given.
#[derive(Clone)]
enum NumberAt {
    /// This node of the arguments.
    Argument(usize),
    /// What this guard finds.
    Guarded(usize),
}

/// The plain number that an object is.
fn number(x: &Bound<'_, PyAny>) -> Option<Scalar> {
    if x.is_instance_of::<PyBool>() {
        return None;
    }
    if let Ok(x) = x.cast_exact::<PyFloat>() {
        return Some(Scalar::Float(x.value()));
    }
    if x.is_instance_of::<PyInt>() {
        return x.extract::<i64>().ok().map(Scalar::Int);
    }
    None
}

/// One call of a function: what it took, read, did and returned.
#[pyclass(frozen, module = "retrograd._core")]
struct _RecordedCall {
    inner: Mutex<Option<Recording>>,
    arguments: Tree,
    result: Tree,
    guards: Mutex<Vec<Guard>>,
}

type Objects<'py> = Vec<Bound<'py, PyAny>>;

/// Why a call cannot be replayed, and the line.
type Refused = (String, Option<String>);

/// Whether calls can be recorded and replayed in the modes of this thread.
#[pyfunction]
fn _can_record() -> bool {
    compile::modes_allow()
}

/// Whether a call is being recorded on this thread.
#[pyfunction]
fn _is_recording() -> bool {
    compile::is_recording()
}

/// Begins to record a call.
#[pyfunction]
fn _record_begin(args: &Bound<'_, PyTuple>, kwargs: &Bound<'_, PyDict>) -> PyResult<()> {
    compile::begin(&Tree::of_call(args, Some(kwargs))?.tensors);
    Ok(())
}

/// Ends the recording of a call that has returned: the call, or why it cannot be replayed.
#[pyfunction]
fn _record_end(
    args: &Bound<'_, PyTuple>,
    kwargs: &Bound<'_, PyDict>,
    result: &Bound<'_, PyAny>,
) -> PyResult<(Option<_RecordedCall>, Option<Refused>)> {
    let mut tree = Tree::default();
    let (arguments, parted) = (Tree::of_call(args, Some(kwargs)), tree.add(result));
    let recording = compile::end(&tree.tensors);
    let (arguments, ()) = (arguments?, parted?);
    Ok(match recording {
        Ok(recording) => {
            let inner = Mutex::new(Some(recording));
            (Some(_RecordedCall { inner, arguments, result: tree, guards: Mutex::default() }), None)
        }
        Err(refusal) => (None, Some((refusal.why, refusal.site.location().map(|l| l.to_string())))),
    })
}

/// Ends the recording of a call that raised.
#[pyfunction]
fn _record_abandon() {
    compile::abandon();
}

/// Notes that the call that is being recorded cannot be replayed.
#[pyfunction]
fn _record_refuse(why: String) {
    compile::refuse(|| why);
}

#[pymethods]
impl _RecordedCall {
    /// Notes a place that the function has read.
    #[pyo3(signature = (holder, key, found, entries))]
    fn _guard(&self, holder: Py<PyAny>, key: Option<Py<PyAny>>, found: Option<Py<PyAny>>, entries: Option<usize>) {
        self.guards.lock().push(Guard { holder, key, found, entries });
    }
    /// Whether another call was given arguments of the same kind.
    fn _is_like(&self, py: Python<'_>, other: &Self, with_other_numbers: bool) -> bool {
        let (a, b) = (self.inner.lock(), other.inner.lock());
        let free: Vec<usize> = if with_other_numbers { (0..self.arguments.nodes.len()).collect() } else { Vec::new() };
        let alike = a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a.has_inputs_of(b));
        drop((a, b));
        alike && self.arguments.fits(py, &other.arguments, &free) && self.has_switches_of(py, other)
    }
    /// The program that this call and an earlier one have in common, or how they differ. It takes what was recorded.
    fn _program(&self, py: Python<'_>, before: &Self) -> PyResult<(Option<_Replay>, Option<String>)> {
        let recording = {
            let (now, earlier) = (self.inner.lock(), before.inner.lock());
            let (Some(now), Some(earlier)) = (now.as_ref(), earlier.as_ref()) else {
                return Ok((None, Some("a recording was used already".into())));
            };
            now.differs(earlier)
        };
        let others = match recording {
            Ok(others) => others,
            Err(how) => return Ok((None, Some(how))),
        };
        if let Some(how) = self.other_results(py, before) {
            return Ok((None, Some(how)));
        }
        let (mut numbers, mut free) = (Vec::new(), Vec::new());
        let (guards, earlier) = (self.guards.lock(), before.guards.lock());
        for other in &others {
            match self.place_of(py, before, other, &guards, &earlier) {
                Some(at) => {
                    if let NumberAt::Argument(node) = at {
                        free.push(node);
                    }
                    numbers.push(at);
                }
                None => {
                    return Ok((
                        None,
                        Some(format!(
                            "an operand was {:?}, and then {:?}, which is no argument",
                            other.before, other.now
                        )),
                    ));
                }
            }
        }
        // What changed and made no difference is no reason to record again.
        let is_given = |i: usize| numbers.iter().any(|at| matches!(at, NumberAt::Guarded(j) if *j == i));
        let kept: Vec<usize> = (0..guards.len())
            .filter(|&i| {
                let was = earlier.iter().find(|g| g.is_at(py, &guards[i]));
                is_given(i) || was.is_none_or(|was| was.found_same(py, &guards[i]))
            })
            .collect();
        drop((guards, earlier));
        let Some(recording) = self.inner.lock().take() else {
            return Ok((None, Some("a recording was used already".into())));
        };
        let guards = std::mem::take(&mut *self.guards.lock());
        let place = |i: usize| kept.iter().position(|&k| k == i).unwrap_or(usize::MAX);
        let numbers: Vec<NumberAt> = numbers
            .into_iter()
            .map(|at| if let NumberAt::Guarded(i) = at { NumberAt::Guarded(place(i)) } else { at })
            .collect();
        let guards: Vec<Guard> =
            guards.into_iter().enumerate().filter(|(i, _)| kept.contains(i)).map(|(_, guard)| guard).collect();
        let program = Program::new(recording, &others).or_py()?;
        Ok((Some(_Replay::new(py, program, self, guards, numbers, free)), None))
    }
}

impl Guard {
    fn is_at(&self, py: Python<'_>, other: &Self) -> bool {
        let key = match (&self.key, &other.key) {
            (None, None) => true,
            (Some(a), Some(b)) => same(a.bind(py), b.bind(py)),
            _ => false,
        };
        key && self.holder.is(&other.holder)
    }
    fn found_same(&self, py: Python<'_>, other: &Self) -> bool {
        match (&self.found, &other.found) {
            (None, None) => true,
            (Some(a), Some(b)) => same(a.bind(py), b.bind(py)),
            _ => false,
        }
    }
}

impl _RecordedCall {
    /// Whether bools and strings that both calls have read, such as `training`, are the same: others make another kind
    /// of call.
    fn has_switches_of(&self, py: Python<'_>, other: &Self) -> bool {
        let (guards, others) = (self.guards.lock(), other.guards.lock());
        let is_switch =
            |x: &Py<PyAny>| x.bind(py).is_instance_of::<PyBool>() || x.bind(py).is_instance_of::<PyString>();
        guards.iter().filter(|guard| guard.found.as_ref().is_some_and(is_switch)).all(|guard| {
            others.iter().find(|other| other.is_at(py, guard)).is_none_or(|other| other.found_same(py, guard))
        })
    }

    /// How the results differ in what is no tensor.
    fn other_results(&self, py: Python<'_>, before: &Self) -> Option<String> {
        (!self.result.fits(py, &before.result, &[])).then(|| "it returned other values that are no tensors".into())
    }

    /// Where a number comes from that was another one at the call before.
    fn place_of(
        &self,
        py: Python<'_>,
        before: &Self,
        other: &OtherNumber,
        guards: &[Guard],
        earlier: &[Guard],
    ) -> Option<NumberAt> {
        let matches = |now: &Bound<'_, PyAny>, was: &Bound<'_, PyAny>| {
            number(was).zip(number(now)).is_some_and(|(was, now)| other.is(was, now))
        };
        for (i, (now, was)) in self.arguments.nodes.iter().zip(&before.arguments.nodes).enumerate() {
            if let (Node::Other(now), Node::Other(was)) = (now, was)
                && matches(now.bind(py), was.bind(py))
            {
                return Some(NumberAt::Argument(i));
            }
        }
        guards.iter().enumerate().find_map(|(i, guard)| {
            let was = earlier.iter().find(|g| g.is_at(py, guard))?;
            let (now, was) = (guard.found.as_ref()?.bind(py), was.found.as_ref()?.bind(py));
            matches(now, was).then_some(NumberAt::Guarded(i))
        })
    }
}

/// A program with what it holds for, and what it returns.
#[pyclass(frozen, module = "retrograd._core")]
struct _Replay {
    program: Program,
    arguments: Tree,
    guards: Vec<Guard>,
    numbers: Vec<NumberAt>,
    /// Nodes of the arguments that are such numbers.
    free: Vec<usize>,
    result: Vec<Node>,
    /// Whether the interpreter is given up meanwhile.
    detaches: bool,
}

impl _Replay {
    fn new(
        py: Python<'_>,
        program: Program,
        call: &_RecordedCall,
        guards: Vec<Guard>,
        numbers: Vec<NumberAt>,
        free: Vec<usize>,
    ) -> Self {
        let copied = |nodes: &[Node]| nodes.iter().map(|node| node.copied(py)).collect();
        let arguments = Tree { nodes: copied(&call.arguments.nodes), tensors: SmallVec::new() };
        let detaches = program.elements() > DETACH_ABOVE;
        Self { program, arguments, guards, numbers, free, result: copied(&call.result.nodes), detaches }
    }

    /// The result, if the call is like the recorded one; that of `function` if it is being replayed.
    fn call<'py>(
        &self,
        call: &Tree,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        function: &Bound<'py, PyAny>,
        times: Option<&mut Times>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = args.py();
        if !call.fits(py, &self.arguments, &self.free) {
            return Ok(None);
        }
        let given = |i: usize| self.numbers.iter().any(|at| matches!(at, NumberAt::Guarded(j) if *j == i));
        if !self.guards.iter().enumerate().all(|(i, guard)| given(i) || guard.holds(py)) {
            return Ok(None);
        }
        let mut numbers: SmallVec<[Scalar; 4]> = SmallVec::new();
        for at in &self.numbers {
            let found = match at {
                NumberAt::Argument(i) => match &call.nodes[*i] {
                    Node::Other(x) => number(x.bind(py)),
                    _ => None,
                },
                NumberAt::Guarded(i) => self.guards.get(*i).and_then(|g| g.now(py)).and_then(|x| number(&x)),
            };
            match found {
                Some(x) => numbers.push(x),
                None => return Ok(None),
            }
        }
        let run = || match times {
            None => self.program.replay(&call.tensors, &numbers),
            Some(times) => self.program.timed(&call.tensors, &numbers, times),
        };
        let replayed = if self.detaches { detached(py, run) } else { run() };
        match replayed.or_py()? {
            Replayed::Other => Ok(None),
            Replayed::Busy => function.call(args, kwargs).map(Some),
            Replayed::Done(tensors) => build(py, &mut self.result.iter(), &mut tensors.into_iter()).map(Some),
        }
    }
}

impl Node {
    fn copied(&self, py: Python<'_>) -> Self {
        match self {
            Node::Tensor => Node::Tensor,
            Node::Tuple(n) => Node::Tuple(*n),
            Node::List(n) => Node::List(*n),
            Node::Dict(n) => Node::Dict(*n),
            Node::Other(object) => Node::Other(object.clone_ref(py)),
        }
    }
}

#[pymethods]
impl _Replay {
    /// Captured tensors that it writes to, and captured leaves whose gradients it changes.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<(Objects<'py>, Objects<'py>)> {
        let all = |xs: Vec<Tensor>| xs.into_iter().map(|x| wrap(py, x)).collect::<PyResult<Vec<_>>>();
        Ok((all(self.program.written())?, all(self.program.leaves())?))
    }
    /// The result of a call, if that is like the recorded one.
    #[pyo3(signature = (function, args, kwargs))]
    fn _call<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<(Bound<'py, PyAny>,)>> {
        let kwargs = Some(kwargs);
        Ok(self.call(&Tree::of_call(args, kwargs)?, args, kwargs, function, None)?.map(|result| (result,)))
    }
    /// The steps as text, after a title, with their times in a call, if that is like the recorded one.
    #[pyo3(signature = (title, function, args, kwargs))]
    fn _timed(
        &self,
        title: &str,
        function: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        kwargs: &Bound<'_, PyDict>,
    ) -> PyResult<Option<String>> {
        let (kwargs, mut times) = (Some(kwargs), Times::default());
        let replayed = self.call(&Tree::of_call(args, kwargs)?, args, kwargs, function, Some(&mut times))?;
        Ok(replayed.map(|_| self.program.explain(title, Some(&times))))
    }
    /// The steps as text, after a title.
    fn _explain(&self, title: &str) -> String {
        self.program.explain(title, None)
    }
}

/// Replays of a function; the package has what calls them, and what is called where none fits.
#[pyclass(frozen, module = "retrograd._core", weakref, dict, subclass)]
struct _Replays {
    all: Mutex<Vec<Py<_Replay>>>,
    function: Py<PyAny>,
}

#[pymethods]
impl _Replays {
    #[new]
    #[pyo3(signature = (function, **_options))]
    fn new(function: Py<PyAny>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self { all: Mutex::default(), function }
    }
    fn _add(&self, replay: Py<_Replay>) {
        self.all.lock().push(replay);
    }
    fn _clear(&self) {
        let all = std::mem::take(&mut *self.all.lock());
        drop(all);
    }
    fn _all(&self, py: Python<'_>) -> Vec<Py<_Replay>> {
        self.all.lock().iter().map(|r| r.clone_ref(py)).collect()
    }
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let me = slf.get();
        if !me.all.lock().is_empty() && compile::modes_allow() {
            let call = Tree::of_call(args, kwargs)?;
            let mut i = 0;
            loop {
                let Some(replay) = me.all.lock().get(i).map(|r| r.clone_ref(py)) else { break };
                if let Some(result) = replay.get().call(&call, args, kwargs, me.function.bind(py), None)? {
                    return Ok(result);
                }
                i += 1;
            }
        }
        slf.call_method(intern!(py, "_miss"), args, kwargs)
    }
    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.function)?;
        // Whoever holds it is not visiting.
        let Some(all) = self.all.try_lock() else { return Ok(()) };
        all.iter().try_for_each(|r| visit.call(r))
    }
    fn __clear__(&self) {
        self._clear();
    }
}

/// The numbers of an optimizer's step, in the dict of a group of parameters.
struct Group {
    group: Py<PyDict>,
    adam: bool,
    decoupled: bool,
}

impl Group {
    fn entry<'py>(&self, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
        self.group.bind(name.py()).get_item(name).ok().flatten()
    }
    fn float(&self, name: &Bound<'_, PyString>) -> Option<f64> {
        crate::optim::number(&self.entry(name)?)
    }
    fn is(&self, name: &Bound<'_, PyString>) -> bool {
        self.entry(name).is_some_and(|x| x.is_truthy().unwrap_or(false))
    }
}

impl Rates for Group {
    fn now(&self) -> Option<Update> {
        attached(|py| {
            if self.adam {
                let betas = self.entry(intern!(py, "betas"))?;
                let beta = |i: usize| betas.get_item(i).ok().and_then(|x| crate::optim::number(&x));
                return Some(Update::Adam(Adam {
                    lr: self.float(intern!(py, "lr"))?,
                    beta1: beta(0)?,
                    beta2: beta(1)?,
                    eps: self.float(intern!(py, "eps"))?,
                    weight_decay: self.float(intern!(py, "weight_decay"))?,
                    decoupled_weight_decay: self.decoupled,
                    maximize: self.is(intern!(py, "maximize")),
                }));
            }
            Some(Update::Sgd(Sgd {
                lr: self.float(intern!(py, "lr"))?,
                momentum: self.float(intern!(py, "momentum"))?,
                dampening: self.float(intern!(py, "dampening"))?,
                weight_decay: self.float(intern!(py, "weight_decay"))?,
                nesterov: self.is(intern!(py, "nesterov")),
                maximize: self.is(intern!(py, "maximize")),
            }))
        })
    }
}

/// From now on, steps of optimizers take their numbers from this group; from nowhere if it is None.
#[pyfunction]
#[pyo3(signature = (group, adam=false, decoupled=false))]
fn _record_group(group: Option<Py<PyDict>>, adam: bool, decoupled: bool) {
    compile::set_rates(group.map(|group| Arc::new(Group { group, adam, decoupled }) as Arc<dyn Rates>));
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<_RecordedCall>()?;
    m.add_class::<_Replay>()?;
    m.add_class::<_Replays>()?;
    m.add_function(wrap_pyfunction!(_can_record, m)?)?;
    m.add_function(wrap_pyfunction!(_is_recording, m)?)?;
    m.add_function(wrap_pyfunction!(_record_begin, m)?)?;
    m.add_function(wrap_pyfunction!(_record_end, m)?)?;
    m.add_function(wrap_pyfunction!(_record_abandon, m)?)?;
    m.add_function(wrap_pyfunction!(_record_refuse, m)?)?;
    m.add_function(wrap_pyfunction!(_record_group, m)?)
}
