"""Counters of steps."""

from __future__ import annotations

import threading
import warnings

import pytest

from retrograd.autograd.profiler import KinetoStepTracker


@pytest.fixture
def tracker(monkeypatch):
    """The tracker of a process that has counted nothing."""
    monkeypatch.setattr(KinetoStepTracker, "_current_step", 0)
    monkeypatch.setattr(KinetoStepTracker, "_step_dict", {})
    return KinetoStepTracker


def test_the_sample(tracker):
    assert tracker.current_step() == 0
    assert [tracker.increment_step(requester) for requester in "aab"] == [1, 2, 3]
    assert tracker.init_step_count("c") is None
    assert tracker._step_dict == {"a": 2, "b": 3, "c": 3}
    assert tracker.increment_step("c") == 4
    assert (tracker.erase_step_count("c"), tracker.erase_step_count("c"), tracker.current_step()) == (True, False, 4)


def test_a_slow_counter_does_not_move_the_step(tracker):
    for _ in range(5):
        tracker.increment_step("fast")
    tracker._step_dict["slow"] = 1
    assert tracker.increment_step("slow") == 5 == tracker.current_step()


def test_a_leap_is_told(tracker):
    tracker.increment_step("a")
    tracker._step_dict["a"] = 9
    with pytest.warns(UserWarning, match="Profiler step count has increased more than 1 - current_step = 1") as warned:
        assert tracker.increment_step("a") == 10
    assert warned[0].filename == __file__


def test_erasing_the_largest_counter_keeps_the_step(tracker):
    tracker.increment_step("a")
    tracker.increment_step("a")
    tracker.erase_step_count("a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tracker.increment_step("b") == 3


def test_threads_lose_no_step(tracker):
    def count(requester):
        barrier.wait()
        for _ in range(2000):
            tracker.increment_step(requester)

    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=count, args=("shared",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tracker._step_dict["shared"] == 8000 == tracker.current_step()
