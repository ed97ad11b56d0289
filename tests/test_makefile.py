"""The Makefile and what is written about it agree."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()
PHONY = re.search(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE)
TARGETS = PHONY[1].split() if PHONY else []


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


@pytest.mark.parametrize(
    "path", ["README.md", "CONTRIBUTING.md", "docs/README.md", ".ci/run", ".github/workflows/ci.yml"]
)
def test_targets_that_texts_name_exist(path):
    # In code, as `make x` or as a line that begins with it; prose may use the verb.
    named = re.findall(r"(?:`|^\s*(?:- run: )?)make ([a-z-]+)", (ROOT / path).read_text(), re.MULTILINE)
    assert named
    assert set(named) <= set(TARGETS)
