"""Quantisation and sparsity tools: refused."""

from __future__ import annotations

from retrograd._refused import everything

__getattr__ = everything(__name__, "retrograd has no quantised numbers; use bfloat16, or retrograd.autocast")
