//! `sparse_coo_tensor`, `sparse_csr_tensor`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use retrograd_engine::ops::sparse;
use retrograd_engine::{DType, Tensor};

use super::{from_data, mark, options};
use crate::convert::integers;
use crate::errors::OrPy;
use crate::wrap::{unwrap, wrap};

/// A tensor as it is, anything else as a fresh one.
fn given(op: &'static str, data: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    match unwrap(data) {
        Some(t) => Ok(t.clone()),
        None => from_data(op, data, dtype),
    }
}

/// A sparse tensor of `values` at `indices`: all other elements are zero.
///
/// Args: `indices` (axes, entries), integers: a row for each axis with indices, a column for each entry; `values`
/// (entries, *sizes of the other axes); `size` the shape, the smallest one if None; `dtype` that of the values;
/// `requires_grad` makes the tensor a leaf; `is_coalesced` says that the indices are in order, and different, which
/// `check_invariants` has checked. Entries of one place count as their sum. `sparse_coo_tensor(size)` has no entries.
/// Returns: a sparse tensor with the memory of `values`. Derivative: `g` at the indices, for `values`. Raises:
/// RuntimeError if the sizes of the arguments do not fit, or an index is not within `size`.
///
/// >>> x = rg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
/// >>> x.to_dense().tolist()
/// [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]
#[pyfunction]
#[pyo3(signature = (indices = None, values = None, size = None, *, dtype = None, device = None, pin_memory = false,
    requires_grad = false, check_invariants = None, is_coalesced = None))]
#[allow(clippy::too_many_arguments, reason = "the signature of torch's function")]
pub fn sparse_coo_tensor<'py>(
    py: Python<'py>,
    indices: Option<&Bound<'py, PyAny>>,
    values: Option<&Bound<'py, PyAny>>,
    size: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    pin_memory: bool,
    requires_grad: bool,
    check_invariants: Option<bool>,
    is_coalesced: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    const OP: &str = "sparse_coo_tensor";
    let dtype = options(OP, dtype, device)?;
    if pin_memory {
        return Err(super::no_pinning(OP));
    }
    let (size, empty) = match (indices, values, size) {
        (Some(size), None, None) | (None, None, Some(size)) => (Some(sizes_of(OP, size)?), true),
        (Some(_), Some(_), size) => (size.map(|size| sizes_of(OP, size)).transpose()?, false),
        _ => return Err(PyTypeError::new_err(format!("{OP}(): takes indices and values, or a size"))),
    };
    let check = check_invariants.unwrap_or(false);
    let t = if empty {
        let size = size.unwrap_or_default();
        let indices = Tensor::empty(&[size.len(), 0], DType::Int64).or_py()?;
        let values = Tensor::empty(&[0], dtype.unwrap_or_else(retrograd_engine::tensor::default_dtype)).or_py()?;
        sparse::sparse_coo_tensor(&indices, &values, Some(&size), is_coalesced, check)
    } else {
        let (indices, values) = (indices.expect("matched"), values.expect("matched"));
        let indices = given(OP, indices, Some(DType::Int64))?;
        let values = values_of(OP, values, dtype, requires_grad)?;
        sparse::sparse_coo_tensor(&indices, &values, size.as_deref(), is_coalesced, check)
    };
    let t = t.or_py()?;
    mark(&t, requires_grad)?;
    wrap(py, t)
}

/// A sparse matrix of `values` (entries), by rows.
///
/// Args: `crow_indices` (rows + 1) where the entries of each row begin, and where the last ones end; `col_indices`
/// (entries) their columns, in order within a row, and different; `values` (entries); `size` the shape, the smallest
/// one if None; `dtype` that of the values; `requires_grad` makes the tensor a leaf.
/// Returns: a sparse matrix with the memory of `values`. Derivative: `g` at the indices, for `values`. Raises:
/// RuntimeError if the sizes of the arguments do not fit, or the indices are not as said, whatever `check_invariants`.
///
/// >>> x = rg.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0])
/// >>> x.to_dense().tolist()
/// [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]
#[pyfunction]
#[pyo3(signature = (crow_indices, col_indices, values, size = None, *, dtype = None, device = None, pin_memory = false,
    requires_grad = false, check_invariants = None))]
#[allow(clippy::too_many_arguments, reason = "the signature of torch's function")]
pub fn sparse_csr_tensor<'py>(
    py: Python<'py>,
    crow_indices: &Bound<'py, PyAny>,
    col_indices: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    size: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    pin_memory: bool,
    requires_grad: bool,
    check_invariants: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    const OP: &str = "sparse_csr_tensor";
    let _ = check_invariants;
    let dtype = options(OP, dtype, device)?;
    if pin_memory {
        return Err(super::no_pinning(OP));
    }
    let size = size.map(|size| sizes_of(OP, size)).transpose()?;
    let crow = given(OP, crow_indices, Some(DType::Int64))?;
    let col = given(OP, col_indices, Some(DType::Int64))?;
    let values = values_of(OP, values, dtype, requires_grad)?;
    let t = sparse::sparse_csr_tensor(&crow, &col, &values, size.as_deref()).or_py()?;
    mark(&t, requires_grad)?;
    wrap(py, t)
}

fn sizes_of(op: &str, size: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    integers(size).ok_or_else(|| PyTypeError::new_err(format!("{op}(): argument 'size' must be tuple of ints")))
}

/// The values in a dtype; a leaf has none with a history.
fn values_of(
    op: &'static str,
    values: &Bound<'_, PyAny>,
    dtype: Option<DType>,
    requires_grad: bool,
) -> PyResult<Tensor> {
    let values = given(op, values, dtype)?;
    let values = retrograd_engine::ops::memory::cast(&values, dtype.unwrap_or(values.dtype())).or_py()?;
    Ok(if requires_grad { values.detach() } else { values })
}
