"""Shuffling channels between groups."""

from __future__ import annotations

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Takes channels in turn from each of `groups` groups: see `nn.functional.channel_shuffle`.

    >>> x = rg.arange(4.0).reshape(1, 4, 1)
    >>> rg.nn.ChannelShuffle(2)(x).flatten()
    tensor([0., 2., 1., 3.])
    """

    __constants__ = ["groups"]
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
