//! Who may take over calls: whether there are subclasses at all, and what each thread has switched on.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use retrograd_engine::kernels::thread_values::ThreadValue;

/// How many modes are on, over all threads, twice; and one if objects of subclasses were made.
static POSSIBLE: AtomicUsize = AtomicUsize::new(0);
const SUBCLASS: usize = 1;
const MODE: usize = 2;

/// Whether a tensor or a mode may take over calls. Everything else is asked only after this.
#[inline]
pub fn possible() -> bool {
    POSSIBLE.load(Ordering::Relaxed) != 0
}

pub fn note_subclass() {
    POSSIBLE.fetch_or(SUBCLASS, Ordering::Relaxed);
}

/// Who is asked on a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Modes and arguments.
    On,
    /// Arguments are not.
    ModesOnly,
    /// Nobody is.
    Off,
}

#[derive(Default)]
struct Modes(RefCell<Vec<Py<PyAny>>>);

impl Drop for Modes {
    /// A thread that ends with modes on.
    fn drop(&mut self) {
        POSSIBLE.fetch_sub(MODE * self.0.get_mut().len(), Ordering::Relaxed);
    }
}

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::On) };
}
/// The innermost one last.
static MODES: ThreadValue<Modes> = ThreadValue::new(Modes::default);

pub fn get() -> State {
    STATE.get()
}

/// Another state until it is dropped.
pub struct Guard(State);

impl Guard {
    /// A thread that asks fewer still does.
    pub fn new(state: State) -> Self {
        let old = STATE.get();
        if old == State::On {
            STATE.set(state);
        }
        Self(old)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        STATE.set(self.0);
    }
}

fn push(mode: Py<PyAny>) {
    POSSIBLE.fetch_add(MODE, Ordering::Relaxed);
    MODES.with(|modes| modes.0.borrow_mut().push(mode));
}

fn pop() -> Option<Py<PyAny>> {
    let mode = MODES.with(|modes| modes.0.borrow_mut().pop())?;
    POSSIBLE.fetch_sub(MODE, Ordering::Relaxed);
    Some(mode)
}

/// Whether the thread has a mode that is asked.
pub fn has_mode() -> bool {
    possible() && get() != State::Off && MODES.with(|modes| !modes.0.borrow().is_empty())
}

/// The innermost mode.
pub fn top(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    MODES.with(|modes| modes.0.borrow().last().map(|mode| mode.bind(py).clone()))
}

/// The innermost mode while it is asked: functions that it calls ask the next one.
pub struct Popped<'py>(Bound<'py, PyAny>);

impl<'py> Popped<'py> {
    pub fn new(py: Python<'py>) -> Option<Self> {
        if !has_mode() {
            return None;
        }
        pop().map(|mode| Self(mode.into_bound(py)))
    }
    pub fn mode(&self) -> &Bound<'py, PyAny> {
        &self.0
    }
}

impl Drop for Popped<'_> {
    fn drop(&mut self) {
        push(self.0.clone().unbind());
    }
}

/// What a thread knows, for one that continues in its place.
pub struct Known(State, Vec<Py<PyAny>>);

pub fn known(py: Python<'_>) -> Known {
    Known(get(), MODES.with(|modes| modes.0.borrow().iter().map(|mode| mode.clone_ref(py)).collect()))
}

pub fn know(known: Known) {
    STATE.set(known.0);
    known.1.into_iter().for_each(push);
}

/// Puts a mode on top of the thread's.
#[pyfunction]
fn _push_on_torch_function_stack(mode: Py<PyAny>) {
    push(mode);
}

/// Takes the innermost mode off.
#[pyfunction]
fn _pop_torch_function_stack() -> PyResult<Py<PyAny>> {
    pop().ok_or_else(|| PyRuntimeError::new_err("there is no mode to pop: the stack of function modes is empty"))
}

/// How many modes the thread has.
#[pyfunction]
fn _len_torch_function_stack() -> usize {
    MODES.with(|modes| modes.0.borrow().len())
}

/// The mode at a position, counted from the outermost one.
#[pyfunction]
fn _get_function_stack_at(py: Python<'_>, level: usize) -> PyResult<Py<PyAny>> {
    let mode = MODES.with(|modes| modes.0.borrow().get(level).map(|mode| mode.clone_ref(py)));
    mode.ok_or_else(|| PyIndexError::new_err(format!("there is no function mode {level}")))
}

/// Whether modes are asked, and there is one.
#[pyfunction]
fn _is_torch_function_mode_enabled() -> bool {
    has_mode()
}

/// Whether arguments are asked.
#[pyfunction]
fn _is_torch_function_enabled() -> bool {
    get() == State::On
}

/// Whether a tensor or a mode may be asked: a fast no.
#[pyfunction]
fn _torch_function_possible() -> bool {
    possible()
}

/// Who is asked: 0 modes and arguments, 1 modes, 2 nobody.
#[pyfunction]
fn _torch_function_state() -> u8 {
    get() as u8
}

/// Sets who is asked; see `_torch_function_state`.
#[pyfunction]
fn _set_torch_function_state(state: u8) {
    STATE.set(match state {
        0 => State::On,
        1 => State::ModesOnly,
        _ => State::Off,
    });
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_push_on_torch_function_stack, m)?)?;
    m.add_function(wrap_pyfunction!(_pop_torch_function_stack, m)?)?;
    m.add_function(wrap_pyfunction!(_len_torch_function_stack, m)?)?;
    m.add_function(wrap_pyfunction!(_get_function_stack_at, m)?)?;
    m.add_function(wrap_pyfunction!(_is_torch_function_mode_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(_is_torch_function_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(_torch_function_possible, m)?)?;
    m.add_function(wrap_pyfunction!(_torch_function_state, m)?)?;
    m.add_function(wrap_pyfunction!(_set_torch_function_state, m)?)
}
