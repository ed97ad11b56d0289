"""TorchScript's names: programs run as they are, so functions and modules come back unchanged.

>>> @rg.jit.script
... def double(x):
...     return x * 2
>>> double(rg.ones(1))
tensor([2.])
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any, NoReturn, TypeVar

_T = TypeVar("_T")
_REASON = "retrograd writes no TorchScript; save the state dict, and keep the Python code"
_isinstance = isinstance


class Error(Exception):
    """An error of TorchScript, which is never raised."""


def Attribute(value: _T, type: Any) -> _T:
    """The value."""
    return value


def annotate(the_type: Any, the_value: _T) -> _T:
    """The value."""
    return the_value


def script(obj: _T, *args: Any, **kwargs: Any) -> _T:
    """The function, class or module, unchanged."""
    return obj


def trace(func: _T, *args: Any, **kwargs: Any) -> _T:
    """The function or module, unchanged: it is not called."""
    return func


def trace_module(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """The module, unchanged: it is not called."""
    return mod


def export(fn: _T) -> _T:
    """The function, unchanged."""
    return fn


interface = script_if_tracing = script_method = unused = export


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function, unchanged; or with options, a decorator that returns it so."""
    return drop if callable(drop) else export


def freeze(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """The module, unchanged."""
    return mod


optimize_for_inference = freeze


def isinstance(obj: Any, target_type: Any) -> bool:
    """As Python's, of types, or of generic types by what they are made of."""
    from typing import get_origin

    types = target_type if _isinstance(target_type, tuple) else (target_type,)
    return any(_isinstance(obj, get_origin(kind) or kind) for kind in types)


def is_scripting() -> bool:
    """Whether this is TorchScript: it is not."""
    return False


def is_tracing() -> bool:
    """Whether a program is traced: it is not."""
    return False


def fork(func: Callable[..., _T], *args: Any, **kwargs: Any) -> Future[_T]:
    """Call the function, and return its result as that of a future."""
    future: Future[_T] = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future: Future[_T]) -> _T:
    """The result of a future of `fork`."""
    return future.result()


def optimized_execution(should_optimize: bool) -> nullcontext[None]:
    """A context that changes nothing."""
    return nullcontext()


def strict_fusion() -> nullcontext[None]:
    """A context that changes nothing."""
    return nullcontext()


def save(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused.

    Raises: NotImplementedError.
    """
    raise NotImplementedError(f"jit.save: {_REASON}")


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused.

    Raises: NotImplementedError.
    """
    raise NotImplementedError(f"jit.load: {_REASON}")


for _function in (save, load):
    _function.__refused__ = _REASON  # type: ignore[attr-defined]
