"""Events of a profile, their averages, lists and tables, and what reads them. `autograd.profiler` makes profiles."""

from __future__ import annotations

from retrograd.autograd._profiler.events import (
    DeviceType,
    EventMetadata,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Kernel,
)
from retrograd.autograd._profiler.formats import FormattedTimesMixin
from retrograd.autograd._profiler.lists import EventList
from retrograd.autograd._profiler.memory import MemRecordsAcc
from retrograd.autograd._profiler.nvprof import StringTable

__all__ = [
    "DeviceType",
    "EventList",
    "EventMetadata",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "MemRecordsAcc",
    "StringTable",
]

# The name of events for memory that was allocated or released outside of any other event.
MEMORY_EVENT_NAME = "[memory]"
