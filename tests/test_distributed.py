"""`distributed` is a world of one process: collectives give what they get, and more processes are refused."""

import warnings

import pytest

import retrograd as rg
from retrograd import distributed as dist
from retrograd.distributed._collectives import Alone, Collectives


@pytest.fixture
def world():
    dist.init_process_group("gloo")
    yield
    dist.destroy_process_group()


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    for name in ("WORLD_SIZE", "RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)


def test_before_there_is_a_group_there_is_nobody_to_ask():
    assert dist.is_available() and not dist.is_initialized()
    assert dist.group.WORLD is None
    calls = [dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier, lambda: dist.all_reduce(rg.ones(1))]
    calls += [lambda: dist.broadcast(rg.ones(1), 0), lambda: rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1))]
    calls += [lambda: rg.utils.data.DistributedSampler([1])]
    for call in calls:
        with pytest.raises(ValueError, match="Default process group has not been initialized, please make sure to"):
            call()
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()


@pytest.mark.parametrize(
    ("backend", "name"),
    [("gloo", "gloo"), ("mpi", "mpi"), (None, "gloo"), ("GLOO", "gloo"), ("cpu:gloo,cuda:nccl", "gloo")],
)
def test_backends_of_the_cpu_are_taken(backend, name):
    dist.init_process_group(backend, init_method="env://", rank=0, world_size=1)
    try:
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, name)
        assert dist.group.WORLD is dist.GroupMember.WORLD and dist.group.WORLD.name() == name
        with pytest.raises(ValueError, match="trying to initialize the default process group twice!"):
            dist.init_process_group(backend)
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


def test_other_backends_are_refused():
    with pytest.raises(RuntimeError, match="Distributed package doesn't have NCCL built in"):
        dist.init_process_group("nccl")
    with pytest.raises(ValueError, match="Unknown backend type foo"):
        dist.init_process_group("foo")
    assert [dist.is_backend_available(name) for name in ("gloo", "MPI", "nccl")] == [True, True, False]


@pytest.mark.parametrize("name", ["WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_a_launcher_of_several_processes_is_refused(monkeypatch, name):
    monkeypatch.setenv(name, "2")
    with pytest.raises(NotImplementedError, match=r"more than one process is not there: .* got a world of 2"):
        dist.init_process_group("mpi")
    monkeypatch.setenv(name, "1")
    dist.init_process_group("mpi")
    dist.destroy_process_group()


def test_a_larger_world_is_refused_wherever_it_is_stated(monkeypatch):
    with pytest.raises(NotImplementedError, match=r"more than one process is not there: .* world of 4"):
        dist.init_process_group("gloo", rank=0, world_size=4)
    with pytest.raises(NotImplementedError, match="world of 2"):
        dist.init_process_group("gloo", init_method="tcp://localhost:29500?world_size=2&rank=0")
    with pytest.raises(ValueError, match="Invalid rank 1"):
        dist.init_process_group("gloo", rank=1, world_size=1)
    monkeypatch.setenv("RANK", "3")
    with pytest.raises(ValueError, match="Invalid rank 3"):
        dist.init_process_group("gloo")
    assert not dist.is_initialized()


def test_collectives_give_what_they_get(world):
    x, op = rg.tensor([1.0, 2.0]), dist.ReduceOp
    for call in (
        lambda **kw: dist.all_reduce(x, op.AVG, **kw),
        lambda **kw: dist.reduce(x, 0, op.MAX, **kw),
        lambda **kw: dist.broadcast(x, src=0, **kw),
        dist.barrier,
    ):
        assert call() is None
        work = call(async_op=True)
        assert work.wait() and work.is_completed() and work.is_success()
    assert x.tolist() == [1.0, 2.0]

    def written(call):
        output = rg.zeros(2, requires_grad=True)
        assert call(output) is None
        assert output.is_leaf
        return output.tolist()

    for call in (
        lambda y: dist.all_gather([y], x),
        lambda y: dist.all_gather_single(y, x),
        lambda y: dist.gather(x, [y]),
        lambda y: dist.gather(x, [y], group_dst=0),
        lambda y: dist.scatter(y, [x]),
        lambda y: dist.reduce_scatter(y, [x], op.PRODUCT),
        lambda y: dist.reduce_scatter_single(y, x),
        lambda y: dist.all_to_all([y], [x]),
        lambda y: dist.all_to_all_single(y, x),
        lambda y: dist.all_to_all_single(y, x, [2], [2]),
    ):
        assert written(call) == [1.0, 2.0]
    for call in (lambda y: dist.all_gather_into_tensor(y, x), lambda y: dist.reduce_scatter_tensor(y, x)):
        with pytest.warns(FutureWarning, match=r"`torch.distributed.\w+` is deprecated. Please use"):
            assert written(call) == [1.0, 2.0]
    dist.monitored_barrier()


def test_objects_are_copied(world):
    given, taken = {"a": [1]}, [None]
    dist.all_gather_object(taken, given)
    assert taken == [given] and taken[0]["a"] is not given["a"]
    taken = [None]
    dist.gather_object(given, taken)
    assert taken == [given]
    dist.broadcast_object_list([given, 2])
    taken = [None]
    dist.scatter_object_list(taken, [given])
    assert taken == [given]
    with pytest.raises(ValueError, match=r"Argument ``gather_list`` must be specified on destination rank\."):
        dist.gather_object(given)
    with pytest.raises(ValueError, match="Expected argument scatter_object_output_list to be a list of size"):
        dist.scatter_object_list([], [1])
    with pytest.raises(ValueError, match="source rank must provide non-None scatter_object_input_list"):
        dist.scatter_object_list([None])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: dist.all_reduce([x]), TypeError, "Expected parameter `tensor` of type torch.Tensor\n .* but got"),
        (lambda x: dist.all_gather(x, x), TypeError, r"Expected parameter `tensor_list` of type List\[torch.Tensor\]"),
        (lambda x: dist.all_to_all([x], [3]), TypeError, "with elements of type"),
        (lambda x: dist.all_reduce(x * 1j, dist.ReduceOp.MAX), ValueError, "all_reduce does not support .* on complex"),
        (lambda x: dist.broadcast(x, 1), RuntimeError, "invalid root rank: 1"),
        (lambda x: dist.broadcast(x, -1), RuntimeError, "invalid root rank: -1"),
        (lambda x: dist.reduce(x, 2), RuntimeError, "invalid root rank: 2"),
        (lambda x: dist.broadcast(x), ValueError, "Must specify global_rank or group_rank"),
        (lambda x: dist.broadcast(x, 0, group_src=0), ValueError, "Can't specify both group_rank and global_rank"),
        (lambda x: dist.all_gather([rg.ones(3)], x), RuntimeError, r"size at index 0 \(expected \(2\), got \(3\)\)"),
        (lambda x: dist.all_gather([], x), RuntimeError, r"invalid output tensor list .* length 1, got 0"),
        (lambda x: dist.all_gather([x], x.long()), ValueError, "different dtypesFound .*float32 and  .*int64"),
        (lambda x: dist.gather(x), ValueError, "Argument ``gather_list`` must be specified on destination rank"),
        (
            lambda x: dist.gather(x, [x], 1),
            ValueError,
            "must NOT be specified on non-destination ranks",
        ),
        (lambda x: dist.scatter(x), ValueError, "Argument ``scatter_list`` must be specified on source rank"),
        (lambda x: dist.scatter(x, [x, x]), RuntimeError, "Incorrect input list size 2. Input list size should be 1"),
        (lambda x: dist.reduce_scatter(x, [x, x]), RuntimeError, "invalid input tensor list size, must be world size"),
        (lambda x: dist.all_to_all([x], [x, x]), RuntimeError, "invalid input tensor list size, must be world size"),
        (lambda x: dist.all_to_all_single(x, x, [1], [1]), RuntimeError, "Split sizes doesn't match total dim 0 size"),
        (
            lambda x: dist.all_to_all_single(x, x, [1, 1]),
            RuntimeError,
            "Number of tensor splits not equal to group",
        ),
        (lambda x: dist.send(x, 0), ValueError, "destination rank should not be the same as the rank of the current"),
        (
            lambda x: dist.recv(x, 0),
            ValueError,
            "source rank should not be the same as the rank of",
        ),
        (lambda x: dist.send(x, 1), NotImplementedError, "more than one process is not there: send"),
        (lambda x: dist.recv(x), NotImplementedError, "more than one process is not there: recv"),
        (lambda x: dist.isend(x, 0), NotImplementedError, "more than one process is not there: isend"),
        (lambda x: dist.irecv(x), NotImplementedError, "more than one process is not there: irecv"),
        (lambda x: dist.new_group([0, 1]), ValueError, "the new group's world size should be less or equal to the"),
        (lambda x: dist.new_group([1]), ValueError, r"Rank 1 is out of range. Valid ranks are 0 to 0 \(world_size=1\)"),
        (lambda x: dist.get_group_rank(dist.new_group(), 1), ValueError, "Global rank 1 is not part of group"),
        (lambda x: dist.get_global_rank(dist.new_group(), 1), ValueError, "Group rank 1 is not part of group"),
        (lambda x: dist.get_node_local_rank(), RuntimeError, "LOCAL_RANK is not in the environment"),
    ],
)
def test_arguments_are_refused_with_the_phrases_of_torch(world, call, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        call(rg.ones(2))


def test_groups_have_ranks(world, monkeypatch):
    group = dist.new_group([0], backend="mpi")
    assert (group.rank(), group.size(), dist.get_backend(group)) == (0, 1, "mpi")
    assert dist.get_process_group_ranks(group) == dist.get_process_group_ranks(None) == [0]
    assert dist.get_group_rank(group, 0) == dist.get_global_rank(group, 0) == 0
    dist.destroy_process_group(group)
    assert dist.is_initialized()
    nobody = dist.new_group([])
    assert dist.get_rank(nobody) == dist.get_world_size(nobody) == -1
    with pytest.raises(ValueError, match="Invalid process group specified"):
        dist.get_backend(nobody)
    for call in (lambda: dist.all_reduce(rg.ones(1), group=nobody), lambda: dist.broadcast(rg.ones(1), 0, nobody)):
        with pytest.warns(UserWarning, match="Running .* on global rank 0 which does not belong to the given group"):
            assert call() is None
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert dist.get_node_local_rank() == 3
    assert not dist.is_torchelastic_launched()


def test_a_backend_is_one_class():
    assert Collectives.__abstractmethods__ <= set(vars(Alone))
    with pytest.raises(TypeError, match="abstract"):
        Collectives()


def test_a_wrapped_module_trains_as_it_does_alone(world):
    alone = rg.nn.Linear(2, 1)
    model = rg.nn.parallel.DistributedDataParallel(alone, device_ids=None, find_unused_parameters=True)
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    x = rg.ones(3, 2)
    with model.no_sync():
        assert not model.require_backward_grad_sync
        model(x).sum().backward()
    with model.join():
        model(x).sum().backward()
    assert model.require_backward_grad_sync
    assert alone.weight.grad.tolist() == [[6.0, 6.0]]
    assert model.process_group is dist.group.WORLD
    with pytest.raises(RuntimeError, match="is not needed when a module doesn't have any parameter"):
        rg.nn.parallel.DistributedDataParallel(rg.nn.ReLU())


def test_a_sampler_asks_for_rank_and_size(world):
    sampler = rg.utils.data.DistributedSampler([5, 6, 7], shuffle=False)
    assert (sampler.rank, sampler.num_replicas, list(sampler)) == (0, 1, [0, 1, 2])


def test_nothing_else_warns(world):
    with warnings.catch_warnings(action="error"):
        dist.all_reduce(rg.ones(1))
        dist.new_group()
