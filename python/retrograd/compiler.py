"""`compile`: record what a function does, and replay it.

>>> @rg.compile
... def f(x, y):
...     return (x * y).sin().sum()
>>> [f(rg.ones(2), rg.ones(2)).item() == rg.ones(2).sin().sum().item() for _ in range(3)]
[True, True, True]
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar, overload

from retrograd import _core

__all__ = ["compile"]

_T = TypeVar("_T")


@overload
def compile(model: _T, *, fullgraph: bool = False, check: int | None = None, **options: Any) -> _T: ...
@overload
def compile(
    model: None = None, *, fullgraph: bool = False, check: int | None = None, **options: Any
) -> Callable[[_T], _T]: ...
def compile(model: Any = None, *, fullgraph: bool = False, check: int | None = None, **options: Any) -> Any:
    """The function or module, recorded and replayed; without one, a decorator that does so.

    The first two calls of a kind run as they are and are recorded: every op, those of backward passes and of optimizer
    steps too. If both did the same, later calls of that kind are replayed from the core: no Python runs, no graph is
    made, and memory is planned. A call is of the kind if its tensors have the same sizes, strides, dtypes and
    `requires_grad`, its other arguments are equal, and so is what the function reads: the tensors it captures, and
    closure cells, globals, and attributes of modules and objects. A number that differs from one call to the next
    becomes an input if it is an argument or is read so.

    What is the same as without: results, gradients, `.grad`, version counters, random draws, in-place updates of
    captured tensors, learning rates of SGD and Adam. What is not: Python code does not run at a replay, so what it does
    besides ops (printing, counting, appending to a list) is not done.

    A function that reads elements (`item`, `bool`, `tolist`, `numpy`), or whose results have as many elements as values
    say, runs as it is, with one warning that names the line; so does one that was recorded for 8 kinds of calls, and a
    call under a transform, a profiler session, anomaly mode or hooks for saved tensors.

    Args: `model` a function or a module; `fullgraph` raises RuntimeError in place of that warning; `check` runs every
    so many replays a second time as they are, and raises RuntimeError if the results differ; other options of torch
    (`dynamic`, `backend`, `mode`, `options`) are accepted and mean nothing. Returns: a function, or a module that
    shares the parameters. `compiled.explain()` lists what is replayed.

    >>> w = rg.ones(2, requires_grad=True)
    >>> optimizer = rg.optim.SGD([w], lr=0.5)
    >>> @rg.compile
    ... def step(x):
    ...     optimizer.zero_grad()
    ...     loss = (w * x).sum()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> [step(rg.ones(2)).item() for _ in range(4)]
    [2.0, 1.0, 0.0, -1.0]
    >>> w.tolist(), w.grad.tolist()
    ([-1.0, -1.0], [1.0, 1.0])
    """
    from retrograd._compiled import compiled

    if model is None:
        return lambda model: compiled(model, fullgraph=fullgraph, check=check)
    return compiled(model, fullgraph=fullgraph, check=check)


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
    """Whether a call is being recorded."""
    return _core._is_recording()


def is_dynamo_compiling() -> bool:
    """Whether a call is being recorded."""
    return _core._is_recording()


def is_exporting() -> bool:
    """Whether a program is exported: it is not."""
    return False


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Names of compilers: none."""
    return []


def reset() -> None:
    """Forget all recordings: functions are recorded again."""
    from retrograd._compiled import forget

    forget()


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there is no such device."""


def set_stance(*args: Any, **kwargs: Any) -> nullcontext[None]:
    """A context that changes nothing."""
    return nullcontext()
