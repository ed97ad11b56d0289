"""Which event holds which."""

from __future__ import annotations

import random

import pytest

from retrograd.autograd import DeviceType
from retrograd.autograd.profiler_util import EventList, FunctionEvent


def made(*spans, **given):
    """Events from (start, end), (start, end, name) or (start, end, name, thread), with ids from 1."""
    listed = []
    for i, (start, end, *rest) in enumerate(spans, 1):
        name, thread = [*rest, *(f"n{i}", 1)[len(rest) :]]
        listed.append(FunctionEvent(i, name, thread, start, end, **given))
    return EventList(listed)


def children(events):
    return {e.id: [child.id for child in e.cpu_children] for e in events if e.cpu_children}


def nested(*spans):
    events = made(*spans)
    events._populate_cpu_children()
    for event in events:
        assert all(child.cpu_parent is event for child in event.cpu_children)
    return children(events)


def test_events_nest_by_time():
    assert nested((0, 10), (1, 4), (2, 3), (4, 6), (5, 12), (11, 12)) == {1: [2, 4], 2: [3], 5: [6]}
    assert nested((0, 2), (1, 3), (1, 2)) == {2: [3]}
    assert nested((0, 10, "a", 1), (1, 2, "b", 2), (3, 4, "c", 1)) == {1: [3]}
    assert nested((3, 4), (0, 10), (1, 5)) == {2: [3], 3: [1]}  # in any order
    assert nested((0, 10), (0, 10), (0, 12)) == {3: [1], 1: [2]}
    assert nested((5, 5), (0, 5), (5, 9)) == {3: [1]}  # what has no duration is in what begins with it


def test_what_is_async_or_elsewhere_does_not_nest():
    events = made((0, 10), (1, 9), (2, 8), (3, 7))
    events[1].is_async = True
    events[2].device_type = DeviceType.CUDA
    events[3].node_id = 2
    events._populate_cpu_children()
    assert children(events) == {}


def test_nesting_twice_is_an_error():
    events = made((0, 4), (1, 2))
    events._populate_cpu_children()
    with pytest.raises(AssertionError, match="There is already a CPU parent event for n2"):
        events._populate_cpu_children()


def by_definition(spans):
    """The rule of nesting, with a list of all open events that nothing leaves but by the rule."""
    parents = {}
    open_events = []
    for start, neg_end, i in sorted((start, -end, i) for i, (start, end) in enumerate(spans, 1)):
        end = -neg_end
        while open_events and (open_events[-1][1] < end or open_events[-1][1] <= start):
            open_events.pop()
        parents[i] = open_events[-1][0] if open_events else None
        open_events.append((i, end))
    return parents


@pytest.mark.parametrize("seed", range(30))
def test_random_lists_nest_by_the_rule(seed):
    chosen = random.Random(seed)
    spans = [(s := chosen.randrange(40), s + chosen.randrange(20)) for _ in range(chosen.randrange(40))]
    events = made(*spans)
    events._populate_cpu_children()
    assert {e.id: e.cpu_parent and e.cpu_parent.id for e in events} == by_definition(spans)


def test_an_only_child_of_the_same_name_is_merged():
    events = made((0, 10, "a"), (1, 9, "a"), (2, 8, "a"), (3, 4, "b"), (5, 6, "a"))
    events._build_tree()
    assert [e.id for e in events] == [1, 4, 5]
    assert children(events) == {1: [4, 5]}
    assert events[1].cpu_parent is events[0]
    assert events[0].self_cpu_time_total == 8
    events = made((0, 10, "a"), (1, 9, "b"), (2, 8, "b"))
    events._build_tree()
    assert [e.id for e in events] == [1, 2]


@pytest.mark.parametrize("reverse", [False, True])
def test_merging_finds_all_in_any_order(reverse):
    """Chains of one name, whose ends have several children: no pair of them is left."""
    events = made(
        *((i, 1000 - i, "ab"[i // 100 % 2]) for i in range(400)), *((450 + i, 451 + i, "a") for i in range(9))
    )
    if reverse:
        events.reverse()
    events._build_tree()
    assert sorted(e.id for e in events) == [1, 101, 201, 301, *range(401, 410)]
    assert children(events)[301] == list(range(401, 410))
    assert all(e.cpu_parent in events for e in events if e.id > 1)


def test_deep_nesting_takes_no_stack():
    events = made(*((i, 200_000 - i) for i in range(50_000)))
    events._build_tree()
    assert events[-1].cpu_parent is events[-2]
    assert events.self_cpu_time_total == 200_000
    assert events.key_averages().table(row_limit=1)


def step(*rows):
    """A list from (name, start, end, scope, sequence_nr, fwd_thread, stack)."""
    keys = ("scope", "sequence_nr", "fwd_thread", "stack")
    listed = EventList(
        FunctionEvent(i, name, 1, start, end, **dict(zip(keys, rest, strict=True)))
        for i, (name, start, end, *rest) in enumerate(rows, 1)
    )
    listed._build_tree()
    return {event.name: event.stack for event in listed}


def test_the_rule_of_a_node_has_the_stack_of_its_op():
    stacks = step(
        ("matmul", 0, 10, 0, 3, 0, ["a"]),
        ("mm", 1, 9, 0, 3, 0, ["b"]),
        ("outer", 20, 40, 0, 3, 1, ["c"]),
        ("rule", 21, 30, 1, 3, 1, ["d"]),
        ("in rule", 22, 29, 0, -1, 0, ["e"]),
        ("deeper", 23, 24, 0, -1, 0, ["f"]),
        ("of a hook", 31, 32, 0, -1, 0, ["c"]),
        ("accumulate", 50, 60, 1, -1, 0, ["g"]),
        ("in accumulate", 51, 52, 0, -1, 0, ["h"]),
        ("unknown", 70, 80, 1, 77, 1, ["i"]),
    )
    assert stacks == {
        "matmul": ["a"], "mm": ["b"], "outer": ["c"], "rule": ["b"], "in rule": ["b"], "deeper": ["b"],
        "of a hook": ["c"], "accumulate": [], "in accumulate": [], "unknown": [],
    }  # fmt: skip


def test_a_backward_within_a_rule_has_its_own_stacks():
    stacks = step(
        ("op", 0, 1, 0, 1, 0, ["a"]),
        ("other", 2, 3, 0, 2, 0, ["b"]),
        ("rule", 10, 20, 1, 1, 1, []),
        ("inner rule", 11, 15, 1, 2, 1, []),
        ("in inner", 12, 13, 0, -1, 0, []),
        ("late", 16, 17, 0, -1, 0, []),
    )
    assert [stacks[name] for name in ("rule", "inner rule", "in inner", "late")] == [["a"], ["b"], ["b"], ["a"]]


def test_without_stacks_nothing_is_set():
    assert step(("op", 0, 1, 0, 1, 0, None), ("rule", 2, 3, 1, 1, 1, None)) == {"op": None, "rule": None}
