"""Shared by all tests: the package under test, or the stand-in that `RETROGRAD_STANDIN` names."""

import importlib
import os
from typing import Any

import pytest


@pytest.fixture(scope="session")
def rg() -> Any:
    return importlib.import_module(os.environ.get("RETROGRAD_STANDIN", "retrograd"))
