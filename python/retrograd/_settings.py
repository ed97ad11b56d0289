"""Settings of the process that programs expect to find: numbers of threads, determinism."""

from __future__ import annotations

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_num_threads",
    "set_num_threads",
    "use_deterministic_algorithms",
]

_num_threads = 1
_deterministic = False


def set_num_threads(num: int) -> None:
    """Set how many threads one op may use. Remembered, but ops run on the thread that calls them for now.

    Raises: RuntimeError if it is not a positive int.

    >>> import retrograd as rg
    >>> rg.set_num_threads(1)
    """
    global _num_threads
    if type(num) is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(num).__name__}")
    if num < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, but got {num}")
    _num_threads = num


def get_num_threads() -> int:
    """What `set_num_threads` set last; 1 at the start.

    >>> import retrograd as rg
    >>> rg.get_num_threads()
    1
    """
    return _num_threads


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for algorithms that give the same result each time. All do; the setting is remembered and nothing else.

    >>> import retrograd as rg
    >>> rg.use_deterministic_algorithms(False)
    """
    global _deterministic
    _deterministic = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told last.

    >>> import retrograd as rg
    >>> rg.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic
