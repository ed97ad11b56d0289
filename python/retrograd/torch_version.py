"""Version numbers that compare as such, with strings and tuples."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import eq, ge, gt, le, lt
from typing import Any

__all__ = ["TorchVersion"]

_FORM = re.compile(r"\s*v?(\d+(?:\.\d+)*)[-_.]?(?:(a|b|rc|dev|alpha|beta)[-_.]?(\d*))?(?:\.dev\d+)?(?:\+([\w.]+))?\s*")
_STAGES = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "rc": 3, None: 4}


class TorchVersion(str):
    """A version as a string, compared by its numbers: 2.13 is later than 2.4.

    >>> from retrograd.torch_version import TorchVersion
    >>> version = TorchVersion("2.13.0+retrograd")
    >>> version > "2.4", version >= (2, 13), version == "2.13.0", version.split("+")[0]
    (True, True, False, '2.13.0')
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return _compare(self, other, eq)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return _compare(self, other, lt)

    def __le__(self, other: Any) -> bool:
        return _compare(self, other, le)

    def __gt__(self, other: Any) -> bool:
        return _compare(self, other, gt)

    def __ge__(self, other: Any) -> bool:
        return _compare(self, other, ge)


def _compare(version: str, other: object, by: Callable[[Any, Any], bool]) -> bool:
    """Compares as versions where both are versions, and as strings else."""
    text = ".".join(map(str, other)) if isinstance(other, tuple | list) else other
    if not isinstance(text, str):
        return by(str(version), text)
    keys = _key(version), _key(text)
    return by(str(version), str(text)) if None in keys else by(*keys)


def _key(text: str) -> tuple[Any, ...] | None:
    """What versions are ordered by: their numbers, their stage before the release, and what is local to the build."""
    match = _FORM.fullmatch(text.lower())
    if match is None:
        return None
    numbers, stage, count, local = match.groups()
    release = [int(n) for n in numbers.split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    return tuple(release), _STAGES[stage], int(count or 0), local or ""
