"""What layers with weights share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.nn import init
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.parameter import Parameter

if TYPE_CHECKING:
    from retrograd.nn.modules.module import Module


def new_parameter(size: int | Sequence[int], device: _device_t, dtype: _dtype_t) -> Parameter:
    """A parameter whose values are still to be set."""
    return Parameter(_core.empty(size, device=device, dtype=dtype))


def parameter_of(module: Module, name: str) -> Any:
    """A parameter, or what has been put into its place: the attribute, in a third of its time.

    Python looks for the attribute in the module and its classes before it asks `__getattr__`.
    """
    own = module._parameters
    return own[name] if name in own else getattr(module, name)


def buffer_of(module: Module, name: str) -> Any:
    """A buffer, or what has been put into its place, as `parameter_of`."""
    own = module._buffers
    return own[name] if name in own else getattr(module, name)


def reset_by_fan_in(weight: Tensor, bias: Tensor | None) -> None:
    """Draw the initial values of linear layers and convolutions: uniform up to `1 / sqrt(fan_in)`."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        fan_in, _ = init._calculate_fan_in_and_fan_out(weight)
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(bias, -bound, bound)
