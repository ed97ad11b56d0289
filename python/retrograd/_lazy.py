"""Submodules that are loaded when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def submodules(package: str, *names: str) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose submodules `names` are imported at first use."""

    def load(name: str) -> ModuleType:
        if name in names:
            return import_module(f"{package}.{name}")  # which makes it an attribute, so this is not called again
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return load, listed
