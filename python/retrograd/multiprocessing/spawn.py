"""Running a function in several processes, and what is raised when one of them fails."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

# How long processes may take to end before they are killed.
_SECONDS_TO_END = 30.0


class ProcessException(Exception):
    """A process failed: `error_index` says which one, and `error_pid` has its number in the system.

    >>> from retrograd.multiprocessing.spawn import ProcessException
    >>> ProcessException("no luck", 1, 4321).error_index
    1
    """

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised in a process; the message has the traceback.

    >>> from retrograd.multiprocessing import ProcessRaisedException, start_processes
    >>> try:
    ...     start_processes(divmod, (0,), start_method="fork")
    ... except ProcessRaisedException as error:
    ...     print(error.error_index, str(error).strip().splitlines()[-1].split(":")[0])
    0 ZeroDivisionError
    """


class ProcessExitedException(ProcessException):
    """A process ended with an `exit_code` that is not 0, or by the signal of that name.

    >>> import os
    >>> from retrograd.multiprocessing import ProcessExitedException, start_processes
    >>> try:
    ...     start_processes(lambda i: os._exit(3), start_method="fork")
    ... except ProcessExitedException as error:
    ...     print(error, error.exit_code, error.signal_name)
    process 0 terminated with exit code 3 3 None
    """

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _run(fn: Callable[..., Any], i: int, args: Sequence[Any], failure: Connection) -> None:
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent gets it too
    except Exception:
        import traceback

        failure.send(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that were started together; `join` waits for them.

    >>> from retrograd.multiprocessing import start_processes
    >>> processes = start_processes(divmod, (7,), nprocs=2, join=False, start_method="fork")
    >>> len(processes.pids())
    2
    >>> while not processes.join(timeout=10):
    ...     pass
    """

    def __init__(self, processes: Sequence[Any], failures: Sequence[Connection]) -> None:
        self.processes = list(processes)
        self.sentinels = {process.sentinel: i for i, process in enumerate(self.processes)}
        self._failures = list(failures)
        self._texts: dict[int, str] = {}

    def pids(self) -> list[int]:
        """The numbers of the processes in the system."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends. When one has failed the others are ended, and it raises.

        Args: `timeout` in seconds, without which it waits for ever; `grace_period` the time for the others to end by
        themselves, and once more after they were told to.
        Returns: whether all processes have ended.
        Raises: ProcessRaisedException if the function raised, ProcessExitedException if the process ended otherwise.
        """
        if not self.sentinels:
            return True
        deadline = None if timeout is None else time.monotonic() + timeout
        ready = self._wait(deadline)
        for sentinel in ready:
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                self._end(grace_period)
                raise self._error(i)
        return not self.sentinels

    def _wait(self, deadline: float | None) -> list[int]:
        """Sentinels of processes that have ended. What they say meanwhile is read, so that none waits for a reader."""
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready: list[Any] = wait([*self.sentinels, *(f for f in self._failures if not f.closed)], left)
            for failure in ready:
                if isinstance(failure, Connection):
                    self._read(failure)
            ended = [sentinel for sentinel in ready if sentinel in self.sentinels]
            if ended or not ready:
                return ended

    def _read(self, failure: Connection) -> None:
        with suppress(EOFError, OSError):
            self._texts[self._failures.index(failure)] = failure.recv()
        failure.close()

    def _end(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._join_all(grace_period)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._join_all(_SECONDS_TO_END if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _join_all(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))

    def _error(self, i: int) -> ProcessException:
        process, failure = self.processes[i], self._failures[i]
        if not failure.closed and failure.poll():
            self._read(failure)
        if i in self._texts:
            text = f"\n\n-- Process {i:d} terminated with the following error:\n{self._texts[i]}"
            return ProcessRaisedException(text, i, process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {i:d} terminated with exit code {code:d}", i, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(f"process {i:d} terminated with signal {name}", i, process.pid, code, name)


class SpawnContext(ProcessContext):
    """The former name of `ProcessContext`.

    >>> import warnings
    >>> from retrograd.multiprocessing import SpawnContext
    >>> with warnings.catch_warnings(action="ignore"):
    ...     SpawnContext([], []).join()
    True
    """

    def __init__(self, processes: Sequence[Any], failures: Sequence[Connection]) -> None:
        warnings.warn("SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2)
        super().__init__(processes, failures)


def start_processes(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes, each of which gets its number `i`.

    Args: `fn` a function that can be pickled, unless `start_method` is "fork"; `join` waits for all of them; `daemon`
    processes end with this one.
    Returns: the processes, unless `join` is set.
    Raises: see `ProcessContext.join`.

    >>> from retrograd.multiprocessing import start_processes
    >>> def fill(i, shared):
    ...     shared[i] = i + 1.0
    >>> shared = rg.zeros(2).share_memory_()
    >>> start_processes(fill, (shared,), nprocs=2, start_method="fork")
    >>> shared
    tensor([1., 2.])
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, failures = [], []
    for i in range(nprocs):
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, i, args, writer), daemon=daemon)
        process.start()
        writer.close()
        processes.append(process)
        failures.append(reader)
    started = ProcessContext(processes, failures)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` fresh processes; see `start_processes`, which has other ways to start them.

    >>> from retrograd.multiprocessing import spawn
    >>> spawn(divmod, (7,), nprocs=2)
    """
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:"
            "\n\t\t retrograd.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
