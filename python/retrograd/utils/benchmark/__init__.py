"""Timers of statements, their measurements, and tables that compare them.

>>> from retrograd.utils.benchmark import Timer
>>> Timer("x + x", "x = torch.ones(8)").blocked_autorange(min_run_time=0.001).mean > 0
True
"""

from retrograd.utils.benchmark._compare import Colorize, Compare
from retrograd.utils.benchmark._measurement import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from retrograd.utils.benchmark._timer import Language, Timer, timer

__all__ = [
    "Colorize",
    "Compare",
    "Language",
    "Measurement",
    "TaskSpec",
    "Timer",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
