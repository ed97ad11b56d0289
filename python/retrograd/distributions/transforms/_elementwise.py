"""Transforms of each number on its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions.transforms._transform import ParameterlessTransform, Transform
from retrograd.distributions.utils import broadcast_all, lazy_property
from retrograd.nn.functional import softplus

if TYPE_CHECKING:
    from retrograd.distributions.distribution import Distribution


class ExpTransform(ParameterlessTransform):
    """`exp(x)`.

    >>> rg.distributions.ExpTransform()(rg.tensor(0.0))
    tensor(1.)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """`x**exponent`.

    >>> rg.distributions.PowerTransform(2.0)(rg.tensor(3.0))
    tensor(9.)
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _arguments = ("exponent",)

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @lazy_property
    def sign(self) -> Tensor:
        """The sign of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Size) -> Size:
        return rg.broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Size) -> Size:
        return rg.broadcast_shapes(shape, self.exponent.shape)


def clipped_sigmoid(x: Tensor) -> Tensor:
    """The sigmoid, kept from 0 and 1."""
    finfo = rg.finfo(x.dtype)
    return rg.clamp(rg.sigmoid(x), min=finfo.tiny, max=1.0 - finfo.eps)


class SigmoidTransform(ParameterlessTransform):
    """`1 / (1 + exp(-x))`, kept from 0 and 1.

    >>> rg.distributions.SigmoidTransform()(rg.tensor(0.0))
    tensor(0.5000)
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        finfo = rg.finfo(y.dtype)
        y = y.clamp(min=finfo.tiny, max=1.0 - finfo.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(ParameterlessTransform):
    """`log(1 + exp(x))`.

    >>> rg.distributions.SoftplusTransform()(rg.tensor(0.0))
    tensor(0.6931)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(ParameterlessTransform):
    """`tanh(x)`; its inverse is infinite where a value has been rounded to 1, which a cache avoids.

    >>> rg.distributions.TanhTransform()(rg.tensor(0.0))
    tensor(0.)
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return rg.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))  # log(1 - tanh(x)**2) without cancellation


class AbsTransform(ParameterlessTransform):
    """`|x|`; its inverse gives the positive argument.

    >>> rg.distributions.AbsTransform()(rg.tensor(-2.0))
    tensor(2.)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


def _same(a: Tensor | float, b: Tensor | float) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return bool(rg.all(a == b))  # type: ignore[arg-type]
    return a == b


class AffineTransform(Transform):
    """`loc + scale * x`; `event_dim` dims at the end make one event.

    >>> rg.distributions.AffineTransform(1.0, 2.0)(rg.tensor(3.0))
    tensor(7.)
    """

    bijective = True
    _arguments = ("loc", "scale", "event_dim")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and _same(self.loc, other.loc) and _same(self.scale, other.scale)

    @property
    def sign(self) -> Tensor | int:
        """The sign of the scale."""
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        shape = x.shape
        if isinstance(self.scale, Tensor):
            result = rg.abs(self.scale).log()
        else:
            result = rg.full_like(x, math.log(abs(self.scale)))
        if self.event_dim:
            result = result.view((*result.shape[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def _shape(self, shape: Size) -> Size:
        return rg.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    def forward_shape(self, shape: Size) -> Size:
        return self._shape(shape)

    def inverse_shape(self, shape: Size) -> Size:
        return self._shape(shape)


class CumulativeDistributionTransform(Transform):
    """The `cdf` of a distribution, whose inverse is its `icdf`.

    >>> normal = rg.distributions.Normal(0.0, 1.0)
    >>> rg.distributions.CumulativeDistributionTransform(normal)(rg.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1
    _arguments = ("distribution",)

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The support of the distribution."""
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
