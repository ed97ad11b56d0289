"""What is built of collectives: uneven inputs, and communication hooks of `DistributedDataParallel`."""

from retrograd._lazy import submodules as _submodules
from retrograd.distributed.algorithms.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

__getattr__, __dir__ = _submodules(__name__, "ddp_comm_hooks")
