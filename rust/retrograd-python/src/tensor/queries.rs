//! What `Tensor` says of itself: sizes, layout, dtype, and the views that are properties.

use pyo3::exceptions::{PyIndexError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use retrograd_engine::storage::reclaim::reading;
use retrograd_engine::tensor::sparse::Elements;
use retrograd_engine::tensor::{Layout, Noted, device};
use retrograd_engine::transforms::check_read;
use retrograd_engine::warn::{self, Once};
use retrograd_engine::{DType, Tensor, ops};

use super::Any;
use crate::call::{misfit, type_name};
use crate::errors::{OrPy, warn_py};
use crate::wrap::{PyTensor, wrap};
use crate::{convert, dtype, format, size};

#[pymethods]
impl PyTensor {
    /// Sizes, one per axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        size::size(py, self.0.sizes())
    }
    /// Sizes, or the size of one axis.
    #[pyo3(signature = (dim = None))]
    fn size<'py>(&self, py: Python<'py>, dim: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        match dim {
            None => size::size(py, self.0.sizes()),
            Some(d) => {
                let d = convert::integer(d).ok_or_else(|| misfit("size", "dim", Some(0), "int", d))?;
                let axis = retrograd_engine::tensor::layout::wrap_dim("size", d, self.0.ndim()).or_py()?;
                let n = self.0.sizes().get(axis).ok_or_else(|| {
                    PyIndexError::new_err("size: Dimension specified as 0 but tensor has no dimensions")
                })?;
                Ok(n.into_pyobject(py)?.into_any())
            }
        }
    }
    /// Strides in elements, or the stride of one axis.
    #[pyo3(signature = (dim = None))]
    fn stride<'py>(&self, py: Python<'py>, dim: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        match dim {
            None => Ok(PyTuple::new(py, self.0.strides())?.into_any()),
            Some(d) => {
                let d = convert::integer(d).ok_or_else(|| misfit("stride", "dim", Some(0), "int", d))?;
                let axis = retrograd_engine::tensor::layout::wrap_dim("stride", d, self.0.ndim()).or_py()?;
                let n = self.0.strides().get(axis).ok_or_else(|| {
                    PyIndexError::new_err("stride: Dimension specified as 0 but tensor has no dimensions")
                })?;
                Ok(n.into_pyobject(py)?.into_any())
            }
        }
    }
    /// Number of axes.
    fn dim(&self) -> usize {
        self.0.ndim()
    }
    /// Number of axes; `dim`.
    fn ndimension(&self) -> usize {
        self.0.ndim()
    }
    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.ndim()
    }
    /// Number of elements.
    fn numel(&self) -> usize {
        self.0.numel()
    }
    /// Number of elements; `numel`.
    fn nelement(&self) -> usize {
        self.0.numel()
    }
    /// Position of the first element in the storage, in elements.
    fn storage_offset(&self) -> usize {
        self.0.storage_offset()
    }
    /// Address of the first element.
    fn data_ptr(&self) -> PyResult<usize> {
        check_read("data_ptr", &self.0).or_py()?;
        if retrograd_engine::compile::is_recording() {
            retrograd_engine::compile::refuse(|| "data_ptr() gave the address of elements away".into());
        }
        let reading = reading();
        Ok(if self.0.numel() == 0 { 0 } else { self.0.data_ptr(&reading) as usize })
    }
    /// Bytes of one element.
    fn element_size(&self) -> usize {
        self.0.dtype().size()
    }
    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.dtype().size()
    }
    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }
    /// Whether the elements are in memory in row-major order, or that of a memory format, without gaps.
    #[pyo3(signature = (memory_format = None))]
    fn is_contiguous(&self, memory_format: Option<&Any<'_>>) -> PyResult<bool> {
        let Some(given) = memory_format else { return Ok(self.0.is_contiguous()) };
        let format = format::extract(given).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "is_contiguous(): argument 'memory_format' must be retrograd.memory_format, not {}",
                type_name(given)
            ))
        })?;
        Ok(self.0.is_contiguous_in(format))
    }
    /// The type of the elements.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<dtype::PyDType>> {
        dtype::object(py, self.0.dtype())
    }
    /// Where the elements are: the CPU.
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        crate::construct::cpu(py)
    }
    /// Whether the elements are floating point numbers; complex ones are not.
    fn is_floating_point(&self) -> bool {
        self.0.dtype().is_floating()
    }
    /// Whether the elements are complex numbers.
    fn is_complex(&self) -> bool {
        self.0.dtype().is_complex()
    }
    /// How the tensor keeps its elements.
    #[getter]
    fn layout(&self, py: Python<'_>) -> PyResult<Py<format::PyLayout>> {
        format::layout(py, self.0.layout())
    }
    /// True.
    #[getter]
    fn is_cpu(&self) -> bool {
        true
    }
    /// Whether the tensor is sparse, in coordinates.
    #[getter]
    fn is_sparse(&self) -> bool {
        self.0.layout() == Layout::SparseCoo
    }
    /// Whether the indices of a sparse tensor are known to be in order, and different.
    ///
    /// >>> rg.eye(2).to_sparse().is_coalesced()
    /// True
    fn is_coalesced(&self) -> PyResult<bool> {
        self.0.is_coalesced().or_py()
    }
    /// The indices of the entries of a coalesced sparse tensor: a row for each axis with indices, a column for each
    /// entry.
    ///
    /// >>> rg.tensor([[0.0, 5.0], [6.0, 0.0]]).to_sparse().indices().tolist()
    /// [[0, 1], [1, 0]]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, self.0.indices().or_py()?)
    }
    /// As `indices()`, also of a tensor that is not coalesced.
    fn _indices<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        match self.0.elements() {
            Some(Elements::Coo(coo)) => wrap(py, coo.indices.detach()),
            _ => Err(no_entries("_indices")),
        }
    }
    /// As `values()`, also of a tensor that is not coalesced, and without history.
    fn _values<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        match self.0.elements() {
            Some(Elements::Coo(coo)) => wrap(py, coo.values.detach()),
            _ => Err(no_entries("_values")),
        }
    }
    /// How many entries a sparse tensor has.
    ///
    /// >>> rg.eye(2).to_sparse()._nnz()
    /// 2
    fn _nnz(&self) -> PyResult<usize> {
        self.0.elements().map(|elements| elements.nnz()).ok_or_else(|| no_entries("_nnz"))
    }
    /// Where the entries of each row of a sparse matrix begin, and where the last ones end.
    ///
    /// >>> rg.eye(2).to_sparse_csr().crow_indices()
    /// tensor([0, 1, 2])
    fn crow_indices<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, self.0.csr("crow_indices").or_py()?.crow.detach())
    }
    /// The columns of the entries of a sparse matrix that is kept by rows.
    ///
    /// >>> rg.eye(2).to_sparse_csr().col_indices()
    /// tensor([0, 1])
    fn col_indices<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, self.0.csr("col_indices").or_py()?.col.detach())
    }
    /// How many axes have indices.
    ///
    /// >>> rg.eye(2).to_sparse().sparse_dim()
    /// 2
    fn sparse_dim(&self) -> usize {
        self.0.sparse_dim().unwrap_or(0)
    }
    /// How many axes are those of the values of a sparse tensor; all axes of another one.
    ///
    /// >>> rg.eye(2).to_sparse(1).dense_dim()
    /// 1
    fn dense_dim(&self) -> usize {
        self.0.ndim() - self.sparse_dim()
    }
    /// Whether the tensor is sparse, by rows.
    #[getter]
    fn is_sparse_csr(&self) -> bool {
        self.0.layout() == Layout::SparseCsr
    }
    /// The view with all axes in reverse order.
    #[getter(T)]
    fn transposed<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        match self.0.ndim() {
            0 => warn::once(
                Once::TransposedNumber,
                "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.",
            ),
            2 => {}
            _ => warn::once(
                Once::Transposed,
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw \
                 an error in a future release. Consider `x.mT` to transpose batches of matrices or \
                 `x.permute(*range(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            ),
        }
        let dims: Vec<i64> = (0..self.0.ndim() as i64).rev().collect();
        let _op = retrograd_engine::profiler::op("numpy_T", false, || vec![("input", Noted::of(&self.0))]);
        wrap(py, self.0.permute(&dims).or_py()?)
    }
    /// The view with the last two axes swapped.
    ///
    /// Raises: RuntimeError if there are fewer than two.
    #[getter(mT)]
    fn matrix_transposed<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        if self.0.ndim() < 2 {
            return Err(PyRuntimeError::new_err(format!(
                "tensor.mT is only supported on matrices or batches of matrices. Got {}-D tensor.",
                self.0.ndim()
            )));
        }
        wrap(py, self.0.transpose(-2, -1).or_py()?)
    }
    /// The view with the two axes of a matrix swapped.
    ///
    /// Raises: RuntimeError if there are other than two axes or none; NotImplementedError for complex dtypes.
    ///
    /// >>> rg.tensor([[1.0, 2.0]]).H.tolist()
    /// [[1.0], [2.0]]
    #[getter(H)]
    fn matrix_adjoint<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        let x = &slf.get().0;
        match x.ndim() {
            0 => {
                warn_py(slf.py(), "Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")?;
                Ok(slf.clone().into_any())
            }
            2 => wrap(slf.py(), x.adjoint().or_py()?),
            n => {
                let batches = if n > 2 { " For batches of matrices, consider using tensor.mH" } else { "" };
                Err(PyRuntimeError::new_err(format!(
                    "tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{batches}"
                )))
            }
        }
    }
    /// The view with the last two axes swapped, of complex numbers the conjugates.
    ///
    /// Raises: RuntimeError if there are fewer than two.
    ///
    /// >>> rg.zeros(4, 2, 3).mH.shape
    /// retrograd.Size([4, 3, 2])
    #[getter(mH)]
    fn matrices_adjoint<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        if self.0.ndim() < 2 {
            return Err(PyRuntimeError::new_err(format!(
                "tensor.mH is only supported on matrices or batches of matrices. Got {}-D tensor.",
                self.0.ndim()
            )));
        }
        wrap(py, self.0.adjoint().or_py()?)
    }
    /// The real parts of the elements: of a real tensor, the tensor itself; of a complex one, a view. Setting it writes
    /// to the elements.
    ///
    /// >>> z = rg.tensor([1+2j]); z.real = 5.0; z.tolist()
    /// [(5+2j)]
    #[getter]
    fn real<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, ops::view::real(&self.0).or_py()?)
    }
    #[setter(real)]
    fn set_real(&self, value: &Any<'_>) -> PyResult<()> {
        write_part(&ops::view::real(&self.0).or_py()?, value)
    }
    /// The imaginary parts of the elements, a view. Setting it writes to the elements.
    ///
    /// Raises: RuntimeError for real dtypes.
    ///
    /// >>> rg.tensor([1+2j]).imag
    /// tensor([2.])
    #[getter]
    fn imag<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, ops::view::imag(&self.0).or_py()?)
    }
    #[setter(imag)]
    fn set_imag(&self, value: &Any<'_>) -> PyResult<()> {
        write_part(&ops::view::imag(&self.0).or_py()?, value)
    }

    /// The name of the tensor's type; or the tensor converted to another, given by its dtype or name.
    ///
    /// Args: `dtype` a dtype, a type such as `DoubleTensor` or its name 'retrograd.DoubleTensor'. Derivative: `g` cast
    /// back. Raises: ValueError for a name that is none; AssertionError for a type of another device.
    ///
    /// >>> x = rg.tensor([1, 2])
    /// >>> x.type(), x.type(rg.float64).type(), x.type('retrograd.FloatTensor')
    /// ('retrograd.LongTensor', 'retrograd.DoubleTensor', tensor([1., 2.]))
    #[pyo3(signature = (dtype = None, non_blocking = false))]
    fn r#type<'py>(slf: &Bound<'py, Self>, dtype: Option<&Any<'py>>, non_blocking: bool) -> PyResult<Any<'py>> {
        let (py, x, _) = (slf.py(), &slf.get().0, non_blocking);
        let Some(given) = dtype else {
            return Ok(PyString::new(py, &format!("retrograd.{}", x.dtype().tensor_type_name())).into_any());
        };
        wrap(py, ops::memory::cast(x, dtype_of_type(given)?).or_py()?)
    }
}

/// The dtype that `type()` is given: as such, as a type of tensors, or by the name of one.
fn dtype_of_type(given: &Any<'_>) -> PyResult<DType> {
    let py = given.py();
    let named = |name: &str| {
        let kind = name.strip_prefix("retrograd.").or(name.strip_prefix("torch."))?;
        match kind {
            "Tensor" => Some(retrograd_engine::tensor::default_dtype()),
            _ => DType::ALL.into_iter().find(|d| d.tensor_type_name() == kind),
        }
    };
    let name = if let Ok(name) = given.extract::<String>() {
        name
    } else if let Ok(kind) = given.cast::<PyType>() {
        if kind.is(py.get_type::<PyTensor>()) {
            return Ok(retrograd_engine::tensor::default_dtype());
        }
        match kind.getattr("dtype").ok().and_then(|dtype| dtype.cast::<dtype::PyDType>().ok().map(|d| d.get().0)) {
            Some(dtype) => return Ok(dtype),
            None => match kind.module()?.to_str()? {
                "builtins" => kind.name()?.to_string(),
                module => format!("{module}.{}", kind.name()?),
            },
        }
    } else if let Some(dtype) = dtype::extract(given) {
        return Ok(dtype);
    } else {
        return Err(PyTypeError::new_err(format!(
            "type(): dtype must be a type, str, or dtype object, not {}",
            type_name(given)
        )));
    };
    let kind = name.split_once('.').and_then(|(_, rest)| rest.split_once('.')).map_or("cpu", |(device, _)| device);
    if matches!(kind, "cuda" | "xpu" | "mtia") {
        device::demand_cpu(kind).or_py()?;
    }
    named(&name).ok_or_else(|| PyValueError::new_err(format!("type: invalid type: '{name}'")))
}

/// Writes to the real or imaginary parts of a tensor, for an assignment.
fn write_part(part: &Tensor, value: &Any<'_>) -> PyResult<()> {
    let operand = convert::operand(value)?;
    let value = operand.map_or_else(|| Err(crate::index::refused_value(value, part.dtype())), Ok)?;
    part.copy_(&value).or_py().map(drop)
}

/// The error of a query that only sparse tensors in coordinates answer.
fn no_entries(query: &str) -> PyErr {
    PyNotImplementedError::new_err(format!(
        "Could not run 'aten::{query}' with arguments from the 'CPU' backend. The tensor is not sparse in coordinates: use \
         to_sparse() first"
    ))
}
