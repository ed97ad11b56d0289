"""Versions count writes; and an op that is refused changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

import retrograd as rg
from fuzz.program import Program, Reshape, Write


def state(tensors: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """All that an op could change."""
    return {
        name: (
            t.detach().clone().numpy().tobytes(),
            tuple(t.shape),
            t.stride(),
            t.storage_offset(),
            t.dtype,
            t._version,
            t.requires_grad,
            t.is_leaf,
            t.grad_fn,
            t.grad if t.is_leaf else None,
            t._base is None,
            t.data_ptr(),
        )
        for name, t in tensors.items()
    }


FACTS = "values shape strides offset dtype version requires_grad is_leaf grad_fn grad is_view address".split()


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
    return "= {a}" in step.text and step.text != "{t} = {a}" and "tensor" not in str(step.target) and "[[" not in str(step.target)


def refused_ops(t: Any) -> dict[str, Any]:
    """Calls that change `t` or nothing, and are wrong."""
    many = (5, *t.shape)
    return {
        "t.add_(rg.ones(5, *t.shape))": lambda: t.add_(rg.ones(many, dtype=rg.float64)),
        "t.copy_(rg.ones(5, *t.shape))": lambda: t.copy_(rg.ones(many, dtype=rg.float64)),
        "t.mul_(1j)": lambda: t.mul_(1j),
        "t[99] = 1": lambda: t.__setitem__(99, 1),
        "t[..., rg.tensor([99])] = 1": lambda: t.__setitem__((..., rg.tensor([99])), 1),
        "t[rg.ones(7, 7) > 0] = 1": lambda: t.__setitem__(rg.ones(7, 7) > 0, 1),
        "t.index_add_(0, rg.tensor([0, 99]), rg.ones(2))": lambda: t.index_add_(0, rg.tensor([0, 99]), rg.ones(2)),
        "t.scatter_(0, rg.tensor([99]), 1.0)": lambda: t.scatter_(9, rg.tensor([99]), 1.0),
        "t.cumsum_(9)": lambda: t.cumsum_(9),
        "t.transpose_(0, 9)": lambda: t.transpose_(0, 9),
        "t.unsqueeze_(9)": lambda: t.unsqueeze_(9),
        "t.view(-1, 7, 11)": lambda: t.view(-1, 7, 11),
        "t.masked_fill_(rg.ones(7, 7), 1)": lambda: t.masked_fill_(rg.ones(7, 7), 1),
        "t.expand(2, *t.shape).add_(1)": lambda: t.expand(2, *t.shape).add_(1),
        "rg.add(t, rg.ones(5, *t.shape), out=t)": lambda: rg.add(t, rg.ones(many, dtype=rg.float64), out=t),
        "t.bitwise_and_(t)": lambda: t.bitwise_and_(t),
        "t.index_fill_(9, rg.tensor([0]), 1)": lambda: t.index_fill_(9, rg.tensor([0]), 1),
        "t.addmm_(rg.ones(9, 8), rg.ones(7, 6))": lambda: t.addmm_(rg.ones(9, 8), rg.ones(7, 6)),
        "t.copy_('no tensor')": lambda: t.copy_("no tensor"),
        "t.lerp_(t, 'no weight')": lambda: t.lerp_(t, "no weight"),
        "t.requires_grad_('maybe', 1)": lambda: t.requires_grad_("maybe", 1),
        "t.set_(t, 'no offset')": lambda: t.set_(t, "no offset"),
    }


def refused_ops_change_nothing(tensors: dict[str, Any], name: str) -> None:
    """Every refused write to `name` leaves all tensors of the program as they were."""
    before = state(tensors)
    for call, run in refused_ops(tensors[name]).items():
        try:
            run()
        except Exception as error:
            assert "internal error" not in str(error), f"{call}: {error}"
        else:
            raise AssertionError(f"{call} is accepted for t = {name} of shape {tuple(tensors[name].shape)}")
        after = state(tensors)
        for other in tensors:
            changed = [f for f, a, b in zip(FACTS, before[other], after[other], strict=True) if not same(a, b)]
            assert not changed, f"{call} with t = {name} was refused, and changed of {other}: {', '.join(changed)}"


def same(a: Any, b: Any) -> bool:
    return a is b or (not isinstance(a, rg.Tensor) and not isinstance(b, rg.Tensor) and bool(np.all(a == b)))
