"""The arguments of a checkpointed call, until it is repeated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from retrograd._core import Tensor


class Arguments:
    """Positional arguments without the tensors, which are saved in a node: it notices writes to them, and is freed."""

    __slots__ = ("others", "places")

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        self.places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]

    def tensors(self, args: tuple[Any, ...]) -> list[Tensor]:
        return [args[i] for i in self.places]

    def fill(self, tensors: Iterable[Tensor]) -> list[Any]:
        """All arguments, given the saved tensors."""
        args = list(self.others)
        for place, tensor in zip(self.places, tensors, strict=True):
            args[place] = tensor
        return args
