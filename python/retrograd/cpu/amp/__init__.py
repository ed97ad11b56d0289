"""Older forms of what is in `retrograd.amp`."""

from __future__ import annotations

from retrograd.cpu.amp import autocast_mode, grad_scaler
from retrograd.cpu.amp.autocast_mode import autocast
from retrograd.cpu.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "autocast_mode", "grad_scaler"]
