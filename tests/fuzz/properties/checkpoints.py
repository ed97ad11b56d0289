"""A checkpointed function is the function."""

from __future__ import annotations

from typing import Any

import retrograd as rg
from fuzz.compare import agree, refusals_are_no_findings, weighted


def checkpoint_changes_nothing(f: Any, xs: Any, use_reentrant: bool) -> None:
    leaves, others = ([x.clone().requires_grad_() for x in xs] for _ in range(2))
    with refusals_are_no_findings():
        want = f(*leaves)
        if not any(y.requires_grad for y in want):
            return
        weighted(want).backward()
        got = rg.utils.checkpoint.checkpoint(f, *others, use_reentrant=use_reentrant)
        agree(got, want, "values under checkpoint", 0.0)
        weighted(got).backward()
    for i, (x, y) in enumerate(zip(leaves, others, strict=True)):
        assert (x.grad is None) == (y.grad is None) or not bool((x.grad if y.grad is None else y.grad).any())
        if x.grad is not None and y.grad is not None:
            agree(y.grad, x.grad, f"gradient of argument {i} under checkpoint", 1e-12)
