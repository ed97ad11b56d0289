"""A record's sample several times with other numbers: as one batch, and one entry after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from records import rg
from records.bound import Bound, array, tensors_of
from records.record import Array, OpRecord, Sample

core = getattr(rg, "_core", None)


class Batch:
    """`count` calls of one sample."""

    def __init__(self, record: OpRecord, sample: Sample, count: int = 3, dtype: str | None = None) -> None:
        self.entries = [Bound(record, sample, dtype, turn=turn) for turn in range(count)]
        self.first = self.entries[0]

    def leaves(self, batched: Sequence[int], turn: int) -> list[Array]:
        """The arguments of one entry: those that are not batched are the first entry's."""
        return [self.entries[turn if k in batched else 0].leaves[k] for k in range(len(self.first.leaves))]

    def tensors(self, batched: Sequence[int], axis: int) -> list[Any]:
        """The arguments of all entries, with the batch along `axis`."""
        return [
            rg.from_numpy(np.stack([e.leaves[k] for e in self.entries], axis) if k in batched else x.copy())
            for k, x in enumerate(self.first.leaves)
        ]

    def choices(self) -> list[tuple[int, ...]]:
        """Which arguments are batched: all, and each alone."""
        every = tuple(range(len(self.first.leaves)))
        return [every] if len(every) < 2 else [every, *[(k,) for k in every]]


def mapped(call: Callable[..., Any], tensors: Sequence[Any], batched: Sequence[int], axis: int = 0) -> list[Any]:
    """The results of `call`, as a flat list, with the batch in front."""
    assert core is not None
    with core._batch_level(tensors[batched[0]].shape[axis], "error") as level:
        entries = [core._batch(x, axis, level) if k in batched else x for k, x in enumerate(tensors)]
        results = [core._unbatch(y, 0, level) for y in tensors_of(call(entries))]
        del entries
    return results


def along(call: Callable[..., Any], tensors: Sequence[Any]) -> list[Any]:
    """As `mapped`, where only gradients or tangents have entries: one call for all."""
    assert core is not None
    with core._private_level(tensors[0].shape[0]) as level:
        return [core._unbatch(y, 0, level) for y in call(level, [core._batch(x, 0, level) for x in tensors])]


def stacked(rows: Sequence[Sequence[Any]]) -> list[Array]:
    """The results of the entries, one after the other."""
    return [np.stack([array(y) for y in column]) for column in zip(*rows, strict=True)]
