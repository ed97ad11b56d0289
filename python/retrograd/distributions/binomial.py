"""Binomial: how many of `n` trials succeed."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions._probabilities import BinaryProbabilities
from retrograd.types import _size

__all__ = ["Binomial"]


def _clamp_by_zero(x: Tensor) -> Tensor:
    """`max(x, 0)`, whose derivative at 0 is 1/2."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(BinaryProbabilities):
    """The number of successes in `total_count` trials of probability `probs`, or of log-odds `logits`.

    >>> rg.distributions.Binomial(4, rg.tensor([0.5])).log_prob(rg.tensor([2.0])).exp()
    tensor([0.3750])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _expanded = ("total_count", "probs", "logits")

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._broadcast(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with rg.no_grad():
            return rg.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        # k log p + (n - k) log(1 - p) = k logit - n log(1 + e^logit), and the last logarithm = max(logit, 0) +
        # log(1 + e^-|logit|), which overflows for no logit.
        normalizer = n * _clamp_by_zero(logits) + n * rg.log1p(rg.exp(-rg.abs(logits))) - rg.lgamma(n + 1)
        return value * logits - rg.lgamma(value + 1) - rg.lgamma(n - value + 1) - normalizer

    def _common_count(self, caller: str) -> int:
        count = int(self.total_count.max())
        if self.total_count.min() != count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{caller}`.")
        return count

    def entropy(self) -> Tensor:
        self._common_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(rg.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._common_count("enumerate_support")
        return self._enumerated(rg.arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand)
