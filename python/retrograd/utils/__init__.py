"""Helpers around the engine: handles of hooks, and drawings of graphs."""

from retrograd.utils import hooks

__all__ = ["hooks"]
