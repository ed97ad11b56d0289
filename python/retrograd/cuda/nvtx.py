"""Ranges for NVIDIA's profiler: refused as in a torch without CUDA.

For ranges in a profile of retrograd see `retrograd.profiler.record_function`.
"""

from __future__ import annotations

from typing import Any, NoReturn

_PHRASE = "NVTX functions not installed. Are you sure you have a CUDA build?"


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise a RuntimeError: there is no such device."""
    raise RuntimeError(f"{_PHRASE} For ranges in a profile of retrograd use profiler.record_function")


range_push = range_pop = range_start = range_end = mark = range = _refuse
