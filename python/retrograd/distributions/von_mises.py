"""Von Mises: angles around a direction."""

from __future__ import annotations

import math

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.utils import broadcast_all, lazy_property
from retrograd.types import _size

__all__ = ["VonMises"]


def _log_modified_bessel_fn(x: Tensor, order: int = 0) -> Tensor:
    """The logarithm of the modified Bessel function of order 0 or 1, for positive numbers of any size."""
    if order not in (0, 1):
        raise AssertionError(f"order must be 0 or 1, got {order}")
    scaled = rg.special.i0e(x) if order == 0 else rg.special.i1e(x)
    return scaled.log() + x


class VonMises(Distribution):
    """Angles from -pi to pi, in radians, of density proportional to `exp(concentration * cos(x - loc))`.

    Drawn by the rejection method of Best and Fisher (1979), in float64.

    >>> rg.distributions.VonMises(rg.tensor([1.0]), rg.tensor([4.0])).mean
    tensor([1.])
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _expanded = ("loc", "concentration")

    def __init__(self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        log_prob = self.concentration * rg.cos(value - self.loc)
        return log_prob - math.log(2 * math.pi) - _log_modified_bessel_fn(self.concentration, order=0)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution that proposals come from."""
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return rg.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        with rg.no_grad():
            loc, concentration, r = self.loc.double(), self.concentration.double(), self._proposal_r
            x = loc.new_zeros(self._extended_shape(sample_shape))
            done = rg.zeros_like(x, dtype=rg.bool)
            while not done.all():
                u1, u2, u3 = rg.rand((3, *x.shape), dtype=x.dtype, device=x.device).unbind()
                z = rg.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = concentration * (r - f)
                accept = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                x = rg.where(accept, (u3 - 0.5).sign() * f.acos(), x)  # one drawn anew is as good
                done = done | accept
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        """The mean direction."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance: 1 less the mean length in the mean direction."""
        k = self.concentration
        return 1 - (_log_modified_bessel_fn(k, order=1) - _log_modified_bessel_fn(k, order=0)).exp()
