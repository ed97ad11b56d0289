"""Reading the files of nvprof."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from contextlib import closing

import pytest

from retrograd.autograd.profiler import EnforceUnique, EventList, load_nvprof, parse_nvprof_trace

TABLES = {
    "StringTable": "_id_ INTEGER PRIMARY KEY, value TEXT",
    "CUPTI_ACTIVITY_KIND_MARKER": "id INTEGER, name INTEGER, timestamp INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "_id_ INTEGER, cbid INTEGER, start INTEGER, end INTEGER, correlationId INTEGER",
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": "start INTEGER, end INTEGER, name INTEGER, correlationId INTEGER",
}
STRINGS = [(1, "mul"), (2, "_Z3foov"), (3, "kern")]


@pytest.fixture
def file(tmp_path):
    """Writes a file with these rows."""

    def write(markers, runtime=(), kernels=(), strings=STRINGS, name="nvprof.db"):
        path = tmp_path / name
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as made:
            for (table, columns), rows in zip(TABLES.items(), (strings, markers, runtime, kernels), strict=True):
                made.execute(f"CREATE TABLE {table} ({columns})")
                made.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * (columns.count(',') + 1))})", rows)
            made.commit()
        return path

    return write


def rows(events):
    return [(e.id, e.name, e.time_range.start, e.time_range.end, list(map(tuple, e.kernels))) for e in events]


def test_the_sample(file):
    path = file(
        [(7, 2, 100), (7, 0, 200), (5, 1, 10), (5, 0, 60)], [(1, 211, 20, 30, 77)], [(25, 45, 3, 77)]
    )  # fmt: skip
    foo = "foo()" if sys.platform == "linux" else load_nvprof(path)[1].name
    expected = [(5, "mul", 10, 60, [("kern", 0, 20)]), (7, foo, 100, 200, [])]
    events = load_nvprof(path)
    assert isinstance(events, EventList) and rows(events) == expected
    assert {(e.thread, e.node_id) for e in events} == {(0, 0)}
    assert type(parse_nvprof_trace(str(path))) is list and rows(parse_nvprof_trace(str(path))) == expected
    assert events.table().splitlines()[1].endswith("# of Calls       Node ID  ")


def test_kernels_belong_to_all_ranges_around_their_launch(file):
    markers = [(1, 1, 0), (1, 0, 100), (2, 1, 10), (2, 0, 50), (3, 1, 20), (3, 0, 30)]
    path = file(markers, [(9, 211, 20, 30, 77), (8, 211, 60, 70, 78)], [(25, 26, 3, 77), (85, 89, 12, 78)])
    kernels = {event.id: event.kernels for event in load_nvprof(path)}
    assert kernels == {1: [("kern", 0, 1), (12, 0, 4)], 2: [("kern", 0, 1)], 3: []}  # strictly inside


def test_what_is_no_pair_is_no_range(file):
    assert load_nvprof(file([(7, 1, 100), (8, 0, 200), (9, 1, 100), (9, 2, 150)])) == []


def test_errors(file, tmp_path):
    launch, kernel = (1, 211, 20, 30, 77), (25, 45, 3, 77)
    one = [(5, 1, 10), (5, 0, 60)]
    with pytest.raises(RuntimeError, match=r"duplicate key: \(5,\)"):
        load_nvprof(file([*one, (5, 1, 70), (5, 0, 90)]))
    with pytest.raises(RuntimeError, match=r"duplicate key: \(5, 1\)"):
        load_nvprof(file(one, [launch], [kernel, kernel]))
    with pytest.raises(AssertionError, match="Expected cbid to be 211, but got 3"):
        load_nvprof(file(one, [(1, 3, 20, 30, 77)], [kernel]))
    assert rows(load_nvprof(file(one, [(1, 3, 20, 30, 77)], []))) == [(5, "mul", 10, 60, [])]  # launches nothing
    with closing(sqlite3.connect(tmp_path / "empty.db")):
        pass
    with pytest.raises(sqlite3.OperationalError, match="no such table: StringTable"):
        load_nvprof(tmp_path / "empty.db")
    (tmp_path / "text.db").write_text("not a database, " * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        load_nvprof(tmp_path / "text.db")


def test_a_missing_file_is_not_made(tmp_path):
    with pytest.raises(sqlite3.OperationalError, match="unable to open database file"):
        load_nvprof(tmp_path / "missing.db")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a?mode=rwc.db", "a#b.db", "a b%20c.db", "é.db"])
def test_paths_are_not_read_as_options(file, name):
    if os.name == "nt" and "?" in name:
        pytest.skip("no such names here")
    assert len(load_nvprof(file([(5, 1, 10), (5, 0, 60)], name=name))) == 1


def test_the_file_is_only_read(file):
    path = file([(5, 1, 10), (5, 0, 60)])
    before = path.read_bytes()
    path.chmod(0o444)
    load_nvprof(path)
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("seed", range(10))
def test_random_files_have_the_kernels_of_the_definition(file, seed):
    chosen = random.Random(seed)
    spans = {i: (s := chosen.randrange(100), s + chosen.randrange(100)) for i in range(1, 12)}
    calls = [(i, 211, s := chosen.randrange(150), s + chosen.randrange(30), 50 + i) for i in range(10)]
    kernels = [(s := chosen.randrange(150), s + chosen.randrange(30), 90 + i, 50 + i) for i in range(8)]
    markers = [row for i, (start, end) in spans.items() for row in ((i, 1, start), (i, 0, end))]
    chosen.shuffle(markers)
    found = load_nvprof(file(markers, calls, kernels))
    assert [event.time_range.start for event in found] == sorted(start for start, _ in spans.values())
    for event in found:
        start, end = spans[event.id]
        inside = {call[4] for call in calls if start < call[2] and call[3] < end}
        assert sorted(event.kernels) == sorted((k[2], 0, k[1] - k[0]) for k in kernels if k[3] in inside)


def test_keys_are_seen_once():
    unique = EnforceUnique()
    unique.see(1, 2)
    unique.see(2, 1)
    unique.see()
    assert unique.seen == {(1, 2), (2, 1), ()}
    with pytest.raises(RuntimeError, match=r"duplicate key: \(1, 2\)"):
        unique.see(1, 2)
