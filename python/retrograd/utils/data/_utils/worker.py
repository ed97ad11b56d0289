"""What a worker process does: it gets numbers of items, and sends batches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import retrograd.multiprocessing  # noqa: F401  from now on queues take tensors along without a copy
from retrograd._settings import set_num_threads
from retrograd.random import manual_seed
from retrograd.utils.data._utils.exceptions import ExceptionWrapper
from retrograd.utils.data._utils.fetch import _BaseDatasetFetcher, _DatasetKind


class WorkerInfo(NamedTuple):
    """What a worker knows of itself.

    `id` counts from 0 to `num_workers - 1`; `seed` is that of its generators; `dataset` is its copy.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


class IterableEnded(NamedTuple):
    """Sent in place of a batch when the worker's copy of an iterable dataset has no more."""

    worker_id: int


class Resume(NamedTuple):
    """Sent to workers that stay for another iteration, and back."""


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process of a loader its `id`, `num_workers`, `seed` and `dataset`; None in other processes.

    >>> rg.utils.data.get_worker_info() is None
    True
    """
    return _worker_info


class Job(NamedTuple):
    """What all workers of a loader are told at their start."""

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    init_fn: Callable[[int], None] | None
    num_workers: int


def work(job: Job, worker_id: int, indices: Any, results: Any, done: Any) -> None:
    """Serve until told to stop by None, or until the main process is gone.

    Args: `indices` a queue of pairs of a number and what to fetch; `results` the queue for pairs of this number and the
    batch, or the error; `done` an event that is set when nobody wants results any more.
    """
    try:
        _seed(job, worker_id)
        _serve(job, worker_id, indices, results, done)
    except KeyboardInterrupt:
        results.cancel_join_thread()  # the main process gets it too, and may not read any more
    if done.is_set():
        results.cancel_join_thread()
        results.close()


def _seed(job: Job, worker_id: int) -> None:
    global _worker_info
    import random

    set_num_threads(1)
    seed = job.base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    # A program whose dataset uses NumPy has imported it by now, in the main process or for unpickling the dataset.
    np = sys.modules.get("numpy")
    if np is not None:
        np.random.seed(_generate_state(job.base_seed, worker_id))
    _worker_info = WorkerInfo(worker_id, job.num_workers, seed, job.dataset)


def _serve(job: Job, worker_id: int, indices: Any, results: Any, done: Any) -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    where = f"in DataLoader worker process {worker_id}"

    def send_error(error: Exception, message: Any) -> None:
        results.put((message[0], ExceptionWrapper(error, where)))

    # A batch that cannot be pickled would be lost, and waited for.
    results._on_queue_feeder_error = send_error
    fetcher: _BaseDatasetFetcher | None = None
    init_error: ExceptionWrapper | None = None
    try:
        if job.init_fn is not None:
            job.init_fn(worker_id)
        fetcher = _fetcher(job)
    except Exception as e:
        init_error = ExceptionWrapper(e, where)
    parent: Any = parent_process()
    ended = False
    while True:
        ready = wait([indices._reader, parent.sentinel])
        if parent.sentinel in ready:
            results.cancel_join_thread()
            return
        request = indices.get()
        if request is None:
            return
        if isinstance(request, Resume):
            results.put((request, None))
            ended = False
            try:
                fetcher = _fetcher(job)
            except Exception as e:
                init_error = ExceptionWrapper(e, where)
            continue
        if ended or done.is_set():
            continue
        number, index = request
        data: Any
        if init_error is not None:
            data, init_error = init_error, None
        else:
            try:
                assert fetcher is not None
                data = fetcher.fetch(index)
            except Exception as e:
                if isinstance(e, StopIteration) and job.kind == _DatasetKind.Iterable:
                    data, ended = IterableEnded(worker_id), True
                else:
                    data = ExceptionWrapper(e, where)
        results.put((number, data))
        del data, number, index, request  # so that they are freed while this waits


def _fetcher(job: Job) -> _BaseDatasetFetcher:
    return _DatasetKind.create_fetcher(job.kind, job.dataset, job.auto_collation, job.collate_fn, job.drop_last)


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four words for NumPy's generator: those of its `SeedSequence` of both numbers, which it may not have."""
    mask = 0xFFFFFFFF
    constant = 1135663077

    def mixed(value: int, factor: int) -> int:
        nonlocal constant
        value = (value ^ constant) & mask
        constant = (constant * factor) & mask
        value = (value * constant) & mask
        return value ^ (value >> 16)

    def joined(x: int, y: int) -> int:
        result = (3389127133 * x - 1232336661 * y) & mask
        return result ^ (result >> 16)

    pool = [mixed(word, 2468251765) for word in (worker_id, base_seed & mask, base_seed >> 32, 0)]
    for i in range(4):
        for j in range(4):
            if i != j:
                pool[j] = joined(pool[j], mixed(pool[i], 2468251765))
    constant = 2337405405
    return [mixed(word, 1492356589) for word in pool]
