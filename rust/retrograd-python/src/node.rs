//! Graph nodes as Python objects: one class per node name, one object per node while it lives.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use retrograd_engine::Tensor;
use retrograd_engine::autograd::hooks;
use retrograd_engine::autograd::saved::{SavedItem, SavedSlots};
use retrograd_engine::autograd::{Node, NodeRef};
use retrograd_engine::counted::Counted;
use retrograd_engine::kernels::thread_values::ThreadValue;

use crate::anythread::AnyThread;
use crate::errors::OrPy;
use crate::hook::{Handle, PyPostHook, PyPreHook};
use crate::object_slot::{self, Found};
use crate::saved::PySavedTensor;
use crate::wrap::{wrap, wrap_option};
use crate::{convert, function, size};

/// A recorded op, found as `tensor.grad_fn`. What it saves for its rule shows as attributes `_saved_<name>`.
///
/// >>> x = rg.tensor([3.0], requires_grad=True)
/// >>> y = x**2
/// >>> y.grad_fn.name(), y.grad_fn._saved_exponent
/// ('PowBackward0', 2)
/// >>> handle = y.grad_fn.register_prehook(lambda outputs: print("before:", outputs))
/// >>> handle = y.grad_fn.register_hook(lambda inputs, outputs: print("after:", inputs))
/// >>> y.backward()
/// before: (tensor([1.]),)
/// after: (tensor([6.]),)
#[pyclass(name = "Node", module = "retrograd.autograd.graph", subclass, weakref, frozen)]
pub struct PyNode {
    node: NodeRef,
    /// The object that this is in; set before others can find it.
    object: AtomicPtr<ffi::PyObject>,
}

/// The node of the object under construction.
static PENDING: ThreadValue<RefCell<Option<NodeRef>>> = ThreadValue::new(|| RefCell::new(None));

static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

impl Drop for PyNode {
    fn drop(&mut self) {
        object_slot::clear(self.node.object_slot(), *self.object.get_mut());
    }
}

/// The class of nodes with this name.
fn class_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let classes = CLASSES.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    let short = name.rsplit("::").next().unwrap_or(name);
    if let Some(c) = classes.get_item(short)? {
        return Ok(c);
    }
    let body = PyDict::new(py);
    body.set_item("__slots__", PyTuple::empty(py))?;
    body.set_item("__module__", "retrograd.autograd.graph")?;
    let class = py.get_type::<PyType>().call1((short, (py.get_type::<PyNode>(),), body))?;
    // Another thread may have made one meanwhile.
    classes.call_method1("setdefault", (short, class))
}

/// The Python object of a node: the live one, the ctx of a custom function, or a new one.
pub fn wrap_node<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyAny>> {
    if let Some(ctx) = function::ctx_of(node.rule()) {
        return Ok(ctx.into_bound(py));
    }
    loop {
        match object_slot::find(py, node.object_slot()) {
            Found::Object(object) => return Ok(object),
            Found::Dying(object) => object_slot::clear(node.object_slot(), object),
            Found::Nothing => {}
        }
        let class = class_of(py, &node.name())?;
        PENDING.with(|p| *p.borrow_mut() = Some(node.clone()));
        let object = class.call0()?;
        object.cast::<PyNode>()?.get().object.store(object.as_ptr(), Ordering::Relaxed);
        // SAFETY: an object whose `PyNode` leaves the slot when it is dropped.
        if unsafe { object_slot::fill(node.object_slot(), object.as_ptr()) } {
            return Ok(object);
        }
        // The node got an object on another thread meanwhile.
    }
}

/// The node of an object that is one: built-in or the ctx of a custom function.
pub fn unwrap_node(v: &Bound<'_, PyAny>) -> Option<NodeRef> {
    if let Ok(n) = v.cast::<PyNode>() {
        return Some(n.get().node.clone());
    }
    function::node_of(v)
}

/// `(node or None, index)` per input.
pub fn next_functions<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyTuple>> {
    let items: Vec<_> = node
        .next_edges()
        .map(|e| match e {
            Some(edge) => {
                let output = edge.output();
                Ok((wrap_node(py, &output.node)?, output.nr))
            }
            None => Ok((py.None().into_bound(py), 0)),
        })
        .collect::<PyResult<_>>()?;
    PyTuple::new(py, items)
}

/// Shape, dtype and device per output.
pub fn input_metadata<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyList>> {
    let types = py.import("types")?.getattr("SimpleNamespace")?;
    let items: Vec<_> = node
        .outputs()
        .iter()
        .map(|o| {
            let kw = PyDict::new(py);
            kw.set_item("shape", size::size(py, &o.sizes)?)?;
            kw.set_item("dtype", crate::dtype::object(py, o.dtype)?)?;
            kw.set_item("device", py.import("retrograd")?.getattr("device")?.call1(("cpu",))?)?;
            types.call((), Some(&kw))
        })
        .collect::<PyResult<_>>()?;
    PyList::new(py, items)
}

/// Runs the rule outside of a backward pass.
pub fn call_node<'py>(py: Python<'py>, node: &NodeRef, grads: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let grads: Vec<Option<Tensor>> = grads
        .iter()
        .enumerate()
        .map(|(i, g)| match crate::wrap::unwrap(&g) {
            Some(t) => Ok(Some(t.clone())),
            None if g.is_none() => Ok(None),
            None => Err(PyTypeError::new_err(format!(
                "argument {i} is not a Variable: the gradients that {} takes are Tensors or None",
                node.name()
            ))),
        })
        .collect::<PyResult<_>>()?;
    let mut results = Node::call(node, &grads).or_py()?;
    if results.len() == 1 {
        return wrap_option(py, results.pop().flatten());
    }
    let results: Vec<_> = results.into_iter().map(|g| wrap_option(py, g)).collect::<PyResult<_>>()?;
    Ok(PyTuple::new(py, results)?.into_any())
}

fn saved_item<'py>(py: Python<'py>, item: SavedItem) -> PyResult<Bound<'py, PyAny>> {
    match item {
        SavedItem::Tensor(t) => wrap_option(py, t),
        SavedItem::Tensors(ts) => {
            let items: Vec<_> = ts.into_iter().map(|t| wrap(py, t)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
        SavedItem::Value(v) => convert::object(py, ("", ""), v),
    }
}

/// The handle of what is saved under a name; a tuple of handles if that is a list of tensors.
fn raw_saved<'py>(py: Python<'py>, node: &NodeRef, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let rule = node.rule();
    let count = rule.saved_slots().map_or(0, SavedSlots::len);
    let slots: Vec<usize> = (0..count).filter(|&slot| rule.slot_name(slot) == name).collect();
    let handle = |slot: usize| Bound::new(py, PySavedTensor::new(node.clone(), slot));
    Ok(match slots[..] {
        [] => None,
        [slot] => Some(handle(slot)?.into_any()),
        _ => {
            // Which slots there are to handle is known as long as they are filled.
            rule.saved_slots().map_or(Ok(()), |saved| saved.check(node)).or_py()?;
            let held = slots.into_iter().filter(|&slot| rule.saved_slots().is_some_and(|saved| saved.holds(slot)));
            Some(PyTuple::new(py, held.map(handle).collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
    })
}

/// The dict for notes on a node; the same one each time.
pub fn metadata<'py>(py: Python<'py>, node: &NodeRef) -> Bound<'py, PyDict> {
    if let Some(ctx) = function::ctx_in(node.rule()) {
        return ctx.get().metadata(py);
    }
    let mut notes = node.hooks().host_notes.lock();
    if let Some(dict) = notes.as_ref().and_then(|n| n.downcast_ref::<AnyThread<PyDict>>()) {
        return dict.bind(py).clone();
    }
    let dict = PyDict::new(py);
    *notes = Some(Box::new(AnyThread::new(dict.clone().unbind())));
    dict
}

#[pymethods]
impl PyNode {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let node = PENDING.with(|p| p.borrow_mut().take()).ok_or_else(|| {
            PyTypeError::new_err("Can't instantiate abstract class Node: nodes are made by ops on tensors")
        })?;
        Ok(Self { node, object: AtomicPtr::default() })
    }
    /// The node's name, such as `MulBackward0`.
    fn name(&self) -> String {
        self.node.name().into_owned()
    }
    /// `(node or None, index)` per input.
    #[getter]
    fn next_functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        next_functions(py, &self.node)
    }
    /// A dict for notes; the same one each time.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        metadata(py, &self.node)
    }
    fn __traverse__(&self, task: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if Counted::strong_count(&self.node) > 1 {
            return Ok(());
        }
        crate::hook::visit_node(&self.node, &task)
    }
    fn __clear__(&self) {
        if Counted::strong_count(&self.node) == 1 {
            crate::hook::clear_node(&self.node);
        }
    }
    /// True.
    #[getter]
    fn requires_grad(&self) -> bool {
        true
    }
    fn _sequence_nr(&self) -> u64 {
        self.node.sequence_nr()
    }
    /// Changes the number that `_sequence_nr` returns; the engine uses its own.
    fn _set_sequence_nr(&self, number: u64) {
        self.node.set_sequence_nr(number);
    }
    #[getter]
    fn _input_metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        input_metadata(py, &self.node)
    }
    #[pyo3(signature = (*grads))]
    fn __call__<'py>(&self, py: Python<'py>, grads: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        call_node(py, &self.node, grads)
    }
    /// Calls `fn(grad_inputs, grad_outputs)` after the node ran; returns a handle.
    fn register_hook(&self, r#fn: Py<PyAny>) -> Handle {
        let id = hooks::register(&self.node.hooks().post, Arc::new(PyPostHook(AnyThread::new(r#fn))));
        Handle::node(&self.node, id)
    }
    /// Calls `fn(grad_outputs)` before the node runs; returns a handle.
    fn register_prehook(&self, r#fn: Py<PyAny>) -> Handle {
        let id = hooks::register(&self.node.hooks().pre, Arc::new(PyPreHook(AnyThread::new(r#fn))));
        Handle::node(&self.node, id)
    }
    /// Have the hooks in the dict `tensor._backward_hooks` called with the gradient of the tensor, an output of this
    /// node. An old way to register; use `Tensor.register_hook`.
    fn _register_hook_dict(&self, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        crate::hook::register_dict(&self.node, tensor)
    }
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if name == "variable"
            && let Some(leaf) = self.node.rule().leaf()
        {
            return wrap(py, leaf.clone());
        }
        if let Some(wanted) = name.strip_prefix("_raw_saved_")
            && let Some(raw) = raw_saved(py, &self.node, wanted)?
        {
            return Ok(raw);
        }
        if let Some(wanted) = name.strip_prefix("_saved_")
            && let Some(item) = self.node.rule().saved(&self.node, wanted).or_py()?
        {
            return saved_item(py, item);
        }
        Err(PyAttributeError::new_err(format!("'{}' object has no attribute '{name}'", short_name(&self.node))))
    }
    fn __dir__<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<String>> {
        let mut names: Vec<String> = slf.get_type().dir()?.extract()?;
        let rule = slf.get().node.rule();
        let tensors: Vec<_> =
            (0..rule.saved_slots().map_or(0, SavedSlots::len)).map(|slot| rule.slot_name(slot)).collect();
        for name in rule.saved_names() {
            names.push(format!("_saved_{name}"));
            if tensors.contains(&name) {
                names.push(format!("_raw_saved_{name}"));
            }
        }
        if rule.leaf().is_some() {
            names.push("variable".into());
        }
        Ok(names)
    }
    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("<{} object at {:p}>", short_name(&slf.get().node), slf.as_ptr())
    }
}

/// Last component of the name.
pub fn short_name(node: &NodeRef) -> String {
    let name = node.name();
    name.rsplit("::").next().unwrap_or(&name).to_string()
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("_Node", m.py().get_type::<PyNode>())
}
