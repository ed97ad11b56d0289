# Written by tools/stubs.py from the built module and tools/core.pyi; after a change of either: make stubs.
from builtins import bool as _bool
from builtins import int as _int
from collections.abc import Sequence
from typing import Any, overload

from retrograd._core import Tensor, _DType, _Number

def cross(input: Tensor, other: Tensor, *, dim: _int = -1, out: Any = None) -> Tensor: ...
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor: ...
def matrix_exp(A: Tensor, *, out: Any = None) -> Tensor: ...
@overload
def matrix_norm(
    A: Tensor,
    ord: str = "fro",
    dim: _int | Sequence[_int] = (-2, -1),
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Any = None,
) -> Tensor: ...
@overload
def matrix_norm(
    A: Tensor,
    ord: _Number,
    dim: _int | Sequence[_int] = (-2, -1),
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Any = None,
) -> Tensor: ...
def matrix_power(A: Tensor, n: _int, *, out: Any = None) -> Tensor: ...
def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor: ...
@overload
def norm(
    A: Tensor,
    ord: str,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Any = None,
) -> Tensor: ...
@overload
def norm(
    A: Tensor,
    ord: _Number | None = None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Any = None,
) -> Tensor: ...
def vander(x: Tensor, *, N: _int | None = None) -> Tensor: ...
def vecdot(x: Tensor, y: Tensor, *, dim: _int = -1, out: Any = None) -> Tensor: ...
def vector_norm(
    x: Tensor,
    ord: _Number = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Any = None,
) -> Tensor: ...
