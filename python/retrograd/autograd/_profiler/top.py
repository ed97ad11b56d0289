"""Time by line of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from retrograd._drawing import shortened
from retrograd.autograd._profiler.formats import format_memory, format_share, format_time
from retrograd.autograd._profiler.places import Place, shown_line
from retrograd.autograd._profiler.spans import Kind, Spans

__all__ = ["Line", "Top", "columns"]

SORTS = ("total", "forward", "backward", "calls", "memory")
SOURCE_WIDTH = 60


class Line(NamedTuple):
    """What a line of the program took, in microseconds; all times are self times, so those of all lines add up.

    `line` is `file:line`, `text` what it says, `calls` how many ops and custom Functions it called. `forward` is what
    these took, `backward` what the rules of their nodes took, with all in them. A line that calls `backward()` has
    under `backward` what the engine does between rules. `share` is the total as a share of all lines, from 0 to 1,
    and `memory` bytes allocated less bytes released, in forward and backward; 0 unless the profile noted them. `place`
    is the line as file, number, function and text, None for what no line called.

    >>> x = rg.ones(3, requires_grad=True)
    >>> with rg.autograd.profiler.profile() as prof:
    ...     y = x.exp()
    >>> line = prof.top().rows[0]
    >>> line.text, line.calls, line.backward, line.forward == line.total
    ('y = x.exp()', 1, 0.0, True)
    """

    line: str
    text: str
    calls: int
    forward: float
    backward: float
    total: float
    share: float
    memory: int
    place: Place | None


class Top:
    """Time by line of the program: `rows` has a `Line` each, the largest first, and `str` is the table.

    `total` is the sum of the self times of all events, in microseconds.

    >>> x = rg.ones(3, requires_grad=True)
    >>> with rg.autograd.profiler.profile() as prof:
    ...     y = x.exp().sum()
    ...     y.backward()
    >>> top = prof.top(sort_by="calls")
    >>> len(top.table(row_limit=1).splitlines())  # a header, a line, the others, all, and two rules
    6
    >>> [(row.text, row.calls, row.backward > 0) for row in top.rows]
    [('y = x.exp().sum()', 2, True), ('y.backward()', 1, True)]
    >>> abs(top.total - prof.self_cpu_time_total) < 1e-6
    True
    """

    def __init__(self, rows: list[Line], total: float, *, memory: bool, row_limit: int = -1) -> None:
        self.rows = rows
        self.total = total
        self._memory = memory
        self._row_limit = row_limit

    @classmethod
    def _of(cls, spans: Spans, *, sort_by: str, memory: bool, row_limit: int) -> Top:
        """The sums over these events.

        Raises: ValueError for an unknown `sort_by`.
        """
        if sort_by not in SORTS:
            raise ValueError(f"top: sort_by is one of {', '.join(map(repr, SORTS))}, not {sort_by!r}")
        sums: dict[tuple[str, int] | None, _Sum] = {}
        for i in range(len(spans)):
            place, backward = spans.owner(i)
            key = None if place is None else place[:2]
            line = sums.get(key)
            if line is None:
                line = sums[key] = _Sum(place)
            line.add(spans, i, backward)
        total = sum(line.forward + line.backward for line in sums.values())
        rows = [line.row(total) for line in sums.values()]
        rows.sort(key=lambda row: (-getattr(row, sort_by), row.line))
        return cls(rows, total / 1000, memory=memory, row_limit=row_limit)

    def table(self, row_limit: int = -1) -> str:
        """The lines as text, with their sums; at most `row_limit` of them, -1 for all."""
        rows, rest = (self.rows, []) if row_limit < 0 else (self.rows[:row_limit], self.rows[row_limit:])
        cells = [_cells(row.line, row.text, [row], self.total) for row in rows]
        if rest:
            cells.append(_cells(f"and {len(rest)} more", "", rest, self.total))
        last = _cells("all", "", self.rows, self.total)
        header = ["line", "source", "calls", "forward", "backward", "total", "share", "memory"]
        count = len(header) if self._memory else len(header) - 1
        return columns(header[:count], [line[:count] for line in cells], last[:count], left=2)

    def __str__(self) -> str:
        return self.table(self._row_limit)

    __repr__ = __str__


class _Sum:
    """What adds up for a line, in nanoseconds."""

    __slots__ = ("backward", "calls", "forward", "memory", "place")

    def __init__(self, place: Place | None) -> None:
        self.place = place
        self.calls = self.forward = self.backward = self.memory = 0

    def add(self, spans: Spans, i: int, backward: bool) -> None:
        if backward:
            self.backward += spans.own[i]
        else:
            self.forward += spans.own[i]
            if spans.kind[i] <= Kind.FUNCTION:
                parent = spans.parent[i]
                within = parent >= 0 and spans.kind[parent] <= Kind.FUNCTION
                self.calls += not within or spans.place[parent] != self.place
        self.memory += spans.bytes[i]

    def row(self, total: int) -> Line:
        both = self.forward + self.backward
        text = (self.place[3] or "").strip() if self.place else ""
        share = both / total if total else 0.0
        return Line(
            shown_line(self.place),
            text,
            self.calls,
            self.forward / 1000,
            self.backward / 1000,
            both / 1000,
            share,
            self.memory,
            self.place,
        )


def _cells(line: str, text: str, rows: Sequence[Line], total: float) -> list[str]:
    times = [sum(row.forward for row in rows), sum(row.backward for row in rows), sum(row.total for row in rows)]
    return [
        line,
        shortened(text, SOURCE_WIDTH),
        str(sum(row.calls for row in rows)),
        *map(format_time, times),
        format_share(times[2], total),
        format_memory(sum(row.memory for row in rows)),
    ]


def columns(header: list[str], lines: Iterable[list[str]], last: list[str], *, left: int) -> str:
    """A table with a rule under its header and over its last line; the first `left` columns are set to the left.

    >>> from retrograd.autograd._profiler.top import columns
    >>> print(columns(["op", "calls"], [["mm", "12"]], ["all", "12"], left=1))
    op   calls
    ---  -----
    mm      12
    ---  -----
    all     12
    """
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(header, *lines, last, strict=True)]

    def text(cells: Sequence[str]) -> str:
        sides = [str.ljust if i < left else str.rjust for i in range(len(cells))]
        return "  ".join(side(cell, w) for side, cell, w in zip(sides, cells, widths, strict=True)).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([text(header), rule, *map(text, lines), rule, text(last)])
