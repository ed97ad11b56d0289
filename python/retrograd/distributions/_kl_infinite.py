"""Divergences that are infinite, since `p` draws what `q` never does."""

from __future__ import annotations

from collections.abc import Callable

import retrograd as rg
from retrograd import Tensor, inf
from retrograd.distributions.bernoulli import Bernoulli
from retrograd.distributions.beta import Beta
from retrograd.distributions.binomial import Binomial
from retrograd.distributions.continuous_bernoulli import ContinuousBernoulli
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.exponential import Exponential
from retrograd.distributions.gamma import Gamma
from retrograd.distributions.gumbel import Gumbel
from retrograd.distributions.kl import register_kl
from retrograd.distributions.laplace import Laplace
from retrograd.distributions.normal import Normal
from retrograd.distributions.pareto import Pareto
from retrograd.distributions.poisson import Poisson
from retrograd.distributions.uniform import Uniform

_BOUNDED = (Beta, ContinuousBernoulli, Pareto, Uniform)
_NOT_ALL_REAL = (*_BOUNDED, Exponential, Gamma)

# Of each class: an attribute whose shape and dtype the result has, and what it is infinitely far from.
_INFINITE: tuple[tuple[type[Distribution], str, tuple[type[Distribution], ...]], ...] = (
    (Beta, "concentration1", (Pareto,)),
    (ContinuousBernoulli, "probs", (Pareto,)),
    (Exponential, "rate", _BOUNDED),
    (Gamma, "concentration", _BOUNDED),
    (Gumbel, "loc", _NOT_ALL_REAL),
    (Laplace, "loc", _NOT_ALL_REAL),
    (Normal, "loc", _NOT_ALL_REAL),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
)


def _infinite_like(name: str) -> Callable[[Distribution, Distribution], Tensor]:
    return lambda p, q: rg.full_like(getattr(p, name), inf)


for _p, _name, _others in _INFINITE:
    _infinite = _infinite_like(_name)
    for _q in _others:
        register_kl(_p, _q)(_infinite)
