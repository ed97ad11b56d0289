"""Names around `torch.compile`: programs run as they are, so functions come back unchanged.

>>> rg.compiler.is_compiling()
False
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar, overload

__all__ = ["compile"]

_T = TypeVar("_T")


@overload
def compile(model: _T, **options: Any) -> _T: ...
@overload
def compile(model: None = None, **options: Any) -> Callable[[_T], _T]: ...
def compile(model: Any = None, **options: Any) -> Any:
    """The function or module, unchanged; without one, a decorator that returns it so.

    Args: options, such as `fullgraph`, `dynamic`, `backend` and `mode`, are accepted and mean nothing.

    >>> rg.compile(lambda x: x * 2)(rg.ones(1))
    tensor([2.])
    """
    return _same if model is None else model


def _same(fn: _T) -> _T:
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function, unchanged; without one, a decorator that returns it so."""
    return _same if fn is None else fn


def allow_in_graph(fn: _T) -> _T:
    """The function, unchanged."""
    return fn


def assume_constant_result(fn: _T) -> _T:
    """The function, unchanged."""
    return fn


def is_compiling() -> bool:
    """Whether a program is compiled: it is not."""
    return False


def is_dynamo_compiling() -> bool:
    """Whether a program is compiled: it is not."""
    return False


def is_exporting() -> bool:
    """Whether a program is exported: it is not."""
    return False


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Names of compilers: none."""
    return []


def reset() -> None:
    """Do nothing: nothing was compiled."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there is no such device."""


def set_stance(*args: Any, **kwargs: Any) -> nullcontext[None]:
    """A context that changes nothing."""
    return nullcontext()
