//! Forward mode through a custom function: its `jvp` runs right after `forward`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use retrograd_engine::Tensor;
use retrograd_engine::autograd::Grads;
use retrograd_engine::autograd::forward::{check_sizes, own_tangents, propagate_through};
use smallvec::SmallVec;

use super::PyFunctionCtx;
use crate::call::type_name;
use crate::errors::{OrPy, from_py};
use crate::wrap::{unwrap, wrap};

/// A call whose results get tangents.
pub struct Call<'a, 'py> {
    pub ctx: &'a Bound<'py, PyFunctionCtx>,
    pub args: &'a Bound<'py, PyTuple>,
    pub operands: &'a [Tensor],
    /// Which arguments are tensors.
    pub tensors_in: &'a [bool],
    /// Operands that were written to.
    pub dirty: &'a [Tensor],
    pub results: &'a [Outcome],
}

/// A result that is a tensor, and whether it may have a tangent.
pub type Outcome = Option<(Tensor, bool)>;

/// Gives the results of a call tangents, at every level at which an operand has one.
pub fn propagate(call: &Call<'_, '_>) -> PyResult<()> {
    let xs: SmallVec<[&Tensor; 4]> = call.operands.iter().collect();
    let outs: SmallVec<[Tensor; 2]> =
        call.results.iter().flatten().filter(|(_, requires_grad)| *requires_grad).map(|(t, _)| t.clone()).collect();
    own_tangents(call.dirty).or_py()?;
    propagate_through(&xs, &outs, &mut |ts| run(call, ts).map_err(from_py), "jvp").or_py()
}

/// Restores what `ctx.saved_tensors` gives.
struct Running<'a>(&'a PyFunctionCtx);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.notes.lock().in_jvp = false;
    }
}

fn run(call: &Call<'_, '_>, ts: &[Option<Tensor>]) -> PyResult<Grads> {
    let Call { ctx, args, operands, tensors_in, dirty, .. } = *call;
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
        let transposed = TRANSPOSED.import(py, "retrograd.autograd.function._jvp", "transposed")?;
        let returned = transposed.call1((function, args, PyTuple::new(py, tangents)?))?;
        return tangents_of(&returned, call, ts);
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
    tangents_of(&returned, call, ts)
}

static TRANSPOSED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What a rule returned, checked.
fn tangents_of(returned: &Bound<'_, PyAny>, call: &Call<'_, '_>, ts: &[Option<Tensor>]) -> PyResult<Grads> {
    let results = call.results;
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
        match (result, &tangent) {
            (None, _) => continue,
            (Some((_, false)), None) => continue,
            (Some((_, false)), Some(_)) => {
                return Err(PyRuntimeError::new_err(format!(
                    "Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not a \
                     differentiable Tensor.You should return None at that position instead."
                )));
            }
            (Some((result, true)), Some(t)) => check(call, ts, result, t)?,
            (Some(_), None) => {}
        }
        tangents.push(tangent);
    }
    Ok(tangents)
}

/// The rules on tangents of results that share memory with operands.
fn check(call: &Call<'_, '_>, ts: &[Option<Tensor>], result: &Tensor, tangent: &Tensor) -> PyResult<()> {
    let Call { operands, dirty, .. } = *call;
    // A result may be a view of something that the function made itself.
    let base = |x: &Tensor| x.base().unwrap_or(x).clone();
    let looks_into_operand = || result.base().is_some_and(|b| operands.iter().any(|x| base(x).is_same(b)));
    check_sizes(result, tangent).or_py()?;
    if dirty.iter().any(|d| d.is_same(result)) {
        let before = operands.iter().position(|x| x.is_same(result)).and_then(|i| ts[i].as_ref());
        if before.is_some_and(|before| !before.is_same(tangent)) {
            return Err(PyRuntimeError::new_err(
                "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying \
                 an input inplace, then the jvp function must modify the corresponding gradient inplace.",
            ));
        }
    } else if tangent.base().is_none() && looks_into_operand() {
        return Err(PyRuntimeError::new_err(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.",
        ));
    }
    Ok(())
}
