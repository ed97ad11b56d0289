"""Where time and memory go: helpers around profiles, and the readers of the files of nvprof."""

from __future__ import annotations

from retrograd.autograd._profiler.events import FunctionEvent
from retrograd.autograd._profiler.lists import EventList
from retrograd.autograd._profiler.memory import MemRecordsAcc
from retrograd.autograd._profiler.nvprof import EnforceUnique, load_nvprof, parse_nvprof_trace
from retrograd.autograd._profiler.steps import KinetoStepTracker

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "MemRecordsAcc",
    "load_nvprof",
    "parse_nvprof_trace",
]
