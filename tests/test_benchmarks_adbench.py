"""`benches/adbench.py` without ADBench: its cases run, and their compiled forms give what the eager ones give."""

import pytest

import retrograd as rg


@pytest.fixture(scope="module")
def adbench(bench):
    pytest.importorskip("numpy")
    return bench("adbench")


@pytest.mark.parametrize("name", ["GMM, d = 2, K = 5", "Hand 1, simple"])
def test_a_case_is_measured_and_its_forms_agree(adbench, name):
    (case,) = (case for case in adbench.CASES if case.name == name)
    row = adbench.measure(rg, case, None, None, adbench.Plan(1, 1, 0.0001))
    assert row["difference"] < 1e-12
    assert row["own"] == min(row["eager"], row["compiled"])
    assert "ratio" not in row


def test_the_mixture_is_that_of_the_definition(adbench):
    """One Gaussian in one dimension, by hand."""
    value = adbench.gmm(
        rg, *(rg.tensor(v, dtype=rg.float64) for v in ([0.0], [[1.0]], [[0.5]], [[3.0]])), rg.tensor([[0]]), 1.0, 0
    )
    root = rg.tensor(0.5, dtype=rg.float64).exp()
    likelihood = 0.5 - 0.5 * (root * 2.0) ** 2 - 0.5 * adbench.math.log(2 * adbench.math.pi)
    # Of freedom 2: C = 2 log(1 / sqrt 2) - log gamma(1).
    prior = 0.5 * root**2 + adbench.math.log(2)
    assert float(value) == pytest.approx(float(likelihood + prior))
