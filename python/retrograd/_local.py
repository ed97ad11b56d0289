"""What is local to a thread, and goes with a program that continues on another one."""

from __future__ import annotations

from _thread import _local
from typing import Any, TypeVar

_T = TypeVar("_T", bound=_local)

_all: list[_local] = []


def carried(local: _T) -> _T:
    """Copy the attributes of this object when a deeply nested backward pass continues on another thread."""
    _all.append(local)
    return local


def known() -> list[dict[str, Any]]:
    """What this thread knows."""
    return [vars(local).copy() for local in _all]


def know(attributes: list[dict[str, Any]]) -> None:
    """Let this thread know what another one knew."""
    for local, known in zip(_all, attributes, strict=False):
        vars(local).update(known)
