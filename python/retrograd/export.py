"""Programs as files of their own: refused."""

from __future__ import annotations

from retrograd._refused import everything

__getattr__ = everything(__name__, "retrograd does not export programs; save the state dict, and keep the Python code")
