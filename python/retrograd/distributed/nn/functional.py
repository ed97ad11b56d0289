"""Collectives as differentiable functions: they return new tensors, and have derivatives in both modes, of any order.

What is differentiated is the sum of what all processes compute: the VJP of each collective is another one. So every
process calls the same functions in the same order, runs the backward pass if one does, and has a tangent if one has.

>>> rg.distributed.init_process_group("gloo")
>>> x = rg.tensor([1.0, 2.0], requires_grad=True)
>>> rg.distributed.nn.functional.all_reduce(x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
>>> rg.distributed.destroy_process_group()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import retrograd as rg
from retrograd import distributed as dist
from retrograd._core import Tensor
from retrograd.autograd import Function
from retrograd.distributed._calls import Group, _check_root, _check_tensor, _check_tensors, _root
from retrograd.distributed._collectives import ReduceOp
from retrograd.distributed._groups import resolved

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

Tensors = tuple[Tensor, ...]


class _Linear:
    """A collective that is linear in its tensors: `run` does it, and `transposed` makes the one that is its VJP."""

    def __init__(self, run: Callable[[Tensors], Sequence[Tensor]], transposed: Callable[[], _Linear]) -> None:
        self.run, self.transposed = run, transposed

    def __call__(self, *tensors: Tensor) -> Tensors:
        result: Tensors = _Collective.apply(self, *tensors)
        return result


class _Collective(Function):
    @staticmethod
    def forward(ctx: Any, of: _Linear, *tensors: Tensor) -> Tensors:
        ctx.of, ctx.kinds = of, [(tensor.shape, tensor.dtype) for tensor in tensors]
        return tuple(of.run(tensors))

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        return (None, *ctx.of.transposed()(*cotangents))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Tensor | None) -> Any:
        # All processes take part, so that a tensor without a tangent has one of zeros.
        given = [
            rg.zeros(shape, dtype=dtype) if tangent is None else tangent
            for tangent, (shape, dtype) in zip(tangents, ctx.kinds, strict=True)
        ]
        return ctx.of(*given)


def _all_sum(group: Group) -> _Linear:
    def run(tensors: Tensors) -> list[Tensor]:
        result = _copy(tensors[0])
        dist.all_reduce(result, group=group)
        return [result]

    return _Linear(run, lambda: _all_sum(group))


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().clone(memory_format=rg.contiguous_format)


def _all_gathered(group: Group) -> _Linear:
    def run(tensors: Tensors) -> list[Tensor]:
        results = [_empty(tensors[0]) for _ in range(dist.get_world_size(group))]
        dist.all_gather(results, tensors[0].detach(), group)
        return results

    return _Linear(run, lambda: _sum_scattered(group))


def _empty(like: Tensor) -> Tensor:
    return rg.empty(like.shape, dtype=like.dtype)


def _zeros(like: Tensor) -> Tensor:
    return rg.zeros(like.shape, dtype=like.dtype)


def _sum_scattered(group: Group) -> _Linear:
    def run(tensors: Tensors) -> list[Tensor]:
        result = _empty(tensors[0])
        dist.reduce_scatter(result, [tensor.detach() for tensor in tensors], group=group)
        return [result]

    return _Linear(run, lambda: _all_gathered(group))


def _broadcast(root: int, group: Group) -> _Linear:
    def run(tensors: Tensors) -> list[Tensor]:
        result = _copy(tensors[0])
        dist.broadcast(result, group=group, group_src=root)
        return [result]

    return _Linear(run, lambda: _summed_at(root, group))


def _summed_at(root: int, group: Group) -> _Linear:
    def run(tensors: Tensors) -> list[Tensor]:
        result = _copy(tensors[0])
        dist.reduce(result, group=group, group_dst=root)
        return [result if dist.get_rank(group) == root else _zeros(result)]

    return _Linear(run, lambda: _broadcast(root, group))


def _gathered_at(root: int, group: Group) -> _Linear:
    def run(tensors: Tensors) -> list[Tensor]:
        here = dist.get_rank(group) == root
        results = [_zeros(tensors[0]) for _ in range(dist.get_world_size(group))]
        dist.gather(tensors[0].detach(), results if here else None, group=group, group_dst=root)
        return results

    return _Linear(run, lambda: _scattered_from(root, group))


def _scattered_from(root: int, group: Group) -> _Linear:
    def run(tensors: Tensors) -> list[Tensor]:
        result, here = _empty(tensors[0]), dist.get_rank(group) == root
        given = [tensor.detach() for tensor in tensors] if here else None
        dist.scatter(result, given, group=group, group_src=root)
        return [result]

    return _Linear(run, lambda: _gathered_at(root, group))


def _exchanged(shapes: Sequence[Sequence[int]], group: Group) -> _Linear:
    """Every process sends a tensor to each; those it gets have the `shapes`."""
    sent: list[Sequence[int]] = []

    def run(tensors: Tensors) -> list[Tensor]:
        sent[:] = [tensor.shape for tensor in tensors]
        results = [rg.empty(shape, dtype=tensors[0].dtype) for shape in shapes]
        dist.all_to_all(results, [tensor.detach() for tensor in tensors], group)
        return results

    return _Linear(run, lambda: _exchanged(sent, group))


# What is made of the tensors of all processes, stacked, by ops that are no sums.
_OF_STACKS: dict[ReduceOp, Callable[[Tensor], Tensor]] = {
    ReduceOp.PRODUCT: lambda stack: stack.prod(0),
    ReduceOp.MIN: lambda stack: stack.amin(0),
    ReduceOp.MAX: lambda stack: stack.amax(0),
}


def _of_stack(op: ReduceOp) -> Callable[[Tensor], Tensor]:
    if op not in _OF_STACKS:
        raise RuntimeError(f"ReduceOp.{op.name} has no derivative: call the collective of retrograd.distributed")
    return _OF_STACKS[op]


def _shared(result: Tensor, op: ReduceOp, group: Group) -> Tensor:
    return result / dist.get_world_size(group) if op is ReduceOp.AVG else result


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None) -> Tensor:
    """What `op` makes of the tensors of all processes: a sum, average, product, minimum or maximum.

    A product, minimum or maximum has the tensors of all processes in memory. Ties share the cotangent.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.all_reduce(rg.ones(2))
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        return _shared(_all_sum(group)(tensor)[0], op, group)
    return _of_stack(op)(rg.stack(all_gather(tensor, group)))


def all_gather(tensor: Tensor, group: Group = None) -> Tensors:
    """The tensors of all processes, by rank.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.all_gather(rg.ones(2))
    (tensor([1., 1.]),)
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    return _all_gathered(group)(tensor)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: ReduceOp = ReduceOp.SUM, group: Group = None
) -> Tensor:
    """What `op` makes of the tensors that all processes have for this one. It is written into `output` as well.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.reduce_scatter(rg.zeros(2), [rg.ones(2)])
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(output, "output")
    _check_tensors(input_list, "input_list")
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        result = _shared(_sum_scattered(group)(*input_list)[0], op, group)
    else:
        parts = _exchanged([output.shape] * len(input_list), group)(*input_list)
        result = _of_stack(op)(rg.stack(parts))
    output.detach().copy_(result.detach())
    return result


def broadcast(tensor: Tensor, src: int, group: Group = None) -> Tensor:
    """The tensor of the process `src`. Those of others say shape and dtype, and get a gradient of zeros.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.broadcast(rg.ones(2), 0)
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    return _broadcast(_checked_root("broadcast", group, src), group)(tensor)[0]


def _checked_root(name: str, group: Group, rank: int) -> int:
    root = _root(group, rank, None)
    _check_root(name, root, resolved(group)._collectives)
    return root


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Group = None) -> Tensor:
    """`all_reduce` for the process `dst`; the others get zeros.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.reduce(rg.ones(2), 0)
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    root = _checked_root("reduce", group, dst)
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        return _shared(_summed_at(root, group)(tensor)[0], op, group)
    result = _of_stack(op)(rg.stack(_gathered_at(root, group)(tensor)))
    if dist.get_rank(group) == root:
        return result
    return result.masked_fill(rg.tensor(True), 0)  # which keeps this process in the backward pass


def gather(tensor: Tensor, dst: int = 0, group: Group = None) -> Tensors:
    """The tensors of all processes, by rank, for the process `dst`; the others get zeros.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.gather(rg.ones(2))
    (tensor([1., 1.]),)
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    return _gathered_at(_checked_root("gather", group, dst), group)(tensor)


def scatter(tensors: list[Tensor], src: int = 0, group: Group = None) -> Tensor:
    """The tensor that the process `src` has for this one. Lists of others say shape and dtype.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.scatter([rg.ones(2)])
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensors(tensors, "tensors")
    return _scattered_from(_checked_root("scatter", group, src), group)(*tensors)[0]


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None) -> Tensors:
    """The tensors that each process has for this one, by rank. They are written into the outputs as well.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.all_to_all([rg.zeros(2)], [rg.ones(2)])
    (tensor([1., 1.]),)
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensors(output_tensor_list, "output_tensor_list")
    _check_tensors(input_tensor_list, "input_tensor_list")
    results = _exchanged([output.shape for output in output_tensor_list], group)(*input_tensor_list)
    for output, result in zip(output_tensor_list, results, strict=True):
        output.detach().copy_(result.detach())
    return results


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Group = None,
) -> Tensor:
    """`all_to_all` of parts of one tensor: of the sizes given, or of equal ones.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.nn.functional.all_to_all_single(rg.zeros(2), rg.ones(2))
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    size = dist.get_world_size(group)
    outputs = output.detach().split(output_split_sizes or _equal(output, size))
    return rg.cat(all_to_all(list(outputs), list(input.split(input_split_sizes or _equal(input, size))), group))


def _equal(tensor: Tensor, size: int) -> list[int]:
    if tensor.dim() == 0 or tensor.shape[0] % size:
        raise RuntimeError(
            f"Tensor's dim 0 does not divide equally across group size: {tuple(tensor.shape)} for {size} processes"
        )
    return [tensor.shape[0] // size] * size
