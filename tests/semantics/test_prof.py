"""PROF: profiles, what their events say, tables and files. Details of events and tables are in tests/profiler."""

import json
import threading

import pytest

from . import STANDIN, leaf, rg

profiler = rg.autograd.profiler
util = rg.autograd.profiler_util
EVALUATE = "autograd::engine::evaluate_function: "


def events_of(run, **options):
    with profiler.profile(**options) as prof:
        run()
    return prof


def named(prof, name):
    return [event for event in prof.function_events if event.name == name]


def test_prof_1_a_profile_is_entered_once():
    prof = profiler.profile()
    with prof as entered:
        assert entered is prof
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass
    with profiler.profile(enabled=False) as entered:
        assert entered is None
    with pytest.warns(FutureWarning, match="will be deprecated soon"), pytest.warns(UserWarning, match="not available"):
        profiler.profile(use_cuda=True)
    with pytest.raises(AssertionError, match="use_kineto=True"):
        profiler.profile(use_cpu=False)


class Twice(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_prof_2_ops_nodes_and_functions_have_events():
    x = leaf([1.0, 2.0])
    prof = events_of(lambda: (Twice.apply(x) @ rg.ones(2, dtype=x.dtype)).backward())
    (forward,) = named(prof, "Twice")
    assert "aten::mul" in [child.name for child in forward.cpu_children]
    (matmul,) = named(prof, "aten::matmul")
    assert "aten::dot" in [child.name for child in matmul.cpu_children]
    for node in ("TwiceBackward", "DotBackward0", "torch::autograd::AccumulateGrad"):
        (outer,) = named(prof, EVALUATE + node)
        assert node in [child.name for child in outer.cpu_children], node


def test_prof_3_numbers_tie_backward_to_forward():
    x = leaf([1.0, 2.0])
    prof = events_of(lambda: x.exp().sum().backward())
    (forward,), (rule,) = named(prof, "aten::exp"), named(prof, "ExpBackward0")
    assert forward.sequence_nr == rule.sequence_nr >= 0 and rule.cpu_parent.sequence_nr == rule.sequence_nr
    assert rule.fwd_thread == forward.thread and rule.scope == 1 and forward.scope == 0
    (leaf_event,) = named(prof, "torch::autograd::AccumulateGrad")
    assert leaf_event.sequence_nr == -1

    def second():
        (g,) = rg.autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()

    prof = events_of(second)
    numbers = {event.sequence_nr for event in prof.function_events if event.scope == 1 and event.sequence_nr >= 0}
    assert len(numbers) > 2


def test_prof_4_labels():
    @profiler.record_function("decorated")
    def twice(x):
        return x * 2

    twice(rg.ones(1))

    def run():
        with profiler.record_function("block"):
            twice(rg.ones(1))

    prof = events_of(run)
    (block,), (decorated,) = named(prof, "block"), named(prof, "decorated")
    assert block.is_user_annotation and block.scope == 7 and decorated.cpu_parent is block


def test_prof_5_events_are_there_after_the_block():
    prof = profiler.profile()
    assert prof.table() == "" if STANDIN != "torch" else True
    x = leaf([1.0])
    with prof:
        (x * 2).sum().backward()
    assert type(prof.function_events).__name__ == "EventList"
    keys = [average.key for average in prof.key_averages()]
    assert "aten::mul" in keys and len(keys) == len(set(keys))
    assert prof.total_average().key == "Total"
    assert prof.self_cpu_time_total == pytest.approx(sum(e.self_cpu_time_total for e in prof.function_events))
    outer = named(prof, EVALUATE + "MulBackward0")[0]
    inner = sum(child.cpu_time_total for child in outer.cpu_children)
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inner)


def test_prof_6_tables():
    prof = events_of(lambda: rg.ones(2) * 2, profile_memory=True, record_shapes=True)
    table = prof.table(sort_by="cpu_time_total", row_limit=1, header="mine")
    lines = table.splitlines()
    assert lines[1].strip() == "mine" and lines[-1].startswith("Self CPU time total: ")
    titles = [title.strip() for title in lines[3].split("  ") if title.strip()]
    assert titles[:6] == ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    assert titles[-4:] == ["CPU Mem", "Self CPU Mem", "# of Calls", "Input Shapes"]
    with pytest.raises(AttributeError, match="has no attribute 'zz'"):
        prof.table(sort_by="zz")


def test_prof_7_keys_are_split():
    prof = events_of(lambda: (rg.ones(2) * 2, rg.ones(3) * 2), record_shapes=True)
    count = {len([a for a in prof.key_averages(shape) if a.key == "aten::mul"]) for shape in (False, True)}
    assert count == {1, 2}
    assert len(prof.function_events.key_averages(group_by_input_shapes=True)) > len(prof.key_averages())
    prof.key_averages(group_by_stack_n=2, group_by_overload_name=True)


def test_prof_8_shapes_and_memory():
    def run():
        x = rg.ones(1000, dtype=rg.float32)
        y = x + x
        del x
        return y

    prof = events_of(run, record_shapes=True, profile_memory=True)
    (add,) = named(prof, "aten::add")
    assert add.input_shapes == [[1000], [1000], []] and add.cpu_memory_usage == 4000
    assert [event.cpu_memory_usage for event in named(prof, "[memory]")] == [-4000, -4000]


def test_prof_9_flops():
    def run():
        rg.ones(3, 4) @ rg.ones(4, 5)
        rg.ones(3, 4) + rg.ones(3, 4)
        rg.ones(3, 4).exp()

    prof = events_of(run, with_flops=True)
    flops = {event.name: event.flops for event in prof.function_events}
    assert (flops["aten::mm"], flops["aten::add"], flops["aten::exp"]) == (120, 12, 0)


def test_prof_10_files(tmp_path):
    x = leaf([1.0])
    prof = events_of(lambda: x.exp().sum().backward(), with_stack=True)
    file = tmp_path / "trace.json"
    prof.export_chrome_trace(str(file))
    trace = json.loads(file.read_text())["traceEvents"]
    complete = [event for event in trace if event["ph"] == "X"]
    assert {"ts", "dur", "tid", "pid", "name"} <= set.intersection(*map(set, complete))
    assert len([e for e in trace if e["ph"] == "s"]) == len([e for e in trace if e["ph"] == "f"]) == 2
    prof.function_events.export_chrome_trace(str(file))
    assert isinstance(json.loads(file.read_text()), list)


def test_prof_11_sessions_are_of_a_thread():
    x = leaf([1.0])

    def run():
        thread = threading.Thread(target=lambda: x.exp().sum().backward())
        thread.start()
        thread.join()
        (x * 2).sum().backward()

    prof = events_of(run)
    assert not named(prof, "aten::exp") and named(prof, "MulBackward0")
    with profiler.emit_nvtx(enabled=False):
        pass
    with pytest.raises(RuntimeError, match=r"NVTX|NVIDIA"), profiler.emit_nvtx():
        pass
    with profiler.emit_itt():
        rg.ones(1)


def test_prof_12_helpers():
    once = profiler.EnforceUnique()
    once.see(1, 2)
    with pytest.raises(RuntimeError, match="duplicate key"):
        once.see(1, 2)
    assert util.Interval(1, 4).elapsed_us() == 3
    assert util.StringTable()["_Z3foov"] == "foo()"
    tracker = profiler.KinetoStepTracker
    before = tracker.current_step()
    tracker.init_step_count("prof_12")
    assert tracker.increment_step("prof_12") == before + 1 == tracker.current_step()
    assert tracker.erase_step_count("prof_12")
