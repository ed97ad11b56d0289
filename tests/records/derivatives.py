"""An op's derivative rules as functions of arrays, which is what the checker takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checker.differences import Array
from records import rg
from records.bound import array, lay_out

Op = Callable[[Sequence[Any]], list[Any]]


def leaves(values: Sequence[Array]) -> list[Any]:
    return [lay_out(np.asarray(x)).requires_grad_(True) for x in values]


def on_arrays(op: Op) -> Callable[[list[Array]], list[Array]]:
    return lambda values: [array(y) for y in op(leaves(values))]


def pulled_back(op: Op, inputs: list[Any], cotangents: Sequence[Any], graph: bool = False) -> list[Any]:
    """The gradients of `op` at `inputs`; outputs cut off from the graph contribute nothing."""
    outputs = [(y, g) for y, g in zip(op(inputs), cotangents, strict=True) if y.requires_grad]
    if not outputs:
        return [rg.zeros_like(x) for x in inputs]
    ys, gs = zip(*outputs, strict=True)
    grads = rg.autograd.grad(ys, inputs, gs, create_graph=graph, allow_unused=True)
    return [rg.zeros_like(x) if grad is None else grad for x, grad in zip(inputs, grads, strict=True)]


def vjp_of(op: Op) -> Callable[[list[Array], list[Array]], list[Array]]:
    return lambda xs, gs: [array(g) for g in pulled_back(op, leaves(xs), [lay_out(np.asarray(g)) for g in gs])]


def second(op: Op, count: int) -> Op:
    """The VJP of `op` as an op of its own: of `count` inputs, then the cotangents."""
    return lambda values: pulled_back(op, list(values[:count]), values[count:], graph=True)


def backward_of(op: Op, count: int) -> Op:
    """As `second`, without a graph of the gradients: for tangents to be pushed through."""
    return lambda values: pulled_back(op, [x.requires_grad_() for x in values[:count]], values[count:])


def forward_mode() -> Callable[[Op, list[Any], list[Any]], Sequence[Any]] | None:
    """Something that pushes tangents through an op, if the package has it: tangents of the outputs, None for zero."""
    native = getattr(getattr(rg, "_core", None), "_jvp", None)
    if native is not None:
        return lambda op, primals, tangents: native(lambda *duals: op(list(duals)), primals, tangents)[1]
    dual = getattr(rg.autograd, "forward_ad", None)
    if dual is None:
        return None

    def push(op: Op, primals: list[Any], tangents: list[Any]) -> Sequence[Any]:
        with warnings.catch_warnings(), dual.dual_level():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the stand-in, inside itself
            outputs = op([dual.make_dual(x, d) for x, d in zip(primals, tangents, strict=True)])
            return [dual.unpack_dual(y).tangent for y in outputs]

    return push


def jvp_of(op: Op) -> Callable[[list[Array], list[Array]], list[Array]]:
    push = forward_mode()
    assert push is not None

    def jvp(xs: list[Array], ds: list[Array]) -> list[Array]:
        primals, tangents = ([lay_out(np.asarray(v)) for v in values] for values in (xs, ds))
        ys = op(primals)
        pushed = push(op, primals, tangents)
        return [np.zeros(tuple(y.shape)) if dy is None else array(dy) for y, dy in zip(ys, pushed, strict=True)]

    return jvp
