"""Initial values are those of PyTorch from the same seed. `init.json` has them; `tools/layers.py` writes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from layers.cases import draw

STORED = json.loads((Path(__file__).parent / "init.json").read_text())


@pytest.mark.parametrize("it", [pytest.param(it, id="-".join(map(str, it[:4]))) for it in STORED])
def test_initial_values_are_those_of_torch(rg: Any, it: list[Any]) -> None:
    *call, expected = it
    precise = 1e-6 if call[-1] != "bfloat16" else 1e-2
    assert draw(rg, *call) == pytest.approx(expected, rel=precise, abs=precise * max(1.0, expected[4]))


@pytest.mark.parametrize("name", ["uniform_", "normal_", "trunc_normal_", "kaiming_uniform_", "orthogonal_"])
def test_a_generator_draws_in_the_place_of_the_default_one(rg: Any, name: str) -> None:
    fill = getattr(rg.nn.init, name)
    rg.manual_seed(4)
    expected = fill(rg.empty(4, 5)).tolist()
    state = rg.get_rng_state()
    assert fill(rg.empty(4, 5), generator=rg.Generator().manual_seed(4)).tolist() == expected
    assert rg.get_rng_state().tolist() == state.tolist()


def test_weights_of_any_memory_format_start_with_the_same_values(rg: Any) -> None:
    layer = rg.nn.Conv2d(3, 4, 3)
    rg.manual_seed(1)
    layer.reset_parameters()
    expected = layer.weight.tolist(), layer.bias.tolist()
    layer.to(memory_format=rg.channels_last)
    rg.manual_seed(1)
    layer.reset_parameters()
    assert (layer.weight.tolist(), layer.bias.tolist()) == expected


def test_orthogonal_matrices_are_orthogonal(rg: Any) -> None:
    wide = rg.nn.init.orthogonal_(rg.empty(3, 2, 4, dtype=rg.float64), gain=2).flatten(1)
    assert (wide @ wide.T - 4 * rg.eye(3)).abs().max().item() < 1e-12


def test_gains_are_those_of_torch(rg: Any) -> None:
    gain = rg.nn.init.calculate_gain
    assert [gain(name) for name in ("linear", "conv_transpose2d", "sigmoid")] == [1, 1, 1]
    assert [gain("tanh"), gain("relu"), gain("selu")] == [5 / 3, 2**0.5, 0.75]
    assert gain("leaky_relu") == pytest.approx((2 / 1.0001) ** 0.5)
    assert gain("leaky_relu", 1) == 1
