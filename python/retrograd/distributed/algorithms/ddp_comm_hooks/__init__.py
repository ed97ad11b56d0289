"""Communication hooks of `DistributedDataParallel`, for `register_comm_hook`."""

from retrograd.distributed.algorithms.ddp_comm_hooks import default_hooks

__all__ = ["default_hooks"]
