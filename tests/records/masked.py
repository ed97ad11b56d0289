"""Records of the reductions and normalizations of the module `masked`."""

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
    Dtype,
    Edge,
    OpRecord,
    Refusal,
    Sample,
    given,
    index,
    mask,
    s,
    t,
)

INF = np.inf
SOME = mask([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
ROW = mask([True, False, True, True])
COLUMN = mask([[True], [False], [True]])
EVERY_FOURTH = [mask(np.arange(n) % 4 != 1) for n in UGLY]

Reference = Callable[..., Any]


def filled(x: Array, where: Any, fill: Any) -> Array:
    return x if where is None else np.where(np.broadcast_to(where, x.shape), x, np.asarray(fill).astype(x.dtype))


def axes_of(dim: Any, ndim: int) -> Any:
    if dim is None or dim == ():
        return tuple(range(ndim))
    if ndim == 0:
        return ()
    return tuple(d % ndim for d in ([dim] if isinstance(dim, int) else dim))


def over(call: Reference, fill: Any) -> Reference:
    """A reduction of NumPy on what the mask leaves; `fill` may depend on the array."""

    def reference(x: Array, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Array:
        x = x if dtype is None else x.astype(dtype)
        x = filled(x, mask, fill(x) if callable(fill) else fill)
        return np.asarray(call(x, axis=axes_of(dim, x.ndim), keepdims=bool(keepdim)))

    return reference


def lowest(x: Array) -> Any:
    return -INF if x.dtype.kind in "fc" else np.iinfo(x.dtype).min


def highest(x: Array) -> Any:
    return INF if x.dtype.kind in "fc" else np.iinfo(x.dtype).max


def chosen(call: Reference, fill: Any) -> Reference:
    def reference(x: Array, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Array:
        y = np.asarray(call(filled(x, mask, fill(x)), axis=dim, keepdims=keepdim))
        return y.astype(dtype or x.dtype)

    return reference


def running(call: Reference, fill: float) -> Reference:
    def reference(x: Array, dim: int, *, dtype: Any = None, mask: Any = None) -> Array:
        x = filled(x if dtype is None else x.astype(dtype), mask, fill)
        return np.asarray(call(x, axis=dim, dtype=x.dtype) if x.ndim else x)

    return reference


def counted(x: Array, dim: Any, keepdim: Any, mask: Any) -> Any:
    inside = np.broadcast_to(True if mask is None else mask, x.shape)
    return inside.sum(axis=axes_of(dim, x.ndim), keepdims=bool(keepdim))


def mean(x: Array, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Array:
    return np.asarray(over(np.sum, 0)(x, dim, keepdim=keepdim, dtype=dtype, mask=mask) / counted(x, dim, keepdim, mask))


def variance(root: bool) -> Reference:
    def reference(
        x: Array,
        dim: Any = None,
        unbiased: Any = None,
        *,
        correction: Any = None,
        keepdim: bool = False,
        dtype: Any = None,
        mask: Any = None,
    ) -> Array:
        x = x if dtype is None else x.astype(dtype)
        centred = np.abs(x - mean(x, dim, keepdim=True, mask=mask)) ** 2
        total = over(np.sum, 0)(centred, dim, keepdim=keepdim, mask=mask)
        taken = float(unbiased is not False) if correction is None else correction
        y = total / np.maximum(counted(x, dim, keepdim, mask) - taken, 0)
        return np.asarray(np.sqrt(y) if root else y).astype(np.result_type(x, y) if x.dtype.kind == "c" else y.dtype)

    return reference


def median(x: Array, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Array:
    y = np.sort(filled(x.astype(np.float64), mask, np.nan), axis=dim if x.ndim else None)
    if x.ndim == 0:
        return x
    last = np.maximum(np.isfinite(y).sum(axis=dim, keepdims=True) - 1, 0) // 2
    y = np.take_along_axis(y, last, dim)
    return y if keepdim else y.squeeze(dim)


def norm(
    x: Array, ord: float = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Array:
    x = np.abs(filled(x if dtype is None else x.astype(dtype), mask, INF if ord == -INF else 0))
    rest: dict[str, Any] = {"axis": axes_of(dim, x.ndim), "keepdims": bool(keepdim)}
    if np.isinf(ord):
        return np.asarray((np.max if ord > 0 else np.min)(x, **rest))
    if ord == 0:
        return np.asarray((x != 0).sum(**rest).astype(x.dtype))
    return np.asarray((x**ord).sum(**rest) ** (1 / ord))


def softmax(sign: float, log: bool) -> Reference:
    def reference(x: Array, dim: int, *, dtype: Any = None, mask: Any = None) -> Array:
        x = sign * filled(x, mask, -sign * INF)
        e = np.exp(x - x.max(axis=dim, keepdims=True, initial=-1e300)) if x.ndim else np.ones_like(x)
        y = e / e.sum(axis=dim, keepdims=True) if x.ndim else e
        y = np.log(y) if log else y
        return np.asarray(y if dtype is None else y.astype(dtype))

    return reference


def normalize(x: Array, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Array:
    return filled(x, mask, 0) / np.maximum(norm(x, ord, dim, keepdim=True, dtype=dtype, mask=mask), eps)


def logsumexp(x: Array, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(over(np.sum, 0)(np.exp(x), dim, keepdim=keepdim, mask=mask)))


def logaddexp(x: Array, y: Array, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Array:
    z = np.logaddexp(filled(x, input_mask, -INF), filled(y, other_mask, -INF))
    return np.asarray(z if dtype is None else z.astype(dtype))


def reductions(empty: bool = True, dtype: bool = True) -> tuple[Sample, ...]:
    found = [
        s(t(3, 4)),
        s(t(3, 4), mask=SOME),
        s(t(3, 4), 0, mask=SOME),
        s(t(3, 4), -1, keepdim=True, mask=ROW),
        s(t(2, 3, 4), (0, 2), mask=SOME),
        s(t(2, 3, 4), [1], keepdim=True),
        s(t(2, 3, 4), (), mask=COLUMN),
        s(t(), mask=mask(True)),
        *(s(t(n), mask=where) for n, where in zip(UGLY, EVERY_FOURTH, strict=True) if n > 1),
    ]
    if dtype:
        found.append(
            s(t(3, 4), 1, dtype=Dtype("float64"), mask=SOME).but(dtypes=("float32",), result="reference", smooth=False)
        )
    if empty:
        found += [s(t(2, 0, 3), 0), s(t(0, 3), 1, mask=mask([True, False, True]))]
    return tuple(found)


LINES = (
    s(t(3, 4), 0, mask=SOME),
    s(t(3, 4), 1, mask=ROW),
    s(t(2, 3, 4), -2, mask=SOME),
    s(t(3, 4), 1),
    s(t(2, 0, 3), 0),
    *(s(t(n), 0, mask=where) for n, where in zip(UGLY, EVERY_FOURTH, strict=True) if n > 1),
)
TOO_MANY = Refusal(s(t(3, 4), 0, mask=mask([[[True]]])), IndexError, r"_input_mask expected broadcastable mask")
OTHER_SIZES = Refusal(s(t(3, 4), 0, mask=mask([True, False])), RuntimeError, r"expanded size of the tensor", r"3.*4")
REFUSES = (Refusal(s(t(3, 4), 2), IndexError, r"-2.*1"), TOO_MANY, OTHER_SIZES)
TWICE = Refusal(s(t(3, 4), (1, 1)), RuntimeError, r"appears multiple times in the list of dims")


def under(name: str, reference: Reference, samples: tuple[Sample, ...], **facts: Any) -> OpRecord:
    merged: dict[str, Any] = {"method": False, "refuses": REFUSES} | facts
    return OpRecord(name=f"masked.{name}", reference=reference, samples=samples, **merged)


RECORDS = [
    under(
        "sum",
        over(np.sum, 0),
        reductions(),
        dtypes=ALL,
        result="sum",
        complex=True,
        halves=1,
        refuses=(*REFUSES, TWICE),
    ),
    under(
        "prod",
        over(np.prod, 1),
        reductions(),
        dtypes=ALL,
        result="sum",
        complex=True,
        halves=8,
        slack=64.0,
        refuses=(*REFUSES, TWICE),
    ),
    under("cumsum", running(np.cumsum, 0), LINES, dtypes=NUMBERS, complex=True, halves=1, slack=64.0),
    under("cumprod", running(np.cumprod, 1), LINES, dtypes=NUMBERS, complex=True, halves=1, slack=64.0),
    under("amax", over(np.max, lowest), reductions(empty=False), dtypes=NUMBERS, domain=DISTINCT, halves=0),
    under("amin", over(np.min, highest), reductions(empty=False), dtypes=NUMBERS, domain=DISTINCT, halves=0),
    *(
        under(
            name,
            chosen(call, fill),
            (s(t(3, 4), 0, mask=SOME), s(t(3, 4), mask=SOME), s(t(2, 3, 4), -1, keepdim=True, mask=ROW), s(t(33))),
            dtypes=NUMBERS,
            domain=DISTINCT,
            differentiable=False,
            halves=0,
        )
        for name, call, fill in (("argmax", np.argmax, lowest), ("argmin", np.argmin, highest))
    ),
    under(
        "mean",
        mean,
        reductions(),
        complex=True,
        halves=2,
        refuses=(
            *REFUSES,
            TWICE,
            Refusal(
                s(index([1, 2])), ValueError, r"mean\(\): Could not infer output dtype. Input dtype must be either"
            ),
            Refusal(s(t(3), dtype=Dtype("int64")), ValueError, r"Optional dtype must be either"),
        ),
    ),
    under(
        "median",
        median,
        tuple(x.but(layouts=("transposed", "stepped")) for x in LINES if x.args[0].shape != (2, 0, 3)),
        dtypes=(*FLOATS, "int32", "int64"),
        domain=DISTINCT,
        reads=(0, 1),  # of integers, whether anything counted
        halves=0,
        refuses=(
            *REFUSES,
            Refusal(
                s(index([1, 2]), 0, mask=mask([False, False])), ValueError, r"masked median expects no fully masked"
            ),
        ),
    ),
    under(
        "norm",
        norm,
        (
            s(t(3, 4)),
            s(t(3, 4), mask=SOME),
            *(s(t(3, 4), p, 0, mask=SOME) for p in (0, 0.5, 1, 1.5, 3, INF, -INF)),
            s(t(2, 3, 4), 2, (0, 2), keepdim=True, mask=ROW),
            s(t(3, 4), dtype=Dtype("float64")).but(dtypes=("float32",), result="reference", smooth=False),
        ),
        domain=DISTINCT,
        halves=1,
        slack=64.0,
        refuses=(
            Refusal(s(t(3, 4), 2, 2), IndexError, r"-2.*1"),
            Refusal(s(t(3, 4), 2, 0, mask=mask([[[True]]])), IndexError, r"_input_mask expected broadcastable mask"),
            Refusal(s(index([1, 2])), RuntimeError, r"Expected a floating point or complex tensor as input. Got Long"),
        ),
    ),
    *(
        under(
            name,
            variance(root),
            (
                *(x.but(layouts=("transposed", "stepped")) for x in reductions(empty=False) if x.args[0].shape),
                s(t(3, 4), 0, False, mask=SOME),
                s(t(3, 4), unbiased=True),
                s(t(3, 4), 1, correction=0.5, keepdim=True, mask=SOME),
                s(t(3, 4), correction=-1),
            ),
            dtypes=NUMBERS,
            result="float",
            complex=True,
            halves=16,
            slack=64.0,
            refuses=(
                *REFUSES,
                TWICE,
                Refusal(s(t(3), 0, True, correction=1), AssertionError, r"Only one of unbiased and correc"),
                Refusal(s(mask([True])), RuntimeError, r"Subtraction, the `-` operator, with a bool tensor"),
            ),
        )
        for name, root in (("var", False), ("std", True))
    ),
    *(
        under(
            name,
            softmax(sign, log),
            tuple(x for x in LINES if not log) + tuple(x for x in LINES if log and "mask" not in x.kwargs),
            halves=1,
            slack=64.0,
            refuses=(
                *REFUSES,
                Refusal(s(index([1, 2]), 0), NotImplementedError, r"softmax.*not implemented for 'Long'"),
            ),
        )
        for name, sign, log in (("softmax", 1.0, False), ("log_softmax", 1.0, True), ("softmin", -1.0, False))
    ),
    under(
        "normalize",
        normalize,
        (
            *(s(t(3, 4), p, 0, mask=SOME) for p in (1, 2.0, 3, INF)),
            s(t(2, 3, 4), 2, -1),
            s(t(3, 4), 2.0, 1, eps=100.0, mask=ROW),
        ),
        domain=DISTINCT,
        complex=True,
        halves=4,
        slack=64.0,
        refuses=(
            Refusal(s(t(3, 4), 2, 2), IndexError, r"-2.*1"),
            Refusal(s(t(3, 4), 2, 0, mask=mask([[[True]]])), IndexError, r"_input_mask expected broadcastable mask"),
        ),
    ),
    under(
        "logaddexp",
        logaddexp,
        (
            s(t(3, 4), t(3, 4)),
            # Second derivatives are NaN where an operand is minus infinity.
            s(t(3, 4), t(3, 4), input_mask=SOME).but(smooth=False),
            s(t(3, 4), t(4), input_mask=SOME, other_mask=ROW).but(smooth=False),
            s(t(3), t(3), other_mask=mask([False, True, True])).but(smooth=False),
            s(t(33), t(33)),
        ),
        edges=(
            Edge(
                s(given([0.0, 1.0]), given([2.0, 1.0]), input_mask=mask([False, True])),
                [3.0, 1.0],
                ([0.0, 0.5], [3.0, 0.5]),
            ),
        ),
        halves=1,
        slack=64.0,
        refuses=(
            Refusal(s(t(3), t(2)), RuntimeError, r"3.*2"),
            Refusal(s(t(3), t(3), other_mask=mask([[True]])), IndexError, r"_input_mask expected broadcastable mask"),
            Refusal(s(index([1]), index([1])), NotImplementedError, r"logaddexp.*'Long'"),
        ),
    ),
    under(
        "logsumexp",
        logsumexp,
        reductions(empty=False, dtype=False),
        complex=True,
        halves=2,
        slack=64.0,
        refuses=(*REFUSES, TWICE),
    ),
]
