"""Sequences of different lengths: padded to one tensor, or packed step by step, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

from retrograd import _core
from retrograd._core import Tensor
from retrograd.nn import functional as F

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences of a batch, longest first, without padding: the first steps of all, then the second ones, and so on.

    The functions of this module make them, and recurrent layers take them. `data` has the steps, `batch_sizes` how many
    sequences have each step, `sorted_indices` which sequence of the batch came to which place, and `unsorted_indices`
    the way back.

    >>> from retrograd.nn.utils.rnn import pack_sequence
    >>> packed = pack_sequence([rg.tensor([1.0, 2.0]), rg.tensor([3.0])])
    >>> packed.data, packed.batch_sizes
    (tensor([1., 3., 2.]), tensor([2, 1]))
    >>> packed.double().data.dtype, packed.float() is packed, packed.to("cpu") is packed, packed.cpu() is packed
    (retrograd.float64, True, True, True)
    >>> [p.data.dtype for p in (packed.long(), packed.int(), packed.short())]
    [retrograd.int64, retrograd.int32, retrograd.int16]
    >>> [p.data.dtype for p in (packed.char(), packed.byte(), packed.half())]
    [retrograd.int8, retrograd.uint8, retrograd.float16]
    >>> try:
    ...     packed.cuda()
    ... except AssertionError as error:
    ...     print(str(error)[:36])
    to: Torch not compiled with CUDA ena
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:  # both in one
            if not (isinstance(data, list | tuple) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """With `data` converted as `Tensor.to` does; the sequence itself if that changes nothing."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self) -> Self:
        """The sequence itself: everything is on the CPU."""
        return self.to(device="cpu")

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """Refused: this build has one device, the CPU."""
        return self.to(*args, **{"device": "cuda", **kwargs})

    def double(self) -> Self:
        """With `data` in float64."""
        return self.to(dtype=_core.float64)

    def float(self) -> Self:
        """With `data` in float32."""
        return self.to(dtype=_core.float32)

    def half(self) -> Self:
        """With `data` in float16."""
        return self.to(dtype=_core.float16)

    def long(self) -> Self:
        """With `data` in int64."""
        return self.to(dtype=_core.int64)

    def int(self) -> Self:
        """With `data` in int32."""
        return self.to(dtype=_core.int32)

    def short(self) -> Self:
        """With `data` in int16."""
        return self.to(dtype=_core.int16)

    def char(self) -> Self:
        """With `data` in int8."""
        return self.to(dtype=_core.int8)

    def byte(self) -> Self:
        """With `data` in uint8."""
        return self.to(dtype=_core.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether `data` is on a GPU: no."""
        return bool(self.data.is_cuda)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another one; None for None.

    >>> rg.nn.utils.rnn.invert_permutation(rg.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places = _core.arange(0, permutation.numel())
    return _core.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch of sequences.

    Args: `input` (time, batch, ...), or (batch, time, ...) with `batch_first`; `lengths` those of the sequences, in
    decreasing order unless `enforce_sorted` is False, which sorts them.
    Raises: RuntimeError for a wrong number of lengths, or lengths that are not positive, not sorted, or too large.

    >>> from retrograd.nn.utils.rnn import pack_padded_sequence
    >>> pack_padded_sequence(rg.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True).data
    tensor([1, 3, 2])
    """
    lengths = _core.as_tensor(lengths, dtype=_core.int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = _core.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _pack(input.transpose(0, 1) if batch_first else input, lengths)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def _pack(steps: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The steps that there are, and how many at each time; `steps` is (time, batch, ...)."""
    if steps.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if lengths.dim() != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D cpu Long tensor"
        )
    batch, times = steps.size(1), lengths.tolist()
    if len(times) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(times)} (batch_size={batch})"
        )
    if any(before < after for before, after in pairwise(times)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if times[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if times[0] > steps.size(0):
        raise RuntimeError(f"pack_padded_sequence: a length is {times[0]}, but the input has {steps.size(0)} steps")
    there = _core.arange(times[0]).unsqueeze(1) < lengths
    return steps[: times[0]][there], there.sum(1)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The inverse of `pack_padded_sequence`.

    Args: the padding has `padding_value`; `total_length` is the number of steps, by default that of the longest.
    Returns: (time, batch, ...), or (batch, time, ...) with `batch_first`, and the lengths, in the order of the batch.
    Raises: ValueError for a total length that is too small.

    >>> from retrograd.nn.utils.rnn import pack_sequence, pad_packed_sequence
    >>> packed = pack_sequence([rg.tensor([1.0, 2.0]), rg.tensor([3.0])])
    >>> pad_packed_sequence(packed, batch_first=True)
    (tensor([[1., 2.],
            [3., 0.]]), tensor([2, 1]))
    """
    data, batch_sizes = sequence.data, sequence.batch_sizes
    longest = batch_sizes.size(0)
    if total_length is None:
        total_length = longest
    elif total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    batch = int(batch_sizes[0])
    there = _core.arange(batch) < batch_sizes.unsqueeze(1)
    lengths = there.sum(0)
    sizes = total_length, batch, *data.shape[1:]
    padded = _core.full(sizes, padding_value, dtype=data.dtype)
    if total_length > longest:
        there = _core.cat([there, there.new_zeros(total_length - longest, batch)])
    padded = padded.index_put((there,), data)
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Pad sequences to the length of the longest, and stack them.

    Args: `sequences` tensors (time, ...) of one kind; the padding has `padding_value`, and is at the end, or the
    beginning if `padding_side` is "left".
    Returns: (time, batch, ...), or (batch, time, ...) with `batch_first`.
    Raises: RuntimeError for what is no iterable, no sequence at all, another side, or sizes that do not agree.

    >>> rg.nn.utils.rnn.pad_sequence([rg.tensor([1, 2]), rg.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    tensors = list(sequences)
    if not tensors:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
        if t.dim() == 0:
            raise RuntimeError(f"pad_sequence: sequence {i} is a number: a sequence has one dimension or more")
    kind, longest = tensors[0], max(len(t) for t in tensors)
    template = kind[:0]  # has the sizes and the dtype that all get
    padded = []
    for t in tensors:
        if t.shape[1:] != kind.shape[1:]:
            _, t = _core.broadcast_tensors(template.new_empty((len(t), *kind.shape[1:])), t)
        missing = longest - len(t)
        if missing:
            sides = (missing, 0) if padding_side == "left" else (0, missing)
            t = F.pad(t, (0, 0) * (t.dim() - 1) + sides, value=padding_value)
        padded.append(t.to(kind.dtype))
    return _core.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch: the inverse of `pad_sequence`.

    >>> rg.nn.utils.rnn.unpad_sequence(rg.tensor([[1, 2], [3, 0]]), rg.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [sequence[:length].clone() for sequence, length in zip(batch, lengths.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences, each (time, ...), in decreasing order of length unless `enforce_sorted` is False.

    >>> rg.nn.utils.rnn.pack_sequence([rg.tensor([1, 2]), rg.tensor([3])]).data
    tensor([1, 3, 2])
    """
    lengths = _core.as_tensor([len(sequence) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch: the inverse of `pack_sequence`.

    >>> from retrograd.nn.utils.rnn import pack_sequence, unpack_sequence
    >>> unpack_sequence(pack_sequence([rg.tensor([1, 2]), rg.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
