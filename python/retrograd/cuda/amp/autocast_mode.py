"""The older form of `retrograd.amp.autocast`."""

from __future__ import annotations

import warnings

from retrograd import _core
from retrograd._core import dtype
from retrograd.amp import autocast_mode, custom_bwd, custom_fwd

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(autocast_mode.autocast):
    """As `amp.autocast("cuda", ...)`: it changes nothing, since there is no such device, and says so.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     region = rg.cuda.amp.autocast()
    >>> with region:
    ...     rg.is_autocast_enabled("cpu")
    False
    """

    __slots__ = ()

    def __init__(self, enabled: bool = True, dtype: dtype = _core.float16, cache_enabled: bool = True) -> None:
        warnings.warn(
            "`retrograd.cuda.amp.autocast(args...)` is deprecated. "
            "Please use `retrograd.amp.autocast('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
