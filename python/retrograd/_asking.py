"""Functions in Python that ask the objects and modes with `__torch_function__` before they run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from retrograd._core import _handle_torch_function as handle_torch_function
from retrograd._core import _has_torch_function as has_torch_function

__all__ = ["asking", "handle_torch_function", "has_torch_function"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def asking(function: _Function) -> _Function:
    """A decorator of functions whose arguments are asked, lists of them not. It costs a call more.

    >>> from retrograd._asking import asking
    >>> @asking
    ... def twice(x):
    ...     return 2 * x
    >>> twice(rg.ones(2))
    tensor([2., 2.])
    """

    @wraps(function)
    def asks(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if has_torch_function(given):
            return handle_torch_function(asks, given, *args, **kwargs)
        return function(*args, **kwargs)

    return asks  # type: ignore[return-value]
