"""Layers that make one element of each window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.common_types import (
    _maybe_indices_t,
    _ratio_2_t,
    _ratio_3_t,
    _size_1_t,
    _size_2_opt_t,
    _size_2_t,
    _size_3_opt_t,
    _size_3_t,
    _size_any_opt_t,
    _size_any_t,
)
from retrograd.nn.modules.module import Module
from retrograd.nn.modules.utils import _ntuple, _single, _triple

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    kernel_size: _size_any_t
    stride: _size_any_t
    padding: _size_any_t
    dilation: _size_any_t
    return_indices: bool
    ceil_mode: bool
    _function: Callable[..., _maybe_indices_t]

    def __init__(
        self,
        kernel_size: _size_any_t,
        stride: _size_any_t | None = None,
        padding: _size_any_t = 0,
        dilation: _size_any_t = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> _maybe_indices_t:
        return self._function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of (N, C, L) or (C, L).

    Args: `kernel_size` of the windows; `stride` between them, by default their size; `padding` with minus infinity on
    both sides; `dilation` between elements of a window; `return_indices` whether the places of the elements are
    returned, too, as `MaxUnpool1d` takes them; `ceil_mode` whether windows may begin inside and end outside.

    >>> rg.nn.MaxPool1d(2)(rg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of (N, C, H, W) or (C, H, W).

    Args: as of `MaxPool1d`; sizes are one number or two.

    >>> rg.nn.MaxPool2d(2)(rg.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W).

    Args: as of `MaxPool1d`; sizes are one number or three.

    >>> rg.nn.MaxPool3d(2)(rg.ones(1, 4, 4, 4)).shape
    retrograd.Size([1, 2, 2, 2])
    """

    _function = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    _dims: int
    _function: Callable[..., Tensor]

    def __init__(self, kernel_size: _size_any_t, stride: _size_any_t | None = None, padding: _size_any_t = 0) -> None:
        super().__init__()
        sizes = _ntuple(self._dims)
        self.kernel_size = sizes(kernel_size)
        self.stride = sizes(stride if stride is not None else kernel_size)
        self.padding = sizes(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return self._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts elements back where `MaxPool1d` took them from, zeros elsewhere.

    Args: `kernel_size`, `stride` and `padding` of the pooling. A call can give an `output_size`, too.

    >>> pool = rg.nn.MaxPool1d(2, return_indices=True)
    >>> rg.nn.MaxUnpool1d(2)(*pool(rg.tensor([[1.0, 3.0, 2.0, 0.0]])))
    tensor([[0., 3., 2., 0.]])
    """

    _dims = 1
    _function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts elements back where `MaxPool2d` took them from, zeros elsewhere.

    Args: as of `MaxUnpool1d`; sizes are one number or two.

    >>> pool = rg.nn.MaxPool2d(2, return_indices=True)
    >>> rg.nn.MaxUnpool2d(2)(*pool(rg.tensor([[[1.0, 3.0], [2.0, 0.0]]])))
    tensor([[[0., 3.],
             [0., 0.]]])
    """

    _dims = 2
    _function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts elements back where `MaxPool3d` took them from, zeros elsewhere.

    Args: as of `MaxUnpool1d`; sizes are one number or three.

    >>> pool = rg.nn.MaxPool3d(2, return_indices=True)
    >>> rg.nn.MaxUnpool3d(2)(*pool(rg.ones(1, 2, 2, 2))).sum()
    tensor(1.)
    """

    _dims = 3
    _function = staticmethod(F.max_unpool3d)


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    kernel_size: _size_any_t
    stride: _size_any_t
    padding: _size_any_t
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of (N, C, L) or (C, L).

    Args: `kernel_size` of the windows; `stride` between them, by default their size; `padding` with zeros on both
    sides; `ceil_mode` whether windows may begin inside and end outside; `count_include_pad` whether the zeros count.

    >>> rg.nn.AvgPool1d(2)(rg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def __init__(
        self,
        kernel_size: _size_1_t,
        stride: _size_1_t | None = None,
        padding: _size_1_t = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolWithDivisor(_AvgPoolNd):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]
    divisor_override: int | None
    _function: Callable[..., Tensor]

    def __init__(
        self,
        kernel_size: _size_any_t,
        stride: _size_any_t | None = None,
        padding: _size_any_t = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            divisor_override=self.divisor_override,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, default in {"padding": 0, "ceil_mode": False, "count_include_pad": True}.items():
            self.__dict__.setdefault(name, default)


class AvgPool2d(_AvgPoolWithDivisor):
    """The mean of each window of (N, C, H, W) or (C, H, W).

    Args: as of `AvgPool1d`; sizes are one number or two; `divisor_override` divides the sums, if given.

    >>> rg.nn.AvgPool2d(2)(rg.ones(1, 4, 4))
    tensor([[[1., 1.],
             [1., 1.]]])
    """

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolWithDivisor):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W).

    Args: as of `AvgPool2d`; sizes are one number or three.

    >>> rg.nn.AvgPool3d(2)(rg.ones(1, 2, 2, 2))
    tensor([[[[1.]]]])
    """

    _function = staticmethod(F.avg_pool3d)


class _FractionalMaxPoolNd(Module):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    kernel_size: tuple[int, ...]
    return_indices: bool
    output_size: tuple[int, ...] | None
    output_ratio: tuple[float, ...] | None
    _random_samples: Tensor | None
    _dims: int

    def __init__(
        self,
        kernel_size: _size_any_t,
        output_size: _size_any_t | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        sizes = _ntuple(self._dims)
        self.kernel_size = sizes(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = sizes(output_size) if output_size is not None else None
        self.output_ratio = sizes(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"FractionalMaxPool{self._dims}d requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest element of each of windows that lie at random, a fraction of the size apart, in (N, C, H, W).

    Args: `kernel_size` of the windows; either `output_size`, or `output_ratio` of the size of the input, between 0 and
    1; `return_indices` whether the places of the elements are returned, too. Sizes are one number or two.
    Raises: ValueError if neither or both of size and ratio are given.

    >>> rg.nn.FractionalMaxPool2d(2, output_ratio=0.5).output_ratio
    (0.5, 0.5)
    """

    _dims = 2

    def __init__(
        self,
        kernel_size: _size_2_t,
        output_size: _size_2_t | None = None,
        output_ratio: _ratio_2_t | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input: Tensor) -> _maybe_indices_t:
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """`FractionalMaxPool2d` over three dimensions of (N, C, D, H, W).

    Args: as of `FractionalMaxPool2d`; sizes are one number or three. Raises: ValueError also for a `kernel_size` that
    is not positive.

    >>> rg.nn.FractionalMaxPool3d(2, output_size=3).output_size
    (3, 3, 3)
    """

    _dims = 3

    def __init__(
        self,
        kernel_size: _size_3_t,
        output_size: _size_3_t | None = None,
        output_ratio: _ratio_3_t | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        if not all(size > 0 for size in _triple(kernel_size)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input: Tensor) -> _maybe_indices_t:
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    norm_type: float
    kernel_size: _size_any_t
    stride: _size_any_t | None
    ceil_mode: bool
    _function: Callable[..., Tensor]

    def __init__(
        self,
        norm_type: float,
        kernel_size: _size_any_t,
        stride: _size_any_t | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The norm of order `norm_type` of each window of (N, C, L) or (C, L).

    Args: `kernel_size` of the windows; `stride` between them, by default their size; `ceil_mode` whether windows may
    begin inside and end outside.

    >>> rg.nn.LPPool1d(2, 2)(rg.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The norm of order `norm_type` of each window of (N, C, H, W) or (C, H, W).

    Args: as of `LPPool1d`; sizes are one number or two.

    >>> rg.nn.LPPool2d(1, 2)(rg.ones(1, 2, 2))
    tensor([[[4.]]])
    """

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The norm of order `norm_type` of each window of (N, C, D, H, W) or (C, D, H, W).

    Args: as of `LPPool1d`; sizes are one number or three.

    >>> rg.nn.LPPool3d(1, 2)(rg.ones(1, 2, 2, 2))
    tensor([[[[8.]]]])
    """

    _function = staticmethod(F.lp_pool3d)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]
    output_size: _size_any_opt_t
    return_indices: bool

    def __init__(self, output_size: _size_any_opt_t, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows as `output_size` says, of (N, C, L) or (C, L).

    Args: `return_indices` whether the places of the elements are returned, too.

    >>> rg.nn.AdaptiveMaxPool1d(2)(rg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    output_size: _size_1_t

    def forward(self, input: Tensor) -> _maybe_indices_t:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows as `output_size` says, of (N, C, H, W) or (C, H, W).

    Args: `output_size` one number or two, of which None stands for the size of the input; `return_indices` whether the
    places of the elements are returned, too.

    >>> rg.nn.AdaptiveMaxPool2d((None, 1))(rg.ones(1, 3, 4)).shape
    retrograd.Size([1, 3, 1])
    """

    output_size: _size_2_opt_t

    def forward(self, input: Tensor) -> _maybe_indices_t:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows as `output_size` says, of (N, C, D, H, W) or (C, D, H, W).

    Args: as of `AdaptiveMaxPool2d`; sizes are one number or three.

    >>> rg.nn.AdaptiveMaxPool3d(1)(rg.ones(1, 2, 3, 4)).shape
    retrograd.Size([1, 1, 1, 1])
    """

    output_size: _size_3_opt_t

    def forward(self, input: Tensor) -> _maybe_indices_t:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]
    output_size: _size_any_opt_t

    def __init__(self, output_size: _size_any_opt_t) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of as many windows as `output_size` says, of (N, C, L) or (C, L).

    >>> rg.nn.AdaptiveAvgPool1d(2)(rg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    output_size: _size_1_t

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of as many windows as `output_size` says, of (N, C, H, W) or (C, H, W).

    Args: `output_size` one number or two, of which None stands for the size of the input.

    >>> rg.nn.AdaptiveAvgPool2d(1)(rg.ones(1, 3, 4))
    tensor([[[1.]]])
    """

    output_size: _size_2_opt_t

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of as many windows as `output_size` says, of (N, C, D, H, W) or (C, D, H, W).

    Args: `output_size` one number or three, of which None stands for the size of the input.

    >>> rg.nn.AdaptiveAvgPool3d(1)(rg.ones(1, 2, 3, 4))
    tensor([[[[1.]]]])
    """

    output_size: _size_3_opt_t

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)
