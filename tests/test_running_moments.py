"""The running moments of batch_norm and instance_norm, and what derivatives see of them."""

from __future__ import annotations

import numpy as np
import pytest

import retrograd as rg
from retrograd.nn import functional as F


def moments(channels: int = 3) -> tuple[rg.Tensor, rg.Tensor]:
    return rg.zeros(channels, dtype=rg.float64), rg.ones(channels, dtype=rg.float64)


def test_batch_norm_moves_them_in_training():
    x = np.random.default_rng(1).standard_normal((4, 3, 5))
    mean, var = moments()
    F.batch_norm(rg.from_numpy(x), mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * x.mean((0, 2)), rtol=1e-12)
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * x.var((0, 2), ddof=1), rtol=1e-12)


def test_batch_norm_leaves_them_in_evaluation():
    mean, var = moments()
    F.batch_norm(rg.ones(4, 3, dtype=rg.float64), mean, var)
    assert mean.tolist() == [0.0] * 3 and var.tolist() == [1.0] * 3
    assert mean._version == var._version == 0


def test_instance_norm_moves_them_by_the_mean_over_entries():
    x = np.random.default_rng(2).standard_normal((4, 3, 5))
    mean, var = moments()
    F.instance_norm(rg.from_numpy(x), mean, var, momentum=0.5)
    np.testing.assert_allclose(mean.numpy(), 0.5 * x.mean(2).mean(0), rtol=1e-12)
    np.testing.assert_allclose(var.numpy(), 0.5 + 0.5 * x.var(2, ddof=1).mean(0), rtol=1e-12)


def test_two_training_passes_before_one_backward():
    x = rg.from_numpy(np.random.default_rng(3).standard_normal((4, 3))).requires_grad_()
    mean, var = moments()
    first = F.batch_norm(x, mean, var, training=True)
    second = F.batch_norm(x * 2.0, mean, var, training=True)
    (first * first.detach() * second.detach()).sum().backward()
    assert x.grad is not None and np.isfinite(x.grad.numpy()).all()
    assert not mean.requires_grad


def test_a_batch_cannot_move_those_of_no_batch():
    mean, var = moments()
    xs = rg.ones(2, 4, 3, dtype=rg.float64)
    with pytest.raises(RuntimeError, match="is not possible because"):
        rg.func.vmap(lambda x: F.batch_norm(x, mean, var, training=True))(xs)
