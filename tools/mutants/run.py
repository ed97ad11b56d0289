"""Runs tests with one mutant on at a time, until one of them fails."""

from __future__ import annotations

import concurrent.futures
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from entries import ROOT, Area, Mutant

# A run of tests that takes longer than this many times what it takes without a mutant, and these seconds, is ended.
FACTOR, SLACK = 5, 120

PASSED, FAILED, INTERRUPTED = 0, 1, 2


@dataclass(frozen=True)
class Outcome:
    """What one run of tests came to: `why` it failed, or nothing."""

    why: str
    seconds: float


@dataclass(frozen=True)
class Result:
    mutant: Mutant
    why: str
    seconds: float

    @property
    def killed(self) -> bool:
        return bool(self.why)

    @property
    def as_wanted(self) -> bool:
        return self.killed == (self.mutant.equivalent is None)


def pytest(site: Path, tests: str, number: int, limit: float | None) -> Outcome:
    """One run. A crash counts as a failure, and so does a run beyond its limit: whoever runs the tests sees both."""
    environment = {**os.environ, "PYTHONPATH": str(site), "RETROGRAD_MUTANT": str(number)}
    options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-rfE"]
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *shlex.split(tests)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Outcome(f"time-out after {limit:.0f} s of {tests}", time.monotonic() - began)
    seconds = time.monotonic() - began
    if process.returncode == PASSED:
        return Outcome("", seconds)
    if process.returncode < 0:
        return Outcome(f"{signal.Signals(-process.returncode).name} in {tests}", seconds)
    if process.returncode not in (FAILED, INTERRUPTED):
        raise SystemExit(f"pytest {tests} is no run of tests (status {process.returncode}):\n{said[-3000:]}")
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", said, re.MULTILINE)
    return Outcome(failed[1] if failed else f"an error in {tests}", seconds)


class Runner:
    """Tests of mutants, each selection held against the build without a mutant before its first use."""

    def __init__(self, site: Path, areas: dict[str, Area]) -> None:
        self.site = site
        self.areas = areas
        self.usual: dict[str, float] = {}
        self.locks: dict[str, threading.Lock] = {}
        self.lock = threading.Lock()

    def seconds_without(self, tests: str) -> float:
        with self.lock:
            own = self.locks.setdefault(tests, threading.Lock())
        with own:
            if tests not in self.usual:
                outcome = pytest(self.site, tests, 0, None)
                if outcome.why:
                    raise SystemExit(f"without a mutant, pytest {tests} is red: {outcome.why}")
                self.usual[tests] = outcome.seconds
            return self.usual[tests]

    def result(self, mutant: Mutant, site: Path) -> Result:
        began = time.monotonic()
        for tests in dict.fromkeys((*mutant.tests, *self.areas[mutant.area].wider)):
            limit = FACTOR * self.seconds_without(tests) + SLACK
            outcome = pytest(site, tests, mutant.number, limit)
            if outcome.why:
                return Result(mutant, outcome.why, time.monotonic() - began)
        return Result(mutant, "", time.monotonic() - began)

    def results(self, sites: list[tuple[Mutant, Path]], jobs: int) -> list[Result]:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self.result, mutant, site) for mutant, site in sites]
            for done in concurrent.futures.as_completed(futures):
                print(row(done.result()), flush=True)
            return [future.result() for future in futures]


def row(result: Result) -> str:
    mutant = result.mutant
    kind = "killed" if result.killed else "equivalent" if mutant.equivalent else "SURVIVED"
    about = result.why or mutant.equivalent or mutant.file
    if result.killed and mutant.equivalent:
        about = f"NOT EQUIVALENT, as argued: {about}"
    return f"{mutant.source:6} {kind:10} {mutant.name}: {about} [{result.seconds:.0f} s]"
