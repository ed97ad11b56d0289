"""Where time and memory go: profiles, labels, ranges for tools outside, and the readers of the files of nvprof."""

from __future__ import annotations

from retrograd.autograd._profiler.config import _ExperimentalConfig as _ExperimentalConfig
from retrograd.autograd._profiler.events import FunctionEvent
from retrograd.autograd._profiler.lists import EventList
from retrograd.autograd._profiler.memory import MemRecordsAcc
from retrograd.autograd._profiler.nvprof import EnforceUnique, load_nvprof, parse_nvprof_trace
from retrograd.autograd._profiler.profile import profile, record_function
from retrograd.autograd._profiler.ranges import emit_itt, emit_nvtx
from retrograd.autograd._profiler.steps import KinetoStepTracker

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "MemRecordsAcc",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "load_nvprof",
    "parse_nvprof_trace",
    "profile",
    "record_function",
]


def kineto_available() -> bool:
    """Whether profiles come from libkineto: no, the engine makes them itself.

    >>> rg.autograd.profiler.kineto_available()
    False
    """
    return False
