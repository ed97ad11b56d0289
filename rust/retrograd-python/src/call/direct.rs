//! Calls of a tensor, or of a tensor and another one or integers, all of the exact classes: the entry's own function
//! runs at once (`ops::Direct`), also where the last of them are given by name, in the order of the parameters. Every
//! other call goes through the interpreter of signatures, and so does one of these that it might understand otherwise:
//! this is only a short cut.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use retrograd_engine::Tensor;
use retrograd_engine::ops::{Direct, Entry, Kind, Param};
use smallvec::SmallVec;

use super::{Callable, Role, is_named};
use crate::call_site::DETACH_ABOVE;
use crate::class;
use crate::errors::to_py;
use crate::overrides::state;
use crate::wrap::wrap;

/// The direct calls of the entries of one name.
pub(super) struct Calls {
    direct: Direct,
    /// Which entry's parameters the arguments may be named after, in a call of two tensors and in one with integers.
    named_two: Option<usize>,
    named_ints: Option<usize>,
}

impl Calls {
    pub(super) const NONE: Self = Self { direct: Direct::NONE, named_two: None, named_ints: None };
}

/// Finds the direct calls. Overloads are tried in order, so a call belongs to the first one that may take it: if that
/// has no such call, there is none.
pub(super) fn of(entries: &[&'static Entry]) -> Calls {
    let left_out = |p: &Param| p.default.is_some() || p.kind == Kind::Varargs;
    let first = |takes: &dyn Fn(&[Param]) -> bool| entries.iter().position(|e| takes(e.params));
    // A first parameter that takes all arguments, or the second one.
    let second = |params: &[Param], kinds: &[Kind]| match params {
        [all, ..] if matches!(all.kind, Kind::Varargs | Kind::Size) => true,
        [_, p, rest @ ..] => !p.kw_only && kinds.contains(&p.kind) && rest.iter().all(left_out),
        _ => false,
    };
    let integers = |params: &[Param]| match params {
        [all, ..] if matches!(all.kind, Kind::Varargs | Kind::Size) => true,
        [_, p, ..] => !p.kw_only && TAKE_INTEGERS.contains(&p.kind),
        _ => false,
    };
    let one = first(&|params| params.iter().skip(1).all(left_out));
    let two = first(&|params| second(params, &TAKE_TENSORS));
    let ints = first(&integers);
    // The last of the arguments, which is not the first operand, has a name: an overload before takes the call only if
    // it has a parameter of that name.
    let named = |which: usize, most: usize| {
        let params = entries[which].params;
        let taken = |own: &Param| entries[..which].iter().any(|e| e.params.iter().any(|p| is_named(p.name, own.name)));
        let gathers = params.iter().any(|p| matches!(p.kind, Kind::Size | Kind::Varargs));
        (!gathers && !params.iter().skip(1).take(most).any(taken)).then_some(which)
    };
    Calls {
        direct: Direct {
            one: one.and_then(|e| entries[e].direct.one),
            two: two.and_then(|e| entries[e].direct.two),
            ints: ints.and_then(|e| entries[e].direct.ints),
        },
        named_two: two.and_then(|e| named(e, 1)),
        named_ints: ints.and_then(|e| named(e, entries[e].direct.ints?.most)),
    }
}

/// The kinds of parameters that take a tensor, if only some: see `convert::argument`, and `parse` for the last two.
const TAKE_TENSORS: [Kind; 8] =
    [Kind::Tensor, Kind::Operand, Kind::Scalar, Kind::Float, Kind::Int, Kind::Ints, Kind::Size, Kind::Varargs];

/// The kinds that take an integer, or a tuple of some.
const TAKE_INTEGERS: [Kind; 9] = [
    Kind::Operand,
    Kind::Scalar,
    Kind::Float,
    Kind::Int,
    Kind::Ints,
    Kind::OpenInts,
    Kind::Floats,
    Kind::Size,
    Kind::Device,
];

/// Runs a call; `None` if it is not one of these. Large ones are not: they give up the interpreter.
///
/// # Safety
/// 1. `slf`, if the callable is a method, and `args` are objects that are alive during the call.
/// 2. `slf` is then a `Tensor`.
/// 3. `kwnames` is null or a tuple of the names of the last `args`.
#[inline]
pub(super) unsafe fn run<'py>(
    py: Python<'py>,
    c: &'static Callable,
    slf: *mut ffi::PyObject,
    args: &[*mut ffi::PyObject],
    kwnames: *mut ffi::PyObject,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    if state::possible() {
        return None;
    }
    let given = args.len() + usize::from(c.role != Role::Function);
    let fits = |entry: Option<usize>| {
        // SAFETY: (3).
        let are_last = |e: usize| unsafe { are_last(&c.places[e].names, given, kwnames) };
        kwnames.is_null() || entry.is_some_and(are_last)
    };
    let (first, rest) = if c.role == Role::Function { args.split_first()? } else { (&slf, args) };
    // SAFETY: (1).
    let x = unsafe { exact(first)? };
    // SAFETY: (1).
    let second = if let [other] = rest { unsafe { exact(other) } } else { None };
    let calls = &c.direct.direct;
    let result = match (rest, second) {
        ([], _) => {
            let one = calls.one.filter(|_| kwnames.is_null() && x.numel() <= DETACH_ABOVE)?;
            one(c.form(), x)
        }
        (_, Some(y)) => {
            let small = x.numel().saturating_add(y.numel()) <= DETACH_ABOVE;
            let two = calls.two.filter(|_| small && fits(c.direct.named_two))?;
            two(c.form(), x, y)
        }
        _ => {
            let direct = calls.ints.filter(|_| fits(c.direct.named_ints))?;
            // SAFETY: (1).
            let ints = unsafe { integers(direct.list, direct.fewest..=direct.most, rest)? };
            let size = ints.iter().fold(1, |size: usize, &n| size.saturating_mul(n.max(0) as usize));
            if x.numel().saturating_add(size) > DETACH_ABOVE {
                return None;
            }
            (direct.call)(c.form(), x, &ints)
        }
    };
    Some(result.map_err(|e| to_py(e.named(&c.name))).and_then(|t| wrap(py, t)))
}

/// Whether the names in a tuple are those of the last of the first `n` parameters, the very objects. Other objects may
/// have the same text.
///
/// # Safety
/// A tuple of at most `n` objects.
#[inline]
unsafe fn are_last(params: &[Py<PyString>], n: usize, names: *mut ffi::PyObject) -> bool {
    // SAFETY: a tuple has as many items as it says.
    unsafe {
        let count = ffi::PyTuple_Size(names);
        let Some(params) = params.get(n - count as usize..n) else { return false };
        params.iter().enumerate().all(|(i, p)| p.as_ptr() == ffi::PyTuple_GetItem(names, i as ffi::Py_ssize_t))
    }
}

/// The tensor of an object of the class itself.
///
/// # Safety
/// An object that is alive for as long as the reference.
#[inline]
unsafe fn exact(object: &*mut ffi::PyObject) -> Option<&Tensor> {
    // SAFETY: objects of the class are tensor objects.
    class::is_exact_ptr(*object).then(|| unsafe { &*(*class::contents(*object)).0 })
}

/// The integers that the arguments are, as many as may be separate; or those of one tuple, if a list is taken.
///
/// # Safety
/// Objects that are alive.
#[inline]
unsafe fn integers(
    list: bool,
    separate: std::ops::RangeInclusive<usize>,
    args: &[*mut ffi::PyObject],
) -> Option<SmallVec<[i64; 6]>> {
    // SAFETY: live objects; a tuple has as many items as it says.
    unsafe {
        match *args {
            [list_] if list && ffi::PyTuple_CheckExact(list_) != 0 => {
                // No items may be items of anything.
                let n = ffi::PyTuple_Size(list_);
                (n > 0).then_some(())?;
                (0..n).map(|i| integer(ffi::PyTuple_GetItem(list_, i))).collect()
            }
            _ if separate.contains(&args.len()) => args.iter().map(|&n| integer(n)).collect(),
            _ => None,
        }
    }
}

/// The value of an int that fits.
///
/// # Safety
/// An object that is alive.
#[inline]
unsafe fn integer(object: *mut ffi::PyObject) -> Option<i64> {
    let mut overflow = 0;
    // SAFETY: an object; a place for the flag. An int converts without an exception.
    unsafe {
        (ffi::PyLong_CheckExact(object) != 0).then_some(())?;
        let value = ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow);
        (overflow == 0).then_some(value)
    }
}
