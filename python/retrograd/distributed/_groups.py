"""Groups of processes, and the default one, which `init_process_group` makes."""

from __future__ import annotations

import os
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

from retrograd.distributed._collectives import Alone, Collectives, refuse
from retrograd.distributed._work import seconds

__all__ = [
    "GroupMember",
    "ProcessGroup",
    "destroy_process_group",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "new_group",
]


# Where launchers write how many processes there are, and what they write where they do not.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
_PRESENT = ("PMIX_RANK",)


class ProcessGroup:
    """Processes that do something together. `init_process_group` and `new_group` make one.

    >>> rg.distributed.init_process_group("gloo")
    >>> group = rg.distributed.new_group([0])
    >>> group.rank(), group.size(), group.name()
    (0, 1, 'gloo')
    >>> rg.distributed.destroy_process_group()
    """

    def __init__(self, collectives: Collectives, backend: str, ranks: list[int]) -> None:
        self._collectives, self._backend, self._ranks = collectives, backend, ranks

    def rank(self) -> int:
        """The number of this process in the group."""
        return self._collectives.rank

    def size(self) -> int:
        """The number of processes."""
        return self._collectives.size

    def name(self) -> str:
        """The name of the backend."""
        return self._backend


class _Members(type):
    WORLD = property(lambda cls: _world)


class GroupMember(metaclass=_Members):
    """Has the default group as `WORLD`, None before there is one; `NON_GROUP_MEMBER` is a group without this process.

    >>> rg.distributed.GroupMember.WORLD is None
    True
    """

    NON_GROUP_MEMBER = -100


group = GroupMember
_world: ProcessGroup | None = None
_groups: list[ProcessGroup] = []


def is_available() -> bool:
    """Whether the package can be used: it can, by one process.

    >>> rg.distributed.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Whether there is a default group.

    >>> rg.distributed.is_initialized()
    False
    """
    return _world is not None


def is_backend_available(backend: str) -> bool:
    """Whether `init_process_group` takes the backend.

    >>> rg.distributed.is_backend_available("gloo"), rg.distributed.is_backend_available("nccl")
    (True, False)
    """
    return backend.lower() in ("gloo", "mpi")


def is_gloo_available() -> bool:
    """Whether the backend "gloo" is taken: it is, by one process.

    >>> rg.distributed.is_gloo_available()
    True
    """
    return True


is_mpi_available = is_gloo_available


def is_nccl_available() -> bool:
    """Whether there is a backend for GPUs: there is not.

    >>> rg.distributed.is_nccl_available()
    False
    """
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_torchelastic_launched() -> bool:
    """Whether torchrun started this process.

    >>> rg.distributed.is_torchelastic_launched()
    False
    """
    return os.getenv("TORCHELASTIC_RUN_ID") is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Make the default group, of all processes that `mpiexec` started, or of this one.

    Args: `backend` None, "gloo" or "mpi", which are one: MPI for several processes, and nothing for one. How many there
    are, and which is which, the launcher says. `world_size` and `rank`, the address `init_method`, or the variables
    WORLD_SIZE and RANK of the environment may state it again. `timeout`, a `timedelta`, is how long a collective waits
    for other processes, 30 minutes for None. The others are ignored.
    Raises: NotImplementedError if mpi4py is missing, or if the world is not as large as stated; RuntimeError for a
    backend of another device; ValueError for an unknown one, for another rank, and if there is a default group.

    >>> rg.distributed.init_process_group("gloo", rank=0, world_size=1)
    >>> rg.distributed.get_world_size()
    1
    >>> rg.distributed.destroy_process_group()
    """
    global _world
    if _world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    name, limit = _backend(backend), seconds(timeout)
    asked = {key: int(values[-1]) for key, values in parse_qs(urlsplit(init_method or "").query).items()}
    size = world_size if world_size != -1 else asked.get("world_size", int(os.environ.get("WORLD_SIZE") or -1))
    number = rank if rank != -1 else asked.get("rank", int(os.environ.get("RANK") or -1))
    found = _collectives(size, number, limit)
    _world = ProcessGroup(found, name, list(range(found.size)))
    _groups.append(_world)


def _collectives(size: int, number: int, timeout: float | None) -> Collectives:
    """The world of the launcher, which has to be that of what was stated: -1 for nothing."""
    launched = max((int(os.environ[name]) for name in _SIZES if os.environ.get(name)), default=1)
    several = max(size, launched)
    if several == 1 and not any(name in os.environ for name in _PRESENT) and "mpi4py.MPI" not in sys.modules:
        found: Collectives = Alone()
    else:
        from retrograd.distributed._mpi import world

        found = world(several, timeout)
    if size not in (-1, found.size):
        found.close()
        refuse(
            f"init_process_group got a world of {size}, and MPI has {found.size} process(es), which is what counts: "
            f"start with `mpiexec -n {size} python ...`, or leave WORLD_SIZE and world_size unset"
        )
    if launched > found.size:
        found.close()
        refuse(
            f"init_process_group got a world of {launched} from the launcher, and MPI has {found.size} process(es): "
            "mpi4py uses another MPI than this mpiexec; take the mpiexec that was installed with it"
        )
    if number not in (-1, found.rank):
        found.close()
        valid = f"rank should be in the interval [0, {found.size - 1}]"
        raise ValueError(f"Invalid rank {number}, {valid}, and is {found.rank} here: the launcher numbers processes")
    return found


def _backend(stated: str | None) -> str:
    """The name of the backend for tensors on the CPU, where others may be stated for other devices."""
    parts = dict(part.split(":", 1) for part in (stated or "").lower().split(",") if ":" in part)
    name = parts.get("cpu", (stated or "gloo").lower())
    if name in ("undefined", "gloo", "mpi"):
        return "gloo" if name == "undefined" else name
    if name in ("nccl", "ucc", "xccl"):
        kind = name.upper()
        raise RuntimeError(f"Distributed package doesn't have {kind} built in; tensors are on the CPU: use 'gloo'")
    raise ValueError(f"Unknown backend type {name}: 'gloo' and 'mpi' are known")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group; None means the default one, and with it all others.

    Raises: AssertionError if there is no default group.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.destroy_process_group()
    >>> rg.distributed.is_initialized()
    False
    """
    global _world
    assert _world is not None, "Process group cannot be None"
    ending = list(_groups) if group is None or group is _world else [group]
    for each in reversed(ending):
        if each in _groups:
            _groups.remove(each)
            each._collectives.close()
    if group is None or group is _world:
        _world = None


def resolved(group: ProcessGroup | None) -> ProcessGroup:
    """The group, or the default one for None."""
    if _world is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world if group is None else group


def outside(group: ProcessGroup | int | None) -> bool:
    """Whether this process is not in the group."""
    return group == GroupMember.NON_GROUP_MEMBER


def get_rank(group: ProcessGroup | None = None) -> int:
    """The number of this process in a group, -1 outside of it; None means the default one.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.get_rank()
    0
    >>> rg.distributed.destroy_process_group()
    """
    return -1 if outside(group) else resolved(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes in a group, -1 outside of it; None means the default one.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.get_world_size()
    1
    >>> rg.distributed.destroy_process_group()
    """
    return -1 if outside(group) else resolved(group).size()


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name of the backend of a group; None means the default one.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.get_backend()
    'gloo'
    >>> rg.distributed.destroy_process_group()
    """
    if outside(group):
        raise ValueError("Invalid process group specified")
    return resolved(group).name()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The number of this process on this machine, which a launcher writes into LOCAL_RANK.

    Args: `fallback_rank` the number if there is no launcher.
    Raises: RuntimeError if nobody says it.

    >>> rg.distributed.get_node_local_rank(0)
    0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
        "assuming you are not running in a multi-device context and want the code to run locally instead."
    )


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """Numbers, in the default group, of the processes of a group.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.get_process_group_ranks(None)
    [0]
    >>> rg.distributed.destroy_process_group()
    """
    return list(resolved(group)._ranks)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in a group of the process that has a number in the default one.

    Raises: ValueError if it is not in the group.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.get_group_rank(rg.distributed.group.WORLD, 0)
    0
    >>> rg.distributed.destroy_process_group()
    """
    if group is _world:
        return global_rank
    ranks = resolved(group)._ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}: it has {ranks}")
    return ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number in the default group of the process that has a number in a group.

    Raises: ValueError if it is not in the group.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.get_global_rank(rg.distributed.group.WORLD, 0)
    0
    >>> rg.distributed.destroy_process_group()
    """
    if group is _world:
        return group_rank
    ranks = resolved(group)._ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}: it has {len(ranks)} process(es)")
    return ranks[group_rank]


def new_group(
    ranks: list[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> ProcessGroup | int:
    """A group of some processes of the default one: all for None.

    All processes of the default group call this, in one order; with `use_local_synchronization` only those of the new
    one. `timeout` is how long collectives of the group wait, 30 minutes for None. Processes are numbered by rank, or in
    the order of `ranks` without `sort_ranks`. The other options are ignored.
    Returns: the group, or `GroupMember.NON_GROUP_MEMBER` if this process is not in it.
    Raises: ValueError for processes that are not there, or are there twice.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.new_group([0]).size()
    1
    >>> rg.distributed.destroy_process_group()
    """
    world = resolved(None)
    chosen = list(world._ranks) if ranks is None else sorted(ranks) if sort_ranks else list(ranks)
    limit = seconds(timeout)
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {chosen}")
    if len(chosen) > world.size():
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group: "
            f"{len(chosen)} processes of {world.size()}"
        )
    for rank in chosen:
        if not 0 <= rank < world.size():
            valid = f"Valid ranks are 0 to {world.size() - 1} (world_size={world.size()})"
            raise ValueError(f"Rank {rank} is out of range. {valid}")
    found = world._collectives.subset(chosen, limit, use_local_synchronization)
    if found is None:
        return GroupMember.NON_GROUP_MEMBER
    made = ProcessGroup(found, world._backend if backend is None else _backend(backend), chosen)
    _groups.append(made)
    return made
