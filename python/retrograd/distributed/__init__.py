"""Programs of several processes, which `mpiexec` starts; one alone has rank 0 in a world of size 1.

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
