"""Submodules, and names in them, that are loaded when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def submodules(package: str, *names: str, **taken: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose submodules `names` are imported at first use.

    The package has also the names that `taken` lists, each with the submodule that it is taken from.
    """

    def load(name: str) -> Any:
        if name in names:
            return import_module(f"{package}.{name}")  # which makes it an attribute, so this is not called again
        if name in taken:
            value = getattr(import_module(f"{package}.{taken[name]}"), name)
            setattr(sys.modules[package], name, value)
            return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names, *taken})

    return load, listed
