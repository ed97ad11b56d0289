//! Steps of optimizers over all parameters at once. They say whether they took the step: what they do not take, the
//! package makes of ops, which say what is wrong if something is.

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyType};
use pyo3::{PyTypeInfo, ffi};
use retrograd_engine::optim::{Adam, AdamState, Sgd};
use retrograd_engine::{Result, Tensor};

use crate::call_site::{DETACH_ABOVE, detached, placed};
use crate::class::is_exact;
use crate::wrap::{unwrap, wrap};

/// `retrograd.nn.Parameter`, once it is there; lives as long as the process.
static PARAMETER: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

/// Tells the engine of the class of parameters, which are as plain as tensors.
#[pyfunction]
fn _register_parameter_class(class_: Bound<'_, PyType>) {
    PARAMETER.store(class_.into_ptr().cast(), Ordering::Relaxed);
}

/// The tensor, if it is plain.
fn plain<'a>(x: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    if is_exact(x) || x.get_type_ptr() == PARAMETER.load(Ordering::Relaxed) { unwrap(x) } else { None }
}

/// The tensors of a list, if all are plain.
fn all_plain(list: &Bound<'_, PyList>) -> Option<Vec<Tensor>> {
    let mut all = Vec::with_capacity(list.len());
    for x in list.iter() {
        all.push(plain(&x)?.clone());
    }
    Some(all)
}

/// Parameters that have gradients, the gradients, and the states.
type Gathered<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyList>);

/// The parameters that have gradients, with these and with what `state` has of each, if it is given. None if a
/// parameter is not plain and real, a gradient not dense, or a state not begun.
#[pyfunction]
fn _gather<'py>(
    py: Python<'py>,
    params: &Bound<'py, PyAny>,
    state: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Gathered<'py>>> {
    let Ok(params) = params.cast::<PyList>() else { return Ok(None) };
    let (with, grads, states) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for p in params.iter() {
        let Some(t) = plain(&p) else { return Ok(None) };
        let Some(grad) = t.grad() else {
            if t.is_leaf() {
                continue;
            }
            // Of others it is said that they get none.
            return Ok(None);
        };
        if !t.dtype().is_floating() || grad.is_sparse() {
            return Ok(None);
        }
        if let Some(state) = state {
            match state.get_item(&p)? {
                Some(begun) if begun.cast::<PyDict>().is_ok_and(|begun| !begun.is_empty()) => states.append(begun)?,
                _ => return Ok(None),
            }
        }
        with.append(p)?;
        grads.append(wrap(py, grad)?)?;
    }
    Ok(Some((with, grads, states)))
}

/// Whether a tensor of the list is sparse.
#[pyfunction]
fn _any_sparse(list: &Bound<'_, PyList>) -> bool {
    list.iter().any(|x| unwrap(&x).is_some_and(Tensor::is_sparse))
}

/// An option that is a number of Python.
pub fn number(v: &Bound<'_, PyAny>) -> Option<f64> {
    if v.is_instance_of::<PyFloat>() || PyInt::is_exact_type_of(v) { v.extract().ok() } else { None }
}

/// Whether the step was taken.
fn taken(py: Python<'_>, params: &[Tensor], step: impl FnOnce() -> Result<()> + Send) -> bool {
    let large = params.iter().map(Tensor::numel).sum::<usize>() > DETACH_ABOVE;
    if large { detached(py, step) } else { placed(step) }.is_ok()
}

/// A step of gradient descent for lists of parameters, gradients and momenta; False, and nothing is written, if it is
/// none for the engine.
#[pyfunction]
#[pyo3(signature = (params, grads, buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize))]
#[allow(clippy::too_many_arguments)]
fn _sgd_step(
    py: Python<'_>,
    params: &Bound<'_, PyList>,
    grads: &Bound<'_, PyList>,
    buffers: &Bound<'_, PyList>,
    lr: &Bound<'_, PyAny>,
    momentum: &Bound<'_, PyAny>,
    dampening: &Bound<'_, PyAny>,
    weight_decay: &Bound<'_, PyAny>,
    nesterov: bool,
    maximize: bool,
) -> bool {
    let step = || {
        let [lr, momentum, dampening, weight_decay] = [lr, momentum, dampening, weight_decay].map(number);
        let sgd = Sgd {
            lr: lr?,
            momentum: momentum?,
            dampening: dampening?,
            weight_decay: weight_decay?,
            nesterov,
            maximize,
        };
        let (params, grads) = (all_plain(params)?, all_plain(grads)?);
        let buffers = if sgd.momentum == 0.0 { Vec::new() } else { all_plain(buffers)? };
        Some(taken(py, &params, || sgd.step(&params, &grads, &buffers)))
    };
    step().unwrap_or(false)
}

/// A step of Adam for lists of parameters, gradients and states; False, and nothing is written, if it is none for the
/// engine.
#[pyfunction]
#[pyo3(signature = (params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, *, lr, beta1, beta2, eps, weight_decay,
    decoupled_weight_decay, amsgrad, maximize))]
#[allow(clippy::too_many_arguments)]
fn _adam_step(
    py: Python<'_>,
    params: &Bound<'_, PyList>,
    grads: &Bound<'_, PyList>,
    exp_avgs: &Bound<'_, PyList>,
    exp_avg_sqs: &Bound<'_, PyList>,
    max_exp_avg_sqs: &Bound<'_, PyList>,
    steps: &Bound<'_, PyList>,
    lr: &Bound<'_, PyAny>,
    beta1: &Bound<'_, PyAny>,
    beta2: &Bound<'_, PyAny>,
    eps: &Bound<'_, PyAny>,
    weight_decay: &Bound<'_, PyAny>,
    decoupled_weight_decay: bool,
    amsgrad: bool,
    maximize: bool,
) -> bool {
    let step = || {
        let [lr, beta1, beta2, eps, weight_decay] = [lr, beta1, beta2, eps, weight_decay].map(number);
        let adam = Adam {
            lr: lr?,
            beta1: beta1?,
            beta2: beta2?,
            eps: eps?,
            weight_decay: weight_decay?,
            decoupled_weight_decay,
            maximize,
        };
        let [params, grads, means, squares, steps] = [params, grads, exp_avgs, exp_avg_sqs, steps].map(all_plain);
        let (params, grads, means, squares, steps) = (params?, grads?, means?, squares?, steps?);
        let largest = if amsgrad { all_plain(max_exp_avg_sqs)? } else { Vec::new() };
        let state = AdamState { means: &means, squares: &squares, largest: &largest, steps: &steps };
        Some(taken(py, &params, || adam.step(&params, &grads, state)))
    };
    step().unwrap_or(false)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_register_parameter_class, m)?)?;
    m.add_function(wrap_pyfunction!(_gather, m)?)?;
    m.add_function(wrap_pyfunction!(_any_sparse, m)?)?;
    m.add_function(wrap_pyfunction!(_sgd_step, m)?)?;
    m.add_function(wrap_pyfunction!(_adam_step, m)?)
}
