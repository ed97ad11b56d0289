"""Functions of complex numbers: values on both sides of the cuts, near branch points, at infinities and at NaN.

`complex_functions.json` holds points and the functions' values there: mpmath's to 900 digits, where a zero is a number
of that sign and of the size 1e-400, and at infinities and NaN those of C, Annex G, which PyTorch has, too.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

STORED: dict[str, Any] = json.loads((Path(__file__).parent / "complex_functions.json").read_text())
Part = tuple[float, float]
# Functions whose zeros tell on which side of a cut, or of the axis, they are.
SIDED = {
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "sqrt",
    "log",
    "log1p",
    "expm1",
}


def on(rg: Any, name: str, points: list[Part], dtype: str = "complex128") -> Any:
    z = np.array([complex(*point) for point in points], dtype)
    return getattr(rg, name)(rg.from_numpy(z)).numpy()


def known(name: str) -> tuple[list[Part], list[Part]]:
    pairs = zip(STORED["points"], STORED["values"][name], strict=True)
    points, values = zip(*(pair for pair in pairs if pair[1] is not None), strict=True)
    return list(points), list(values)


@pytest.mark.parametrize("name", STORED["values"])
def test_values_on_both_sides_of_the_cuts(rg: Any, name: str) -> None:
    points, values = known(name)
    for point, got, want in zip(points, on(rg, name, points), values, strict=True):
        size = math.hypot(*want)
        for part, expected in zip((got.real, got.imag), want, strict=True):
            # Small parts keep their digits, but near the zeros of `sinc`, whose argument is multiplied by pi.
            least = 1e-15 if name == "sinc" else 3e-16 * size
            assert part == pytest.approx(expected, rel=1e-13, abs=least), (point, got, want)
        if want[1] == 0.0 and name in SIDED:
            assert math.copysign(1, got.imag) == math.copysign(1, want[1]), (point, got, want)


@pytest.mark.parametrize("name", STORED["values"])
def test_complex64_is_complex128_rounded(rg: Any, name: str) -> None:
    points = [(float(np.float32(x)), float(np.float32(y))) for x, y in known(name)[0]]
    for many in (points, points * 40):  # so many that blocks are full
        got = on(rg, name, many, "complex64")
        with np.errstate(over="ignore"):
            want = on(rg, name, many).astype(np.complex64)
        assert got.dtype == np.complex64
        np.testing.assert_allclose(got, want, rtol=4e-7)


@pytest.mark.parametrize("name", STORED["at_ends"])
def test_infinities_and_nan(rg: Any, name: str) -> None:
    for point, got, want in zip(STORED["ends"], on(rg, name, STORED["ends"]), STORED["at_ends"][name], strict=True):
        for part, expected in zip((got.real, got.imag), want, strict=True):
            assert part == pytest.approx(expected, rel=1e-15, nan_ok=True), (point, got, want)


def test_powers_of_zero_and_of_one(rg: Any) -> None:
    zero, one = rg.tensor([0j, -0.0 - 0.0j]), rg.tensor([complex(math.inf, 1.0), 2.0 - 3.0j])
    assert rg.pow(zero, 0).tolist() == [1, 1] and rg.pow(zero, 2).tolist() == [0, 0]
    assert rg.pow(zero, rg.tensor([1 + 1j, 2.5])).tolist() == [0, 0]
    assert rg.isnan(rg.pow(zero, rg.tensor([0j, 0j]))).all()  # as of the C library, though of a number it is 1
    assert rg.isinf(rg.pow(zero, -1)).all()
    assert rg.pow(1.0, one).tolist() == [1, 1]


def test_infinite_terms_stay_what_they_are(rg: Any) -> None:
    """Where PyTorch makes NaN of a number by its way of computing, and the limit is known."""
    inf = math.inf
    z = rg.tensor([complex(0.0, -inf)])
    assert (z + 1).tolist() == [complex(1.0, -inf)]
    assert rg.expm1(rg.tensor([complex(inf, 0.0)])).tolist() == [complex(inf, 0.0)]
    assert rg.sigmoid(rg.tensor([complex(-inf, 1.0), -800.0 + 1.0j])).tolist() == [0, 0]
    assert rg.log1p(rg.tensor([complex(1.0, inf)])).real.tolist() == [inf]
    assert rg.abs(rg.tensor([complex(math.nan, inf)])).tolist() == [inf]
    assert rg.abs(rg.tensor([3e38 + 1e38j])).tolist() == [pytest.approx(3.1622777e38)]
    back = rg.nan_to_num(rg.tensor([complex(math.nan, inf)], dtype=rg.complex128))
    assert back.tolist() == [complex(0.0, np.finfo(np.float64).max)]


def test_zero_is_where_magnitude_angle_and_sign_have_subgradients(rg: Any) -> None:
    for f in (rg.abs, rg.angle, rg.sgn):
        z = rg.tensor([0j, 3 + 4j], dtype=rg.complex128, requires_grad=True)
        y = f(z)
        [g] = rg.autograd.grad(y, z, rg.ones_like(y), create_graph=True)
        assert g[0].item() == 0
        [again] = rg.autograd.grad(rg.view_as_real(g).sum() if hasattr(rg, "view_as_real") else g.abs().sum(), z)
        assert again[0].item() == 0
    z = rg.tensor([3 + 4j], dtype=rg.complex128, requires_grad=True)
    assert rg.autograd.grad(rg.abs(z).sum(), z)[0].tolist() == pytest.approx([0.6 + 0.8j])
    assert rg.autograd.grad(rg.angle(z).sum(), z)[0].tolist() == pytest.approx([(-4 + 3j) / 25])


def test_numbers_and_tensors_promote_to_complex(rg: Any) -> None:
    single, double = rg.tensor([1.0]), rg.tensor([1.0], dtype=rg.float64)
    for f in (rg.add, rg.mul, rg.sub, rg.div, rg.pow):
        assert f(single, 2j).dtype is rg.complex64 and f(double, 2j).dtype is rg.complex128
        assert f(rg.tensor([1]), 2j).dtype is rg.complex64
        assert f(single, rg.tensor([2j], dtype=rg.complex128)).dtype is rg.complex128
        assert f(double, rg.tensor([2j], dtype=rg.complex64)).dtype is rg.complex128
        # A tensor without dims counts no more than a number.
        assert f(single, rg.tensor(2j, dtype=rg.complex128)).dtype is rg.complex64
    assert rg.pow(2j, double).dtype is rg.complex128
    assert rg.float_power(single, 2j).dtype is rg.complex128
    assert rg.where(rg.tensor([True]), single, 2j).dtype is rg.complex64
    with pytest.raises(RuntimeError, match="argument alpha must not be a complex number"):
        rg.add(single, single, alpha=1j)


def test_half_the_range_of_nan_to_num(rg: Any) -> None:
    x = [math.inf, -math.inf, math.nan, 1.0]
    for dtype, most in ((rg.float16, 65504.0), (rg.bfloat16, 3.3895313892515355e38)):
        assert rg.nan_to_num(rg.tensor(x, dtype=dtype)).tolist() == [most, -most, 0.0, 1.0]


def test_powers_of_real_numbers_have_real_gradients(rg: Any) -> None:
    x = rg.tensor([-2.0, 0.5, 0.0], dtype=rg.float64, requires_grad=True)
    e = rg.tensor([1 + 2j, 0.5 - 1j, 2 + 0j], dtype=rg.complex128, requires_grad=True)
    y = rg.pow(x, e)
    gx, ge = rg.autograd.grad(y, [x, e], rg.ones_like(y))
    z, w = np.array([-2.0, 0.5, 1.0], complex), np.array([1 + 2j, 0.5 - 1j, 2])
    assert gx.dtype is rg.float64 and ge.dtype is rg.complex128
    np.testing.assert_allclose(gx.numpy(), (w * z ** (w - 1)).real * [1, 1, 0], rtol=1e-12)
    np.testing.assert_allclose(ge.numpy(), np.conj(z**w * np.log(z)) * [1, 1, 0], rtol=1e-12, atol=1e-15)
    # A real tangent of a complex number, too.
    z = rg.tensor([1 + 1j], dtype=rg.complex128)
    [t] = rg.func.jvp(lambda z: z.sqrt(), (z,), (rg.tensor([1 + 0j], dtype=rg.complex128),))[1:]
    np.testing.assert_allclose(t.numpy(), 0.5 / np.sqrt([1 + 1j]), rtol=1e-14)
