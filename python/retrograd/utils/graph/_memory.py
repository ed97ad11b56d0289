"""The memory that a graph keeps alive: who saved it, who else holds it, and what `backward()` will free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from xml.sax.saxutils import escape

from retrograd import Size, Tensor, dtype
from retrograd._drawing import LETTER, NOTE_COLOUR, Drawing, document, shortened
from retrograd.autograd.graph import GradientEdge, Node
from retrograd.utils.graph._facts import Facts, Held, Place, facts_of, held, place

__all__ = ["Block", "Ledger", "Row", "memory"]

Keeper = Literal["graph", "program", "leaf"]


@dataclass(frozen=True, slots=True)
class Block:
    """The memory of one storage. Tensors that share it, such as a tensor and its views, are one block.

    `bytes` is the size of the storage, `sizes` and `dtype` those of the tensor that it was made for, as far as the
    graph knows. `keeper` says why it is alive: "graph" if only saved tensors of this graph hold it, so that
    `backward()` frees it; "program" if something else does too, such as a variable, another graph or NumPy; "leaf" if
    it is that of a leaf. `op` and `place` are the node that saved it first and the line that recorded the node,
    `saved_as` has all that saved it. `name` is a leaf's, if one was given.

    >>> x = rg.ones(2, 3, requires_grad=True)
    >>> blocks = rg.utils.graph.memory(x.exp().sum()).blocks
    >>> [(block.keeper, block.bytes, block.op, block.saved_as) for block in blocks]
    [('graph', 24, 'ExpBackward0', ('ExpBackward0.result',)), ('leaf', 24, 'AccumulateGrad', ())]
    """

    bytes: int
    sizes: Size
    dtype: dtype
    keeper: Keeper
    op: str
    place: Place | None
    saved_as: tuple[str, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """What a `Ledger` has for one line, or one op: bytes by who keeps them, and how many there are.

    `packed` counts saved tensors that a saved-tensor hook replaced by something else, whose bytes nobody knows.

    >>> x = rg.ones(2, 3, requires_grad=True)
    >>> row = rg.utils.graph.memory(x.exp().sum()).rows("op")[1]
    >>> row.key, row.graph, row.program, row.leaf, row.bytes, row.blocks, row.packed
    ('ExpBackward0', 24, 0, 0, 24, 1, 0)
    """

    key: str
    graph: int = 0
    program: int = 0
    leaf: int = 0
    blocks: int = 0
    packed: int = 0
    place: Place | None = None

    @property
    def bytes(self) -> int:
        """All bytes of the row.

        >>> rg.utils.graph.Row("MulBackward0", graph=8, program=4).bytes
        12
        """
        return self.graph + self.program + self.leaf


SORTS = ("bytes", "graph", "program", "leaf", "blocks", "packed", "key")


@dataclass(frozen=True)
class Ledger:
    """The memory that a graph keeps alive, as `memory` found it.

    `blocks` lists it, one entry for each storage, the largest first. In bytes: `total` is their sum; `graph` is what
    only the graph holds, `program` what something else holds as well, and `leaves` what leaves have; `overhead` is
    the graph's own memory, for nodes, saved Python numbers and the handles on saved tensors, and not part of `total`.
    `nodes` counts nodes, and `packed` saved tensors that hooks replaced, whose bytes nobody knows.

    >>> w = rg.ones(256, 64, requires_grad=True)
    >>> loss = (rg.ones(32, 256) @ w).exp().sum()
    >>> ledger = rg.utils.graph.memory(loss, params={"w": w})
    >>> ledger.total, ledger.graph, ledger.program, ledger.leaves, ledger.nodes, ledger.packed
    (106496, 40960, 0, 65536, 3, 0)
    >>> print(ledger.table(group_by="op").rpartition("\\n")[0])
    op              in all    graph only  program too  leaves    tensors  packed
    --------------  --------  ----------  -----------  --------  -------  ------
    AccumulateGrad  64.0 KiB  0 B         0 B          64.0 KiB  1        0
    MmBackward0     32.0 KiB  32.0 KiB    0 B          0 B       1        0
    ExpBackward0    8.00 KiB  8.00 KiB    0 B          0 B       1        0
    --------------  --------  ----------  -----------  --------  -------  ------
    all             104 KiB   40.0 KiB    0 B          64.0 KiB  3        0
    """

    title: str
    blocks: tuple[Block, ...]
    overhead: int
    nodes: int
    packed_at: tuple[tuple[str, Place | None, int], ...] = field(default=(), repr=False)

    @property
    def total(self) -> int:
        """Bytes of all storages that the graph holds, each counted once.

        >>> rg.utils.graph.memory(rg.ones(4, requires_grad=True).sum()).total
        16
        """
        return sum(block.bytes for block in self.blocks)

    def _kept(self, keeper: Keeper) -> int:
        return sum(block.bytes for block in self.blocks if block.keeper == keeper)

    @property
    def graph(self) -> int:
        """Bytes that only saved tensors of the graph hold.

        >>> rg.utils.graph.memory(rg.ones(4, requires_grad=True).exp().sum()).graph
        16
        """
        return self._kept("graph")

    @property
    def program(self) -> int:
        """Bytes that the graph holds and something else as well: a variable, a list, another graph.

        >>> y = rg.ones(4, requires_grad=True).exp()
        >>> rg.utils.graph.memory(y.sum()).program
        16
        """
        return self._kept("program")

    @property
    def leaves(self) -> int:
        """Bytes of the leaves that the graph leads to; `.grad` is not part of them.

        >>> rg.utils.graph.memory(rg.ones(4, requires_grad=True).exp().sum()).leaves
        16
        """
        return self._kept("leaf")

    @property
    def freed_by_backward(self) -> int:
        """Bytes that `backward()` of what was asked about frees, unless it retains the graph: those of `graph`.

        What hooks packed is not among them.

        >>> rg.utils.graph.memory(rg.ones(4, requires_grad=True).exp().sum()).freed_by_backward
        16
        """
        return self.graph

    @property
    def packed(self) -> int:
        """How many saved tensors hooks replaced.

        >>> rg.utils.graph.memory(rg.ones(4, requires_grad=True).exp().sum()).packed
        0
        """
        return sum(count for _, _, count in self.packed_at)

    def rows(self, group_by: Literal["line", "op"] = "line", sort_by: str = "bytes") -> list[Row]:
        """The blocks, summed by the line that saved them, or by the op.

        Args: `group_by` "line" or "op"; `sort_by` "bytes", "graph", "program", "leaf", "blocks" or "packed", largest
        first, or "key", in the order of the alphabet.
        Raises: ValueError for anything else.

        >>> ledger = rg.utils.graph.memory(rg.ones(4, requires_grad=True).exp().sum())
        >>> [row.key for row in ledger.rows("op", sort_by="key")]
        ['AccumulateGrad', 'ExpBackward0']
        """
        if group_by not in ("line", "op"):
            raise ValueError(f"rows: group_by is 'line' or 'op', not {group_by!r}")
        if sort_by not in SORTS:
            raise ValueError(f"rows: sort_by is one of {', '.join(map(repr, SORTS))}, not {sort_by!r}")
        rows: dict[str, Row] = {}

        def row(op: str, at: Place | None) -> Row:
            if group_by == "op":
                return rows.get(op) or Row(op)
            key = "leaves" if op == LEAF else at.short if at else "unknown line"
            # Files of the same name in two folders are two.
            while key in rows and rows[key].place and at and (rows[key].place or at).file != at.file:
                key += "'"
            return rows.get(key) or Row(key, place=None if op == LEAF else at)

        for block in self.blocks:
            old = row(block.op, block.place)
            kept: dict[str, Any] = {block.keeper: getattr(old, block.keeper) + block.bytes}
            rows[old.key] = replace(old, blocks=old.blocks + 1, **kept)
        for op, at, count in self.packed_at:
            old = row(op, at)
            rows[old.key] = replace(old, packed=old.packed + count)
        by_key = sorted(rows.values(), key=lambda row: row.key)
        return by_key if sort_by == "key" else sorted(by_key, key=lambda row: -getattr(row, sort_by))

    def table(self, group_by: Literal["line", "op"] = "line", sort_by: str = "bytes", row_limit: int = 30) -> str:
        """The rows as text, with their sums.

        Args: `group_by` and `sort_by` as `rows`; `row_limit` the largest number of rows, or -1 for all.
        Raises: as `rows`.

        >>> w = rg.ones(300, requires_grad=True)
        >>> print(rg.utils.graph.memory(w.exp().sum()).table("op", row_limit=1).rpartition("\\n")[0])
        op              in all    graph only  program too  leaves    tensors  packed
        --------------  --------  ----------  -----------  --------  -------  ------
        AccumulateGrad  1.17 KiB  0 B         0 B          1.17 KiB  1        0
        and 1 more      1.17 KiB  1.17 KiB    0 B          0 B       1        0
        --------------  --------  ----------  -----------  --------  -------  ------
        all             2.34 KiB  1.17 KiB    0 B          1.17 KiB  2        0
        """
        rows = self.rows(group_by, sort_by)
        shown, rest = (rows, []) if row_limit < 0 else (rows[:row_limit], rows[row_limit:])
        if rest:
            shown = [*shown, _sum(rest, f"and {len(rest)} more")]
        header = (group_by, "in all", "graph only", "program too", "leaves", "tensors", "packed")
        cells = [_cells(row) for row in (*shown, _sum(rows, "all"))]
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        rule = "  ".join("-" * width for width in widths)

        def line(parts: Iterable[str]) -> str:
            return "  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip()

        lines = [line(header), rule, *map(line, cells[:-1]), rule, line(cells[-1]), self._summary()]
        return "\n".join(lines)

    def _summary(self) -> str:
        packed = f" {self.packed} saved tensors are packed by hooks, bytes unknown." if self.packed else ""
        nodes = "node takes" if self.nodes == 1 else "nodes take"
        freed, own = _text(self.freed_by_backward), _text(self.overhead)
        return f"backward() frees {freed}. {self.nodes} {nodes} {own} more.{packed}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists, numbers and strings, ready for JSON. All sizes are in bytes.

        >>> as_dict = rg.utils.graph.memory(rg.ones(4, requires_grad=True).exp().sum()).to_dict()
        >>> as_dict["total"], as_dict["by_op"]["ExpBackward0"]
        (32, {'graph': 16, 'program': 0, 'leaf': 0, 'blocks': 1, 'packed': 0})
        """
        counts = ("graph", "program", "leaf", "blocks", "packed")

        def by(what: Literal["line", "op"]) -> dict[str, dict[str, int]]:
            return {row.key: {name: getattr(row, name) for name in counts} for row in self.rows(what)}

        def entry(block: Block) -> dict[str, Any]:
            return {
                "bytes": block.bytes,
                "sizes": list(block.sizes),
                "dtype": str(block.dtype),
                "keeper": block.keeper,
                "op": block.op,
                "place": block.place and block.place._asdict(),
                "saved_as": list(block.saved_as),
                "name": block.name,
            }

        totals = ("total", "graph", "program", "leaves", "freed_by_backward", "overhead", "nodes", "packed")
        return {
            **{name: getattr(self, name) for name in totals},
            "by_line": by("line"),
            "by_op": by("op"),
            "blocks": [entry(block) for block in self.blocks],
        }

    def draw(self, row_limit: int = 20) -> Drawing:
        """A picture: a bar for each line of the program, the largest first, and one for the leaves.

        Args: `row_limit` the largest number of bars.
        Returns: a `Drawing`, the text of an SVG file.

        >>> w = rg.ones(4, requires_grad=True)
        >>> "backward() frees 16 B" in rg.utils.graph.memory(w.exp().sum()).draw()
        True
        """
        return _bars(self, row_limit)

    def _repr_svg_(self) -> str:
        return str(self.draw())

    def __str__(self) -> str:
        return self.table()


def memory(
    outputs: Tensor | Node | GradientEdge | Iterable[Tensor | Node | GradientEdge],
    params: Mapping[str, Tensor] | None = None,
) -> Ledger:
    """List the memory that the graph behind a tensor keeps alive.

    A storage counts once, however many nodes saved it and however many views it has, and with all its bytes, since a
    view of a part keeps the whole. It is attributed to the node that saved it first, and to the line that recorded
    that node. Looking changes nothing: no tensor is unpacked, no hook is called, nothing lives longer.

    What is not seen: tensors that a custom function put on its `ctx` itself, tangents of forward mode, and what
    saved-tensor hooks packed, of which there is only the number.

    Args: `outputs` a tensor, a node or a `GradientEdge`, or several; `params` names for leaves, found by identity.
    Returns: a `Ledger`. That of a tensor without graph is empty.
    Raises: TypeError for anything else.

    >>> x = rg.ones(1000, requires_grad=True)
    >>> y = x * 2
    >>> loss = (y * y).sum()
    >>> ledger = rg.utils.graph.memory(loss)
    >>> ledger.total, ledger.freed_by_backward  # `y` is saved twice and counted once, and the variable holds it as well
    (8000, 0)
    >>> del y
    >>> rg.utils.graph.memory(loss).freed_by_backward
    4000
    """
    roots = [outputs] if isinstance(outputs, Tensor | Node | GradientEdge) else list(outputs)
    nodes, leaves = facts_of(roots)
    names = {held(leaf).id: name for name, leaf in (params or {}).items()}
    leaf_of = {leaf.memory: leaf for leaf in leaves}
    tensors, handles = _tensors(nodes)
    over = Counter(tensor.memory for tensor in tensors.values())
    others = {
        tensor.memory
        for tensor in tensors.values()
        if tensor.handles > handles[tensor.id] or tensor.sharers > over[tensor.memory] or tensor.is_foreign
    }

    savers: dict[int, list[tuple[Facts, str]]] = {}
    shown: dict[int, Held] = {}
    for node in reversed(nodes):  # in the order in which they were recorded
        for slot in node.saved:
            if slot.tensor is not None and not slot.tensor.is_number:
                savers.setdefault(slot.tensor.memory, []).append((node, slot.name))
                shown.setdefault(slot.tensor.memory, slot.tensor.base or slot.tensor)

    def block(memory: int, tensor: Held) -> Block:
        by = savers.get(memory, [])
        leaf = leaf_of.get(memory)
        saved_as = tuple(dict.fromkeys(f"{node.name}.{slot}" for node, slot in by))
        if leaf is not None:
            name = names.get(leaf.id)
            return Block(leaf.storage_bytes, leaf.sizes, leaf.dtype, "leaf", LEAF, None, saved_as, name)
        keeper: Keeper = "program" if memory in others else "graph"
        first = by[0][0]
        at = place(first.place)
        return Block(tensor.storage_bytes, tensor.sizes, tensor.dtype, keeper, first.name, at, saved_as)

    blocks = [block(memory, tensor) for memory, tensor in {**shown, **leaf_of}.items()]
    packed = [(node.name, place(node.place), sum(slot.tensor is None for slot in node.saved)) for node in nodes]
    ours = [t for t in tensors.values() if t.handles <= handles[t.id] and t.memory not in leaf_of]
    numbers = {t.memory: t.storage_bytes for t in ours if t.is_number}
    return Ledger(
        title=nodes[0].name if nodes else "a tensor without graph",
        blocks=tuple(sorted(blocks, key=lambda block: -block.bytes)),
        overhead=sum(node.own_bytes for node in nodes) + sum(t.own_bytes for t in ours) + sum(numbers.values()),
        nodes=len(nodes),
        packed_at=tuple(entry for entry in packed if entry[2]),
    )


LEAF = "AccumulateGrad"


def _tensors(nodes: list[Facts]) -> tuple[dict[int, Held], Counter[int]]:
    """The tensors that nodes saved and their bases, by id, and how many of the handles on each the graph has."""
    tensors: dict[int, Held] = {}
    handles: Counter[int] = Counter()
    for node in nodes:
        for slot in node.saved:
            tensor = slot.tensor
            if tensor is None:
                continue
            handles[tensor.id] += 1
            if tensor.id not in tensors and tensor.base is not None:  # a view has one handle on its base
                handles[tensor.base.id] += 1
                tensors.setdefault(tensor.base.id, tensor.base)
            tensors.setdefault(tensor.id, tensor)
    return tensors, handles


def _sum(rows: list[Row], key: str) -> Row:
    names = ("graph", "program", "leaf", "blocks", "packed")
    return Row(key, **{name: sum(getattr(row, name) for row in rows) for name in names})


def _cells(row: Row) -> tuple[str, ...]:
    sizes = (_text(n) for n in (row.bytes, row.graph, row.program, row.leaf))
    return (row.key, *sizes, str(row.blocks), str(row.packed))


def _text(count: int) -> str:
    """A number of bytes for people: three digits."""
    if count < 1024:
        return f"{count} B"
    size, unit = count / 1024, "KiB"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        if size < 999.5 or unit == "TiB":
            break
        size /= 1024
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{size:.{digits}f} {unit}"


# The picture, in pixels.
WIDTH, EDGE, ROW_HEIGHT, BAR_HEIGHT = 860, 24, 46, 16
HEADER = 84
SIZES_WIDTH = 170  # room behind the longest bar
TEXT_SIZE, SMALL_SIZE = 13, 11
COLOURS: dict[Keeper, tuple[str, str]] = {
    "graph": ("#4f9d69", "graph only: backward() frees it"),
    "program": ("#c9a227", "held by the program too"),
    "leaf": ("#7aa7f0", "leaves"),
}
TEXT_COLOUR = "#2b3440"


def _bars(ledger: Ledger, row_limit: int) -> Drawing:
    rows = [row for row in ledger.rows("line") if row.bytes or row.packed]
    rows, rest = rows[:row_limit], rows[row_limit:]
    room = WIDTH - 2 * EDGE - SIZES_WIDTH
    scale = room / max((row.bytes for row in rows), default=1) if any(row.bytes for row in rows) else 0.0
    heading = f"{_text(ledger.total)} behind {ledger.title}"
    parts = [_words(EDGE, 30, heading, TEXT_SIZE + 2, TEXT_COLOUR, bold=True)]
    parts.append(_words(EDGE, 50, ledger._summary(), SMALL_SIZE, NOTE_COLOUR))
    x = float(EDGE)
    for colour, meaning in COLOURS.values():
        parts.append(f'<rect x="{x:.0f}" y="61" width="10" height="10" rx="2" fill="{colour}"/>')
        parts.append(_words(x + 16, 70, meaning, SMALL_SIZE, NOTE_COLOUR))
        x += 16 + len(meaning) * SMALL_SIZE * LETTER + 24
    for i, row in enumerate(rows):
        parts += _bar(row, HEADER + i * ROW_HEIGHT, scale)
    bottom = HEADER + len(rows) * ROW_HEIGHT
    if rest:
        lines = "line" if len(rest) == 1 else "lines"
        words = f"and {len(rest)} more {lines}: {_size(_sum(rest, 'rest'))}"
        parts.append(_words(EDGE, bottom + 14, words, TEXT_SIZE, NOTE_COLOUR))
        bottom += 24
    return document(WIDTH, bottom + 12, escape(f"Memory: {heading}"), parts)


def _bar(row: Row, y: float, scale: float) -> list[str]:
    label = f"{row.key}: {row.place.text}" if row.place and row.place.text else row.key
    label = shortened(label, int((WIDTH - 2 * EDGE) / (TEXT_SIZE * LETTER)))
    kept = ", ".join(f"{_text(getattr(row, name))} {meaning}" for name, (_, meaning) in COLOURS.items())
    packed = f"{row.packed} packed by hooks" if row.packed else ""
    title = "\n".join(filter(None, [row.place.title if row.place else row.key, kept, packed]))
    parts = [
        f"<g><title>{escape(title)}</title>",
        _words(EDGE, y + 14, label, TEXT_SIZE, TEXT_COLOUR),
    ]
    x = float(EDGE)
    for name, (colour, _) in COLOURS.items():
        width = getattr(row, name) * scale
        if width:
            parts.append(f'<rect x="{x:.1f}" y="{y + 20}" width="{width:.1f}" height="{BAR_HEIGHT}" fill="{colour}"/>')
            x += width
    parts.append(_words(x + 8, y + 32, _size(row), SMALL_SIZE, NOTE_COLOUR))
    return [*parts, "</g>"]


def _size(row: Row) -> str:
    packed = f"{row.packed} packed" if row.packed else ""
    return " + ".join(filter(None, [_text(row.bytes) if row.bytes or not packed else "", packed]))


def _words(x: float, y: float, words: str, size: int, colour: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{weight} fill="{colour}">{escape(words)}</text>'
