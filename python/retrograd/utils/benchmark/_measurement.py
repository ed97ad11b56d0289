"""What a timer measured, and its text."""

from __future__ import annotations

import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from retrograd._settings import get_num_threads, set_num_threads

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]


_UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1.0, "second")}
_MOST_FIGURES = 5
_LEAST_CONFIDENCE = 25e-9  # no time is known better
# The part of the median that the interquartile range may be.
_NOTABLE, _GROSS = 0.1, 0.25


@dataclasses.dataclass(repr=False, frozen=True)
class TaskSpec:
    """What is timed, and what it is called in tables.

    >>> task = rg.utils.benchmark.TaskSpec("x + x", "x = 1", label="sum", sub_label="int")
    >>> task.title, task.setup_str(), task.summarize()
    ('sum: int', 'setup: x = 1', 'sum: int\\nsetup: x = 1')
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or else the statement, with the sublabel."""
        if self.label is None and "\n" in self.stmt:
            of = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{of}\n{textwrap.indent(self.stmt, '  ')}"
        name = self.stmt if self.label is None else self.label
        return f"{name}: {self.sub_label}" if self.sub_label else name

    def setup_str(self) -> str:
        """The setup as a text."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup as a text."""
        parts = [part for part in (self.title, self.description or "", self.setup_str()) if part]
        return "\n".join(f"{part}\n" if "\n" in part else part for part in parts)


_OF_TASK = {field.name for field in dataclasses.fields(TaskSpec)}


@dataclasses.dataclass(repr=False)
class Measurement:
    """Times in seconds of `number_per_run` runs each, with statistics of the time of one.

    It has also the fields of its `task_spec`.

    >>> task = rg.utils.benchmark.TaskSpec("x + x", "pass")
    >>> found = rg.utils.benchmark.Measurement(10, [2e-5, 3e-5, 4e-5], task)
    >>> f"{found.median:.1e} {found.mean:.1e} {found.iqr:.1e}"
    '3.0e-06 3.0e-06 1.0e-06'
    >>> found.num_threads, found.meets_confidence(0.5), len(rg.utils.benchmark.Measurement.merge([found, found]))
    (1, True, 1)
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in _OF_TASK:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """Seconds of one run, for each time."""
        return [time / self.number_per_run for time in self.raw_times]

    @cached_property
    def _sorted_times(self) -> list[float]:
        return sorted(self.times)

    def _quantile(self, part: float) -> float:
        """The time below which a part of the times lies, on the line between two of them."""
        place = part * (len(self._sorted_times) - 1)
        low, high = (self._sorted_times[index] for index in (math.floor(place), math.ceil(place)))
        return low + (high - low) * (place - math.floor(place))

    @property
    def median(self) -> float:
        """The time of the middle."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean time."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The range of the middle half of the times."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """Roughly how many digits of the median are known, by the middle half of the times."""
        count = len(self._sorted_times)
        middle = self._sorted_times[count // 4 : math.ceil(3 * count / 4)]
        confidence = max(1.645 * statistics.pstdev(middle) / math.sqrt(len(middle)), _LEAST_CONFIDENCE)
        return min(max(math.floor(math.log10(self.median / confidence)), 1), _MOST_FIGURES)

    def meets_confidence(self, threshold: float = _NOTABLE) -> bool:
        """Whether the interquartile range is below a part of the median."""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary much."""
        return bool(self.raw_times) and not self.meets_confidence()

    @property
    def title(self) -> str:
        """The title of the task."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def _warning(self) -> str:
        if not self.has_warnings:
            return ""
        why = "This could indicate system fluctuation."
        if not self.meets_confidence(_GROSS):
            why = "This suggests significant environmental influence."
        part = self.iqr / self.median * 100
        return f"  WARNING: Interquartile range is {part:.1f}% of the median measurement.\n           {why}"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        count, threads = len(self.times), self.task_spec.num_threads
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}")
        if count >= 4:
            low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        runs = f"{self.number_per_run} runs {'per measurement,' if count > 1 else ','}"
        lines.append(f"  {count} measurement{_plural(count)}, {runs} {threads} thread{_plural(threads)}")
        return "\n".join([*lines, self._warning()]).strip()

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, with the times of one run."""
        times: dict[TaskSpec, list[float]] = {}
        for measurement in measurements:
            times.setdefault(measurement.task_spec, []).extend(measurement.times)
        return [Measurement(1, of_task, task) for task, of_task in times.items()]


def _plural(count: int) -> str:
    return "s" if count > 1 else ""


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time is a small number, and its seconds.

    >>> rg.utils.benchmark.select_unit(2e-5)
    ('us', 1e-06)
    """
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(int(math.log10(t) // 3), "s")
    return unit, _UNITS[unit][0]


def unit_to_english(u: str) -> str:
    """The name of a unit of time.

    >>> rg.utils.benchmark.unit_to_english("us")
    'microsecond'
    """
    return _UNITS[u][1]


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to `n` digits.

    >>> rg.utils.benchmark.trim_sigfig(31415.0, 2)
    31000.0
    """
    return float(f"{x:.{n - 1}e}")


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements without repetitions.

    >>> rg.utils.benchmark.ordered_unique("abca")
    ['a', 'b', 'c']
    """
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A block in which an op may use `n` threads.

    >>> with rg.utils.benchmark.set_torch_threads(1):
    ...     rg.get_num_threads()
    1
    """
    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)
