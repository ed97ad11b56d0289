//! Saved-tensor hooks written in Python, and the handles on single saved tensors.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use retrograd_engine::Tensor;
use retrograd_engine::autograd::NodeRef;
use retrograd_engine::autograd::saved::{PackedValue, SavedHooks, SavedSlots};

use crate::anythread::AnyThread;
use crate::call::type_name;
use crate::call_site::attached;
use crate::errors::{OrPy, from_py};
use crate::wrap::{unwrap, wrap, wrap_option};

/// `pack(tensor) -> anything`, `unpack(anything) -> tensor`
struct PyHooks {
    pack: AnyThread<PyAny>,
    unpack: AnyThread<PyAny>,
}

impl PyHooks {
    fn new(caller: &str, pack: Bound<'_, PyAny>, unpack: Bound<'_, PyAny>) -> PyResult<Self> {
        for (what, f) in [("pack", &pack), ("unpack", &unpack)] {
            if !f.is_callable() {
                return Err(PyTypeError::new_err(format!(
                    "{caller}(): the {what} hook must be callable, not {}",
                    type_name(f)
                )));
            }
        }
        Ok(Self { pack: AnyThread::new(pack.unbind()), unpack: AnyThread::new(unpack.unbind()) })
    }
}

impl SavedHooks for PyHooks {
    fn pack(&self, tensor: &Tensor) -> retrograd_engine::Result<Box<dyn PackedValue>> {
        attached(|py| -> PyResult<Box<dyn PackedValue>> {
            let value = self.pack.bind(py).call1((wrap(py, tensor.clone())?,))?;
            let unpack = AnyThread::new(self.unpack.clone_ref(py));
            Ok(Box::new(PyPacked { value: AnyThread::new(value.unbind()), unpack }))
        })
        .map_err(from_py)
    }
}

/// What a pack hook returned, with the hook that unpacks it.
pub struct PyPacked {
    pub value: AnyThread<PyAny>,
    pub unpack: AnyThread<PyAny>,
}

impl PackedValue for PyPacked {
    fn unpack(&self) -> retrograd_engine::Result<Tensor> {
        attached(|py| {
            let tensor = self.unpack.bind(py).call1((self.value.bind(py),))?;
            unwrap(&tensor).cloned().ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}",
                    type_name(&tensor)
                ))
            })
        })
        .map_err(from_py)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A tensor that a node saved for backward, before it is unpacked.
///
/// >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
/// >>> y = x.exp()
/// >>> saved = y.grad_fn._raw_saved_result
/// >>> saved.register_hooks(lambda t: t.tolist(), lambda numbers: rg.tensor(numbers))
/// >>> y.sum().backward()
/// >>> x.grad
/// tensor([2.7183, 7.3891])
#[pyclass(name = "SavedTensor", module = "retrograd.autograd", frozen)]
pub struct PySavedTensor {
    node: NodeRef,
    slot: usize,
}

impl PySavedTensor {
    pub fn new(node: NodeRef, slot: usize) -> Self {
        Self { node, slot }
    }
    fn slots(&self) -> &SavedSlots {
        self.node.rule().saved_slots().expect("handles are made for nodes that save tensors")
    }
    fn packed<R>(&self, f: impl FnOnce(&PyPacked) -> R) -> Option<R> {
        self.slots().with_packed(self.slot, |value| value.as_any().downcast_ref().map(f)).flatten()
    }
}

#[pymethods]
impl PySavedTensor {
    #[new]
    fn forbidden() -> PyResult<Self> {
        Err(PyRuntimeError::new_err(
            "Trying to create a SavedTensor object from Python is forbidden. Handles are had from nodes: `_raw_saved_*`.",
        ))
    }
    /// Pass the tensor to `pack_hook`, now, and save what it returns; `unpack_hook` makes a tensor of it again whenever
    /// the node needs it.
    ///
    /// Raises: TypeError if a hook is not callable; RuntimeError if the tensor has hooks already or was freed.
    fn register_hooks(&self, pack_hook: Bound<'_, PyAny>, unpack_hook: Bound<'_, PyAny>) -> PyResult<()> {
        let hooks = PyHooks::new("register_hooks", pack_hook, unpack_hook)?;
        self.slots().register_hooks(self.slot, &hooks).or_py()
    }
    /// The tensor as the node would get it; None if the slot is empty.
    ///
    /// Raises: RuntimeError if it was written to since, or freed.
    ///
    /// >>> rg.zeros(2, requires_grad=True).exp().grad_fn._raw_saved_result.unpack()
    /// tensor([1., 1.], grad_fn=<ExpBackward0>)
    fn unpack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap_option(py, self.slots().unpack_one(&self.node, self.slot, true).or_py()?)
    }
    /// What the pack hook returned; without hooks, the tensor; None once it was freed.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.slots().is_freed() {
            return Ok(py.None().into_bound(py));
        }
        match self.packed(|p| p.value.clone_ref(py)) {
            Some(value) => Ok(value.into_bound(py)),
            None => self.unpack(py),
        }
    }
    /// The hook that unpacks, if there are hooks.
    #[getter]
    fn unpack_hook<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.packed(|p| p.unpack.clone_ref(py)).map(|hook| hook.into_bound(py))
    }
}

/// A handle for each tensor that a node saved; an error once they were freed.
pub fn handles<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyTuple>> {
    node.rule().saved_slots().map_or(Ok(()), |saved| saved.check(node)).or_py()?;
    let count = node.rule().saved_slots().map_or(0, SavedSlots::len);
    let handle = |slot| Bound::new(py, PySavedTensor::new(node.clone(), slot));
    PyTuple::new(py, (0..count).map(handle).collect::<PyResult<Vec<_>>>()?)
}

/// Hooks as `saved_tensors_hooks` has them.
pub fn hooks(pack: Bound<'_, PyAny>, unpack: Bound<'_, PyAny>) -> PyResult<Arc<dyn SavedHooks>> {
    Ok(Arc::new(PyHooks::new("saved_tensors_hooks", pack, unpack)?))
}

/// A number that tensors have in common if and only if they share memory.
#[pyfunction]
fn _storage_key(t: &Bound<'_, PyAny>) -> PyResult<usize> {
    let t = unwrap(t).ok_or_else(|| PyTypeError::new_err("_storage_key: expected a Tensor"))?;
    Ok(t.storage_key())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("_SavedTensor", m.py().get_type::<PySavedTensor>())?;
    m.add_function(wrap_pyfunction!(_storage_key, m)?)
}
