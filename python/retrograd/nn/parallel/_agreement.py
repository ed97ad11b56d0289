"""Whether all processes have the same model, and how they get the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._calls import broadcast
from retrograd.distributed._groups import ProcessGroup, get_global_rank
from retrograd.distributed._objects import all_gather_object

# A tensor of so many bytes is sent from where it is; smaller ones are copied together, into pieces of about so many.
_ALONE, _PIECE = 1 << 20, 16 << 20


class _Description(NamedTuple):
    """What processes have to agree on, of each parameter."""

    name: str
    sizes: tuple[int, ...]
    dtype: str
    kind: str


def check_agreement(
    parameters: Sequence[tuple[str, Tensor]],
    buffers: Sequence[tuple[str, Tensor]],
    options: dict[str, Any],
    group: ProcessGroup,
) -> None:
    """Compare names, order, sizes, dtypes, and options that decide what is sent, with those of the other processes.

    Raises: RuntimeError, in every process, that names the first rank and parameter that differ from rank 0.
    """
    if group.size() == 1:
        return
    own = [
        _Description(name, tuple(tensor.shape), str(tensor.dtype), kind)
        for kind, named in (("parameter", parameters), ("buffer", buffers))
        for name, tensor in named
    ]
    own += [_Description(f"{name}={value!r}", (), "", "option") for name, value in options.items()]
    # A digest is all that 1,000 processes with a large model have to compare.
    digests: list[Any] = [None] * group.size()
    all_gather_object(digests, hashlib.sha256(repr(own).encode()).digest(), group)
    if all(digest == digests[0] for digest in digests):
        return
    gathered: list[Any] = [None] * group.size()
    all_gather_object(gathered, own, group)
    rank = next(rank for rank, digest in enumerate(digests) if digest != digests[0])
    raise RuntimeError(_difference(gathered[0], gathered[rank], get_global_rank(group, rank)))


def _difference(first: list[_Description], other: list[_Description], rank: int) -> str:
    """What differs between rank 0 and another."""
    counts = [sum(d.kind == "parameter" for d in descriptions) for descriptions in (first, other)]
    if counts[0] != counts[1]:
        extra = _beyond(first, other)
        return (
            f"DDP expects same model across all ranks, but Rank {rank} has {counts[1]} params, while rank 0 has "
            f"inconsistent {counts[0]} params. {extra}"
        )
    for index, (a, b) in enumerate(zip(first, other, strict=False)):
        if a == b:
            continue
        if a.kind != b.kind:
            break  # one has more buffers
        if a.kind == "option":
            return f"DDP expects the same options on all ranks, but Rank {rank} has {b.name}, and rank 0 has {a.name}"
        where = (
            f"{b.kind} {b.name!r} of rank {rank} is {b.dtype} {_sizes(b)}, {a.name!r} of rank 0 {a.dtype} {_sizes(a)}"
        )
        if a.name == b.name and a.sizes != b.sizes:
            phrase = (
                f"params[{index}] in this process with sizes {list(b.sizes)} appears not to match sizes of the same "
                "param in process 0."
            )
            return f"[{rank}]: {phrase} {where}"
        what = "the dtype differs" if a.name == b.name else "names or their order differ"
        return f"DDP expects same model across all ranks, but {what} at number {index}: {where}"
    extra = _beyond(first, other)
    return f"DDP expects same model across all ranks, but Rank {rank} has other buffers than rank 0. {extra}"


def _sizes(description: _Description) -> str:
    return f"({', '.join(map(str, description.sizes))})"


def _beyond(first: list[_Description], other: list[_Description]) -> str:
    names = [{d.name for d in descriptions} for descriptions in (first, other)]
    alone = sorted(names[0] ^ names[1])
    shown = ", ".join(alone[:4]) + (", ..." if len(alone) > 4 else "")
    return f"Not on both: {shown}" if alone else "One has a name twice"


def share(tensors: Iterable[Tensor], group: ProcessGroup, source: int) -> None:
    """Write the values of the process number `source` of the group into the tensors of all, few messages for many."""
    begin_share(tensors, group, source)()


@no_grad()
def begin_share(tensors: Iterable[Tensor], group: ProcessGroup, source: int) -> Callable[[], None]:
    """Begin `share`. Returns: what waits for its end."""
    if group.size() == 1:
        return lambda: None
    of_dtype: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        of_dtype.setdefault(tensor.dtype, []).append(tensor)
    begun: list[_Piece] = []
    for several in of_dtype.values():
        piece: list[Tensor] = []
        for tensor in several:
            if _bytes(tensor) >= _ALONE and tensor.is_contiguous():
                begun.append(_Piece([tensor], tensor.data, group, source))
            else:
                piece.append(tensor)
            if sum(map(_bytes, piece)) >= _PIECE:
                begun.append(_packed(piece, group, source))
                piece = []
        if piece:
            begun.append(_packed(piece, group, source))

    def finish() -> None:
        for piece in begun:
            piece.finish()

    return finish


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _packed(tensors: list[Tensor], group: ProcessGroup, source: int) -> _Piece:
    flat = _core.cat([tensor.detach().reshape(-1) for tensor in tensors])
    return _Piece(tensors, flat, group, source)


class _Piece:
    """Tensors whose values are on the way, in `memory`: their own if it is a single one."""

    def __init__(self, tensors: list[Tensor], memory: Tensor, group: ProcessGroup, source: int) -> None:
        self.tensors, self.memory, self.here = tensors, memory, group.rank() == source
        self.work = broadcast(memory, group=group, async_op=True, group_src=source)

    @no_grad()
    def finish(self) -> None:
        assert self.work is not None
        self.work.wait()
        if self.here:
            return
        if self.memory.data_ptr() == self.tensors[0].data_ptr():
            _core._increment_version(self.tensors[0])  # written without an op
            return
        parts = self.memory.split([tensor.numel() for tensor in self.tensors])
        for tensor, part in zip(self.tensors, parts, strict=True):
            tensor.copy_(part.view(tensor.shape))
