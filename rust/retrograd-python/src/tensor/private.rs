//! Members of `Tensor` that programs use although torch counts them as private, and those that are written in Python.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};
use retrograd_engine::Tensor;

use super::Any;
use crate::call::misfit;
use crate::errors::OrPy;
use crate::wrap::{PyTensor, unwrap, wrap_option};
use crate::{class, hook};

/// Calls a function of `retrograd._members`.
fn in_python<'py>(
    slf: &Bound<'py, PyTensor>,
    function: &str,
    args: &[&Any<'py>],
    named: &[(&str, Option<&Any<'py>>)],
) -> PyResult<Any<'py>> {
    let py = slf.py();
    let args: Vec<_> = std::iter::once(slf.as_any()).chain(args.iter().copied()).collect();
    let named = named.iter().filter_map(|(name, value)| value.map(|value| (*name, value)));
    let function = py.import("retrograd._members")?.getattr(function)?;
    function.call(PyTuple::new(py, args)?, Some(&named.collect::<Vec<_>>().into_py_dict(py)?))
}

fn base_of<'a>(op: &str, given: &'a Any<'_>) -> PyResult<&'a Tensor> {
    unwrap(given).ok_or_else(|| misfit(op, "new_base", Some(0), "Tensor", given))
}

#[pymethods]
impl PyTensor {
    // ---- autograd

    /// `grad`, by another name.
    #[getter(_grad)]
    fn own_grad<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        self.grad(py)
    }
    #[setter(_grad)]
    fn set_own_grad(&self, value: &Any<'_>) -> PyResult<()> {
        self.set_grad(value)
    }
    #[deleter(_grad)]
    fn delete_own_grad(&self) -> PyResult<()> {
        self.delete_grad()
    }
    /// `grad_fn`. Setting it to None forgets the history in place, as `detach_()` does.
    ///
    /// >>> y = rg.ones(1, requires_grad=True) * 2
    /// >>> y._grad_fn = None
    /// >>> y
    /// tensor([2.])
    #[getter(_grad_fn)]
    fn own_grad_fn<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        Self::grad_fn(slf)
    }
    #[setter(_grad_fn)]
    fn set_own_grad_fn(&self, value: &Any<'_>) -> PyResult<()> {
        if !value.is_none() {
            return Err(PyRuntimeError::new_err("_grad_fn can be only set to None"));
        }
        self.0.detach_().or_py()
    }
    #[deleter(_grad_fn)]
    fn delete_own_grad_fn(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("Deletion of _grad_fn not allowed. Detach tensor instead!"))
    }
    /// The hooks on the gradient by their ids, None if there are none: a dict that was set, which is called as it is at
    /// the time, or else a new one. Setting replaces all hooks, None removes them.
    ///
    /// >>> x = rg.ones(1, requires_grad=True)
    /// >>> handle = x.register_hook(print)
    /// >>> x._backward_hooks == {handle.id: print}
    /// True
    /// >>> x._backward_hooks = {0: lambda grad: grad * 10}
    /// >>> x.sum().backward()
    /// >>> x.grad
    /// tensor([10.])
    #[getter]
    fn _backward_hooks<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        hook::tensor_hooks(py, &self.0)
    }
    #[setter(_backward_hooks)]
    fn set_backward_hooks(slf: &Bound<'_, Self>, value: &Any<'_>) -> PyResult<()> {
        hook::set_tensor_hooks(&slf.get().0, value)?;
        class::show_to_collector(slf.as_any());
        Ok(())
    }
    #[deleter(_backward_hooks)]
    fn delete_backward_hooks(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("Deletion of _backwards_hooks not allowed! Set it to None"))
    }
    /// As `_backward_hooks`, of the hooks that are called after this leaf accumulated.
    ///
    /// >>> x = rg.ones(1, requires_grad=True)
    /// >>> x._post_accumulate_grad_hooks = {0: lambda leaf: print(leaf.grad)}
    /// >>> x.sum().backward()
    /// tensor([1.])
    #[getter]
    fn _post_accumulate_grad_hooks<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        hook::leaf_hooks(py, &self.0)
    }
    #[setter(_post_accumulate_grad_hooks)]
    fn set_leaf_hooks(slf: &Bound<'_, Self>, value: &Any<'_>) -> PyResult<()> {
        hook::set_leaf_hooks(&slf.get().0, value)?;
        class::show_to_collector(slf.as_any());
        Ok(())
    }
    /// How many hold the tensor: its Python object, graphs that saved it, and views of it.
    ///
    /// >>> x = rg.ones(1)
    /// >>> y = x.view(1)
    /// >>> x._use_count(), y._use_count()
    /// (2, 1)
    fn _use_count(&self) -> usize {
        self.0.handle_count()
    }
    /// The part of `new_base` that this view is of its base. None if this is no view, or `new_base` is not of the
    /// sizes, strides and dtype of that base.
    ///
    /// >>> row = rg.zeros(2, 2)[1]
    /// >>> row._view_func(rg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    /// tensor([3., 4.])
    /// >>> print(row._view_func(rg.ones(3)))
    /// None
    fn _view_func<'py>(&self, py: Python<'py>, new_base: &Any<'py>) -> PyResult<Any<'py>> {
        let base = base_of("_view_func", new_base)?;
        let view = if self.0.fits_base(base) { self.0.same_view_of(base).or_py()? } else { None };
        wrap_option(py, view)
    }
    /// As `_view_func`, of a base that may be laid out differently. There are no symbolic sizes to visit.
    #[pyo3(signature = (new_base, symint_visitor_fn = None, tensor_visitor_fn = None))]
    fn _view_func_unsafe<'py>(
        &self,
        py: Python<'py>,
        new_base: &Any<'py>,
        symint_visitor_fn: Option<&Any<'py>>,
        tensor_visitor_fn: Option<&Any<'py>>,
    ) -> PyResult<Any<'py>> {
        let _ = (symint_visitor_fn, tensor_visitor_fn);
        wrap_option(py, self.0.same_view_of(base_of("_view_func_unsafe", new_base)?).or_py()?)
    }
    /// None; for views it is refused: how to make a base of a view is recorded for functionalization alone.
    ///
    /// Raises: RuntimeError.
    fn _rev_view_func_unsafe<'py>(&self, py: Python<'py>, new_view: &Any<'py>) -> PyResult<Any<'py>> {
        let _ = new_view;
        match self.0.base() {
            Some(_) => Err(PyRuntimeError::new_err("No _rev_view_func() found")),
            None => Ok(py.None().into_bound(py)),
        }
    }

    // ---- in Python

    /// Replace each element by `callable(element)`, in place and slowly; returns the tensor.
    ///
    /// Raises: RuntimeError if the tensor requires grad.
    ///
    /// >>> rg.tensor([1.0, 2.0]).apply_(lambda value: value * 10)
    /// tensor([10., 20.])
    #[pyo3(signature = (callable, /))]
    fn apply_<'py>(slf: &Bound<'py, Self>, callable: &Any<'py>) -> PyResult<Any<'py>> {
        in_python(slf, "apply_", &[callable], &[])
    }
    /// Replace each element by `callable(element, element of other)`, in place and slowly; returns the tensor.
    ///
    /// Args: `other` of the same dtype, and of sizes that broadcast to those of this tensor.
    /// Raises: RuntimeError if a tensor requires grad or the sizes do not broadcast; TypeError for another dtype.
    ///
    /// >>> rg.tensor([1.0, 2.0]).map_(rg.tensor([10.0, 20.0]), lambda a, b: a + b)
    /// tensor([11., 22.])
    fn map_<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, callable: &Any<'py>) -> PyResult<Any<'py>> {
        in_python(slf, "map_", &[other, callable], &[])
    }
    /// As `map_`, with two other tensors.
    ///
    /// >>> x = rg.tensor([1.0, 2.0])
    /// >>> x.map2_(x, x, lambda a, b, c: a + b * c)
    /// tensor([2., 6.])
    fn map2_<'py>(slf: &Bound<'py, Self>, x: &Any<'py>, y: &Any<'py>, callable: &Any<'py>) -> PyResult<Any<'py>> {
        in_python(slf, "map2_", &[x, y, callable], &[])
    }
    /// The axes in the order of their strides, from the outermost in memory to the innermost.
    ///
    /// Args: `ambiguity_check` True refuses a tensor with several such orders, a list of memory formats one that is not
    /// in exactly one of them.
    /// Raises: RuntimeError if it is refused; TypeError for another `ambiguity_check`.
    ///
    /// >>> rg.empty(2, 3, 5, 7).transpose(1, 2).dim_order()
    /// (0, 2, 1, 3)
    /// >>> rg.empty(2, 3, 5, 7, memory_format=rg.channels_last).dim_order(ambiguity_check=True)
    /// (0, 2, 3, 1)
    #[pyo3(signature = (*, ambiguity_check = None), text_signature = "($self, *, ambiguity_check=False)")]
    fn dim_order<'py>(slf: &Bound<'py, Self>, ambiguity_check: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        in_python(slf, "dim_order", &[], &[("ambiguity_check", ambiguity_check)])
    }
    /// What `load_state_dict` puts in the place of this tensor for `other`, where modules swap parameters: this tensor
    /// with the values of `other`, or with `assign` `other` itself, without history.
    ///
    /// >>> rg.zeros(2).module_load(rg.ones(2))
    /// tensor([1., 1.])
    #[pyo3(signature = (other, assign = false))]
    fn module_load<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, assign: bool) -> PyResult<Any<'py>> {
        if assign { other.call_method0("detach") } else { slf.call_method1("copy_", (other,))?.call_method0("detach") }
    }
    /// Refused: `distributions` have what it was for.
    ///
    /// Raises: RuntimeError.
    ///
    /// >>> try:
    /// ...     rg.ones(1).reinforce(2.0)
    /// ... except RuntimeError as error:
    /// ...     print(str(error)[:24])
    /// reinforce() was removed.
    fn reinforce<'py>(&self, reward: &Any<'py>) -> PyResult<Any<'py>> {
        let _ = reward;
        Err(PyRuntimeError::new_err(
            "reinforce() was removed.\nUse retrograd.distributions instead: take `action = Categorical(probs).sample()`, and \
             `(-Categorical(probs).log_prob(action) * reward).backward()`",
        ))
    }
}
