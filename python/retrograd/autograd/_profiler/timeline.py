"""Live bytes over a session: when there were most, and which lines of the program held them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from html import escape
from typing import Literal, NamedTuple

from retrograd._drawing import LETTER, NOTE_COLOUR, Drawing, document, shortened
from retrograd.autograd._profiler.flame import EDGE, LINE_COLOUR, SMALL_SIZE, TEXT_COLOUR, TITLE_SIZE, ruler, words
from retrograd.autograd._profiler.formats import format_memory, format_time
from retrograd.autograd._profiler.places import Place, shown_line
from retrograd.autograd._profiler.spans import Spans, short_name
from retrograd.autograd._profiler.top import SOURCE_WIDTH, columns

__all__ = ["Holding", "MemoryTimeline"]

When = Literal["peak", "end"]
# Time, bytes (negative when released), bytes in all, address, index of the event, place.
Change = tuple[int, int, int, int, int, "Place | None"]


class Holding(NamedTuple):
    """What a line, or an op, allocated of the bytes that are alive at some time.

    `key` is `file:line`, with " backward" for what the rules of the line's nodes allocated, or the name of an op.
    `text` is what the line says, `ops` the names of the ops that allocated, the largest first, `bytes` how many, in how
    many `blocks`. `place` is the line as file, number, function and text; None for an op, and if it is not known.

    >>> with rg.autograd.profiler.profile(profile_memory=True) as prof:
    ...     x = rg.ones(1000)
    >>> holding = prof.memory_timeline().rows()[0]
    >>> holding.text, holding.ops, holding.bytes, holding.blocks
    ('x = rg.ones(1000)', ('ones',), 4000, 1)
    """

    key: str
    text: str
    ops: tuple[str, ...]
    bytes: int
    blocks: int
    place: Place | None


class _Block(NamedTuple):
    size: int
    owner: int  # index into the owners
    op: str


_Owner = tuple["Place | None", bool]


class MemoryTimeline:
    """Live bytes of what the session allocated, over its time.

    `peak` is the largest number of bytes that were alive at once, `peak_time` when that was first so, in microseconds
    from the beginning. `allocated` and `released` are sums, `at_end` the bytes alive at the end. Bytes that
    were allocated before the session are not in any of these: `released_before` is how many of them were released in
    it. `rows` says who held what, `table` and `str` the same as text, `draw` and a notebook show it as a picture.

    >>> with rg.autograd.profiler.profile(profile_memory=True) as prof:
    ...     x = rg.ones(1000)
    ...     y = (x * x).sum()
    >>> timeline = prof.memory_timeline()
    >>> timeline.peak, timeline.allocated, timeline.at_end
    (8004, 8004, 4004)
    >>> [(row.text, row.bytes) for row in timeline.rows()]
    [('y = (x * x).sum()', 4004), ('x = rg.ones(1000)', 4000)]
    >>> [(row.text, row.bytes) for row in timeline.rows("end")]
    [('x = rg.ones(1000)', 4000), ('y = (x * x).sum()', 4)]
    """

    def __init__(self, changes: Iterable[Change], spans: Spans, times: tuple[int, int]) -> None:
        self._times = times
        self._at, self._size, self._owner = array("q"), array("q"), array("l")
        self._owners: list[_Owner] = []
        self.peak = self.released_before = self.allocated = self.released = 0
        self.peak_time = 0.0
        alive: dict[int, _Block] = {}
        live, peak_index = 0, -1
        numbers: dict[_Owner, int] = {}
        log: list[tuple[int, _Block | None]] = []  # by change: the address, and the block if it is new
        for at, size, _, address, event, place in changes:
            if size >= 0:
                owner = spans.owner(event) if 0 <= event < len(spans) else (place, False)
                if owner[0] is None:
                    owner = (place, owner[1])
                number = numbers.setdefault(owner, len(self._owners))
                if number == len(self._owners):
                    self._owners.append(owner)
                block = _Block(size, number, _op(spans, event))
                alive[address] = block
                log.append((address, block))
                self.allocated += size
            else:
                gone = alive.pop(address, None)
                if gone is None:
                    self.released_before -= size
                    continue
                log.append((address, None))
                size, number = -gone.size, gone.owner
                self.released -= size
            live += size
            self._at.append(at)
            self._size.append(size)
            self._owner.append(number)
            if live > self.peak:
                self.peak, peak_index = live, len(log)
                self.peak_time = (at - times[0]) / 1000
        self.at_end = live
        self._alive = {"end": list(alive.values()), "peak": _alive_after(log[: max(peak_index, 0)])}

    @property
    def points(self) -> list[tuple[float, int]]:
        """The live bytes after each change: time in microseconds from the beginning, and bytes.

        >>> with rg.autograd.profiler.profile(profile_memory=True) as prof:
        ...     x = rg.ones(1000)
        ...     del x
        >>> [size for _, size in prof.memory_timeline().points]
        [4000, 0]
        """
        live, points = 0, []
        for at, size in zip(self._at, self._size, strict=True):
            live += size
            points.append(((at - self._times[0]) / 1000, live))
        return points

    def rows(self, when: When = "peak", group_by: Literal["line", "op"] = "line") -> list[Holding]:
        """Who allocated the bytes that are alive at the peak, or at the end of the session, the largest first.

        Args: `group_by` "line" or "op".
        Raises: ValueError for another time or group.

        >>> with rg.autograd.profiler.profile(profile_memory=True) as prof:
        ...     x = rg.ones(1000) + rg.zeros(500).repeat(2)
        >>> [(row.key, row.bytes) for row in prof.memory_timeline().rows("end", group_by="op")]
        [('add', 4000)]
        """
        if when not in self._alive:
            raise ValueError(f"when is 'peak' or 'end', not {when!r}")
        if group_by not in ("line", "op"):
            raise ValueError(f"group_by is 'line' or 'op', not {group_by!r}")
        sums: dict[int | str, tuple[int, int, dict[str, int]]] = {}
        for block in self._alive[when]:
            if not block.size:
                continue
            key = block.owner if group_by == "line" else block.op
            size, blocks, ops = sums.get(key, (0, 0, {}))
            ops[block.op] = ops.get(block.op, 0) + block.size
            sums[key] = size + block.size, blocks + 1, ops
        rows = []
        for key, (size, blocks, ops) in sums.items():
            names = tuple(sorted(ops, key=lambda op: -ops[op]))
            if isinstance(key, str):
                rows.append(Holding(key, "", names, size, blocks, None))
            else:
                place = self._owners[key][0]
                text = (place[3] or "").strip() if place else ""
                rows.append(Holding(_shown(self._owners[key]), text, names, size, blocks, place))
        return sorted(rows, key=lambda row: (-row.bytes, row.key))

    def table(self, when: When = "peak", group_by: Literal["line", "op"] = "line", row_limit: int = 20) -> str:
        """The rows as text, with their sum, and what the session allocated and released.

        Args: `when` and `group_by` as `rows`; `row_limit` the largest number of rows, -1 for all.

        >>> with rg.autograd.profiler.profile(profile_memory=True) as prof:
        ...     x = rg.ones(1000)
        >>> print(prof.memory_timeline().table(group_by="op").rpartition("\\n")[0])
        op      bytes    share  blocks
        ----  -------  -------  ------
        ones  3.91 KB  100.00%       1
        ----  -------  -------  ------
        all   3.91 KB  100.00%       1
        """
        rows = self.rows(when, group_by)
        total = sum(row.bytes for row in rows)
        shown, rest = (rows, []) if row_limit < 0 else (rows[:row_limit], rows[row_limit:])

        def cells(key: str, text: str, of: list[Holding], ops: str) -> list[str]:
            size, blocks = sum(row.bytes for row in of), sum(row.blocks for row in of)
            share = f"{100 * size / total:.2f}%" if total else "NaN"
            numbers = [format_memory(size), share, str(blocks)]
            return [key, text, ops, *numbers] if group_by == "line" else [key, *numbers]

        lines = [
            cells(row.key, shortened(row.text, SOURCE_WIDTH), [row], shortened(", ".join(row.ops), 30)) for row in shown
        ]
        if rest:
            lines.append(cells(f"and {len(rest)} more", "", rest, ""))
        header = ["line", "source", "ops", "bytes", "share", "blocks"]
        header = header if group_by == "line" else ["op", *header[3:]]
        last = cells("all", "", rows, "")
        return "\n".join([columns(header, lines, last, left=3 if group_by == "line" else 1), self._summary()])

    def _summary(self) -> str:
        text = (
            f"Peak {format_memory(self.peak)} at {format_time(self.peak_time)}; allocated "
            f"{format_memory(self.allocated)}, released {format_memory(self.released)}, alive at the end "
            f"{format_memory(self.at_end)}."
        )
        if self.released_before:
            text += f" Of what was allocated before, {format_memory(self.released_before)} were released."
        return text

    def draw(self, *, width: int = 1000, lines: int = 8) -> Drawing:
        """A picture: live bytes over time, one colour for each of the lines that hold most, and the peak.

        Args: `width` in pixels; `lines` how many lines have a colour of their own, at most 8.
        Returns: a `Drawing`, the text of an SVG file that needs nothing but itself.
        Raises: ValueError if the width is less than 300, or `lines` is not from 1 to 8.

        >>> with rg.autograd.profiler.profile(profile_memory=True) as prof:
        ...     x = rg.ones(1000)
        >>> "peak 3.91 KB" in prof.memory_timeline().draw()
        True
        """
        if width < 300 or not 1 <= lines <= len(COLOURS):
            raise ValueError(f"draw: width is at least 300 and lines 1 to {len(COLOURS)}, not {width} and {lines}")
        return _chart(self, width, lines)

    def _repr_svg_(self) -> str:
        return str(self.draw())

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


def _op(spans: Spans, event: int) -> str:
    if not 0 <= event < len(spans):
        return "elsewhere"
    return short_name(spans.name[event])


def _alive_after(log: list[tuple[int, _Block | None]]) -> list[_Block]:
    alive: dict[int, _Block] = {}
    for address, block in log:
        if block is None:
            del alive[address]
        else:
            alive[address] = block
    return list(alive.values())


def _shown(owner: _Owner) -> str:
    place, backward = owner
    return f"{shown_line(place)}{' backward' if backward else ''}"


# The picture, in pixels.
TOP, CHART_HEIGHT, AXIS = 84, 240, 74
LEGEND_ROW = 19
COLOURS = ("#5b8fd6", "#e39a4b", "#63a972", "#a583cf", "#d8707f", "#4fb0b3", "#c9a93a", "#9a7b66")
OTHER_COLOUR = "#c3cad2"


def _chart(timeline: MemoryTimeline, width: int, most: int) -> Drawing:
    begin, end = timeline._times
    heading = f"peak {format_memory(timeline.peak)} at {format_time(timeline.peak_time)}"
    parts = [words(EDGE, 30, heading, TITLE_SIZE, TEXT_COLOUR, bold=True)]
    parts.append(words(EDGE, 50, _fitting(timeline._summary().partition("; ")[2], width), SMALL_SIZE, NOTE_COLOUR))
    if not timeline.peak:
        return document(width, 66, "Live bytes of a profile", parts)
    chosen = _largest_owners(timeline, most)
    room = width - EDGE - AXIS
    samples = _samples(timeline, chosen, room)
    bottom = TOP + CHART_HEIGHT
    per_byte = (CHART_HEIGHT - 14) / timeline.peak

    parts += ruler(0, end - begin, room / max(end - begin, 1), TOP, bottom, left=AXIS)
    step = next(1 << power for power in range(62) if 6 << power >= timeline.peak)
    for size in range(0, timeline.peak + 1, step):
        y = bottom - size * per_byte
        parts.append(f'<path d="M{AXIS} {y:.1f}H{AXIS + room}" stroke="{LINE_COLOUR}"/>')
        text = format_memory(size).replace(".00", "")
        x = AXIS - 6 - len(text) * SMALL_SIZE * LETTER
        parts.append(words(x, y + 4, text, SMALL_SIZE, NOTE_COLOUR))

    at_peak = {(row.key): row for row in timeline.rows()}
    legend: list[tuple[str, str, str]] = []  # colour, text, bytes at the peak
    lower = [0] * room
    for layer, owner in enumerate([*chosen, None]):
        upper = [a + b for a, b in zip(lower, samples[layer], strict=True)]
        if owner is None and upper == lower:
            break
        colour = OTHER_COLOUR if owner is None else COLOURS[layer]
        if owner is None:
            named = {_shown(timeline._owners[one]) for one in chosen}
            size = sum(row.bytes for key, row in at_peak.items() if key not in named)
            count = len(timeline._owners) - len(chosen)
            text = f"{count} other line{'' if count == 1 else 's'}"
        else:
            key = _shown(timeline._owners[owner])
            size = at_peak[key].bytes if key in at_peak else 0
            place = timeline._owners[owner][0]
            text = f"{key}: {place[3].strip()}" if place and place[3] else key
        legend.append((colour, text, format_memory(size)))
        tip = f"{text}\n{format_memory(size)} at the peak, at most {format_memory(max(samples[layer]))}"
        path = _area(lower, upper, bottom, per_byte)
        parts.append(f'<path d="{path}" fill="{colour}"><title>{escape(tip, quote=False)}</title></path>')
        lower = upper

    x = AXIS + (timeline.peak_time * 1000) / max(end - begin, 1) * room
    parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{TEXT_COLOUR}" stroke-dasharray="3 3"/>')
    parts.append(f'<circle cx="{x:.1f}" cy="{TOP + 14}" r="3.5" fill="{TEXT_COLOUR}"/>')
    parts.append(words(x + 6 if x < width - 60 else x - 36, TOP + 8, "peak", SMALL_SIZE, TEXT_COLOUR))

    y = bottom + 30
    parts.append(words(EDGE, y, "bytes at the peak, by the line that allocated them", SMALL_SIZE, NOTE_COLOUR))
    for colour, text, size_text in legend:
        y += LEGEND_ROW
        parts.append(f'<rect x="{EDGE}" y="{y - 9}" width="10" height="10" rx="2" fill="{colour}"/>')
        parts.append(
            words(EDGE + 16 + (11 - len(size_text)) * SMALL_SIZE * LETTER, y, size_text, SMALL_SIZE, TEXT_COLOUR)
        )
        left = EDGE + 16 + 12 * SMALL_SIZE * LETTER
        parts.append(words(left, y, _fitting(text, width - int(left)), SMALL_SIZE, TEXT_COLOUR))
    return document(width, y + 18, "Live bytes of a profile", parts)


def _fitting(text: str, width: int) -> str:
    return shortened(text, int((width - EDGE) / (SMALL_SIZE * LETTER)))


def _largest_owners(timeline: MemoryTimeline, most: int) -> list[int]:
    """Those that hold most at the peak, and then those that ever hold most."""
    live = [0] * len(timeline._owners)
    largest = live.copy()
    for owner, size in zip(timeline._owner, timeline._size, strict=True):
        live[owner] += size
        largest[owner] = max(largest[owner], live[owner])
    at_peak = [0] * len(live)
    for block in timeline._alive["peak"]:
        at_peak[block.owner] += block.size
    order = sorted(range(len(live)), key=lambda owner: (-at_peak[owner], -largest[owner]))
    return [owner for owner in order[:most] if largest[owner]]


def _samples(timeline: MemoryTimeline, chosen: list[int], room: int) -> list[list[int]]:
    """By layer, the last one that of all others, the bytes in each pixel: those of the moment when there are most."""
    begin, end = timeline._times
    layer_of = [len(chosen)] * len(timeline._owners)
    for layer, owner in enumerate(chosen):
        layer_of[owner] = layer
    now, total = [0] * (len(chosen) + 1), 0
    samples: list[list[int]] = [[] for _ in now]
    largest, most = now.copy(), 0

    def advance(pixel: int) -> None:
        nonlocal largest, most
        while len(samples[0]) < pixel:
            for layer, size in enumerate(largest):
                samples[layer].append(size)
            largest, most = now.copy(), total

    for at, size, owner in zip(timeline._at, timeline._size, timeline._owner, strict=True):
        advance(min((at - begin) * room // max(end - begin, 1), room - 1))
        now[layer_of[owner]] += size
        total += size
        if total > most:
            largest, most = now.copy(), total
    advance(room)
    return samples


def _area(lower: list[int], upper: list[int], bottom: int, per_byte: float) -> str:
    """The area between two step functions with a value per pixel."""
    out = [f"M{AXIS} {bottom - lower[0] * per_byte:.1f}"]
    for i, size in enumerate(upper):
        if i == 0 or size != upper[i - 1]:
            out.append(f"H{AXIS + i}V{bottom - size * per_byte:.1f}")
    out.append(f"H{AXIS + len(upper)}")
    for i in range(len(lower) - 1, -1, -1):
        if i == len(lower) - 1 or lower[i] != lower[i + 1]:
            out.append(f"H{AXIS + i + 1}V{bottom - lower[i] * per_byte:.1f}")
    return "".join(out) + f"H{AXIS}Z"
