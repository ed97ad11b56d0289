"""`Join`: ranks with different numbers of batches end together, with the same parameters."""

import pytest

import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn
from retrograd.distributed.algorithms import Join, Joinable, JoinHook
from retrograd.distributed.optim import ZeroRedundancyOptimizer
from retrograd.nn.parallel import DistributedDataParallel


def network() -> nn.Module:
    rg.manual_seed(4)
    return nn.Sequential(nn.Linear(3, 400), nn.BatchNorm1d(400), nn.Linear(400, 700), nn.Linear(700, 2))


def same_everywhere(x: rg.Tensor) -> bool:
    copies = [rg.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(copies, x.detach().contiguous())
    return all(rg.equal(copies[0], other) for other in copies)


def batches() -> list[rg.Tensor]:
    """One batch on rank 0, three on rank 1, and so on: rank 0, whose buffers others get, ends first."""
    generator = rg.Generator().manual_seed(dist.get_rank())
    return [rg.randn(4, 3, generator=generator) for _ in range(1 + 2 * dist.get_rank())]


@pytest.mark.parametrize("options", [{}, {"find_unused_parameters": True}, {"static_graph": True}])
@pytest.mark.parametrize("sharded", [False, True])
def test_uneven_inputs_end_together(options, sharded):
    model = DistributedDataParallel(network(), **options)
    if sharded:
        optimizer = ZeroRedundancyOptimizer(model.parameters(), rg.optim.SGD, lr=0.01)
    else:
        optimizer = rg.optim.SGD(model.parameters(), lr=0.01)
    with Join([model, optimizer] if sharded else [model]):
        for x in batches():
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
    for tensor in [*model.parameters(), *model.buffers()]:
        assert same_everywhere(tensor)
    assert model.module[1].num_batches_tracked.item() == 2 * dist.get_world_size() - 1
    # The next pass is an ordinary one.
    optimizer.zero_grad()
    model(rg.ones(2, 3)).square().mean().backward()
    assert same_everywhere(model.module[0].weight.grad)


@pytest.mark.parametrize("initial", [True, False])
def test_gradients_are_divided_by_all_or_by_those_that_are_left(initial):
    model = DistributedDataParallel(nn.Linear(1, 1, bias=False))
    world = dist.get_world_size()
    seen = []
    with model.join(divide_by_initial_world_size=initial):
        for _ in range(dist.get_rank() + 1):
            model.zero_grad()
            model(rg.ones(1)).sum().backward()
            seen.append(model.module.weight.grad.item())
    left = [world - i for i in range(dist.get_rank() + 1)]
    assert seen == pytest.approx([n / world if initial else 1.0 for n in left])


def test_passes_without_gradients_or_averages_may_be_uneven_too():
    model = DistributedDataParallel(network())
    with model.join():
        for number, x in enumerate(batches()):
            with rg.no_grad():
                model(x)
            with model.no_sync():
                model(x).sum().backward()
            if number % 2 == 0:
                model(x).sum().backward()
                assert model.module[0].weight.grad is not None
    assert same_everywhere(model.module[0].weight)


def test_all_raise_when_the_first_is_out_of_inputs_if_wanted():
    model = DistributedDataParallel(nn.Linear(1, 1))
    if dist.get_world_size() == 1:
        match = "Rank 0 exhausted all inputs"
        with model.join(throw_on_early_termination=True):
            model(rg.ones(1)).backward()
        return
    match = "Rank 0 exhausted all inputs" if dist.get_rank() == 0 else "at least one rank that exhausted inputs"
    with pytest.raises(RuntimeError, match=match), model.join(throw_on_early_termination=True):
        for _ in range(1 + 2 * (dist.get_rank() > 0)):
            model(rg.ones(1)).backward()


def test_an_error_in_the_block_is_that_error():
    model = DistributedDataParallel(nn.Linear(1, 1))
    with pytest.raises(KeyError), model.join():
        raise KeyError("mine")
    model(rg.ones(1)).backward()  # outside of the block nobody is told
    assert not model._join_config.enable


def test_a_joinable_of_ones_own():
    class Counter(Joinable):
        def __init__(self):
            super().__init__()
            self.stood_in, self.last = 0, None

        def count(self):
            Join.notify_join_context(self)
            total = rg.ones(1)
            dist.all_reduce(total)
            return int(total.item())

        def join_hook(self, **kwargs):
            counter = self

            class Hook(JoinHook):
                def main_hook(self):
                    counter.stood_in += 1
                    dist.all_reduce(rg.zeros(1))

                def post_hook(self, is_last_joiner):
                    counter.last = is_last_joiner

            return Hook()

        @property
        def join_device(self):
            return rg.device("cpu")

        @property
        def join_process_group(self):
            return dist.group.WORLD

    counter = Counter()
    with Join([counter]):
        counts = [counter.count() for _ in range(dist.get_rank() + 1)]
    world = dist.get_world_size()
    assert counts == [world - i for i in range(dist.get_rank() + 1)]
    assert counter.stood_in == world - 1 - dist.get_rank()
    assert counter.last == (dist.get_rank() == world - 1)


def test_what_cannot_be_joined_is_refused():
    with pytest.raises(ValueError, match="requires at least one joinable"):
        Join([])

    class Lazy(JoinHook):
        pass

    with pytest.raises(RuntimeError, match="constructor calls the ``Joinable`` constructor"):
        Join([Lazy()])
    group = dist.new_group(list(range(dist.get_world_size())))
    models = [DistributedDataParallel(nn.Linear(1, 1), process_group=g) for g in (None, group)]
    with pytest.raises(ValueError, match="multiple process groups"):
        Join(models)
