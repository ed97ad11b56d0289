"""How times and sizes are written."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

__all__ = ["FormattedTimesMixin", "format_memory", "format_share", "format_time"]


def format_time(time_us: float, unit: str | None = None) -> str:
    """A time in microseconds as text: in the given unit, "s", "ms" or "us", or else in the one that suits its size.

    >>> from retrograd.autograd._profiler.formats import format_time
    >>> format_time(12.5), format_time(1e3), format_time(1e3, "s")
    ('12.500us', '1.000ms', '0.001s')
    """
    if unit not in ("s", "ms", "us"):
        unit = "s" if time_us >= 1e6 else "ms" if time_us >= 1e3 else "us"
    scale = {"s": 1e6, "ms": 1e3, "us": 1.0}[unit]
    return f"{time_us / scale:.3f}{unit}"


def format_memory(size: float) -> str:
    """A number of bytes as text.

    >>> from retrograd.autograd._profiler.formats import format_memory
    >>> format_memory(1023), format_memory(-2048)
    ('1023 B', '-2.00 KB')
    """
    for power, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if abs(size) >= 1 << power:
            return f"{size / (1 << power):.2f} {unit}"
    return f"{size} B"


def format_share(time_us: float, total_us: float) -> str:
    """A time as a share of another, in percent; NaN of nothing.

    >>> from retrograd.autograd._profiler.formats import format_share
    >>> format_share(1, 3), format_share(0, 0)
    ('33.33%', 'NaN')
    """
    return f"{time_us * 100.0 / total_us:.2f}%" if total_us else "NaN"


class FormattedTimesMixin:
    """Means per call, and times as text, of what has totals and a count.

    A subclass has `count`, `cpu_time_total`, `self_cpu_time_total`, `device_time_total` and `self_device_time_total`.

    >>> class Timed(rg.autograd.profiler_util.FormattedTimesMixin):
    ...     count, cpu_time_total = 4, 6000.0
    >>> Timed().cpu_time, Timed().cpu_time_str
    (1500.0, '1.500ms')
    """

    __slots__ = ()

    if TYPE_CHECKING:
        count: int

        @property
        def cpu_time_total(self) -> float: ...
        @property
        def self_cpu_time_total(self) -> float: ...
        @property
        def device_time_total(self) -> float: ...
        @property
        def self_device_time_total(self) -> float: ...

    @property
    def cpu_time(self) -> float:
        """The mean time of a call in microseconds, 0 without calls."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The mean time of a call on a device in microseconds."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def cuda_time(self) -> float:
        """The old name of `device_time`."""
        warnings.warn("`cuda_time` is deprecated, please use `device_time` instead.", FutureWarning, stacklevel=2)
        return self.device_time

    @property
    def cpu_time_str(self) -> str:
        """`cpu_time` with its unit."""
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """`cpu_time_total` with its unit."""
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """`self_cpu_time_total` with its unit."""
        return format_time(self.self_cpu_time_total)

    @property
    def device_time_str(self) -> str:
        """`device_time` with its unit."""
        return format_time(self.device_time)

    @property
    def device_time_total_str(self) -> str:
        """`device_time_total` with its unit."""
        return format_time(self.device_time_total)

    @property
    def self_device_time_total_str(self) -> str:
        """`self_device_time_total` with its unit."""
        return format_time(self.self_device_time_total)
