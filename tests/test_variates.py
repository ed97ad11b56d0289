"""Draws with a parameter for each number: torch's streams, implicit derivatives, batches."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest

import retrograd as rg

pytestmark = pytest.mark.skipif(os.environ.get("RETROGRAD_STANDIN") == "torch", reason="the numbers are torch's")

F = rg.nn.functional
RATES = [0.5, 3.0, 9.5, 12.0, 80.0, 1e4]
COUNTS, CHANCES = [3.0, 20.0, 50.0, 1000.0, 1000.0, 7.0], [0.5, 0.1, 0.4, 0.9, 0.003, 0.95]
SHAPES = [0.05, 0.5, 1.0, 3.0, 40.0, 1e3]
SIGNS = [-1.0, 2.0, -3.0, -0.5, 0.0, 4.0]

# Numbers of torch 2.13 after manual_seed(0): function, arguments, dtype, result.
STREAMS: list[tuple[str, Any, list[list[float]], str, list[float]]] = [
    ("poisson", rg.poisson, [RATES], "float32", [2.0, 4.0, 9.0, 14.0, 72.0, 9856.0]),
    ("poisson", rg.poisson, [RATES], "float64", [2.0, 4.0, 9.0, 14.0, 72.0, 9856.0]),
    ("binomial", rg.binomial, [COUNTS, CHANCES], "float32", [2.0, 3.0, 18.0, 906.0, 2.0, 7.0]),
    ("binomial", rg.binomial, [COUNTS, CHANCES], "float64", [2.0, 3.0, 18.0, 906.0, 2.0, 7.0]),
    (
        "gamma",
        rg._standard_gamma,
        [SHAPES],
        "float32",
        [
            1.675381434420486e-31,
            0.04415091872215271,
            1.05320405960083,
            4.282602310180664,
            36.0263786315918,
            1005.4332885742188,
        ],
    ),
    (
        "gamma",
        rg._standard_gamma,
        [SHAPES],
        "float64",
        [
            1.6753815976694318e-31,
            0.04415092016466957,
            1.053204118254408,
            4.282602236802636,
            36.0263778688581,
            1005.4332590874712,
        ],
    ),
    (
        "dirichlet",
        rg._sample_dirichlet,
        [SHAPES],
        "float32",
        [
            1.6004202909933082e-34,
            4.2175441194558516e-05,
            0.0010060797212645411,
            0.004090982489287853,
            0.034414421766996384,
            0.9604463577270508,
        ],
    ),
    (
        "rrelu",
        lambda x: F.rrelu(x, training=True),
        [SIGNS],
        "float32",
        [-0.3270943760871887, 2.0, -0.8173874616622925, -0.11035238951444626, 0.0, 4.0],
    ),
    (
        "rrelu",
        lambda x: F.rrelu(x, 0.1, 0.9, training=True),
        [SIGNS],
        "float64",
        [-0.8760424014452425, 2.0, -1.998767674559491, -0.23375317725098038, 0.0, 4.0],
    ),
    (
        "rrelu",
        lambda x: F.rrelu(x, 0.1, 0.9, training=True),
        [SIGNS],
        "bfloat16",
        [-0.875, 2.0, -2.0, -0.2333984375, 0.0, 4.0],
    ),
]


@pytest.mark.parametrize(("name", "draw", "args", "dtype", "want"), STREAMS, ids=lambda x: x if type(x) is str else "")
def test_numbers_are_those_of_torch(name: str, draw: Any, args: Any, dtype: str, want: list[float]) -> None:
    rg.manual_seed(0)
    got = draw(*(rg.tensor(x, dtype=getattr(rg, dtype)) for x in args))
    np.testing.assert_allclose(got.tolist(), want, rtol=1e-6 if dtype == "float32" else 1e-13)


def test_fractions_are_those_of_torch() -> None:
    rg.manual_seed(0)
    plane = F.fractional_max_pool2d(rg.arange(72.0).reshape(1, 2, 6, 6), 2, 3)
    want = [[[7.0, 9.0, 11.0], [19.0, 21.0, 23.0], [31.0, 33.0, 35.0]]]
    assert plane.tolist() == [[*want, (np.array(want[0]) + 36).tolist()]]


def slope_of(cdf: Any, density: Any, a: float) -> float:
    h = 1e-5 * a
    return -(cdf(a + h) - cdf(a - h)) / (2 * h) / density(a)


@pytest.mark.parametrize("shape", [0.3, 1.0, 2.5, 9.0, 200.0])
def test_gamma_numbers_change_with_the_shape_as_quantiles(shape: float) -> None:
    rg.manual_seed(1)
    a = rg.full((20,), shape, dtype=rg.float64, requires_grad=True)
    x = rg._standard_gamma(a)
    (got,) = rg.autograd.grad(x.sum(), a)
    assert type(x.grad_fn).__name__ == "StandardGammaBackward0"
    for x_, slope in zip(x.tolist(), got.tolist(), strict=True):
        at = rg.tensor(x_, dtype=rg.float64)

        def cdf(a: float, at: rg.Tensor = at) -> float:
            return rg.special.gammainc(rg.tensor(a, dtype=rg.float64), at).item()

        def density(a: float, x: float = x_) -> float:
            return math.exp((a - 1) * math.log(x) - x - math.lgamma(a))

        assert math.isclose(slope, slope_of(cdf, density, shape), rel_tol=1e-6)


def test_gamma_numbers_have_a_second_derivative() -> None:
    a = rg.tensor([0.5, 2.0, 7.0], dtype=rg.float64, requires_grad=True)

    def draw(a: rg.Tensor) -> rg.Tensor:
        rg.manual_seed(3)
        return rg._standard_gamma(a)

    x = draw(a)
    (g,) = rg.autograd.grad(x.sum(), a, create_graph=True)
    (second,) = rg.autograd.grad(g.sum(), a)
    # The quantile as a function of the shape: a step along its slope, of which the slope is taken again.
    h = 1e-5
    with rg.no_grad():
        forth, back = (rg._standard_gamma_grad(a + s, x + s * g) for s in (h, -h))
    np.testing.assert_allclose(second.tolist(), ((forth - back) / (2 * h)).tolist(), rtol=1e-6)


def test_shares_change_with_the_concentrations_as_quantiles() -> None:
    # Of two shares the first is a beta number, whose quantile is known for a concentration of 1 of the other.
    rg.manual_seed(2)
    a = rg.tensor([[2.0, 1.0]] * 9, dtype=rg.float64, requires_grad=True)
    x = rg._sample_dirichlet(a)
    assert type(x.grad_fn).__name__ == "SampleDirichletBackward0"
    (g,) = rg.autograd.grad(x[:, 0].sum(), a)
    first = x[:, 0].detach()
    want = -first * first.log() / 2
    np.testing.assert_allclose(g[:, 0].tolist(), want.tolist(), rtol=1e-12)
    # Sums of shares do not change.
    (g,) = rg.autograd.grad(rg._sample_dirichlet(a).sum(), a)
    np.testing.assert_allclose(g.tolist(), np.zeros((9, 2)), atol=1e-14)
    _, tangent = rg.func.jvp(
        lambda a: rg._sample_dirichlet(a).sum(-1), (a.detach(),), (rg.ones(9, 2, dtype=rg.float64),)
    )
    np.testing.assert_allclose(tangent.tolist(), np.zeros(9), atol=1e-14)


DRAWS = {
    "poisson": lambda x: rg.poisson(x),
    "binomial": lambda x: rg.binomial(x * 9, x / 4),
    "_standard_gamma": lambda x: rg._standard_gamma(x),
    "_sample_dirichlet": lambda x: rg._sample_dirichlet(x),
    "rrelu": lambda x: F.rrelu(-x, training=True),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x.repeat(5, 5, 1).permute(2, 0, 1), 2, 3),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_entries_of_batches_have_their_own_numbers(draw: Any) -> None:
    x = rg.rand(3, 4, dtype=rg.float64) + 0.5
    rg.manual_seed(0)
    if draw is DRAWS["fractional_max_pool2d"]:
        samples = rg.rand(3, 1, 4, 2, dtype=rg.float64)
        planes = [x[i].repeat(5, 5, 1).permute(2, 0, 1) for i in range(3)]
        want = [F.fractional_max_pool2d(p, 2, 3, _random_samples=u) for p, u in zip(planes, samples, strict=True)]
    else:
        want = list(draw(x))
    rg.manual_seed(0)
    got = rg.func.vmap(draw, randomness="different")(x)
    assert got.tolist() == [w.tolist() for w in want]
    with pytest.raises(RuntimeError, match="vmap: called random operation while in randomness error mode"):
        rg.func.vmap(draw)(x)


def test_the_same_numbers_are_not_drawn_from_different_rates() -> None:
    x = rg.ones(3, 4)
    for name in ("poisson", "binomial", "_standard_gamma", "_sample_dirichlet"):
        with pytest.raises(RuntimeError, match="Vmap does not currently support same randomness"):
            rg.func.vmap(DRAWS[name], randomness="same")(x)
    same = rg.func.vmap(lambda x: (x * 1).cauchy_(), randomness="same")(x)
    assert (same == same[0]).all()


def test_counts_have_no_derivative() -> None:
    p = rg.tensor([0.5], requires_grad=True)
    y = rg.binomial(rg.tensor([9.0]), p)
    with pytest.raises(NotImplementedError, match="the derivative for 'binomial' is not implemented"):
        y.sum().backward()
    alpha = rg.tensor([1.0, 2.0], requires_grad=True)
    (g,) = rg.autograd.grad(rg._sample_dirichlet(alpha)[0], alpha, create_graph=True)
    with pytest.raises(NotImplementedError, match="_dirichlet_grad"):
        g.sum().backward()


def test_nodes_show_what_torch_saves() -> None:
    x = -rg.rand(5, requires_grad=True)
    node = F.rrelu(x, 0.25, 0.5, training=True).grad_fn
    assert type(node).__name__ == "RreluWithNoiseBackward0"
    assert (node._saved_lower, node._saved_upper, node._saved_training) == (0.25, 0.5, True)
    assert node._saved_noise.shape == (5,) and node._saved_self is x
    for name in ("cauchy", "log_normal", "geometric"):
        args = (0.5,) if name == "geometric" else ()
        y = getattr(x * 1, f"{name}_")(*args)
        assert type(y.grad_fn).__name__ == "".join(w.capitalize() for w in name.split("_")) + "Backward0"
    planes = rg.rand(1, 1, 4, 4, requires_grad=True)
    node = F.fractional_max_pool2d(planes, 2, 2).grad_fn
    assert type(node).__name__ == "FractionalMaxPool2DBackward0"
    assert (node._saved_kernel_size, node._saved_output_size) == ((2, 2), (2, 2))
    scores = rg.rand(2, 3, requires_grad=True)
    node = F.multi_margin_loss(scores, rg.tensor([0, 1]), 2, 0.5).grad_fn
    assert (type(node).__name__, node._saved_p, node._saved_margin, node._saved_reduction, node._saved_weight) == (
        "MultiMarginLossBackward0",
        2,
        0.5,
        1,
        None,
    )
    node = F.multilabel_margin_loss(scores, rg.tensor([[0, -1, 0], [2, 1, -1]])).grad_fn
    assert type(node).__name__ == "MultilabelMarginLossBackward0"
    assert node._saved_is_target.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    node = F.pdist(scores, 3.0).grad_fn
    assert (type(node).__name__, node._saved_p) == ("PdistBackward0", 3.0)


def test_the_slopes_of_rrelu_are_its_derivative() -> None:
    x = rg.randn(50, dtype=rg.float64, requires_grad=True)
    y = F.rrelu(x, 0.2, 0.7, training=True)
    (g,) = rg.autograd.grad(y.sum(), x)
    np.testing.assert_allclose((g * x).tolist(), y.tolist(), rtol=1e-15)
    z = x.detach().clone()
    assert F.rrelu_(z, 0.2, 0.7, training=True) is z
    with pytest.raises(NotImplementedError, match=r"rrelu_with_noise_out_cpu.*'Half'"):
        F.rrelu(z.to(rg.float16), training=True)


def test_halves_are_rounded_by_way_of_float32() -> None:
    # The number is 0.32714842: torch's half of it is not the nearest.
    rg.manual_seed(261)
    assert rg.zeros(200, dtype=rg.bfloat16).exponential_()[195].item() == 0.328125
