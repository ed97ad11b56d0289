"""Chains of pointwise nodes run block by block: what users can tell is what it is node by node."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as rg
from retrograd import _core

F = rg.nn.functional
LEAST, BLOCK, N = 64, 16, 75
NEVER = 1 << 40


@pytest.fixture(autouse=True, scope="module")
def no_batches() -> None:
    """Tensors of a batch that other tests left in cycles let every op look for batches: no nodes run in chains."""
    gc.collect()


@pytest.fixture(autouse=True)
def small_chains() -> Iterator[None]:
    usual, threads = _core._set_chain_sizes(LEAST, BLOCK), rg.get_num_threads()
    yield
    _core._set_chain_sizes(*usual)
    rg.set_num_threads(threads)


def noise(seed: int, *sizes: int, **kwargs: Any) -> rg.Tensor:
    return rg.randn(*(sizes or (N,)), generator=rg.Generator().manual_seed(seed), **kwargs)


def leaf(seed: int, *sizes: int, **kwargs: Any) -> rg.Tensor:
    return noise(seed, *sizes, **kwargs).requires_grad_()


def chain(x: rg.Tensor) -> rg.Tensor:
    """Six nodes."""
    return ((x * 2.0 + 1.0).tanh() * x - 0.5).exp()


def seen(value: Any) -> Any:
    """A value as what can be compared: every bit of a tensor, and how it lies in memory."""
    if isinstance(value, rg.Tensor):
        x = value.detach()
        return str(x.dtype), tuple(x.shape), x.stride(), x.contiguous().numpy().tobytes()
    if isinstance(value, list | tuple):
        return [seen(v) for v in value]
    return repr(value)


def nodes_run(call: Callable[[], Any]) -> tuple[Any, int]:
    """What the call returns, and how many nodes it ran in chains."""
    before = _core._nodes_in_chains()
    result = call()
    return result, _core._nodes_in_chains() - before


def both_ways(call: Callable[[], Any]) -> tuple[Any, int]:
    """As `nodes_run`, of a call that shows the same if all nodes run alone."""
    _core._set_chain_sizes(NEVER, BLOCK)
    alone, none = nodes_run(lambda: seen(call()))
    assert none == 0
    _core._set_chain_sizes(LEAST, BLOCK)
    together, count = nodes_run(lambda: seen(call()))
    assert together == alone
    return together, count


def error_of(call: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("n", [1, LEAST - 1, LEAST, LEAST + 1, 5 * BLOCK - 1, 5 * BLOCK, 5 * BLOCK + 1, 1000])
@pytest.mark.parametrize("block", [1, BLOCK, 1 << 14])
def test_a_chain_has_the_same_bits_at_every_size(n: int, block: int) -> None:
    def call() -> Any:
        _core._set_chain_sizes(_core._set_chain_sizes(0, 1)[0], block)
        x = leaf(1, n)
        return rg.autograd.grad(chain(x), x, noise(2, n))

    assert both_ways(call)[1] == (6 if n >= LEAST else 0)


def test_gradients_that_leave_the_chain_are_those_of_the_ops() -> None:
    def call() -> Any:
        x, y, w = leaf(1), leaf(2), leaf(3)
        z = ((x * y).sin() * w).exp()
        z.backward(noise(4))
        return x.grad, y.grad, w.grad

    assert both_ways(call)[1] == 4


def test_all_that_reaches_a_leaf_is_added_up_in_order() -> None:
    def call() -> Any:
        x = leaf(1)
        y = x.sin()
        # The leaf receives a gradient from elsewhere before, between and after those of the chain.
        z = (chain(x) * x).sigmoid() * x + y * 3.0
        (z.sum() + (x * noise(2)).sum()).backward()
        return x.grad

    assert both_ways(call)[1] > 6

    def by_hand() -> Any:
        x = leaf(1) * 1.0
        x.retain_grad()
        y = 0.5 * x * (1 + (0.79788456 * (x + 0.044715 * x**3)).tanh())
        y.backward(noise(2))
        return x.grad

    assert both_ways(by_hand)[1] >= 5


def test_a_gradient_that_ops_hand_on_is_not_copied() -> None:
    def call() -> Any:
        x, g = leaf(1), noise(2)
        (got,) = rg.autograd.grad(x + 1.0 - 2.0 + 3.0, x, g)
        (of_sum,) = rg.autograd.grad((x + 1.0 - 2.0).sum(), x)
        return got.data_ptr() == g.data_ptr(), of_sum

    assert both_ways(call)[1] == 5


def test_the_gradient_of_a_sum_is_one_number() -> None:
    assert both_ways(lambda: rg.autograd.grad(chain(x := leaf(1)).sum(), x))[1] == 6
    assert both_ways(lambda: rg.autograd.grad((chain(x := leaf(1, 5, 15)).neg()).sum(), x))[1] == 7
    # And that of a row for each of many is not.
    assert both_ways(lambda: rg.autograd.grad(chain(x := leaf(1, 5, 15)).sum(0), x, noise(2, 15)))[1] == 5


def test_an_operand_that_was_broadcast_gets_its_sum() -> None:
    def call() -> Any:
        x, b, number = leaf(1, 5, 20), leaf(2, 20), leaf(3, 1)[0]
        y = (((x + b).tanh() + number).exp() * number).sin()
        return rg.autograd.grad(y, (x, b, number), noise(4, 5, 20))

    assert both_ways(call)[1] == 5
    # But a rule that multiplies by one runs alone.
    w = leaf(5, 20)
    assert both_ways(lambda: rg.autograd.grad(((x := leaf(1, 5, 20)).exp() * w).sin(), (x, w), noise(4, 5, 20)))[1] == 0


@pytest.mark.parametrize("kind", ["float64", "float16", "bfloat16"])
def test_other_floats(kind: str) -> None:
    def call() -> Any:
        dtype = getattr(rg, kind)
        x, w = noise(1).to(dtype).requires_grad_(), noise(2).to(dtype).requires_grad_()
        y = F.softplus(F.elu(chain(x)) * w)
        return [g.double() for g in rg.autograd.grad(y, (x, w), noise(3).to(dtype))]

    assert both_ways(call)[1] == 9


def test_a_cast_ends_a_chain_and_complex_numbers_have_none() -> None:
    assert both_ways(lambda: rg.autograd.grad(chain(chain(x := leaf(1)).double()), x, noise(2).double()))[1] == 13
    assert both_ways(lambda: rg.autograd.grad(chain(x := leaf(1, dtype=rg.complex64)), x, noise(2) + 0j))[1] == 0


def test_layouts_that_are_not_those_of_rows_run_alone() -> None:
    def turned(seed: int) -> rg.Tensor:
        return noise(seed, 15, 5).t()

    def saved_by_each(x: rg.Tensor, g: rg.Tensor) -> Any:
        return rg.autograd.grad(x.sin().exp().tanh(), x, g)

    assert both_ways(lambda: saved_by_each(turned(1).requires_grad_(), noise(2, 5, 15)))[1] == 0
    assert both_ways(lambda: saved_by_each(turned(1).requires_grad_(), turned(2)))[1] == 0
    assert both_ways(lambda: saved_by_each(leaf(1, 5, 15), noise(2, 5, 15)))[1] == 3

    def half_of_it() -> Any:
        x, w = leaf(1, 5, 15), turned(3)
        return rg.autograd.grad(((x.sin().exp() * w).cos().exp()), x, noise(2, 5, 15))

    assert both_ways(half_of_it)[1] == 4


def test_hooks_are_called_once_with_all_of_the_gradient() -> None:
    def call(where: str) -> Any:
        events: list[Any] = []

        def note(name: str) -> Callable[..., None]:
            return lambda *args: events.append((name, seen([a for a in args if a is not None])))

        x, w = leaf(1), leaf(2)
        y = x.sin()
        z = y * w
        u = z.exp()
        v = u.tanh() * 2.0
        if where == "tensor":
            z.register_hook(note("z"))
        elif where == "retain":
            z.retain_grad()
        elif where == "before":
            z.grad_fn.register_prehook(note("before z"))
        elif where == "after":
            z.grad_fn.register_hook(note("after z"))
        elif where == "replaced":
            z.register_hook(lambda g: g * 3.0)
        elif where == "leaf":
            w.register_hook(note("w"))
        elif where == "accumulated":
            w.register_post_accumulate_grad_hook(lambda w: events.append(("accumulated", seen(w.grad))))
        elif where == "leaf's node":
            node = z.grad_fn.next_functions[1][0]
            node.register_hook(note("node of w"))
        v.backward(noise(3))
        return events, x.grad, w.grad, z.grad if where == "retain" else None

    counts = {
        where: both_ways(lambda where=where: call(where))[1]
        for where in ("none", "tensor", "retain", "before", "after", "replaced", "leaf", "accumulated", "leaf's node")
    }
    # The node with hooks runs alone, and ends what is before it; a leaf's hooks run before the node behind it.
    assert counts.pop("none") == 5
    assert [counts.pop(where) for where in ("leaf", "accumulated", "leaf's node")] == [4, 4, 4]
    assert set(counts.values()) == {3}


def test_hooks_of_a_leaf_that_is_done_before_others_run_before_them() -> None:
    def call() -> Any:
        order: list[str] = []
        x, w = leaf(1), leaf(2)
        y = x.sin()
        y.register_hook(lambda g: order.append("y"))
        w.register_hook(lambda g: order.append("w"))
        (y * w).exp().tanh().backward(noise(3))
        return order

    assert both_ways(call)[0] == ["'w'", "'y'"]


def test_captured_gradients_inside_of_a_chain() -> None:
    def call() -> Any:
        x = leaf(1)
        y = x.sin()
        z = y.exp()
        first = rg.autograd.grad(z.tanh() * 2.0, (z, x), noise(2), retain_graph=True)
        return first, rg.autograd.grad(chain(z), y, noise(2))

    assert both_ways(call)[1] == 2 + 2 + 7


def test_operands_that_nobody_asks_for() -> None:
    def call() -> Any:
        x, w = leaf(1), leaf(2)
        y = ((x * w).exp() * w).tanh()
        y.backward(noise(3), inputs=[x])
        return x.grad, w.grad

    together, count = both_ways(call)
    assert together[1] == "None" and count == 4


def test_a_saved_tensor_that_was_written_to_is_the_error_that_it_is() -> None:
    def call() -> Any:
        x, w = leaf(1), leaf(2)
        y = x.exp()
        z = (y * w).sin().tanh()
        y.mul_(2.0)
        message = error_of(lambda: z.backward(noise(3)))
        return message, x.grad, w.grad, error_of(lambda: z.backward(noise(3)))

    shown, count = both_ways(call)
    assert "modified by an inplace operation" in shown[0] and count == 2


def test_a_gradient_that_is_written_to_before_an_op_that_used_it_has_its_turn() -> None:
    def call() -> Any:
        x, w = leaf(1), leaf(2)
        w.grad = noise(4)
        z = ((x * w.grad).sin() * w).exp()
        message = error_of(lambda: z.backward(noise(3)))
        return message, x.grad, w.grad

    shown, count = both_ways(call)
    assert "modified by an inplace operation" in shown[0] and count == 4
    # The op that failed has what it saved.
    x, w = leaf(1), leaf(2)
    w.grad = noise(4)
    y = x * w.grad
    with pytest.raises(RuntimeError):
        (y.sin() * w).exp().backward(noise(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(noise(3))


def test_a_graph_is_freed_or_retained_as_asked_for() -> None:
    def call() -> Any:
        x = leaf(1)
        y = chain(x)
        for _ in range(2):
            y.backward(noise(2), retain_graph=True)
        y.backward(noise(2))
        return x.grad, error_of(lambda: y.backward(noise(2))), error_of(lambda: y.grad_fn._saved_result)

    shown, count = both_ways(call)
    assert "second time" in shown[1] and count == 18


def test_a_rule_that_fails_leaves_the_graph_as_it_always_does() -> None:
    def call() -> Any:
        x, w = leaf(1), leaf(2)
        y = (rg.remainder(5.0, x.exp() + 1.0) * w).sin()
        first = error_of(lambda: y.backward(noise(3)))
        return first, w.grad, x.grad, error_of(lambda: y.backward(noise(3)))

    assert both_ways(call)[1] == 0


def test_a_rule_that_listens_for_interrupts_runs_alone() -> None:
    def call() -> Any:
        x = leaf(1).abs() + 3.0
        return rg.autograd.grad(x.mvlgamma(4).sin().exp(), x, noise(2))

    assert both_ways(call)[1] == 0


def test_modes_in_which_nodes_run_alone() -> None:
    def twice() -> Any:
        x = leaf(1)
        (g,) = rg.autograd.grad(chain(x), x, noise(2), create_graph=True)
        _core._set_chain_sizes(NEVER, BLOCK)
        return g, rg.autograd.grad(g, x, noise(3))

    def anomaly() -> Any:
        with rg.autograd.detect_anomaly():
            x = leaf(1)
            chain(x).backward(noise(2))
        return x.grad

    def nan() -> Any:
        with rg.autograd.detect_nan():
            x = leaf(1)
            chain(x).backward(noise(2))
        return x.grad

    def profiled() -> Any:
        x = leaf(1)
        y = chain(x)
        with rg.autograd.profiler.profile() as p:
            y.backward(noise(2))
        return x.grad, sorted(e.name for e in p.function_events)

    def autocast() -> Any:
        x = leaf(1)
        y = chain(x)
        with rg.autocast("cpu", dtype=rg.bfloat16):
            y.backward(noise(2))
        return x.grad

    def batched() -> Any:
        return rg.vmap(rg.func.grad(lambda x: chain(x).sum()))(noise(1, 3, N))

    def transformed() -> Any:
        return rg.func.grad(lambda x: chain(x).sum())(noise(1))

    def forward_over_reverse() -> Any:
        return rg.func.jvp(rg.func.grad(lambda x: chain(x).sum()), (noise(1),), (noise(2),))

    def dual() -> Any:
        x = leaf(1)
        y = chain(x)
        with rg.autograd.forward_ad.dual_level():
            return rg.autograd.grad(y, x, noise(2))

    def batch_of_gradients() -> Any:
        x = leaf(1)
        return rg.autograd.grad(chain(x), x, noise(2, 3, N), is_grads_batched=True)

    def recorded() -> Any:
        def step(x: rg.Tensor) -> rg.Tensor:
            return rg.autograd.grad(chain(x), x, rg.ones_like(x))[0]

        compiled = rg.compile(step)
        return [compiled(leaf(k)) for k in range(3)]

    calls = (twice, anomaly, nan, profiled, autocast, batched, forward_over_reverse, dual, batch_of_gradients, recorded)
    with pytest.warns(UserWarning, match="Anomaly"):
        assert {call.__name__: both_ways(call)[1] for call in calls} == {call.__name__: 0 for call in calls}
    assert both_ways(transformed)[1] == 0


def test_saved_tensors_that_a_hook_has_run_alone() -> None:
    def call() -> Any:
        x = leaf(1)
        y = x.sin().exp()
        with rg.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), rg.from_numpy):
            z = y.tanh()
        return rg.autograd.grad(z.sigmoid().exp(), x, noise(2))

    assert both_ways(call)[1] == 4


def test_custom_functions_and_ops_of_other_kinds_end_a_chain() -> None:
    class Double(rg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: rg.Tensor) -> rg.Tensor:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: rg.Tensor) -> rg.Tensor:
            return g * 2.0

    def call() -> Any:
        x = leaf(1)
        y = Double.apply(x.sin().exp()).tanh().exp().cumsum(0)
        return rg.autograd.grad(y.sin().cos(), x, noise(2))

    assert both_ways(call)[1] == 6


def test_a_node_that_several_lead_to_is_in_the_chain_that_all_of_them_are_in() -> None:
    def inside() -> Any:
        x = leaf(1)
        y = x.sin().exp()
        return rg.autograd.grad(y.tanh() + y.sigmoid(), x, noise(2))

    assert both_ways(inside)[1] == 5

    def outside() -> Any:
        x = leaf(1)
        y = x.sin().exp()
        return rg.autograd.grad(y.tanh() + y.cumsum(0) + y.sigmoid(), x, noise(2))

    # The sum in the middle sends a gradient too: what it reaches begins a chain.
    assert both_ways(outside)[1] == 3 + 2


def test_few_gradients_of_full_size_leave_a_chain() -> None:
    def call() -> Any:
        x, ws = leaf(1), [leaf(k) for k in range(2, 9)]
        y = x
        for w in ws:
            y = y * w
        return rg.autograd.grad(y, (x, *ws), noise(2))

    assert both_ways(call)[1] == 6  # two operands each, and what goes on: three pairs, and one alone


def test_numbers_of_threads_and_the_usual_sizes() -> None:
    n = (1 << 18) + 4999

    def call(threads: int, least: int) -> Any:
        rg.set_num_threads(threads)
        _core._set_chain_sizes(least, 1 << 14)
        x, w = leaf(1, n), leaf(2, n)
        chain(x * w).sigmoid().backward(noise(3, n))
        return seen((x.grad, w.grad))

    alone = call(1, NEVER)
    for threads in (1, 2, 3):
        assert nodes_run(lambda threads=threads: call(threads, 1 << 18)) == (alone, 8)


def test_the_backward_pass_of_a_chain_takes_less_memory() -> None:
    program = """
import sys, retrograd as rg
from retrograd import _core
if sys.argv[1] == "alone":
    _core._set_chain_sizes(1 << 40, 1)
x = rg.randn(1 << 20).requires_grad_()
for _ in range(2):
    x.grad = None
    y = x
    for _ in range(8):
        y = y.sin()
    g = rg.ones(1 << 20)
    rg.cpu.reset_peak_memory_stats()
    before = rg.cpu.memory_allocated()
    y.backward(g, retain_graph=sys.argv[2] == "retained")
    peak = rg.cpu.max_memory_allocated() - before
print(peak / (4 << 20))
"""

    def run(*how: str) -> float:
        call = [sys.executable, "-c", program, *how]
        return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)

    # Node by node there are a gradient and the one that it is made of; a chain has the last one alone, and blocks.
    assert run("alone", "retained") > 1.9
    assert run("together", "retained") < 1.1
    # Where saved tensors are freed on the way, they make room for the second one.
    assert run("together", "freed") < 1.1
