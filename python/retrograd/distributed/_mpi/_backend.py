"""The collectives of MPI: each begins one of its non-blocking calls on the memory of the tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import retrograd as rg
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._collectives import Collectives, ReduceOp
from retrograd.distributed._debug import DebugLevel, get_debug_level
from retrograd.distributed._mpi import _ending, _trees
from retrograd.distributed._mpi._buffers import Buffers, adjacent, check_op, packed, written
from retrograd.distributed._mpi._debug import Comparison
from retrograd.distributed._mpi._presence import Presence
from retrograd.distributed._mpi._saying import say
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
        self.progress: Progress = world.progress if world else Progress(MPI.Query_thread() == MPI.THREAD_MULTIPLE)
        self.broken, self.last, self.sequence = "", "", 0
        self.buffers: Buffers = Buffers(MPI) if world is None else world.buffers
        self._kept: list[Any] = [] if world is None else world._kept
        self._presence: Presence | None = None
        self._comm = self._duplicate(comm) if world is None else comm
        self._inner = self._duplicate(comm)
        self._presence = Presence(MPI, self._comm, ranks)
        # Its last line is there where the launcher ends all processes without a word of theirs.
        self._told = self.world.rank == 0 and get_debug_level() is not DebugLevel.OFF
        self._comparison = Comparison(self, self._duplicate(comm)) if get_debug_level() is DebugLevel.DETAIL else None
        if world is None:
            _ending.watch(self)

    def _duplicate(self, comm: Any) -> Any:
        duplicate, request = comm.Idup()
        Pending(self, "making a group", _until(request)).wait_for(self.timeout)
        return duplicate

    def keep(self, work: Any) -> None:
        """Hold the memory of work that failed, to which MPI may still write."""
        self._kept.append(work)

    def gone(self, work: Pending) -> str:
        """Which processes the work needs are known to be gone."""
        if self._presence is None:
            return ""
        found = self._presence.gone(work.sequence, work.needed)
        return "; ".join(f"rank {peer.rank} {peer.fate}, and began {peer.last} last" for peer in found)

    def whereabouts(self, name: str, sequence: int | None) -> str:
        """Where processes are that have not come as far, or are at something else."""
        if self._presence is None:
            return ""
        peers = self._presence.peers()
        late = [
            peer
            for peer in peers
            if peer.fate
            or sequence is None
            or peer.sequence < sequence
            or (peer.sequence == sequence and peer.last != name)
        ]
        found = [
            f"rank {peer.rank} began {peer.last} last" + (f", and {peer.fate}" if peer.fate else "") for peer in late
        ]
        if elsewhere := self.size - 1 - len(peers):
            found.append(f"of {elsewhere} process(es) on other machines nothing is known")
        return f" ({'; '.join(found)})" if found else ""

    def _begin(
        self,
        name: str,
        facts: Sequence[Any],
        steps: Steps,
        outputs: Sequence[Tensor] = (),
        limit: float | None = None,
    ) -> Pending:
        """Begin a collective. The `facts` are what has to be the same in all processes."""
        self._check_whole(name)
        self.sequence += 1
        self.last = f"{name} #{self.sequence}"
        assert self._presence is not None
        self._presence.enter(self.last, self.sequence)
        if self._told:
            say(f"rank {self.world.rank} begins {self.last}")
        if self._comparison is not None:
            self._comparison.check(self.last, f"{self.last}({_signature(facts)})")
        written(outputs)
        return Pending(self, self.last, steps, self.sequence, None, limit)

    def _begin_message(self, name: str, steps: Steps, needed: list[int], outputs: Sequence[Tensor] = ()) -> Pending:
        self._check_whole(name)
        self.last = name
        assert self._presence is not None
        self._presence.enter(name, self.sequence)
        written(outputs)
        return Pending(self, name, steps, None, needed, None)

    def _check_whole(self, name: str) -> None:
        if self.broken:
            raise DistBackendError(f"{name}: the group cannot be used any more, since {self.broken}")

    def all_reduce(self, tensor: Tensor, op: ReduceOp) -> Work:
        check_op(tensor, op)
        return self._begin("all_reduce", [tensor, op], self._all_reduce(tensor, op), [tensor])

    def _all_reduce(self, tensor: Tensor, op: ReduceOp) -> Steps:
        memory = packed(tensor)
        if rg.are_deterministic_algorithms_enabled():
            yield from _trees.all_reduce(self._tree(), memory, op)
        else:
            buffers = self.buffers
            yield [self._comm.Iallreduce(self.MPI.IN_PLACE, buffers.of(memory), buffers.op(memory, op))]
        self._hand_over(memory, tensor, op)

    def _hand_over(self, memory: Tensor, tensor: Tensor, op: ReduceOp) -> None:
        """Make of a sum the average that was asked for, and bring it to where it belongs."""
        if op is not ReduceOp.AVG and memory is tensor:
            return
        with no_grad():
            if op is ReduceOp.AVG:
                memory.detach().div_(self.size)
            if memory is not tensor:
                tensor.copy_(memory)

    def _tree(self) -> _trees.Tree:
        return _trees.Tree(self._inner, self.buffers, self.sequence % LARGEST_TAG)

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp) -> Work:
        check_op(tensor, op)
        return self._begin(
            "reduce", [tensor, op, root], self._reduce(tensor, root, op), [tensor] if self.rank == root else []
        )

    def _reduce(self, tensor: Tensor, root: int, op: ReduceOp) -> Steps:
        memory, here = packed(tensor), self.rank == root
        if rg.are_deterministic_algorithms_enabled():
            memory = memory if here else memory.detach().clone()
            yield from _trees.all_reduce(self._tree(), memory, op)
        else:
            buffer, combine = self.buffers.of(memory), self.buffers.op(memory, op)
            given, result = (self.MPI.IN_PLACE, buffer) if here else (buffer, None)
            yield [self._comm.Ireduce(given, result, combine, root)]
        if here:
            self._hand_over(memory, tensor, op)

    def broadcast(self, tensor: Tensor, root: int) -> Work:
        return self._begin(
            "broadcast", [tensor, root], self._broadcast(tensor, root), [tensor] if self.rank != root else []
        )

    def _broadcast(self, tensor: Tensor, root: int) -> Steps:
        memory = packed(tensor)
        yield [self._comm.Ibcast(self.buffers.of(memory), root)]
        if memory is not tensor and self.rank != root:
            _copy(tensor, memory)

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor) -> Work:
        return self._begin("all_gather", outputs, self._all_gather(outputs, tensor), outputs)

    def _all_gather(self, outputs: Sequence[Tensor], tensor: Tensor) -> Steps:
        given, block = packed(tensor), _Block(outputs)
        yield [self._comm.Iallgatherv(self.buffers.of(given), block.spread(self.buffers))]
        block.unpack()

    def gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int) -> Work:
        return self._begin("gather", [tensor.dtype, root], self._gather(outputs, tensor, root), outputs)

    def _gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int) -> Steps:
        given, here = packed(tensor), self.rank == root
        block = _Block(outputs) if here else None
        result = block.spread(self.buffers) if block else None
        yield [self._comm.Igatherv(self.buffers.of(given), result, root)]
        if block:
            block.unpack()

    def scatter(self, output: Tensor, tensors: Sequence[Tensor], root: int) -> Work:
        return self._begin("scatter", [output.dtype, root], self._scatter(output, tensors, root), [output])

    def _scatter(self, output: Tensor, tensors: Sequence[Tensor], root: int) -> Steps:
        memory = packed(output)
        block = _Block(tensors, pack=True) if self.rank == root else None  # alive until the bytes are away
        given = block.spread(self.buffers) if block else None
        yield [self._comm.Iscatterv(given, self.buffers.of(memory), root)]
        if memory is not output:
            _copy(output, memory)

    def reduce_scatter(self, output: Tensor, tensors: Sequence[Tensor], op: ReduceOp) -> Work:
        check_op(output, op)
        return self._begin("reduce_scatter", [*tensors, op], self._reduce_scatter(output, tensors, op), [output])

    def _reduce_scatter(self, output: Tensor, tensors: Sequence[Tensor], op: ReduceOp) -> Steps:
        memory, buffers = packed(output), self.buffers
        if rg.are_deterministic_algorithms_enabled():
            parts = [packed(tensor) for tensor in tensors]
            yield from _trees.reduce_scatter(self._tree(), memory, parts, op)
        else:
            block = _Block(tensors, pack=True)
            yield [self._comm.Ireduce_scatter_block(block.each(buffers), buffers.of(memory), buffers.op(memory, op))]
        self._hand_over(memory, output, op)

    def all_to_all(self, outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> Work:
        return self._begin("all_to_all", [outputs[0].dtype], self._all_to_all(outputs, tensors), outputs)

    def _all_to_all(self, outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> Steps:
        given, block = _Block(tensors, pack=True), _Block(outputs)
        # Sizes that are equal here need not be so elsewhere, so all processes make the call that admits others.
        yield [self._comm.Ialltoallv(given.spread(self.buffers), block.spread(self.buffers))]
        block.unpack()

    def barrier(self, timeout: float | None = None) -> Work:
        return self._begin("barrier", [], self._barrier(), (), timeout)

    def _barrier(self) -> Steps:
        yield [self._comm.Ibarrier()]

    def send(self, tensor: Tensor, target: int, tag: int, name: str = "send") -> Work:
        return self._begin_message(
            f"{name} to {self.ranks[target]}", self._send(tensor, target, tag), [self.ranks[target]]
        )

    def _send(self, tensor: Tensor, target: int, tag: int) -> Steps:
        memory = packed(tensor)
        yield [self._comm.Isend(self.buffers.of(memory), target, tag)]

    def receive(self, tensor: Tensor, source: int | None, tag: int, name: str = "recv") -> Work:
        place, needed = ("any", []) if source is None else (self.ranks[source], [self.ranks[source]])
        return self._begin_message(f"{name} from {place}", self._receive(tensor, source, tag), needed, [tensor])

    def _receive(self, tensor: Tensor, source: int | None, tag: int) -> Steps:
        memory, place = packed(tensor), self.MPI.ANY_SOURCE if source is None else source
        status = yield [self._comm.Irecv(self.buffers.of(memory), place, tag)]
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
        # Making a communicator is a call that waits without a limit: first see that all are there.
        if not local:
            self._begin("new_group", ranks, self._barrier()).wait()
        elif self.rank in ranks:
            others = [rank for rank in ranks if rank != self.rank]
            self._begin_message("new_group", self._greet(others), [self.ranks[rank] for rank in others]).wait()
        if self.rank not in ranks:
            return None
        group = self._comm.Get_group().Incl(ranks)
        comm = self._comm.Create_group(group, LARGEST_TAG)
        return Mpi(self.MPI, comm, [self.ranks[rank] for rank in ranks], timeout, self.world)

    def _greet(self, others: list[int]) -> Steps:
        empty = rg.empty(0)
        tree = _trees.Tree(self._inner, self.buffers, LARGEST_TAG)
        yield [tree.receive(empty, other) for other in others] + [tree.send(empty, other) for other in others]

    def leave(self) -> str:
        """Tell the others that this process takes part in nothing any more. Return why it cannot do so in order."""
        if self._presence is not None:
            self._presence.leave()
        if self.world is self:
            self.progress.stop()
        return self.broken or next((work.broken for work in self._kept), "")

    def close(self) -> None:
        if self.leave():
            return  # MPI would wait, and the process ends all when it ends
        if self._comparison is not None:
            self._comparison.close()
        self._inner.Free()
        self._comm.Free()
        if self.world is self:
            _ending.forget(self)


def _signature(facts: Sequence[Any]) -> str:
    """What has to be the same in all processes, in words."""
    return ", ".join(
        f"{tuple(fact.shape)} {fact.dtype}"
        if isinstance(fact, Tensor)
        else f"rank {fact}"
        if isinstance(fact, int)
        else str(fact)
        for fact in facts
    )


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
        memory, count, datatype = buffers.parts(self._first, sum(self._counts))
        return [memory, count // len(self._counts), datatype]

    def spread(self, buffers: Buffers) -> list[Any]:
        """Each of them, for calls that give processes more or less."""
        return buffers.parts(self._first, self._counts)

    def unpack(self) -> None:
        """Bring what was written to where it belongs."""
        if not self._own:
            with no_grad():
                for tensor, part in zip(self._tensors, self._first.split(self._counts), strict=True):
                    tensor.copy_(part.view(tensor.shape))
