"""Programs of several processes, which `mpiexec` starts; one alone has rank 0 in a world of size 1.

Several processes talk through MPI: `pip install 'retrograd[mpi]'`, then `mpiexec -n 2 python program.py`, where the
program calls `init_process_group("mpi")`. Nothing of MPI is imported before, and nothing by one process alone.

- Tensors are handed to MPI where they lie. Those that are not contiguous are copied once, there and back.
- Float16 and bfloat16 are combined in float32 and rounded after each combination; an average is their sum, divided in
  float32. So a sum that float16 cannot hold is infinite: scale before, or reduce in float32. Of bools, a sum or maximum
  is true if one of them is, and a product or minimum if all are.
- With `use_deterministic_algorithms` a reduction is a balanced binary tree in the order of ranks: the bits of a result
  do not depend on the machines, and 1, 2 and 4 processes that add parts of one batch have the same ones.
- The version of a tensor that a collective writes to is counted when the collective begins, as of an in-place op; that
  a leaf requires grad is no hindrance.
- A collective ends with `DistBackendError` when the `timeout` of its group is over, or about a second after a process
  of the same machine that it needs died or left. An error that nobody catches ends all processes.
- RETROGRAD_DISTRIBUTED_DEBUG=DETAIL compares each collective among processes first, and says which disagree on what;
  with INFO, rank 0 writes a line for each, which is there when the launcher ends all.
- Collectives with `async_op=True` go on while the program computes: a thread tests them every half millisecond,
  which takes the interpreter's lock for some microseconds. RETROGRAD_DISTRIBUTED_PROGRESS=calls does without it.

>>> rg.distributed.init_process_group("gloo")
>>> rg.distributed.get_rank(), rg.distributed.get_world_size()
(0, 1)
>>> rg.distributed.destroy_process_group()
"""

from typing import TYPE_CHECKING

from retrograd._lazy import submodules as _submodules
from retrograd.distributed import _calls, _collectives, _debug, _groups, _messages, _objects, _work
from retrograd.distributed._calls import *  # noqa: F403
from retrograd.distributed._collectives import *  # noqa: F403
from retrograd.distributed._debug import *  # noqa: F403
from retrograd.distributed._groups import *  # noqa: F403
from retrograd.distributed._messages import *  # noqa: F403
from retrograd.distributed._objects import *  # noqa: F403
from retrograd.distributed._work import *  # noqa: F403

__all__: list[str] = []
__all__ += _calls.__all__
__all__ += _collectives.__all__
__all__ += _debug.__all__
__all__ += _groups.__all__
__all__ += _messages.__all__
__all__ += _objects.__all__
__all__ += _work.__all__

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = _submodules(__name__, "algorithms", "checkpoint", "nn", "optim", GradBucket="_grad_buckets")
