"""Each collective against what one process makes of the tensors of all ranks, which all can make by themselves."""

import datetime
import functools
import time

import pytest

import retrograd as rg
from retrograd import distributed as dist
from retrograd.distributed import ReduceOp

FLOATS = [rg.float32, rg.float64, rg.float16, rg.bfloat16, rg.complex64, rg.complex128]
INTEGERS = [rg.int8, rg.int16, rg.int32, rg.int64, rg.uint8]
DTYPES = [*FLOATS, *INTEGERS, rg.bool]


def values(rank, shape, dtype=rg.float32, seed=0):
    """What a rank has: each can make those of all."""
    generator = rg.Generator().manual_seed(1000 * seed + rank)
    if dtype is rg.bool:
        return rg.rand(shape, generator=generator) > 0.5
    if dtype in INTEGERS:
        return rg.randint(0, 7, shape, generator=generator).to(dtype)
    if dtype.is_complex:
        parts = rg.randn((*shape, 2), generator=generator, dtype=rg.float64)
        return rg.view_as_complex(parts).to(dtype)
    return rg.randn(shape, generator=generator, dtype=rg.float64).to(dtype)


def everyone(size, shape, dtype=rg.float32, seed=0):
    return [values(rank, shape, dtype, seed) for rank in range(size)]


def reduced(tensors, op):
    """In float64, in the order of ranks."""
    dtype = tensors[0].dtype
    if dtype is rg.bool:
        call = {
            ReduceOp.SUM: rg.logical_or,
            ReduceOp.MAX: rg.logical_or,
            ReduceOp.BOR: rg.logical_or,
            ReduceOp.BXOR: rg.logical_xor,
        }.get(op, rg.logical_and)
        return functools.reduce(call, tensors)
    wide = [tensor.to(rg.complex128 if dtype.is_complex else rg.float64) for tensor in tensors]
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        wide = tensors
    call = {
        ReduceOp.SUM: rg.add,
        ReduceOp.AVG: rg.add,
        ReduceOp.PRODUCT: rg.mul,
        ReduceOp.MIN: rg.minimum,
        ReduceOp.MAX: rg.maximum,
        ReduceOp.BAND: rg.bitwise_and,
        ReduceOp.BOR: rg.bitwise_or,
        ReduceOp.BXOR: rg.bitwise_xor,
    }[op]
    result = functools.reduce(call, wide)
    return result / len(tensors) if op is ReduceOp.AVG else result


def check(found, expected, size):
    """Within a rounding for each rank, and for the division, of the largest value on the way."""
    if found.dtype in FLOATS:
        eps = rg.finfo(found.dtype).eps
        rg.testing.assert_close(
            found.to(expected.dtype), expected, rtol=(size + 1) * eps, atol=(size + 1) * eps * 4, check_stride=False
        )
    else:
        assert rg.equal(found, expected.to(found.dtype))


def ops_of(dtype):
    if dtype in FLOATS:
        order = [] if dtype.is_complex else [ReduceOp.MIN, ReduceOp.MAX]
        return [ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, *order]
    bits = [ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR]
    return [ReduceOp.SUM, ReduceOp.MIN, ReduceOp.MAX, *bits] + ([ReduceOp.PRODUCT] if dtype is rg.bool else [])


@pytest.fixture(params=[False, True], ids=["", "deterministic"])
def deterministic(request):
    rg.use_deterministic_algorithms(request.param)
    yield request.param
    rg.use_deterministic_algorithms(False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_of_every_dtype_by_every_op(rank, size, dtype, deterministic):
    for op in ops_of(dtype):
        for shape in ((), (0,), (1,), (3, 5)):
            expected = reduced(everyone(size, shape, dtype), op)
            if not (dtype.is_complex and op is ReduceOp.PRODUCT):  # which torch refuses
                x = values(rank, shape, dtype)
                assert dist.all_reduce(x, op) is None
                check(x, expected, size)
            x, root = values(rank, shape, dtype), size - 1
            dist.reduce(x, root, op)
            if rank == root:
                check(x, expected, size)
        parts = [values(rank, (3,), dtype, seed) for seed in range(size)]
        y = rg.zeros(3, dtype=dtype)
        dist.reduce_scatter(y, parts, op)
        check(y, reduced([values(other, (3,), dtype, rank) for other in range(size)], op), size)
        y = rg.zeros(3, dtype=dtype)
        dist.reduce_scatter_single(y, rg.cat(parts), op)
        check(y, reduced([values(other, (3,), dtype, rank) for other in range(size)], op), size)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_moves_of_every_dtype(rank, size, dtype):
    for shape in ((), (0,), (2, 3)):
        all_of_them = everyone(size, shape, dtype)
        for root in range(size):
            x = values(rank, shape, dtype)
            dist.broadcast(x, root)
            assert rg.equal(x, all_of_them[root])
            outputs = [rg.zeros(shape, dtype=dtype) for _ in range(size)] if rank == root else None
            dist.gather(values(rank, shape, dtype), outputs, root)
            if rank == root:
                assert all(map(rg.equal, outputs, all_of_them))
            x = rg.zeros(shape, dtype=dtype)
            dist.scatter(x, all_of_them if rank == root else None, root)
            assert rg.equal(x, all_of_them[rank])
        outputs = [rg.zeros(shape, dtype=dtype) for _ in range(size)]
        dist.all_gather(outputs, values(rank, shape, dtype))
        assert all(map(rg.equal, outputs, all_of_them))
        outputs = [rg.zeros(shape, dtype=dtype) for _ in range(size)]
        dist.all_to_all(outputs, [values(rank, shape, dtype, seed) for seed in range(size)])
        assert all(rg.equal(x, values(other, shape, dtype, rank)) for other, x in enumerate(outputs))


def test_gathers_into_one_tensor_stacked_or_in_a_row(rank, size):
    expected = rg.stack(everyone(size, (2, 3)))
    for shape in ((size, 2, 3), (size * 2, 3), (size * 6,)):
        y = rg.zeros(shape)
        dist.all_gather_single(y, values(rank, (2, 3)))
        assert rg.equal(y, expected.view(shape))
    with pytest.raises(ValueError, match="output tensor size must be equal to world_size times input tensor size"):
        dist.all_gather_single(rg.zeros(6 * size + 1), values(rank, (2, 3)))
    with pytest.raises(ValueError, match="input tensor must be the same size as output size times world size"):
        dist.reduce_scatter_single(rg.zeros(2), rg.zeros(2 * size + 1))


def test_parts_of_different_sizes_are_exchanged(rank, size):
    sizes = [rank + other + 1 for other in range(size)]  # what goes there, and what comes from there
    given = rg.cat([values(rank, (n,), seed=other) for other, n in enumerate(sizes)])
    y = rg.zeros(sum(sizes))
    dist.all_to_all_single(y, given, sizes, sizes)
    assert rg.equal(y, rg.cat([values(other, (n,), seed=rank) for other, n in enumerate(sizes)]))
    y = rg.zeros(2 * size, 3)
    dist.all_to_all_single(y, values(rank, (2 * size, 3)))
    assert rg.equal(y, rg.cat([x[2 * rank : 2 * rank + 2] for x in everyone(size, (2 * size, 3))]))


def layouts(rank, dtype=rg.float32):
    views = [lambda x: x.t(), lambda x: x[:, 1], lambda x: x[::2], lambda x: x.flip(0).t()]
    return [view(values(rank, (4, 3), dtype)) for view in views]


def test_strided_tensors_are_packed(rank, size):
    for index, x in enumerate(layouts(rank)):
        others = [layouts(other)[index].clone() for other in range(size)]
        dist.all_reduce(x)
        check(x, reduced(others, ReduceOp.SUM), size)
        x = layouts(rank)[index]
        dist.broadcast(x, size - 1)
        assert rg.equal(x, others[size - 1])
        outputs = [rg.zeros((*x.shape, 2))[..., 0] for _ in range(size)]
        dist.all_gather(outputs, layouts(rank)[index])
        assert all(map(rg.equal, outputs, others))
    rest = rg.zeros(4, 3)
    dist.all_reduce(rest.t()[1])  # and what lies between stays
    assert rg.equal(rest, rg.zeros(4, 3))


def test_one_rank_may_have_another_layout(rank, size):
    x = values(rank, (3, 4)) if rank else values(rank, (3, 4)).t().contiguous().t()
    dist.all_reduce(x)
    check(x, reduced(everyone(size, (3, 4)), ReduceOp.SUM), size)


def test_conjugate_views_arrive_conjugated(rank, size):
    x = values(rank, (3,), rg.complex64).conj()
    expected = reduced([each.conj() for each in everyone(size, (3,), rg.complex64)], ReduceOp.SUM)
    dist.all_reduce(x)
    check(x.resolve_conj(), expected.resolve_conj(), size)


def test_halves_are_rounded_once_for_each_combination(rank, size):
    for dtype in (rg.float16, rg.bfloat16):
        eps = rg.finfo(dtype).eps
        x = rg.tensor([1.0 if rank == 0 else eps / 2, 1.0 if rank == 0 else eps * 0.75], dtype=dtype)
        rg.use_deterministic_algorithms(True)
        dist.all_reduce(x)
        rg.use_deterministic_algorithms(False)
        leaves = [rg.tensor([1.0, 1.0], dtype=dtype)] + [rg.tensor([eps / 2, eps * 0.75], dtype=dtype)] * (size - 1)
        while len(leaves) > 1:
            leaves = [(a.double() + b.double()).to(dtype) for a, b in zip(leaves[::2], leaves[1::2], strict=True)]
        assert rg.equal(x, leaves[0])


@pytest.mark.parametrize("dtype", [rg.float32, rg.float16, rg.bfloat16], ids=str)
def test_one_two_and_four_ranks_have_the_same_bits(rank, size, dtype):
    """Of four parts of a batch each rank has as many as belong to it, and adds them as the tree does."""
    leaves = [values(part, (1001,), dtype) for part in range(4)]
    share = leaves[rank * (4 // size) : (rank + 1) * (4 // size)]
    own = share[0] if len(share) == 1 else share[0] + share[1]
    if len(share) == 4:
        own = own + (share[2] + share[3])
    expected = (leaves[0] + leaves[1]) + (leaves[2] + leaves[3])
    rg.use_deterministic_algorithms(True)
    try:
        x = own.clone()
        dist.all_reduce(x)
        assert rg.equal(x, expected)
        parts = list(own[:1000].clone().view(size, -1))
        y = rg.empty_like(parts[0])
        dist.reduce_scatter(y, parts)
        assert rg.equal(y, expected[:1000].view(size, -1)[rank])
    finally:
        rg.use_deterministic_algorithms(False)


def test_contiguous_buffers_are_not_copied(rank, size, monkeypatch):
    """MPI gets addresses in the tensors themselves."""
    if size == 1:
        return
    backend = dist.group.WORLD._collectives
    memory, seen = backend.buffers._memory, []

    def spy(first, count):
        found = memory(first, count)
        seen.append((found.address, found.nbytes))
        return found

    monkeypatch.setattr(backend.buffers, "_memory", spy)
    x, wide, other = rg.zeros(8), rg.zeros(8 * size), rg.zeros(8 * size)
    calls = [
        (lambda: dist.all_reduce(x), [x]),
        (lambda: dist.reduce(x, 0), [x]),
        (lambda: dist.broadcast(x, 0), [x]),
        (lambda: dist.all_gather_single(wide, x), [x, wide]),
        (lambda: dist.reduce_scatter_single(x, wide), [x, wide]),
        (lambda: dist.all_to_all_single(wide, other), [wide, other]),
        (lambda: dist.all_gather(list(wide.view(size, 8)), x), [x, wide]),
    ]
    for call, tensors in calls:
        seen.clear()
        call()
        assert set(seen) == {(tensor.data_ptr(), tensor.numel() * 4) for tensor in tensors}
    half = rg.zeros(8, dtype=rg.bfloat16)
    seen.clear()
    dist.all_reduce(half)
    assert seen == [(half.data_ptr(), 16)]


def test_versions_are_counted_and_leaves_are_taken(rank, size):
    x = rg.ones(3, requires_grad=True)
    y = x * 2
    square = y * y
    before = y._version
    dist.all_reduce(y.detach())
    if size > 1:
        assert y._version > before
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            square.sum().backward()
    else:
        square.sum().backward()
    p = rg.nn.Parameter(rg.ones(2) * (rank + 1))
    dist.broadcast(p, 0)
    assert p.requires_grad and p.grad_fn is None and p.tolist() == [1.0, 1.0]
    outputs = [rg.zeros(2, requires_grad=True) for _ in range(size)]
    dist.all_gather(outputs, p)
    assert all(y.is_leaf and y.tolist() == [1.0, 1.0] for y in outputs)


def test_handles_may_be_waited_for_in_any_order(rank, size):
    tensors = [values(rank, (n,), seed=n) for n in (1, 10_000, 100, 300_000, 7)]
    works = [dist.all_reduce(x, async_op=True) for x in tensors]
    works.append(dist.barrier(async_op=True))
    for work in reversed(works):
        assert work.wait() and work.is_completed() and work.is_success() and work.exception() is None
    for x in tensors:
        check(x, reduced(everyone(size, tuple(x.shape), seed=len(x)), ReduceOp.SUM), size)
    assert works[0].result()[0] is tensors[0]


def test_a_future_has_the_tensors(rank, size):
    x = rg.ones(2)
    future = dist.all_reduce(x, async_op=True).get_future()
    assert future.then(lambda done: done.value()[0] / size).wait().tolist() == [1.0, 1.0]
    assert future.done() and future.value()[0] is x

    def fail(done):
        raise KeyError("callback")

    with pytest.raises(KeyError, match="callback"):
        future.then(fail).wait()
    dist.all_reduce(x, async_op=True).get_future().add_done_callback(fail)  # is printed
    dist.barrier()


def test_work_goes_on_while_nobody_waits(rank, size):
    x = values(rank, (500_000,))
    work = dist.all_reduce(x, async_op=True)
    called = []
    work.get_future().add_done_callback(called.append)
    limit = time.monotonic() + 20
    threaded = size == 1 or dist.group.WORLD._collectives.progress._threaded
    while not called and time.monotonic() < limit:
        time.sleep(0.001)  # calls nothing of the package
        if not threaded:
            work.is_completed()
    assert called and work.is_completed()
    check(x, reduced(everyone(size, (500_000,)), ReduceOp.SUM), size)


def test_objects_arrive(rank, size):
    taken = [None] * size
    dist.all_gather_object(taken, {"rank": rank, "text": "x" * rank})
    assert taken == [{"rank": other, "text": "x" * other} for other in range(size)]
    for root in range(size):
        given = [rank, "a" * rank]
        dist.broadcast_object_list(given, root)
        assert given == [root, "a" * root]
        taken = [None] * size if rank == root else None
        dist.gather_object((rank,), taken, root)
        assert taken is None or taken == [(other,) for other in range(size)]
        taken = [None]
        dist.scatter_object_list(taken, [str(other) * other for other in range(size)] if rank == root else None, root)
        assert taken == [str(rank) * rank]


def test_messages_go_round(rank, size):
    if size == 1:
        return
    after, before = (rank + 1) % size, (rank - 1) % size
    y = rg.zeros(3, 2).t()
    ops = [dist.P2POp(dist.isend, values(rank, (2, 3)), after), dist.P2POp(dist.irecv, y, before)]
    works = dist.batch_isend_irecv(ops)
    assert all(work.wait() for work in works)
    assert rg.equal(y, values(before, (2, 3))) and works[1].source_rank() == before
    for tag in (1, 2):
        dist.isend(rg.full((2,), float(tag)), after, tag=tag).wait()
    x, y = rg.zeros(2), rg.zeros(2)
    assert dist.recv(y, before, tag=2) == dist.recv(x, before, tag=1) == before
    assert (x[0], y[0]) == (1, 2)
    if rank == 0:
        found = {dist.recv(x) for _ in range(size - 1)}
        assert found == set(range(1, size))
        dist.barrier()
        assert dist.recv_object_list(objects := [None], 1) == 1 and objects == [{"a": 1}]
        dist.send(rg.zeros(3), 1)
    else:
        dist.send(x, 0)
        dist.barrier()
    if rank == 1:
        dist.send_object_list([{"a": 1}], 0)
        with pytest.raises(dist.DistBackendError, match="the message has 12 bytes, and the tensor of shape"):
            dist.recv(rg.zeros(4), 0)
    with pytest.raises(ValueError, match="destination rank should not be the same as the rank of the current"):
        dist.send(x, rank)
    with pytest.raises(ValueError, match="Invalid destination rank: 99"):
        dist.send(x, 99)
    with pytest.raises(ValueError, match="Invalid tag"):
        dist.send(x, after, tag=1 << 20)
    dist.barrier()


def test_groups_have_collectives_of_their_own(rank, size):
    even = dist.new_group(list(range(0, size, 2)), timeout=datetime.timedelta(seconds=20))
    last = dist.new_group([size - 1])
    turned = dist.new_group(list(range(size))[::-1], sort_ranks=False)
    x = rg.tensor([float(rank)])
    if rank % 2 == 0:
        dist.all_reduce(x, group=even)
        assert x.item() == sum(range(0, size, 2))
        assert dist.get_process_group_ranks(even) == list(range(0, size, 2))
        root = dist.get_process_group_ranks(even)[-1]
        y = rg.tensor([rank])
        dist.broadcast(y, root, group=even)  # by its rank in the world
        assert y.item() == root
        if len(dist.get_process_group_ranks(even)) > 1:
            if rank == root:
                dist.send(y, 0, group=even)
            elif rank == 0:
                assert dist.recv(y, group=even) == root
    else:
        assert even == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(even) == -1
        with pytest.warns(UserWarning, match="does not belong to the given group"):
            dist.all_reduce(x, group=even)
    assert dist.get_rank(last) == (0 if rank == size - 1 else -1)
    assert dist.get_rank(turned) == size - 1 - rank
    outputs = [rg.zeros(1) for _ in range(size)]
    dist.all_gather(outputs, rg.tensor([float(rank)]), group=turned)
    assert [int(y) for y in outputs] == list(range(size))[::-1]
    with pytest.raises(ValueError, match="ranks list must not contain duplicate entries"):
        dist.new_group([0, 0])
    dist.destroy_process_group(turned)
    dist.barrier()
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=20))


def test_a_group_can_be_made_by_its_members_alone(rank, size):
    if rank < 2:
        pair = dist.new_group([0, 1][:size], use_local_synchronization=True)
        x = rg.ones(1)
        dist.all_reduce(x, group=pair)
        assert x.item() == min(size, 2)
    dist.barrier()


def test_a_wait_lets_other_work_go_on(rank, size):
    """Rank 0 waits for what the others begin when the first is done, whose later steps need rank 0."""
    rg.use_deterministic_algorithms(True)
    first, second = values(rank, (1000,)), rg.ones(3)
    work = dist.all_reduce(first, async_op=True)
    if rank:
        work.wait()
    rg.use_deterministic_algorithms(False)
    dist.all_reduce(second)
    work.wait()
    check(first, reduced(everyone(size, (1000,)), ReduceOp.SUM), size)
    assert second.tolist() == [float(size)] * 3


def test_arguments_are_refused_everywhere_alike(rank, size):
    x = rg.ones(2)
    if size == 1:
        return  # one process reduces nothing
    with pytest.raises(RuntimeError, match=r"Cannot use ReduceOp\.BAND with non-integral dtype"):
        dist.all_reduce(x, ReduceOp.BAND)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        dist.all_reduce(rg.tensor([1]), ReduceOp.AVG)
    with pytest.raises(RuntimeError, match=r"ReduceOp\.PREMUL_SUM is not supported"):
        dist.all_reduce(x, ReduceOp.PREMUL_SUM)
    with pytest.raises(RuntimeError, match="does not divide equally across group size"):
        dist.all_to_all_single(rg.ones(size + 1), rg.ones(size + 1))
    with pytest.raises(TypeError, match=r"Expected timeout argument to be of type datetime.timedelta"):
        dist.new_group(timeout=5)
    with pytest.raises(RuntimeError, match="must be dense"):
        dist.all_reduce(rg.eye(2).to_sparse())


def test_random_programs(rank, size):
    """Collectives of random kinds, many begun before the first is waited for."""
    common = rg.Generator().manual_seed(7)

    def draw(limit):
        return int(rg.randint(0, limit, (), generator=common))

    for _ in range(10):
        pending = []
        for step in range(8):
            kind, n, root = draw(4), draw(2000), draw(size)
            everything = everyone(size, (n,), seed=step)
            x = everything[rank].clone()
            if kind == 0:
                pending.append((dist.all_reduce(x, async_op=True), x, reduced(everything, ReduceOp.SUM)))
            elif kind == 1:
                pending.append((dist.broadcast(x, root, async_op=True), x, everything[root]))
            elif kind == 2:
                y = rg.zeros(size, n)
                pending.append((dist.all_gather_single(y, x, async_op=True), y, rg.stack(everything)))
            else:
                dist.barrier()
        while pending:
            work, found, expected = pending.pop(int(rg.randint(0, len(pending), ())))  # each rank in its own order
            work.wait()
            check(found, expected, size)
