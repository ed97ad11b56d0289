"""Normal vectors with a covariance matrix."""

from __future__ import annotations

import math

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.utils import _standard_normal, lazy_property
from retrograd.types import _size

__all__ = ["MultivariateNormal"]


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Products of matrices and vectors, whose batch dims broadcast."""
    return rg.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """`x' (L L')^-1 x`; the batch dims of `bL` are the last ones of `bx`, or of size 1.

    Vectors that share a factor become the columns of one system.
    """
    n = bx.size(-1)
    batch = bx.dim() - 1
    first = batch - (bL.dim() - 2)  # the first dim of bx that is a batch dim of bL
    factors = [d for d in range(first, batch) if bL.size(d - first) != 1]
    columns = [d for d in range(batch) if d not in factors]
    count = math.prod(bx.size(d) for d in factors)
    x = bx.permute(*factors, batch, *columns).reshape(count, n, math.prod(bx.size(d) for d in columns))
    lengths = rg.linalg.solve_triangular(bL.reshape(count, n, n), x, upper=False).pow(2).sum(-2)
    order = factors + columns
    return lengths.reshape([bx.size(d) for d in order]).permute([order.index(d) for d in range(batch)])


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """The lower Cholesky factor of the inverse: that of the matrix with rows and columns in reverse, turned over."""
    upper = rg.flip(rg.linalg.cholesky(rg.flip(P, (-2, -1))), (-2, -1))
    eye = rg.eye(P.size(-1), dtype=P.dtype, device=P.device)
    return rg.linalg.solve_triangular(upper.mT, eye, upper=False)


def _scale_tril(name: str, matrix: Tensor) -> Tensor:
    """The lower Cholesky factor of the covariance, from the parameter of that name."""
    if name == "scale_tril":
        return matrix
    return rg.linalg.cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc` and one of `covariance_matrix`, its inverse `precision_matrix` and its lower
    Cholesky factor `scale_tril`, which is what computations use and costs least.

    >>> m = rg.distributions.MultivariateNormal(rg.zeros(2), rg.tensor([[4.0, 0.0], [0.0, 1.0]]))
    >>> m.scale_tril
    tensor([[2., 0.],
            [0., 1.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _expanded = ("loc", "covariance_matrix", "precision_matrix", "scale_tril")
    _shared = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = rg.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _scale_tril(name, matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._extended_shape() + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        L = self._unbroadcasted_scale_tril
        return rg.matmul(L, L.mT).expand(self._extended_shape() + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        inverse = rg.cholesky_inverse(self._unbroadcasted_scale_tril)
        return inverse.expand(self._extended_shape() + self._event_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._extended_shape())

    def rsample(self, sample_shape: _size = Size()) -> Tensor:
        eps = _standard_normal(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        M = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + M) - self._half_log_det()

    def entropy(self) -> Tensor:
        H = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return H.expand(self._batch_shape)
