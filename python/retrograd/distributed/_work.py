"""Handles of what was begun: `Work` and the futures made of it, and how long and in what way one waits."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Generic, TypeVar

from retrograd._core import Tensor

__all__ = ["DistBackendError", "DistError", "Future", "Work"]

T = TypeVar("T")
S = TypeVar("S")

DEFAULT_TIMEOUT = timedelta(minutes=30)


class DistError(RuntimeError):
    """What goes wrong among several processes.

    >>> issubclass(rg.distributed.DistError, RuntimeError)
    True
    """


class DistBackendError(DistError):
    """A backend failed: a process is gone, came too late, or the library below reports an error.

    >>> issubclass(rg.distributed.DistBackendError, rg.distributed.DistError)
    True
    """


def seconds(timeout: Any, default: float | None = None) -> float | None:
    """The seconds of a `timedelta`; `default` for None. torch's phrase for anything else."""
    if timeout is None:
        return default
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout.total_seconds()


class Work:
    """What a collective with `async_op=True` returns. One that nobody has to wait for is done from the start.

    Wait before the tensors of the collective are read or written again. All methods can be called from any thread.

    >>> rg.distributed.init_process_group("gloo")
    >>> work = rg.distributed.all_reduce(rg.ones(2), async_op=True)
    >>> work.wait(), work.is_completed(), work.is_success()
    (True, True, True)
    >>> work.synchronize()
    >>> work.result(), work.exception()
    ([tensor([1., 1.])], None)
    >>> work.get_future().wait()
    [tensor([1., 1.])]
    >>> try:
    ...     work.source_rank()
    ... except RuntimeError as error:
    ...     print(str(error)[:12])
    sourceRank()
    >>> rg.distributed.destroy_process_group()
    """

    def __init__(self) -> None:
        self._tensors: list[Tensor] = []

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Return True when the work is done.

        Args: `timeout` None for that of the group.
        Raises: DistBackendError if a process of the group is gone, or when the time is over.
        """
        return True

    def is_completed(self) -> bool:
        """Whether the work is done, or has failed. It returns at once, and makes progress."""
        return True

    def is_success(self) -> bool:
        """Whether the work is done, and did not fail."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> BaseException | None:
        """Why the work failed, or None."""
        return None

    def result(self) -> list[Tensor]:
        """The tensors that were written."""
        self.wait()
        return self._tensors

    def source_rank(self) -> int:
        """The rank that a received message came from.

        Raises: RuntimeError for other work.
        """
        raise RuntimeError("sourceRank() may only be called on work objects that correspond to a recv or recv-from-any")

    def synchronize(self) -> None:
        """`wait`."""
        self.wait()

    def get_future(self) -> Future[list[Tensor]]:
        """A future of the list of tensors that are written."""
        future: Future[list[Tensor]] = Future()
        future._work = self
        self._when_done(lambda: future._settle(self._tensors, self.exception()))
        return future

    def _unattended(self) -> None:
        """See to it that the work goes on, though nobody waits for it now."""

    def _when_done(self, call: Callable[[], None]) -> None:
        """Call `call` once, when the work is done."""
        call()


class Future(Generic[T]):
    """A value that will be there: `torch.futures.Future`.

    >>> future = rg.distributed.Future()
    >>> doubled = future.then(lambda done: 2 * done.value())
    >>> future.add_done_callback(lambda done: print("done"))
    >>> future.done()
    False
    >>> future.set_result(3)
    done
    >>> future.value(), doubled.wait()
    (3, 6)
    >>> failed = rg.distributed.Future()
    >>> failed.set_exception(ValueError("no value"))
    >>> failed.done()
    True
    """

    def __init__(self) -> None:
        self._there = threading.Event()
        self._lock = threading.Lock()
        self._calls: list[Callable[[], None]] = []
        self._value: Any = None
        self._error: BaseException | None = None
        self._work: Work | None = None  # what makes this future come true, so that waiting makes progress

    def _settle(self, value: Any, error: BaseException | None) -> None:
        with self._lock:
            if self._there.is_set():
                raise RuntimeError("Future can only be set once.")
            self._value, self._error = value, error
            self._there.set()
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def set_result(self, result: T) -> None:
        """Give the future its value.

        Raises: RuntimeError if it has one.
        """
        self._settle(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give the future an error, which `wait` and `value` raise.

        Raises: RuntimeError if it has a value.
        """
        self._settle(None, result)

    def done(self) -> bool:
        """Whether the value, or an error, is there."""
        if self._work is not None and not self._there.is_set():
            self._work.is_completed()
        return self._there.is_set()

    def wait(self) -> T:
        """The value, when it is there.

        Raises: the error, if the work failed.
        """
        if self._work is not None and not self._there.is_set():
            self._work.wait()
        self._there.wait()
        return self.value()

    def value(self) -> T:
        """The value.

        Raises: RuntimeError if it is not there yet; the error, if the work failed.
        """
        if not self._there.is_set():
            raise RuntimeError("value() called on a future that is not completed: call wait() first")
        if self._error is not None:
            raise self._error
        value: T = self._value
        return value

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call `callback` with this future when it is done, in the thread that finds it done; print what it raises."""

        def call() -> None:
            try:
                callback(self)
            except Exception:  # which whoever waits for the work cannot help
                traceback.print_exc()

        with self._lock:
            if not self._there.is_set():
                self._calls.append(call)
                return
        call()

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what `callback` makes of this one, when it is done."""
        made: Future[S] = Future()
        made._work = self._work

        def call(done: Future[T]) -> None:
            try:
                value = callback(done)
            except Exception as error:
                made.set_exception(error)
            else:
                made.set_result(value)

        self.add_done_callback(call)
        return made
