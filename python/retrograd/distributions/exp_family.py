"""Families of densities `exp(<x, natural parameters> - log normaliser)`."""

from __future__ import annotations

import retrograd as rg
from retrograd import Tensor
from retrograd.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with natural parameters, whose entropy is the Bregman divergence of its log normaliser.

    >>> isinstance(rg.distributions.Normal(0.0, 1.0), rg.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, from the derivative of the log normaliser."""
        carrier = self._mean_carrier_measure
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = rg.autograd.grad(normalizer.sum(), params, create_graph=True)
        result = normalizer - carrier
        for p, g in zip(params, gradients, strict=True):
            result = result - (p * g).reshape((*self._batch_shape, -1)).sum(-1)
        return result
