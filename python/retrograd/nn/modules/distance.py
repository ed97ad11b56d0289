"""Distances and similarities of vectors."""

from __future__ import annotations

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The norm of differences of vectors along the last dimension.

    Args: `p` the order of the norm; `eps` is added to each difference; `keepdim` whether the last dimension stays.

    >>> rg.nn.PairwiseDistance(eps=0.0)(rg.tensor([[3.0, 4.0]]), rg.zeros(1, 2))
    tensor([5.])
    """

    __constants__ = ["norm", "eps", "keepdim"]
    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along dimension `dim`.

    Args: `eps` the least length that is divided by.

    >>> rg.nn.CosineSimilarity(dim=0)(rg.tensor([2.0, 0.0]), rg.tensor([3.0, 0.0]))
    tensor(1.)
    """

    __constants__ = ["dim", "eps"]
    dim: int
    eps: float

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
