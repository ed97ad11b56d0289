"""Collectives of Python objects, which are pickled on the way."""

from __future__ import annotations

from typing import Any

from retrograd.distributed._calls import Group, _check_given, _check_root, _entered, _root

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"]


def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Write copies of the objects of all processes, by rank, into the list of each.

    >>> rg.distributed.init_process_group("gloo")
    >>> outputs = [None]
    >>> rg.distributed.all_gather_object(outputs, {"loss": 1.0})
    >>> outputs
    [{'loss': 1.0}]
    >>> rg.distributed.destroy_process_group()
    """
    if (backend := _entered("all_gather_object", group)) is not None:
        for index, value in enumerate(backend.all_gather_object(obj)):
            object_list[index] = value


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
    values = backend.all_gather_object(obj)
    if object_gather_list is not None:
        for index, value in enumerate(values):
            object_gather_list[index] = value


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
    values = backend.all_gather_object(object_list if backend.rank == root else None)
    if backend.rank != root:
        object_list[:] = values[root]


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
    if backend.rank == root and scatter_object_input_list is None:
        raise ValueError("source rank must provide non-None scatter_object_input_list")
    values = backend.all_gather_object(scatter_object_input_list)
    scatter_object_output_list[0] = values[root][backend.rank]
