//! Transforms: batch levels, batched tensors, and the graphs of transforms.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use retrograd_engine::Tensor;
use retrograd_engine::autograd::{engine, forward};
use retrograd_engine::transforms::{self, Randomness};

use crate::errors::OrPy;
use crate::wrap::{unwrap, wrap};

fn tensor<'a>(v: &'a Bound<'_, PyAny>) -> PyResult<&'a Tensor> {
    unwrap(v).ok_or_else(|| PyTypeError::new_err(format!("expected a Tensor, got {}", crate::call::type_name(v))))
}

fn tensors(all: &Bound<'_, PyTuple>) -> PyResult<Vec<Tensor>> {
    all.iter().map(|v| tensor(&v).cloned()).collect()
}

/// The entry that axis `dim` of the tensor runs over.
#[pyfunction]
fn _batch<'py>(t: &Bound<'py, PyAny>, dim: i64, level: usize) -> PyResult<Bound<'py, PyAny>> {
    let level = transforms::level(level).or_py()?;
    wrap(t.py(), tensor(t)?.batch(dim, &level).or_py()?)
}

/// All entries, along axis `dim`; the tensor repeated if it is not batched at the level.
#[pyfunction]
fn _unbatch<'py>(t: &Bound<'py, PyAny>, dim: i64, level: usize) -> PyResult<Bound<'py, PyAny>> {
    let level = transforms::level(level).or_py()?;
    wrap(t.py(), tensor(t)?.unbatch(dim, &level).or_py()?)
}

/// The tensor, batched at every open level.
#[pyfunction]
fn _batch_at_all_levels<'py>(t: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    wrap(t.py(), transforms::batch_at_all_levels(tensor(t)?).or_py()?)
}

/// Value, batch axis and level number of a batched tensor, None for others.
#[pyfunction]
fn _batch_parts<'py>(t: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, usize, usize)>> {
    let Some((value, dim, level)) = tensor(t)?.batch_parts().transpose().or_py()? else { return Ok(None) };
    Ok(Some((wrap(t.py(), value)?, dim, level)))
}

/// Size and randomness of an open level, whether it is private, and whether another transform runs inside it.
#[pyfunction]
fn _vmap_info(level: usize) -> PyResult<(usize, &'static str, bool, bool)> {
    let level = transforms::level(level).or_py()?;
    let randomness = match level.randomness() {
        Randomness::Error => "error",
        Randomness::Same => "same",
        Randomness::Different => "different",
    };
    Ok((level.size(), randomness, level.is_private(), level.is_around_others()))
}

/// How many transforms are under way on this thread.
#[pyfunction]
fn _transforms_active() -> usize {
    transforms::active()
}

/// Names of the ops that ran entry by entry so far, for want of a batching rule.
#[pyfunction]
fn _looped() -> Vec<&'static str> {
    transforms::looped()
}

/// The tensor with its tangents as the start of a graph, which ends with the innermost transform.
#[pyfunction]
fn _variable<'py>(t: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    wrap(t.py(), transforms::variable(tensor(t)?).or_py()?)
}

/// Ends leaves that `_variable` made where no transform does.
#[pyfunction]
fn _close(leaves: &Bound<'_, PyTuple>) -> PyResult<()> {
    tensors(leaves)?.iter().for_each(transforms::close);
    Ok(())
}

/// A result as it is seen from outside: with a graph only if `keep`, and if that leads on to more than `inner`.
#[pyfunction]
fn _settled<'py>(t: &Bound<'py, PyAny>, inner: &Bound<'_, PyTuple>, keep: bool) -> PyResult<Bound<'py, PyAny>> {
    let given = tensor(t)?;
    let settled = transforms::settled(given, &tensors(inner)?, keep).or_py()?;
    if settled.is_same(given) { Ok(t.clone()) } else { wrap(t.py(), settled) }
}

/// Whether the graph behind `outputs` reaches a leaf that is none of `inputs`.
#[pyfunction]
fn _leads_elsewhere(outputs: &Bound<'_, PyTuple>, inputs: &Bound<'_, PyTuple>) -> PyResult<bool> {
    engine::leads_elsewhere(&tensors(outputs)?, &tensors(inputs)?).or_py()
}

/// A view of `primal` that has the batch of tangents at the level `private` as its tangent at the dual level `level`.
#[pyfunction]
fn _make_dual_along<'py>(
    primal: &Bound<'py, PyAny>,
    tangent: &Bound<'py, PyAny>,
    level: usize,
    private: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let along = transforms::level(private).or_py()?;
    wrap(primal.py(), forward::make_dual(tensor(primal)?, tensor(tangent)?, level, Some(&along)).or_py()?)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    for f in [
        wrap_pyfunction!(_batch, m)?,
        wrap_pyfunction!(_unbatch, m)?,
        wrap_pyfunction!(_batch_at_all_levels, m)?,
        wrap_pyfunction!(_batch_parts, m)?,
        wrap_pyfunction!(_vmap_info, m)?,
        wrap_pyfunction!(_transforms_active, m)?,
        wrap_pyfunction!(_looped, m)?,
        wrap_pyfunction!(_variable, m)?,
        wrap_pyfunction!(_close, m)?,
        wrap_pyfunction!(_settled, m)?,
        wrap_pyfunction!(_leads_elsewhere, m)?,
        wrap_pyfunction!(_make_dual_along, m)?,
    ] {
        m.add_function(f)?;
    }
    Ok(())
}
