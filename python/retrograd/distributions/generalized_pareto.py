"""Generalised Pareto: what exceeds a high threshold."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor, inf, nan
from retrograd.distributions import constraints
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.utils import broadcast_all
from retrograd.types import _size

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Numbers from `loc` on, with `P(X > x) = (1 + concentration * (x - loc) / scale)**(-1 / concentration)`; for
    `concentration` 0 that of an exponential, for -1 of a uniform distribution.

    >>> rg.distributions.GeneralizedPareto(0.0, 1.0, 0.5).cdf(rg.tensor(2.0))
    tensor(0.7500)
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _expanded = ("loc", "scale", "concentration")

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def rsample(self, sample_shape: _size = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(rg.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _nearly_exponential(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is close to 0, and one that can be divided by."""
        zero = rg.isclose(self.concentration, rg.zeros_like(self.concentration))
        return zero, rg.where(zero, rg.ones_like(self.concentration), self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, concentration = self._nearly_exponential()
        y = 1 / concentration + rg.ones_like(z)
        power = rg.where(y == 0, y, y * rg.log1p(concentration * z))
        return -self.scale.log() - rg.where(zero, z, power)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a draw above `value`.

        >>> rg.distributions.GeneralizedPareto(0.0, 1.0, 0.0).log_survival_function(rg.tensor(2.0))
        tensor(-2.)
        """
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, concentration = self._nearly_exponential()
        return rg.where(zero, -z, -rg.log1p(concentration * z) / concentration)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`.

        >>> rg.distributions.GeneralizedPareto(0.0, 1.0, -1.0).log_cdf(rg.tensor(0.5))
        tensor(-0.6931)
        """
        return rg.log1p(-rg.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return rg.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, concentration = self._nearly_exponential()
        log_survival = rg.log1p(-value)
        power = self.loc + self.scale / concentration * rg.expm1(-concentration * log_survival)
        return rg.where(zero, self.loc - self.scale * log_survival, power)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    @property
    def mean(self) -> Tensor:
        valid = self.concentration < 1
        concentration = rg.where(valid, self.concentration, 0.5)
        return rg.where(valid, self.loc + self.scale / (1 - concentration), nan)

    @property
    def variance(self) -> Tensor:
        valid = self.concentration < 0.5
        concentration = rg.where(valid, self.concentration, 0.25)
        return rg.where(valid, self.scale**2 / ((1 - concentration) ** 2 * (1 - 2 * concentration)), nan)

    def entropy(self) -> Tensor:
        return rg.broadcast_to(rg.log(self.scale) + self.concentration + 1, self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> constraints.Constraint:
        upper = rg.where(self.concentration < 0, self.loc - self.scale / self.concentration, inf)
        return constraints.interval(self.loc, upper)
