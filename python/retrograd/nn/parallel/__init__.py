"""Modules on several devices: here there is one, and they run as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retrograd._lazy import submodules
from retrograd.nn.modules.module import Module

if TYPE_CHECKING:
    from retrograd.nn.parallel.distributed import DistributedDataParallel
else:
    __getattr__, __dir__ = submodules(__name__, "distributed", DistributedDataParallel="distributed")

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls its module: it would divide a batch among GPUs, of which this build has none.

    Args: the module, which is the child `module`, so that names of parameters begin with it; the rest is ignored.

    >>> rg.nn.DataParallel(rg.nn.Sequential())(3)  # Module.__call__ calls forward(3)
    3
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of the arguments."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call a module: the batch would be divided among GPUs, of which this build has none.

    >>> rg.nn.parallel.data_parallel(rg.nn.Sequential(), 3)
    3
    """
    arguments = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*arguments, **(module_kwargs or {}))
