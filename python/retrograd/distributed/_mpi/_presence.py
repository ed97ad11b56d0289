"""Who is there: a table in memory that the processes of a group share on one machine.

Each writes into its row what it began last. Who waits in vain reads there who is dead, has left, or is elsewhere in the
program. Of processes on other machines nothing is known but that they do not answer.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from typing import Any, NamedTuple

# Process, its start, its state, the number of its last collective, and the name of what it began last.
_ROW = struct.Struct("<qqqq64s")
_HERE, _LEFT = 1, 2


class Peer(NamedTuple):
    """What is known of a process of this machine: number of its last collective, and `fate`, empty if it lives."""

    rank: int
    sequence: int
    last: str
    fate: str


class Presence:
    """The table of a group: `comm` is its communicator, and `ranks` are its numbers in the world."""

    def __init__(self, MPI: Any, comm: Any, ranks: list[int]) -> None:
        self._rank, self._ranks = comm.Get_rank(), ranks
        local = comm.Split_type(MPI.COMM_TYPE_SHARED)
        path, size = "", _ROW.size * len(ranks)
        if local.Get_rank() == 0:
            number, path = tempfile.mkstemp(prefix="retrograd-mpi-")
            os.ftruncate(number, size)
            os.close(number)
        path = local.bcast(path)
        with open(path, "r+b") as file:
            self._table = mmap.mmap(file.fileno(), size)
        local.Barrier()
        if local.Get_rank() == 0:
            os.unlink(path)  # it lives as long as somebody has it in memory
        self._identity = (os.getpid(), _start(os.getpid()))
        self.enter("init_process_group", 0)
        local.Barrier()
        # In containers on one machine the numbers of processes may mean nothing to each other; on Windows there is no
        # signal that only asks.
        seen = os.name == "posix" and all(not peer.fate for peer in self.peers())
        self._usable = bool(local.allreduce(seen, op=MPI.LAND))
        local.Free()

    def enter(self, name: str, sequence: int) -> None:
        """Note what this process begins."""
        row = self._rank * _ROW.size
        _ROW.pack_into(self._table, row, *self._identity, _HERE, sequence, name.encode()[:64])

    def leave(self) -> None:
        """Note that this process begins nothing any more."""
        pid, start, _, sequence, name = _ROW.unpack_from(self._table, self._rank * _ROW.size)
        _ROW.pack_into(self._table, self._rank * _ROW.size, pid, start, _LEFT, sequence, name)

    def peers(self) -> list[Peer]:
        """The other processes of this machine, by rank."""
        found = []
        for index, rank in enumerate(self._ranks):
            pid, start, state, sequence, name = _ROW.unpack_from(self._table, index * _ROW.size)
            if index == self._rank or state == 0:
                continue
            fate = ""
            if state == _LEFT:
                fate = "has left"
            elif not _alive(pid, start):
                fate = f"is dead (process {pid})"
            found.append(Peer(rank, sequence, name.rstrip(b"\0").decode(errors="replace"), fate))
        return found

    def gone(self, sequence: int | None, needed: list[int] | None) -> list[Peer]:
        """Processes that cannot take part any more: in collective number `sequence`, or in a message with `needed`."""
        if not self._usable:
            return []
        found = []
        for peer in self.peers():
            if needed is not None and peer.rank not in needed:
                continue
            # Who began a later collective has done its part of this one; who left has done all that it began.
            done = sequence is not None and peer.sequence >= sequence + ("dead" in peer.fate)
            if peer.fate and not done:
                found.append(peer)
        return found


def _start(pid: int) -> int:
    """When a process started, which tells it from a later one with its number; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return -1 if fields[0] in (b"Z", b"X") else int(fields[19])


def _alive(pid: int, start: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _start(pid) == start
