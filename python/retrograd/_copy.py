"""Copies of tensors for `copy.deepcopy` and pickle; `Tensor.__deepcopy__` and `Tensor.__reduce_ex__` end up here."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd._core import dtype as DType

__all__ = ["deepcopy", "reduce"]


def deepcopy(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with its own memory, `.grad` and attributes. Tensors that share memory do not in their copies.

    Raises: RuntimeError if the tensor is not a leaf.

    >>> import copy, retrograd as rg
    >>> x = rg.ones(2, requires_grad=True)
    >>> y = copy.deepcopy(x)
    >>> y.requires_grad, y.data_ptr() == x.data_ptr()
    (True, False)
    """
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment: "
            "detach() or clone().detach() the tensor first"
        )
    if id(tensor) in memo:
        known: Tensor = memo[id(tensor)]
        return known
    result: Tensor = tensor.detach().clone()
    if type(tensor) is not Tensor:
        result = _core._make_subclass(type(tensor), result, tensor.requires_grad)
    elif tensor.requires_grad:
        result.requires_grad_()
    memo[id(tensor)] = result
    if tensor.grad is not None:
        result.grad = deepcopy(tensor.grad.detach(), memo)
    for name, value in _attributes(tensor).items():
        setattr(result, name, copy.deepcopy(value, memo))
    return result


def reduce(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    """What pickle needs to make the tensor again: values, dtype, shape, requires_grad and attributes.

    A non-leaf comes back as a leaf that requires grad; hooks and `.grad` are left behind.

    >>> import pickle, retrograd as rg
    >>> pickle.loads(pickle.dumps(rg.ones(2, requires_grad=True)))
    tensor([1., 1.], requires_grad=True)
    """
    plain = tensor.detach()
    values = plain.reshape(-1).tolist()
    return _rebuild, (type(tensor), values, plain.dtype, tuple(plain.shape), tensor.requires_grad, _attributes(tensor))


def _rebuild(
    kind: type[Tensor],
    values: list[Any],
    dtype: DType,
    shape: tuple[int, ...],
    requires_grad: bool,
    attributes: dict[str, Any],
) -> Tensor:
    result: Tensor = _core.tensor(values, dtype=dtype).reshape(shape)
    if kind is not Tensor:
        result = _core._make_subclass(kind, result, requires_grad)
    elif requires_grad:
        result.requires_grad_()
    for name, value in attributes.items():
        setattr(result, name, value)
    return result


def _attributes(tensor: Tensor) -> dict[str, Any]:
    return dict(getattr(tensor, "__dict__", {}))
