"""Settings of the process that programs expect to find: numbers of threads, determinism."""

from __future__ import annotations

from retrograd import _core

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "set_num_threads",
    "use_deterministic_algorithms",
]

_deterministic = False
_warn_only = False
_fills = True


def set_num_threads(num: int, /) -> None:
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
    global _deterministic, _warn_only
    if not isinstance(mode, bool):
        raise TypeError(f"use_deterministic_algorithms(): argument 'mode' must be bool, not {type(mode).__name__}")
    _deterministic, _warn_only = mode, warn_only
    _core._fill_uninitialised(_deterministic and _fills)


def are_deterministic_algorithms_enabled() -> bool:
    """The last setting by `use_deterministic_algorithms`.

    >>> rg.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """The `warn_only` of the last `use_deterministic_algorithms`, which changes nothing: there is nothing to warn of.

    >>> rg.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warn_only


_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms`, with 0 or "default" for no, 1 or "warn" for `warn_only`, and 2 or "error".

    Raises: TypeError for what is no int or str, RuntimeError for another one.

    >>> rg.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (*_DEBUG_MODES, *_DEBUG_MODES.values()):
        expected = "one of `default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, or 2"
        raise RuntimeError(f"invalid value of debug_mode, expected {expected}, but got {debug_mode}")
    number = _DEBUG_MODES[debug_mode] if isinstance(debug_mode, str) else debug_mode
    use_deterministic_algorithms(number > 0, warn_only=number == 1)


def get_deterministic_debug_mode() -> int:
    """The number of what `set_deterministic_debug_mode` set.

    >>> rg.get_deterministic_debug_mode()
    0
    """
    return (1 if _warn_only else 2) if _deterministic else 0


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
