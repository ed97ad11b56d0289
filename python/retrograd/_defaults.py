"""Defaults of the process that programs set: a device, a type of tensors, the precision of products, warnings."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Literal

from retrograd import _core
from retrograd._legacy import TensorType

__all__ = [
    "get_default_device",
    "get_device_module",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_vulkan_available",
    "is_warn_always_enabled",
    "set_default_device",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
]

_precision: Literal["highest", "high", "medium"] = "highest"
_warn_always = False
_interop_threads = 1


def get_default_device() -> _core.device:
    """The device of new tensors: the CPU.

    >>> rg.get_default_device()
    device(type='cpu')
    """
    return _core.device("cpu")


def set_default_device(device: _core.device | str | None) -> None:
    """Set the device of new tensors: the CPU is the only one.

    Raises: AssertionError or RuntimeError for another.

    >>> rg.set_default_device("cpu")
    """
    if device is not None:
        _core.empty(0, device=device)


def get_device_module(device: _core.device | str | None = None) -> ModuleType:
    """The module of a device by its name, such as `retrograd.cpu`.

    Raises: RuntimeError if there is none.

    >>> rg.get_device_module().__name__
    'retrograd.cpu'
    """
    from importlib import import_module

    name = "cpu" if device is None else str(device).partition(":")[0]
    if name not in ("cpu", "cuda", "mps", "xpu"):
        raise RuntimeError(f"Invalid device module '{name}': there are cpu, cuda, mps and xpu")
    return import_module(f"retrograd.{name}")


def set_default_tensor_type(t: TensorType | str) -> None:
    """Set the default dtype by the name of a type of tensors. It is deprecated: `set_default_dtype` is meant.

    Args: `t` such as `FloatTensor`, or its name.
    Raises: TypeError if it is not a type of tensors of floating point numbers.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.set_default_tensor_type(rg.FloatTensor)
    """
    from retrograd import _legacy

    warnings.warn(
        "retrograd.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use retrograd.set_default_dtype() "
        "and retrograd.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    kind = getattr(_legacy, t.rpartition(".")[2], None) if isinstance(t, str) else t
    if (isinstance(t, str) and ".cuda." in t) or not isinstance(kind, TensorType):
        raise TypeError(f"invalid type object: only floating-point types are supported as the default type, not {t!r}")
    if not kind.dtype.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, not {kind.__name__}")
    _core.set_default_dtype(kind.dtype)


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 need to be: they are always of the "highest" precision.

    Args: `precision` "highest", "high" or "medium"; of anything else a warning says that it has no effect.

    >>> rg.set_float32_matmul_precision("highest")
    """
    global _precision
    match precision:
        case "highest" | "high" | "medium":
            _precision = precision
        case _:
            warnings.warn(
                f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
                "setFloat32MatmulPrecision call has no effect.",
                UserWarning,
                stacklevel=2,
            )


def get_float32_matmul_precision() -> str:
    """The last setting by `set_float32_matmul_precision`.

    >>> rg.get_float32_matmul_precision()
    'highest'
    """
    return _precision


def set_flush_denormal(mode: bool, /) -> bool:
    """Ask that numbers below the smallest normal one become 0. They are kept, whatever is asked.

    Returns: whether the request is met: only a request to keep them is.
    Raises: RuntimeError if `mode` is no bool.

    >>> rg.set_flush_denormal(False)
    True
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return not mode


def set_num_interop_threads(nthreads: int) -> None:
    """Set how many ops may run at a time, which they do not: the number is kept, and means nothing.

    Raises: RuntimeError if it is not a positive int.

    >>> rg.set_num_interop_threads(1)
    """
    global _interop_threads
    if type(nthreads) is not int:
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(nthreads).__name__}")
    if nthreads < 1:
        raise RuntimeError(f"set_num_interop_threads expects a positive integer, but got {nthreads}")
    _interop_threads = nthreads


def get_num_interop_threads() -> int:
    """The last setting by `set_num_interop_threads`.

    >>> rg.get_num_interop_threads()
    1
    """
    return _interop_threads


def set_warn_always(b: bool, /) -> None:
    """Ask that warnings which are given once are given always. The setting is kept; `warnings` decides as ever.

    >>> rg.set_warn_always(False)
    """
    global _warn_always
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """The last setting by `set_warn_always`.

    >>> rg.is_warn_always_enabled()
    False
    """
    return _warn_always


def is_vulkan_available() -> bool:
    """Whether there is a device of Vulkan: no.

    >>> rg.is_vulkan_available()
    False
    """
    return False
