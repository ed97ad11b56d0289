"""Records of norms, of sums of what is a number, and of running extremes."""

from typing import Any

import numpy as np

from records.record import DISTINCT, FLOATS, NUMBERS, OFF_ZERO, Array, Edge, OpRecord, Refusal, given, s, t

INF, NAN = float("inf"), float("nan")
ORDERS = (2, 1, 0, 3, 0.5, 1.5, -1, INF, -INF)


def as_axis(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list) else None if dim in ((), None) else dim


def vector_norm(x: Array, ord: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    axis, size = as_axis(dim), np.abs(x)
    if ord == 0:
        return np.sum(x != 0, axis=axis, keepdims=keepdim).astype(size.dtype)
    if ord in (INF, -INF):
        return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdim)
    return np.sum(size**ord, axis=axis, keepdims=keepdim) ** (1 / ord)


def matrix_norm(a: Array, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    return np.linalg.norm(a, ord, axis=tuple(dim), keepdims=keepdim)


def norm(x: Array, p: Any = "fro", dim: Any = None, keepdim: bool = False) -> Any:
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim)


def linalg_norm(a: Array, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    both = a.ndim == 2 if dim is None else isinstance(dim, tuple) and len(dim) == 2
    if ord is not None and both:
        return matrix_norm(a, ord, dim or (0, 1), keepdim)
    return vector_norm(a, 2 if ord is None else ord, dim, keepdim)


def running(best: Any) -> Any:
    def extremes(x: Array, dim: int) -> Any:
        if not x.ndim:
            return [x, np.zeros((), np.int64)]
        lines = np.moveaxis(x, dim, -1)
        values, indices = best.accumulate(lines, axis=-1), np.zeros(lines.shape, np.int64)
        for where in np.ndindex(lines.shape):
            line, i = lines[where[:-1]], where[-1]
            indices[where] = max(k for k in range(i + 1) if line[k] == values[where])
        return [np.moveaxis(values, -1, dim), np.moveaxis(indices, -1, dim)]

    return extremes


def log_sums(x: Array, dim: int) -> Any:
    return np.log(np.cumsum(np.exp(x), axis=dim)) if x.ndim else x


def nan_mean(x: Array, dim: Any = None, keepdim: bool = False) -> Any:
    return np.nanmean(x, axis=as_axis(dim), keepdims=keepdim)


def nan_sum(x: Array, dim: Any = None, keepdim: bool = False) -> Any:
    return np.nansum(x, axis=as_axis(dim), keepdims=keepdim)


HOLES = given([[1.0, NAN, 2.0], [NAN, 3.0, 0.5]], grad=False)
OVER = (s(t(3, 4)), s(t(3, 4), 1), s(t(2, 3, 4), (0, 2)), s(t(3, 4), -1, True), s(t()), s(t(33)))
ALONG = (s(t(5), 0), s(t(3, 4), 1), s(t(2, 3, 4), -2), s(t(), 0), s(t(0, 3), 1), s(t(33), 0), s(t(1, 17), -1))
BAD_DIM = Refusal(s(t(2, 3), 2), IndexError, r"-2.*1")

RECORDS = [
    OpRecord(
        name="linalg.vector_norm",
        complex=True,
        halves=1,
        reference=vector_norm,
        domain=OFF_ZERO,
        method=False,
        out=True,
        slack=64.0,
        samples=(
            *(s(t(3, 4), p) for p in ORDERS),
            *(s(t(3, 4), p, 1, True) for p in (2, 3, INF)),
            s(t(2, 3, 4), 2, (0, -1)),
            s(t(0, 3), 2),
            s(t(0, 3), 1, 0),
            s(t(), 3),
            s(t(33)),
        ),
        edges=(
            Edge(s(given([0.0, 0.0])), 1.0, ([0.0, 0.0],)),
            Edge(s(given([2.0, -2.0, 1.0]), INF), 1.0, ([0.5, -0.5, 0.0],)),
            Edge(s(given([0.0, -2.0]), 1), 1.0, ([0.0, -1.0],)),
        ),
        refuses=(
            Refusal(s(t(0), INF), RuntimeError, r"identity"),
            Refusal(s(given([1, 2], "int64")), RuntimeError, r"(?i)floating point"),
            Refusal(s(t(2, 3), 2, 2), IndexError, r"-2.*1"),
        ),
    ),
    OpRecord(
        name="linalg.matrix_norm",
        complex=True,
        halves=1,
        reference=matrix_norm,
        domain=OFF_ZERO,
        method=False,
        slack=64.0,
        samples=(
            s(t(3, 4)),
            *(s(t(3, 4), p).but(layouts=()) for p in (1, -1, INF, -INF)),
            s(t(2, 3, 4), "fro", (0, 2), True),
            s(t(2, 3, 4), 1, (2, 0)).but(layouts=()),
        ),
        refuses=(
            Refusal(s(t(3)), RuntimeError, r"at least 2"),
            Refusal(s(t(3, 3), 3), RuntimeError, r"(?i)order 3"),
            Refusal(s(t(3, 3), "what"), RuntimeError, r"(?i)order what"),
            Refusal(s(t(3, 3), 1, (0, 0)), RuntimeError, r"different"),
        ),
    ),
    OpRecord(
        name="linalg.norm",
        complex=True,
        halves=1,
        reference=linalg_norm,
        domain=OFF_ZERO,
        method=False,
        slack=64.0,
        samples=(
            s(t(3, 4)),
            s(t(5), 3),
            s(t(3, 4), 1).but(layouts=()),
            s(t(3, 4), "fro"),
            s(t(2, 3, 4), None, (0, 1)),
            s(t(2, 3, 4), INF, (0, 1)).but(layouts=()),
            s(t(2, 3, 4), 2, 1, True),
        ),
        refuses=(
            Refusal(s(t(2, 3, 4), 2), RuntimeError, r"1D or 2D"),
            Refusal(s(t(2, 3, 4), 2, (0, 1, 2)), RuntimeError, r"length 1 or 2"),
        ),
    ),
    OpRecord(
        name="norm",
        complex=True,
        halves=1,
        reference=norm,
        domain=DISTINCT,
        slack=128.0,
        out=True,
        samples=(
            s(t(3, 4)),
            s(t()),
            s(t(3, 4), 2, 0),
            s(t(3, 4), 1, [0, 1]),
            s(t(2, 3, 5), 3, dim=[0, 2], keepdim=True),
            s(t(3, 4), INF, 1).but(layouts=("transposed", "stepped")),
            s(t(3, 4), -INF).but(layouts=("transposed", "stepped")),
            s(t(3, 4), 1.5, -1),
            s(t(3, 4), 0.5, 1, True),
            s(t(3, 4), None, 1),
            s(t(3, 4), "fro", [0]),
            s(t(3, 4), 0, 1).but(sound=False),
            s(t(3, 0), 2, 1).but(sound=False),
            s(t(0, 3), dim=1),
            *(s(t(2, n), 2, 1) for n in (1, 7, 8, 9, 17, 33)),
        ),
        edges=(
            Edge(s(given([0.0, 0.0])), 2.0, ([0.0, 0.0],)),
            Edge(s(given([0.0, 2.0]), 1), 2.0, ([0.0, 2.0],)),
            Edge(s(given([3.0, -3.0, 1.0]), INF), 2.0, ([1.0, -1.0, 0.0],)),
            Edge(s(given([0.0, 4.0]), 0.5), 2.0, ([0.0, 2.0],)),
        ),
        refuses=(
            Refusal(s(t(2, 3), 2, 2), IndexError, r"-2.*1"),
            Refusal(s(given([1, 2], "int64")), RuntimeError, r"floating point.*Long"),
            Refusal(s(t(0), INF), RuntimeError, r"inf norm"),
            Refusal(s(t(3), "what"), RuntimeError, r"what"),
        ),
    ),
    OpRecord(
        name="dist",
        complex=True,
        halves=1,
        reference=lambda a, b, p=2: vector_norm(a - b, p),
        domain=DISTINCT,
        slack=64.0,
        samples=(*(s(t(3, 4), t(4), p) for p in (2, 1, 3, 0.5, 1.5)), s(t(2, 3), t(2, 3)), s(t(), t(5)), s(t(0), t(0))),
        edges=(Edge(s(given([1.0, 2.0]), given([1.0, 2.0])), 1.0, ([0.0, 0.0], [0.0, 0.0])),),
        refuses=(Refusal(s(t(2), t(3)), RuntimeError, r"2.*3|3.*2"),),
    ),
    OpRecord(
        name="nansum",
        halves=1,
        reference=nan_sum,
        dtypes=NUMBERS,
        result="sum",
        out=True,
        samples=(*OVER, s(t(0, 3), 0), s(HOLES).but(dtypes=FLOATS), s(HOLES, 0).but(dtypes=FLOATS)),
        edges=(Edge(s(given([1.0, NAN])), 1.0, ([1.0, 0.0],)),),
        refuses=(BAD_DIM, Refusal(s(t(2, 3), (0, 0)), RuntimeError, r"multiple times")),
    ),
    OpRecord(
        name="nanmean",
        halves=1,
        reference=nan_mean,
        out=True,
        samples=(*OVER, s(HOLES), s(HOLES, 0)),
        edges=(Edge(s(given([1.0, NAN, 3.0])), 1.0, ([0.5, 0.0, 0.5],)),),
        refuses=(BAD_DIM, Refusal(s(given([1, 2], "int64")), RuntimeError, r"floating point")),
    ),
    *(
        OpRecord(
            name=name,
            halves=0,
            reference=running(best),
            dtypes=NUMBERS,
            domain=DISTINCT,
            result=("same", "int64"),
            out=True,
            samples=tuple(sample.but(layouts=("transposed", "stepped")) for sample in ALONG),
            refuses=(BAD_DIM,),
        )
        for name, best in (("cummax", np.maximum), ("cummin", np.minimum))
    ),
    OpRecord(
        name="logcumsumexp",
        complex=True,
        halves=1,
        reference=log_sums,
        out=True,
        slack=64.0,
        samples=ALONG,
        refuses=(BAD_DIM,),
    ),
]
