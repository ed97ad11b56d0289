"""Derivatives of collectives, in both modes and of second order, against differences.

All ranks compute one function of a tensor that is the same in each: rank `r` takes row `r` of it. `Replicated` makes of
the derivative of what all ranks compute that of what one of them does.
"""

import pytest

import retrograd as rg
from retrograd import distributed as dist
from retrograd.distributed import ReduceOp
from retrograd.distributed.nn import functional as F


class Replicated(rg.autograd.Function):
    """A tensor that is the same in all ranks: its cotangent is the average of theirs."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, cotangent):
        return F.all_reduce(cotangent, ReduceOp.AVG)

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.clone()


def collectives(rank, size):
    last = size - 1

    def a2a(x):
        return rg.cat(F.all_to_all([rg.zeros(1, dtype=x.dtype) for _ in range(size)], list(x.view(size, 1))))

    def reduce_scattered(op):
        return lambda x: F.reduce_scatter(rg.zeros(1, dtype=x.dtype), list(x.view(size, 1)), op)

    result = {f"all_reduce {op.name}": (lambda x, op=op: F.all_reduce(x, op)) for op in OPS}
    result |= {f"reduce {op.name}": (lambda x, op=op: F.reduce(x, last, op)) for op in OPS}
    result |= {f"reduce_scatter {op.name}": reduce_scattered(op) for op in OPS}
    return result | {
        "all_gather": lambda x: rg.cat(F.all_gather(x)),
        "broadcast": lambda x: F.broadcast(x, last),
        "gather": lambda x: rg.cat(F.gather(x, last)),
        "scatter": lambda x: F.scatter(list(x.view(size, 1)), last),
        "all_to_all": a2a,
        "all_to_all_single": lambda x: F.all_to_all_single(rg.zeros_like(x), x),
    }


OPS = [ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX]


@pytest.mark.parametrize("name", collectives(0, 1))
def test_derivatives(rank, size, name):
    call = collectives(rank, size)[name]

    def program(everything):
        own = Replicated.apply(everything)[rank]
        return rg.stack(F.all_gather(call(own.sin())))

    generator = rg.Generator().manual_seed(3)  # ranks perturb the same element at the same time
    x = rg.randn(size, size, dtype=rg.float64, generator=generator).requires_grad_()
    rg.manual_seed(5)
    fast = size > 2  # every element of four ranks takes long where cores lack
    assert rg.autograd.gradcheck(program, (x,), check_forward_ad=True, fast_mode=fast)
    rg.manual_seed(5)
    assert rg.autograd.gradgradcheck(program, (x,), fast_mode=fast)


def test_results_are_those_of_the_collectives(rank, size):
    x = rg.arange(4.0) + rank
    everything = rg.stack([rg.arange(4.0) + other for other in range(size)])
    assert rg.equal(F.all_reduce(x), everything.sum(0)) and rg.equal(x, everything[rank])
    assert rg.equal(F.all_reduce(x, ReduceOp.MAX), everything.amax(0))
    assert rg.equal(rg.stack(F.all_gather(x)), everything)
    expected = everything.sum(0) if rank == 0 else rg.zeros(4)
    assert rg.equal(F.reduce(x, 0), expected)
    with pytest.raises(RuntimeError, match=r"ReduceOp\.BAND has no derivative"):
        F.all_reduce(x, ReduceOp.BAND)
    with pytest.raises(RuntimeError, match="invalid root rank"):
        F.broadcast(x, size)


def test_a_third_derivative(rank, size):
    x = rg.tensor([0.3 + rank], dtype=rg.float64, requires_grad=True)
    y = F.all_reduce(x.exp()).sum()
    for _ in range(3):
        (y,) = rg.autograd.grad(y, x, create_graph=True)
        y = y.sum()
    # The sum over ranks of what each computes has every exponential once for each rank.
    rg.testing.assert_close(y.detach(), size * x.detach().exp()[0])
    assert dist.get_world_size() == size
