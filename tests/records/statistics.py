"""Records of ops that compare or order elements: extremes, modes, quantiles, differences, distances."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from records import STANDIN
from records.order import APART, vectors
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
    given,
    index,
    s,
    t,
    ugly,
)

NAN = np.nan
NATIVE = STANDIN == "retrograd"
INF = np.inf
BAD_DIM = Refusal(s(t(3, 4), dim=2), IndexError, r"-2.*1", r"2")


def covariance(x: Array, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def aminmax(x: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    if x.ndim == 0 or (x.size == 0 and dim is None):
        return x, x
    return x.min(dim, keepdims=keepdim), x.max(dim, keepdims=keepdim)


def most(line: Array) -> int:
    """The last index of the smallest of the elements that occur most often; NaN equals nothing."""
    counts = [(line == v).sum() or 1 for v in line]
    best = [i for i, n in enumerate(counts) if n == max(counts)]
    low = min(best, key=lambda i: (line[i] != line[i], 0 if line[i] != line[i] else line[i]))
    return [i for i in best if i == low or line[i] == line[low]][-1]


@vectors
def mode(x: Array, dim: int = -1, keepdim: bool = False) -> Any:
    at = np.apply_along_axis(most, dim, x) if x.size else np.zeros(np.delete(x.shape, dim), np.int64)
    at = np.expand_dims(at.astype(np.int64), dim)
    values = np.take_along_axis(x, at, dim)
    return (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim))


def quantile(ignore_nan: bool) -> Callable[..., Any]:
    def reference(
        x: Array, q: Any, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
    ) -> Array:
        call = np.nanquantile if ignore_nan else np.quantile
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of lines without a number
            return np.asarray(call(x, np.asarray(q), dim if x.ndim else None, method=interpolation, keepdims=keepdim))

    return reference


PARTS = given([0.0, 0.31, 0.5, 1.0])
QUANTILES = (
    s(t(3, 4), 0.3),
    s(t(3, 4), 0.62, 0),
    s(t(3, 4), 0.62, dim=-1, keepdim=True),
    s(t(2, 3, 5), PARTS),
    s(t(2, 3, 5), PARTS, 1),
    s(t(2, 3, 5), PARTS, 1, True),
    s(t(3, 4), given(0.37), keepdim=True),
    s(t(), 0.5),
    s(t(), PARTS, dim=0),
    s(t(33), PARTS, interpolation="lower"),
    s(t(17), PARTS, interpolation="higher"),
    s(t(4, 3), given([0.1, 0.6]), 0, interpolation="midpoint"),
    s(t(9), given([0.1, 0.4]), interpolation="nearest"),
    s(t(1), 0.9),
)


def has_nan(sample: Sample) -> bool:
    values = sample.args[0].values
    return values is not None and bool(np.isnan(values).any())


def quantile_of(name: str, ignore_nan: bool, *more: Sample) -> OpRecord:
    return OpRecord(
        name=name,
        reference=quantile(ignore_nan),
        domain=DISTINCT,
        out=NATIVE,  # PyTorch takes operands that require grad
        # A part of 0 or 1 lies at a kink; and halves are one for the nearest element.
        samples=tuple(x.but(layouts=APART, smooth=PARTS not in x.args and not has_nan(x)) for x in (*QUANTILES, *more)),
        refuses=(
            BAD_QUANTILE_DIM,
            Refusal(s(t(0), 0.5), RuntimeError, r"input tensor must be non-empty"),
            Refusal(s(t(3), 1.5), RuntimeError, r"q must be in the range \[0, 1\] but got 1.5"),
            Refusal(s(t(3), given([0.5, -0.1])), RuntimeError, r"q values must be in the range \[0, 1\]"),
            Refusal(s(t(3), given([[0.5]])), RuntimeError, r"q must be a scalar or 1D tensor"),
            Refusal(s(t(3), given([0.5], "float32")), RuntimeError, r"same dtype as the input"),
            Refusal(s(index([1, 2]), 0.5), RuntimeError, r"either float or double"),
            Refusal(s(t(3), 0.5, interpolation="middle"), RuntimeError, r"interpolation must be one of.*got middle"),
        ),
    )


BAD_QUANTILE_DIM = Refusal(s(t(3, 4), 0.5, dim=2), IndexError, r"-2.*1", r"2")


def diff(x: Array, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Array:
    parts = [y for y in (prepend, x, append) if y is not None]
    x = np.concatenate(parts, dim) if n else x
    for _ in range(min(n, x.shape[dim])):
        x = np.diff(x, axis=dim)
    return x


def trapezoid(y: Array, x: Any = None, dx: float = 1, dim: int = -1) -> Array:
    if y.shape[dim] == 0:
        return np.zeros(np.delete(y.shape, dim), y.dtype)
    return np.asarray(np.trapezoid(y, x, dx, dim))


def cumulative(y: Array, x: Any = None, dx: float = 1, dim: int = -1) -> Array:
    if x is not None and x.ndim == 1 and y.ndim > 1:
        x = x.reshape([-1 if d == dim % y.ndim else 1 for d in range(y.ndim)])
    steps = dx if x is None else np.diff(x, axis=dim)
    later, sooner = (np.take(y, range(*ends), dim) for ends in ((1, max(y.shape[dim], 1)), (0, y.shape[dim] - 1)))
    return np.cumsum(steps * (later + sooner) / 2, dim)


def integral(name: str, reference: Callable[..., Array]) -> OpRecord:
    return OpRecord(
        name=name,
        complex=True,
        reference=reference,
        dtypes=(*FLOATS, "int32", "int64"),  # differences of unsigned places wrap
        result="float",
        method=False,
        samples=(
            s(t(3, 4)),
            s(t(3, 4), dim=0),
            s(t(33), dx=0.5),
            s(t(2, 3, 5), dx=2, dim=1),
            s(t(3, 4), t(3, 4)),
            s(t(3, 4), t(4)),
            s(t(3, 4), t(3), dim=0),
            s(t(2, 3, 4), t(3, 4)),
            s(t(2, 1)),
            *(x.but(dtypes=FLOATS) for x in (s(t(2, 0)), s(t(0, 3)), s(t(0)))),
        ),
        refuses=(
            Refusal(s(t(3, dtype="bool")), RuntimeError, r"bool input for `y`"),
            Refusal(s(t(3), t(3, dtype="bool")), RuntimeError, r"bool input for `x` or `y`"),
            Refusal(s(t(3), t(2)), RuntimeError, r"one `x` value for each sample point", r"2.*3"),
            Refusal(s(t()), IndexError),
            BAD_DIM,
            Refusal(s(t(3), dx=1j), RuntimeError, r"dx as a real number"),
        ),
    )


def distances(x1: Array, x2: Array, p: float = 2.0, compute_mode: str = "") -> Array:
    x = np.abs(x1[..., :, None, :] - x2[..., None, :, :])
    if p == 0:
        return (x != 0).sum(-1).astype(x.dtype)
    if p == INF:
        return x.max(-1) if x.shape[-1] else x.sum(-1)
    return (x**p).sum(-1) ** (1 / p)


MM = "use_mm_for_euclid_dist"
DIRECT = "donot_use_mm_for_euclid_dist"


def exponential(x: Array) -> Array:
    """Halved often, summed, squared as often."""
    if x.size == 0:
        return x
    small, total = x / 2**12, np.zeros_like(x) + np.eye(x.shape[-1])
    term = total
    for k in range(1, 12):
        term = term @ small / k
        total = total + term
    for _ in range(12):
        total = total @ total
    return total


RECORDS = [
    OpRecord(
        name="aminmax",
        halves=0,
        reference=aminmax,
        domain=DISTINCT,
        dtypes=ALL,
        result=("same", "same"),
        out=True,
        samples=tuple(
            x.but(layouts=APART)
            for x in (
                s(t(3, 4)),
                s(t(3, 4), dim=0),
                s(t(2, 3, 5), dim=-2, keepdim=True),
                s(t()),
                s(t(), dim=0),
                s(t(2, 0), dim=0),
                *(s(t(n)) for n in (1, 17, 33)),
                s(given([1.0, NAN, 0.0])).but(smooth=False, dtypes=FLOATS),
            )
        ),
        refuses=(
            BAD_DIM,
            Refusal(s(t(0)), RuntimeError, r"empty dimension as the operation has no identity"),
            Refusal(s(t(2, 0), dim=1), IndexError, r"(?i)dim 1 to have non-zero size"),
        ),
    ),
    OpRecord(
        name="mode",
        halves=0,
        reference=mode,
        domain=DISTINCT,
        dtypes=ALL,
        result=("same", "int64"),
        out=True,
        samples=tuple(
            x.but(layouts=APART)
            for x in (
                s(t(3, 4)),
                s(t(3, 4), 0),
                s(t(2, 3, 5), dim=-2, keepdim=True),
                s(t()),
                s(t(2, 0), dim=0),
                s(t(9)),
                s(given([3, 1, 1, 3, 2])).but(smooth=False),
                s(given([3.0, NAN, NAN, 2.0])).but(smooth=False, dtypes=FLOATS),
            )
        ),
        edges=(Edge(s(given([3.0, 1.0, 1.0, 3.0])), 2.0, ([0.0, 0.0, 2.0, 0.0],)),),
        refuses=(BAD_DIM, Refusal(s(t(2, 0), dim=1), IndexError, r"(?i)dim 1 to have non-zero size")),
    ),
    quantile_of("quantile", False, s(given([1.0, NAN, 2.0]), 0.5)),
    quantile_of("nanquantile", True, s(given([1.0, NAN, 2.0, 0.5]), 0.3), s(given([[NAN, 1.0], [NAN, 3.0]]), 0.3, 0)),
    OpRecord(
        name="diff",
        complex=True,
        halves=1,
        reference=diff,
        dtypes=ALL,
        out=True,
        samples=(
            s(t(3, 4)),
            s(t(3, 4), 2, 0),
            s(t(3, 4), dim=0, prepend=t(2, 4), append=t(1, 4)),
            s(t(5), 3, append=t(0)),
            s(t(3), 0),
            s(t(3), 5),
            *(x.but(sound=x.args[0].shape != (0,)) for x in ugly(1)),
        ),
        refuses=(
            BAD_DIM,
            Refusal(s(t()), RuntimeError, r"at least one-dimensional"),
            Refusal(s(t(3), -1), RuntimeError, r"must be non-negative but got -1"),
            Refusal(s(t(3), prepend=t(1, 3)), RuntimeError, r"same dimension as input"),
            Refusal(s(t(2, 3), append=t(3, 1)), RuntimeError, r"input.size\(0\) = 2.*size\(0\) = 3"),
        ),
    ),
    integral("trapezoid", trapezoid),
    integral("cumulative_trapezoid", cumulative),
    OpRecord(
        name="vdot",
        complex=True,
        halves=1,
        reference=np.vdot,
        dtypes=NUMBERS,
        out=True,
        slack=64.0,
        samples=ugly(2),
        refuses=(
            Refusal(s(t(2), t(3)), RuntimeError, r"inconsistent tensor size", r"2.*3"),
            Refusal(s(t(2, 2), t(2)), RuntimeError, r"1D tensors expected"),
            Refusal(s(t(2), index([1, 2])), RuntimeError, r"same dtype"),
        ),
    ),
    OpRecord(
        name="vander",
        complex=True,
        halves=0,
        reference=lambda x, N=None, increasing=False: np.vander(x, N, increasing),
        dtypes=ALL,
        result="sum",
        method=False,
        slack=64.0,
        # PyTorch has no derivative here: it writes over what it saved.
        layouts=NATIVE,
        samples=tuple(
            x.but(smooth=NATIVE) for x in (s(t(3)), s(t(5), 3, True), s(t(3), N=1), s(t(3), 0), s(t(0)), s(t(17), 4))
        ),
        refuses=(
            Refusal(s(t(2, 2)), RuntimeError, r"one-dimensional"),
            Refusal(s(t(2), -1), RuntimeError, r"N must be non-negative"),
        ),
    ),
    *(
        OpRecord(
            name=name,
            reference=lambda x, p=2.0: distances(x, x, p)[np.triu_indices(len(x), 1)],
            method=False,
            slack=64.0,
            # PyTorch has no forward mode and no second derivative here.
            samples=tuple(
                x.but(sound=False)
                for x in (
                    s(t(4, 3)),
                    *(s(t(4, 3), p) for p in (0.0, 1.0, 1.5, 3.0, INF)),
                    s(t(3, 17), p=2),
                    s(t(1, 3)),
                    s(t(0, 3)),
                    s(t(3, 0)),
                )
            ),
            edges=tuple(
                Edge(
                    s(given([[1.0, 2.0], [1.0, 2.0], [1.0, 5.0]]), p),
                    [1.0, 1.0, 1.0],
                    ([[0.0, slope], [0.0, slope], [0.0, -2 * slope]],),
                )
                for p, slope in ((0.0, 0.0), (0.5, -1.0), (1.0, -1.0), (2.0, -1.0), (3.0, -1.0), (INF, -1.0))
            ),
            refuses=(
                Refusal(s(t(2)), RuntimeError, r"pdist only supports 2D tensors, got: 1D"),
                Refusal(s(t(2, 3), -1.0), RuntimeError, r"non-negative p values"),
                Refusal(s(index([[1, 2]])), RuntimeError, r"pdist only supports floating-point dtypes"),
                Refusal(s(t(2, 3)), NotImplementedError, r"pdist.*'Half'", dtype="float16"),
            ),
        )
        for name in ("pdist", "nn.functional.pdist")
    ),
    OpRecord(
        name="cdist",
        reference=distances,
        method=False,
        slack=64.0,
        samples=tuple(
            x.but(sound=False)
            for x in (
                s(t(3, 4), t(5, 4)),
                *(s(t(3, 4), t(5, 4), p) for p in (0.0, 1.0, 1.5, 3.0, INF)),
                s(t(3, 4), t(5, 4), compute_mode=MM),
                s(t(3, 17), t(2, 17), 2, DIRECT),
                s(t(2, 3, 4), t(5, 4)),
                s(t(2, 1, 3, 2), t(4, 2, 2), 1.0),
                s(t(26, 3), t(2, 3)),
                s(t(0, 4), t(5, 4)),
                s(t(3, 4), t(0, 4)),
                s(t(3, 0), t(2, 0)),
            )
        ),
        edges=tuple(
            Edge(
                s(given([[1.0, 2.0], [3.0, 3.0]]), given([[1.0, 2.0], [3.0, 5.0]]), p),
                [[1.0, 0.0], [0.0, 1.0]],
                ([[0.0, 0.0], [0.0, slope]], [[0.0, 0.0], [0.0, -slope]]),
            )
            for p, slope in ((0.0, 0.0), (0.5, -1.0), (1.0, -1.0), (2.0, -1.0), (3.0, -1.0), (INF, -1.0))
        ),
        refuses=(
            Refusal(s(t(2), t(2, 3)), RuntimeError, r"at least 2D tensors, X1 got: 1D"),
            Refusal(s(t(2, 3), t(2, 4)), RuntimeError, r"same number of columns. X1: 3 X2: 4"),
            Refusal(s(t(2, 3), t(2, 3), -1.0), RuntimeError, r"non-negative p values"),
            Refusal(s(t(2, 3), t(2, 3), 2.0, "fast"), ValueError, r"fast is not a valid value for compute_mode"),
            Refusal(s(t(2, 3, dtype="int64"), t(2, 3)), RuntimeError, r"floating-point dtypes, X1 got: Long"),
            Refusal(s(t(2, 3), t(2, 3, dtype="float32")), RuntimeError, r"(?i)float"),
            Refusal(s(t(2, 2, 3), t(4, 5, 3)), RuntimeError, r"2\).*4\)|2.*4"),
        ),
    ),
    OpRecord(
        name="nn.functional.bilinear",
        reference=lambda a, b, w, bias=0: np.einsum("...i,oij,...j->...o", a, w, b) + bias,
        method=False,
        slack=64.0,
        samples=(
            s(t(2, 3), t(2, 4), t(5, 3, 4)),
            s(t(2, 3), t(2, 4), t(5, 3, 4), t(5)),
            s(t(3), t(4), t(2, 3, 4), bias=t(2)),
            s(t(2, 3, 2), t(2, 3, 1), t(1, 2, 1)),
            s(t(0, 3), t(0, 4), t(2, 3, 4)),
        ),
        refuses=(
            Refusal(
                s(t(2, 3), t(3, 4), t(5, 3, 4)), RuntimeError, r"batch dimensions do not match at dim 0: got 2 and 3"
            ),
            Refusal(s(t(2, 3), t(2, 4), t(5, 3, 3)), RuntimeError, r"input2 size.*got 4 but expected 3"),
            Refusal(s(t(2, 3), t(2, 4), t(5, 2, 4)), RuntimeError, r"input1 size.*got 3 but expected 2"),
            Refusal(s(t(2, 3), t(2, 4), t(5, 3, 4), t(4)), RuntimeError, r"bias size.*4.*expected 5"),
            Refusal(s(t(3), t(1, 4), t(5, 3, 4)), RuntimeError, r"input dimensions do not match: got 1 and 2"),
        ),
    ),
    OpRecord(
        name="matrix_exp",
        complex=True,
        halves=1,
        covers=("linalg.matrix_exp",),
        reference=exponential,
        slack=4096.0,  # of a norm of some tens, and the reference is no better
        samples=(s(t(3, 3)), s(t(2, 2, 2)), s(t(1, 1)), s(t(5, 5)), s(t(0, 2, 2)), s(t(2, 0, 0))),
        refuses=(
            Refusal(s(t(2)), RuntimeError, r"at least 2 dimensions"),
            Refusal(s(t(2, 3)), RuntimeError, r"square matrices, but they are 2 by 3"),
            Refusal(s(index([[1]])), RuntimeError, r"floating point or complex tensor as input. Got Long"),
        ),
    ),
    OpRecord(
        name="cov",
        complex=True,
        reference=covariance,
        dtypes=NUMBERS,
        result="float",
        slack=64.0,
        samples=(
            s(t(3, 5)),
            s(t(6)),
            s(t(3, 5), correction=0),
        ),
        refuses=(
            Refusal(s(t(2, 2, 2)), RuntimeError, r"two or fewer dimensions but got an input with 3"),
            Refusal(s(t(2, dtype="bool")), RuntimeError, r"bool dtype is not supported for input"),
            Refusal(s(t(2, 3), fweights=given([1.0, 2.0, 3.0])), RuntimeError, r"fweights to have integral dtype"),
            Refusal(s(t(2, 3), fweights=index([1, 2])), RuntimeError, r"same numel as there are observations"),
            Refusal(s(t(2, 3), fweights=index([1, 2, -1])), RuntimeError, r"fweights cannot be negative"),
            Refusal(s(t(2, 3), aweights=index([1, 2, 3])), RuntimeError, r"aweights to have floating point dtype"),
            Refusal(s(t(2, 3), aweights=given([0.0, 0.0, 0.0])), RuntimeError, r"weights sum to zero"),
        ),
    ),
    OpRecord(
        name="corrcoef",
        complex=True,
        reference=np.corrcoef,
        dtypes=NUMBERS,
        result="float",
        slack=64.0,
        samples=(s(t(3, 5)), s(t(2, 7)), s(t(5)).but(smooth=False)),
        refuses=(
            Refusal(s(t(2, 2, 2)), RuntimeError, r"corrcoef\(\): expected input to have two or fewer dimensions"),
        ),
    ),
]
