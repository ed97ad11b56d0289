//! The methods of a ctx: those for `forward` and `backward`, and those of a node.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use pyo3::exceptions::{PyAssertionError, PyDeprecationWarning, PyFutureWarning, PyRuntimeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use retrograd_engine::autograd::hooks;
use retrograd_engine::call_site::CallSite;
use smallvec::SmallVec;

use super::{Begun, Notes, PyFunctionCtx, call_backward, clone_option, name_of, new_node, node_of_ctx};
use crate::anythread::AnyThread;
use crate::errors::OrPy;
use crate::hook::{Handle, PyPostHook, PyPreHook};
use crate::wrap::{unwrap, wrap_option};
use crate::{node, saved};

fn unfinished(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "{what}: this ctx is not part of a graph. It becomes the node of the outputs when forward has returned, if an input \
         requires grad."
    ))
}

impl PyFunctionCtx {
    /// One without notes.
    pub(super) fn of(begun: OnceLock<Begun>) -> Self {
        let notes = Notes {
            to_save: None,
            saved_for_forward: None,
            dirty: None,
            still: None,
            materialize: true,
            materialize_still: true,
            pure_view: false,
            in_jvp: false,
        };
        Self {
            notes: Mutex::new(notes),
            needs_input_grad: PyOnceLock::new(),
            metadata: PyOnceLock::new(),
            begun,
            made: OnceLock::new(),
            node: Mutex::default(),
        }
    }
    /// What was saved for `jvp` has been used.
    pub(super) fn end_of_forward(&self) {
        self.note(|n| &mut n.saved_for_forward, None);
    }
    /// Writes a note. What it replaces is dropped after the lock is released: the drop may run foreign code.
    fn note(&self, which: fn(&mut Notes) -> &mut Option<Py<PyAny>>, value: Option<Py<PyAny>>) {
        let old = std::mem::replace(which(&mut self.notes.lock()), value);
        drop(old);
    }
}

#[pymethods]
impl PyFunctionCtx {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs), text_signature = "()")]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::of(OnceLock::new())
    }

    /// Save tensors (or None) for `backward`, which reads them as `ctx.saved_tensors`.
    ///
    /// Takes effect when `forward` has returned; a second call replaces the first. Reading checks that nobody wrote to
    /// them in place, and they are freed when backward ran without `retain_graph`.
    #[pyo3(signature = (*tensors))]
    fn save_for_backward(&self, tensors: Py<PyAny>) {
        self.note(|n| &mut n.to_save, Some(tensors));
    }

    /// Save tensors (or None) for `jvp`, which reads them as `ctx.saved_tensors`.
    ///
    /// Raises: AssertionError for anything else.
    #[pyo3(signature = (*tensors))]
    fn save_for_forward(&self, tensors: &Bound<'_, PyTuple>) -> PyResult<()> {
        if !tensors.iter_borrowed().all(|t| t.is_none() || unwrap(&t).is_some()) {
            return Err(PyAssertionError::new_err(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx.",
            ));
        }
        self.note(|n| &mut n.saved_for_forward, Some(tensors.clone().into_any().unbind()));
        Ok(())
    }

    /// Say which inputs `forward` wrote to; each must be among its outputs.
    #[pyo3(signature = (*args))]
    fn mark_dirty(&self, args: Py<PyAny>) {
        self.note(|n| &mut n.dirty, Some(args));
    }

    /// Say which outputs have no derivative, and so do not require grad. `backward` still gets zeros for each.
    #[pyo3(signature = (*args))]
    fn mark_non_differentiable(&self, args: Py<PyAny>) {
        self.note(|n| &mut n.still, Some(args));
    }

    /// Choose what `backward` and `jvp` get for missing gradients and tangents: tensors of zeros (the default) or None.
    fn set_materialize_grads(&self, value: bool) {
        self.notes.lock().materialize = value;
    }

    /// Deprecated: does nothing, since shared storage is tracked.
    #[pyo3(signature = (*pairs))]
    fn mark_shared_storage(&self, py: Python<'_>, pairs: &Bound<'_, PyTuple>) -> PyResult<()> {
        let _ = pairs;
        PyErr::warn(
            py,
            &py.get_type::<PyFutureWarning>(),
            c"`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that calls to \
            `set_()` are not tracked",
            1,
        )
    }

    /// In `backward`, what `save_for_backward` saved. In `jvp`, what `save_for_forward` saved, and so from that call on
    /// to the end of `forward`; before it, empty.
    ///
    /// Raises: RuntimeError if a tensor was written to since, or if the graph was freed.
    #[getter]
    fn saved_tensors<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (for_jvp, in_jvp) = {
            let notes = slf.get().notes.lock();
            (clone_option(py, &notes.saved_for_forward), notes.in_jvp)
        };
        if let Some(saved) = for_jvp {
            return Ok(saved.into_bound(py).cast_into()?);
        }
        if in_jvp {
            return Ok(PyTuple::empty(py));
        }
        let (Some(made), Some(node)) = (slf.get().made.get(), node_of_ctx(slf)) else {
            return Ok(PyTuple::empty(py));
        };
        let once = || -> PyResult<bool> {
            let function = slf.getattr(intern!(py, "_forward_cls"))?;
            function.getattr(intern!(py, "clear_saved_tensors_on_access"))?.is_truthy()
        }()?;
        let tensors = made.saved.unpack(&node, true).or_py().map_err(|e| {
            if !(once && made.saved.is_freed()) {
                return e;
            }
            PyRuntimeError::new_err(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the \
                 autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False.",
            )
        })?;
        if once {
            made.saved.release(CallSite::here());
        }
        let tensors: SmallVec<[_; 4]> = tensors.into_iter().map(|t| wrap_option(py, t)).collect::<PyResult<_>>()?;
        PyTuple::new(py, tensors)
    }

    /// A handle for each tensor that `save_for_backward` saved, with `register_hooks`.
    #[getter]
    fn _raw_saved_tensors<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        match node_of_ctx(slf) {
            Some(node) => saved::handles(slf.py(), &node),
            None => Ok(PyTuple::empty(slf.py())),
        }
    }

    /// Deprecated spelling of `saved_tensors`.
    #[getter]
    fn saved_variables<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let category = py.get_type::<PyDeprecationWarning>();
        PyErr::warn(py, &category, c"'saved_variables' is deprecated; use 'saved_tensors'", 1)?;
        Self::saved_tensors(slf)
    }

    /// Free what `save_for_backward` saved, if the function has `clear_saved_tensors_on_access`.
    fn maybe_clear_saved_tensors(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let function = slf.getattr(intern!(py, "_forward_cls"))?;
        if let Some(made) = slf.get().made.get()
            && function.getattr(intern!(py, "clear_saved_tensors_on_access"))?.is_truthy()?
        {
            made.saved.release(CallSite::here());
        }
        Ok(())
    }

    /// One bool per argument of `forward`: whether it is a tensor that requires grad.
    #[getter]
    fn needs_input_grad<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(begun) = self.begun.get() else { return Ok(None) };
        let needs = || PyTuple::new(py, begun.args.iter().map(|(_, requires_grad)| requires_grad)).map(Bound::unbind);
        Ok(Some(self.needs_input_grad.get_or_try_init(py, needs)?.bind(py).clone()))
    }

    /// The node's name: the function's with `Backward` appended.
    fn name(slf: &Bound<'_, Self>) -> String {
        name_of(slf)
    }

    /// `(node or None, index)` per tensor among the arguments.
    #[getter]
    fn next_functions<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        // While `forward` runs there is no node yet; its edges are known.
        let node = node_of_ctx(slf).unwrap_or_else(|| new_node(slf, SmallVec::new()));
        node::next_functions(slf.py(), &node)
    }

    /// A dict for notes; the same one each time.
    #[getter]
    pub(crate) fn metadata<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.metadata.get_or_init(py, || PyDict::new(py).unbind()).bind(py).clone()
    }

    /// True.
    #[getter]
    fn requires_grad(&self) -> bool {
        true
    }

    /// Shape, dtype and device per output.
    #[getter]
    fn _input_metadata<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        match node_of_ctx(slf) {
            Some(node) => node::input_metadata(slf.py(), &node),
            None => Ok(PyList::empty(slf.py())),
        }
    }

    /// Number of the node's creation on its thread.
    fn _sequence_nr(slf: &Bound<'_, Self>) -> PyResult<u64> {
        node_of_ctx(slf).map(|n| n.sequence_nr()).ok_or_else(|| unfinished("_sequence_nr"))
    }

    /// Calls `hook(grad_inputs, grad_outputs)` after the node ran; returns a handle.
    fn register_hook(slf: &Bound<'_, Self>, hook: Py<PyAny>) -> PyResult<Handle> {
        let node = node_of_ctx(slf).ok_or_else(|| unfinished("register_hook"))?;
        let id = hooks::register(&node.hooks().post, Arc::new(PyPostHook(AnyThread::new(hook))));
        Ok(Handle::node(&node, id))
    }

    /// Calls `hook(grad_outputs)` before the node runs; returns a handle.
    fn register_prehook(slf: &Bound<'_, Self>, hook: Py<PyAny>) -> PyResult<Handle> {
        let node = node_of_ctx(slf).ok_or_else(|| unfinished("register_prehook"))?;
        let id = hooks::register(&node.hooks().pre, Arc::new(PyPreHook(AnyThread::new(hook))));
        Ok(Handle::node(&node, id))
    }

    /// Have the hooks in the dict `tensor._backward_hooks` called with the gradient of the tensor, an output of this
    /// node. An old way to register; use `Tensor.register_hook`.
    fn _register_hook_dict(slf: &Bound<'_, Self>, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        let node = node_of_ctx(slf).ok_or_else(|| unfinished("_register_hook_dict"))?;
        crate::hook::register_dict(&node, tensor)
    }

    /// The user's backward on these gradients, as it is: nothing is checked.
    #[pyo3(signature = (*grads))]
    fn _call_backward<'py>(slf: &Bound<'py, Self>, grads: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        call_backward(slf, grads.iter().collect())
    }

    // The attributes behind the methods above.
    /// What `save_for_backward` was given.
    #[getter]
    fn to_save(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        clone_option(py, &self.notes.lock().to_save)
    }
    #[setter]
    fn set_to_save(&self, value: Option<Py<PyAny>>) {
        self.note(|n| &mut n.to_save, value);
    }
    /// What `save_for_forward` was given.
    #[getter]
    fn saved_for_forward(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        clone_option(py, &self.notes.lock().saved_for_forward)
    }
    #[setter]
    fn set_saved_for_forward(&self, value: Option<Py<PyAny>>) {
        self.note(|n| &mut n.saved_for_forward, value);
    }
    /// What `mark_dirty` was given.
    #[getter]
    fn dirty_tensors(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        clone_option(py, &self.notes.lock().dirty)
    }
    #[setter]
    fn set_dirty_tensors(&self, value: Option<Py<PyAny>>) {
        self.note(|n| &mut n.dirty, value);
    }
    /// What `mark_non_differentiable` was given.
    #[getter]
    fn non_differentiable(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        clone_option(py, &self.notes.lock().still)
    }
    #[setter]
    fn set_non_differentiable(&self, value: Option<Py<PyAny>>) {
        self.note(|n| &mut n.still, value);
    }
    /// What `set_materialize_grads` was given.
    #[getter]
    fn materialize_grads(&self) -> bool {
        self.notes.lock().materialize
    }
    #[setter(materialize_grads)]
    fn put_materialize_grads(&self, value: bool) {
        self.notes.lock().materialize = value;
    }
    #[getter]
    fn _materialize_non_diff_grads(&self) -> bool {
        self.notes.lock().materialize_still
    }
    #[setter(_materialize_non_diff_grads)]
    fn put_materialize_non_diff_grads(&self, value: bool) {
        self.notes.lock().materialize_still = value;
    }
    #[getter]
    fn _is_pure_view(&self) -> bool {
        self.notes.lock().pure_view
    }
    #[setter(_is_pure_view)]
    fn put_is_pure_view(&self, value: bool) {
        self.notes.lock().pure_view = value;
    }

    fn __traverse__(&self, task: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(notes) = self.notes.try_lock() {
            for list in [&notes.to_save, &notes.saved_for_forward, &notes.dirty, &notes.still].into_iter().flatten() {
                task.call(list)?;
            }
        }
        Ok(())
    }
    fn __clear__(&self) {
        let gone = {
            let mut notes = self.notes.lock();
            (notes.to_save.take(), notes.saved_for_forward.take(), notes.dirty.take(), notes.still.take())
        };
        drop(gone);
    }
}
