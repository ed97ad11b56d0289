"""Threads that have tensors in common. On a Python without the lock of the interpreter they run at once; on others the
tests hold as well."""

import contextlib
import gc
import os
import subprocess
import sys
import sysconfig
import threading
import weakref
from collections.abc import Callable

import pytest

import retrograd as rg

THREADS = 4
# Without the lock the interleavings that matter are met within some hundred rounds; with it there are hardly any.
FREE = not getattr(sys, "_is_gil_enabled", lambda: True)()
ROUNDS = 300 if FREE else 30


class Marked(rg.Tensor):
    """A subclass, whose objects always come back from graphs."""


def leaf(*values: float) -> rg.Tensor:
    return rg.tensor(values or [1.0, 2.0], requires_grad=True)


def at_once(work: Callable[[int], object], threads: int = THREADS) -> list[object]:
    """What `work` returns on each of several threads that begin together; the first exception is raised."""
    barrier, results, failures = threading.Barrier(threads), [None] * threads, []

    def run(number: int) -> None:
        try:
            barrier.wait()
            results[number] = work(number)
        except BaseException as failure:
            failures.append(failure)

    started = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if failures:
        raise failures[0]
    return results


def operand(result: rg.Tensor) -> rg.Tensor:
    """The leaf that is the first operand, from the graph; results of subclasses are aliases."""
    node = result.grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    return node.variable


def test_threads_that_wrap_a_tensor_at_once_get_one_object():
    for _ in range(ROUNDS):
        x = leaf()
        result = x * 3
        node = result.grad_fn
        # The graph has tensors without objects: what the node saved, and the gradient.
        result.sum().backward(retain_graph=True)
        found = at_once(lambda _, x=x, node=node: (x.grad, node, node._saved_self, node.next_functions[0][0]))
        for same in zip(*found, strict=True):
            assert len(set(map(id, same))) == 1


def test_classes_of_nodes_are_made_once():
    for name in ("log1p", "atan", "erf", "expm1", "sinh", "asinh", "log2", "lgamma"):
        found = at_once(lambda _, name=name: type(getattr(leaf(0.5), name)().grad_fn))
        assert len(set(found)) == 1


@pytest.mark.parametrize("make", [rg.Tensor, Marked])
def test_a_tensor_comes_back_while_others_give_it_up(make):
    x = make([1.0, 2.0]).requires_grad_()
    x.note = ["kept"]
    identity, note, result = id(x), id(x.note), x * 3
    del x

    def get_and_give_up(_: int) -> None:
        for _ in range(10 * ROUNDS):
            x = operand(result)
            assert id(x) == identity and type(x) is make and id(x.note) == note
            assert x.tolist() == [1.0, 2.0]
            del x

    at_once(get_and_give_up)
    assert operand(result).note == ["kept"]


@pytest.mark.parametrize("make", [rg.Tensor, Marked])
def test_weak_references_and_graphs_give_one_object(make):
    for _ in range(ROUNDS // 3):
        x = make([1.0, 2.0]).requires_grad_()
        result, watch, identity = x * 3, weakref.ref(x), id(x)
        del x

        def get(number: int, watch=watch, result=result, identity=identity) -> None:
            for _ in range(10):
                x = watch() if number % 2 else operand(result)
                # Without the lock a weak reference finds nothing while another thread gives its last reference back to
                # the graph: the count is 0 for that moment.
                if x is not None or not (FREE and number % 2):
                    assert id(x) == identity and x.sum().item() == 3.0
                del x

        at_once(get)
        assert watch() is operand(result)
        del result, get
        gc.collect()
        assert watch() is None


def test_a_weak_reference_meets_a_tensor_that_dies():
    for _ in range(ROUNDS):
        x = leaf()
        graphs, watch = [x * 3], weakref.ref(x)
        del x

        def get(number: int, graphs=graphs, watch=watch) -> None:
            if number == 0:
                graphs.clear()
                return
            x = watch()
            if x is not None:
                assert x.tolist() == [1.0, 2.0]

        at_once(get)
        gc.collect()
        assert watch() is None


def test_attributes_set_and_read_at_once():
    for _ in range(ROUNDS):
        x = leaf()
        at_once(lambda number, x=x: setattr(x, f"note{number}", number))
        assert vars(x) == {f"note{number}": number for number in range(THREADS)}


def test_backward_in_parallel_adds_up_in_common_leaves():
    x = leaf(1.0, 2.0, 3.0)

    def train(_: int) -> None:
        for _ in range(ROUNDS):
            (x.sin() * x.detach().cos() + x.square()).sum().backward()

    at_once(train)
    one = rg.autograd.grad((x.sin() * x.detach().cos() + x.square()).sum(), x)[0]
    assert rg.allclose(x.grad, one * (THREADS * ROUNDS), rtol=1e-3)


def test_one_graph_is_run_by_all():
    x = leaf(1.0, 2.0, 3.0)
    loss = (x.exp() * x).sum()
    want = rg.autograd.grad(loss, x, retain_graph=True)[0]
    for _ in range(ROUNDS // 3):
        found = at_once(lambda _: rg.autograd.grad(loss, x, retain_graph=True)[0])
        assert all(rg.equal(g, want) for g in found)


def test_hooks_come_and_go_while_graphs_run():
    x = leaf(1.0, 2.0)
    calls = []
    done = threading.Event()

    def run(number: int) -> None:
        if number == 0:
            for _ in range(ROUNDS):
                (x * 2).sum().backward()
            done.set()
            return
        while not done.is_set():
            handles = [
                x.register_hook(lambda g: calls.append(g.sum().item())),
                x.register_post_accumulate_grad_hook(lambda leaf: calls.append(leaf is x)),
            ]
            for handle in handles:
                handle.remove()

    at_once(run)
    assert set(calls) <= {4.0, True}
    assert x.grad.tolist() == [2.0 * ROUNDS] * 2


def test_functions_and_saved_tensor_hooks_on_all_threads():
    class Twice(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.note = x
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert rg.equal(ctx.saved_tensors[0], ctx.note)
            return g * 2

    x = leaf()

    def run(number: int) -> list[float]:
        for _ in range(ROUNDS // 3):
            with rg.autograd.graph.saved_tensors_hooks(lambda t: (number, t), lambda packed: packed[1]):
                y = (Twice.apply(x).exp() * x).sum()
            found = rg.autograd.grad(y, x)[0].tolist()
        return found

    found = at_once(run)
    assert all(one == found[0] for one in found)


def test_graphs_die_on_other_threads_than_they_were_made():
    for _ in range(ROUNDS // 10):
        x = leaf()
        watches, chains = [], []
        for number in range(THREADS):
            y = x
            for step in range(30):
                y = y * 1.5
                y.note = (number, step)
                watches.append(weakref.ref(y))
            chains.append([y])
            del y
        at_once(lambda number, chains=chains: chains[number].clear())
        gc.collect()
        assert [watch for watch in watches if watch() is not None] == []


def test_the_collector_runs_while_graphs_are_made():
    done = threading.Event()

    def run(number: int) -> None:
        if number == 0:
            for _ in range(max(5, ROUNDS // 20)):
                gc.collect()
            done.set()
            return
        while not done.is_set():
            x = leaf()
            y = x * 2
            y.register_hook(lambda g, y=y: g)
            y.itself = y
            y.sum().backward()

    at_once(run)


def test_memory_with_indices_that_others_write():
    table, at = rg.randn(8, 4), rg.zeros(64, dtype=rg.int64)
    done = threading.Event()

    def run(number: int) -> None:
        if number == 0:
            for step in range(ROUNDS):
                at.fill_((1 << 40) if step % 2 else 3)
            at.fill_(3)
            done.set()
            return
        while not done.is_set():
            with contextlib.suppress(IndexError):
                table[at].sum()

    at_once(run)


def test_the_lock_of_a_free_threaded_python_stays_off():
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        code = "import sys, retrograd; print(sys._is_gil_enabled())"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        assert (run.stdout, run.stderr) == ("False\n", "")


def test_layouts_are_replaced_while_other_threads_use_them():
    p, sources = rg.ones(2), [rg.ones(2), rg.ones(20_000), rg.ones(5, 7).t()]
    sizes, stop = {2, 20_000, 35}, threading.Event()

    def replace() -> None:
        try:
            for i in range(10 * ROUNDS):
                p.data = sources[i % 3]
                if i % 5 == 0:
                    p.resize_(2)
        finally:
            stop.set()

    def use() -> None:
        while not stop.is_set():
            assert (p + 1).sum().item() in {2 * n for n in sizes}
            assert set((p + 0).flatten().tolist()) == {1.0}  # a vector flattened is itself, and may change
            assert p.numpy().size in sizes
            assert memoryview(p).nbytes in {4 * n for n in sizes}
            assert repr(p).startswith("tensor(")
            p.clone().mul_((p + 0).flatten()[0].item())

    at_once(lambda number: replace() if number == 0 else use(), threads=3)
