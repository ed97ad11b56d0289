"""A setting that goes with `use_deterministic_algorithms`.

>>> rg.utils.deterministic.fill_uninitialized_memory
True
"""

from __future__ import annotations

import sys
import types

from retrograd import _settings


class _Module(types.ModuleType):
    """Lets the setting be read and written as an attribute of the module."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether `empty` and the like fill their memory, with NaN or the largest integer, while deterministic
        algorithms are on: so that a program that reads what nobody wrote does the same each time.
        """
        return _settings.fills()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        _settings.set_fills(mode)


sys.modules[__name__].__class__ = _Module
