"""What processes do together. A backend is one class of these; that of a world of one is here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Any, NoReturn

from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._work import Work

__all__ = ["ReduceOp"]


class ReduceOp(Enum):
    """How the tensors of all processes become one.

    >>> rg.distributed.ReduceOp.SUM.name
    'SUM'
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8
    UNUSED = 9


def refuse(facts: str) -> NoReturn:
    """Say that there is one process alone."""
    raise NotImplementedError(f"more than one process is not there: {facts}")


class Collectives(ABC):
    """The collectives of a group of `size` processes, of which this one is number `rank`.

    Arguments were checked; tensors that are written to have the shapes and dtypes of what is written. A method begins,
    and returns the handle to wait for: None if its tensors are written. A backend defines these methods, and nothing
    else of the package changes. Processes call the methods of one group in one order.
    """

    rank: int
    size: int

    @abstractmethod
    def all_reduce(self, tensor: Tensor, op: ReduceOp) -> Work | None:
        """Write into `tensor`, of every process, what `op` makes of all of them."""

    @abstractmethod
    def reduce(self, tensor: Tensor, root: int, op: ReduceOp) -> Work | None:
        """`all_reduce`, whose result the process `root` alone needs."""

    @abstractmethod
    def broadcast(self, tensor: Tensor, root: int) -> Work | None:
        """Write the tensor of the process `root` into those of all others."""

    @abstractmethod
    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor) -> Work | None:
        """Write the tensors of all processes, by rank, into the `outputs` of each. They may differ in size."""

    @abstractmethod
    def gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int) -> Work | None:
        """`all_gather` for the process `root`; `outputs` of the others is empty."""

    @abstractmethod
    def scatter(self, output: Tensor, tensors: Sequence[Tensor], root: int) -> Work | None:
        """Write into each process the tensor that the process `root` has for it; `tensors` of the others is empty."""

    @abstractmethod
    def reduce_scatter(self, output: Tensor, tensors: Sequence[Tensor], op: ReduceOp) -> Work | None:
        """Write what `op` makes of the tensors that all processes have for this one."""

    @abstractmethod
    def all_to_all(self, outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> Work | None:
        """Write the tensors that each process has for this one, by rank. They may differ in size."""

    @abstractmethod
    def barrier(self, timeout: float | None = None) -> Work | None:
        """Begin to wait until all processes are here, for so many seconds at most."""

    @abstractmethod
    def send(self, tensor: Tensor, target: int, tag: int, name: str = "send") -> Work | None:
        """Send a tensor to the process `target`, which receives it with the same tag."""

    @abstractmethod
    def receive(self, tensor: Tensor, source: int | None, tag: int, name: str = "recv") -> Work | None:
        """Write what the process `source`, or any for None, sends with the tag."""

    @abstractmethod
    def subset(self, ranks: list[int], timeout: float | None, local: bool) -> Collectives | None:
        """The collectives of some processes, by rank in this group, in this order; None outside of them.

        All processes of this group call this, or only the `ranks` if `local`.
        """

    @abstractmethod
    def close(self) -> None:
        """Give back what the backend holds. Nothing else is called after this."""


class Alone(Collectives):
    """The collectives of a world of one: what is reduced stays, and what is sent arrives."""

    rank = 0
    size = 1

    def all_reduce(self, tensor: Tensor, op: ReduceOp) -> None:
        pass

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp) -> None:
        pass

    def broadcast(self, tensor: Tensor, root: int) -> None:
        pass

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor) -> None:
        with no_grad():
            outputs[0].copy_(tensor)

    def gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int) -> None:
        self.all_gather(outputs, tensor)

    def scatter(self, output: Tensor, tensors: Sequence[Tensor], root: int) -> None:
        self.all_gather([output], tensors[0])

    def reduce_scatter(self, output: Tensor, tensors: Sequence[Tensor], op: ReduceOp) -> None:
        self.all_gather([output], tensors[0])

    def all_to_all(self, outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> None:
        self.all_gather(outputs, tensors[0])

    def barrier(self, timeout: float | None = None) -> None:
        pass

    def send(self, tensor: Tensor, target: int, tag: int, name: str = "send") -> None:
        refuse(f"{name} has no other process to talk to")

    def receive(self, tensor: Tensor, source: int | None, tag: int, name: str = "recv") -> None:
        refuse(f"{name} has no other process to talk to")

    def subset(self, ranks: list[int], timeout: float | None, local: bool) -> Any:
        return Alone() if ranks else None

    def close(self) -> None:
        pass
