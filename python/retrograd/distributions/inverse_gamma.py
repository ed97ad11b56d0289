"""Inverse gamma: one divided by a gamma number."""

from __future__ import annotations

import retrograd as rg
from retrograd import Tensor, inf
from retrograd.distributions import constraints
from retrograd.distributions.gamma import Gamma
from retrograd.distributions.transformed_distribution import TransformedDistribution
from retrograd.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """`1 / x` of a gamma number `x`.

    >>> rg.distributions.InverseGamma(rg.tensor([3.0]), rg.tensor([1.0])).mean
    tensor([0.5000])
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma
    _expanded = ()

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The exponent of the gamma number, plus 1."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma number, which is the scale of its inverse."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        return rg.where(self.concentration > 1, self.rate / (self.concentration - 1), inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        variance = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return rg.where(self.concentration > 2, variance, inf)

    def entropy(self) -> Tensor:
        return (
            self.concentration
            + self.rate.log()
            + self.concentration.lgamma()
            - (1 + self.concentration) * self.concentration.digamma()
        )
