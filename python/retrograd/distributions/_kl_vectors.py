"""Divergences of normal vectors."""

from __future__ import annotations

import retrograd as rg
from retrograd import Tensor
from retrograd.distributions.kl import register_kl
from retrograd.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from retrograd.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis

Either = MultivariateNormal | LowRankMultivariateNormal


def _square_sum(matrix: Tensor) -> Tensor:
    """The sum of squares of each matrix: the trace of `X X'`."""
    return matrix.pow(2).flatten(-2).sum(-1)


def _log_det(d: Either) -> Tensor:
    """The logarithm of the determinant of the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return _batch_lowrank_logdet(d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, d._capacitance_tril)
    return 2 * d._half_log_det()


def _divergence(p: Either, q: Either, trace: Tensor, distance: Tensor) -> Tensor:
    """From the trace of `Q^-1 P` and the distance of the means in the metric `Q^-1`."""
    return 0.5 * (_log_det(q) - _log_det(p) + trace + distance - p.event_shape[0])


def _require_same_event(p: Either, q: Either, kinds: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {kinds} with                          different event shapes cannot be computed"
        )


def _lowrank_distance(p: Either, q: LowRankMultivariateNormal) -> Tensor:
    return _batch_lowrank_mahalanobis(
        q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q.loc - p.loc, q._capacitance_tril
    )


def _lowrank_root(q: LowRankMultivariateNormal) -> Tensor:
    """The `A` of `Q^-1 = D^-1 - A' A`."""
    scaled = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    return rg.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank_lowrank(p: LowRankMultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    _require_same_event(p, q, "Low Rank Multivariate Normals")
    A = _lowrank_root(q)
    W, D, q_D = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag, q._unbroadcasted_cov_diag
    trace = (
        (D / q_D).sum(-1)
        + _square_sum(W * q_D.rsqrt().unsqueeze(-1))
        - _square_sum(A * D.sqrt().unsqueeze(-2))
        - _square_sum(A.matmul(W))
    )
    return _divergence(p, q, trace, _lowrank_distance(p, q))


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _full_lowrank(p: MultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    _require_same_event(p, q, "(Low Rank) Multivariate Normals")
    L = p._unbroadcasted_scale_tril
    trace = _square_sum(L * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)) - _square_sum(_lowrank_root(q).matmul(L))
    return _divergence(p, q, trace, _lowrank_distance(p, q))


def _solved(q: MultivariateNormal, root: Tensor) -> Tensor:
    """`L^-1 root` of the factor `L` of the covariance of `q`."""
    return rg.linalg.solve_triangular(q._unbroadcasted_scale_tril, root, upper=False)


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_full(p: LowRankMultivariateNormal, q: MultivariateNormal) -> Tensor:
    _require_same_event(p, q, "(Low Rank) Multivariate Normals")
    diagonal = rg.diag_embed(p._unbroadcasted_cov_diag.sqrt())
    trace = _square_sum(_solved(q, p._unbroadcasted_cov_factor)) + _square_sum(_solved(q, diagonal))
    return _divergence(p, q, trace, _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc))


@register_kl(MultivariateNormal, MultivariateNormal)
def _full_full(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    _require_same_event(p, q, "Multivariate Normals")
    trace = _square_sum(_solved(q, p._unbroadcasted_scale_tril))
    return _divergence(p, q, trace, _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc))
