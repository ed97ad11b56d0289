"""Buckets: which gradients are sent together, and the memory that they are sent from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retrograd import _core
from retrograd._core import Tensor

if TYPE_CHECKING:
    from retrograd._core import dtype as DType

MIB = 1 << 20
# At most so many bytes in a bucket, in the first one, and in a gradient that shares a bucket. docs/distributed.md
# derives them: to start a collective costs a few microseconds, and to copy a gradient into a bucket costs as much as
# the start at a few dozen KiB; the first bucket is small so that sending begins early.
CAP, FIRST_CAP, ALONE = 25 * MIB, MIB, MIB


def assign(tensors: Sequence[Tensor], first: int, cap: int, alone: int) -> list[list[int]]:
    """Divide tensors, which become ready in this order, into buckets.

    Args: `first` and `cap` the bytes at which the first bucket, or any other, is full; a tensor of `alone` bytes or
    more has a bucket to itself, and need not be copied.
    Returns: indices, a list for each bucket. Buckets are in the order in which they become ready; each has one dtype.

    >>> from retrograd.nn.parallel._buckets import assign
    >>> assign([rg.zeros(1), rg.zeros(100), rg.zeros(2), rg.zeros(3)], 8, 16, 400)
    [[1], [0, 2], [3]]
    """
    full: list[list[int]] = []
    filling: dict[Any, tuple[list[int], int]] = {}
    limit = first
    for index, tensor in enumerate(tensors):
        size = tensor.numel() * tensor.element_size()
        if size >= alone:
            full.append([index])
            continue
        indices, filled = filling.pop(tensor.dtype, ([], 0))
        indices.append(index)
        if filled + size >= limit:
            full.append(indices)
            limit = cap
        else:
            filling[tensor.dtype] = (indices, filled + size)
    rest = [indices for indices, _ in filling.values()]
    return sorted(full + rest, key=lambda indices: indices[-1])


class Bucket:
    """Some gradients, and the state of sending them.

    `buffer` is the flat memory that is sent, and `slots` its parts with the shapes of the gradients. A bucket of one
    gradient has none of its own: it lends the memory of the gradient itself while it can.
    """

    __slots__ = ("buffer", "dtype", "members", "pending", "result", "shapes", "slots")

    def __init__(self, members: list[int], tensors: Sequence[Tensor]) -> None:
        self.members = members
        self.shapes = [tensor.shape for tensor in tensors]
        self.dtype: DType = tensors[0].dtype
        self.pending = len(members)
        self.buffer: Tensor | None = None
        self.slots: list[Tensor] = []
        self.result: Any = None  # a handle or a future, from the start of the collective to its end

    @property
    def alone(self) -> bool:
        """Whether the bucket has one gradient."""
        return len(self.members) == 1

    def allocate(self) -> None:
        """Give the bucket memory of its own, with undefined values. Gradients of the step before keep theirs."""
        sizes = [shape.numel() for shape in self.shapes]
        self.buffer = _core.empty(sum(sizes), dtype=self.dtype)
        # `.data` shares the memory and is no view to autograd, so that `zero_grad` may detach a gradient in place.
        parts = self.buffer.split(sizes)
        self.slots = [part.view(shape).data for part, shape in zip(parts, self.shapes, strict=True)]

    def lend(self, grad: Tensor) -> None:
        """Send the memory of a contiguous gradient itself."""
        self.buffer, self.slots = grad.data.view(-1), [grad]

    def clear(self) -> None:
        """Make all gradients zeros, in memory of the bucket."""
        if self.buffer is None or self.alone:
            self.allocate()
        assert self.buffer is not None
        self.buffer.zero_()
