"""Errors that all processes raise if one does, so that none waits for one that is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from retrograd.distributed._groups import ProcessGroup, get_global_rank, is_initialized, resolved
from retrograd.distributed._objects import all_gather_object

T = TypeVar("T")


def group_of(group: ProcessGroup | None) -> ProcessGroup | None:
    """The group, or the default one; None if there is none: then this process is alone."""
    return resolved(group) if group is not None or is_initialized() else None


def shared(value: T, group: ProcessGroup | None) -> list[T]:
    """The values of all processes, by rank."""
    if group is None or group.size() == 1:
        return [value]
    values: list[Any] = [None] * group.size()
    all_gather_object(values, value, group)
    return values


def together(what: str, call: Callable[[], T], group: ProcessGroup | None) -> T:
    """What `call` returns here, if it raises in no process.

    Raises: the error of this process, or RuntimeError that tells the one of another.
    """
    error: Exception | None = None
    try:
        result = call()
    except Exception as e:
        error = e
    told = shared("" if error is None else f"{type(error).__name__}: {error}", group)
    if error is not None:
        raise error
    for rank, text in enumerate(told):
        if text:
            assert group is not None
            raise RuntimeError(f"{what} failed on rank {get_global_rank(group, rank)}: {text}")
    return result
