"""The collectives of MPI: each begins one of its non-blocking calls on the memory of the tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import retrograd as rg
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._collectives import Collectives, ReduceOp
from retrograd.distributed._mpi import _trees
from retrograd.distributed._mpi._buffers import Buffers, adjacent, check_op, packed, written
from retrograd.distributed._mpi._waiting import Pending, Progress, Steps
from retrograd.distributed._work import DEFAULT_TIMEOUT, DistBackendError, Work

# What MPI promises to take as a tag.
LARGEST_TAG = 32767


class Mpi(Collectives):
    """The collectives of an MPI communicator.

    `ranks` are the numbers of its processes in the world. MPI keeps messages apart from collectives; a second
    communicator keeps those that collectives of this package are made of apart from the ones of users.
    """

    def __init__(self, MPI: Any, comm: Any, ranks: list[int], timeout: float | None, world: Mpi | None) -> None:
        self.MPI, self.ranks = MPI, ranks
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.timeout = DEFAULT_TIMEOUT.total_seconds() if timeout is None else timeout
        self.world = world or self
        self.progress = world.progress if world else Progress()
        self.broken = ""
        self.sequence = 0
        self._kept: list[Any] = [] if world is None else world._kept
        self._buffers = Buffers(MPI) if world is None else world._buffers
        self._comm = self._duplicate(comm) if world is None else comm
        self._inner = self._duplicate(comm)

    def _duplicate(self, comm: Any) -> Any:
        duplicate, request = comm.Idup()
        Pending(self, "making a group", _until(request)).wait_for(self.timeout)
        return duplicate

    def keep(self, work: Any) -> None:
        """Hold the memory of work that failed, to which MPI may still write."""
        self._kept.append(work)

    def gone(self) -> str:
        """Which processes are known to be gone."""
        return ""

    def whereabouts(self) -> str:
        """Where the processes are known to be."""
        return ""

    def _begin(self, name: str, steps: Steps, outputs: Sequence[Tensor] = ()) -> Work:
        if self.broken:
            raise DistBackendError(f"{name}: the group cannot be used any more, since {self.broken}")
        self.sequence += 1
        written(outputs)
        work = Pending(self, f"{name} #{self.sequence}", steps)
        if not work._done:
            self.progress.add(work)
        return work

    def all_reduce(self, tensor: Tensor, op: ReduceOp) -> Work:
        check_op(tensor, op)
        return self._begin("all_reduce", self._all_reduce(tensor, op), [tensor])

    def _all_reduce(self, tensor: Tensor, op: ReduceOp) -> Steps:
        memory = packed(tensor)
        if rg.are_deterministic_algorithms_enabled():
            yield from _trees.all_reduce(self._tree(), memory, op)
        else:
            buffers = self._buffers
            yield [self._comm.Iallreduce(self.MPI.IN_PLACE, buffers.of(memory), buffers.op(memory, op))]
        self._hand_over(memory, tensor, op)

    def _hand_over(self, memory: Tensor, tensor: Tensor, op: ReduceOp) -> None:
        """Make of a sum the average that was asked for, and bring it to where it belongs."""
        with no_grad():
            if op is ReduceOp.AVG:
                memory.detach().div_(self.size)
            if memory is not tensor:
                tensor.copy_(memory)

    def _tree(self) -> _trees.Tree:
        return _trees.Tree(self._inner, self._buffers, self.sequence % LARGEST_TAG)

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp) -> Work:
        check_op(tensor, op)
        return self._begin("reduce", self._reduce(tensor, root, op), [tensor] if self.rank == root else [])

    def _reduce(self, tensor: Tensor, root: int, op: ReduceOp) -> Steps:
        memory, here = packed(tensor), self.rank == root
        if rg.are_deterministic_algorithms_enabled():
            memory = memory if here else memory.detach().clone()
            yield from _trees.all_reduce(self._tree(), memory, op)
        else:
            buffer, combine = self._buffers.of(memory), self._buffers.op(memory, op)
            given, result = (self.MPI.IN_PLACE, buffer) if here else (buffer, None)
            yield [self._comm.Ireduce(given, result, combine, root)]
        if here:
            self._hand_over(memory, tensor, op)

    def broadcast(self, tensor: Tensor, root: int) -> Work:
        return self._begin("broadcast", self._broadcast(tensor, root), [tensor] if self.rank != root else [])

    def _broadcast(self, tensor: Tensor, root: int) -> Steps:
        memory = packed(tensor)
        yield [self._comm.Ibcast(self._buffers.of(memory), root)]
        if memory is not tensor and self.rank != root:
            _copy(tensor, memory)

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor) -> Work:
        return self._begin("all_gather", self._all_gather(outputs, tensor), outputs)

    def _all_gather(self, outputs: Sequence[Tensor], tensor: Tensor) -> Steps:
        given, block = packed(tensor), _Block(outputs)
        yield [self._comm.Iallgatherv(self._buffers.of(given), block.spread(self._buffers))]
        block.unpack()

    def gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int) -> Work:
        return self._begin("gather", self._gather(outputs, tensor, root), outputs)

    def _gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int) -> Steps:
        given, here = packed(tensor), self.rank == root
        block = _Block(outputs) if here else None
        result = block.spread(self._buffers) if block else None
        yield [self._comm.Igatherv(self._buffers.of(given), result, root)]
        if block:
            block.unpack()

    def scatter(self, output: Tensor, tensors: Sequence[Tensor], root: int) -> Work:
        return self._begin("scatter", self._scatter(output, tensors, root), [output])

    def _scatter(self, output: Tensor, tensors: Sequence[Tensor], root: int) -> Steps:
        memory = packed(output)
        given = _Block(tensors, pack=True).spread(self._buffers) if self.rank == root else None
        yield [self._comm.Iscatterv(given, self._buffers.of(memory), root)]
        if memory is not output:
            _copy(output, memory)

    def reduce_scatter(self, output: Tensor, tensors: Sequence[Tensor], op: ReduceOp) -> Work:
        check_op(output, op)
        return self._begin("reduce_scatter", self._reduce_scatter(output, tensors, op), [output])

    def _reduce_scatter(self, output: Tensor, tensors: Sequence[Tensor], op: ReduceOp) -> Steps:
        memory, buffers = packed(output), self._buffers
        if rg.are_deterministic_algorithms_enabled():
            parts = [packed(tensor) for tensor in tensors]
            yield from _trees.reduce_scatter(self._tree(), memory, parts, op)
        else:
            block = _Block(tensors, pack=True)
            yield [self._comm.Ireduce_scatter_block(block.each(buffers), buffers.of(memory), buffers.op(memory, op))]
        self._hand_over(memory, output, op)

    def all_to_all(self, outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> Work:
        return self._begin("all_to_all", self._all_to_all(outputs, tensors), outputs)

    def _all_to_all(self, outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> Steps:
        given, block = _Block(tensors, pack=True), _Block(outputs)
        # Sizes that are equal here need not be so elsewhere, so all processes make the call that admits others.
        yield [self._comm.Ialltoallv(given.spread(self._buffers), block.spread(self._buffers))]
        block.unpack()

    def barrier(self, timeout: float | None = None) -> Work:
        return self._begin("barrier", self._barrier())

    def _barrier(self) -> Steps:
        yield [self._comm.Ibarrier()]

    def send(self, tensor: Tensor, target: int, tag: int, name: str = "send") -> Work:
        return self._begin(f"{name} to {self.ranks[target]}", self._send(tensor, target, tag))

    def _send(self, tensor: Tensor, target: int, tag: int) -> Steps:
        memory = packed(tensor)
        yield [self._comm.Isend(self._buffers.of(memory), target, tag)]

    def receive(self, tensor: Tensor, source: int | None, tag: int, name: str = "recv") -> Work:
        place = "any" if source is None else self.ranks[source]
        return self._begin(f"{name} from {place}", self._receive(tensor, source, tag), [tensor])

    def _receive(self, tensor: Tensor, source: int | None, tag: int) -> Steps:
        memory, place = packed(tensor), self.MPI.ANY_SOURCE if source is None else source
        status = yield [self._comm.Irecv(self._buffers.of(memory), place, tag)]
        count = status.Get_elements(self.MPI.BYTE)
        if count != tensor.numel() * tensor.element_size():
            raise DistBackendError(
                f"recv: the message has {count} bytes, and the tensor of shape {tuple(tensor.shape)} and dtype "
                f"{tensor.dtype} has {tensor.numel() * tensor.element_size()}"
            )
        if memory is not tensor:
            _copy(tensor, memory)
        return self.ranks[status.Get_source()]

    def subset(self, ranks: list[int], timeout: float | None, local: bool) -> Collectives | None:
        if not local:
            work = self._begin("new_group", self._barrier())
            work.wait()
        if self.rank not in ranks:
            return None
        group = self._comm.Get_group().Incl(ranks)
        comm = self._comm.Create_group(group, self.sequence % LARGEST_TAG)
        return Mpi(self.MPI, comm, [self.ranks[rank] for rank in ranks], timeout, self.world)

    def close(self) -> None:
        if not self.broken:
            self._inner.Free()
            self._comm.Free()


def _until(request: Any) -> Steps:
    yield [request]
    return None


def _copy(tensor: Tensor, memory: Tensor) -> None:
    with no_grad():
        tensor.copy_(memory)


class _Block:
    """Tensors as one block of memory: their own if they follow each other in it, else a new one."""

    def __init__(self, tensors: Sequence[Tensor], pack: bool = False) -> None:
        self._tensors, self._own = tensors, adjacent(tensors)
        self._counts = [tensor.numel() for tensor in tensors]
        self._first = tensors[0]
        if not self._own:
            with no_grad():
                if pack:
                    self._first = rg.cat([packed(tensor).detach().reshape(-1) for tensor in tensors])
                else:
                    self._first = rg.empty(sum(self._counts), dtype=tensors[0].dtype)

    def each(self, buffers: Buffers) -> list[Any]:
        """All of them, for the call that counts the elements of one."""
        memory, _, datatype = buffers.parts(self._first, sum(self._counts))
        return [memory, buffers.parts(self._first, self._counts[0])[1], datatype]

    def spread(self, buffers: Buffers) -> list[Any]:
        """Each of them, for calls that give processes more or less."""
        return buffers.parts(self._first, self._counts)

    def unpack(self) -> None:
        """Bring what was written to where it belongs."""
        if not self._own:
            with no_grad():
                for tensor, part in zip(self._tensors, self._first.split(self._counts), strict=True):
                    tensor.copy_(part.view(tensor.shape))
