"""A session, and what it noted: events, rows of traces, places in the program."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from retrograd import _core
from retrograd.autograd._profiler import arguments
from retrograd.autograd._profiler.arguments import Arguments
from retrograd.autograd._profiler.events import BACKWARD, FORWARD, LABEL, FunctionEvent
from retrograd.autograd._profiler.lists import EventList
from retrograd.autograd._profiler.places import Place, shown_path
from retrograd.autograd._profiler.spans import Spans
from retrograd.autograd._profiler.trace import MemoryChange, TraceRow

_SCOPES = {"rule": BACKWARD, "label": LABEL}
_STEPS = "ProfilerStep*"  # what all steps are called outside of traces, so that they add up
_AT_ONCE = 1 << 14  # events that are taken from the session at once
_NOTHING = Arguments([], [], [], [])


class Session:
    """What a profile notes, from its beginning until `close`.

    Args: `shapes` the arguments of ops; `memory` what is allocated and released; `stacks` the user's frames of every
    call; `flops` the FLOPs of ops.
    Raises: RuntimeError if a session is open on this thread.
    """

    def __init__(self, *, shapes: bool, memory: bool, stacks: bool, flops: bool) -> None:
        self.shapes, self.memory, self.stacks, self.flops = shapes, memory, stacks, flops
        self.tid = threading.get_native_id()
        self.ended = False
        self._recording: Any = None
        _core._profiler_open(shapes, memory, stacks)

    def close(self) -> None:
        """End the session; what has not ended ends now. Does nothing in a forked process, which has no session."""
        self._recording = _core._profiler_close()
        self.ended = True

    @property
    def thread(self) -> int:
        """The small number of the thread that the session was opened on."""
        return 0 if self._recording is None else int(self._recording.frame[0])

    @property
    def times(self) -> tuple[int, int]:
        """When the session began and ended, in nanoseconds of a monotonic clock."""
        return (0, 0) if self._recording is None else self._recording.frame[2:]

    def records(self) -> Iterator[tuple[Any, ...]]:
        """The events as the core noted them, in order of start."""
        for start in range(0, 0 if self._recording is None else len(self._recording), _AT_ONCE):
            yield from self._recording.events(start, _AT_ONCE)

    def changes(self) -> list[tuple[int, int, int, int, int, Place | None]]:
        """What was allocated and released: time, bytes, bytes in all, address, index of the event, place."""
        return [] if self._recording is None else self._recording.changes()

    def events(self) -> EventList:
        """The events with their tree, in order of start."""
        made = EventList(profile_memory=self.memory, with_flops=self.flops)
        with _without_collections():
            self._add_events(made)
        return made

    def _add_events(self, made: EventList) -> None:
        if self._recording is None:
            made._build_tree()
            return
        thread, number, begin, _ = self._recording.frame
        for name, kind, (start, end), sequence_nr, fwd_thread, ended_on, size, _, noted, stack, _ in self.records():
            given = self._arguments(name, noted)
            event = FunctionEvent(
                number,
                _STEPS if kind == "label" and name.startswith("ProfilerStep#") else name,
                thread,
                (start - begin) / 1000,
                (end - begin) / 1000,
                overload_name="",
                fwd_thread=fwd_thread,
                input_shapes=list(given.shapes),
                stack=[_frame(place) for place in stack if place is not None] if stack else [],
                scope=_SCOPES.get(kind, FORWARD),
                cpu_memory_usage=size,
                sequence_nr=sequence_nr,
                flops=_flops(name, given) if self.flops else 0,
                trace_name=name,
                concrete_inputs=list(given.values),
                is_user_annotation=kind == "label",
            )
            if ended_on:
                event.is_async = True
            made.append(event)
            number += 1
        made._populate_cpu_children()
        if self.memory:
            _include_children(made)
        made._finish_tree()

    @cached_property
    def spans(self) -> Spans:
        """The events in columns, which pictures and sums by line are made from."""
        return Spans(self.records(), self.thread)

    def rows(self) -> list[TraceRow]:
        """What a trace of the whole session says, in order of start."""
        rows = [
            TraceRow(
                name,
                self.thread,
                start,
                end - start,
                scope=_SCOPES.get(kind, FORWARD),
                sequence_nr=sequence_nr,
                fwd_thread=fwd_thread,
                is_user_annotation=kind == "label",
                args=args,
                shapes=given.shapes,
                strides=given.strides,
                dtypes=given.dtypes,
                concrete_inputs=given.values,
                stack=[_frame(place) for place in stack if place is not None],
            )
            for name, kind, (start, end), sequence_nr, fwd_thread, _, _, _, noted, stack, args in self.records()
            if kind != "memory"
            for given in [self._arguments(name, noted)]
        ]
        rows += [
            TraceRow("[memory]", self.thread, at, memory=MemoryChange(size, total, address))
            for at, size, total, address, _, _ in self.changes()
        ]
        rows.sort(key=lambda row: row.start_ns)
        return rows

    @cached_property
    def tids(self) -> dict[int, int]:
        """The system's number of the session's thread, by its small number."""
        return {self.thread: self.tid}

    def _arguments(self, name: str, noted: list[arguments.Noted]) -> Arguments:
        return arguments.arguments(name.removeprefix("aten::"), noted) if noted else _NOTHING


@contextmanager
def _without_collections() -> Iterator[None]:
    """The cycle collector would go through all events again and again while they are made."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _flops(name: str, given: Arguments) -> int:
    return arguments.flops(name.removeprefix("aten::"), given) if name.startswith("aten::") and given.shapes else 0


def _include_children(events: EventList) -> None:
    """Bytes of an event become those of its children too. The events are in order of start, parents first."""
    for event in reversed(events):
        if event.cpu_parent is not None:
            event.cpu_parent.cpu_memory_usage += event.cpu_memory_usage


def _frame(place: Place) -> str:
    file, line, function, _ = place
    return f"{shown_path(file)}({line}): {function.rpartition('.')[2]}"


class Ranges:
    """A session that keeps nothing: `push` and `pop` are told of every event as it begins and ends.

    Raises: RuntimeError if a session is open on this thread.
    """

    def __init__(self, push: Callable[[str], object], pop: Callable[[], object], *, shapes: bool) -> None:
        _core._profiler_open_ranges(shapes, push, pop)

    def close(self) -> None:
        """End the session."""
        _core._profiler_close()
