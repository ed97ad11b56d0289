"""Averages gradients over processes while the backward pass that makes them still runs."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._calls import all_reduce, broadcast
from retrograd.distributed._collectives import ReduceOp
from retrograd.distributed._grad_buckets import GradBucket
from retrograd.distributed._groups import ProcessGroup
from retrograd.nn.parallel._buckets import Bucket, assign
from retrograd.nn.parallel._texts import TWICE, changed, unfinished

Hook = Callable[[Any, GradBucket], Any]

_HALVES = (_core.float16, _core.bfloat16)
_NESTED = (
    "Using DistributedDataParallel with create_graph=True  is not well-supported. The higher-order gradient will  not "
    "be synchronized across ranks, and backpropagation  through all_reduce operations will not occur. The gradients "
    "are averaged as plain values: call autograd.grad for derivatives of gradients, before backward"
)


class Reducer:
    """Sends the gradients of parameters as they become ready, bucket by bucket, and waits for them at the end.

    An iteration begins with `prepare`, which the forward pass calls. A hook of each parameter then says that its
    gradient is there. The bucket that it belongs to is sent once all of its gradients are, and all buckets before it
    were: processes send in one order, whatever order their passes take. When the last one is sent, `_finish` is left
    for the end of the pass.

    Args: `limits` the bytes of the first bucket, of any other, and of a gradient that has one to itself; `views`
    whether gradients stay parts of the buckets.
    """

    def __init__(
        self,
        named: Sequence[tuple[str, Tensor]],
        group: ProcessGroup,
        limits: tuple[int, int, int],
        find_unused: bool,
        static: bool,
        views: bool,
    ) -> None:
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]
        self.group, self.world, self.rank = group, group.size(), group.rank()
        self.limits, self.find_unused, self.static, self.views = limits, find_unused and not static, static, views
        self.state: Any = None
        self.hook: Hook | None = None
        self.divisor: Any = self.world  # or a handle and the tensor that holds the number, when it is done
        self.by_world = True  # whether it is the number of all processes
        self.expecting = False  # whether gradients of the next pass are to be averaged
        self.begun = False  # whether gradients of an iteration are there, and it has not ended
        self.finished = 0  # iterations that ended
        self.ready: set[int] = set()
        self.unused: set[int] = set()
        self.used = _core.zeros(len(named), dtype=_core.int32)
        self.order: list[int] = []
        self.rebuilt = False
        self.counts = [0] * len(named)  # of gradients of each parameter, in the first iteration of a static graph
        self.left: list[int] = []
        self.queued = False
        self.balanced = False  # whether gradients that are not averaged yet are set aside, for a balanced sum
        self.aside: dict[int, list[tuple[int, Tensor]]] = {}
        self.flying: list[Any] = []  # handles or futures of what may be under way
        self._index = {id(parameter): index for index, parameter in enumerate(self.parameters)}
        self._build(range(len(named) - 1, -1, -1))
        # With nothing to send, all to be known of gradients is whose there are: a list notes it in 0.2 us each.
        self.idle = self.world == 1
        self._handles: list[Any] = []
        self._arrived: list[Tensor] = []
        weakref.finalize(self, _remove, self._handles)
        self._listen()

    def _listen(self) -> None:
        """Let gradients be told of."""
        _remove(self._handles)
        this = weakref.ref(self)
        for index, parameter in enumerate(self.parameters):
            tell = self._arrived.append if self.idle else _caller(this, index)
            self._handles.append(parameter.register_post_accumulate_grad_hook(tell))

    def wake(self) -> None:
        """Do all that several processes do, for a hook or a balanced sum."""
        if self.idle:
            self.idle = False
            self._listen()

    def pause(self) -> None:
        """Begin an iteration whose gradients are added up and not averaged."""
        self.expecting = False
        self._arrived.clear()

    def _prepare_alone(self) -> None:
        """`prepare` where there is nothing to send: it checks the iteration before."""
        if self._arrived and self.expecting:
            arrived = {self._index[id(parameter)] for parameter in self._arrived}
            self.finished += 1
            if len(arrived) < len(self.parameters) and not (self.find_unused or self.static):
                self.ready = arrived
                raise self._unfinished()
        self._arrived.clear()
        self.expecting = True

    def _build(self, order: Iterable[int]) -> None:
        """Divide the gradients, which become ready in this order, into buckets."""
        indices = list(order)
        parts = assign([self.parameters[index] for index in indices], *self.limits)
        members = [[indices[position] for position in part] for part in parts]
        self.buckets = [Bucket(part, [self.parameters[index] for index in part]) for part in members]
        self.places = [(0, 0)] * len(indices)
        for number, part in enumerate(members):
            for position, index in enumerate(part):
                self.places[index] = (number, position)
        self.next = 0

    # ---- the start of an iteration

    def prepare(self, outputs: Iterable[Tensor]) -> None:
        """Begin an iteration, of which the forward pass gave `outputs`.

        Raises: RuntimeError if the one before has not ended, because a parameter got no gradient.
        """
        if self.idle:
            self._prepare_alone()
            return
        if self.begun:
            raise self._unfinished()
        self.rebuild()
        self._reset()
        if self.find_unused:
            self.unused = set(range(len(self.parameters))) - self._reached(outputs)
        elif self.static and self.finished:
            self.unused = {index for index, count in enumerate(self.counts) if count == 0}
        elif self.static:
            for output in outputs:
                if output.requires_grad:
                    output.register_hook(lambda _: self._queue_first())
        if len(self.unused) == len(self.parameters):  # no hook will tell that the other processes wait
            self.begun = True
            self._mark_unused()
            self._finish()

    def _reset(self) -> None:
        self.expecting, self.queued, self.next = True, False, 0
        self.ready.clear()
        self.left = list(self.counts)
        for bucket in self.buckets:
            bucket.pending, bucket.result = len(bucket.members), None

    def rebuild(self) -> None:
        """After the first iteration, divide gradients anew, in the order in which those of rank 0 became ready."""
        if self.rebuilt or not self.finished or self.find_unused:
            return
        self.rebuilt = True
        if self.world == 1:
            return
        own = self.order if len(self.order) == len(self.parameters) else self._in_buckets()
        order = _core.tensor(own, dtype=_core.int64)
        broadcast(order, group=self.group, group_src=0)
        self._build(order.tolist())

    def _in_buckets(self) -> list[int]:
        return [index for bucket in self.buckets for index in bucket.members]

    def _reached(self, outputs: Iterable[Tensor]) -> set[int]:
        """The parameters that the graph of some tensors leads to."""
        reached: set[int] = set()
        seen: set[Any] = set()
        waiting: list[Any] = []
        for output in outputs:
            if (index := self._index.get(id(output))) is not None:
                reached.add(index)  # a parameter that the module returned as it is
            waiting.append(output.grad_fn)
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None and (index := self._index.get(id(variable))) is not None:
                reached.add(index)
            waiting += [following for following, _ in node.next_functions]
        return reached

    # ---- gradients that become ready

    def _got(self, index: int) -> None:
        """A gradient was added to the parameter."""
        if not self.expecting:
            if self.balanced:
                self._set_aside(index)
            return
        if self.aside:
            self._take_back(index)
        if not self.begun:
            self.begun = True
            self._mark_unused()
        if not self.rebuilt and index not in self.ready:
            self.order.append(index)
        if self.static:
            if not self.finished:
                self.counts[index] += 1
                self._queue_first()
                return
            self.left[index] -= 1
            if self.left[index] > 0:
                return
            if self.left[index] < 0:
                raise RuntimeError(changed(self.rank, [self.names[index]], "got one more gradient"))
        self._mark(index)

    def _set_aside(self, index: int) -> None:
        """Keep the gradient for a sum in which each addition joins two sums of equally many gradients."""
        parameter = self.parameters[index]
        grad = parameter.grad
        assert grad is not None
        sums = self.aside.setdefault(index, [])
        sums.append((1, grad.detach()))
        parameter.grad = None
        while len(sums) > 1 and sums[-1][0] == sums[-2][0]:
            _join_last(sums)

    def _take_back(self, index: int) -> None:
        """Let the gradient be the sum with those that were set aside."""
        if index in self.aside:
            self._set_aside(index)
            sums = self.aside.pop(index)
            while len(sums) > 1:
                _join_last(sums)
            self.parameters[index].grad = sums[0][1]

    def _mark_unused(self) -> None:
        self._mark_all(self.unused)
        self.unused = set()

    def _mark_all(self, indices: Iterable[int]) -> None:
        for index in sorted(indices):
            self._mark(index)

    def _mark(self, index: int) -> None:
        """The gradient is as it is to be sent."""
        if index in self.ready:
            raise RuntimeError(f"{TWICE}Parameter at index {index} with name {self.names[index]} has been marked twice")
        self.ready.add(index)
        number, position = self.places[index]
        bucket = self.buckets[number]
        self._gather(index, bucket, position)
        bucket.pending -= 1
        while self.next < len(self.buckets) and self.buckets[self.next].pending == 0:
            self._launch(self.next)
            self.next += 1
            if self.next == len(self.buckets) and not self.queued:
                self._queue(self._finish)
        self._advance()

    def _queue(self, call: Callable[[], None]) -> None:
        """Call at the end of the pass under way, if there is one."""
        try:
            _core._queue_callback(call)
        except RuntimeError:  # there is none: every parameter is unused, and `prepare` will do it
            return
        self.queued = True

    def _gather(self, index: int, bucket: Bucket, position: int) -> None:
        """Put the gradient, divided, into the memory that is sent; or lend its own."""
        parameter = self.parameters[index]
        grad = parameter.grad
        if grad is None:
            if bucket.alone:
                bucket.clear()
                return
            if bucket.buffer is None:
                bucket.allocate()
            bucket.slots[position].zero_()
            return
        if self.find_unused or self.static:
            self.used[index] = 1
        if grad.layout != _core.strided:
            raise RuntimeError(
                f"DistributedDataParallel: the gradient of {self.names[index]} is {grad.layout}; dense gradients alone "
                "are averaged: leave sparse=True out of the module that makes it"
            )
        if grad.requires_grad:
            warnings.warn(_NESTED, stacklevel=3)
            grad = grad.detach()
        divisor = self._divide_by(bucket.dtype)
        if bucket.alone and grad.is_contiguous():
            bucket.lend(grad)
            if divisor != 1:
                grad.data.div_(divisor)
            return
        if bucket.buffer is None or bucket.alone:
            bucket.allocate()
        slot = bucket.slots[position]
        if divisor == 1:
            if grad.data_ptr() != slot.data_ptr():
                slot.copy_(grad)
        elif grad.data_ptr() == slot.data_ptr():
            slot.div_(divisor)
        else:
            _core.div(grad, divisor, out=slot)
        if self.views:
            parameter.grad = slot

    def _divide_by(self, dtype: Any) -> Any:
        """What a gradient is divided by before it is sent; halves are divided in float32 on the way, if they can be."""
        if self.hook is not None:
            return 1
        if not isinstance(self.divisor, int):
            work, number = self.divisor
            work.wait()
            self.divisor = int(number.item())
        return 1 if self.by_world and dtype in _HALVES else self.divisor

    # ---- sending

    def _launch(self, number: int) -> None:
        bucket = self.buckets[number]
        assert bucket.buffer is not None
        if self.hook is None:
            op = ReduceOp.AVG if self.by_world and bucket.dtype in _HALVES else ReduceOp.SUM
            bucket.result = all_reduce(bucket.buffer, op, self.group, async_op=True)
            self.flying.append(bucket.result)
            return
        parameters = [self.parameters[index] for index in bucket.members]
        shown = GradBucket(number, bucket.buffer, bucket.slots, parameters, number == len(self.buckets) - 1)
        bucket.result = self.hook(self.state, shown)
        if not (hasattr(bucket.result, "then") and hasattr(bucket.result, "wait")):
            kind = type(bucket.result).__name__
            raise RuntimeError(
                f"callback must return a torch.futures.Future object, but got {kind}: a communication hook returns "
                "all_reduce(..., async_op=True).get_future(), or what its `then` gives"
            )
        self.flying.append(bucket.result)

    def _advance(self) -> None:
        """Let collectives under way make progress: MPI makes it inside of calls."""
        if self.hook is None:
            self.flying = [work for work in self.flying if not work.is_completed()]
        else:
            self.flying = [future for future in self.flying if not future.done()]

    @no_grad()
    def _finish(self) -> None:
        """Wait for what was sent, and let each parameter have its part."""
        shared = self._share_used()
        for bucket in self.buckets:
            value = bucket.result.wait()
            bucket.result = None
            if self.hook is not None:
                value = value[0] if isinstance(value, list | tuple) else value
                assert bucket.buffer is not None
                if value.data_ptr() != bucket.buffer.data_ptr():
                    bucket.buffer.copy_(value.view(-1))
            for index, slot in zip(bucket.members, bucket.slots, strict=True):
                self._give(self.parameters[index], slot, shared is None or shared[index] > 0)
            if bucket.alone:
                bucket.buffer, bucket.slots = None, []
        self._end()

    def _share_used(self) -> list[int] | None:
        """How many processes used each parameter, where some may have used none."""
        if not (self.find_unused or (self.static and not self.finished)):
            return None
        all_reduce(self.used, group=self.group)
        shared: list[int] = self.used.tolist()
        self.used.zero_()
        return shared

    def _give(self, parameter: Tensor, slot: Tensor, used: bool) -> None:
        """Let the gradient be what came back, if any process has one."""
        grad = parameter.grad
        if not used or (grad is not None and grad.data_ptr() == slot.data_ptr()):
            return
        if self.views or grad is None:
            parameter.grad = slot if self.views else slot.clone()
        else:
            grad.copy_(slot)

    def _end(self) -> None:
        self.flying.clear()
        self.begun = self.expecting = False
        self.finished += 1

    # ---- static graphs

    def _queue_first(self) -> None:
        """In the first iteration of a static graph, send all at its end: each parameter may get several gradients."""
        if not self.queued and self.expecting:
            self._queue(self._finish_first)

    def _finish_first(self) -> None:
        self.begun = True
        self._mark_all(index for index in range(len(self.parameters)) if index not in self.ready)
        self._finish()

    # ---- processes without inputs

    @no_grad()
    def shadow(self) -> None:
        """Take part in the iteration of others with zeros. Parameters get the averages, for an optimizer in parts."""
        self.rebuild()
        self._reset()
        for number, bucket in enumerate(self.buckets):
            bucket.clear()
            self._launch(number)
        self._finish()

    # ---- errors

    def _unfinished(self) -> RuntimeError:
        missing = [index for index in range(len(self.parameters)) if index not in self.ready]
        if self.static:
            return RuntimeError(changed(self.rank, [self.names[index] for index in missing], "got no gradient"))
        return RuntimeError(unfinished(self.rank, [(i, self.names[i]) for i in missing], self.find_unused))


def _join_last(sums: list[tuple[int, Tensor]]) -> None:
    """Put the sum of the last two sums in their place."""
    (low_count, low), (high_count, high) = sums[-2:]
    sums[-2:] = [(low_count + high_count, low.add_(high))]


def _caller(reducer: weakref.ref[Reducer], index: int) -> Callable[[Tensor], None]:
    """The hook of a parameter, which does not keep the reducer alive."""

    def call(_: Tensor) -> None:
        if (this := reducer()) is not None:
            this._got(index)

    return call


def _remove(handles: list[Any]) -> None:
    while handles:
        handles.pop().remove()
