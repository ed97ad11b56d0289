"""`ZeroRedundancyOptimizer`: the numbers of the optimizer inside, with a part of its state on each rank."""

import math

import pytest

import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn
from retrograd.distributed.optim import ZeroRedundancyOptimizer, clip_grad_norm_
from retrograd.nn.parallel import DistributedDataParallel


def network() -> nn.Module:
    rg.manual_seed(2)
    return nn.Sequential(nn.Linear(5, 40), nn.Tanh(), nn.Linear(40, 30), nn.Tanh(), nn.Linear(30, 4))


def groups(model: nn.Module) -> list[dict]:
    weights = [p for p in model.parameters() if p.ndim > 1]
    biases = [p for p in model.parameters() if p.ndim == 1]
    return [{"params": weights, "weight_decay": 0.1}, {"params": biases, "lr": 0.02}]


def train(model: nn.Module, optimizer: rg.optim.Optimizer, steps: int, seed: int = 0) -> None:
    generator = rg.Generator().manual_seed(seed + dist.get_rank())
    for _ in range(steps):
        optimizer.zero_grad()
        model(rg.randn(3, 5, generator=generator)).square().sum().backward()
        optimizer.step()


KINDS = [
    (rg.optim.SGD, {"lr": 0.01, "momentum": 0.9}),
    (rg.optim.AdamW, {"lr": 0.01}),
    (rg.optim.RMSprop, {"lr": 0.01}),
]


@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("flat", [False, True])
def test_the_numbers_are_those_of_the_optimizer_inside(kind, options, flat):
    one, other = (DistributedDataParallel(network()) for _ in range(2))
    whole = kind(groups(one), **options)
    parts = ZeroRedundancyOptimizer(groups(other), kind, parameters_as_bucket_view=flat, **options)
    schedulers = [rg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5) for optimizer in (whole, parts)]
    for number in range(3):
        train(one, whole, 2, number)
        train(other, parts, 2, number)
        for scheduler in schedulers:
            scheduler.step()
        for a, b in zip(one.parameters(), other.parameters(), strict=True):
            assert rg.equal(a, b)
    assert [g["lr"] for g in parts.param_groups] == [g["lr"] for g in whole.param_groups]
    parts.consolidate_state_dict(to=dist.get_world_size() - 1)
    if dist.get_rank() < dist.get_world_size() - 1:
        with pytest.raises(RuntimeError, match="Optimizer state has not been consolidated on this rank"):
            parts.state_dict()
        return
    got, expected = parts.state_dict(), whole.state_dict()
    assert got["param_groups"] == expected["param_groups"]
    assert list(got["state"]) == list(expected["state"])
    for number, state in expected["state"].items():
        for name, value in state.items():
            assert rg.equal(rg.as_tensor(got["state"][number][name]), rg.as_tensor(value))


def test_each_rank_keeps_a_part_of_the_state():
    model = network()
    optimizer = ZeroRedundancyOptimizer(model.parameters(), rg.optim.Adam, lr=0.01)
    train(model, optimizer, 1)
    own = sum(state["exp_avg"].numel() for state in optimizer.optim.state.values())
    sizes = [None] * dist.get_world_size()
    dist.all_gather_object(sizes, own)
    assert sum(sizes) == sum(p.numel() for p in model.parameters())
    largest = max(p.numel() for p in model.parameters())
    # The greedy division is at most one parameter above the mean.
    assert max(sizes) <= sum(sizes) / len(sizes) + largest


def test_state_goes_on_where_it_was_loaded():
    one, other = network(), network()
    optimizers = [ZeroRedundancyOptimizer(m.parameters(), rg.optim.Adam, lr=0.01) for m in (one, other)]
    models = [DistributedDataParallel(m) for m in (one, other)]
    train(models[0], optimizers[0], 3)
    optimizers[0].consolidate_state_dict()
    box = [optimizers[0].state_dict() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box)
    other.load_state_dict(one.state_dict())
    optimizers[1].load_state_dict(box[0])
    for model, optimizer in zip(models, optimizers, strict=True):
        train(model, optimizer, 2, seed=9)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert rg.equal(a, b)
    box[0]["param_groups"][0]["params"].pop()
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optimizers[1].load_state_dict(box[0])


def test_a_group_that_is_added_is_divided_too():
    model = DistributedDataParallel(network())
    first, *rest = model.parameters()
    plain = rg.nn.Parameter(first.detach().clone())
    optimizer = ZeroRedundancyOptimizer([first], rg.optim.SGD, lr=0.1)
    optimizer.add_param_group({"params": rest, "lr": 0.0})
    before = [p.detach().clone() for p in rest]
    train(model, optimizer, 2)
    assert not rg.equal(first, plain)
    assert all(rg.equal(a, b) for a, b in zip(rest, before, strict=True))
    assert sum(len(group["params"]) for group in optimizer.optim.param_groups) <= len(rest) + 1


def test_a_closure_is_called_once_and_its_loss_returned():
    x = rg.nn.Parameter(rg.ones(2))
    optimizer = ZeroRedundancyOptimizer([x], rg.optim.SGD, lr=0.5)
    calls = []

    def closure():
        calls.append(1)
        optimizer.zero_grad()
        loss = x.sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 2.0
    assert calls == [1] and x.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("norm_type", [2.0, 1.0, 3.0, math.inf])
def test_gradients_that_are_spread_are_clipped_by_the_norm_of_all(norm_type):
    everything = [rg.nn.Parameter(rg.zeros(n)) for n in (3, 1, 4, 2, 5)]
    generator = rg.Generator().manual_seed(3)
    for p in everything:
        p.grad = rg.randn(p.shape, generator=generator) * 10
    own = [p for i, p in enumerate(everything) if i % dist.get_world_size() == dist.get_rank()]
    copies = [rg.nn.Parameter(rg.zeros_like(p)) for p in everything]
    for p, copied in zip(everything, copies, strict=True):
        copied.grad = p.grad.clone()
    expected = nn.utils.clip_grad_norm_(copies, 2.5, norm_type)
    got = clip_grad_norm_(own, 2.5, norm_type)
    rg.testing.assert_close(got, expected)
    for p, copied in zip(everything, copies, strict=True):
        if any(p is mine for mine in own):
            rg.testing.assert_close(p.grad, copied.grad)


def test_the_optimizer_clips_as_one_process_would():
    one, other = (DistributedDataParallel(network()) for _ in range(2))
    whole = rg.optim.SGD(one.parameters(), lr=0.1)
    parts = ZeroRedundancyOptimizer(other.parameters(), rg.optim.SGD, lr=0.1)
    x = rg.randn(3, 5, generator=rg.Generator().manual_seed(dist.get_rank()))
    for model in (one, other):
        model(x * 10).square().sum().backward()
    expected = nn.utils.clip_grad_norm_(one.parameters(), 1.0)
    rg.testing.assert_close(parts.clip_grad_norm_(1.0), expected)
    whole.step()
    parts.step()
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        rg.testing.assert_close(a, b)


def test_a_norm_that_is_not_finite_is_an_error_everywhere():
    p = rg.nn.Parameter(rg.zeros(2))
    if dist.get_rank() == 0:
        p.grad = rg.tensor([math.inf, 1.0])
    with pytest.raises(RuntimeError, match="non-finite, so it cannot be clipped"):
        clip_grad_norm_([p], 1.0, error_if_nonfinite=True)


def test_what_cannot_be_divided_is_refused():
    x = rg.nn.Parameter(rg.ones(2))
    for params, error, phrase in (
        (x, TypeError, "should be an iterable of Tensors, but got"),
        ([], ValueError, "got an empty parameter list"),
        ([3], TypeError, "iterable of Tensors or dicts"),
        ([{"lr": 1}], ValueError, "must have a 'params' key"),
    ):
        with pytest.raises(error, match=phrase):
            ZeroRedundancyOptimizer(params, rg.optim.SGD, lr=0.1)
    with pytest.raises(NotImplementedError, match="overlap_with_ddp"):
        ZeroRedundancyOptimizer([x], rg.optim.SGD, overlap_with_ddp=True, lr=0.1)
    if dist.get_world_size() > 1:
        y = rg.nn.Parameter(rg.ones(2 + (dist.get_rank() == 0)))
        with pytest.raises(RuntimeError, match="give every process the same parameters in the same order"):
            ZeroRedundancyOptimizer([y], rg.optim.SGD, lr=0.1)
