"""Records of reading and writing at flat positions, along indices with broadcasting, and where masks are true."""

from typing import Any

import numpy as np

from records.record import ALL, DISTINCT, FLOATS, NUMBERS, Array, Edge, OpRecord, Refusal, given, index, mask, s, t

AT = index([[0, 2, 1], [1, 1, 0]])
LAST = index([5, -1, 5, 0])
ONCE = index([[1, -1], [0, 4]])


def putting(x: Array, at: Array, source: Array, accumulate: bool = False) -> Any:
    y = x.copy().reshape(-1)
    (np.add.at if accumulate else np.put)(y, at.reshape(-1), source.reshape(-1))
    return y.reshape(x.shape)


def taken_along(x: Array, at: Array, dim: int | None = None) -> Any:
    if dim is None:
        return x.reshape(-1)[at.reshape(-1)]
    dim %= x.ndim
    sizes = np.broadcast_shapes(*(tuple(1 if d == dim else n for d, n in enumerate(v.shape)) for v in (x, at)))
    wide = [np.broadcast_to(v, (*sizes[:dim], v.shape[dim], *sizes[dim + 1 :])) for v in (x, at)]
    return np.take_along_axis(*wide, axis=dim)


def filled_from(x: Array, where: Array, source: Array) -> Any:
    x, where = (v.copy() for v in np.broadcast_arrays(x, where))
    x[where] = source.reshape(-1)[: where.sum()]
    return x


def reduced(x: Array, dim: int, at: Array, src: Array, reduce: str, include_self: bool = True) -> Any:
    y = np.empty(x.shape, object)
    for where in np.ndindex(x.shape):
        y[where] = [x[where]] if include_self else []
    for where in np.ndindex(at.shape):
        place = list(where)
        if place:
            place[dim] = at[where]
        y[tuple(place)].append(src[where])
    result = x.copy()
    whole = x.dtype.kind in "iu"
    fold = {
        "sum": np.sum,
        "prod": np.prod,
        "amax": np.max,
        "amin": np.min,
        "mean": lambda v: np.sum(v) // len(v) if whole else np.mean(v),
    }[reduce]
    for where in np.ndindex(x.shape):
        if y[where]:
            result[where] = fold(np.array(y[where]))
    return result


def at_indices(x: Array, indices: Any, values: Array, accumulate: bool = False) -> Any:
    y = x.copy()
    if accumulate:
        np.add.at(y, tuple(indices), values)
    else:
        y[tuple(indices)] = values
    return y


RECORDS = [
    OpRecord(
        name="take",
        reference=lambda x, at: x.reshape(-1)[at],
        dtypes=ALL,
        out=True,
        samples=(
            s(t(2, 3), LAST),
            s(t(6), AT),
            s(t(), index([0, 0])),
            s(t(3), given(np.zeros(0), "int64")),
            s(t(33), LAST),
        ),
        refuses=(
            Refusal(s(t(3), index([3])), IndexError, r"(?i)out of"),
            Refusal(s(t(3), t(2)), RuntimeError, r"(?i)long"),
            Refusal(s(t(0), index([0])), IndexError, r"empty"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="put",
        reference=putting,
        dtypes=NUMBERS,
        inplace=True,
        samples=(
            s(t(2, 3), ONCE, t(2, 2)),
            s(t(2, 3), LAST, t(4), True),
            s(t(9), ONCE, t(4)),
            s(t(2), given(np.zeros(0), "int64"), t(0)),
            s(t(), index([0]), t(1)),
        ),
        refuses=(
            Refusal(s(t(3), index([3]), t(1)), IndexError, r"(?i)out of"),
            Refusal(s(t(3), index([0]), t(2)), IndexError, r"same number of elements"),
            Refusal(s(t(3), index([0]), t(1, dtype="float32")), RuntimeError, r"same dtype"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="take_along_dim",
        reference=taken_along,
        dtypes=ALL,
        out=True,
        samples=(
            s(t(3, 4), index([[0, 2, 1, 1]]), 0),
            s(t(3, 4), index([[1], [-4], [3]]), 1),
            s(t(1, 4), AT, -1),
            s(t(3, 4), index([[1, 0]]), 1),
            s(t(2, 3), index([5, 1, 5, 0])).but(layouts=()),
        ),
        refuses=(
            Refusal(s(t(3, 4), index([0]), 0), RuntimeError, r"number of dimensions"),
            Refusal(s(t(3, 4), given([[0]], "int32"), 0), RuntimeError, r"Long"),
            Refusal(s(t(3, 4), index([[0]]), 2), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="index_put",
        reference=at_indices,
        dtypes=NUMBERS,
        inplace=True,
        samples=(
            s(t(3, 4), (index([0, 2]),), t(2, 4)),
            s(t(3, 4), (index([0, 2]), index([1, 1])), t(2)),
            s(t(3, 4), (index([0, 0]), index([1, 1])), t(), True),
        ),
        refuses=(
            Refusal(s(t(3), (index([3]),), t(1)), IndexError, r"3"),
            Refusal(s(t(3), (index([0]),), t(2)), RuntimeError, r"(?i)shape"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="argwhere",
        complex=True,
        halves=0,
        reference=np.argwhere,
        dtypes=ALL,
        result="int64",
        differentiable=False,
        reads=True,
        samples=(s(t(3, 4)), s(t(0, 2)), s(t(33))),
        refuses=(Refusal(s(1.0), TypeError),),
    ),
    OpRecord(
        name="masked_scatter",
        reference=filled_from,
        dtypes=ALL,
        inplace=True,
        samples=tuple(
            sample.but(sound=False)  # no derivative of its gradient in PyTorch
            for sample in (
                s(t(2, 2), mask([[True, False], [True, True]]), t(3)),
                s(t(2, 2), mask([[True, False], [True, True]]), t(2, 3)),
                s(t(2, 3), mask([True, False, True]), t(4)),
                s(t(3), mask([[True, False, True]] * 2), t(4)),
                s(t(3), mask([False] * 3), t(0)),
                s(t(), mask(True), t(1)),
            )
        ),
        refuses=(
            Refusal(s(t(3), mask([True] * 3), t(2)), RuntimeError, r"(?i)number of"),
            Refusal(s(t(3), index([1, 0, 1]), t(3)), RuntimeError, r"(?i)bool"),
            Refusal(s(t(3), mask([True] * 3), t(3, dtype="float32")), RuntimeError, r"(?i)dtypes"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="scatter_reduce",
        reference=reduced,
        dtypes=NUMBERS,
        domain=DISTINCT,
        inplace=True,
        out=True,
        samples=(
            *(
                s(*args, reduce, **kwargs).but(dtypes=FLOATS, sound=reduce != "prod")
                for reduce in ("sum", "mean", "prod", "amax", "amin")
                for kwargs in ({}, {"include_self": False})
                for args in ((t(3, 4), 0, AT, t(2, 3)), (t(5), -1, index([4, 4, 0, 4]), t(4)))
            ),
            s(t(3, 4), 1, AT, t(2, 3), "sum").but(dtypes=("int32", "int64", "uint8"), smooth=False),
            s(t(3, 4), 1, AT, t(2, 3), "amax").but(dtypes=("int32", "int64", "uint8"), smooth=False),
        ),
        edges=(
            Edge(s(given([2.0]), 0, index([0, 0]), given([2.0, 1.0]), "amax"), [1.0], ([0.5], [0.5, 0.0])),
            Edge(s(given([3.0]), 0, index([0, 0]), given([0.0, 2.0]), "prod"), [1.0], ([0.0], [6.0, 0.0])),
        ),
        refuses=(
            Refusal(s(t(3), 0, index([0]), t(1), "median"), RuntimeError, r"reduce argument must be"),
            Refusal(s(t(3), 0, index([3]), t(1), "sum"), (RuntimeError, IndexError), r"3"),
            Refusal(s(t(3), 0, index([0]), t(1, dtype="float32"), "sum"), RuntimeError, r"(?i)dtype"),
        ),
    ),
]
