"""Names of devices. All tensors are on the CPU; programs that name others too still run."""

from __future__ import annotations

from retrograd import _core
from retrograd._core import dtype

_OTHERS = {
    "cuda": _core.float16,
    "hpu": _core.bfloat16,
    "ipu": _core.float16,
    "maia": _core.bfloat16,
    "mps": _core.float16,
    "mtia": _core.float16,
    "xla": _core.bfloat16,
    "xpu": _core.float16,
}
_WITHOUT = ("mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "lazy", "vulkan", "meta", "privateuseone")


def kind(name: str) -> str:
    """The type of the device that a string names.

    Raises: RuntimeError if there is no such type.
    """
    found = name.split(":")[0]
    if found == "cpu" or found in _OTHERS or found in _WITHOUT:
        return found
    raise RuntimeError(
        "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
        f"mps, meta, hpu, mtia, privateuseone device type at start of device string: {name}"
    )


def asked(function: str, device_type: str) -> str:
    """As `kind`, of an argument that may be no string.

    Raises: TypeError if it is none.
    """
    if not isinstance(device_type, str):
        raise TypeError(
            f"{function}(): argument 'device_type' (position 1) must be str, not {type(device_type).__name__}"
        )
    return kind(device_type)


def has_regions(device: str) -> bool:
    """Whether there are regions of autocast for devices of this type."""
    return device == "cpu" or device in _OTHERS


def other_dtype(device: str) -> dtype:
    """What regions for devices of this type convert to, other than the CPU.

    Raises: RuntimeError if there are none.
    """
    if device not in _OTHERS:
        raise RuntimeError(f"unsupported scalarType: there is no autocast for devices of type '{device}'")
    return _OTHERS[device]
