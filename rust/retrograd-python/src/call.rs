//! Roster entries as Python functions and methods: one C function per entry and form, one interpreter of signatures.

mod direct;

use std::collections::HashMap;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};
use retrograd_engine::autograd::apply::with_out;
use retrograd_engine::autograd::mode::{AUTOCAST, GRAD};
use retrograd_engine::autograd::{GradGuard, is_grad_enabled};
use retrograd_engine::ops::{Entry, Form, Kind, OutDtype, Param, Value, forms, out_dtype, roster};
use retrograd_engine::tensor::copy;
use retrograd_engine::{Error, Tensor, warn};
use smallvec::SmallVec;

use crate::call_site::{DETACH_ABOVE, detached};
use crate::convert;
use crate::errors::{self, to_py};
use crate::overrides::{self, state};
use crate::signature::{documentation, signature};
use crate::wrap::unwrap;
use direct::Calls;

/// All entries of one Python name, in one form.
pub struct Callable {
    pub name: String,
    pub entries: Vec<&'static Entry>,
    pub role: Role,
    /// The places of each entry.
    places: Vec<Places>,
    direct: Calls,
}

/// The parameters of an entry, as calls are matched with them.
struct Places {
    /// The names, as Python interns them: those of keywords in a program are mostly the same objects.
    names: Vec<Py<PyString>>,
    /// How many positional arguments there may be, the tensor of a method included.
    most: usize,
}

impl Places {
    fn of(py: Python<'_>, entry: &Entry) -> Self {
        let gathers = entry.params.iter().any(|p| matches!(p.kind, Kind::Size | Kind::Varargs));
        let positional = entry.params.iter().filter(|p| !p.kw_only).count();
        Self {
            names: entry.params.iter().map(|p| PyString::intern(py, p.name).unbind()).collect(),
            most: if gathers { usize::MAX } else { positional },
        }
    }
    /// The parameter that has this very object for its name.
    fn position(&self, name: Borrowed<'_, '_, PyString>) -> Option<usize> {
        self.names.iter().position(|n| n.as_ptr() == name.as_ptr())
    }
}

impl Callable {
    /// The documentation of its overloads.
    pub fn docs(&self) -> Vec<&'static str> {
        let mut docs: Vec<_> = self.entries.iter().map(|e| e.doc).collect();
        docs.dedup();
        docs
    }
    fn form(&self) -> Form {
        if self.role == Role::InPlace { Form::InPlace } else { Form::New }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    Function,
    Method,
    InPlace,
}

type Values = SmallVec<[Value; 6]>;
type Fast = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    ffi::Py_ssize_t,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

static CALLABLES: OnceLock<Vec<Callable>> = OnceLock::new();

/// Every callable of the roster. Aliases are callables of their own.
pub fn callables() -> &'static [Callable] {
    CALLABLES.get_or_init(|| {
        let mut all: Vec<Callable> = Vec::new();
        let mut places: HashMap<(String, &str, Role), usize> = HashMap::new();
        let mut add = |name: String, module: &'static str, role: Role, entry: &'static Entry| {
            let place = *places.entry((name, module, role)).or_insert_with_key(|(name, ..)| {
                let name = name.clone();
                all.push(Callable { name, entries: vec![], role, places: vec![], direct: Calls::NONE });
                all.len() - 1
            });
            all[place].entries.push(entry);
        };
        for entry in roster() {
            for name in std::iter::once(&entry.name).chain(entry.aliases) {
                if entry.has(forms::FUNCTION) {
                    add((*name).to_string(), entry.module, Role::Function, entry);
                }
                if entry.has(forms::METHOD) {
                    add((*name).to_string(), entry.module, Role::Method, entry);
                }
                if entry.has(forms::INPLACE) {
                    add(format!("{name}_"), entry.module, Role::InPlace, entry);
                }
            }
        }
        assert!(all.len() <= TABLE.len() * 64, "more callables than C functions: extend TABLE");
        Python::attach(|py| {
            for c in &mut all {
                c.places = c.entries.iter().map(|e| Places::of(py, e)).collect();
                c.direct = direct::of(&c.entries);
            }
        });
        all
    })
}

/// The C function of callable `64 * HI + LO`.
unsafe extern "C" fn entry_point<const HI: usize, const LO: usize>(
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargs: ffi::Py_ssize_t,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls with its interpreter held and the arguments of METH_FASTCALL | METH_KEYWORDS.
    unsafe { invoke(&callables()[64 * HI + LO], slf, args, nargs, kwnames) }
}

macro_rules! row {
    ($hi:literal: $($lo:literal)*) => { [$(entry_point::<$hi, $lo> as Fast),*] };
}
macro_rules! table {
    ($($hi:literal)*) => { [$(row!($hi: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)),*] };
}
static TABLE: [[Fast; 64]; 32] =
    table!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);

/// # Safety
/// 1. The interpreter is held.
/// 2. `args` points to `nargs` arguments followed by one per name in `kwnames` (null or a tuple of str), all alive.
/// 3. For methods `slf` is a `Tensor`.
unsafe fn invoke(
    c: &'static Callable,
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargs: ffi::Py_ssize_t,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: duty 1.
    let py = unsafe { Python::assume_attached() };
    guard(py, &c.name, || {
        // SAFETY: duties 2 and 3.
        let direct = unsafe {
            let named = if kwnames.is_null() { 0 } else { ffi::PyTuple_Size(kwnames) };
            direct::run(py, c, slf, slice(args, (nargs + named) as usize), kwnames)
        };
        if let Some(result) = direct {
            return result.map(Bound::into_ptr);
        }
        // The interpreter is held, but PyO3 must know, or it does not release references that are dropped in here.
        // SAFETY: our own duties.
        Python::attach(|py| unsafe { invoke_attached(py, c, slf, args, nargs, kwnames) })
    })
}

/// # Safety
/// As [`invoke`].
#[inline]
unsafe fn invoke_attached(
    py: Python<'_>,
    c: &'static Callable,
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargs: ffi::Py_ssize_t,
    kwnames: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: duty 2; borrowed references live for the call.
    let given = unsafe {
        Given {
            slf: (c.role != Role::Function).then(|| Borrowed::from_ptr(py, slf)),
            args: slice(args, nargs as usize),
            kwnames: if kwnames.is_null() {
                None
            } else {
                Some(Borrowed::from_ptr(py, kwnames).cast_unchecked::<PyTuple>())
            },
            kwvalues: args.wrapping_add(nargs as usize),
        }
    };
    call(py, c, &given).map(|o| o.into_ptr())
}

/// # Safety
/// `args` is readable for `n` pointers, or `n` is 0.
unsafe fn slice<'a>(args: *const *mut ffi::PyObject, n: usize) -> &'a [*mut ffi::PyObject] {
    if n == 0 {
        return &[];
    }
    // SAFETY: the duty.
    unsafe { std::slice::from_raw_parts(args, n) }
}

/// Runs a C entry: errors become exceptions, and so does a panic, which is a bug but not the end of the process.
pub fn guard(py: Python<'_>, name: &str, run: impl FnOnce() -> PyResult<*mut ffi::PyObject>) -> *mut ffi::PyObject {
    let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(panic_error(name, &*panic)));
    result.unwrap_or_else(|e| {
        e.restore(py);
        std::ptr::null_mut()
    })
}

#[cold]
pub fn panic_error(name: &str, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    PyRuntimeError::new_err(format!("{name}: internal error, a bug in retrograd: {}", text.unwrap_or("panic")))
}

/// The arguments of one call.
struct Given<'a, 'py> {
    slf: Option<Borrowed<'a, 'py, PyAny>>,
    args: &'a [*mut ffi::PyObject],
    kwnames: Option<Borrowed<'a, 'py, PyTuple>>,
    kwvalues: *const *mut ffi::PyObject,
}

impl<'a, 'py> Given<'a, 'py> {
    fn positional(&self) -> usize {
        self.args.len() + usize::from(self.slf.is_some())
    }
    fn arg(&self, py: Python<'py>, i: usize) -> Borrowed<'a, 'py, PyAny> {
        match (self.slf, i) {
            (Some(slf), 0) => slf,
            // SAFETY: arguments are alive during the call (duty 2 of `invoke`).
            (Some(_), i) => unsafe { Borrowed::from_ptr(py, self.args[i - 1]) },
            // SAFETY: as above.
            (None, i) => unsafe { Borrowed::from_ptr(py, self.args[i]) },
        }
    }
    fn keywords(&self) -> impl Iterator<Item = (Borrowed<'_, 'py, PyString>, Borrowed<'_, 'py, PyAny>)> {
        let n = self.kwnames.map_or(0, |k| k.len());
        (0..n).map(move |i| {
            let names = self.kwnames.expect("n > 0");
            let py = names.py();
            // SAFETY: the names are str, and one value per name follows the positional arguments (duty 2 of `invoke`).
            unsafe {
                let name = ffi::PyTuple_GetItem(names.as_ptr(), i as ffi::Py_ssize_t);
                let value = *self.kwvalues.add(i);
                (Borrowed::from_ptr(py, name).cast_unchecked::<PyString>(), Borrowed::from_ptr(py, value))
            }
        })
    }
}

fn call<'py>(py: Python<'py>, c: &'static Callable, given: &Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    if state::possible()
        && let Some(taken) = taken_over(py, c, given)?
    {
        return Ok(taken);
    }
    if let [entry] = c.entries[..] {
        return match parse(py, c, 0, given, None) {
            Ok((values, out)) => run(py, c, entry, &values, out),
            Err(why) => misfitting(py, c, given, || why),
        };
    }
    for (which, entry) in c.entries.iter().enumerate() {
        if may_take(entry, &c.places[which], given)
            && let Ok((values, out)) = parse::<Unsaid>(py, c, which, given, None)
        {
            return run(py, c, entry, &values, out);
        }
    }
    misfitting(py, c, given, || no_overload(py, c, given))
}

/// A call that no entry takes as it is: an argument may take it over, and an entry in an old form.
#[cold]
fn misfitting<'py>(
    py: Python<'py>,
    c: &'static Callable,
    given: &Given<'_, 'py>,
    why: impl FnOnce() -> PyErr,
) -> PyResult<Bound<'py, PyAny>> {
    match taken_over(py, c, given)? {
        Some(taken) => Ok(taken),
        None => old_form(py, c, given).unwrap_or_else(|| Err(why())),
    }
}

/// The answer of a mode, or of an argument that is asked before functions run.
#[cold]
fn taken_over<'py>(
    py: Python<'py>,
    c: &'static Callable,
    given: &Given<'_, 'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let positional = (0..given.positional()).map(|i| given.arg(py, i));
    overrides::taken_over(positional.chain(given.keywords().map(|(_, value)| value)), || {
        let module = c.entries[0].module;
        let function = if c.role == Role::Function {
            let (_, name) = MODULES.iter().find(|(path, _)| *path == module).unwrap_or(&("", ""));
            let core = py.import("retrograd._core")?.into_any();
            (if name.is_empty() { core } else { core.getattr(*name)? }).getattr(c.name.as_str())?
        } else {
            py.get_type::<crate::wrap::PyTensor>().getattr(c.name.as_str())?
        };
        let owner = if c.role != Role::Function { "Tensor" } else { module };
        let dot = if owner.is_empty() { "" } else { "." };
        let kwargs = PyDict::new(py);
        for (name, value) in given.keywords() {
            kwargs.set_item(name, value)?;
        }
        Ok(overrides::Call {
            function,
            name: format!("retrograd.{owner}{dot}{}", c.name),
            args: PyTuple::new(py, (0..given.positional()).map(|i| given.arg(py, i)))?,
            kwargs: given.kwnames.is_some_and(|names| !names.is_empty()).then_some(kwargs),
        })
    })
}

/// Runs a call in an order of arguments that an entry took once, such as `add(input, alpha, other)`; `None` if the call
/// is in none of these.
#[cold]
fn old_form<'py>(py: Python<'py>, c: &'static Callable, given: &Given<'_, 'py>) -> Option<PyResult<Bound<'py, PyAny>>> {
    for (which, entry) in c.entries.iter().enumerate() {
        for names in entry.old {
            let position = |name: &str| {
                entry.params.iter().position(|p| p.name == name).expect("old forms name parameters of the entry")
            };
            let mut order: Vec<usize> = names.split(' ').map(position).collect();
            // A method's own tensor comes first, wherever the function has it.
            if given.slf.is_some() {
                order.sort_by_key(|&p| p != 0);
            }
            let Ok((values, out)) = parse::<Unsaid>(py, c, which, given, Some(&order)) else { continue };
            warn::once(
                warn::Once::OldForm,
                &format!(
                    "This overload of {0} is deprecated:\n\t{0}({1})\nConsider using one of the following signatures \
                     instead:\n\t{2}",
                    c.name,
                    order.iter().map(|&p| entry.params[p].name).collect::<Vec<_>>().join(", "),
                    signature(&c.name, entry, Role::Function),
                ),
            );
            return Some(run(py, c, entry, &values, out));
        }
    }
    None
}

#[cold]
fn no_overload(py: Python<'_>, c: &Callable, given: &Given<'_, '_>) -> PyErr {
    // What every overload says is said as if there were one.
    let mut reasons = (0..c.entries.len()).filter_map(|which| parse::<PyErr>(py, c, which, given, None).err());
    if let Some(first) = reasons.next() {
        let text = first.value(py).to_string();
        if reasons.all(|other| other.value(py).to_string() == text) {
            return first;
        }
    }
    let skip = usize::from(given.slf.is_some());
    let mut got: Vec<String> = (skip..given.positional()).map(|i| type_name(&given.arg(py, i).to_owned())).collect();
    got.extend(given.keywords().map(|(k, v)| format!("{}={}", k.to_owned(), type_name(&v.to_owned()))));
    let forms: Vec<String> = c.entries.iter().map(|e| format!(" * {}", signature(&c.name, e, c.role))).collect();
    PyTypeError::new_err(format!(
        "{}() received an invalid combination of arguments - got ({}), but expected one of:\n{}",
        c.name,
        got.join(", "),
        forms.join("\n")
    ))
}

pub fn type_name(v: &Bound<'_, PyAny>) -> String {
    v.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string())
}

/// The names NumPy code uses.
fn canonical(name: &str) -> &str {
    match name {
        "axis" => "dim",
        "keepdims" => "keepdim",
        "x" | "a" | "x1" | "self" => "input",
        "x2" => "other",
        given => given,
    }
}

type Parsed<'py> = (Values, Option<Bound<'py, PyAny>>);

/// Why arguments do not fit. Of several entries, each of which is tried, nobody reads the reasons.
trait Refusal {
    fn new(text: impl FnOnce() -> String) -> Self;
    fn from(why: PyErr) -> Self;
}

impl Refusal for PyErr {
    fn new(text: impl FnOnce() -> String) -> Self {
        PyTypeError::new_err(text())
    }
    fn from(why: PyErr) -> Self {
        why
    }
}

/// That arguments do not fit, and not why.
struct Unsaid;

impl Refusal for Unsaid {
    fn new(_: impl FnOnce() -> String) -> Self {
        Self
    }
    fn from(_: PyErr) -> Self {
        Self
    }
}

/// Whether a parameter can be given by this name.
fn is_named(param: &str, name: &str) -> bool {
    let key = canonical(name);
    // `linalg` calls its first operand `A`.
    param == name || param == key || key == "input" && param == "A"
}

/// Whether the number of positional arguments and the names of the others say that [`parse`] may succeed.
fn may_take(entry: &Entry, places: &Places, given: &Given<'_, '_>) -> bool {
    given.positional() <= places.most
        && given.keywords().all(|(name, _)| {
            places.position(name).is_some()
                || name.to_cow().is_ok_and(|name| {
                    entry.params.iter().any(|p| is_named(p.name, &name)) || name == "out" && entry.has(forms::OUT)
                })
        })
}

/// Matches arguments to the parameters of one entry; the positional ones in their order or in an old one.
fn parse<'py, W: Refusal>(
    py: Python<'py>,
    c: &Callable,
    which: usize,
    given: &Given<'_, 'py>,
    old: Option<&[usize]>,
) -> Result<Parsed<'py>, W> {
    let (entry, places) = (c.entries[which], &c.places[which]);
    let params = entry.params;
    let mut values = Values::new();
    values.resize_with(params.len(), || Value::Default);
    let (mut at, total) = (0, given.positional());
    let mut nth = 0;
    while at < total {
        let place = match old {
            None => params.get(nth).filter(|p| !p.kw_only).map(|_| nth),
            Some(order) => order.get(nth).copied(),
        };
        let Some(p) = place else {
            return Err(W::new(|| {
                let most = params.iter().filter(|p| !p.kw_only).count();
                let s = if most == 1 { "" } else { "s" };
                format!("{}() takes {most} positional argument{s} but {total} were given", c.name)
            }));
        };
        let (arg, param) = (given.arg(py, at), &params[p]);
        if param.kind == Kind::Size && (convert::integer(&arg).is_some()) {
            let ints: Option<Vec<i64>> = (at..total).map(|i| convert::integer(&given.arg(py, i))).collect();
            values[p] = Value::Ints(ints.ok_or_else(|| wrong(c, param, at, &arg))?);
            at = total;
        } else if param.kind == Kind::Varargs && unwrap(&arg).is_some() {
            let given: Option<Vec<Tensor>> = (at..total).map(|i| unwrap(&given.arg(py, i)).cloned()).collect();
            values[p] = Value::Tensors(given.ok_or_else(|| wrong(c, param, at, &arg))?);
            at = total;
        } else {
            values[p] = convert::argument(&arg, param.kind, param.optional).ok_or_else(|| wrong(c, param, at, &arg))?;
            at += 1;
        }
        nth += 1;
    }
    let mut out = None;
    for (given, value) in given.keywords() {
        let i = match places.position(given) {
            Some(i) => i,
            None => {
                let name = given.to_cow().map_err(W::from)?;
                if name == "out" && entry.has(forms::OUT) {
                    out = (!value.is_none()).then(|| value.to_owned());
                    continue;
                }
                let found = params.iter().position(|p| is_named(p.name, &name));
                found.ok_or_else(|| W::new(|| format!("{}() got an unexpected keyword argument '{name}'", c.name)))?
            }
        };
        if !matches!(values[i], Value::Default) {
            let text = || format!("{}() got multiple values for argument '{}'", c.name, given.to_string_lossy());
            return Err(W::new(text));
        }
        let param = &params[i];
        values[i] = convert::argument(&value, param.kind, param.optional).ok_or_else(|| wrong(c, param, i, &value))?;
    }
    for (v, param) in values.iter_mut().zip(params) {
        if matches!(v, Value::Default) && param.default.is_none() {
            // No tensor is a list of tensors too.
            if param.kind == Kind::Varargs {
                *v = Value::Tensors(Vec::new());
                continue;
            }
            let kind = if param.kw_only { "keyword-only" } else { "positional" };
            return Err(W::new(|| format!("{}() missing 1 required {kind} argument: '{}'", c.name, param.name)));
        }
    }
    Ok((values, out))
}

fn wrong<W: Refusal>(c: &Callable, param: &Param, position: usize, got: &Bound<'_, PyAny>) -> W {
    W::new(|| misfit_text(&c.name, param.name, Some(position), convert::kind_name(param.kind), got))
}

#[cold]
fn misfit_text(function: &str, param: &str, position: Option<usize>, kind: &str, got: &Bound<'_, PyAny>) -> String {
    let position = position.map_or_else(String::new, |i| format!(" (position {})", i + 1));
    format!("{function}(): argument '{param}'{position} must be {kind}, not {}", type_name(got))
}

/// The refusal of an argument of a wrong type, as it was given: at a position, or by its name alone.
#[cold]
pub fn misfit(function: &str, param: &str, position: Option<usize>, kind: &str, got: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(misfit_text(function, param, position, kind, got))
}

/// A truth value, and nothing that only has one.
pub fn flag(function: &str, param: &str, position: Option<usize>, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    given.cast::<PyBool>().map(|b| b.is_true()).map_err(|_| misfit(function, param, position, "bool", given))
}

/// Ops that are no roster entries, since they take Python's own data and subscripts.
pub const BY_HAND: [&str; 4] = ["tensor", "Tensor.new_tensor", "Tensor.__getitem__", "Tensor.__setitem__"];

/// Runs an entry. The errors of an op with several names have the one that was used.
fn run<'py>(
    py: Python<'py>,
    c: &'static Callable,
    entry: &'static Entry,
    values: &[Value],
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(out) = out {
        return run_out(py, c, entry, values, out);
    }
    let result = called(py, entry, c.form(), values);
    convert::object(py, (entry.module, &c.name), result.map_err(|e| to_py(e.named(&c.name)))?)
}

/// What an entry gives. Other threads of Python run beside much work.
fn called(py: Python<'_>, entry: &'static Entry, form: Form, values: &[Value]) -> retrograd_engine::Result<Value> {
    if elements(values) > DETACH_ABOVE {
        detached(py, || (entry.call)(form, values))
    } else {
        (entry.call)(form, values)
    }
}

fn elements(values: &[Value]) -> usize {
    values
        .iter()
        .map(|v| match v {
            Value::Tensor(t) => t.numel(),
            Value::Tensors(ts) => ts.iter().map(Tensor::numel).fold(0, usize::saturating_add),
            Value::Ints(v) => v.iter().map(|&n| n.max(0) as usize).fold(1, usize::saturating_mul),
            _ => 0,
        })
        .fold(0, usize::saturating_add)
}

/// The `out=` form: results written to given tensors, at once or as copies of fresh ones.
fn run_out<'py>(
    py: Python<'py>,
    c: &'static Callable,
    entry: &'static Entry,
    given: &[Value],
    out: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut values = Values::from(given);
    let outs: Vec<Tensor> = match crate::wrap::unwrap(&out) {
        Some(t) => vec![t.clone()],
        None => convert::tensors(&out).ok_or_else(|| {
            PyTypeError::new_err(format!("{}(): argument 'out' must be Tensor, not {}", c.name, type_name(&out)))
        })?,
    };
    let requires_grad = |v: &Value| match v {
        Value::Tensor(t) => t.requires_grad(),
        Value::Tensors(ts) => ts.iter().any(Tensor::requires_grad),
        _ => false,
    };
    if is_grad_enabled() && (outs.iter().any(Tensor::requires_grad) || given.iter().any(requires_grad)) {
        return Err(to_py(Error::autograd(format!(
            "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments \
             requires grad: call it inside no_grad, or without out=",
            c.name
        ))));
    }
    let mut operands: Vec<&Tensor> = Vec::new();
    for v in given {
        match v {
            Value::Tensor(t) => operands.push(t),
            Value::Tensors(ts) => operands.extend(ts),
            _ => {}
        }
    }
    for o in &outs {
        retrograd_engine::ops::memory::check_out(entry.name, o, &operands).map_err(to_py)?;
    }
    let makes = operands.is_empty();
    if let (Some(at), [o]) = (entry.params.iter().position(|p| p.kind == Kind::DType), &outs[..])
        && (makes || matches!(entry.out, OutDtype::Computed))
    {
        match values[at] {
            Value::DType(d) if d != o.dtype() => {
                return Err(to_py(out_dtype::refused(entry.name, makes, d, o.dtype())));
            }
            _ => values[at] = Value::DType(o.dtype()),
        }
    }
    let result = {
        let _off = GradGuard::with(GRAD | AUTOCAST, false);
        let called = || called(py, entry, Form::Out, &values);
        let result = if let [o] = &outs[..] { with_out(o, &operands, called) } else { called() };
        result.map_err(|e| to_py(e.named(&c.name)))?
    };
    let results: Vec<Tensor> = match result {
        Value::Tensor(t) => vec![t],
        Value::Tensors(ts) => ts,
        Value::Tuple(items, _) => {
            items.into_iter().filter_map(|v| if let Value::Tensor(t) = v { Some(t) } else { None }).collect()
        }
        _ => Vec::new(),
    };
    if results.len() != outs.len() {
        return Err(PyTypeError::new_err(format!(
            "{}(): out has {} tensors, the result {}",
            c.name,
            outs.len(),
            results.len()
        )));
    }
    for (i, (r, o)) in results.iter().zip(&outs).enumerate() {
        entry.out.check(&c.name, i, r.dtype(), o.dtype()).map_err(to_py)?;
    }
    for (r, o) in results.iter().zip(&outs) {
        if r.is_same(o) && !operands.iter().any(|x| x.is_same(o)) {
            // Written at once.
            continue;
        }
        let before = o.sizes().to_vec();
        let truth =
            matches!(entry.out, OutDtype::Truth).then(|| copy::cast(r, o.dtype())).transpose().map_err(to_py)?;
        if retrograd_engine::ops::memory::write_out(&c.name, truth.as_ref().unwrap_or(r), o, &operands)
            .map_err(to_py)?
            && !makes
        {
            errors::warn_py(
                py,
                &format!(
                    "An output with one or more elements was resized since it had shape {before:?}, which does not match the \
                     required output shape {:?}. This behavior is deprecated: resize it to 0 elements with resize_(0) before \
                     reusing it.",
                    r.sizes()
                ),
            )?;
        }
    }
    Ok(out)
}

/// Modules of the roster besides the top level, and the submodules of `_core` that hold their functions.
const MODULES: [(&str, &str); 7] = [
    ("fft", "_fft"),
    ("linalg", "_linalg"),
    ("masked", "_masked"),
    ("nn.functional", "_nn_functional"),
    ("signal.windows", "_signal_windows"),
    ("sparse", "_sparse"),
    ("special", "_special"),
];

/// Makes the Python objects of all callables and hangs them on the modules and the tensor class.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    let loaded: Bound<'_, PyDict> = py.import("sys")?.getattr("modules")?.cast_into()?;
    let mut modules = vec![("", m.clone())];
    for (path, name) in MODULES {
        let full = format!("retrograd._core.{name}");
        let module = PyModule::new(py, &full)?;
        m.add(name, &module)?;
        loaded.set_item(full, &module)?;
        modules.push((path, module));
    }
    m.add_function(wrap_pyfunction!(_roster, m)?)?;
    let class = py.get_type::<crate::wrap::PyTensor>();
    for (i, c) in callables().iter().enumerate() {
        let entry = c.entries[0];
        let doc = documentation(c);
        // Method definitions live as long as the process.
        let def = Box::leak(Box::new(ffi::PyMethodDef {
            ml_name: leak(&c.name),
            ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: TABLE[i / 64][i % 64] },
            ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
            ml_doc: leak(&doc),
        }));
        if c.role == Role::Function {
            let (_, target) = modules
                .iter()
                .find(|(path, _)| *path == entry.module)
                .expect("MODULES lists the modules of all entries");
            let name = target.name()?;
            // SAFETY: `def` is alive for good; the call returns a new reference or null with an exception set.
            let function = unsafe {
                Bound::from_owned_ptr_or_err(py, ffi::PyCFunction_NewEx(def, std::ptr::null_mut(), name.as_ptr()))?
            };
            target.add(c.name.as_str(), function)?;
        } else {
            // SAFETY: as above; the class is a type object.
            let method = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), def))? };
            class.setattr(c.name.as_str(), method)?;
        }
    }
    Ok(())
}

fn leak(s: &str) -> *const std::ffi::c_char {
    CString::new(s.replace('\0', "")).expect("no nul left").into_raw()
}

/// The roster as plain data, for the stub generator and the table of ops: per callable its Python name, module, role,
/// documentation of its overloads, and per entry the parameters (name, kind, optional, default, keyword-only), field
/// names and `out`.
#[pyfunction]
fn _roster<'py>(py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut all = Vec::new();
    for c in callables() {
        let d = PyDict::new(py);
        d.set_item("name", &c.name)?;
        d.set_item("module", c.entries[0].module)?;
        d.set_item("role", format!("{:?}", c.role))?;
        d.set_item("docs", c.docs())?;
        let mut entries = Vec::new();
        for e in &c.entries {
            let params: Vec<_> =
                e.params.iter().map(|p| (p.name, format!("{:?}", p.kind), p.optional, p.default, p.kw_only)).collect();
            entries.push((params, e.fields.to_vec(), e.has(forms::OUT) && c.role == Role::Function, e.returns));
        }
        d.set_item("entries", entries)?;
        d.set_item("autocast", c.entries[0].autocast.map(|policy| format!("{policy:?}")))?;
        all.push(d.into_any());
    }
    Ok(all)
}
