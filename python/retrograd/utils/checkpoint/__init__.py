"""Checkpointing: recompute in the backward pass what the forward pass would have saved.

`checkpoint(function, *args)` calls the function, and the graph saves its arguments alone. When the backward
pass needs a tensor that the graph would have saved, the function is called again. This trades time for memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from retrograd import _core
from retrograd._core import is_grad_enabled
from retrograd._lazy import submodules
from retrograd.autograd.graph import saved_tensors_hooks
from retrograd.random import fork_rng, get_rng_state, set_rng_state
from retrograd.utils.checkpoint._reentrant import (
    CheckpointFunction,
    DefaultDeviceType,
    check_backward_validity,
    detach_variable,
    get_device_states,
    set_device_states,
)
from retrograd.utils.checkpoint._region import CheckpointError, GraphExecGroup, Region, here

if TYPE_CHECKING:
    from retrograd.utils.checkpoint._selective import (
        SAC_IGNORED_OPS,
        CheckpointPolicy,
        SelectiveCheckpointContext,
        create_selective_checkpoint_contexts,
    )
else:  # loaded at first use
    __getattr__, __dir__ = submodules(
        __name__,
        CheckpointPolicy="_selective",
        SAC_IGNORED_OPS="_selective",
        SelectiveCheckpointContext="_selective",
        create_selective_checkpoint_contexts="_selective",
    )

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

_R = TypeVar("_R")
_Contexts: TypeAlias = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

# By the value of `determinism_check`: whether shapes, dtypes and devices are compared. The number of tensors always is.
_CHECKS = {"default": True, "none": False}


def noop_context_fn() -> _Contexts:
    """The default `context_fn` of `checkpoint`: two context managers that do nothing.

    >>> from retrograd.utils.checkpoint import noop_context_fn
    >>> forward_context, recompute_context = noop_context_fn()
    """
    return nullcontext(), nullcontext()


# Options that a context manager overrides, for all threads, at the time of the forward call; None does not.
class _Overrides:
    early_stop: bool | None = None
    debug: bool | None = None


_overrides = _Overrides()


class _Override(_core._Value, ContextDecorator):
    """A block with another value of an option."""


def _chosen(option: str, given: bool) -> bool:
    value: bool | None = getattr(_overrides, option)
    return given if value is None else value


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """Override `early_stop` of all calls of `checkpoint` in the block; where their backward runs does not matter.

    Args: `enable` whether a recomputation ends as soon as it has saved as many tensors as the forward pass.

    >>> from retrograd.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> def exp(x):
    ...     y = x.exp()
    ...     print("reached the end")
    ...     return y
    >>> x = rg.ones(1, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(exp, x, use_reentrant=False)
    reached the end
    >>> y.backward()
    reached the end
    """
    return _Override(_overrides, "early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """Override `debug` of all calls of `checkpoint` in the block.

    Args: `enabled` whether a `CheckpointError` will show where each tensor was saved; None leaves it to each call.

    >>> from retrograd.utils.checkpoint import checkpoint, set_checkpoint_debug_enabled
    >>> sizes = iter([2, 3])
    >>> x = rg.ones(1, requires_grad=True)
    >>> with set_checkpoint_debug_enabled(True):
    ...     y = checkpoint(lambda x: x.expand(next(sizes)).exp(), x, use_reentrant=False)
    >>> try:
    ...     y.sum().backward()
    ... except RuntimeError as error:
    ...     print("ExpBackward0" in str(error))
    True
    """
    return _Override(_overrides, "debug", enabled)


def _default_form(caller: str) -> bool:
    """`use_reentrant` where it was not given. The warning points at the line that called the public function."""
    warnings.warn(
        f"{caller}: the use_reentrant parameter should be passed explicitly. It is taken for True, the form that older "
        "programs expect; use_reentrant=False is recommended",
        stacklevel=3,
    )
    return True


def checkpoint(
    function: Callable[..., _R],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], _Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> _R:
    """Call `function(*args, **kwargs)` so that the graph saves its arguments, and not what it computes on the way.

    The backward pass calls the function again to have those tensors, once per pass, with the random numbers of the
    first call; each is freed as soon as it was used. The function must do the same again. Arguments that are tensors
    may not be changed in place in between. Without grad mode this is a plain call.

    With `use_reentrant=False`, the one to prefer, the result is as if the function had been called plainly: tensors in
    keyword arguments, closures and nested structures have gradients, and every kind of backward pass works, also within
    the function. The reentrant form takes no keyword arguments, gives gradients to direct arguments alone, of which one
    must require grad, and refuses `grad` and `inputs=`; its gradients have no graph.

    Args: `use_reentrant` chooses the form; None warns and means True. `preserve_rng_state` (by keyword, True unless
    told) whether random numbers repeat. The others are for the form that is not reentrant: `context_fn` returns two
    context managers, around the call and around each recomputation; `determinism_check` "default" compares shape, dtype
    and device of the tensors saved each time, "none" their number alone; `debug` makes errors show where each was
    saved; `early_stop` ends a recomputation when it has saved as many tensors as the call.
    Returns: what the function returns.
    Raises: ValueError for another `determinism_check`, and for options that do not go together; RuntimeError if a
    context manager swallowed an exception of the function. In backward, CheckpointError if the function did not do the
    same again, and what the function itself raises.

    >>> from retrograd.utils.checkpoint import checkpoint
    >>> def block(x):
    ...     print("called")
    ...     return x.sin().exp()
    >>> x = rg.zeros(2, requires_grad=True)
    >>> y = checkpoint(block, x, use_reentrant=False)
    called
    >>> y.sum().backward()
    called
    >>> x.grad
    tensor([1., 1.])
    """
    if use_reentrant is None:
        use_reentrant = _default_form("checkpoint")
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"Unexpected keyword arguments: {','.join(kwargs)}. checkpoint passes them on to the function with "
                "use_reentrant=False alone"
            )
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        result: _R = CheckpointFunction.apply(function, preserve_rng_state, *args)
        return result

    debug = _chosen("debug", debug)
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)

    state = get_rng_state() if preserve_rng_state else None
    autocast = _core._present_autocast()

    def again(*args: Any) -> None:
        with fork_rng(enabled=preserve_rng_state):
            if state is not None:
                set_rng_state(state)
            with autocast, recompute_context:
                function(*args, **kwargs)

    has_contexts = context_fn is not noop_context_fn
    early_stop = _chosen("early_stop", early_stop)
    region = Region(again, args, early_stop, _CHECKS[determinism_check], debug, has_contexts)
    repeats = _core._Value(here, "repeats_random", preserve_rng_state) if has_contexts else nullcontext()
    with saved_tensors_hooks(region.pack, region.unpack), region.watched(region.pack), repeats, forward_context:
        result = function(*args, **kwargs)
        region.complete = True
    if not region.complete:
        raise RuntimeError(
            "checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
            "checkpointed forward, so there is no result to return"
        )
    return result


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, in segments of which all but the last are checkpointed.

    Args: `functions` a sequence of functions of one argument, or a module whose children they are; `segments` how
    many, from 1 to the number of functions, of equal length but for the last, which has the rest; `input` the first
    argument. `use_reentrant` and `preserve_rng_state` (by keyword) are those of `checkpoint`.
    Returns: what the last function returns.
    Raises: ValueError for any other keyword, or number of segments.

    >>> from retrograd.utils.checkpoint import checkpoint_sequential
    >>> x = rg.zeros(1, requires_grad=True)
    >>> y = checkpoint_sequential([rg.sin, rg.cos, rg.sin, rg.exp], 2, x, use_reentrant=False)
    >>> y.backward()
    >>> x.grad
    tensor([-0.])
    """
    if use_reentrant is None:
        use_reentrant = _default_form("checkpoint_sequential")
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}. checkpoint_sequential passes none on")
    chain: list[Callable[[Any], Any]] = list(functions.children() if hasattr(functions, "children") else functions)
    if not 1 <= segments <= len(chain):
        raise ValueError(f"checkpoint_sequential: {len(chain)} functions cannot be divided into {segments} segments")

    size = len(chain) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        segment = _one_by_one(chain[start : start + size])
        input = checkpoint(segment, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return _one_by_one(chain[last:])(input)


def _one_by_one(functions: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def segment(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return segment
