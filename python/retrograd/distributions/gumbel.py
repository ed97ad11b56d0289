"""Gumbel: the largest of many numbers."""

from __future__ import annotations

import math

import retrograd as rg
from retrograd import Tensor
from retrograd.distributions import constraints
from retrograd.distributions.transformed_distribution import TransformedDistribution
from retrograd.distributions.transforms import AffineTransform, ExpTransform, Transform
from retrograd.distributions.uniform import Uniform
from retrograd.distributions.utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """`loc - scale * log(-log(u))` of a uniform number `u`.

    >>> rg.distributions.Gumbel(rg.tensor([1.0]), rg.tensor([2.0])).mean
    tensor([2.1544])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _expanded = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        finfo = rg.finfo(self.loc.dtype)
        base = Uniform(
            rg.full_like(self.loc, finfo.tiny), rg.full_like(self.loc, 1 - finfo.eps), validate_args=validate_args
        )
        transforms: list[Transform] = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-rg.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        # The logarithms of the transforms would cost digits.
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
