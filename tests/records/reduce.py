"""Records of the reductions and of what normalises along an axis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import (
    ALL,
    DISTINCT,
    FLOATS,
    NUMBERS,
    UGLY,
    Array,
    Domain,
    Dtype,
    Edge,
    OpRecord,
    Refusal,
    Sample,
    given,
    mask,
    s,
    t,
    ugly,
)

WHOLE = (s(t(3, 4)), s(t()), s(t(2, 3, 5)), s(t(300)))
ALONG = (
    s(t(3, 4), dim=0),
    s(t(3, 4), dim=1, keepdim=True),
    s(t(2, 3, 5), dim=-2),
    s(t(), dim=0),
    s(t(2, 3, 1), dim=2),
    *(s(t(n, 3), dim=0) for n in UGLY if n),
    *(s(t(3, n), dim=-1) for n in UGLY if n),
)
SEVERAL = (s(t(2, 3, 5), dim=(0, 2)), s(t(2, 3, 5), dim=(-1, 1), keepdim=True), s(t(2, 3, 5), dim=(0, 1, 2)))
EMPTY_WHOLE = (s(t(0)), s(t(2, 0, 3)))
EMPTY_ALONG = (s(t(0, 3), dim=0), s(t(2, 0, 3), dim=1, keepdim=True), s(t(2, 0), dim=0))
FULL = (*WHOLE, *ugly(1)[1:])
BAD_DIM = (
    Refusal(s(t(3, 4), dim=2), IndexError, r"-2.*1", r"2"),
    Refusal(s(t(3, 4), dim=-3), IndexError, r"-2.*1", r"-3"),
)
TWICE = Refusal(s(t(3, 4), dim=(1, -1)), RuntimeError, r"(?i)dim.*1.*(multiple|twice|more than once|appears)")
# Sums of up to 300 terms, blocked differently from the reference.
LONG = 64.0


def axes(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list | tuple) else dim


def along(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, dim=None, keepdim=False, dtype=None: fn(
        x if dtype is None else x.astype(dtype), axis=axes(dim) if x.ndim else None, keepdims=keepdim
    )


def pair(value: Callable[..., Any], place: Callable[..., Any]) -> Callable[..., Any]:
    """The reference of max and min: of all entries, along an axis with indices, or of two tensors."""

    def reference(x: Array, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return value(x)
        if isinstance(dim, np.ndarray):
            return np.maximum(x, dim) if value is np.max else np.minimum(x, dim)
        axis = dim if x.ndim else None
        return value(x, axis=axis, keepdims=keepdim), np.asarray(place(x, axis=axis, keepdims=keepdim))

    return reference


def variance(
    x: Array, dim: Any = None, unbiased: bool = True, correction: float | None = None, keepdim: bool = False
) -> Any:
    if correction is None:
        correction = 1.0 if unbiased else 0.0
    axis = axes(dim)
    count = x.size if axis is None else int(np.prod([x.shape[a] for a in np.atleast_1d(axis)]))
    squares = (np.abs(x - x.mean(axis=axis, keepdims=True)) ** 2).sum(axis=axis, keepdims=keepdim)
    return squares / max(count - correction, 0)


def deviation(*args: Any, **how: Any) -> Any:
    return np.sqrt(variance(*args, **how))


def with_mean(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, dim=None, **how: (
        fn(x, dim, **how),
        x.mean(axis=axes(dim), keepdims=how.get("keepdim", False)),
    )


def summed_to(x: Array, *size: Any) -> Any:
    sizes = size[0] if size and isinstance(size[0], tuple) else size
    x = x.sum(axis=tuple(range(x.ndim - len(sizes))))
    return x.sum(axis=tuple(k for k, n in enumerate(sizes) if n == 1 != x.shape[k]), keepdims=True)


def logsumexp(x: Array, dim: Any, keepdim: bool = False) -> Any:
    return np.log(np.exp(x).sum(axis=axes(dim) if x.ndim else None, keepdims=keepdim))


def softmax(x: Array, dim: int, dtype: Any = None) -> Any:
    e = np.exp(x if dtype is None else x.astype(dtype))
    return e / e.sum(axis=dim if x.ndim else None, keepdims=True)


def two(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    return tuple(x.but(result=("same", "int64")) for x in samples)


def extreme(name: str, fn: Callable[..., Any], edges: tuple[Edge, ...]) -> OpRecord:
    samples = (*FULL, *ALONG, *SEVERAL)
    empty = Refusal(s(t(0, 3), dim=0), IndexError, r"(?i)non-zero|size 0|empty")
    return OpRecord(
        name=name,
        halves=0,
        reference=along(fn),
        samples=samples,
        domain=DISTINCT,
        dtypes=NUMBERS,
        out=True,
        edges=edges,
        refuses=(*BAD_DIM, empty),
    )


def extreme_with_index(
    name: str, fn: Callable[..., Any], place: Callable[..., Any], edges: tuple[Edge, ...]
) -> OpRecord:
    pairs = (s(t(3, 4), t(4)), s(t(9), t(9)))
    return OpRecord(
        name=name,
        halves=0,
        reference=pair(fn, place),
        samples=(*FULL, *two(tuple(x.but(dtypes=FLOATS) for x in ALONG)), *pairs),
        domain=DISTINCT,
        dtypes=NUMBERS,
        edges=edges,
        refuses=(
            *BAD_DIM,
            Refusal(s(t(0)), RuntimeError, r"(?i)numel\(\) == 0|empty"),
            Refusal(s(t(0, 3), dim=0), IndexError, r"(?i)non-zero|size 0|empty"),
        ),
    )


def place(name: str, fn: Callable[..., Any]) -> OpRecord:
    return OpRecord(
        name=name,
        halves=0,
        reference=along(fn),
        samples=(*FULL, *ALONG),
        domain=DISTINCT,
        dtypes=NUMBERS,
        result="int64",
        differentiable=False,
        layouts=False,
        refuses=(*BAD_DIM, Refusal(s(t(0)), IndexError, r"(?i)empty|non-zero|specify|size 0|numel")),
    )


def apart(sample: Sample) -> Sample:
    """Without the layout that makes all rows equal, where a root of the deviation has no derivative."""
    return sample.but(layouts=("transposed", "stepped"))


def moments(name: str, fn: Callable[..., Any], **facts: Any) -> OpRecord:
    samples = (
        *(apart(s(t(n))) for n in (2, 7, 16, 33)),
        s(t(3, 4)),
        apart(s(t(3, 4), dim=0)),
        s(t(3, 4), dim=1, keepdim=True),
        s(t(2, 3, 5), dim=(0, 2)),
        s(t(3, 4), unbiased=False),
        s(t(3, 4), dim=1, correction=0),
        apart(s(t(7, 3), dim=0, correction=2)),
        apart(s(t(300))),
    )
    return OpRecord(
        name=name, complex=True, halves=1, reference=fn, samples=samples, slack=LONG, refuses=(*BAD_DIM, TWICE), **facts
    )


def truth(name: str, fn: Callable[..., Any]) -> OpRecord:
    samples = (*FULL, *EMPTY_WHOLE, *ALONG, *EMPTY_ALONG, s(mask([True, True])).but(dtypes=("bool",)))
    return OpRecord(
        name=name,
        complex=True,
        halves=0,
        reference=along(fn),
        samples=samples,
        domain=Domain(ints=(0, 2)),
        dtypes=ALL,
        result="truth",
        differentiable=False,
        refuses=BAD_DIM,
    )


INTO64 = (s(t(3, 4, dtype="float32"), dtype=Dtype("float64")).but(result="float64", smooth=False),)
NORMALISED = tuple(
    Sample(x.args, {"dim": x.kwargs["dim"]}) for x in (*ALONG, *EMPTY_ALONG)
)  # the same shapes, no keepdim
# A product of 33 factors below 2 in size stays of order one only near one.
FACTORS = Domain(0.8, 1.25, signed=True, ints=(1, 3))
TIES = given([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]])
LOWS = given([[4.0, 3.0, 3.0], [2.0, 2.0, 5.0]])

RECORDS = [
    OpRecord(
        name="sum",
        complex=True,
        halves=1,
        reference=along(np.sum),
        dtypes=ALL,
        result="sum",
        slack=LONG,
        refuses=(*BAD_DIM, TWICE),
        samples=(*FULL, *EMPTY_WHOLE, *ALONG, *SEVERAL, *EMPTY_ALONG, *INTO64),
        edges=(Edge(s(given([1.0, 2.0], "float32"), dtype=Dtype("float64")), 3.0, ([3.0, 3.0],)),),
    ),
    OpRecord(
        name="mean",
        complex=True,
        halves=1,
        reference=along(np.mean),
        slack=LONG,
        samples=(*FULL, *ALONG, *SEVERAL, s(t(2, 0), dim=0)),
        refuses=(*BAD_DIM, TWICE, Refusal(s(t(3)), RuntimeError, r"(?i)float", r"int64", dtype="int64")),
    ),
    OpRecord(
        name="prod",
        complex=True,
        halves=1,
        reference=along(np.prod),
        domain=FACTORS,
        dtypes=NUMBERS,
        result="sum",
        slack=LONG,
        samples=(
            *FULL[:3],
            *FULL[4:],
            *EMPTY_WHOLE,
            *ALONG,
            *EMPTY_ALONG,
            s(given([2.0, 0.0, 3.0, 1.5])),
            s(given([[2.0, 0.0, 3.0], [0.0, 0.0, 3.0]]), dim=1),
        ),
        edges=(
            Edge(s(given([2.0, 0.0, 3.0])), 5.0, ([0.0, 30.0, 0.0],)),
            Edge(s(given([0.0, 0.0, 3.0])), 5.0, ([0.0, 0.0, 0.0],)),
        ),
        refuses=BAD_DIM,
    ),
    extreme(
        "amax",
        np.max,
        (
            Edge(s(TIES, dim=1), [4.0, 6.0], ([[0, 2.0, 2.0], [3.0, 3.0, 0]],)),
            Edge(s(TIES), 3.0, ([[0, 1.5, 1.5], [0, 0, 0]],)),
        ),
    ),
    extreme(
        "amin",
        np.min,
        (
            Edge(s(LOWS, dim=1), [4.0, 6.0], ([[0, 2.0, 2.0], [3.0, 3.0, 0]],)),
            Edge(s(LOWS), 3.0, ([[0, 0, 0], [1.5, 1.5, 0]],)),
        ),
    ),
    extreme_with_index(
        "max",
        np.max,
        np.argmax,
        (
            Edge(s(TIES), 3.0, ([[0, 1.5, 1.5], [0, 0, 0]],)),
            Edge(s(TIES, dim=1), [4.0, 6.0], ([[0, 4.0, 0], [6.0, 0, 0]],)),
        ),
    ),
    extreme_with_index(
        "min",
        np.min,
        np.argmin,
        (
            Edge(s(LOWS), 3.0, ([[0, 0, 0], [1.5, 1.5, 0]],)),
            Edge(s(LOWS, dim=1), [4.0, 6.0], ([[0, 4.0, 0], [6.0, 0, 0]],)),
        ),
    ),
    place("argmax", np.argmax),
    place("argmin", np.argmin),
    moments("var", variance),
    moments("std", deviation),
    moments("var_mean", with_mean(variance), method=False, result=("same", "same")),
    moments("std_mean", with_mean(deviation), method=False, result=("same", "same")),
    OpRecord(
        name="logsumexp",
        complex=True,
        halves=1,
        covers=("special.logsumexp",),
        reference=logsumexp,
        samples=(*ALONG, *SEVERAL),
        slack=LONG,
        out=True,
        edges=(
            Edge(s(given([-np.inf, -np.inf]), dim=0), 1.0, ([np.nan, np.nan],)),
            Edge(s(given([1000.0, 1000.0]), dim=0), 3.0, ([1.5, 1.5],)),
        ),
        refuses=BAD_DIM,
    ),
    OpRecord(
        name="softmax",
        halves=0,
        covers=("special.softmax",),
        reference=softmax,
        slack=LONG,
        samples=(
            *NORMALISED,
            s(t(3, 4, dtype="float32"), dim=1, dtype=Dtype("float64")).but(result="float64", smooth=False),
        ),
        edges=(Edge(s(given([1000.0, 1000.0]), dim=0), [3.0, 1.0], ([0.5, -0.5],)),),
        refuses=BAD_DIM,
    ),
    OpRecord(
        name="log_softmax",
        halves=0,
        covers=("special.log_softmax",),
        reference=lambda x, dim, dtype=None: np.log(softmax(x, dim)),
        samples=NORMALISED,
        slack=LONG,
        edges=(Edge(s(given([1000.0, 1000.0]), dim=0), [3.0, 1.0], ([1.0, -1.0],)),),
        refuses=BAD_DIM,
    ),
    truth("all", np.all),
    truth("any", np.any),
    OpRecord(
        name="cumsum",
        complex=True,
        halves=1,
        reference=lambda x, dim: np.cumsum(x, axis=dim) if x.ndim else x,
        samples=NORMALISED,
        dtypes=NUMBERS,
        result="sum",
        slack=LONG,
        out=True,
        inplace=True,
        refuses=BAD_DIM,
    ),
    OpRecord(
        name="cumprod",
        complex=True,
        halves=1,
        reference=lambda x, dim: np.cumprod(x, axis=dim) if x.ndim else x,
        domain=FACTORS,
        samples=(
            *NORMALISED,
            s(given([2.0, 0.0, 3.0, 1.5]), dim=0).but(dtypes=FLOATS),
            s(given([[2.0, 0.0, 3.0], [0.0, 0.0, 3.0]]), dim=1),
        ),
        dtypes=NUMBERS,
        result="sum",
        slack=LONG,
        out=True,
        inplace=True,
        edges=(
            Edge(s(given([2.0, 0.0, 3.0]), dim=0), [1.0, 1.0, 1.0], ([1.0, 8.0, 0.0],)),
            Edge(s(given([0.0, 0.0, 3.0]), dim=0), [1.0, 2.0, 3.0], ([1.0, 0.0, 0.0],)),
        ),
        refuses=BAD_DIM,
    ),
    OpRecord(
        name="count_nonzero",
        complex=True,
        halves=0,
        reference=lambda x, dim=None: np.count_nonzero(x, axis=axes(dim) if x.ndim else None),
        samples=(
            *FULL,
            *EMPTY_WHOLE,
            *NORMALISED,
            s(t(2, 3, 5), dim=(0, 2)),
            s(given([0.0, -0.0, np.nan, np.inf, 1e-30])).but(dtypes=FLOATS),
        ),
        domain=Domain(ints=(0, 2)),
        dtypes=ALL,
        result="int64",
        differentiable=False,
        refuses=(*BAD_DIM, TWICE),
    ),
    OpRecord(
        name="Tensor.sum_to_size",
        complex=True,
        halves=0,
        reference=summed_to,
        samples=(
            s(t(3, 4), 3, 1),
            s(t(3, 4), (1, 4)),
            s(t(2, 3, 4), 3, 1),
            s(t(3, 4), 4),
            s(t(3, 4), 3, 4).but(result="same"),
            s(t(3, 4), ()),
            s(t(0, 3), 1, 3),
            s(t(), ()),
            *(s(t(n, 2), 1, 2) for n in UGLY if n != 1),
        ),
        dtypes=NUMBERS,
        result="sum",
        slack=LONG,
        refuses=(
            Refusal(s(t(3, 4), 3), RuntimeError, r"\[?3\]?.*3, 4|3, 4.*3"),
            Refusal(s(t(3, 4), 2, 3, 4), RuntimeError, r"2, 3, 4"),
        ),
    ),
]
