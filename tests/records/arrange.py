"""Records of the ops that repeat, turn, join and cut tensors, and of diagonals put in and taken out."""

from typing import Any

import numpy as np

from records.record import ALL, NUMBERS, UGLY, Array, OpRecord, Refusal, s, t, ugly

A, B = t(2, 3), t(2, 3)
DIAGONALS = (s(t(3, 4)), s(t(3, 4), 1), s(t(4, 3), -2), s(t(3, 3), 7), s(t(3)), s(t(2), -1), s(t(0)), s(t(33)))


def embedded(x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    n, ndim = x.shape[-1] + abs(offset), x.ndim + 1
    y = np.zeros((*x.shape[:-1], n, n), x.dtype)
    rows = np.arange(x.shape[-1]) + max(-offset, 0)
    y[..., rows, rows + offset] = x
    return np.moveaxis(y, (-2, -1), (dim1 % ndim, dim2 % ndim))


def put_at(key: Any, x: Array, src: Array) -> Any:
    y = x.copy()
    y[key] = src
    return y


def select_scattered(x: Array, src: Array, dim: int, at: int) -> Any:
    return put_at((slice(None),) * (dim % x.ndim) + (at,), x, src)


def slice_scattered(x: Array, src: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return put_at((slice(None),) * (dim % x.ndim) + (slice(start, end, step),), x, src)


def diagonal_scattered(x: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    y = np.moveaxis(x.copy(), (dim1, dim2), (-2, -1))
    rows = np.arange(src.shape[-1]) + max(-offset, 0)
    y[..., rows, rows + offset] = src
    return np.moveaxis(y, (-2, -1), (dim1, dim2))


def tiled(x: Array, dims: Any) -> Any:
    return np.tile(x, dims)


def interleaved(x: Array, repeats: Any, dim: Any = None) -> Any:
    x = np.atleast_1d(x) if dim is not None else x
    return np.repeat(x, repeats, axis=dim)


def telling(name: str) -> Any:
    """The op, with a list of integers given as a tensor."""

    def call(rg: Any, x: Any, told: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(rg, name)(x, rg.tensor(told) if isinstance(told, list) else told, *args, **kwargs)

    return call


def rolled(x: Array, shifts: Any, dims: Any = ()) -> Any:
    return np.roll(x, shifts, axis=dims if dims != () else None)


def blocks(*xs: Array) -> Any:
    rows = [np.atleast_2d(x) for x in xs]
    y = np.zeros((sum(x.shape[0] for x in rows), sum(x.shape[1] for x in rows)), np.result_type(*xs))
    i = j = 0
    for x in rows:
        y[i : i + x.shape[0], j : j + x.shape[1]] = x
        i, j = i + x.shape[0], j + x.shape[1]
    return y


def cut(dim: Any) -> Any:
    def parts(x: Array, at: Any, axis: int | None = None) -> Any:
        where = dim(x) if axis is None else axis
        at = at.tolist() if isinstance(at, np.ndarray) else at
        return np.array_split(x, at if isinstance(at, int) else list(at), axis=where)

    return parts


def windows(x: Array, dim: int, size: int, step: int) -> Any:
    if not x.ndim:
        return np.full(size, x)
    dim %= x.ndim
    starts = range(0, x.shape[dim] - size + 1, step)
    return np.stack([np.moveaxis(x.take(range(a, a + size), axis=dim), dim, -1) for a in starts], axis=dim)


JOINED = (s((t(2), t(3))), s((t(), t(2))), s((t(0), t(4))), s((t(1),)), s((t(17), t(33))))
STACKED = (s((t(3), t(3))), s((A, B)), s((t(), t(), t())), s((t(3), A)), s((t(1, 2, 3), t(1, 2, 3))), s((t(0), t(0))))
EMPTY = Refusal(s(()), RuntimeError, r"(?i)non-empty")

RECORDS = [
    OpRecord(
        name="diag",
        reference=lambda x, k=0: np.diag(x, k),
        dtypes=ALL,
        samples=DIAGONALS,
        refuses=(
            Refusal(s(t(2, 3, 4)), RuntimeError, r"1D or 2D tensors. Got 3D"),
            Refusal(s(t()), RuntimeError, r"0D"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="diagflat",
        reference=lambda x, k=0: np.diagflat(x, k),
        dtypes=ALL,
        samples=(s(t(2, 2)), s(t(3), 1), s(t()), s(t(0, 2), -1), s(t(2, 1, 2), -2)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="diag_embed",
        reference=embedded,
        dtypes=ALL,
        samples=(
            s(t(3)),
            s(t(2, 3), 1),
            s(t(2, 3), -1, 0, 1),
            s(t(2, 3, 2), 0, -1, 1),
            s(t(0)),
            s(t(2, 0), 2),
            s(t(17)),
        ),
        refuses=(
            Refusal(s(t(3), 0, 1, 1), RuntimeError, r"identical"),
            Refusal(s(t(3), 0, 0, 2), IndexError, r"-2.*1"),
            Refusal(s(t()), IndexError),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="trace",
        reference=np.trace,
        dtypes=NUMBERS,
        result="sum",
        samples=(s(t(3, 3)), s(t(3, 4)), s(t(4, 2)), s(t(0, 3)), s(t(33, 33))),
        refuses=(Refusal(s(t(3)), RuntimeError, r"(?i)matrix"), Refusal(s(t(2, 2, 2)), RuntimeError, r"3")),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="select_scatter",
        reference=select_scattered,
        dtypes=ALL,
        samples=(s(t(3, 4), t(4), 0, 1), s(t(3, 4), t(3), 1, -2), s(t(5), t(), 0, 0), s(t(2, 3, 4), t(2, 4), -2, 2)),
        refuses=(
            Refusal(s(t(3, 4), t(3), 0, 1), RuntimeError, r"size"),
            Refusal(s(t(3, 4), t(4), 0, 3), IndexError, r"3"),
            Refusal(s(t(3, 4), t(4), 2, 0), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="slice_scatter",
        reference=slice_scattered,
        dtypes=ALL,
        samples=(
            s(t(3, 4), t(3, 4)),
            s(t(5, 2), t(2, 2), 0, 1, 3),
            s(t(5, 4), t(5, 2), 1, None, None, 2),
            s(t(5), t(2), 0, -2),
            s(t(5), t(0), 0, 3, 2),
            s(t(33), t(11), 0, 0, 33, 3),
        ),
        refuses=(
            Refusal(s(t(5), t(2), 0, 0, 3), RuntimeError, r"size"),
            Refusal(s(t(5), t(5), 0, 0, 5, 0), (RuntimeError, ValueError), r"step"),
            Refusal(s(t(5), t(5), 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="diagonal_scatter",
        reference=diagonal_scattered,
        dtypes=ALL,
        samples=(
            s(t(3, 3), t(3)),
            s(t(3, 4), t(3), 1),
            s(t(4, 3), t(2), -2),
            s(t(2, 3, 4), t(2, 3), 0, 1, 2),
            s(t(0, 2), t(0)),
        ),
        refuses=(
            Refusal(s(t(3, 3), t(2)), RuntimeError, r"size"),
            Refusal(s(t(3, 3), t(3), 0, 1, 1), RuntimeError, r"identical"),
            Refusal(s(t(3, 3), t(3), 0, 0, 2), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.repeat",
        reference=lambda x, *n: np.tile(x, n),
        dtypes=ALL,
        samples=(
            s(t(3), 2),
            s(t(2, 3), 2, 1),
            s(t(2, 3), 3, 1, 2),
            s(t(), 4),
            s(t(2), 0),
            s(t(0, 2), 2, 3),
            *(s(t(n), 3) for n in UGLY),
        ),
        refuses=(
            Refusal(s(t(2, 3), 2), RuntimeError, r"(?i)number of dimensions"),
            Refusal(s(t(2), -1), RuntimeError, r"negative"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="tile",
        reference=tiled,
        dtypes=ALL,
        samples=(
            s(t(3), (2,)),
            s(t(2, 3), (2,)),
            s(t(2, 3), (2, 1, 2)),
            s(t(), (3,)),
            s(t(2, 2), ()),
            s(t(17), (2, 2)),
        ),
        refuses=(Refusal(s(t(2), (-1,)), RuntimeError, r"negative"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="repeat_interleave",
        call=telling("repeat_interleave"),
        method=False,  # takes no list
        reference=interleaved,
        dtypes=ALL,
        samples=(
            s(t(3), 2),
            s(t(2, 3), 2),
            s(t(2, 3), 3, 1),
            s(t(2, 3), 2, dim=-2),
            s(t(2, 3), 0, 1),
            s(t(), 2),
            s(t(3), [2, 0, 1]).but(layouts=("transposed", "stepped")),
            s(t(2, 3), [1, 2], 0),
            s(t(2, 3), [2], 1),
            s(t(33), 2),
        ),
        refuses=(
            Refusal(s(t(3), -1), RuntimeError, r"negative"),
            Refusal(s(t(3), [1, 2]), RuntimeError, r"size"),
            Refusal(s(t(3), [1, -2, 1]), RuntimeError, r"negative"),
            Refusal(s(t(3), t(3)), NotImplementedError),
            Refusal(s(t(3), 2, 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="roll",
        reference=rolled,
        dtypes=ALL,
        samples=(
            s(t(3, 4), 1),
            s(t(3, 4), -5),
            s(t(3, 4), 2, 1),
            s(t(3, 4), (1, -1), (0, 1)),
            s(t(3, 4), (1, 1), (1, 1)),
            s(t(0, 3), 1, 0),
            s(t(), 1),
            *(s(t(n), 4, 0) for n in UGLY),
        ),
        refuses=(
            Refusal(s(t(3, 4), (1, 2)), RuntimeError, r"align"),
            Refusal(s(t(3, 4), 1, 2), IndexError, r"-2.*1"),
            Refusal(s(t(3, 4), ()), RuntimeError, r"shifts"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="rot90",
        reference=lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims),
        dtypes=ALL,
        samples=(
            s(t(3, 4)),
            *(s(t(3, 4), k) for k in (-1, 0, 2, 3, 5)),
            s(t(2, 3, 4), 1, (2, 0)),
            s(t(0, 3)),
            s(t(17, 9)),
        ),
        refuses=(
            Refusal(s(t(3)), RuntimeError, r"dims"),
            Refusal(s(t(3, 4), 1, (0, 0)), RuntimeError, r"different"),
            Refusal(s(t(3, 4), 1, (0,)), RuntimeError, r"dims"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="fliplr",
        reference=np.fliplr,
        dtypes=ALL,
        samples=(s(t(3, 4)), s(t(2, 3, 4)), s(t(2, 0)), s(t(1, 33))),
        refuses=(Refusal(s(t(3)), RuntimeError, r">= 2"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="flipud",
        reference=np.flipud,
        dtypes=ALL,
        samples=(s(t(3, 4)), s(t(0, 2)), *ugly(1)),
        refuses=(Refusal(s(t()), RuntimeError, r">= 1"),),
        complex=True,
        halves=0,
    ),
    *(
        OpRecord(
            name=name,
            reference=reference,
            complex=True,
            halves=0,
            dtypes=ALL,
            method=False,
            view=True,
            samples=(s(t()), s(t(3)), s(t(2, 3)), s(t(0)), s(t(2, 3, 4)), s(t(1, 2, 3, 2))),
            refuses=(Refusal(s(1.0), TypeError),),
        )
        for name, reference in (
            ("atleast_1d", np.atleast_1d),
            ("atleast_2d", np.atleast_2d),
            ("atleast_3d", np.atleast_3d),
        )
    ),
    OpRecord(
        name="hstack",
        reference=np.hstack,
        dtypes=ALL,
        method=False,
        out=True,
        samples=(*JOINED, s((A, B))),
        refuses=(EMPTY,),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="vstack",
        reference=np.vstack,
        dtypes=ALL,
        method=False,
        out=True,
        samples=STACKED,
        refuses=(EMPTY, Refusal(s((t(2), t(3))), RuntimeError, r"2.*3|3.*2")),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="dstack",
        reference=np.dstack,
        dtypes=ALL,
        method=False,
        out=True,
        samples=(s((t(3), t(3))), s((A, B)), s((t(), t())), s((t(1, 2, 3), t(1, 2, 1))), s((t(0), t(0)))),
        refuses=(EMPTY,),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="column_stack",
        reference=lambda xs: np.column_stack([x.reshape(-1) if not x.ndim else x for x in xs]),
        dtypes=ALL,
        method=False,
        out=True,
        samples=(s((t(2), t(2))), s((A, t(2))), s((t(), t())), s((t(2, 1, 3), t(2, 2, 3))), s((t(0), t(0)))),
        refuses=(EMPTY, Refusal(s((t(2), t(3))), RuntimeError, r"2.*3|3.*2")),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="block_diag",
        reference=blocks,
        dtypes=ALL,
        method=False,
        samples=(s(A, B), s(t(3), t()), s(t(2, 2)), s(t(0, 2), A), s(t(17, 3), t(1, 33), t(2))),
        refuses=(Refusal(s(t(1, 1, 1)), RuntimeError, r"2 or fewer dimensions"), Refusal(s(A, 1.0), TypeError)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="meshgrid",
        reference=lambda *xs, indexing: np.meshgrid(*map(np.atleast_1d, xs), indexing=indexing),
        dtypes=ALL,
        method=False,
        samples=(
            s(t(2), t(3), indexing="ij"),
            s(t(2), t(3), indexing="xy"),
            s(t(2), t(), t(4), indexing="xy"),
            s(t(5), indexing="xy"),
            s(t(0), t(3), indexing="ij"),
        ),
        refuses=(
            Refusal(s(t(2, 2), t(2), indexing="ij"), RuntimeError, r"(?i)1D"),
            Refusal(s(t(2), t(2), indexing="zz"), RuntimeError, r"xy.*ij"),
            Refusal(s(t(2), t(2, dtype="float32"), indexing="ij"), RuntimeError, r"same dtype"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="cartesian_prod",
        reference=lambda *xs: (
            np.stack([x.reshape(-1) for x in np.meshgrid(*xs, indexing="ij")], 1) if len(xs) > 1 else xs[0]
        ),
        dtypes=ALL,
        method=False,
        samples=(s(t(2), t(3)), s(t(2), t(1), t(4)), s(t(5)), s(t(0), t(3))),
        refuses=(
            Refusal(s(t(2, 2), t(2)), RuntimeError, r"Expect a 1D vector, but got shape"),
            Refusal(s(t(2), t(2, dtype="float32")), RuntimeError, r"same dtype"),
            Refusal(s(), RuntimeError, r"meshgrid expects a non-empty TensorList"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="broadcast_tensors",
        reference=np.broadcast_arrays,
        dtypes=ALL,
        method=False,
        samples=(s(t(3, 1), t(4)), s(t(), t(2, 3)), s(t(2), t(2)), s(t(1), t(0), t(2, 1))),
        refuses=(Refusal(s(t(2), t(3)), RuntimeError, r"2.*3|3.*2"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="tensor_split",
        call=telling("tensor_split"),
        reference=cut(lambda _: 0),
        dtypes=ALL,
        result="same",
        samples=(
            s(t(5, 2), 2),
            s(t(5), (1, 3)),
            s(t(2, 5), 3, 1),
            s(t(2, 5), (-2, 7), -1),
            s(t(3), 5),
            s(t(5), [1, 3]),
            s(t(0), 2),
        ),
        refuses=(
            Refusal(s(t(), 2), RuntimeError, r"at least a 1-dimensional"),
            Refusal(s(t(3), 0), RuntimeError, r"larger than 0"),
            Refusal(s(t(3), t(2)), RuntimeError, r"(?i)long"),
            Refusal(s(t(3), 2, 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="hsplit",
        reference=cut(lambda x: min(x.ndim - 1, 1)),
        dtypes=ALL,
        samples=(s(t(4), 2), s(t(3, 4), 2), s(t(3, 4), (1, 3)), s(t(2, 0), 1)),
        refuses=(
            Refusal(s(t(), 2), RuntimeError, r"at least 1 dimension"),
            Refusal(s(t(5), 2), RuntimeError, r"not divisible"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="vsplit",
        reference=cut(lambda _: 0),
        dtypes=ALL,
        samples=(s(t(4, 2), 2), s(t(4, 2), (1, 3))),
        refuses=(
            Refusal(s(t(4), 2), RuntimeError, r"at least 2 dimension"),
            Refusal(s(t(5, 1), 2), RuntimeError, r"not divisible"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="dsplit",
        reference=cut(lambda _: 2),
        dtypes=ALL,
        samples=(s(t(2, 1, 4), 2), s(t(2, 1, 4), (1, 3))),
        refuses=(Refusal(s(t(4, 1), 2), RuntimeError, r"at least 3 dimension"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.unfold",
        reference=windows,
        dtypes=ALL,
        view=True,
        samples=(
            s(t(5), 0, 2, 1),
            s(t(5), 0, 3, 2),
            s(t(2, 7), 1, 2, 3),
            s(t(4, 3), -2, 4, 1),
            s(t(33), 0, 5, 4),
            s(t(), 0, 1, 1),
        ),
        refuses=(
            Refusal(s(t(3), 0, 4, 1), RuntimeError, r"maximum size"),
            Refusal(s(t(3), 0, 2, 0), RuntimeError, r"step is 0"),
            Refusal(s(t(3), 0, -1, 1), RuntimeError, r"-1"),
            Refusal(s(t(3), 1, 1, 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
]
