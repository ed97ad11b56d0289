"""The older form of `retrograd.amp.GradScaler`."""

from __future__ import annotations

import warnings

from retrograd import amp

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
    """As `amp.GradScaler("cuda", ...)`: it scales by 1, since there is no such device, and says so.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.cuda.amp.GradScaler().get_scale()
    1.0
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warnings.warn(
            "`retrograd.cuda.amp.GradScaler(args...)` is deprecated. "
            "Please use `retrograd.amp.GradScaler('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(
            "cuda",
            init_scale=init_scale,
            growth_factor=growth_factor,
            backoff_factor=backoff_factor,
            growth_interval=growth_interval,
            enabled=enabled,
        )
