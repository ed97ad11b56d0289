//! Python callables as hooks of the engine, and the handles that remove them.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use retrograd_engine::Tensor;
use retrograd_engine::autograd::hooks::{self, Hook, LeafHook, PostHook, PreHook, TensorHook};
use retrograd_engine::autograd::leaf::WeakTensor;
use retrograd_engine::autograd::{Grads, Node, NodeRef};
use retrograd_engine::call_site::CallSite;
use retrograd_engine::counted::{Counted, WeakCounted};

use crate::anythread::AnyThread;
use crate::call::type_name;
use crate::call_site::attached;
use crate::errors::{OrPy, from_py};
use crate::saved::PyPacked;
use crate::wrap::{unwrap, wrap, wrap_option};

/// `fn(grad) -> grad or None`
pub struct PyTensorHook(pub AnyThread<PyAny>);
/// `fn(grad_outputs) -> grad_outputs or None`
pub struct PyPreHook(pub AnyThread<PyAny>);
/// `fn(grad_inputs, grad_outputs) -> grad_inputs or None`
pub struct PyPostHook(pub AnyThread<PyAny>);
/// `fn(leaf) -> None`
pub struct PyLeafHook(pub AnyThread<PyAny>);

fn hook_name(f: &Bound<'_, PyAny>) -> String {
    f.getattr("__name__").map_or_else(|_| "<unknown>".into(), |n| n.to_string())
}

impl Hook for PyTensorHook {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

impl TensorHook for PyTensorHook {
    fn call(&self, grad: Option<&Tensor>) -> retrograd_engine::Result<Option<Tensor>> {
        attached(|py| {
            let f = self.0.bind(py);
            let result = f.call1((wrap_option(py, grad.cloned())?,))?;
            check_replacement(f, &result, grad)
        })
        .map_err(from_py)
    }
}

/// A hook's result: None, or a tensor of the gradient's size and dtype.
fn check_replacement(
    f: &Bound<'_, PyAny>,
    result: &Bound<'_, PyAny>,
    grad: Option<&Tensor>,
) -> PyResult<Option<Tensor>> {
    if result.is_none() {
        return Ok(None);
    }
    let Some(t) = unwrap(result) else {
        return Err(PyTypeError::new_err(format!("expected Variable, but hook returned '{}'", type_name(result))));
    };
    let Some(g) = grad else {
        return Err(PyRuntimeError::new_err(format!(
            "can't replace a None gradient with a non-None value, as hook '{}' did",
            hook_name(f)
        )));
    };
    if t.sizes() != g.sizes() {
        return Err(PyRuntimeError::new_err(format!("hook '{}' has changed the size of value", hook_name(f))));
    }
    if t.dtype() != g.dtype() {
        return Err(PyRuntimeError::new_err(format!(
            "hook '{}' has changed the type of value (was retrograd.{} got retrograd.{})",
            hook_name(f),
            g.dtype().tensor_type_name(),
            t.dtype().tensor_type_name()
        )));
    }
    Ok(Some(t.clone()))
}

/// Calls what is in a dict at the time, one after the other.
struct PyDictHook(AnyThread<PyDict>);

impl Hook for PyDictHook {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

impl TensorHook for PyDictHook {
    fn call(&self, grad: Option<&Tensor>) -> retrograd_engine::Result<Option<Tensor>> {
        attached(|py| {
            let mut replaced: Option<Tensor> = None;
            for f in self.0.bind(py).values() {
                let now = replaced.as_ref().or(grad);
                let result = f.call1((wrap_option(py, now.cloned())?,))?;
                if let Some(new) = check_replacement(&f, &result, now)? {
                    replaced = Some(new);
                }
            }
            Ok(replaced)
        })
        .map_err(from_py)
    }
}

/// As [`PyDictHook`], of hooks that are called with a leaf.
struct PyDictLeafHook(AnyThread<PyDict>);

impl Hook for PyDictLeafHook {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

impl LeafHook for PyDictLeafHook {
    fn call(&self, leaf: &Tensor) -> retrograd_engine::Result<()> {
        let hooks = |py: Python<'_>| self.0.bind(py).values().iter().map(Bound::unbind).collect::<Vec<_>>();
        attached(hooks).into_iter().try_for_each(|f| PyLeafHook(AnyThread::new(f)).call(leaf))
    }
}

/// The dict that an attribute of hooks is set to; None for none.
fn dict_of(attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<AnyThread<PyDict>>> {
    if value.is_none() {
        return Ok(None);
    }
    match value.cast::<PyDict>() {
        Ok(dict) => Ok(Some(AnyThread::new(dict.clone().unbind()))),
        Err(_) => {
            let kind = type_name(value);
            Err(PyTypeError::new_err(format!("{attribute} must be a dict of hooks or None, not {kind}")))
        }
    }
}

/// The dict among some hooks; else a new one of them by their ids, and None if there are none.
fn dict_with<'py>(py: Python<'py>, hooks: &[(u64, &dyn Any)]) -> PyResult<Bound<'py, PyAny>> {
    if let Some(dict) = hooks.iter().find_map(|(_, hook)| hook.downcast_ref::<AnyThread<PyDict>>()) {
        return Ok(dict.bind(py).clone().into_any());
    }
    let all = py.import("collections")?.getattr("OrderedDict")?.call0()?;
    for (id, hook) in hooks {
        if let Some(f) = hook.downcast_ref::<AnyThread<PyAny>>() {
            all.set_item(id, f.bind(py))?;
        }
    }
    Ok(if all.is_truthy()? { all } else { py.None().into_bound(py) })
}

/// `tensor._backward_hooks`.
pub fn tensor_hooks<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let hooks = t.tensor_hooks().or_py()?;
    dict_with(py, &hooks.iter().map(|(id, hook)| (*id, hook.as_any())).collect::<Vec<_>>())
}

/// Sets `tensor._backward_hooks`.
pub fn set_tensor_hooks(t: &Tensor, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let hook = dict_of("_backward_hooks", value)?.map(|dict| Arc::new(PyDictHook(dict)) as Arc<dyn TensorHook>);
    t.replace_tensor_hooks(hook).or_py()
}

/// `tensor._post_accumulate_grad_hooks`.
pub fn leaf_hooks<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let hooks = t.post_accumulate_hooks();
    dict_with(py, &hooks.iter().map(|(id, hook)| (*id, hook.as_any())).collect::<Vec<_>>())
}

/// Sets `tensor._post_accumulate_grad_hooks`.
pub fn set_leaf_hooks(t: &Tensor, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let dict = dict_of("_post_accumulate_grad_hooks", value)?;
    t.replace_post_accumulate_hooks(dict.map(|dict| Arc::new(PyDictLeafHook(dict)) as Arc<dyn LeafHook>)).or_py()
}

/// Registers the dict `tensor._backward_hooks` as a hook on the output of `node` that the tensor is, once.
pub fn register_dict(node: &NodeRef, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(t) = unwrap(tensor) else {
        return Err(PyTypeError::new_err(format!(
            "_register_hook_dict() expected a variable, not {}",
            type_name(tensor)
        )));
    };
    let dict = tensor.getattr("_backward_hooks")?;
    let Ok(dict) = dict.cast_into::<PyDict>() else {
        return Err(PyTypeError::new_err("_register_hook_dict(): tensor._backward_hooks must be a dict of hooks"));
    };
    let nr = t.grad_fn().or_py()?.filter(|output| Counted::ptr_eq(&output.node, node)).map_or(0, |output| output.nr);
    let is_it = |hook: &dyn Any| hook.downcast_ref::<AnyThread<PyDict>>().is_some_and(|known| known.is(&dict));
    if node.hooks().tensor_hooks().lock().iter().any(|(_, (at, hook))| *at == nr && is_it(hook.as_any())) {
        return Ok(()); // setting the attribute did it
    }
    hooks::register(node.hooks().tensor_hooks(), (nr, Arc::new(PyDictHook(AnyThread::new(dict.unbind())))));
    Ok(())
}

fn tuple<'py>(py: Python<'py>, grads: &[Option<Tensor>]) -> PyResult<Bound<'py, PyTuple>> {
    let items: Vec<_> = grads.iter().map(|g| wrap_option(py, g.clone())).collect::<PyResult<_>>()?;
    PyTuple::new(py, items)
}

fn check_tuple(f: &Bound<'_, PyAny>, result: &Bound<'_, PyAny>, old: &[Option<Tensor>]) -> PyResult<Option<Grads>> {
    if result.is_none() {
        return Ok(None);
    }
    let Ok(items) = result.cast::<PyTuple>() else {
        return Err(PyTypeError::new_err(format!("expected tuple, but hook returned '{}'", type_name(result))));
    };
    if items.len() != old.len() {
        return Err(PyRuntimeError::new_err(format!(
            "hook '{}' has returned an incorrect number of values (got {}, but expected {})",
            hook_name(f),
            items.len(),
            old.len()
        )));
    }
    items.iter().zip(old).map(|(new, old)| check_replacement(f, &new, old.as_ref())).collect::<PyResult<_>>().map(Some)
}

impl Hook for PyPreHook {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

impl PreHook for PyPreHook {
    fn call(&self, grads: &[Option<Tensor>]) -> retrograd_engine::Result<Option<Grads>> {
        attached(|py| {
            let f = self.0.bind(py);
            check_tuple(f, &f.call1((tuple(py, grads)?,))?, grads)
        })
        .map_err(from_py)
    }
}

impl Hook for PyPostHook {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

impl PostHook for PyPostHook {
    fn call(&self, results: &[Option<Tensor>], grads: &[Option<Tensor>]) -> retrograd_engine::Result<Option<Grads>> {
        attached(|py| {
            let f = self.0.bind(py);
            check_tuple(f, &f.call1((tuple(py, results)?, tuple(py, grads)?))?, results)
        })
        .map_err(from_py)
    }
}

impl Hook for PyLeafHook {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

impl LeafHook for PyLeafHook {
    fn call(&self, leaf: &Tensor) -> retrograd_engine::Result<()> {
        attached(|py| {
            let result = self.0.bind(py).call1((wrap(py, leaf.clone())?,))?;
            if result.is_none() || unwrap(&result).is_some_and(|t| t.is_same(leaf)) {
                return Ok(());
            }
            if unwrap(&result).is_some() {
                return Err(PyRuntimeError::new_err("Tensor post accumulate grad hooks should return None."));
            }
            Err(PyTypeError::new_err(format!(
                "expected Variable, but hook returned '{}': a post accumulate grad hook must return None",
                type_name(&result)
            )))
        })
        .map_err(from_py)
    }
}

/// Shows the cycle collector what is reached from a node nobody else holds.
pub fn visit_node(node: &Node, task: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    let mut result = match crate::function::ctx_in(node.rule()) {
        Some(ctx) => task.call(ctx),
        None => Ok(()),
    };
    if let Some(hooks) = node.hooks_if_any() {
        hooks.each(|h| show(h, task, &mut result));
    }
    if let Some(saved) = node.rule().saved_slots() {
        saved.each_packed(|value| {
            if let (Ok(()), Some(packed)) = (&result, value.as_any().downcast_ref::<PyPacked>()) {
                result = task.call(&*packed.value).and_then(|()| task.call(&*packed.unpack));
            }
        });
    }
    result
}

/// Breaks the cycles that [`visit_node`] showed.
pub fn clear_node(node: &Node) {
    if let Some(hooks) = node.hooks_if_any() {
        hooks.clear();
    }
    if let Some(saved) = node.rule().saved_slots() {
        let mut any = false;
        saved.each_packed(|_| any = true);
        if any {
            saved.release(CallSite::default());
        }
    }
}

/// As [`visit_node`], from a tensor nobody else holds.
pub fn visit_tensor(t: &Tensor, task: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    let mut result = Ok(());
    t.each_own_hook(|h| show(h, task, &mut result));
    result?;
    t.with_sole_node(|node| visit_node(node, task)).unwrap_or(Ok(()))
}

fn show(hook: &dyn Any, task: &PyVisit<'_>, result: &mut Result<(), PyTraverseError>) {
    if result.is_ok()
        && let Some(f) = hook.downcast_ref::<AnyThread<PyAny>>()
    {
        *result = task.call(&**f);
    } else if result.is_ok()
        && let Some(dict) = hook.downcast_ref::<AnyThread<PyDict>>()
    {
        *result = task.call(&**dict);
    }
}

/// Breaks the cycles that [`visit_tensor`] showed.
pub fn clear_tensor(t: &Tensor) {
    t.clear_own_hooks();
    if let Some(node) = t.sole_node() {
        clear_node(&node);
    }
}

enum Hooked {
    Leaf(WeakTensor),
    Node(WeakCounted<Node>),
}

/// Removes a hook: by `remove()`, repeatedly if one likes, or at the end of a `with` block.
///
/// >>> x = rg.ones(1, requires_grad=True)
/// >>> handle = x.register_hook(lambda grad: grad * 10)
/// >>> handle.remove()
/// >>> x.sum().backward()
/// >>> x.grad
/// tensor([1.])
#[pyclass(name = "RemovableHandle", module = "retrograd.utils.hooks", weakref, frozen)]
pub struct Handle {
    on: Hooked,
    /// The number of the hook.
    #[pyo3(get)]
    id: u64,
}

impl Handle {
    pub fn leaf(t: &Tensor, id: u64) -> Self {
        Self { on: Hooked::Leaf(t.downgrade()), id }
    }
    pub fn node(n: &NodeRef, id: u64) -> Self {
        Self { on: Hooked::Node(Counted::downgrade(n)), id }
    }
}

#[pymethods]
impl Handle {
    /// Remove the hook; the call that is under way is not affected.
    fn remove(&self) {
        match &self.on {
            Hooked::Leaf(t) => {
                if let Some(t) = t.upgrade() {
                    t.remove_hook(self.id);
                }
            }
            Hooked::Node(n) => {
                if let Some(n) = n.upgrade() {
                    let h = n.hooks();
                    hooks::remove(h.tensor_hooks(), self.id);
                    hooks::remove(&h.pre, self.id);
                    hooks::remove(&h.post, self.id);
                }
            }
        }
    }
    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }
    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.remove();
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("_RemovableHandle", m.py().get_type::<Handle>())
}
