"""What torch has under the name of the CPU: older forms of `retrograd.amp`."""

from __future__ import annotations

from retrograd.cpu import amp

__all__ = ["amp"]
