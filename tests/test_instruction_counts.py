"""Small statements take no more instructions than when their counts were stored: `benches/instructions.py`."""

import json
import re
import shutil
from pathlib import Path

import pytest

import retrograd as rg


@pytest.fixture(scope="module")
def instructions(bench):
    return bench("instructions")


def test_no_statement_takes_more_instructions_than_are_stored(instructions):
    library = Path(rg._core.__file__)
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    if not instructions.of_a_wheel(library):
        pytest.skip("retrograd is no installed wheel, and counts belong to the wheel's release build")
    try:
        stored = instructions.lookup(json.loads(instructions.STORED.read_text()), instructions.key(library, "wheel"))
    except LookupError as error:
        pytest.skip(str(error))
    more, _ = instructions.check(stored, None)
    assert more == []


@pytest.mark.parametrize(
    ("found", "more", "fewer"),
    [(1029, 0, 0), (1031, 1, 0), (971, 0, 0), (969, 0, 1), (2000, 1, 0), (1000, 0, 0)],
)
def test_a_count_may_be_3_percent_above_the_stored_one(instructions, found, more, fewer):
    counts = {"p + q": found, "a[0], recorded": 10}
    lines = instructions.differences({"p + q": 1000, "a[0], recorded": 10}, counts)
    assert [len(part) for part in lines] == [more, fewer]
    for line in lines[0] + lines[1]:
        assert line == f"p + q: 1000 instructions are stored, {found} found ({found / 1000:.3f})"


def test_a_check_fails_by_more_and_not_by_fewer(instructions, capsys):
    assert instructions.report(["p + q: 3"], []) == 1
    assert instructions.report([], ["p + q: 1"]) == 0
    assert instructions.report([], []) == 0
    assert re.findall("^(more|fewer).*", capsys.readouterr().out, re.MULTILINE) == ["more", "fewer"]


def test_counts_that_are_not_stored_are_told_with_the_command_that_stores_them(instructions):
    with pytest.raises(LookupError, match="no counts are stored for rustc 9, CPython 4: run make counts"):
        instructions.lookup({"rustc 1, CPython 3": {}}, "rustc 9, CPython 4")
    more, _ = instructions.differences({}, {"p + q": 1000})
    assert more == ["p + q: no count is stored: run make counts"]


def test_a_high_count_is_taken_again_and_the_least_holds(instructions, monkeypatch):
    counts = iter([{"p + q": 1200, "hook": 90}, {"p + q": 1010, "hook": 120}, {"p + q": 1, "hook": 1}])
    monkeypatch.setattr(instructions, "count", lambda site, table: next(counts))
    assert instructions.check({"p + q": 1000, "hook": 90}, None) == ([], [])
    assert next(counts) == {"p + q": 1, "hook": 1}


def test_what_is_stored_names_the_counted_statements(instructions):
    stored = json.loads(instructions.STORED.read_text())
    assert stored
    for counts in stored.values():
        assert set(counts) == set(instructions.COUNTED)
