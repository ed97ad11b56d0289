"""Mixed precision: regions in which products run on half or bfloat16 numbers, and scaling of losses for them."""

from __future__ import annotations

from retrograd.amp import autocast_mode, grad_scaler
from retrograd.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from retrograd.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "autocast_mode",
    "custom_bwd",
    "custom_fwd",
    "grad_scaler",
    "is_autocast_available",
]
