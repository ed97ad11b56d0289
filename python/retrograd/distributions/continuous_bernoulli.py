"""Continuous Bernoulli: numbers from 0 to 1 of density proportional to `p**x * (1 - p)**(1 - x)`."""

from __future__ import annotations

import math

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions._probabilities import BinaryProbabilities
from retrograd.distributions.exp_family import ExponentialFamily
from retrograd.distributions.utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs
from retrograd.nn.functional import binary_cross_entropy_with_logits
from retrograd.types import Number, _size

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(BinaryProbabilities, ExponentialFamily):
    """Numbers from 0 to 1 of density proportional to `probs**x * (1 - probs)**(1 - x)`; `logits` are log-odds.

    Where `probs` is within `lims`, near 1/2, formulas of which both sides of a ratio vanish give way to their series.

    >>> rg.distributions.ContinuousBernoulli(rg.tensor([0.5])).mean
    tensor([0.5000])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = BinaryProbabilities._expanded
    _shared = ("_given", "_lims")

    def __init__(
        self,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._broadcast(probs, logits)
        if self._given == "probs":
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.__dict__["probs"] = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter, kept from 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """`probs`, moved out of the limits."""
        return rg.where(self._stable(), self.probs, self._lims[0] * rg.ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Tensor:
        p = self._cut_probs()
        low = rg.where(p <= 0.5, p, rg.zeros_like(p))
        high = rg.where(p >= 0.5, p, rg.ones_like(p))
        denominator = rg.where(p <= 0.5, rg.log1p(-2.0 * low), rg.log(2.0 * high - 1.0))
        log_norm = rg.log(rg.abs(rg.log1p(-p) - rg.log(p))) - denominator
        x = rg.pow(self.probs - 0.5, 2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return rg.where(self._stable(), log_norm, series)

    @property
    def mean(self) -> Tensor:
        p = self._cut_probs()
        mean = p / (2.0 * p - 1.0) + 1.0 / (rg.log1p(-p) - rg.log(p))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * rg.pow(x, 2)) * x
        return rg.where(self._stable(), mean, series)

    @property
    def variance(self) -> Tensor:
        p = self._cut_probs()
        variance = p * (p - 1.0) / rg.pow(1.0 - 2.0 * p, 2) + 1.0 / rg.pow(rg.log1p(-p) - rg.log(p), 2)
        x = rg.pow(self.probs - 0.5, 2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return rg.where(self._stable(), variance, series)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        with rg.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: _size = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(rg.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        inside = (rg.pow(p, value) * rg.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = rg.where(self._stable(), inside, value)
        return rg.where(value <= 0.0, rg.zeros_like(value), rg.where(value >= 1.0, rg.ones_like(value), inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        inside = (rg.log1p(-p + value * (2.0 * p - 1.0)) - rg.log1p(-p)) / (rg.log(p) - rg.log1p(-p))
        return rg.where(self._stable(), inside, value)

    def entropy(self) -> Tensor:
        log_probs0 = rg.log1p(-self.probs)
        return self.mean * (log_probs0 - rg.log(self.probs)) - self._cont_bern_log_norm() - log_probs0

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        stable = (x <= low) | (x > high)
        cut = rg.where(stable, x, low * rg.ones_like(x))
        log_norm = rg.log(rg.abs(rg.expm1(cut))) - rg.log(rg.abs(cut))
        series = 0.5 * x + rg.pow(x, 2) / 24.0 - rg.pow(x, 4) / 2880.0
        return rg.where(stable, log_norm, series)
