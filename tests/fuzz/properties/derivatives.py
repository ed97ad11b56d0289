"""Forward mode is the transpose of reverse mode, and both are what differences tell."""

from __future__ import annotations

from typing import Any

from hypothesis import reject

import retrograd as rg
from fuzz.compare import agree, directions, like, refusals_are_no_findings, weighted

STEP = 1e-4


def forward(f: Any, xs: Any, vs: Any) -> Any:
    """The tangents of the results, which leave the arguments and their tangents alone."""
    before = [x.clone() for x in (*xs, *vs)]
    values, tangents = rg.func.jvp(f, tuple(xs), tuple(vs))
    agree([*xs, *vs], before, "arguments and their tangents after jvp", 0.0)
    agree(values, f(*(x.clone() for x in xs)), "values under jvp", 1e-12)
    return tangents


def differences(f: Any, xs: Any, vs: Any) -> Any:
    """Directional differences of fourth order; rejects functions that are not smooth here."""

    def at(t: float) -> Any:
        return f(*(x + t * v for x, v in zip(xs, vs, strict=True)))

    def slope(h: float) -> list[Any]:
        a, b, c, d = at(2 * h), at(h), at(-h), at(-2 * h)
        return [(8 * (q - r) - (p - s)) / (12 * h) for p, q, r, s in zip(a, b, c, d, strict=True)]

    coarse, fine = slope(2 * STEP), slope(STEP)
    try:
        agree(coarse, fine, "", 1e-7)
    except AssertionError:
        reject()
    return fine


def jvp_is_what_differences_tell(f: Any, xs: Any) -> None:
    vs = directions(xs)
    want = differences(f, xs, vs)
    agree(forward(f, xs, vs), want, "jvp and differences", 1e-6)


def jvp_is_the_transpose_of_vjp(f: Any, xs: Any) -> None:
    vs = directions(xs)
    with refusals_are_no_findings():
        outputs, pull = rg.func.vjp(f, *xs)
        cotangents = tuple(like(y, 2.6 + i) for i, y in enumerate(outputs))
        pulled = pull(cotangents)
    tangents = forward(f, xs, vs)
    there = sum(float((t * w).sum()) for t, w in zip(tangents, cotangents, strict=True))
    back = sum(float((g * v).sum()) for g, v in zip(pulled, vs, strict=True))
    size = sum(float((t * w).abs().sum()) for t, w in zip(tangents, cotangents, strict=True))
    assert abs(there - back) <= 1e-9 * max(1.0, size), f"<w, J v> = {there} and <J' w, v> = {back}"


def gradients_of_the_tape_are_those_of_func(f: Any, xs: Any) -> None:
    with refusals_are_no_findings():
        want = rg.func.grad(lambda *a: weighted(f(*a)), argnums=tuple(range(len(xs))))(*xs)
        leaves = [x.clone().requires_grad_() for x in xs]
        loss = weighted(f(*leaves))
        if loss.requires_grad:
            got = rg.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
            agree(got, want, "autograd.grad and func.grad")
