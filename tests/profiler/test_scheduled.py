"""`retrograd.profiler`, the face of `torch.profiler`: which steps are noted, when the callback is called, refusals.

Sequences and messages are those of PyTorch 2.13.
"""

import gzip
import json
import subprocess
import sys
import warnings

import pytest

import retrograd as rg
from retrograd import profiler
from retrograd.autograd.profiler import KinetoStepTracker
from retrograd.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule

CPU, CUDA = ProfilerActivity.CPU, ProfilerActivity.CUDA
STEP, MUL = "ProfilerStep*", "aten::mul"


def run(steps, by=None, **options):
    """The actions of the steps, what the callback saw each time, and the warnings."""
    actions, seen = [], []

    def ready(prof):
        names = [event.name for event in prof.events() if event.name in (STEP, MUL)]
        assert sum(average.count for average in prof.key_averages() if average.key == MUL) == names.count(MUL)
        seen.append((prof.step_num, names))

    x = rg.ones(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with profile(schedule=by, on_trace_ready=ready, **options) as prof:
            for _ in range(steps):
                x * 2
                actions.append(prof.current_action.name)
                prof.step()
    return prof, actions, seen, [str(one.message) for one in caught]


CLEARS = (
    "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be reported. "
)


def test_without_a_schedule_all_is_one_cycle():
    prof, actions, seen, warned = run(3)
    assert actions == ["RECORD"] * 3 and seen == [(3, [MUL] * 3)] and warned == []
    assert [event.name for event in prof.events()] == [MUL] * 3


CYCLE = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]


def test_cycles():
    both = [STEP, MUL] * 2
    prof, actions, seen, warned = run(8, schedule(wait=1, warmup=1, active=2))
    assert actions == CYCLE * 2 and seen == [(4, both), (8, both)]
    assert [one.startswith(CLEARS) for one in warned] == [True]
    assert sum(event.name == MUL for event in prof.events()) == 2
    _, actions, seen, warned = run(8, schedule(wait=1, warmup=1, active=2, repeat=1))
    assert actions == CYCLE + ["NONE"] * 4 and seen == [(4, both)] and warned == []
    prof, _, seen, warned = run(8, schedule(wait=1, warmup=1, active=2, repeat=2), acc_events=True)
    assert seen == [(4, both), (8, both * 2)] and warned == []
    assert len(prof.events()) == 8
    assert {average.key: average.count for average in prof.key_averages()} == {STEP: 4, MUL: 4}


@pytest.mark.filterwarnings("ignore")
def test_cycles_without_warming_up():
    _, actions, seen, _ = run(3, schedule(wait=0, warmup=0, active=1))
    assert actions == ["RECORD_AND_SAVE"] * 3
    assert seen == [(1, [STEP, MUL]), (2, [STEP, MUL]), (3, [STEP, MUL]), (3, [STEP])]
    _, actions, seen, _ = run(5, schedule(wait=0, warmup=0, active=2))
    assert actions == ["RECORD", "RECORD_AND_SAVE"] * 2 + ["RECORD"]
    assert seen == [(2, [STEP, MUL] * 2), (4, [STEP, MUL] * 2), (5, [STEP, MUL, STEP])]
    by = schedule(wait=2, warmup=1, active=1, skip_first=1, skip_first_wait=1)
    _, actions, seen, _ = run(8, by)
    assert actions == ["NONE", "WARMUP", "RECORD_AND_SAVE", "NONE", "NONE", "WARMUP", "RECORD_AND_SAVE", "NONE"]
    assert seen == [(3, [STEP, MUL]), (7, [STEP, MUL])]


def test_what_ends_within_a_cycle():
    prof, actions, seen, _ = run(2, schedule(wait=0, warmup=1, active=3))
    assert actions == ["WARMUP", "RECORD"] and seen == [(2, [STEP, MUL, STEP])]
    prof, _, seen, _ = run(3, lambda step: ProfilerAction.WARMUP)
    assert seen == [] and prof.events() == []


def test_schedules_that_make_no_sense():
    odd = ["WARMUP", "NONE", "RECORD", "NONE", "RECORD", "WARMUP", "RECORD_AND_SAVE", "NONE", "NONE"]
    _, actions, seen, warned = run(8, lambda step: ProfilerAction[odd[step]])
    assert actions == odd[:8] and seen == [(7, [STEP, MUL])]
    said = [one for one in warned if one.startswith("Incorrect")]
    assert said == [
        "Incorrect schedule: WARMUP followed by NONE",
        "Incorrect schedule: RECORD followed by NONE",
        "Incorrect schedule: RECORD followed by WARMUP",
    ]
    with pytest.raises(ValueError, match="DEVICE_STOPPED is set internally by the profiler and must not be returned"):
        profile(schedule=lambda step: ProfilerAction.DEVICE_STOPPED)
    prof = profile(schedule=lambda step: ProfilerAction.RECORD if step < 1 else ProfilerAction.DEVICE_STOPPED)
    with pytest.raises(ValueError, match="DEVICE_STOPPED"), prof:
        prof.step()
    assert prof.step_num == 0 and not rg.autograd._profiler_enabled()


def test_the_session_is_closed_whatever_is_raised():
    def ready(prof):
        raise KeyError("ready")

    with pytest.raises(KeyError, match="ready"), profile(on_trace_ready=ready):
        rg.ones(2)
    assert not rg.autograd._profiler_enabled()
    with pytest.raises(ZeroDivisionError), profile() as prof:
        rg.ones(2)
        1 / 0  # noqa: B018
    assert [event.name for event in prof.events()] == ["aten::ones"]
    with profile(), pytest.raises(RuntimeError, match="Profiler is already enabled on this thread"), profile():
        pass
    assert not rg.autograd._profiler_enabled()


def test_a_schedule_says():
    by = schedule(wait=1, warmup=2, active=2, repeat=2, skip_first=3)
    short = {"NONE": "-", "WARMUP": "w", "RECORD": "r", "RECORD_AND_SAVE": "s"}
    assert "".join(short[by(step).name] for step in range(16)) == "----wwrs-wwrs---"
    for refused in ({"wait": -1, "warmup": 0, "active": 1}, {"wait": 1, "warmup": 1, "active": 0}):
        with pytest.raises(AssertionError, match=r"Invalid profiler schedule arguments\. Got wait="):
            schedule(**refused)
    with pytest.warns(UserWarning, match="Profiler won't be using warmup, this can skew profiler results"):
        by = schedule(wait=0, warmup=0, active=1)
    with pytest.raises(AssertionError, match=r"Step must be non-negative\. Got -1"):
        by(-1)


@pytest.mark.filterwarnings("ignore:`use_cuda` is deprecated:FutureWarning")
def test_activities():
    assert profiler.supported_activities() == {CPU} == profile().activities
    assert [(one.name, one.value) for one in ProfilerActivity] == [
        ("CPU", 0), ("XPU", 1), ("MTIA", 4), ("CUDA", 2), ("HPU", 3), ("PrivateUse1", 5),
    ]  # fmt: skip
    assert profile(activities=[{CPU: ["x"]}]).activity_filters == {CPU: {"x"}}
    for activities, use_cuda in (([], None), (["cpu"], None), ([CUDA], False)):
        with pytest.raises(AssertionError, match="No valid profiler activities found"):
            profile(activities=activities, use_cuda=use_cuda)
    for twice in ([CPU, CPU], [{CPU: ["x"]}, CPU]):
        with pytest.raises(ValueError, match=r"Activity ProfilerActivity\.CPU specified more than once"):
            profile(activities=twice)
    with pytest.raises(TypeError, match="Expected ProfilerActivity or dict, got <class 'str'>"):
        profile(activities=[CPU, "cuda"])
    with pytest.warns(UserWarning, match="CUDA is not available"), profile(activities=[CPU, CUDA]) as prof:
        rg.ones(2)
    assert len(prof.events()) == 1
    with (
        pytest.warns(UserWarning, match="CUDA is not available"),
        pytest.raises(AssertionError, match="No activities specified for the profiler"),
        profile(activities=[CUDA]),
    ):
        pass
    with pytest.warns(FutureWarning, match="`use_cuda` is deprecated, use `activities` argument instead"):
        profile(use_cuda=True)
    with pytest.raises(TypeError, match="positional"):
        profile([CPU])


def test_before_the_first_cycle_there_is_nothing(tmp_path):
    prof = profile()
    for what, call in {
        "getting key averages": prof.key_averages,
        "accessing events": prof.events,
        "exporting chrome trace": lambda: prof.export_chrome_trace(tmp_path / "x"),
        "exporting stacks": lambda: prof.export_stacks(tmp_path / "x"),
        "stopping trace": prof.stop,
        "drawing": prof.draw,
        "adding up lines": prof.top,
    }.items():
        with pytest.raises(AssertionError, match=f"Profiler must be initialized before {what}"):
            call()
    assert prof.get_trace_id() is None and list(tmp_path.iterdir()) == []


def test_traces(tmp_path):
    names = iter(["one", "two"])
    prof = profile(record_shapes=True, custom_trace_id_callback=lambda: next(names))
    prof.preset_metadata_json("early", "[1]")
    with prof:
        prof.add_metadata("text", 'a "b"')
        prof.add_metadata_json("json", '{"x": 1.5}')
        with record_function("ProfilerStep#7"):
            rg.ones(2) * 2
    assert prof.get_trace_id() == "one"
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    prof.export_chrome_trace(str(plain))
    prof.export_chrome_trace(str(packed))
    trace = json.loads(plain.read_text())
    assert {**json.loads(gzip.decompress(packed.read_bytes())), "traceName": trace["traceName"]} == trace
    assert (trace["text"], trace["json"], trace["early"], trace["record_shapes"]) == ('a "b"', {"x": 1.5}, [1], 1)
    assert "profile_memory" not in trace and trace["trace_id"] == "one"
    assert [e["name"] for e in trace["traceEvents"] if e["ph"] == "X"] == ["ProfilerStep#7", "aten::ones", MUL]
    assert next(event.name for event in prof.events()) == STEP
    with pytest.raises(ValueError, match="the value of 'x' is no JSON"):
        prof.add_metadata_json("x", "NaN")
    with pytest.raises(TypeError, match="the value of 'x' is a str"):
        prof.add_metadata("x", 1)


def test_a_folder_for_tensorboard(tmp_path):
    folder = tmp_path / "a" / "b"
    ready = profiler.tensorboard_trace_handler(str(folder), "me", use_gzip=True)
    by = schedule(wait=0, warmup=1, active=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile(schedule=by, on_trace_ready=ready) as prof:
            for _ in range(4):
                rg.ones(2)
                prof.step()
    files = sorted(folder.iterdir())
    assert len(files) == 2
    for file in files:
        worker, time, end = file.name.split(".", 2)
        assert (worker, time.isdigit(), end) == ("me", True, "pt.trace.json.gz")
        steps = [e["name"] for e in json.loads(gzip.decompress(file.read_bytes()))["traceEvents"] if e["ph"] == "X"]
        assert steps[0] in ("ProfilerStep#1", "ProfilerStep#3")
    (tmp_path / "file").write_text("")
    refused = profiler.tensorboard_trace_handler(str(tmp_path / "file" / "x"))
    with pytest.raises(RuntimeError, match="Can't create directory: "), profile(on_trace_ready=refused):
        rg.ones(2)


def test_pictures_and_lines_of_the_last_cycle():
    x = rg.ones(3, requires_grad=True)
    with profile(profile_memory=True) as prof:
        y = x.exp()
    assert "exp" in prof.draw() and prof.top().rows[0].text == "y = x.exp()"
    assert prof.memory_timeline().peak == 12 and y.shape


def test_an_observer_is_told():
    told = []

    class Observer:
        def __getattr__(self, name):
            return lambda: told.append(name)

    with profile(execution_trace_observer=Observer()):
        rg.ones(2)
    assert told == ["start", "stop", "cleanup"]


def test_steps_are_counted_while_it_lasts():
    with profile():
        assert "ProfilerStep" in KinetoStepTracker._step_dict
    assert "ProfilerStep" not in KinetoStepTracker._step_dict


def test_it_is_loaded_when_it_is_used():
    program = (
        "import sys, retrograd as rg; assert 'retrograd.profiler' not in sys.modules; rg.profiler.profile;"
        "import retrograd.profiler as p; assert p is rg.profiler and 'gzip' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
