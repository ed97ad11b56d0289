"""Files for trace viewers and for tools that draw flame graphs.

`write_trace` writes a whole profile in the trace event format of Chrome, which Perfetto opens: a complete event ("X")
per call, an instant event ("i") per change of memory, and an arrow ("s" to "f") from the op that made a node to the
rule of the node. `write_events` writes the plain list of `EventList.export_chrome_trace`, `write_stacks` the lines of
`EventList.export_stacks`. All are written piece by piece, and appear at their path when they are whole.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import IO, Any, NamedTuple, cast

from retrograd._files import Path, replacing
from retrograd.autograd._profiler.events import BACKWARD, FORWARD, DeviceType, FunctionEvent

__all__ = ["MemoryChange", "TraceRow", "new_trace_id", "write_events", "write_stacks", "write_trace"]


class MemoryChange(NamedTuple):
    """Memory that was allocated, or released: `size` bytes, negative when released, at an address.

    `total` is how many bytes are allocated after it.

    >>> from retrograd.autograd._profiler.trace import MemoryChange
    >>> MemoryChange(size=-48, total=0, address=4096).size
    -48
    """

    size: int
    total: int
    address: int


class TraceRow(NamedTuple):
    """What a trace says about one event; with `memory`, about a change of memory, which takes no time.

    `thread` and `fwd_thread` are the small numbers of `FunctionEvent`. `start_ns` is of a monotonic clock. `dtypes` are
    names such as "float32", "Scalar" for a number, and "" for what is neither; `args` is the text that a label came
    with. What was not recorded is None.

    >>> from retrograd.autograd._profiler.trace import TraceRow
    >>> TraceRow("aten::mul", thread=1, start_ns=1000, duration_ns=250).scope
    0
    """

    name: str
    thread: int
    start_ns: int
    duration_ns: int = 0
    scope: int = FORWARD
    sequence_nr: int = -1
    fwd_thread: int | None = 0
    is_user_annotation: bool = False
    args: str | None = None
    shapes: Sequence[Any] | None = None
    strides: Sequence[Any] | None = None
    dtypes: Sequence[str] | None = None
    concrete_inputs: Sequence[Any] | None = None
    stack: Sequence[str] | None = None
    memory: MemoryChange | None = None


# Dtypes as they are called in traces.
_TYPE_NAMES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex32": "c10::complex<c10::Half>",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def new_trace_id() -> str:
    """A name for a trace that no other one has: 32 hexadecimal digits.

    >>> from retrograd.autograd._profiler.trace import new_trace_id
    >>> len(new_trace_id())
    32
    """
    return secrets.token_hex(16).upper()


def write_trace(
    path: Path,
    rows: Collection[TraceRow],
    *,
    metadata: Mapping[str, Any] | None = None,
    trace_id: str | None = None,
    host_name: str = "",
    pid: int | None = None,
    tids: Mapping[int, int] | None = None,
    compressed: bool = False,
) -> None:
    """Write a profile as one JSON object in the trace event format.

    Args: `path` the file, which is replaced; `rows` the events in order of start, gone through twice; `metadata` more
    members of the object, JSON values by name; `trace_id` by default a new one; `pid` by default that of this process;
    `tids` the number that the system has for a thread, by the number in the rows, which is the default; `compressed`
    whether to write it by gzip. The trace is meant to be shown to others, so it names the computer only by the
    `host_name` given.
    Raises: ValueError if `metadata` has events; TypeError or ValueError for what is no JSON. The file stays as it was.

    >>> import json, os, tempfile
    >>> from retrograd.autograd._profiler.trace import TraceRow, write_trace
    >>> rows = [
    ...     TraceRow("aten::mul", thread=1, start_ns=1000, duration_ns=250, sequence_nr=0),
    ...     TraceRow("MulBackward0", thread=1, start_ns=2000, duration_ns=500, scope=1, sequence_nr=0, fwd_thread=1),
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "trace.json")
    ...     write_trace(path, rows)
    ...     with open(path) as file:
    ...         trace = json.load(file)
    >>> for event in trace["traceEvents"][5:]:
    ...     print(event["ph"], event["name"], event["ts"])
    X aten::mul 1.0
    s fwdbwd 1.0
    X MulBackward0 2.0
    f fwdbwd 2.0
    """
    if metadata is not None and "traceEvents" in metadata:
        raise ValueError("metadata cannot have 'traceEvents', which are what the profile recorded")
    top = {
        "schemaVersion": 1,
        "deviceProperties": [],
        "trace_id": new_trace_id() if trace_id is None else trace_id,
        "host_name": host_name,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": 0,
        "traceName": os.fsdecode(path),
        **(metadata or {}),
    }
    head = _json(top)
    writer = _Writer(os.getpid() if pid is None else pid, tids or {})
    starts, ends = _arrows(rows)
    with replacing(path) as plain, _compressing(plain) if compressed else nullcontext(plain) as file:
        file.write(f'{head[:-1]}, "traceEvents": [\n'.encode())
        separator = b""
        for index, row in enumerate(rows):
            for text in writer.lines(index, row, starts.get(index), ends.get(index)):
                file.write(separator + text.encode())
                separator = b",\n"
        file.write(b"\n]}\n")


def _compressing(file: IO[bytes]) -> IO[bytes]:
    """A file whose contents come out compressed in another one, without the name of that or the time."""
    import gzip

    return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=file, mtime=0))


def _arrows(rows: Iterable[TraceRow]) -> tuple[dict[int, int], dict[int, int]]:
    """The ids of arrows by the index of the event that they start at, and by that of the one that they end at.

    An arrow goes from the last forward event before the rule of a node that has its number, so the innermost, to the
    first run of that rule.
    """
    forward: dict[tuple[int | None, int], int] = {}
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for index, row in enumerate(rows):
        if row.sequence_nr < 0:
            continue
        if row.scope == BACKWARD:
            origin = forward.get((row.fwd_thread, row.sequence_nr))
            if origin is not None and origin not in starts:
                starts[origin] = ends[index] = len(starts) + 1
        elif row.scope == FORWARD and not row.fwd_thread:
            forward[row.thread, row.sequence_nr] = index
    return starts, ends


# `json.dumps` makes an encoder for every call that wants other than its defaults.
_json = json.JSONEncoder(allow_nan=False).encode


def _microseconds(ns: int) -> str:
    """A time as microseconds with three decimals; a float would not have enough digits."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{ns // 1000}.{ns % 1000:03d}"


class _Writer:
    """Writes the events of a process one by one."""

    def __init__(self, pid: int, tids: Mapping[int, int]) -> None:
        self.pid = pid
        self.tids = tids
        self.places: dict[int, str] = {}  # by thread: where its events belong
        self.calls = 0
        self.name = functools.lru_cache(4096)(_json)  # names recur

    def lines(self, index: int, row: TraceRow, arrow_from: int | None, arrow_to: int | None) -> list[str]:
        """The event of a row; before it what introduces its thread, after it the ends of arrows."""
        ts = f'"ts": {_microseconds(row.start_ns)}'
        lines = [] if row.thread in self.places else self.introduced(row.thread, ts)
        at = f"{self.places[row.thread]}, {ts}"
        if row.memory is not None:
            args = {
                "Total Reserved": 0,
                "Total Allocated": row.memory.total,
                "Bytes": row.memory.size,
                "Device Id": -1,
                "Device Type": DeviceType.CPU.value,
                "Addr": row.memory.address,
                "Ev Idx": index,
            }
            name = self.name(row.name)
            lines.append(
                f'{{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": {name}, {at}, "args": {_json(args)}}}'
            )
            return lines
        self.calls += 1
        args_text = f'"External id": {self.calls}, "Record function id": 0'
        if row.sequence_nr != -1:
            args_text += f', "Sequence number": {row.sequence_nr}, "Fwd thread id": {row.fwd_thread or 0}'
        recorded = _recorded(row)
        if recorded:
            args_text += f", {_json(recorded)[1:-1]}"
        kind = "user_annotation" if row.is_user_annotation else "cpu_op"
        lines.append(
            f'{{"ph": "X", "cat": "{kind}", "name": {self.name(row.name)}, {at}, '
            f'"dur": {_microseconds(row.duration_ns)}, "args": {{{args_text}, "Ev Idx": {index}}}}}'
        )
        if arrow_from is not None:
            lines.append(f'{{"ph": "s", "id": {arrow_from}, {at}, "cat": "fwdbwd", "name": "fwdbwd"}}')
        if arrow_to is not None:
            lines.append(f'{{"ph": "f", "id": {arrow_to}, {at}, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"}}')
        return lines

    def introduced(self, thread: int, ts: str) -> list[str]:
        """What introduces a thread, and with the first thread the process."""
        facts: list[tuple[int, str, dict[str, Any]]] = []
        if not self.places:
            facts += [
                (0, "process_name", {"name": "python"}),
                (0, "process_labels", {"labels": "CPU"}),
                (0, "process_sort_index", {"sort_index": self.pid}),
            ]
        tid = self.tids.get(thread, thread)
        facts += [
            (tid, "thread_name", {"name": f"thread {tid} (python)"}),
            (tid, "thread_sort_index", {"sort_index": tid}),
        ]
        self.places[thread] = f'"pid": {self.pid}, "tid": {tid}'
        return [
            f'{{"ph": "M", "name": "{name}", "pid": {self.pid}, "tid": {where}, {ts}, "args": {_json(args)}}}'
            for where, name, args in facts
        ]


def _recorded(row: TraceRow) -> dict[str, Any]:
    """What only some sessions record, and only of some events."""
    args: dict[str, Any] = {}
    if row.shapes:
        args["Input Dims"] = row.shapes
    if row.dtypes:
        args["Input type"] = [_TYPE_NAMES.get(name, name) for name in row.dtypes]
    if row.strides:
        args["Input Strides"] = row.strides
    if row.concrete_inputs:
        args["Concrete Inputs"] = ["" if value is None else str(value) for value in row.concrete_inputs]
    if row.stack:
        args["Call stack"] = ";".join(row.stack)
    if row.args is not None:
        args["Args"] = row.args
    return args


def write_events(path: Path, events: Iterable[FunctionEvent]) -> None:
    """Write the events that have a `trace_name` as a list, each followed by an arrow per kernel on a device.

    >>> import os, tempfile
    >>> from retrograd.autograd._profiler.trace import write_events
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "trace.json")
    ...     write_events(path, [])
    ...     with open(path) as file:
    ...         file.read()
    '[]'
    """
    arrows = 0
    with replacing(path) as file:
        file.write(b"[")
        separator = b""
        for event in events:
            if event.trace_name is None:
                continue
            span = event.time_range
            thread: int | str = event.thread
            if event.is_remote:
                thread = f" node_id:{event.node_id}, thread_id:{event.thread} "
            name: dict[str, Any] = {"name": event.trace_name}
            at = {"tid": thread, "pid": "CPU functions"}
            lines = [{**name, "ph": "X", "ts": span.start, "dur": span.elapsed_us(), **at, "args": {}}]
            for _ in event._kernels or ():
                arrow = {"id": arrows, "cat": "cpu_to_cuda", "args": {}}
                lines.append({**name, "ph": "s", "ts": span.start, **at, **arrow})
                arrows += 1
            for line in lines:
                file.write(separator + _json(line).encode())
                separator = b", "
        file.write(b"]")


_NO_SEPARATORS = str.maketrans(" ;\t\n", "____")


def write_stacks(path: Path, stacks: Iterable[tuple[Sequence[str], float]]) -> None:
    """Write a line per stack whose number is at least 1: the frames, outermost first, and the number without decimals.

    >>> import os, tempfile
    >>> from retrograd.autograd._profiler.trace import write_stacks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "stacks.txt")
    ...     write_stacks(path, [(["a.py(2): f", "a.py(5): g"], 4.7), (["a.py(9): h"], 0.2)])
    ...     with open(path) as file:
    ...         file.read()
    'a.py(5):_g;a.py(2):_f 4\\n'
    """
    with replacing(path) as file:
        for stack, number in stacks:
            if int(number) > 0:
                frames = ";".join(frame.translate(_NO_SEPARATORS) for frame in reversed(stack))
                file.write(f"{frames} {int(number)}\n".encode(errors="surrogateescape"))
