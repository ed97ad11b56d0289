"""What `DistributedDataParallel` sends, when, and in which form: buckets, hooks, mixed precision."""

import pytest
from networks import assert_close, global_batch, grads, loss_of, network, part, reference_grads

import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn
from retrograd.distributed._collectives import ReduceOp
from retrograd.nn.parallel import DistributedDataParallel
from retrograd.nn.parallel import _reducer as reducer_module
from retrograd.nn.parallel.distributed import _MixedPrecision


@pytest.fixture
def sent(monkeypatch):
    """The tensors that are handed to all_reduce from now on, and where their memory is."""
    found = []

    def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
        found.append((tensor.numel() * tensor.element_size(), tensor.data_ptr()))
        return dist.all_reduce(tensor, op, group, async_op)

    monkeypatch.setattr(reducer_module, "all_reduce", all_reduce)
    return found


def test_the_bytes_sent_are_those_of_the_gradients(sent):
    model = DistributedDataParallel(network())
    model.reducer.wake()
    x, g = map(part, global_batch())
    for _ in range(2):
        sent.clear()
        loss_of(model, x, g).backward()
        size = sum(p.numel() * 4 for p in model.parameters())
        assert size <= sum(count for count, _ in sent) <= 1.02 * size


def test_a_large_gradient_is_sent_from_where_it_is(sent):
    model = DistributedDataParallel(network())
    model.reducer.wake()
    loss_of(model, *map(part, global_batch())).backward()
    large = model.module[2].weight.grad
    assert (large.numel() * 4, large.data_ptr()) in sent
    others = {p.grad.untyped_storage().data_ptr() for p in model.parameters() if p.grad is not large}
    assert len(others) == 1  # parts of one bucket


def test_sending_begins_before_the_pass_ends(sent):
    x, g = map(part, global_batch())
    model = DistributedDataParallel(network(), bucket_cap_mb=1e-4)
    model.reducer.wake()
    counts = []
    model.module[0].weight.register_hook(lambda grad: counts.append(len(sent)))
    for _ in range(2):
        loss_of(model, x, g).backward()
        counts.append(len(sent))
        sent.clear()
    assert counts[0] > 0 and counts[1] > counts[0]
    assert counts[2] > 0 and counts[3] > counts[2]


def test_buckets_follow_the_order_of_the_first_pass():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.late, self.early = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)

        def forward(self, x):
            return self.late(self.early(x).tanh())

    model = DistributedDataParallel(Backwards(), bucket_cap_mb=1e-5)
    model.reducer.wake()
    members = lambda: [bucket.members for bucket in model.reducer.buckets]  # noqa: E731
    assert members() == [[1], [0]]
    for _ in range(2):
        model(rg.ones(2, 6)).sum().backward()
    assert members() == ([[0], [1]] if dist.get_world_size() > 1 else [[1], [0]])


# ---- hooks


@pytest.mark.parametrize(("name", "rtol"), [("allreduce", 1e-5), ("fp16_compress", 3e-3), ("bf16_compress", 2e-2)])
@pytest.mark.parametrize("state", [None, "world"])
def test_the_default_hooks_average(name, rtol, state):
    hooks = dist.algorithms.ddp_comm_hooks.default_hooks
    model = DistributedDataParallel(network())
    model.register_comm_hook(None if state is None else dist.group.WORLD, getattr(hooks, f"{name}_hook"))
    for _ in range(2):
        model.zero_grad()
        loss_of(model, *map(part, global_batch())).backward()
        assert_close(grads(model), reference_grads(), rtol)
        assert all(grad.dtype == rg.float32 for grad in grads(model).values())


@pytest.mark.parametrize(("dtype", "rtol"), [("fp16", 3e-3), ("bf16", 2e-2)])
def test_a_wrapped_hook_gets_fewer_bytes(dtype, rtol):
    hooks = dist.algorithms.ddp_comm_hooks.default_hooks
    seen = []

    def hook(state, bucket):
        seen.append(bucket.buffer().dtype)
        return hooks.allreduce_hook(state, bucket)

    model = DistributedDataParallel(network())
    model.register_comm_hook(None, getattr(hooks, f"{dtype}_compress_wrapper")(hook))
    loss_of(model, *map(part, global_batch())).backward()
    assert_close(grads(model), reference_grads(), rtol)
    assert set(seen) == {rg.float16 if dtype == "fp16" else rg.bfloat16}


def test_a_hook_sees_the_buckets():
    seen = []

    def hook(state, bucket: dist.GradBucket):
        state.append((bucket.index(), bucket.is_last(), bucket.buffer().ndim))
        for parameter, grad in zip(bucket.parameters(), bucket.gradients(), strict=True):
            assert parameter.shape == grad.shape
            seen.append(id(parameter))
        done = dist.Future()
        done.set_result(bucket.buffer() * 0 + 7)
        return done

    model, state = DistributedDataParallel(network(), bucket_cap_mb=0.01), []
    model.register_comm_hook(state, hook)
    loss_of(model, *map(part, global_batch())).backward()
    assert all((grad == 7).all() for grad in grads(model).values())
    assert sorted(seen) == sorted(id(p) for p in model.parameters())
    assert state == [(i, i == len(state) - 1, 1) for i in range(len(state))] and len(state) > 1


def test_what_is_no_hook_is_refused():
    model = DistributedDataParallel(nn.Linear(2, 2))
    with pytest.raises(TypeError, match=r"Communication hook must be callable\."):
        model.register_comm_hook(None, 3)

    def annotated(state, bucket: int): ...

    with pytest.raises(ValueError, match=r"bucket annotation should be dist\.GradBucket"):
        model.register_comm_hook(None, annotated)
    model.register_comm_hook(None, lambda state, bucket: bucket.buffer())
    with pytest.raises(RuntimeError, match="can only be called once"):
        model.register_comm_hook(None, lambda state, bucket: bucket.buffer())
    with pytest.raises(RuntimeError, match=r"callback must return a torch\.futures\.Future object, but got Tensor"):
        model(rg.ones(2)).sum().backward()


# ---- mixed precision


def test_mixed_precision_computes_in_a_smaller_dtype():
    dtypes = []

    class Watched(nn.Module):
        def __init__(self):
            super().__init__()
            rg.manual_seed(9)
            self.linear = nn.Linear(6, 3)
            self.register_buffer("shift", rg.zeros(3))

        def forward(self, x):
            dtypes.append((x.dtype, self.linear.weight.dtype, self.shift.dtype))
            return self.linear(x) + self.shift

    policy = _MixedPrecision(param_dtype=rg.bfloat16, reduce_dtype=rg.float16, buffer_dtype=rg.bfloat16)
    model, whole = DistributedDataParallel(Watched(), mixed_precision=policy), Watched()
    x, g = global_batch()
    out = model(part(x))
    assert out.dtype == rg.bfloat16 and dtypes == [(rg.bfloat16,) * 3]
    (out * part(g)).sum().div(len(part(x))).backward()
    loss_of(whole, x, g).backward()
    assert all(p.dtype == p.grad.dtype == rg.float32 for p in model.parameters())
    assert_close(grads(model), grads(whole), 2e-2)
