//! The members of `Tensor` that are no ops: autograd and reading here, queries and operators in files of their own.

use std::sync::Arc;

use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple, PyType};
use pyo3::{PyTypeInfo, ffi};
use retrograd_engine::Tensor;
use retrograd_engine::autograd::engine::{self, Backward};
use retrograd_engine::ops::{self, Kind, Value, index};
use retrograd_engine::tensor::MemoryFormat;

use crate::anythread::AnyThread;
use crate::call::misfit;
use crate::errors::{OrPy, warn_py};
use crate::hook::{self, PyLeafHook, PyTensorHook};
use crate::node::wrap_node;
use crate::overrides::{self, state};
use crate::wrap::{PyTensor, unwrap, wrap, wrap_option};
use crate::{autograd, class, convert, dtype};

mod legacy;
mod operators;
mod private;
mod queries;
mod shortcuts;

type Any<'py> = Bound<'py, PyAny>;

/// Why an object cannot be converted to a tensor, for setters.
fn grad_type(v: &Any<'_>) -> PyErr {
    PyTypeError::new_err(format!(
        "assigned grad expected to be a Tensor or None but got grad of type {}",
        crate::call::type_name(v)
    ))
}

/// The `memory_format=` of a method that resizes.
fn resize_format(op: &str, given: Option<&Any<'_>>) -> PyResult<Option<MemoryFormat>> {
    given
        .filter(|v| !v.is_none())
        .map(|v| {
            crate::format::extract(v).ok_or_else(|| {
                let kind = crate::call::type_name(v);
                PyTypeError::new_err(format!(
                    "{op}(): argument 'memory_format' must be retrograd.memory_format, not {kind}"
                ))
            })
        })
        .transpose()
}

#[pymethods]
impl PyTensor {
    #[classmethod]
    #[new]
    #[pyo3(signature = (data = None, *sizes, device = None))]
    fn __new__<'py>(
        class: &Bound<'py, PyType>,
        data: Option<&Any<'py>>,
        sizes: &Bound<'py, PyTuple>,
        device: Option<&Any<'py>>,
    ) -> PyResult<Any<'py>> {
        crate::construct::device::check(device)?;
        let t = match data {
            Some(first) if !sizes.is_empty() => crate::construct::legacy_of_size(first, sizes)?,
            None => Tensor::empty(&[0], retrograd_engine::tensor::default_dtype()).or_py()?,
            Some(data) => match unwrap(data) {
                Some(t) => t.detach(),
                None => crate::construct::legacy(data)?,
            },
        };
        class::new_object_of(class, t)
    }

    /// Makes NumPy leave operators between its objects and tensors to the tensor.
    #[classattr]
    fn __array_priority__() -> i32 {
        1000
    }

    // ---- attributes and cycles

    fn __setattr__(slf: &Bound<'_, Self>, name: &Any<'_>, value: &Any<'_>) -> PyResult<()> {
        class::set_attribute(slf.as_any(), name, Some(value))
    }
    fn __delattr__(slf: &Bound<'_, Self>, name: &Any<'_>) -> PyResult<()> {
        class::set_attribute(slf.as_any(), name, None)
    }
    /// Called by the deallocation of subclasses.
    fn __del__(slf: &Bound<'_, Self>) {
        // SAFETY: a tensor object.
        unsafe { class::finalize(slf.as_ptr()) };
    }
    fn __traverse__(&self, task: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // PyO3 shows, and clears, the dict.
        match self.0.owned() {
            Some(t) if t.handle_count() == 1 => hook::visit_tensor(t, &task),
            _ => Ok(()),
        }
    }
    fn __clear__(&self) {
        if let Some(t) = self.0.owned().filter(|t| t.handle_count() == 1) {
            hook::clear_tensor(t);
        }
    }

    // ---- autograd

    /// Whether ops on the tensor are recorded. Can be set on leaves of floating point or complex dtype.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.0.requires_grad()
    }
    #[setter]
    fn set_requires_grad(&self, on: &Any<'_>) -> PyResult<()> {
        let Ok(on) = on.cast::<PyBool>() else {
            return Err(PyRuntimeError::new_err("requires_grad must be a bool: True or False"));
        };
        let on = on.is_true();
        if on && !self.0.is_leaf() {
            return Err(PyRuntimeError::new_err("you can only change requires_grad flags of leaf variables."));
        }
        self.0.set_requires_grad(on).or_py()
    }
    #[deleter]
    fn delete_requires_grad(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("requires_grad must be a bool: it cannot be deleted, set it to False"))
    }
    /// Mark this leaf as wanting a gradient, or not; returns it.
    ///
    /// Raises: RuntimeError for a dtype that is neither floating point nor complex, and for False on a non-leaf.
    #[pyo3(signature = (requires_grad = true))]
    fn requires_grad_<'py>(slf: Bound<'py, Self>, requires_grad: bool) -> PyResult<Bound<'py, Self>> {
        let t = &slf.get().0;
        if requires_grad && !t.dtype().is_differentiable() {
            return Err(PyRuntimeError::new_err(format!(
                "only Tensors of floating point dtype can require gradients, and of complex dtype: got {}",
                t.dtype().name()
            )));
        }
        t.set_requires_grad(requires_grad).or_py()?;
        Ok(slf)
    }
    /// Whether the tensor was made by the user, or does not require grad; gradients collect in the `.grad` of leaves.
    #[getter]
    fn is_leaf(&self) -> PyResult<bool> {
        Ok(self.0.grad_fn().or_py()?.is_none())
    }
    /// Whether a non-leaf has a `.grad`, because of `retain_grad()`.
    #[getter]
    fn retains_grad(&self) -> bool {
        self.0.retains_grad()
    }
    /// Accumulate into `.grad` of this non-leaf too.
    ///
    /// Raises: RuntimeError if it does not require grad.
    fn retain_grad(&self) -> PyResult<()> {
        self.0.retain_grad().or_py()
    }
    /// Which output of `grad_fn` the tensor is.
    #[getter]
    fn output_nr(&self) -> PyResult<u32> {
        Ok(self.0.grad_fn().or_py()?.map_or(0, |e| e.nr))
    }
    /// The node of the op that made the tensor; None for a leaf.
    #[getter]
    fn grad_fn<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        let py = slf.py();
        let Some(edge) = slf.get().0.grad_fn().or_py()? else { return Ok(py.None().into_bound(py)) };
        class::show_to_collector(slf.as_any());
        wrap_node(py, &edge.node)
    }
    /// The gradient accumulated so far, or None. Can be set, and deleted.
    #[getter]
    fn grad<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        let g = self.0.grad();
        if g.is_none() && !self.0.is_leaf() && !self.0.retains_grad() {
            warn_py(
                py,
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be \
                 populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf \
                 Tensor, use .retain_grad() on the non-leaf Tensor.",
            )?;
        }
        wrap_option(py, g)
    }
    #[setter]
    fn set_grad(&self, value: &Any<'_>) -> PyResult<()> {
        let grad = match unwrap(value) {
            Some(g) => Some(g.clone()),
            None if value.is_none() => None,
            None => return Err(grad_type(value)),
        };
        self.0.set_grad(grad).or_py()
    }
    #[deleter]
    fn delete_grad(&self) -> PyResult<()> {
        self.0.set_grad(None).or_py()
    }
    /// The dtype of `.grad`, of the tensor itself by default; None for any. Can be read and set on leaves.
    #[getter]
    fn grad_dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<Py<dtype::PyDType>>> {
        if !self.0.is_leaf() {
            return Err(PyRuntimeError::new_err("grad_dtype can only be accessed on leaf tensors."));
        }
        self.0.grad_dtype().map(|d| dtype::object(py, d)).transpose()
    }
    #[setter]
    fn set_grad_dtype(&self, value: &Any<'_>) -> PyResult<()> {
        let d = match dtype::extract(value) {
            Some(d) => Some(d),
            None if value.is_none() => None,
            None => {
                return Err(PyRuntimeError::new_err(format!(
                    "grad_dtype must be a retrograd.dtype or None, but got {}",
                    crate::call::type_name(value)
                )));
            }
        };
        self.0.set_grad_dtype(d).or_py()
    }
    /// The same memory under a version counter of its own.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap(py, self.0.data())
    }
    #[setter]
    fn set_data(&self, value: &Any<'_>) -> PyResult<()> {
        let t = unwrap(value).ok_or_else(|| {
            PyTypeError::new_err(format!("Variable data has to be a tensor, but got {}", crate::call::type_name(value)))
        })?;
        self.0.set_data(t).or_py()
    }
    #[deleter]
    fn delete_data(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("Deleting tensor data is not allowed. Delete tensor instead!"))
    }
    /// Number of in-place writes to the memory so far.
    #[getter]
    fn _version(&self) -> PyResult<u32> {
        if self.0.is_inference() {
            return Err(PyRuntimeError::new_err("Inference tensors do not track version counter."));
        }
        Ok(self.0.version())
    }
    /// The tensor that this one is a view of, or None.
    #[getter]
    fn _base<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        wrap_option(py, self.0.base().cloned())
    }
    /// Whether the tensor is a view of another that autograd knows of.
    fn _is_view(&self) -> bool {
        self.0.base().is_some()
    }
    /// Forget the history in place.
    ///
    /// Raises: RuntimeError for a view.
    fn detach_<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        slf.get().0.detach_().or_py()?;
        Ok(slf)
    }
    /// Whether the tensor was made in inference mode.
    fn is_inference(&self) -> bool {
        self.0.is_inference()
    }
    /// Give the tensor other sizes in place; elements stay where they are in memory, new ones are not initialised.
    /// `memory_format` is the memory order afterwards.
    #[pyo3(signature = (*sizes, memory_format = None))]
    fn resize_<'py>(
        slf: Bound<'py, Self>,
        sizes: &Bound<'py, PyTuple>,
        memory_format: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let format = resize_format("resize_", memory_format)?;
        let given = match sizes.get_item(0) {
            Ok(one) if sizes.len() == 1 => match convert::argument(&one, Kind::Size, false) {
                Some(Value::Ints(ints)) => ints,
                _ => return Err(misfit("resize_", "size", Some(0), "tuple of ints", &one)),
            },
            _ => crate::construct::sizes_in_row("resize_", sizes, 0)?,
        };
        let sizes = retrograd_engine::ops::create::sizes("resize_", &given).or_py()?;
        slf.get().0.resize_in(&sizes, format).or_py()?;
        Ok(slf)
    }
    /// Give the tensor the sizes of another one, in place; see `resize_`.
    ///
    /// >>> rg.zeros(3).resize_as_(rg.ones(1, 2)).shape
    /// retrograd.Size([1, 2])
    #[pyo3(signature = (the_template, *, memory_format = None))]
    fn resize_as_<'py>(
        slf: Bound<'py, Self>,
        the_template: &Any<'py>,
        memory_format: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let like = unwrap(the_template).ok_or_else(|| {
            let kind = crate::call::type_name(the_template);
            PyTypeError::new_err(format!("resize_as_(): argument 'the_template' must be Tensor, not {kind}"))
        })?;
        let format = match resize_format("resize_as_", memory_format)? {
            Some(MemoryFormat::Preserve) => Some(MemoryFormat::suggested(like.sizes(), like.strides())),
            format => format,
        };
        slf.get().0.resize_in(like.sizes(), format).or_py()?;
        Ok(slf)
    }
    /// Take over memory and sizes of `source`, a tensor, as a write; of a storage or of a tensor's memory, the elements
    /// that offset, sizes and strides say. Without a source the tensor has no elements afterwards.
    #[pyo3(signature = (source = None, storage_offset = None, size = None, stride = None))]
    fn set_<'py>(
        slf: Bound<'py, Self>,
        source: Option<&Any<'py>>,
        storage_offset: Option<&Any<'py>>,
        size: Option<&Any<'py>>,
        stride: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        let part = storage_offset.is_some() || size.is_some() || stride.is_some();
        match source.and_then(unwrap) {
            Some(from) if !part => slf.get().0.set_(from).or_py()?,
            _ => {
                let part = slf.py().import("retrograd.storage")?.getattr("_part")?;
                let from = part.call1((&slf, source, storage_offset, size, stride))?;
                let from = unwrap(&from).ok_or_else(|| PyTypeError::new_err("set_(): no tensor"))?;
                slf.get().0.set_(from).or_py()?;
            }
        }
        Ok(slf)
    }
    /// A copy of this leaf for `copy.deepcopy`.
    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Any<'py>) -> PyResult<Any<'py>> {
        slf.py().import("retrograd.serialization._copy")?.call_method1("deepcopy", (slf, memo))
    }
    fn __reduce_ex__<'py>(slf: &Bound<'py, Self>, _protocol: i32) -> PyResult<Any<'py>> {
        slf.py().import("retrograd.serialization._copy")?.call_method1("reduce", (slf,))
    }
    /// Attributes, as `__getstate__` gave them to pickle.
    fn __setstate__(slf: &Bound<'_, Self>, state: &Any<'_>) -> PyResult<()> {
        slf.py().import("retrograd.serialization._copy")?.call_method1("restore", (slf, state)).map(drop)
    }
    /// Accumulate the gradient of this tensor into the leaves it depends on; see `autograd.backward`.
    ///
    /// Args: `gradient` that of this tensor, needed if it has not exactly one element; `retain_graph` retains what the
    /// graph saved for another pass; `create_graph` makes the gradients differentiable; `inputs` limits accumulation to
    /// these.
    /// Raises: RuntimeError if the tensor does not require grad, if `gradient` is missing or of another shape, or if
    /// the graph was freed by an earlier pass.
    ///
    /// >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
    /// >>> (x * x).backward(rg.tensor([1.0, 10.0]))
    /// >>> x.grad
    /// tensor([ 2., 40.])
    #[pyo3(signature = (gradient = None, retain_graph = None, create_graph = false, inputs = None))]
    fn backward<'py>(
        slf: &Bound<'py, Self>,
        gradient: Option<&Any<'py>>,
        retain_graph: Option<bool>,
        create_graph: bool,
        inputs: Option<&Any<'py>>,
    ) -> PyResult<()> {
        let py = slf.py();
        if inputs.is_none()
            && let Some(gradient) = gradient.map_or(Some(None), |g| unwrap(g).map(Some))
        {
            let root = engine::root(&slf.get().0, gradient, 0).or_py()?;
            let retain_graph = retain_graph.unwrap_or(create_graph);
            return autograd::run_backward(
                py,
                Backward { roots: vec![root], retain_graph, create_graph, targets: Vec::new() },
            );
        }
        let f = py.import("retrograd.autograd")?.getattr("backward")?;
        let kw = pyo3::types::PyDict::new(py);
        kw.set_item("inputs", inputs)?;
        f.call((slf, gradient, retain_graph, create_graph), Some(&kw)).map(drop)
    }
    /// Call `hook(grad)` with this tensor's gradient; a returned tensor replaces it. Returns a handle with `remove()`.
    ///
    /// Raises: RuntimeError if the tensor does not require grad.
    ///
    /// >>> x = rg.ones(2, requires_grad=True)
    /// >>> handle = x.register_hook(lambda grad: grad * 10)
    /// >>> x.sum().backward()
    /// >>> x.grad
    /// tensor([10., 10.])
    fn register_hook(slf: &Bound<'_, Self>, hook: Py<PyAny>) -> PyResult<hook::Handle> {
        let t = &slf.get().0;
        let (id, node) = t.register_hook(Arc::new(PyTensorHook(AnyThread::new(hook)))).or_py()?;
        class::show_to_collector(slf.as_any());
        Ok(match node {
            Some(n) => hook::Handle::node(&n, id),
            None => hook::Handle::leaf(t, id),
        })
    }
    /// Call `hook(leaf)` after this leaf accumulated. Returns a handle with `remove()`.
    ///
    /// Raises: RuntimeError if the tensor is no leaf, or does not require grad.
    ///
    /// >>> x = rg.ones(2, requires_grad=True)
    /// >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    /// >>> x.sum().backward()
    /// tensor([1., 1.])
    fn register_post_accumulate_grad_hook(slf: &Bound<'_, Self>, hook: Py<PyAny>) -> PyResult<hook::Handle> {
        let t = &slf.get().0;
        let id = t.register_post_accumulate_hook(Arc::new(PyLeafHook(AnyThread::new(hook)))).or_py()?;
        class::show_to_collector(slf.as_any());
        Ok(hook::Handle::leaf(t, id))
    }

    // ---- reading

    /// The only element, as a Python number.
    ///
    /// Raises: RuntimeError if there are several elements or none.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        crate::export::item(py, &self.0)
    }
    /// The elements as nested lists.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        crate::export::tolist(py, &self.0)
    }
    /// A NumPy array over the same memory.
    ///
    /// Args: `force` detaches a tensor that requires grad instead of refusing it. Raises: RuntimeError in that case.
    #[pyo3(signature = (*, force = false))]
    fn numpy<'py>(&self, py: Python<'py>, force: bool) -> PyResult<Any<'py>> {
        crate::export::numpy(py, &self.0, force)
    }
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(&self, py: Python<'py>, dtype: Option<&Any<'py>>, copy: Option<bool>) -> PyResult<Any<'py>> {
        crate::export::array(py, &self.0, dtype, copy)
    }
    /// What NumPy's functions return for a tensor.
    #[pyo3(signature = (array, _context = None, _return_scalar = false))]
    fn __array_wrap__<'py>(
        &self,
        array: &Any<'py>,
        _context: Option<&Any<'py>>,
        _return_scalar: bool,
    ) -> PyResult<Any<'py>> {
        crate::export::array_wrap(array.py(), array)
    }
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        if state::possible()
            && let Some(taken) = overrides::member("__len__", &[slf])?
        {
            return taken.extract();
        }
        slf.get().0.sizes().first().copied().ok_or_else(|| PyTypeError::new_err("len() of a 0-d tensor"))
    }
    /// What `no_grad` does was a flag of tensors once. Reading and writing it warn, and do nothing.
    ///
    /// >>> import warnings
    /// >>> with warnings.catch_warnings(action="ignore"):
    /// ...     rg.ones(1).volatile
    /// False
    #[getter]
    fn volatile(&self, py: Python<'_>) -> PyResult<bool> {
        crate::errors::warn_py(py, "volatile was removed (Variable.volatile is always False)").map(|()| false)
    }
    #[setter]
    fn set_volatile(&self, py: Python<'_>, _value: &Any<'_>) -> PyResult<()> {
        let text = "volatile was removed and now has no effect. Use `with retrograd.no_grad():` instead.";
        crate::errors::warn_py(py, text)
    }
    /// The elements along the first axis, the last one first, as a tensor.
    fn __reversed__<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Any<'py>> {
        match slf.get().0.ndim() {
            0 => Ok(slf.into_any()),
            _ => wrap(py, slf.get().0.flip(&[0]).or_py()?),
        }
    }
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        let (py, x) = (slf.py(), &slf.get().0);
        if x.ndim() == 0 {
            return Err(PyTypeError::new_err("iteration over a 0-d tensor"));
        }
        if state::possible() && overrides::would_ask(slf) {
            return slf.call_method1("unbind", (0,))?.call_method0("__iter__");
        }
        let rows = ops::view::unbind(x, 0).or_py()?;
        let rows: Vec<_> = rows.into_iter().map(|t| wrap(py, t)).collect::<PyResult<_>>()?;
        PyTuple::new(py, rows)?.call_method0("__iter__")
    }
    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        if state::possible()
            && let Some(taken) = overrides::member("__bool__", &[slf])?
        {
            return taken.extract();
        }
        crate::export::truth(&slf.get().0)
    }
    fn __float__(slf: &Bound<'_, Self>) -> PyResult<f64> {
        if state::possible()
            && let Some(taken) = overrides::member("__float__", &[slf])?
        {
            return taken.extract();
        }
        crate::export::float(slf.py(), &slf.get().0)
    }
    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        if state::possible()
            && let Some(taken) = overrides::member("__int__", &[slf])?
        {
            return Ok(taken);
        }
        crate::export::int(slf.py(), &slf.get().0)
    }
    fn __index__(slf: &Bound<'_, Self>) -> PyResult<i64> {
        if state::possible()
            && let Some(taken) = overrides::member("__index__", &[slf])?
        {
            return taken.extract();
        }
        crate::export::index(&slf.get().0)
    }
    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        crate::export::complex(py, &self.0)
    }
    fn __contains__<'py>(slf: &Bound<'py, Self>, element: &Any<'py>) -> PyResult<bool> {
        if state::possible()
            && let Some(taken) = overrides::member("__contains__", &[slf, element])?
        {
            return taken.is_truthy();
        }
        let Some(e) = convert::operand(element)? else {
            return Err(PyRuntimeError::new_err(format!(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a {}.",
                element.get_type().repr()?
            )));
        };
        let hit = slf.get().0.eq(&e).or_py()?;
        Ok(hit.to_vec::<bool>().or_py()?.contains(&true))
    }
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        if state::possible()
            && let Some(taken) = overrides::member("__repr__", &[slf])?
        {
            return taken.extract();
        }
        crate::print::repr(slf)
    }
    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &str) -> PyResult<Any<'py>> {
        crate::print::format(slf, spec)
    }
    /// A DLPack capsule with the tensor's memory: what `from_dlpack` of other libraries calls.
    ///
    /// Args: `max_version` the newest DLPack that the caller knows, `(major, minor)`; `dl_device` where the memory
    /// shall be; `copy` True for memory of its own; `stream` None.
    /// Raises: BufferError if the tensor requires grad, or for a device other than the CPU.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Any<'py>>,
        max_version: Option<(i64, i64)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Any<'py>> {
        crate::dlpack::export(py, &self.0, stream, max_version, dl_device, copy)
    }
    /// Where the memory is, in DLPack's words.
    fn __dlpack_device__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, i32)> {
        crate::dlpack::device(py)
    }
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: std::ffi::c_int) -> PyResult<()> {
        // SAFETY: CPython's contract for bf_getbuffer is that of the function.
        unsafe { crate::buffer::getbuffer(&slf, view, flags) }
    }
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: CPython releases what `__getbuffer__` filled, once.
        unsafe { crate::buffer::releasebuffer(view) }
    }
    /// A tensor of `data` with this one's dtype.
    #[pyo3(signature = (data, *, dtype = None, device = None, requires_grad = false))]
    fn new_tensor<'py>(
        &self,
        py: Python<'py>,
        data: &Any<'py>,
        dtype: Option<&Any<'py>>,
        device: Option<&Any<'py>>,
        requires_grad: bool,
    ) -> PyResult<Any<'py>> {
        let _ = device;
        let dtype = dtype.and_then(dtype::extract).unwrap_or(self.0.dtype());
        if unwrap(data).is_some() {
            crate::construct::warn_of_copy(py, "tensor.new_tensor")?;
        }
        let t = crate::construct::from_data("new_tensor", data, Some(dtype))?;
        crate::construct::mark(&t, requires_grad)?;
        wrap(py, t)
    }
    // ---- subclasses

    /// This tensor as an object of a subclass, over the same memory and in the same graph.
    ///
    /// Raises: RuntimeError if `cls` is no subclass of `Tensor`.
    ///
    /// >>> class Named(rg.Tensor): pass
    /// >>> rg.ones(2).as_subclass(Named)
    /// Named([1., 1.])
    fn as_subclass<'py>(&self, cls: &Any<'py>) -> PyResult<Any<'py>> {
        let class = cls
            .cast::<PyType>()
            .map_err(|_| PyTypeError::new_err(format!("cls must be a type (got {})", crate::call::type_name(cls))))?;
        overrides::as_subclass(&self.0, class)
    }
    /// What functions of objects of a subclass return: `func(*args, **kwargs)`, with tensors made objects of the class.
    ///
    /// Args: `types` the classes of the arguments that are asked; if one of them is no base of this class, the result
    /// is NotImplemented.
    ///
    /// >>> class Named(rg.Tensor): pass
    /// >>> type(Named([1.0]) + rg.ones(1)).__name__
    /// 'Named'
    #[classmethod]
    #[pyo3(
        signature = (func, types, args = None, kwargs = None),
        text_signature = "($cls, func, types, args=(), kwargs=None)"
    )]
    fn __torch_function__<'py>(
        class: &Bound<'py, PyType>,
        func: &Any<'py>,
        types: &Any<'py>,
        args: Option<&Any<'py>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Any<'py>> {
        let args = match args {
            Some(args) => class.py().get_type::<PyTuple>().call1((args,))?.cast_into()?,
            None => PyTuple::empty(class.py()),
        };
        overrides::keep_subclass(class, func, types, &args, kwargs)
    }
    /// A tensor over the data of another one, as an object of a subclass and a leaf.
    ///
    /// >>> class Named(rg.Tensor): pass
    /// >>> rg.Tensor._make_subclass(Named, rg.ones(2), True)
    /// Named([1., 1.], requires_grad=True)
    #[staticmethod]
    #[pyo3(name = "_make_subclass", signature = (cls, data, require_grad = false))]
    fn make_subclass<'py>(cls: &Any<'py>, data: &Any<'py>, require_grad: bool) -> PyResult<Any<'py>> {
        subclass_of(cls, data, require_grad)
    }
    /// Refused: a tensor without memory, whose class would see what ops are made of, is what there is not.
    ///
    /// Raises: NotImplementedError.
    ///
    /// >>> try:
    /// ...     rg.Tensor._make_wrapper_subclass(rg.Tensor, (2,))
    /// ... except NotImplementedError as error:
    /// ...     print(str(error)[:24])
    /// _make_wrapper_subclass()
    #[staticmethod]
    #[pyo3(signature = (cls, *_args, **_kwargs))]
    fn _make_wrapper_subclass<'py>(
        cls: &Any<'py>,
        _args: &Bound<'py, PyTuple>,
        _kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Any<'py>> {
        Err(PyNotImplementedError::new_err(format!(
            "_make_wrapper_subclass() makes tensors for __torch_dispatch__, which retrograd does not call: let {} hold a tensor \
             and define __torch_function__ instead",
            cls.getattr("__name__").map_or_else(|_| "the class".into(), |name| name.to_string())
        )))
    }
    fn __hash__(slf: &Bound<'_, Self>) -> isize {
        (slf.as_ptr() as usize >> 4) as isize
    }
    // ---- indexing

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Any<'py>) -> PyResult<Any<'py>> {
        if state::possible()
            && let Some(taken) = overrides::member("__getitem__", &[slf, key])?
        {
            return Ok(taken);
        }
        let x = &slf.get().0;
        let part = if let Some(i) = crate::index::exact_int(key) {
            index::get_int(x, i)
        } else if let Some([start, end, step]) = crate::index::exact_slice(key)? {
            index::get_slice(x, start, end, step)
        } else {
            match crate::index::items(x, key) {
                Ok(items) => index::get(x, &items),
                Err(why) => return overrides::member("__getitem__", &[slf, key])?.ok_or(why),
            }
        };
        wrap(slf.py(), part.or_py()?)
    }
    fn __delitem__(&self, _key: &Any<'_>) -> PyResult<()> {
        Err(PyTypeError::new_err("Tensor does not support deleting items"))
    }
    fn __setitem__<'py>(slf: &Bound<'py, Self>, key: &Any<'py>, value: &Any<'py>) -> PyResult<()> {
        if state::possible()
            && let Some(taken) = overrides::member("__setitem__", &[slf, key, value])?
        {
            drop(taken);
            return Ok(());
        }
        let x = &slf.get().0;
        let Some(operand) = convert::operand(value)? else {
            let taken = overrides::member("__setitem__", &[slf, key, value])?;
            return taken.map(drop).ok_or_else(|| crate::index::refused_value(value, x.dtype()));
        };
        let value = operand;
        // As in torch, a truth value alone is no mask: `x[True]` is written as `x[None]`, and `x[False]` not at all.
        match key.cast::<PyBool>().map(|b| b.is_true()) {
            Ok(false) => Ok(()),
            Ok(true) => index::set(x, &[index::IndexItem::NewAxis], &value).or_py(),
            Err(_) => index::set(x, &crate::index::items(x, key)?, &value).or_py(),
        }
    }
}

/// Makes a tensor object of a subclass over the data of another: what `Parameter` is built with.
#[pyfunction]
fn _make_subclass<'py>(class: &Any<'py>, data: &Any<'py>, requires_grad: bool) -> PyResult<Any<'py>> {
    subclass_of(class, data, requires_grad)
}

fn subclass_of<'py>(class: &Any<'py>, data: &Any<'py>, requires_grad: bool) -> PyResult<Any<'py>> {
    let Ok(class) = class.cast::<PyType>() else {
        let kind = crate::call::type_name(class);
        return Err(PyTypeError::new_err(format!("cls must be a type (got {kind})")));
    };
    let tensor = class.py().get_type::<PyTensor>();
    if !class.is_subclass(&tensor)? {
        return Err(PyTypeError::new_err(overrides::no_subclass(class)?));
    }
    let object = tensor.call_method1("__new__", (class, data))?;
    let t = unwrap(&object).expect("an object of a subclass");
    t.set_requires_grad(requires_grad).or_py()?;
    Ok(object)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    class::register(m)?;
    shortcuts::register(&PyTensor::type_object(m.py()))?;
    m.add_function(wrap_pyfunction!(_make_subclass, m)?)
}
