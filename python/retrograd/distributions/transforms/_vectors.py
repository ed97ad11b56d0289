"""Transforms of vectors into fractions that sum to 1."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions.transforms._elementwise import clipped_sigmoid
from retrograd.distributions.transforms._transform import ParameterlessTransform
from retrograd.nn.functional import logsigmoid, pad


def _require_vector(shape: Size) -> None:
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")


class SoftmaxTransform(ParameterlessTransform):
    """Fractions proportional to `exp(x)`; of the many arguments that give them, the inverse is their logarithms.

    >>> rg.distributions.SoftmaxTransform()(rg.zeros(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Size) -> Size:
        _require_vector(shape)
        return shape

    def inverse_shape(self, shape: Size) -> Size:
        _require_vector(shape)
        return shape


def _offset(x: Tensor) -> Tensor:
    """How many pieces are left at each break of the stick."""
    k = x.shape[-1]
    return k + 1 - x.new_ones(k).cumsum(-1)


class StickBreakingTransform(ParameterlessTransform):
    """`k` numbers as `k + 1` fractions: each breaks its share from what is left of a stick; zeros give equal ones.

    >>> rg.distributions.StickBreakingTransform()(rg.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        z = clipped_sigmoid(x - _offset(x).log())
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        left = rg.clamp(1 - shares.cumsum(-1), min=rg.finfo(y.dtype).tiny)
        return shares.log() - left.log() + _offset(shares).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - _offset(x).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Size) -> Size:
        _require_vector(shape)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Size) -> Size:
        _require_vector(shape)
        return Size((*shape[:-1], shape[-1] - 1))
