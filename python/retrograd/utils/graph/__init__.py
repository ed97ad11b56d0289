"""The autograd graph behind a tensor: a picture of it, the memory that it keeps, and why a gradient does not arrive."""

from __future__ import annotations

from retrograd._drawing import Drawing
from retrograd.utils.graph._explain import explain
from retrograd.utils.graph._memory import Block, Ledger, Row, memory
from retrograd.utils.graph._picture import draw, to_dot
from retrograd.utils.graph._question import REASONS, Explanation

__all__ = [
    "REASONS",
    "Block",
    "Drawing",
    "Explanation",
    "Ledger",
    "Row",
    "draw",
    "explain",
    "memory",
    "to_dot",
]
