"""Special functions against mpmath, over their whole range.

`special_functions.json` holds arguments and values: mpmath's to 40 digits or more, rounded to float64. Those of the
incomplete gamma functions are sums of their power series in 320 digits, and derivatives by the first argument are
differences of these; those of the polynomials are their recurrences in 100 digits. docs/accuracy.md states the bounds.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

STORED: dict[str, Any] = json.loads((Path(__file__).parent / "special_functions.json").read_text())
# Relative errors, in units of 2^-52; 8 for the others.
BOUNDS = {"igamma": 500, "igammac": 500, "special.log_ndtr": 100, "special.airy_ai": 100, "digamma": 20}
# Float32 functions with a body of their own, in units in the last place; the others round the result of float64.
SINGLE_BOUNDS = {"erfc": 4, "erfinv": 3}
# Next to zeros, errors are those of 0.1.
NEAR_ZEROS = {"special.bessel_j0", "special.bessel_j1", "special.bessel_y0", "special.bessel_y1", "special.airy_ai"}
NEAR_ZEROS |= {"lgamma", "digamma"}


def function(rg: Any, name: str) -> Any:
    for part in name.split("."):
        rg = getattr(rg, part)
    return rg


def errors(got: Any, want: Any, name: str) -> Any:
    size = np.abs(want)
    if name in NEAR_ZEROS:
        size = np.maximum(size, 0.1)
    elif "polynomial" in name:
        size = np.maximum(size, 1.0)
    else:
        size = np.maximum(size, 1e-300)
    return np.abs(got - want) / size / 2.0**-52


@pytest.mark.parametrize("name", STORED["one"])
def test_functions_of_one_number(rg: Any, name: str) -> None:
    x, want = np.array(STORED["one"][name]).T
    got = function(rg, name)(rg.from_numpy(x)).numpy()
    worst = errors(got, want, name)
    at = int(np.argmax(worst))
    assert worst[at] <= BOUNDS.get(name, 8), (x[at], got[at], want[at], worst[at])
    with np.errstate(over="ignore"):
        single = x.astype(np.float32).astype(float)
    rounded = function(rg, name)(rg.from_numpy(single.astype(np.float32))).numpy()
    with np.errstate(over="ignore"):
        exact = function(rg, name)(rg.from_numpy(single)).numpy().astype(np.float32)
    off = (rounded != exact) & ~(np.isnan(rounded) & np.isnan(exact))
    # The distance from a rounded result is half a unit more than the error.
    unit = np.spacing(np.abs(exact[off]))
    assert (np.abs(rounded[off] - exact[off]) <= SINGLE_BOUNDS.get(name, 0) * unit).all()


@pytest.mark.parametrize("name", [name for name in STORED["two"] if not name.startswith("by_")])
def test_functions_of_two_numbers(rg: Any, name: str) -> None:
    a, b, want = np.array(STORED["two"][name]).T
    got = function(rg, name)(rg.from_numpy(a), rg.from_numpy(b)).numpy()
    worst = errors(got, want, name)
    at = int(np.argmax(worst))
    bound = 200 if "polynomial" in name else BOUNDS.get(name, 8)
    assert worst[at] <= bound, (a[at], b[at], got[at], want[at], worst[at])


def test_derivatives_of_igamma_by_its_first_argument(rg: Any) -> None:
    a, x, want = np.array(STORED["two"]["by_input"]).T
    twice = np.array(STORED["two"]["by_input_twice"])[:, 2]
    for f, sign in ((rg.igamma, 1), (rg.igammac, -1)):
        v = rg.from_numpy(a).requires_grad_()
        [first] = rg.autograd.grad(f(v, rg.from_numpy(x)).sum(), v, create_graph=True)
        [second] = rg.autograd.grad(first.sum(), v, create_graph=True)
        np.testing.assert_allclose(sign * first.detach().numpy(), want, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(sign * second.detach().numpy(), twice, rtol=1e-9, atol=1e-12)
        with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not implemented"):
            second.sum().backward()


def test_zeta_has_no_derivative_by_its_first_argument(rg: Any) -> None:
    s = rg.tensor([2.5], requires_grad=True)
    with pytest.raises(NotImplementedError, match="the derivative for 'zeta' is not implemented"):
        rg.special.zeta(s, 2.0).backward()


def test_ends_of_the_incomplete_gamma_functions(rg: Any) -> None:
    inf, nan = float("inf"), float("nan")
    points = [(0, 0), (0, 1), (1, 0), (inf, 1), (1, inf), (inf, inf), (-1, 1), (1, -1), (nan, 1), (0, inf)]
    a, x = (rg.tensor([float(p[i]) for p in points], dtype=rg.float64) for i in (0, 1))
    lower = [nan, 1.0, 0.0, 0.0, 1.0, nan, nan, nan, nan, 1.0]
    np.testing.assert_array_equal(rg.igamma(a, x).numpy(), lower)
    np.testing.assert_array_equal(rg.igammac(a, x).numpy(), [1 - v for v in lower])


def test_polynomials_and_the_airy_function_have_no_derivative(rg: Any) -> None:
    x = rg.tensor([0.5], requires_grad=True)
    assert not rg.special.legendre_polynomial_p(x, 2).requires_grad
    assert not rg.special.airy_ai(x).requires_grad


def test_nextafter_steps_in_the_dtype_of_halves(rg: Any) -> None:
    for dtype, step in ((rg.float16, 2.0**-10), (rg.bfloat16, 2.0**-7)):
        x, y = rg.tensor([1.0, -1.0, 0.0], dtype=dtype), rg.tensor([2.0, 0.0, 0.0], dtype=dtype)
        assert rg.nextafter(x, y).tolist() == [1.0 + step, -1.0 + step / 2, 0.0]
