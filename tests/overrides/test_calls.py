"""What subclasses, ducks and modes are told is what torch tells them."""

import json
from pathlib import Path

import pytest

from overrides.programs import told

TORCH = json.loads((Path(__file__).parent / "calls.json").read_text())

# A program that no signature takes is told as well, before it is refused: a subclass may know what it means.
OURS = {f"{op}(x, 2)": ["TypeError", [["Tensor.matmul", ["Logging"]]]] for op in ("matmul", "imatmul")}


@pytest.fixture(scope="module")
def ours(rg):
    return told(rg)


@pytest.mark.parametrize("program", TORCH)
def test_a_program_tells_what_it_tells_in_torch(ours, program):
    assert ours[program] == OURS.get(program, TORCH[program])
