//! Forward mode through a custom function: its `jvp` runs right after `forward`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use retrograd::Tensor;
use retrograd::autograd::Grads;
use retrograd::autograd::forward::{check_sizes, own_tangents, push_through};
use smallvec::SmallVec;

use super::PyFunctionCtx;
use crate::call::type_name;
use crate::errors::{OrPy, from_py};
use crate::wrap::{unwrap, wrap};

/// Gives the results of a call tangents, at every level at which an operand has one. `tensors_in` says which arguments are
/// tensors, `dirty` which of those were written to.
pub fn push(
    ctx: &Bound<'_, PyFunctionCtx>,
    args: &Bound<'_, PyTuple>,
    operands: &[Tensor],
    tensors_in: &[bool],
    dirty: &[Tensor],
    results: &[Option<Tensor>],
) -> PyResult<()> {
    let xs: SmallVec<[&Tensor; 4]> = operands.iter().collect();
    let outs: SmallVec<[Tensor; 2]> = results.iter().flatten().cloned().collect();
    own_tangents(dirty).or_py()?;
    let rule = |ts: &[Option<Tensor>]| call(ctx, args, operands, tensors_in, dirty, results, ts).map_err(from_py);
    push_through(&xs, &outs, rule, "jvp").or_py()
}

/// Restores what `ctx.saved_tensors` gives.
struct Running<'a>(&'a PyFunctionCtx);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.notes.lock().in_jvp = false;
    }
}

#[allow(clippy::too_many_arguments)]
fn call(
    ctx: &Bound<'_, PyFunctionCtx>,
    args: &Bound<'_, PyTuple>,
    operands: &[Tensor],
    tensors_in: &[bool],
    dirty: &[Tensor],
    results: &[Option<Tensor>],
    ts: &[Option<Tensor>],
) -> PyResult<Grads> {
    let py = ctx.py();
    let function = ctx.getattr(intern!(py, "_forward_cls"))?;
    let jvp = function.getattr(intern!(py, "jvp"))?;
    // A function that writes to an operand cannot be run again.
    if jvp.is(&super::face(py)?.jvp) && dirty.is_empty() {
        let mut given = ts.iter();
        let tangent = |&is_tensor: &bool| match is_tensor.then(|| given.next()).flatten() {
            Some(Some(t)) => wrap(py, t.clone()),
            _ => Ok(py.None().into_bound(py)),
        };
        let tangents = tensors_in.iter().map(tangent).collect::<PyResult<SmallVec<[_; 8]>>>()?;
        let transposed = TRANSPOSED.import(py, "retrograd.autograd._custom_jvp", "transposed")?;
        let returned = transposed.call1((function, args, PyTuple::new(py, tangents)?))?;
        return tangents_of(&returned, operands, dirty, results, ts);
    }
    let materialize = {
        let mut notes = ctx.get().notes.lock();
        notes.in_jvp = true;
        notes.materialize
    };
    let _running = Running(ctx.get());
    let mut given = operands.iter().zip(ts).map(|(x, t)| match t {
        Some(t) => wrap(py, t.clone()),
        None if materialize => wrap(py, Tensor::full(x.sizes(), 0i64.into(), x.dtype()).or_py()?),
        None => Ok(py.None().into_bound(py)),
    });
    let mut given_args: SmallVec<[Bound<'_, PyAny>; 8]> = SmallVec::new();
    given_args.push(ctx.clone().into_any());
    for &is_tensor in tensors_in {
        given_args.push(match is_tensor {
            true => given.next().expect("an operand per tensor")?,
            false => py.None().into_bound(py),
        });
    }
    let returned = jvp.call1(PyTuple::new(py, given_args)?)?;
    tangents_of(&returned, operands, dirty, results, ts)
}

static TRANSPOSED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What a rule returned, checked.
fn tangents_of(
    returned: &Bound<'_, PyAny>,
    operands: &[Tensor],
    dirty: &[Tensor],
    results: &[Option<Tensor>],
    ts: &[Option<Tensor>],
) -> PyResult<Grads> {
    let returned: SmallVec<[Bound<'_, PyAny>; 2]> = match returned.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => smallvec::smallvec![returned.clone()],
    };
    if returned.len() != results.len() {
        return Err(PyRuntimeError::new_err(format!(
            "Function's jvp returned an invalid number of forward gradients (expected {} but got {})",
            results.len(),
            returned.len()
        )));
    }
    let mut tangents = Grads::new();
    for (i, (value, result)) in returned.iter().zip(results).enumerate() {
        let tangent = match unwrap(value) {
            Some(t) => Some(t.clone()),
            None if value.is_none() => None,
            None => {
                return Err(PyRuntimeError::new_err(format!(
                    "expected Variable or None (got {}) for grad output {i}.",
                    type_name(value)
                )));
            }
        };
        let Some(result) = result else { continue };
        if let Some(t) = &tangent {
            check(operands, dirty, ts, result, t)?;
        }
        tangents.push(tangent);
    }
    Ok(tangents)
}

/// The rules on tangents of results that share memory with operands.
fn check(
    operands: &[Tensor],
    dirty: &[Tensor],
    ts: &[Option<Tensor>],
    result: &Tensor,
    tangent: &Tensor,
) -> PyResult<()> {
    check_sizes(result, tangent).or_py()?;
    if dirty.iter().any(|d| d.is_same(result)) {
        let before = operands.iter().position(|x| x.is_same(result)).and_then(|i| ts[i].as_ref());
        if before.is_some_and(|before| !before.is_same(tangent)) {
            return Err(PyRuntimeError::new_err(
                "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying \
                 an input inplace, then the jvp function must modify the corresponding gradient inplace.",
            ));
        }
    } else if result.base().is_some() && tangent.base().is_none() {
        return Err(PyRuntimeError::new_err(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.",
        ));
    }
    Ok(())
}
