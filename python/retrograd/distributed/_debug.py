"""How much is checked: RETROGRAD_DISTRIBUTED_DEBUG is OFF, INFO or DETAIL."""

from __future__ import annotations

import os
from enum import Enum

__all__ = ["DebugLevel", "get_debug_level", "set_debug_level", "set_debug_level_from_env"]


class DebugLevel(Enum):
    """How much groups check that are made from now on; with DETAIL, that all processes call the same collective.

    >>> rg.distributed.get_debug_level()
    <DebugLevel.OFF: 0>
    """

    OFF = 0
    INFO = 1
    DETAIL = 2


_NAMES = ("RETROGRAD_DISTRIBUTED_DEBUG", "TORCH_DISTRIBUTED_DEBUG")
_level = DebugLevel.OFF


def get_debug_level() -> DebugLevel:
    """The debug level: that of the environment, unless it was set.

    >>> rg.distributed.get_debug_level().name
    'OFF'
    """
    return _level


def set_debug_level(level: DebugLevel) -> None:
    """Set the debug level, which has to be the same in all processes, before groups are made.

    >>> rg.distributed.set_debug_level(rg.distributed.DebugLevel.OFF)
    """
    global _level
    _level = DebugLevel(level)


def set_debug_level_from_env() -> None:
    """Set the debug level to what RETROGRAD_DISTRIBUTED_DEBUG says, or else TORCH_DISTRIBUTED_DEBUG.

    Raises: RuntimeError for a level that is not known.

    >>> rg.distributed.set_debug_level_from_env()
    """
    stated = next((os.environ[name] for name in _NAMES if os.environ.get(name)), "OFF").upper()
    if stated not in DebugLevel.__members__:
        raise RuntimeError(
            f"The value of {_NAMES[0]} must be one of {', '.join(DebugLevel.__members__)}, and is {stated!r}"
        )
    set_debug_level(DebugLevel[stated])


set_debug_level_from_env()
