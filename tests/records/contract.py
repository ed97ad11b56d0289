"""Records of products that sum over chosen axes, and of the products of the linalg module."""

import warnings
from typing import Any

import numpy as np

from records.record import ALL, FLOATS, NUMBERS, Array, OpRecord, Refusal, s, t

A, B = t(2, 3), t(3, 4)


def tensordot(a: Array, b: Array, dims: Any = 2) -> Any:
    return np.tensordot(a, b, dims)


def power(a: Array, n: int) -> Any:
    return np.linalg.matrix_power(a, n)


def crossed(a: Array, b: Array, dim: Any = None) -> Any:
    sizes = np.broadcast_shapes(a.shape, b.shape)
    dim = a.shape.index(3) if dim is None else dim
    return np.cross(np.broadcast_to(a, sizes), np.broadcast_to(b, sizes), axis=dim)


def powers(x: Array, N: Any = None) -> Any:
    x = np.atleast_1d(x)
    return x[..., None] ** np.arange(N or x.shape[-1])


def chain(rg: Any, *xs: Any) -> Any:
    with warnings.catch_warnings():  # PyTorch's own is deprecated
        warnings.simplefilter("ignore")
        return rg.chain_matmul(*xs)


POWERS = (s(t(3, 3), 2), s(t(3, 3), 1), s(t(2, 3, 3), 5), s(t(3, 3), 0), s(t(0, 0), 3))
NOT_SQUARE = Refusal(s(t(2, 3), 2), RuntimeError, r"square")

RECORDS = [
    OpRecord(
        name="einsum",
        complex=True,
        halves=2,
        reference=lambda equation, *xs: np.einsum(equation, *xs),
        dtypes=NUMBERS,
        method=False,
        slack=32.0,
        samples=(
            s("ij,jk->ik", A, B),
            s("ij,jk", A, B),
            s("bij,bjk->bik", t(2, 2, 3), t(2, 3, 2)),
            s("i,i", t(5), t(5)),
            s("i,j->ij", t(3), t(4)),
            s("ij->ji", A),
            s("ij->", A).but(dtypes=FLOATS),
            s("ii->i", t(3, 3)),
            s("ii", t(3, 3)).but(dtypes=FLOATS),
            s("...ij->...ji", t(2, 2, 3)),
            s("...i,i", t(2, 3), t(3)),
            s("a...,b...->...ab", t(2, 3), t(4, 3)),
            s("ij,jk,kl->il", A, B, t(4, 2)),
            s("ij,ij,j->i", A, A, t(3)),
            s("iij,jk->ik", t(2, 2, 3), B),
            s("ij,kj->", A, t(4, 3)).but(dtypes=FLOATS),
            s("ij, j -> i", t(0, 3), t(3)),
        ),
        refuses=(
            Refusal(s("ij,jk", A), RuntimeError, r"(?i)operands"),
            Refusal(s("ij->ik", A), RuntimeError, r"k"),
            Refusal(s("i", A), RuntimeError, r"subscripts"),
            Refusal(s("ij,jk->ik", A, t(4, 2)), RuntimeError, r"broadcast"),
            Refusal(s("ij->ii", A), RuntimeError, r"more than once"),
            Refusal(s("i1", A), RuntimeError, r"(?i)subscript"),
        ),
    ),
    OpRecord(
        name="tensordot",
        complex=True,
        halves=2,
        reference=tensordot,
        dtypes=NUMBERS,
        method=False,
        slack=32.0,
        samples=(
            s(t(2, 3, 4), t(3, 4, 2)),
            s(A, B, 1),
            s(t(2), t(3), 0),
            s(A, B, dims=([1], [0])),
            s(t(2, 3, 4), t(4, 5, 2), dims=([0, 2], [2, 0])),
            s(t(2, 0), t(0, 3), 1),
        ),
        refuses=(
            Refusal(s(A, t(4, 2), 1), RuntimeError, r"3.*4"),
            Refusal(s(A, B, dims=([1], [0, 1])), RuntimeError, r"length"),
        ),
    ),
    OpRecord(
        name="inner",
        complex=True,
        halves=2,
        reference=np.inner,
        dtypes=NUMBERS,
        slack=32.0,
        samples=(s(t(3), t(3)), s(A, t(4, 3)), s(t(2, 2, 3), t(3)), s(t(), t(3)), s(t(0), t(0)), s(t(33), t(33))),
        refuses=(Refusal(s(A, B), RuntimeError, r"last dimension"),),
    ),
    OpRecord(
        name="kron",
        complex=True,
        halves=0,
        reference=np.kron,
        dtypes=NUMBERS,
        samples=(
            s(A, B),
            s(t(2), t(3)),
            s(t(2), A).but(layouts=()),
            s(t(), t(3)),
            s(t(0), t(2)),
            s(t(2, 1, 2), t(17)).but(layouts=()),
        ),
        refuses=(Refusal(s(t(2), 1.0), TypeError),),
    ),
    OpRecord(
        name="cross",
        complex=True,
        reference=crossed,
        dtypes=NUMBERS,
        out=True,
        samples=(
            s(t(3), t(3), 0),
            s(t(2, 3), t(2, 3), 1),
            s(t(3, 2), t(3, 1), 0),
            s(t(4, 3), t(4, 3), -1),
            s(t(0, 3), t(0, 3), 1),
        ),
        refuses=(
            Refusal(s(t(2), t(2), 0), RuntimeError, r"length 3"),
            Refusal(s(t(3), t(2, 3), 0), RuntimeError, r"number of dimensions"),
        ),
    ),
    OpRecord(
        name="linalg.cross",
        complex=True,
        reference=lambda a, b, dim=-1: crossed(a, b, dim),
        dtypes=NUMBERS,
        method=False,
        out=True,
        samples=(s(t(3), t(3)), s(t(2, 3), t(1, 3)), s(t(3, 2), t(3, 2), dim=0)),
        refuses=(Refusal(s(t(2), t(2)), RuntimeError, r"length 3"),),
    ),
    OpRecord(
        name="linalg.vecdot",
        complex=True,
        halves=3,
        reference=lambda x, y, dim=-1: np.sum(np.conj(x) * y, axis=dim),
        method=False,
        out=True,
        slack=32.0,
        samples=(
            s(t(3), t(3)),
            s(t(2, 3), t(2, 3)),
            s(t(2, 3), t(4, 1, 3)),
            s(t(3, 2), t(3, 2), dim=0),
            s(t(2, 0), t(2, 0)),
        ),
        refuses=(Refusal(s(t(2), t(3)), RuntimeError, r"size"),),
    ),
    OpRecord(
        name="linalg.diagonal",
        complex=True,
        halves=0,
        reference=lambda a, offset=0, dim1=-2, dim2=-1: np.diagonal(a, offset, dim1, dim2),
        dtypes=ALL,
        method=False,
        view=True,
        samples=(s(t(3, 4)), s(t(2, 3, 4), offset=1), s(t(2, 3, 4), offset=-1, dim1=0, dim2=1)),
        refuses=(Refusal(s(t(3)), IndexError, r"-1.*0"),),
    ),
    OpRecord(
        name="linalg.multi_dot",
        complex=True,
        halves=2,
        reference=lambda xs: np.linalg.multi_dot(xs),
        method=False,
        out=True,
        slack=64.0,
        samples=(
            s((A, B)),
            s((A, B, t(4, 2))),
            s((t(3), B, t(4))),
            s((t(3), B)),
            s((t(2, 9), t(9, 1), t(1, 9), t(9, 2))),
        ),
        refuses=(
            Refusal(s((A,)), RuntimeError, r"at least 2"),
            Refusal(s((A, t(2))), RuntimeError),
            Refusal(s((A, t(1, 1, 1))), RuntimeError, r"1D or 2D"),
        ),
    ),
    OpRecord(
        name="chain_matmul",
        complex=True,
        halves=2,
        reference=lambda *xs: xs[0] if len(xs) == 1 else np.linalg.multi_dot(xs),
        method=False,
        call=chain,
        slack=64.0,
        samples=(s(A, B), s(A, B, t(4, 2))),
        refuses=(Refusal(s(A, t(3)), RuntimeError, r"expected 2"),),
    ),
    OpRecord(
        name="linalg.matrix_power",
        complex=True,
        reference=power,
        method=False,
        out=True,
        slack=256.0,
        samples=POWERS,
        refuses=(NOT_SQUARE, Refusal(s(t(3), 2), RuntimeError, r"at least 2")),
    ),
    OpRecord(
        name="matrix_power", reference=power, complex=True, out=True, slack=256.0, samples=POWERS, refuses=(NOT_SQUARE,)
    ),
    OpRecord(
        name="linalg.vander",
        complex=True,
        halves=0,
        reference=powers,
        dtypes=NUMBERS,
        result="sum",
        method=False,
        slack=32.0,
        samples=(s(t(3)), s(t(3), N=5), s(t(2, 3), N=2), s(t(0), N=2), s(t(), N=3).but(layouts=())),
        refuses=(Refusal(s(t(3), N=1), RuntimeError, r"greater than 1"),),
    ),
]
