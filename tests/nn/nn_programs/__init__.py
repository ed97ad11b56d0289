"""Programs around modules, which say what they find: lines that are compared with those that PyTorch gave.

A program has a function `run(torch, say)`. It hands each thing that it tries to `say`, as a function without arguments.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SAID = HERE / "said.json"
NAMES = sorted(info.name for info in pkgutil.iter_modules([str(HERE)]))


def lines(package: Any, name: str) -> list[str]:
    """What a program says with a package: results, errors and warnings, in order."""
    program = importlib.import_module(f"nn_programs.{name}")
    said: list[str] = []

    def say(tried: Callable[[], Any]) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                told = str(tried())
            except Exception as error:
                told = f"{type(error).__name__}: {error}"
        said.extend([f"{w.category.__name__}: {w.message}" for w in caught])
        said.append(told)

    program.run(package, say)
    return [plain(line, package.__name__) for line in said]


def plain(line: str, package: str) -> str:
    """Without what may differ: the package, addresses, orders of sets, and names of nodes."""
    line = re.sub(rf"\b{package}\.", "torch.", line)
    line = re.sub(r" at 0x[0-9a-f]+", "", line)
    line = re.sub(r"\{'\w+'(?:, '\w+')+\}", lambda found: "".join(sorted(found[0])), line)  # a set, in any order
    line = re.sub(r"grad_fn=<\w+>", "grad_fn=<>", line)
    return re.sub(r"<class '[\w.]*nn_programs\.\w+\.", "<class '", line)


NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


def agree(ours: str, theirs: str) -> bool:
    """Whether two lines are the same, up to the last digits of numbers."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    pairs = zip(map(float, NUMBER.findall(ours)), map(float, NUMBER.findall(theirs)), strict=True)
    return all(abs(a - b) <= 2e-4 + 1e-3 * abs(b) for a, b in pairs)


def stored() -> dict[str, list[str]]:
    """What PyTorch said to each program."""
    said: dict[str, list[str]] = json.loads(SAID.read_text())
    return said
