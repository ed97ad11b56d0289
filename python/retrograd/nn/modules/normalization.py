"""Normalization with the moments of each vector, or of neighbouring channels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrograd import _core
from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn import init
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import new_parameter, parameter_of
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _AcrossChannels(Module):
    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(_AcrossChannels):
    """Divides by `(k + alpha * mean of squares) ** beta` over `size` neighbouring channels of (N, C, ...).

    >>> rg.nn.LocalResponseNorm(1, alpha=3.0, beta=0.5)(rg.ones(1, 1, 1))
    tensor([[[0.5000]]])
    """

    __constants__ = ["size", "alpha", "beta", "k"]

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_AcrossChannels):
    """Divides by `(k + alpha / size * sum of squares) ** beta` over neighbouring channels of (N, C, H, W).

    The sum is over the channels less than `(size + 1) // 2` away. As in PyTorch, that of a channel further from
    channel 0 counts channel 0, too. Raises: ValueError for inputs of other than 4 dimensions.

    >>> rg.nn.CrossMapLRN2d(1, alpha=3.0, beta=0.5)(rg.ones(1, 1, 1, 1))
    tensor([[[[0.5000]]]])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size + 1) // 2
        channels = input.size(1)
        near = _core.ones(channels, channels, dtype=input.dtype).tril(reach - 1).triu(1 - reach)
        near[reach:, 0] = 1
        sums = _core.einsum("dc,nchw->ndhw", near, input * input)
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta


def _tuple_of(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(normalized_shape) if isinstance(normalized_shape, Iterable) else (normalized_shape,)


class LayerNorm(Module):
    """Normalizes by mean and variance over the last dimensions, then scales and adds.

    Args: `normalized_shape` the sizes of these dimensions, or the size of the last; `eps` is added to variances;
    `elementwise_affine` whether scales and offsets are trained, `bias` whether there are offsets.
    Parameters: `weight` and `bias` of size `normalized_shape`.

    >>> rg.nn.LayerNorm(2)(rg.tensor([1.0, 3.0])).detach()
    tensor([-1.0000,  1.0000])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool
    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = size = _tuple_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", new_parameter(size, device, dtype) if elementwise_affine else None)
        self.register_parameter("bias", new_parameter(size, device, dtype) if elementwise_affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scales to 1 and the offsets to 0.

        >>> rg.nn.LayerNorm(2).reset_parameters()
        """
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(
            input, self.normalized_shape, parameter_of(self, "weight"), parameter_of(self, "bias"), self.eps
        )

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalizes by mean and variance over groups of channels of (N, C, ...), then scales and adds.

    Args: `num_groups` and `num_channels` how many; `eps` is added to variances; `affine` whether scales and offsets of
    channels are trained, `bias` whether there are offsets. Parameters: `weight` and `bias` of size (C,).
    Raises: ValueError if the groups do not divide the channels.

    >>> rg.nn.GroupNorm(1, 2)(rg.tensor([[1.0, 3.0]])).detach()
    tensor([[-1.0000,  1.0000]])
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]
    num_groups: int
    num_channels: int
    eps: float
    affine: bool
    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.register_parameter("weight", new_parameter(num_channels, device, dtype) if affine else None)
        self.register_parameter("bias", new_parameter(num_channels, device, dtype) if affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scales to 1 and the offsets to 0.

        >>> rg.nn.GroupNorm(1, 2).reset_parameters()
        """
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, parameter_of(self, "weight"), parameter_of(self, "bias"), self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root of the mean of squares over the last dimensions, then scales.

    Args: `normalized_shape` the sizes of these dimensions, or the size of the last; `eps` is added to the mean of
    squares, by default the smallest step of the dtype at 1; `elementwise_affine` whether scales are trained.
    Parameters: `weight` of size `normalized_shape`.

    >>> rg.nn.RMSNorm(2)(rg.tensor([1.0, 7.0])).detach()
    tensor([0.2000, 1.4000])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool
    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = size = _tuple_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", new_parameter(size, device, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scales to 1.

        >>> rg.nn.RMSNorm(2).reset_parameters()
        """
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, parameter_of(self, "weight"), self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
