"""`DistributedDataParallel` on every rank: gradients are the means, whatever their sizes, dtypes, order and number."""

import copy
import pickle

import pytest
from networks import assert_close, global_batch, grads, loss_of, network, part, reference_grads, same_everywhere

import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn
from retrograd.distributed._collectives import ReduceOp
from retrograd.nn.parallel import DistributedDataParallel
from retrograd.utils.checkpoint import checkpoint


@pytest.mark.parametrize("cap", [None, 1e-4, 0.01, 25, 1000])
@pytest.mark.parametrize("views", [True, False])
def test_gradients_are_those_of_the_whole_batch(cap, views):
    model = DistributedDataParallel(network(), bucket_cap_mb=cap, gradient_as_bucket_view=views)
    x, g = map(part, global_batch())
    for _ in range(3):  # the second divides anew, the third uses memory again
        model.zero_grad()
        loss_of(model, x, g).backward()
        assert_close(grads(model), reference_grads())
        assert all(same_everywhere(grad) for grad in grads(model).values())


@pytest.mark.parametrize(
    ("dtype", "rtol"),
    # Sums of up to 4 gradients, each with an error of its own dtype: a few units in the last place.
    [(rg.float64, 1e-13), (rg.bfloat16, 0.04), (rg.float16, 0.006)],
)
def test_gradients_of_every_dtype_are_averaged(dtype, rtol):
    model = DistributedDataParallel(network(dtype=dtype))
    loss_of(model, *map(part, global_batch(dtype=dtype))).backward()
    assert all(grad.dtype == dtype for grad in grads(model).values())
    assert_close(grads(model), reference_grads(dtype), rtol)


def test_parameters_of_several_dtypes_have_buckets_of_their_own():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            rg.manual_seed(3)
            self.first, self.second = nn.Linear(6, 4), nn.Linear(4, 3).double()

        def forward(self, x):
            return self.second(self.first(x).double())

    whole, model = Mixed(), DistributedDataParallel(Mixed())
    loss_of(whole, *global_batch()).backward()
    loss_of(model, *map(part, global_batch())).backward()
    assert_close(grads(model), grads(whole))


def test_losses_are_those_of_one_process():
    whole, model = network(), DistributedDataParallel(network())
    optimizers = [rg.optim.SGD(m.parameters(), lr=0.02, momentum=0.9) for m in (whole, model)]
    x, g = global_batch()
    for _ in range(6):
        losses = [loss_of(whole, x, g), loss_of(model, part(x), part(g))]
        for optimizer, loss in zip(optimizers, losses, strict=True):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        mean = losses[1].detach().clone()
        dist.all_reduce(mean, ReduceOp.AVG)
        rg.testing.assert_close(mean, losses[0].detach(), rtol=2e-5, atol=2e-5)


PIECES = 4


def test_the_deterministic_mode_gives_the_same_bits_in_every_world():
    """A balanced sum over 4 pieces, here and by hand: so worlds of 1, 2 and 4 give the same bits."""
    by_hand, model = network(), DistributedDataParallel(network())
    optimizers = [rg.optim.SGD(m.parameters(), lr=0.02, momentum=0.9) for m in (by_hand, model)]
    pieces = list(zip(*(value.split(2) for value in global_batch(2 * PIECES)), strict=True))
    share = PIECES // dist.get_world_size()
    own = pieces[dist.get_rank() * share : (dist.get_rank() + 1) * share]
    rg.use_deterministic_algorithms(True)
    try:
        for _ in range(4):
            sums = []
            for piece in pieces:
                by_hand.zero_grad()
                (loss_of(by_hand, *piece) / PIECES).backward()
                sums.append([p.grad for p in by_hand.parameters()])
            while len(sums) > 1:
                sums = [[a + b for a, b in zip(*sums[i : i + 2], strict=True)] for i in range(0, len(sums), 2)]
            for p, grad in zip(by_hand.parameters(), sums[0], strict=True):
                p.grad = grad
            model.zero_grad()
            for piece in own[:-1]:
                with model.no_sync(balanced=True):
                    (loss_of(model, *piece) / share).backward()
            (loss_of(model, *own[-1]) / share).backward()
            for optimizer in optimizers:
                optimizer.step()
            for a, b in zip(by_hand.parameters(), model.parameters(), strict=True):
                assert rg.equal(a, b)
    finally:
        rg.use_deterministic_algorithms(False)


def test_every_rank_begins_with_the_values_of_rank_0():
    model = network(seed=dist.get_rank())
    model.register_buffer("numbers", rg.full((3,), float(dist.get_rank())))
    parallel = DistributedDataParallel(model)
    for p in parallel.parameters():
        assert same_everywhere(p)
    assert rg.equal(model[0].weight, network(seed=0)[0].weight)
    assert model.numbers.tolist() == [0.0] * 3
    assert list(parallel.state_dict()) == [f"module.{name}" for name in model.state_dict()]


@pytest.mark.parametrize("synced", [True, False])
def test_buffers_of_rank_0_go_before_each_pass_if_wanted(synced):
    model = DistributedDataParallel(nn.BatchNorm1d(2), forward_sync_buffers=synced)
    with rg.no_grad():
        model.module.running_mean.fill_(float(dist.get_rank()))
    model.eval()
    model(rg.ones(2, 2))
    expected = 0 if synced else dist.get_rank()
    assert model.module.running_mean.tolist() == [expected] * 2


def test_no_sync_adds_up_and_the_next_pass_averages_the_sum():
    x, g = map(part, global_batch())
    model = DistributedDataParallel(network())
    with model.no_sync():
        loss_of(model, x, g).backward()
    own = [p.grad.clone() for p in model.parameters()]
    assert dist.get_world_size() == 1 or not same_everywhere(own[0])
    loss_of(model, x, 2 * g).backward()
    assert_close(grads(model), {name: 3 * grad for name, grad in reference_grads().items()})
    loss_of(model, x, g).backward()  # without zero_grad: the mean so far, and the mean of this
    assert_close(grads(model), {name: 4 * grad for name, grad in reference_grads().items()})


class Branches(nn.Module):
    """Uses one of its layers, or none of them for None."""

    def __init__(self):
        super().__init__()
        rg.manual_seed(5)
        self.layers = nn.ModuleList([nn.Linear(2, 2, bias=False) for _ in range(3)])

    def forward(self, x, branch):
        return {"out": [x * 1.5 if branch is None else self.layers[branch](x)]}


@pytest.mark.parametrize("views", [True, False])
def test_unused_parameters_are_found(views):
    model = DistributedDataParallel(Branches(), find_unused_parameters=True, gradient_as_bucket_view=views)
    world = dist.get_world_size()
    branch = min(dist.get_rank(), 1)
    for _ in range(3):
        model.zero_grad()
        model(rg.ones(1, 2), branch)["out"][0].sum().backward()
        shares = [1 / world, (world - 1) / world]
        for layer, share in zip(model.module.layers, shares, strict=False):
            if share > 0:
                rg.testing.assert_close(layer.weight.grad, rg.full((2, 2), share))
            else:
                assert layer.weight.grad is None
        assert model.module.layers[2].weight.grad is None  # used nowhere: an optimizer leaves it alone


def test_a_rank_that_uses_no_parameter_answers_the_others():
    model = DistributedDataParallel(Branches(), find_unused_parameters=True)
    last = dist.get_world_size() - 1
    x = rg.ones(1, 2, requires_grad=True)
    model(x, None if dist.get_rank() == last and last > 0 else 0)["out"][0].sum().backward()
    expected = last / (last + 1) if last else 1.0
    rg.testing.assert_close(model.module.layers[0].weight.grad, rg.full((2, 2), expected))


def test_an_unused_parameter_is_an_error_that_names_it():
    model = DistributedDataParallel(Branches())
    model(rg.ones(1, 2), 0)["out"][0].sum().backward()
    with pytest.raises(RuntimeError, match="Expected to have finished reduction in the prior iteration") as info:
        model(rg.ones(1, 2), 0)
    assert f"did not receive grad for rank {dist.get_rank()}: 1 2" in str(info.value)
    assert "layers.1.weight, layers.2.weight" in str(info.value)


def test_an_output_that_the_loss_leaves_out_is_an_error():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            return self.a(x), self.b(x)

    model = DistributedDataParallel(Two(), find_unused_parameters=True)
    model(rg.ones(2))[0].sum().backward()
    with pytest.raises(RuntimeError, match="not all `forward` outputs participate in computing loss"):
        if dist.get_world_size() == 1:
            pytest.skip("one process has nobody to wait for")
        model(rg.ones(2))


class Reused(nn.Module):
    """A layer that two reentrant checkpoints share, and one that is never used."""

    def __init__(self):
        super().__init__()
        rg.manual_seed(6)
        self.shared, self.idle = nn.Linear(6, 6), nn.Linear(2, 2)

    def forward(self, x):
        for _ in range(2):
            x = checkpoint(lambda y: self.shared(y).tanh(), x, use_reentrant=True)
        return x


def test_a_static_graph_may_use_parameters_often_or_never():
    x = rg.randn(8, 6, generator=rg.Generator().manual_seed(7))
    plain = Reused()
    plain(x.clone().requires_grad_()).square().sum().div(8).backward()
    model = DistributedDataParallel(Reused(), static_graph=True)
    own = part(x).clone()
    for _ in range(3):
        model.zero_grad()
        model(own.requires_grad_()).square().sum().div(len(own)).backward()
        assert_close(
            {name: grad for name, grad in grads(model).items() if "idle" not in name},
            {name: grad for name, grad in grads(plain).items() if "idle" not in name},
        )
        assert model.module.idle.weight.grad is None


def test_a_static_graph_that_changes_is_an_error():
    model = DistributedDataParallel(Branches(), static_graph=True)
    model.reducer.wake()
    model(rg.ones(1, 2), 0)["out"][0].sum().backward()
    with pytest.raises(RuntimeError, match="not compatible with static_graph set to True"):
        model(rg.ones(1, 2), 1)["out"][0].sum().backward()


def test_a_parameter_that_becomes_ready_twice_is_an_error():
    class Shared(Reused):
        def forward(self, x):
            return super().forward(self.idle(x))

        def __init__(self):
            super().__init__()
            self.idle = nn.Linear(6, 6)  # whose gradient comes last

    model = DistributedDataParallel(Shared())
    model.reducer.wake()
    with pytest.raises(RuntimeError, match="Expected to mark a variable ready only once") as info:
        model(rg.ones(2, 6)).sum().backward()
    assert "with name shared." in str(info.value)


def test_frozen_and_ignored_parameters_are_left_alone():
    model = network(seed=dist.get_rank())
    model[0].weight.requires_grad_(False)
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(model, ["2.bias"])
    parallel = DistributedDataParallel(model)
    x, g = map(part, global_batch())
    loss_of(parallel, x, g).backward()
    assert model[0].weight.grad is None
    alone = dist.get_world_size() == 1
    assert alone or not same_everywhere(model[2].bias.grad)
    assert alone or not same_everywhere(model[2].bias)
    assert same_everywhere(model[0].weight) and same_everywhere(model[2].weight.grad)


def test_gradients_that_lie_across_memory_are_averaged():
    class Transposed(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(rg.zeros(600, 500))

        def forward(self, c):
            return (self.weight.t() * c).sum()  # the gradient is a transposed tensor

    model = DistributedDataParallel(Transposed())
    c = rg.randn(500, 600, generator=rg.Generator().manual_seed(8)) * (dist.get_rank() + 1)
    model(c).backward()
    factor = (dist.get_world_size() + 1) / 2 / (dist.get_rank() + 1)
    rg.testing.assert_close(model.module.weight.grad, (c * factor).t(), rtol=1e-5, atol=1e-5)


def test_scalars_and_empty_parameters_have_gradients():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.scalar, self.none = nn.Parameter(rg.tensor(2.0)), nn.Parameter(rg.zeros(0, 3))

        def forward(self, x):
            return self.scalar * x + self.none.sum()

    model = DistributedDataParallel(Odd())
    model(rg.tensor(float(dist.get_rank()))).backward()
    assert model.module.scalar.grad.item() == (dist.get_world_size() - 1) / 2
    assert model.module.none.grad.shape == (0, 3)


def test_higher_derivatives_warn_and_gradients_are_plain():
    model = DistributedDataParallel(network())
    model.reducer.wake()
    with pytest.warns(UserWarning) as record:
        loss_of(model, *map(part, global_batch())).backward(create_graph=True)
    assert any("create_graph=True  is not well-supported" in str(warning.message) for warning in record)
    assert_close({name: grad.detach() for name, grad in grads(model).items()}, reference_grads())


# ---- processes that do not agree


def build(different):
    """A model that is another one on the last rank."""
    odd = dist.get_rank() == dist.get_world_size() - 1 and dist.get_world_size() > 1
    return different(odd)


def named(*names):
    model = nn.Module()
    for name in names:
        model.register_parameter(name, nn.Parameter(rg.ones(2)))
    return model


@pytest.mark.parametrize(
    ("different", "phrase", "names"),
    [
        (
            lambda odd: nn.Linear(2, 3 if odd else 2),
            "appears not to match sizes of the same param in process 0",
            "weight",
        ),
        (lambda odd: nn.Linear(2, 2, bias=not odd), "DDP expects same model across all ranks, but Rank", "bias"),
        (lambda odd: nn.Linear(2, 2).to(rg.float64 if odd else rg.float32), "the dtype differs", "float64"),
        (lambda odd: named("b", "a") if odd else named("a", "b"), "names or their order differ", "'b' of rank"),
        (lambda odd: nn.BatchNorm1d(2, track_running_stats=odd), "other buffers than rank 0", "running_mean"),
    ],
)
def test_models_that_differ_are_refused_everywhere(different, phrase, names):
    if dist.get_world_size() == 1:
        DistributedDataParallel(build(different))
        return
    with pytest.raises(RuntimeError, match=phrase) as info:
        DistributedDataParallel(build(different))
    assert names in str(info.value)
    assert str(dist.get_world_size() - 1) in str(info.value)


@pytest.mark.parametrize("option", [{"bucket_cap_mb": 3}, {"find_unused_parameters": True}, {"static_graph": True}])
def test_options_that_differ_are_refused_everywhere(option):
    if dist.get_world_size() == 1:
        return
    last = dist.get_rank() == dist.get_world_size() - 1
    with pytest.raises(RuntimeError, match="DDP expects the same options on all ranks, but Rank"):
        DistributedDataParallel(nn.Linear(2, 2), **(option if last else {}))


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(RuntimeError, match="doesn't have any parameter that requires a gradient"):
        DistributedDataParallel(nn.ReLU())
    with pytest.raises(ValueError, match="device_ids and output_device arguments only work with"):
        DistributedDataParallel(nn.Linear(2, 2), device_ids=[0])
    with pytest.raises(ValueError, match="bucket_cap_mb must be more than 0"):
        DistributedDataParallel(nn.Linear(2, 2), bucket_cap_mb=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'bucket_cap'"):
        DistributedDataParallel(nn.Linear(2, 2), bucket_cap=1)
    with pytest.raises(RuntimeError, match="can't be used with `DistributedDataParallel`"):
        DistributedDataParallel(nn.Sequential(nn.LazyLinear(2), nn.Linear(2, 2)))


# ---- the life of the module


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_average_on_their_own(copied):
    model = DistributedDataParallel(network())
    other = copied(model)
    loss_of(other, *map(part, global_batch())).backward()
    assert_close(grads(other), reference_grads())
    assert all(p.grad is None for p in model.parameters())


def test_a_module_that_was_wrapped_before_averages_once():
    inner = network()
    model = DistributedDataParallel(inner)
    del model
    model = DistributedDataParallel(inner)
    loss_of(model, *map(part, global_batch())).backward()
    assert_close(grads(model), reference_grads())


def test_a_group_of_some_ranks_averages_among_them():
    world = dist.get_world_size()
    ranks = list(range(max(1, world // 2)))
    group = dist.new_group(ranks)
    if dist.get_rank() not in ranks:
        return
    model = DistributedDataParallel(nn.Linear(2, 1, bias=False), process_group=group)
    model(rg.full((2,), float(dist.get_rank()))).sum().backward()
    expected = sum(ranks) / len(ranks)
    assert model.module.weight.grad.tolist() == [[expected] * 2]
