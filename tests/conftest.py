"""Shared by all tests: the package under test, or the stand-in that `RETROGRAD_STANDIN` names."""

import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="session")
def rg() -> Any:
    return importlib.import_module(os.environ.get("RETROGRAD_STANDIN", "retrograd"))


@pytest.fixture(scope="module")
def bench() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a file of `benches`, which is no package."""
    folder = str(Path(__file__).parents[1] / "benches")
    sys.path.insert(0, folder)
    yield importlib.import_module
    sys.path.remove(folder)


def pytest_collection_finish() -> None:
    """Takes the tests themselves out of the collector's sight: to walk so many takes it longer than most tests do."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell which items of the semantics have no test."""
    items = importlib.import_module("semantics.items")
    sections = items.covered()
    count, missing = sum(items.LAST[s] for s in sections), items.without_a_test()
    told = ", ".join(missing) or "none"
    terminalreporter.write_line(f"semantics: {count} items in {len(sections)} sections; without a test: {told}")
