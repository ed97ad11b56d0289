"""What `opcheck` tries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd._core import Tensor, equal
from retrograd.autograd.gradcheck import gradcheck
from retrograd.library._custom_op import CustomOpDef, _tensors


class OpCheckError(Exception):
    """An op does not do what it states."""


def _schema(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any], tolerances: dict[str, Any]) -> None:
    values, keywords = op._bound(args, kwargs)
    given = dict(zip((p.name for p in op._positional), values, strict=True)) | keywords
    constant = {p.name: _tensors(given[p.name]) for p in op._parameters if not p.mutated}
    before = {name: [tensor.detach().clone() for tensor in tensors] for name, tensors in constant.items()}
    op(*args, **kwargs)
    for name, tensors in constant.items():
        if not all(equal(x.detach(), y) for x, y in zip(tensors, before[name], strict=True)):
            raise OpCheckError(f"Argument {name} is not defined as mutable but was mutated")


def _autograd(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any], tolerances: dict[str, Any]) -> None:
    tensors = [tensor for tensor in _tensors(list(args)) if tensor.requires_grad]
    if not tensors:
        return
    if op._backward is None and op._composite is None:
        raise OpCheckError(f"{op} has no derivative: use register_autograd to add one")

    def call(*args: Any) -> Any:
        result = op(*args, **kwargs)
        return tuple(result) if isinstance(result, list) else result

    if all(isinstance(value, Tensor) or not _tensors([value]) for value in args):
        gradcheck(call, args, **tolerances)


TESTS: dict[str, Callable[..., None]] = {"test_schema": _schema, "test_autograd_registration": _autograd}


def run(
    name: str,
    op: CustomOpDef,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    raises: bool,
    atol: float | None,
    rtol: float | None,
) -> Any:
    """Try one of the tests, and return "SUCCESS" or the failure."""
    tolerances = {key: value for key, value in (("atol", atol), ("rtol", rtol)) if value is not None}
    try:
        TESTS[name](op, args, kwargs, tolerances)
    except Exception as error:
        if raises:
            raise OpCheckError(f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)") from error
        return error
    return "SUCCESS"
