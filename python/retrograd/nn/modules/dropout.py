"""Layers that drop elements or channels while training."""

from __future__ import annotations

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """While training, sets each element to zero with probability `p`, and divides the others by `1 - p`.

    Args: `inplace` whether the input is overwritten. Raises: ValueError if `p` is not between 0 and 1.

    >>> rg.nn.Dropout(1.0)(rg.ones(2))
    tensor([0., 0.])
    >>> rg.nn.Dropout(1.0).eval()(rg.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """While training, sets whole channels of (N, C, L) or (C, L) to zero with probability `p`, and scales the others.

    >>> rg.nn.Dropout1d(1.0)(rg.ones(1, 2)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """While training, sets whole channels of (N, C, H, W) to zero with probability `p`, and scales the others.

    >>> rg.nn.Dropout2d(1.0)(rg.ones(1, 1, 2, 2)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """While training, sets whole channels of (N, C, D, H, W) to zero with probability `p`, and scales the others.

    >>> rg.nn.Dropout3d(1.0)(rg.ones(1, 1, 2, 2, 2)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """A dropout that keeps mean and variance of activations of SELU: see `nn.functional.alpha_dropout`.

    >>> rg.nn.AlphaDropout(0.0)(rg.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels: see `nn.functional.feature_alpha_dropout`.

    >>> rg.nn.FeatureAlphaDropout(0.0)(rg.ones(1, 2, 1)).sum()
    tensor(2.)
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
