"""Bernoulli: 1 with probability `p`, else 0."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor, nan
from retrograd.distributions import constraints
from retrograd.distributions._probabilities import BinaryProbabilities
from retrograd.distributions.exp_family import ExponentialFamily
from retrograd.distributions.utils import broadcast_all
from retrograd.nn.functional import binary_cross_entropy_with_logits
from retrograd.types import Number, _size

__all__ = ["Bernoulli"]


class Bernoulli(BinaryProbabilities, ExponentialFamily):
    """1 with probability `probs`, or of log-odds `logits`, else 0.

    >>> rg.distributions.Bernoulli(rg.tensor([0.25])).log_prob(rg.tensor([1.0]))
    tensor([-1.3863])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _expanded = BinaryProbabilities._expanded

    def __init__(
        self,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._broadcast(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        with rg.no_grad():
            return rg.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(rg.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (rg.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return rg.log1p(rg.exp(x))
