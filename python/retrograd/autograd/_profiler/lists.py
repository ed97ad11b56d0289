"""Lists of events: their tree, averages, tables and files."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from retrograd._files import Path
from retrograd.autograd._profiler import table, trace, tree
from retrograd.autograd._profiler.events import FunctionEventAvg

__all__ = ["EventList"]


class _Options(TypedDict, total=False):
    use_device: str | None
    profile_memory: bool
    with_flops: bool


class EventList(list[Any]):
    """A list of events, or of averages of events: what a profile gives.

    Args: as of `list`; by keyword `profile_memory` and `with_flops`, whether tables show these, and `use_device`.

    >>> util = rg.autograd.profiler_util
    >>> spans = [("matmul", 0, 10), ("mm", 1, 9), ("mul", 20, 30), ("mul", 30, 40)]
    >>> events = util.EventList(
    ...     util.FunctionEvent(id=i, name=name, thread=1, start_us=start, end_us=end)
    ...     for i, (name, start, end) in enumerate(spans)
    ... )
    >>> events._build_tree()
    >>> [(event.key, event.count, event.self_cpu_time_total) for event in events.key_averages()]
    [('matmul', 1, 2), ('mm', 1, 8), ('mul', 2, 20)]
    >>> events.total_average().count, events.self_cpu_time_total
    (4, 30)
    >>> print("\\n".join(line.rstrip() for line in events.key_averages().table(row_limit=1).splitlines()))
    ----------  ------------  ------------  ------------  ------------  ------------  ------------
          Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls
    ----------  ------------  ------------  ------------  ------------  ------------  ------------
        matmul         6.67%       2.000us        33.33%      10.000us      10.000us             1
    ----------  ------------  ------------  ------------  ------------  ------------  ------------
    Self CPU time total: 30.000us
    """

    def __init__(self, *args: Any, **kwargs: Unpack[_Options]) -> None:
        super().__init__(*args)
        self._use_device = kwargs.pop("use_device", None)
        self._profile_memory = kwargs.pop("profile_memory", False)
        self._with_flops = kwargs.pop("with_flops", False)
        self._tree_built = False
        if kwargs:
            raise TypeError(f"EventList() got an unexpected keyword argument '{next(iter(kwargs))}'")

    def _build_tree(self) -> None:
        """Find out which event holds which, and leave out those that only repeat the event around them."""
        self._populate_cpu_children()
        self._finish_tree()

    def _finish_tree(self) -> None:
        """`_build_tree`, where each event has its children already."""
        self[:] = tree.merged(self)
        tree.set_backward_stacks(self)
        self._tree_built = True

    def _populate_cpu_children(self) -> None:
        tree.nest(self)

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the self times of all events, in microseconds."""
        total: float = sum(event.self_cpu_time_total for event in self)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int | None = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table, one in a row; an empty string for no events.

        Args: `sort_by` the name of an attribute of the events, descending; `row_limit` how many rows to show, -1 for
        all; the `max_*_width`s in characters, None for no limit; `header` a line above the table;
        `top_level_events_only` leaves out events inside of others; `time_unit` "s", "ms" or "us", by default what
        suits each time.
        Raises: AttributeError if the events have no attribute `sort_by`.
        """
        return table.table(
            self,
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
            time_unit=time_unit,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events of one name summed up, in the order in which the names first appear.

        Args: `group_by_input_shapes`, `group_by_stack_n` and `group_by_overload_name` ask for a sum per input shapes,
        per first n frames of the stack, and per overload name.
        Returns: an `EventList` of `FunctionEventAvg`.
        Raises: AssertionError if it is not known which event holds which, as in a list made by hand.
        """
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        sums: dict[tuple[object, ...], FunctionEventAvg] = {}
        for event in self:
            group = (
                event.key,
                event.node_id,
                event.device_type,
                event.is_legacy,
                event.is_user_annotation,
                str(event.input_shapes) if group_by_input_shapes else None,
                event.overload_name if group_by_overload_name else None,
                tuple((event.stack or ())[:group_by_stack_n]),
            )
            average = sums.get(group)
            if average is None:
                average = sums[group] = FunctionEventAvg()
            average._include(event)
        for average in sums.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return EventList(
            sums.values(),
            use_device=self._use_device,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )

    def total_average(self) -> FunctionEventAvg:
        """The sums over all events, with the key "Total". Times of events inside of others count in both.

        What has no sum, such as `input_shapes`, is that of the last event.
        """
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total._include(event)
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: Path) -> None:
        """Write the events as a list of trace events, in JSON, which trace viewers open.

        Args: `path` the file, which is replaced.

        >>> import json, os, tempfile
        >>> util = rg.autograd.profiler_util
        >>> event = util.FunctionEvent(id=1, name="mul", thread=1, start_us=3, end_us=7, trace_name="mul")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "trace.json")
        ...     util.EventList([event]).export_chrome_trace(path)
        ...     with open(path) as file:
        ...         json.load(file)
        [{'name': 'mul', 'ph': 'X', 'ts': 3, 'dur': 4, 'tid': 1, 'pid': 'CPU functions', 'args': {}}]
        """
        trace.write_events(path, self)

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics that `export_stacks` knows.

        >>> rg.autograd.profiler_util.EventList().supported_export_stacks_metrics()[0]
        'self_cpu_time_total'
        """
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def export_stacks(self, path: Path, metric: str) -> None:
        """Write a line per event that has a stack, for tools that draw flame graphs: its frames and its time.

        Args: `path` the file, which is replaced; `metric` the time that is meant, see
        `supported_export_stacks_metrics`. It is written in whole microseconds, and events below one are left out.
        Raises: ValueError for another metric.

        >>> import os, tempfile
        >>> util = rg.autograd.profiler_util
        >>> stack = ["a.py(2): f", "a.py(5): g"]
        >>> event = util.FunctionEvent(id=1, name="mul", thread=1, start_us=3, end_us=7, stack=stack)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "stacks.txt")
        ...     util.EventList([event]).export_stacks(path, "self_cpu_time_total")
        ...     with open(path) as file:
        ...         file.read()
        'a.py(5):_g;a.py(2):_f 4\\n'
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        attribute = metric if metric == "self_cpu_time_total" else "self_device_time_total"
        trace.write_stacks(path, ((event.stack, getattr(event, attribute)) for event in self if event.stack))
