"""Collectives of Python objects, which are pickled on the way: they travel as tensors of bytes."""

from __future__ import annotations

import pickle
from typing import Any

import retrograd as rg
from retrograd._core import Tensor
from retrograd.distributed._calls import Group, _check_given, _check_root, _entered, _finish, _root
from retrograd.distributed._messages import recv, send

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]


class _Bytes:
    """A number of bytes, and the tensor that shares their memory."""

    def __init__(self, content: bytes | int) -> None:
        self.memory = bytearray(content)
        self.tensor = rg.frombuffer(self.memory, dtype=rg.uint8)

    def load(self) -> Any:
        return pickle.loads(self.memory)


def _pickled(value: Any) -> _Bytes:
    return _Bytes(pickle.dumps(value))


def _count(of: _Bytes | None = None) -> Tensor:
    return rg.tensor([0 if of is None else len(of.memory)])


def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Write copies of the objects of all processes, by rank, into the list of each.

    Objects are unpickled, which runs code of the sender: all processes have to be trusted.

    >>> rg.distributed.init_process_group("gloo")
    >>> outputs = [None]
    >>> rg.distributed.all_gather_object(outputs, {"loss": 1.0})
    >>> outputs
    [{'loss': 1.0}]
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("all_gather_object", group)) is None:
        return
    given, counts = _pickled(obj), [_count() for _ in range(backend.size)]
    _finish(backend.all_gather(counts, _count(given)), False)
    taken = [_Bytes(int(count.item())) for count in counts]
    _finish(backend.all_gather([each.tensor for each in taken], given.tensor), False)
    for index, each in enumerate(taken):
        object_list[index] = each.load()


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Group = None,
    group_dst: int | None = None,
) -> None:
    """Write copies of the objects of all processes, by rank, into the list of the process `dst`, 0 unless told.

    >>> rg.distributed.init_process_group("gloo")
    >>> outputs = [None]
    >>> rg.distributed.gather_object("a", outputs)
    >>> outputs
    ['a']
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("gather_object", group)) is None:
        return
    root = _root(group, dst, group_dst, 0)
    _check_given(backend.rank == root, object_gather_list, "gather_list", "destination")
    _check_root("gather_object", root, backend)
    given = _pickled(obj)
    counts = [_count() for _ in range(backend.size)] if backend.rank == root else []
    _finish(backend.gather(counts, _count(given), root), False)
    taken = [_Bytes(int(count.item())) for count in counts]
    _finish(backend.gather([each.tensor for each in taken], given.tensor, root), False)
    if object_gather_list is not None:
        for index, each in enumerate(taken):
            object_gather_list[index] = each.load()


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Group = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Write copies of the objects of the process `src`, 0 unless told, into the lists of the others.

    >>> rg.distributed.init_process_group("gloo")
    >>> rg.distributed.broadcast_object_list(["a", 1])
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("broadcast_object_list", group)) is None:
        return
    root = _root(group, src, group_src, 0)
    _check_root("broadcast_object_list", root, backend)
    here = backend.rank == root
    content = _pickled(object_list) if here else None
    count = _count(content)
    _finish(backend.broadcast(count, root), False)
    content = content or _Bytes(int(count.item()))
    _finish(backend.broadcast(content.tensor, root), False)
    if not here:
        object_list[:] = content.load()


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Group = None,
    group_src: int | None = None,
) -> None:
    """Write, as the first item of the list of each process, a copy of the object that the process `src` has for it.

    >>> rg.distributed.init_process_group("gloo")
    >>> output = [None]
    >>> rg.distributed.scatter_object_list(output, ["a"])
    >>> output
    ['a']
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("scatter_object_list", group)) is None:
        return
    root = _root(group, src, group_src, 0)
    _check_root("scatter_object_list", root, backend)
    if len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    given: list[_Bytes] = []
    if backend.rank == root:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        if len(scatter_object_input_list) != backend.size:
            raise ValueError(
                f"scatter_object_input_list has {len(scatter_object_input_list)} objects for {backend.size} process(es)"
            )
        given = [_pickled(value) for value in scatter_object_input_list]
    count = _count()
    _finish(backend.scatter(count, [_count(each) for each in given], root), False)
    taken = _Bytes(int(count.item()))
    _finish(backend.scatter(taken.tensor, [each.tensor for each in given], root), False)
    scatter_object_output_list[0] = taken.load()


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Group = None,
    device: Any = None,
    group_dst: int | None = None,
) -> None:
    """Send copies of objects to the process `dst`, which calls `recv_object_list`.

    Raises: as `send`.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.send_object_list(["a"], 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: send has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    content = _pickled(object_list)
    send(_count(content), dst, group, group_dst=group_dst)
    send(content.tensor, dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Group = None,
    device: Any = None,
    group_src: int | None = None,
) -> int:
    """Write copies of the objects that the process `src`, any for None, sends into the list.

    Returns: the rank of the process that sent them, -1 outside of the group.
    Raises: as `recv`; ValueError if the sender has another number of objects.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.recv_object_list([None], 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: recv has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    count = _count()
    rank = recv(count, src, group, group_src=group_src)
    if rank == -1:
        return rank
    content = _Bytes(int(count.item()))
    recv(content.tensor, rank, group)  # by its rank in the world, whoever it is
    values = content.load()
    if len(values) != len(object_list):
        raise ValueError(f"recv_object_list: {len(values)} objects were sent, and the list has {len(object_list)}")
    object_list[:] = values
    return rank
