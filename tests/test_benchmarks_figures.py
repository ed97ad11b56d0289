"""`benches/figures.py` writes pages from what was measured: here from made-up figures."""

import json
import re
import socket
import sys

import pytest


@pytest.fixture(scope="module")
def figures(bench):
    return bench("figures")


@pytest.fixture(scope="module")
def row(figures, bench):
    compare = bench("compare")

    def make(name, ours, torch, **more):
        given = compare.Row(name, ours=ours, torch=torch, **more)
        return compare.asdict(given) | {"ratio": given.ratio, "verdict": given.verdict}

    return make


def measured(rows, threads=1, torch="2.13.0"):
    plan = {"heats": 6, "rounds": 5}
    return {"package": "retrograd 9.9", "torch": torch, "threads": threads, "plan": plan, "rows": rows}


COMPILED = {"at_least": 0.95, "jax": "0.9", "rows": {"chain": {"eager": 40.0, "compiled": 10.0, "jax.jit": 9.0}}}


def lines_of(text, heading):
    return text.split(f"## {heading}\n")[1].split("\n## ")[0].strip().splitlines()


def test_a_page_has_its_rows_by_kind_with_ratio_budget_and_verdict(figures, row):
    one = [row("add, 4 floats, plain", 1e-7, 1e-6, at_least=7.0), row("mm f32 16x16x16 NN", 2e-6, 1e-6, at_least=0.95)]
    one += [row("installed size", 12.0, 720.0, kind="MB", at_most=20.0), row("sort, fwd", None, 1e-3, error="no sort")]
    two = [row("add, 4 floats, plain", 2e-7, 1e-6, at_least=7.0)]
    text = figures.page([COMPILED, measured(two, 2), measured(one)])
    head, rule, add = lines_of(text, "Small statements")
    assert head == "|  | retrograd | torch | ratio | 2 threads | torch | ratio | budget | verdict |"
    assert rule == "| --- |" + " ---: |" * 8
    assert add == "| add, 4 floats, plain | 100 ns | 1 us | 10.00x | 200 ns | 1 us | 5.00x | >= 7x | ok / SHORT |"
    assert "| mm f32 16x16x16 NN | 2 us | 1 us | 0.50x ▼ | - | - | - | >= 0.95x | SHORT |" in text
    assert "| installed size | 12.0 MB | 720.0 MB | 60.00x | - | - | - | <= 20.0 MB | ok |" in text
    assert lines_of(text, "Large work")[-1] == "| sort, fwd | failed | 1 ms | - | - | - | - |  | FAILED |"
    assert lines_of(text, "Compiled")[-1] == "| chain | 9 us | 40 us | 10 us | 0.90x ▼ | >= 0.95x of jax.jit | SHORT |"
    assert "- torch 2.13.0\n" in text
    assert "- JAX 0.9\n" in text
    assert "retrograd 9.9, CPython" in text


def test_of_several_runs_the_least_of_either_side_counts(figures, row):
    def run(ours, torch, **more):
        return measured([row("relu, 4M", ours, torch, at_least=1.5, **more)])

    other = {**COMPILED, "rows": {"chain": {"eager": 50.0, "compiled": 9.0, "jax.jit": 18.0}}}
    text = figures.page([run(2e-6, 2e-6), run(1e-6, 3e-6), COMPILED, other])
    assert "| relu, 4M | 1 us | 2 us | 2.00x | >= 1.5x | ok |" in text
    assert "| chain | 9 us | 40 us | 9 us | 1.00x | >= 0.95x of jax.jit | ok |" in text
    assert "- Rounds: 6 set-ups of 5 rounds in each of 2 runs\n" in text
    assert "- Rounds: 6 set-ups of 5 rounds\n" in figures.page([run(1e-6, 3e-6)])
    assert "FAILED" in figures.page([run(1e-6, 3e-6), run(None, 3e-6, error="no relu")])


def test_the_mean_of_the_statements_is_there_if_all_are(figures, row):
    names = [figures.statements.PREFIX + name for name in figures.statements.STATEMENTS]
    rows = [row(name, 1.0, 4.0 if i % 2 else 9.0) for i, name in enumerate(names[:-1])] + [row(names[-1], 1.0, 6.0)]
    assert "statement*: 6.0x (budget: 10.0x)." in figures.page([measured(rows)])
    assert "statement*" not in figures.page([measured(rows[1:])])


def test_every_row_that_is_raced_has_a_kind_and_every_kind_rows(figures, bench):
    compare = bench("compare")
    names = [case.name for case in compare.CASES] + ["import", "installed size"]
    assert {figures.kind(name) for name in names} == set(figures.KINDS)
    assert figures.kind("nn: transformer of 4 blocks, width 64") == "Training steps"
    assert figures.kind("fft2, 512x512, fwd") == "Fourier transforms"
    assert figures.kind("sum, 4M f32") == "Large work"


def test_a_page_that_compares_with_torch_is_not_lost(figures, row, tmp_path, capsys):
    path, rows = tmp_path / "figures.md", [row("sum, 4M f32", 1.0, None)]
    own = figures.page([measured(rows, torch=None)])
    figures.write(path, own)
    assert path.read_text() == own
    compared = figures.page([measured([row("sum, 4M f32", 1.0, 2.0)])])
    figures.write(path, compared)
    figures.write(path, own)
    assert path.read_text() == compared
    assert "make bench TORCH=" in capsys.readouterr().out


@pytest.mark.parametrize("option", [[], ["--adbench"]])
def test_figures_of_some_rows_replace_no_page(figures, row, tmp_path, monkeypatch, capsys, option):
    given, path = tmp_path / "given.json", tmp_path / "page.md"
    path.write_text("a page")
    given.write_text(json.dumps(measured([row("sum, 4M f32", 1.0, 2.0)]) | {"only": "sum"}))
    monkeypatch.setattr(sys, "argv", ["figures.py", *option, str(given), "--page", str(path)])
    assert figures.main() == 0
    assert path.read_text() == "a page"
    assert "figures of some rows" in capsys.readouterr().out
    given.write_text(json.dumps(measured([row("sum, 4M f32", 1.0, 2.0)]) | {"only": ""}))
    if not option:
        assert figures.main() == 0
        assert path.read_text().startswith("# Figures")


def test_the_table_of_adbench_is_replaced_between_its_marks(figures):
    row = {"name": "BA 1", "tapenade": 0.002, "switch": 1.0, "eager": 0.004, "ratio": 0.5, "at_least": 1 / 3}
    given = {"retrograd": "9.9", "gcc": "gcc 12", "rows": [row | {"verdict": "ok"}]}
    text = figures.adbench(given, f"before\n{figures.BEGIN}\nold\n{figures.END}\nafter\n")
    assert text.startswith("before\n")
    assert text.endswith(f"\n{figures.END}\nafter\n")
    assert "old" not in text
    assert "| BA 1 | 2 ms | 1 s | 4 ms | - | 0.50x ▼ | >= 0.33x | ok |" in text
    with pytest.raises(SystemExit, match="the page has no"):
        figures.adbench(given, "a page\n")
    with pytest.raises(SystemExit, match="no figures of Tapenade"):
        figures.adbench({"rows": [{"name": "BA 1"}]}, text)


def test_a_page_names_no_machine(figures):
    assert socket.gethostname() not in "\n".join(figures.machine())
    assert not re.search(r"(^|\s)/", "\n".join(figures.machine()))
