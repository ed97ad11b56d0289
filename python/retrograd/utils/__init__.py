"""Helpers around the engine: checkpointing, exchange through DLPack, handles of hooks, and drawings of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.utils import deterministic, dlpack, hooks

if TYPE_CHECKING:
    from retrograd.utils import checkpoint, graph

__all__ = ["checkpoint", "deterministic", "dlpack", "graph", "hooks"]

# `autograd` imports the hooks from here, and checkpointing is written on top of it.
if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__, "checkpoint", "graph")
