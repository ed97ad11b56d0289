"""Student's t: normal numbers divided by an estimate of their scale."""

from __future__ import annotations

import math

import retrograd as rg
from retrograd import Size, Tensor, inf, nan
from retrograd.distributions import constraints
from retrograd.distributions.chi2 import Chi2
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.utils import _standard_normal, broadcast_all
from retrograd.types import _size

__all__ = ["StudentT"]


class StudentT(Distribution):
    """`loc + scale * x / sqrt(z / df)` of a standard normal number `x` and a chi-squared one `z` of `df` degrees.

    >>> rg.distributions.StudentT(rg.tensor([4.0])).variance
    tensor([2.])
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expanded = ("df", "loc", "scale", "_chi2")

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.df > 2
        df = rg.where(finite, self.df, 3.0)
        variance = rg.where(finite, self.scale.pow(2) * df / (df - 2), inf)
        return variance.masked_fill(~(self.df > 1), nan)

    def rsample(self, sample_shape: _size = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * rg.rsqrt(z / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + rg.lgamma(0.5 * self.df)
            - rg.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * rg.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        low, high = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = rg.lgamma(low) + math.lgamma(0.5) - rg.lgamma(high)
        return self.scale.log() + high * (rg.digamma(high) - rg.digamma(low)) + 0.5 * self.df.log() + log_beta
