//! What `Tensor` says of itself: sizes, layout, dtype, and the views that are properties.

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use retrograd::storage::reclaim::reading;
use retrograd::tensor::Noted;
use retrograd::transforms::check_read;
use retrograd::warn::{self, Once};
use retrograd::{DType, Tensor, ops};

use super::Any;
use crate::call::{misfit, type_name};
use crate::errors::{OrPy, warn_py};
use crate::wrap::{PyTensor, wrap};
use crate::{convert, dtype, format};

#[pymethods]
impl PyTensor {
    /// Sizes, one per axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        convert::size(py, self.0.sizes())
    }
    /// Sizes, or the size of one axis.
    #[pyo3(signature = (dim = None))]
    fn size<'py>(&self, py: Python<'py>, dim: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        match dim {
            None => convert::size(py, self.0.sizes()),
            Some(d) => {
                let d = convert::integer(d).ok_or_else(|| misfit("size", "dim", Some(0), "int", d))?;
                let axis = retrograd::tensor::layout::wrap_dim("size", d, self.0.ndim()).or_py()?;
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
                let axis = retrograd::tensor::layout::wrap_dim("stride", d, self.0.ndim()).or_py()?;
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
    /// How the elements are stored: with strides.
    #[getter]
    fn layout(&self, py: Python<'_>) -> PyResult<Py<format::PyLayout>> {
        format::strided(py)
    }
    /// True.
    #[getter]
    fn is_cpu(&self) -> bool {
        true
    }
    /// False.
    #[getter]
    fn is_cuda(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_sparse(&self) -> bool {
        false
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
        let _op = retrograd::profiler::op("numpy_T", false, || vec![("input", Noted::of(&self.0))]);
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
    /// Args: `dtype` a dtype, or a name such as 'retrograd.DoubleTensor'. Derivative: `g` cast back. Raises: ValueError
    /// for a name that is none.
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
        let named = |name: &str| {
            let kind = name.strip_prefix("retrograd.").or(name.strip_prefix("torch."))?;
            DType::ALL.into_iter().find(|d| d.tensor_type_name() == kind)
        };
        let dtype = match given.extract::<String>() {
            Ok(name) => named(&name).ok_or_else(|| PyValueError::new_err(format!("type: invalid type: '{name}'")))?,
            Err(_) => dtype::extract(given).ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "type(): dtype must be a type, str, or dtype object, not {}",
                    type_name(given)
                ))
            })?,
        };
        wrap(py, ops::memory::cast(x, dtype).or_py()?)
    }
}

/// Writes to the real or imaginary parts of a tensor, for an assignment.
fn write_part(part: &Tensor, value: &Any<'_>) -> PyResult<()> {
    let operand = convert::operand(value)?;
    let value = operand.map_or_else(|| Err(crate::index::refused_value(value, part.dtype())), Ok)?;
    part.copy_(&value).or_py().map(drop)
}
