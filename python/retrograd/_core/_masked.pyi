# Written by tools/stubs.py from the built module and tools/core.pyi; after a change of either: make stubs.
from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from collections.abc import Sequence

from retrograd._core import Tensor, _DType, _Number

def amax(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def amin(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def argmax(
    input: Tensor,
    dim: _int | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def argmin(
    input: Tensor,
    dim: _int | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def cumprod(input: Tensor, dim: _int, *, dtype: _DType | None = None, mask: Tensor | None = None) -> Tensor: ...
def cumsum(input: Tensor, dim: _int, *, dtype: _DType | None = None, mask: Tensor | None = None) -> Tensor: ...
def log_softmax(input: Tensor, dim: _int, *, dtype: _DType | None = None, mask: Tensor | None = None) -> Tensor: ...
def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: _DType | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor: ...
def logsumexp(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def median(
    input: Tensor, dim: _int = -1, *, keepdim: _bool = False, dtype: _DType | None = None, mask: Tensor | None = None
) -> Tensor: ...
def norm(
    input: Tensor,
    ord: _Number = 2.0,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def normalize(
    input: Tensor,
    ord: _Number,
    dim: _int,
    *,
    eps: _float = 1e-12,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def prod(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def softmax(input: Tensor, dim: _int, *, dtype: _DType | None = None, mask: Tensor | None = None) -> Tensor: ...
def softmin(input: Tensor, dim: _int, *, dtype: _DType | None = None, mask: Tensor | None = None) -> Tensor: ...
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    *,
    correction: _Number | None = None,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    *,
    correction: _Number | None = None,
    keepdim: _bool | None = False,
    dtype: _DType | None = None,
    mask: Tensor | None = None,
) -> Tensor: ...
