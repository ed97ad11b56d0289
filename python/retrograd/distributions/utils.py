"""What distributions share: numbers made tensors, probabilities and their logits, values computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Final, Generic, TypeVar, overload

import retrograd as rg
from retrograd import Tensor
from retrograd.nn import functional as F
from retrograd.types import Number

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant: Final = 0.57721566490153286060

R = TypeVar("R")


def broadcast_all(*values: Tensor | Number) -> tuple[Tensor, ...]:
    """The values as tensors of one shape; a number gets the dtype and device of the first tensor.

    >>> rg.distributions.utils.broadcast_all(rg.zeros(2), 1.0)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    first = None
    numbers = False
    for v in values:
        if isinstance(v, Tensor):
            if first is None:
                first = v
        elif isinstance(v, (int, float)):
            numbers = True
        else:
            raise ValueError(
                "Input arguments must all be instances of Number, "
                "torch.Tensor or objects implementing __torch_function__."
            )
    if numbers:
        dtype = rg.get_default_dtype() if first is None else first.dtype
        device = None if first is None else first.device
        values = tuple(v if isinstance(v, Tensor) else rg.tensor(v, dtype=dtype, device=device) for v in values)
    return tuple(rg.broadcast_tensors(*values))  # type: ignore[arg-type]  # tensors all


def _standard_normal(shape: Sequence[int], dtype: rg.dtype | None, device: Any) -> Tensor:
    return rg.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` dims."""
    if dim == 0:
        return value
    return value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log-odds (`is_binary`), or of logarithms of weights in the last dim.

    >>> rg.distributions.utils.logits_to_probs(rg.zeros(2), is_binary=True)
    tensor([0.5000, 0.5000])
    """
    return rg.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept so far from 0 and 1 that the logarithms of `p` and `1 - p` are finite.

    >>> rg.distributions.utils.clamp_probs(rg.tensor([0.0, 0.5])).log().isfinite()
    tensor([True, True])
    """
    eps = rg.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of probabilities (`is_binary`), or their logarithms; finite also for 0 and 1.

    >>> rg.distributions.utils.probs_to_logits(rg.tensor(0.5), is_binary=True)
    tensor(0.)
    """
    p = clamp_probs(probs)
    return rg.log(p) - rg.log1p(-p) if is_binary else rg.log(p)


class lazy_property(Generic[R]):
    """A property that is computed at first use, with gradients whatever the mode, and then kept by the instance.

    >>> class Square:
    ...     @rg.distributions.utils.lazy_property
    ...     def area(self):
    ...         print("computed")
    ...         return 4
    >>> square = Square()
    >>> square.area + square.area
    computed
    8
    """

    def __init__(self, wrapped: Callable[[Any], R]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, owner: Any = None) -> lazy_property[R]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> R: ...
    def __get__(self, instance: object | None, owner: Any = None) -> R | lazy_property[R]:
        if instance is None:
            return self
        with rg.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def _tril_mask(n: int, diag: int, device: Any) -> Tensor:
    places = rg.arange(n, device=device)
    return places < places.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries on and below diagonal `diag` of matrices, row by row.

    >>> rg.distributions.utils.tril_matrix_to_vec(rg.tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _tril_mask(n, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Matrices whose entries on and below diagonal `diag` are given row by row, and the others 0.

    >>> rg.distributions.utils.vec_to_tril_matrix(rg.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    length = vec.shape[-1]
    size = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * length + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    n = round(size)
    if n - size > rg.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., _tril_mask(n, diag, vec.device)] = vec
    return mat
