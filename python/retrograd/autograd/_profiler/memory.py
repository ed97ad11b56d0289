"""Records of memory, by time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

__all__ = ["MemRecordsAcc"]


class _Started(Protocol):
    def start_ns(self) -> int: ...


class MemRecordsAcc:
    """Finds memory records by time. A record is a sequence whose first item answers `start_ns()`.

    >>> class Change:
    ...     def __init__(self, start): self.start = start
    ...     def start_ns(self): return self.start
    >>> records = rg.autograd.profiler_util.MemRecordsAcc([(Change(5), "c"), (Change(1), "a"), (Change(3), "b")])
    >>> [name for change, name in records.in_interval(1, 3)]
    ['a', 'b']
    """

    def __init__(self, mem_records: Iterable[Sequence[Any]]) -> None:
        starts: list[tuple[int, Sequence[Any]]] = [(_start(record), record) for record in mem_records]
        starts.sort(key=lambda pair: pair[0])
        self._starts = [start for start, _ in starts]
        self._records = [record for _, record in starts]

    def in_interval(self, start_ns: int, end_ns: int) -> Iterator[Sequence[Any]]:
        """The records that start from `start_ns` to `end_ns`, in nanoseconds, both included, in order of start."""
        first, last = bisect_left(self._starts, start_ns), bisect_right(self._starts, end_ns)
        for i in range(first, last):
            yield self._records[i]


def _start(record: Sequence[Any]) -> int:
    first: _Started = record[0]
    return first.start_ns()
