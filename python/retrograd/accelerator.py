"""Answers for programs that ask which accelerator there is: none.

>>> rg.accelerator.is_available(), rg.accelerator.current_accelerator()
(False, None)
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from retrograd import _accelerators

globals().update(
    _accelerators.answers(
        __name__,
        {
            "current_accelerator": lambda: None,
            "device_count": lambda: 0,
            "is_available": lambda: False,
            "max_memory_allocated": lambda: 0,
            "max_memory_reserved": lambda: 0,
            "memory_allocated": lambda: 0,
            "memory_reserved": lambda: 0,
            "memory_stats": OrderedDict,
        },
    )
    | _accelerators.idle(
        __name__, ("empty_cache", "empty_host_cache", "reset_accumulated_memory_stats", "reset_peak_memory_stats")
    )
    | _accelerators.refusals(
        __name__,
        "Cannot access accelerator device when none is available.",
        (
            "current_device_idx",
            "current_device_index",
            "current_stream",
            "get_device_capability",
            "get_memory_info",
            "set_device_idx",
            "set_device_index",
            "set_stream",
            "synchronize",
        ),
    )
)


class device_index(_accelerators.NoDevice):
    """A context that would select a device, and changes nothing."""


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
