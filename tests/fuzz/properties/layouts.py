"""The gradient of a leaf lies in memory as the leaf does if that is dense, and row by row otherwise."""

from __future__ import annotations

from typing import Any

from fuzz.compare import agree, like, refusals_are_no_findings, weighted


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def dense(x: Any) -> bool:
    """Whether the elements are different ones and follow each other without gaps, in some order of the axes."""
    step = 1
    for stride, n in sorted((s, n) for s, n in zip(x.stride(), x.shape, strict=True) if n != 1):
        if stride != step:
            return False
        step *= n
    return True


def meaningful(x: Any, strides: Any) -> list[int]:
    return [s for s, n in zip(strides, x.shape, strict=True) if n != 1]


def gradients_lie_as_their_leaves(f: Any, leaves: Any) -> None:
    with refusals_are_no_findings():
        loss = weighted(f(*leaves))
        if loss.requires_grad:
            loss.backward()
    for i, x in enumerate(leaves):
        if x.grad is None:
            continue
        want = x.stride() if dense(x) else row_major(tuple(x.shape))
        assert meaningful(x, x.grad.stride()) == meaningful(x, want), (
            f"leaf {i} of shape {tuple(x.shape)} and strides {x.stride()} has a gradient of strides {x.grad.stride()}"
        )
        kept = x.grad
        first = kept.clone()
        x.backward(like(x, 0.7))
        assert x.grad is kept
        agree(kept, first + like(x, 0.7), "a second accumulation", 1e-12)
