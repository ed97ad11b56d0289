"""The example, the programs of docs/distributed.md, and what measures for it, run on several ranks."""

import json
import re

import pytest
from launch import HERE, launch

ROOT = HERE.parents[1]
PAGE = (ROOT / "docs" / "distributed.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("size", [1, 2])
def test_the_example_trains_and_draws(size, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ("--epochs", "25", "--steps", "40", "--rounds", "1", "--length", "32", "--output", tmp_path)
    result = launch(size, ROOT / "examples/ddp/train.py", *arguments, limit=240)
    assert result.code == 0, result.output
    assert {path.name for path in tmp_path.iterdir()} == {
        "training.png",
        "scaling.png",
        "overlap.svg",
        "digits.safetensors",
    }


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_programs_of_the_page_run(number, size, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAMS[number], encoding="utf-8")
    result = launch(size, program)
    assert result.code == 0, result.output


def test_what_measures_the_costs_runs(tmp_path):
    path = tmp_path / "result.json"
    result = launch(2, ROOT / "benches/distributed.py", "--worker", path, "--rounds", "1", "--quick", limit=120)
    assert result.code == 0, result.output
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["ranks"] == 2 and {step["name"] for step in found["steps"]} == {"transformer", "convolutional"}
    assert all(seconds > 0 for times in found["messages"].values() for seconds in times)
