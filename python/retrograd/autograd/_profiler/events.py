"""What a profile consists of: events, and averages of events.

Times are microseconds, memory is in bytes. Devices other than the CPU are not there: their times are 0.
"""

from __future__ import annotations

import enum
import warnings
from typing import Any, NamedTuple, Self

from retrograd.autograd._profiler.formats import FormattedTimesMixin

__all__ = [
    "DeviceType",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
]

# The scopes of events: `FunctionEvent.scope`.
FORWARD, BACKWARD, LABEL = 0, 1, 7


class DeviceType(enum.Enum):
    """The kinds of device that an event can have run on. All that is recorded here runs on the CPU.

    >>> print(rg.autograd.DeviceType.CPU)
    DeviceType.CPU
    """

    CPU = 0
    CUDA = 1

    __hash__ = object.__hash__  # there is one of each, and averages of millions of events group by it


_CPU = DeviceType.CPU  # looking up a member takes longer than what it is compared with


class Interval:
    """The time from `start` to `end`, in microseconds.

    >>> rg.autograd.profiler_util.Interval(1, 3.5).elapsed_us()
    2.5
    """

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """The length of the interval in microseconds."""
        return self.end - self.start


class Kernel(NamedTuple):
    """What ran on a device for an event: `duration` is in the unit of the file that it was read from.

    >>> rg.autograd.profiler_util.Kernel("gemm", 0, 20)
    Kernel(name='gemm', device=0, duration=20)
    """

    name: str
    device: int
    duration: float


class EventMetadata(NamedTuple):
    """What a tool for devices says of a kernel, a copy or a message between processes. No event has it here.

    >>> len(rg.autograd.profiler_util.EventMetadata._fields)
    35
    """

    registers_per_thread: int | None
    shared_memory: int | None
    grid: list[int] | None
    block: list[int] | None
    priority: int | None
    blocks_per_sm: float | None
    warps_per_sm: float | None
    occupancy: dict[str, Any] | None
    est_occupancy_pct: float | None
    queued: int | None
    graph_id: int | None
    graph_node_id: int | None
    stream: int | None
    context: int | None
    channel: int | None
    channel_type: int | None
    bytes: int | None
    bandwidth_gb_s: float | None
    collective_name: str | None
    dtype: str | None
    in_msg_nelems: int | None
    out_msg_nelems: int | None
    in_split_size: str | None
    out_split_size: str | None
    global_rank_start: int | None
    global_rank_stride: int | None
    group_size: int | None
    process_group_name: str | None
    process_group_desc: str | None
    group_ranks: str | None
    rank: int | None
    src_rank: int | None
    dst_rank: int | None
    seq: int | None
    is_async: bool | None


def _old(name: str, instead: str) -> None:
    warnings.warn(f"`{name}` is deprecated. Use `{instead}` instead.", FutureWarning, stacklevel=3)


class FunctionEvent(FormattedTimesMixin):
    """One recorded call of an op, of a node of the graph, of a custom function, or one run of a labelled block.

    A profile makes them. Of note: `key`, the name; `time_range`, an `Interval`; `cpu_parent` and `cpu_children`, the
    event around this one and those right inside; `sequence_nr` and `fwd_thread`, which tie backward events to forward
    ones; `scope`, 0 for forward, 1 for the rule of a node, 7 for labels; with the options of the profile
    `input_shapes`, `concrete_inputs`, `stack`, `flops` and `cpu_memory_usage`.

    >>> util = rg.autograd.profiler_util
    >>> outer = util.FunctionEvent(id=1, name="matmul", thread=1, start_us=0, end_us=10)
    >>> inner = util.FunctionEvent(id=2, name="mm", thread=1, start_us=1, end_us=9)
    >>> outer.append_cpu_child(inner)
    >>> inner.set_cpu_parent(outer)
    >>> outer.cpu_time_total, outer.self_cpu_time_total
    (10, 2)
    >>> inner.append_kernel("gemm", 0, 5)
    >>> inner.kernels
    [Kernel(name='gemm', device=0, duration=5)]
    """

    # A profile holds millions of these, so what differs from event to event has a slot. The rest has its usual value in
    # the class, and another one in the dict of the instance.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_children",
        "_kernels",
        "concrete_inputs",
        "cpu_memory_usage",
        "cpu_parent",
        "device_resource_id",
        "flops",
        "fwd_thread",
        "id",
        "input_shapes",
        "is_user_annotation",
        "name",
        "overload_name",
        "scope",
        "sequence_nr",
        "stack",
        "thread",
        "time_range",
        "trace_name",
    )

    count: int = 1
    self_cpu_percent: Any = -1
    total_cpu_percent: Any = -1
    total_device_percent: Any = -1

    use_device: str | None = None
    device_memory_usage: float = 0
    is_async: bool = False
    is_remote: bool = False
    node_id: int = -1
    device_type: DeviceType = DeviceType.CPU
    device_index: int = 0
    is_legacy: bool = False
    kwinputs: Any = None
    is_python_function: bool = False
    activity_type: Any = None
    metadata_json: Any = None
    flow_id: Any = None
    flow_type: Any = None
    flow_start: Any = None
    external_id: int = 0
    linked_correlation_id: int = 0
    extra_meta: Any = None
    structured_input_shapes: Any = None
    structured_input_strides: Any = None
    input_dtypes: Any = None
    python_id: int = -1
    python_parent_id: int = -1
    python_module_id: int = -1

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: Any = None,
        stack: list[str] | None = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: float = 0,
        device_memory_usage: float = 0,
        is_async: bool = False,
        is_remote: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: DeviceType = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        is_legacy: bool = False,
        flops: float | None = None,
        trace_name: str | None = None,
        concrete_inputs: Any = None,
        kwinputs: Any = None,
        is_user_annotation: bool = False,
        is_python_function: bool = False,
        activity_type: Any = None,
        metadata_json: Any = None,
        flow_id: Any = None,
        flow_type: Any = None,
        flow_start: Any = None,
        external_id: int = 0,
        linked_correlation_id: int = 0,
        extra_meta: Any = None,
        structured_input_shapes: Any = None,
        structured_input_strides: Any = None,
        input_dtypes: Any = None,
        python_id: int = -1,
        python_parent_id: int = -1,
        python_module_id: int = -1,
    ) -> None:
        self.id = id
        self.name = name
        self.thread = thread
        self.time_range = Interval(start_us, end_us)
        self.overload_name = overload_name
        self.fwd_thread = fwd_thread
        self.input_shapes = input_shapes
        self.stack = stack
        self.scope = scope
        self.cpu_memory_usage = cpu_memory_usage
        self.sequence_nr = sequence_nr
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.flops = flops
        self.trace_name = trace_name
        self.concrete_inputs = concrete_inputs
        self.is_user_annotation = is_user_annotation
        self.cpu_parent: FunctionEvent | None = None
        self._children: list[FunctionEvent] | None = None  # these lists are made when they are asked for
        self._kernels: list[Kernel] | None = None
        unusual = (
            use_device,
            device_memory_usage,
            is_async,
            is_remote,
            node_id,
            device_type,
            device_index,
            is_legacy,
            kwinputs,
            is_python_function,
            activity_type,
            metadata_json,
            flow_id,
            flow_type,
            flow_start,
            external_id,
            linked_correlation_id,
            extra_meta,
            structured_input_shapes,
            structured_input_strides,
            input_dtypes,
            python_id,
            python_parent_id,
            python_module_id,
        )
        if unusual != _USUAL_VALUES:
            self.__dict__.update(zip(_USUAL, unusual, strict=True))

    @property
    def key(self) -> str:
        """What averages group by: the name."""
        return self.name

    @property
    def cpu_children(self) -> list[FunctionEvent]:
        """The events right inside this one, in order of start."""
        if self._children is None:
            self._children = []
        return self._children

    @cpu_children.setter
    def cpu_children(self, children: list[FunctionEvent]) -> None:
        self._children = children

    @property
    def kernels(self) -> list[Kernel]:
        """What ran on a device for this event."""
        if self._kernels is None:
            self._kernels = []
        return self._kernels

    @kernels.setter
    def kernels(self, kernels: list[Kernel]) -> None:
        self._kernels = kernels

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Note that a kernel ran on a device for this event."""
        self._check_on_cpu()
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Make an event the last of `cpu_children`. The parent of `child` is set by `child.set_cpu_parent`."""
        self._check_on_cpu()
        _check_relative("child", child)
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Make an event the `cpu_parent`. Its list of children is left to `parent.append_cpu_child`."""
        self._check_on_cpu()
        _check_relative("parent", parent)
        self.cpu_parent = parent

    def _check_on_cpu(self) -> None:
        if self.device_type is not _CPU:
            raise AssertionError("Expected device_type to be CPU")

    @property
    def cpu_time_total(self) -> float:
        """The time from start to end in microseconds, children included."""
        if self.device_type is not _CPU:
            return 0
        span = self.time_range
        return span.end - span.start

    @property
    def self_cpu_time_total(self) -> float:
        """The time in microseconds that was not spent in children; 0 for an event that is async."""
        if self.is_async or self.device_type is not _CPU:
            return 0
        children = self._children
        return self.cpu_time_total - sum([c.cpu_time_total for c in children]) if children else self.cpu_time_total

    @property
    def self_cpu_memory_usage(self) -> float:
        """The bytes that this event, and no child of it, allocated minus those released; 0 for one that is async."""
        if self.is_async or self.device_type is not _CPU:
            return 0
        children = self._children
        return (
            self.cpu_memory_usage - sum([c.cpu_memory_usage for c in children]) if children else self.cpu_memory_usage
        )

    @property
    def self_device_memory_usage(self) -> float:
        """The bytes of a device that this event, and no child of it, allocated minus those released."""
        if self.is_async or self.device_type is not _CPU:
            return 0
        children = self._children
        own = self.device_memory_usage
        return own - sum([c.device_memory_usage for c in children]) if children else own

    @property
    def device_time_total(self) -> float:
        """The time on devices: 0."""
        return 0

    @property
    def self_device_time_total(self) -> float:
        """The time on devices that was not spent in children: 0."""
        return 0

    @property
    def cuda_time_total(self) -> float:
        """The old name of `device_time_total`."""
        _old("cuda_time_total", "device_time_total")
        return self.device_time_total

    @property
    def self_cuda_time_total(self) -> float:
        """The old name of `self_device_time_total`."""
        _old("self_cuda_time_total", "self_device_time_total")
        return self.self_device_time_total

    @property
    def self_cuda_memory_usage(self) -> float:
        """The old name of `self_device_memory_usage`."""
        _old("self_cuda_memory_usage", "self_device_memory_usage")
        return self.self_device_memory_usage

    def __repr__(self) -> str:
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self._children or ()]} {device}_time={self.device_time_str} "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage} "
            f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} "
            f"is_legacy={self.is_legacy}>"
        )


_USUAL = (
    "use_device",
    "device_memory_usage",
    "is_async",
    "is_remote",
    "node_id",
    "device_type",
    "device_index",
    "is_legacy",
    "kwinputs",
    "is_python_function",
    "activity_type",
    "metadata_json",
    "flow_id",
    "flow_type",
    "flow_start",
    "external_id",
    "linked_correlation_id",
    "extra_meta",
    "structured_input_shapes",
    "structured_input_strides",
    "input_dtypes",
    "python_id",
    "python_parent_id",
    "python_module_id",
)
_USUAL_VALUES = tuple(getattr(FunctionEvent, name) for name in _USUAL)


def _check_relative(role: str, event: object) -> None:
    if not isinstance(event, FunctionEvent):
        raise AssertionError(f"Expected {role} to be a FunctionEvent")
    if event.device_type is not _CPU:
        raise AssertionError(f"Expected {role} device_type to be CPU")


class FunctionEventAvg(FormattedTimesMixin):
    """Sums over events of one key: times in microseconds, bytes, FLOPs, and how many they are, in `count`.

    What has no sum, such as `input_shapes` or `scope`, is that of the first event.

    >>> util = rg.autograd.profiler_util
    >>> average = util.FunctionEventAvg()
    >>> for start in (0, 20):
    ...     average = average.add(util.FunctionEvent(id=1, name="mul", thread=1, start_us=start, end_us=start + 4))
    >>> average.key, average.count, average.cpu_time_total, average.cpu_time
    ('mul', 2, 8, 4.0)
    """

    self_cpu_percent: Any = -1
    total_cpu_percent: Any = -1

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.is_async = False
        self.is_remote = False
        self.use_device: str | None = None
        self.cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.self_device_time_total: float = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.scope: int | None = None
        self.cpu_memory_usage: float = 0
        self.device_memory_usage: float = 0
        self.self_cpu_memory_usage: float = 0
        self.self_device_memory_usage: float = 0
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type = DeviceType.CPU
        self.is_legacy = False
        self.flops: float = 0
        self.is_user_annotation = False

    def add(self, other: FunctionEvent | FunctionEventAvg) -> Self:
        """Count an event, or all that are counted in another average, here as well.

        Returns: this average.
        Raises: AssertionError if `other` has another key.
        """
        if self.key is not None and other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        return self._include(other)

    __iadd__ = add

    def _include(self, other: FunctionEvent | FunctionEventAvg) -> Self:
        """`add`, whatever the key."""
        if self.key is None:
            self.key = other.key
            self.node_id = other.node_id
            self.is_async = other.is_async
            self.is_remote = other.is_remote
            self.cpu_parent = other.cpu_parent
            self.cpu_children = other.cpu_children
            self.overload_name = other.overload_name
            self.input_shapes = other.input_shapes
            self.stack = other.stack
            self.scope = other.scope
            self.device_type = other.device_type
            self.is_legacy = other.is_legacy
            self.use_device = other.use_device
            self.is_user_annotation = other.is_user_annotation
        self.cpu_time_total += other.cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.self_device_time_total += other.self_device_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.device_memory_usage += other.device_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.self_device_memory_usage += other.self_device_memory_usage
        self.count += other.count
        self.flops += other.flops or 0
        return self

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
            f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )
