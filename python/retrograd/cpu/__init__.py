"""The memory of tensors, and what torch has under the name of the CPU: older forms of `retrograd.amp`.

>>> x = rg.ones(1000, 1000)
>>> rg.cpu.memory_stats()["allocated_bytes.all.current"] >= 4_000_000
True
"""

from __future__ import annotations

from retrograd.cpu import amp
from retrograd.cpu._memory import (
    empty_cache,
    max_memory_allocated,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
    set_cache_limit,
)

__all__ = [
    "amp",
    "empty_cache",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "set_cache_limit",
]
