"""Counters of steps."""

from __future__ import annotations

import threading
import warnings
from typing import ClassVar

__all__ = ["KinetoStepTracker"]


class KinetoStepTracker:
    """The step that a program is at, where several parts of it, such as optimizers, each count their own steps.

    The step of the process is the largest that any of the counters has reached. Threads may share the counters.

    >>> tracker = rg.autograd.profiler.KinetoStepTracker
    >>> start = tracker.current_step()
    >>> [tracker.increment_step(requester) - start for requester in ("SGD", "SGD", "Adam")]
    [1, 2, 3]
    >>> tracker.init_step_count("LBFGS")
    >>> tracker.increment_step("LBFGS") - start
    4
    >>> [tracker.erase_step_count(requester) for requester in ("SGD", "Adam", "LBFGS", "LBFGS")]
    [True, True, True, False]
    >>> tracker.current_step() - start
    4
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _current_step: ClassVar[int] = 0
    _step_dict: ClassVar[dict[str, int]] = {}

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Set the counter of `requester` to the current step."""
        with cls._lock:
            KinetoStepTracker._step_dict[requester] = KinetoStepTracker._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Forget the counter of `requester`. The current step stays.

        Returns: whether there was one.
        """
        with cls._lock:
            return KinetoStepTracker._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Add 1 to the counter of `requester`, which starts at the current step if it is not there.

        Returns: the current step, which is now that of the counter where that is larger. A UserWarning says if it grew
        by more than 1.
        """
        with cls._lock:
            steps, before = KinetoStepTracker._step_dict, KinetoStepTracker._current_step
            steps[requester] = steps.get(requester, before) + 1
            now = KinetoStepTracker._current_step = max(before, max(steps.values()))
            counters = dict(steps)
        if now > before + 1:
            warnings.warn(
                f"Profiler step count has increased more than 1 - current_step = {before} step dict =  {counters}",
                stacklevel=2,
            )
        return now

    @classmethod
    def current_step(cls) -> int:
        """The largest step that any counter has reached."""
        return KinetoStepTracker._current_step
