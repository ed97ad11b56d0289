"""The flame chart of a profile: a bar per event, with time to the right and what an event holds below it.

The forward is above, the work of the engine for nodes below, each in a lane. Faint arrows lead from an op to the rule
of the node that it made. What is too narrow to be seen is drawn as one grey bar with its neighbours, so a picture of a
million events is no larger than one of thousands.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterator
from html import escape
from typing import NamedTuple

from retrograd._drawing import LETTER, NOTE_COLOUR, Drawing, document, shortened
from retrograd.autograd._profiler.formats import format_memory, format_time
from retrograd.autograd._profiler.places import shown_line
from retrograd.autograd._profiler.spans import Kind, Spans, short_name

__all__ = ["draw", "ruler", "words"]

# In pixels.
EDGE, HEADER, RULER_HEIGHT = 20, 72, 22
ROW_HEIGHT, BAR_HEIGHT = 20, 18
GAP = 56  # between the lanes, where arrows turn
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 15, 11, 11

NARROWEST = 1.5  # narrower bars are merged
MOST_BARS = 4000
MOST_ROWS = 60  # in a lane; what is nested deeper is drawn in the last one
TEXT_COLOUR, LINE_COLOUR, ARROW_COLOUR = "#1f2933", "#e4e8ec", "#8a94a0"

LEGEND: list[tuple[Kind | None, str, str]] = [
    (Kind.LABEL, "#d9c2f0", "label"),
    (Kind.OP, "#a9cbf5", "op"),
    (Kind.FUNCTION, "#f7c890", "custom Function"),
    (Kind.EVALUATION, "#d5ecd8", "node"),
    (Kind.RULE, "#8fd0a0", "its rule"),
    (None, "#c3cad2", "many, too narrow to tell apart"),
]
COLOURS = {kind: colour for kind, colour, _ in LEGEND}


class _Bar(NamedTuple):
    """An event, or several with the numbers of the first and of the last, in a row of a lane."""

    lane: int
    row: int
    start: int
    end: int
    first: int
    events: int
    busy: int


def draw(
    spans: Spans, begin_ns: int, *, width: int = 1200, arrows: int = 40, between: tuple[float, float] | None = None
) -> Drawing:
    """The picture of these events.

    Args: `begin_ns` when the session began; `width` in pixels; `arrows` how many to draw at most, of the rules that
    take longest; `between` the part of the session to show, in microseconds from its beginning.
    Returns: a `Drawing`, the text of an SVG file that needs nothing but itself, of less than 2 MB.
    Raises: ValueError if the width is less than 300, the number of arrows negative, or the part empty.

    >>> from retrograd.autograd._profiler import flame
    >>> from retrograd.autograd._profiler.spans import Spans
    >>> record = ("aten::matmul", "op", (0, 9000), 0, 0, 0, 0, None, [], [], None)
    >>> "9.000us: 1 event<" in flame.draw(Spans([record], thread=1), 0)
    True
    """
    if width < 300 or arrows < 0:
        raise ValueError(f"draw: width is at least 300 and arrows at least 0, not {width} and {arrows}")
    if between is not None and not between[0] < between[1]:
        raise ValueError(f"draw: between is a time and a later one, not {between}")
    lanes, rows, heights = _rows(spans)
    shown = [i for i in range(len(spans)) if rows[i] >= 0]
    if between is not None:
        begin, end = (begin_ns + round(time * 1000) for time in between)
        shown = [i for i in shown if spans.start[i] < end and spans.end[i] > begin]
    elif shown:
        begin, end = begin_ns, max(spans.end[i] for i in shown)
    if not shown:
        parts = [words(EDGE, 34, "No events", TITLE_SIZE, TEXT_COLOUR, bold=True)]
        return document(width, 60, "A flame chart of a profile", parts)
    length = max(end - begin, 1)
    scale = (width - 2 * EDGE) / length

    narrowest = NARROWEST
    bars = list(_bars(spans, shown, lanes, rows, narrowest / scale))
    while len(bars) > MOST_BARS:
        narrowest *= 2
        bars = list(_bars(spans, shown, lanes, rows, narrowest / scale))

    tops = [HEADER + RULER_HEIGHT + 14, 0]
    tops[1] = tops[0] + heights[0] * ROW_HEIGHT + (GAP if heights[0] else 0)
    bottom = tops[1] + heights[1] * ROW_HEIGHT if heights[1] else tops[0] + heights[0] * ROW_HEIGHT

    def x(ns: float) -> float:
        return EDGE + (ns - begin) * scale

    def y(lane: int, row: int) -> int:
        return tops[lane] + row * ROW_HEIGHT

    # A bar under an arrow hides it, so arrows never cross out a name.
    parts = _header(spans, shown, length)
    parts += ruler(begin - begin_ns, length, scale, HEADER + RULER_HEIGHT, bottom)
    parts += _arrows(spans, shown, lanes, rows, arrows, x, y, (tops[0] + heights[0] * ROW_HEIGHT, tops[1]))
    for lane, name in enumerate(("forward", "backward")):
        if heights[lane]:
            wide = len(name) * SMALL_SIZE * LETTER
            parts.append(f'<rect x="{EDGE}" y="{tops[lane] - 15}" width="{wide:.0f}" height="13" fill="#ffffff"/>')
            parts.append(words(EDGE, tops[lane] - 5, name, SMALL_SIZE, NOTE_COLOUR))
    texts = []
    by_colour: dict[str, list[str]] = {colour: [] for _, colour, _ in LEGEND}
    for bar in bars:
        left, top = x(max(bar.start, begin)), y(bar.lane, bar.row)
        wide = min(max(x(min(bar.end, end)) - left, narrowest), width - left)
        colour = COLOURS[Kind(spans.kind[bar.first])] if bar.events == 1 else COLOURS[None]
        gap = 0.6 if wide > 3 else 0.0  # so that neighbours of one colour are two
        by_colour[colour].append(
            f'<rect x="{left:.1f}" y="{top}" width="{wide - gap:.1f}" height="{BAR_HEIGHT}">'
            f"<title>{escape(_told(spans, bar), quote=False)}</title></rect>"
        )
        letters = int((wide - 8) / (TEXT_SIZE * LETTER))
        label = _label(spans, bar, letters)
        if label:
            texts.append(f'<text x="{left + 4:.1f}" y="{top + 13}">{escape(label, quote=False)}</text>')
    parts += [f'<g fill="{colour}">{"".join(some)}</g>' for colour, some in by_colour.items() if some]
    parts.append(f'<g font-size="{TEXT_SIZE}" fill="{TEXT_COLOUR}" pointer-events="none">{"".join(texts)}</g>')
    return document(width, bottom + 16, "A flame chart of a profile", parts)


def _rows(spans: Spans) -> tuple[array[int], array[int], list[int]]:
    """The lane and the row of each event, -1 if it is not drawn, and the number of rows in each lane.

    An event is below the one that holds it, in the first row that is free.
    """
    lanes, rows = array("b"), array("b")
    ends: tuple[list[int], list[int]] = ([], [])
    for i in range(len(spans)):
        lane = spans.backward[i]
        lanes.append(lane)
        if spans.kind[i] == Kind.MEMORY:
            rows.append(-1)
            continue
        parent = spans.parent[i]
        row = rows[parent] + 1 if parent >= 0 and lanes[parent] == lane else 0
        taken = ends[lane]
        while row < len(taken) and taken[row] > spans.start[i]:
            row += 1
        row = min(row, MOST_ROWS - 1)
        if row == len(taken):
            taken.append(0)
        taken[row] = max(taken[row], spans.end[i])
        rows.append(row)
    return lanes, rows, [len(ends[0]), len(ends[1])]


def _bars(spans: Spans, shown: list[int], lanes: array[int], rows: array[int], narrowest: float) -> Iterator[_Bar]:
    """The bars, where events of less than `narrowest` ns that are no farther apart are one."""
    open_bars: dict[int, _Bar] = {}
    deepest = MOST_ROWS - 1
    for i in shown:
        lane, row, start, end = lanes[i], rows[i], spans.start[i], spans.end[i]
        at = lane * MOST_ROWS + row
        before = open_bars.get(at)
        # In the last row may be what is nested deeper, so there are bars that overlap.
        narrow = end - start < narrowest or (row == deepest and before is not None and start < before.end)
        if before is not None:
            if narrow and start - before.end < narrowest:
                open_bars[at] = before._replace(
                    end=max(before.end, end), events=before.events + 1, busy=before.busy + end - start
                )
                continue
            yield open_bars.pop(at)
        bar = _Bar(lane, row, start, end, i, 1, end - start)
        if narrow or row == deepest:
            open_bars[at] = bar
        else:
            yield bar
    yield from open_bars.values()


def _label(spans: Spans, bar: _Bar, letters: int) -> str:
    """What fits on a bar: a name may be cut, a number may not."""
    if bar.events > 1:
        fitting = [text for text in (f"{bar.events:,} events", f"{bar.events:,}") if len(text) <= letters]
        return fitting[0] if fitting else ""
    name = short_name(spans.name[bar.first])
    return shortened(name, letters) if letters >= min(3, len(name)) else ""


def _told(spans: Spans, bar: _Bar) -> str:
    """What a pointer over a bar is told."""
    if bar.events > 1:
        return f"{bar.events} events from {short_name(spans.name[bar.first])} on\n{_time(bar.busy)} in all"
    i = bar.first
    lines = [shortened(spans.name[i], 120), f"{_time(bar.end - bar.start)}, self {_time(spans.own[i])}"]
    if spans.is_async[i]:
        lines[1] = f"{_time(bar.end - bar.start)}, ended on another thread"
    if spans.shapes[i]:
        lines.append(shortened(spans.shapes[i], 120))
    if spans.bytes[i]:
        lines.append(f"self {format_memory(spans.bytes[i])}")
    place, backward = spans.owner(i)
    if place is not None:
        made = "made by " if backward and spans.rule[i] >= 0 else ""
        text = f": {place[3].strip()}" if place[3] else ""
        lines.append(shortened(f"{made}{shown_line(place)}{text}", 160))
    return "\n".join(lines)


def _time(ns: int) -> str:
    return format_time(ns / 1000)


def _header(spans: Spans, shown: list[int], length: int) -> list[str]:
    count, nodes = len(shown), sum(spans.kind[i] == Kind.EVALUATION for i in shown)
    heading = f"{_time(length)}: {count:,} event{'' if count == 1 else 's'}"
    if nodes:
        heading += f", {nodes:,} of them nodes of a backward"
    parts = [words(EDGE, 30, heading, TITLE_SIZE, TEXT_COLOUR, bold=True)]
    x = float(EDGE)
    for _, colour, meaning in LEGEND:
        parts.append(f'<rect x="{x:.0f}" y="45" width="10" height="10" rx="2" fill="{colour}"/>')
        parts.append(words(x + 15, 54, meaning, SMALL_SIZE, NOTE_COLOUR))
        x += 15 + len(meaning) * SMALL_SIZE * LETTER + 18
    return parts


def _arrows(
    spans: Spans,
    shown: list[int],
    lanes: array[int],
    rows: array[int],
    most: int,
    x: Callable[[float], float],
    y: Callable[[int, int], int],
    gap: tuple[int, int],
) -> list[str]:
    """From ops to the first run of the rule of their node: down to the gap between the lanes, across, and down."""
    first: dict[int, int] = {}
    for i in shown:
        if spans.origin[i] >= shown[0] and lanes[i] and not lanes[spans.origin[i]]:
            first.setdefault(spans.origin[i], i)
    longest = heapq.nlargest(most, first.items(), key=lambda pair: spans.end[pair[1]] - spans.start[pair[1]])
    curves, heads = [], []
    middle = (gap[0] + gap[1]) / 2
    for op, rule in longest:
        top = spans.parent[rule] if spans.kind[spans.parent[rule]] == Kind.EVALUATION else rule
        x1, x2 = (x((spans.start[i] + spans.end[i]) / 2) for i in (op, top))
        y1, y2 = y(0, rows[op]) + BAR_HEIGHT, y(1, rows[top])
        curves.append(f"M{x1:.1f} {y1}V{gap[0]}C{x1:.1f} {middle} {x2:.1f} {middle} {x2:.1f} {gap[1] - 5}V{y2 - 5}")
        heads.append(f"M{x2 - 2.5:.1f} {y2 - 6}h5l-2.5 5z")
    if not curves:
        return []
    return [
        f'<path d="{"".join(curves)}" stroke="{ARROW_COLOUR}" stroke-width="0.8" stroke-opacity="0.5" fill="none"/>',
        f'<path d="{"".join(heads)}" fill="{ARROW_COLOUR}"/>',
    ]


def ruler(first: int, length: int, scale: float, y: int, bottom: int, *, left: int = EDGE) -> list[str]:
    """Ticks with times, at least 90 pixels apart, and lines from them down to the bottom.

    Args: `first` the time at `left`, and `length`, in ns; `scale` in pixels per ns.

    >>> from retrograd.autograd._profiler.flame import ruler
    >>> [times.split("<")[1].rpartition(">")[2] for times in ruler(0, 2000, 0.1, 20, 100)[1:]]
    ['0', '1 us']
    """
    step = next(n * 10**power for power in range(19) for n in (1, 2, 5) if n * 10**power * scale >= 90)
    last = first + length
    per_unit, unit = (10**9, "s") if last >= 10**9 else (10**6, "ms") if last >= 10**6 else (1000, "us")
    decimals = max(0, len(str(per_unit)) - len(str(step)))
    lines, times = [], []
    for at in range(-(-first // step) * step, last + 1, step):
        x = left + (at - first) * scale
        lines.append(f"M{x:.1f} {y - 6}V{bottom}")
        text = f"{at / per_unit:.{decimals}f} {unit}" if at else "0"
        if x + len(text) * SMALL_SIZE * LETTER < left + length * scale + 4:
            times.append(words(x + 4, y - 8, text, SMALL_SIZE, NOTE_COLOUR))
    return [f'<path d="{"".join(lines)}" stroke="{LINE_COLOUR}" fill="none"/>', *times]


def words(x: float, y: float, text: str, size: int, colour: str, *, bold: bool = False) -> str:
    """A line of text, from its left end on.

    >>> from retrograd.autograd._profiler.flame import words
    >>> words(20, 30, "a < b", 11, "#000000")
    '<text x="20.0" y="30.0" font-size="11" fill="#000000">a &lt; b</text>'
    """
    weight = ' font-weight="600"' if bold else ""
    shown = escape(text, quote=False)
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{weight} fill="{colour}">{shown}</text>'
