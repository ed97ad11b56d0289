"""The debug mode: before a collective, all processes say which one they mean, and see whether it is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import retrograd as rg
from retrograd.distributed._mpi._waiting import Pending, Steps

if TYPE_CHECKING:
    from retrograd.distributed._mpi._backend import Mpi

_WIDTH = 512


class Comparison:
    """Compares signatures of the collectives of a group, on a communicator of their own."""

    def __init__(self, backend: Mpi, comm: Any) -> None:
        self._backend, self._comm = backend, comm

    def check(self, name: str, signature: str) -> None:
        """Whether all processes of the group are at the same collective.

        Raises: RuntimeError that says which are at which; DistBackendError if one does not come in time.
        """
        backend = self._backend
        own = signature.encode()[:_WIDTH].ljust(_WIDTH)
        memory = bytearray(own * backend.size)
        everyone = rg.frombuffer(memory, dtype=rg.uint8)
        given = rg.frombuffer(bytearray(own), dtype=rg.uint8)
        Pending(backend, f"{name} (comparing it)", self._exchange(given, everyone)).wait_for(backend.timeout)
        meant: dict[str, list[int]] = {}
        for index, rank in enumerate(backend.ranks):
            text = bytes(memory[index * _WIDTH : (index + 1) * _WIDTH]).decode(errors="replace").rstrip()
            meant.setdefault(text, []).append(rank)
        if len(meant) > 1:
            found = ", but ".join(f"{_ranks(ranks)} running collective: {text}" for text, ranks in meant.items())
            raise RuntimeError(f"Detected mismatch between collectives on ranks. {found}")

    def _exchange(self, given: rg.Tensor, everyone: rg.Tensor) -> Steps:
        buffers = self._backend.buffers
        counts = [_WIDTH] * self._backend.size
        yield [self._comm.Iallgatherv(buffers.of(given), buffers.parts(everyone, counts))]

    def close(self) -> None:
        """Give back the communicator."""
        self._comm.Free()


def _ranks(ranks: list[int]) -> str:
    if len(ranks) == 1:
        return f"Rank {ranks[0]} is"
    return f"Ranks {', '.join(map(str, ranks))} are"
