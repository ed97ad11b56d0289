"""The autograd graph behind a tensor: a picture of it, and the memory that it keeps."""

from __future__ import annotations

from retrograd.utils.graph._drawing import Drawing
from retrograd.utils.graph._memory import Block, Ledger, Row, memory
from retrograd.utils.graph._picture import draw, to_dot

__all__ = ["Block", "Drawing", "Ledger", "Row", "draw", "memory", "to_dot"]
