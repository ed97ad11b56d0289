"""Live bytes over a session: the peak, who holds it, and what does not belong to the session."""

from xml.etree import ElementTree

import pytest

import retrograd as rg
from retrograd._drawing import Drawing
from retrograd.autograd._profiler.spans import Spans
from retrograd.autograd._profiler.timeline import MemoryTimeline
from retrograd.autograd.profiler import profile

SVG = "{http://www.w3.org/2000/svg}"


def held(timeline, when="peak"):
    return {(row.text, row.key.endswith(" backward")): row.bytes for row in timeline.rows(when)}


def check(prof):
    timeline = prof.memory_timeline()
    changes = prof._session.changes()
    points = timeline.points
    assert timeline.peak == max([0, *(size for _, size in points)])
    assert timeline.allocated - timeline.released == timeline.at_end
    assert timeline.at_end - timeline.released_before == sum(change[1] for change in changes)
    for when, total in (("peak", timeline.peak), ("end", timeline.at_end)):
        for group_by in ("line", "op"):
            assert sum(row.bytes for row in timeline.rows(when, group_by)) == total
    if timeline.peak:
        assert (timeline.peak_time, timeline.peak) == next(p for p in points if p[1] == timeline.peak)
    return timeline


def test_the_peak_and_who_holds_it():
    with profile(profile_memory=True) as prof:
        a = rg.ones(1000)
        b = a * a
        c = rg.ones(5000)
        del b
        d = a + a
    timeline = check(prof)
    assert timeline.peak == 28_000 and timeline.at_end == 28_000
    assert held(timeline) == {
        ("c = rg.ones(5000)", False): 20_000,
        ("a = rg.ones(1000)", False): 4000,
        ("b = a * a", False): 4000,
    }
    assert ("d = a + a", False) in held(timeline, "end") and ("b = a * a", False) not in held(timeline, "end")
    assert [(row.key, row.bytes, row.blocks) for row in timeline.rows(group_by="op")] == [
        ("ones", 24_000, 2),
        ("mul", 4000, 1),
    ]
    assert [size for _, size in timeline.points] == [4000, 8000, 28_000, 24_000, 28_000]
    assert c.shape and d.shape


def test_what_rules_allocate_is_the_backward_of_the_line_of_the_op():
    x, w = rg.randn(30, 40, requires_grad=True), rg.randn(40, 50, requires_grad=True)
    with profile(profile_memory=True) as prof:
        y = (x @ w).exp()
        y.sum().backward()
    timeline = check(prof)
    assert held(timeline, "end") == {("y = (x @ w).exp()", True): 12_800, ("y = (x @ w).exp()", False): 6000}
    row = timeline.rows("end")[0]
    assert row.ops == ("mm",) and row.blocks == 2 and row.place[0] == __file__


def test_what_was_there_before_is_apart():
    before = rg.ones(1000)
    with profile(profile_memory=True) as prof:
        x = rg.ones(10)
        del before
    timeline = check(prof)
    assert (timeline.peak, timeline.at_end, timeline.released_before) == (40, 40, 4000)
    assert "Of what was allocated before, 3.91 KB were released." in str(timeline)
    assert x.shape


def test_tables():
    with profile(profile_memory=True) as prof:
        x = [rg.ones(size) for size in (100, 200)]
        y = x[0] * x[0]
    timeline = check(prof)
    lines = timeline.table(row_limit=1).splitlines()
    assert lines[0].split() == ["line", "source", "ops", "bytes", "share", "blocks"]
    assert "ones" in lines[2] and lines[3].startswith("and 1 more") and lines[5].startswith("all")
    assert lines[-1].startswith("Peak 1.56 KB at ") and "alive at the end 1.56 KB." in lines[-1]
    assert timeline.table("end", "op").splitlines()[0].split() == ["op", "bytes", "share", "blocks"]
    for arguments in (("middle",), ("peak", "file")):
        with pytest.raises(ValueError, match="not"):
            timeline.rows(*arguments)
    assert y.shape


def shapes(picture):
    """The root, and the areas: what a pointer is told, and the points of the outline."""
    root = ElementTree.fromstring(picture)
    areas = []
    for path in root.iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None:
            x = y = 0.0
            points = []
            for word in path.get("d").replace("M", " M").replace("H", " H").replace("V", " V").rstrip("Z").split(" "):
                if word[:1] == "H":
                    x = float(word[1:])
                elif word[:1] == "V":
                    y = float(word[1:])
                elif word[:1] == "M":
                    x = float(word[1:])
                elif word:
                    y = float(word)
                points.append((x, y))
            areas.append((title.text, points))
    return root, areas


def test_the_picture():
    x = rg.randn(30, 40, requires_grad=True)
    with profile(profile_memory=True) as prof:
        for _ in range(3):
            a = x.exp()
            b = a.sin().sum()
            b.backward()
    timeline = check(prof)
    picture = timeline.draw()
    assert isinstance(picture, Drawing) and timeline._repr_svg_() == picture
    root, areas = shapes(picture)
    width, height = (float(size) for size in root.get("viewBox").split()[2:])
    assert len(areas) >= 3
    for title, points in areas:
        for px, py in points[1:]:
            assert 0 <= px <= width and 0 <= py <= height, (title, px, py)
    assert f"peak {timeline.peak / 1024:.2f} KB" in picture and "test_timeline.py:" in picture
    assert __file__ not in picture
    few = shapes(timeline.draw(lines=1))[1]
    assert len(few) == 2 and "other lines" in few[1][0]
    for options in ({"width": 3}, {"lines": 0}, {"lines": 9}):
        with pytest.raises(ValueError, match="draw: "):
            timeline.draw(**options)


def test_many_changes_are_a_small_picture():
    spans = Spans([], 1)
    changes, now = [], 0
    for i in range(100_000):
        now += 10
        size = 100 + i % 7
        changes.append((now, size, 0, i % 50, -1, (f"f{i % 30}.py", i % 3, "f", "x")))
        if i % 3:
            changes.append((now + 5, -size, 0, i % 50, -1, None))
    timeline = MemoryTimeline(changes, spans, (0, now + 10))
    picture = timeline.draw()
    assert len(picture) < 500_000 and len(shapes(picture)[1]) == 9


def test_without_memory_there_is_none():
    with profile() as prof:
        rg.ones(2)
    with pytest.raises(RuntimeError, match="needs a profile with profile_memory=True"):
        prof.memory_timeline()
    with pytest.raises(RuntimeError, match="there is no profile yet"):
        profile(profile_memory=True).memory_timeline()
    with profile(profile_memory=True) as prof:
        pass
    timeline = check(prof)
    assert (timeline.peak, timeline.rows(), timeline.points) == (0, [], []) and "0 B" in timeline.draw()
