"""Reductions whose result depends on the number of processes alone: a balanced binary tree in the order of ranks.

MPI may add in another order for another size, or another number of processes a machine. Here process `j` gets part `j`
of every tensor, combines ranks 0 and 1, 2 and 3, ..., then neighbours of these, and gives the result to all. So the sum
of two processes that hold `a + b` and `c + d` has the bits of that of four that hold `a`, `b`, `c` and `d`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import retrograd as rg
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._collectives import ReduceOp
from retrograd.distributed._mpi._buffers import Buffers, combined
from retrograd.distributed._mpi._waiting import Steps


class Tree(NamedTuple):
    """Where messages of one reduction go: on `comm`, with a `tag` of its own."""

    comm: Any
    buffers: Buffers
    tag: int

    def send(self, tensor: Tensor, target: int) -> Any:
        return self.comm.Isend(self.buffers.of(tensor), target, self.tag)

    def receive(self, tensor: Tensor, source: int) -> Any:
        return self.comm.Irecv(self.buffers.of(tensor), source, self.tag)


def all_reduce(tree: Tree, memory: Tensor, op: ReduceOp) -> Steps:
    """Write into `memory`, of every process, what `op` makes of all of them."""
    rank, size = tree.comm.Get_rank(), tree.comm.Get_size()
    with no_grad():
        parts = list(memory.detach().view(-1).tensor_split(size))
    yield from reduce_scatter(tree, parts[rank], parts, op)
    others = [other for other in range(size) if other != rank]
    yield [tree.receive(parts[other], other) for other in others] + [tree.send(parts[rank], other) for other in others]


def reduce_scatter(tree: Tree, memory: Tensor, parts: Sequence[Tensor], op: ReduceOp) -> Steps:
    """Write into `memory` what `op` makes of the parts that all processes have for this one."""
    rank, size = tree.comm.Get_rank(), tree.comm.Get_size()
    others = [other for other in range(size) if other != rank]
    with no_grad():
        own = parts[rank].detach()
        received = {other: rg.empty_like(own, memory_format=rg.contiguous_format) for other in others}
    yield [tree.receive(received[other], other) for other in others] + [
        tree.send(parts[other], other) for other in others
    ]
    with no_grad():
        memory.detach().view(own.shape).copy_(balanced(op, [received.get(other, own) for other in range(size)]))


def balanced(op: ReduceOp, tensors: list[Tensor]) -> Tensor:
    """What `op` makes of the tensors: of neighbours, then of neighbours of these, until there is one."""
    while len(tensors) > 1:
        pairs = zip(tensors[::2], tensors[1::2], strict=False)
        tensors = [combined(op, low, high) for low, high in pairs] + tensors[len(tensors) & ~1 :]
    return tensors[0]
