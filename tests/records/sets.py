"""Records of sets and counts: distinct elements, histograms, places among sorted numbers."""

from typing import Any

import numpy as np

from records.record import (
    ALL,
    FLOATS,
    INTS,
    NUMBERS,
    Array,
    Domain,
    OpRecord,
    Refusal,
    Sample,
    given,
    index,
    s,
    t,
)

NAN = np.nan
FEW = Domain(ints=(0, 4))
WILD = given([3.0, NAN, 1.0, NAN, -0.0, 0.0], grad=False)
ROWS = given([[2, 1], [0, 1], [2, 1], [0, 3]])


def chosen(values: Array, inverse: Array, counts: Array, *asked: bool) -> Any:
    found = [values, *(x for x, wanted in zip((inverse.astype(np.int64), counts), asked, strict=True) if wanted)]
    return tuple(found) if len(found) > 1 else found[0]


def slices(x: Array, dim: int | None) -> list[Any]:
    """What is compared: elements, or slices as tuples."""
    return [tuple(row.reshape(-1)) for row in np.moveaxis(x, dim, 0)] if dim is not None else list(x.reshape(-1))


def members(items: list[Any], order: list[int]) -> tuple[list[int], Array, Array]:
    """Which items, in this order, begin a run of equal ones; the run of each item; the lengths."""
    firsts: list[int] = []
    runs = np.zeros(len(items), np.int64)
    for k, at in enumerate(order):
        if k == 0 or not np.array_equal(items[at], items[order[k - 1]]):
            firsts.append(at)
        runs[at] = len(firsts) - 1
    return firsts, runs, np.bincount(runs, minlength=len(firsts)) if len(items) else np.zeros(0, np.int64)


def gathered(x: Array, order: list[int], dim: int | None, *asked: bool) -> Any:
    firsts, runs, counts = members(slices(x, dim), order)
    values = x.reshape(-1)[firsts] if dim is None else np.take(x, firsts, dim)
    return chosen(values, runs.reshape(x.shape) if dim is None else runs, counts, *asked)


def unique(
    x: Array,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    items = slices(x, dim)
    order = sorted_places(items)
    return gathered(x, order, dim, return_inverse, return_counts)


def sorted_places(items: list[Any]) -> list[int]:
    """Rising, NaN last."""

    def key(i: int) -> Any:
        row = items[i] if isinstance(items[i], tuple) else (items[i],)
        return [(v != v, 0 if v != v else v) for v in row]

    return sorted(range(len(items)), key=key)


def unique_consecutive(
    x: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    return gathered(x, list(range(len(slices(x, dim)))), dim, return_inverse, return_counts)


def with_indices(*samples: Sample) -> tuple[Sample, ...]:
    """Samples that ask for indices: results beside the first are int64."""

    def result(x: Sample) -> Any:
        asked = sum(bool(x.kwargs.get(name)) for name in ("return_inverse", "return_counts"))
        return ("same",) + ("int64",) * asked if asked else "same"

    return tuple(x.but(result=result(x)) for x in samples)


SETS = with_indices(
    s(t(3, 4)),
    s(t(7)),
    s(t()),
    s(t(0)),
    s(t(2, 0)),
    s(t(33), return_inverse=True),
    s(t(3, 4), return_inverse=True, return_counts=True),
    s(t(17), return_counts=True),
    s(t(0), return_inverse=True, return_counts=True),
    s(ROWS, dim=0),
    s(ROWS, return_inverse=True, return_counts=True, dim=0),
    s(ROWS, return_inverse=True, return_counts=True, dim=-1),
    s(t(2, 3, 2), return_inverse=True, return_counts=True, dim=1),
    s(t(0, 2), return_inverse=True, return_counts=True, dim=0),
    s(t(2, 0), dim=1),
    s(WILD, return_inverse=True, return_counts=True).but(dtypes=FLOATS),
)


def set_of(name: str, reference: Any) -> OpRecord:
    return OpRecord(
        name=name,
        halves=0,
        reference=reference,
        domain=FEW,
        dtypes=ALL,
        differentiable=False,
        reads=True,
        samples=SETS,
        refuses=(
            Refusal(s(t(2, 0), dim=0), RuntimeError, r"0 sized dimensions"),
            Refusal(s(t(3), dim=1), IndexError, r"-1.*0"),
            Refusal(s(t(), dim=0), IndexError, r"no dimensions"),
            Refusal(s(t(3), return_inverse=1), TypeError),
        ),
    )


def bincount(x: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    counts = np.bincount(x.astype(np.int64), weights if x.size else None, minlength)
    return counts if weights is None or weights.dtype != np.float32 or not x.size else counts.astype(np.float32)


def unravel_index(x: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    places = []
    for size in reversed(shape):
        places.append((x % size).astype(np.int64))
        x = x // size
    return tuple(reversed(places))


def places(sorted_: Array, values: Array, right: bool, order: Array | None = None) -> Array:
    """The first element of the row that is not less (or not equal either); NaN is neither."""
    row = sorted_ if order is None else np.take_along_axis(sorted_, order, -1)
    row, value = (row if row.ndim == 1 else row[..., None, :]), np.asarray(values)[..., None]
    behind = (row > value) if right else (row >= value)
    if behind.shape[-1] == 0:
        return np.zeros(behind.shape[:-1])
    return np.where(behind.any(-1), behind.argmax(-1), behind.shape[-1])


def searchsorted(
    sorted_sequence: Array,
    input: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> Array:
    found = places(sorted_sequence, input, right or side == "right", sorter)
    return found.astype(np.int32 if out_int32 else np.int64)


def bucketize(input: Any, boundaries: Array, out_int32: bool = False, right: bool = False) -> Array:
    return searchsorted(boundaries, input, out_int32, right)


RISING = given([1, 3, 3, 5, 8])
TWO = given([[0, 2, 4], [1, 1, 3]])


def histc(x: Array, bins: int = 100, min: float = 0, max: float = 0) -> Array:
    if min == max and x.size:
        min, max = x.min(), x.max()
    if min == max:
        min, max = min - 1, max + 1
    return np.histogram(x, bins, (min, max))[0].astype(x.dtype)


def histogram(x: Array, bins: Any, range: Any = None, weight: Array | None = None, density: bool = False) -> Any:
    edges = np.histogram_bin_edges(x, bins, range) if isinstance(bins, int) else bins
    found = np.histogram(x, edges, weights=weight, density=density)[0]
    return found.astype(x.dtype), edges.astype(x.dtype)


# Sixteenths: every edge and every quotient is exact in both dtypes.
SIXTEENTHS = given([0.0, 0.25, 1.0, 1.1875, 2.0, 0.5, 0.4375, 2.0])
SQUARE = given([[0.0, 1.5], [3.0, 4.0]])

RECORDS = [
    set_of("unique", unique),
    set_of("unique_consecutive", unique_consecutive),
    OpRecord(
        name="bincount",
        reference=bincount,
        domain=FEW,
        dtypes=INTS,
        result="reference",
        differentiable=False,
        reads=True,
        samples=(
            s(t(7)),
            s(t(0)),
            s(t(33), minlength=9),
            s(t(0), None, 3),
            s(index([1, 0, 1]), given([0.5, 1.0, 2.0], "float64", grad=False)),
            s(index([1, 0, 1]), given([0.5, 1.0, 2.0], "float32", grad=False), 4),
            s(index([1, 0, 1]), index([5, -1, 2])),
            s(t(0), given([], "float32", grad=False)),
        ),
        refuses=(
            Refusal(s(t(2, 2)), RuntimeError, r"1-d non-negative integral inputs", r"2, 2", dtype="int64"),
            Refusal(s(index([-1])), RuntimeError, r"1-d non-negative integral inputs", r"-1"),
            Refusal(s(t(3)), NotImplementedError, r"bincount_cpu.*'Double'"),
            Refusal(s(index([1, 2]), given([1.0])), RuntimeError, r"same length as input"),
            Refusal(s(index([1]), minlength=-1), RuntimeError, r"minlength should be >= 0", r"-1"),
        ),
    ),
    OpRecord(
        name="unravel_index",
        reference=unravel_index,
        domain=Domain(ints=(-9, 30)),
        dtypes=INTS,
        result="reference",
        differentiable=False,
        method=False,
        samples=(s(t(7), (2, 4)), s(t(), (3, 2, 5)), s(t(2, 3), (7,)), s(t(0), (2, 0)), s(t(33), (4, 1, 3))),
        refuses=(
            Refusal(s(t(3), (2, 4)), TypeError, r"integer dtype.*float64"),
            Refusal(s(index([1]), (2, -4)), ValueError, r"negative values", r"-4"),
            Refusal(s(index([1]), "a"), TypeError),
        ),
    ),
    OpRecord(
        name="searchsorted",
        halves=0,
        reference=searchsorted,
        dtypes=NUMBERS,
        layouts=False,  # PyTorch warns of operands that are not contiguous
        domain=Domain(ints=(0, 9), low=0.0, high=9.0),
        result="reference",
        differentiable=False,
        method=False,
        out=True,
        samples=(
            s(RISING, t(7)),
            s(RISING, t(2, 3), right=True),
            s(RISING, t(), side="right"),
            s(RISING, t(0), out_int32=True),
            s(TWO, t(2, 5)),
            s(TWO, t(2, 5), right=True, out_int32=True),
            s(given([[3, 1], [0, 2]]), t(2, 3), sorter=index([[1, 0], [0, 1]])),
            s(given([5, 1, 3]), t(33), sorter=index([1, 2, 0]), side="left"),
            s(t(0), t(3)),
            s(RISING, 3),
            s(RISING, 2.5).but(dtypes=FLOATS),
            s(given([1.0, 3.0, NAN], grad=False), given([NAN, 3.0, 0.0, 9.0], grad=False)).but(dtypes=FLOATS),
            s(given([1.0, 3.0, NAN], grad=False), given([NAN, 3.0, 9.0], grad=False), right=True).but(dtypes=FLOATS),
        ),
        refuses=(
            Refusal(s(TWO, t(3, 2)), RuntimeError, r"first N-1 dimensions", r"\[2, 3\].*\[3, 2\]"),
            Refusal(s(TWO, t()), RuntimeError, r"can be a scalar only when boundaries tensor dimension is 1"),
            Refusal(s(t(), t(2)), RuntimeError, r"positive dimension"),
            Refusal(s(RISING, t(2), side="left", right=True), RuntimeError, r"can't be set to opposites"),
            Refusal(s(RISING, t(2), side="up"), RuntimeError, r"can only be 'left' or 'right' but got up"),
            Refusal(s(RISING, t(2), sorter=index([0])), RuntimeError, r"sorter must have the same size"),
            Refusal(s(given([1, 2]), t(2), sorter=index([0, 2])), RuntimeError, r"sorter index out of range"),
            Refusal(s(given([1, 2]), t(2), sorter=given([0, 1], "int32")), RuntimeError, r"long dtype.*Int"),
            Refusal(s(t(2), t(2)), NotImplementedError, r"searchsorted_out_cpu.*'Bool'", dtype="bool"),
        ),
    ),
    OpRecord(
        name="bucketize",
        halves=0,
        reference=bucketize,
        dtypes=NUMBERS,
        layouts=False,  # PyTorch warns of operands that are not contiguous
        domain=Domain(ints=(0, 9), low=0.0, high=9.0),
        result="reference",
        differentiable=False,
        method=False,
        out=True,
        samples=(
            s(t(7), RISING),
            s(t(2, 3), RISING, right=True),
            s(t(), RISING, out_int32=True),
            s(t(0), RISING),
            s(t(33), given([2])),
            s(3, RISING).but(sound=False),  # without out=
            s(t(3), t(0)),
        ),
        refuses=(
            Refusal(s(t(2), TWO), RuntimeError, r"must be 1 dimension, but got dim\(2\)"),
            Refusal(s(t(2), t()), RuntimeError, r"must be 1 dimension, but got dim\(0\)"),
        ),
    ),
    OpRecord(
        name="histc",
        halves=0,
        reference=histc,
        differentiable=False,
        out=True,
        samples=(
            s(SIXTEENTHS, 4),
            s(SIXTEENTHS, bins=8, min=0, max=2),
            s(SQUARE, 4, 0, 4),
            s(SIXTEENTHS, 2, 0.5, 1.5),
            s(t(0), 3),
            s(given([2.0, 2.0]), 3),
            s(t(33), 1),
        ),
        refuses=(
            Refusal(s(t(3), 0), RuntimeError, r"bins must be > 0, but got 0"),
            Refusal(s(t(3), 3, 2, 1), RuntimeError, r"max must be larger than min"),
            Refusal(s(given([1.0, NAN]), 3), RuntimeError, r"range of .* is not finite"),
            Refusal(s(t(3), 3, 0, 2), NotImplementedError, r"histogram_cpu.*'Long'", dtype="int64"),
        ),
    ),
    OpRecord(
        name="histogram",
        reference=histogram,
        differentiable=False,
        out=True,
        samples=(
            s(SIXTEENTHS, 4),
            s(SIXTEENTHS, bins=8, range=(0.0, 2.0)),
            s(SQUARE, 4, range=(0, 4), density=True),
            s(SQUARE, 2, range=(0.0, 4.0), weight=given([[0.5, 1.0], [2.0, 0.25]])),
            s(SIXTEENTHS, given([0.0, 0.5, 1.0, 2.0])),
            s(
                SIXTEENTHS,
                given([0.25, 1.0, 1.5]),
                weight=given([1.0, 2.0, 3.0, 4.0, 0.5, 0.25, 0.0, 8.0]),
                density=True,
            ),
            s(given([2.0, 2.0]), 2),
            s(t(0), 2),
        ),
        refuses=(
            Refusal(s(t(3), 0), RuntimeError, r"bins must be > 0, but got 0"),
            Refusal(s(t(3), given([0.0])), RuntimeError, r"bins must be > 0, but got 0"),
            Refusal(s(t(3), t(0)), RuntimeError, r"at least 1 element"),
            Refusal(s(t(3), t(2, 2)), RuntimeError, r"one dimension, but got 2 dimensions"),
            Refusal(s(t(3), given([0, 1], "float32")), RuntimeError, r"same dtype"),
            Refusal(s(t(3), 2, range=(1.0,)), RuntimeError, r"2 elements, but got 1"),
            Refusal(s(t(3), 2, range=(2.0, 1.0)), RuntimeError, r"min should not exceed max"),
            Refusal(s(given([1.0, NAN]), 3), RuntimeError, r"is not finite"),
            Refusal(s(t(3), 2, weight=t(2)), RuntimeError, r"same shape as the input"),
            Refusal(s(t(3), 2, weight=index([1, 2, 3])), RuntimeError, r"same dtype"),
            Refusal(s(t(3), 2), NotImplementedError, r"histogramdd.*'Long'", dtype="int64"),
        ),
    ),
]
