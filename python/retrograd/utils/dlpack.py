"""Exchange of tensors with other libraries without copying, through DLPack."""

from __future__ import annotations

import enum
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd._core import device as Device

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """Kinds of memory in DLPack; tensors are in that of the CPU.

    >>> rg.ones(1).__dlpack_device__()
    (<DLDeviceType.kDLCPU: 1>, 0)
    """

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


_CPU = (DLDeviceType.kDLCPU, 0)


def from_dlpack(ext_tensor: Any, *, device: Device | str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's: writes to either are seen in both.

    Args: `ext_tensor` an object with `__dlpack__`, or a DLPack capsule, which can be used once; `device` 'cpu' asks the
    other library to bring over what is elsewhere; `copy` True for memory of its own, False to fail rather than copy.
    Raises: BufferError for memory that tensors cannot have, such as of another device, dtype or with negative strides;
    RuntimeError for what is no capsule, or a used one. Read-only memory warns, unless it is copied.

    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> rg.from_dlpack(array).fill_(1)
    tensor([1., 1.], dtype=retrograd.float64)
    >>> array.tolist(), np.from_dlpack(rg.ones(1)).tolist()
    ([1.0, 1.0], [1.0])
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        return _core._from_dlpack(ext_tensor, False)
    options: dict[str, Any] = {"max_version": (1, 0)}
    if copy is not None:
        options["copy"] = copy
    where = tuple(ext_tensor.__dlpack_device__())
    if device is not None:
        with Device(device):  # which refuses any but the CPU
            options["dl_device"] = _CPU
        if where[0] != DLDeviceType.kDLCPU and copy is False:
            raise ValueError(f"cannot move DLPack tensor from device {where} to {_CPU} without copying: pass copy=None")
    elif where[0] != DLDeviceType.kDLCPU:
        raise BufferError(f"from_dlpack: the memory is on DLPack's device {where}: pass device='cpu' to have it copied")
    while True:
        try:
            capsule = ext_tensor.__dlpack__(**options)
            break
        except TypeError:
            if not options:
                raise
            # Libraries of earlier times know fewer options, and learned them in the opposite order.
            del options[next(iter(options))]
    return _core._from_dlpack(capsule, copy is True and "copy" not in options)


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of the old kind with the tensor's memory, for libraries whose `from_dlpack` takes capsules only.

    >>> from retrograd.utils import dlpack
    >>> rg.from_dlpack(dlpack.to_dlpack(rg.ones(2)))
    tensor([1., 1.])
    """
    return tensor.detach().__dlpack__()
