"""ONNX files: refused."""

from __future__ import annotations

from retrograd._refused import everything

__getattr__ = everything(__name__, "retrograd writes no ONNX; save the state dict, and export from torch")
