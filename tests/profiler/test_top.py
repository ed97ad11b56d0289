"""Time by line: what belongs to which line, and that nothing is lost."""

import re
import threading

import pytest

import retrograd as rg
from retrograd import autograd
from retrograd.autograd._profiler.spans import Spans
from retrograd.autograd._profiler.top import SORTS, Top
from retrograd.autograd.profiler import profile, record_function
from retrograd.utils.checkpoint import checkpoint


class Double(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def by_text(top):
    return {row.text: row for row in top.rows}


def check(prof):
    """The sums are those of the events."""
    top = prof.top()
    assert top.total == pytest.approx(prof.self_cpu_time_total, abs=1e-6)
    assert sum(row.total for row in top.rows) == pytest.approx(top.total, abs=1e-6)
    assert sum(row.share for row in top.rows) == pytest.approx(1)
    for row in top.rows:
        assert row.total == pytest.approx(row.forward + row.backward)
    memory = sum(event.self_cpu_memory_usage for event in prof.function_events)
    assert sum(row.memory for row in top.rows) == memory
    return top


def test_rules_count_for_the_line_of_the_op():
    x, w = rg.randn(30, 40, requires_grad=True), rg.randn(40, 50, requires_grad=True)
    with profile(profile_memory=True) as prof:
        h = x @ w
        loss = h.exp().sum()
        loss.backward()
    rows = by_text(check(prof))
    events = prof.function_events

    def took(name):
        return sum(e.cpu_time_total for e in events if e.name == name and e.scope == 1)

    assert rows["h = x @ w"].calls == 1 and rows["loss = h.exp().sum()"].calls == 2
    assert rows["h = x @ w"].backward == pytest.approx(took("MmBackward0"), abs=1e-6)
    both = took("ExpBackward0") + took("SumBackward0")
    assert rows["loss = h.exp().sum()"].backward == pytest.approx(both, abs=1e-6)
    engine = sum(e.self_cpu_time_total for e in events if e.name.startswith("autograd::engine"))
    leaves = took("torch::autograd::AccumulateGrad")
    assert rows["loss.backward()"].backward == pytest.approx(engine + leaves, abs=1e-6)
    assert rows["loss.backward()"].calls == 1  # ones_like, for the root
    place = rows["h = x @ w"].place
    assert place[0] == __file__ and rows["h = x @ w"].line.endswith(f"test_top.py:{place[1]}")
    assert rows["h = x @ w"].memory == 6000 + 4800 + 8000


def test_functions_labels_and_second_derivatives():
    x = rg.ones(4, requires_grad=True)
    with profile() as prof:
        with record_function("a label"):
            y = Double.apply(x).exp()
        (g,) = autograd.grad(y.sum(), x, create_graph=True)
        g.sum().backward()
    rows = by_text(check(prof))
    function = rows["y = Double.apply(x).exp()"]
    assert function.calls == 2 and function.backward > 0
    assert rows["return x * 2"].calls == 1 and rows["return x * 2"].forward > 0
    assert rows['with record_function("a label"):'].forward > 0


def test_backward_within_backward():
    x = rg.ones(4, requires_grad=True)
    with profile() as prof:
        checkpoint(lambda t: t.exp().sin(), x, use_reentrant=True).sum().backward()
        checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False).sum().backward()
    check(prof)


def test_hooks_belong_to_the_call_of_backward():
    x = rg.ones(4, requires_grad=True)
    x.register_hook(lambda g: g * 2)
    with profile() as prof:
        y = x.exp()
        y.backward(rg.ones(4))
    check(prof)
    assert not any("exp" not in row.text and row.calls for row in prof.top().rows if "y = " in row.text)


def test_what_threads_and_out_of_order_labels_leave_adds_up():
    with profile() as prof:
        outer, late = record_function("outer"), record_function("late")
        outer.__enter__()
        late.__enter__()
        rg.ones(3)
        outer.__exit__(None, None, None)
        rg.ones(3)
        late.__exit__(None, None, None)
        thread = threading.Thread(target=late.__exit__, args=(None, None, None))
        with record_function("around"):
            late.__enter__()
            rg.ones(3)
        rg.ones(3)
        thread.start()
        thread.join()
    assert any(event.is_async for event in prof.function_events)
    check(prof)


def test_the_table():
    x = rg.ones(100, requires_grad=True)
    with profile(profile_memory=True) as prof:
        y = x.exp()
        z = y.sin()
        del z
        y.sum().backward()
    top = prof.top(row_limit=1, sort_by="calls")
    lines = str(top).splitlines()
    assert lines[0].split() == ["line", "source", "calls", "forward", "backward", "total", "share", "memory"]
    assert len(lines) == 6 and lines[3].startswith(f"and {len(top.rows) - 1} more") and lines[-1].startswith("all")
    assert "y.sum().backward()" in lines[2] and "100.00%" in lines[-1]
    assert len(top.table().splitlines()) == len(top.rows) + 4
    assert max(map(len, lines)) == len(lines[1])
    for key in SORTS:
        rows = prof.top(sort_by=key).rows
        assert [getattr(row, key) for row in rows] == sorted((getattr(row, key) for row in rows), reverse=True)
    with pytest.raises(ValueError, match="top: sort_by is one of 'total'"):
        prof.top(sort_by="time")


def test_without_memory_there_is_no_column_of_it():
    with profile() as prof:
        rg.ones(2)
    assert "memory" not in str(prof.top()) and prof.top().rows[0].memory == 0


def test_no_events():
    with profile() as prof:
        pass
    top = prof.top()
    assert top.rows == [] and top.total == 0 and re.search("NaN", str(top))
    with pytest.raises(RuntimeError, match="there is no profile yet"):
        profile().top()


def test_lines_of_one_name_in_two_folders_are_two():
    def op(file):
        return "aten::mul", "op", (0, 1000), -1, 0, 0, 0, (file, 3, "f", None), [], [], None

    top = Top._of(Spans([op("/a/m.py"), op("/b/m.py")], 1), sort_by="total", memory=False, row_limit=9)
    assert [row.line for row in top.rows] == ["m.py:3", "m.py:3"]
