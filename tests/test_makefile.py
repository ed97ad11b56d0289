"""The Makefile and what is written about it agree, and CI calls it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = [name for line in re.findall(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE) for name in line.split()]


def make(*arguments: str) -> str:
    # A make that runs these tests tells the makes below it how to share its jobs; this one is on its own.
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    run = subprocess.run(["make", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return run.stdout


def test_help_lists_every_target_with_a_sentence():
    rows = dict(line.split(maxsplit=1) for line in make("help").splitlines())
    assert list(rows) == TARGETS
    assert all(rows.values())


def test_every_named_rule_is_a_target():
    assert set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE)) == set(TARGETS)


def test_plain_make_is_help():
    assert make() == make("help")


WORKFLOWS = [str(path.relative_to(ROOT)) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))]


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md", "docs/README.md", ".ci/run", *WORKFLOWS])
def test_targets_that_texts_name_exist(path):
    # In code, as `make x` or as a line that begins with it; prose may use the verb.
    named = re.findall(r"(?:`|^\s*(?:- run: )?)make ([a-z-]+)", (ROOT / path).read_text(), re.MULTILINE)
    assert named
    assert set(named) <= set(TARGETS)


@pytest.mark.parametrize("path", WORKFLOWS)
def test_workflows_run_targets_and_nothing_else(path):
    text = (ROOT / path).read_text()
    steps = re.findall(r"^\s+(?:- )?run: (.+)$", text, re.MULTILINE)
    assert steps
    # Windows has no make.
    assert [step for step in steps if not step.startswith(("make ", "choco install make"))] == []
    lists = re.findall(r"^\s+target: \[(.+)\]$", text, re.MULTILINE)
    assert {target for names in lists for target in names.split(", ")} <= set(TARGETS)


@pytest.mark.parametrize("path", WORKFLOWS)
def test_caches_are_keyed_by_files_that_exist(path):
    keys = re.findall(r"hashFiles\((.+?)\)", (ROOT / path).read_text())
    assert [name for key in keys for name in re.findall("'(.+?)'", key) if not (ROOT / name).is_file()] == []


def test_the_version_to_cite_is_that_of_the_crates():
    versions = {
        name: re.search(r'^version[:=\s]+"?([\w.]+)"?$', (ROOT / name).read_text(), re.MULTILINE)
        for name in ("Cargo.toml", "CITATION.cff")
    }
    assert len({found and found[1] for found in versions.values()}) == 1, versions
