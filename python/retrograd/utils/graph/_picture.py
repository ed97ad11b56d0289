"""Draw the autograd graph behind a tensor: as an SVG picture, or in the language of Graphviz."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from retrograd._drawing import LETTER, NOTE_COLOUR, Drawing, document
from retrograd.utils.graph._facts import Facts, facts_of, held, place, sizes_and_dtype

if TYPE_CHECKING:
    from retrograd import Tensor

__all__ = ["draw", "to_dot"]

# Sizes in pixels.
NAME_SIZE, NOTE_SIZE = 13, 11
PADDING = 14
BOX_HEIGHT, LEAF_HEIGHT = 34, 48
COLUMN_GAP, ROW_GAP, MARGIN = 28, 44, 28
EDGE_WIDTH = 12  # the width that an edge takes when it passes through a layer

# Fill, outline, text.
LEAF_COLOURS = ("#e7f0ff", "#7aa7f0", "#16427f")
NODE_COLOURS = ("#ffffff", "#c3cad3", "#2b3440")
ROOT_COLOURS = ("#e3f6ea", "#67b98a", "#135c34")
EDGE_COLOUR = "#9aa5b1"


@dataclass(eq=False)
class _Box:
    """A box of the picture, or, if it has no name, a bend where an edge passes through a layer."""

    name: str = ""
    note: str = ""
    title: str = ""  # what a pointer over the box shows
    colours: tuple[str, str, str] = NODE_COLOURS
    rounding: int = 8
    layer: int = 0
    x: float = 0.0  # the middle
    inputs: list[_Box] = field(default_factory=list)  # once edges are cut: one layer up
    users: list[_Box] = field(default_factory=list)  # once edges are cut: one layer down

    @property
    def width(self) -> float:
        if not self.name:
            return EDGE_WIDTH
        letters = max(len(self.name) * NAME_SIZE, len(self.note) * NOTE_SIZE)
        return letters * LETTER + 2 * PADDING

    @property
    def height(self) -> float:
        return LEAF_HEIGHT if self.note else BOX_HEIGHT


def draw(tensor: Tensor, params: Mapping[str, Tensor] | None = None, *, limit: int = 1000) -> Drawing:
    """Draw the graph that `tensor.backward()` would walk.

    Leaves stand at the top and `tensor` at the bottom; an arrow points from the input of an op to the op, so
    gradients flow against the arrows. Inputs that need no gradient are not part of the graph. A notebook shows the
    picture; in a browser, a pointer over a node shows its op, sizes, dtype and line.

    Args: `tensor` any tensor that requires grad; `params` names for leaves, found by identity; `limit` the
    largest number of nodes to draw.
    Returns: a `Drawing`, which is the text of an SVG file that needs nothing but itself.
    Raises: ValueError if `tensor` does not require grad, or its graph has more than `limit` nodes.

    >>> from retrograd.utils.graph import draw
    >>> weight = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> svg = draw((weight * 3).sum(), params={"weight": weight})
    >>> [name in svg for name in ("weight", "MulBackward0", "SumBackward0")]
    [True, True, True]
    """
    boxes = _collect(tensor, params, limit, "draw")
    layers = _layer(boxes)
    _order(layers)
    _place(layers)
    return _render(layers, title=f"Autograd graph of {boxes[0].name}")


def to_dot(tensor: Tensor, params: Mapping[str, Tensor] | None = None, *, limit: int = 1000) -> str:
    """Write the graph that `tensor.backward()` would walk in DOT, which Graphviz and others read.

    For graphs too large for the layout of `draw`, and for programs that take DOT.

    Args: as `draw`.
    Returns: a `digraph`, with arrows from the input of an op to the op.
    Raises: as `draw`.

    >>> from retrograd.utils.graph import to_dot
    >>> weight = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> print(to_dot((weight * 3).exp(), params={"weight": weight}))
    digraph {
      node [shape=box, style="rounded,filled", fontname="monospace"];
      0 [label="ExpBackward0\\nfloat32 (2,)", fillcolor="#e3f6ea"];
      1 [label="MulBackward0", fillcolor="#ffffff"];
      2 [label="weight\\nfloat32 (2,)", fillcolor="#e7f0ff"];
      1 -> 0;
      2 -> 1;
    }
    """
    boxes = _collect(tensor, params, limit, "to_dot")
    number = {id(box): i for i, box in enumerate(boxes)}
    lines = ["digraph {", '  node [shape=box, style="rounded,filled", fontname="monospace"];']
    for i, box in enumerate(boxes):
        label = "\\n".join(text.replace("\\", r"\\").replace('"', r"\"") for text in (box.name, box.note) if text)
        lines.append(f'  {i} [label="{label}", fillcolor="{box.colours[0]}"];')
    lines += [f"  {number[id(source)]} -> {number[id(box)]};" for box in boxes for source in box.inputs]
    return "\n".join([*lines, "}"])


def _collect(tensor: Tensor, params: Mapping[str, Tensor] | None, limit: int, caller: str) -> list[_Box]:
    """Make a box for every node that the tensor reaches, the tensor's own node first."""
    if not tensor.requires_grad:
        raise ValueError(f"{caller}: the tensor does not require grad, so there is no graph behind it")
    names = {held(leaf).id: name for name, leaf in (params or {}).items()}
    note = sizes_and_dtype(tensor.shape, tensor.dtype)
    if tensor.grad_fn is None:
        return [_leaf(names.get(held(tensor).id), note)]
    nodes, leaves = facts_of([tensor])
    if len(nodes) + len(leaves) > limit:
        raise ValueError(f"{caller}: the graph has more than {limit} nodes; pass a larger limit")
    box_of = {leaf.id: _leaf(names.get(leaf.id), sizes_and_dtype(leaf.sizes, leaf.dtype)) for leaf in leaves}
    box_of |= {node.id: _Box(node.name, title=_title(node)) for node in nodes}
    for node in nodes:
        box_of[node.id].inputs = [box_of[edge[0]] for edge in node.edges if edge is not None]
    root = box_of[nodes[0].id]
    root.note, root.colours = note, ROOT_COLOURS
    # Depth first, so that what is on the way to the first input is on the left.
    boxes, found, stack = [root], {id(root)}, [root]
    while stack:
        for source in reversed(stack.pop().inputs):
            if id(source) not in found:
                found.add(id(source))
                boxes.append(source)
                stack.append(source)
    return boxes


def _leaf(name: str | None, note: str) -> _Box:
    title = f"{name or 'leaf'}\n{note}"
    return _Box(name or "leaf", note, title, LEAF_COLOURS, rounding=LEAF_HEIGHT // 2)


def _title(node: Facts) -> str:
    at = place(node.place)
    lines = [node.name, *(sizes_and_dtype(*output) for output in node.outputs)]
    return "\n".join([*lines, at.title] if at else lines)


def _layer(boxes: list[_Box]) -> list[list[_Box]]:
    """Put every box above all that use it, and cut edges so that each joins neighbouring layers.

    The layer of a box is the length of the longest path from the root, so a leaf stands right above its use.
    """
    waiting = {id(box): 0 for box in boxes}
    for box in boxes:
        for source in box.inputs:
            waiting[id(source)] += 1
    ready, layers = [boxes[0]], list[list[_Box]]()
    while ready:  # users before inputs
        box = ready.pop()
        while len(layers) <= box.layer:
            layers.append([])
        layers[box.layer].append(box)
        for source in reversed(box.inputs):
            source.layer = max(source.layer, box.layer + 1)
            waiting[id(source)] -= 1
            if not waiting[id(source)]:
                ready.append(source)

    # The edges that leave a box share their bends, so a weight used a hundred times does not fill the picture.
    bend_of: dict[tuple[int, int], _Box] = {}
    for box in boxes:
        sources, box.inputs = box.inputs, []
        for source in sources:
            upper = source
            for layer in range(source.layer - 1, box.layer, -1):
                bend = bend_of.get((id(source), layer))
                if bend is None:
                    bend = bend_of[id(source), layer] = _Box(layer=layer)
                    layers[layer].append(bend)
                    _join(upper, bend)
                upper = bend
            _join(upper, box)
    return layers


def _join(source: _Box, user: _Box) -> None:
    user.inputs.append(source)
    source.users.append(user)


def _order(layers: list[list[_Box]]) -> None:
    """Order each layer to cross few edges: sort by the mean place of the neighbours, up and down, a few times."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for sweep in range(12):
        if not fewest:
            break
        if sweep % 2 == 0:
            for lower, layer in pairwise(layers):
                _sort_by_neighbours(layer, lower, [box.users for box in layer])
        else:
            for layer, upper in reversed([*pairwise(layers)]):
                _sort_by_neighbours(layer, upper, [box.inputs for box in layer])
        count = _crossings(layers)
        if count < fewest:
            best, fewest = [list(layer) for layer in layers], count
    for layer, ordered in zip(layers, best, strict=True):
        layer[:] = ordered


def _sort_by_neighbours(layer: list[_Box], fixed: list[_Box], neighbours: list[list[_Box]]) -> None:
    place = {id(box): i for i, box in enumerate(fixed)}
    means = [
        sum(place[id(other)] for other in near) / len(near) if near else float(i) for i, near in enumerate(neighbours)
    ]
    layer[:] = [layer[i] for i in sorted(range(len(layer)), key=means.__getitem__)]


def _crossings(layers: list[list[_Box]]) -> int:
    """Count the pairs of edges that cross."""
    total = 0
    for lower, upper in pairwise(layers):
        place = {id(box): i for i, box in enumerate(upper)}
        ends: list[int] = []  # sorted
        for box in lower:
            here = [place[id(source)] for source in box.inputs]
            total += sum(len(ends) - bisect_right(ends, start) for start in here)
            for start in here:
                insort(ends, start)
    return total


def _place(layers: list[list[_Box]]) -> None:
    """Choose the middle of every box: near its neighbours, never closer to the next one than the gap."""
    for layer in layers:
        x = 0.0
        for box in layer:
            box.x = x + box.width / 2
            x += box.width + COLUMN_GAP
    for sweep in range(40):
        for layer in layers if sweep % 2 else reversed(layers):
            wanted = []
            for box in layer:
                near = [*box.inputs, *box.users]
                wanted.append(sum(other.x for other in near) / len(near) if near else box.x)
            _spread(layer, wanted)
    # Where an edge is the only one at both ends, or a mere passer-by, let it run straight down.
    for layer in reversed(layers):
        _spread(layer, [box.inputs[0].x if _is_straight(box) else box.x for box in layer])
    left = min(box.x - box.width / 2 for layer in layers for box in layer)
    for layer in layers:
        for box in layer:
            box.x += MARGIN - left


def _is_straight(box: _Box) -> bool:
    if len(box.inputs) != 1:
        return False
    source = box.inputs[0]
    return len(source.users) == 1 or not (box.name or source.name)


def _spread(layer: list[_Box], wanted: list[float]) -> None:
    """Move the boxes as near as possible to where they want to be, in least squares, keeping order and gaps.

    Measured from the place a box would have if all stood packed, gaps become "never decreasing", and the best
    such row is found by pooling neighbours that are out of order into their mean.
    """
    packed, x = [], 0.0
    for box, after in zip(layer, [*layer[1:], None], strict=True):
        packed.append(x)
        if after is not None:
            x += (box.width + after.width) / 2 + COLUMN_GAP
    pools: list[tuple[float, int]] = []  # mean, how many
    for want, base in zip(wanted, packed, strict=True):
        mean, count = want - base, 1
        while pools and pools[-1][0] > mean:
            other, many = pools.pop()
            mean, count = (mean * count + other * many) / (count + many), count + many
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    for box, base, mean in zip(layer, packed, means, strict=True):
        box.x = base + mean


def _render(layers: list[list[_Box]], *, title: str) -> Drawing:
    tall = [max(box.height for box in layer) for layer in layers]
    middle = [0.0] * len(layers)
    y = float(MARGIN)
    for i in reversed(range(len(layers))):  # the last layer is the top one
        middle[i] = y + tall[i] / 2
        y += tall[i] + ROW_GAP
    height = y - ROW_GAP + MARGIN
    width = MARGIN + max(box.x + box.width / 2 for layer in layers for box in layer)

    edges, boxes = [], []
    for layer in layers:
        for box in layer:
            edges += _draw_edges(box, tall, middle)
            if box.name:
                boxes += _draw_box(box, middle[box.layer])
    parts = [
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0.5 L8 4 L0 7.5 L2 4 Z" fill="{EDGE_COLOUR}"/></marker></defs>',
        f'<g fill="none" stroke="{EDGE_COLOUR}" stroke-width="1.4">',
        *edges,
        "</g>",
        *boxes,
    ]
    return document(width, height, escape(title), parts, anchor="middle")


def _draw_edges(box: _Box, tall: list[float], middle: list[float]) -> list[str]:
    """Draw what runs into `box` from the layer above; through a bend the line goes straight down."""
    fan = min(22.0, (box.width - 2 * box.rounding) / len(box.inputs)) if box.inputs else 0.0
    top = middle[box.layer] - (box.height if box.name else tall[box.layer]) / 2
    lines = []
    for i, source in enumerate(sorted(box.inputs, key=lambda source: source.x)):
        start = middle[source.layer] + (source.height if source.name else tall[source.layer]) / 2
        end = box.x + (i - (len(box.inputs) - 1) / 2) * fan
        half = (start + top) / 2
        curve = f"M{source.x:.1f} {start:.1f}C{source.x:.1f} {half:.1f} {end:.1f} {half:.1f} {end:.1f} {top:.1f}"
        lines.append(
            f'<path d="{curve}" marker-end="url(#tip)"/>' if box.name else f'<path d="{curve}v{tall[box.layer]:.1f}"/>'
        )
    return lines


def _draw_box(box: _Box, middle: float) -> list[str]:
    fill, outline, text = box.colours
    lines = [
        f"<g><title>{escape(box.title)}</title>",
        f'<rect x="{box.x - box.width / 2:.1f}" y="{middle - box.height / 2:.1f}" width="{box.width:.1f}"'
        f' height="{box.height}" rx="{box.rounding}" fill="{fill}" stroke="{outline}" stroke-width="1.4"/>',
        f'<text x="{box.x:.1f}" y="{middle + (-2 if box.note else 4.5):.1f}" font-size="{NAME_SIZE}"'
        f' font-weight="600" fill="{text}">{escape(box.name)}</text>',
    ]
    if box.note:
        lines.append(
            f'<text x="{box.x:.1f}" y="{middle + 14:.1f}" font-size="{NOTE_SIZE}" fill="{NOTE_COLOUR}">'
            f"{escape(box.note)}</text>"
        )
    return [*lines, "</g>"]
