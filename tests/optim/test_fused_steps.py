"""Steps that the engine takes in one pass have the bits of steps made of ops; what it does not take is left to ops."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

Taken = list[bool]
SIZES = [0, 1, 7, 15, 33, 1000, 100003]


@pytest.fixture
def taken(rg: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Taken:
    """Whether each of the steps so far was taken by the engine."""
    answers: Taken = []

    def spied(step: Callable[..., bool]) -> Callable[..., bool]:
        def spy(*args: Any, **options: Any) -> bool:
            answers.append(step(*args, **options))
            return answers[-1]

        return spy

    for name in ("_sgd_step", "_adam_step"):
        monkeypatch.setattr(rg._core, name, spied(getattr(rg._core, name)))
    return answers


def states(optimizer: Any) -> list[Any]:
    found = []
    for group in optimizer.param_groups:
        for p in group["params"]:
            found += [p.detach(), *(v for v in optimizer.state[p].values() if v is not None)]
    return found


def same(rg: ModuleType, make: Callable[[], Any], steps: int = 4, grads: Any = None) -> None:
    """Train twice from the same start, once by ops alone."""
    results = []
    for engine in (True, False):
        rg.manual_seed(3)
        with pytest.MonkeyPatch.context() as patch:
            if not engine:
                for name in ("_sgd_step", "_adam_step"):
                    patch.setattr(rg._core, name, lambda *args, **options: False)
            optimizer = make()
            for _ in range(steps):
                for group in optimizer.param_groups:
                    for p in group["params"]:
                        p.grad = rg.randn_like(p) if grads is None else grads(p)
                optimizer.step()
        results.append(states(optimizer))
    for ours, theirs in zip(*results, strict=True):
        assert ours.dtype is theirs.dtype and ours.stride() == theirs.stride()
        # A root of the engine may differ from Python's power in the last place.
        tolerance = 2e-16 if ours.dtype is rg.float64 else 0.0
        assert rg.allclose(ours, theirs, rtol=4 * tolerance, atol=tolerance, equal_nan=True)


def configurations(kind: str) -> list[dict[str, Any]]:
    if kind == "SGD":
        free = {"momentum": [0.0, 0.9, 1], "weight_decay": [0, 0.1], "maximize": [False, True], "lr": [0.1, 1]}
        rows = [dict(zip(free, values, strict=True)) for values in itertools.product(*free.values())]
        rows += [{**row, "nesterov": True} for row in rows if row["momentum"]]
        return rows + [{**row, "dampening": 0.3} for row in rows if row["momentum"] and not row.get("nesterov")]
    free = {
        "betas": [(0.9, 0.999), (0.0, 0.5), (0.3, 0.9)],
        "weight_decay": [0, 0.1],
        "amsgrad": [False, True],
        "maximize": [False, True],
        "lr": [0.1, 1],
    }
    return [dict(zip(free, values, strict=True)) for values in itertools.product(*free.values())]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_steps_have_the_bits_of_ops(rg, taken, kind, dtype):
    chosen = random.Random(7)
    for options in configurations(kind):
        sizes = chosen.sample(SIZES[:-1], 3)

        def make(options=options, sizes=sizes):
            return getattr(rg.optim, kind)(
                [rg.nn.Parameter(rg.randn(n, dtype=getattr(rg, dtype))) for n in sizes], **options
            )

        taken.clear()
        same(rg, make)
        # The first step of a momentum makes its buffer.
        assert taken == [not options.get("momentum"), True, True, True]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("threads", [1, 3])
def test_large_parameters_are_divided_among_threads(rg, taken, kind, threads):
    before = rg.get_num_threads()
    rg.set_num_threads(threads)
    try:
        same(rg, lambda: getattr(rg.optim, kind)([rg.nn.Parameter(rg.randn(SIZES[-1]))]), steps=2)
    finally:
        rg.set_num_threads(before)
    assert taken == [True, True]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_layouts(rg, taken, kind):
    transposed = rg.randn(5, 7).T
    same(rg, lambda: getattr(rg.optim, kind)([rg.nn.Parameter(transposed.clone())]))
    assert all(taken)
    gaps = rg.randn(5, 14)[:, ::2]
    same(rg, lambda: getattr(rg.optim, kind)([gaps.clone()[:, :].detach().requires_grad_()]))
    taken.clear()
    # What has gaps, repeats elements or has another layout than its gradient, is left to ops.
    for p, grads in [
        (rg.nn.Parameter(gaps.detach()), rg.randn_like),
        (rg.nn.Parameter(rg.randn(5, 7)), lambda p: rg.ones(()).expand(5, 7)),
        (rg.nn.Parameter(rg.randn(5, 7)), lambda p: rg.ones(7, 5).T),
    ]:
        same(rg, lambda p=p: getattr(rg.optim, kind)([rg.nn.Parameter(p.detach())]), grads=grads, steps=1)
    assert taken == [False, False, False]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_what_is_left_to_ops(rg, taken, kind):
    class Own(rg.nn.Parameter):
        pass

    def step(p: Any, **options: Any) -> None:
        p.grad = rg.ones_like(p)
        getattr(rg.optim, kind)([p], **options).step()

    step(rg.nn.Parameter(rg.ones(3, dtype=rg.float16)))
    step(rg.nn.Parameter(rg.ones(3, dtype=rg.complex64)))
    step(rg.nn.Parameter(rg.ones(3)), lr=rg.tensor(0.1))
    step(Own(rg.ones(3)))
    with rg.autograd.detect_nan():
        step(rg.nn.Parameter(rg.ones(3)))
    assert taken == [False] * 5


def test_everything_is_checked_before_the_first_write(rg):
    sgd = {"lr": 0.1, "momentum": 0.9, "dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False}
    adam = {
        "lr": 0.1,
        "beta1": 0.9,
        "beta2": 0.999,
        "eps": 1e-8,
        "weight_decay": 0.0,
        "decoupled_weight_decay": False,
        "amsgrad": True,
        "maximize": False,
    }
    good, row = rg.ones(3), rg.ones(4)
    shared = row[:3]
    wrong = [
        [rg.ones(4)] * 4,
        [rg.ones(3, dtype=rg.float64)] * 4,
        [rg.ones(3).to_sparse(), rg.ones(3), rg.ones(3), rg.ones(3)],
        [rg.ones(3, requires_grad=True).clone(), rg.ones(3, requires_grad=True).clone(), rg.ones(3), rg.ones(3)],
        [rg.ones(3), shared, shared, rg.ones(3)],
        [rg.ones(3), shared, row[1:], rg.ones(3)],
        [rg.ones(1).expand(3), rg.ones(1).expand(3), rg.ones(1).expand(3), rg.ones(1).expand(3)],
    ]
    for g, b, s, top in wrong:
        tensors = [[rg.ones(3), good] for _ in range(5)]
        before = [t.tolist() for ts in tensors for t in ts]
        steps = [rg.zeros(()), rg.zeros(())]
        lists = [[ts[0], t] for ts, t in zip(tensors, [good, g, b, s, top], strict=True)]
        assert not rg._core._adam_step(*lists, steps, **adam)
        if s is not row:
            assert not rg._core._sgd_step(lists[0], lists[1], [lists[2][0], b if b is not shared else good], **sgd)
        assert [t.tolist() for ts in tensors for t in ts] == before
        assert [int(t) for t in steps] == [0, 0] and good._version == 0
    fresh = [[rg.ones(3)] for _ in range(5)]
    for steps in ([rg.zeros(2)], [rg.zeros((), dtype=rg.int64)], [fresh[2][0][0]], [], [rg.zeros(())] * 2):
        assert not rg._core._adam_step(*fresh, steps, **adam)
    for bad in ({"beta1": 1.0}, {"beta2": -0.5}, {"lr": rg.tensor(0.1)}, {"eps": None}):
        assert not rg._core._adam_step(*fresh, [rg.zeros(())], **{**adam, **bad})
    assert not rg._core._sgd_step([rg.ones(3)], [rg.ones(3)], [None], **sgd)
    assert rg._core._adam_step(*fresh, [rg.zeros(())], **adam)


def test_writes_count_and_are_not_recorded(rg, taken):
    p = rg.nn.Parameter(rg.ones(3))
    y = (p * p).sum()
    y.backward(retain_graph=True)
    rg.optim.SGD([p], lr=0.1).step()
    assert taken == [True] and p._version == 1 and p.is_leaf
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        rg.optim.sgd.sgd(
            *([p], [p.grad], [None]), lr=0.1, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False
        )
    assert taken[1:] == [False]


def test_a_step_inside_of_a_transform_is_one_of_ops(rg, taken):
    def shifted(g: Any) -> Any:
        p = rg.zeros(3)
        q = p + g
        rg.optim.sgd.sgd(
            *([q], [g], [None]), lr=1.0, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False
        )
        return q

    assert rg.vmap(shifted)(rg.ones(2, 3)).tolist() == [[0.0] * 3] * 2
    assert taken == [False]


def test_profiles_show_one_event(rg):
    p = rg.nn.Parameter(rg.ones(3))
    p.grad = rg.ones(3)
    optimizer = rg.optim.Adam([p])
    with rg.profiler.profile() as profile:
        optimizer.step()
    assert "aten::_fused_adam_" in {event.name for event in profile.events()}
