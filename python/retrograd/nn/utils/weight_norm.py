"""A weight as a length times a direction, by a hook; `parametrizations.weight_norm` does it by a parametrization."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from retrograd import linalg
from retrograd._core import Tensor
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

_M = TypeVar("_M", bound=Module)


def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """The norms over all dimensions but one, which are kept with size 1; -1 stands for no dimension.

    >>> from retrograd.nn.utils.weight_norm import norm_except_dim
    >>> norm_except_dim(rg.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if dim == -1:
        return linalg.vector_norm(v, pow)
    return linalg.vector_norm(v, pow, [d for d in range(v.dim()) if d != dim], keepdim=True)


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """The direction of `v` with the length `g`."""
    return v * (g / norm_except_dim(v, 2, dim))


class WeightNorm:
    """The hook that computes the weight `name` from `name_g` and `name_v` before each call of its module.

    >>> from retrograd.nn.utils.weight_norm import WeightNorm
    >>> WeightNorm("weight", 0).name  # weight_norm calls WeightNorm.apply(module, name, dim), compute_weight(module)
    'weight'
    >>> # remove_weight_norm calls remove(module)
    """

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight that length and direction make."""
        return _weight_norm(getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g"), self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Replace a weight by its length and its direction."""
        warnings.warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
            stacklevel=3,
        )
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight, 2, fn.dim).data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"]
        del module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: _M, name: str = "weight", dim: int | None = 0) -> _M:
    """Let a weight have its length and its direction as parameters, `name_g` and `name_v`; it warns.

    Args: lengths are along `dim`, or there is one for all with None.
    Raises: RuntimeError for a weight that has such a hook already; ValueError for one without a shape.

    >>> norm = rg.nn.utils.weight_norm  # prefer rg.nn.utils.parametrizations.weight_norm
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: _M, name: str = "weight") -> _M:
    """Make a weight that `weight_norm` took apart one parameter again.

    Raises: ValueError if it did not.

    >>> remove = rg.nn.utils.remove_weight_norm
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
