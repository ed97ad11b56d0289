"""Loaders with worker processes: what they give, and how they end."""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import pytest

pytestmark = [
    # On machines with one processor two workers are too many.
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    # Python 3.12 and later warn of a fork with threads; those of the engine are not used by workers.
    pytest.mark.filterwarnings("ignore:This process .*is multi-threaded:DeprecationWarning"),
]


class Calls:
    """A dataset whose items are what a function makes of their numbers."""

    def __init__(self, call: Any, count: int = 6) -> None:
        self.call, self.count = call, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        return self.call(i)


def fail(error: Any, at: int) -> Any:
    def call(i: int) -> int:
        if i == at:
            raise error
        return i

    return call


@pytest.fixture(autouse=True)
def no_process_is_left() -> Any:
    yield
    gc.collect()
    assert multiprocessing.active_children() == []


def test_batches_arrive_in_shared_memory(rg):
    loader = rg.utils.data.DataLoader(Calls(rg.tensor), batch_size=4, num_workers=2)
    batches = list(loader)
    assert [batch.tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5]]
    assert all(batch.is_shared() for batch in batches)


def test_batches_come_in_order_whoever_is_first(rg):
    def slow(i: int) -> int:
        time.sleep(0.05 if i == 0 else 0)
        return i

    loader = rg.utils.data.DataLoader(Calls(slow), num_workers=2)
    assert [batch.item() for batch in loader] == list(range(6))


def test_batches_come_as_they_are_made_on_request(rg):
    def slow(i: int) -> int:
        time.sleep(0.5 if i == 0 else 0)
        return i

    loader = rg.utils.data.DataLoader(Calls(slow), num_workers=2, in_order=False, prefetch_factor=1)
    seen = [batch.item() for batch in loader]
    assert seen[0] == 1 and sorted(seen) == list(range(6))


def test_large_tensors_and_containers_cross_processes(rg):
    loader = rg.utils.data.DataLoader(
        Calls(lambda i: {"x": rg.full((200, 1000), float(i)), "name": str(i)}), batch_size=3, num_workers=2
    )
    batches = list(loader)
    assert [batch["name"] for batch in batches] == [["0", "1", "2"], ["3", "4", "5"]]
    assert [batch["x"][:, 0, 0].tolist() for batch in batches] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_workers_know_themselves(rg):
    def about(i: int) -> Any:
        info = rg.utils.data.get_worker_info()
        return [info.id, info.num_workers, info.seed - rg.initial_seed(), len(info.dataset), rg.get_num_threads()]

    loader = rg.utils.data.DataLoader(Calls(about), num_workers=2, collate_fn=lambda items: items[0])
    assert list(loader) == [[i % 2, 2, 0, 6, 1] for i in range(6)]
    assert rg.utils.data.get_worker_info() is None


def test_workers_draw_different_numbers_and_the_same_ones_again_from_a_seed(rg):
    import numpy as np

    def draw(i: int) -> Any:
        return [random.random(), rg.rand(()).item(), np.random.rand()]

    def drawn() -> list[Any]:
        loader = rg.utils.data.DataLoader(
            Calls(draw), num_workers=2, collate_fn=list, generator=rg.Generator().manual_seed(3)
        )
        return list(loader)

    first = drawn()
    assert drawn() == first
    assert len({number for batch in first for item in batch for number in item}) == 18


def test_numpy_gets_the_words_that_torch_gives_it(rg):
    # NumPy's SeedSequence makes them from the same numbers.
    import numpy as np

    from retrograd.utils.data._utils.worker import _generate_state

    for seed, worker in ((0, 0), (12345678901234567, 3)):
        words = np.random.SeedSequence([worker, seed & 0xFFFFFFFF, seed >> 32, 0]).generate_state(4)
        assert _generate_state(seed, worker) == words.tolist()


def test_a_function_prepares_each_worker(rg):
    def prepare(worker_id: int) -> None:
        rg.utils.data.get_worker_info().dataset.offset = 10 * worker_id

    class Offset(Calls):
        offset = 0

        def __getitem__(self, i: int) -> int:
            return i + self.offset

    loader = rg.utils.data.DataLoader(Offset(None, 4), num_workers=2, worker_init_fn=prepare)
    assert [batch.item() for batch in loader] == [0, 11, 2, 13]


def test_each_worker_iterates_over_its_part(rg):
    class Parts(rg.utils.data.IterableDataset):
        def __iter__(self):
            info = rg.utils.data.get_worker_info()
            return iter(range(info.id, 7, info.num_workers))

    of = rg.utils.data.DataLoader
    assert sorted(n for batch in of(Parts(), 2, num_workers=2) for n in batch.tolist()) == list(range(7))
    stay = of(Parts(), 2, num_workers=2, persistent_workers=True)
    for _ in range(3):
        assert sorted(n for batch in stay for n in batch.tolist()) == list(range(7))


def test_persistent_workers_stay_and_start_anew(rg):
    loader = rg.utils.data.DataLoader(Calls(lambda i: [i, os.getpid()]), num_workers=2, persistent_workers=True)
    first = [(int(i), int(pid)) for i, pid in loader]
    iterator = iter(loader)
    next(iterator)  # what is left of this iteration is thrown away
    assert [(int(i), int(pid)) for i, pid in loader] == first
    assert len({pid for _, pid in first}) == 2
    del iterator, loader


@pytest.mark.parametrize("method", [m for m in ("spawn", "forkserver") if m in multiprocessing.get_all_start_methods()])
def test_other_start_methods_work(rg, method):
    loader = rg.utils.data.DataLoader(range(5), 2, num_workers=1, multiprocessing_context=method, timeout=60)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4]]
    # Where a helper process of the start method stays, it is not ours to end.


def test_what_cannot_start_is_said(rg):
    with (
        pytest.warns(UserWarning, match="Got pickle error when attempting to start a worker Process"),
        pytest.raises((AttributeError, TypeError, Exception), match="pickle"),
    ):
        iter(rg.utils.data.DataLoader(Calls(lambda i: i), num_workers=1, multiprocessing_context="spawn"))


def test_unknown_start_methods_are_refused(rg):
    with pytest.raises(ValueError, match="multiprocessing_context option should specify a valid start method in"):
        rg.utils.data.DataLoader(range(2), num_workers=1, multiprocessing_context="x")


def test_errors_come_with_the_worker_s_traceback_and_batches_go_on(rg):
    loader = rg.utils.data.DataLoader(Calls(fail(ValueError("no item"), 1), 3), num_workers=2)
    iterator = iter(loader)
    assert next(iterator).item() == 0
    with pytest.raises(
        ValueError, match=r"Caught ValueError in DataLoader worker process 1\.\nOriginal Traceback"
    ) as e:
        next(iterator)
    assert "in call" in str(e.value) and str(e.value).endswith("ValueError: no item\n")
    assert next(iterator).item() == 2
    with pytest.raises(StopIteration):
        next(iterator)


class Odd(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(one, two)


class Told(Exception):
    message = "x"

    def __init__(self, message: str) -> None:
        super().__init__(message)


@pytest.mark.parametrize(
    ("error", "kind"), [(KeyError("key"), KeyError), (Odd(1, 2), RuntimeError), (Told("x"), Told)], ids=repr
)
def test_errors_of_all_kinds_come_as_readable_text(rg, error, kind):
    with pytest.raises(kind) as e:
        next(iter(rg.utils.data.DataLoader(Calls(fail(error, 0), 1), num_workers=1)))
    assert f"Caught {type(error).__name__} in DataLoader worker process 0.\nOriginal Traceback" in str(e.value)


def test_errors_of_the_preparing_function_come_once(rg):
    def prepare(worker_id: int) -> None:
        raise ValueError("not prepared")

    with pytest.raises(ValueError, match="not prepared"):
        next(iter(rg.utils.data.DataLoader(range(3), num_workers=1, worker_init_fn=prepare)))


def test_batches_that_cannot_cross_are_errors(rg):
    loader = rg.utils.data.DataLoader(range(2), num_workers=1, collate_fn=lambda items: lambda: items)
    with pytest.raises((AttributeError, TypeError, RuntimeError, Exception), match="pickle"):
        next(iter(loader))


@pytest.mark.parametrize(
    ("end", "phrase"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "is killed by signal: Killed"),
        (lambda: os._exit(3), "exited unexpectedly with exit code 3"),
        (lambda: sys.exit(4), "exited unexpectedly with exit code 4"),
    ],
    ids=["kill", "_exit", "exit"],
)
def test_the_death_of_a_worker_is_noticed_at_once(rg, end, phrase):
    def call(i: int) -> int:
        if i == 3:
            end()
        return i

    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly") as e:
        list(rg.utils.data.DataLoader(Calls(call), num_workers=2))
    assert phrase in str(e.value.__cause__)
    del e
    assert time.monotonic() - start < 4


def test_slow_workers_time_out(rg):
    loader = rg.utils.data.DataLoader(Calls(lambda i: time.sleep(30)), num_workers=1, timeout=0.2)
    iterator = iter(loader)
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.2 seconds") as e:
        next(iterator)
    for worker in iterator._workers:
        worker.process.terminate()
    del e


def test_iterations_that_are_left_early_end_their_workers(rg):
    for batch in rg.utils.data.DataLoader(Calls(lambda i: rg.ones(1000, 1000), 100), num_workers=2):
        assert batch.shape == (1, 1000, 1000)
        break
    # The fixture looks for processes that are left.


def test_iterators_cannot_be_pickled(rg):
    import pickle

    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(rg.utils.data.DataLoader(range(2))))


def test_too_many_workers_are_warned_of(rg):
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with pytest.warns(UserWarning, match=rf"This DataLoader will create {count + 1} worker processes in total\. Our"):
        rg.utils.data.DataLoader(range(2), num_workers=count + 1)


def started(program: str) -> Any:
    """A program in a session of its own, whose first line of output has come."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline()


SLOW = """
    import signal
    import time
    import retrograd as rg

    # A shell starts programs in the background with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Slow:
        def __len__(self):
            return 1000
        def __getitem__(self, i):
            time.sleep(0.01)
            return rg.ones(100000)

    loader = rg.utils.data.DataLoader(Slow(), num_workers=1)
    iterator = iter(loader)
    next(iterator)
    print(iterator._workers[0].process.pid, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends signals to a group of processes")
def test_interrupts_end_the_program_and_its_workers(rg):
    process, line = started(SLOW + "    for batch in iterator: pass\n")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert errors.count("KeyboardInterrupt") == 1, errors
    assert process.returncode in (-signal.SIGINT, 1)
    assert is_gone(int(line))


@pytest.mark.skipif(os.name != "posix", reason="asks whether a process is there by a signal")
def test_programs_end_cleanly_with_an_iteration_under_way(rg):
    process, line = started(SLOW)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert is_gone(int(line))


@pytest.mark.skipif(os.name != "posix", reason="asks whether a process is there by a signal")
def test_workers_notice_that_the_main_process_is_gone(rg):
    process, line = started(SLOW + "    time.sleep(60)\n")
    process.kill()
    process.communicate()
    assert is_gone(int(line))


def is_gone(pid: int) -> bool:
    """Whether a process ends soon; one that has ended and waits for its parent's attention counts."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.1)
    return False
