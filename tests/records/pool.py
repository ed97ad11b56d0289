"""Records of pooling in `nn.functional`, and of what the top level has of it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from records.record import DISTINCT, INTS, POSITIVE, Array, Edge, OpRecord, Refusal, Sample, given, index, s, t

MEANS = 64.0  # sums in another order than NumPy's
NO_KERNEL = NotImplementedError


def each(value: Any, rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else tuple(value)


def out_size(n: int, k: int, stride: int, p: int, d: int, ceil: bool) -> int:
    reach = n + 2 * p - d * (k - 1) - 1
    m = (math.ceil(reach / stride) if ceil else reach // stride) + 1
    return m - 1 if ceil and (m - 1) * stride >= n + p else m


Windows = list[list[tuple[list[int], int]]]


def regular(
    shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, include_pad: bool = True
) -> Windows:
    """For each axis its windows: the positions inside, and how many it counts."""
    rank = len(shape)
    stride = kernel if stride is None or stride == () else stride
    axes: Windows = []
    rows = zip(shape, each(kernel, rank), each(stride, rank), each(padding, rank), each(dilation, rank), strict=True)
    for n, k, step, p, d in rows:
        windows = []
        for i in range(out_size(n, k, step, p, d, ceil)):
            positions = [i * step - p + d * j for j in range(k)]
            inside = [x for x in positions if 0 <= x < n]
            windows.append((inside, len([x for x in positions if x < n + p]) if include_pad else len(inside)))
        axes.append(windows)
    return axes


def adaptive(shape: tuple[int, ...], out: Any) -> Windows:
    sizes = [n if m is None else m for n, m in zip(shape, each(out, len(shape)), strict=True)]
    bounds = [[range(i * n // m, -((i + 1) * n // -m)) for i in range(m)] for n, m in zip(shape, sizes, strict=True)]
    return [[(list(window), len(window)) for window in axis] for axis in bounds]


def over(x: Array, axes: Windows, f: Any, dtype: Any = None) -> Array:
    """`f(elements, their places, count)` for every window."""
    rank = len(axes)
    lead, plane = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    y = np.zeros((*lead, *(len(a) for a in axes)), dtype or x.dtype)
    places = np.arange(math.prod(plane)).reshape(plane)
    for window in itertools.product(*(range(len(a)) for a in axes)):
        cells = [axes[a][i] for a, i in enumerate(window)]
        inside = np.ix_(*(positions for positions, _ in cells))
        count = math.prod(span for _, span in cells)
        names = places[inside].ravel()
        y[(..., *window)] = f(x[(..., *inside)].reshape(*lead, names.size), names, count)
    return y


def maximum(x: Array, axes: Windows, both: bool) -> Any:
    def place(v: Array, at: Array, _: int) -> Array:
        nan = np.isnan(v) if v.dtype.kind == "f" else np.zeros(v.shape, bool)
        last = v.shape[-1] - 1 - nan[..., ::-1].argmax(-1)
        return np.asarray(at[np.where(nan.any(-1), last, v.argmax(-1))])

    values = over(x, axes, lambda v, at, n: v.max(-1))
    return (values, over(x, axes, place, "int64")) if both else values


def mean(x: Array, axes: Windows, divisor: int | None = None) -> Array:
    if x.dtype.kind == "i":
        return over(x, axes, lambda v, at, n: np.trunc(v.sum(-1) / (divisor or n)).astype(x.dtype))
    return over(x, axes, lambda v, at, n: v.sum(-1) / (divisor or n))


def max_pool(rank: int, both: bool | None) -> Any:
    def reference(
        x: Array,
        kernel: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        axes = regular(x.shape[-rank:], kernel, stride, padding, dilation, ceil_mode)
        return maximum(x, axes, return_indices if both is None else both)

    return reference


def avg_pool(rank: int) -> Any:
    def reference(
        x: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Array:
        axes = regular(x.shape[-rank:], kernel_size, stride, padding, 1, ceil_mode, count_include_pad)
        return mean(x, axes, divisor_override)

    return reference


def adaptive_max(rank: int, both: bool | None) -> Any:
    def reference(x: Array, out: Any, return_indices: bool = False) -> Any:
        return maximum(x, adaptive(x.shape[-rank:], out), return_indices if both is None else both)

    return reference


def adaptive_avg(rank: int) -> Any:
    return lambda x, out: mean(x, adaptive(x.shape[-rank:], out))


def lp_pool(rank: int) -> Any:
    def reference(x: Array, p: float, kernel: Any, stride: Any = None, ceil_mode: bool = False) -> Array:
        axes = regular(x.shape[-rank:], kernel, stride, 0, 1, ceil_mode)
        if math.isinf(p):
            return over(x, axes, lambda v, at, n: np.abs(v).max(-1) if p > 0 else np.abs(v).min(-1))
        whole = math.prod(each(kernel, rank))
        return over(x, axes, lambda v, at, n: np.abs((v**p).sum(-1) / n * whole) ** (1 / p))

    return reference


def max_unpool(rank: int) -> Any:
    def reference(
        x: Array, at: Array, kernel: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Array:
        rows = zip(
            x.shape[-rank:],
            each(kernel, rank),
            each(kernel if stride is None else stride, rank),
            each(padding, rank),
            strict=True,
        )
        sizes = [(n - 1) * step + k - 2 * p for n, k, step, p in rows]
        sizes = list(output_size[-rank:]) if output_size is not None else sizes
        lead = x.shape[: x.ndim - rank]
        y = np.zeros((math.prod(lead), math.prod(sizes)), x.dtype)
        flat = (len(y), math.prod(x.shape[-rank:]))
        for row, values, places in zip(y, x.reshape(flat), at.reshape(flat), strict=True):
            row[places] = values
        return y.reshape(*lead, *sizes)

    return reference


def places(*shape: int, plane: int) -> Any:
    """Different places of planes of `plane` elements, for every plane of a tensor of this shape."""
    rank = len(shape) - 2
    count = math.prod(shape[-rank:])
    rows = [[(3 * i + 2 * r) % plane for i in range(count)] for r in range(math.prod(shape[:2]))]
    return index(np.array(rows).reshape(shape))


def shapes(rank: int, *sizes: int) -> tuple[int, ...]:
    return sizes[-rank:]


def max_samples(rank: int) -> tuple[Sample, ...]:
    plane, wide = shapes(rank, 3, 4, 5), shapes(rank, 2, 2, 19)
    rows = [
        s(t(3, *plane), 3, 2, 1),
        s(t(2, 1, *plane), 2, 1, 1, 2, True),
        s(t(1, 2, *plane), 2, padding=1, ceil_mode=True),
        s(t(1, 1, *wide), 2, (1,) * (rank - 1) + (2,)),
        s(t(1, 1, *wide), 2, 1, dilation=(1,) * rank),
        s(t(1, 1, *shapes(rank, 2, 2, 33)), 2, 3),
        s(t(0, 2, *plane), 2),
    ]
    return tuple(row.but(layouts=("transposed", "stepped")) for row in rows)  # equal maxima have no derivative


def with_indices(rows: tuple[Sample, ...]) -> tuple[Sample, ...]:
    return tuple(row.but(kwargs=row.kwargs | {"return_indices": True}, result=("same", "int64")) for row in rows)


def with_integers(rank: int) -> tuple[Sample, ...]:
    return (s(t(2, *shapes(rank, 3, 4, 5)), 2, 1, 1).but(dtypes=INTS),)


def avg_samples(rank: int) -> tuple[Sample, ...]:
    plane, wide = shapes(rank, 3, 4, 5), shapes(rank, 2, 3, 19)
    rows = [
        s(t(3, *plane), 3, 2, 1),
        s(t(1, 2, *plane), 3, 1, 1, True, False),
        s(t(2, 1, *plane), 2, 3, 1, ceil_mode=True),
        s(t(1, 1, *wide), 2, (1,) * (rank - 1) + (2,)),
        s(t(1, 1, *wide), 2, 1, 1),
        s(t(1, 1, *shapes(rank, 2, 2, 33)), 2, 3),
        s(t(0, 2, *plane), 2),
    ]
    if rank > 1:
        rows.append(s(t(1, 2, *plane), 3, 2, 1, divisor_override=-5))
    rows.append(s(t(1, 2, *plane), 3, 2, 1).but(dtypes=("int64",)))
    return tuple(rows)


def adaptive_samples(rank: int, maxima: bool) -> tuple[Sample, ...]:
    plane, wide = shapes(rank, 3, 4, 5), shapes(rank, 2, 3, 18)
    rows = [
        s(t(3, *plane), 2),
        s(t(1, 2, *plane), 1),
        s(t(1, 2, *plane), 6),
        s(t(1, 1, *wide), shapes(rank, 1, 2, 9)),
        s(t(0, 2, *plane), 2),
        s(t(1, 1, *plane), 0).but(layouts=(), smooth=False, sound=False),
    ]
    if rank > 1:
        rows.append(s(t(2, 2, *plane), (None, *[2] * (rank - 1))))
    if maxima:
        rows = [row.but(layouts=row.layouts[:2]) for row in rows]
    return tuple(rows)


def unpool_samples(rank: int) -> tuple[Sample, ...]:
    plane = shapes(rank, 2, 1, 3)
    full = math.prod(2 * n for n in plane)
    odd = tuple(2 * n + 1 for n in plane)
    size = math.prod(odd)
    pads = tuple(3 * n - 2 for n in plane)
    return (
        s(t(2, 2, *plane), places(2, 2, *plane, plane=full if full % 3 else full - 1), 2),
        s(t(1, 2, *plane), places(1, 2, *plane, plane=size if size % 3 else size - 1), 2, output_size=(1, 2, *odd)),
        s(t(1, 2, *plane), places(1, 2, *plane, plane=size if size % 3 else size - 1), 2, None, 0, odd),
        s(t(1, 1, *plane), places(1, 1, *plane, plane=math.prod(pads)), 3, 3, 1),
        s(t(0, 2, *plane), index(np.zeros((0, 2, *plane), "int64")), 2),
    )


def functional(name: str, reference: Any, samples: tuple[Sample, ...], **facts: Any) -> OpRecord:
    return OpRecord(
        name=name, reference=reference, samples=samples, **{"method": False, "slack": MEANS, "domain": DISTINCT} | facts
    )


def fractional(rank: int, with_places: bool | None) -> Any:
    """The maxima of windows whose distances follow from samples; their places in a pair if asked."""

    def reference(
        x: Array,
        kernel: Any,
        size: Any = None,
        ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        lead, plane = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
        out = [int(n * r) for n, r in zip(plane, ratio, strict=True)] if size is None else each(size, rank)
        flat = x.reshape(-1, *plane)
        # The samples of two axes begin with that of the last.
        turns = _random_samples.reshape(-1, rank)[: len(flat), :: -1 if rank == 2 else 1]
        rows = []
        for entry, samples in zip(flat, turns, strict=True):
            axes: Windows = []
            for n, m, k, u in zip(plane, out, each(kernel, rank), samples, strict=True):
                alpha = (n - k) / (m - 1) if m > 1 else 0
                starts = [int((i + u) * alpha) - int(u * alpha) for i in range(m - 1)] + [n - k]
                axes.append([(list(range(a, a + k)), k) for a in starts])
            values = over(entry, axes, lambda x, at, n: x.max())
            places = over(entry, axes, lambda x, at, n: at[x.argmax()], np.int64)
            rows.append((values, places))
        both = tuple(np.array([row[i] for row in rows]).reshape(*lead, *out) for i in (0, 1))
        return both if with_places or (with_places is None and return_indices) else both[0]

    return reference


def fractional_samples(rank: int) -> tuple[Sample, ...]:
    x, alone = t(2, 3, *shapes(rank, 6, 7, 8)), t(3, *shapes(rank, 6, 7, 8))
    half, own = (0.5,) * rank, given(np.linspace(0.01, 0.99, 6 * rank).reshape(2, 3, rank), grad=False)
    return (
        s(x, 2, 3, _random_samples=own),
        s(x, 2, shapes(rank, 2, 3, 4), _random_samples=own),
        s(x, shapes(rank, 1, 2, 3), None, half, _random_samples=own),
        s(alone, 2, 1, _random_samples=own),
    )


RUNTIME = (RuntimeError, IndexError)


def refused(rank: int, maxima: bool) -> tuple[Refusal, ...]:
    x = t(2, 3, *shapes(rank, 5, 6, 7))
    rows = [
        Refusal(s(x, 0), RuntimeError, r"greater than zero|not be zero"),
        Refusal(s(x, 2, -1), RuntimeError, r"greater than zero"),
        Refusal(s(x, 2, 1, -1), RuntimeError, r"must be non-negative"),
        Refusal(s(x, 2, 1, 2), RuntimeError, r"at most half"),
        Refusal(s(x, 20), RuntimeError, r"too small|smaller than kernel|computed output size"),
        Refusal(s(x, (2, 2, 2, 2)), RuntimeError, r"kernel_size"),
        Refusal(s(x, 2, (1, 1, 1, 1)), RuntimeError, r"stride"),
        Refusal(s(x, 2, 1, (0, 0, 0, 0)), RuntimeError, r"padding"),
        Refusal(s(t(5), 2), RUNTIME),
        Refusal(s(t(1, 1, 2, 2, 2, 2), 2), RuntimeError),
        Refusal(s(t(2, 0, *shapes(rank, 5, 6, 7)), 2), RuntimeError),
        Refusal(s(t(2, 3, *shapes(rank, 5, 6, 0)), 2), RuntimeError),
        Refusal(s(x, 2.5), TypeError),
        Refusal(s(x, 2), NO_KERNEL, r"not implemented for 'Bool'", dtype="bool"),
    ]
    if maxima:
        rows.append(Refusal(s(x, 2, 1, 0, 0), RuntimeError, r"dilation"))
        rows.append(Refusal(s(x, 3, 1, 3, 5), RuntimeError, r"half of kernel size"))
    elif rank > 1:
        rows.append(Refusal(s(x, 2, divisor_override=0), RuntimeError, r"divisor must be not zero"))
    return tuple(rows)


def refused_adaptive(rank: int, maxima: bool) -> tuple[Refusal, ...]:
    x = t(2, 3, *shapes(rank, 5, 6, 7))
    return (
        Refusal(s(x, -1), RuntimeError, r"negative dimension|greater than or equal to 0"),
        Refusal(s(x, (2, 2, 2, 2)), (RuntimeError, ValueError)),
        Refusal(s(t(5), 2), RuntimeError),
        Refusal(s(t(2, 3, *shapes(rank, 5, 6, 0)), 2), RuntimeError, r"non-zero size"),
        Refusal(s(x, 2), NO_KERNEL, r"not implemented for 'Long'", dtype="int64"),
        Refusal(s(x, 2.5), TypeError),
    )


NAN = math.nan
TIES = Edge(
    s(given([[[1.0, 1.0, 0.0, 2.0], [1.0, 0.0, 2.0, 2.0]]]), 2), [[[1.0, 3.0]]], ([[[1, 0, 0, 3], [0, 0, 0, 0]]],)
)
NANS = Edge(s(given([[[NAN, 1.0], [5.0, NAN]]]), 2), [[[2.0]]], ([[[0, 0], [0, 2]]],))
LINE_TIES = Edge(s(given([[1.0, 1.0, 2.0, NAN]]), 2), [[1.0, 3.0]], ([[1, 0, 0, 3]],))

RECORDS: list[OpRecord] = []
for rank in (1, 2, 3):
    PAIR: dict[str, Any] = {"result": ("same", "int64")}
    name = f"max_pool{rank}d"
    maxima = max_samples(rank)
    ints = with_integers(rank)
    edges = {1: (LINE_TIES,), 2: (TIES, NANS), 3: ()}[rank]
    refuses: dict[str, Any] = {"refuses": refused(rank, maxima=True)}
    RECORDS += [
        functional(
            f"nn.functional.{name}",
            max_pool(rank, None),
            (*maxima, *with_indices(maxima[:2]), *with_indices(ints), *(ints if rank > 1 else ())),
            edges=edges,
            **refuses,
            halves=0,
        ),
        functional(
            f"nn.functional.{name}_with_indices",
            max_pool(rank, True),
            (*maxima[:2], *ints),
            **PAIR,
            **refuses,
            halves=0,
        ),
        functional(name, max_pool(rank, False), maxima[:2], edges=edges, **refuses, halves=0),
        functional(
            f"nn.functional.avg_pool{rank}d",
            avg_pool(rank),
            avg_samples(rank),
            out=rank > 1,
            refuses=refused(rank, maxima=False),
            halves=0 if rank < 3 else None,
        ),
        functional(
            f"nn.functional.adaptive_avg_pool{rank}d",
            adaptive_avg(rank),
            adaptive_samples(rank, maxima=False),
            refuses=refused_adaptive(rank, maxima=False),
            halves=0,
        ),
        functional(
            f"nn.functional.adaptive_max_pool{rank}d",
            adaptive_max(rank, None),
            (
                *adaptive_samples(rank, maxima=True),
                *with_indices(adaptive_samples(rank, maxima=True)[:2]),
            ),
            refuses=refused_adaptive(rank, maxima=True),
            halves=0,
        ),
        functional(
            f"nn.functional.adaptive_max_pool{rank}d_with_indices",
            adaptive_max(rank, True),
            adaptive_samples(rank, maxima=True)[:2],
            **PAIR,
            refuses=refused_adaptive(rank, maxima=True),
            halves=0,
        ),
        functional(
            f"nn.functional.lp_pool{rank}d",
            lp_pool(rank),
            (
                s(t(2, 3, *shapes(rank, 2, 3, 4)), 2.0, 2),
                s(t(3, *shapes(rank, 2, 3, 4)), 3, 2, 1),
                s(t(1, 2, *shapes(rank, 2, 3, 4)), 2.5, 2, 1, True),
                s(t(1, 2, *shapes(rank, 2, 3, 4)), math.inf, 2).but(layouts=("transposed", "stepped")),
                s(t(1, 2, *shapes(rank, 2, 3, 4)), -math.inf, 2, ceil_mode=True).but(layouts=("transposed", "stepped")),
            ),
            domain=POSITIVE,
            slack=512.0,
            refuses=(
                Refusal(s(t(1, 2, *shapes(rank, 2, 3, 4)), 2.0, 0), RuntimeError, r"zero"),
                Refusal(s(t(1, 2, *shapes(rank, 2, 3, 4)), 0, 2), (ValueError, ZeroDivisionError), r"division by zero"),
            ),
            halves=1 if rank < 3 else None,
        ),
        functional(
            f"nn.functional.max_unpool{rank}d",
            max_unpool(rank),
            unpool_samples(rank),
            refuses=(
                Refusal(
                    s(t(1, 1, *[1] * rank), index(np.full((1, 1, *[1] * rank), 99)), 2),
                    RuntimeError,
                    r"invalid max index: 99",
                ),
                Refusal(
                    s(t(1, 1, *[1] * rank), index(np.full((1, 1, *[1] * rank), -1)), 2),
                    RuntimeError,
                    r"invalid max index: -1",
                ),
                Refusal(
                    s(t(1, 1, *[1] * rank), given(np.zeros((1, 1, *[1] * rank)), "int32"), 2), RuntimeError, r"int64"
                ),
                Refusal(
                    s(t(1, 2, *[1] * rank), index(np.zeros((1, 1, *[1] * rank))), 2), RuntimeError, r"shape of indices"
                ),
                Refusal(
                    s(t(1, 1, *[1] * rank), index(np.zeros((1, 1, *[1] * rank))), 2, output_size=(9,) * rank),
                    ValueError,
                    r"output_size",
                ),
                Refusal(
                    s(t(1, 1, *[1] * rank), index(np.zeros((1, 1, *[1] * rank))), 2, output_size=(9,) * 9),
                    ValueError,
                    r"length of '9'",
                ),
            ),
            halves=0,
        ),
    ]
RECORDS += [
    functional("max_pool1d_with_indices", max_pool(1, True), max_samples(1)[:2], result=("same", "int64"), halves=0),
    functional("avg_pool1d", avg_pool(1), avg_samples(1)[:2], refuses=refused(1, maxima=False), halves=0),
    functional("adaptive_avg_pool1d", adaptive_avg(1), adaptive_samples(1, maxima=False)[:2], halves=0),
    functional(
        "adaptive_max_pool1d",
        adaptive_max(1, True),
        adaptive_samples(1, maxima=True)[:2],
        result=("same", "int64"),
        halves=0,
    ),
]

for rank in (2, 3):
    name, fractions = f"nn.functional.fractional_max_pool{rank}d", fractional_samples(rank)
    box = t(1, 2, *shapes(rank, 5, 5, 5))
    chances = given(np.full((1, 2, rank), 0.5), grad=False)
    word, several = ("height", "Ints") if rank == 2 else ("time", "three Ints")
    known: dict[str, Any] = {
        "refuses": (
            Refusal(s(box, 2), ValueError, r"requires specifying either an output_size or an output_ratio"),
            Refusal(s(box, 2, 5), RuntimeError, rf"pool {word} 2 too large relative to input {word} 5"),
            Refusal(
                s(box, (2, 2, 2, 2), 2), RuntimeError, rf"kernel_size must either be a single Int or tuple of {several}"
            ),
            Refusal(
                s(box, 2, (2, 2, 2, 2)), RuntimeError, rf"output_size must either be a single Int or tuple of {several}"
            ),
            Refusal(s(t(5, 5), 2, 2), RUNTIME),
            Refusal(s(t(1, 0, *shapes(rank, 5, 5, 5)), 2, 2), RuntimeError, r"non-zero size for non-batch dimensions"),
            Refusal(s(box, 2, -1), RuntimeError, r"Trying to create tensor with negative dimension"),
            Refusal(s(box, 2, 2, _random_samples=t(1, 2, 1)), RuntimeError, rf"size\(2\) equals to {rank}; got 1"),
            Refusal(
                s(box, 2, 2, _random_samples=t(1, 3, rank)), RuntimeError, r"size\(1\) equals to input channel size"
            ),
            Refusal(s(box, 2, 2, _random_samples=t(0, 2, rank)), RuntimeError, r"no less then input batch size"),
            Refusal(s(box, 2, 2, _random_samples=t(2, rank)), RuntimeError, r"to have 3 dimensions, got 2"),
            Refusal(
                s(box, 2, 2, _random_samples=given(np.zeros((1, 2, rank)), "float32")), RuntimeError, r"the same dtype"
            ),
        ),
    }
    RECORDS += [
        functional(name, fractional(rank, None), (*fractions, *with_indices(fractions[:2])), **known),
        functional(f"{name}_with_indices", fractional(rank, True), fractions[:2], result=("same", "int64"), **known),
    ]
