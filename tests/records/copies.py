"""Records of the copies of what views look at."""

from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import ALL, Array, Dtype, OpRecord, Refusal, Sample, s, t


def windows(x: Array, dim: int, size: int, step: int) -> Array:
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, size, dim), dim, dim)[
        (slice(None),) * (dim % x.ndim) + (slice(None, None, step),)
    ]


def slices(x: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def parts(x: Array, sizes: Any, dim: int = 0) -> list[Array]:
    ends = range(sizes, x.shape[dim], sizes) if isinstance(sizes, int) else np.cumsum(sizes)[:-1]
    return np.split(x, list(ends), dim)


def strided(x: Array, size: Any, stride: Any, offset: int = 0) -> Array:
    flat = np.ascontiguousarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [n * x.itemsize for n in stride])


def squeezed(x: Array, dim: Any = None) -> Array:
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    return np.squeeze(x, tuple(d for d in dims if x.shape[d] == 1))


def copy(name: str, reference: Callable[..., Any], *samples: Sample, **facts: Any) -> OpRecord:
    merged: dict[str, Any] = {"method": False, "out": True, "dtypes": ALL, "complex": True, "halves": 0} | facts
    return OpRecord(name=name, reference=reference, samples=samples, **merged)


NO_AXIS = IndexError, r"-2.*1"

RECORDS = [
    copy("alias_copy", lambda x: x, s(t(3, 4)), s(t()), s(t(2, 0))),
    copy(
        "as_strided_copy",
        strided,
        s(t(6), (2, 2), (1, 2)),
        s(t(6), (2, 3), (0, 1)),
        s(t(2, 3), (2,), (1,), 3),
        layouts=False,  # they read memory, not elements
        complex=False,
        refuses=(Refusal(s(t(3), (2,), (1, 1)), RuntimeError, r"mismatch in length of strides and shape"),),
    ),
    copy(
        "diagonal_copy",
        np.diagonal,
        s(t(3, 3)),
        s(t(3, 4), 1),
        s(t(2, 3, 4), 0, 1, 2),
        s(t(4, 3), -2),
        refuses=(Refusal(s(t(3, 3), 0, 1, 1), RuntimeError, r"identical"),),
    ),
    copy(
        "expand_copy",
        np.broadcast_to,
        s(t(3, 1), (3, 4)),
        s(t(4), (2, 4)),
        s(t(), (2, 3)),
        refuses=(Refusal(s(t(3), (4,)), RuntimeError, r"3.*4|4.*3"),),
    ),
    copy(
        "narrow_copy",
        lambda x, dim, start, length: slices(x, dim, start % max(x.shape[dim], 1), start % x.shape[dim] + length),
        s(t(3, 4), 1, 1, 2),
        s(t(5), -1, -3, 2),
        method=True,
        refuses=(Refusal(s(t(3), 0, 2, 2), RuntimeError, r"3"), Refusal(s(t(3, 4), 2, 0, 1), *NO_AXIS)),
    ),
    copy(
        "permute_copy",
        np.transpose,
        s(t(2, 3, 4), (2, 0, 1)),
        s(t(3, 4), (-1, 0)),
        s(t(), ()),
        refuses=(Refusal(s(t(2, 3), (0,)), RuntimeError),),
    ),
    copy(
        "select_copy",
        lambda x, dim, at: np.take(x, at, dim),
        s(t(3, 4), 0, 1),
        s(t(3, 4), -1, -2),
        refuses=(Refusal(s(t(3, 4), 0, 3), IndexError, r"3"),),
    ),
    copy(
        "slice_copy",
        slices,
        s(t(5)),
        s(t(5, 3), 0, 1, 4, 2),
        s(t(3, 4), -1, -2),
        refuses=(Refusal(s(t(3), 0, 0, 3, 0), (RuntimeError, ValueError), r"step must be"),),
    ),
    copy("split_copy", parts, s(t(5), 2), s(t(2, 6), 3, 1), out=False),
    copy(
        "split_with_sizes_copy",
        parts,
        s(t(5), (2, 3)),
        s(t(2, 6), (1, 0, 5), -1),
        out=False,
        refuses=(Refusal(s(t(5), (2, 2)), RuntimeError, r"sum"),),
    ),
    copy(
        "squeeze_copy",
        squeezed,
        s(t(1, 3, 1)),
        s(t(1, 3, 1), 0),
        s(t(1, 3, 1), 1),
        s(t(1, 3, 1), (0, 2)),
        s(t()),
        refuses=(Refusal(s(t(3, 4), 2), *NO_AXIS),),
    ),
    copy("t_copy", np.transpose, s(t(3, 4)), s(t(3)), s(t()), refuses=(Refusal(s(t(2, 2, 2)), RuntimeError, r"3D"),)),
    copy(
        "transpose_copy",
        np.swapaxes,
        s(t(2, 3, 4), 0, 2),
        s(t(3, 4), -1, 0),
        refuses=(Refusal(s(t(3, 4), 0, 2), *NO_AXIS),),
    ),
    copy(
        "unbind_copy",
        lambda x, dim=0: [np.take(x, i, dim) for i in range(x.shape[dim])],
        s(t(3, 4)),
        s(t(3, 2), -1),
        out=False,
        refuses=(Refusal(s(t()), IndexError, r"no dimensions"),),
    ),
    copy(
        "unfold_copy",
        windows,
        s(t(5), 0, 2, 1),
        s(t(2, 7), 1, 2, 3),
        refuses=(Refusal(s(t(3), 0, 4, 1), RuntimeError, r"maximum size"),),
    ),
    copy(
        "unsqueeze_copy",
        np.expand_dims,
        s(t(3, 4), 1),
        s(t(3), -1),
        s(t(), 0),
        refuses=(Refusal(s(t(3), 3), IndexError, r"-2.*1"),),
    ),
    copy(
        "view_copy",
        lambda x, size: np.reshape(x, size) if isinstance(size, tuple) else x.view(size),
        s(t(3, 4), (4, 3)),
        s(t(6), (2, -1)),
        s(t(3, dtype="float32", grad=False), Dtype("int32")).but(dtypes=("float32",), smooth=False),
        result="reference",
        refuses=(Refusal(s(t(3), (2,)), RuntimeError, r"\(2,\)|\[2\]"),),
    ),
]
