"""Graphs of programs by symbolic tracing: refused."""

from __future__ import annotations

from retrograd._refused import everything

__getattr__ = everything(__name__, "retrograd does not trace programs; transform functions with retrograd.func")
