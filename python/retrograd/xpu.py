"""Answers for programs that ask about Intel's accelerators: there is no such device.

>>> rg.xpu.is_available(), rg.xpu.device_count()
(False, 0)
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from retrograd import _accelerators

default_generators: tuple[Any, ...] = ()

globals().update(
    _accelerators.answers(
        __name__,
        {
            "device_count": lambda: 0,
            "get_arch_list": list,
            "get_gencode_flags": str,
            "get_rng_state_all": list,
            "is_available": lambda: False,
            "is_bf16_supported": lambda: False,
            "is_initialized": lambda: False,
            "is_tf32_supported": lambda: False,
            "max_memory_allocated": lambda: 0,
            "max_memory_reserved": lambda: 0,
            "memory_allocated": lambda: 0,
            "memory_reserved": lambda: 0,
            "memory_snapshot": list,
            "memory_stats": OrderedDict,
            "memory_stats_as_nested_dict": dict,
        },
    )
    | _accelerators.idle(
        __name__,
        (
            "empty_cache",
            "manual_seed",
            "manual_seed_all",
            "reset_accumulated_memory_stats",
            "reset_peak_memory_stats",
            "seed",
            "seed_all",
            "set_rng_state_all",
        ),
    )
    | _accelerators.refusals(
        __name__,
        "Torch not compiled with XPU enabled",
        (
            "current_device",
            "current_stream",
            "get_device_capability",
            "get_device_name",
            "get_device_properties",
            "get_rng_state",
            "init",
            "initial_seed",
            "mem_get_info",
            "set_device",
            "set_rng_state",
            "stream",
            "synchronize",
        ),
    )
    | _accelerators.classes(__name__, "Tried to instantiate dummy base class", ("Event", "Stream", "StreamContext"))
)


class device(_accelerators.NoDevice):
    """A context that would select a device, and changes nothing."""


class device_of(_accelerators.NoDevice):
    """A context that would select the device of a tensor, and changes nothing."""


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
