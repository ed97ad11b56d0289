"""The backend of several processes: MPI through mpi4py, which is imported here and nowhere else."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from retrograd.distributed._collectives import Alone, Collectives, refuse

EXTRA = "pip install 'retrograd[mpi]'"


def library(size: int) -> Any:
    """mpi4py's module `MPI`; importing it starts MPI.

    Raises: NotImplementedError without mpi4py, for a world of `size`.
    """
    try:
        return import_module("mpi4py.MPI")
    except ImportError as error:
        try:
            refuse(
                f"init_process_group got a world of {size}, which needs MPI, and mpi4py cannot be imported ({error}): "
                f"{EXTRA}, then start with `mpiexec -n {size} python ...`"
            )
        except NotImplementedError as refusal:
            raise refusal from error


def world(size: int, timeout: float | None) -> Collectives:
    """The collectives of all processes that MPI started, of which a launcher or the program states `size`."""
    MPI = library(size)
    if MPI.COMM_WORLD.Get_size() == 1:
        return Alone()
    from retrograd.distributed._mpi._backend import Mpi

    return Mpi(MPI, MPI.COMM_WORLD, list(range(MPI.COMM_WORLD.Get_size())), timeout, None)
