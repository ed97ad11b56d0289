"""Older forms of what is in `retrograd.amp`."""

from __future__ import annotations

from retrograd.amp import custom_bwd, custom_fwd
from retrograd.cuda.amp import autocast_mode, grad_scaler
from retrograd.cuda.amp.autocast_mode import autocast
from retrograd.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "grad_scaler"]
