"""`GradBucket`: gradients that `DistributedDataParallel` sends together, as a communication hook sees them."""

from __future__ import annotations

from retrograd._core import Tensor

__all__ = ["GradBucket"]


class GradBucket:
    """Gradients of some parameters in one flat tensor. `DistributedDataParallel` makes them, and gives them to hooks.

    >>> x = rg.nn.Parameter(rg.ones(2, 3))
    >>> flat = rg.zeros(6)
    >>> bucket = rg.distributed.GradBucket(0, flat, [flat.view(2, 3)], [x], last=True)
    >>> bucket.index(), bucket.is_last(), bucket.buffer().shape, bucket.gradients()[0].shape
    (0, True, retrograd.Size([6]), retrograd.Size([2, 3]))
    >>> bucket.parameters()[0] is x
    True
    >>> bucket.set_buffer(flat.half())
    """

    __slots__ = ("_buffer", "_gradients", "_index", "_last", "_parameters")

    def __init__(
        self, index: int, buffer: Tensor, gradients: list[Tensor], parameters: list[Tensor], last: bool
    ) -> None:
        self._index, self._buffer, self._last = index, buffer, last
        self._gradients, self._parameters = gradients, parameters

    def index(self) -> int:
        """The number of the bucket. Buckets of later layers have smaller ones, and are sent first."""
        return self._index

    def buffer(self) -> Tensor:
        """The gradients as one tensor of one dimension. What a hook writes into it changes them."""
        return self._buffer

    def gradients(self) -> list[Tensor]:
        """The parts of the buffer, each with the shape of its parameter."""
        return list(self._gradients)

    def parameters(self) -> list[Tensor]:
        """The parameters, in the order of `gradients`."""
        return list(self._parameters)

    def is_last(self) -> bool:
        """Whether no bucket of the iteration comes after this one."""
        return self._last

    def set_buffer(self, buffer: Tensor) -> None:
        """Let `buffer` give another tensor."""
        self._buffer = buffer
