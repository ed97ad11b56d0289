"""Versions count writes; and an op that is refused changes nothing."""

from __future__ import annotations

from typing import Any

import retrograd as rg
from fuzz.program import Program, Reshape, Write


def state(tensors: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All that an op could change of each tensor."""
    return {name: facts(t) | history(t) for name, t in tensors.items()}


def facts(t: Any) -> dict[str, Any]:
    with rg.no_grad():
        values = t.clone().numpy().tobytes()
    return {
        "values": values,
        "shape": tuple(t.shape),
        "strides": t.stride(),
        "offset": t.storage_offset(),
        "dtype": t.dtype,
        "version": t._version,
        "is_view": t._is_view(),
        "address": t.data_ptr(),
    }


def history(t: Any) -> dict[str, Any]:
    """Nothing where it is refused: for one of several views of a tensor that was written since."""
    try:
        known = {"requires_grad": t.requires_grad, "is_leaf": t.is_leaf, "grad_fn": t.grad_fn}
        return known | {"grad": t.grad if t.is_leaf else None}
    except RuntimeError:
        return {}


def versions_count_writes(program: Program, xs: Any) -> None:
    """A write counts once for every tensor of that memory, and for no other."""
    before: dict[str, int] = {}
    for step, model, tensors in program.walk(rg, xs):
        now = {n: t._version for n, t in tensors.items()}
        written = step.target.name if isinstance(step, Write) else step.name if isinstance(step, Reshape) else None
        count = 2 if isinstance(step, Write) and twice(step) else 1
        for name in before:
            hit = written is not None and model.names[name].buffer == model.names[written].buffer
            want = before[name] + (count if hit else 0)
            assert now[name] == want, f"after {step.lines()}: version of {name} is {now[name]}, should be {want}"
        before = now


def twice(step: Write) -> bool:
    """Whether Python writes to a view and then assigns that view to its place."""
    return (
        "= {a}" in step.text
        and step.text != "{t} = {a}"
        and "tensor" not in str(step.target)
        and "[[" not in str(step.target)
    )


# Each is wrong for every `t`, some of them only after a part of `t` could have been written.
REFUSED = [
    "t.add_(rg.ones(5, *t.shape))",
    "t.copy_(rg.ones(5, *t.shape))",
    "rg.add(t, rg.ones(5, *t.shape), out=t)",
    "t.mul_(1j)",
    "t[99] = 1",
    "t[..., rg.tensor([99])] = 1",
    "t[rg.tensor([0, 99])] = 1",
    "t[rg.ones(7, 7) > 0] = 1",
    "t.index_add_(0, rg.tensor([0, 99]), rg.ones(2, *t.shape[1:], dtype=rg.float64))",
    "t.index_copy_(0, rg.tensor([0, 99]), rg.ones(2, *t.shape[1:], dtype=rg.float64))",
    "t.index_fill_(0, rg.tensor([0, 99]), 1.0)",
    "t.put_(rg.tensor([0, 99]), rg.ones(2, dtype=rg.float64))",
    "t.scatter_(0, rg.tensor([0, 99]).reshape(2, *[1] * (t.dim() - 1)), 1.0)",
    "t.scatter_(9, rg.tensor([0]), 1.0)",
    "t.masked_scatter_(t == t, rg.ones(0, dtype=rg.float64))",
    "t.masked_fill_(rg.ones(7, 7), 1)",
    "t.cumsum_(9)",
    "t.transpose_(0, 9)",
    "t.unsqueeze_(9)",
    "t.view(-1, 7, 11)",
    "t.expand(2, *t.shape).add_(1)",
    "t.bitwise_and_(t)",
    "t.addmm_(rg.ones(9, 8), rg.ones(7, 6))",
    "t.uniform_(2.0, 1.0)",
    "t.copy_('no tensor')",
    "t.lerp_(t, 'no weight')",
    "t.requires_grad_('maybe', 1)",
    "t.set_(t, 'no offset')",
]


def refused_ops_change_nothing(tensors: dict[str, Any], name: str) -> None:
    """Every refused write to `name` leaves all tensors of the program as they were."""
    before = state(tensors)
    space = {"rg": rg, "t": tensors[name]}
    for call in REFUSED:
        try:
            exec(call, space)
        except Exception as error:
            assert "internal error" not in str(error), f"{call}: {error}"
        else:
            raise AssertionError(f"{call} is accepted for t = {name} of shape {tuple(tensors[name].shape)}")
        after = state(tensors)
        for other in tensors:
            changed = [fact for fact, a in before[other].items() if not same(a, after[other][fact])]
            assert not changed, f"{call} with t = {name} was refused, and changed of {other}: {', '.join(changed)}"


def same(a: Any, b: Any) -> bool:
    return a is b or (not isinstance(a, rg.Tensor) and a == b)
