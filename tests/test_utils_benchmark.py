"""Timers, and texts of measurements, which are those of torch; `tools/benchmark_tables.py` stored them."""

import json
import pickle
import statistics
from pathlib import Path

import pytest

import retrograd as rg
from retrograd.utils import benchmark
from retrograd.utils.benchmark import Compare, Measurement, TaskSpec, Timer

STORED = json.loads((Path(__file__).parent / "benchmark_tables.json").read_text())


def measurement(number, times, task):
    return Measurement(number, times, TaskSpec(**task))


@pytest.mark.parametrize(("stored", "text"), STORED["texts"])
def test_texts_of_measurements_are_those_of_torch(stored, text):
    first, _, rest = repr(measurement(*stored)).partition("\n")
    assert first.startswith("<retrograd.utils.benchmark._measurement.Measurement object at 0x")
    assert rest == text


@pytest.mark.parametrize(("options", "text"), STORED["tables"])
def test_tables_are_those_of_torch(options, text):
    compare = Compare([measurement(*m) for m in STORED["together"]])
    for option in options:
        if option == "rowwise":
            compare.colorize(rowwise=True)
        else:
            getattr(compare, option)()
    assert str(compare) == text


def test_measurements_have_statistics_and_the_fields_of_their_task():
    times = [5.0, 1.0, 2.0, 4.0, 3.0, 9.0]
    m = measurement(2, times, {"stmt": "f()", "setup": "pass", "label": "L", "num_threads": 3})
    assert m.times == [2.5, 0.5, 1.0, 2.0, 1.5, 4.5]
    assert m.median == statistics.median(m.times)
    assert m.mean == pytest.approx(2.0)
    assert m.iqr == pytest.approx(2.375 - 1.125)
    assert (m.label, m.stmt, m.num_threads, m.env, m.title, m.as_row_name) == ("L", "f()", 3, None, "L", "f()")
    assert m.has_warnings and not m.meets_confidence(0.5) and m.meets_confidence(0.8)
    with pytest.raises(AttributeError, match="'Measurement' object has no attribute 'nothing'"):
        m.nothing  # noqa: B018
    assert pickle.loads(pickle.dumps(m)) == m
    assert [measurement(*m).significant_figures for m in STORED["together"]] == STORED["figures"]


def test_measurements_of_one_task_are_merged():
    task = {"stmt": "f()", "setup": "pass"}
    (merged,) = Measurement.merge([measurement(2, [2.0], task), measurement(1, [3.0], task)])
    assert (merged.number_per_run, merged.raw_times) == (1, [1.0, 3.0])


def test_a_timer_runs_the_statement_as_often_as_it_says():
    calls = []
    timer = Timer("f(x)", "x = 3", globals={"f": calls.append}, label="calls", num_threads=1)
    m = timer.timeit(500)
    assert calls == [3] * 505
    assert (m.number_per_run, len(m.times), m.label) == (500, 1, "calls")


def test_blocks_are_long_beside_the_clock():
    clock, calls = [0.0], []

    def tick():
        clock[0] += 1e-6  # the cost of reading it
        return clock[0]

    def work():
        calls.append(1)
        clock[0] += 1e-4

    seen = []
    timer = Timer("f()", timer=tick, globals={"f": work})
    m = timer.blocked_autorange(lambda number, time: seen.append((number, time)), min_run_time=1.0)
    assert m.number_per_run == 100  # which take 10 ms, 1e4 times what the clock takes
    assert seen == [(100, pytest.approx(0.01, rel=1e-3))] * 100
    assert m.median == pytest.approx(1e-4, rel=1e-3)
    m = timer.adaptive_autorange(min_run_time=0.5)
    assert len(m.times) == 50 and m.meets_confidence()


def test_unsteady_times_end_after_the_longest_run():
    clock, steps = [0.0], [0.0]

    def work():
        steps[0] += 1
        clock[0] += 0.1 * steps[0]

    timer = Timer("f()", timer=lambda: clock[0], globals={"f": work})
    m = timer.adaptive_autorange(threshold=0.0, max_run_time=5.0)
    assert sum(m.raw_times) > 5.0 > sum(m.raw_times[:-1])


def test_threads_are_set_while_a_statement_runs():
    before, seen = rg.get_num_threads(), []
    Timer("f(torch.get_num_threads())", globals={"f": seen.append}, num_threads=2).timeit(1)
    assert set(seen) == {2} and rg.get_num_threads() == before


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Timer(lambda: 1), ValueError, "Currently only a `str` stmt is supported."),
        (lambda: Timer("1", language="rust"), ValueError, "Invalid language `rust`."),
        (lambda: Timer("1", language="cpp"), NotImplementedError, r"nothing here compiles C\+\+"),
        (
            lambda: Timer("1", global_setup="a"),
            ValueError,
            r"global_setup is C\+\+ only, got `a`. Most likely this code",
        ),
        (lambda: Timer("1").repeat(), NotImplementedError, "See `Timer.blocked_autorange.`"),
        (lambda: Timer("1").autorange(), NotImplementedError, "See `Timer.blocked_autorange.`"),
        (lambda: Timer("1").collect_callgrind(), NotImplementedError, "nothing here counts instructions"),
        (lambda: Compare([1.0]), ValueError, "Expected an instance of `Measurement`, got <class 'float'> instead."),
    ],
)
def test_what_a_timer_does_not_do_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_statements_are_dedented():
    timer = Timer(
        """
        y = x
        y + 1
        """,
        setup="\n    x = 1",
    )
    assert (timer.timeit(1).stmt, timer.timeit(1).setup) == ("y = x\ny + 1", "x = 1")


def test_units_and_figures():
    assert [benchmark.select_unit(t)[0] for t in (3e-9, 5e-4, 0.5, 20.0)] == ["ns", "us", "ms", "s"]
    assert benchmark.unit_to_english("ms") == "millisecond"
    assert [benchmark.trim_sigfig(x, 2) for x in (3.14159, 0.0123, 98765.0)] == [3.1, 0.012, 99000.0]
