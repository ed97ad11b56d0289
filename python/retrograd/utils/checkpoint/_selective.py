"""Selective checkpoints: a policy chooses ops of a checkpointed function whose results are kept, and not recomputed.

The ops are seen by modes of `__torch_function__`, one around the call and one around its recomputation. Where the
recomputation comes to an op whose result was kept, it does not run: the tensors that its node saved are given to the
hooks that wait for them, and what was kept goes on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from retrograd import _core
from retrograd._core import Tensor
from retrograd._ops import OpOverload, OpOverloadPacket, op_of, ops
from retrograd.autograd import Function, no_grad
from retrograd.overrides import TorchFunctionMode
from retrograd.utils._pytree import tree_leaves, tree_map
from retrograd.utils.checkpoint._region import here

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]


class CheckpointPolicy(Enum):
    """What a policy says of the result of an op: MUST_SAVE and PREFER_SAVE keep it, the others recompute it.

    The two of each kind are one here: there is no compiler that might do otherwise. On the CPU there is nowhere to
    offload results to: they are recomputed.

    >>> from retrograd.utils.checkpoint import CheckpointPolicy
    >>> CheckpointPolicy.MUST_SAVE.value
    0
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEEPING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)

# Ops that no policy is asked about.
SAC_IGNORED_OPS = {ops.aten.detach.default}


class SelectiveCheckpointContext:
    """What a policy is told besides the op and its arguments: `op_output` is the result.

    Policies are asked in the call, so `is_recompute` is False.

    >>> from retrograd.utils.checkpoint import SelectiveCheckpointContext
    >>> SelectiveCheckpointContext(is_recompute=False).op_output
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


_Policy = Callable[..., CheckpointPolicy | bool]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: _Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[TorchFunctionMode, TorchFunctionMode]:
    """What `context_fn` of `checkpoint` returns, so that results of some ops are kept instead of being recomputed.

    Each call of `checkpoint` needs contexts of its own: give it `functools.partial` of this function.

    Args: `policy_fn_or_list` a list of ops whose results are kept, such as `ops.aten.mm.default`; or a function that is
    called as `policy(context, op, *args, **kwargs)` after each op, and returns a `CheckpointPolicy`, or whether the
    result is kept. Ops have the names by which torch's dispatcher calls them: `x @ y` of matrices is `aten.mm.default`.
    Those that write in place run again in any case. `allow_cache_entry_mutation` leaves it to you that what was kept is
    not written to before the backward pass.
    Returns: two context managers.
    Raises: TypeError for another kind of policy, ValueError for a list with something else. In backward, RuntimeError
    if what was kept was written to, if it is needed by a second pass, if the recomputation comes to other ops than
    the call, and if the function itself differentiates through an op whose result was kept.

    >>> from functools import partial
    >>> from retrograd.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> def block(x, w):
    ...     return (x @ w).sigmoid().sum()
    >>> x, w = rg.ones(2, 2, requires_grad=True), rg.zeros(2, 2, requires_grad=True)
    >>> keep = partial(create_selective_checkpoint_contexts, [rg.ops.aten.mm.default])
    >>> checkpoint(block, x, w, use_reentrant=False, context_fn=keep).backward()
    >>> w.grad.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    if isinstance(policy_fn_or_list, list):
        kept = tuple(policy_fn_or_list)
        for op in kept:
            if not isinstance(op, OpOverload):
                example = "Please update the OpOverloadPacket to a specific OpOverload. For example, if you have "
                example += "`ops.aten.mm`, change it to `ops.aten.mm.default`."
                hint = example if isinstance(op, OpOverloadPacket) else "Ops are in `ops.aten`."
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}"
                )

        def policy(ctx: SelectiveCheckpointContext, op: OpOverload, *args: Any, **kwargs: Any) -> bool:
            return op in kept

        chosen: _Policy = policy
    elif callable(policy_fn_or_list):
        chosen = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    entries: _Entries = defaultdict(dict)
    return _Keeping(chosen, entries), _Reusing(entries, allow_cache_entry_mutation)


# ---- what is kept


class _Value(NamedTuple):
    """A tensor without its history, and its version: writes to it are noticed."""

    tensor: Tensor
    version: int

    @classmethod
    def of(cls, x: Tensor) -> _Value:
        value = x.detach()
        return cls(value, 0 if value.is_inference() else value._version)

    def get(self, allow_mutation: bool) -> Tensor:
        if not (allow_mutation or self.tensor.is_inference() or self.tensor._version == self.version):
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: a tensor of shape "
                f"{tuple(self.tensor.shape)} was at version {self.version}, and is at {self.tensor._version}"
            )
        return self.tensor


class _Result(NamedTuple):
    value: _Value
    requires_grad: bool


class _Entry(NamedTuple):
    """What is kept of a call of an op: its results, what its node saved, and where random numbers went on.

    A saved tensor that is an argument is not kept: the recomputation has it. It is a position among the arguments.
    """

    op: OpOverload
    results: Any
    saved: list[int | _Value]
    random_state: Tensor | None

    @classmethod
    def of(cls, op: OpOverload, output: Any, args: Any, saved: list[Tensor], random_state: Tensor | None) -> _Entry:
        given = {id(x): i for i, x in reversed(list(enumerate(_tensors(args))))}
        sources = [given[id(x)] if id(x) in given else _Value.of(x) for x in saved]
        results = tree_map(lambda y: _Result(_Value.of(y), y.requires_grad) if isinstance(y, Tensor) else y, output)
        return cls(op, results, sources, random_state)

    def stand_in(self, args: Any, allow_mutation: bool) -> Any:
        """The results, after the node's tensors were saved, as if the op had run."""
        given = _tensors(args)
        if self.saved and here.pack is not None:
            for source in self.saved:
                here.pack(given[source] if isinstance(source, int) else source.get(allow_mutation))
        if self.random_state is not None:
            _core.default_generator.set_state(self.random_state)

        def result(y: Any) -> Any:
            if not isinstance(y, _Result):
                return y
            value = y.value.get(allow_mutation)
            return _Kept.apply(_core.empty(0, requires_grad=True), value, self.op) if y.requires_grad else value

        return tree_map(result, self.results, is_leaf=lambda y: isinstance(y, _Result))


def _tensors(args: Any) -> list[Tensor]:
    return [x for x in tree_leaves(args) if isinstance(x, Tensor)]


class _Kept(Function):
    """A result that was kept, as one of an op: ops on it are recorded, so that their nodes save what they saved."""

    @staticmethod
    def forward(anchor: Tensor, value: Tensor, op: OpOverload) -> Tensor:
        return value.detach()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.op = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            f"create_selective_checkpoint_contexts: the checkpointed function differentiates through {ctx.op}, whose "
            "result was kept: let the policy recompute it"
        )


# ---- the modes

_RECOMPUTE = object()
_CONSUMED = object()
_Entries = defaultdict[OpOverload, dict[int, Any]]  # by how often the op was called before

_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
    "changed between forward and backward."
)


class _Counting(TorchFunctionMode):
    """Counts the calls of each op."""

    def __init__(self, entries: _Entries) -> None:
        self.entries = entries
        self.calls: defaultdict[OpOverload, int] = defaultdict(int)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        op = op_of(func, args, kwargs)
        if op is None or op in SAC_IGNORED_OPS:
            return func(*args, **kwargs)
        index = self.calls[op]
        self.calls[op] += 1
        return self.called(op, index, func, args, kwargs)

    def called(self, op: OpOverload, index: int, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError


class _Keeping(_Counting):
    """Around the call: keeps what the policy says."""

    def __init__(self, policy: _Policy, entries: _Entries) -> None:
        super().__init__(entries)
        self.policy = policy

    def called(self, op: OpOverload, index: int, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        before = here.random_state()
        outer = here.seen
        saved: list[Tensor] = []
        with _core._Value(here, "seen", saved):
            output = func(*args, **kwargs)
        if outer is not None:  # a call around this one keeps results, too
            outer += saved
        with no_grad():
            context = SelectiveCheckpointContext(is_recompute=False, op_output=output)
            policy = self.policy(context, op, *args, **kwargs)
        entry: Any = _RECOMPUTE
        if (policy is True or policy in _KEEPING) and not _writes(op, kwargs):
            after = here.random_state()
            drew = before is not None and after is not None and not before.equal(after)
            entry = _Entry.of(op, output, (args, kwargs), saved, after if drew else None)
        self.entries[op][index] = entry
        return output


def _writes(op: OpOverload, kwargs: dict[str, Any]) -> bool:
    return op.overloadpacket.__name__.endswith("_") or kwargs.get("out") is not None


class _Reusing(_Counting):
    """Around the recomputation: what was kept stands in for the op."""

    def __init__(self, entries: _Entries, allow_mutation: bool) -> None:
        super().__init__(entries)
        self.allow_mutation = allow_mutation

    def __enter__(self) -> _Reusing:
        self.calls.clear()  # another pass begins again
        return super().__enter__()

    def called(self, op: OpOverload, index: int, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        known = self.entries.get(op)
        if known is None:
            raise RuntimeError(f"{op} encountered during backward but not found in storage. {_MISMATCH}")
        entry = known.get(index)
        if entry is None:
            raise RuntimeError(
                f"{op} invocation index {index} encountered during backward but not found in storage. {_MISMATCH}"
            )
        if entry is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if entry is _RECOMPUTE:
            return func(*args, **kwargs)
        known[index] = _CONSUMED
        return entry.stand_in((args, kwargs), self.allow_mutation)
