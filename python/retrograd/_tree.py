"""Trees: tuples, named tuples, lists and dicts, nested to any depth. All else is a leaf, None included.

The shape of a tree is a nested tuple: `None` for a leaf, `(type, keys, shapes)` for a node, where `keys` are those of a
dict. Shapes compare with `==`; a tuple, a list and a named tuple are of different shape.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from retrograd._core import Tensor

Shape: TypeAlias = tuple[type, tuple[Any, ...] | None, tuple["Shape", ...]] | None

_DICTS = (dict, OrderedDict)


def _children(tree: Any) -> tuple[tuple[Any, ...] | None, Sequence[Any]] | None:
    """The keys, if it is a dict, and the branches of a node; None for a leaf."""
    kind = type(tree)
    if kind is tuple or kind is list or (isinstance(tree, tuple) and hasattr(kind, "_fields")):
        return None, tree
    if kind in _DICTS:
        return tuple(tree), tuple(tree.values())
    return None


def flatten(tree: Any) -> tuple[list[Any], Shape]:
    """The leaves of a tree from left to right, and its shape."""
    if isinstance(tree, Tensor):
        return [tree], None
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves)


def _collect(tree: Any, leaves: list[Any]) -> Shape:
    node = _children(tree)
    if node is None:
        leaves.append(tree)
        return None
    keys, branches = node
    return type(tree), keys, tuple([_collect(branch, leaves) for branch in branches])


def unflatten(leaves: Sequence[Any], shape: Shape) -> Any:
    """The tree of this shape with these leaves."""
    return leaves[0] if shape is None else _build(iter(leaves), shape)


def _build(leaves: Iterator[Any], shape: Shape) -> Any:
    if shape is None:
        return next(leaves)
    kind, keys, shapes = shape
    branches = [_build(leaves, s) for s in shapes]
    if keys is not None:
        return kind(zip(keys, branches, strict=True))
    return kind(*branches) if hasattr(kind, "_make") else kind(branches)


def broadcast_prefix(prefix: Any, shape: Shape) -> list[Any] | None:
    """A leaf of `prefix` for each leaf of a tree of this shape: one that ends early is used for all leaves below.

    None if the shapes do not agree. A dict may be of another kind and order than that of the tree.
    """
    found: list[Any] = []
    return found if _broadcast_prefix(prefix, shape, found) else None


def _broadcast_prefix(prefix: Any, shape: Shape, found: list[Any]) -> bool:
    node = _children(prefix)
    if node is None:
        found.extend([prefix] * count(shape))
        return True
    if shape is None:
        return False
    keys, branches = node
    kind, names, shapes = shape
    if len(branches) != len(shapes) or (keys is None) != (names is None):
        return False
    if keys is not None and names is not None:
        if set(keys) != set(names):
            return False
        branches = [prefix[name] for name in names]
    elif type(prefix) is not kind:
        return False
    return all(_broadcast_prefix(branch, s, found) for branch, s in zip(branches, shapes, strict=True))


def count(shape: Shape) -> int:
    """How many leaves a tree of this shape has."""
    return 1 if shape is None else sum([count(s) for s in shape[2]])


def describe(shape: Shape) -> str:
    """The shape as it would be written, with a star for each leaf."""
    if shape is None:
        return "*"
    kind, keys, shapes = shape
    parts = [describe(s) for s in shapes]
    if keys is not None:
        inside = ", ".join(f"{key!r}: {part}" for key, part in zip(keys, parts, strict=True))
        return f"{{{inside}}}" if kind is dict else f"{kind.__name__}({{{inside}}})"
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is tuple:
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    return f"{kind.__name__}({', '.join(parts)})"
