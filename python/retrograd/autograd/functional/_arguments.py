"""Arguments, results and strict mode of the functions of `functional`: what they take, return and refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from retrograd import _core
from retrograd._core import Tensor

Func: TypeAlias = Callable[..., Any]
Tensors: TypeAlias = tuple[Tensor, ...]
Gaps: TypeAlias = Sequence[Tensor | None]
Blocks: TypeAlias = tuple[Tensors, ...]  # of a Jacobian: a row per output, in it a tensor per input

OUTPUTS = "outputs of the user-provided function"
_STRICT = " This is not allowed in strict mode"

_zeros_like = _core.zeros_like


# ---- arguments and results


def tensors_of(given: Any, what: str, caller: str) -> tuple[Tensors, bool]:
    """A tensor or a tuple of tensors as a tuple, and whether it was one."""
    if isinstance(given, Tensor):
        return (given,), False
    if not isinstance(given, tuple):
        where = f"given {what} has type {type(given)}"
    else:
        wrong = [i for i, t in enumerate(given) if not isinstance(t, Tensor)]
        if not wrong:
            return given, True
        where = f"value at index {wrong[0]} has type {type(given[wrong[0]])}"
    raise TypeError(f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {where}.")


def fresh(inputs: Tensors, create_graph: bool, need_graph: bool = True) -> Tensors:
    """Copies that share memory: with `create_graph` linked to those inputs that require grad. Others require grad with
    `need_graph`."""
    return tuple(
        [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(need_graph) for x in inputs]
    )


def linked(tensors: Tensors, create_graph: bool) -> Tensors:
    """What results may depend on: the tensors, or without `create_graph` their values alone."""
    return tensors if create_graph else tuple([t.detach() for t in tensors])


def vector(v: Any, like: Tensors, many: bool, caller: str, of: str, create_graph: bool) -> Tensors | None:
    """The vector of a product, checked; None, where it may be left out, means 1."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {of} a single Tensor with a single element: give v of its shape."
            )
        return None
    vs, _ = tensors_of(v, "v", caller)
    demand_like(vs, like, many)
    return tuple([t if create_graph and t.requires_grad else t.detach() for t in vs])


def demand_like(vs: Tensors, like: Tensors, many: bool) -> None:
    """A vector has the shapes of what it is multiplied with, which was a tuple if there are `many`."""
    if len(vs) != len(like):
        if not many:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vs)}.")
    for i, (given, t) in enumerate(zip(vs, like, strict=True)):
        if given.shape != t.shape:
            entry = f"Entry {i} in " if many else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {t.shape} but got {given.shape}.")


OF_OUTPUT = "user-provided function returns"
OF_INPUT = "input to the user-provided function is"


def single(result: Any, caller: str, strict: bool) -> Tensor:
    """The result of a function that has a Hessian: one tensor with one element."""
    outs, many = tensors_of(result, OUTPUTS, caller)
    if strict:
        demand_graph(outs)
    if many:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {caller} should contain a single element")
    return outs[0]


def mirrored(tensors: Tensors, many: bool) -> Any:
    """A tuple if what it mirrors was a tuple, else its only member."""
    return tensors if many else tensors[0]


def nested(blocks: Blocks, many_outputs: bool, many_inputs: bool) -> Any:
    rows: Any = blocks if many_inputs else tuple([row[0] for row in blocks])
    return rows if many_outputs else rows[0]


# ---- what strict mode requires


def demand_graph(outs: Tensors) -> None:
    for i, out in enumerate(outs):
        if not out.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients."
                f"{_STRICT}: compute it from the inputs by differentiable ops."
            )


def demand_varying(gradients: Gaps, about: str) -> None:
    """Every gradient is there and requires grad itself, so that there is something to differentiate again."""
    for i, g in enumerate(gradients):
        if g is None:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}.{_STRICT}.")
        if not g.requires_grad:
            raise RuntimeError(f"{about.format(i)}.{_STRICT}, and true of a linear function, for one.")


JACOBIAN_VARIES = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input"
)
HESSIAN_VARIES = (
    "The hessian of the user-provided function with respect to input {} is independent of the input. This is not "
    "allowed in strict mode. You should ensure that your function is thrice differentiable and that the hessian "
    "depends on the inputs"
)
PULLBACK_VARIES = "The gradient with respect to input {} is independent of the inputs of the user-provided function"


def filled(gradients: Gaps, like: Tensors, strict: bool, create_graph: bool, missing: str, constant: str) -> Tensors:
    """Zeros in place of None, which strict mode forbids with the message `missing`; with `create_graph` it also forbids
    gradients that are constants, with the message `constant`."""
    if strict:
        for i, g in enumerate(gradients):
            if g is None:
                raise RuntimeError(f"{missing.format(i)}.{_STRICT}.")
            if create_graph and not g.requires_grad:
                raise RuntimeError(f"{constant.format(i)}.{_STRICT} when create_graph=True.")
    return tuple([_zeros_like(t) if g is None else g for g, t in zip(gradients, like, strict=True)])


OUTPUT_FREE = "The output of the user-provided function is independent of input {}"
JACOBIAN_FREE = "The jacobian of the user-provided function is independent of input {}"
HESSIAN_FREE = "The hessian of the user-provided function is independent of input {}"
COTANGENT_FREE = "The gradient with respect to the input is independent of entry {} in the grad_outputs"
DIRECTION_FREE = "The hessian of the user-provided function is independent of entry {} in the grad_jacobian"
