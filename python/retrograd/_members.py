"""Members of `Tensor` that are written in Python: functions of an element each, and the order of axes in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from retrograd import _core
from retrograd._core import Tensor

Element = Callable[..., Any]


# ---- a call of Python for each element


def apply_(x: Tensor, callable: Element) -> Tensor:
    return _rewritten("apply_", x, (), callable)


def map_(x: Tensor, other: Tensor, callable: Element) -> Tensor:
    return _rewritten("map_", x, (("other", other),), callable)


def map2_(x: Tensor, first: Tensor, second: Tensor, callable: Element) -> Tensor:
    return _rewritten("map2_", x, (("x", first), ("y", second)), callable)


def _rewritten(name: str, x: Tensor, others: Sequence[tuple[str, Any]], function: Element) -> Tensor:
    """The tensor with `function` of its elements, and those of others, in the place of its own."""
    for position, (argument, other) in enumerate(others, 1):
        if not isinstance(other, Tensor):
            kind = type(other).__name__
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {kind}")
    if x.requires_grad or any(other.requires_grad for _, other in others):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead: a function "
            "of Python has no derivative."
        )
    for argument, other in others:
        if other.dtype != x.dtype or other.layout != x.layout:
            raise TypeError(f"{name}: expected {x.type()} for '{argument}' (got {other.type()})")
    columns = [_elements(x), *[_elements(other.expand(x.shape)) for _, other in others]]
    values = [function(*row) for row in zip(*columns, strict=True)]
    return x.copy_(_core.tensor(values, dtype=x.dtype).view(x.shape))


def _elements(x: Tensor) -> list[Any]:
    values: list[Any] = x.reshape(-1).tolist()
    return values


# ---- the order of axes


def dim_order(x: Tensor, ambiguity_check: Any = False) -> tuple[int, ...]:
    if x.is_sparse:
        raise AttributeError(
            f"Can't get dim order on sparse type: {x.type()} Use Tensor.to_dense() to convert to a dense tensor first."
        )
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, bool | list) or not all(isinstance(f, _core.memory_format) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    # Axes of one element, and neighbours of one stride, may be exchanged.
    ambiguous = 1 in x.shape or any(a == b for a, b in pairwise(x.stride()))
    if ambiguity_check is not False and ambiguous and sum(x.is_contiguous(memory_format=f) for f in formats) != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats: its "
            f"sizes are {tuple(x.shape)}, its strides {x.stride()}."
        )
    strides = x.stride()
    return tuple(sorted(range(x.ndim), key=lambda axis: -strides[axis]))
