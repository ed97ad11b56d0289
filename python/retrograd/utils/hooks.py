"""Handles of hooks, what `register_*` calls return, and the hooks of a module's backward."""

from __future__ import annotations

import abc
import itertools
import warnings
import weakref
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Self, TypeVar

from retrograd import _core
from retrograd._core import Tensor

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

_HookT = TypeVar("_HookT", bound=Callable[..., Any])


class RemovableHandle(abc.ABC):
    """Removes a hook: by `remove()`, repeatedly if one likes, or at the end of a `with` block.

    Handles of tensors and nodes are made by the core, and are instances too. This class is for hooks that Python stores
    in a dict: put the hook there under `handle.id`.

    Args: `hooks_dict` the dict with the hook, held weakly if it can be; `extra_dict` a further dict, or several in a
    list, from which the same id is removed.

    >>> x = rg.ones(1, requires_grad=True)
    >>> with x.register_hook(lambda g: g * 10):
    ...     (x * 1).backward()
    >>> (x * 1).backward()
    >>> x.grad.item()
    11.0
    """

    id: int
    _ids = itertools.count()

    def __init__(self, hooks_dict: MutableMapping[Any, Any], *, extra_dict: Any = None) -> None:
        self.id = next(RemovableHandle._ids)
        extra = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self._dicts = [_reference(d) for d in (hooks_dict, *extra)]

    # A handle that is copied or pickled together with what has the hooks removes the hook there.

    def __getstate__(self) -> Any:
        return self.id, [reference() for reference in self._dicts]

    def __setstate__(self, state: Any) -> None:
        self.id, dicts = state
        self._dicts = [_reference({} if d is None else d) for d in dicts]
        RemovableHandle._ids = itertools.count(max(next(RemovableHandle._ids), self.id + 1))

    def remove(self) -> None:
        """Remove the hook; the call that is under way is not affected.

        >>> rg.ones(1, requires_grad=True).register_hook(print).remove()
        """
        for reference in self._dicts:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def unserializable_hook(f: _HookT) -> _HookT:
    """Mark a hook as one that is to be left behind when its tensor is saved or pickled, without a warning.

    >>> import pickle
    >>> x = rg.ones(1, requires_grad=True)
    >>> handle = x.register_hook(rg.utils.hooks.unserializable_hook(lambda grad: grad * 10))
    >>> pickle.loads(pickle.dumps(x))
    tensor([1.], requires_grad=True)
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: _core.Tensor) -> None:
    """Warn of each hook that a pickle of the tensor will not have, unless it was marked by `unserializable_hook`.

    >>> rg.utils.hooks.warn_if_has_hooks(rg.ones(1))
    """
    from retrograd.serialization._copy import warn_of_hooks

    warn_of_hooks(tensor, stacklevel=3)


def _reference(hooks: MutableMapping[Any, Any]) -> Any:
    try:
        return weakref.ref(hooks)
    except TypeError:  # a plain dict
        return lambda: hooks


RemovableHandle.register(_core._RemovableHandle)


class BackwardHook:
    """Calls hooks with the gradients of the inputs and outputs of a module.

    An identity is put before the inputs and another one behind the outputs, whose nodes see the gradients.

    Args: `user_hooks` are called as `hook(module, grad_input, grad_output)`, `user_pre_hooks` before as
    `hook(module, grad_output)`; what one returns replaces its first gradients.

    >>> hook = rg.utils.hooks.BackwardHook("a module", [print], [])
    >>> x = rg.ones(1, requires_grad=True)
    >>> (y,) = hook.setup_input_hook((x,))
    >>> hook.setup_output_hook(y * 2).backward()
    a module (tensor([2.]),) (tensor([1.]),)
    """

    def __init__(
        self, module: Any, user_hooks: Sequence[Callable[..., Any]], user_pre_hooks: Sequence[Callable[..., Any]]
    ) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: tuple[Any, ...] | None = None  # between the node of the outputs and that of the inputs
        self.n_inputs = self.n_outputs = -1
        self.input_tensors_index: list[int] | None = None
        self._without_gradient: list[tuple[int, Any, Any]] = []  # inputs that need none: the hooks are given zeros
        self.output_tensors_index: list[int] | None = None

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments behind the node that sees their gradients.

        >>> rg.utils.hooks.BackwardHook("a module", [print], []).setup_input_hook((1, rg.ones(1)))
        (1, tensor([1.]))
        """
        self.n_inputs = len(args)
        self._without_gradient = [
            (i, t.shape, t.dtype) for i, t in enumerate(args) if isinstance(t, Tensor) and not t.requires_grad
        ]
        seen, self.input_tensors_index = _behind_a_node(args, self._input_hook)
        return seen

    def setup_output_hook(self, args: Any) -> Any:
        """The output, a tensor or a tuple, behind the node that sees its gradients.

        >>> rg.utils.hooks.BackwardHook("a module", [print], []).setup_output_hook(rg.ones(1))
        tensor([1.])
        """
        outputs = args if isinstance(args, tuple) else (args,)
        self.n_outputs = len(outputs)
        seen, self.output_tensors_index = _behind_a_node(outputs, self._output_hook)
        return seen if isinstance(args, tuple) else seen[0]

    def _input_hook(self, grad_input: Sequence[Any], _: Any) -> tuple[Any, ...] | None:
        if self.grad_outputs is None or self.input_tensors_index is None:
            return None  # the gradient did not come through the outputs of the module, as in a second derivative
        spread = _spread(self.input_tensors_index, grad_input, self.n_inputs)
        for i, shape, dtype in self._without_gradient:
            spread[i] = _core.zeros(shape, dtype=dtype)
        grads = tuple(spread)
        for hook in self.user_hooks:
            replaced = hook(self.module, grads, self.grad_outputs)
            if replaced is None:
                continue
            if len(replaced) != len(grads):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(replaced)}, but expected "
                    f"{len(grads)}"
                )
            grads = replaced
        self.grad_outputs = None
        given = [*grads]
        for i, _, _ in self._without_gradient:
            given[i] = None
        return tuple(given[i] for i in self.input_tensors_index)

    def _output_hook(self, _: Any, grad_output: Sequence[Any]) -> tuple[Any, ...]:
        assert self.output_tensors_index is not None
        grads = tuple(_spread(self.output_tensors_index, grad_output, self.n_outputs))
        for hook in self.user_pre_hooks:
            replaced = hook(self.module, grads)
            if replaced is None:
                continue
            if len(replaced) != len(grads):
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(replaced)}, but expected "
                    f"{len(grads)}"
                )
            grads = replaced
        self.grad_outputs = grads
        if self.input_tensors_index is None:
            self._call_without_inputs(grads)
        return tuple(grads[i] for i in self.output_tensors_index)

    def _call_without_inputs(self, grads: tuple[Any, ...]) -> None:
        """No input requires grad: the hooks are called here, with None for each."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=3,
        )
        for hook in self.user_hooks:
            replaced = hook(self.module, (None,) * self.n_inputs, grads)
            if replaced is not None and not (isinstance(replaced, tuple) and all(g is None for g in replaced)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_outputs = None


def _spread(positions: Sequence[int], values: Sequence[Any], count: int) -> list[Any]:
    """A list with the values at their positions, None elsewhere."""
    spread: list[Any] = [None] * count
    for position, value in zip(positions, values, strict=True):
        spread[position] = value
    return spread


def _behind_a_node(values: tuple[Any, ...], hook: Callable[..., Any]) -> tuple[tuple[Any, ...], list[int] | None]:
    """The values, with the tensors behind one node that has the hook, and where these are; None if none needs it."""
    positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not (_core.is_grad_enabled() and any(values[i].requires_grad for i in positions)):
        return values, None
    from retrograd.nn.modules._functions import BackwardHookFunction

    passed = BackwardHookFunction.apply(*[values[i] for i in positions])
    node = next(t.grad_fn for t in passed if t.grad_fn is not None)
    node.register_hook(hook)
    behind = list(values)
    for position, tensor in zip(positions, passed, strict=True):
        behind[position] = tensor
    return tuple(behind) if type(values) is tuple else type(values)(*behind), positions
