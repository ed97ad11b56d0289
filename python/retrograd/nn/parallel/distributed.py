"""A module that several processes train: here there is one, and the module runs as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from retrograd.distributed._groups import ProcessGroup, resolved
from retrograd.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Calls its module, whose gradients would be averaged over all processes, of which there is one.

    Args: the module, which is the child `module`, so that names of parameters begin with it; `process_group` None for
    the default group. The rest says how to send gradients, and is ignored.
    Raises: ValueError before `init_process_group`; RuntimeError for a module without parameters that require grad.

    >>> rg.distributed.init_process_group("gloo")
    >>> model = rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1))
    >>> [name for name, parameter in model.named_parameters()]
    ['module.weight', 'module.bias']
    >>> with model.no_sync(), model.join():
    ...     model(rg.ones(1)).sum().backward()
    >>> rg.distributed.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        self.process_group = resolved(process_group)
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self.module = module
        self.device_ids = None
        self.dim = dim
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of the arguments."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in which gradients are added up without being averaged."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Iterator[None]:
        """A block in which processes may have different numbers of batches."""
        yield
