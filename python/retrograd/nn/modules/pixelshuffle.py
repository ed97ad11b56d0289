"""Channels that become pixels, and back."""

from __future__ import annotations

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Makes images larger by `upscale_factor` in both directions, from channels: see `nn.functional.pixel_shuffle`.

    >>> rg.nn.PixelShuffle(3)(rg.ones(1, 9, 4, 4)).shape
    retrograd.Size([1, 1, 12, 12])
    """

    __constants__ = ["upscale_factor"]
    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Makes images smaller by `downscale_factor` in both directions, and channels of their pixels.

    >>> rg.nn.PixelUnshuffle(3)(rg.ones(1, 1, 12, 12)).shape
    retrograd.Size([1, 9, 4, 4])
    """

    __constants__ = ["downscale_factor"]
    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
