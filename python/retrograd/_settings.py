"""Settings of the process that programs expect to find: numbers of threads, determinism."""

from __future__ import annotations

from retrograd import _core

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_num_threads",
    "set_num_threads",
    "use_deterministic_algorithms",
]

_deterministic = False
_fills = True


def set_num_threads(num: int) -> None:
    """Set how many threads one op may use, the calling one among them.

    At the start it is what the environment variable `RETROGRAD_NUM_THREADS` says, or else `OMP_NUM_THREADS`, or else
    the number of cores that the process may run on. A variable that is no positive number is reported on standard error
    and ignored. Threads are started when an op first has enough to do for more than one; small ops never use them.
    Results do not depend on the number.

    Raises: RuntimeError if it is not a positive int.

    >>> rg.set_num_threads(2)
    >>> rg.get_num_threads()
    2
    """
    if type(num) is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(num).__name__}")
    if num < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, but got {num}")
    _core._set_num_threads(min(num, 1024))


def get_num_threads() -> int:
    """How many threads one op may use: see `set_num_threads`.

    >>> rg.get_num_threads() >= 1
    True
    """
    return _core._num_threads()


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for algorithms that give the same result each time. All do, but memory that nobody initialised is filled
    while this is set: see `utils.deterministic`.

    >>> rg.use_deterministic_algorithms(False)
    """
    global _deterministic
    if not isinstance(mode, bool):
        raise TypeError(f"use_deterministic_algorithms(): argument 'mode' must be bool, not {type(mode).__name__}")
    _deterministic = mode
    _core._fill_uninitialised(_deterministic and _fills)


def are_deterministic_algorithms_enabled() -> bool:
    """The last setting by `use_deterministic_algorithms`.

    >>> rg.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic


def fills() -> bool:
    """Whether memory that nobody initialised is filled when deterministic algorithms are on."""
    return _fills


def set_fills(mode: bool) -> None:
    """Set what `fills` returns."""
    global _fills
    if not isinstance(mode, bool):
        raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
    _fills = mode
    _core._fill_uninitialised(_deterministic and _fills)
