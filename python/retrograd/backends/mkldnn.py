"""Switches of oneDNN, which is not there."""

from __future__ import annotations

from retrograd.backends._flags import flags_of

enabled = True
deterministic = False
allow_tf32 = True
fp32_precision = "none"

flags = flags_of(__name__, enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none")


def is_available() -> bool:
    """Whether oneDNN is there: it is not, since retrograd has kernels of its own."""
    return False
