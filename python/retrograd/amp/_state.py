"""What the calling thread does in regions of autocast, one value at a time."""

from __future__ import annotations

import warnings

from retrograd import _core
from retrograd._core import dtype
from retrograd.amp._devices import asked, has_regions, other_dtype

__all__ = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether ops convert their operands on the calling thread.

    Args: `device_type` "cpu"; of other devices, and without an argument, which asks for "cuda", the answer is False.
    Raises: RuntimeError for a type of device for which there is no autocast; TypeError for anything but a string.

    >>> with rg.autocast("cpu"):
    ...     rg.is_autocast_enabled("cpu")
    True
    """
    return _is_cpu("is_autocast_enabled", "cuda" if device_type is None else device_type) and _core._autocast_enabled()


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Let ops convert their operands on the calling thread, or not. Prefer `autocast`, which puts it back.

    Args: `device_type` "cpu"; of other devices, and with `enabled` as the only argument, which is meant for "cuda",
    only False is taken. Raises: RuntimeError to enable another device; TypeError for arguments of other types.

    >>> rg.set_autocast_enabled("cpu", True)
    >>> rg.is_autocast_enabled("cpu")
    True
    >>> rg.set_autocast_enabled("cpu", False)
    """
    if enabled is None and isinstance(device_type, bool):
        enabled, device_type = device_type, "cuda"
    cpu = _is_cpu("set_autocast_enabled", device_type)
    if not isinstance(enabled, bool):
        given = type(enabled).__name__
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' (position 2) must be bool, not {given}")
    if cpu:
        _core._set_autocast_enabled(enabled)
    elif enabled:
        raise RuntimeError(f"set_autocast_enabled: there is no device of type '{device_type}', only 'cpu'")


def get_autocast_dtype(device_type: str) -> dtype:
    """What products convert their operands to in a region of autocast: what was set last, at first bfloat16.

    Args: `device_type` "cpu"; of other devices it is what torch begins with. Raises: RuntimeError for a type of device
    for which there is no autocast; TypeError for anything but a string.

    >>> rg.get_autocast_dtype("cpu")
    retrograd.bfloat16
    """
    device = asked("get_autocast_dtype", device_type)
    return _core._autocast_dtype() if device == "cpu" else other_dtype(device)


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """Set what products convert their operands to in regions of autocast. Prefer `autocast`, which puts it back.

    Args: `device_type` "cpu"; `dtype` any dtype, though only bfloat16 and float16 make sense. Raises: RuntimeError for
    another device; TypeError for arguments of other types.

    >>> rg.set_autocast_dtype("cpu", rg.float16)
    >>> rg.get_autocast_dtype("cpu")
    retrograd.float16
    >>> rg.set_autocast_dtype("cpu", rg.bfloat16)
    """
    cpu = _is_cpu("set_autocast_dtype", device_type)
    if not isinstance(dtype, _core.dtype):
        raise TypeError(
            f"set_autocast_dtype(): argument 'dtype' (position 2) must be retrograd.dtype, not {type(dtype).__name__}"
        )
    if not cpu:
        raise RuntimeError(f"set_autocast_dtype: there is no device of type '{device_type}', only 'cpu'")
    _core._set_autocast_dtype(dtype)


def is_autocast_cpu_enabled() -> bool:
    """As `is_autocast_enabled("cpu")`, which to call is better: this warns that it is deprecated.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.is_autocast_cpu_enabled()
    False
    """
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return _core._autocast_enabled()


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """As `set_autocast_enabled("cpu", enabled)`, which to call is better: this warns that it is deprecated.

    Raises: TypeError for anything but a bool.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.set_autocast_cpu_enabled(False)
    """
    _demand_bool(enabled)
    _deprecated("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    _core._set_autocast_enabled(enabled)


def get_autocast_cpu_dtype() -> dtype:
    """As `get_autocast_dtype("cpu")`, which to call is better: this warns that it is deprecated.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.get_autocast_cpu_dtype()
    retrograd.bfloat16
    """
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return _core._autocast_dtype()


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """As `set_autocast_dtype("cpu", dtype)`, which to call is better: this warns that it is deprecated.

    Raises: TypeError for anything but a dtype.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.set_autocast_cpu_dtype(rg.bfloat16)
    """
    if not isinstance(dtype, _core.dtype):
        raise TypeError(f"dtype must be a retrograd.dtype (got {type(dtype).__name__})")
    _deprecated("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    _core._set_autocast_dtype(dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether leaves that require grad are converted once in a region of autocast, instead of by each op.

    >>> rg.is_autocast_cache_enabled()
    True
    """
    return _core._autocast_caches()


def set_autocast_cache_enabled(enabled: bool, /) -> None:
    """Let leaves that require grad be converted once in a region of autocast, or by each op.

    Raises: TypeError for anything but a bool.

    >>> rg.set_autocast_cache_enabled(True)
    """
    _demand_bool(enabled)
    _core._set_autocast_caches(enabled)


def clear_autocast_cache() -> None:
    """Forget the leaves that were converted. Leaving the outermost region does it too.

    >>> rg.clear_autocast_cache()
    """
    _core._clear_autocast_cache()


def autocast_increment_nesting() -> int:
    """Count a region more. `autocast` does it.

    Returns: how many there are.

    >>> rg.autocast_increment_nesting(), rg.autocast_decrement_nesting()
    (1, 0)
    """
    return _core._autocast_nesting(True)


def autocast_decrement_nesting() -> int:
    """Count a region less. `autocast` does it, and clears the cache when there is none any more.

    Returns: how many there are.

    >>> rg.autocast_increment_nesting(), rg.autocast_decrement_nesting()
    (1, 0)
    """
    return _core._autocast_nesting(False)


def _is_cpu(function: str, device_type: str | bool) -> bool:
    device = asked(function, device_type)  # type: ignore[arg-type]  # which is refused
    if not has_regions(device):
        raise RuntimeError(
            "unknown device type for autocast in get_autocast_dispatch_key_from_device_type: there is no autocast for "
            f"devices of type '{device}'"
        )
    return device == "cpu"


def _demand_bool(enabled: bool) -> None:
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")


def _deprecated(old: str, new: str) -> None:
    text = f"retrograd.{old} is deprecated. Please use retrograd.{new} instead."
    warnings.warn(text, DeprecationWarning, stacklevel=3)
