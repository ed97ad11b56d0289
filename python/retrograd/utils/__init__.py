"""Helpers around the engine: exchange through DLPack, handles of hooks, and drawings of graphs."""

from retrograd.utils import dlpack, hooks

__all__ = ["dlpack", "hooks"]
