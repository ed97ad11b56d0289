"""Tables of events: what `test_answers.py` does not compare with PyTorch."""

from __future__ import annotations

import pytest

from retrograd.autograd.profiler_util import EventList, FunctionEvent


def listed(*rows, **flags):
    """Events from (name, start, end, given)."""
    return EventList(
        (FunctionEvent(i, name, 1, start, end, **given) for i, (name, start, end, given) in enumerate(rows, 1)), **flags
    )


SAMPLE = listed(("mul", 10, 60, {}), ("foo()", 100, 200, {}))


def test_the_sample():
    assert [line + "\n" for line in SAMPLE.table().splitlines()] == [
        "---------  ------------  ------------  ------------  ------------  ------------  ------------  \n",
        "     Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n",
        "---------  ------------  ------------  ------------  ------------  ------------  ------------  \n",
        "      mul        33.33%      50.000us        33.33%      50.000us      50.000us             1  \n",
        "    foo()        66.67%     100.000us        66.67%     100.000us     100.000us             1  \n",
        "---------  ------------  ------------  ------------  ------------  ------------  ------------  \n",
        "Self CPU time total: 150.000us\n",
    ]
    assert str(SAMPLE) == SAMPLE.table() and SAMPLE.table().endswith("us\n")


def names(text):
    """The first cell of each row."""
    return [line.split()[0] for line in text.splitlines()[3:-2]]


def test_which_rows_are_shown_and_in_which_order():
    assert names(SAMPLE.table(sort_by="cpu_time_total")) == ["foo()", "mul"]
    assert names(SAMPLE.table(sort_by="cuda_time_total")) == names(SAMPLE.table(sort_by="self_xpu_time_total"))
    assert names(SAMPLE.table(row_limit=1)) == ["mul"]
    for limit in (-1, -5, None, 2, 100):
        assert names(SAMPLE.table(row_limit=limit)) == ["mul", "foo()"]
    with pytest.raises(AttributeError, match="has no attribute 'zz'"):
        SAMPLE.table(sort_by="zz")
    nested = listed(("a", 0, 10, {}), ("b", 1, 2, {}))
    nested._build_tree()
    assert names(nested.table(top_level_events_only=True).split("\n", 2)[2]) == ["a"]


def test_no_events_make_no_table():
    assert EventList().table() == str(EventList()) == ""


def test_tables_set_the_percents_of_the_rows_shown():
    events = listed(("a", 0, 10, {}), ("b", 20, 50, {"is_async": True}), ("c", 60, 90, {}))
    events.table(row_limit=2)
    assert [(e.self_cpu_percent, e.total_cpu_percent) for e in events] == [("25.00%", "25.00%"), ("0.00%", 0), (-1, -1)]


def test_stacks_and_flops_stand_under_their_titles():
    """PyTorch takes one for the other where both are shown."""
    events = listed(("mm", 0, 10, {"stack": ["some.py(1): f", "some.py(9): g"], "flops": 12_000}), with_flops=True)
    titles, _, row, frame, blank = events.table().splitlines()[1:6]
    at, flops_at = titles.index("Source Location"), titles.index("Total KFLOPs")
    assert row[at : at + 17] == "some.py(1): f    " and row[flops_at : flops_at + 12] == "      12.000"
    assert frame.strip() == "some.py(9): g" and frame.index("some.py") == at
    assert blank == " " * len(row)


def test_flops_and_memory_together():
    """PyTorch raises a TypeError for events of memory, which have no FLOPs."""
    events = listed(
        ("mm", 0, 10, {"flops": 3_000_000, "cpu_memory_usage": 4000}),
        ("[memory]", 20, 20, {"flops": None, "cpu_memory_usage": -13_600}),
        with_flops=True,
        profile_memory=True,
    )
    text = events.table()
    assert "Total MFLOPs" in text and "3.000  \n" in text and "--  \n" in text and "-13.28 KB" in text


@pytest.mark.parametrize(
    ("flops", "title"),
    [(1, "FLOPs"), (999, "FLOPs"), (1001, "KFLOPs"), (3e9, "GFLOPs"), (4e12, "TFLOPs"), (6e19, "PFLOPs")],
)  # fmt: skip
def test_flops_are_scaled_by_the_smallest(flops, title):
    events = listed(
        ("a", 0, 1, {"flops": flops}), ("b", 1, 2, {"flops": flops * 1e6}), ("c", 2, 3, {}), with_flops=True
    )
    assert f" Total {title}  \n" in events.table()


def test_shapes_are_cut_and_names_shortened():
    events = listed(("n" * 60, 0, 1, {"input_shapes": [[7] * 50]}))
    titles, _, row = events.table().splitlines()[1:4]
    assert row.startswith("n" * 52 + "...  ")
    assert row.endswith("  " + str([[7] * 50])[:80] + "  ") and len(row) == len(titles)
