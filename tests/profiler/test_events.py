"""Events, averages, and the small helpers of `autograd.profiler_util`."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import warnings

import pytest

from retrograd.autograd import DeviceType, profiler, profiler_util
from retrograd.autograd._profiler.formats import format_memory, format_share, format_time
from retrograd.autograd.profiler_util import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Kernel,
    MemRecordsAcc,
    StringTable,
)


def event(start=0, end=10, name="n", **given):
    return FunctionEvent(given.pop("id", 1), name, given.pop("thread", 0), start, end, **given)


def test_an_event_has_what_it_was_given():
    made = FunctionEvent(
        1, "mul", 2, 3, 7.5, fwd_thread=1, input_shapes=[[3]], stack=["a.py(1): f"], scope=1, cpu_memory_usage=12,
        sequence_nr=4, node_id=5, is_async=True, flops=6, trace_name="m", concrete_inputs=[None], is_remote=True,
        is_user_annotation=True, overload_name="o", device_index=2, external_id=9, use_device="cuda", kwinputs={"a": 1},
    )  # fmt: skip
    assert (made.id, made.name, made.key, made.thread, made.fwd_thread) == (1, "mul", "mul", 2, 1)
    assert (made.time_range.start, made.time_range.end, made.time_range.elapsed_us()) == (3, 7.5, 4.5)
    assert (made.input_shapes, made.stack, made.scope, made.cpu_memory_usage) == ([[3]], ["a.py(1): f"], 1, 12)
    assert (made.sequence_nr, made.node_id, made.is_async, made.flops, made.trace_name) == (4, 5, True, 6, "m")
    assert (made.concrete_inputs, made.is_remote, made.is_user_annotation, made.overload_name) == (
        [None],
        True,
        True,
        "o",
    )
    assert (made.device_index, made.external_id, made.use_device, made.kwinputs) == (2, 9, "cuda", {"a": 1})
    assert (made.device_resource_id, event(thread=3, device_resource_id=8).device_resource_id) == (2, 8)
    usual = event()
    assert (usual.count, usual.cpu_children, usual.cpu_parent, usual.kernels) == (1, [], None, [])
    assert (usual.use_device, usual.node_id, usual.device_type, usual.is_async) == (None, -1, DeviceType.CPU, False)
    assert usual.cpu_children is usual.cpu_children and usual.kernels is usual.kernels


def test_arguments_that_are_missing_or_unknown_are_refused():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'end_us'"):
        FunctionEvent(1, "n", 0, 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
        event(color=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
        EventList([], color=1)
    with pytest.raises(TypeError):
        EventList([], [])


def test_reprs():
    made = event(1, 11)
    assert repr(made) == (
        "<FunctionEvent id=1 name=n overload_name=None device_type=DeviceType.CPU node_id=-1 cpu_time=10.000us "
        "start_us=1 end_us=11 cpu_children=[] None_time=0.000us name=n thread=0 input_shapes=None cpu_memory_usage=0 "
        "None_memory_usage=0 is_async=False is_remote=False seq_nr=-1 is_legacy=False>"
    )
    made.append_cpu_child(event(2, 3, id=7))
    assert " cpu_children=[7] " in repr(made)
    assert repr(FunctionEventAvg()) == (
        "<FunctionEventAvg key=None self_cpu_time=0.000us cpu_time=0.000us  self_cuda_time=0.000us cuda_time=0.000us "
        "input_shapes=None cpu_memory_usage=0 cuda_memory_usage=0>"
    )
    assert repr(EventList([made])) == f"[{made!r}]"


def test_self_values_are_those_without_children():
    outer, inner = event(0, 10, cpu_memory_usage=100), event(1, 4, cpu_memory_usage=70)
    outer.append_cpu_child(inner)
    inner.set_cpu_parent(outer)
    assert (outer.cpu_time_total, outer.self_cpu_time_total, outer.self_cpu_memory_usage) == (10, 7, 30)
    assert (outer.cpu_time, outer.cpu_time_str, outer.self_cpu_time_total_str) == (10.0, "10.000us", "7.000us")
    outer.is_async = True
    assert (outer.cpu_time_total, outer.self_cpu_time_total, outer.self_cpu_memory_usage) == (10, 0, 0)
    there = event(0, 10, cpu_memory_usage=5, device_type=DeviceType.CUDA)
    assert (there.cpu_time_total, there.self_cpu_time_total, there.self_cpu_memory_usage) == (0, 0, 0)


def test_times_on_devices_are_nothing():
    made = event()
    made.append_kernel("k", 0, 5)
    assert made.kernels == [Kernel(name="k", device=0, duration=5)]
    for one in (made, FunctionEventAvg().add(made)):
        assert (one.device_time, one.device_time_total, one.self_device_time_total) == (0, 0, 0)
        assert (one.device_time_str, one.device_time_total_str) == ("0.000us", "0.000us")
        assert one.self_device_time_total_str == "0.000us"


@pytest.mark.parametrize("name", ["cuda_time", "cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage"])
def test_names_with_cuda_are_old(name):
    with pytest.warns(FutureWarning, match=rf"`{name}` is deprecated.*`{name.replace('cuda', 'device')}`") as warned:
        assert getattr(event(), name) == 0
    assert warned[0].filename == __file__


def test_what_is_not_on_the_cpu_has_no_relatives():
    here, there = event(), event(device_type=DeviceType.CUDA)
    for call, said in [
        (lambda: here.append_cpu_child("x"), "Expected child to be a FunctionEvent"),
        (lambda: here.set_cpu_parent(2), "Expected parent to be a FunctionEvent"),
        (lambda: here.append_cpu_child(there), "Expected child device_type to be CPU"),
        (lambda: here.set_cpu_parent(there), "Expected parent device_type to be CPU"),
        (lambda: there.append_cpu_child(here), "Expected device_type to be CPU"),
        (lambda: there.set_cpu_parent(here), "Expected device_type to be CPU"),
        (lambda: there.append_kernel("k", 0, 1), "Expected device_type to be CPU"),
    ]:
        with pytest.raises(AssertionError, match=said):
            call()


def test_averages_sum_up_and_keep_the_rest_of_the_first():
    total = FunctionEventAvg()
    assert (total.key, total.count, total.cpu_time, total.flops) == (None, 0, 0.0, 0)
    first = event(0, 4, cpu_memory_usage=3, input_shapes=[[1]], flops=None, scope=7, is_user_annotation=True)
    assert total.add(first) is total
    total += event(4, 10, cpu_memory_usage=4, input_shapes=[[2]], flops=5)
    assert (total.key, total.count, total.cpu_time_total, total.cpu_time) == ("n", 2, 10, 5.0)
    assert (total.cpu_memory_usage, total.flops, total.input_shapes, total.scope) == (7, 5, [[1]], 7)
    assert total.is_user_annotation
    total.add(total)
    assert (total.count, total.cpu_time_total, total.self_cpu_memory_usage, total.flops) == (4, 20, 14, 10)
    with pytest.raises(AssertionError, match="Expected keys to match, but got m vs n"):
        total.add(event(name="m"))


def test_averages_need_a_tree():
    listed = EventList([event()])
    with pytest.raises(AssertionError, match="Expected tree to be built before calling key_averages"):
        listed.key_averages()
    listed._build_tree()
    averages = listed.key_averages()
    assert (averages[0].input_shapes, averages[0].overload_name, averages[0].stack) == ("", "", [])
    with pytest.raises(AssertionError, match="Expected tree to be built"):
        averages.key_averages()
    assert listed.total_average().key == EventList().total_average().key == "Total"
    assert EventList().total_average().count == 0


def test_averages_have_the_flags_of_their_list():
    listed = EventList([event(cpu_memory_usage=2048, flops=3)], profile_memory=True, with_flops=True)
    listed._build_tree()
    text = listed.key_averages().table()
    assert "2.00 KB" in text and "Total FLOPs" in text


def test_events_and_lists_are_copied_and_pickled():
    listed = EventList([event(0, 10), event(1, 4, "m", id=2, external_id=5)], profile_memory=True)
    listed._build_tree()
    for again in (copy.copy(listed), copy.deepcopy(listed), pickle.loads(pickle.dumps(listed))):
        assert type(again) is EventList and repr(again) == repr(listed) and str(again) == str(listed)
        assert again[1].external_id == 5
    assert pickle.loads(pickle.dumps(listed))[1].device_type is DeviceType.CPU


def test_formats():
    times = (-5, 0, 999.9994, 999.9996, 1000, 1e6 - 1, 1e6, 3.5e9)
    assert [format_time(t) for t in times] == [
        "-5.000us", "0.000us", "999.999us", "1000.000us", "1.000ms", "999.999ms", "1.000s", "3500.000s",
    ]  # fmt: skip
    assert [format_time(1500, unit) for unit in ("s", "ms", "us", "x", None)] == [
        "0.002s", "1.500ms", "1500.000us", "1.500ms", "1.500ms",
    ]  # fmt: skip
    sizes = (0, 1023, 1024, -2048, 5 << 20, -(3 << 30), 1 << 40)
    assert [format_memory(s) for s in sizes] == [
        "0 B", "1023 B", "1.00 KB", "-2.00 KB", "5.00 MB", "-3.00 GB", "1024.00 GB",
    ]  # fmt: skip
    assert [format_share(*of) for of in ((1, 3), (0, 0), (5, 5))] == ["33.33%", "NaN", "100.00%"]


def test_device_types_print_their_name():
    assert [str(DeviceType(i)) for i in range(2)] == ["DeviceType.CPU", "DeviceType.CUDA"]
    assert DeviceType is profiler_util.DeviceType and DeviceType.CPU.value == 0
    assert len({DeviceType.CPU, DeviceType.CUDA, DeviceType(0)}) == 2


def test_intervals_and_kernels():
    span = Interval(1, 3)
    span.end = 9
    assert span.elapsed_us() == 8
    assert Kernel("k", 0, 20) == ("k", 0, 20) and Kernel._fields == ("name", "device", "duration")


class Change:
    def __init__(self, start):
        self.start = start

    def start_ns(self):
        return self.start


def test_memory_records_are_found_by_time():
    records = [(Change(start), None) for start in (5, 1, 3)]
    found = MemRecordsAcc(records)
    assert [record[0].start for record in found.in_interval(1, 3)] == [1, 3]
    assert list(found.in_interval(6, 9)) == [] == list(MemRecordsAcc([]).in_interval(0, 9))
    assert next(iter(found.in_interval(5, 5))) is records[0]
    chosen = random.Random(3)
    starts = [chosen.randrange(50) for _ in range(200)]
    found = MemRecordsAcc([(Change(start), i) for i, start in enumerate(starts)])
    for first, last in [(0, 50), (10, 20), (20, 10), (7, 7), (-5, 3), (48, 99)]:
        expected = sorted(start for start in starts if first <= start <= last)
        assert [record[0].start for record in found.in_interval(first, last)] == expected


def test_names_of_cpp_are_made_readable():
    names = StringTable()
    readable = {"t": "t", "sgemm": "sgemm", "": "", "int": "int", "__Z3foov": "__Z3foov", "_Zq": "_Zq", "_Zé": "_Zé"}
    if sys.platform == "linux":
        readable |= {"_Z3foov": "foo()", "_ZN2at6nativeE": "at::native"}
    assert {name: names[name] for name in readable} == readable
    assert dict(names) == readable  # they are stored
    assert names.get("other") is None and "other" not in names
    assert StringTable(a="b")["a"] == "b"


def test_both_modules_have_the_same_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("EventList", "FunctionEvent", "MemRecordsAcc"):
            assert getattr(profiler, name) is getattr(profiler_util, name)
