"""Nonlinearities, each a function of one tensor. Attention is in `attention`."""

from __future__ import annotations

import warnings
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn import init as initial
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import new_parameter, parameter_of
from retrograd.nn.modules.attention import MultiheadAttention
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _Inplace(Module):
    """A nonlinearity without parameters, which may overwrite its input."""

    __constants__ = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


def _and_inplace(module: Any) -> str:
    return ", inplace=True" if module.inplace else ""


class Threshold(Module):
    """`value` where the input is not above `threshold`, else the input.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.Threshold(1.0, 0.5)(rg.tensor([1.0, 2.0]))
    tensor([0.5000, 2.0000])
    """

    __constants__ = ["threshold", "value", "inplace"]
    threshold: float
    value: float
    inplace: bool

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}{_and_inplace(self)}"


class ReLU(_Inplace):
    """`max(x, 0)`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.ReLU()(rg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class RReLU(Module):
    """`x` where positive, else `a * x`: `a` is drawn from `lower` to `upper` while training, else their mean.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.RReLU(0.25, 0.25)
    RReLU(lower=0.25, upper=0.25)
    """

    __constants__ = ["lower", "upper", "inplace"]
    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}{_and_inplace(self)}"


class Hardtanh(Module):
    """`x` cut off at `min_val` and `max_val`.

    Args: `inplace` whether the input is overwritten; `min_value` and `max_value` are deprecated names.
    Raises: AssertionError if `max_val` is not greater than `min_val`.

    >>> rg.nn.Hardtanh()(rg.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """

    __constants__ = ["min_val", "max_val", "inplace"]
    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            warnings.warn(
                "keyword argument `min_value` is deprecated and renamed to `min_val`", FutureWarning, stacklevel=2
            )
            min_val = min_value
        if max_value is not None:
            warnings.warn(
                "keyword argument `max_value` is deprecated and renamed to `max_val`", FutureWarning, stacklevel=2
            )
            max_val = max_value
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}{_and_inplace(self)}"


class ReLU6(Hardtanh):
    """`x` cut off at 0 and 6.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.ReLU6()(rg.tensor([-2.0, 7.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """`1 / (1 + exp(-x))`.

    >>> rg.nn.Sigmoid()(rg.zeros(1))
    tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return _core.sigmoid(input)


class Hardsigmoid(_Inplace):
    """`x / 6 + 1 / 2`, cut off at 0 and 1.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.Hardsigmoid()(rg.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(Module):
    """The hyperbolic tangent.

    >>> rg.nn.Tanh()(rg.zeros(1))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return _core.tanh(input)


class SiLU(_Inplace):
    """`x * sigmoid(x)`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.SiLU()(rg.zeros(1))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_Inplace):
    """`x * tanh(softplus(x))`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.Mish()(rg.zeros(1))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_Inplace):
    """`x * hardsigmoid(x)`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.Hardswish()(rg.tensor([-3.0, 3.0]))
    tensor([-0., 3.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class ELU(Module):
    """`x` where positive, else `alpha * (exp(x) - 1)`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.ELU()(rg.tensor([2.0, 0.0]))
    tensor([2., 0.])
    """

    __constants__ = ["alpha", "inplace"]
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_and_inplace(self)}"


class CELU(Module):
    """`x` where positive, else `alpha * (exp(x / alpha) - 1)`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.CELU(2.0)(rg.tensor([2.0, 0.0]))
    tensor([2., 0.])
    """

    __constants__ = ["alpha", "inplace"]
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_and_inplace(self)}"


class SELU(_Inplace):
    """An ELU, scaled so that activations keep mean 0 and variance 1: see `nn.functional.selu`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.SELU()(rg.zeros(1))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class GLU(Module):
    """The first half along `dim`, times the sigmoid of the second half.

    >>> rg.nn.GLU()(rg.tensor([2.0, 0.0]))
    tensor([1.])
    """

    __constants__ = ["dim"]
    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """`x` times the probability that a standard normal is below `x`.

    Args: `approximate` "none", or "tanh" for an approximation by a hyperbolic tangent.

    >>> rg.nn.GELU()(rg.zeros(1))
    tensor([0.])
    """

    __constants__ = ["approximate"]
    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """Zero where `x` is between `-lambd` and `lambd`, else `x`.

    >>> rg.nn.Hardshrink()(rg.tensor([0.4, 0.6]))
    tensor([0.0000, 0.6000])
    """

    __constants__ = ["lambd"]
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class LeakyReLU(Module):
    """`x` where positive, else `negative_slope * x`.

    Args: `inplace` whether the input is overwritten.

    >>> rg.nn.LeakyReLU(0.5)(rg.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    __constants__ = ["inplace", "negative_slope"]
    inplace: bool
    negative_slope: float

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{_and_inplace(self)}"


class LogSigmoid(Module):
    """The logarithm of the sigmoid.

    >>> rg.nn.LogSigmoid()(rg.zeros(1))
    tensor([-0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above `threshold`.

    >>> rg.nn.Softplus()(rg.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    __constants__ = ["beta", "threshold"]
    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Module):
    """`x` moved towards zero by `lambd`, zero where it would pass it.

    >>> rg.nn.Softshrink()(rg.tensor([0.25, 2.0]))
    tensor([0.0000, 1.5000])
    """

    __constants__ = ["lambd"]
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class PReLU(Module):
    """`x` where positive, else `weight * x`, with a slope that is trained.

    Args: `num_parameters` 1, or the number of channels, each of which then has a slope; `init` the slope at first.

    >>> rg.nn.PReLU()(rg.tensor([-1.0, 2.0]))
    tensor([-0.2500,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

    __constants__ = ["num_parameters"]
    num_parameters: int
    weight: Parameter

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: _device_t = None, dtype: _dtype_t = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = new_parameter(num_parameters, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to `init`.

        >>> rg.nn.PReLU().reset_parameters()
        """
        initial.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, parameter_of(self, "weight"))

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """`x / (1 + |x|)`.

    >>> rg.nn.Softsign()(rg.ones(1))
    tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """`x - tanh(x)`.

    >>> rg.nn.Tanhshrink()(rg.zeros(1))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class _AlongDim(Module):
    """A function of the vectors along a dimension."""

    __constants__ = ["dim"]
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_AlongDim):
    """`softmax(-x)` along `dim`.

    >>> rg.nn.Softmin(dim=0)(rg.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, 5)


class Softmax(_AlongDim):
    """`exp(x)` along `dim`, divided by its sum. Warns if no `dim` is given.

    >>> rg.nn.Softmax(dim=0)(rg.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, 5)


class Softmax2d(Module):
    """`softmax` over the channels of (N, C, H, W) or (C, H, W). Raises: ValueError for another number of dimensions.

    >>> rg.nn.Softmax2d()(rg.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, 5)


class LogSoftmax(_AlongDim):
    """The logarithm of `softmax` along `dim`. Warns if no `dim` is given.

    >>> rg.nn.LogSoftmax(dim=0)(rg.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, 5)
