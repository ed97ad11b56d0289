"""The collectives as functions: they check arguments, and leave the rest to the backend of the group."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NoReturn

from retrograd._core import Tensor
from retrograd.distributed._collectives import Collectives, ReduceOp
from retrograd.distributed._groups import (
    ProcessGroup,
    get_group_rank,
    get_rank,
    is_initialized,
    outside,
    refuse,
    resolved,
)

__all__ = [
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_single",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "irecv",
    "isend",
    "monitored_barrier",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "scatter",
    "send",
]


Group = ProcessGroup | None

_OF_ORDER = (ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT, ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


class Work:
    """What a collective with `async_op=True` returns: it is done.

    >>> work = rg.distributed.Work()
    >>> work.wait(), work.is_completed(), work.is_success()
    (True, True, True)
    """

    def wait(self, timeout: Any = None) -> bool:
        """Return True when the work is done."""
        return True

    def is_completed(self) -> bool:
        """Whether the work is done: it is."""
        return True

    is_success = is_completed


def _finish(async_op: bool) -> Work | None:
    return Work() if async_op else None


def _entered(name: str, group: Group) -> Collectives | None:
    """The backend of a group, None outside of it."""
    if outside(group):
        rank = get_rank() if is_initialized() else -1
        warnings.warn(f"Running {name} on global rank {rank} which does not belong to the given group.", stacklevel=3)
        return None
    return resolved(group)._collectives


def _check_tensor(value: Any, name: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )


def _check_tensors(values: Any, name: str) -> None:
    expected = (
        f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             but got "
    )
    if not isinstance(values, list):
        raise TypeError(f"{expected}{type(values)} instead.")
    if not all(isinstance(value, Tensor) for value in values):
        raise TypeError(f"{expected}{type(values)} with elements of type {[type(value) for value in values]}.")


def _check_dtypes(*tensors: Tensor) -> None:
    for before, tensor in pairwise(tensors):
        if before.dtype.to_real() != tensor.dtype.to_real():
            found = f"Found {before.dtype} and  {tensor.dtype}"
            raise ValueError(f"Invalid usage of tensors with different dtypes{found}")


def _check_places(name: str, outputs: Sequence[Tensor], tensors: Sequence[Tensor], size: int) -> None:
    """Whether each output has the size of the tensor that it gets."""
    if len(outputs) != size:
        raise RuntimeError(
            f"{name}: invalid output tensor list at index 0 (expected length {size}, got {len(outputs)})"
        )
    for index, (output, tensor) in enumerate(zip(outputs, tensors, strict=False)):
        if output.shape != tensor.shape:
            sizes = f"expected {_sizes(tensor)}, got {_sizes(output)}"
            raise RuntimeError(f"{name}: invalid tensor size at index {index} ({sizes})")


def _sizes(tensor: Tensor) -> str:
    return f"({', '.join(map(str, tensor.shape))})"


def _root(group: Group, stated: int | None, in_group: int | None, default: int | None = None) -> int:
    """The number in the group of the process that a call names."""
    if in_group is None:
        stated = default if stated is None else stated
        if stated is None:
            raise ValueError("Must specify global_rank or group_rank")
        return get_group_rank(resolved(group), stated)
    if stated is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    return in_group


def _check_root(name: str, root: int, backend: Collectives) -> None:
    if not 0 <= root < backend.size:
        raise RuntimeError(f"{name}: invalid root rank: {root}; the group has {backend.size} process(es)")


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False) -> Work | None:
    """Write into the tensor of every process what `op` makes of all of them.

    >>> rg.distributed.init_process_group("gloo")
    >>> x = rg.ones(2)
    >>> rg.distributed.all_reduce(x)
    >>> x
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    if (backend := _entered("all_reduce", group)) is None:
        return None
    if tensor.is_complex() and op in _OF_ORDER:
        raise ValueError(f"all_reduce does not support {op} on complex tensors")
    backend.all_reduce(tensor, op)
    return _finish(async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Write into the tensor of the process `dst` what `op` makes of those of all; others may change as well.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.reduce(rg.ones(2), 0)
    >>> rg.distributed.destroy_process_group()
    """
    if outside(group):
        return _finish(_entered("reduce", group) is not None)
    root = _root(group, dst, group_dst)
    _check_tensor(tensor, "tensor")
    backend = resolved(group)._collectives
    _check_root("reduce", root, backend)
    backend.reduce(tensor, root, op)
    return _finish(async_op)


def broadcast(
    tensor: Tensor, src: int | None = None, group: Group = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Write the tensor of the process `src` into those of all.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.broadcast(rg.ones(2), 0)
    >>> rg.distributed.destroy_process_group()
    """
    if outside(group):
        return _finish(_entered("broadcast", group) is not None)
    root = _root(group, src, group_src)
    _check_tensor(tensor, "tensor")
    backend = resolved(group)._collectives
    _check_root("broadcast", root, backend)
    backend.broadcast(tensor, root)
    return _finish(async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False) -> Work | None:
    """Write the tensors of all processes, by rank, into the list of each.

    >>> rg.distributed.init_process_group("gloo")
    >>> outputs = [rg.zeros(2)]
    >>> rg.distributed.all_gather(outputs, rg.ones(2))
    >>> outputs
    [tensor([1., 1.])]
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensors(tensor_list, "tensor_list")
    _check_tensor(tensor, "tensor")
    _check_dtypes(*tensor_list, tensor)
    if (backend := _entered("all_gather", group)) is None:
        return None
    _check_places("all_gather", tensor_list, [tensor] * backend.size, backend.size)
    backend.all_gather(tensor_list, tensor)
    return _finish(async_op)


def all_gather_single(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Write the tensors of all processes, by rank, into parts of one tensor.

    >>> rg.distributed.init_process_group("gloo")
    >>> output = rg.zeros(2)
    >>> rg.distributed.all_gather_single(output, rg.ones(2))
    >>> output
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(input_tensor, "input_tensor")
    _check_tensor(output_tensor, "output_tensor")
    _check_dtypes(output_tensor, input_tensor)
    if (backend := _entered("all_gather_single", group)) is None:
        return None
    outputs = _parts(output_tensor, backend.size)
    _check_places("all_gather_single", outputs, [input_tensor] * backend.size, backend.size)
    backend.all_gather(outputs, input_tensor)
    return _finish(async_op)


def _parts(tensor: Tensor, count: int) -> list[Tensor]:
    return [tensor] if count == 1 else list(tensor.tensor_split(count))


def _deprecated(old: str, new: str) -> None:
    warnings.warn(
        f"`torch.distributed.{old}` is deprecated. Please use `torch.distributed.{new}` instead.",
        FutureWarning,
        stacklevel=3,
    )


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """`all_gather_single`, after a FutureWarning.

    >>> import warnings
    >>> rg.distributed.init_process_group("gloo")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.distributed.all_gather_into_tensor(rg.zeros(2), rg.ones(2))
    >>> rg.distributed.destroy_process_group()
    """
    _deprecated("all_gather_into_tensor", "all_gather_single")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Write the tensors of all processes, by rank, into the list of the process `dst`, 0 unless told.

    >>> rg.distributed.init_process_group("gloo")
    >>> outputs = [rg.zeros(2)]
    >>> rg.distributed.gather(rg.ones(2), outputs)
    >>> outputs
    [tensor([1., 1.])]
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    outputs = gather_list or []
    _check_tensors(outputs, "gather_list")
    _check_dtypes(tensor, *outputs)
    if (backend := _entered("gather", group)) is None:
        return None
    root = _root(group, dst, group_dst, 0)
    _check_given(backend.rank == root, outputs, "gather_list", "destination")
    _check_root("gather", root, backend)
    _check_places("gather", outputs, [tensor] * backend.size, backend.size)
    backend.gather(outputs, tensor, root)
    return _finish(async_op)


def _check_given(here: bool, values: Any, name: str, role: str) -> None:
    """Whether a list is there in the process that needs it, and in no other."""
    if here and not values:
        raise ValueError(f"Argument ``{name}`` must be specified on {role} rank.")
    if values and not here:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{role} ranks.")


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Write into the tensor of each process the one that the list of the process `src`, 0 unless told, has for it.

    >>> rg.distributed.init_process_group("gloo")
    >>> output = rg.zeros(2)
    >>> rg.distributed.scatter(output, [rg.ones(2)])
    >>> output
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(tensor, "tensor")
    inputs = scatter_list or []
    _check_tensors(inputs, "scatter_list")
    _check_dtypes(tensor, *inputs)
    if (backend := _entered("scatter", group)) is None:
        return None
    root = _root(group, src, group_src, 0)
    _check_given(backend.rank == root, inputs, "scatter_list", "source")
    _check_root("scatter", root, backend)
    if len(inputs) != backend.size:
        raise RuntimeError(
            f"scatter: Incorrect input list size {len(inputs)}. Input list size should be {backend.size}, same as size "
            "of the process group."
        )
    _check_places("scatter", [tensor] * backend.size, inputs, backend.size)
    backend.scatter(tensor, inputs, root)
    return _finish(async_op)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Write what `op` makes of the tensors that all processes have for this one.

    >>> rg.distributed.init_process_group("gloo")
    >>> output = rg.zeros(2)
    >>> rg.distributed.reduce_scatter(output, [rg.ones(2)])
    >>> output
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(output, "output")
    _check_tensors(input_list, "input_list")
    _check_dtypes(output, *input_list)
    if (backend := _entered("reduce_scatter", group)) is None:
        return None
    if len(input_list) != backend.size:
        raise RuntimeError("invalid input tensor list size, must be world size")
    _check_places("reduce_scatter", [output] * backend.size, input_list, backend.size)
    backend.reduce_scatter(output, input_list, op)
    return _finish(async_op)


def reduce_scatter_single(
    output: Tensor, input: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """`reduce_scatter` of the parts of one tensor.

    >>> rg.distributed.init_process_group("gloo")
    >>> output = rg.zeros(2)
    >>> rg.distributed.reduce_scatter_single(output, rg.ones(2))
    >>> output
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    _check_dtypes(output, input)
    if (backend := _entered("reduce_scatter_single", group)) is None:
        return None
    inputs = _parts(input, backend.size)
    _check_places("reduce_scatter_single", [output] * backend.size, inputs, backend.size)
    backend.reduce_scatter(output, inputs, op)
    return _finish(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """`reduce_scatter_single`, after a FutureWarning.

    >>> import warnings
    >>> rg.distributed.init_process_group("gloo")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rg.distributed.reduce_scatter_tensor(rg.zeros(2), rg.ones(2))
    >>> rg.distributed.destroy_process_group()
    """
    _deprecated("reduce_scatter_tensor", "reduce_scatter_single")
    return reduce_scatter_single(output, input, op, group, async_op)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None, async_op: bool = False
) -> Work | None:
    """Write the tensors that each process has for this one, by rank.

    >>> rg.distributed.init_process_group("gloo")
    >>> outputs = [rg.zeros(2)]
    >>> rg.distributed.all_to_all(outputs, [rg.ones(2)])
    >>> outputs
    [tensor([1., 1.])]
    >>> rg.distributed.destroy_process_group()
    """
    if outside(group):
        return _finish(_entered("all_to_all", group) is not None)
    _check_tensors(output_tensor_list, "output_tensor_list")
    _check_tensors(input_tensor_list, "input_tensor_list")
    _check_dtypes(*output_tensor_list, *input_tensor_list)
    backend = resolved(group)._collectives
    _check_places("all_to_all", output_tensor_list, input_tensor_list, backend.size)
    if len(input_tensor_list) != backend.size:
        raise RuntimeError("invalid input tensor list size, must be world size")
    backend.all_to_all(output_tensor_list, input_tensor_list)
    return _finish(async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """`all_to_all` of parts of one tensor: of the sizes given, or of equal ones.

    >>> rg.distributed.init_process_group("gloo")
    >>> output = rg.zeros(2)
    >>> rg.distributed.all_to_all_single(output, rg.ones(2))
    >>> output
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    if outside(group):
        return _finish(_entered("all_to_all_single", group) is not None)
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    _check_dtypes(output, input)
    backend = resolved(group)._collectives
    outputs = _split(output, output_split_sizes, backend.size)
    inputs = _split(input, input_split_sizes, backend.size)
    _check_places("all_to_all_single", outputs, inputs, backend.size)
    backend.all_to_all(outputs, inputs)
    return _finish(async_op)


def _split(tensor: Tensor, sizes: list[int] | None, count: int) -> list[Tensor]:
    if not sizes:
        return _parts(tensor, count)
    if len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != tensor.shape[0]:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return list(tensor.split(sizes))


def barrier(group: Group = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None) -> Work | None:
    """Return when all processes are here.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.barrier()
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("barrier", group)) is None:
        return None
    backend.barrier()
    return _finish(async_op)


def monitored_barrier(group: Group = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """`barrier`, which would say who is late.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.monitored_barrier()
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("monitored_barrier", group)) is not None:
        backend.barrier()


def _refuse_messages(name: str, group: Group) -> NoReturn:
    resolved(group)
    refuse(f"{name} has no other process to talk to")


def send(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> NoReturn:
    """Refused: there is one process.

    Raises: ValueError for this process, NotImplementedError for every other.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.send(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: send has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    _check_self(_root(group, dst, group_dst), "destination", group)
    _refuse_messages("send", group)


def recv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> NoReturn:
    """Refused: there is one process.

    Raises: ValueError for this process, NotImplementedError for every other.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.recv(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: recv has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    if src is not None or group_src is not None:
        _check_self(_root(group, src, group_src), "source", group)
    _refuse_messages("recv", group)


def _check_self(rank: int, role: str, group: Group) -> None:
    if resolved(group).rank() == rank:
        raise ValueError(f"Invalid {role} rank: {role} rank should not be the same as the rank of the current process.")


def isend(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> NoReturn:
    """Refused: there is one process.

    Raises: NotImplementedError.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.isend(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: isend has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    _refuse_messages("isend", group)


def irecv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> NoReturn:
    """Refused: there is one process.

    Raises: NotImplementedError.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.irecv(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: irecv has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    _refuse_messages("irecv", group)
