"""A program with views and writes means what its twin without them means: values, and derivatives of both orders."""

from __future__ import annotations

from typing import Any

import retrograd as rg
from fuzz.compare import agree, directions, like, refusals_are_no_findings, weighted


def values_are_those_of_numpy(f: Any, xs: Any, want: Any) -> None:
    agree(f(*xs), want, "values, and those of NumPy", 1e-9)


def gradients_are_those_of_the_twin(f: Any, twin: Any, xs: Any) -> None:
    """By the tape; also for programs with hooks and in no_grad, which other modes do not see."""
    leaves, others = ([x.clone().requires_grad_() for x in xs] for _ in range(2))
    with refusals_are_no_findings():
        outputs = f(*leaves)
        expected = twin(*others)
        agree(outputs, expected, "values, and those of the twin", 1e-9)
        for i, (y, z) in enumerate(zip(outputs, expected, strict=True)):
            if not y.requires_grad:
                continue
            w = like(y, 2.6 + i)
            got = rg.autograd.grad(y, leaves, w, retain_graph=True, allow_unused=True, materialize_grads=True)
            if z.requires_grad:
                want = rg.autograd.grad(z, others, w, retain_graph=True, allow_unused=True, materialize_grads=True)
            else:
                want = [rg.zeros_like(x) for x in xs]
            agree(got, want, f"gradients of result {i}, and those of the twin")


def results_follow_the_same_tensors(f: Any, twin: Any, xs: Any) -> None:
    """A result whose gradient is not 0 requires grad."""
    leaves, others = ([x.clone().requires_grad_() for x in xs] for _ in range(2))
    for i, (y, z) in enumerate(zip(f(*leaves), twin(*others), strict=True)):
        if z.requires_grad and not y.requires_grad:
            grads = rg.autograd.grad(z, others, like(z, 1.1), allow_unused=True, materialize_grads=True)
            assert not any(bool((g != 0).any()) for g in grads), f"result {i} does not require grad"


def tangents_are_those_of_the_twin(f: Any, twin: Any, xs: Any) -> None:
    vs = directions(xs)
    agree(rg.func.jvp(f, xs, vs), rg.func.jvp(twin, xs, vs), "jvp, and that of the twin")


def second_derivatives_are_those_of_the_twin(f: Any, twin: Any, xs: Any) -> None:
    every, vs = tuple(range(len(xs))), directions(xs)

    def product(g: Any) -> Any:
        def slope(*a: Any) -> Any:
            grads = rg.func.grad(lambda *b: weighted(g(*b)), argnums=every)(*a)
            return sum((p * v).sum() for p, v in zip(grads, vs, strict=True))

        return rg.func.grad(slope, argnums=every)(*xs)

    with refusals_are_no_findings():
        agree(product(f), product(twin), "Hessian times a vector, and that of the twin")
