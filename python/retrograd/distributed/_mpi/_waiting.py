"""Work that goes on by itself no further than MPI is called: who calls it, and for how long.

A wait is a loop of tests, not MPI's own wait, which would neither end at a time limit nor let a signal through.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from retrograd.distributed._work import DistBackendError, Work, seconds

if TYPE_CHECKING:
    from retrograd.distributed._mpi._backend import Mpi

# Work by its steps: each yields the requests of MPI to wait for before the next one, and gets the status of a single
# one. It returns the rank that a message came from.
Steps = Generator[list[Any], Any, Any]

# Seconds after which a waiting process gives its core away after each test, since another process may need it to
# arrive, and after which it sleeps between tests: the longer the longer it waited, up to LONGEST_SLEEP, and to LONG_NAP
# when it has waited for PATIENCE. A reduction of 26 MB took 1.01 to 1.07 times that of MPI's own wait, and up to 1.14
# with a longest sleep of 1 ms.
ALONE, AWAKE = 2e-5, 1e-3
FIRST_SLEEP, LONGEST_SLEEP = 2e-5, 2e-4
PATIENCE, LONG_NAP = 1.0, 2e-3
# Seconds between tests of work that nobody waits for. On a link of 2 Gbit/s, ranks that compute and call nothing of the
# package hide 81 % of their reductions with these tests, and 42 % without. 1, 0.2 and 0.05 ms were alike within noise;
# the last cost 5 % more of a core.
BETWEEN_TESTS = 5e-4
# How often it looks whether the others live, and for how long one has to be gone: what it sent may be on its way.
LOOK, GRACE = 0.2, 0.8

_yield_core: Callable[[], Any] = getattr(os, "sched_yield", lambda: time.sleep(0))


class Pending(Work):
    """Work of the MPI backend. Its steps begin at once; each later one when the requests of the one before are done."""

    def __init__(
        self,
        backend: Mpi,
        name: str,
        steps: Steps,
        sequence: int | None = None,
        needed: list[int] | None = None,
        limit: float | None = None,
    ) -> None:
        super().__init__()
        self.sequence, self.needed = sequence, needed
        self.broken = ""
        self._backend, self._name, self._steps = backend, name, steps
        self._where = f"rank {backend.world.rank} in {name}"
        self._requests: list[Any] | None = None
        self._done = False
        self._error: BaseException | None = None
        self._lock = threading.Lock()  # of the requests, which two threads may not test at a time
        self._calls: list[Callable[[], None]] = []
        self._source = -1
        self._limit = backend.timeout if limit is None else limit
        self._status = backend.MPI.Status()
        self.test()

    def test(self) -> bool:
        """Make progress. Return whether the work is done, or has failed."""
        if self._over():
            return True
        if not self._lock.acquire(blocking=False):
            return False  # another thread is at it
        try:
            if self._over():
                return True
            while self._arrived():
                self._requests = self._steps.send(self._status if self._requests else None)
            return False
        except StopIteration as end:
            self._requests, self._done = None, True
            self._source = -1 if end.value is None else end.value
        except self._backend.MPI.Exception as error:
            said = error.Get_error_string().partition(", error stack:")[0]
            self._fail(DistBackendError(f"{self._where}: MPI reports {said}"))
        except BaseException as error:
            self._fail(error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._lock.release()
        self._finish()
        return True

    def _over(self) -> bool:
        return self._done

    def _arrived(self) -> bool:
        if not self._requests:
            return True
        if len(self._requests) == 1:
            return bool(self._requests[0].Test(self._status))
        return bool(self._backend.MPI.Request.Testall(self._requests))

    def _fail(self, error: BaseException) -> None:
        self._error, self._done = error, True
        if self._requests:
            self._backend.keep(self)  # MPI still has the addresses

    def _finish(self) -> None:
        self._backend.progress.remove(self)
        with self._lock:
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def wait(self, timeout: timedelta | None = None) -> bool:
        self.wait_for(seconds(timeout, self._limit))
        return True

    def wait_for(self, limit: float | None) -> None:
        """`wait`, where `limit` is in seconds."""
        if not self.test():
            try:
                self._loop(limit)
            except BaseException:  # such as an interrupt: MPI still has the addresses
                self.broken = f"{self._where} was abandoned"
                self._backend.keep(self)
                raise
        if self._error is not None:
            raise self._error

    def _loop(self, limit: float | None) -> None:
        begin = time.monotonic()
        look, pause, missed = begin + LOOK, FIRST_SLEEP, 0.0
        while not self.test():
            self._backend.progress.poll()  # others may wait for a later step of it, and not come to this before
            now = time.monotonic()
            if now - begin < AWAKE:
                if now - begin > ALONE:
                    _yield_core()
                continue
            if limit is not None and now - begin > limit:
                self._give_up(f"timed out after {limit:g} s", self._backend.whereabouts(self._name, self.sequence))
            if now > look:
                look = now + LOOK
                gone = self._backend.gone(self)
                missed = (missed or now) if gone else 0.0
                if missed and now - missed >= GRACE:
                    self._give_up(f"cannot be finished: {gone}", "")
            time.sleep(pause)
            pause = min(pause * 1.2, LONGEST_SLEEP if now - begin < PATIENCE else LONG_NAP)

    def _give_up(self, reason: str, where: str) -> None:
        with self._lock:
            if self._done:
                return
            self.broken = f"{self._where}: {reason}{where}"
            self._fail(DistBackendError(self.broken))
        self._backend.broken = self.broken
        self._finish()

    def is_completed(self) -> bool:
        return self.test()

    def exception(self) -> BaseException | None:
        return self._error

    def source_rank(self) -> int:
        if self._source == -1:
            return super().source_rank()
        return self._source

    def _unattended(self) -> None:
        if not self._done:
            self._backend.progress.add(self)

    def _when_done(self, call: Callable[[], None]) -> None:
        with self._lock:
            if not self._done:
                self._calls.append(call)
                return
        call()


class Progress:
    """Tests the work that nobody waits for: `poll` does it once, and a thread from time to time.

    The thread is started with the first such work, and sleeps while there is none. RETROGRAD_DISTRIBUTED_PROGRESS=calls
    does without it, and so does an MPI that was started for one thread: then work goes on when the package is called,
    and where a program calls `poll`.
    """

    def __init__(self, threaded: bool) -> None:
        self._pending: dict[int, Pending] = {}
        self._there = threading.Event()
        self._stopped = False
        self._thread: threading.Thread | None = None
        stated = os.environ.get("RETROGRAD_DISTRIBUTED_PROGRESS") or "thread"
        if stated not in ("thread", "calls"):
            raise ValueError(f"RETROGRAD_DISTRIBUTED_PROGRESS must be thread or calls, and is {stated!r}")
        self._threaded = threaded and stated == "thread"

    def add(self, work: Pending) -> None:
        """Test this until it is done."""
        self._pending[id(work)] = work
        if work._done:  # since another thread tested it
            self.remove(work)
        elif self._threaded:
            self._there.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="retrograd-mpi", daemon=True)
                self._thread.start()

    def remove(self, work: Pending) -> None:
        """Test this no more."""
        self._pending.pop(id(work), None)

    def poll(self) -> None:
        """Test all once."""
        for work in list(self._pending.values()):
            work.test()

    def _run(self) -> None:
        while True:
            self._there.wait()
            if self._stopped:
                return
            if self._pending:
                self.poll()
                time.sleep(BETWEEN_TESTS)
            else:
                self._there.clear()
                if self._pending:  # which came between
                    self._there.set()

    def stop(self) -> None:
        """End the thread."""
        self._stopped = True
        self._there.set()
        if self._thread is not None:
            self._thread.join(1.0)
