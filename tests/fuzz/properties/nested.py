"""The second derivative of a number is one, whichever modes compute it."""

from __future__ import annotations

from typing import Any

import retrograd as rg
from fuzz.compare import agree, directions, refusals_are_no_findings, weighted
from fuzz.properties.derivatives import differences


def _ways(f: Any, xs: Any) -> tuple[Any, Any, tuple[Any, ...], tuple[Any, ...]]:
    every = tuple(range(len(xs)))

    def loss(*a: Any) -> Any:
        return weighted(f(*a))

    return loss, rg.func.grad(loss, argnums=every), directions(xs), directions(xs, 1.7)


def hessian_products_agree(f: Any, xs: Any) -> None:
    """Forward over reverse, reverse over reverse and reverse over forward."""
    loss, gradient, vs, _ = _ways(f, xs)
    every = tuple(range(len(xs)))

    def slope(*a: Any) -> Any:
        return sum((g * v).sum() for g, v in zip(gradient(*a), vs, strict=True))

    with refusals_are_no_findings():
        reverse_reverse = rg.func.grad(slope, argnums=every)(*xs)
        reverse_forward = rg.func.grad(lambda *a: rg.func.jvp(loss, a, vs)[1], argnums=every)(*xs)
        forward_reverse = rg.func.jvp(gradient, tuple(xs), vs)[1]
    agree(forward_reverse, reverse_reverse, "forward over reverse, and reverse over reverse")
    agree(reverse_forward, reverse_reverse, "reverse over forward, and reverse over reverse")


def forward_over_forward_agrees(f: Any, xs: Any) -> None:
    """With differences of forward mode, since reverse mode may lack a value that was written over."""
    loss, _, vs, us = _ways(f, xs)

    def slope(*a: Any) -> Any:
        return rg.func.jvp(loss, a, us)[1]

    got = rg.func.jvp(slope, tuple(xs), vs)[1]
    want = differences(lambda *a: (slope(*a),), xs, vs)
    agree(got, want[0], "forward over forward, and differences of forward mode", 1e-5)


def tape_of_a_gradient_agrees(f: Any, xs: Any) -> None:
    """`create_graph` on the tape, and `func.grad` of `func.grad`."""
    _, gradient, vs, _ = _ways(f, xs)
    every = tuple(range(len(xs)))
    with refusals_are_no_findings():
        want = rg.func.grad(
            lambda *a: sum((g * v).sum() for g, v in zip(gradient(*a), vs, strict=True)), argnums=every
        )(*xs)
        leaves = [x.clone().requires_grad_() for x in xs]
        loss = weighted(f(*leaves))
        if not loss.requires_grad:
            return
        grads = rg.autograd.grad(loss, leaves, create_graph=True, allow_unused=True, materialize_grads=True)
        slope = sum((g * v).sum() for g, v in zip(grads, vs, strict=True))
        if slope.requires_grad:
            got = rg.autograd.grad(slope, leaves, allow_unused=True, materialize_grads=True)
            agree(got, want, "gradient of a gradient on the tape, and by func")
