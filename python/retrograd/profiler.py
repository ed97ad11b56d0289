"""Profiles of some steps of a training loop, as `torch.profiler` has them: sessions of `autograd.profiler` by schedule.

>>> profiler = rg.profiler
>>> x = rg.ones(3, requires_grad=True)
>>> def ready(prof):
...     print(prof.step_num, [event.name for event in prof.events()][:2])
>>> steps = profiler.schedule(wait=1, warmup=1, active=1, repeat=1)
>>> with profiler.profile(schedule=steps, on_trace_ready=ready) as prof:
...     for _ in range(5):
...         x.exp().sum().backward()
...         prof.step()
3 ['ProfilerStep*', 'aten::exp']
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from retrograd._drawing import Drawing
from retrograd._files import Path
from retrograd.autograd import profiler as _sessions
from retrograd.autograd._profiler.config import ProfilerActivity
from retrograd.autograd._profiler.timeline import MemoryTimeline
from retrograd.autograd._profiler.top import Top
from retrograd.autograd.profiler import EventList, KinetoStepTracker, kineto_available, record_function
from retrograd.autograd.profiler_util import DeviceType

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_STEP_NAME = "ProfilerStep"


class ProfilerAction(Enum):
    """What a profile does in a step, as its schedule says. DEVICE_STOPPED is torch's, and no schedule may say it.

    >>> [action.name for action in rg.profiler.ProfilerAction][:4]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def supported_activities() -> set[ProfilerActivity]:
    """What a profile notes by default.

    >>> rg.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A schedule by cycles: for each step, counted from 0, what a profile does in it.

    Args: after the first `skip_first` steps, each cycle is `wait` steps of nothing, `warmup` steps that are run and not
    noted, and `active` steps that are noted; `repeat` is the number of cycles, 0 for no end; `skip_first_wait` other
    than 0 leaves out the `wait` of the first cycle.
    Returns: a function of the number of a step, for `profile`.
    Raises: AssertionError for a negative argument, or an `active` of 0. A UserWarning says if `warmup` is 0.

    >>> steps = rg.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [steps(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait != 0:
            step += wait
        cycle, at = divmod(step, length)
        if (repeat > 0 and cycle >= repeat) or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[profile], None]:
    """An `on_trace_ready` that writes each trace to a new file in a folder, named as TensorBoard expects.

    Args: `dir_name` the folder, which is made; `worker_name` what the names begin with, by default the names of host
    and process; `use_gzip` compresses; `use_python_export` as in `profile.export_chrome_trace`.
    Raises: what it returns raises RuntimeError if the folder cannot be made.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with rg.profiler.profile(on_trace_ready=rg.profiler.tensorboard_trace_handler(folder, "me")):
    ...         x = rg.ones(3)
    ...     [name[:3] + name[-13:] for name in os.listdir(folder)]
    ['me.pt.trace.json']
    """
    import socket
    import time

    def ready(prof: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name), use_python_export=use_python_export)

    return ready


class _Observer(Protocol):
    def start(self) -> object: ...
    def stop(self) -> object: ...
    def cleanup(self) -> object: ...


_Activities = Iterable[ProfilerActivity | Mapping[ProfilerActivity, Iterable[str]]]


class profile:
    """A profile of all that is run in a block, or of the steps that a schedule names, each ended by `step()`.

    A cycle is what is noted without a break: it is a session of `autograd.profiler`, and the events, tables and
    pictures are those of the last one. Steps are labels, `ProfilerStep#N` in traces and `ProfilerStep*` in tables.

    Args: `activities` which activities to note, by default the CPU's, which are all that there are; `schedule` says for
    a step what to do in it, by default all is noted as one cycle; `on_trace_ready` is called with the profile at the
    end of each cycle; `record_shapes`, `profile_memory`, `with_stack`, `with_flops` and `custom_trace_id_callback` as
    in `autograd.profiler.profile`; `acc_events` keeps the events of earlier cycles; `execution_trace_observer` is
    started and stopped with each cycle, and told to clean up in the end. `use_cuda` is torch's old way to say
    `activities`. The others are kept, and change nothing.
    Raises: AssertionError if no activity is left, ValueError for one given twice, TypeError for what is none.

    >>> with rg.profiler.profile(record_shapes=True) as prof:
    ...     x = rg.ones(2, 3) * 2
    >>> prof.key_averages(group_by_input_shape=True)[1].input_shapes
    [[2, 3], []]
    >>> prof.top().rows[0].text
    'x = rg.ones(2, 3) * 2'

    The second of two steps, after one to warm up:

    >>> steps = rg.profiler.schedule(wait=0, warmup=1, active=1)
    >>> with rg.profiler.profile(schedule=steps) as prof:
    ...     x = rg.ones(3)
    ...     prof.step()
    ...     y = x * 2
    >>> [event.name for event in prof.events()]
    ['ProfilerStep*', 'aten::mul']

    A cycle by hand, with facts that its trace has, and a picture:

    >>> prof = rg.profiler.profile(profile_memory=True)
    >>> prof.add_metadata("model", "none")
    >>> prof.preset_metadata_json("layers", "[]")
    >>> prof.set_custom_trace_id_callback(lambda: "FIRST")
    >>> prof.prepare_trace()
    >>> prof.start_trace()
    >>> x = rg.ones(1000)
    >>> prof.stop_trace()
    >>> prof.get_trace_id(), prof.memory_timeline().peak, "ones" in prof.draw()
    ('FIRST', 4000, True)
    >>> import json, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "trace.json")
    ...     prof.export_chrome_trace(path)
    ...     with open(path) as file:
    ...         json.load(file)["model"]
    ...     prof.export_stacks(path)
    ...     os.path.getsize(path)  # there are none without `with_stack`
    'none'
    0
    >>> prof.toggle_collection_dynamic(False, [rg.profiler.ProfilerActivity.CPU])  # does nothing
    """

    def __init__(
        self,
        *,
        activities: _Activities | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: _Observer | None = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        listed: list[Any] = list(supported_activities() if activities is None else activities)
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
        _check_some(listed, use_cuda)
        self.activities, self.activity_filters = _parsed(listed)
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        devices = [device for device in _DEVICES if device in self.activities]
        self.use_device = _DEVICES[devices[0]] if devices else None
        self.profiler: _sessions.profile | None = None
        self.preset_metadata: dict[str, str] = {}
        self.schedule = schedule if schedule is not None else _always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = _allowed(self.schedule(0))
        self._metadata: dict[str, Any] = {}
        self._earlier: list[EventList] = []
        self._label: record_function | None = None
        self._warned = False
        KinetoStepTracker.init_step_count(_STEP_NAME)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        KinetoStepTracker.erase_step_count(_STEP_NAME)
        if self.execution_trace_observer:
            self.execution_trace_observer.cleanup()

    def start(self) -> None:
        """Begin, as entering the block does.

        >>> prof = rg.profiler.profile()
        >>> prof.start()
        >>> x = rg.ones(3)
        >>> prof.stop()
        >>> [event.name for event in prof.events()]
        ['aten::ones']
        """
        self._go(ProfilerAction.NONE, self.current_action)
        self._begin_label()

    def stop(self) -> None:
        """End, as leaving the block does. What was noted is a cycle, unless the schedule was still warming up.

        >>> prof = rg.profiler.profile(on_trace_ready=lambda prof: print(len(prof.events())))
        >>> prof.start()
        >>> prof.stop()
        0
        """
        self._end_label()
        self._go(self.current_action, None)

    def step(self) -> None:
        """End a step of the program, and begin the next one.

        Raises: ValueError if the schedule says DEVICE_STOPPED; what `on_trace_ready` raises.
        """
        self._end_label()
        before = self.current_action
        action = _allowed(self.schedule(self.step_num + 1))
        self.step_num += 1
        self.current_action = action
        self._go(before, action)
        self._begin_label()

    def prepare_trace(self) -> None:
        """Get ready for a cycle. `start` and `step` do this when it is time to."""
        if self.profiler is not None:
            if self.acc_events:
                self._earlier.append(self.profiler.function_events)
            elif not self._warned:
                self._warned = True
                warnings.warn(
                    "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will "
                    "be reported. To keep events across cycles, set acc_events=True.",
                    stacklevel=2,
                )
        self.profiler = _sessions.profile(
            use_cpu=ProfilerActivity.CPU in self.activities,
            use_device=self.use_device,
            record_shapes=self.record_shapes,
            with_flops=self.with_flops,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_modules=self.with_modules,
            use_kineto=True,
            experimental_config=self.experimental_config,
            acc_events=self.acc_events,
            custom_trace_id_callback=self.custom_trace_id_callback,
            post_processing_timeout_s=self.post_processing_timeout_s,
            activity_filters=self.activity_filters or None,
        )

    def start_trace(self) -> None:
        """Begin to note. `start` and `step` do this when it is time to.

        Raises: RuntimeError if a session is open on this thread.
        """
        session = self._needed("starting trace")
        if self.execution_trace_observer:
            self.execution_trace_observer.start()
        session.__enter__()
        for option in ("profile_memory", "with_stack", "record_shapes", "with_modules", "with_flops"):
            if getattr(self, option):
                self._metadata[option] = 1
        for key, value in self.preset_metadata.items():
            self.add_metadata_json(key, value)

    def stop_trace(self) -> None:
        """End a cycle. `stop` and `step` do this when it is time to."""
        if self.execution_trace_observer:
            self.execution_trace_observer.stop()
        self._needed("stopping trace").__exit__(None, None, None)

    def events(self) -> EventList:
        """The events of the last cycle, with `acc_events` of all so far; none before it has ended.

        Raises: AssertionError before the first cycle.
        """
        events = self._needed("accessing events").function_events
        if not self._earlier:
            return events
        joined = EventList(profile_memory=self.profile_memory, with_flops=self.with_flops)
        for some in (*self._earlier, events):
            joined += some
        joined._tree_built = True
        return joined

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events summed up by name; see `EventList.key_averages`.

        Raises: AssertionError before the first cycle.
        """
        self._needed("getting key averages")
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: Path, use_python_export: bool = False) -> None:
        """Write the last cycle for trace viewers; see `autograd.profiler.profile.export_chrome_trace`.

        Raises: AssertionError before the first cycle, RuntimeError before it has ended.
        """
        session = self._needed("exporting chrome trace")
        session.export_chrome_trace(path, self._metadata, use_python_export)

    def export_stacks(self, path: Path, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with a number each, for tools that draw flame graphs; see `EventList.export_stacks`.

        Raises: AssertionError before the first cycle.
        """
        self._needed("exporting stacks").export_stacks(path, metric)

    def draw(self, *, width: int = 1200, arrows: int = 40, between: tuple[float, float] | None = None) -> Drawing:
        """A flame chart of the last cycle; see `autograd.profiler.profile.draw`."""
        return self._needed("drawing").draw(width=width, arrows=arrows, between=between)

    def top(self, row_limit: int = 30, sort_by: str = "total") -> Top:
        """Time by line of the program in the last cycle; see `autograd.profiler.profile.top`."""
        return self._needed("adding up lines").top(row_limit, sort_by)

    def memory_timeline(self) -> MemoryTimeline:
        """Live bytes over the last cycle; see `autograd.profiler.profile.memory_timeline`."""
        return self._needed("showing memory").memory_timeline()

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """There is nothing to switch: sessions note all that runs on the CPU."""

    def add_metadata(self, key: str, value: str) -> None:
        """Put a text beside the events of traces.

        Raises: TypeError if it is none.
        """
        if not isinstance(value, str):
            raise TypeError(f"add_metadata: the value of {key!r} is a str, not {type(value).__name__}")
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put a JSON value, given as text, beside the events of traces.

        Raises: ValueError if the text is no JSON.

        >>> prof = rg.profiler.profile()
        >>> prof.add_metadata_json("layers", "[64, 128, 10]")
        >>> prof.add_metadata_json("layers", "64, 128")
        Traceback (most recent call last):
        ValueError: add_metadata_json: the value of 'layers' is no JSON: Extra data: line 1 column 3 (char 2)
        """
        self._metadata[key] = _parsed_json(key, value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """As `add_metadata_json`, from the beginning of the next cycle on."""
        _parsed_json(key, value)
        self.preset_metadata[key] = value

    def set_custom_trace_id_callback(self, callback: Callable[[], str] | None) -> None:
        """Name the traces of the next cycles by what this returns."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """The name of the last trace; None before the first one."""
        return None if self.profiler is None else self.profiler.trace_id

    def _needed(self, what: str) -> _sessions.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self.profiler

    def _begin_label(self) -> None:
        if self.record_steps:
            self._label = record_function(f"{_STEP_NAME}#{self.step_num}")
            self._label.__enter__()

    def _end_label(self) -> None:
        if self._label is not None:
            self._label.__exit__(None, None, None)
            self._label = None

    def _ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _go(self, before: ProfilerAction, now: ProfilerAction | None) -> None:
        """What it takes to go from one action to the next, or to the end."""
        for name in _TRANSITIONS.get((before, now), "").split():
            if name == "warn":
                assert now is not None
                warnings.warn(f"Incorrect schedule: {before.name} followed by {now.name}", stacklevel=3)
            else:
                getattr(self, name)()


# What is done between two actions; nothing where none is listed.
_NONE, _WARMUP, _RECORD, _SAVE, _ = ProfilerAction
_TRANSITIONS: dict[tuple[ProfilerAction, ProfilerAction | None], str] = {
    (_NONE, _WARMUP): "prepare_trace",
    (_NONE, _RECORD): "prepare_trace start_trace",
    (_NONE, _SAVE): "prepare_trace start_trace",
    (_WARMUP, _NONE): "warn start_trace stop_trace",
    (_WARMUP, _RECORD): "start_trace",
    (_WARMUP, _SAVE): "start_trace",
    (_RECORD, _NONE): "warn stop_trace",
    (_RECORD, _WARMUP): "warn stop_trace prepare_trace",
    (_SAVE, _NONE): "stop_trace _ready",
    (_SAVE, _WARMUP): "stop_trace _ready prepare_trace",
    (_SAVE, _RECORD): "stop_trace _ready prepare_trace start_trace",
    (_SAVE, _SAVE): "stop_trace _ready prepare_trace start_trace",
    (_WARMUP, None): "start_trace stop_trace",
    (_RECORD, None): "stop_trace _ready",
    (_SAVE, None): "stop_trace _ready",
}

# The devices that torch knows, in the order in which one of several is chosen.
_DEVICES = {
    ProfilerActivity.CUDA: "cuda",
    ProfilerActivity.XPU: "xpu",
    ProfilerActivity.MTIA: "mtia",
    ProfilerActivity.HPU: "hpu",
    ProfilerActivity.PrivateUse1: "privateuseone",
}


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def _allowed(action: ProfilerAction) -> ProfilerAction:
    if action is ProfilerAction.DEVICE_STOPPED:
        raise ValueError(
            "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be returned by a "
            "user-provided schedule"
        )
    return action


def _check_some(listed: list[Any], use_cuda: bool | None) -> None:
    """Raises unless something is left to note."""
    named: set[Any] = set()
    for item in listed:
        named.update([item] if isinstance(item, ProfilerActivity) else item if isinstance(item, Mapping) else [])
    if use_cuda:
        named.add(ProfilerActivity.CUDA)
    elif use_cuda is not None:
        named.discard(ProfilerActivity.CUDA)
    if not named:
        raise AssertionError("No valid profiler activities found")


def _parsed(listed: list[Any]) -> tuple[set[ProfilerActivity], dict[ProfilerActivity, set[str]]]:
    """The activities, and what of them is meant where a dict says so."""
    activities: set[ProfilerActivity] = set()
    filters: dict[ProfilerActivity, set[str]] = {}
    for item in listed:
        if not isinstance(item, ProfilerActivity | Mapping):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
        for activity in [item] if isinstance(item, ProfilerActivity) else item:
            if activity in activities:
                raise ValueError(f"Activity {activity} specified more than once")
            activities.add(activity)
            if isinstance(item, Mapping):
                filters[activity] = set(item[activity])
    return activities, filters


def _parsed_json(key: str, value: str) -> Any:
    try:
        return json.loads(value, parse_constant=_no_constant)
    except ValueError as error:
        raise ValueError(f"add_metadata_json: the value of {key!r} is no JSON: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not in the format")
