"""What there is to know of a graph without unpacking what it saved: tuples of the extension, with names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple

from retrograd import Size, Tensor, _core, dtype
from retrograd.autograd.graph import GradientEdge, Node


class Held(NamedTuple):
    """A tensor."""

    id: int
    handles: int  # references of the core to it; its Python object has one of them
    own_bytes: int  # without its elements
    memory: int  # a number that tensors over the same memory have in common
    storage_bytes: int
    sharers: int  # how many tensors are over the storage
    is_foreign: bool  # another library has the memory
    sizes: Size
    dtype: dtype
    requires_grad: bool
    is_number: bool  # it stands for a Python number
    version: int
    written: int  # the place of the last write in place
    base: Held | None


class Saved(NamedTuple):
    """A slot of a node for a saved tensor."""

    name: str
    tensor: Held | None  # None if a hook has it
    output: int | None  # which output of the node it is, if it is one


class Facts(NamedTuple):
    """A node."""

    id: int
    name: str
    own_bytes: int  # without what it saved
    place: int
    outputs: tuple[tuple[Size, dtype], ...]
    edges: tuple[tuple[int, int] | None, ...]  # to a node's output or a leaf, by id
    saved: tuple[Saved, ...]
    freed: bool


class Place(NamedTuple):
    """A line of a program."""

    file: str
    line: int
    function: str
    text: str | None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, in {self.function}" + (f": {self.text}" if self.text else "")

    @property
    def short(self) -> str:
        """The line without the folders, for pictures and tables."""
        return f"{PurePath(self.file).name}:{self.line}"

    @property
    def title(self) -> str:
        """What a pointer over something made at the line shows."""
        return "\n".join(filter(None, [f"{self.short}, in {self.function}", self.text]))


def _held(raw: tuple[Any, ...]) -> Held:
    flat = Held(*raw)
    return flat if flat.base is None else flat._replace(base=_held(flat.base))


def held(tensor: Tensor) -> Held:
    return _held(_core._tensor_facts(tensor))


def facts_of(roots: Iterable[Tensor | Node | GradientEdge]) -> tuple[list[Facts], list[Held]]:
    """The nodes that the roots lead to, each before those that it leads to, and the leaves."""
    nodes, leaves = _core._graph_facts([root.node if isinstance(root, GradientEdge) else root for root in roots])
    return [_facts(raw) for raw in nodes], [_held(raw) for raw in leaves]


def _facts(raw: tuple[Any, ...]) -> Facts:
    flat = Facts(*raw)
    return flat._replace(saved=tuple(Saved(name, t and _held(t), output) for name, t, output in flat.saved))


@lru_cache(maxsize=4096)
def _known_place(number: int) -> Place | None:
    found = _core._place(number)
    return None if found is None else Place(*found)


def place(number: int) -> Place | None:
    """The line that a number stands for; None if it is not known."""
    return _known_place(number) if number else None


def sizes_and_dtype(sizes: Iterable[int], dtype: dtype) -> str:
    return f"{str(dtype).rpartition('.')[2]} {tuple(sizes)}"
