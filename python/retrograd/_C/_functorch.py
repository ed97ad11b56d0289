"""What programs ask of batched tensors, and how they open batch levels by hand."""

from __future__ import annotations

from _thread import _local
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd._local import carried


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether the tensor shows one entry of a batch, in a function under `vmap`."""
    return _core._batch_parts(tensor) is not None


# A transform of derivatives gives its function tensors like others.
is_functorch_wrapped_tensor = is_batchedtensor


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor with all entries behind a batched one, of the innermost level; another tensor as it is."""
    parts = _core._batch_parts(tensor)
    return tensor if parts is None else parts[0]


def maybe_get_bdim(tensor: Tensor) -> int:
    """Which axis of the tensor with all entries the batch runs over; -1 for a tensor that is not batched."""
    parts = _core._batch_parts(tensor)
    return -1 if parts is None else parts[1]


def maybe_get_level(tensor: Tensor) -> int:
    """The level that the tensor is batched at, the innermost one; -1 for a tensor that is not batched."""
    parts = _core._batch_parts(tensor)
    return -1 if parts is None else parts[2]


class _Opened(_local):
    """The levels that `_vmap_increment_nesting` opened on this thread."""

    def __init__(self) -> None:
        self.levels: list[Any] = []


_opened = carried(_Opened())


def _vmap_increment_nesting(batch_size: int, randomness: str) -> int:
    """Open a batch level on the calling thread; returns its number.

    >>> from retrograd._C import _functorch
    >>> level = _functorch._vmap_increment_nesting(2, "error")
    >>> entry = _functorch._add_batch_dim(rg.tensor([1.0, 2.0]), 0, level)
    >>> double = _functorch._remove_batch_dim(entry * 2, level, 2, 0)
    >>> _ = _functorch._vmap_decrement_nesting()
    >>> entry.shape, double
    (retrograd.Size([]), tensor([2., 4.]))
    """
    scope = _core._batch_level(batch_size, randomness)
    level: int = scope.__enter__()
    _opened.levels.append((scope, level))
    return level


def _vmap_decrement_nesting() -> int:
    """Close the batch level that was opened last; returns its number.

    Raises: RuntimeError if none is open.
    """
    if not _opened.levels:
        raise RuntimeError("_vmap_decrement_nesting: no level is open on this thread")
    scope, level = _opened.levels.pop()
    scope.__exit__(None, None, None)
    return int(level)


def _add_batch_dim(tensor: Tensor, in_dim: int, level: int) -> Tensor:
    """The entry that an axis of the tensor runs over."""
    return _core._batch(tensor, in_dim, level)


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """All entries, along a new axis; the tensor repeated if it is not batched at the level."""
    return _core._unbatch(tensor, out_dim, level)
