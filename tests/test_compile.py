"""`retrograd.compile`: what a replay does is what the function does."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd import nn

F = nn.functional


@pytest.fixture(autouse=True)
def _no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def replays(compiled: Any) -> int:
    return len(compiled._all())


def same(a: Any, b: Any) -> bool:
    if isinstance(a, rg.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and rg.equal(a, b)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return bool(a == b)


def check(function: Callable[..., Any], *calls: tuple[Any, ...], kinds: int = 1) -> Any:
    """Compare calls of a function with replays, which begin with the third."""
    compiled = rg.compile(function)
    for args in calls * (4 if len(calls) == 1 else 2):
        assert same(compiled(*args), function(*args))
    assert replays(compiled) == kinds
    return compiled


def leaf(*shape: int, seed: int = 0, dtype: rg.dtype = rg.float32) -> rg.Tensor:
    return rg.randn(*shape, generator=rg.Generator().manual_seed(seed), dtype=dtype).requires_grad_()


def noise(*shape: int, seed: int = 0) -> rg.Tensor:
    return leaf(*shape, seed=seed).detach()


# ---- results and gradients


@pytest.mark.parametrize("n", [1, 4, 7, 33, 1000])
def test_chains_of_pointwise_ops(n: int) -> None:
    def chain(x: rg.Tensor, y: rg.Tensor) -> Any:
        z = (x * y + 2.0).sin().exp() / (y * y + 1) - 0.5
        z = rg.where(z > 0, z, z * 0.1).tanh().clamp(-0.5, 0.5)
        return rg.autograd.grad((z * z).sum(), [x, y])

    check(chain, *[(leaf(n, seed=i), leaf(n, seed=i + 9)) for i in range(3)])


def test_results_are_trees() -> None:
    def tree(x: rg.Tensor, more: dict[str, Any], *, factor: float = 1.0) -> Any:
        return {"sum": x + more["y"], "rest": (x, [more["n"], None], "text", x.sum())}

    compiled = rg.compile(tree)
    x, y = noise(3), noise(3, seed=1)
    for _ in range(4):
        result = compiled(x, {"y": y, "n": 3}, factor=2.0)
        assert same(result, tree(x, {"y": y, "n": 3}))
        assert result["rest"][0] is x
    assert replays(compiled) == 1


def test_views_of_arguments_and_layouts() -> None:
    def parts(x: rg.Tensor) -> Any:
        a, b = x.t().split(2)
        return a @ b.t(), x[1:, ::2].contiguous(), x.view(-1)[3], x.reshape(2, 8).sum(0), x.expand(2, 4, 4).sum(0)

    check(parts, (noise(4, 4),), (noise(4, 4, seed=1),))
    # Another offset in its storage is the same layout.
    base = noise(64)
    compiled = rg.compile(parts)
    for i in range(6):
        x = base[i * 3 : i * 3 + 16].view(4, 4)
        assert same(compiled(x), parts(x))
    assert replays(compiled) == 1
    # Other strides are another kind of call, and another part is another function.
    rows = rg.compile(lambda x, i: (x[i].exp(), x.t() @ x))
    for x in (noise(4, 4), noise(4, 4).t()):
        for i in (0, 2):
            for _ in range(3):
                assert same(rows(x, i), (x[i].exp(), x.t() @ x))
    assert replays(rows) == 4


def test_results_are_other_tensors_at_each_call() -> None:
    compiled = rg.compile(lambda x: (x * 2, (x * 2).view(2, 2)))
    results = [compiled(rg.full((4,), float(i))) for i in range(6)]
    for i, (a, b) in enumerate(results):
        assert a.tolist() == [2.0 * i] * 4 and b.tolist() == [[2.0 * i] * 2] * 2


def step_of(make: Callable[[Any], Any], loss: Callable[[Any, Any], rg.Tensor]) -> Callable[..., Any]:
    """A model with an optimizer, and its training step."""

    def made() -> Any:
        rg.manual_seed(3)
        model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 3))
        optimizer = make(model.parameters())

        def step(x: rg.Tensor, y: rg.Tensor) -> rg.Tensor:
            optimizer.zero_grad()
            value = loss(model(x), y)
            value.backward()
            optimizer.step()
            return value

        return model, optimizer, step

    return made


@pytest.mark.parametrize(
    "make",
    [
        lambda p: rg.optim.SGD(p, lr=0.1),
        lambda p: rg.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
        lambda p: rg.optim.Adam(p, lr=0.01),
        lambda p: rg.optim.AdamW(p, lr=0.01, amsgrad=True),
    ],
)
def test_training_steps_leave_what_eager_ones_do(make: Any) -> None:
    made = step_of(make, lambda out, y: F.cross_entropy(out, y))
    (plain, plain_optimizer, step), (model, optimizer, other) = made(), made()
    compiled = rg.compile(other)
    for i in range(8):
        x, y = noise(5, 6, seed=i), rg.arange(5) % 3
        if i == 5:
            for group in (*plain_optimizer.param_groups, *optimizer.param_groups):
                group["lr"] = 0.03
        assert same(step(x, y), compiled(x, y))
        for a, b in zip(plain.parameters(), model.parameters(), strict=True):
            assert same(a, b) and same(a.grad, b.grad) and a._version == b._version
    assert replays(compiled) == 1
    assert same(plain_optimizer.state_dict(), optimizer.state_dict())


def test_gradients_add_up_where_they_were() -> None:
    w, v = leaf(3), leaf(3)

    def step(w: rg.Tensor, x: rg.Tensor) -> None:
        (w * x).sum().backward()

    compiled = rg.compile(lambda x: step(w, x))
    for i in range(6):
        compiled(noise(3, seed=i))
        step(v, noise(3, seed=i))
        assert same(w.grad, v.grad) and w.grad._version == v.grad._version
    # The first call found no gradient, so the next two are those that are alike.
    assert replays(compiled) == 1
    w.grad = v.grad = None
    kept = []
    for i in range(4):
        compiled(noise(3, seed=i))
        step(v, noise(3, seed=i))
        assert same(w.grad, v.grad)
        kept.append(w.grad)
    assert all(g is kept[0] for g in kept)


def test_gradients_of_arguments() -> None:
    def step(x: rg.Tensor) -> rg.Tensor:
        loss = (x * x).sum()
        loss.backward()
        return loss

    compiled = rg.compile(step)
    for i in range(4):
        x, y = leaf(3, seed=i), leaf(3, seed=i)
        assert same(compiled(x), step(y)) and same(x.grad, y.grad)
    assert replays(compiled) == 1


def test_a_used_graph_is_used_up() -> None:
    w = leaf(3)

    def step() -> rg.Tensor:
        loss = (w * w).sum()
        loss.backward()
        return loss

    compiled = rg.compile(step)
    for _ in range(5):
        w.grad = None
        loss = compiled()
        assert loss.requires_grad
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            loss.backward()


def test_forward_alone_is_differentiated_by_the_caller() -> None:
    rg.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 2))
    other = copy.deepcopy(model)
    compiled = rg.compile(model)
    for i in range(6):
        x, y = leaf(3, 4, seed=i), leaf(3, 4, seed=i)
        a, b = compiled(x), other(y)
        assert same(a, b) and a.requires_grad
        a.pow(2).sum().backward()
        b.pow(2).sum().backward()
        assert same(x.grad, y.grad)
        for p, q in zip(model.parameters(), other.parameters(), strict=True):
            assert same(p.grad, q.grad)
    assert replays(compiled._compiled) == 1
    out = compiled(noise(3, 4))
    out.sum().backward(retain_graph=True)
    out.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        out.sum().backward()
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        rg.autograd.grad(compiled(leaf(3, 4)).sum(), list(model.parameters()), create_graph=True)
    with rg.no_grad():
        for _ in range(3):
            assert same(compiled(noise(3, 4)), model(noise(3, 4)))
    assert replays(compiled._compiled) == 2


def test_what_a_backward_pass_needs_is_not_to_be_written() -> None:
    w = leaf(3)
    compiled = rg.compile(lambda x: (w * x).sum())
    for _ in range(3):
        loss = compiled(noise(3).requires_grad_())
    with rg.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_second_derivatives_inside() -> None:
    def penalty(x: rg.Tensor) -> Any:
        (g,) = rg.autograd.grad((x.sin() * x).sum(), x, create_graph=True)
        return rg.autograd.grad((g * g).sum(), x)

    check(penalty, (leaf(5),), (leaf(5, seed=1),))


def test_transforms_inside() -> None:
    def loss(w: rg.Tensor, x: rg.Tensor) -> rg.Tensor:
        return (w * x).tanh().sum()

    per_sample = rg.func.vmap(rg.func.grad(loss), in_dims=(None, 0))
    check(per_sample, (noise(3), noise(5, 3, seed=1)), (noise(3, seed=2), noise(5, 3, seed=3)))
    check(rg.func.hessian(lambda x: (x * x * x).sum()), (noise(3),), (noise(3, seed=1),))
    check(lambda x, t: rg.func.jvp(lambda x: x.sin() * x, (x,), (t,)), (noise(3), noise(3, seed=1)))
    check(rg.func.jacrev(lambda x: x.exp().cumsum(0)), (noise(4),), (noise(4, seed=5),))


def test_transforms_outside_see_the_function() -> None:
    compiled = rg.compile(lambda x: (x * x).sin().sum())
    for i in range(3):
        compiled(noise(3, seed=i))
    with pytest.warns(UserWarning, match="runs as it is"):
        g = rg.func.grad(compiled)(noise(3))
    assert same(g, 2 * noise(3) * (noise(3) * noise(3)).cos())


# ---- memory


def test_in_place_updates_of_captured_tensors() -> None:
    state, other = rg.zeros(3), rg.zeros(3)

    def step(state: rg.Tensor, x: rg.Tensor) -> rg.Tensor:
        state.mul_(0.5).add_(x)
        state[0] = 7.0
        return state.sum()

    compiled = rg.compile(lambda x: step(state, x))
    for i in range(6):
        assert same(compiled(noise(3, seed=i)), step(other, noise(3, seed=i)))
        assert same(state, other) and state._version == other._version


def test_in_place_updates_of_arguments_and_of_own_tensors() -> None:
    def step(x: rg.Tensor) -> rg.Tensor:
        x.add_(1)
        y = rg.zeros(3)
        y += x
        y.clamp_(max=2.0)
        z = rg.empty(3)
        z.copy_(y)
        return z * y

    compiled = rg.compile(step)
    for i in range(5):
        x, y = noise(3, seed=i), noise(3, seed=i)
        assert same(compiled(x), step(y)) and same(x, y) and x._version == y._version
    assert replays(compiled) == 1


def test_arguments_that_share_memory_are_another_kind() -> None:
    def step(x: rg.Tensor, y: rg.Tensor) -> rg.Tensor:
        x.add_(1)
        return x * y

    compiled = rg.compile(step)
    for i in range(3):
        assert same(compiled(noise(3, seed=i), noise(3, seed=9)), (noise(3, seed=i) + 1) * noise(3, seed=9))
    for i in range(4):
        x = noise(3, seed=i)
        assert same(compiled(x, x), (noise(3, seed=i) + 1) ** 2)


def test_read_only_memory_is_not_written() -> None:
    import numpy as np

    compiled = rg.compile(lambda x: x.add_(1))
    for i in range(3):
        compiled(noise(3, seed=i))
    frozen = np.zeros(3, dtype=np.float32)
    frozen.setflags(write=False)
    with pytest.warns(UserWarning, match="not writable"):
        x = rg.from_numpy(frozen)
    with pytest.raises(RuntimeError, match="read-only"):
        compiled(x)
    assert frozen.tolist() == [0.0] * 3


# ---- what the function reads


def test_numbers_that_differ_become_inputs() -> None:
    compiled = rg.compile(lambda x, c: x * c + 1)
    for i in range(6):
        assert same(compiled(noise(3), 0.5 * i), noise(3) * (0.5 * i) + 1)
    assert replays(compiled) == 1
    assert same(compiled(noise(3), 3), noise(3) * 3 + 1)


def test_numbers_that_are_no_operands_make_kinds_of_calls() -> None:
    compiled = rg.compile(lambda x, dim: x.sum(dim))
    for _ in range(3):
        for dim in range(2):
            assert same(compiled(noise(2, 3), dim), noise(2, 3).sum(dim))
    assert replays(compiled) == 2


scale = 2.0


def test_globals_cells_and_attributes() -> None:
    global scale

    class Holder:
        factor = 3.0

        def __init__(self) -> None:
            self.bias = 1.0
            self.options = {"power": 2}
            self.count = 0

    holder = Holder()
    shift = 0.0

    def function(x: rg.Tensor) -> rg.Tensor:
        holder.count += 1
        y = x * scale + shift
        y = y * holder.factor + holder.bias
        return y ** holder.options["power"] if holder.bias < 5 else y

    compiled = rg.compile(function)

    def agree() -> None:
        for i in range(3):
            assert same(compiled(noise(3, seed=i)), function(noise(3, seed=i)))

    agree()
    scale = 4.0
    agree()
    shift = 1.5
    agree()
    holder.bias = 7.0
    agree()
    holder.bias = 1.0
    holder.options["power"] = 3
    agree()
    Holder.factor = 0.5
    agree()
    scale = 2.0


def test_modules_in_training_and_out_of_it() -> None:
    rg.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    other = copy.deepcopy(model)
    compiled = rg.compile(model)
    for training in (True, False, True):
        model.train(training)
        other.train(training)
        for i in range(4):
            rg.manual_seed(i)
            a = compiled(noise(6, 4, seed=i))
            rg.manual_seed(i)
            b = other(noise(6, 4, seed=i))
            assert same(a, b)
            for x, y in zip(model.buffers(), other.buffers(), strict=True):
                assert same(x, y)
    assert replays(compiled._compiled) == 2


def test_another_parameter_in_its_place() -> None:
    model = nn.Linear(2, 2)
    compiled = rg.compile(model)
    for _ in range(3):
        compiled(noise(1, 2))
    model.weight = nn.Parameter(rg.zeros(2, 2))
    for _ in range(3):
        assert same(compiled(noise(1, 2)), model(noise(1, 2)))
    model.weight.data = rg.ones(2, 2)
    for _ in range(3):
        assert same(compiled(noise(1, 2)), model(noise(1, 2)))
    model.weight.requires_grad_(False)
    model.bias.requires_grad_(False)
    assert not compiled(noise(1, 2)).requires_grad


def test_random_draws_go_on() -> None:
    def draw(x: rg.Tensor) -> rg.Tensor:
        return F.dropout(x, 0.5) + rg.rand(8) + rg.randn(8) + x.clone().uniform_()

    compiled = rg.compile(draw)
    rg.manual_seed(5)
    a = [compiled(noise(8)) for _ in range(5)]
    rg.manual_seed(5)
    assert same(a, [draw(noise(8)) for _ in range(5)])
    assert replays(compiled) == 1


def test_python_does_not_run_at_a_replay() -> None:
    seen = []

    def function(x: rg.Tensor) -> rg.Tensor:
        seen.append(1)
        return x * 2

    compiled = rg.compile(function)
    for _ in range(5):
        compiled(noise(3))
    assert len(seen) == 2


def test_hooks_are_part_of_what_is_recorded() -> None:
    w, v = leaf(3), leaf(3)
    w.register_hook(lambda g: g * 2)
    v.register_hook(lambda g: g * 2)

    def step(w: rg.Tensor, x: rg.Tensor) -> None:
        w.grad = None
        y = w * x
        y.register_hook(lambda g: g + 1)
        y.sum().backward()

    compiled = rg.compile(lambda x: step(w, x))
    for i in range(5):
        compiled(noise(3, seed=i))
        step(v, noise(3, seed=i))
        assert same(w.grad, v.grad)


def test_functions_of_classes_and_decorators() -> None:
    class Model:
        def __init__(self, w: float) -> None:
            self.w = rg.tensor([w])

        @rg.compile
        def forward(self, x: rg.Tensor) -> rg.Tensor:
            """Scales."""
            return self.w * x

    a, b = Model(2.0), Model(3.0)
    for _ in range(4):
        assert a.forward(rg.ones(2)).tolist() == [2.0, 2.0]
        assert b.forward(rg.ones(2)).tolist() == [3.0, 3.0]
    assert Model.forward.__doc__ == "Scales."

    @rg.compile(dynamic=False, backend="inductor", mode="max-autotune")
    def function(x: rg.Tensor) -> rg.Tensor:
        return x + 1

    assert [function(rg.ones(1)).item() for _ in range(4)] == [2.0] * 4
    assert repr(function).startswith("<compiled ")


def test_compiled_modules_are_modules() -> None:
    model = nn.Linear(2, 3)
    compiled = rg.compile(model)
    assert isinstance(compiled, nn.Module) and compiled.weight is model.weight
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert compiled.in_features == 2
    compiled.eval()
    assert not model.training


# ---- what is not replayed


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x * x.sum().item(), r"item\(\) reads elements"),
        (lambda x: x if x.sum() > 100 else -x, "reads elements"),
        (lambda x: rg.tensor(x.tolist()), r"tolist\(\) reads elements"),
        (lambda x: x if rg.equal(x, x.abs()) else -x, "reads elements"),
        (lambda x: x if rg.allclose(x, x.abs()) else -x, "reads elements"),
        (lambda x: rg.from_numpy(x.numpy() + 1), r"numpy\(\)"),
        (lambda x: x[x > 0], "what index makes|what nonzero makes|depends on values"),
        (lambda x: x.nonzero(), "what nonzero makes"),
        (lambda x: x.masked_select(x > 0), "depends on values"),
        (lambda x: x.unique(), "depends on values"),
        (lambda x: [repr(x), x][1], "reads elements"),
        (lambda x: x.data_ptr() and x + 1, r"data_ptr\(\)"),
    ],
)
def test_what_depends_on_elements_runs_as_it_is(function: Any, why: str) -> None:
    compiled = rg.compile(function)
    with pytest.warns(UserWarning, match=f"runs as it is, and is not replayed: .*{why}.*test_compile.py"):
        compiled(noise(4))
    for i in range(3):
        assert same(compiled(noise(4, seed=i)), function(noise(4, seed=i)))
    with pytest.raises(RuntimeError, match=why):
        rg.compile(function, fullgraph=True)(noise(4))


def test_no_two_calls_alike() -> None:
    count = [0]

    def function(x: rg.Tensor) -> rg.Tensor:
        count[0] += 1
        for _ in range(count[0]):
            x = x + 1
        return x

    compiled = rg.compile(function)
    with pytest.warns(UserWarning, match="no two calls did the same: it took 2 steps, and then 3"):
        results = [compiled(rg.zeros(1)).item() for _ in range(5)]
    assert results == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_at_most_eight_kinds() -> None:
    compiled = rg.compile(lambda x: x + 1)
    with pytest.warns(UserWarning, match="8 kinds"):
        for n in range(1, 11):
            for _ in range(3):
                assert same(compiled(rg.zeros(n)), rg.ones(n))


def test_modes_that_see_everything() -> None:
    compiled = rg.compile(lambda x: (x * 2).sum())
    for _ in range(3):
        compiled(noise(3))
    with pytest.warns(UserWarning, match="profiler session"), rg.profiler.profile() as prof:
        compiled(noise(3))
    assert any("mul" in e.key for e in prof.key_averages())


def test_errors_leave_no_recording() -> None:
    def function(x: rg.Tensor, fails: bool) -> rg.Tensor:
        y = x * 2
        if fails:
            raise ValueError("as asked")
        return y

    compiled = rg.compile(function)
    for _ in range(3):
        with pytest.raises(ValueError, match="as asked"):
            compiled(noise(2), True)
        assert not rg.compiler.is_compiling()
    for _ in range(3):
        assert same(compiled(noise(2), False), noise(2) * 2)
    # An error of an op at a replay.
    weight = noise(4, 2)
    look_up = rg.compile(lambda i: F.embedding(i, weight))
    for _ in range(3):
        look_up(rg.tensor([0, 3]))
    with pytest.raises(IndexError):
        look_up(rg.tensor([0, 4]))
    assert same(look_up(rg.tensor([1, 2])), weight[1:3])


def test_recursion_and_nesting() -> None:
    inner = rg.compile(lambda x: x * 2)
    outer = rg.compile(lambda x: inner(x) + 1)
    for _ in range(4):
        assert outer(rg.ones(1)).item() == 3.0
    assert replays(outer) == 1 and replays(inner) == 0


def test_threads_call_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    compiled = rg.compile(lambda x: ((x * 2).sin() @ x).cos())
    for _ in range(3):
        compiled(noise(60, 60))
    with ThreadPoolExecutor(4) as pool:
        xs = [noise(60, 60, seed=i) for i in range(40)]
        for x, y in zip(xs, pool.map(compiled, xs), strict=True):
            assert same(y, ((x * 2).sin() @ x).cos())


def test_explanations() -> None:
    compiled = rg.compile(lambda x: (x * 2).sin().sum())
    assert "nothing is recorded yet" in compiled.explain()
    for _ in range(3):
        compiled(noise(3))
    text = compiled.explain()
    assert "mul" in text and "sin" in text and "argument 0 float32[3]" in text and " us" not in text
    # 12 bytes are read, and as many written.
    assert [line.split()[1:3] for line in text.splitlines()[2:4]] == [["24", "mul"], ["24", "sin"]]
    rg.compiler.reset()
    assert "nothing is recorded yet" in compiled.explain()


def test_explanations_with_times() -> None:
    total = rg.zeros(1 << 14)

    def step(x: rg.Tensor, y: rg.Tensor) -> rg.Tensor:
        total.add_(x)
        return (x.sin() * x + y).cos().sum()

    compiled = rg.compile(step)
    x, y = rg.ones(1 << 14), rg.ones(1)
    # Calls that are recorded have no steps yet; each counts as a call.
    assert "nothing is recorded yet" in compiled.explain((x,), {"y": y})
    assert " us" not in compiled.explain((x,), {"y": y})
    text = compiled.explain((x,), {"y": y})
    assert total[0] == 3 and replays(compiled) == 1
    head, columns, *steps = text.splitlines()
    assert "1 runs" in head and head.endswith(" us") and columns.split() == ["step", "run", "bytes", "us", "op"]
    assert float(head.split()[-2]) > 0
    run = [line.split() for line in steps if " 0 " in line[5:11]]
    # The first step of a run has the time of all.
    assert len(run) >= 3 and float(run[0][3]) > 0 and all(not words[3][0].isdigit() for words in run[1:])
    # What is there block by block is not counted.
    assert [words[2] for words in run][1:] == ["65536", "4", "65536"], run
    # Of another kind: nothing is timed.
    assert " us" not in compiled.explain((x, x)) and total[0] == 4


def test_results_are_compared_with_those_of_the_function() -> None:
    factor = {"x": rg.ones(1)}

    def function(x: rg.Tensor) -> rg.Tensor:
        return x * factor["x"] if len(hidden) == 0 else x

    hidden: list[int] = []
    compiled = rg.compile(function, check=2)
    for _ in range(6):
        compiled(rg.full((2,), 3.0))
    factor["x"].fill_(2.0)
    for _ in range(2):
        assert compiled(rg.full((2,), 3.0)).tolist() == [6.0, 6.0]
    with pytest.raises(ValueError, match="at least 1"):
        rg.compile(function, check=0)


# ---- what once was replayed though it had changed


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (lambda y: F.one_hot(y, 4), [rg.tensor([0, 1, 2]), rg.tensor([3, 3, 1])]),
        (
            lambda q: rg.autograd.grad((F.scaled_dot_product_attention(q, q, q) ** 2).sum(), q),
            [leaf(1, 3, 4), leaf(1, 3, 4, seed=1)],
        ),
        (
            lambda o: F.embedding_bag(rg.tensor([0, 1, 2]), noise(4, 2), o, mode="sum"),
            [rg.tensor([0, 2]), rg.tensor([0, 1])],
        ),
    ],
)
def test_memory_that_begins_as_zeros_is_no_constant(function: Any, calls: list[rg.Tensor]) -> None:
    compiled = rg.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (calls[0], calls[0], calls[1]):
            assert same(compiled(x), function(x))


def test_a_detached_argument_is_another_tensor() -> None:
    compiled = rg.compile(lambda x: (x.detach(), x))
    for i in range(4):
        x = leaf(3, seed=i)
        a, b = compiled(x)
        assert not a.requires_grad and a.data_ptr() == x.data_ptr() and b is x


def test_hooks_layers_and_states_that_came_later() -> None:
    layer = nn.Linear(2, 1)

    def step(x: rg.Tensor) -> None:
        layer.zero_grad()
        layer(x).sum().backward()

    compiled = rg.compile(step)
    for _ in range(4):
        compiled(rg.ones(1, 2))
    layer.weight.register_hook(lambda g: g * 2)
    for _ in range(4):
        compiled(rg.ones(1, 2))
        assert layer.weight.grad.tolist() == [[2.0, 2.0]]
    model = nn.Sequential(nn.ReLU())
    run = rg.compile(model)
    for _ in range(3):
        run(noise(3))
    model[0] = nn.Tanh()
    for _ in range(3):
        assert same(run(noise(3)), noise(3).tanh())


def test_the_state_of_an_optimizer_and_its_scheduler() -> None:
    made = step_of(lambda p: rg.optim.Adam(p, lr=0.01), lambda out, y: F.cross_entropy(out, y))
    (plain, plain_optimizer, step), (model, optimizer, other) = made(), made()
    compiled = rg.compile(other)
    schedules = [rg.optim.lr_scheduler.StepLR(o, 2, gamma=0.5) for o in (plain_optimizer, optimizer)]
    x, y = noise(5, 6), rg.arange(5) % 3
    for i in range(12):
        if i == 7:
            plain_optimizer.state.clear()
            optimizer.state.clear()
        assert same(step(x, y), compiled(x, y))
        for schedule in schedules:
            schedule.step()
        assert same(plain_optimizer.state_dict(), optimizer.state_dict())
    assert all(same(a, b) for a, b in zip(plain.parameters(), model.parameters(), strict=True))
    assert replays(compiled) >= 1


def test_a_scheduler_inside_is_refused() -> None:
    w = leaf(2)
    optimizer = rg.optim.SGD([w], lr=0.1)
    schedule = rg.optim.lr_scheduler.StepLR(optimizer, 1)

    def step() -> None:
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step()
        schedule.step()

    with pytest.warns(UserWarning, match="a scheduler steps inside of it"):
        rg.compile(step)()


def test_a_switch_that_is_thrown_at_every_call() -> None:
    model = nn.Dropout(0.0)
    compiled = rg.compile(lambda x: model(x) * (2.0 if model.training else 3.0))
    for i in range(8):
        model.train(i % 2 == 0)
        assert compiled(rg.ones(1)).item() == (2.0 if i % 2 == 0 else 3.0)
    assert replays(compiled) == 2
