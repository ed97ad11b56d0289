"""Records of indexing, assignment, and gathering and scattering by index."""

from typing import Any

import numpy as np

from records.record import ALL, NUMBERS, Array, OpRecord, Refusal, Sample, given, index, mask, s, t

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


def scattered(x: Array, dim: int, at: Array, source: Array) -> Array:
    out = x.copy()
    for place in np.ndindex(at.shape):
        target = list(place)
        if at.ndim:
            target[dim] = at[place]
        out[tuple(target)] += source[place]
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


AT = index([[0, 2, 1], [1, 1, 0]])
BAD = index([[0, 3]])
NAMES = r"(?i)index|getitem|select"

RECORDS = [
    OpRecord(
        name="Tensor.__getitem__",
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
            Refusal(s(CUBE, 3), IndexError, r"3.*size 3", NAMES),
            Refusal(s(CUBE, (0, -5)), IndexError, r"-5.*size 4", NAMES),
            Refusal(s(CUBE, (0, 0, 0, 0)), IndexError, r"too many indices.*3", NAMES),
            Refusal(s(CUBE, slice(None, None, -1)), ValueError, r"step", NAMES),
            Refusal(s(t(), 0), IndexError, r"0-dim", NAMES),
            Refusal(s(CUBE, index([0, 3])), IndexError, r"3.*size 3", NAMES),
            Refusal(s(CUBE, mask([True, False])), IndexError, r"2.*3", NAMES),
            Refusal(s(CUBE, (PAIR, index([0, 1, 2]))), IndexError, r"broadcast", NAMES),
            Refusal(s(CUBE, given([0.0, 1.0], "float32")), IndexError, r"long|int64", NAMES),
            Refusal(s(CUBE, 1.5), (TypeError, IndexError), None, NAMES),
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
            Refusal(s(CUBE, 3, t(4, 5)), IndexError, r"3.*size 3", NAMES),
            Refusal(s(CUBE, 0, t(4, 4)), RuntimeError, r"4.*5", r"\(4, 4\).*\(4, 5\)|\(4, 5\).*\(4, 4\)"),
            Refusal(s(CUBE, ROWS, t(3, 4, 5)), RuntimeError, r"(?i)shape mismatch|broadcast", r".*"),
            Refusal(s(CUBE, index([0, 3]), 1), IndexError, r"3.*size 3", NAMES),
        ),
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
            s(t(), 0, index(0)),
        ),
        refuses=(
            Refusal(s(t(2, 3), 1, BAD), (RuntimeError, IndexError), r"3.*size 3"),
            Refusal(s(t(2, 3), 0, index([0])), RuntimeError, r"(?i)dim"),
            Refusal(s(t(2, 3), 0, t(2, 3)), RuntimeError, r"int64"),
            Refusal(s(t(2, 3), 2, AT), IndexError, r"-2.*1"),
            Refusal(s(t(2, 3), 0, index([[0, 0, 0, 0]])), RuntimeError, r"(?i)size.*4.*3|1, 4.*2, 3|smaller"),
        ),
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
            Refusal(s(t(2, 3), 0, AT, t(2, 3, dtype="float32")), RuntimeError, r"(?i)dtype"),
            Refusal(s(t(2, 3), 0, t(2, 3), t(2, 3)), RuntimeError, r"int64"),
        ),
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
    ),
]
