"""Classes of layers by name, for what treats some of them in a way of its own."""

from __future__ import annotations

from typing import Any

from retrograd import nn


def layers(*names: str) -> tuple[type[Any], ...]:
    """The classes of these names in `nn`, which is imported before them."""
    return tuple(getattr(nn, name) for name in names if hasattr(nn, name))
