"""Whether Apple's accelerators are there."""

from __future__ import annotations


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def is_built() -> bool:
    """Whether this build could use such a device: it could not."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether this is such a system with such a device: no."""
    return False
