"""Answers for programs that ask about Apple's accelerators: there is no such device.

>>> rg.mps.is_available(), rg.mps.device_count()
(False, 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrograd import _accelerators

globals().update(
    _accelerators.answers(__name__, {"device_count": lambda: 0, "is_available": lambda: False})
    | _accelerators.idle(__name__, ("empty_cache", "manual_seed", "seed"))
    | _accelerators.refusals(
        __name__,
        "PyTorch is not linked with support for mps devices",
        (
            "compile_shader",
            "current_allocated_memory",
            "driver_allocated_memory",
            "get_rng_state",
            "recommended_max_memory",
            "set_per_process_memory_fraction",
            "set_rng_state",
            "synchronize",
        ),
    )
    | _accelerators.classes(__name__, "Tried to instantiate dummy base class", ("Event",))
)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
