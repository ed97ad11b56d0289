"""The flame chart: a bar per event inside the picture, nested as the events are, and small however many they are."""

import itertools
import os
import re
import socket
import threading
import time
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

import retrograd as rg
from retrograd._drawing import Drawing
from retrograd.autograd._profiler import flame
from retrograd.autograd._profiler.spans import Spans
from retrograd.autograd.profiler import profile, record_function

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def op(name, start, end, *, kind="op", number=-1, fwd_thread=0, ended_on=0, size=0, place=None, noted=()):
    return name, kind, (start, end), number, fwd_thread, ended_on, size, place, list(noted), [], None


def evaluation(name, start, end, number):
    """What the engine does for a node, and the rule in it."""
    outer = f"autograd::engine::evaluate_function: {name}"
    yield op(outer, start, end, kind="evaluation", number=number, fwd_thread=1)
    yield op(name, start + 10, end - 10, kind="rule", number=number, fwd_thread=1)


def drawn(records, **options):
    return flame.draw(Spans(records, thread=1), 0, **options)


def parts(picture):
    """The root, and the bars: what a pointer is told, x, y, width, height."""
    root = ElementTree.fromstring(picture)
    bars = []
    for rect in root.iter(f"{SVG}rect"):
        title = rect.find(f"{SVG}title")
        if title is not None:
            bars.append((title.text, *(float(rect.get(name)) for name in ("x", "y", "width", "height"))))
    return root, bars


def bar(bars, name):
    found = [one for one in bars if one[0].split("\n")[0] == name]
    assert len(found) == 1, (name, found)
    return found[0]


def check(picture):
    """What holds for every picture."""
    assert isinstance(picture, Drawing) and picture._repr_svg_() == picture
    root, bars = parts(picture)
    width, height = (float(size) for size in root.get("viewBox").split()[2:])
    for title, x, y, wide, high in bars:
        assert x >= 0 and y >= 0 and x + wide <= width + 0.5 and y + high <= height, title
    rows = {}
    for title, x, y, wide, _ in sorted(bars, key=lambda one: one[1]):
        assert rows.get(y, (0, ""))[0] <= x + flame.NARROWEST + 0.1, ("bars overlap", title, rows[y])
        rows[y] = x + wide, title
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= width and 0 <= float(text.get("y")) <= height
    assert not [one.tag for one in root.iter() if one.tag.endswith(("script", "image", "style", "foreignObject"))]
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
    return bars


def test_bars_nest_as_events_do():
    x, w = rg.randn(30, 40, requires_grad=True), rg.randn(40, 50)
    with profile(profile_memory=True, record_shapes=True) as prof:
        with record_function("a <label> & more"):
            loss = (x @ w).exp().sum()
        loss.backward()
    bars = check(prof.draw(width=10**6))  # so wide that nothing is merged, however slow the computer is
    events = [event for event in prof.function_events if event.name != "[memory]"]
    assert len(bars) >= len(events)  # which may have one less, where one is in another of its name
    label, matmul = bar(bars, "a <label> & more"), bar(bars, "aten::matmul")
    inner = next(one for one in bars if one[0].startswith("aten::mm") and one[2] == matmul[2] + flame.ROW_HEIGHT)
    assert label[2] < matmul[2] < inner[2]
    for outer, within in ((label, matmul), (matmul, inner)):
        assert outer[1] <= within[1] + 0.2 and within[1] + within[3] <= outer[1] + outer[3] + 2
    node = bar(bars, "autograd::engine::evaluate_function: MmBackward0")
    rule = bar(bars, "MmBackward0")
    assert inner[2] < node[2] < rule[2]
    assert "[30, 40], [40, 50]" in matmul[0]
    assert "made by" in rule[0] and "loss = (x @ w).exp().sum()" in rule[0]
    assert "self 5.86 KB" in next(b[0] for b in bars if b[0].startswith("aten::exp"))


def test_it_says_nothing_of_the_computer():
    with profile(record_shapes=True) as prof:
        (rg.ones(3, requires_grad=True) * 2).sum().backward()
    picture = prof.draw()
    assert os.path.dirname(__file__) not in picture and socket.gethostname() not in picture
    assert "test_flame.py:" in picture
    elsewhere = drawn([op("aten::mm", 0, 1000, place=("/a/b/c.py", 3, "f", "y = x @ w"))])
    assert "/a/b" not in elsewhere and "c.py:3: y = x @ w" in elsewhere


def test_arrows_lead_from_ops_to_the_longest_rules():
    records = [op("aten::matmul", 0, 1000, number=0), op("aten::mm", 100, 900, number=0)]
    records += [op("aten::exp", 1000, 2000, number=1), op("aten::sum", 2000, 3000, number=2)]
    records += [*evaluation("SumBackward0", 3000, 3500, 2), *evaluation("ExpBackward0", 3500, 4500, 1)]
    records += [*evaluation("MmBackward0", 4500, 7000, 0), *evaluation("MmBackward0", 8000, 9000, 0)]

    def arrows(picture):
        root = ElementTree.fromstring(picture)
        curves = [p.get("d") for p in root.iter(f"{SVG}path") if "C" in p.get("d")]
        return [[float(v) for v in re.findall(r"[\d.]+", c)] for c in "".join(curves).split("M")[1:]]

    picture = drawn(records)
    bars = check(picture)
    assert len(arrows(picture)) == 3  # one for each op that made a node, to the first run
    (longest,) = arrows(drawn(records, arrows=1))
    mm = bar(bars, "aten::mm")
    node = max((b for b in bars if b[0].startswith("autograd") and "MmBackward0" in b[0]), key=lambda b: b[3])
    assert longest[0] == pytest.approx(mm[1] + mm[3] / 2, abs=1)
    assert longest[1] == mm[2] + mm[4]
    assert longest[-3] == pytest.approx(node[1] + node[3] / 2, abs=1)
    assert arrows(drawn(records, arrows=0)) == []
    # They are drawn before the bars, so that a bar, and a name on it, is on top.
    assert picture.rindex("stroke-opacity") < picture.index("<title>aten::")


def test_narrow_bars_are_one():
    records = [op("aten::wide", 0, 10**6)]
    records += [op("aten::narrow", 10**6 + i * 10, 10**6 + i * 10 + 5) for i in range(1000)]
    records += [op("aten::alone", 15 * 10**5, 15 * 10**5 + 1), op("aten::wide2", 16 * 10**5, 2 * 10**6)]
    bars = check(drawn(records))
    assert [one[0].split("\n")[0] for one in sorted(bars, key=lambda b: b[1])] == [
        "aten::wide", "1000 events from narrow on", "aten::alone", "aten::wide2",
    ]  # fmt: skip
    assert "5.000us in all" in next(one[0] for one in bars if "events" in one[0])
    picture = drawn(records, between=(1000, 1001))  # the first 100 of them
    near = check(picture)
    assert ">1.0002 ms<" in picture and ">0<" not in picture
    assert len(near) == 100 and all(one[0].startswith("aten::narrow") for one in near)


def test_events_that_end_out_of_order_or_elsewhere_do_not_overlap():
    records = [
        op("outer", 0, 1000, kind="label"),
        op("late", 500, 1500, kind="label"),
        op("async", 600, 5000, kind="label", ended_on=2),
        op("aten::mul", 700, 800),
        op("aten::add", 1600, 2000),
    ]
    bars = check(drawn(records))
    assert len(bars) == 5 and "ended on another thread" in bar(bars, "async")[0]
    assert bar(bars, "aten::mul")[2] > bar(bars, "late")[2]


def test_an_event_that_ended_on_another_thread():
    with profile() as prof:
        label = record_function("handed over")
        label.__enter__()
        rg.ones(2)
        thread = threading.Thread(target=label.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
    assert "ended on another thread" in bar(check(prof.draw()), "handed over")[0]


def test_no_events():
    with profile() as prof:
        pass
    assert "No events" in prof.draw() and check(prof.draw()) == []
    with pytest.raises(RuntimeError, match="draw: there is no profile yet"):
        profile().draw()


def test_what_is_refused():
    with profile() as prof:
        rg.ones(2)
    for options in ({"width": 20}, {"arrows": -1}, {"between": (3, 3)}):
        with pytest.raises(ValueError, match="draw: "):
            prof.draw(**options)


def parted(r, start, end, deep=0):
    """A call that calls others, which take parts of its time by chance."""
    place = (f"a_long_name_of_a_file_{deep}.py", start, "f", "y = " + "x @ w + " * 30)
    yield op("aten::" + "op" * 50, start, end, place=place)
    if end - start > 50:
        cuts = [start, start + r.randrange(2, end - start - 2), end]
        for left, right in itertools.pairwise(cuts):
            yield from parted(r, left, right - 1, deep + 1)


def test_many_events_are_a_small_picture():
    spans = Spans(parted(Random(0), 0, 10**6), thread=1)
    assert len(spans) > 20_000
    before = time.perf_counter()
    picture = flame.draw(spans, 0)
    assert time.perf_counter() - before < 20
    assert 500 < len(check(picture)) <= flame.MOST_BARS
    assert len(picture.encode()) < 2_000_000


def test_deep_nests_are_drawn_to_a_limit():
    bars = check(drawn(op(f"n{i}", i, 10**6 - i, kind="label") for i in range(5000)))
    assert len({one[2] for one in bars}) == flame.MOST_ROWS
    assert any("events from" in one[0] for one in bars)


@pytest.mark.parametrize("name", ["flame", "memory"])
def test_stored_pictures_say_nothing_of_a_computer(name):
    text = (PICTURES / f"digits-{name}.svg").read_text()
    shown = " ".join(ElementTree.fromstring(text).itertext())
    assert "train.py:" in shown and len(text) < 50_000
    assert not re.search(r"(^|[^\w])(/|\\|[A-Z]:)\w", shown)  # a path from the root
