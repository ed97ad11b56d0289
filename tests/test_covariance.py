"""Covariances with weights, whose checks look at elements, against NumPy."""

import warnings
from typing import Any

import numpy as np
import pytest

X = np.random.default_rng(3).standard_normal((3, 5))
COUNTS, WEIGHTS = np.array([1, 2, 0, 3, 1]), np.array([0.5, 1.0, 2.0, 0.25, 1.5])


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("names", [(), ("fweights",), ("aweights",), ("fweights", "aweights")])
def test_covariances_are_those_of_numpy(rg: Any, names: tuple[str, ...], correction: int) -> None:
    weights = {name: {"fweights": COUNTS, "aweights": WEIGHTS}[name] for name in names}
    got = rg.cov(rg.from_numpy(X), correction=correction, **{k: rg.from_numpy(v) for k, v in weights.items()})
    np.testing.assert_allclose(got.numpy(), np.cov(X, ddof=correction, **weights), rtol=1e-13)


def test_weights_have_derivatives(rg: Any) -> None:
    x, w = rg.from_numpy(X).requires_grad_(), rg.from_numpy(WEIGHTS).requires_grad_()
    f = lambda x, w: rg.cov(x, fweights=rg.from_numpy(COUNTS), aweights=w)  # noqa: E731
    assert rg.autograd.gradcheck(f, (x, w)) and rg.autograd.gradgradcheck(f, (x, w))


def test_too_few_observations_warn(rg: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert rg.isinf(rg.cov(rg.from_numpy(X[:, :2]), correction=2)).all()
    assert "degrees of freedom is <= 0" in str(caught[0].message)
