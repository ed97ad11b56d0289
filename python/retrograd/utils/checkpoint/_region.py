"""The form that is not reentrant: the graph is recorded as usual, with saved-tensor hooks.

They put a `Slot` where a node would have saved a tensor. At the first unpack in a pass, the `Region` of the call is
recomputed under hooks that collect the tensors in the same order, and each slot is given its own.
"""

from __future__ import annotations

from _thread import _local
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self
from weakref import ReferenceType, WeakKeyDictionary, WeakValueDictionary, ref

from retrograd import _core
from retrograd._core import Tensor
from retrograd._local import carried
from retrograd.autograd import Function, enable_grad, inference_mode
from retrograd.autograd.graph import saved_tensors_hooks
from retrograd.utils.checkpoint._arguments import Arguments
from retrograd.utils.checkpoint._saves import Saves, different_facts, different_number, with_origins

__all__ = ["CheckpointError", "GraphExecGroup"]


class CheckpointError(RuntimeError):
    """A recomputation did not save what the forward pass had saved, or what it saved was needed twice.

    The text says which tensor differs, and how many were saved each time. The usual reason is a function that depends
    on something that changed in between.

    >>> from retrograd.utils.checkpoint import CheckpointError, checkpoint
    >>> sizes = iter([2, 3])
    >>> x = rg.ones(1, requires_grad=True)
    >>> y = checkpoint(lambda x: x.expand(next(sizes)).exp(), x, use_reentrant=False)
    >>> try:
    ...     y.sum().backward()
    ... except CheckpointError as error:
    ...     print(*str(error).splitlines()[1:4], sep="\\n")
    tensor at position 0:
    saved metadata: {'shape': (2,), 'dtype': 'float32', 'device': 'cpu'}
    recomputed metadata: {'shape': (3,), 'dtype': 'float32', 'device': 'cpu'}
    """


class GraphExecGroup(_core._Current):
    """A block whose backward passes share recomputations: each checkpointed call is recomputed at most once in all.

    The passes must go through different parts of the graph, even with `retain_graph`: what was saved by an op is there
    for one of them. Calls with `use_reentrant=True` are not affected. The block belongs to the calling thread.

    Raises: RuntimeError if such blocks are nested.

    >>> from retrograd.utils.checkpoint import GraphExecGroup, checkpoint
    >>> def both(x):
    ...     print("called")
    ...     return x.sin(), x.exp()
    >>> x = rg.zeros(1, requires_grad=True)
    >>> sin, exp = checkpoint(both, x, use_reentrant=False)
    called
    >>> with GraphExecGroup():
    ...     sin.backward()
    ...     exp.backward()
    called
    >>> x.grad
    tensor([2.])
    """

    def __new__(cls) -> Self:
        nested = "GraphExecGroup contexts cannot be nested. Already inside group {}"
        self = _core._Current.__new__(cls, _groups, "current", nested)
        self._recomputations = WeakKeyDictionary()
        return self

    _recomputations: WeakKeyDictionary[Region, Recomputation]

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return _groups.current


class _Groups(_local):
    current: GraphExecGroup | None = None


_groups = carried(_Groups())


class _Here(_local):
    """The innermost call, or recomputation, of this thread in which ops may be replaced, as contexts of calls do."""

    pack: Callable[[Tensor], Any] | None = None  # saves a tensor for it
    seen: list[Tensor] | None = None  # gets what is saved
    repeats_random = False  # random numbers are those of the call

    def random_state(self) -> Tensor | None:
        """Where the numbers go on, if the recomputation draws them again."""
        return _core.default_generator.get_state() if self.repeats_random else None


here = carried(_Here())


class Slot:
    """Stands in a node for a tensor that it would have saved. When the node lets go of it, the tensor is not needed."""

    __slots__ = ("__weakref__", "position")

    def __init__(self, position: int) -> None:
        self.position = position


class Recomputation:
    """The tensors that a recomputation saved and that have not been used; those of slots that are gone go too."""

    __slots__ = ("__weakref__", "saves", "tensors")

    def __init__(self, debug: bool) -> None:
        self.saves = Saves(debug)
        self.tensors: WeakKeyDictionary[Slot, Tensor] = WeakKeyDictionary()

    def end(self) -> None:
        self.tensors.clear()


class _Enough(BaseException):
    """Ends a recomputation. No Exception, so that handlers in the function let it pass."""


class _Inputs(Function):
    """Saves tensors the way ops do: writes to them are noticed, and the hooks of an enclosing call apply to them."""

    @staticmethod
    def forward(anchor: Tensor, *tensors: Tensor) -> Tensor:
        return anchor.detach()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[1:])


class Region:
    """A checkpointed call: what its nodes hold in place of the tensors, and how to have them.

    Nested calls need no more than this. Tensors that an inner call saves go to its own slots, since the innermost hooks
    act; its inputs are saved by the outer call. So to have the inner one's inputs, the outer one is recomputed, by
    unpacking them. The inner call in this recomputation is a new one.

    A recomputation belongs to the backward pass that needs it, and dies with it, whether or not the pass succeeds:
    the pass alone holds it, in a callback. Outside a pass, it is there for one tensor.
    """

    def __init__(
        self,
        again: Callable[..., None],
        args: tuple[Any, ...],
        early_stop: bool,
        compares: bool,
        debug: bool,
        has_contexts: bool,
    ) -> None:
        self.again = again
        self.early_stop = early_stop
        self.compares = compares
        self.debug = debug
        self.has_contexts = has_contexts  # which may replace ops
        self.complete = False  # the call has returned
        self.saves = Saves(debug)
        self.slots: list[ReferenceType[Slot]] = []
        self.recomputations: WeakValueDictionary[int, Recomputation] = WeakValueDictionary()
        self.args = Arguments(args)
        tensors = self.args.tensors(args)
        if any(_core._batch_parts(t) is not None for t in tensors):
            raise RuntimeError(
                "checkpoint: what is saved of a function mapped by vmap is that of all entries at once. Put the "
                "checkpoint around the vmap."
            )
        self.inputs = _Inputs.apply(_core.empty(0, requires_grad=True), *tensors) if tensors else None

    def pack(self, x: Tensor) -> Slot:
        slot = Slot(len(self.slots))
        self.slots.append(ref(slot))
        self.saves.add(x)
        if here.seen is not None:
            here.seen.append(x)
        return slot

    def watched(self, pack: Callable[[Tensor], Any]) -> AbstractContextManager[Any]:
        """A block in which those that replace ops find what saves tensors."""
        if self.has_contexts or here.pack is not None:
            return _core._Value(here, "pack", pack)
        return nullcontext()

    def unpack(self, slot: Slot) -> Tensor:
        tensor = self.recomputation().tensors.pop(slot, None)
        if tensor is not None:
            return tensor
        if _groups.current is None:
            advice = "If you are calling ctx.saved_tensors in backward, make sure to do so only once"
        else:
            advice = (
                "Performing two backward calls that overlap (i.e. require the same saved activation in order to "
                "compute gradients) is not allowed while under the GraphExecGroup context"
            )
        raise CheckpointError(
            "checkpoint: Unpack is being triggered for a tensor that was already unpacked once, the tensor at position "
            f"{slot.position}: {self.saves.facts[slot.position]}. {advice}"
        )

    def recomputation(self) -> Recomputation:
        """That of the group or pass under way, made on the first request."""
        group, run = _groups.current, _core._current_run()
        if group is not None:
            done = group._recomputations.get(self)
        else:
            done = None if run is None else self.recomputations.get(run)
        if done is None:
            done = self.recompute()
            if group is not None:
                group._recomputations[self] = done
            elif run is not None:
                self.recomputations[run] = done
                _core._queue_callback(done.end)
        return done

    def recompute(self) -> Recomputation:
        expected, complete = len(self.slots), self.complete
        done = Recomputation(self.debug)

        def pack(x: Tensor) -> Tensor:
            position = len(done.saves.facts)
            done.saves.add(x)
            if here.seen is not None:
                here.seen.append(x)
            # Without its graph: an op's own result would keep alive the node that it is saved in.
            x = x.detach() if x.requires_grad else x
            slot = self.slots[position]() if position < expected else None
            if slot is not None:
                done.tensors[slot] = x
            if self.early_stop and position + 1 >= expected:
                raise _Enough
            return x  # the function may run a backward pass through what it computes

        args = self.args.fill(() if self.inputs is None else self.inputs.grad_fn.saved_tensors)
        try:
            with inference_mode(False), enable_grad(), saved_tensors_hooks(pack, _as_it_is), self.watched(pack):
                self.again(*args)
        except _Enough:
            pass
        self.compare(done.saves, expected, complete)
        return done

    def compare(self, now: Saves, expected: int, complete: bool) -> None:
        # A call that has not returned yet is repeated to the end unless stopped, so there may be more.
        count = len(now.facts)
        if count < expected or (complete and count > expected):
            raise CheckpointError(self.report(different_number(self.saves, now), now))
        different = [i for i in range(expected) if self.saves.facts[i] != now.facts[i] and self.slots[i]() is not None]
        if different and self.compares:
            raise CheckpointError(self.report(different_facts(self.saves, now, different), now))

    def report(self, text: str, now: Saves) -> str:
        if self.debug:
            return with_origins(text, self.saves, now)
        return (
            f"{text}\nTip: to see what made each of them, and the lines that saved them, pass `debug=True` to "
            "checkpoint, or call it within `with set_checkpoint_debug_enabled(True):`"
        )


def _as_it_is(x: Tensor) -> Tensor:
    return x
