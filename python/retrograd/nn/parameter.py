"""`Parameter`: a tensor that is to be trained."""

from __future__ import annotations

from typing import Any, Self

from retrograd import _core
from retrograd._core import Tensor

__all__ = ["Parameter"]


class Parameter(Tensor):
    """A leaf over the memory of `data`, which requires grad by default, also inside `no_grad`.

    Args: `data` a tensor, or None for an empty one; `requires_grad` whether it is trained.
    Raises: RuntimeError if it shall require grad and is neither floating point nor complex; TypeError if `data` is not
    a tensor.

    >>> rg.nn.Parameter(rg.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = _core.empty(0)
        elif not isinstance(data, Tensor):
            raise TypeError(f"Parameter: data must be a tensor, not {type(data).__name__}")
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError(
                f"Only Tensors of floating point and complex dtype can require gradients, got {data.dtype}"
            )
        parameter: Self = _core._make_subclass(cls, data, requires_grad)
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        copy: Self = memo[id(self)]
        return copy
