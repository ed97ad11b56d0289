"""Switches of the search for an order of products in `einsum`."""

from __future__ import annotations

from retrograd.backends._flags import flags_of

enabled = False
strategy: str | None = None

flags = flags_of(__name__, enabled=False, strategy=None)


def is_available() -> bool:
    """Whether opt_einsum is used: it is not."""
    return False
