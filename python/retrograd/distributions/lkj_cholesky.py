"""LKJ: Cholesky factors of random correlation matrices."""

from __future__ import annotations

import math

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions.beta import Beta
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.utils import broadcast_all
from retrograd.types import _size

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of `dim` x `dim` correlation matrices of density proportional to
    `det**(concentration - 1)`: all are as likely for 1, and larger ones come closer to the identity.

    Drawn row by row, by the onion method of Lewandowski, Kurowicka and Joe (2009).

    >>> rg.distributions.LKJCholesky(3, 0.5).event_shape
    retrograd.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _expanded = ("concentration", "_beta")
    _shared = ("dim",)

    def __init__(self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        marginal = self.concentration + 0.5 * (dim - 2)
        rows = rg.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        rows = rg.cat([rows.new_zeros((1,)), rows])
        self._beta = Beta(rows + 0.5, marginal.unsqueeze(-1) - 0.5 * rows)
        super().__init__(self.concentration.shape, Size((dim, dim)), validate_args)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = rg.randn(self._extended_shape(sample_shape), dtype=y.dtype, device=y.device).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        factor = rg.sqrt(y) * direction
        diagonal = rg.clamp(1 - rg.sum(factor**2, dim=-1), min=rg.finfo(factor.dtype).tiny).sqrt()
        return factor + rg.diag_embed(diagonal)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = rg.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = rg.sum(order * diagonal.log(), dim=-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        denominator = rg.lgamma(alpha) * less
        numerator = rg.mvlgamma(alpha - 0.5, less)
        return unnormalized - (0.5 * less * math.log(math.pi) + numerator - denominator)
