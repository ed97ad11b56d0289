"""Events from the SQLite files of nvprof, and the names in them."""

from __future__ import annotations

import ctypes
import functools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from retrograd._files import Path as AnyPath
from retrograd.autograd._profiler.events import FunctionEvent
from retrograd.autograd._profiler.lists import EventList

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["EnforceUnique", "StringTable", "load_nvprof", "parse_nvprof_trace"]

# What nvprof calls the launch of a kernel.
_LAUNCH = 211


class EnforceUnique:
    """Raises an error if a key is seen twice.

    >>> unique = rg.autograd.profiler.EnforceUnique()
    >>> unique.see(1, 2)
    >>> unique.see(1, 2)
    Traceback (most recent call last):
    RuntimeError: duplicate key: (1, 2)
    """

    def __init__(self) -> None:
        self.seen: set[tuple[Hashable, ...]] = set()

    def see(self, *key: Hashable) -> None:
        """Remember a key.

        Raises: RuntimeError if it was seen before.
        """
        if key in self.seen:
            raise RuntimeError(f"duplicate key: {key}")
        self.seen.add(key)


class StringTable(defaultdict[str, str]):
    """Readable names by the names that a C++ compiler makes. One that is missing is found out, and kept.

    >>> names = rg.autograd.profiler_util.StringTable()
    >>> names["sgemm"]
    'sgemm'
    """

    def __missing__(self, key: str) -> str:
        # A name of one letter would be taken for a type.
        name = self[key] = demangled(key) if len(key) > 1 else key
        return name


def demangled(name: str) -> str:
    """The C++ name that a symbol stands for; the symbol where it stands for none, or nobody here can tell."""
    demangle = _demangler() if name.startswith("_Z") else None
    return name if demangle is None else demangle(name)


@functools.cache
def _demangler() -> Callable[[str], str] | None:
    """That of the C++ runtime, if there is one."""
    for library in (None, "libstdc++.so.6", "libc++abi.so.1", "libc++abi.dylib"):
        try:
            return _demangler_of(ctypes.CDLL(library))
        except (OSError, AttributeError, TypeError):  # TypeError: Windows has no library without a name
            continue
    return None


def _demangler_of(library: ctypes.CDLL) -> Callable[[str], str]:
    demangle, free = library.__cxa_demangle, library.free
    demangle.restype, demangle.argtypes = ctypes.c_void_p, [ctypes.c_char_p] + [ctypes.c_void_p] * 3
    free.restype, free.argtypes = None, [ctypes.c_void_p]

    def demangled(name: str) -> str:
        text = demangle(name.encode(), None, None, None)  # allocated for us, or null for what is no symbol
        if not text:
            return name
        try:
            return ctypes.string_at(text).decode()
        finally:
            free(text)

    return demangled


class _Launch(NamedTuple):
    start: int
    end: int
    id: int
    cbid: int
    correlation: int


def load_nvprof(path: AnyPath) -> EventList:
    """The ranges that nvprof noted in a file, with the kernels that were launched in each, as an `EventList`.

    Args: `path` an SQLite file that nvprof wrote. It is only read.
    Raises: what `sqlite3` raises for a file that is missing or another one; RuntimeError for a marker that is there
    twice; AssertionError for a call of the CUDA runtime that launches a kernel and is not known to do so.

    >>> rg.autograd.profiler.load_nvprof("no such file")
    Traceback (most recent call last):
    sqlite3.OperationalError: unable to open database file
    """
    return EventList(parse_nvprof_trace(path))


def parse_nvprof_trace(path: AnyPath) -> list[FunctionEvent]:
    """The same as `load_nvprof`, as a list of events, in order of start.

    >>> rg.autograd.profiler.parse_nvprof_trace("no such file")
    Traceback (most recent call last):
    sqlite3.OperationalError: unable to open database file
    """
    import sqlite3  # not every Python has it

    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as file:
        names = _names(file)
        events = _ranges(file, names)
        _append_kernels(file, names, events)
    return events


def _names(file: Connection) -> dict[int, str]:
    readable = StringTable()
    return {id: readable[value] for id, value in file.execute("SELECT _id_, value FROM StringTable")}


def _ranges(file: Connection, names: dict[int, str]) -> list[FunctionEvent]:
    """An event per pair of markers, one that opens a range and one that closes it, in order of start."""
    unique = EnforceUnique()
    events = []
    for id, name, start, end in file.execute(
        """
        SELECT opened.id, opened.name, opened.timestamp, closed.timestamp
        FROM CUPTI_ACTIVITY_KIND_MARKER AS opened
        JOIN CUPTI_ACTIVITY_KIND_MARKER AS closed ON opened.id = closed.id
        WHERE opened.name != 0 AND closed.name = 0
        """
    ):
        unique.see(id)
        events.append(FunctionEvent(id, names.get(name, str(name)), 0, start, end, node_id=0))
    events.sort(key=lambda event: event.time_range.start)
    return events


def _append_kernels(file: Connection, names: dict[int, str], events: list[FunctionEvent]) -> None:
    """Give every range the kernels that were launched strictly inside it."""
    kernels = defaultdict(list)
    for start, end, name, correlation in file.execute(
        'SELECT start, "end", name, correlationId FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ORDER BY start'
    ):
        kernels[correlation].append((names.get(name, name), end - start))
    rows = file.execute('SELECT start, "end", _id_, cbid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME')
    launches = sorted(launch for launch in map(_Launch._make, rows) if launch.correlation in kernels)
    starts = [launch.start for launch in launches]
    unique = EnforceUnique()
    for event in events:
        span = event.time_range
        for i in range(bisect_right(starts, span.start), len(launches)):
            launch = launches[i]
            if launch.start >= span.end:
                break
            if launch.end >= span.end:
                continue
            for name, duration in kernels[launch.correlation]:
                unique.see(event.id, launch.id)
                if launch.cbid != _LAUNCH:
                    raise AssertionError(f"Expected cbid to be {_LAUNCH}, but got {launch.cbid}")
                event.append_kernel(name, 0, duration)
