"""Dirichlet: fractions that sum to 1."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions.exp_family import ExponentialFamily
from retrograd.nn.functional import one_hot
from retrograd.types import _size

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Vectors of fractions that sum to 1, of density proportional to the product of `x**(concentration - 1)`.

    >>> rg.distributions.Dirichlet(rg.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _expanded = ("concentration",)

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: _size = Size()) -> Tensor:
        return rg._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return (
            rg.xlogy(self.concentration - 1.0, value).sum(-1)
            + rg.lgamma(self.concentration.sum(-1))
            - rg.lgamma(self.concentration).sum(-1)
        )

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        excess = (self.concentration - 1).clamp(min=0.0)
        inner = excess / excess.sum(-1, True)
        corner = one_hot(inner.argmax(dim=-1), excess.shape[-1]).to(inner)
        return rg.where((self.concentration < 1).all(-1, keepdim=True), corner, inner)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        k = self.concentration.size(-1)
        total = self.concentration.sum(-1)
        return (
            rg.lgamma(self.concentration).sum(-1)
            - rg.lgamma(total)
            - (k - total) * rg.digamma(total)
            - ((self.concentration - 1.0) * rg.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - rg.lgamma(x.sum(-1))
