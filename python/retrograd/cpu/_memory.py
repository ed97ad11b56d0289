"""The memory that tensors have, and what is kept of it for the next ones."""

from __future__ import annotations

from retrograd import _core

__all__ = [
    "empty_cache",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "set_cache_limit",
]


def empty_cache() -> None:
    """Give memory that is kept for reuse back to the system.

    Nothing needs it: what is kept serves the next tensors, is limited, and goes back when tensors cannot have memory
    otherwise. It makes room for other processes, between two phases of a program. Other threads retain their lists of
    small buffers.

    >>> rg.cpu.empty_cache()
    """
    _core._empty_cache()


def set_cache_limit(bytes: int) -> int:
    """Set how many bytes are kept for reuse at most, now and from now on; 0 makes every large op ask the system.

    At the start it is 1 GB, or a tenth of the memory if that is less, and it cannot be more. Within it, what is in use
    and what is kept are together at most 1.75 times the most that was recently in use, or 64 MB. Buffers of up to 256
    KB are retained by each thread, and do not count.

    Args: `bytes` a number from 0.
    Returns: the limit before.
    Raises: TypeError if it is no int, ValueError if it is negative.

    >>> before = rg.cpu.set_cache_limit(100_000_000)
    >>> rg.cpu.set_cache_limit(before)
    100000000
    """
    if not isinstance(bytes, int):
        raise TypeError(f"set_cache_limit(): argument 'bytes' must be int, not {type(bytes).__name__}")
    if bytes < 0:
        raise ValueError(f"set_cache_limit(): bytes must not be negative, but got {bytes}")
    return _core._set_cache_limit(min(bytes, (1 << 63) - 1))


def memory_allocated() -> int:
    """Bytes in the memory of tensors and of ops under way, rounded up to the sizes of blocks.

    >>> before = rg.cpu.memory_allocated()
    >>> x = rg.ones(1000, 1000)
    >>> rg.cpu.memory_allocated() - before
    4194304
    """
    return _core._memory_stats()[0]


def max_memory_allocated() -> int:
    """The most that `memory_allocated` was since the start, or since `reset_peak_memory_stats`.

    Short by at most 1 MB for each thread.

    >>> rg.cpu.max_memory_allocated() >= rg.cpu.memory_allocated()
    True
    """
    return _core._memory_counts()[0]


def memory_reserved() -> int:
    """Bytes that were taken from the system for tensors, and not given back: in use, or kept for reuse.

    >>> rg.cpu.memory_reserved() >= rg.cpu.memory_allocated()
    True
    """
    return sum(_core._memory_stats())


def reset_peak_memory_stats() -> None:
    """Let `max_memory_allocated` begin anew, with what is in use now.

    >>> rg.cpu.reset_peak_memory_stats()
    >>> x = rg.ones(5_000_000)
    >>> rg.cpu.max_memory_allocated() >= 20_000_000
    True
    """
    _core._reset_peak_memory()


def memory_stats() -> dict[str, int]:
    """What there is in memory, by the names that `torch.cuda.memory_stats` has.

    Bytes: `allocated_bytes.all.current` and `.peak`, as `memory_allocated` and `max_memory_allocated`;
    `cached_bytes.all.current` kept for reuse; `lent_bytes.all.current` by which blocks in use are larger than they need
    to be, since one of a larger size was free; `reserved_bytes.all.current` as `memory_reserved`. Counts:
    `allocation.all.allocated` of buffers that were asked for, and `num_device_alloc` of those for which the system
    was asked.

    >>> rg.cpu.memory_stats()["num_device_alloc"] <= rg.cpu.memory_stats()["allocation.all.allocated"]
    True
    """
    peak, cached, lent, reused, obtained = _core._memory_counts()
    live = memory_allocated()
    return {
        "allocated_bytes.all.current": live,
        "allocated_bytes.all.peak": max(peak, live),
        "allocation.all.allocated": reused + obtained,
        "cached_bytes.all.current": cached,
        "lent_bytes.all.current": lent,
        "num_device_alloc": obtained,
        "reserved_bytes.all.current": live + cached + lent,
    }


def memory_summary() -> str:
    """`memory_stats` as a table.

    >>> print(rg.cpu.memory_summary())  # doctest: +ELLIPSIS
    in tensors                          ... MB
    the most there was                  ... MB
    ...
    """
    stats = memory_stats()
    rows = {
        "in tensors": "allocated_bytes.all.current",
        "the most there was": "allocated_bytes.all.peak",
        "kept for reuse": "cached_bytes.all.current",
        "in blocks larger than needed": "lent_bytes.all.current",
        "taken from the system": "reserved_bytes.all.current",
    }
    lines = [f"{what:<30}{stats[key] / 1e6:>12,.1f} MB" for what, key in rows.items()]
    counts = {"buffers": "allocation.all.allocated", "of these from the system": "num_device_alloc"}
    lines += [f"{what:<30}{stats[key]:>12,}" for what, key in counts.items()]
    return "\n".join(lines)
