"""Which event holds which: nesting by time, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from retrograd.autograd._profiler.events import BACKWARD, FORWARD, DeviceType, FunctionEvent


def nest(events: Iterable[FunctionEvent]) -> None:
    """Give every event its parent and its children, by their times. O(n log n).

    Events nest within a thread of a node; those that are async, or not on the CPU, do not take part.
    """
    placed = [event for event in events if not event.is_async and event.device_type is DeviceType.CPU]
    placed.sort(key=lambda e: (e.thread, e.node_id, e.time_range.start, -e.time_range.end))
    for _, together in groupby(placed, key=lambda e: (e.thread, e.node_id)):
        around: list[FunctionEvent] = []  # the events that are open, the innermost last
        for event in together:
            span = event.time_range
            start, end = span.start, span.end
            while around:
                last = around[-1].time_range.end
                if start < last and end <= last:
                    break
                around.pop()
            if around:
                parent = around[-1]
                if event.cpu_parent is not None:
                    raise AssertionError(f"There is already a CPU parent event for {event.key}")
                parent.cpu_children.append(event)
                event.cpu_parent = parent
            around.append(event)


def merged(events: Iterable[FunctionEvent]) -> list[FunctionEvent]:
    """The events without those that are the only child of one of the same name; their children become its.

    How many siblings an event has, and the name of its parent, are not changed by that, so one pass finds them all. It
    is O(n) where parents come before children.
    """
    kept = []
    for event in events:
        parent = event.cpu_parent
        if parent is not None and parent.name == event.name and len(parent.cpu_children) == 1:
            children = parent.cpu_children = event.cpu_children
            for child in children:
                child.cpu_parent = parent
        else:
            kept.append(event)
    return kept


def set_backward_stacks(events: Sequence[FunctionEvent]) -> None:
    """Give the rule of a node, and all that it holds, the stack of the forward event that made the node.

    That is the last forward event before it, so the innermost, with the number of the node and its thread. A rule
    without one has no stack. Does nothing where no event has a stack. The events are in order of start.
    """
    if not any(event.stack for event in events):
        return
    forward: dict[tuple[int | None, int], list[str] | None] = {}
    for event in events:
        if event.scope == BACKWARD:
            stack = forward.get((event.fwd_thread, event.sequence_nr)) or []
            inside = [event]
            while inside:
                one = inside.pop()
                one.stack = stack
                inside += [child for child in one.cpu_children if child.scope != BACKWARD]
        elif event.scope == FORWARD and event.sequence_nr >= 0 and not event.fwd_thread:
            forward[event.thread, event.sequence_nr] = event.stack
