"""What `register_*` calls return."""

from __future__ import annotations

import abc
import itertools
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any, Self, TypeVar

from retrograd import _core

__all__ = ["RemovableHandle", "unserializable_hook"]

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


def _reference(hooks: MutableMapping[Any, Any]) -> Any:
    try:
        return weakref.ref(hooks)
    except TypeError:  # a plain dict
        return lambda: hooks


RemovableHandle.register(_core._RemovableHandle)
