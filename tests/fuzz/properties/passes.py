"""Backward passes over parts add up to one over all, and leave nothing alive behind them."""

from __future__ import annotations

import gc
from typing import Any

import retrograd as rg
from allocated import c_bytes
from fuzz.compare import agree, like, refusals_are_no_findings
from retrograd import _core


def parts_add_up(f: Any, xs: Any) -> None:
    leaves, others, third = ([x.clone().requires_grad_() for x in xs] for _ in range(3))
    with refusals_are_no_findings():
        roots = [(y, like(y, 2.6 + i)) for i, y in enumerate(f(*leaves)) if y.requires_grad]
        if not roots:
            return
        rg.autograd.backward([y for y, _ in roots], [w for _, w in roots])
        for y, w in [(y, like(y, 2.6 + i)) for i, y in enumerate(f(*others)) if y.requires_grad]:
            y.backward(w, retain_graph=True)
        ys = [(y, like(y, 2.6 + i)) for i, y in enumerate(f(*third)) if y.requires_grad]
        for x in third:  # one leaf at a time
            rg.autograd.backward([y for y, _ in ys], [w for _, w in ys], retain_graph=True, inputs=[x])
    for a, b, c in zip(leaves, others, third, strict=True):
        zero = rg.zeros_like(a)
        want = zero if a.grad is None else a.grad
        agree(zero if b.grad is None else b.grad, want, "backward of one root after the other, and of all", 1e-11)
        agree(zero if c.grad is None else c.grad, want, "backward into one leaf after the other, and into all", 1e-11)


def nothing_stays_alive(f: Any, xs: Any) -> None:
    """Every tensor and node is freed as soon as the last result is dropped, without Python's collector."""

    def run() -> None:
        leaves = [x.clone().requires_grad_() for x in xs]
        outputs = f(*leaves)
        roots = [y for y in outputs if y.requires_grad]
        if roots:
            rg.autograd.grad(roots, leaves, [like(y, 0.2) for y in roots], retain_graph=True, allow_unused=True)

    def left() -> float:
        """Bytes that a run leaves behind."""
        before = _bytes()
        for _ in range(RUNS):
            run()
        return (_bytes() - before) / RUNS

    with refusals_are_no_findings():
        run()
    gc.disable()
    try:
        measured = [left()]
        while measured[-1] >= TOLERANCE and len(measured) < 5:  # caches fill, and allocators settle
            measured.append(left())
        assert measured[-1] < TOLERANCE, f"bytes that a run leaves behind: {measured}"
    finally:
        gc.enable()


RUNS = 10
TOLERANCE = 48  # less than a tensor or a node takes


def _bytes() -> int:
    live, cached = _core._memory_stats()
    return live + (c_bytes() or cached) - cached
