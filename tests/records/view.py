"""Records of the ops that look at the same memory in another shape, and of those that join and reorder it."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import ALL, UGLY, Array, OpRecord, Refusal, s, t, ugly

BAD_DIM = Refusal(s(t(2, 3), 0, 2), IndexError, r"-2.*1", r"2")
A, B = t(2, 3), t(2, 3)
LOOKALIKES = ((t(3, 1), t(3, 4)), (t(3), t(2, 3)), (t(), t(2, 3)), (t(1), t(0)), (t(1, 3), t(17, 3)))
RESHAPED = ((t(3, 4), t(4, 3)), (t(6), t(2, 3)), (t(), t(1, 1)), (t(0, 3), t(3, 0)), (t(33), t(1, 33)))
TRIANGLES = (
    s(t(3, 4)),
    s(t(3, 4), 1),
    s(t(4, 3), -1),
    s(t(2, 3, 3), diagonal=2),
    s(t(3, 3), -7),
    s(t(0, 3)),
    s(t(17, 33), 5),
)


def pieces(x: Array, sizes: Any, dim: int = 0) -> Any:
    """Reference of split: equal pieces with a shorter last one, or pieces of given sizes."""
    length = x.shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, length - at) for at in range(0, length, sizes)] or [0]
    ends = np.cumsum([0, *sizes])
    return [x.take(range(a, b), axis=dim) for a, b in itertools.pairwise(ends)]


def chunks(x: Array, count: int, dim: int = 0) -> Any:
    return pieces(x, -(-x.shape[dim] // count), dim)


def squeezed(x: Array, dim: Any = None) -> Any:
    dims = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    ones = {d % max(x.ndim, 1) for d in dims if x.ndim and x.shape[d] == 1}
    return x.reshape([n for k, n in enumerate(x.shape) if k not in ones])


def flattened(x: Array, start_dim: int = 0, end_dim: int = -1) -> Any:
    if not x.ndim:
        return x.reshape(1)
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:start], int(np.prod(x.shape[start : end + 1])), *x.shape[end + 1 :])


def expanded(x: Array, *sizes: int) -> Any:
    old = (1,) * (len(sizes) - x.ndim) + x.shape
    return np.broadcast_to(x, [b if a == -1 else a for a, b in zip(sizes, old, strict=True)])


def strided(x: Array, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    bytes_ = tuple(n * x.itemsize for n in stride)
    return np.lib.stride_tricks.as_strided(x.reshape(-1)[storage_offset:], size, bytes_).copy()


def unflattened(x: Array, dim: int, sizes: tuple[int, ...]) -> Any:
    dim %= x.ndim
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


def triangle(cut: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, diagonal=0: cut(x, diagonal)


RECORDS = [
    OpRecord(
        name="Tensor.view",
        reference=lambda x, *size: x.reshape(*size),
        dtypes=ALL,
        view=True,
        layouts=False,
        samples=(
            s(t(3, 4), 4, 3),
            s(t(3, 4), -1),
            s(t(2, 3, 4), 6, -1),
            s(t(), 1, 1),
            s(t(0, 3), 3, 0),
            s(t(6), (2, 3)),
            *(s(t(n), 1, n) for n in UGLY),
        ),
        refuses=(
            Refusal(s(t(3, 4), 5, 2), RuntimeError, r"5, 2.*12|12.*5, 2", r"5, 2"),
            Refusal(s(t(3, 4), -1, -1), RuntimeError, r"only one dimension can be inferred"),
            Refusal(s(t(3, 4), -1, 5), RuntimeError, r"-1, 5.*12|12.*-1, 5"),
            Refusal(s(t(0, 3), -1, 0), RuntimeError, r"-1"),
        ),
    ),
    OpRecord(
        name="reshape",
        reference=lambda x, size: x.reshape(size),
        dtypes=ALL,
        view=True,
        samples=(
            s(t(3, 4), (4, 3)),
            s(t(2, 3, 4), (-1, 4)),
            s(t(), (1,)),
            s(t(0, 3), (3, 0)),
            s(t(1), ()),
            *(s(t(n), (n, 1)) for n in UGLY),
        ),
        refuses=(Refusal(s(t(3, 4), (5, 2)), RuntimeError, r"5, 2.*12|12.*5, 2", r"5, 2"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="flatten",
        reference=flattened,
        dtypes=ALL,
        view=True,
        samples=(s(t(2, 3, 4)), s(t(2, 3, 4), 1), s(t(2, 3, 4), start_dim=0, end_dim=1), s(t()), s(t(0, 3)), s(t(7))),
        refuses=(
            Refusal(s(t(2, 3, 4), 2, 1), RuntimeError, r"start_dim.*end_dim"),
            Refusal(s(t(2, 3), 3), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="transpose",
        reference=lambda x, a, b: np.swapaxes(x, a, b) if x.ndim else x,
        dtypes=ALL,
        view=True,
        inplace=True,
        samples=(
            s(t(3, 4), 0, 1),
            s(t(2, 3, 4), 0, -1),
            s(t(2, 3, 4), 1, 1),
            s(t(0, 3), 0, 1),
            s(t(), 0, -1),
            s(t(9, 17), 1, 0),
            s(t(33, 31), 0, 1),
        ),
        refuses=(BAD_DIM,),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="t",
        reference=np.transpose,
        dtypes=ALL,
        view=True,
        inplace=True,
        samples=(s(t(3, 4)), s(t(5)), s(t()), s(t(0, 3)), s(t(17, 33))),
        refuses=(Refusal(s(t(2, 3, 4)), RuntimeError, r"(?i)<= 2.*3|3.*2"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="permute",
        reference=np.transpose,
        dtypes=ALL,
        view=True,
        samples=(s(t(2, 3, 4), (2, 0, 1)), s(t(2, 3, 4), (-1, 1, 0)), s(t(3, 0), (1, 0)), s(t(), ()), s(t(7), (0,))),
        refuses=(
            Refusal(s(t(2, 3), (0, 0)), RuntimeError, r"(?i)duplicate|repeated|twice"),
            Refusal(s(t(2, 3), (0,)), RuntimeError, r"2.*1|1.*2"),
            Refusal(s(t(2, 3), (0, 2)), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.expand",
        reference=expanded,
        dtypes=ALL,
        view=True,
        samples=(s(t(3, 1), 3, 4), s(t(3), 2, 3), s(t(3, 1), -1, 5), s(t(), 2, 3), s(t(1), 0), s(t(1, 3), 17, 3)),
        refuses=(
            Refusal(s(t(3), 4), RuntimeError, r"4.*3|3.*4"),
            Refusal(s(t(2, 3), 3), RuntimeError, r"(?i)dim"),
            Refusal(s(t(3), -1, 3), RuntimeError, r"-1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.expand_as",
        reference=lambda x, other: np.broadcast_to(x, other.shape),
        dtypes=ALL,
        view=True,
        samples=tuple(s(x, y) for x, y in LOOKALIKES),
        refuses=(Refusal(s(t(3), t(4)), RuntimeError, r"4.*3", r"\[4\].*\[3\]"), Refusal(s(t(3), (3,)), TypeError)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="broadcast_to",
        reference=np.broadcast_to,
        dtypes=ALL,
        view=True,
        samples=tuple(s(x, y.shape) for x, y in LOOKALIKES),
        refuses=(
            Refusal(s(t(3), (4,)), RuntimeError, r"4.*3", r"\[4\].*\[3\]"),
            Refusal(s(t(2, 3), (3,)), RuntimeError, r"(?i)dim|size"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.view_as",
        reference=lambda x, other: x.reshape(other.shape),
        dtypes=ALL,
        view=True,
        layouts=False,
        samples=tuple(s(x, y) for x, y in RESHAPED),
        refuses=(Refusal(s(t(3, 4), t(5, 2)), RuntimeError, r"5, 2.*12|12.*5, 2"), Refusal(s(t(3), (3,)), TypeError)),
    ),
    OpRecord(
        name="Tensor.reshape_as",
        reference=lambda x, other: x.reshape(other.shape),
        dtypes=ALL,
        view=True,
        samples=tuple(s(x, y) for x, y in RESHAPED),
        refuses=(Refusal(s(t(3, 4), t(5, 2)), RuntimeError, r"5, 2.*12|12.*5, 2"), Refusal(s(t(3), (3,)), TypeError)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="unflatten",
        reference=unflattened,
        dtypes=ALL,
        view=True,
        samples=(
            s(t(3, 4), 1, (2, 2)),
            s(t(2, 6, 5), -2, (3, -1)),
            s(t(12), 0, (3, 4)),
            s(t(7), 0, (1, 7)),
            s(t(0), 0, (0, 3)),
        ),
        refuses=(
            Refusal(s(t(3, 4), 1, (3, 2)), RuntimeError, r"3, 2.*4"),
            Refusal(s(t(3, 4), 2, (2, 1)), IndexError, r"-2.*1"),
            Refusal(s(t(3, 4), 1, ()), RuntimeError, r"(?i)non-empty|empty"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="ravel",
        reference=np.ravel,
        dtypes=ALL,
        view=True,
        samples=(s(t(3, 4)), s(t()), s(t(0, 3)), *ugly(1)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="swapaxes",
        reference=lambda x, a, b: np.swapaxes(x, a, b) if x.ndim else x,
        dtypes=ALL,
        view=True,
        inplace=True,
        samples=(s(t(3, 4), 0, 1), s(t(2, 3, 4), 0, -1), s(t(0, 3), 0, 1), s(t(), 0, -1), s(t(33, 31), 0, 1)),
        refuses=(BAD_DIM,),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="movedim",
        reference=np.moveaxis,
        dtypes=ALL,
        view=True,
        samples=(
            s(t(2, 3, 4), 0, 2),
            s(t(2, 3, 4), -1, 0),
            s(t(2, 3, 4), (0, 1), (1, -1)),
            s(t(0, 3), 0, 1),
            s(t(7), 0, 0),
        ),
        refuses=(
            Refusal(s(t(2, 3), 0, 2), IndexError, r"-2.*1"),
            Refusal(s(t(2, 3), (0, 1), (0,)), RuntimeError, r"(?i)same number|0, 1.*0"),
            Refusal(s(t(2, 3), (0, 0), (0, 1)), RuntimeError, r"repeated dim|multiple times", r"0, 0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="diagonal",
        reference=np.diagonal,
        dtypes=ALL,
        view=True,
        samples=(
            s(t(3, 4)),
            s(t(3, 4), 1),
            s(t(3, 4), -2),
            s(t(3, 4), 7),
            s(t(2, 3, 4), 0, 1, 2),
            s(t(2, 3, 4), -1, -1, 0),
            s(t(0, 3)),
            s(t(17, 17)),
        ),
        refuses=(
            Refusal(s(t(3)), IndexError, r"-1.*0"),
            Refusal(s(t(3, 3), 0, 1, 1), RuntimeError, r"(?i)identical"),
            Refusal(s(t(3, 3), 0, 0, 2), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="as_strided",
        reference=strided,
        dtypes=ALL,
        view=True,
        inplace=True,
        layouts=False,
        samples=(
            s(t(3, 4), (2, 3), (4, 1)),
            s(t(12), (3, 4), (1, 3)),
            s(t(12), (2, 2), (3, 5), 1),
            s(t(9), (4, 3), (2, 1)),  # entries lie in several places at once
            s(t(9), (2, 5), (0, 2)),
            s(t(5), (), (), 4),
            s(t(5), (0, 3), (3, 1)),
        ),
        refuses=(
            Refusal(s(t(5), (2, 3), (3, 1)), RuntimeError, r"out of bounds"),
            Refusal(s(t(5), (2,), (3, 1)), RuntimeError, r"(?i)mismatch|same length|1.*2|length"),
            Refusal(s(t(5), (2,), (-1,)), RuntimeError, r"(?i)negative"),
            Refusal(s(t(5), (2,), (1,), -1), RuntimeError, r"(?i)negative|-1"),
        ),
        halves=0,
    ),
    OpRecord(
        name="flip",
        reference=lambda x, dims: np.flip(x, dims),
        dtypes=ALL,
        samples=(
            s(t(3, 4), (0,)),
            s(t(3, 4), (0, -1)),
            s(t(2, 3, 4), (1,)),
            s(t(3, 4), ()),
            s(t(0, 3), (0,)),
            *(s(t(n), (0,)) for n in UGLY),
        ),
        refuses=(
            Refusal(s(t(2, 3), (2,)), IndexError, r"-2.*1"),
            Refusal(s(t(2, 3), (0, 0)), RuntimeError, r"(?i)multiple times|twice|appears"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="squeeze",
        reference=squeezed,
        dtypes=ALL,
        view=True,
        inplace=True,
        samples=(
            s(t(1, 3, 1)),
            s(t(1, 3, 1), 0),
            s(t(1, 3, 1), -1),
            s(t(1, 3, 1), 1),
            s(t()),
            s(t(1, 0)),
            s(t(1, 3, 1, 1), (0, 2)),
        ),
        refuses=(Refusal(s(t(1, 3), 2), IndexError, r"-2.*1"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="unsqueeze",
        reference=lambda x, dim: np.expand_dims(x, dim),
        dtypes=ALL,
        view=True,
        inplace=True,
        samples=(s(t(3, 4), 0), s(t(3, 4), 1), s(t(3, 4), -1), s(t(3, 4), 2), s(t(), 0), s(t(0, 3), 1)),
        refuses=(Refusal(s(t(2, 3), 3), IndexError, r"-3.*2"), Refusal(s(t(2, 3), -4), IndexError, r"-3.*2")),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="select",
        complex=True,
        halves=0,
        reference=lambda x, dim, at: x.take(at, axis=dim),
        dtypes=ALL,
        view=True,
        samples=(s(t(3, 4), 0, 1), s(t(3, 4), 1, -1), s(t(2, 3, 4), -2, 2), s(t(5), 0, 0), s(t(2, 0), 0, 1)),
        refuses=(
            Refusal(s(t(3, 4), 0, 3), IndexError, r"(?i)(out of range|out of bounds|\b3\b)", r"3"),
            Refusal(s(t(3, 4), 2, 0), IndexError, r"-2.*1"),
            Refusal(s(t(), 0, 0), IndexError),
        ),
    ),
    OpRecord(
        name="narrow",
        reference=lambda x, dim, start, n: x.take(
            range(
                start % max(x.shape[dim], 1) if start < 0 else start, (start % x.shape[dim] if start < 0 else start) + n
            ),
            axis=dim,
        ),
        dtypes=ALL,
        view=True,
        samples=(s(t(5, 4), 0, 1, 3), s(t(5, 4), 1, 0, 4), s(t(5, 4), -1, -2, 2), s(t(5), 0, 2, 0), s(t(33), 0, 1, 31)),
        refuses=(
            Refusal(s(t(5, 4), 0, 3, 3), RuntimeError, r"3.*5|exceeds"),
            Refusal(s(t(5, 4), 0, 0, -1), RuntimeError, r"(?i)non-negative|-1"),
            Refusal(s(t(5, 4), 2, 0, 1), IndexError, r"-2.*1"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="unbind",
        reference=lambda x, dim=0: list(np.moveaxis(x, dim, 0)),
        dtypes=ALL,
        result=("same",) * 3,
        view=True,
        samples=(s(t(3, 4)), s(t(2, 3), 1), s(t(2, 3, 4), -2)),
        refuses=(Refusal(s(t()), (RuntimeError, IndexError)), Refusal(s(t(2, 3), 2), IndexError, r"-2.*1")),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="split",
        reference=pieces,
        dtypes=ALL,
        view=True,
        samples=(
            s(t(5, 2), 2).but(result=("same",) * 3),
            s(t(4, 3), 2, dim=0).but(result=("same",) * 2),
            s(t(3, 5), (1, 4), dim=1).but(result=("same",) * 2),
            s(t(3, 5), (0, 5), -1).but(result=("same",) * 2),
            s(t(0, 2), 3).but(result=("same",)),
            s(t(33), 16).but(result=("same",) * 3),
        ),
        refuses=(
            Refusal(s(t(5), (2, 2)), RuntimeError, r"5.*2, 2|2, 2.*5"),
            Refusal(s(t(5), -1), RuntimeError, r"-1|negative"),
            Refusal(s(t(5), 0), RuntimeError, r"0"),
            Refusal(s(t(5), 2, 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.split",
        reference=lambda x, split_size, dim=0: pieces(x, split_size, dim),
        dtypes=ALL,
        view=True,
        samples=(
            s(t(5, 2), 2).but(result=("same",) * 3),
            s(t(3, 5), split_size=(1, 4), dim=1).but(result=("same",) * 2),
        ),
        refuses=(
            Refusal(s(t(5), (2, 2)), RuntimeError, r"5.*2, 2|2, 2.*5"),
            Refusal(s(t(5), -1), RuntimeError, r"-1|negative"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="split_with_sizes",
        reference=pieces,
        dtypes=ALL,
        view=True,
        samples=(
            s(t(5, 2), (2, 3)).but(result=("same",) * 2),
            s(t(3, 5), (1, 0, 4), -1).but(result=("same",) * 3),
            s(t(33), (16, 17)).but(result=("same",) * 2),
        ),
        refuses=(
            Refusal(s(t(5), (2, 2)), RuntimeError, r"5.*2, 2|2, 2.*5"),
            Refusal(s(t(5), (6, -1)), RuntimeError, r"(?i)-1|negative"),
            Refusal(s(t(5), (5,), 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="chunk",
        reference=chunks,
        dtypes=ALL,
        view=True,
        samples=(
            s(t(5, 2), 2).but(result=("same",) * 2),
            s(t(4, 6), 3, dim=1).but(result=("same",) * 3),
            s(t(5), 4).but(result=("same",) * 3),
            s(t(7), 1, -1).but(result=("same",)),
        ),
        refuses=(
            Refusal(s(t(5), 0), RuntimeError, r"(?i)greater than 0|positive|0"),
            Refusal(s(t(5), 2, 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="unsafe_split",
        reference=pieces,
        dtypes=ALL,
        samples=(
            s(t(5, 2), 2).but(result=("same",) * 3),
            s(t(3, 5), 4, dim=1).but(result=("same",) * 2),
            s(t(0, 2), 3).but(result=("same",)),
        ),
        refuses=(
            Refusal(s(t(5), -1), RuntimeError, r"-1|negative"),
            Refusal(s(t(5), 2, 1), IndexError, r"-1.*0"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="unsafe_split_with_sizes",
        reference=pieces,
        dtypes=ALL,
        samples=(
            s(t(5, 2), (2, 3)).but(result=("same",) * 2),
            s(t(3, 5), (1, 0, 4), -1).but(result=("same",) * 3),
        ),
        refuses=(Refusal(s(t(5), (2, 2)), RuntimeError, r"5.*2, 2|2, 2.*5"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="unsafe_chunk",
        reference=chunks,
        dtypes=ALL,
        samples=(
            s(t(5, 2), 2).but(result=("same",) * 2),
            s(t(4, 6), 3, dim=1).but(result=("same",) * 3),
        ),
        refuses=(Refusal(s(t(5), 0), RuntimeError, r"greater than 0"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="adjoint",
        reference=lambda x: np.conj(np.swapaxes(x, -2, -1)),
        complex=True,
        dtypes=ALL,
        view=True,
        samples=(s(t(3, 4)), s(t(2, 3, 5)), s(t(0, 3)), s(t(17, 33))),
        refuses=(Refusal(s(t(3)), RuntimeError, r"matrices.* 1-D"),),
        halves=0,
    ),
    OpRecord(
        name="cat",
        reference=lambda xs, dim=0: np.concatenate(xs, axis=dim),
        dtypes=ALL,
        method=False,
        out=True,
        samples=(
            s((A, B)),
            s((A, t(2, 1), t(2, 4)), dim=1),
            s((A,), dim=-1),
            s((t(0, 3), A)),
            s([t(3), t(0), t(9)], dim=0),
            *(s((t(n), t(n))) for n in UGLY),
        ),
        refuses=(
            Refusal(s((A, t(2, 4))), RuntimeError, r"3.*4"),
            Refusal(s((A, t(3)), dim=0), RuntimeError, r"(?i)dim"),
            Refusal(s(()), (RuntimeError, ValueError), r"(?i)non-empty|empty"),
            Refusal(s((A, B), dim=2), IndexError, r"-2.*1"),
            Refusal(s((t(), t())), RuntimeError, r"(?i)zero-dim|0-dim"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="stack",
        reference=lambda xs, dim=0: np.stack(xs, axis=dim),
        dtypes=ALL,
        method=False,
        out=True,
        samples=(
            s((A, B)),
            s((A, B, t(2, 3)), dim=1),
            s((A,), dim=-1),
            s((t(), t())),
            s((t(0), t(0)), dim=1),
            *(s((t(n), t(n)), dim=1) for n in (1, 7, 16, 33)),
        ),
        refuses=(
            Refusal(s((A, t(2, 4))), RuntimeError, r"2, 3.*2, 4"),
            Refusal(s(()), RuntimeError, r"(?i)non-empty|empty"),
            Refusal(s((A, B), dim=3), IndexError, r"-3.*2"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="tril",
        reference=triangle(np.tril),
        dtypes=ALL,
        inplace=True,
        out=True,
        samples=TRIANGLES,
        refuses=(Refusal(s(t(3)), RuntimeError, r"2 dimensions"),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="triu",
        reference=triangle(np.triu),
        dtypes=ALL,
        inplace=True,
        out=True,
        samples=TRIANGLES,
        refuses=(Refusal(s(t(3)), RuntimeError, r"2 dimensions"),),
        complex=True,
        halves=0,
    ),
]
