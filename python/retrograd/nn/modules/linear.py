"""Layers that multiply by a matrix."""

from __future__ import annotations

import math
from typing import Any

from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn import functional as F
from retrograd.nn import init
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import new_parameter, parameter_of, reset_by_fan_in
from retrograd.nn.modules.lazy import LazyModuleMixin
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter, UninitializedParameter

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Returns its input. Takes any arguments, so that it can stand for another layer.

    >>> rg.nn.Identity(54, unused=True)(rg.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """`input @ weight.T + bias` over the last dimension.

    Args: `in_features` and `out_features` the last size of input and output; `bias` whether something is added.
    Parameters: `weight` of size (out_features, in_features) and `bias` of size (out_features,), both drawn uniformly
    up to `1 / sqrt(in_features)`.

    >>> rg.nn.Linear(3, 2)(rg.ones(5, 3)).shape
    retrograd.Size([5, 2])
    """

    __constants__ = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = new_parameter((out_features, in_features), device, dtype)
        self.register_parameter("bias", new_parameter(out_features, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        >>> rg.nn.Linear(3, 2).reset_parameters()
        """
        reset_by_fan_in(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, parameter_of(self, "weight"), parameter_of(self, "bias"))

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """The projection of the output of `MultiheadAttention`: a `Linear` under a name of its own.

    >>> from retrograd.nn.modules.linear import NonDynamicallyQuantizableLinear
    >>> NonDynamicallyQuantizableLinear(3, 2)(rg.ones(3)).shape
    retrograd.Size([2])
    """


class Bilinear(Module):
    """`input1 @ weight[k] @ input2 + bias[k]` for each output k, over last dimensions.

    Args: `in1_features`, `in2_features` and `out_features` the last sizes of the inputs and the output; `bias` whether
    something is added.
    Parameters: `weight` of size (out_features, in1_features, in2_features) and `bias` of size (out_features,), drawn
    uniformly up to `1 / sqrt(in1_features)`. Raises: ValueError if `in1_features` is not positive.

    >>> rg.nn.Bilinear(3, 4, 2)(rg.ones(5, 3), rg.ones(5, 4)).shape
    retrograd.Size([5, 2])
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]
    in1_features: int
    in2_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = new_parameter((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", new_parameter(out_features, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        >>> rg.nn.Bilinear(3, 4, 2).reset_parameters()
        """
        if self.in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={self.in1_features})")
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, parameter_of(self, "weight"), parameter_of(self, "bias"))

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` that learns `in_features` from its first input, and then becomes a `Linear`.

    Args: as of `Linear`, without `in_features`.

    >>> layer = rg.nn.LazyLinear(2)
    >>> _ = layer(rg.ones(5, 3))
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = Linear
    weight: UninitializedParameter
    bias: UninitializedParameter | None

    def __init__(self, out_features: int, bias: bool = True, device: _device_t = None, dtype: _dtype_t = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once their sizes are known."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters their sizes and values."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # the parameters were loaded before the first input
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
