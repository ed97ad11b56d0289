"""The collectives as functions: they check arguments, and leave the rest to the backend of the group."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from retrograd._core import Tensor
from retrograd.distributed._collectives import Collectives, ReduceOp
from retrograd.distributed._groups import (
    ProcessGroup,
    get_group_rank,
    get_rank,
    is_initialized,
    outside,
    resolved,
)
from retrograd.distributed._work import Work, seconds

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_single",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "monitored_barrier",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "scatter",
]


Group = ProcessGroup | None

_OF_ORDER = (ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT, ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def _finish(work: Work | None, async_op: bool, outputs: Sequence[Tensor] = ()) -> Work | None:
    """The handle of what a backend began, with what it writes; without `async_op`, wait for it."""
    if async_op:
        work = Work() if work is None else work
        work._tensors = list(outputs)
        work._unattended()
        return work
    if work is not None:
        work.wait()
    return None


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
        if before.dtype != tensor.dtype:
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
    return _finish(backend.all_reduce(tensor, op), async_op, [tensor])


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
        _entered("reduce", group)
        return None
    root = _root(group, dst, group_dst)
    _check_tensor(tensor, "tensor")
    backend = resolved(group)._collectives
    _check_root("reduce", root, backend)
    return _finish(backend.reduce(tensor, root, op), async_op, [tensor])


def broadcast(
    tensor: Tensor, src: int | None = None, group: Group = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Write the tensor of the process `src` into those of all.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.broadcast(rg.ones(2), 0)
    >>> rg.distributed.destroy_process_group()
    """
    if outside(group):
        _entered("broadcast", group)
        return None
    root = _root(group, src, group_src)
    _check_tensor(tensor, "tensor")
    backend = resolved(group)._collectives
    _check_root("broadcast", root, backend)
    return _finish(backend.broadcast(tensor, root), async_op, [tensor])


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
    return _finish(backend.all_gather(tensor_list, tensor), async_op, tensor_list)


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
    if output_tensor.numel() != input_tensor.numel() * backend.size:
        sizes = f"{_sizes(output_tensor)} for {backend.size} times {_sizes(input_tensor)}"
        raise ValueError(f"output tensor size must be equal to world_size times input tensor size: got {sizes}")
    outputs = _parts(output_tensor, backend.size, input_tensor.shape)
    return _finish(backend.all_gather(outputs, input_tensor), async_op, [output_tensor])


def _parts(tensor: Tensor, count: int, shape: Sequence[int] | None = None) -> list[Tensor]:
    """Equal parts of a tensor by its first dimension, each with a shape, if told."""
    if count == 1 and shape is None:
        return [tensor]
    flat = tensor.detach()
    if shape is not None and tensor.is_contiguous():
        flat = flat.view(-1)
    if flat.dim() == 0 or flat.shape[0] % count:
        raise RuntimeError(
            f"Tensor's dim 0 does not divide equally across group size: {_sizes(tensor)} for {count} processes"
        )
    parts = flat.tensor_split(count)
    return list(parts) if shape is None else [part.view(shape) for part in parts]


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
    if backend.rank == root:
        _check_places("gather", outputs, [tensor] * backend.size, backend.size)
    return _finish(backend.gather(outputs, tensor, root), async_op, outputs)


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
    if backend.rank == root:
        if len(inputs) != backend.size:
            raise RuntimeError(
                f"scatter: Incorrect input list size {len(inputs)}. Input list size should be {backend.size}, same as "
                "size of the process group."
            )
        _check_places("scatter", [tensor] * backend.size, inputs, backend.size)
    return _finish(backend.scatter(tensor, inputs, root), async_op, [tensor])


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
    return _finish(backend.reduce_scatter(output, input_list, op), async_op, [output])


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
    if input.numel() != output.numel() * backend.size:
        sizes = f"{_sizes(input)} for {backend.size} times {_sizes(output)}"
        raise ValueError(f"input tensor must be the same size as output size times world size: got {sizes}")
    inputs = _parts(input, backend.size, output.shape)
    return _finish(backend.reduce_scatter(output, inputs, op), async_op, [output])


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
        _entered("all_to_all", group)
        return None
    _check_tensors(output_tensor_list, "output_tensor_list")
    _check_tensors(input_tensor_list, "input_tensor_list")
    _check_dtypes(*output_tensor_list, *input_tensor_list)
    backend = resolved(group)._collectives
    _check_exchange("all_to_all", output_tensor_list, input_tensor_list, backend)
    return _finish(backend.all_to_all(output_tensor_list, input_tensor_list), async_op, output_tensor_list)


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
        _entered("all_to_all_single", group)
        return None
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    _check_dtypes(output, input)
    backend = resolved(group)._collectives
    outputs = _split(output, output_split_sizes, backend.size)
    inputs = _split(input, input_split_sizes, backend.size)
    _check_exchange("all_to_all_single", outputs, inputs, backend)
    return _finish(backend.all_to_all(outputs, inputs), async_op, [output])


def _check_exchange(name: str, outputs: Sequence[Tensor], inputs: Sequence[Tensor], backend: Collectives) -> None:
    """Whether there is a tensor for each process, and that for this one has the size of what it gets."""
    if len(outputs) != backend.size:
        raise RuntimeError(
            f"{name}: invalid output tensor list at index 0 (expected length {backend.size}, got {len(outputs)})"
        )
    if len(inputs) != backend.size:
        raise RuntimeError("invalid input tensor list size, must be world size")
    rank = backend.rank
    if outputs[rank].numel() != inputs[rank].numel():
        sizes = f"expected {_sizes(inputs[rank])}, got {_sizes(outputs[rank])}"
        raise RuntimeError(f"{name}: invalid tensor size at index {rank} ({sizes})")


def _split(tensor: Tensor, sizes: list[int] | None, count: int) -> list[Tensor]:
    if not sizes:
        return _parts(tensor, count)
    if len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != tensor.shape[0]:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return list(tensor.detach().split(sizes))


def barrier(group: Group = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None) -> Work | None:
    """Return when all processes are here.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.barrier()
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("barrier", group)) is None:
        return None
    return _finish(backend.barrier(seconds(timeout)), async_op)


def monitored_barrier(group: Group = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """`barrier`, which would say who is late.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.monitored_barrier()
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("monitored_barrier", group)) is not None:
        _finish(backend.barrier(seconds(timeout)), False)
