"""Distributions are what PyTorch's are: draws from the same seed, densities, moments, gradients, texts and errors.

`torch.json` has PyTorch's answers to the questions of `cases.py`; `tools/distributions.py` writes it.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from distributions.cases import CONSTRAINTS, DISTRIBUTIONS, ERRORS, TRANSFORMS, Calls

STORED: dict[str, Any] = json.loads((Path(__file__).parent / "torch.json").read_text())

# Where PyTorch raises, and what it raises, though there is an answer.
ANSWERED = {
    "the derivative for 'igamma: input' is not implemented": "incomplete gamma functions have this derivative",
    "Double did not match Float": "GeneralizedPareto compares with a float32 zero",
    "'Multinomial' object has no attribute '_binomial'": "an expanded one forgets it",
    "[CPUBoolType [2]] is at version 1": "Wishart writes to a mask that its gradient needs",
}
# Derivatives of gamma draws are exact here, and approximations there.
ROUGH = {"rsample gradients": 2e-2}
# PyTorch takes Bessel functions from polynomials of 7 digits.
BESSEL = {"von mises": 2e-5}


def close(got: Any, expected: Any, tolerance: float) -> bool:
    got, expected = float(got), float(expected)
    if got == expected or (math.isnan(got) and math.isnan(expected)):
        return True
    return abs(got - expected) <= tolerance * max(1.0, abs(expected))


def assert_same(got: Any, expected: Any, what: tuple[str, ...], tolerance: float) -> None:
    if isinstance(expected, list) and isinstance(got, list):
        assert len(got) == len(expected), what
        for one, other in zip(got, expected, strict=True):
            assert_same(one, other, what, tolerance)
    elif not isinstance(expected, dict):
        assert got == expected, what
    elif "text" in expected:  # an error or a warning
        if any(text in expected["text"] for text in ANSWERED):
            assert "text" not in got, what
        else:
            assert got.keys() == expected.keys(), (what, got)
            assert expected["text"] in got["text"], what
            assert [got[k] for k in got if k != "text"] == [expected[k] for k in expected if k != "text"], what
    else:
        assert isinstance(got, dict) and "values" in got, (what, got)
        assert [got["shape"], got["dtype"]] == [expected["shape"], expected["dtype"]], what
        if expected["dtype"] == "float32":
            tolerance = max(tolerance, 1e-5)
        for one, other in zip(got["values"], expected["values"], strict=True):
            assert close(one, other, tolerance), (what, got["values"], expected["values"])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution_is_what_it_is_in_torch(rg: Any, name: str) -> None:
    got, expected = Calls(rg).distribution(name), STORED["distributions"][name]
    for what, answer in expected.items():
        tolerance = ROUGH.get(what, BESSEL.get(name, 1e-8 if "gradients" in what else 1e-11))
        if (name, what) == ("wishart number", "log_prob gradients"):  # above the diagonal nothing is read
            answer[0]["values"][1] = 0.0
        assert_same(got[what], answer, (name, what), tolerance)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_is_what_it_is_in_torch(rg: Any, name: str) -> None:
    got, expected = Calls(rg).transform(name), STORED["transforms"][name]
    for what, answer in expected.items():
        assert_same(got[what], answer, (name, what), 1e-11)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_is_what_it_is_in_torch(rg: Any, name: str) -> None:
    got, expected = Calls(rg).constraint(name), STORED["constraints"][name]
    for what, answer in expected.items():
        assert_same(got[what], answer, (name, what), 0.0)


def test_divergences_are_those_of_torch(rg: Any) -> None:
    got, expected = Calls(rg).divergences(), STORED["divergences"]
    assert got.keys() == expected.keys()
    for pair, answer in expected.items():
        assert_same(got[pair][0], answer[0], (pair, "value"), 1e-11)
        assert_same(got[pair][1], answer[1], (pair, "gradients"), 1e-8)


@pytest.mark.parametrize("text", ERRORS)
def test_errors_are_those_of_torch(rg: Any, text: str) -> None:
    got = Calls(rg).raised(text, {"T": rg, "D": rg.distributions})
    assert_same(got, STORED["errors"][text], (text,), 0.0)
