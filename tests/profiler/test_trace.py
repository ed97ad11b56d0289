"""Files of events: traces in the trace event format, and lines of stacks."""

from __future__ import annotations

import gzip
import json
import os
import stat

import pytest

from retrograd.autograd._profiler.trace import MemoryChange, TraceRow, new_trace_id, write_trace
from retrograd.autograd.profiler_util import EventList, FunctionEvent

# What the trace event format asks of an event, besides name, pid and tid, by its phase.
REQUIRED = {
    "X": {"ts", "dur", "cat", "args"},
    "M": {"args"},
    "i": {"ts", "s", "cat", "args"},
    "s": {"ts", "id", "cat"},
    "f": {"ts", "id", "cat", "bp"},
}


def check(trace):
    """Checks a trace by the rules of the format, and gives its events."""
    assert {
        "schemaVersion",
        "deviceProperties",
        "trace_id",
        "host_name",
        "displayTimeUnit",
        "traceName",
    } <= trace.keys()
    assert (trace["schemaVersion"], trace["displayTimeUnit"], trace["baseTimeNanoseconds"]) == (1, "ms", 0)
    events = trace["traceEvents"]
    arrows = {"s": {}, "f": {}}
    spans = {}
    for event in events:
        assert REQUIRED[event["ph"]] | {"name", "pid", "tid"} <= event.keys(), event
        assert isinstance(event["name"], str) and type(event["pid"]) is type(event["tid"]) is int
        assert type(event["ts"]) is float and event.get("dur", 0) >= 0
        if event["ph"] == "X":
            spans.setdefault((event["tid"], event["ts"]), []).append(event["name"])
        if event["ph"] in arrows:
            assert event["id"] not in arrows[event["ph"]], "an id is used twice"
            arrows[event["ph"]][event["id"]] = event
            assert (event["tid"], event["ts"]) in spans, "an arrow is bound to no event"
    assert arrows["s"].keys() == arrows["f"].keys()
    for number, start in arrows["s"].items():
        end = arrows["f"][number]
        assert (start["cat"], start["name"]) == (end["cat"], end["name"]) and start["ts"] <= end["ts"]
        assert end["bp"] == "e"
    times = [event["ts"] for event in events]
    assert times == sorted(times)
    threads = {event["tid"] for event in events if event["ph"] == "X"}
    assert threads == {event["tid"] for event in events if event["name"] == "thread_name"}
    first_seen = {}
    for event in events:
        first_seen.setdefault(event["tid"], event["ph"])
    assert set(first_seen.values()) <= {"M"}
    return events


def written(tmp_path, rows, **given):
    path = tmp_path / "trace.json"
    write_trace(path, rows, **given)
    assert os.listdir(tmp_path) == ["trace.json"]
    trace = json.loads(path.read_text(), parse_constant=pytest.fail)
    return trace, check(trace)


STEP = [
    TraceRow("lab", 1, 1_000_000, 9_000_500, scope=7, is_user_annotation=True, args="step 3"),
    TraceRow("aten::matmul", 1, 1_000_100, 500, sequence_nr=5),
    TraceRow("aten::mm", 1, 1_000_200, 300, sequence_nr=5),
    TraceRow("[memory]", 1, 1_000_250, memory=MemoryChange(48, 148, 4096)),
    TraceRow("aten::sum", 1, 1_000_900, 70, sequence_nr=6),
    TraceRow("autograd::engine::evaluate_function: SumBackward0", 2, 2_000_000, 800, sequence_nr=6, fwd_thread=1),
    TraceRow("SumBackward0", 2, 2_000_100, 600, scope=1, sequence_nr=6, fwd_thread=1),
    TraceRow("autograd::engine::evaluate_function: MmBackward0", 2, 2_001_000, 900, sequence_nr=5, fwd_thread=1),
    TraceRow("MmBackward0", 2, 2_001_100, 700, scope=1, sequence_nr=5, fwd_thread=1),
    TraceRow("torch::autograd::AccumulateGrad", 2, 2_002_000, 10, scope=1),
]


def test_a_step(tmp_path):
    trace, events = written(tmp_path, STEP, trace_id="B5", pid=77, tids={1: 900, 2: 901})
    assert (trace["trace_id"], trace["host_name"]) == ("B5", "")
    assert trace["traceName"] == str(tmp_path / "trace.json")
    assert events[:5] == [
        {"ph": "M", "name": "process_name", "pid": 77, "tid": 0, "ts": 1000.0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": 77, "tid": 0, "ts": 1000.0, "args": {"labels": "CPU"}},
        {"ph": "M", "name": "process_sort_index", "pid": 77, "tid": 0, "ts": 1000.0, "args": {"sort_index": 77}},
        {
            "ph": "M",
            "name": "thread_name",
            "pid": 77,
            "tid": 900,
            "ts": 1000.0,
            "args": {"name": "thread 900 (python)"},
        },
        {"ph": "M", "name": "thread_sort_index", "pid": 77, "tid": 900, "ts": 1000.0, "args": {"sort_index": 900}},
    ]
    assert events[5] == {
        "ph": "X", "cat": "user_annotation", "name": "lab", "pid": 77, "tid": 900, "ts": 1000.0, "dur": 9000.5,
        "args": {"External id": 1, "Record function id": 0, "Args": "step 3", "Ev Idx": 0},
    }  # fmt: skip
    assert events[6]["args"] == {
        "External id": 2, "Record function id": 0, "Sequence number": 5, "Fwd thread id": 0, "Ev Idx": 1,
    }  # fmt: skip
    instant = next(event for event in events if event["ph"] == "i")
    assert instant == {
        "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 77, "tid": 900, "ts": 1000.25,
        "args": {"Total Reserved": 0, "Total Allocated": 148, "Bytes": 48, "Device Id": -1, "Device Type": 0,
                 "Addr": 4096, "Ev Idx": 3},
    }  # fmt: skip
    rule = next(event for event in events if event["name"] == "MmBackward0")
    assert (rule["args"]["External id"], rule["args"]["Ev Idx"], rule["args"]["Fwd thread id"]) == (8, 8, 1)
    accumulate = events[-1]
    assert "Sequence number" not in accumulate["args"] and "Fwd thread id" not in accumulate["args"]


def arrows(events):
    """Pairs of the names of the events that arrows go from and to."""
    names = {}
    ends = {}
    for event in events:
        if event["ph"] == "X":
            names[event["tid"], event["ts"]] = event["name"]
        elif event["ph"] in "sf":
            ends.setdefault(event["id"], []).append(names[event["tid"], event["ts"]])
    return sorted(map(tuple, ends.values()))


def test_arrows_go_from_the_innermost_op_to_the_rule(tmp_path):
    _, events = written(tmp_path, STEP)
    assert arrows(events) == [("aten::mm", "MmBackward0"), ("aten::sum", "SumBackward0")]


def test_a_second_backward_has_no_arrow(tmp_path):
    late = [row._replace(start_ns=row.start_ns + 10**9) for row in STEP if "Backward" in row.name]
    _, events = written(tmp_path, STEP + late)
    assert len(arrows(events)) == 2


def test_numbers_of_other_threads_are_not_mixed_up(tmp_path):
    rows = [
        TraceRow("one", 1, 1000, 10, sequence_nr=0),
        TraceRow("two", 2, 2000, 10, sequence_nr=0),
        TraceRow("rule of two", 1, 3000, 10, scope=1, sequence_nr=0, fwd_thread=2),
        TraceRow("rule of three", 1, 4000, 10, scope=1, sequence_nr=0, fwd_thread=3),
    ]
    _, events = written(tmp_path, rows)
    assert arrows(events) == [("two", "rule of two")]


def test_an_op_of_a_rule_has_an_arrow_of_its_own(tmp_path):
    """With create_graph, ops in rules make nodes."""
    rows = [
        TraceRow("mul", 1, 1000, 10, sequence_nr=0),
        TraceRow("MulBackward0", 1, 2000, 500, scope=1, sequence_nr=0, fwd_thread=1),
        TraceRow("mul in rule", 1, 2100, 10, sequence_nr=1),
        TraceRow("second MulBackward0", 1, 3000, 10, scope=1, sequence_nr=1, fwd_thread=1),
    ]
    _, events = written(tmp_path, rows)
    assert arrows(events) == [("mul", "MulBackward0"), ("mul in rule", "second MulBackward0")]


NAMES = ['say "hello"', "a\nb\tc", "back\\slash", "名前 и имя", "\ud800 alone", "", "\x00\x1f", "</script>", "{}[]"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_escaped(tmp_path, name):
    _, events = written(tmp_path, [TraceRow(name, 1, 0, 1, args=name, stack=[name])])
    assert (events[-1]["name"], events[-1]["args"]["Args"], events[-1]["args"]["Call stack"]) == (name,) * 3


def test_inputs(tmp_path):
    row = TraceRow(
        "aten::add", 1, 0, 1, shapes=[[3, 4], [3, 4], []], strides=[[4, 1], [4, 1], []],
        dtypes=["float32", "bfloat16", "Scalar"], concrete_inputs=[None, None, 1], stack=["a.py(1): f", "a.py(2): g"],
    )  # fmt: skip
    _, events = written(tmp_path, [row])
    args = events[-1]["args"]
    assert args["Input Dims"] == [[3, 4], [3, 4], []] and args["Input Strides"] == [[4, 1], [4, 1], []]
    assert args["Input type"] == ["float", "c10::BFloat16", "Scalar"]
    assert args["Concrete Inputs"] == ["", "", "1"] and args["Call stack"] == "a.py(1): f;a.py(2): g"


def test_times_keep_their_nanoseconds(tmp_path):
    path = tmp_path / "trace.json"
    write_trace(path, [TraceRow("a", 1, 4_476_205_807_960_326, 1_845_007)])
    assert '"ts": 4476205807960.326, "dur": 1845.007' in path.read_text()


def test_metadata_and_identity(tmp_path):
    trace, _ = written(tmp_path, STEP, metadata={"model": {"layers": [1, 2]}, "host_name": "vm"})
    assert (trace["model"], trace["host_name"]) == ({"layers": [1, 2]}, "vm")
    assert len(trace["trace_id"]) == 32 and int(trace["trace_id"], 16) >= 0 and new_trace_id() != new_trace_id()
    assert {event["pid"] for event in trace["traceEvents"]} == {os.getpid()}
    with pytest.raises(ValueError, match="traceEvents"):
        write_trace(tmp_path / "other.json", STEP, metadata={"traceEvents": []})


def test_traces_can_be_compressed(tmp_path):
    plain, packed = tmp_path / "trace.json", tmp_path / "trace.json.gz"
    for path in (plain, packed):
        write_trace(path, STEP, trace_id="B5", metadata={"traceName": "x"}, compressed=path is packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert b"trace.json" not in packed.read_bytes() and packed.stat().st_size < plain.stat().st_size / 2


def test_no_events_make_a_trace(tmp_path):
    assert written(tmp_path, [])[1] == []


class Failing(list):
    def __iter__(self):
        yield from super().__iter__()
        self.passes = getattr(self, "passes", 0) + 1
        if self.passes == 2:
            raise KeyboardInterrupt


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text("old")
    for rows, metadata in [(STEP, {"a": object()}), (STEP, {"a": float("nan")}), (Failing(STEP), None)]:
        with pytest.raises((TypeError, ValueError, KeyboardInterrupt)):
            write_trace(path, rows, metadata=metadata)
        assert path.read_text() == "old" and os.listdir(tmp_path) == ["trace.json"]
    with pytest.raises(FileNotFoundError):
        write_trace(tmp_path / "no folder" / "trace.json", STEP)


@pytest.mark.skipif(os.name == "nt", reason="other permissions")
def test_files_keep_their_permissions_and_links(tmp_path):
    path, link = tmp_path / "trace.json", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_trace(link, STEP)
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    check(json.loads(path.read_text()))
    write_trace(os.devnull, STEP)
    assert not os.path.isfile(os.devnull)


def exported(tmp_path, events):
    path = tmp_path / "events.json"
    EventList(events).export_chrome_trace(str(path))
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_list_of_events(tmp_path):
    assert exported(tmp_path, []) == []
    lab = FunctionEvent(1, "lab", 1, 427.548, 2273.021, trace_name="lab")
    hidden = FunctionEvent(2, "mul", 1, 500, 600)
    kernels = FunctionEvent(3, "k", 1, 700, 710, trace_name="k")
    kernels.append_kernel("a", 0, 3)
    kernels.append_kernel("b", 0, 4)
    remote = FunctionEvent(4, "r", 3, 800, 810, trace_name="r", is_remote=True, node_id=4)
    at = {"tid": 1, "pid": "CPU functions"}
    assert exported(tmp_path, [lab, hidden, kernels, remote]) == [
        {"name": "lab", "ph": "X", "ts": 427.548, "dur": 2273.021 - 427.548, **at, "args": {}},
        {"name": "k", "ph": "X", "ts": 700, "dur": 10, **at, "args": {}},
        {"name": "k", "ph": "s", "ts": 700, **at, "id": 0, "cat": "cpu_to_cuda", "args": {}},
        {"name": "k", "ph": "s", "ts": 700, **at, "id": 1, "cat": "cpu_to_cuda", "args": {}},
        {"name": "r", "ph": "X", "ts": 800, "dur": 10, **at, "tid": " node_id:4, thread_id:3 ", "args": {}},
    ]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_lists_are_escaped(tmp_path, name):
    (event,) = exported(tmp_path, [FunctionEvent(1, "n", 1, 0, 1, trace_name=name)])
    assert event["name"] == name


def test_stacks(tmp_path):
    frames = ["h.py(87): fn", "h.py(86): <module>"]
    events = EventList(
        FunctionEvent(i, "n", 1, 0, end, stack=stack)
        for i, (end, stack) in enumerate(
            [(22.9, frames), (0.9, frames), (5, []), (5, None), (3, ["a;b c\td\ne", "caf\udce9"])], 1
        )
    )
    path = tmp_path / "stacks.txt"
    events.export_stacks(path, "self_cpu_time_total")
    assert path.read_bytes() == b"h.py(86):_<module>;h.py(87):_fn 22\ncaf\xe9;a_b_c_d_e 3\n"
    for metric in events.supported_export_stacks_metrics()[1:]:
        events.export_stacks(str(path), metric)
        assert path.read_bytes() == b""
    with pytest.raises(ValueError, match=r"metric should be one of: .'self_cpu_time_total', 'self_cuda_time_total'"):
        events.export_stacks(path, "cpu_time")
