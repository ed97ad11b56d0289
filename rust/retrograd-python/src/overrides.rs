//! `__torch_function__`: objects that take over the functions and methods that they are given to.
//!
//! Before a call runs, the objects among its arguments whose class has `__torch_function__` are asked, and before them
//! the modes of the thread. A program without subclasses and modes pays one load per call ([`state::possible`]): other
//! objects with `__torch_function__` are found once an argument does not fit.

pub mod members;
pub mod state;

use pyo3::exceptions::{PyDeprecationWarning, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use pyo3::{PyTypeInfo, intern};
use retrograd_engine::ops::index::{self, IndexItem};
use smallvec::SmallVec;

use crate::class;
use crate::dtype::PyDType;
use crate::errors::OrPy;
use crate::wrap::{PyTensor, unwrap};
use state::{Guard, State};

type Any<'py> = Bound<'py, PyAny>;

/// What a class has as `__torch_function__` whose objects are not asked: [`_disabled_torch_function_impl`].
static DISABLED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
/// What a class has as `__torch_dispatch__` unless it wants what there is not.
static NO_DISPATCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Whether objects of a class are asked.
fn class_asks(class: &Bound<'_, PyType>) -> bool {
    let py = class.py();
    let Ok(given) = class.getattr(intern!(py, "__torch_function__")) else { return false };
    !DISABLED.get(py).is_some_and(|disabled| given.is(disabled))
}

/// Whether an object is asked. Those that most arguments are, are told apart by their class alone.
fn asks(object: &Any<'_>) -> bool {
    let plain = class::is_exact(object)
        || object.is_none()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyDType>();
    !plain && class_asks(&object.get_type())
}

/// The arguments of a call that are asked, one per class: subclasses before their bases, else from left to right.
#[derive(Default)]
pub struct Askable<'py>(SmallVec<[Any<'py>; 2]>);

impl<'py> Askable<'py> {
    fn add_one(&mut self, object: &Any<'py>) {
        if !asks(object) {
            return;
        }
        let class = object.get_type();
        if self.0.iter().any(|known| known.get_type().is(&class)) {
            return;
        }
        let is_base = |known: &Any<'py>| class.is_subclass(&known.get_type()).unwrap_or(false);
        let at = self.0.iter().position(is_base).unwrap_or(self.0.len());
        self.0.insert(at, object.clone());
    }

    /// Adds an argument, or the items of one that is a list or tuple.
    pub fn add(&mut self, argument: &Any<'py>) {
        if let Ok(tuple) = argument.cast::<PyTuple>() {
            tuple.iter_borrowed().for_each(|item| self.add_one(&item));
        } else if let Ok(list) = argument.cast::<PyList>() {
            list.iter().for_each(|item| self.add_one(&item));
        } else {
            self.add_one(argument);
        }
    }

    /// Whether nobody is to be asked on this thread, no mode either.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty() && !state::has_mode()
    }
}

/// A call as `__torch_function__` gets it.
pub struct Call<'py> {
    /// The function or method that the program called.
    pub function: Any<'py>,
    /// What errors call it.
    pub name: String,
    pub args: Bound<'py, PyTuple>,
    pub kwargs: Option<Bound<'py, PyDict>>,
}

/// The result of a call whose `arguments` may take it over; `None` if none of them does.
pub fn taken_over<'a, 'py: 'a>(
    arguments: impl Iterator<Item = Borrowed<'a, 'py, PyAny>>,
    call: impl FnOnce() -> PyResult<Call<'py>>,
) -> PyResult<Option<Any<'py>>> {
    let mut askable = Askable::default();
    match state::get() {
        State::Off => return Ok(None),
        State::ModesOnly => {}
        State::On => arguments.for_each(|argument| askable.add(&argument)),
    }
    if askable.is_empty() {
        return Ok(None);
    }
    ask(&askable, &call()?).map(Some)
}

/// Asks the innermost mode, then the arguments, until one answers.
fn ask<'py>(askable: &Askable<'py>, call: &Call<'py>) -> PyResult<Any<'py>> {
    let py = call.args.py();
    let types = PyTuple::new(py, askable.0.iter().map(|object| object.get_type()))?;
    let asked = |who: &Any<'py>, is_mode: bool| -> PyResult<Option<Any<'py>>> {
        let handler = who.getattr(intern!(py, "__torch_function__"))?;
        if !is_mode && handler.getattr("__self__").is_ok_and(|bound| bound.is(who)) {
            let text =
                c"Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, \
                         please define it as a classmethod.";
            PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), text, 1)?;
        }
        let answer = match &call.kwargs {
            Some(kwargs) => handler.call1((&call.function, &types, &call.args, kwargs))?,
            None => handler.call1((&call.function, &types, &call.args))?,
        };
        Ok((!answer.is(py.NotImplemented())).then_some(answer))
    };
    if let Some(mode) = state::Popped::new(py) {
        let answer = asked(mode.mode(), true)?;
        drop(mode);
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
    for object in &askable.0 {
        if let Some(answer) = asked(object, false)? {
            return Ok(answer);
        }
    }
    let mode =
        state::top(py).map_or(Ok(String::new()), |mode| mode.repr().map(|text| format!(" nor in mode {text}")))?;
    Err(PyTypeError::new_err(format!(
        "Multiple dispatch failed for '{0}'; all __torch_function__ handlers returned NotImplemented: no implementation \
         found for '{0}' on types that implement __torch_function__: [{1}]{mode}",
        call.name,
        types.iter().map(|t| t.repr().map(|text| text.to_string())).collect::<PyResult<Vec<_>>>()?.join(", "),
    )))
}

/// As [`taken_over`], for a member of `Tensor`.
#[cold]
pub fn member<'py>(name: &str, arguments: &[&Any<'py>]) -> PyResult<Option<Any<'py>>> {
    taken_over(arguments.iter().map(|argument| argument.as_borrowed()), || {
        let py = arguments[0].py();
        Ok(Call {
            function: PyTensor::type_object(py).getattr(name)?,
            name: format!("retrograd.Tensor.{name}"),
            args: PyTuple::new(py, arguments)?,
            kwargs: None,
        })
    })
}

/// As [`member`], for an operator: objects that are asked and raise TypeError leave it to the other operand.
#[cold]
pub fn operator<'py>(name: &str, arguments: &[&Any<'py>]) -> PyResult<Option<Any<'py>>> {
    let py = arguments[0].py();
    match member(name, arguments) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Ok(Some(py.NotImplemented().into_bound(py))),
        answer => answer,
    }
}

// ---- the answer of tensors

/// What `Tensor.__torch_function__` answers: the result of the function, with tensors made objects of `class`.
pub fn keep_subclass<'py>(
    class: &Bound<'py, PyType>,
    function: &Any<'py>,
    types: &Any<'py>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Any<'py>> {
    let py = class.py();
    for other in types.try_iter()? {
        if !class.is_subclass(&other?)? {
            return Ok(py.NotImplemented().into_bound(py));
        }
    }
    let result = {
        let _plain = Guard::new(State::ModesOnly);
        function.call(args, kwargs)?
    };
    if class.is(PyTensor::type_object(py)) || is_stored(function)? {
        return Ok(result);
    }
    converted(result, class)
}

/// Whether a function reads a tensor that another one stores, which stays the object that it is.
fn is_stored(function: &Any<'_>) -> PyResult<bool> {
    let py = function.py();
    let Ok(property) = function.getattr(intern!(py, "__self__")) else { return Ok(false) };
    let tensor = PyTensor::type_object(py);
    Ok(property.is(&tensor.getattr(intern!(py, "grad"))?) || property.is(&tensor.getattr(intern!(py, "_base"))?))
}

fn converted<'py>(result: Any<'py>, class: &Bound<'py, PyType>) -> PyResult<Any<'py>> {
    if let Some(t) = unwrap(&result) {
        return if result.is_instance(class)? { Ok(result) } else { as_subclass(t, class) };
    }
    if !result.is_instance_of::<PyTuple>() && !result.is_instance_of::<PyList>() {
        return Ok(result);
    }
    let items: Vec<_> = result.try_iter()?.map(|item| converted(item?, class)).collect::<PyResult<_>>()?;
    let kind = result.get_type();
    // A named tuple is made by another function.
    let make = kind.getattr(intern!(class.py(), "_make")).unwrap_or(kind.into_any());
    make.call1((PyList::new(class.py(), items)?,))
}

/// The tensor as an object of a class, over the same memory, in the same graph.
pub fn as_subclass<'py>(t: &retrograd_engine::Tensor, class: &Bound<'py, PyType>) -> PyResult<Any<'py>> {
    let py = class.py();
    if !class.is_subclass(&PyTensor::type_object(py))? {
        return Err(PyRuntimeError::new_err(no_subclass(class)?));
    }
    let alias = index::get(t, &[IndexItem::Ellipsis]).or_py()?;
    if class.is(PyTensor::type_object(py)) { class::new_object(py, alias) } else { class::new_object_of(class, alias) }
}

/// Why nothing is made an object of a class.
pub fn no_subclass(class: &Bound<'_, PyType>) -> PyResult<String> {
    let name = class.name()?;
    Ok(format!(
        "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class \
         inherits from Tensor: {name} does not"
    ))
}

/// Notes that there is an object of a subclass; refuses a class that wants to see what ops are made of.
pub fn note_class(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    if class_asks(class) {
        state::note_subclass();
    }
    let dispatch = class.getattr(intern!(py, "__torch_dispatch__"))?;
    if NO_DISPATCH.get(py).is_some_and(|none| !dispatch.is(none)) {
        return Err(pyo3::exceptions::PyNotImplementedError::new_err(format!(
            "{}: retrograd does not call __torch_dispatch__, so no object of a class that defines it can be made; define \
             __torch_function__ instead",
            class.name()?
        )));
    }
    Ok(())
}

// ---- what the Python package calls

/// As the `__torch_function__` of a class: its objects are not asked.
#[pyfunction]
#[pyo3(signature = (func, types, args = None, kwargs = None))]
fn _disabled_torch_function_impl<'py>(
    func: &Any<'py>,
    types: &Any<'py>,
    args: Option<&Bound<'py, PyTuple>>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Any<'py>> {
    let _ = types;
    let _plain = Guard::new(State::ModesOnly);
    let empty = PyTuple::empty(func.py());
    func.call(args.unwrap_or(&empty), kwargs)
}

/// As the `__torch_dispatch__` of a class: there is none.
#[pyfunction]
#[pyo3(signature = (func, types, args = None, kwargs = None))]
fn _disabled_torch_dispatch_impl<'py>(
    func: &Any<'py>,
    types: &Any<'py>,
    args: Option<&Bound<'py, PyTuple>>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Any<'py>> {
    let _ = types;
    let empty = PyTuple::empty(func.py());
    func.call(args.unwrap_or(&empty), kwargs)
}

/// Whether somebody is to be asked before a function runs on these arguments.
fn any_asked<'py>(mut arguments: impl Iterator<Item = Any<'py>>) -> bool {
    match state::get() {
        State::Off => false,
        _ if state::has_mode() => true,
        State::ModesOnly => false,
        State::On => arguments.any(|argument| asks(&argument)),
    }
}

/// Whether the object, or a mode, is to be asked before a function of it runs.
pub fn would_ask(object: &Any<'_>) -> bool {
    any_asked(std::iter::once(object.clone()))
}

/// Whether one of the items, or a mode, is to be asked before a function of them runs.
#[pyfunction]
fn _has_torch_function(relevant_args: &Any<'_>) -> PyResult<bool> {
    if let Ok(tuple) = relevant_args.cast_exact::<PyTuple>() {
        return Ok(any_asked(tuple.iter()));
    }
    let items: Vec<_> = relevant_args.try_iter()?.collect::<PyResult<_>>()?;
    Ok(any_asked(items.into_iter()))
}

/// As `has_torch_function((obj,))`.
#[pyfunction]
fn _has_torch_function_unary(obj: &Any<'_>) -> bool {
    any_asked(std::iter::once(obj.clone()))
}

/// As `has_torch_function(args)`.
#[pyfunction]
#[pyo3(signature = (*args))]
fn _has_torch_function_variadic(args: &Bound<'_, PyTuple>) -> bool {
    any_asked(args.iter())
}

/// Asks modes and `relevant_args` for the result of `public_api(*args, **kwargs)`.
#[pyfunction]
#[pyo3(signature = (public_api, relevant_args, /, *args, **kwargs))]
fn _handle_torch_function<'py>(
    public_api: &Any<'py>,
    relevant_args: &Any<'py>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Any<'py>> {
    let py = public_api.py();
    let mut askable = Askable::default();
    if state::get() == State::On {
        for argument in relevant_args.try_iter()? {
            askable.add_one(&argument?);
        }
    }
    let part = |name| public_api.getattr(name).map_or_else(|_| String::from("?"), |text| text.to_string());
    ask(
        &askable,
        &Call {
            function: public_api.clone(),
            name: format!("{}.{}", part("__module__"), part("__name__")),
            args: args.clone(),
            kwargs: Some(kwargs.cloned().unwrap_or_else(|| PyDict::new(py))),
        },
    )
}

/// The arguments that are asked, in their order.
#[pyfunction]
fn _get_overloaded_args<'py>(relevant_args: &Any<'py>) -> PyResult<Vec<Any<'py>>> {
    let mut askable = Askable::default();
    if state::get() == State::On {
        for argument in relevant_args.try_iter()? {
            askable.add_one(&argument?);
        }
    }
    Ok(askable.0.into_vec())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add_function(wrap_pyfunction!(_disabled_torch_function_impl, m)?)?;
    m.add_function(wrap_pyfunction!(_disabled_torch_dispatch_impl, m)?)?;
    m.add_function(wrap_pyfunction!(_has_torch_function, m)?)?;
    m.add_function(wrap_pyfunction!(_has_torch_function_unary, m)?)?;
    m.add_function(wrap_pyfunction!(_has_torch_function_variadic, m)?)?;
    m.add_function(wrap_pyfunction!(_handle_torch_function, m)?)?;
    m.add_function(wrap_pyfunction!(_get_overloaded_args, m)?)?;
    let _ = DISABLED.set(py, m.getattr("_disabled_torch_function_impl")?.unbind());
    let no_dispatch = m.getattr("_disabled_torch_dispatch_impl")?;
    PyTensor::type_object(py).setattr("__torch_dispatch__", &no_dispatch)?;
    let _ = NO_DISPATCH.set(py, no_dispatch.unbind());
    state::register(m)?;
    members::register(m)
}
