"""Weights of convolutions in another memory format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from retrograd.nn.utils._layers import layers

if TYPE_CHECKING:
    from retrograd._core import memory_format as MemoryFormat
    from retrograd.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

_M = TypeVar("_M", bound="Module")


def convert_conv2d_weight_memory_format(module: _M, memory_format: MemoryFormat) -> _M:
    """Convert the weights of all `Conv2d` and `ConvTranspose2d` in a module to a memory format, in place.

    >>> net = rg.nn.Sequential()
    >>> rg.nn.utils.convert_conv2d_weight_memory_format(net, rg.channels_last) is net
    True
    """
    return _converted(module, memory_format, ("Conv2d", "ConvTranspose2d"))


def convert_conv3d_weight_memory_format(module: _M, memory_format: MemoryFormat) -> _M:
    """Convert the weights of all `Conv3d` and `ConvTranspose3d` in a module to a memory format, in place.

    >>> net = rg.nn.Sequential()
    >>> rg.nn.utils.convert_conv3d_weight_memory_format(net, rg.channels_last_3d) is net
    True
    """
    return _converted(module, memory_format, ("Conv3d", "ConvTranspose3d"))


def _converted(module: _M, memory_format: MemoryFormat, names: tuple[str, ...]) -> _M:
    kinds: tuple[Any, ...] = layers(*names)
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().clone(memory_format=memory_format)
    return module
