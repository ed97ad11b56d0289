"""Processes whose tensors are shared: Python's `multiprocessing`, through whose queues and pipes memory goes uncopied.

A tensor that is sent is moved to shared memory, as by `share_memory_`; sender and receiver then see the same elements.
The memory has no name, so nothing is left behind when processes die. The sender has to live until the receiver has it.

>>> rg.multiprocessing.get_sharing_strategy()
'file_descriptor'
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

from retrograd.multiprocessing.reductions import init_reductions
from retrograd.multiprocessing.spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__all__ += multiprocessing.__all__

_strategies = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Set how memory is shared. The name is kept, and means nothing: it is always a file without a name.

    Raises: AssertionError for a name that `get_all_sharing_strategies` does not have.

    >>> rg.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    global _strategy
    if new_strategy not in _strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {sorted(_strategies)}")
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """The last setting by `set_sharing_strategy`.

    >>> rg.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return _strategy


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes.

    >>> sorted(rg.multiprocessing.get_all_sharing_strategies())
    ['file_descriptor', 'file_system']
    """
    return set(_strategies)


init_reductions()
