"""What a session notes: which events, how they nest, their numbers, and that nothing is left open."""

import gc
import json
import os
import threading
import warnings

import pytest

import retrograd as rg
from retrograd import autograd
from retrograd.autograd import profiler
from retrograd.autograd.profiler import profile, record_function


def names(prof):
    return [event.name for event in prof.function_events]


def find(prof, name):
    return next(event for event in prof.function_events if event.name == name)


def inside(event):
    return [child.name for child in event.cpu_children]


def path(event):
    up = []
    while event is not None:
        up.append(event.name)
        event = event.cpu_parent
    return up


EVALUATE = "autograd::engine::evaluate_function: "
LEAF = "torch::autograd::AccumulateGrad"


def test_the_example_of_the_seeds():
    x = rg.randn((1, 1), requires_grad=True)
    with profile() as prof:
        for _ in range(100):
            y = x**2
            y.backward()
    counts = {average.key: average.count for average in prof.key_averages()}
    for name in ("PowBackward0", LEAF, EVALUATE + "PowBackward0", EVALUATE + LEAF, "aten::ones_like"):
        assert counts[name] == 100, name
    assert counts["aten::pow"] >= 100
    table = prof.key_averages().table(sort_by="self_cpu_time_total")
    assert "PowBackward0" in table and "Self CPU time total: " in table
    assert "GraphRoot" not in table


def test_forward_and_backward_pair_up():
    x, w = rg.randn(3, 4, requires_grad=True), rg.randn(4, 5)
    with profile() as prof:
        (x @ w).exp().sum().backward()
    events = prof.function_events
    pairs = {}
    for event in events:
        if event.scope == 1 and event.sequence_nr >= 0:
            made = [
                e
                for e in events
                if e.thread == event.fwd_thread
                and e.sequence_nr == event.sequence_nr
                and e.scope == 0
                and not e.fwd_thread
                and e.time_range.start < event.time_range.start
            ]
            pairs[event.name] = made[-1].name
    assert pairs == {"MmBackward0": "aten::mm", "ExpBackward0": "aten::exp", "SumBackward0": "aten::sum"}
    matmul = find(prof, "aten::matmul")
    assert inside(matmul) == ["aten::mm"] and matmul.sequence_nr == matmul.cpu_children[0].sequence_nr >= 0
    node = find(prof, EVALUATE + "MmBackward0")
    assert inside(node) == ["MmBackward0"] and node.scope == 0 and node.cpu_children[0].scope == 1
    assert node.sequence_nr == matmul.sequence_nr and node.fwd_thread == matmul.thread
    leaf = find(prof, LEAF)
    assert (leaf.sequence_nr, leaf.fwd_thread, leaf.scope) == (-1, 0, 1)
    assert find(prof, EVALUATE + LEAF).cpu_parent is None  # not inside of the node that led to it
    assert find(prof, "aten::ones_like").cpu_parent is None


def test_names_are_those_of_torch():
    x, w = rg.randn(3, 4), rg.randn(5, 4)
    calls = [
        (lambda: x * 2, "aten::mul"),
        (lambda: x + x, "aten::add"),
        (lambda: x.clone().add_(1), "aten::add_"),
        (lambda: 1 - x, "aten::rsub"),
        (lambda: x @ w.t(), "aten::matmul"),
        (lambda: x[0], "aten::select"),
        (lambda: x[:, 1:2], "aten::slice"),
        (lambda: x[1:], "aten::slice"),
        (lambda: x[rg.tensor([0, 1])], "aten::index"),
        (lambda: x.clone().__setitem__(rg.tensor([0, 1]), 1.0), "aten::index_put_"),
        (lambda: x.t(), "aten::t"),
        (lambda: x.T, "aten::numpy_T"),
        (lambda: rg.nn.functional.linear(x, w), "aten::linear"),
        (lambda: rg.ones(2), "aten::ones"),
        (lambda: rg.empty(2), "aten::empty"),
        (lambda: rg.randn(2), "aten::randn"),
        (lambda: x.sum().item(), "aten::item"),
        (lambda: rg.cat([x, x]), "aten::cat"),
        (lambda: x.view(4, 3), "aten::view"),
        (lambda: rg.nn.functional.relu(x), "aten::relu"),
    ]
    for call, name in calls:
        with profile() as prof:
            call()
        assert name in names(prof), (name, names(prof))


def test_ops_of_rules_are_inside_of_them():
    x, w = rg.randn(30, 40, requires_grad=True), rg.randn(40, 50, requires_grad=True)
    with profile(with_flops=True) as prof:
        (x @ w).sum().backward()
    rule = find(prof, "MmBackward0")
    assert inside(rule).count("aten::mm") == 2
    products = [e for e in prof.function_events if e.name == "aten::mm"]
    assert [e.flops for e in products] == [120000] * 3
    assert find(prof, "aten::matmul").flops == 0
    assert find(prof, "aten::sum").flops == 0


def test_flops():
    f = rg.nn.functional
    image, weight = rg.randn(2, 4, 9, 9), rg.randn(6, 2, 3, 3)
    with profile(with_flops=True) as prof:
        f.conv2d(image, weight, stride=2, padding=1, groups=2)
        rg.addmm(rg.ones(5), rg.ones(3, 4), rg.ones(4, 5))
        rg.bmm(rg.ones(2, 3, 4), rg.ones(2, 4, 5))
        rg.baddbmm(rg.ones(5), rg.ones(2, 3, 4), rg.ones(2, 4, 5))
        rg.ones(3, 1) + rg.ones(4)
        rg.ones(3, 4) * 2
        rg.dot(rg.ones(3), rg.ones(3))
    flops = {e.name: e.flops for e in prof.function_events if e.cpu_parent is None}
    assert flops["aten::conv2d"] == 10800
    assert (flops["aten::addmm"], flops["aten::bmm"], flops["aten::baddbmm"]) == (120, 240, 240)
    assert (flops["aten::add"], flops["aten::mul"], flops["aten::dot"]) == (12, 12, 0)
    assert sum(e.flops for e in prof.function_events if "conv" in e.name) == 10800
    assert "Total KFLOPs" in prof.key_averages().table() or "Total FLOPs" in prof.key_averages().table()


def test_shapes_and_values():
    a = rg.ones(3, 4)
    with profile(record_shapes=True) as prof:
        (a + a).sum(dim=1)
        a.sum()
        rg.mm(a, a.t())
        rg.addmm(rg.ones(3), a, a.t())
        rg.cat([a, a])
        rg.ones(2)
        rg.nn.functional.conv2d(rg.ones(1, 1, 3, 3), rg.ones(1, 1, 2, 2))
    events = [e for e in prof.function_events if e.cpu_parent is None]
    shapes = {e.name: e.input_shapes for e in reversed(events)}
    assert shapes["aten::add"] == [[3, 4], [3, 4], []]
    assert shapes["aten::sum"] == [[3, 4], [], [], []]
    assert next(e.input_shapes for e in reversed(events) if e.name == "aten::sum") == [[3, 4], []]
    assert shapes["aten::mm"] == [[3, 4], [4, 3]]
    assert shapes["aten::addmm"] == [[3], [3, 4], [4, 3], [], []]
    assert shapes["aten::cat"] == [[], []]
    assert shapes["aten::ones"] == [[], [], [], [], []]
    assert shapes["aten::conv2d"] == [[1, 1, 3, 3], [1, 1, 2, 2], [], [], [], [], []]
    values = {e.name: e.concrete_inputs for e in reversed(events)}
    assert values["aten::add"] == [None, None, 1]
    assert values["aten::sum"] == [None, [1], False, None]


def test_without_options_events_say_nothing_of_arguments():
    with profile() as prof:
        rg.ones(2) * 2
    for event in prof.function_events:
        assert (event.input_shapes, event.concrete_inputs, event.stack, event.flops) == ([], [], [], 0)
        assert (event.overload_name, event.node_id, event.is_legacy, event.cpu_memory_usage) == ("", -1, False, 0)


class Double(autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        return x * by

    @staticmethod
    def backward(ctx, g):
        with record_function("in backward"):
            return g * 2, None


def test_functions():
    x = rg.ones(2, requires_grad=True)
    with profile(record_shapes=True) as prof:
        Double.apply(x, 2).sum().backward()
    forward = find(prof, "Double")
    assert inside(forward) == ["aten::mul"] and forward.scope == 0 and forward.input_shapes == [[2], []]
    rule = find(prof, "DoubleBackward")
    assert inside(rule) == ["in backward"] and rule.scope == 1
    assert path(find(prof, "in backward")) == ["in backward", "DoubleBackward", EVALUATE + "DoubleBackward"]
    assert rule.sequence_nr == forward.sequence_nr >= 0 and rule.fwd_thread == forward.thread
    assert rule.input_shapes == [[2]] and rule.cpu_parent.input_shapes == []


def test_hooks_are_inside_of_the_outer_event():
    x = rg.ones(2, requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g + 1)
    with profile() as prof:
        y.sum().backward()
    outer = find(prof, EVALUATE + "MulBackward0")
    assert inside(outer) == ["aten::add", "MulBackward0"]


def test_nodes_that_only_capture_have_no_inner_event():
    x = rg.ones(2, requires_grad=True)
    y = x * 3
    with profile() as prof:
        autograd.grad(y.sum(), y)
    assert EVALUATE + "MulBackward0" in names(prof) and "MulBackward0" not in names(prof)


def test_second_order_numbers_its_ops_again():
    x = rg.ones(2, requires_grad=True)
    with profile() as prof:
        (g,) = autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()
    rule = find(prof, "PowBackward0")
    made = [e for e in rule.cpu_children if e.sequence_nr >= 0]
    assert made and all(e.sequence_nr != rule.sequence_nr for e in made)


def test_labels():
    x = rg.ones(2, requires_grad=True)

    @record_function("decorated")
    def f(v):
        return v * 2

    with profile() as prof:
        with record_function("all", "said") as label:
            f(x).sum().backward()
        with label:
            pass
    assert names(prof).count("all") == 2 and names(prof).count("decorated") == 1
    whole = find(prof, "all")
    assert whole.scope == 7 and whole.is_user_annotation and find(prof, "aten::mul").is_user_annotation is False
    assert all(path(e)[-1] == "all" for e in prof.function_events if e.name.startswith(EVALUATE))
    assert f.__name__ == "f"
    for bad in (3, None, b"x"):
        with pytest.raises(TypeError, match="must be str"):
            record_function(bad)
    with pytest.raises(TypeError, match="must be str or None"):
        record_function("x", 3)


def test_labels_left_out_of_order():
    with profile() as prof:
        outer, late = record_function("outer"), record_function("late")
        outer.__enter__()
        rg.ones(1)
        late.__enter__()
        outer.__exit__(None, None, None)
        rg.ones(2)
        open_end = record_function("open")
        open_end.__enter__()
        late.__exit__(None, None, None)
    open_end.__exit__(None, None, None)
    assert find(prof, "late").cpu_parent is None and inside(find(prof, "outer")) == ["aten::ones"]
    assert inside(find(prof, "late")) == ["aten::ones"]
    assert find(prof, "open").cpu_time_total > 0


def test_a_label_left_on_another_thread_is_async():
    with profile() as prof:
        label = record_function("far")
        label.__enter__()
        thread = threading.Thread(target=label.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        rg.ones(1)
    far = find(prof, "far")
    assert far.is_async and far.self_cpu_time_total == 0
    assert find(prof, "aten::ones").cpu_parent is None


def test_other_threads_are_not_noted():
    x = rg.ones(2, requires_grad=True)
    with profile() as prof:
        thread = threading.Thread(target=lambda: (x * 2).sum().backward())
        thread.start()
        thread.join()
        rg.zeros(1)
    assert names(prof) == ["aten::zeros"]


def test_forward_on_another_thread_is_found_by_its_number():
    x = rg.ones(2, requires_grad=True)
    made = []
    thread = threading.Thread(target=lambda: made.append(x * 2))
    thread.start()
    thread.join()
    with profile() as prof:
        made[0].sum().backward()
    assert find(prof, "MulBackward0").fwd_thread not in (0, find(prof, "SumBackward0").fwd_thread)


def test_one_session_at_a_time():
    with profile() as outer:
        rg.ones(1)
        with pytest.raises(RuntimeError, match="Profiler is already enabled on this thread"), profile():
            pass
        with pytest.raises(RuntimeError, match="Profiler is already enabled"), profiler.emit_itt():
            pass
        rg.zeros(1)
    assert names(outer) == ["aten::ones", "aten::zeros"]
    with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"), outer:
        pass
    assert not autograd._profiler_enabled()


def test_before_the_end_there_is_nothing():
    prof = profile()

    def empty():
        assert len(prof.function_events) == 0 and prof.table() == "" and str(prof) == "" and repr(prof) == "[]"
        assert len(prof.key_averages()) == 0 and prof.self_cpu_time_total == 0
        assert prof.total_average().count == 0
        with pytest.raises(RuntimeError, match="no trace"):
            prof.export_chrome_trace("never")

    empty()
    with prof as entered:
        assert entered is prof and autograd._profiler_enabled()
        rg.ones(1)
        empty()
    assert names(prof) == ["aten::ones"]
    prof = profile(enabled=False)
    with prof as entered:
        assert entered is None and not autograd._profiler_enabled()
        rg.ones(1)
    empty()


def test_sums():
    x, w = rg.randn(8, 8, requires_grad=True), rg.randn(8, 8)
    with profile(profile_memory=True) as prof:
        for _ in range(5):
            with record_function("step"):
                ((x @ w).relu() @ w).sum().backward()
    events = prof.function_events
    top = [e for e in events if e.cpu_parent is None]
    assert sum(e.self_cpu_time_total for e in events) == pytest.approx(sum(e.cpu_time_total for e in top))
    assert sum(e.self_cpu_memory_usage for e in events) == sum(e.cpu_memory_usage for e in top)
    assert prof.total_average().count == len(events)
    assert prof.key_averages().self_cpu_time_total == pytest.approx(events.self_cpu_time_total)
    ids = [e.id for e in events]
    assert ids == sorted(set(ids)) and [e.time_range.start for e in events] == sorted(
        e.time_range.start for e in events
    )
    with profile() as later:
        rg.ones(1)
    assert later.function_events[0].id > ids[-1]


def test_memory():
    gc.collect()
    with profile(profile_memory=True) as prof:
        a = rg.empty(1000)
        b = a * 2
        view = b[10:]
        del a
        number = 3.0 * view
        del b, view
        del number
    events = prof.function_events
    assert find(prof, "aten::empty").cpu_memory_usage == 4000
    products = [e.cpu_memory_usage for e in events if e.name == "aten::mul"]
    assert products == [4000, 3960]
    assert find(prof, "aten::slice").cpu_memory_usage == 0
    assert [e.cpu_memory_usage for e in events if e.name == "[memory]"] == [-4000, -4000, -3960]
    memory = find(prof, "[memory]")
    assert memory.cpu_time_total == 0 and memory.flops == 0 and memory.thread == events[0].thread
    table = prof.key_averages().table()
    assert "CPU Mem" in table and "-11.68 KB" in table
    with profile(profile_memory=True, with_flops=True) as both:
        rg.ones(3)
    assert "[memory]" in both.table()


def test_memory_that_grows_is_counted():
    with profile(profile_memory=True) as prof:
        x = rg.ones(4)
        x.resize_(100)
    assert find(prof, "aten::ones").cpu_memory_usage == 16
    assert find(prof, "aten::resize_").cpu_memory_usage == 400 - 16


def helper(x):
    return x * 2


def test_stacks(tmp_path):
    x = rg.ones(2, requires_grad=True)
    with profile(with_stack=True) as prof:
        y = helper(x)
        y.sum().backward()
    mul = find(prof, "aten::mul")
    file = "test_session.py("
    assert file in mul.stack[0] and mul.stack[0].endswith("): helper")
    assert mul.stack[1].endswith("): test_stacks")
    assert find(prof, "MulBackward0").stack == mul.stack
    assert find(prof, EVALUATE + "MulBackward0").stack[0].endswith("): test_stacks")
    assert find(prof, LEAF).stack == []
    assert all(os.getcwd() not in frame for e in prof.function_events for frame in e.stack[:2])
    assert len(prof.key_averages(group_by_stack_n=2)) >= len(prof.key_averages())
    prof.export_stacks(tmp_path / "stacks.txt")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    assert any("_test_stacks;" in line and "_helper " in line for line in lines)
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(tmp_path / "stacks.txt", "zz")


def test_errors_leave_nothing_open():
    x = rg.ones(2, requires_grad=True)
    y = x * 2

    def fails(g):
        raise KeyboardInterrupt

    y.register_hook(fails)
    with pytest.raises(KeyboardInterrupt), profile() as prof:
        with pytest.raises(RuntimeError):
            rg.ones(2) @ rg.ones(3)
        with pytest.raises(ValueError), record_function("fails"):
            raise ValueError
        rg.ones(1)
        y.sum().backward()
    assert not autograd._profiler_enabled()
    assert "aten::matmul" in names(prof) and find(prof, "fails").cpu_children == []
    assert [e.cpu_parent for e in prof.function_events if e.name == "aten::ones"] == [None] * 3
    with profile() as after:
        rg.ones(1)
    assert names(after) == ["aten::ones"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX")
def test_a_fork_has_no_session():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with profile() as prof:
            rg.ones(1)
            child = os.fork()
            if child == 0:
                ok = not autograd._profiler_enabled()
                rg.zeros(1)
                with profile() as own:
                    rg.zeros(1)
                os._exit(0 if ok and names(own) == ["aten::zeros"] else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert names(prof) == ["aten::ones"]


def test_deep_runs_are_noted_by_the_callers_session():
    class Nested(autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.depth == 0:
                return g.sigmoid(), None
            with rg.enable_grad():
                inner = rg.ones(1, requires_grad=True)
                Nested.apply(inner, ctx.depth - 1).backward()
            return g, None

    x = rg.ones(1, requires_grad=True)
    with profile() as prof:
        Nested.apply(x, 130).backward()
    innermost = find(prof, "aten::sigmoid")
    assert path(innermost).count("NestedBackward") == 131
    assert {e.thread for e in prof.function_events} == {prof.function_events[0].thread}
    assert find(prof, "NestedBackward").fwd_thread == prof.function_events[0].thread


def test_the_trace(tmp_path):
    x, w = rg.randn(3, 4, requires_grad=True), rg.randn(4, 5)
    label = record_function('a "label"\nüñ', "with args")
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof, label:
        y = (x @ w).exp().sum()
        y.backward(retain_graph=True)
        y.backward()
    file = tmp_path / "trace.json"
    prof.export_chrome_trace(file, {"made": "here"})
    trace = json.loads(file.read_text())
    assert trace["made"] == "here" and trace["trace_id"] == prof.trace_id and len(prof.trace_id) == 32
    events = trace["traceEvents"]
    arrows = {phase: {e["id"]: e for e in events if e["ph"] == phase} for phase in "sf"}
    assert arrows["s"].keys() == arrows["f"].keys() and len(arrows["s"]) == 3
    calls = {(e["ts"], e["name"]) for e in events if e["ph"] == "X"}
    starts = {name for number in arrows["s"] for ts, name in calls if ts == arrows["s"][number]["ts"]}
    ends = {name for number in arrows["f"] for ts, name in calls if ts == arrows["f"][number]["ts"]}
    assert starts == {"aten::mm", "aten::exp", "aten::sum"}
    assert ends == {"MmBackward0", "ExpBackward0", "SumBackward0"}
    label = next(e for e in events if e.get("cat") == "user_annotation")
    assert label["name"] == 'a "label"\nüñ' and label["args"]["Args"] == "with args"
    product = next(e for e in events if e["name"] == "aten::mm")
    assert product["args"]["Input Dims"] == [[3, 4], [4, 5]] and product["args"]["Input type"] == ["float", "float"]
    assert product["args"]["Input Strides"] == [[4, 1], [5, 1]] and "test_the_trace" in product["args"]["Call stack"]
    memory = [e for e in events if e["ph"] == "i"]
    assert sum(e["args"]["Bytes"] for e in memory) == memory[-1]["args"]["Total Allocated"]
    prof.export_chrome_trace(file, use_python_export=True)
    plain = json.loads(file.read_text())
    assert plain[0]["name"] == 'a "label"\nüñ' and plain[0]["pid"] == "CPU functions"
    with profile(custom_trace_id_callback=lambda: "mine") as prof:
        pass
    prof.export_chrome_trace(file)
    assert json.loads(file.read_text())["trace_id"] == "mine"


def test_arguments_of_profile():
    with pytest.raises(TypeError):
        profile(True, False)
    with pytest.warns(FutureWarning, match="will be deprecated soon"), pytest.warns(UserWarning, match="CUDA is not"):
        assert profile(use_cuda=True).use_device is None
    for device in ("cuda", "xpu", "hpu", "mtia"):
        with pytest.warns(UserWarning, match=f"{device.upper()} is not available, disabling {device.upper()}"):
            assert profile(use_device=device).use_device is None
    for device in ("cpu", "privateuseone", "xx"):
        with pytest.warns(UserWarning, match=f"The {device} is not a valid device option."):
            assert profile(use_device=device).use_device is None
    with pytest.raises(AssertionError, match=r"Device-only events supported only with Kineto \(use_kineto=True\)"):
        profile(use_cpu=False)
    with pytest.raises(AssertionError, match="No activities specified for the profiler"):
        profile(use_cpu=False, use_kineto=True)
    assert profile(with_flops=True).record_shapes and not profile().record_shapes
    assert not autograd.kineto_available() and not profiler.kineto_available()


def test_a_callback_that_fails_leaves_no_session():
    def fails():
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"), profile(custom_trace_id_callback=fails):
        pass
    assert not autograd._profiler_enabled()


def test_transforms_and_forward_mode_run_under_a_profile():
    x = rg.randn(3, 4)
    with profile() as prof:
        rg.func.vmap(rg.func.grad(lambda v: (v * v).sum()))(x)
        rg.func.jvp(lambda v: v.sin(), (x,), (x,))
    assert "aten::mul" in names(prof) and "aten::sin" in names(prof)
    assert autograd._profiler_enabled() is False
