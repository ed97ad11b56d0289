"""Layers are what PyTorch's are: their texts, initial values, states, outputs and gradients.

`torch.json` has what PyTorch gives for each case; `tools/layers.py` writes it.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from layers.cases import measure

STORED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "torch.json").read_text())


def name(it: dict[str, Any]) -> str:
    arguments = [json.dumps(value) for value in it["args"]]
    arguments += [f"{key}={json.dumps(value)}" for key, value in it["kwargs"].items()]
    return f"{it['layer']}({', '.join(arguments)})" + ("-eval" if it.get("eval") else "")


def assert_close(got: list[Any], expected: list[Any], what: str) -> None:
    """Digests of two tensors: sizes, dtypes, and sums that may differ by rounding."""
    assert got[:2] == expected[:2], what
    # Sums of sizes say how large the parts of all sums are; what cancels may be zero but for rounding.
    least = 2e-6 * expected[2] + 1e-6
    assert got[2:] == pytest.approx(expected[2:], rel=1e-5, abs=least), what


@pytest.mark.parametrize("it", [pytest.param(it, id=name(it)) for it in STORED])
def test_a_layer_is_what_it_is_in_torch(rg: Any, it: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got, expected = measure(rg, it), it["is"]
    for what in ("repr", "became", "versions"):
        assert got.get(what) == expected.get(what)
    assert len(got["outputs"]) == len(expected["outputs"])
    for i, (one, other) in enumerate(zip(got["outputs"], expected["outputs"], strict=True)):
        assert_close(one, other, f"output {i}")
    for part in ("initial", "changed", "gradients"):
        assert list(got[part]) == list(expected[part]), part
        for key, value in expected[part].items():
            assert_close(got[part][key], value, f"{part} {key}")
