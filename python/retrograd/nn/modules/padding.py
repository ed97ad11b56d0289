"""Layers that pad their input: with a constant, or with elements of it."""

from __future__ import annotations

from collections.abc import Sequence

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.common_types import _size_2_t, _size_4_t, _size_6_t
from retrograd.nn.modules.module import Module
from retrograd.nn.modules.utils import _ntuple, _pair, _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

_sextuple = _ntuple(6)


class _CircularPadNd(Module):
    __constants__ = ["padding"]
    padding: Sequence[int]
    _dims: int

    def forward(self, input: Tensor) -> Tensor:
        without_batch = self._dims + 1
        if input.dim() not in (without_batch, without_batch + 1):
            raise ValueError(f"expected {without_batch}D or {without_batch + 1}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, "circular")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """Pads the last dimension with elements from its other end.

    Args: `padding` one number, or (left, right). Raises: ValueError for inputs of other than 2 or 3 dimensions.

    >>> rg.nn.CircularPad1d(1)(rg.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 1., 2., 3., 1.]])
    """

    _dims = 1

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__()
        self.padding = _pair(padding)


class CircularPad2d(_CircularPadNd):
    """Pads the last 2 dimensions with elements from their other ends.

    Args: `padding` one number, or (left, right, top, bottom). Raises: ValueError for inputs of other than 3 or 4
    dimensions.

    >>> rg.nn.CircularPad2d((1, 0, 0, 0))(rg.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[3., 1., 2., 3.]]])
    """

    _dims = 2

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class CircularPad3d(_CircularPadNd):
    """Pads the last 3 dimensions with elements from their other ends.

    Args: `padding` one number, or (left, right, top, bottom, front, back). Raises: ValueError for inputs of other than
    4 or 5 dimensions.

    >>> rg.nn.CircularPad3d(1)(rg.ones(1, 2, 2, 2)).shape
    retrograd.Size([1, 4, 4, 4])
    """

    _dims = 3

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__()
        self.padding = _sextuple(padding)


class _ConstantPadNd(Module):
    __constants__ = ["padding", "value"]
    value: float
    padding: Sequence[int]

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with `value`.

    Args: `padding` one number, or (left, right).

    >>> rg.nn.ConstantPad1d(1, 9.0)(rg.tensor([[1.0, 2.0]]))
    tensor([[9., 1., 2., 9.]])
    """

    def __init__(self, padding: _size_2_t, value: float) -> None:
        super().__init__(value)
        self.padding = _pair(padding)


class ConstantPad2d(_ConstantPadNd):
    """Pads the last 2 dimensions with `value`.

    Args: `padding` one number, or (left, right, top, bottom).

    >>> rg.nn.ConstantPad2d((1, 1, 0, 0), 9.0)(rg.tensor([[1.0, 2.0]]))
    tensor([[9., 1., 2., 9.]])
    """

    def __init__(self, padding: _size_4_t, value: float) -> None:
        super().__init__(value)
        self.padding = _quadruple(padding)


class ConstantPad3d(_ConstantPadNd):
    """Pads the last 3 dimensions with `value`.

    Args: `padding` one number, or (left, right, top, bottom, front, back).

    >>> rg.nn.ConstantPad3d(1, 9.0)(rg.ones(1, 2, 2, 2)).shape
    retrograd.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: _size_6_t, value: float) -> None:
        super().__init__(value)
        self.padding = _sextuple(padding)


class _ReflectionPadNd(Module):
    __constants__ = ["padding"]
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "reflect")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last dimension with its mirror image, without the element at the border.

    Args: `padding` one number, or (left, right).

    >>> rg.nn.ReflectionPad1d(1)(rg.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 1., 2., 3., 2.]])
    """

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__()
        self.padding = _pair(padding)


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last 2 dimensions with their mirror image, without the elements at the border.

    Args: `padding` one number, or (left, right, top, bottom).

    >>> rg.nn.ReflectionPad2d((1, 0, 0, 0))(rg.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[2., 1., 2., 3.]]])
    """

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last 3 dimensions with their mirror image, without the elements at the border.

    Args: `padding` one number, or (left, right, top, bottom, front, back).

    >>> rg.nn.ReflectionPad3d(1)(rg.ones(1, 2, 2, 2)).shape
    retrograd.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__()
        self.padding = _sextuple(padding)


class _ReplicationPadNd(Module):
    __constants__ = ["padding"]
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "replicate")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last dimension with the elements at its borders.

    Args: `padding` one number, or (left, right).

    >>> rg.nn.ReplicationPad1d(1)(rg.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 2., 3., 3.]])
    """

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__()
        self.padding = _pair(padding)


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last 2 dimensions with the elements at their borders.

    Args: `padding` one number, or (left, right, top, bottom).

    >>> rg.nn.ReplicationPad2d((1, 0, 0, 0))(rg.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[1., 1., 2., 3.]]])
    """

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last 3 dimensions with the elements at their borders.

    Args: `padding` one number, or (left, right, top, bottom, front, back).

    >>> rg.nn.ReplicationPad3d(1)(rg.ones(1, 2, 2, 2)).shape
    retrograd.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__()
        self.padding = _sextuple(padding)


class ZeroPad1d(ConstantPad1d):
    """Pads the last dimension with zeros.

    Args: `padding` one number, or (left, right).

    >>> rg.nn.ZeroPad1d(1)(rg.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2., 0.]])
    """

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pads the last 2 dimensions with zeros.

    Args: `padding` one number, or (left, right, top, bottom).

    >>> rg.nn.ZeroPad2d((1, 0, 0, 0))(rg.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2.]])
    """

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pads the last 3 dimensions with zeros.

    Args: `padding` one number, or (left, right, top, bottom, front, back).

    >>> rg.nn.ZeroPad3d(1)(rg.ones(1, 2, 2, 2)).shape
    retrograd.Size([1, 4, 4, 4])
    """

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"
