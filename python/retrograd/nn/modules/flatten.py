"""Dimensions that become one, and one that becomes several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd._core import Tensor
from retrograd.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Makes one dimension of those from `start_dim` to `end_dim`: by default, of all but the batch.

    >>> rg.nn.Flatten()(rg.ones(5, 2, 3)).shape
    retrograd.Size([5, 6])
    """

    __constants__ = ["start_dim", "end_dim"]
    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes dimensions of sizes `unflattened_size` of the dimension `dim`.

    Raises: TypeError if the sizes are no tuple or list of ints.

    >>> rg.nn.Unflatten(1, (2, 3))(rg.ones(5, 6)).shape
    retrograd.Size([5, 2, 3])
    """

    __constants__ = ["dim", "unflattened_size"]
    dim: int
    unflattened_size: Sequence[int]

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    @staticmethod
    def _require_tuple_int(sizes: Any) -> None:
        if not isinstance(sizes, tuple | list):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}")
        for at, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, "
                    f"but found element of type {type(size).__name__} at pos {at}"
                )

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
