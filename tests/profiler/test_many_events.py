"""Lists of many events: time grows with their number, and memory is what an event needs."""

from __future__ import annotations

import json
import time
import tracemalloc

from retrograd.autograd._profiler.trace import TraceRow, write_trace
from retrograd.autograd.profiler_util import EventList, FunctionEvent

COUNT = 100_000
LIMIT = 6.0  # seconds, where a million may take 20; one takes 1 second, and where many tests run at once that grows
NAMES = [f"aten::op_{i}" for i in range(50)]


def made(count=COUNT):
    """Calls of ops, four deep, as a session gives them."""
    return EventList(
        FunctionEvent(
            i + 1, NAMES[(i // 4 + i % 4) % 50], 1, i // 4 * 10 + i % 4 * 0.5, i // 4 * 10 + 9.0 - i % 4,
            overload_name="", fwd_thread=0, input_shapes=[], stack=[], sequence_nr=i // 4, flops=0, concrete_inputs=[],
        )
        for i in range(count)
    )  # fmt: skip


def took(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_a_tree_averages_and_a_table_take_little_time():
    events = made()
    assert took(events._build_tree) + took(lambda: events.key_averages().table(sort_by="self_cpu_time_total")) < LIMIT
    assert events.self_cpu_time_total == COUNT / 4 * 9
    assert sum(average.count for average in events.key_averages()) == COUNT
    assert took(lambda: events.table()) + took(events.total_average) < LIMIT


def test_one_event_that_holds_all_others_costs_no_more():
    events = EventList(FunctionEvent(i, f"n{i}", 1, i, 2 * COUNT if i == 0 else i + 0.5) for i in range(COUNT))
    events._build_tree()
    assert len(events[0].cpu_children) == COUNT - 1
    assert took(lambda: events.table(sort_by="self_cpu_percent")) < LIMIT


def test_an_event_takes_less_than_900_bytes():
    tracemalloc.start()
    try:
        events = made(10_000)
        events._build_tree()
        each = tracemalloc.get_traced_memory()[0] / len(events)
    finally:
        tracemalloc.stop()
    # 208 for what has a slot, 430 for lists, most of them empty, the interval and numbers. From Python 3.11 on there is
    # also room for every attribute without a slot that some event had before, which is at most 200.
    assert each < 900


def test_a_trace_is_written_piece_by_piece(tmp_path):
    rows = [TraceRow(NAMES[i % 50], 1, i * 1000, 900, sequence_nr=i) for i in range(5_000)]
    path = tmp_path / "trace.json"
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        write_trace(path, rows)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    # What tells forward events by their numbers grows with them; the text is longer.
    assert peak < path.stat().st_size
    assert len(json.loads(path.read_text())["traceEvents"]) == 5_000 + 5
