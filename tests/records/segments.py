"""Records of ops on slices, segments, grids and points: differences on a grid, slices that are scaled or combined."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import (
    DISTINCT,
    FLOATS,
    NUMBERS,
    UGLY,
    Array,
    Edge,
    OpRecord,
    Refusal,
    given,
    index,
    s,
    t,
)

INF = np.inf
PLACES = given([0.0, 0.5, 2.0, 2.75])
THREE = given([-1.0, 0.5, 1.0])


def gradient(x: Array, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Array, ...]:
    axes = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    steps = [1 if spacing is None else spacing] * len(axes) if not isinstance(spacing, tuple | list) else spacing
    return tuple(
        np.asarray(np.gradient(x, step, axis=axis, edge_order=edge_order))
        for axis, step in zip(axes, steps, strict=True)
    )


def norms(x: Array, p: float, axes: tuple[int, ...]) -> Array:
    if np.isinf(p):
        return np.asarray(np.abs(x).max(axis=axes, keepdims=True))
    return np.asarray((np.abs(x) ** p).sum(axis=axes, keepdims=True) ** (1 / p))


def renorm(x: Array, p: float, dim: int, maxnorm: float) -> Array:
    if x.size == 0:
        return x
    found = norms(x, p, tuple(d for d in range(x.ndim) if d != dim % x.ndim))
    return np.asarray(x * np.where(found > maxnorm, maxnorm / (found + 1e-7), 1)).astype(x.dtype)


def frobenius(x: Array, dim: Any, keepdim: bool = False) -> Array:
    axes = tuple([dim] if isinstance(dim, int) else dim) or None
    return np.asarray(np.sqrt((np.abs(x) ** 2).sum(axis=axes, keepdims=keepdim)))


def except_dim(v: Array, pow: int = 2, dim: int = 0) -> Array:
    axes = tuple(range(v.ndim)) if dim == -1 else tuple(d for d in range(v.ndim) if d != dim % v.ndim)
    y = (np.abs(v) ** pow).sum(axis=axes, keepdims=True) ** (1 / pow)
    return np.asarray(y.reshape(()) if dim == -1 else y)


def hashed(x: Array, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Array:
    bits = x.astype(np.float64).view(np.uint64) if x.dtype.kind == "f" else x.astype(np.int64).view(np.uint64)
    axes = tuple([dim] if isinstance(dim, int) else dim) or tuple(range(x.ndim))
    return np.asarray(np.bitwise_xor.reduce(bits, axis=axes, keepdims=keepdim))


def combined(x: Array, dim: int, at: Array, source: Array, reduce: str, *, include_self: bool = True) -> Array:
    call: Callable[..., Any] = {"prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[reduce]
    y = np.moveaxis(x.copy(), dim, 0)
    rows = np.moveaxis(source, dim, 0)
    for i in np.unique(at):
        parts = np.concatenate([y[i : i + 1]] * include_self + [rows[at == i]])
        y[i] = parts.sum(0) // len(parts) if reduce == "mean" and x.dtype.kind in "iu" else call(parts, axis=0)
    return np.moveaxis(y, 0, dim)


def segments(
    x: Array,
    reduce: str,
    *,
    lengths: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Array:
    ends = np.cumsum(np.insert(lengths, 0, 0, axis=-1), axis=-1) if offsets is None else offsets
    starts = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -INF, "min": INF}
    start = starts[reduce] if initial is None else initial

    def line(x: Array, ends: Array) -> Array:
        if ends.ndim > 1:
            return np.stack([line(a, b) for a, b in zip(x, ends, strict=True)])
        rows = []
        for begin, end in itertools.pairwise(ends):
            part = np.concatenate([np.full((1, *x.shape[1:]), start), x[begin:end]])
            if reduce == "mean":
                count = end - begin
                rows.append(
                    part.sum(0) / count if count else np.full(x.shape[1:], np.nan if initial is None else initial)
                )
            else:
                rows.append({"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[reduce](part, axis=0))
        return np.array(rows).reshape(len(rows), *x.shape[1:])

    return line(x, ends)


def placed(x: Array, src: Array, size: Any, stride: Any, storage_offset: int | None = None) -> Array:
    y = x.copy().reshape(-1)
    for where in np.ndindex(*size):
        y[(storage_offset or 0) + sum(i * n for i, n in zip(where, stride, strict=True))] = src[where]
    return y.reshape(x.shape)


def histogramdd(x: Array, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    points = x.reshape(-1, x.shape[-1])
    ends = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    weights = None if weight is None else weight.reshape(-1)
    found, edges = np.histogramdd(points, bins, ends, density, weights)
    return (found.astype(x.dtype), *(e.astype(x.dtype) for e in edges))


def flat_histogram(rg: Any, *args: Any, **kwargs: Any) -> Any:
    found = rg.histogramdd(*args, **kwargs)
    assert type(found).__name__ == "histogramdd" and isinstance(found.bin_edges, tuple)
    return (found.hist, *found.bin_edges)


POINTS = given([[0.0, 0.25], [1.0, 1.1875], [2.0, 0.5], [0.4375, 2.0], [1.0, 2.0]])
AT = index([2, 0, 2])
ROWS = index([[2, 0, 2], [1, 3, 0]])

RECORDS = [
    OpRecord(
        name="gradient",
        reference=gradient,
        dtypes=(*FLOATS, "int32", "int64"),
        result="float",
        method=False,
        complex=True,
        halves=64,  # differences of numbers that were rounded
        slack=64.0,
        samples=(
            s(t(3, 4)),
            s(t(3, 4), spacing=0.5, edge_order=2),
            s(t(3, 4), dim=1),
            s(t(2, 3, 5), dim=(0, -1), spacing=2),
            s(t(3, 4), spacing=[2.0, 0.25]),
            s(t(3, 4), spacing=[PLACES], dim=1).but(dtypes=FLOATS, layouts=("transposed", "stepped")),
            s(t(4, 3), spacing=[PLACES, THREE], edge_order=2).but(dtypes=FLOATS, layouts=("transposed", "stepped")),
            *(s(t(n), edge_order=1 + n % 2) for n in UGLY if n > 2),
        ),
        refuses=(
            Refusal(
                s(t(3, 4), edge_order=3), RuntimeError, r"torch.gradient only supports edge_order=1 and edge_order=2."
            ),
            Refusal(s(t(3, 4), dim=2), IndexError, r"-2.*1"),
            Refusal(s(t(3, 4), dim=(1, 1)), RuntimeError, r"dim 1 appears multiple times in the list of dims"),
            Refusal(
                s(t(3, 4), spacing=[1.0]), RuntimeError, r"a list of length equal to 'self.dim\(\) = 2', since dim argu"
            ),
            Refusal(
                s(t(3, 4), spacing=[1.0], dim=(0, 1)),
                RuntimeError,
                r"spacing and dim arguments to have the same length",
            ),
            Refusal(
                s(t(3, 1)), RuntimeError, r"torch.gradient expected each dimension size to be at least edge_order\+1"
            ),
            Refusal(
                s(t(4), spacing=[t(1, 4)]), RuntimeError, r"expected each element of spacing to have one dimension, but"
            ),
            Refusal(s(given([1, 2], "uint8")), RuntimeError, r"does not support uint8"),
        ),
    ),
    OpRecord(
        name="renorm",
        reference=renorm,
        complex=True,
        halves=2,
        inplace=True,
        out=True,
        slack=64.0,
        domain=DISTINCT,
        samples=(
            *(s(t(3, 4), p, 0, 1.5) for p in (0.5, 1, 1.5, 2, 3, INF)),
            s(t(2, 3, 5), 2, -1, 0.75),
            s(t(2, 3, 5), 2.0, 1, 0.0),
            s(t(3, 4), 2, 1, 100.0),
            s(t(0, 3), 2, 0, 1.0),
            *(s(t(2, n), 2, 0, 1.0) for n in UGLY if n),
        ),
        edges=(
            Edge(s(given([[3.0, 4.0]]), 2, 0, 5.0), [[1.0, 1.0]], ([[1.0, 1.0]],)),
            Edge(s(given([[0.0, 0.0]]), 2, 0, 5.0), [[1.0, 2.0]], ([[1.0, 2.0]],)),
        ),
        refuses=(
            Refusal(s(t(3), 2, 0, 1.0), RuntimeError, r"renorm: input needs at least 2 dimensions, got 1 dimensions"),
            Refusal(s(t(3, 4), 0, 0, 1.0), RuntimeError, r"renorm: non-positive-norm not supported"),
            Refusal(s(t(3, 4), 2, 0, -1), RuntimeError, r"renorm: expected maxnorm to be >= 0 but got -1"),
            Refusal(s(t(3, 4), 2, 2, 1.0), IndexError, r"-2.*1"),
            Refusal(s(t(3, 4), 2, 0, 1.0), RuntimeError, r"Expected a floating point or complex tensor", dtype="int64"),
        ),
    ),
    OpRecord(
        name="frobenius_norm",
        reference=frobenius,
        method=False,
        out=True,
        halves=1,
        slack=64.0,
        samples=(s(t(3, 4), 0), s(t(3, 4), (0, 1)), s(t(2, 3, 5), [-1], True), s(t(3, 4), []), s(t(33), 0)),
        refuses=(
            Refusal(
                s(t(2, 2, 2), (0, 1, 2)), RuntimeError, r"Expected at most 2 dimensions, but got 3 dimensions instead"
            ),
            Refusal(s(t(3, 4), 2), IndexError, r"-2.*1"),
            Refusal(
                s(index([1]), 0), RuntimeError, r"input dtype should be either floating point or complex. Got Long"
            ),
        ),
    ),
    OpRecord(
        name="norm_except_dim",
        reference=except_dim,
        method=False,
        halves=1,
        slack=64.0,
        domain=DISTINCT,
        samples=(s(t(3, 4)), s(t(3, 4), 2, 1), s(t(2, 3, 5), 1, 1), s(t(3, 4), 3, -1), s(t(2, 3, 5), 2, -2), s(t(4))),
        refuses=(
            Refusal(s(t(3, 4), 2, 5), IndexError, r"-2.*1"),
            Refusal(s(index([[1]])), RuntimeError, r"input dtype should be either floating point or complex. Got Long"),
        ),
    ),
    OpRecord(
        name="hash_tensor",
        reference=hashed,
        dtypes=NUMBERS,
        result="reference",
        differentiable=False,
        out=True,
        samples=(s(t(3, 4)), s(t(3, 4), 0), s(t(2, 3, 5), (0, -1), keepdim=True), s(t()), s(t(33)), s(t(0, 3), 1)),
        refuses=(
            Refusal(s(t(3, 4), 0, mode=1), RuntimeError, r"Unknown hash_tensor mode: 1"),
            Refusal(s(t(3, 4), 2), IndexError, r"-2.*1"),
            Refusal(
                s(t(0)), RuntimeError, r"hash_tensor: Expected reduction dim to be specified for input.numel\(\) == 0"
            ),
            Refusal(s(t(0, 3), 0), IndexError, r"hash_tensor: Expected reduction dim 0 to have non-zero size"),
        ),
    ),
    OpRecord(
        name="index_reduce",
        reference=combined,
        dtypes=NUMBERS,
        domain=DISTINCT,
        inplace=True,
        out=True,
        slack=64.0,
        samples=(
            *(
                s(*args, reduce, **kwargs).but(dtypes=FLOATS, sound=False)
                for reduce in ("mean", "prod", "amax", "amin")
                for kwargs in ({}, {"include_self": False})
                for args in (
                    (t(3, 4), 0, AT, t(3, 4)),
                    (t(5), -1, index([4, 4, 0, 4]), t(4)),
                    (t(2, 4, 3), 1, AT, t(2, 3, 3)),
                )
            ),
            s(t(3, 4), 0, AT, t(3, 4), "mean").but(dtypes=("int32", "int64"), smooth=False),
            s(t(3, 4), 0, given([1, 1], "int32"), t(2, 4), "amin").but(dtypes=("int32", "uint8"), smooth=False),
        ),
        edges=(
            Edge(s(given([2.0]), 0, index([0, 0]), given([2.0, 1.0]), "amax"), [1.0], ([0.5], [0.5, 0.0])),
            Edge(s(given([3.0]), 0, index([0, 0]), given([0.0, 2.0]), "prod"), [1.0], ([0.0], [6.0, 0.0])),
        ),
        refuses=(
            Refusal(
                s(t(3), 0, index([0]), t(1), "sum"),
                RuntimeError,
                r"Expected reduce to be one of prod, mean, amax or amin",
            ),
            Refusal(s(t(3), 0, index([3]), t(1), "prod"), IndexError, r"index out of range in self"),
            Refusal(s(t(3), 0, index([-1]), t(1), "prod"), IndexError, r"index out of range in self"),
            Refusal(
                s(t(3), 0, index([[0]]), t(1), "prod"), IndexError, r"Index is supposed to be a vector, but got dim: 2"
            ),
            Refusal(
                s(t(3), 0, given([0.0]), t(1), "prod"), RuntimeError, r"Expected dtype int32/int64 for index but got"
            ),
            Refusal(
                s(t(3), 0, index([0]), t(1, dtype="float32"), "prod"), RuntimeError, r"must have the same scalar type"
            ),
            Refusal(
                s(t(3), 0, index([0]), t(2), "prod"), RuntimeError, r"Number of indices \(1\) should be equal to source"
            ),
            Refusal(
                s(t(3, 4), 0, index([0]), t(1, 3), "prod"), RuntimeError, r"source tensor shape must match self tensor"
            ),
        ),
    ),
    OpRecord(
        name="segment_reduce",
        loops=True,
        reference=segments,
        method=False,
        domain=DISTINCT,
        halves=1,
        slack=64.0,
        samples=(
            *(
                s(*args, reduce=reduce, **kwargs).but(sound=False, layouts=("transposed", "stepped"))
                for reduce in ("sum", "mean", "prod", "max", "min")
                for args, kwargs in (
                    ((t(7),), {"lengths": index([2, 1, 4])}),
                    ((t(7, 2),), {"lengths": index([2, 0, 5]), "initial": 1.25}),
                    ((t(2, 4, 3),), {"lengths": ROWS, "axis": 1, "initial": 0.75}),
                    ((t(7),), {"offsets": index([0, 3, 7])}),
                )
            ),
            s(t(5), "sum", lengths=index([2, 1]), unsafe=True).but(sound=False),
            s(t(33), "prod", lengths=given([16, 17], "int32")).but(sound=False),
        ),
        edges=(
            Edge(s(given([1.0, 3.0, 3.0]), "max", lengths=index([3])), [1.0], ([0.0, 0.5, 0.5],)),
            Edge(s(given([1.0, 3.0, 3.0]), "max", lengths=index([3]), initial=3.0), [1.0], ([0.0, 0.5, 0.5],)),
            Edge(s(given([0.0, 3.0, 5.0]), "prod", lengths=index([3])), [1.0], ([15.0, 0.0, 0.0],)),
        ),
        refuses=(
            Refusal(
                s(t(3), "median", lengths=index([3])),
                RuntimeError,
                r"reduce argument must be either sum, prod, mean, amax",
            ),
            Refusal(s(t(3), "sum"), RuntimeError, r"Either lengths or offsets must be defined"),
            Refusal(
                s(t(3), "sum", lengths=index([2])), RuntimeError, r"Expected all rows of lengths along axis to sum to"
            ),
            Refusal(s(t(3), "sum", lengths=index([-1, 4])), RuntimeError, r"lengths contains negative value!"),
            Refusal(
                s(t(3, 2), "sum", lengths=index([2]), axis=1),
                RuntimeError,
                r"Expected axis to be the last dimension of",
            ),
            Refusal(s(t(3), "sum", indices=index([0])), RuntimeError, r"indices based reduction is not supported yet"),
            Refusal(s(index([1, 2]), "sum", lengths=index([2])), NotImplementedError, r"_segment_reduce_cpu.*'Long'"),
        ),
    ),
    OpRecord(
        name="as_strided_scatter",
        reference=placed,
        layouts=False,
        seed=0,  # as of random ops, batches are refused
        samples=(
            s(t(3, 4), t(2, 2), (2, 2), (5, 1)),
            s(t(3, 4), t(2, 2), (2, 2), (1, 2), 3),
            s(t(3, 4), t(3), (3,), (4,), storage_offset=1),
            s(t(3, 4), t(), (), ()),
            s(t(2, 3), t(0, 2), (0, 2), (1, 1)),
        ),
        refuses=(
            Refusal(
                s(t(3, 4), t(3), (2, 2), (1, 2)),
                RuntimeError,
                r"expected src to have a size equal to the slice of self",
            ),
            Refusal(s(t(3, 4), t(2, 2), (2, 2), (20, 1)), RuntimeError, r"out of bounds for storage"),
            Refusal(s(t(3, 4), t(2), (2,), (-1,)), RuntimeError, r"Negative strides are not supported at the moment"),
            Refusal(s(t(3, 4), t(2), (2,), (1, 1)), RuntimeError, r"mismatch in length of strides and shape"),
        ),
    ),
    OpRecord(
        name="histogramdd",
        loops=True,
        reference=histogramdd,
        call=flat_histogram,
        method=False,
        differentiable=False,
        result="same",
        samples=(
            s(POINTS, 4),
            s(POINTS, [2, 8], range=(0.0, 2.0, 0.0, 2.0)),
            s(POINTS, [2, 4], (0.0, 2.0, 0.0, 2.0), given([1.0, 2.0, 0.5, 0.0, 4.0]), True),
            s(POINTS, [given([0.0, 0.5, 2.0]), given([0.25, 1.0, 1.5, 2.0])]),
            s(POINTS, (given([0.0, 0.5, 2.0]), given([0.25, 2.0])), density=True),
            s(given([[[0.0], [1.0]], [[0.25], [0.5]]]), 2, weight=given([[1.0, 2.0], [3.0, 4.0]])),
        ),
        refuses=(
            Refusal(s(t(3), 2), RuntimeError, r"torch.histogramdd: input tensor should have at least 2 dimensions"),
            Refusal(
                s(t(3, 2), [2]), RuntimeError, r"The size of bins must be equal to the innermost dimension of the input"
            ),
            Refusal(s(t(3, 2), [2, 0]), RuntimeError, r"bins must be > 0, but got 0 for dimension 1"),
            Refusal(s(t(3, 2), 2, (0.0, 1.0)), RuntimeError, r"range should have 4 elements, but got 2"),
            Refusal(
                s(t(3, 2), 2, (1.0, 0.0, 0.0, 1.0)), RuntimeError, r"min should not exceed max, but got min 1 max 0"
            ),
            Refusal(s(t(3, 2), 2, (0.0, INF, 0.0, 1.0)), RuntimeError, r"range \[0, inf\] is not finite"),
            Refusal(
                s(t(3, 2), [given([0.0, 1.0])]), RuntimeError, r"expected 2 sequences of bin edges for a 2-dimensional"
            ),
            Refusal(
                s(t(3, 2), [t(2), t(1, 1)]),
                RuntimeError,
                r"bins tensor should have one dimension, but got 2 dimensions",
            ),
            Refusal(
                s(t(3, 2), 2, weight=t(2)), RuntimeError, r"same shape as the input tensor excluding its innermost"
            ),
            Refusal(s(index([[1, 2]]), 2), NotImplementedError, r"histogramdd.*'Long'"),
        ),
    ),
]
