"""Gradients of many parameters, made smaller where they are too large."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence

from retrograd import _core, linalg
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_"]

Tensors = Tensor | Iterable[Tensor]


def _several(tensors: Tensors) -> Sequence[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else [*tensors]


def _grads(parameters: Sequence[Tensor]) -> list[Tensor]:
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of several tensors as if they were one vector.

    Args: `norm_type` may be infinity; `foreach` makes no difference here.
    Returns: a tensor with one number; 0 if there is no tensor.
    Raises: RuntimeError if `error_if_nonfinite` and the norm is infinite or NaN.

    >>> rg.nn.utils.get_total_norm([rg.tensor([3.0]), rg.tensor([4.0])])
    tensor(5.)
    """
    several, norm_type = _several(tensors), float(norm_type)
    if not several:
        return _core.tensor(0.0)
    norms = [linalg.vector_norm(t, norm_type) for t in several]
    total = linalg.vector_norm(_core.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients of parameters in place, so that a norm that `get_total_norm` gave becomes at most `max_norm`.

    Args: `foreach` makes no difference here.

    >>> w = rg.nn.Parameter(rg.ones(1))
    >>> w.grad = rg.tensor([10.0])
    >>> rg.nn.utils.clip_grads_with_norm_(w, 1.0, rg.tensor(10.0))
    >>> w.grad
    tensor([1.0000])
    """
    coefficient = _core.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for grad in _grads(_several(parameters)):
        grad.mul_(coefficient)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of parameters in place, so that the norm of all together is at most `max_norm`.

    Args: `norm_type` may be infinity; `foreach` makes no difference here.
    Returns: the norm before, a tensor with one number.
    Raises: RuntimeError if `error_if_nonfinite` and the norm is infinite or NaN.

    >>> w = rg.nn.Parameter(rg.ones(2))
    >>> w.grad = rg.tensor([3.0, 4.0])
    >>> rg.nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    several = _several(parameters)
    if not several and isinstance(parameters, Iterator):
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    grads = _grads(several)
    total_norm = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(several, max_norm, total_norm)
    return total_norm


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """An old name of `clip_grad_norm_`; it warns.

    >>> clip = rg.nn.utils.clip_grad_norm  # prefer clip_grad_norm_
    """
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each number of the gradients of parameters in place to between `-clip_value` and `clip_value`.

    Args: `foreach` makes no difference here.

    >>> w = rg.nn.Parameter(rg.ones(2))
    >>> w.grad = rg.tensor([0.5, -4.0])
    >>> rg.nn.utils.clip_grad_value_(w, 1.0)
    >>> w.grad
    tensor([ 0.5000, -1.0000])
    """
    bound = float(clip_value)
    for grad in _grads(_several(parameters)):
        grad.clamp_(-bound, bound)


# As they were called before they were public.
_get_total_norm = get_total_norm
_clip_grads_with_norm_ = clip_grads_with_norm_
