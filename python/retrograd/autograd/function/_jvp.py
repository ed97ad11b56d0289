"""Forward mode through a custom function that defines no `jvp`: its backward, transposed."""

from __future__ import annotations

from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.function import Function
from retrograd.autograd.grad_mode import enable_grad


def transposed(cls: type[Function], args: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tangents of the outputs of `cls.apply(*args)`, given those of the arguments, None for arguments without one.

    The backward is linear in the gradients of the outputs. Differentiated with respect to them, along the tangents, it
    gives the derivative in the forward direction (J. Townsend, "A new trick for calculating Jacobian vector products",
    2017). That takes a second run of the function, and a backward that consists of differentiable ops.

    Raises: NotImplementedError if the backward is missing, has no derivative, or the function is not the same twice.
    """
    if cls.backward is Function.backward and cls.vjp is Function.vjp:
        raise _missing(cls, "and defines no backward that one could be made from")
    generator = _core.default_generator
    before = generator.get_state()
    graph = _core.is_grad_enabled()
    with enable_grad():
        xs = [_copy(x) if t is not None else x for x, t in zip(args, tangents, strict=True)]
        returned = cls.apply(*xs)
        if not bool((generator.get_state() == before).all()):
            generator.set_state(before)
            raise _missing(cls, "and draws random numbers, so that it cannot be run again")
        outputs = returned if isinstance(returned, tuple) else (returned,)
        requiring_grad = [i for i, y in enumerate(outputs) if isinstance(y, Tensor) and y.requires_grad]
        if not requiring_grad:
            return (None,) * len(outputs)
        ys = tuple([outputs[i] for i in requiring_grad])
        cotangents = tuple([_core._variable(_core.zeros_like(y)) for y in ys])
        moving = tuple([x for x, t in zip(xs, tangents, strict=True) if t is not None])
        inner = (*[x for x in moving if x.is_leaf], *cotangents)
        gradients = _core._grad(ys, cotangents, True, True, moving, True)
    given = [t for t in tangents if t is not None]
    pairs = [(g, t) for g, t in zip(gradients, given, strict=True) if g is not None]
    if any(not g.requires_grad for g, _ in pairs):
        raise _missing(cls, "and its backward has no derivative that one could be made from")
    found: tuple[Any, ...] = (None,) * len(ys)
    if pairs:
        gs, ts = zip(*pairs, strict=True)
        found = _core._grad(gs, ts, graph, graph, cotangents, True)
    results: list[Any] = [None] * len(outputs)
    for i, t in zip(requiring_grad, found, strict=True):
        results[i] = None if t is None else _core._settled(t, inner, graph)
    _core._close(inner)
    return tuple(results)


def _copy(x: Tensor) -> Tensor:
    """The argument, to be differentiated for: linked to it where it requires grad, with its tangents in any case."""
    return x.view_as(x) if x.requires_grad else _core._variable(x.view_as(x))


def _missing(cls: type[Function], why: str) -> NotImplementedError:
    return NotImplementedError(
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD: "
        f"{cls.__name__} has none, {why}."
    )
