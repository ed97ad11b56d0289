"""The autograd graph behind a tensor: a picture of it."""

from __future__ import annotations

from retrograd.utils.graph._drawing import Drawing
from retrograd.utils.graph._picture import draw, to_dot

__all__ = ["Drawing", "draw", "to_dot"]
