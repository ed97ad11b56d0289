"""The steps that these functions take, under the names and with the parameters by which programs import them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd._core import Tensor
from retrograd.autograd._batched_derivatives import units
from retrograd.autograd.functional._arguments import (
    COTANGENT_FREE,
    DIRECTION_FREE,
    HESSIAN_FREE,
    HESSIAN_VARIES,
    JACOBIAN_FREE,
    JACOBIAN_VARIES,
    OUTPUT_FREE,
    PULLBACK_VARIES,
    Gaps,
    Tensors,
    demand_graph,
    demand_like,
    demand_varying,
    filled,
    fresh,
    linked,
    mirrored,
    tensors_of,
)

# By stage: what is said of a gradient that is missing, and of one that is constant.
_STAGES = {
    "back": (OUTPUT_FREE, JACOBIAN_FREE),
    "back_trick": (COTANGENT_FREE, JACOBIAN_FREE),
    "double_back": (JACOBIAN_FREE, HESSIAN_FREE),
    "double_back_trick": (DIRECTION_FREE, HESSIAN_FREE),
}

_VARIES = {"grad_inputs": PULLBACK_VARIES, "jacobian": JACOBIAN_VARIES, "hessian": HESSIAN_VARIES}


def _as_tuple_nocheck(x: Any) -> tuple[Any, ...]:
    """The members of a tuple or list, or the object itself as the only one."""
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Whether it was a tuple, and the tuple of tensors; of what has no name, the tuple alone, of anything.

    Raises: TypeError for what is no tensor, and for a tuple with something else.

    >>> from retrograd.autograd.functional import _as_tuple
    >>> _as_tuple(rg.ones(1), "inputs", "jacobian"), _as_tuple([1, 2])
    ((False, (tensor([1.]),)), (1, 2))
    """
    if arg_name is None and fn_name is None:
        return _as_tuple_nocheck(inp)
    tensors, many = tensors_of(inp, str(arg_name), str(fn_name))
    return many, tensors


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """What `_as_tuple` made a tuple of is one no more; a pair tells it of a tuple and of those in it."""
    if not isinstance(to_unpack, tuple):
        return mirrored(res, to_unpack)
    if len(to_unpack) != 2:
        raise AssertionError("Expected to_unpack tuple to have exactly 2 elements")
    outer, inner = to_unpack
    return mirrored(tuple([mirrored(row, inner) for row in res]), outer)


def _grad_preprocess(inputs: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """Tensors over the memory of the inputs, to be recognised in a graph: with `create_graph` linked to those inputs
    that require grad, and others leaves, that require grad with `need_graph`."""
    return fresh(inputs, create_graph, need_graph)


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Nested tuples of tensors, which without `create_graph` have no history."""
    if isinstance(inputs[0], Tensor):
        return linked(inputs, create_graph)
    return tuple([_grad_postprocess(part, create_graph) for part in inputs])


def _validate_v(v: Tensors, other: Tensors, is_other_tuple: bool) -> None:
    """See that a vector has as many tensors as `other`, of the same sizes; RuntimeError if not."""
    demand_like(v, other, is_other_tuple)


def _check_requires_grad(inputs: Gaps, input_type: str, strict: bool) -> None:
    """In strict mode, see that there is something to differentiate: RuntimeError if not.

    Args: `input_type` "outputs", "grad_inputs", "jacobian" or "hessian".
    """
    if not strict:
        return
    if input_type == "outputs":
        demand_graph(inputs)  # type: ignore[arg-type]
    elif input_type in _VARIES:
        demand_varying(inputs, _VARIES[input_type])
    else:
        raise RuntimeError(f"Invalid input_type to _check_requires_grad: {input_type!r}")


def _autograd_grad(
    outputs: Gaps,
    inputs: Sequence[Tensor],
    grad_outputs: Gaps | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    is_grads_batched: bool = False,
) -> Gaps:
    """`autograd.grad`, for outputs of which some are None or require no grad; None where no gradient comes from."""
    from retrograd.autograd import grad

    if not isinstance(outputs, tuple):
        raise AssertionError("Expected outputs to be a tuple")
    grads = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    if not isinstance(grads, tuple) or len(grads) != len(outputs):
        raise AssertionError(
            "Expected grad_outputs to be a tuple, and outputs and grad_outputs to have the same length"
        )
    pairs = [(out, g) for out, g in zip(outputs, grads, strict=True) if out is not None and out.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    roots, cotangents = zip(*pairs, strict=True)
    return grad(
        roots,
        inputs,
        cotangents,
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=retain_graph,
        is_grads_batched=is_grads_batched,
    )


def _fill_in_zeros(grads: Gaps, refs: Tensors, strict: bool, create_graph: bool, stage: str) -> Tensors:
    """Zeros in place of None, which strict mode forbids; the stage of the computation chooses the message."""
    if stage not in _STAGES:
        raise RuntimeError(f"Invalid stage argument '{stage}' to _fill_in_zeros")
    return filled(grads, refs, strict, create_graph, *_STAGES[stage])


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: Sequence[int]) -> Tensors:
    """The unit vectors of the space that all elements of some tensors span: a matrix for each, with a row per vector.

    >>> from retrograd.autograd.functional import _construct_standard_basis_for
    >>> _construct_standard_basis_for((rg.ones(1), rg.ones(2)), (1, 2))[1]
    tensor([[0., 0.],
            [1., 0.],
            [0., 1.]])
    """
    if len(tensors) != len(tensor_numels) or not tensors:
        raise AssertionError(
            "Expected tensors and tensor_numels to have the same length, and at least one tensor, but got "
            f"{len(tensors)} and {len(tensor_numels)}"
        )
    count = sum(tensor_numels)
    return tuple([batch.reshape(count, -1) for batch in units(tensors, 0, count)])
