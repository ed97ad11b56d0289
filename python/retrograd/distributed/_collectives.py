"""What processes do together. A backend is one class of these; that of a world of one is here."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Any

from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad

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


class Collectives(ABC):
    """The collectives of a group of `size` processes, of which this one is number `rank`.

    Arguments were checked; tensors that are written to have the shapes and dtypes of what is written. A method returns
    when its tensors are written. A backend defines these methods, and nothing else of the package changes.
    """

    rank: int
    size: int

    @abstractmethod
    def all_reduce(self, tensor: Tensor, op: ReduceOp) -> None:
        """Write into `tensor`, of every process, what `op` makes of all of them."""

    @abstractmethod
    def reduce(self, tensor: Tensor, root: int, op: ReduceOp) -> None:
        """`all_reduce`, whose result the process `root` alone needs."""

    @abstractmethod
    def broadcast(self, tensor: Tensor, root: int) -> None:
        """Write the tensor of the process `root` into those of all others."""

    @abstractmethod
    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor) -> None:
        """Write the tensors of all processes, by rank, into the `outputs` of each."""

    @abstractmethod
    def gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int) -> None:
        """`all_gather` for the process `root`; `outputs` of the others is empty."""

    @abstractmethod
    def scatter(self, output: Tensor, tensors: Sequence[Tensor], root: int) -> None:
        """Write into each process the tensor that the process `root` has for it; `tensors` of the others is empty."""

    @abstractmethod
    def reduce_scatter(self, output: Tensor, tensors: Sequence[Tensor], op: ReduceOp) -> None:
        """Write what `op` makes of the tensors that all processes have for this one."""

    @abstractmethod
    def all_to_all(self, outputs: Sequence[Tensor], tensors: Sequence[Tensor]) -> None:
        """Write the tensors that each process has for this one, by rank."""

    @abstractmethod
    def all_gather_object(self, value: Any) -> list[Any]:
        """Copies of the values of all processes, by rank."""

    @abstractmethod
    def barrier(self) -> None:
        """Return when all processes are here."""


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

    def all_gather_object(self, value: Any) -> list[Any]:
        return [pickle.loads(pickle.dumps(value))]  # its own bytes

    def barrier(self) -> None:
        pass
