"""Nested state dicts as flat ones, whose keys are the paths to what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from retrograd._core import Tensor

__all__ = ["Shard"]


@dataclass(frozen=True)
class Shard:
    """A part of a tensor that processes hold together, for state dicts that are saved or loaded.

    Args: `tensor` the part that is here, `offset` where it begins in the whole, along each axis, and `shape` the sizes
    of the whole. The shards of all processes cover it without overlaps; equal ones count once.
    Raises: ValueError if the part is not inside of the whole.

    >>> rg.distributed.checkpoint.Shard(rg.ones(2, 3), offset=(2, 0), shape=(4, 3)).offset
    (2, 0)
    """

    tensor: Tensor
    offset: tuple[int, ...]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", tuple(self.offset))
        object.__setattr__(self, "shape", tuple(self.shape))
        sizes = tuple(self.tensor.shape)
        if not len(sizes) == len(self.offset) == len(self.shape) or not all(
            at >= 0 and at + size <= whole for at, size, whole in zip(self.offset, sizes, self.shape, strict=True)
        ):
            raise ValueError(f"Shard: a part of shape {sizes} at {self.offset} is not inside of {self.shape}")


# Steps of a path: a key that is a string is itself, an integer key has "#" before it, and a position in a list is in
# brackets. What a string has of the characters that say so is escaped.
_EMPTY = "~4"
_ESCAPES = (("~", "~0"), ("/", "~1"), ("#", "~2"), ("[", "~3"))


def _key(step: Any) -> str:
    if isinstance(step, bool) or not isinstance(step, int | str):
        raise TypeError(f"a checkpoint holds dicts whose keys are strings or integers, got the key {step!r}")
    if isinstance(step, int):
        return f"#{step}"
    if not step:
        return _EMPTY
    for plain, escaped in _ESCAPES:
        step = step.replace(plain, escaped)
    return str(step)


def _step(text: str) -> Any:
    if text.startswith("#"):
        return int(text[1:])
    if text == _EMPTY:
        return ""
    for plain, escaped in reversed(_ESCAPES):
        text = text.replace(escaped, plain)
    return text


def _children(value: Any) -> list[tuple[str, Any, Any]] | None:
    """The paths, keys and values inside a container that has any."""
    if isinstance(value, dict) and value:
        return [(_key(key), key, inner) for key, inner in value.items()]
    if isinstance(value, list) and value:
        return [(f"[{i}]", i, inner) for i, inner in enumerate(value)]
    return None


def flatten(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The paths and values of all in a dict that is no dict or list, or is an empty one."""
    for step, _, inner in _children(tree) or []:
        place = f"{path}/{step}" if path else step
        if _children(inner) is None:
            yield place, inner
        else:
            yield from flatten(inner, place)


def replace(tree: Any, values: dict[str, Any], path: str = "") -> None:
    """Put values at their paths, in dicts and lists that are there."""
    for step, key, inner in _children(tree) or []:
        place = f"{path}/{step}" if path else step
        if _children(inner) is not None:
            replace(inner, values, place)
        elif place in values:
            tree[key] = values[place]


def nest(flat: dict[str, Any]) -> Any:
    """The dicts and lists that `flatten` took apart.

    Raises: ValueError for paths that contradict each other.
    """
    if list(flat) == [""]:
        return flat[""]
    inside: dict[str, dict[str, Any]] = {}
    for path, value in flat.items():
        step, _, deeper = path.partition("/")
        inside.setdefault(step, {})[deeper] = value
    for step, inner in inside.items():
        if "" in inner and len(inner) > 1:
            raise ValueError(f"{step!r} is both a value and a container")
    if inside and all(step.startswith("[") for step in inside):
        return [nest(inside[step]) for step in _in_order(list(inside))]
    return {_step(step): nest(inner) for step, inner in inside.items()}


def _in_order(steps: Sequence[str]) -> list[str]:
    expected = [f"[{i}]" for i in range(len(steps))]
    if set(expected) != set(steps):
        raise ValueError(f"a list has the positions {', '.join(sorted(steps))}")
    return expected
