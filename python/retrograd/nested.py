"""Tensors of rows of several lengths: refused."""

from __future__ import annotations

from retrograd._refused import everything

__getattr__ = everything(__name__, "retrograd has no nested tensors; use nn.utils.rnn.pad_sequence and a mask")
