"""Whether MKL is there."""

from __future__ import annotations


def is_available() -> bool:
    """Whether MKL is there: it is not, since retrograd has kernels and threads of its own."""
    return False
