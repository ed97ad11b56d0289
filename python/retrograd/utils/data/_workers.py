"""An iteration over a loader whose batches are made by worker processes."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import time
import warnings
import weakref
from multiprocessing.connection import wait
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from retrograd.utils.data._iterators import _BaseDataLoaderIter
from retrograd.utils.data._utils.exceptions import ExceptionWrapper
from retrograd.utils.data._utils.worker import IterableEnded, Job, Resume, work

if TYPE_CHECKING:
    from retrograd.utils.data.dataloader import DataLoader

# How long a worker may take to stop before it is terminated.
_SECONDS_TO_STOP = 5.0


class _Worker:
    """A process with two queues, which it alone writes to or reads from: when it dies, nobody else is stuck.

    `status` tells whether it gets more work, and `tasks` how much it has.
    """

    def __init__(self, context: Any, job: Job, number: int, done: Any) -> None:
        self.indices = context.Queue()
        self.indices.cancel_join_thread()
        self.results = context.Queue()
        self.process = context.Process(target=work, args=(job, number, self.indices, self.results, done), daemon=True)
        try:
            self.process.start()
        except (TypeError, AttributeError, PicklingError):
            warnings.warn(
                "Got pickle error when attempting to start a worker Process. This might be because the worker Process "
                "arguments are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX "
                "platforms to 'forkserver', which requires the worker Process arguments to be picklable. You can also "
                "try multiprocessing.set_start_method('fork').",
                stacklevel=2,
            )
            raise
        # The worker alone has this end now, so that its death ends what is read half.
        self.results._writer.close()
        self.status = True
        self.tasks = 0

    def end(self) -> str:
        """How the process ended."""
        pid, code = self.process.pid, self.process.exitcode
        if code is not None and code < 0:
            name = signal.strsignal(-code) or f"signal {-code}"
            return f"DataLoader worker (pid {pid}) is killed by signal: {name}. "
        return (
            f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )


class _Crew:
    """The workers of an iteration.

    It knows nothing of the iteration, whose end it outlives: also one in a cycle of garbage, of which the collector
    ends parts in any order, has workers and queues that are whole.
    """

    def __init__(self, context: Any, persistent: bool) -> None:
        self.workers: list[_Worker] = []
        self.done = context.Event()
        self.persistent = persistent

    def stop(self) -> None:
        """Let all workers stop, and terminate those that do not."""
        self.done.set()
        try:
            for worker in self.workers:
                if worker.status or self.persistent:
                    worker.indices.put(None)
            for worker in self.workers:
                worker.process.join(_SECONDS_TO_STOP)
        finally:
            for worker in self.workers:
                if worker.process.is_alive():
                    worker.process.terminate()
                    worker.process.join(_SECONDS_TO_STOP)
                for queue in (worker.indices, worker.results):
                    queue.cancel_join_thread()
                    queue.close()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Sends numbers of items to the workers in turn, some batches ahead, and gives the batches in their order.

    Tasks are numbered as they are sent. `_task_info` has the worker of each task that was not given out yet, and its
    batch if that has arrived before its turn.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._prefetch_factor: int = loader.prefetch_factor or 0
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._in_order = loader.in_order
        context: Any = loader.multiprocessing_context or multiprocessing
        job = Job(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            self._base_seed,
            loader.worker_init_fn,
            self._num_workers,
        )
        crew = _Crew(context, self._persistent_workers)
        # When Python ends, it terminates the workers by itself.
        self._end_of_workers = weakref.finalize(self, crew.stop)
        self._end_of_workers.atexit = False
        for i in range(self._num_workers):
            crew.workers.append(_Worker(context, job, i, crew.done))
        self._workers = crew.workers
        self._readers = {worker.results._reader: worker for worker in self._workers}
        self._reset(loader, first_iter=True)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._send_idx = 0
        self._rcvd_idx = 0
        self._task_info: dict[int, tuple[Any, ...]] = {}
        self._tasks_outstanding = 0
        self._turns = itertools.cycle(self._workers)
        for worker in self._workers:
            worker.status = True
            worker.tasks = 0
            if not first_iter:
                worker.indices.put(Resume())
        resumed = self._num_workers if first_iter else 0
        while resumed < self._num_workers:
            answer, _ = self._get_data()
            resumed += isinstance(answer, Resume)  # what comes before is left from the last iteration
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    # ---- sending

    def _try_put_index(self) -> None:
        """Send the next numbers to the next worker that takes some, if there are any."""
        try:
            index = self._next_index()
        except StopIteration:
            return
        # Without an order to keep, a slow worker has no more to do than the others.
        share = self._prefetch_factor * self._num_workers // max(1, sum(worker.status for worker in self._workers))
        for worker in itertools.islice(self._turns, self._num_workers):
            if worker.status and (self._in_order or worker.tasks < share):
                break
        else:
            return
        worker.indices.put((self._send_idx, index))
        self._task_info[self._send_idx] = (worker,)
        worker.tasks += 1
        self._tasks_outstanding += 1
        self._send_idx += 1

    # ---- receiving

    def _get_data(self) -> Any:
        """What a worker has sent; an error if that takes too long, or a worker died."""
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            alive = {worker.process.sentinel: worker for worker in self._workers if worker.status}
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready: list[Any] = wait([*self._readers, *alive], left)
            if not ready:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            sent = [reader for reader in ready if reader in self._readers]
            for reader in sent:
                worker = self._readers[reader]
                try:
                    return worker.results.get()
                except (EOFError, OSError):
                    worker.process.join(_SECONDS_TO_STOP)
                    if worker.process.is_alive():  # what it sent raises this
                        raise
                    del self._readers[reader]
                    if worker.status:
                        self._raise_dead([worker])
            if not sent:
                self._raise_dead([alive[sentinel] for sentinel in ready])

    def _raise_dead(self, workers: list[_Worker]) -> None:
        for worker in workers:
            worker.status = False
            worker.process.join(_SECONDS_TO_STOP)
        pids = ", ".join(str(worker.process.pid) for worker in workers)
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from RuntimeError(workers[0].end())

    def _next_data(self) -> Any:
        while True:
            # The next task whose worker has not ended before it; those of workers that have are left out.
            while self._rcvd_idx < self._send_idx:
                info = self._task_info.get(self._rcvd_idx)
                if info is not None:
                    if len(info) == 2 or info[0].status:
                        break
                    del self._task_info[self._rcvd_idx]
                self._rcvd_idx += 1
            else:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if len(info) == 2:
                del self._task_info[self._rcvd_idx]
                self._rcvd_idx += 1
                return self._process_data(info[1], info[0])
            if not self._end_of_workers.alive or self._tasks_outstanding <= 0:
                raise AssertionError("Invalid iterator state: shutdown or no outstanding tasks when fetching next data")
            number, data = self._get_data()
            self._tasks_outstanding -= 1
            if isinstance(data, IterableEnded):
                self._end(self._workers[data.worker_id])
                self._try_put_index()
                continue
            if number != self._rcvd_idx and self._in_order:
                self._task_info[number] += (data,)
                continue
            (worker,) = self._task_info.pop(number)
            if number == self._rcvd_idx:
                self._rcvd_idx += 1
            return self._process_data(data, worker)

    def _process_data(self, data: Any, worker: _Worker) -> Any:
        worker.tasks -= 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    # ---- ending

    def _end(self, worker: _Worker) -> None:
        """Give a worker no more to do; unless it shall stay, it stops."""
        worker.status = False
        if not self._persistent_workers:
            worker.indices.put(None)

    def _shutdown_workers(self) -> None:
        self._end_of_workers()
