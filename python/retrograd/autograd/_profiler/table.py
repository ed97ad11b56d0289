"""Events and averages of events as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import NamedTuple

from retrograd.autograd._profiler.events import FunctionEvent, FunctionEventAvg
from retrograd.autograd._profiler.formats import format_memory, format_share, format_time

Event = FunctionEvent | FunctionEventAvg

_WIDTH = 12  # of columns of numbers
_GAP = "  "  # after every column, the last one too


class _Column(NamedTuple):
    title: str
    width: int
    cell: Callable[[Event], object]
    at_left: bool = False


def table(
    events: Sequence[Event],
    sort_by: str | None,
    row_limit: int | None,
    max_src_column_width: int | None,
    max_name_column_width: int | None,
    max_shapes_column_width: int | None,
    header: str | None,
    top_level_events_only: bool,
    time_unit: str | None,
    profile_memory: bool,
    with_flops: bool,
) -> str:
    """What `EventList.table` returns."""
    if not events:
        return ""
    if sort_by is not None:
        attribute = sort_by.replace("cuda", "device").replace("xpu", "device")
        events = sorted(events, key=attrgetter(attribute), reverse=True)
    total = sum(event.self_cpu_time_total for event in events)
    shown = [event for event in events if event.cpu_parent is None] if top_level_events_only else events
    shown = shown if row_limit is None or row_limit < 0 else shown[:row_limit]
    for event in shown:
        event.self_cpu_percent = format_share(event.self_cpu_time_total, total)
        event.total_cpu_percent = 0 if event.is_async else format_share(event.cpu_time_total, total)

    names = _width(events, "key", max_name_column_width)
    columns = [_Column("Name", names, lambda e: _cut(e.key, max_name_column_width))]
    if any(event.overload_name for event in events):
        columns.append(_Column("Overload Name", names, lambda e: _cut(e.overload_name, max_name_column_width)))
    columns += [
        _Column("Self CPU %", _WIDTH, attrgetter("self_cpu_percent")),
        _Column("Self CPU", _WIDTH, lambda e: format_time(e.self_cpu_time_total, time_unit)),
        _Column("CPU total %", _WIDTH, attrgetter("total_cpu_percent")),
        _Column("CPU total", _WIDTH, lambda e: format_time(e.cpu_time_total, time_unit)),
        _Column("CPU time avg", _WIDTH, lambda e: format_time(e.cpu_time, time_unit)),
    ]
    if profile_memory:
        columns += [
            _Column("CPU Mem", _WIDTH, lambda e: format_memory(e.cpu_memory_usage)),
            _Column("Self CPU Mem", _WIDTH, lambda e: format_memory(e.self_cpu_memory_usage)),
        ]
    columns.append(_Column("# of Calls", _WIDTH, attrgetter("count")))
    if any(event.node_id != -1 for event in events):
        columns.append(_Column("Node ID", _WIDTH, attrgetter("node_id")))
    if any(event.input_shapes for event in events):
        shapes = _width(events, "input_shapes", max_shapes_column_width)
        columns.append(_Column("Input Shapes", shapes, lambda e: str(e.input_shapes)[:shapes]))
    source = None
    longest = max((len(frame) for event in events for frame in event.stack or ()), default=0)
    if longest:
        width = _limited(longest, max_src_column_width)
        source = _Column("Source Location", width, lambda e: _tail(e.stack[0], width) if e.stack else "", True)
        columns.append(source)
    if with_flops:
        columns += _flops(events)

    rule = _line(columns, ["-" * column.width for column in columns])
    lines = []
    for above in (header, "This report only display top-level ops statistics" if top_level_events_only else None):
        if above is not None:
            lines += ["=" * (len(rule) - len(_GAP)), above]
    lines += [rule, _line(columns, [column.title for column in columns]), rule]
    for event in shown:
        lines.append(_line(columns, [column.cell(event) for column in columns]))
        if source is not None:
            for frame in [*(event.stack or ())[1:], ""]:
                lines.append(_line(columns, [_tail(frame, width) if c is source else "" for c in columns]))
    lines += [rule, f"Self CPU time total: {format_time(total, time_unit)}"]
    return "\n".join(lines) + "\n"


def _line(columns: Sequence[_Column], cells: Sequence[object]) -> str:
    return "".join(
        (str(cell).ljust(column.width) if column.at_left else str(cell).rjust(column.width)) + _GAP
        for column, cell in zip(columns, cells, strict=True)
    )


def _limited(longest: int, limit: int | None) -> int:
    """The width of a column for the longest of its cells."""
    return longest + 4 if limit is None else min(longest + 4, limit)


def _width(events: Sequence[Event], attribute: str, limit: int | None) -> int:
    return _limited(max(len(str(getattr(event, attribute))) for event in events), limit)


def _cut(name: str | None, limit: int | None) -> str:
    """A name without its end where it is too long."""
    name = str(name)
    return name if limit is None or len(name) < limit - 3 else name[: limit - 3] + "..."


def _tail(frame: str, width: int) -> str:
    """A source line without its beginning where it is too long: the end has the line and the function."""
    return frame if len(frame) <= width else "..." + frame[3 - width :]


def _flops(events: Sequence[Event]) -> list[_Column]:
    """The column of FLOPs, in the unit that suits the smallest of them; none where there are none."""
    smallest = min((event.flops for event in events if event.flops and event.flops > 0), default=0)
    if not smallest:
        return []
    thousands = max(0, min(int(math.log10(smallest) / 3), 5))
    return [
        _Column(
            f"Total {['', 'K', 'M', 'G', 'T', 'P'][thousands]}FLOPs",
            _WIDTH,
            lambda e: f"{e.flops / 1000.0**thousands:8.3f}" if e.flops and e.flops > 0 else "--",
        )
    ]
