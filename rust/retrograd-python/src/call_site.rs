//! Lines of Python programs, for errors that name them: stored as a number for code object and instruction, and turned
//! into text when an error is made.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{Py, ffi, intern};
use retrograd_engine::call_site::{SourceLocation, SourceLocations};

/// Code objects with their numbers, which are never given twice.
///
/// A code object is kept alive here, so that its address stays its own and an error finds its lines. A program has as
/// many as it has functions; but `exec` makes ever more. So from time to time those that nobody else holds are let go,
/// except for the newest; what they noted is then of an unknown place.
#[derive(Default)]
struct Codes {
    numbers: HashMap<usize, u32>,
    /// By number, in ascending order.
    codes: VecDeque<(u32, Py<PyAny>)>,
    /// The number given last, without [`OURS`].
    last: u32,
    /// How many code objects there may be before some are let go.
    limit: usize,
}

/// How many code objects are kept in any case, and how many of those that nobody else holds.
const FEWEST_CODES: usize = 1 << 12;
const UNHELD_CODES: usize = 1 << 10;
/// More than this are not kept: the oldest go.
const MOST_CODES: usize = 1 << 17;

/// Grows when code objects are let go: addresses noted before may be of others now.
static GENERATION: AtomicU32 = AtomicU32::new(0);

impl Codes {
    /// Lets go of code objects if there are too many; the caller drops them, without the lock.
    fn thinned(&mut self) -> Vec<Py<PyAny>> {
        if self.codes.len() < self.limit.max(FEWEST_CODES) {
            return Vec::new();
        }
        let newest = self.codes.len() - UNHELD_CODES;
        let too_many = self.codes.len().saturating_sub(MOST_CODES);
        let mut gone = Vec::new();
        for (at, (number, code)) in std::mem::take(&mut self.codes).into_iter().enumerate() {
            // SAFETY: the interpreter is held by the caller, and the object is alive.
            let held = unsafe { ffi::Py_REFCNT(code.as_ptr()) } > 1;
            if at >= newest || (held && at >= too_many) {
                self.codes.push_back((number, code));
            } else {
                self.numbers.remove(&(code.as_ptr() as usize));
                gone.push(code);
            }
        }
        self.limit = (2 * self.codes.len()).min(MOST_CODES + UNHELD_CODES);
        GENERATION.fetch_add(1, Ordering::Relaxed);
        gone
    }
}

/// In a code's number: it belongs to this package, and it is its caller's line that counts.
const OURS: u32 = 1 << 31;
/// In the lower half: a line number, not an instruction.
const IS_LINE: u32 = 1 << 31;

static CODES: Mutex<Option<Codes>> = Mutex::new(None);

/// The interpreter is held by this thread: ask it.
const LIVE: u64 = 0;
/// The thread has not been looked up before.
const UNASKED: u64 = u64::MAX;
/// No place is known.
const NOWHERE: u64 = u64::MAX - 1;

struct Thread {
    /// What [`SourceLocations::here`] answers, or one of the constants above.
    answer: Cell<u64>,
    /// The code object of the last lookup, its number, and the generation in which it had the number.
    last: Cell<(usize, u32, u32)>,
}

thread_local! {
    static THREAD: Thread = const { Thread { answer: Cell::new(UNASKED), last: Cell::new((0, 0, 0)) } };
}

/// Puts an answer back when dropped.
struct Put(u64);

impl Put {
    fn replacing(answer: u64) -> Self {
        Self(THREAD.with(|t| t.answer.replace(answer)))
    }
}

impl Drop for Put {
    fn drop(&mut self) {
        THREAD.with(|t| t.answer.set(self.0));
    }
}

/// Elements above which an op gives up the interpreter while it runs.
pub const DETACH_ABOVE: usize = 1 << 16;

/// Runs `f` without the interpreter. The location of everything that `f` does is where it was released.
pub fn detached<R: Send>(py: Python<'_>, f: impl FnOnce() -> R + Send) -> R {
    detached_at(py, here(), f)
}

/// As [`detached`], for what is called at another place.
pub fn detached_at<R: Send>(py: Python<'_>, here: u64, f: impl FnOnce() -> R + Send) -> R {
    placed_at(here, || py.detach(f))
}

/// Runs `f`, which does much at the place where it is called: the place is looked up once.
pub fn placed<R>(f: impl FnOnce() -> R) -> R {
    placed_at(here(), f)
}

fn placed_at<R>(here: u64, f: impl FnOnce() -> R) -> R {
    let _put = Put::replacing(if here == 0 { NOWHERE } else { here });
    f()
}

/// The place of what this thread does; zero if none is known.
pub fn here() -> u64 {
    PythonPlaces.here()
}

/// Runs Python code for the engine: what it does has places of its own.
pub fn attached<R>(f: impl FnOnce(Python<'_>) -> R) -> R {
    Python::attach(|py| {
        let _put = Put::replacing(LIVE);
        f(py)
    })
}

struct PythonPlaces;

impl SourceLocations for PythonPlaces {
    #[inline]
    fn here(&self) -> u64 {
        THREAD.with(|thread| match thread.answer.get() {
            LIVE => current(thread),
            UNASKED => first_answer(thread),
            NOWHERE => 0,
            place => place,
        })
    }
    fn stack(&self) -> Vec<u64> {
        Python::attach(all)
    }
    fn describe(&self, origin: u64) -> Option<SourceLocation> {
        Python::attach(|py| describe(py, origin).ok().flatten())
    }
}

/// A thread that Python does not know has no locations; others are looked up from now on.
#[cold]
fn first_answer(thread: &Thread) -> u64 {
    // SAFETY: may be called from any thread at any time while the interpreter exists.
    if unsafe { ffi::PyGILState_GetThisThreadState() }.is_null() {
        return 0;
    }
    thread.answer.set(LIVE);
    current(thread)
}

type GetLasti = unsafe extern "C" fn(*mut ffi::PyFrameObject) -> c_int;

static GET_LASTI: OnceLock<Option<GetLasti>> = OnceLock::new();

/// The interpreter's function for the index of a frame's instruction. It is no part of the stable interface, so it is
/// looked up by name; without it lines are noted, which take longer to find.
fn find_get_lasti() -> Option<GetLasti> {
    #[cfg(unix)]
    {
        // SAFETY: a lookup by name among the libraries of the process.
        let p = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PyFrame_GetLasti".as_ptr()) };
        // SAFETY: where it exists (CPython 3.11 and later) the function has had this type.
        (!p.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, GetLasti>(p) })
    }
    #[cfg(not(unix))]
    None
}

/// The place of the innermost Python frame outside this package. Called with the interpreter held.
#[inline]
fn current(thread: &Thread) -> u64 {
    // SAFETY: the interpreter is held: `LIVE` is set by threads that hold it, and replaced while it is released.
    let frame = unsafe { ffi::PyEval_GetFrame() };
    if frame.is_null() {
        return 0;
    }
    // SAFETY: `frame` is this thread's current frame, which outlives this call.
    let place = unsafe { place_of(thread, frame) };
    if place >> 32 & u64::from(OURS) == 0 { place } else { outside(thread, frame) }
}

/// Code number in the upper half; instruction (or line) and one in the lower.
///
/// # Safety
/// `frame` is a live frame and the interpreter is held.
#[inline]
unsafe fn place_of(thread: &Thread, frame: *mut ffi::PyFrameObject) -> u64 {
    // SAFETY: a live frame, by contract; the code is owned by the frame, so it outlives the reference given back here.
    let code = unsafe {
        let code = ffi::PyFrame_GetCode(frame).cast::<ffi::PyObject>();
        ffi::Py_DECREF(code);
        code
    };
    let (last, known, generation) = thread.last.get();
    let is_known = last == code as usize && generation == GENERATION.load(Ordering::Relaxed);
    let number = if is_known { known } else { number_of(thread, code) };
    if number == 0 {
        return 0;
    }
    let at = match GET_LASTI.get() {
        // SAFETY: a live frame, by contract.
        Some(Some(get_lasti)) => (unsafe { get_lasti(frame) } + 1) as u32,
        // SAFETY: as above.
        _ => IS_LINE | unsafe { ffi::PyFrame_GetLineNumber(frame) } as u32,
    };
    u64::from(number) << 32 | u64::from(at)
}

#[cold]
fn number_of(thread: &Thread, code: *mut ffi::PyObject) -> u32 {
    let known = {
        let codes = CODES.lock();
        let known = codes.as_ref().and_then(|c| c.numbers.get(&(code as usize)).copied());
        known.map(|number| (number, GENERATION.load(Ordering::Relaxed)))
    };
    let (number, generation) = known.unwrap_or_else(|| {
        Python::attach(|py| {
            // SAFETY: a live object.
            let code = unsafe { Bound::from_borrowed_ptr(py, code) };
            let ours = if is_ours(&code).unwrap_or(false) { OURS } else { 0 };
            let mut lock = CODES.lock();
            let codes = lock.get_or_insert_default();
            if let Some(&number) = codes.numbers.get(&(code.as_ptr() as usize)) {
                // Another thread met it meanwhile.
                return (number, GENERATION.load(Ordering::Relaxed));
            }
            if codes.last == OURS - 1 {
                return (0, GENERATION.load(Ordering::Relaxed));
            }
            let gone = codes.thinned();
            codes.last += 1;
            let number = codes.last | ours;
            codes.codes.push_back((number & !OURS, code.clone().unbind()));
            codes.numbers.insert(code.as_ptr() as usize, number);
            let generation = GENERATION.load(Ordering::Relaxed);
            drop(lock);
            // Whoever has a weak reference to one of them is called.
            drop(gone);
            (number, generation)
        })
    });
    thread.last.set((code as usize, number, generation));
    number
}

/// The folder of this package's Python files.
static HOME: OnceLock<String> = OnceLock::new();

fn is_ours(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    let file = code.getattr(intern!(code.py(), "co_filename"))?;
    let file = file.cast::<PyString>()?.to_cow()?;
    Ok(HOME.get().is_some_and(|home| file.starts_with(home.as_str())))
}

/// Goes outwards from a frame of this package.
#[cold]
fn outside(thread: &Thread, frame: *mut ffi::PyFrameObject) -> u64 {
    Python::attach(|py| {
        // SAFETY: a live frame.
        let mut frame = unsafe { Bound::from_borrowed_ptr(py, frame.cast()) };
        loop {
            match frame.getattr(intern!(py, "f_back")) {
                Ok(back) if !back.is_none() => frame = back,
                _ => return 0,
            }
            // SAFETY: a live frame, which `frame` holds.
            let place = unsafe { place_of(thread, frame.as_ptr().cast()) };
            if place >> 32 & u64::from(OURS) == 0 {
                return place;
            }
        }
    })
}

/// The places of all frames of this thread outside this package, innermost first.
fn all(py: Python<'_>) -> Vec<u64> {
    // SAFETY: the interpreter is held.
    let frame = unsafe { ffi::PyEval_GetFrame() };
    // SAFETY: null, or a live frame of this thread.
    let mut next = unsafe { Bound::from_borrowed_ptr_or_opt(py, frame.cast()) };
    let mut places = Vec::new();
    while let Some(frame) = next {
        // SAFETY: a live frame, and the interpreter is held.
        let place = THREAD.with(|thread| unsafe { place_of(thread, frame.as_ptr().cast()) });
        if place != 0 && place >> 32 & u64::from(OURS) == 0 {
            places.push(place);
        }
        next = frame.getattr(intern!(py, "f_back")).ok().filter(|back| !back.is_none());
    }
    places
}

fn describe(py: Python<'_>, origin: u64) -> PyResult<Option<SourceLocation>> {
    let (number, at) = ((origin >> 32) as u32 & !OURS, origin as u32);
    let code = CODES.lock().as_ref().and_then(|c| {
        let at = c.codes.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(c.codes[at].1.clone_ref(py))
    });
    let Some(code) = code else { return Ok(None) };
    let code = code.bind(py);
    let line = if at & IS_LINE != 0 { Some(at & !IS_LINE) } else { line_of(code, i64::from(at) - 1)? };
    let Some(line) = line else { return Ok(None) };
    let file: String = code.getattr("co_filename")?.extract()?;
    let text: String = py.import("linecache")?.getattr("getline")?.call1((&file, line))?.extract()?;
    let text = text.trim();
    let function = code.getattr("co_qualname")?.extract()?;
    Ok(Some(SourceLocation { file, line, function, text: (!text.is_empty()).then(|| text.to_owned()) }))
}

/// The line of an instruction.
fn line_of(code: &Bound<'_, PyAny>, instruction: i64) -> PyResult<Option<u32>> {
    for range in code.call_method0("co_lines")?.try_iter()? {
        let (start, end, line): (i64, i64, Option<u32>) = range?.extract()?;
        if start <= instruction.max(0) && instruction.max(0) < end {
            return Ok(line);
        }
    }
    Ok(None)
}

/// Notes lines on this thread, or does not: `make bench` measures what it costs.
#[pyfunction]
fn _note_places(on: bool) {
    THREAD.with(|t| t.answer.set(if on { LIVE } else { NOWHERE }));
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let _ = GET_LASTI.set(find_get_lasti());
    let package = m.py().import("retrograd")?;
    let home: Vec<String> = package.getattr("__path__")?.extract()?;
    if let Some(home) = home.into_iter().next() {
        let _ = HOME.set(home + std::path::MAIN_SEPARATOR_STR);
    }
    retrograd_engine::call_site::register(&PythonPlaces);
    m.add_function(wrap_pyfunction!(_note_places, m)?)
}
