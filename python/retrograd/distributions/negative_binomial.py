"""Negative binomial: successes before a number of failures."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions._probabilities import BinaryProbabilities
from retrograd.distributions.gamma import Gamma
from retrograd.distributions.utils import lazy_property
from retrograd.nn.functional import logsigmoid
from retrograd.types import _size

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryProbabilities):
    """The number of successes, of probability `probs` or log-odds `logits`, before `total_count` failures; this may
    be any number that is not negative.

    >>> rg.distributions.NegativeBinomial(3.0, rg.tensor([0.5])).mean
    tensor([3.])
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _expanded = ("total_count", "probs", "logits")

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._broadcast(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * rg.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / rg.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        # The count may be 0, which the checks of a gamma distribution refuse.
        return Gamma(self.total_count, rg.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        with rg.no_grad():
            return rg.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        unnormalized = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        normalizer = -rg.lgamma(n + value) + rg.lgamma(1.0 + value) + rg.lgamma(n)
        # No failure to wait for: 0 is certain, but lgamma(0) is infinite.
        return unnormalized - normalizer.masked_fill(n + value == 0.0, 0.0)
