"""Helpers around the engine: checkpointing, exchange through DLPack, handles of hooks, drawings of graphs, trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.utils import deterministic, dlpack, hooks

if TYPE_CHECKING:
    from retrograd.utils import _pytree as _pytree
    from retrograd.utils import benchmark, checkpoint, data, graph, pytree, tensorboard

__all__ = ["benchmark", "checkpoint", "data", "deterministic", "dlpack", "graph", "hooks", "pytree", "tensorboard"]

# `autograd` imports the hooks from here, and checkpointing is written on top of it.
if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(
        __name__, "_pytree", "benchmark", "checkpoint", "data", "graph", "pytree", "tensorboard"
    )
