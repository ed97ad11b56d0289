"""The arguments of events, listed as torch's schemas list them, and the FLOPs that follow from their sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from retrograd.autograd._profiler.op_parameters import OVERLOADS

# What a session notes of an argument: its name; sizes, strides and dtype of a tensor; the value of what is none.
Noted = tuple[str, list[int] | None, list[int] | None, str | None, Any]


class Arguments(NamedTuple):
    """The arguments of an event, each at its place in the list of parameters.

    `shapes` and `strides` have a list for a tensor and an empty one for all else, `dtypes` a name, "Scalar" for a
    number, or "", and `values` what is no tensor, None for tensors and what cannot be shown.
    """

    shapes: list[Any]
    strides: list[Any]
    dtypes: list[str]
    values: list[Any]


# What ours are called where torch has another name.
_TORCH_NAMES = {"input": "self", "input2": "mat2"}


def arguments(name: str, noted: Sequence[Noted]) -> Arguments:
    """The noted arguments of the op `name` (as torch calls it, without `aten::`), in the order of torch's schema.

    The overload is the shortest one that has all arguments that say something: tensors, and values other than None and
    False. Arguments without names come first. Those of what is no op of torch are listed as they are.

    >>> from retrograd.autograd._profiler.arguments import arguments
    >>> noted = [("input", [3, 4], [4, 1], "float32", None), ("dim", None, None, None, [1])]
    >>> arguments("sum", noted)[0::3]
    ([[3, 4], [], [], []], [None, [1], None, None])
    """
    overloads = OVERLOADS.get(name)
    if overloads is None:
        return _listed(noted)
    operands = [n for n in noted if not n[0]]  # the first ones, in their order
    by_name = {_TORCH_NAMES.get(n[0], n[0]): n for n in noted if n[0]}
    best: list[str] = []
    chosen: dict[str, Noted] = {}
    most = -1
    for overload in overloads:
        names = overload.split(" ")
        own = {**dict(zip(names, operands, strict=False)), **by_name}
        if "self" in own and "self" not in names:  # torch's functions of layers have an `input` too
            own["input"] = own.pop("self")
        said = [n for n, (_, sizes, _, _, value) in own.items() if sizes is not None or _says_something(value)]
        found = sum(n in names for n in said)
        if found > most:
            best, most, chosen = names, found, own
    return _listed([chosen.get(n, (n, None, None, None, None)) for n in best])


def _says_something(value: Any) -> bool:
    return value is not None and value is not False


def _listed(noted: Sequence[Noted]) -> Arguments:
    return Arguments(
        [n[1] or [] for n in noted],
        [n[2] or [] for n in noted],
        [n[3] or ("Scalar" if isinstance(n[4], bool | int | float | complex) else "") for n in noted],
        [n[4] for n in noted],
    )


def flops(name: str, given: Arguments) -> int:
    """The floating point operations of the op `name`; 0 where they are not known.

    Products of matrices: 2 m k n, times the batch. `conv2d`: 2 per element of the result, channel of a group and
    element of the kernel. `add` and `mul`: 1 per element of the result.

    >>> from retrograd.autograd._profiler.arguments import Arguments, flops
    >>> flops("mm", Arguments([[30, 40], [40, 50]], [], [], []))
    120000
    """
    shapes = given.shapes
    if name in ("mm", "bmm"):
        return _product(shapes[0], shapes[1])
    if name in ("addmm", "baddbmm"):
        return _product(shapes[1], shapes[2])
    if name in ("add", "mul"):
        return math.prod(_broadcast(shapes[0], shapes[1]))
    if name == "conv2d":
        return _conv2d(given)
    return 0


def _product(a: list[int], b: list[int]) -> int:
    return 2 * math.prod(a) * b[-1] if a and b else 0


def _broadcast(a: list[int], b: list[int]) -> list[int]:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    shorter = [1] * (len(longer) - len(shorter)) + shorter
    return [m if n == 1 else n for n, m in zip(longer, shorter, strict=True)]


def _conv2d(given: Arguments) -> int:
    (image, weight), (stride, padding, dilation, groups) = given.shapes[:2], given.values[3:7]
    if len(image) < 3 or len(weight) != 4:
        return 0
    batch = math.prod(image[:-3])
    result = batch * weight[0]
    for axis in (0, 1):
        size, kernel = image[axis - 2], weight[axis + 2]
        reach = _of_axis(dilation, axis, 1) * (kernel - 1)
        if padding == "same":
            result *= size
            continue
        around = 0 if padding == "valid" else 2 * _of_axis(padding, axis, 0)
        result *= max(0, (size + around - reach - 1) // _of_axis(stride, axis, 1) + 1)
    return int(2 * result * (image[-3] // (groups or 1)) * weight[2] * weight[3])


def _of_axis(given: Any, axis: int, default: int) -> int:
    """What a number for both axes, or a list of one for each, says of an axis."""
    if given is None:
        return default
    return int(given[min(axis, len(given) - 1)] if isinstance(given, list | tuple) else given)
