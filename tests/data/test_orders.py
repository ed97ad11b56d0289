"""Samplers, splits and loaders against PyTorch's orders, refusals and warnings, which `tools/loaders.py` has stored."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__)
MAKER = runpy.run_path(str(HERE.parents[2] / "tools/loaders.py"))
TABLE: dict[str, Any] = json.loads((HERE.parents[1] / "loaders.json").read_text())

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),  # where processors are few
    pytest.mark.filterwarnings("ignore:This process .*is multi-threaded:DeprecationWarning"),  # Python 3.12 and later
]


@pytest.mark.parametrize("name", MAKER["ORDERS"])
def test_orders_and_seeds_are_those_of_torch(rg, name):
    assert json.loads(json.dumps(MAKER["ORDERS"][name](rg))) == TABLE["orders"][name]


@pytest.mark.parametrize("name", MAKER["ERRORS"])
def test_refusals_and_warnings_are_those_of_torch(rg, name):
    got, warned = json.loads(json.dumps(MAKER["outcome"](rg, MAKER["ERRORS"][name])))
    assert [got, [text for text in warned if "This DataLoader will create" not in text]] == TABLE["errors"][name]
