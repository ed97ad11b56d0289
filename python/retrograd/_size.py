"""The sizes of a tensor."""

import math
from _operator import index  # what `operator` has, which the interpreter need not look for

from retrograd._core import _Size
from retrograd._lazy import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, SupportsIndex

__all__ = ["Size"]


class Size(_Size):
    """A tuple of ints: what `x.shape` and `x.size()` are.

    >>> rg.Size([2, 3])[1:] + (4,)
    retrograd.Size([3, 4])
    >>> rg.ones(2, 3).shape.numel()
    6
    """

    __module__ = "retrograd"
    __slots__ = ()

    def __new__(cls, sizes: "Iterable[SupportsIndex]" = (), /) -> "Size":
        items = tuple(sizes)
        for i, n in enumerate(items):
            if not hasattr(n, "__index__"):
                raise TypeError(f"retrograd.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')")
        return tuple.__new__(cls, map(index, items))

    def numel(self) -> int:
        """Number of elements of a tensor of these sizes."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"{Size.__module__}.Size({list(self)})"  # torch's under the switch

    def __add__(self, other: "Any", /) -> "Any":
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to retrograd.Size")
        return Size(super().__add__(other))

    def __radd__(self, other: "Any", /) -> "Any":
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(other + tuple(self))

    def __mul__(self, count: "SupportsIndex", /) -> "Size":
        return tuple.__new__(Size, super().__mul__(count))

    def __rmul__(self, count: "SupportsIndex", /) -> "Size":
        return self * count
