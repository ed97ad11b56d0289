//! Profiling sessions, for `autograd.profiler`: opened, closed, and what they noted as Python's own data.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use retrograd_engine::call_site::CallSite;
use retrograd_engine::profiler::{self, Event, Kind, Label, Options, Ranges, Recording};
use retrograd_engine::tensor::{Noted, Value};

use crate::anythread::AnyThread;
use crate::call::misfit;
use crate::convert;
use crate::errors::OrPy;

/// Two callables of Python's that a tool outside is told by.
struct Callables {
    push: AnyThread<PyAny>,
    pop: AnyThread<PyAny>,
}

impl Ranges for Callables {
    fn push(&self, text: &str) {
        Python::attach(|py| report(py, self.push.bind(py).call1((text,))));
    }
    fn pop(&self) {
        Python::attach(|py| report(py, self.pop.bind(py).call0()));
    }
}

/// What goes wrong in a tool is shown, and the program goes on.
fn report(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) {
    if let Err(e) = result {
        e.write_unraisable(py, None);
    }
}

/// Opens a session on this thread.
#[pyfunction]
fn _profiler_open(args: bool, memory: bool, stacks: bool) -> PyResult<()> {
    profiler::open(Options { args, memory, stacks, ranges: None }).or_py()
}

/// Opens a session on this thread that keeps nothing: `push` is called with the text of a range, `pop` at its end.
#[pyfunction]
fn _profiler_open_ranges(args: bool, push: Py<PyAny>, pop: Py<PyAny>) -> PyResult<()> {
    let ranges = Arc::new(Callables { push: AnyThread::new(push), pop: AnyThread::new(pop) });
    profiler::open(Options { args, ranges: Some(ranges), ..Options::default() }).or_py()
}

/// Closes the session of this thread; None if there is none.
#[pyfunction]
fn _profiler_close() -> Option<PyRecording> {
    profiler::close().map(PyRecording)
}

/// Whether a session is open on this thread.
#[pyfunction]
fn _profiler_enabled() -> bool {
    profiler::is_open()
}

/// `record_function` without its use as a decorator.
#[pyclass(name = "_RecordFunction", module = "retrograd._core", subclass, frozen)]
struct PyRecordFunction {
    name: Py<PyString>,
    args: Option<Py<PyString>>,
    /// What it began and has not ended: more than one if it was entered again before it was left.
    begun: Mutex<Vec<Option<Label>>>,
}

#[pymethods]
impl PyRecordFunction {
    #[new]
    #[pyo3(signature = (name, args = None))]
    fn new(name: &Bound<'_, PyAny>, args: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let text = |param, kind, given: &Bound<'_, PyAny>| match given.cast::<PyString>() {
            Ok(text) => Ok(text.clone().unbind()),
            Err(_) => Err(misfit("record_function", param, None, kind, given)),
        };
        Ok(Self {
            name: text("name", "str", name)?,
            args: args.map(|args| text("args", "str or None", args)).transpose()?,
            begun: Mutex::default(),
        })
    }
    /// The name.
    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }
    /// The text that traces show with it, or None.
    #[getter]
    fn args(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.args.as_ref().map(|args| args.clone_ref(py))
    }
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        if profiler::is_open() {
            let (py, this) = (slf.py(), slf.get());
            let args = this.args.as_ref().map(|args| args.bind(py).to_cow()).transpose()?;
            let label = profiler::label(&this.name.bind(py).to_cow()?, args.as_deref());
            this.begun.lock().push(label);
        } else if !slf.get().begun.lock().is_empty() {
            slf.get().begun.lock().push(None);
        }
        Ok(slf.clone())
    }
    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _error: &Bound<'_, PyAny>, _traceback: &Bound<'_, PyAny>) {
        let label = self.begun.lock().pop();
        if let Some(label) = label.flatten() {
            label.end();
        }
    }
}

/// What a session noted: plain records, which become Python's own data when they are asked for.
///
/// >>> from retrograd import _core
/// >>> _core._profiler_open(False, True, False)
/// >>> x = rg.ones(2)
/// >>> recording = _core._profiler_close()
/// >>> len(recording), [event[:2] for event in recording.events(0, 10)]
/// (1, [('aten::ones', 'op')])
/// >>> [change[1:3] for change in recording.changes()]
/// [(8, 8)]
#[pyclass(name = "_ProfilerRecording", module = "retrograd._core", frozen)]
struct PyRecording(Recording);

#[pymethods]
impl PyRecording {
    fn __len__(&self) -> usize {
        self.0.events.len()
    }
    /// The number of the session's thread, the number of the first event, and when the session began and ended (in
    /// nanoseconds).
    #[getter]
    fn frame(&self) -> (u32, u64, u64, u64) {
        (self.0.thread, self.0.first_id, self.0.start, self.0.end)
    }
    /// The events from `start` on, at most `count`, each a tuple: name, kind, start and end in nanoseconds, sequence
    /// number, thread of the forward, thread of the end or 0, bytes, place, arguments, stack, what a label was given.
    fn events<'py>(&self, py: Python<'py>, start: usize, count: usize) -> PyResult<Bound<'py, PyList>> {
        let all = &self.0.events;
        let end = start.saturating_add(count).min(all.len());
        let mut places = HashMap::new();
        let rows = (start.min(end)..end).map(|i| self.row(py, i, &all[i], &mut places));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }
    /// Memory that was made or freed: time, bytes, bytes in all, address, index of the event, place.
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut places = HashMap::new();
        let rows = self
            .0
            .changes
            .iter()
            .map(|c| Ok((c.at, c.bytes, c.total, c.address, c.event, place(py, c.site, &mut places)?)));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }
}

impl PyRecording {
    fn row<'py>(&self, py: Python<'py>, i: usize, e: &Event, places: &mut Places) -> PyResult<Bound<'py, PyTuple>> {
        let kind = match e.kind {
            Kind::Op | Kind::InPlaceOp => "op",
            Kind::Function => "function",
            Kind::Evaluation => "evaluation",
            Kind::Rule => "rule",
            Kind::Label => "label",
            Kind::Memory => "memory",
        };
        let args = self.0.args(e).iter().map(|(name, arg)| self::arg(py, name, arg)).collect::<PyResult<Vec<_>>>()?;
        let stack = self.0.stack(e).iter().map(|&site| place(py, site, places)).collect::<PyResult<Vec<_>>>()?;
        (
            PyString::intern(py, &self.0.name(e)),
            kind,
            (e.start, e.end),
            e.sequence_nr,
            e.forward_thread,
            e.ended_on,
            e.bytes,
            place(py, e.site, places)?,
            args,
            stack,
            self.0.label_args(i),
        )
            .into_pyobject(py)
    }
}

type Places = HashMap<u64, Option<Py<PyTuple>>>;

/// A place as file, line and function; None if it is not known.
fn place(py: Python<'_>, site: CallSite, places: &mut Places) -> PyResult<Option<Py<PyTuple>>> {
    if let Some(known) = places.get(&site.0) {
        return Ok(known.as_ref().map(|p| p.clone_ref(py)));
    }
    let found = match site.location() {
        Some(at) => Some((at.file, at.line, at.function, at.text).into_pyobject(py)?.unbind()),
        None => None,
    };
    places.insert(site.0, found.as_ref().map(|p| p.clone_ref(py)));
    Ok(found)
}

/// An argument: its name, sizes, strides, dtype, and value, of which those are None that it has not.
fn arg<'py>(py: Python<'py>, name: &str, arg: &Noted) -> PyResult<Bound<'py, PyTuple>> {
    match arg {
        Noted::Tensor { sizes, strides, dtype, .. } => {
            (name, Some(sizes.to_vec()), Some(strides.to_vec()), Some(dtype.name()), py.None()).into_pyobject(py)
        }
        Noted::Value(v) => {
            let value = match v {
                Value::Ints(v) => PyList::new(py, v)?.into_any(),
                Value::OpenInts(v) => PyList::new(py, v)?.into_any(),
                Value::Floats(v) => PyList::new(py, v)?.into_any(),
                other => convert::object(py, ("", name), other.clone())?,
            };
            (name, py.None(), py.None(), py.None(), value).into_pyobject(py)
        }
        Noted::Other => (name, py.None(), py.None(), py.None(), py.None()).into_pyobject(py),
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyRecordFunction>()?;
    m.add_class::<PyRecording>()?;
    m.add_function(wrap_pyfunction!(_profiler_open, m)?)?;
    m.add_function(wrap_pyfunction!(_profiler_open_ranges, m)?)?;
    m.add_function(wrap_pyfunction!(_profiler_close, m)?)?;
    m.add_function(wrap_pyfunction!(_profiler_enabled, m)?)
}
