"""The recorded graph: its nodes and edges, and hooks that wait for several gradients."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, NoReturn

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.graph._saved import (
    _AllowMutationOnSavedContext,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from retrograd.utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge",
    "Node",
    "_AllowMutationOnSavedContext",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


class Node(abc.ABC):
    """A recorded op, found as `tensor.grad_fn`. Only ops make nodes.

    Every node is an instance: those of built-in ops, those of leaves (`AccumulateGrad`), and those of a custom
    `Function`, which are its ctx.

    >>> node = (rg.ones(1, requires_grad=True) * 2).grad_fn
    >>> isinstance(node, rg.autograd.graph.Node), node.name()
    (True, 'MulBackward0')
    """

    @abc.abstractmethod
    def name(self) -> str:
        """The node's name, such as `MulBackward0`.

        >>> rg.ones(1, requires_grad=True).exp().grad_fn.name()
        'ExpBackward0'
        """
        raise NotImplementedError

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each differentiable input: the node it came from, None if it needs no gradient, and which output of it.

        >>> x = rg.ones(1, requires_grad=True)
        >>> (x * rg.ones(1)).grad_fn.next_functions[1]
        (None, 0)
        """
        raise NotImplementedError

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[str, Any]:
        """A dict for notes about the node, the same one each time.

        >>> (rg.ones(1, requires_grad=True) * 2).grad_fn.metadata
        {}
        """
        raise NotImplementedError

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran. A tuple that it returns replaces `grad_inputs`.

        Returns: a handle with `remove()`.

        >>> x = rg.ones(1, requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_inputs[0] * 10, None))
        >>> y.backward()
        >>> x.grad.item()
        30.0
        """
        raise NotImplementedError

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs. A tuple that it returns replaces `grad_outputs`.

        Returns: a handle with `remove()`.

        >>> x = rg.ones(1, requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
        >>> y.backward()
        >>> x.grad.item()
        30.0
        """
        raise NotImplementedError


Node.register(_core._Node)


class GradientEdge(NamedTuple):
    """What receives a tensor's gradient: an output of a node. Made by `get_gradient_edge`.

    `backward` and `grad` take it in place of the tensor; it stays what it was when the tensor is changed in place.

    >>> x = rg.ones(1, requires_grad=True)
    >>> y = x * 2
    >>> edge = rg.autograd.graph.get_gradient_edge(y)
    >>> rg.autograd.grad(y.exp().sum() * 0 + y.sum(), edge)
    (tensor([1.]),)
    """

    node: Node
    output_nr: int
    ownership_token: object | None = None  # keeps the node alive where the object in `node` does not


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """What receives the gradient of `tensor`: its `grad_fn`, or the accumulating node of a leaf, and which output.

    Raises: RuntimeError if the tensor does not require grad.

    >>> x = rg.ones(2, requires_grad=True)
    >>> edge = rg.autograd.graph.get_gradient_edge(x)
    >>> edge.node.variable is x, edge.output_nr
    (True, 0)
    """
    return GradientEdge(*_core._gradient_edge(tensor))


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tell autograd of a change to a tensor's values that no op made, such as one through NumPy.

    Args: `tensor` a tensor or an iterable of them. Inference tensors, which have no version, are left alone.
    Raises: RuntimeError for anything else.

    >>> x = rg.ones(2)
    >>> rg.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if not isinstance(tensor, Iterable):
        raise RuntimeError(f"increment_version expect a Iterable[Tensor] as input, got {type(tensor).__name__}")
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                f"increment_version expects each element of the iterable to be a tensor, got {type(t).__name__}"
            )
        _core._increment_version(t)


def _get_grad_fn_or_grad_acc(t: Tensor | GradientEdge) -> Node:
    """The node that a tensor's gradient goes to: its `grad_fn`, or the accumulating node of a leaf."""
    node = t.node if isinstance(t, GradientEdge) else get_gradient_edge(t).node if t.requires_grad else None
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    return node


def _engine_run_backward(t_outputs: Sequence[Any], *args: Any, **kwargs: Any) -> tuple[Tensor | None, ...]:
    """`Variable._execution_engine.run_backward`, which has the parameters."""
    from retrograd.autograd.variable import Variable

    return Variable._execution_engine.run_backward(t_outputs, *args, **kwargs)


# ---- settings of compilers and devices


def region_activation_memory_budget(budget: float) -> NoReturn:
    """Refuses: a compiler would choose in a block what it saves, so that it is at most such a part. Use `checkpoint`.

    Raises: RuntimeError; TypeError if `budget` is no number, ValueError if it is not between 0 and 1.

    >>> try:
    ...     rg.autograd.graph.region_activation_memory_budget(0.5)
    ... except RuntimeError as error:
    ...     print(str(error)[-31:])
    use utils.checkpoint.checkpoint
    """
    name = "autograd.graph.region_activation_memory_budget"
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise TypeError(f"{name}: expects a float, got {type(budget).__name__}")
    if not 0 <= budget <= 1:
        raise ValueError(f"{name}: must be in [0, 1], got {budget}")
    raise RuntimeError(
        f"{name} can only be used inside a torch.compile region; it has no effect in eager mode. There is no compiler: "
        "use utils.checkpoint.checkpoint"
    )


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Whether to warn of gradients that arrive on another stream of a device: of no effect, there are no streams.

    >>> rg.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    """


def set_override_stale_capture_stream(enabled: bool) -> None:
    """What to do with stale streams while a device captures its work: of no effect, there are no streams.

    >>> rg.autograd.graph.set_override_stale_capture_stream(True)
    """


class _MultiHandle(RemovableHandle):
    """Removes several hooks at once."""

    handles: tuple[RemovableHandle, ...]

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        super().__init__({})
        self.handles = handles

    def remove(self) -> None:
        """Remove all the hooks; again, if one likes.

        >>> x = rg.ones(1, requires_grad=True)
        >>> rg.autograd.graph.register_multi_grad_hook([x], print).remove()
        """
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Call `fn` once per backward pass, when the gradients of several tensors have been computed.

    Args: `tensors` the tensors to wait for. `fn` with mode "all" is called with a list of their gradients, None for
    tensors that the pass does not reach; with mode "any" with the first gradient of the pass.
    Returns: a handle whose `remove()` removes all of the hooks.
    Raises: ValueError for another mode; RuntimeError if, in mode "all", a tensor does not require grad.

    >>> a, b = rg.ones(1, requires_grad=True), rg.ones(1, requires_grad=True)
    >>> show = lambda grads: print([g.item() for g in grads])
    >>> with rg.autograd.graph.register_multi_grad_hook([a, b], show):
    ...     (a * 2 + b * 3).backward()
    [2.0, 3.0]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    hooks = _all_hooks(tensors, fn) if mode == "all" else _any_hooks(tensors, fn)
    return _MultiHandle(tuple(t.register_hook(hook) for t, hook in hooks))


# A hook has its state per run of the engine, since runs may overlap in threads and nest in hooks, and is dropped
# when the run ends. Each step on it is one operation on a dict or a list, so no lock is needed.
_Hooks = list[tuple[Tensor, Callable[[Tensor], None]]]


def _all_hooks(tensors: Sequence[Tensor], fn: Callable[[Any], None]) -> _Hooks:
    edges, count = _core._WeakEdges(tuple(tensors)), len(tensors)
    runs: dict[int | None, tuple[list[Tensor | None], set[int]]] = {}

    def arrived(at: int, grad: Tensor) -> None:
        run = _core._current_run()
        if run not in runs:
            awaited = {i for i, reached in enumerate(edges.reached()) if reached or i == at}
            runs[run] = [None] * count, awaited
            _core._queue_callback(lambda: runs.pop(run, None))
        grads, awaited = runs[run]
        grads[at] = grad
        awaited.discard(at)
        if not awaited:
            del runs[run]
            fn(grads)

    return [(t, functools.partial(arrived, i)) for i, t in enumerate(tensors)]


def _any_hooks(tensors: Sequence[Tensor], fn: Callable[[Any], None]) -> _Hooks:
    runs: dict[int | None, bool] = {}

    def arrived(grad: Tensor) -> None:
        run = _core._current_run()
        if run not in runs:
            runs[run] = True
            _core._queue_callback(lambda: runs.pop(run, None))
            fn(grad)

    return [(t, arrived) for t in tensors if t.requires_grad]
