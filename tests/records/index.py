"""Records of indexing, assignment, and gathering and scattering by index."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import (
    ALL,
    FLOATS,
    NUMBERS,
    Array,
    Domain,
    OpRecord,
    Refusal,
    Sample,
    given,
    index,
    mask,
    s,
    t,
    ugly,
)

PAIR = index([0, -1])
GRID = index([[0, 2], [1, 1]])
ROWS = mask([True, False, True])
CELLS = mask([[True, False, True, False], [False] * 4, [True] * 4])
EVERY = slice(None)
# What goes between the brackets, for a tensor of shape (3, 4, 5) unless it says otherwise.
KEYS: tuple[Any, ...] = (
    0,
    -1,
    (1, 2),
    (0, -1, 2),
    EVERY,
    slice(1, None),
    slice(None, -1),
    slice(0, 3, 2),
    slice(3, 9),
    slice(2, 1),
    None,
    ...,
    (..., 0),
    (0, ...),
    (..., slice(1, 4, 2)),
    (None, 0, None),
    (EVERY, 1),
    (EVERY, None, slice(1, 3)),
    (),
    PAIR,
    GRID,
    (PAIR, PAIR),
    (EVERY, PAIR),
    (PAIR, EVERY, PAIR),
    (EVERY, PAIR, PAIR),
    (GRID, 0),
    (0, EVERY, PAIR),
    (PAIR, None),
    (..., PAIR),
    (slice(1, 3), PAIR),
    ROWS,
    CELLS,
    (ROWS, 1),
    (EVERY, mask([True, False, False, True])),
    (index([[0], [1]]), PAIR),
    index([0, 0, 0]),
    [0, 2],
    mask([False] * 3),
    given(np.zeros((0,), np.int64), "int64"),
)
CUBE = t(3, 4, 5)


def ints_first(x: Array, key: Any) -> tuple[Array, tuple[Any, ...]]:
    """Apply the integers of a key, which select and drop an axis; NumPy would broadcast them with the index arrays."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if not any(isinstance(k, np.ndarray) for k in keys):
        return x, tuple(keys)
    used = sum(
        k.ndim if isinstance(k, np.ndarray) and k.dtype == bool else 1 for k in keys if k is not None and k is not ...
    )
    if any(k is ... for k in keys):
        at = next(i for i, k in enumerate(keys) if k is ...)
        keys[at : at + 1] = [EVERY] * (x.ndim - used)
    axis, rest = 0, []
    for k in keys:
        if isinstance(k, int):
            x = x.take(k, axis=axis)
            continue
        rest.append(k)
        axis += 0 if k is None else k.ndim if isinstance(k, np.ndarray) and k.dtype == bool else 1
    return x, tuple(rest)


def getitem(x: Array, key: Any) -> Array:
    x, key = ints_first(x, key)
    return np.asarray(x[key])


def setitem(x: Array, key: Any, value: Any) -> Array:
    """Assign through a table of positions, so that it rests on `getitem` alone."""
    at = getitem(np.arange(x.size).reshape(x.shape), key)
    out = x.copy().reshape(-1)
    out[at.reshape(-1)] = np.broadcast_to(value, at.shape).reshape(-1)
    return out.reshape(x.shape)


def set_in_copy(_: Any, x: Any, key: Any, value: Any) -> Any:
    x = x.clone()
    x[key] = value
    return x


def scattered(x: Array, dim: int, at: Array, source: Any, combine: Callable[..., Any] = operator.add) -> Array:
    out, source = x.copy(), np.broadcast_to(source, at.shape) if np.ndim(source) == 0 else source
    for place in np.ndindex(at.shape):
        target = list(place)
        if at.ndim:
            target[dim] = at[place]
        out[tuple(target)] = combine(out[tuple(target)], source[place])
    return out


def gathered(x: Array, dim: int, at: Array) -> Array:
    out = np.zeros(at.shape, x.dtype)
    for place in np.ndindex(at.shape):
        source = list(place)
        if at.ndim:
            source[dim] = at[place]
        out[place] = x[tuple(source)]
    return out


def assignments() -> tuple[Sample, ...]:
    tensors = (
        (0, t(4, 5)),
        (0, t(5)),
        (EVERY, t(3, 4, 5)),
        (..., t()),
        (slice(0, 3, 2), t(2, 4, 5)),
        ((EVERY, 1), t(3, 5)),
        ((0, 1, 2), t()),
        (PAIR, t(2, 4, 5)),
        ((EVERY, PAIR), t(3, 2, 5)),
        ((PAIR, EVERY, PAIR), t(2, 4)),
        (ROWS, t(2, 1, 5)),
        (CELLS, t(6, 5)),
        ((ROWS, 1), t(2, 5)),
        (slice(2, 1), t()),
        ((None, 1), t(1, 4, 5)),
        ((0, EVERY, PAIR), t(4, 2)),
    )
    numbers = ((0, 7), (ROWS, 3), ((..., slice(1, 3)), 2), (PAIR, 1))
    return (*(s(CUBE, key, value) for key, value in (*tensors, *numbers)), s(t(3), mask([True, False, True]), 2))


def written(combine: Callable[..., Any]) -> Callable[..., Any]:
    """The reference of index_add and index_copy: slice by slice."""

    def reference(x: Array, dim: int, at: Array, source: Array, alpha: Any = 1) -> Array:
        out = np.atleast_1d(x).copy()
        slices, target = np.moveaxis(np.atleast_1d(source), dim, 0), np.moveaxis(out, dim, 0)
        for k, place in enumerate(np.atleast_1d(at)):
            target[place] = combine(target[place], slices[k] * out.dtype.type(alpha))
        return out.reshape(x.shape)

    return reference


def index_filled(x: Array, dim: int, at: Array, value: Any) -> Array:
    out = np.atleast_1d(x).copy()
    np.moveaxis(out, dim, 0)[at] = value
    return out.reshape(x.shape)


AT = index([[0, 2, 1], [1, 1, 0]])
BAD = index([[0, 3]])


def first_positions(x: Array, size: int, fill_value: int = -1) -> Array:
    found = np.argwhere(x) if x.ndim else np.empty((0, 0), np.int64)
    rows = np.full((size, x.ndim), fill_value)
    rows[: len(found)] = found[:size]
    return rows


RECORDS = [
    OpRecord(
        name="Tensor.__getitem__",
        complex=True,
        halves=0,
        called="index",
        reference=getitem,
        dtypes=ALL,
        method=False,
        samples=(
            *(s(CUBE, key) for key in KEYS),
            s(t(), ...),
            s(t(), None),
            s(t(0, 3), slice(0, 2)),
            s(t(33), slice(1, 32, 2)),
            s(t(3), mask([True, True, False])),
            s(t(), mask(True)),
        ),
        refuses=(
            Refusal(s(CUBE, 3), IndexError, r"3.*size 3"),
            Refusal(s(CUBE, (0, -5)), IndexError, r"-5.*size 4"),
            Refusal(s(CUBE, (0, 0, 0, 0)), IndexError, r"too many indices.*3"),
            Refusal(s(CUBE, slice(None, None, -1)), ValueError, r"step"),
            Refusal(s(t(), 0), IndexError, r"0-dim"),
            Refusal(s(CUBE, index([0, 3])), IndexError, r"3.*size 3"),
            Refusal(s(CUBE, mask([True, False])), IndexError, r"2.*3"),
            Refusal(s(CUBE, (PAIR, index([0, 1, 2]))), IndexError, r"broadcast"),
            Refusal(s(CUBE, given([0.0, 1.0], "float32")), IndexError, r"long|int64"),
            Refusal(s(CUBE, 1.5), (TypeError, IndexError), None, r"float"),
        ),
    ),
    OpRecord(
        name="Tensor.__setitem__",
        reference=setitem,
        call=set_in_copy,
        dtypes=ALL,
        method=False,
        samples=assignments(),
        refuses=(
            Refusal(s(CUBE, 3, t(4, 5)), IndexError, r"3.*size 3"),
            Refusal(s(CUBE, 0, t(4, 4)), RuntimeError, r"4.*5", r"\[4, 5\].*\[4, 4\]"),
            Refusal(s(CUBE, ROWS, t(3, 4, 5)), RuntimeError, r"(?i)shape mismatch|broadcast"),
            Refusal(s(CUBE, index([0, 3]), 1), IndexError, r"3.*size 3"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="index_select",
        reference=lambda x, dim, at: x.take(at, axis=dim) if x.ndim else x,
        dtypes=ALL,
        out=True,
        samples=(
            s(t(3, 4), 0, index([2, 0, 0])),
            s(t(3, 4), -1, index([3, 1])),
            s(t(2, 3, 5), 1, index([1])),
            s(t(3, 4), 0, given(np.zeros(0), "int64")),
            s(t(33, 3), 0, index([32, 0, 16, 16])),
            s(t(3, 4), 1, given([1, 1, 0], "int32")),
        ),
        refuses=(
            Refusal(s(t(3, 4), 0, index([3])), IndexError, r"(?i)index out of range"),
            Refusal(s(t(3, 4), 2, index([0])), IndexError, r"-2.*1"),
            Refusal(s(t(3, 4), 0, index([[0]])), IndexError, r"(?i)vector|1-d|dim"),
            Refusal(s(t(3, 4), 0, given([0.0], "float32")), (RuntimeError, IndexError), r"(?i)int"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="gather",
        reference=gathered,
        dtypes=ALL,
        out=True,
        samples=(
            s(t(3, 4), 0, AT),
            s(t(3, 4), 1, AT),
            s(t(3, 4), -1, index([[0], [3], [3]])),
            s(t(5), 0, index([4, 4, 0])),
            s(t(3, 4), 1, given(np.zeros((3, 0)), "int64")),
            s(t(3, 4), 0, given(np.zeros((0, 4)), "uint8")),
            s(t(), 0, index(0)),
        ),
        refuses=(
            Refusal(s(t(2, 3), 1, BAD), (RuntimeError, IndexError), r"3.*size 3"),
            Refusal(s(t(2, 3), 0, index([0])), RuntimeError, r"(?i)dim"),
            Refusal(s(t(2, 3), 0, t(2, 3)), RuntimeError, r"int64", r"float64"),
            Refusal(s(t(2, 3), 0, given([[0]], "uint8")), RuntimeError, r"int64", r"uint8"),
            Refusal(s(t(2, 3), 2, AT), IndexError, r"-2.*1"),
            Refusal(s(t(2, 3), 0, index([[0, 0, 0, 0]])), RuntimeError, r"(?i)size.*4.*3|1, 4.*2, 3|smaller"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="scatter_add",
        reference=scattered,
        dtypes=NUMBERS,
        inplace=True,
        out=True,
        samples=(
            s(t(3, 4), 0, AT, t(2, 3)),
            s(t(3, 4), 1, AT, t(2, 3)),
            s(t(5), 0, index([4, 4, 0, 4]), t(4)),
            s(t(3, 4), -1, index([[0], [3], [3]]), t(3, 1)),
            s(t(3), 0, given(np.zeros(0), "int64"), t(0)),
        ),
        refuses=(
            Refusal(s(t(2, 3), 1, BAD, t(2, 3)), (RuntimeError, IndexError), r"3.*size 3", inplace=True, sound=False),
            Refusal(s(t(2, 3), 1, BAD, t(2, 3)), (RuntimeError, IndexError), r"3.*size 3"),
            Refusal(s(t(2, 3), 0, index([0]), t(1)), RuntimeError, r"(?i)dim"),
            Refusal(s(t(2, 3), 0, AT, t(2, 3, dtype="float32")), RuntimeError, r"(?i)dtype", r"float64.*float32"),
            Refusal(s(t(2, 3), 0, t(2, 3), t(2, 3)), RuntimeError, r"int64"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="scatter",
        reference=lambda x, dim, at, source: scattered(x, dim, at, source, lambda _, new: new),
        dtypes=ALL,
        inplace=True,
        out=True,
        samples=(
            s(t(3, 4), 0, AT, t(2, 3)),
            s(t(3, 4), 1, AT, t(2, 3)).but(smooth=False),  # one place is written twice, and the last stays
            s(t(3, 4), -1, index([[0], [3], [3]]), t(3, 2, grad=False)),
            s(t(5), 0, index([4, 0]), 1),
            s(t(3, 4), 0, AT, 0.5).but(dtypes=FLOATS),
            s(t(33), 0, index([32, 0, 16]), t(3)),
            s(t(3), 0, given([2, 0], "int32"), t(2)),
            s(t(3), 0, given(np.zeros(0), "int64"), t(0)),
            s(t(), 0, index(0), t()),
        ),
        refuses=(
            Refusal(s(t(2, 3), 1, BAD, t(2, 3)), (RuntimeError, IndexError), r"3.*size 3", inplace=True, sound=False),
            Refusal(s(t(2, 3), 1, BAD, 1.0), (RuntimeError, IndexError), r"3.*size 3"),
            Refusal(s(t(2, 3), 0, index([0]), t(1)), RuntimeError, r"(?i)dim"),
            Refusal(s(t(2, 3), 0, index([[0, 1]]), t(1, 1)), RuntimeError, r"(?s)1, 2.*1, 1"),
            Refusal(s(t(3, 3), 0, AT, t(2, 3, dtype="float32")), RuntimeError, r"(?i)dtype", r"float64.*float32"),
            Refusal(s(t(2, 3), 0, t(2, 3), t(2, 3)), RuntimeError, r"int64"),
            Refusal(s(t(2, 3), 2, AT, 1.0), IndexError, r"-2.*1"),
            Refusal(s(t(3), 0, index([0]), "x"), TypeError),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="index_add",
        reference=written(operator.add),
        dtypes=NUMBERS,
        inplace=True,
        out=True,
        samples=(
            s(t(3, 4), 0, index([2, 0, 2]), t(3, 4)),
            s(t(3, 4), -1, index([1, 1]), t(3, 2)),
            s(t(3, 4), 1, index([1, 3]), t(3, 2), alpha=2),
            s(t(3, 4), 1, index([1, 3]), t(3, 2), alpha=-0.5).but(dtypes=FLOATS),
            s(t(2, 3, 5), 1, given([1, 0], "int32"), t(2, 2, 5)),
            s(t(3, 4), 1, index(2), t(3, 1)),
            s(t(3, 4), 0, given(np.zeros(0), "int64"), t(0, 4)),
            s(t(), 0, index([0]), t()),
            s(t(33), 0, index([32, 0, 16, 0]), t(4)),
            s(t(33, 17), 0, index([32, 0]), t(2, 17)),
        ),
        refuses=(
            Refusal(s(t(2, 3), 1, index([3]), t(2, 1)), (RuntimeError, IndexError), r"3.*size 3"),
            Refusal(s(t(2, 3), 1, index([-1]), t(2, 1)), RuntimeError, r"-1.*size 3", inplace=True, sound=False),
            Refusal(s(t(2, 3), 1, index([0, 1]), t(2, 1)), RuntimeError, r"indices \(2\).*\(1\), for dim: 1"),
            Refusal(s(t(2, 3), 1, index([0]), t(1, 1)), RuntimeError, r"\[2, 3\].*\[1, 1\]"),
            Refusal(s(t(2, 3), 1, index([[0]]), t(2, 1)), IndexError, r"vector"),
            Refusal(s(t(2, 3), 1, index([0]), t(2, 1, dtype="float32")), RuntimeError, r"type", r"float64.*float32"),
            Refusal(s(t(2, 3), 1, t(1), t(2, 1)), RuntimeError, r"int32/int64", r"float64"),
            Refusal(s(t(2, 3), 2, index([0]), t(2, 1)), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="index_copy",
        reference=written(lambda _, new: new),
        dtypes=ALL,
        inplace=True,
        out=True,
        samples=(
            s(t(3, 4), 0, index([2, 0]), t(2, 4)),
            s(t(3, 4), -1, index([1, 3, 0]), t(3, 3)),
            s(t(2, 3, 5), 1, index([1]), t(2, 1, 5)),
            s(t(3, 4), 1, index([1, 1]), t(3, 2)).but(smooth=False),  # written twice, the last stays
            s(t(3), 0, index(1), t()),
            s(t(), 0, index([0]), t(1)),
            s(t(3, 4), 0, given(np.zeros(0), "int64"), t(0, 4)),
            s(t(33), 0, index([32, 0, 16]), t(3)),
        ),
        refuses=(
            Refusal(s(t(2, 3), 1, index([3]), t(2, 1)), IndexError, r"3.*size 3"),
            Refusal(s(t(2, 3), 1, index([-1]), t(2, 1)), IndexError, r"-1.*size 3", inplace=True),
            Refusal(s(t(2, 3), 1, index([0, 1]), t(2, 1)), IndexError, r"indices \(2\).*\(1\)"),
            Refusal(s(t(2, 3), 1, index([0]), t(1, 1)), RuntimeError, r"same slice shapes"),
            Refusal(s(t(2, 3), 1, index([0]), t(2)), IndexError, r"\(1\).*\(2\)"),
            Refusal(s(t(2, 3), 1, index([[0]]), t(2, 1)), IndexError, r"dimension 1 or 0"),
            Refusal(s(t(2, 3), 1, index([0]), t(2, 1, dtype="float32")), RuntimeError, r"dtype", r"float64.*float32"),
            Refusal(s(t(2, 3), 1, given([0], "int32"), t(2, 1)), RuntimeError, r"long", r"int32"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="index_fill",
        reference=index_filled,
        dtypes=ALL,
        inplace=True,
        samples=(
            s(t(3, 4), 0, index([2, 0]), 1),
            s(t(3, 4), -1, index([1, 3, 0]), t()),
            # PyTorch has no derivative for a value at indices from the end.
            s(t(3, 4), -1, index([-1, 0]), t(grad=False)),
            s(t(3, 4), 1, index([1, 1]), 0.5).but(dtypes=FLOATS),
            s(t(3, 4), 1, index([3, 1, 1, 3]), t()),
            s(t(3, 4), 0, given(np.zeros(0), "int64"), 1),
            s(t(), 0, index([0]), 1),
            s(t(3), 0, index(-2), 1),
            s(t(33, 17), 0, index([32, 0, 16]), t()),
        ),
        refuses=(
            Refusal(s(t(2, 3), 1, index([3]), 1), IndexError, r"3.*size 3", inplace=True),
            Refusal(s(t(2, 3), 1, index([-4]), t()), IndexError, r"-4.*size 3"),
            Refusal(s(t(2, 3), 1, index([[0]]), 1), RuntimeError, r"vector/scalar", r"1, 1"),
            Refusal(s(t(2, 3), 1, given([0], "int32"), 1), IndexError, r"int64"),
            Refusal(s(t(2, 3), 1, index([0]), t(1)), RuntimeError, r"0-dim.*1"),
            Refusal(s(t(2, 3), 1, index([0]), 1j), RuntimeError, r"(?i)complex"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="masked_select",
        reference=lambda x, m: np.broadcast_to(x, (both := np.broadcast_shapes(x.shape, m.shape)))[
            np.broadcast_to(m, both)
        ],
        dtypes=ALL,
        out=True,
        samples=(
            s(t(3, 4), CELLS),
            s(t(3, 4), mask([True, False, False, True])),
            s(t(4), CELLS),
            s(t(), mask(True)),
            s(t(2, 3), mask(False)),
            s(t(0, 3), mask([True, False, True])),
            *(s(t(n), t(n, dtype="bool")) for n in (1, 7, 16, 33)),
        ),
        refuses=(
            Refusal(s(t(3, 4), ROWS), RuntimeError, r"4.*3|3.*4", r"\(3, 4\).*\(3,\)"),
            Refusal(s(t(3), t(3)), RuntimeError, r"(?i)bool"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nonzero_static",
        reference=first_positions,
        domain=Domain(ints=(0, 2)),
        dtypes=ALL,
        complex=True,
        halves=0,
        result="int64",
        differentiable=False,
        out=True,
        samples=(
            s(t(3, 4), size=5),
            s(t(3, 4), size=20, fill_value=7),
            s(t(2, 3, 4), size=3),
            s(t(), size=2),
            s(t(0, 3), size=2),
            s(t(17), size=0),
        ),
        refuses=(Refusal(s(t(3), size=-1), RuntimeError, r"'size' must be an non-negative integer"),),
    ),
    OpRecord(
        name="nonzero",
        complex=True,
        halves=0,
        reads=True,
        reference=lambda x, as_tuple=False: np.nonzero(np.atleast_1d(x)) if as_tuple else np.argwhere(x),
        domain=Domain(ints=(0, 2)),
        dtypes=ALL,
        result="int64",
        differentiable=False,
        out=False,
        samples=(
            s(t(3, 4)),
            s(t(3, 4), as_tuple=False),
            s(t(3, 4), as_tuple=True).but(result=("int64",) * 2),
            s(t(2, 3, 4)),
            s(t()),
            s(mask(False)),
            s(t(), as_tuple=True).but(result=("int64",)),
            s(t(0, 3)),
            s(given([0.0, -0.0, np.nan, 2.0])).but(dtypes=FLOATS),
            s(mask([[True, False], [True, True]]), as_tuple=True).but(result=("int64",) * 2),
            *ugly(1),
        ),
        refuses=(Refusal(s(t(3), as_tuple=1), TypeError), Refusal(s(t(3), True), TypeError)),
    ),
    OpRecord(
        name="masked_fill",
        reference=lambda x, m, value: np.where(m, value, x),
        dtypes=ALL,
        inplace=True,
        samples=(
            s(t(3, 4), CELLS, 2),
            s(t(3, 4), mask([True, False, False, True]), t()),
            s(t(2, 3, 4), t(3, 1, dtype="bool"), 1),
            s(t(), mask(True), 3),
            s(t(0, 3), mask([True, False, True]), 1),
            s(t(4), t(3, 4, dtype="bool"), t()),
            *(s(t(n), t(n, dtype="bool"), 1) for n in (7, 16, 33)),
        ),
        refuses=(
            Refusal(s(t(3, 4), ROWS, 1), RuntimeError, r"4.*3|3.*4"),
            Refusal(s(t(3), t(3), 1), RuntimeError, r"(?i)bool"),
            Refusal(s(t(3), ROWS, t(3)), RuntimeError, r"0-dim"),
        ),
        complex=True,
        halves=0,
    ),
]
