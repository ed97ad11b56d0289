"""Switches of cuDNN, which is not there."""

from __future__ import annotations

from typing import Any

from retrograd.backends._flags import flags_of

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True
fp32_precision = "none"

flags = flags_of(
    __name__,
    enabled=False,
    benchmark=False,
    benchmark_limit=10,
    deterministic=False,
    allow_tf32=True,
    fp32_precision="none",
)


def is_available() -> bool:
    """Whether cuDNN is there: it is not."""
    return False


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN would take the tensor: it would not."""
    return False


def version() -> int | None:
    """The version of cuDNN: None."""
    return None


def set_flags(**values: Any) -> tuple[Any, ...]:
    """Set switches, and return those that were set before."""
    before = tuple(globals()[name] for name in values)
    globals().update(values)
    return before
