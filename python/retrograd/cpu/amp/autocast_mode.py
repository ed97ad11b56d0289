"""The older form of `retrograd.amp.autocast`."""

from __future__ import annotations

import warnings

from retrograd import _core
from retrograd._core import dtype
from retrograd.amp import autocast_mode

__all__ = ["autocast"]


class autocast(autocast_mode.autocast):
    """As `amp.autocast("cpu", ...)`, which to use is better: this warns that it is deprecated.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     region = rg.cpu.amp.autocast()
    >>> with region:
    ...     rg.is_autocast_enabled("cpu")
    True
    """

    __slots__ = ()

    def __init__(self, enabled: bool = True, dtype: dtype = _core.bfloat16, cache_enabled: bool = True) -> None:
        warnings.warn(
            "`retrograd.cpu.amp.autocast(args...)` is deprecated. "
            "Please use `retrograd.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
