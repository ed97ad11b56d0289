"""Records of the ops that put elements in order, or take some of them by their place in it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import (
    ALL,
    DISTINCT,
    FLOATS,
    NUMBERS,
    Array,
    Edge,
    OpRecord,
    Refusal,
    Sample,
    T,
    given,
    s,
    t,
    ugly,
)

NAN = np.nan
WILD = given([2.0, NAN, -np.inf, 0.0, NAN, np.inf, -1.0])
TIES = given([[2.0, 1.0, 2.0], [3.0, 3.0, 1.0]])
BAD_DIM = Refusal(s(t(3, 4), dim=2), IndexError, r"-2.*1", r"2")
# Layouts but that with equal rows: where elements are equal there is no derivative.
APART = ("transposed", "stepped")


def ranks(x: Array, axis: int, descending: bool = False) -> Array:
    """The indices that sort `x`, equal elements in their order, NaN as the greatest of all."""
    at = np.argsort(np.flip(x, axis), axis=axis, kind="stable") if descending else None
    if at is None:
        return np.argsort(x, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(at, axis)


def taken(x: Array, at: Array, axis: int) -> tuple[Array, Array]:
    return np.take_along_axis(x, at, axis), at


def vectors(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A reference for tensors with axes, of 0-dim ones too, which count as vectors of one element."""

    def call(x: Array, *args: Any, **kwargs: Any) -> Any:
        if x.ndim:
            return reference(x, *args, **kwargs)
        results = reference(x.reshape(1), *args, **kwargs)
        return tuple(y.reshape(()) for y in results) if isinstance(results, tuple) else results.reshape(())

    return call


@vectors
def sorted_(x: Array, dim: int = -1, descending: bool = False, stable: Any = None) -> Any:
    return taken(x, ranks(x, dim, descending), dim)


@vectors
def topk(x: Array, k: int, dim: int = -1, largest: bool = True) -> Any:
    return taken(x, ranks(x, dim, largest).take(range(k), axis=dim), dim)


@vectors
def kth(x: Array, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    values, at = taken(x, ranks(x, dim).take([k - 1], axis=dim), dim)
    return (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim))


def middle(line: Array, ignore_nan: bool) -> int:
    """Where the median of a vector is."""
    order, numbers = ranks(line, 0), int((line == line).sum())
    whole = ignore_nan or numbers == line.size
    return int(order[max(numbers - 1, 0) // 2 if whole else numbers])


def median(ignore_nan: bool) -> Callable[..., Any]:
    @vectors
    def along(x: Array, dim: int, keepdim: bool = False) -> Any:
        at = np.apply_along_axis(middle, dim, x, ignore_nan) if x.size else np.zeros(np.delete(x.shape, dim), np.int64)
        values, at = taken(x, np.expand_dims(at.astype(np.int64), dim), dim)
        return (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim))

    def reference(x: Array, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is not None:
            return along(x, dim, keepdim)
        line = x.reshape(-1)
        return line[middle(line, ignore_nan)] if line.size else np.asarray(NAN)

    return reference


def apart(*samples: Sample) -> tuple[Sample, ...]:
    """Drawn integers may be equal, and PyTorch's order of equal elements is only known where it is stable."""
    return tuple(x.but(layouts=APART, dtypes=x.dtypes or (FLOATS if not whole(x) else None)) for x in samples)


def whole(sample: Sample) -> bool:
    """Whether the result is known for every dtype."""
    return "stable" in sample.kwargs or all(x.values is not None for x in sample.args if isinstance(x, T))


def ordered(name: str, reference: Callable[..., Any], *samples: Sample, **facts: Any) -> OpRecord:
    """An op with indices beside its values."""
    merged: dict[str, Any] = {
        "domain": DISTINCT,
        "result": ("same", "int64"),
        "dtypes": ALL,
        "out": True,
        "halves": 0,
    } | facts
    return OpRecord(name=name, reference=reference, samples=apart(*samples), **merged)


SORTS = (
    s(t(3, 4)),
    s(t(3, 4), 0),
    s(t(3, 4), dim=1, descending=True),
    s(t(2, 3, 5), -2, True),
    s(t(3, 4), stable=True),
    s(t(3, 4), stable=True, dim=0, descending=True),
    s(t(), 0),
    s(t(2, 0)),
    s(t(0, 3), 0),
    *(s(t(n, 3), 0) for n in (1, 17, 33)),
    *ugly(1),
    s(given([2, 0, 3, 1]), descending=True).but(dtypes=NUMBERS),
    s(t(2, 17), stable=True, descending=True).but(smooth=False),
    s(WILD).but(smooth=False, dtypes=FLOATS),
    s(WILD, descending=True).but(smooth=False, dtypes=FLOATS),
)
MEDIANS = (
    s(t(3, 4)),
    s(t(5)),
    s(t()),
    s(t(2, 3, 5)),
    s(t(33)),
    s(t(0)).but(smooth=False),
    s(given([[2, 0], [3, 1]])),
    s(given([1.0, NAN, 0.0, 3.0])).but(smooth=False, dtypes=FLOATS),
    *(
        x.but(result=("same", "int64"))
        for x in (
            s(t(3, 4), dim=0),
            s(t(3, 4), 1, True),
            s(t(2, 3, 5), dim=-2),
            s(t(), dim=0),
            s(t(2, 0), dim=0),
            s(t(33, 2), dim=0),
            s(given([[2, 0, 1], [3, 1, 4]]), dim=1),
            s(given([[1.0, NAN, 0.0], [NAN, NAN, NAN], [2.0, 1.0, 2.0]]), 1).but(smooth=False, dtypes=FLOATS),
        )
    ),
)
EMPTY_DIM = Refusal(s(t(2, 0), dim=1), IndexError, r"(?i)dim.* 1 .*non-zero size", r"2, 0")


def median_of(name: str, ignore_nan: bool) -> OpRecord:
    return OpRecord(
        name=name,
        halves=0,
        reference=median(ignore_nan),
        domain=DISTINCT,
        dtypes=NUMBERS,
        samples=apart(*MEDIANS),
        edges=(
            Edge(s(given([2.0, 1.0, 2.0, 3.0, 2.0])), 6.0, ([2.0, 0.0, 2.0, 0.0, 2.0],)),
            Edge(s(given([1.0, 1.0, 5.0])), 2.0, ([1.0, 1.0, 0.0],)),
            Edge(
                s(given([NAN, 1.0, NAN])),
                2.0,
                ([0.0, 2.0, 0.0],) if ignore_nan else ([1.0, 0.0, 1.0],),
            ),
        ),
        refuses=(
            BAD_DIM,
            EMPTY_DIM,
            Refusal(s(t(3, dtype="bool")), NotImplementedError, r"median_cpu.*'Bool'"),
        ),
    )


RECORDS = [
    ordered(
        "sort",
        sorted_,
        *SORTS,
        refuses=(BAD_DIM, Refusal(s(t(3), "x"), TypeError), Refusal(s(t(3), stable=1), TypeError)),
    ),
    OpRecord(
        name="argsort",
        halves=0,
        reference=lambda *args, **how: sorted_(*args, **how)[1],
        domain=DISTINCT,
        dtypes=ALL,
        result="int64",
        differentiable=False,
        samples=apart(*SORTS),
        refuses=(BAD_DIM,),
    ),
    OpRecord(
        name="msort",
        halves=0,
        reference=vectors(lambda x: np.sort(x, axis=0)),
        domain=DISTINCT,
        dtypes=ALL,
        out=True,
        samples=apart(s(t(3, 4)), s(t()), s(t(2, 3, 5)), s(t(0, 3)), *ugly(1)),
        refuses=(Refusal(s(t(3), 0), TypeError),),
    ),
    ordered(
        "topk",
        topk,
        s(given([2, 0, 3, 1]), 2),
        s(t(3, 4), 3, 0),
        s(t(3, 4), 2, dim=-1, largest=False),
        s(t(2, 3, 5), 3, 1, False),
        s(t(3, 4), 0),
        s(t(), 1),
        s(t(2, 0), 1, dim=0),
        s(t(33), 1),
        s(t(33), 32),
        s(t(17), 17, largest=False),
        s(WILD, 3).but(smooth=False, dtypes=FLOATS),
        dtypes=NUMBERS,
        edges=(),
        refuses=(
            Refusal(s(t(3, 4), 5), RuntimeError, r"(?i)index k out of range", r"5.*4"),
            Refusal(s(t(3, 4), -1), RuntimeError, r"(?i)index k out of range", r"-1"),
            Refusal(s(t(), 2), RuntimeError, r"(?i)index k out of range"),
            Refusal(s(t(3, dtype="bool"), 1), RuntimeError, r"bool"),
            Refusal(s(t(3, 4), 1, dim=2), IndexError, r"-2.*1"),
        ),
    ),
    ordered(
        "kthvalue",
        kth,
        s(given([2, 0, 3, 1]), 2),
        s(t(3, 4), 3, 0),
        s(t(3, 4), 4, dim=1, keepdim=True),
        s(t(2, 3, 5), 1, 1),
        s(t(), 1),
        s(t(2, 0), 1, dim=0),
        s(t(33), 17),
        s(t(17, 2), 17, 0),
        s(WILD, 6).but(smooth=False, values=False, dtypes=FLOATS),
        dtypes=NUMBERS,
        refuses=(
            Refusal(s(t(3, 4), 0), RuntimeError, r"k out of range for dimension", r"0.*4"),
            Refusal(s(t(3, 4), 5), RuntimeError, r"k out of range for dimension", r"5.*4"),
            Refusal(s(t(2, 0), 1, dim=1), IndexError, r"(?i)dim.* 1 .*non-zero size", r"2, 0"),
            Refusal(s(t(3, dtype="bool"), 1), NotImplementedError, r"kthvalue_cpu.*'Bool'"),
            Refusal(s(t(3, 4), 1, dim=2), IndexError, r"-2.*1"),
        ),
    ),
    median_of("median", False),
    median_of("nanmedian", True),
]
