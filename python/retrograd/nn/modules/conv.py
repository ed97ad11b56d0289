"""Convolutions and transposed convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn import functional as F
from retrograd.nn.common_types import _device_t, _dtype_t, _size_any_t
from retrograd.nn.modules._parameters import new_parameter, parameter_of, reset_by_fan_in
from retrograd.nn.modules.lazy import LazyModuleMixin
from retrograd.nn.modules.module import Module
from retrograd.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from retrograd.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

_PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]
_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """A convolution over any number of dimensions, whose sizes are tuples with a number for each."""

    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: _PaddingMode
    weight: Parameter
    bias: Parameter | None
    _reversed_padding_repeated_twice: Sequence[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: _PaddingMode,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            modes = ", ".join(map(repr, _PADDING_MODES))
            raise ValueError(f"padding_mode must be one of {{{modes}}}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._sizes_of_pad()
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = new_parameter((*channels, *kernel_size), device, dtype)
        self.register_parameter("bias", new_parameter(out_channels, device, dtype) if bias else None)
        self.reset_parameters()

    def _sizes_of_pad(self) -> Sequence[int]:
        """The padding as `pad` takes it, which does the padding in the modes other than "zeros"."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        sizes = []
        for d, k in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            both = d * (k - 1) if self.padding == "same" else 0
            sizes += [both // 2, both - both // 2]
        return sizes

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        weight = self.weight
        if weight.is_contiguous():
            reset_by_fan_in(weight, self.bias)
            return
        # Values are drawn in the order of memory, and shall be the same in any format.
        values = _core.empty(weight.shape, dtype=weight.dtype, device=weight.device)
        reset_by_fan_in(values, self.bias)
        with no_grad():
            weight.copy_(values)

    def extra_repr(self) -> str:
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
            f"padding={self.padding}" if self.padding != (0,) * len(self.padding) else "",
            f"dilation={self.dilation}" if self.dilation != (1,) * len(self.dilation) else "",
            f"output_padding={self.output_padding}" if self.output_padding != (0,) * len(self.output_padding) else "",
            f"groups={self.groups}" if self.groups != 1 else "",
            "bias=False" if self.bias is None else "",
            f"padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "",
        ]
        return ", ".join(filter(None, parts))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    """What `Conv1d`, `Conv2d` and `Conv3d` share: all but the number of dimensions, and the function."""

    _dims: int
    _function: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_any_t,
        stride: _size_any_t = 1,
        padding: str | _size_any_t = 0,
        dilation: _size_any_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: _PaddingMode = "zeros",
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            sizes(kernel_size),
            sizes(stride),
            padding if isinstance(padding, str) else sizes(padding),
            sizes(dilation),
            False,
            sizes(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            padding = (0,) * self._dims
        return self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, parameter_of(self, "weight"), parameter_of(self, "bias"))


class Conv1d(_Conv):
    """A convolution of (N, C, L) or (C, L).

    Args: `in_channels` and `out_channels` the sizes C of input and output; `kernel_size` that of the window; `stride`
    between windows; `padding` on both sides, or "valid" (none) or "same" (the output is as long as the input);
    `padding_mode` what is padded: "zeros", "reflect", "replicate" or "circular"; `dilation` between elements of a
    window; `groups` of channels that do not see each other; `bias` whether something is added to each channel.
    Parameters: `weight` of size (out_channels, in_channels / groups, kernel_size) and `bias` of size (out_channels,),
    drawn uniformly up to 1 over the root of the number of inputs of an output.
    Raises: ValueError if `groups` does not divide the channels, and for paddings that do not exist.

    >>> rg.nn.Conv1d(3, 8, 5, padding="same")(rg.ones(2, 3, 10)).shape
    retrograd.Size([2, 8, 10])
    """

    _dims = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """A convolution of (N, C, H, W) or (C, H, W). Sizes are one number or two.

    Args: as of `Conv1d`.
    Parameters: `weight` of size (out_channels, in_channels / groups, kernel height, kernel width) and `bias` of size
    (out_channels,).

    >>> rg.nn.Conv2d(3, 8, 3, stride=2, padding=1)(rg.ones(2, 3, 10, 10)).shape
    retrograd.Size([2, 8, 5, 5])
    """

    _dims = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """A convolution of (N, C, D, H, W) or (C, D, H, W). Sizes are one number or three.

    Args: as of `Conv1d`.
    Parameters: `weight` of size (out_channels, in_channels / groups, kernel depth, height, width) and `bias` of size
    (out_channels,).

    >>> rg.nn.Conv3d(3, 8, (1, 3, 3))(rg.ones(2, 3, 4, 6, 6)).shape
    retrograd.Size([2, 8, 4, 4, 4])
    """

    _dims = 3
    _function = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution over any number of dimensions, whose sizes are tuples with a number for each."""

    _dims: int
    _function: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: _PaddingMode,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """What is added to the output at one side, so that it has the size `output_size`."""
        if output_size is None:
            return self.output_padding
        others = 2 if input.dim() == num_spatial_dims + 2 else 1
        if len(output_size) == others + num_spatial_dims:
            output_size = output_size[others:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, output_size must have "
                f"{num_spatial_dims} or {others + num_spatial_dims} elements (got {len(output_size)})"
            )
        dilation = dilation or (1,) * num_spatial_dims
        least = [
            (input.size(d + others) - 1) * stride[d] - 2 * padding[d] + dilation[d] * (kernel_size[d] - 1) + 1
            for d in range(num_spatial_dims)
        ]
        most = [size + s - 1 for size, s in zip(least, stride, strict=False)]
        if any(not low <= size <= high for low, size, high in zip(least, output_size, most, strict=False)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} "
                f"(for an input of {input.size()[2:]})"
            )
        return [size - low for size, low in zip(output_size, least, strict=False)]


class _ConvTranspose(_ConvTransposeNd):
    """What `ConvTranspose1d`, `ConvTranspose2d` and `ConvTranspose3d` share."""

    padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_any_t,
        stride: _size_any_t = 1,
        padding: _size_any_t = 0,
        output_padding: _size_any_t = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _size_any_t = 1,
        padding_mode: _PaddingMode = "zeros",
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            sizes(kernel_size),
            sizes(stride),
            sizes(padding),
            sizes(dilation),
            True,
            sizes(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for ConvTranspose{self._dims}d")
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self._dims, self.dilation
        )
        return self._function(
            input,
            parameter_of(self, "weight"),
            parameter_of(self, "bias"),
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTranspose):
    """A transposed convolution of (N, C, L) or (C, L): the gradient of a `Conv1d` by its input, as a layer.

    Args: as of `Conv1d`, but `padding` is taken away from the output at both sides, and `output_padding` is added at
    one side. A call can give an `output_size` instead. Only "zeros" is a `padding_mode`.
    Parameters: `weight` of size (in_channels, out_channels / groups, kernel_size) and `bias` of size (out_channels,).
    Raises: ValueError as `Conv1d`, and for an output size that no `output_padding` gives.

    >>> rg.nn.ConvTranspose1d(3, 8, 2, stride=2)(rg.ones(2, 3, 10)).shape
    retrograd.Size([2, 8, 20])
    """

    _dims = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """A transposed convolution of (N, C, H, W) or (C, H, W). Sizes are one number or two.

    Args and parameters: as of `ConvTranspose1d`.

    >>> layer = rg.nn.ConvTranspose2d(3, 8, 3, stride=2, padding=1)
    >>> layer(rg.ones(2, 3, 5, 5)).shape, layer(rg.ones(2, 3, 5, 5), output_size=(10, 10)).shape
    (retrograd.Size([2, 8, 9, 9]), retrograd.Size([2, 8, 10, 10]))
    """

    _dims = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """A transposed convolution of (N, C, D, H, W) or (C, D, H, W). Sizes are one number or three.

    Args and parameters: as of `ConvTranspose1d`.

    >>> rg.nn.ConvTranspose3d(3, 8, (1, 2, 2))(rg.ones(2, 3, 4, 4, 4)).shape
    retrograd.Size([2, 8, 4, 5, 5])
    """

    _dims = 3
    _function = staticmethod(F.conv_transpose3d)


if TYPE_CHECKING:
    _Lazy = _Conv
else:
    _Lazy = object


class _LazyConvXdMixin(LazyModuleMixin, _Lazy):
    """A convolution that learns `in_channels` from its first input."""

    weight: UninitializedParameter
    bias: UninitializedParameter | None

    def _become_lazy(self, out_channels: int, bias: bool, device: _device_t, dtype: _dtype_t) -> None:
        """The last step of constructors, after that of a layer without channels."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once their sizes are known."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their sizes and values."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        with no_grad():
            if self.transposed:
                channels = (self.in_channels, self.out_channels // self.groups)
            else:
                channels = (self.out_channels, self.in_channels // self.groups)
            self.weight.materialize((*channels, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        unbatched, batched = self._dims + 1, self._dims + 2
        if input.dim() not in (unbatched, batched):
            raise RuntimeError(
                f"Expected {unbatched}D (unbatched) or {batched}D (batched) input to {self.__class__.__name__}, "
                f"but got input of size: {input.shape}"
            )
        return input.size(-self._dims - 1)


class _LazyConv(_LazyConvXdMixin, _Conv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: _size_any_t,
        stride: _size_any_t = 1,
        padding: str | _size_any_t = 0,
        dilation: _size_any_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: _PaddingMode = "zeros",
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device=device, dtype=dtype
        )
        self._become_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` that learns `in_channels` from its first input, and then becomes a `Conv1d`.

    Args: as of `Conv1d`, without `in_channels`.

    >>> layer = rg.nn.LazyConv1d(8, 5)
    >>> layer(rg.ones(2, 3, 10)).shape, layer.in_channels
    (retrograd.Size([2, 8, 6]), 3)
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` that learns `in_channels` from its first input, and then becomes a `Conv2d`.

    Args: as of `Conv2d`, without `in_channels`.

    >>> layer = rg.nn.LazyConv2d(8, 3)
    >>> layer(rg.ones(2, 3, 5, 5)).shape, layer.in_channels
    (retrograd.Size([2, 8, 3, 3]), 3)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A `Conv3d` that learns `in_channels` from its first input, and then becomes a `Conv3d`.

    Args: as of `Conv3d`, without `in_channels`.

    >>> layer = rg.nn.LazyConv3d(8, 3)
    >>> layer(rg.ones(2, 3, 5, 5, 5)).shape, layer.in_channels
    (retrograd.Size([2, 8, 3, 3, 3]), 3)
    """

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConvXdMixin, _ConvTranspose):  # type: ignore[misc]
    def __init__(
        self,
        out_channels: int,
        kernel_size: _size_any_t,
        stride: _size_any_t = 1,
        padding: _size_any_t = 0,
        output_padding: _size_any_t = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _size_any_t = 1,
        padding_mode: _PaddingMode = "zeros",
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
            device=device,
            dtype=dtype,
        )
        self._become_lazy(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):  # type: ignore[misc]
    """A `ConvTranspose1d` that learns `in_channels` from its first input, and then becomes a `ConvTranspose1d`.

    Args: as of `ConvTranspose1d`, without `in_channels`.

    >>> layer = rg.nn.LazyConvTranspose1d(8, 5)
    >>> layer(rg.ones(2, 3, 10)).shape, layer.in_channels
    (retrograd.Size([2, 8, 14]), 3)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):  # type: ignore[misc]
    """A `ConvTranspose2d` that learns `in_channels` from its first input, and then becomes a `ConvTranspose2d`.

    Args: as of `ConvTranspose2d`, without `in_channels`.

    >>> layer = rg.nn.LazyConvTranspose2d(8, 3)
    >>> layer(rg.ones(2, 3, 5, 5)).shape, layer.in_channels
    (retrograd.Size([2, 8, 7, 7]), 3)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):  # type: ignore[misc]
    """A `ConvTranspose3d` that learns `in_channels` from its first input, and then becomes a `ConvTranspose3d`.

    Args: as of `ConvTranspose3d`, without `in_channels`.

    >>> layer = rg.nn.LazyConvTranspose3d(8, 3)
    >>> layer(rg.ones(2, 3, 5, 5, 5)).shape, layer.in_channels
    (retrograd.Size([2, 8, 7, 7, 7]), 3)
    """

    cls_to_become = ConvTranspose3d
