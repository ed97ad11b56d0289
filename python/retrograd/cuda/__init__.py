"""Answers for programs that ask about CUDA: there is no such device.

>>> rg.cuda.is_available(), rg.cuda.device_count()
(False, 0)
>>> rg.cuda.manual_seed_all(0)
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from retrograd import _accelerators
from retrograd._lazy import submodules as _submodules

_PHRASE = "Torch not compiled with CUDA enabled"
_DUMMY = "Tried to instantiate dummy base class"

has_half = False
has_magma = False
default_generators: tuple[Any, ...] = ()

globals().update(
    _accelerators.answers(
        __name__,
        {
            "can_device_access_peer": lambda: False,
            "device_count": lambda: 0,
            "get_allocator_backend": lambda: "native",
            "get_arch_list": list,
            "get_gencode_flags": str,
            "get_rng_state_all": list,
            "is_available": lambda: False,
            "is_bf16_supported": lambda: False,
            "is_current_stream_capturing": lambda: False,
            "is_initialized": lambda: False,
            "is_tf32_supported": lambda: False,
            "max_memory_allocated": lambda: 0,
            "max_memory_cached": lambda: 0,
            "max_memory_reserved": lambda: 0,
            "memory_allocated": lambda: 0,
            "memory_cached": lambda: 0,
            "memory_reserved": lambda: 0,
            "memory_snapshot": list,
            "memory_stats": OrderedDict,
            "memory_stats_as_nested_dict": dict,
            "memory_summary": str,
        },
    )
)
globals().update(
    _accelerators.idle(
        __name__,
        (
            "empty_cache",
            "manual_seed",
            "manual_seed_all",
            "reset_accumulated_memory_stats",
            "reset_max_memory_allocated",
            "reset_max_memory_cached",
            "reset_peak_memory_stats",
            "seed",
            "seed_all",
            "set_rng_state_all",
        ),
    )
)
globals().update(
    _accelerators.refusals(
        __name__,
        _PHRASE,
        (
            "cudart",
            "current_blas_handle",
            "current_device",
            "current_stream",
            "default_stream",
            "get_device_capability",
            "get_device_name",
            "get_device_properties",
            "get_per_process_memory_fraction",
            "get_rng_state",
            "get_sync_debug_mode",
            "graph_pool_handle",
            "init",
            "initial_seed",
            "ipc_collect",
            "list_gpu_processes",
            "make_graphed_callables",
            "mem_get_info",
            "set_per_process_memory_fraction",
            "set_rng_state",
            "set_sync_debug_mode",
            "stream",
            "synchronize",
            "utilization",
        ),
    )
)
globals().update(
    _accelerators.classes(
        __name__,
        _DUMMY,
        (
            "BFloat16Tensor",
            "BoolTensor",
            "ByteTensor",
            "CUDAGraph",
            "CharTensor",
            "DoubleTensor",
            "Event",
            "ExternalStream",
            "FloatTensor",
            "HalfTensor",
            "IntTensor",
            "LongTensor",
            "MemPool",
            "ShortTensor",
            "Stream",
            "StreamContext",
            "graph",
        ),
    )
)


class CudaError(RuntimeError):
    """An error of CUDA, which is never raised."""


class device(_accelerators.NoDevice):
    """A context that would select a device, and changes nothing."""


class device_of(_accelerators.NoDevice):
    """A context that would select the device of a tensor, and changes nothing."""


def set_device(device: Any) -> None:
    """Do nothing for a negative index, which torch takes for "leave it"; refuse every other device.

    Raises: AssertionError.
    """
    if not (isinstance(device, int) and device < 0):
        raise AssertionError(f"{_PHRASE}: cuda.set_device({device!r}): {_accelerators.REMEDY}")


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
else:
    __getattr__, __dir__ = _submodules(__name__, "amp", "memory", "nvtx", "random", "streams")
