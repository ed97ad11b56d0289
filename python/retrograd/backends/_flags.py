"""Switches that a program may set for a while: `with module.flags(name=value)`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any


def flags_of(module: str, **defaults: Any) -> Callable[..., AbstractContextManager[None]]:
    """The `flags` of a module: a context that sets its switches, those left out to the defaults, and sets them back."""

    @contextmanager
    def flags(**values: Any) -> Iterator[None]:
        """Set switches of this module for a while."""
        unknown = sorted(set(values) - set(defaults))
        if unknown:
            raise TypeError(f"flags() got an unexpected keyword argument '{unknown[0]}': there are {sorted(defaults)}")
        names = vars(sys.modules[module])
        before = {name: names[name] for name in defaults}
        names.update(defaults | values)
        try:
            yield
        finally:
            names.update(before)

    return flags
