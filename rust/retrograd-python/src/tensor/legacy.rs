//! Members of `Tensor` that older programs use, and those about devices and memory that are not there or are shared.

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};
use retrograd_engine::tensor::device;

use super::Any;
use crate::errors::OrPy;
use crate::wrap::PyTensor;

fn call<'py>(slf: &Bound<'py, PyTensor>, module: &str, function: &str) -> PyResult<Any<'py>> {
    slf.py().import(module)?.call_method1(function, (slf,))
}

#[pymethods]
impl PyTensor {
    // ---- memory

    /// The memory as bytes; the same object for all tensors over it.
    ///
    /// >>> x = rg.ones(2, 3)
    /// >>> x.untyped_storage().nbytes(), x.untyped_storage() is x[0].untyped_storage()
    /// (24, True)
    fn untyped_storage<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        call(slf, "retrograd.storage", "_untyped")
    }
    /// The memory as elements of the tensor's dtype. It is deprecated: `untyped_storage` is meant.
    ///
    /// >>> import warnings
    /// >>> with warnings.catch_warnings(action="ignore"):
    /// ...     rg.ones(2, 3)[1].storage().tolist()
    /// [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    fn storage<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        call(slf, "retrograd.storage", "_typed_and_warn")
    }
    /// As `storage`, without its warning.
    fn _typed_storage<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        call(slf, "retrograd.storage", "_typed")
    }
    /// The type of storages of this dtype, such as `retrograd.FloatStorage`.
    ///
    /// >>> rg.ones(1).storage_type()
    /// <class 'retrograd.FloatStorage'>
    fn storage_type<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        call(slf, "retrograd.storage", "_type_of")
    }
    /// Whether other processes can have the memory too; see `share_memory_`.
    ///
    /// >>> rg.ones(1).is_shared()
    /// False
    fn is_shared(&self) -> bool {
        self.0.storage().shared_file().is_some()
    }
    /// Move the memory to where other processes can have it too; returns the tensor. Tensors over the same memory go on
    /// sharing it. It cannot be resized any more, and NumPy arrays over it go on with what was there.
    ///
    /// >>> rg.ones(2).share_memory_().is_shared()
    /// True
    fn share_memory_<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        slf.py().import("retrograd.multiprocessing")?; // from now on pickles for processes take it along
        crate::shared::share("share_memory_", &slf.get().0)?;
        Ok(slf)
    }
    /// Refused: memory is pinned for accelerators.
    ///
    /// >>> try:
    /// ...     rg.ones(2).pin_memory()
    /// ... except RuntimeError as error:
    /// ...     print(str(error)[:10])
    /// pin_memory
    #[pyo3(signature = (device = None))]
    fn pin_memory<'py>(&self, device: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        let _ = device;
        Err(crate::construct::no_pinning("pin_memory"))
    }
    /// Whether the memory is pinned for an accelerator: no.
    ///
    /// >>> rg.ones(2).is_pinned()
    /// False
    #[pyo3(signature = (device = None))]
    fn is_pinned(&self, device: Option<&Any<'_>>) -> bool {
        let _ = device;
        false
    }

    // ---- other devices

    /// Refused: there is no such device.
    ///
    /// Raises: AssertionError.
    ///
    /// >>> try:
    /// ...     rg.ones(2).cuda()
    /// ... except AssertionError as error:
    /// ...     print(str(error)[:6])
    /// device
    #[pyo3(signature = (device = None, non_blocking = false, memory_format = None))]
    fn cuda<'py>(
        slf: Bound<'py, Self>,
        device: Option<&Any<'py>>,
        non_blocking: bool,
        memory_format: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = (device, non_blocking, memory_format);
        device::demand_cpu("cuda").or_py().map(|()| slf)
    }
    /// Refused: there is no such device.
    ///
    /// Raises: AssertionError.
    ///
    /// >>> try:
    /// ...     rg.ones(2).xpu()
    /// ... except AssertionError as error:
    /// ...     print(str(error)[:6])
    /// device
    #[pyo3(signature = (device = None, non_blocking = false, memory_format = None))]
    fn xpu<'py>(
        slf: Bound<'py, Self>,
        device: Option<&Any<'py>>,
        non_blocking: bool,
        memory_format: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = (device, non_blocking, memory_format);
        device::demand_cpu("xpu").or_py().map(|()| slf)
    }
    /// Refused: there is no such device.
    ///
    /// Raises: AssertionError.
    ///
    /// >>> try:
    /// ...     rg.ones(2).mtia()
    /// ... except AssertionError as error:
    /// ...     print(str(error)[:6])
    /// device
    #[pyo3(signature = (device = None, non_blocking = false, memory_format = None))]
    fn mtia<'py>(
        slf: Bound<'py, Self>,
        device: Option<&Any<'py>>,
        non_blocking: bool,
        memory_format: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = (device, non_blocking, memory_format);
        device::demand_cpu("mtia").or_py().map(|()| slf)
    }
    /// Refused: there is no such device.
    ///
    /// Raises: RuntimeError.
    ///
    /// >>> try:
    /// ...     rg.ones(2).ipu()
    /// ... except RuntimeError as error:
    /// ...     print(str(error)[:6])
    /// device
    #[pyo3(signature = (device = None, non_blocking = false, memory_format = None))]
    fn ipu<'py>(
        slf: Bound<'py, Self>,
        device: Option<&Any<'py>>,
        non_blocking: bool,
        memory_format: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = (device, non_blocking, memory_format);
        device::demand_cpu("ipu").or_py().map(|()| slf)
    }
    /// False.
    #[getter]
    fn is_cuda(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_ipu(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_maia(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_meta(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_mkldnn(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_mps(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_mtia(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_nested(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_quantized(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_vulkan(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_xla(&self) -> bool {
        false
    }
    /// False.
    #[getter]
    fn is_xpu(&self) -> bool {
        false
    }

    // ---- constructors of old

    /// A tensor of this dtype: of a sequence of numbers, uninitialised of sizes, an alias of a tensor, or over a
    /// storage. `new_tensor`, `new_empty` and others say which is meant.
    ///
    /// >>> x = rg.ones(2, dtype=rg.int64)
    /// >>> x.new([1, 2]), x.new(2, 3).shape, x.new().shape
    /// (tensor([1, 2]), retrograd.Size([2, 3]), retrograd.Size([0]))
    #[pyo3(name = "new", signature = (*data, size = None, device = None))]
    fn new_of_old<'py>(
        slf: &Bound<'py, Self>,
        data: &Bound<'py, PyTuple>,
        size: Option<&Any<'py>>,
        device: Option<&Any<'py>>,
    ) -> PyResult<Any<'py>> {
        let py = slf.py();
        let new = py.import("retrograd._legacy")?.getattr("new")?.call1((slf,))?;
        new.call(data, Some(&[("size", size), ("device", device)].into_py_dict(py)?))
    }
}
