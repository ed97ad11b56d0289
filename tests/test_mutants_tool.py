"""The lists of mutants fit the source that they change, and the tool changes what they say."""

import ast
import importlib
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tools" / "mutants"


@pytest.fixture(scope="module")
def entries():
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("entries")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def switches(entries):
    return entries.switches


def test_every_place_is_in_the_source_once(entries, switches):
    """An entry whose text moved or changed is found here, not by a mutant that is silently none."""
    by_file = {}
    for mutant in entries.load().mutants:
        by_file.setdefault(mutant.file, []).append(mutant.change())
    for file, changes in by_file.items():
        text = (ROOT / file).read_text()
        for change in changes:
            assert change.plain(text) != text
            if file.endswith(".py"):
                assert ast.dump(ast.parse(change.plain(text))) != ast.dump(ast.parse(text))
        if not file.endswith(".py"):
            assert switches.rewrite(text, changes).count("crate::mutants::on(") == len(changes)


def test_an_operator_has_its_function_around_it(entries):
    """Between operators nothing can switch: the function is written twice, or the entry has the whole expression."""
    for mutant in entries.load().mutants:
        if mutant.function is None and not mutant.is_python and not mutant.alone:
            assert not mutant.put or mutant.put.strip("+-*/%&|^!=<> "), mutant.name


def test_entries_are_told_apart_and_name_tests_that_exist(entries):
    lists = entries.load()
    assert len({mutant.name for mutant in lists.mutants}) == len(lists.mutants)
    for mutant in lists.mutants:
        assert mutant.area in lists.areas and mutant.tests
        assert mutant.equivalent != ""
        for tests in (*mutant.tests, *lists.areas[mutant.area].wider):
            paths = [word for word in shlex.split(tests) if word.startswith("tests/")]
            assert paths and all((ROOT / path).exists() for path in paths), tests


def test_the_lists_are_as_long_as_they_should_be(entries):
    sources = [mutant.source for mutant in entries.load().mutants]
    assert sources.count("review") == 12 and sources.count("own") >= 30 and sources.count("drawn") >= 30


SOURCE = """
/// Not a body: { "x" }
fn f(x: &'static str, n: [u8; { 3 }]) -> usize {
    // A brace that is none: }
    let c = ('{', "}", r#"}"#, x);
    n.len() + c.1.len()
}

fn g() {
    h();
    k(1 + 2);
}
"""


def test_an_expression_a_statement_and_a_body_are_switched(switches):
    def changed(number, function, find, put):
        return switches.change(SOURCE, number, function, find, put)

    changes = [
        changed(1, None, "k(«1 + 2»);", "3"),
        changed(2, None, "h();", ""),
        changed(3, "fn f(", "n.len() + «c.1.len()»", "0"),
        changed(4, "fn g()", None, "return"),
        changed(5, None, "c.1.«len()»", "MUTANT.into()"),
    ]
    one, two, three, four, five = (f"crate::mutants::on({n})" for n in range(1, 6))
    text = switches.rewrite(SOURCE, changes)
    for part in ("<", ">"):
        for n in range(1, 6):
            text = text.replace(f"/*<{n}*/" if part == "<" else f"/*{n}>*/", "")
    inner = f"if {two} {{  }} else {{ h(); }}\n    k((if {one} {{ 3 }} else {{ 1 + 2 }}));"
    assert f"fn g() {{ if {four} {{ return }} else {{\n    {inner}\n}} }}" in text
    before, _, after = text.partition(" else {")
    assert before.endswith("n.len() + 0\n}") and f"if {three} {{" in before
    assert f"n.len() + c.1.{five}.into()" in after
    assert changes[2].plain(SOURCE) == SOURCE.replace("c.1.len()", "0")
    assert changes[4].plain(SOURCE) == SOURCE.replace("c.1.len()", "c.1.true.into()")


def test_whose_code_a_compiler_error_is_in(switches):
    text = switches.rewrite(SOURCE, [switches.change(SOURCE, 7, None, "k(«1 + 2»);", "three")])
    assert switches.mutants_at(text, text.index("three")) == [7]
    assert switches.mutants_at(text, text.index("1 + 2")) == []


@pytest.mark.parametrize(
    ("function", "find", "why"),
    [
        (None, "nowhere", "0 times"),
        (None, "len()", "2 times"),
        ("fn f(", "h();", "0 times"),
        ("fn z(", None, "0 times"),
        (None, None, "neither"),
        (None, "k(«1 + 2);", "without"),
    ],
)
def test_places_that_are_not_there_or_not_alone_are_refused(switches, function, find, why):
    with pytest.raises(switches.Misplaced, match=why):
        switches.change(SOURCE, 1, function, find, "")


def test_places_that_cross_are_refused(switches):
    changes = [switches.change(SOURCE, n, None, find, "0") for n, find in enumerate(["n.len() + c", "c.1.len()"], 1)]
    with pytest.raises(switches.Misplaced, match="cross"):
        switches.rewrite(SOURCE, changes)


@pytest.fixture
def run(entries, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("run")


@pytest.mark.parametrize(
    ("body", "limit", "why"),
    [
        ("assert os.environ['RETROGRAD_MUTANT'] == '5'", None, ""),
        ("assert os.environ['RETROGRAD_MUTANT'] == '6'", None, "test_one.py::test_it"),
        ("os.abort()", None, "SIGABRT"),
        ("time.sleep(600)", 1, "time-out"),
    ],
)
def test_what_counts_as_killed(run, tmp_path, body, limit, why):
    path = tmp_path / "test_one.py"
    (tmp_path / "none.ini").write_text("[pytest]\n")
    path.write_text(f"import os, time\ndef test_it():\n    {body}\n")
    outcome = run.pytest(tmp_path, f"{path} -c {tmp_path}/none.ini --rootdir {tmp_path}", 5, limit)
    assert bool(outcome.why) == bool(why) and why in outcome.why


def test_tests_that_do_not_run_are_an_error(run, tmp_path, rg):
    with pytest.raises(SystemExit, match="no run of tests"):
        run.pytest(Path(rg.__file__).parents[1], str(tmp_path / "test_none.py"), 5, None)
