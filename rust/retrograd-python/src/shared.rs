//! Memory that processes share: what `retrograd.multiprocessing` sends and receives.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use retrograd_engine::storage::Storage;
use retrograd_engine::{DType, Tensor};

use crate::errors::OrPy;
use crate::wrap::{PyTensor, wrap};

/// Moves the memory of a tensor to where other processes can have it too.
pub fn share(op: &'static str, t: &Tensor) -> PyResult<()> {
    retrograd_engine::transforms::check_read(op, t).or_py()?;
    Storage::share(&t.storage(), op).or_py()
}

/// The file with the memory of a tensor, which is open as long as the memory lives.
///
/// Raises: RuntimeError if the memory is not shared.
#[pyfunction]
fn _shared_file(t: &Bound<'_, PyTensor>) -> PyResult<i32> {
    let file = t.get().0.storage().shared_file();
    file.ok_or_else(|| PyRuntimeError::new_err("the tensor's memory is not shared: call share_memory_() first"))
}

/// Whether the memory of a tensor cannot grow, as others have its address.
#[pyfunction]
fn _is_fixed(t: &Bound<'_, PyTensor>) -> bool {
    t.get().0.storage().is_fixed()
}

/// The bytes of a file that another process made with `_shared_file`, as a uint8 tensor. The file stays the caller's.
///
/// Raises: RuntimeError if the file is none of that kind, or has fewer bytes.
#[pyfunction]
fn _over_shared_file(py: Python<'_>, file: i32, nbytes: usize) -> PyResult<Bound<'_, PyAny>> {
    let storage = Storage::of_shared_file("_over_shared_file", file, nbytes).or_py()?;
    wrap(py, Tensor::from_parts(storage, DType::UInt8, &[nbytes], &[1], 0).or_py()?)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_shared_file, m)?)?;
    m.add_function(wrap_pyfunction!(_is_fixed, m)?)?;
    m.add_function(wrap_pyfunction!(_over_shared_file, m)?)
}
