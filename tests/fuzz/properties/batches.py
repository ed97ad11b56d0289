"""`vmap` of a function, and of its derivatives, is a loop over the batch."""

from __future__ import annotations

from typing import Any

import retrograd as rg
from fuzz.compare import agree, directions, flat, refusals_are_no_findings, tensors, weighted
from fuzz.strategies import numbers

SIZE = 3


def transforms(f: Any, count: int, vs: Any) -> dict[str, Any]:
    """Functions of one sample, whose results have the samples' shapes."""
    every = tuple(range(count))

    def loss(*a: Any) -> Any:
        return weighted(f(*a))

    gradient = rg.func.grad(loss, argnums=every)

    def pulled(*a: Any) -> Any:
        outputs, pull = rg.func.vjp(f, *a)
        return pull(tuple(y.detach().cos() for y in outputs))

    return {
        "f": f,
        "grad": gradient,
        "vjp": pulled,
        "jvp": lambda *a: rg.func.jvp(f, a, vs),
        "jacrev": lambda *a: rg.func.jacrev(f, argnums=every)(*a),
        "jacfwd": lambda *a: rg.func.jacfwd(f, argnums=every)(*a),
        "forward over reverse": lambda *a: rg.func.jvp(gradient, a, vs)[1],
        "reverse over reverse": lambda *a: rg.func.grad(
            lambda *b: sum((g * v).sum() for g, v in zip(gradient(*b), vs, strict=True)), argnums=every
        )(*a),
    }


def vmap_is_a_loop(f: Any, xs: Any, name: str, dims: tuple[int | None, ...]) -> None:
    """`dims` says along which axis each argument has its batch; None means one that all samples share."""
    g = transforms(f, len(xs), directions(xs))[name]
    samples = [
        x if d is None else rg.stack(tensors(numbers(tuple(x.shape), 11 + i) for i in range(SIZE)))
        for x, d in zip(xs, dims, strict=True)
    ]
    with refusals_are_no_findings():
        rows = [
            flat(g(*((x if d is None else x[i]).clone() for x, d in zip(samples, dims, strict=True))))
            for i in range(SIZE)
        ]
        # Moved, so that each sample lies in memory as it does in the loop.
        moved = [x if d is None else x.movedim(0, d) for x, d in zip(samples, dims, strict=True)]
        mapped = flat(rg.func.vmap(g, in_dims=dims)(*moved))
    for i, row in enumerate(rows):
        agree([m[i] for m in mapped], row, f"sample {i} of vmap of {name}, and the loop")
