"""Numbers of threads: results do not depend on them, small work stays where it is, forked children work."""

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

import retrograd as rg
from retrograd import _core


@pytest.fixture(autouse=True)
def _the_same_number_afterwards() -> Iterator[None]:
    threads = rg.get_num_threads()
    yield
    rg.set_num_threads(threads)
    noise.cache_clear()


@functools.cache
def noise(*sizes: int, seed: int = 0) -> rg.Tensor:
    return rg.randn(*sizes, generator=rg.Generator().manual_seed(seed))


def places(*sizes: int, below: int | None = None) -> rg.Tensor:
    """Indices with repetitions; the last size is what they are below, unless that is named."""
    if below is None:
        *sizes, below = sizes  # type: ignore[assignment]
    return rg.randint(0, below, sizes, generator=rg.Generator().manual_seed(len(sizes)))


def losses_and_gradients() -> list[rg.Tensor]:
    x = noise(300, 700, seed=1).requires_grad_()
    w = noise(700, 333, seed=2).requires_grad_()
    y = x @ w
    loss = y.softmax(1).log().mean() + y.t().softmax(1).std() + rg.nn.functional.layer_norm(x, (700,)).square().sum()
    return [loss, *rg.autograd.grad(loss, (x, w))]


def standardized(*sizes: int, groups: int = 0) -> list[rg.Tensor]:
    x = noise(*sizes).requires_grad_()
    w, b = (noise(sizes[1], seed=s).requires_grad_() for s in (1, 2))
    f = rg.nn.functional
    y = f.group_norm(x, groups, w, b) if groups else f.batch_norm(x, None, None, w, b, training=True)
    return [y, *rg.autograd.grad(y, (x, w, b), noise(*sizes, seed=3))]


def borders(mode: str) -> list[rg.Tensor]:
    x = noise(300, 30, 70).requires_grad_()
    y = rg.nn.functional.pad(x, (3, 5), mode=mode)
    return [y, *rg.autograd.grad(y, x, noise(300, 30, 78, seed=3))]


WORK: dict[str, Callable[[], list[rg.Tensor]]] = {
    "elementwise": lambda: [noise(1_000_003).exp(), noise(1_000_003).mul(2.0).add_(1.0)],
    "broadcast and strided": lambda: [noise(900, 501).t() + noise(900), noise(900, 501)[:, ::2].tanh()],
    "all to one": lambda: [noise(3_000_001).sum(), noise(3_000_001).max(), noise(1500, 1500).prod()],
    "rows": lambda: [noise(1500, 1501).sum(1), *noise(1500, 1501).max(1), noise(1500, 1501).var(1)],
    "columns": lambda: [noise(1501, 1500).sum(0), *noise(1501, 1500).min(0), noise(3, 500, 700).mean((0, 1))],
    "standardized columns": lambda: [*standardized(3001, 300), *standardized(20_001, 7), *standardized(999, 40, 5)],
    "standardized runs": lambda: [*standardized(40, 30, 900), *standardized(700, 40, 5, groups=4)],
    "narrow columns": lambda: [noise(300_000, 3).sum(0), noise(300_000, 300).sum(0)],
    "product": lambda: [noise(513, 300) @ noise(300, 257), noise(2, 3000) @ noise(3000, 2000)],
    "batches of products": lambda: [noise(40, 65, 66) @ noise(40, 66, 67)],
    "products with a vector": lambda: [
        noise(1503, 1500) @ noise(1500),
        noise(1500) @ noise(1500, 1503),
        noise(1500) @ noise(1503, 1500).t(),
        noise(1500, 1503).t() @ noise(1500),
        noise(3, 40_001) @ noise(40_001),
        noise(1500, 3001)[:, ::2] @ noise(1501),
    ],
    "numbers in steps": lambda: [
        rg.arange(1_000_003),
        rg.arange(-5, 3_000_000, 3, dtype=rg.int32),
        rg.arange(0.5, 300_000, 0.3),
        rg.linspace(-1, 2, 1_000_003),
        rg.zeros(3_000_001),
    ],
    "borders": lambda: borders("reflect") + borders("circular"),
    "dots": lambda: [noise(n).dot(noise(n, seed=1)) for n in (131_071, 131_072, 700_001)],
    "reversed axes": lambda: [
        noise(20_001, 5, 4).permute(2, 1, 0).sum(2),
        *noise(20_001, 5, 4).permute(2, 1, 0).max(2),
        noise(700, 5, 400).permute(2, 1, 0).var(),
    ],
    "slices": lambda: [noise(20_001, 37)[:, 1:] - noise(20_001, 37)[:, :-1], noise(999, 999)[:, 3:].neg()],
    "integers": lambda: [noise(1_000_000).mul(100).to(rg.int32).sum(), noise(1_000_000).gt(0).sum()],
    "many lines in order": lambda: [
        *noise(700, 501).sort(1),
        *noise(501, 700).sort(0, descending=True),
        *noise(700, 501).round().topk(9, 1),
        *noise(700, 501).round().mode(1),
        *noise(501, 700).median(0),
    ],
    "one line in order": lambda: [
        *noise(300_001).sort(),
        *noise(300_001).mul(3).round().sort(descending=True),
        *noise(300_001).to(rg.float64).sort(),
        *noise(300_001).mul(100).to(rg.int64).sort(),
        *noise(300_001).round().topk(100),
        *noise(300_001).topk(100_000, largest=False),
        noise(300_001).median(),
    ],
    "a training step": losses_and_gradients,
    "copies": lambda: [
        noise(1_000_003).clone(),
        noise(1200, 900).t().contiguous(),
        noise(40, 50, 600).permute(2, 0, 1).contiguous(),
        rg.cat((noise(3000, 70), noise(3000, 33)), 1),
        rg.cat((noise(3000, 70), noise(1000, 70))),
        noise(2000, 501)[:, ::3].clone(),
    ],
    "rows by an index": lambda: [
        noise(3000, 70)[places(40_000, 3000)],
        noise(3000, 70).index_select(0, places(40_000, 3000)),
        noise(90, 3000)[:, places(40_000, 3000)],
        noise(40, 500, 70)[:, places(900, 500)],
        noise(40, 70, 500).transpose(1, 2)[:, places(900, 500)],
        rg.nn.functional.embedding(places(40_000, 3000), noise(3000, 70)),
    ],
    "elements by an index": lambda: [
        noise(1000, 700).gather(1, places(1000, 900, below=700)),
        noise(1000, 700).gather(0, places(1500, 600, below=1000)),
        noise(700_000).gather(0, places(900_000, 700_000)),
        noise(700, 900).t().gather(1, places(900, 650, below=700)),
    ],
    "rows by an expanded index": lambda: [
        noise(3000, 70).gather(0, places(9000, 1, below=3000).expand(-1, 70)),
        noise(40, 500, 70).gather(1, places(1, 900, 1, below=500).expand(40, -1, 70)),
        noise(3000, 70).scatter_add(0, places(9000, 1, below=3000).expand(-1, 70), noise(9000, 70, seed=3)),
        noise(1, 1)
        .expand(3000, 70)
        .scatter_add(0, places(9000, 1, below=3000).expand(-1, 70), noise(9000, 70, seed=3)),
        noise(1, 1, 1).expand(40, 500, 70).index_add(1, places(900, 500), noise(40, 900, 70, seed=3)),
    ],
    "running results": lambda: [
        noise(300, 700).cumsum(0),
        noise(300, 700).cumsum(1),
        noise(20, 300, 70).cumsum(1),
        noise(300, 700).t().cumprod(1),
        noise(300_000).cumsum(0),
    ],
    "writes by an index": lambda: [
        noise(1000, 700).scatter_add(1, places(1000, 650, below=700), noise(1000, 700, seed=3)),
        noise(700, 1000).scatter_add(0, places(650, 1000, below=700), noise(700, 1000, seed=3)),
        noise(1000, 700).scatter(1, places(1000, 700, below=700), noise(1000, 700, seed=3)),
        noise(3000, 70).index_put((places(40_000, 3000),), noise(40_000, 70, seed=3), accumulate=True),
        noise(3000, 70).index_add(0, places(40_000, 3000), noise(40_000, 70, seed=3)),
        noise(40, 500, 70).index_add(1, places(900, 500), noise(40, 900, 70, seed=3)),
        noise(40, 500, 70).index_copy(1, places(900, 500), noise(40, 900, 70, seed=3)),
    ],
}


@pytest.mark.parametrize("name", WORK)
def test_results_do_not_depend_on_the_number(name: str) -> None:
    rg.set_num_threads(1)
    want = [t.detach().clone() for t in WORK[name]()]
    for threads in (2, 3, 8):
        rg.set_num_threads(threads)
        for got, expected in zip(WORK[name](), want, strict=True):
            assert got.dtype == expected.dtype
            assert got.detach().numpy().tobytes() == expected.numpy().tobytes()


def test_numbers() -> None:
    rg.set_num_threads(3)
    assert rg.get_num_threads() == 3
    for wrong in (0, -1):
        with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
            rg.set_num_threads(wrong)
    with pytest.raises(RuntimeError, match="set_num_threads expects an int"):
        rg.set_num_threads(2.0)  # type: ignore[arg-type]
    assert rg.get_num_threads() == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_its_own() -> None:
    rg.set_num_threads(2)
    want = noise(2_000_000).sum().item()
    child = os.fork()
    if child == 0:
        os._exit(0 if noise(2_000_000).sum().item() == want else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_waits_for_no_thread_of_its_parent() -> None:
    """The child gets a copy of the parent's marks of who is reading; memory that it gives up is freed all the same."""
    large, began, stop = noise(700, 700), threading.Event(), threading.Event()

    def read() -> None:
        while not stop.is_set():
            began.set()
            large @ large

    reader = threading.Thread(target=read)
    reader.start()
    began.wait()
    grown = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            p = rg.ones(2)
            before, _ = _core._memory_stats()
            for i in range(200):
                p.data = rg.ones(100_000 + i % 2)
            os._exit(min((_core._memory_stats()[0] - before) // 1_000_000, 255))
        grown.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    reader.join()
    assert max(grown) <= 1, f"megabytes that children keep: {grown}"


def test_no_thread_before_the_first_large_op() -> None:
    import subprocess
    import sys

    program = (
        "import retrograd as rg, threading, os\n"
        "count = lambda: len(os.listdir('/proc/self/task'))\n"
        "rg.set_num_threads(2)\n"
        "before = count()\n"
        "rg.ones(1000).exp().sum()\n"
        "assert count() == before\n"
        "rg.ones(4_000_000).exp().sum()\n"
        "assert count() == before + 1\n"
    )
    if not os.path.exists("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    subprocess.run([sys.executable, "-c", program], check=True)


def number_at_the_start(program: str = "", *, cpus: set[int] | None = None, **variables: str) -> tuple[int, str]:
    """The number of threads in a new process, and what that said on standard error."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    run = subprocess.run(
        [sys.executable, "-c", f"import retrograd as rg\n{program}\nprint(rg.get_num_threads())"],
        env=environment | variables,
        preexec_fn=None if cpus is None else lambda: os.sched_setaffinity(0, cpus),
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout), run.stderr


def test_the_environment_says_how_many_threads_there_are():
    assert number_at_the_start(RETROGRAD_NUM_THREADS="3") == (3, "")
    assert number_at_the_start(OMP_NUM_THREADS="5") == (5, "")
    assert number_at_the_start(RETROGRAD_NUM_THREADS="3", OMP_NUM_THREADS="5") == (3, "")
    assert number_at_the_start(OMP_NUM_THREADS=" 4,2 ") == (4, "")
    assert number_at_the_start(RETROGRAD_NUM_THREADS="99999") == (1024, "")


def test_a_number_set_by_the_program_counts_more_than_the_environment():
    assert number_at_the_start("rg.set_num_threads(2)", RETROGRAD_NUM_THREADS="3") == (2, "")


@pytest.mark.parametrize("value", ["many", "0", "-2", "1.5", "3 cores"])
def test_what_is_no_number_of_threads_is_told_and_ignored(value):
    number, said = number_at_the_start(RETROGRAD_NUM_THREADS=value, OMP_NUM_THREADS="5")
    assert number == 5
    assert f'RETROGRAD_NUM_THREADS="{value}" is no positive number of threads' in said


def test_an_empty_variable_is_as_none():
    assert number_at_the_start(RETROGRAD_NUM_THREADS="", OMP_NUM_THREADS=" ") == number_at_the_start()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not bind processes to CPUs")
def test_without_variables_the_affinity_of_the_process_counts():
    one = {min(os.sched_getaffinity(0))}
    assert number_at_the_start(cpus=one) == (1, "")
    assert number_at_the_start(cpus=one, RETROGRAD_NUM_THREADS="2") == (2, "")
