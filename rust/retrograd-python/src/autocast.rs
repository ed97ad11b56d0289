//! What the thread does in regions of autocast, for `retrograd.amp`. The regions themselves are scopes (`scope.rs`).

use pyo3::prelude::*;
use retrograd_engine::autocast;

use crate::dtype::{self, PyDType};

/// Whether ops convert their operands.
#[pyfunction]
fn _autocast_enabled() -> bool {
    autocast::is_enabled()
}

#[pyfunction]
fn _set_autocast_enabled(on: bool) {
    autocast::set_enabled(on);
}

/// What products convert to.
#[pyfunction]
fn _autocast_dtype(py: Python<'_>) -> PyResult<Py<PyDType>> {
    dtype::object(py, autocast::dtype())
}

#[pyfunction]
fn _set_autocast_dtype(to: &PyDType) {
    autocast::set_dtype(to.0);
}

#[pyfunction]
fn _autocast_caches() -> bool {
    autocast::is_cache_enabled()
}

#[pyfunction]
fn _set_autocast_caches(on: bool) {
    autocast::set_cache_enabled(on);
}

/// Forgets the leaves that were converted.
#[pyfunction]
fn _clear_autocast_cache() {
    autocast::clear_cache();
}

/// One region more, or one less: how many are entered now.
#[pyfunction]
fn _autocast_nesting(one_more: bool) -> i32 {
    if one_more { autocast::increment_nesting() } else { autocast::decrement_nesting() }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_autocast_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(_set_autocast_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(_autocast_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(_set_autocast_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(_autocast_caches, m)?)?;
    m.add_function(wrap_pyfunction!(_set_autocast_caches, m)?)?;
    m.add_function(wrap_pyfunction!(_clear_autocast_cache, m)?)?;
    m.add_function(wrap_pyfunction!(_autocast_nesting, m)?)
}
