"""What a session is to note, in torch's words: kept and compared, and read by nothing here but `profile.config`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, NoReturn

__all__ = ["ProfilerActivity", "ProfilerConfig", "ProfilerEvent", "ProfilerState"]


class ProfilerActivity(Enum):
    """What a profile may note; here only what runs on the CPU.

    >>> rg.profiler.ProfilerActivity.CPU.value
    0
    """

    CPU = 0
    XPU = 1
    MTIA = 4
    CUDA = 2
    HPU = 3
    PrivateUse1 = 5


class ProfilerState(Enum):
    """What makes the events of a session; here the engine, whatever it is.

    >>> rg.autograd.ProfilerState.CPU.value
    1
    """

    Disabled = 0
    CPU = 1
    CUDA = 2
    NVTX = 3
    ITT = 4
    PRIVATEUSE1 = 5
    KINETO = 6
    KINETO_GPU_FALLBACK = 7
    KINETO_PRIVATEUSE1_FALLBACK = 8
    KINETO_PRIVATEUSE1 = 9


class _ExperimentalConfig(NamedTuple):
    """Settings of libkineto, which is not there: they are kept.

    >>> rg.autograd.profiler._ExperimentalConfig(verbose=True).verbose
    True
    """

    profiler_metrics: Sequence[str] = ()
    profiler_measure_per_kernel: bool = False
    verbose: bool = False
    performance_events: Sequence[str] = ()
    enable_cuda_sync_events: bool = False
    adjust_profiler_step: bool = False
    disable_external_correlation: bool = False
    profile_all_threads: bool = False
    capture_overload_names: bool = False
    record_python_gc_info: bool = False
    expose_kineto_event_metadata: bool = False
    custom_profiler_config: str = ""
    adjust_timestamps: bool = False
    trace_only: bool = False


class ProfilerConfig(NamedTuple):
    """What a session is to note.

    >>> rg.autograd.profiler.profile(with_flops=True).config().report_input_shapes
    True
    """

    state: ProfilerState
    report_input_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_flops: bool
    with_modules: bool
    experimental_config: Any
    trace_id: str = ""


class ProfilerEvent:
    """Refused: the class of the events of old sessions, of which there are none. `FunctionEvent` is the new one.

    >>> rg.autograd.ProfilerEvent()
    Traceback (most recent call last):
    TypeError: autograd.ProfilerEvent: No constructor defined! Profiles have events of the type FunctionEvent
    """

    def __new__(cls) -> NoReturn:
        raise TypeError(
            "autograd.ProfilerEvent: No constructor defined! Profiles have events of the type FunctionEvent"
        )
