"""`rearrange`: the axes of a tensor in another order, some of them split or joined, as a pattern of names says."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import chain
from keyword import iskeyword
from math import prod
from typing import Any

from retrograd import _core
from retrograd._core import Tensor

__all__ = ["rearrange"]

_DOTS = "…"
_TOKEN = re.compile(rf"\w+|[()]|{_DOTS}|\s+|.", re.DOTALL)

Axes = list[list[str]]  # the names that each axis is made of, with `_DOTS` for those of any number of axes
_SPREAD = ["..."]  # these axes, not joined


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """The tensor with its axes in another order, some of them split or joined: what `einops.rearrange` does.

    Args: `tensor` a tensor, or a list or tuple of them, which are stacked first. `pattern` names the axes before and
    after `->`: `(a b)` is an axis that is split into `a` and `b` on the left side, and joined of them on the right;
    `...` stands for any number of axes, and `1` for an axis of one element. `axes_lengths` are sizes of axes by their
    names, as far as they do not follow.
    Returns: a view where the memory allows it. Derivative: `g`, rearranged back.
    Raises: ValueError for a pattern that is not understood or does not fit the tensor; TypeError for sizes that are no
    int; RuntimeError for sizes that do not divide an axis.

    >>> from retrograd.func import rearrange
    >>> images = rg.zeros(32, 30, 40, 3)
    >>> rearrange(images, "b h w c -> b c h w").shape
    retrograd.Size([32, 3, 30, 40])
    >>> rearrange(images, "b (h1 h) (w1 w) c -> (b h1 w1) h w c", h1=2, w1=2).shape
    retrograd.Size([128, 15, 20, 3])
    """
    x: Tensor = tensor if isinstance(tensor, Tensor) else _core.stack(tuple(tensor))
    left, right = _sides(pattern, axes_lengths)
    spread = _SPREAD in left
    if spread and len(left) - 1 > x.ndim:
        raise ValueError(
            f"Number of dimensions in pattern ({len(left) - 1}) must be less than or equal to the number of dimensions "
            f"in the tensor ({x.ndim})"
        )
    if not spread and len(left) != x.ndim:
        raise ValueError(
            f"Number of dimensions in pattern ({len(left)}) must be equal to the number of dimensions in the tensor "
            f"({x.ndim})"
        )
    dots = [f"{_DOTS}{i}" for i in range(x.ndim - len(left) + 1)] if spread else []
    left, right = (_with_dots(axes, dots) for axes in (left, right))
    sizes: dict[str, int] = {}
    for axis, size in zip(left, x.shape, strict=True):
        sizes.update(_split(axis, size, axes_lengths))
    names = list(chain.from_iterable(left))
    order = [names.index(name) for name in chain.from_iterable(right)]
    parts: Tensor = x.reshape([sizes[name] for name in names]).permute(order)
    return parts.reshape([prod([sizes[name] for name in axis]) for axis in right])


def _with_dots(axes: Axes, dots: list[str]) -> Axes:
    """The axes with names for those that `...` stands for."""
    alone = chain.from_iterable([[dot] for dot in dots] if axis == _SPREAD else [axis] for axis in axes)
    return [list(chain.from_iterable(dots if name == _DOTS else [name] for name in axis)) for axis in alone]


def _split(axis: list[str], size: int, given: dict[str, int]) -> dict[str, int]:
    """The sizes of the axes that one of this size is made of."""
    sizes = {name: given[name] for name in axis if name in given}
    known, unknown = prod(sizes.values()), [name for name in axis if name not in given]
    if len(unknown) > 1:
        raise ValueError(
            f"cannot infer the sizes of two dimensions at once {unknown[0]} and {unknown[1]}: give the size of one"
        )
    if unknown and (known == 0 or size % known):
        whole = ", ".join(str(sizes.get(name, "?")) for name in axis)
        raise ValueError(f"inferred dimension does not evenly fit into larger dimension: {size} vs ({whole})")
    if not unknown and known != size:
        raise ValueError(
            f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack ({', '.join(axis)})"
        )
    return sizes | dict.fromkeys(unknown, size // known)


# ---- patterns


def _sides(pattern: str, given: dict[str, Any]) -> tuple[Axes, Axes]:
    """What stands on both sides of the arrow, checked."""
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError(f"Pattern must contain a single '->' separator, not {pattern!r}")
    left, right = map(_axes, sides)
    known, made = ({_DOTS if axis == _SPREAD else name for axis in axes for name in axis} for axes in (left, right))
    if _DOTS in made - known:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if _DOTS in known and _SPREAD not in left:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    for length in given.values():
        if type(length) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    if any(name.isdecimal() for name in known | made):
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if known != made:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {known ^ made}")
    if given.keys() - known:
        raise ValueError(f"Identifiers not found in rearrange expression: {given.keys() - known}")
    return left, right


def _axes(side: str) -> Axes:
    """The axes that one side names: of `1` an axis of no names."""
    if side.replace("...", "", 1).count("."):
        several = "; only one ellipsis for tensor" if "..." in side else ""
        raise ValueError(f"Expression may contain dots only inside ellipsis (...){several}")
    axes: Axes = []
    group: list[str] | None = None  # that of the open bracket
    seen: set[str] = set()
    for token in _TOKEN.findall(side.replace("...", _DOTS)):
        if token == "(":
            if group is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            group = []
        elif token == ")":
            if group is None:
                raise ValueError("Brackets are not balanced")
            axes.append(group)
            group = None
        elif not token.isspace():
            _demand_name(token)
            if token in seen:
                raise ValueError(f"Indexing expression contains duplicate dimension '{token}'")
            names = [] if token == "1" else [token]
            seen.update(names)
            if group is not None:
                group += names
            else:
                axes.append(_SPREAD if token == _DOTS else names)
    if group is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    return axes


def _demand_name(token: str) -> None:
    if token == _DOTS or token.isdecimal():
        return
    if not token.replace("_", "a").isalnum():
        raise ValueError(f"Unknown character '{token}'")
    if not token.isidentifier():
        raise ValueError(f"Invalid axis identifier: {token}\nnot a valid python identifier")
    if token[0] == "_" or token[-1] == "_":
        raise ValueError(f"Invalid axis identifier: {token}\naxis name should should not start or end with underscore")
    if iskeyword(token):
        warnings.warn(f"It is discouraged to use axes names that are keywords: {token}", RuntimeWarning, stacklevel=5)
    if token == "axis":
        warnings.warn(
            "It is discouraged to use 'axis' as an axis name and will raise an error in future",
            FutureWarning,
            stacklevel=5,
        )
