//! Members of `Tensor` that are no roster entries, and factories written by hand, in front of which objects are asked.
//!
//! Each gets a guard: a C function that calls the one of PyO3 if nobody is to be asked. Operators and subscripts, which
//! are slots of the class, ask for themselves; those in place get guards here, since PyO3's return nothing.

use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::{size_of, transmute};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use pyo3::{PyTypeInfo, ffi};

use super::{Call, state, taken_over};
use crate::class;
use crate::errors::OrPy;
use crate::wrap::PyTensor;

type Object = *mut ffi::PyObject;

// ---- methods and functions

/// A C function of PyO3 that a guard stands in front of.
struct Guarded {
    name: String,
    /// Of the class, or of the module.
    is_method: bool,
    original: ffi::PyCFunction,
}

static GUARDED: OnceLock<Vec<Guarded>> = OnceLock::new();

/// Factories, which have no arguments that are asked: modes are.
const FACTORIES: [&str; 5] = ["as_tensor", "asarray", "sparse_coo_tensor", "sparse_csr_tensor", "tensor"];

/// Methods that ask nobody.
const SILENT: [&str; 2] = ["__del__", "as_subclass"];

fn guarded(i: usize) -> &'static Guarded {
    &GUARDED.get().expect("set before the guards are seen")[i]
}

impl Guarded {
    /// # Safety
    /// Those of a call of a C function with METH_FASTCALL | METH_KEYWORDS.
    #[cold]
    unsafe fn ask(&self, slf: Object, args: *const Object, nargs: usize, kwnames: Object) -> Option<Object> {
        Python::attach(|py| {
            // SAFETY: the caller's duties: arguments are alive during the call.
            let (given, named) = unsafe {
                let object = |at: usize| Bound::from_borrowed_ptr(py, *args.add(at));
                let names =
                    Bound::from_borrowed_ptr_or_opt(py, kwnames).map(|names| names.cast_into_unchecked::<PyTuple>());
                let slf = self.is_method.then(|| Bound::from_borrowed_ptr(py, slf));
                let given: Vec<_> = slf.into_iter().chain((0..nargs).map(object)).collect();
                let values = |names: Bound<'_, PyTuple>| -> Vec<_> {
                    names.iter().enumerate().map(|(i, name)| (name.unbind(), object(nargs + i))).collect()
                };
                (given, names.map(values).unwrap_or_default())
            };
            let asked = if self.is_method { &given[..] } else { &[] };
            let values = named.iter().filter(|_| self.is_method).map(|(_, value)| value);
            let answer = taken_over(asked.iter().chain(values).map(|a| a.as_borrowed()), || {
                let owner = if self.is_method {
                    PyTensor::type_object(py).into_any()
                } else {
                    py.import("retrograd._core")?.into_any()
                };
                let kwargs = PyDict::new(py);
                for (name, value) in &named {
                    kwargs.set_item(name, value)?;
                }
                Ok(Call {
                    function: owner.getattr(self.name.as_str())?,
                    name: format!("retrograd.{}{}", if self.is_method { "Tensor." } else { "" }, self.name),
                    args: PyTuple::new(py, &given)?,
                    kwargs: (!named.is_empty()).then_some(kwargs),
                })
            });
            answered(py, answer)
        })
    }

    /// Whether somebody may have to be asked.
    #[inline]
    fn may_ask(&self, slf: Object, nargs: usize) -> bool {
        state::possible() && (!self.is_method || nargs > 0 || !class::is_exact_ptr(slf) || state::has_mode())
    }
}

/// The result of a C function from an answer, null with an exception set if that is an error.
fn answered(py: Python<'_>, answer: PyResult<Option<Bound<'_, PyAny>>>) -> Option<Object> {
    match answer {
        Ok(answer) => answer.map(Bound::into_ptr),
        Err(error) => {
            error.restore(py);
            Some(null_mut())
        }
    }
}

unsafe extern "C" fn guard_fast<const N: usize>(
    slf: Object,
    args: *const Object,
    nargs: ffi::Py_ssize_t,
    kwnames: Object,
) -> Object {
    let guarded = guarded(N);
    // SAFETY: called with the arguments of METH_FASTCALL | METH_KEYWORDS, which are passed on. The original has these
    // flags, or its guard would be the other one.
    unsafe {
        let named = usize::from(!kwnames.is_null());
        if guarded.may_ask(slf, nargs as usize + named)
            && let Some(answer) = guarded.ask(slf, args, nargs as usize, kwnames)
        {
            return answer;
        }
        let original: ffi::PyCFunctionFastWithKeywords = transmute(guarded.original);
        original(slf, args, nargs, kwnames)
    }
}

unsafe extern "C" fn guard_plain<const N: usize>(slf: Object, nothing: Object) -> Object {
    let guarded = guarded(N);
    // SAFETY: called with the arguments of METH_NOARGS, which are passed on.
    unsafe {
        if guarded.may_ask(slf, 0)
            && let Some(answer) = guarded.ask(slf, null_mut(), 0, null_mut())
        {
            return answer;
        }
        (guarded.original)(slf, nothing)
    }
}

macro_rules! rows {
    ($guard:ident: $($row:literal)*) => { [$(
        $guard::<{ 8 * $row }>, $guard::<{ 8 * $row + 1 }>, $guard::<{ 8 * $row + 2 }>, $guard::<{ 8 * $row + 3 }>,
        $guard::<{ 8 * $row + 4 }>, $guard::<{ 8 * $row + 5 }>, $guard::<{ 8 * $row + 6 }>, $guard::<{ 8 * $row + 7 }>,
    )*] };
}
const MOST: usize = 128;
static FAST: [ffi::PyCFunctionFastWithKeywords; MOST] = rows!(guard_fast: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
static PLAIN: [ffi::PyCFunction; MOST] = rows!(guard_plain: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);

/// What a guard is made from.
struct Found<'py> {
    guarded: Guarded,
    flags: c_int,
    doc: String,
    module: Option<(Object, Bound<'py, PyAny>)>,
}

/// Reads a C function off an object of it.
fn found<'py>(name: &str, function: &Bound<'py, PyAny>, is_method: bool) -> PyResult<Found<'py>> {
    // SAFETY: an object that is checked to be of a C function.
    let (original, flags, slf) = unsafe {
        if ffi::PyCFunction_Check(function.as_ptr()) == 0 {
            return Err(PySystemError::new_err(format!("retrograd: PyO3 made {name} in an unknown way")));
        }
        let f = function.as_ptr();
        (ffi::PyCFunction_GetFunction(f), ffi::PyCFunction_GetFlags(f) & !ffi::METH_STATIC, ffi::PyCFunction_GetSelf(f))
    };
    let original = original.ok_or_else(|| PySystemError::new_err(format!("retrograd: {name} has no C function")))?;
    let text = |attribute: &str| function.getattr(attribute).ok().and_then(|v| v.extract::<String>().ok());
    let doc = text("__doc__").unwrap_or_default();
    let doc = match text("__text_signature__") {
        Some(signature) => format!("{name}{signature}\n--\n\n{doc}"),
        None => doc,
    };
    let module = if is_method { None } else { Some((slf, function.getattr("__module__")?)) };
    Ok(Found { guarded: Guarded { name: name.to_owned(), is_method, original }, flags, doc, module })
}

fn leak(text: &str) -> *const std::ffi::c_char {
    CString::new(text.replace('\0', "")).expect("no nul left").into_raw()
}

/// The definition of a guard, which lives as long as the process.
fn definition(i: usize, name: &str, flags: c_int, doc: &str) -> PyResult<*mut ffi::PyMethodDef> {
    let ml_meth = if flags == ffi::METH_NOARGS {
        ffi::PyMethodDefPointer { PyCFunction: PLAIN[i] }
    } else if flags == ffi::METH_FASTCALL | ffi::METH_KEYWORDS {
        ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: FAST[i] }
    } else {
        return Err(PySystemError::new_err(format!("retrograd: PyO3 calls {name} in an unknown way: {flags:#x}")));
    };
    Ok(Box::leak(Box::new(ffi::PyMethodDef { ml_name: leak(name), ml_meth, ml_flags: flags, ml_doc: leak(doc) })))
}

/// The members of the class by name, as they are now.
fn members_of<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    class.getattr("__dict__")?.call_method0("items")?.try_iter()?.map(|item| item?.extract()).collect()
}

/// Puts guards in front of methods of the class and of factories. Called before the roster's methods are there.
fn guard_functions(m: &Bound<'_, PyModule>, class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = m.py();
    let example =
        crate::wrap::wrap(py, retrograd_engine::Tensor::empty(&[0], retrograd_engine::DType::Float32).or_py()?)?;
    let mut all = Vec::new();
    for (name, member) in members_of(class)? {
        if member.get_type().name()? == "method_descriptor" && !SILENT.contains(&name.as_str()) {
            all.push(found(&name, &member.call_method1("__get__", (&example,))?, true)?);
        }
    }
    for name in FACTORIES {
        all.push(found(name, &m.getattr(name)?, false)?);
    }
    assert!(all.len() <= MOST, "more members than guards: extend FAST and PLAIN");
    for (i, member) in all.iter().enumerate() {
        let name = member.guarded.name.as_str();
        let def = definition(i, name, member.flags, &member.doc)?;
        match &member.module {
            Some((slf, module)) => {
                // SAFETY: `def` is alive for good; the call returns a new reference or null with an exception set.
                let guard = unsafe { ffi::PyCFunction_NewEx(def, *slf, module.as_ptr()) };
                // SAFETY: as above.
                m.setattr(name, unsafe { Bound::from_owned_ptr_or_err(py, guard)? })?;
            }
            None => {
                // SAFETY: as above; the class is a type object.
                let guard =
                    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), def))? };
                class.setattr(name, guard)?;
            }
        }
    }
    let _ = GUARDED.set(all.into_iter().map(|member| member.guarded).collect());
    Ok(())
}

// ---- properties

/// A property of PyO3 that a guard stands in front of.
struct Property {
    name: &'static CStr,
    original: ffi::PyGetSetDef,
}

/// Asks before a property is read, set or deleted.
///
/// # Safety
/// `slf` is a tensor object; `value` null or an object; the interpreter is held.
#[cold]
unsafe fn ask_property(property: &Property, slf: Object, access: &str, value: Object) -> Option<Object> {
    Python::attach(|py| {
        // SAFETY: the duty.
        let (slf, value) = unsafe { (Bound::from_borrowed_ptr(py, slf), Bound::from_borrowed_ptr_or_opt(py, value)) };
        let name = property.name.to_string_lossy();
        let answer =
            taken_over(std::iter::once(slf.as_borrowed()).chain(value.iter().map(|v| v.as_borrowed())), || {
                Ok(Call {
                    function: PyTensor::type_object(py).getattr(&*name)?.getattr(access)?,
                    name: format!("retrograd.Tensor.{name}.{access}"),
                    args: PyTuple::new(py, std::iter::once(&slf).chain(&value).collect::<Vec<_>>())?,
                    kwargs: None,
                })
            });
        answered(py, answer)
    })
}

unsafe extern "C" fn read(slf: Object, closure: *mut c_void) -> Object {
    // SAFETY: the closure is that of the definition; the arguments are those of a getter.
    unsafe {
        let property = &*closure.cast::<Property>();
        if state::possible()
            && (!class::is_exact_ptr(slf) || state::has_mode())
            && let Some(answer) = ask_property(property, slf, "__get__", null_mut())
        {
            return answer;
        }
        let original = property.original.get.expect("guards of getters are for those that there are");
        original(slf, property.original.closure)
    }
}

unsafe extern "C" fn write(slf: Object, value: Object, closure: *mut c_void) -> c_int {
    // SAFETY: the closure is that of the definition; the arguments are those of a setter.
    unsafe {
        let property = &*closure.cast::<Property>();
        if state::possible() {
            let access = if value.is_null() { "__delete__" } else { "__set__" };
            if let Some(answer) = ask_property(property, slf, access, value) {
                if answer.is_null() {
                    return -1;
                }
                ffi::Py_DECREF(answer);
                return 0;
            }
        }
        let original = property.original.set.expect("guards of setters are for those that there are");
        original(slf, value, property.original.closure)
    }
}

/// The definition that a property object was made from, if objects are laid out as ever: header, class, name, qualified
/// name, definition. Their first three parts are compared with what the object says.
fn property_definition(
    class: &Bound<'_, PyType>,
    descriptor: &Bound<'_, PyAny>,
) -> PyResult<Option<*const ffi::PyGetSetDef>> {
    let name = descriptor.getattr("__name__")?;
    let size = descriptor.get_type().getattr("__basicsize__")?.extract::<usize>()?;
    let word = size_of::<usize>();
    if size != size_of::<ffi::PyObject>() + 4 * word {
        return Ok(None);
    }
    let words = descriptor.as_ptr().cast::<u8>().wrapping_add(size_of::<ffi::PyObject>()).cast::<*mut c_void>();
    // SAFETY: four words that the object has after its header, as its size says.
    let [of, called, definition] = unsafe { [*words, *words.add(1), *words.add(3)] };
    let known = of == class.as_ptr().cast() && called == name.as_ptr().cast() && !definition.is_null();
    Ok(known.then_some(definition.cast_const().cast()))
}

/// Puts guards in front of the properties of the class. One whose definition is not found stays as it is.
fn guard_properties(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    for (name, member) in members_of(class)? {
        if member.get_type().name()? != "getset_descriptor" || name.starts_with("__") {
            continue;
        }
        let Some(definition) = property_definition(class, &member)? else { continue };
        // SAFETY: the definition of a property of a class that is never freed. It is copied; what it points to stays.
        let original = unsafe { std::ptr::read(definition) };
        let (get, set, doc) = (original.get, original.set, original.doc);
        // SAFETY: made just now, and never freed.
        let name = unsafe { CStr::from_ptr(leak(&name)) };
        let property = Box::leak(Box::new(Property { name, original }));
        let guard = Box::leak(Box::new(ffi::PyGetSetDef {
            name: name.as_ptr(),
            get: get.map(|_| read as ffi::getter),
            set: set.map(|_| write as ffi::setter),
            doc,
            closure: std::ptr::from_mut(property).cast(),
        }));
        // SAFETY: `guard` is alive for good; the class is a type object; a new reference or null with an exception set.
        let guard = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewGetSet(class.as_type_ptr(), guard))? };
        class.setattr(property.name.to_str().expect("ASCII"), guard)?;
    }
    Ok(())
}

// ---- operators in place

/// The slots of `a op= b`, their methods, and the methods that objects are told are called.
const IN_PLACE: [(c_int, &str, &str); 12] = [
    (ffi::Py_nb_inplace_add, "__iadd__", "add_"),
    (ffi::Py_nb_inplace_subtract, "__isub__", "sub_"),
    (ffi::Py_nb_inplace_multiply, "__imul__", "mul_"),
    (ffi::Py_nb_inplace_true_divide, "__itruediv__", "div_"),
    (ffi::Py_nb_inplace_floor_divide, "__ifloordiv__", "floor_divide_"),
    (ffi::Py_nb_inplace_remainder, "__imod__", "remainder_"),
    (ffi::Py_nb_inplace_and, "__iand__", "__iand__"),
    (ffi::Py_nb_inplace_or, "__ior__", "__ior__"),
    (ffi::Py_nb_inplace_xor, "__ixor__", "__ixor__"),
    (ffi::Py_nb_inplace_lshift, "__ilshift__", "__ilshift__"),
    (ffi::Py_nb_inplace_rshift, "__irshift__", "__irshift__"),
    (ffi::Py_nb_inplace_power, "__ipow__", "__ipow__"),
];
const POWER: usize = IN_PLACE.len() - 1;
static ORIGINALS: [AtomicPtr<c_void>; IN_PLACE.len()] = [const { AtomicPtr::new(null_mut()) }; IN_PLACE.len()];

/// # Safety
/// The arguments of an operator, with the interpreter held.
#[cold]
unsafe fn ask_in_place(i: usize, a: Object, b: Object) -> Option<Object> {
    Python::attach(|py| {
        // SAFETY: the duty.
        let (a, b) = unsafe { (Bound::from_borrowed_ptr(py, a), Bound::from_borrowed_ptr(py, b)) };
        answered(py, super::operator(IN_PLACE[i].2, &[&a, &b]))
    })
}

/// # Safety
/// As for [`ask_in_place`]; `original` calls PyO3's function.
#[inline]
unsafe fn in_place(i: usize, a: Object, b: Object, original: impl FnOnce(*mut c_void) -> Object) -> Object {
    // SAFETY: the duty.
    unsafe {
        if state::possible()
            && let Some(answer) = ask_in_place(i, a, b)
        {
            return answer;
        }
        let result = original(ORIGINALS[i].load(Ordering::Relaxed));
        if result != ffi::Py_NotImplemented() {
            return result;
        }
        // An object that is no number: it may be one that is asked.
        let Some(answer) = ask_in_place(i, a, b) else { return result };
        ffi::Py_DECREF(result);
        answer
    }
}

unsafe extern "C" fn assign<const N: usize>(a: Object, b: Object) -> Object {
    // SAFETY: the arguments of the slot, whose function PyO3 made.
    unsafe { in_place(N, a, b, |original| transmute::<*mut c_void, ffi::binaryfunc>(original)(a, b)) }
}

unsafe extern "C" fn assign_power(a: Object, b: Object, modulo: Object) -> Object {
    // SAFETY: as above, of three arguments.
    unsafe { in_place(POWER, a, b, |original| transmute::<*mut c_void, ffi::ternaryfunc>(original)(a, b, modulo)) }
}

const ASSIGN: [ffi::binaryfunc; POWER] = [
    assign::<0>,
    assign::<1>,
    assign::<2>,
    assign::<3>,
    assign::<4>,
    assign::<5>,
    assign::<6>,
    assign::<7>,
    assign::<8>,
    assign::<9>,
    assign::<10>,
];

/// Puts guards in front of the operators in place, for the class and for subclasses, which take the function from the
/// method. Where a slot is not found, an operator that is taken over leaves its left side as it is.
fn guard_operators(class: &Bound<'_, PyType>) -> PyResult<()> {
    for (i, (slot, method, _)) in IN_PLACE.into_iter().enumerate() {
        // SAFETY: a class that PyO3 made.
        let original = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), slot) };
        let method = class.getattr(method)?;
        let (Some(of_class), Some(of_method)) =
            (class::word_with(class, original)?, class::word_with(&method, original)?)
        else {
            continue;
        };
        ORIGINALS[i].store(original, Ordering::Relaxed);
        let guard = if i == POWER { assign_power as *mut c_void } else { ASSIGN[i] as *mut c_void };
        // SAFETY: the only words of the class and of its method that held the original. Nobody uses the class on
        // another thread yet.
        unsafe {
            *of_class = guard;
            *of_method = guard;
        }
    }
    Ok(())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let class = PyTensor::type_object(m.py());
    guard_functions(m, &class)?;
    guard_properties(&class)?;
    guard_operators(&class)
}
