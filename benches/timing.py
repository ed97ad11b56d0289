"""Time two callables against each other: interleaved rounds, minima, page faults.

A machine that is shared or changes its clock slows both sides of a round alike, so the sides take turns within a round
and the first turn alternates. Where operands lie in memory can favour one side for as long as they live, so each heat
sets both sides up anew. The minimum over all turns is the one that was disturbed least.

Workers of a thread pool go on looking for work for a while after the last of it, and what they look with is the other
side's core: on several threads a turn begins after a rest. Then workers sleep, and caches hold something else, so the
first calls of the turn are not timed; on one thread turns follow each other.
"""

from __future__ import annotations

import gc
import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from time import perf_counter, sleep

Thunk = Callable[[], object]


@dataclass(frozen=True)
class Plan:
    """How long to measure: `heats` set-ups, each with `rounds` turns of about `seconds` per side, each after `rest`."""

    heats: int
    rounds: int
    seconds: float
    rest: float = 0.0


FULL = Plan(heats=6, rounds=5, seconds=0.01)
QUICK = Plan(heats=2, rounds=3, seconds=0.004)


@dataclass(frozen=True)
class Sample:
    """The best turn of one side, per call."""

    seconds: float
    faults: float


@contextmanager
def gc_paused() -> Iterator[None]:
    """Collect once, then keep the cyclic collector out of what is timed."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def turn(run: Thunk, calls: int) -> Sample:
    """Call `run` `calls` times; page faults are read outside the timed stretch."""
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    start = perf_counter()
    for _ in repeat(None, calls):
        run()
    seconds = perf_counter() - start
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    return Sample(seconds / calls, faults / calls)


def calibrate(run: Thunk, seconds: float) -> int:
    """Warm `run` up and return the number of calls that lasts about `seconds`."""
    run()
    calls = 1
    while True:
        each = turn(run, calls).seconds
        # A tenth of the turn is long enough to extrapolate from; shorter stretches are mostly warm-up.
        if each * calls >= seconds / 10:
            return max(1, round(seconds / each))
        calls *= 4


def race(setups: Mapping[str, Callable[[], Thunk]], plan: Plan) -> dict[str, Sample]:
    """Time all sides, interleaved; return the least time and the least faults of each."""
    turns: dict[str, list[Sample]] = {name: [] for name in setups}
    order = list(setups)
    for _ in range(plan.heats):
        sides = {name: setups[name]() for name in order}
        with gc_paused():
            calls = {name: calibrate(run, plan.seconds) for name, run in sides.items()}
            for _ in range(plan.rounds):
                for name in order:
                    if plan.rest:
                        sleep(plan.rest)
                        turn(sides[name], -(-calls[name] // 2))
                    turns[name].append(turn(sides[name], calls[name]))
                order.reverse()
    return {name: Sample(min(t.seconds for t in taken), min(t.faults for t in taken)) for name, taken in turns.items()}
