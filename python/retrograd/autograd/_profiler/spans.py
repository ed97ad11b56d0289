"""What a session noted, in columns: which event holds which, and which line of the program each belongs to.

Pictures and sums by line are made from these. A column takes a few bytes per event, so a million events need no
million objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Generic, TypeVar

from retrograd.autograd._profiler.arguments import arguments
from retrograd.autograd._profiler.places import Place

__all__ = ["Kind", "Spans", "short_name"]

_T = TypeVar("_T")


class Kind(IntEnum):
    """What an event is: the names that records have, in upper case.

    >>> from retrograd.autograd._profiler.spans import Kind
    >>> Kind.OP < Kind.FUNCTION < Kind.EVALUATION  # the first two are calls of the forward
    True
    """

    OP = 0
    FUNCTION = 1
    EVALUATION = 2
    RULE = 3
    LABEL = 4
    MEMORY = 5


_KINDS = {kind.name.lower(): int(kind) for kind in Kind}


class _Interned(Generic[_T]):
    """Values that recur, and a column of numbers that stand for them."""

    def __init__(self) -> None:
        self.values: list[_T] = []
        self.column = array("l")
        self._numbers: dict[_T, int] = {}

    def append(self, value: _T) -> None:
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        self.column.append(number)

    def __getitem__(self, index: int) -> _T:
        return self.values[self.column[index]]


class Spans:
    """The events of a session in columns, in order of start, with the tree that `EventList` has too.

    `start` and `end` are in nanoseconds, and `own` is what an event takes besides those in it. `parent` is the index of
    the event around it, or -1. `origin` is the index of the event that made the node of a rule, or -1: the last forward
    event before it, so the innermost, with the number of the node. `rule` is the index of the innermost rule that an
    event is, or is in, and -1 if there is none or it has no origin. `backward` says whether it is, or is in, the work
    of the engine for a node. `bytes` are those that an event allocated itself, less those it released.

    Args: `records` as `Session.records` gives them; `thread` the number of the session's thread.

    >>> from retrograd.autograd._profiler.spans import Spans
    >>> def record(name, kind, start, end):
    ...     return name, kind, (start, end), 0, 0, 0, 0, None, [], [], None
    >>> spans = Spans([record("aten::matmul", "op", 0, 9), record("aten::mm", "op", 2, 5)], thread=1)
    >>> list(spans.parent), list(spans.own)
    ([-1, 0], [6, 3])
    >>> spans.owner(1)  # the line, which these records do not have
    (None, False)
    """

    def __init__(self, records: Iterable[tuple[Any, ...]], thread: int) -> None:
        self.name: _Interned[str] = _Interned()
        self.place: _Interned[Place | None] = _Interned()
        self.shapes: _Interned[str] = _Interned()
        self.kind, self.backward, self.is_async = array("b"), array("b"), array("b")
        self.start, self.end, self.own, self.bytes = array("q"), array("q"), array("q"), array("q")
        self.parent, self.origin, self.rule = array("q"), array("q"), array("q")
        # Plain numbers compare faster than members of an enum, and this is done for every event.
        a_function, an_evaluation, a_rule, a_memory = map(int, (Kind.FUNCTION, Kind.EVALUATION, Kind.RULE, Kind.MEMORY))
        ends, owns, rules, backwards = self.end, self.own, self.rule, self.backward
        made: dict[int, int] = {}  # the last forward event by number
        around: list[int] = []  # the events that are open, the innermost last
        for index, record in enumerate(records):
            name, kind_name, (start, end), number, fwd_thread, ended_on, size, place, noted, _, _ = record
            kind = _KINDS[kind_name]
            origin = -1
            if kind == a_rule:
                if fwd_thread == thread and number >= 0:
                    origin = made.get(number, -1)
            elif kind <= a_function and number >= 0 and not fwd_thread:
                made[number] = index
            parent = -1
            if not ended_on:  # what ends on another thread is in nothing, and holds nothing
                while around:
                    last = ends[around[-1]]
                    if start < last and end <= last:
                        parent = around[-1]
                        owns[parent] -= end - start
                        break
                    around.pop()
                if kind != a_memory:
                    around.append(index)
            self.name.append(name)
            self.place.append(place)
            self.shapes.append(_sizes(name, noted) if noted else "")
            self.kind.append(kind)
            self.start.append(start)
            ends.append(end)
            owns.append(0 if ended_on else end - start)
            self.bytes.append(size)
            self.parent.append(parent)
            self.origin.append(origin)
            self.is_async.append(bool(ended_on))
            backwards.append(kind == an_evaluation or (parent >= 0 and backwards[parent]))
            if kind == a_rule:
                rules.append(index if origin >= 0 else -1)
            else:
                rules.append(rules[parent] if parent >= 0 else -1)

    def __len__(self) -> int:
        return len(self.start)

    def owner(self, index: int) -> tuple[Place | None, bool]:
        """The line of the program that an event belongs to, and whether as its backward.

        What is in a rule belongs to the line of the op that made the node.
        """
        if index < 0:
            return None, False
        rule = self.rule[index]
        if rule >= 0:
            return self.place[self.origin[rule]], True
        return self.place[index], bool(self.backward[index])


def _sizes(name: str, noted: list[Any]) -> str:
    return ", ".join(str(shape) for shape in arguments(name.removeprefix("aten::"), noted).shapes if shape)


_PREFIXES = ("autograd::engine::evaluate_function: ", "torch::autograd::", "aten::")


def short_name(name: str) -> str:
    """The name of an event without what only tells its kind.

    >>> from retrograd.autograd._profiler.spans import short_name
    >>> short_name("aten::mm"), short_name("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")
    ('mm', 'AccumulateGrad')
    """
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name
