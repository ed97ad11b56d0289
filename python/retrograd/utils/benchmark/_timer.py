"""A timer of statements."""

from __future__ import annotations

import enum
import statistics
import textwrap
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

import retrograd
from retrograd.utils.benchmark._measurement import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]


timer = timeit.default_timer
_SHORTEST = 1e-9  # seconds; so that nobody divides by zero


class Language(enum.Enum):
    """The language of a statement, of which there is one.

    >>> rg.utils.benchmark.Language.PYTHON.value
    0
    """

    PYTHON = 0
    CPP = 1


class Timer:
    """Times a statement of Python, after it has been run a little.

    Args: `stmt` the statement, `setup` what runs before; `timer` the clock; `globals` the names that both may use, to
    which `torch` and `rg`, this package, are added; `label`, `sub_label` and `description` the table, row and column in
    `Compare`, where `env` is written beside the row; `num_threads` how many threads an op may use.
    Raises: ValueError for another language, and for a statement that is no text.

    >>> timer = rg.utils.benchmark.Timer("x + x", "x = torch.ones(4)")
    >>> timer.timeit(10).number_per_run
    10
    >>> for refused in (lambda: timer.repeat(), lambda: timer.autorange(), lambda: timer.collect_callgrind()):
    ...     try:
    ...         refused()
    ...     except NotImplementedError as error:
    ...         print(error)
    See `Timer.blocked_autorange.`
    See `Timer.blocked_autorange.`
    utils.benchmark.Timer.collect_callgrind: nothing here counts instructions
    """

    _timer_cls: type[timeit.Timer] = timeit.Timer

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("utils.benchmark.Timer: statements are Python; nothing here compiles C++")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        stmt, setup = (textwrap.dedent(text).removeprefix("\n").rstrip() for text in (stmt, setup))
        self._globals = {"torch": retrograd, "rg": retrograd, **(globals or {})}
        self._timer = self._timer_cls(stmt, setup, timer, self._globals)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), _SHORTEST)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number_per_run=number, raw_times=times, task_spec=self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Run the statement `number` times, and measure the whole.

        >>> len(rg.utils.benchmark.Timer("1 + 1").timeit(10).times)
        1
        """
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return self._measured(number, [self._timeit(number)])

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measure blocks, of as many runs as make the cost of the clock small, for `min_run_time` seconds.

        Args: `callback` is called with the length of the block and its time, after each.

        >>> timer = rg.utils.benchmark.Timer("1 + 1")
        >>> timer.blocked_autorange(min_run_time=0.001).median > 0
        True
        """
        number = self._block_size(min_run_time)
        times = self._blocks(number, lambda times: sum(times) >= min_run_time, callback)
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Measure blocks until the interquartile range is below `threshold` of the median, or `max_run_time` is over.

        >>> timer = rg.utils.benchmark.Timer("1 + 1")
        >>> timer.adaptive_autorange(max_run_time=0.1).median > 0
        True
        """
        number = self._block_size(0.05)

        def enough(times: list[float]) -> bool:
            if max_run_time and sum(times) > max_run_time:
                return True
            steady = len(times) > 3 and self._measured(number, times).meets_confidence(threshold)
            return steady and sum(times) >= min_run_time

        return self._measured(number, self._blocks(number, enough, callback))

    def _blocks(
        self, number: int, enough: Callable[[list[float]], bool], callback: Callable[[int, float], Any] | None
    ) -> list[float]:
        times: list[float] = []
        with set_torch_threads(self._task_spec.num_threads):
            while not times or not enough(times):
                times.append(self._timeit(number))
                if callback:
                    callback(number, times[-1])
        return times

    def _block_size(self, min_run_time: float) -> int:
        """A power of ten of runs, beside which the cost of the clock is small."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = statistics.median(self._timeit(0) for _ in range(5))
            number = 1
            while True:
                taken = self._timeit(number)
                if overhead <= 1e-4 * taken and taken >= min_run_time / 1000:
                    return number
                if taken > min_run_time:
                    return number
                number *= 10

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Refused, as torch does: `blocked_autorange` repeats."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], Any] | None = None) -> NoReturn:
        """Refused, as torch does: `blocked_autorange` is better."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def collect_callgrind(self, number: int = 100, **options: Any) -> NoReturn:
        """Refused: nothing here counts instructions."""
        raise NotImplementedError("utils.benchmark.Timer.collect_callgrind: nothing here counts instructions")
