"""`profile` and `record_function`: what runs in a block, and parts of it that have a name."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from retrograd import _core
from retrograd._drawing import Drawing
from retrograd._files import Path
from retrograd.autograd._profiler import flame, trace
from retrograd.autograd._profiler.config import ProfilerConfig, ProfilerState
from retrograd.autograd._profiler.events import FunctionEventAvg
from retrograd.autograd._profiler.lists import EventList
from retrograd.autograd._profiler.session import Session
from retrograd.autograd._profiler.timeline import MemoryTimeline
from retrograd.autograd._profiler.top import Top

__all__ = ["profile", "record_function"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_ABSENT_DEVICES = ("cuda", "xpu", "hpu", "mtia")


class profile:
    """Inside the block, note every op, every node of a backward pass, custom Functions and labels, with their times.

    The session is that of the thread; what other threads run is not noted. Each block needs a `profile` of its own.
    With the block's end the events are there: as a list, summed up by name, as a table, and as a file for a trace
    viewer.

    Args: `enabled` False notes nothing, and gives None to `as`; `record_shapes` notes the arguments of ops;
    `with_flops` estimates FLOPs from them; `profile_memory` notes bytes allocated and released; `with_stack` notes the
    lines that calls came through; `custom_trace_id_callback` is called for the name of the trace. `use_cuda`,
    `use_device` and `use_cpu` are torch's: there is the CPU alone. The others are kept, and change nothing.
    Raises: RuntimeError if a session is open on this thread, or the object was entered before.

    >>> x = rg.ones(2, 3, requires_grad=True)
    >>> with rg.autograd.profiler.profile(record_shapes=True) as prof:
    ...     (x * 2).exp().sum().backward()
    >>> [event.name for event in prof.function_events[:4]]
    ['aten::mul', 'aten::exp', 'aten::sum', 'aten::ones_like']
    >>> prof.function_events[0].input_shapes, prof.function_events[0].count
    ([[2, 3], []], 1)
    >>> {average.key: average.count for average in prof.key_averages()}["MulBackward0"]
    1
    >>> prof.total_average().count == len(prof.function_events)
    True
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     prof.export_chrome_trace(os.path.join(folder, "trace.json"))
    ...     prof.export_stacks(os.path.join(folder, "stacks.txt"))
    ...     sorted(os.listdir(folder))
    ['stacks.txt', 'trace.json']
    >>> prof.toggle_collection_dynamic(True, [])
    >>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=3))  # doctest: +SKIP
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Any = None,
    ) -> None:
        self.enabled = enabled
        self.use_cuda = use_cuda
        self.use_device = use_device
        self.entered = False
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.use_kineto = use_kineto
        self.use_cpu = use_cpu
        self.experimental_config = experimental_config
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.activity_filters = activity_filters
        self.trace_id = ""
        self.profiler_kind = ProfilerState.KINETO
        self._session: Session | None = None
        self._events: EventList | None = None
        if not enabled:
            return
        if use_cuda:
            warnings.warn(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=2,
            )
            self.use_device = "cuda"
        if self.use_device is not None:
            if self.use_device in _ABSENT_DEVICES:
                name = self.use_device.upper()
                warnings.warn(f"{name} is not available, disabling {name} profiling", stacklevel=2)
            else:
                warnings.warn(f"The {self.use_device} is not a valid device option.", stacklevel=2)
            self.use_device = None
        if not use_cpu:
            raise AssertionError(
                "No activities specified for the profiler: there is the CPU alone"
                if use_kineto
                else "Device-only events supported only with Kineto (use_kineto=True)"
            )

    def default_trace_id(self) -> str:
        """A name for a trace that no other one has.

        >>> len(rg.autograd.profiler.profile().default_trace_id())
        32
        """
        return trace.new_trace_id()

    def create_trace_id(self) -> str:
        """A name for the trace: what `custom_trace_id_callback` returns, or else the default one.

        >>> rg.autograd.profiler.profile(custom_trace_id_callback=lambda: "mine").create_trace_id()
        'mine'
        """
        callback = self.custom_trace_id_callback
        return self.default_trace_id() if callback is None else callback()

    def config(self, create_trace_id: bool = False) -> ProfilerConfig:
        """What is to be noted. With `create_trace_id` the trace gets a new name.

        >>> prof = rg.autograd.profiler.profile(record_shapes=True)
        >>> prof.config(create_trace_id=True).trace_id == prof.trace_id != ""
        True
        """
        if create_trace_id:
            self.trace_id = self.create_trace_id()
        return ProfilerConfig(
            self.profiler_kind,
            self.record_shapes,
            self.profile_memory,
            self.with_stack,
            self.with_flops,
            self.with_modules,
            self.experimental_config,
            self.trace_id,
        )

    def __enter__(self) -> Self | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(
                "Profiler context manager is not reentrant: it keeps what it noted: another block needs another profile"
            )
        session = Session(
            shapes=self.record_shapes, memory=self.profile_memory, stacks=self.with_stack, flops=self.with_flops
        )
        self.entered = True
        self._session = session
        try:
            self.trace_id = self.create_trace_id()
        except BaseException:
            session.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._session.close()

    @property
    def _ended(self) -> Session | None:
        return self._session if self._session is not None and self._session.ended else None

    @property
    def function_events(self) -> EventList:
        """The events, in order of start; none before the block has ended."""
        if self._events is None:
            if self._ended is None:
                empty = EventList(profile_memory=self.profile_memory, with_flops=self.with_flops)
                empty._build_tree()
                return empty
            self._events = self._ended.events()
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events summed up by name; see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """The sum over all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the self times of all events, in microseconds."""
        return self.function_events.self_cpu_time_total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int | None = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as a table; see `EventList.table`."""
        return self.function_events.table(
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
        )

    def export_chrome_trace(
        self, path: Path, metadata: Mapping[str, Any] | None = None, use_python_export: bool = False
    ) -> None:
        """Write a file that trace viewers (Perfetto, chrome://tracing) open; gzipped if its name ends so.

        Args: `metadata` JSON values by name, put beside the events; `use_python_export` writes the plain list of
        `EventList.export_chrome_trace` instead.
        Raises: RuntimeError if there is nothing to write: the block has not ended, or the profile is not enabled.
        """
        session = self._ended
        if session is None:
            raise RuntimeError("There is no trace: the block of the profile has not ended, or it is not enabled")
        if use_python_export:
            self.function_events.export_chrome_trace(path)
            return
        trace.write_trace(
            path,
            session.rows(),
            metadata=metadata,
            trace_id=self.trace_id,
            tids=session.tids,
            compressed=os.fsdecode(path).endswith(".gz"),
        )

    def export_stacks(self, path: Path, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks with a number each, for tools that draw flame graphs; see `EventList.export_stacks`."""
        self.function_events.export_stacks(path, metric)

    def draw(self, *, width: int = 1200, arrows: int = 40, between: tuple[float, float] | None = None) -> Drawing:
        """A flame chart: a bar per event, time to the right, forward above and backward below.

        Arrows lead from ops to the rules of the nodes that they made. A pointer over a bar shows what it is. Events
        that are too narrow to be seen are one grey bar with their neighbours.

        Args: `width` in pixels; `arrows` how many to draw at most, to the rules that take longest; `between` two times
        in microseconds from the beginning, to show what is between them.
        Returns: a `Drawing`, the text of an SVG file, which a notebook shows as the picture.
        Raises: RuntimeError before the block has ended; ValueError for a width below 300, fewer than no arrows, or an
        empty part.

        >>> with rg.autograd.profiler.profile() as prof:
        ...     rg.ones(3, requires_grad=True).exp().sum().backward()
        >>> picture = prof.draw()
        >>> picture.startswith("<svg"), "ExpBackward0" in picture
        (True, True)
        """
        session = self._needed("draw")
        return flame.draw(session.spans, session.times[0], width=width, arrows=arrows, between=between)

    def top(self, row_limit: int = 30, sort_by: str = "total") -> Top:
        """Time by line of the program, whose `str` is a table.

        What the rule of a node takes counts as the backward of the line whose op made the node, and the rest of
        `backward()` for the line that called it. The times are self times, so they add up.

        Args: `row_limit` how many lines the table has, -1 for all; `sort_by` "total", "forward", "backward", "calls" or
        "memory".
        Raises: RuntimeError before the block has ended; ValueError for another `sort_by`.

        >>> x = rg.ones(3, requires_grad=True)
        >>> with rg.autograd.profiler.profile() as prof:
        ...     y = (x * 2).exp()
        >>> [(row.text, row.calls) for row in prof.top().rows]
        [('y = (x * 2).exp()', 2)]
        """
        spans = self._needed("top").spans
        return Top._of(spans, sort_by=sort_by, memory=self.profile_memory, row_limit=row_limit)

    def memory_timeline(self) -> MemoryTimeline:
        """Live bytes over the block, with their peak and the lines that held it.

        Raises: RuntimeError before the block has ended, or if the profile did not note memory.

        >>> with rg.autograd.profiler.profile(profile_memory=True) as prof:
        ...     x = rg.ones(1000).exp()
        >>> timeline = prof.memory_timeline()
        >>> timeline.peak, timeline.at_end
        (8000, 4000)
        """
        if not self.profile_memory:
            raise RuntimeError("memory_timeline needs a profile with profile_memory=True")
        session = self._needed("memory_timeline")
        return MemoryTimeline(session.changes(), session.spans, session.times)

    def _needed(self, what: str) -> Session:
        if self._ended is None:
            raise RuntimeError(f"{what}: there is no profile yet: its block has not ended, or it is not enabled")
        return self._ended

    def toggle_collection_dynamic(self, enabled: bool, activities: Any) -> None:
        """There is nothing to switch: sessions note all that runs on the CPU."""

    def __str__(self) -> str:
        return str(self.function_events)

    def __repr__(self) -> str:
        return repr(self.function_events)


class record_function(_core._RecordFunction):
    """A part of a program with a name, shown in profiles; a context manager, and a decorator. Free without a profile.

    Args: `name` the name; `args` a text that traces show with it.
    Raises: TypeError if they are no str.

    >>> with rg.autograd.profiler.profile() as prof:
    ...     with rg.autograd.profiler.record_function("twice"):
    ...         y = rg.ones(3) * 2
    >>> [(event.name, [child.name for child in event.cpu_children]) for event in prof.function_events][0]
    ('twice', ['aten::ones', 'aten::mul'])
    """

    __slots__ = ()

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """A function that does what `function` does, as a part with this name."""

        @functools.wraps(function)
        def labelled(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return labelled
