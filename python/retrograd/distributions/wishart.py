"""Wishart: covariance matrices of normal samples."""

from __future__ import annotations

import math
import warnings

import retrograd as rg
from retrograd import Size, Tensor, nan
from retrograd.distributions import constraints
from retrograd.distributions.chi2 import Chi2
from retrograd.distributions.exp_family import ExponentialFamily
from retrograd.distributions.multivariate_normal import _scale_tril
from retrograd.distributions.utils import lazy_property
from retrograd.types import Number, _size

__all__ = ["Wishart"]

_log_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of `mvlgamma`."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    return rg.digamma(x.unsqueeze(-1) - rg.arange(p, dtype=x.dtype, device=x.device).div(2)).sum(-1)


class Wishart(ExponentialFamily):
    """The sum of `x x'` of `df` normal vectors `x`, with one of their `covariance_matrix`, its inverse
    `precision_matrix` and its lower Cholesky factor `scale_tril`; `df` may be any number above the dimension less 1.

    Drawn by Bartlett's decomposition.

    >>> rg.distributions.Wishart(rg.tensor(3.0), rg.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = ("df", "covariance_matrix", "precision_matrix", "scale_tril", "_dist_chi2")
    _shared = ("_unbroadcasted_scale_tril",)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Tensor | Number,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, Tensor):
            batch_shape = rg.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        else:
            batch_shape = matrix.shape[:-2]
            self.df = rg.tensor(df, dtype=matrix.dtype, device=matrix.device).expand(batch_shape)
        event_shape = matrix.shape[-2:]
        n = event_shape[-1]
        if self.df.le(n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        if self.df.lt(n).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_scale_tril = _scale_tril(name, matrix)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - rg.arange(n, dtype=matrix.dtype, device=matrix.device))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance of the vectors."""
        return self._unbroadcasted_scale_tril.expand(self._extended_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the vectors."""
        L = self._unbroadcasted_scale_tril
        return (L @ L.mT).expand(self._extended_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """Its inverse."""
        L = self._unbroadcasted_scale_tril
        eye = rg.eye(self._event_shape[-1], dtype=L.dtype, device=L.device)
        return rg.cholesky_solve(eye, L).expand(self._extended_shape())

    def _per_matrix(self, x: Tensor) -> Tensor:
        return x.reshape((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Tensor:
        return self._per_matrix(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return self._per_matrix(factor.masked_fill(factor <= 0, nan)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        return self._per_matrix(self.df) * (V.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Size) -> Tensor:
        p = self._event_shape[-1]
        chi = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = chi.clamp(min=rg.finfo(chi.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = rg.tril_indices(p, p, offset=-1)
        shape = sample_shape + self._batch_shape + (p * (p - 1) // 2,)
        noise[..., i, j] = rg.randn(shape, dtype=noise.dtype, device=noise.device)
        chol = self._unbroadcasted_scale_tril @ noise
        return chol @ chol.mT

    def _over_batch(self, mask: Tensor) -> Tensor:
        """Of each sample, whether the mask holds for one of the batch."""
        batch_ndim = len(self._batch_shape)
        return mask.flatten(-batch_ndim).any(-1) if batch_ndim else mask

    def rsample(self, sample_shape: _size = Size(), max_try_correction: int | None = None) -> Tensor:
        """Draws, of which singular ones are drawn anew up to `max_try_correction` times (10)."""
        sample = self._bartlett_sampling(Size(sample_shape))
        # PyTorch draws the regular samples of the first round anew; without this, its numbers would be others.
        again = self._over_batch(self.support.check(sample))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not again.any():
                return sample
            new = self._bartlett_sampling(again[again].shape)
            sample[again] = new
            singular = self._over_batch(~self.support.check(new))
            again = again.masked_scatter(again, singular)
        if again.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
        return sample

    def _log_det_root(self) -> Tensor:
        """`log det(sqrt(2) L)` of the factor `L` of the covariance."""
        p = self._event_shape[-1]
        return p * _log_2 / 2 + self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        solved = rg.cholesky_solve(value, self._unbroadcasted_scale_tril)
        return (
            -nu * self._log_det_root()
            - rg.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * rg.linalg.slogdet(value).logabsdet
            - solved.diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2
        )

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * self._log_det_root()
            + rg.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        p = self._event_shape[-1]
        nu = y + (p + 1) / 2
        return nu * (-rg.linalg.slogdet(-2 * x).logabsdet + _log_2 * p) + rg.mvlgamma(nu, p=p)
