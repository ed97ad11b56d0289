"""How processes end: one that fails ends all, since the others would wait for it."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from retrograd.distributed._mpi._saying import say, until_heard, whole
from retrograd.distributed._work import DistBackendError

if TYPE_CHECKING:
    from retrograd.distributed._mpi._backend import Mpi

# Seconds in which others that see the same fault can say so, before the launcher ends them.
_LAST_WORDS = 1.5

_world: Mpi | None = None
_installed = False


def watch(world: Mpi) -> None:
    """End all processes if this one fails while it is in the `world`."""
    global _world, _installed
    _world = world
    if not _installed:
        _installed = True
        atexit.register(_leave)
        _take_notice()
        before = sys.excepthook

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            with whole():
                before(kind, error, trace)
            if _world is not None:
                _abort(_world, kind, error)

        sys.excepthook = hook


def _take_notice() -> None:
    """Survive SIGUSR1, with which MPICH's launcher tells of a dead process if it leaves the others alive.

    They notice by themselves, and say what they were at. A handler that is there already stays.
    """
    try:
        if signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL:
            signal.signal(signal.SIGUSR1, lambda number, frame: None)
    except (AttributeError, ValueError):  # there is no such signal, or this is not the main thread
        pass


def forget(world: Mpi) -> None:
    """The world has been left in order."""
    global _world
    if _world is world:
        _world = None


def _abort(world: Mpi, kind: type[BaseException], error: BaseException) -> None:
    last = f"after it began {world.last}" if world.last else "before its first collective"
    say(f"rank {world.rank} of {world.size} failed with {kind.__name__} {last}, and ends all processes")
    _end(world, 130 if issubclass(kind, KeyboardInterrupt) else 1, _LAST_WORDS * isinstance(error, DistBackendError))


def _end(world: Mpi, code: int, delay: float) -> NoReturn:
    until_heard()
    time.sleep(delay)
    world.MPI.COMM_WORLD.Abort(code)
    os._exit(code)  # where the launcher is asked to end all, and this process goes on meanwhile


def _leave() -> None:
    """Before MPI ends, which waits for the others."""
    if _world is None:
        return
    broken = _world.leave()
    if broken:
        say(f"rank {_world.rank} ends all processes, since {broken}")
        _end(_world, 1, _LAST_WORDS)
