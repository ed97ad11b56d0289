"""Helpers around the engine: checkpointing, exchange through DLPack, handles of hooks, and drawings of graphs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from retrograd.utils import dlpack, hooks

if TYPE_CHECKING:
    from retrograd.utils import checkpoint

__all__ = ["checkpoint", "dlpack", "hooks"]


def __getattr__(name: str) -> Any:
    # At first use, as `autograd` imports the hooks from here and checkpointing is written on top of it.
    if name == "checkpoint":
        return importlib.import_module("retrograd.utils.checkpoint")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
