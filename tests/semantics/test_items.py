"""Every numbered item of a section that has a file here has a test that bears its name."""

import re
from pathlib import Path

import pytest

from . import close, rg, same

HERE = Path(__file__).parent

# The last number of each section; numbers run from 1 without a gap. Made from the list of semantics with
#   grep -oP '^- \K[A-Z]+-\d+' semantics.md | sort -V | awk -F- '{n[$1]=$2} END {for (s in n) print s, n[s]}'
LAST = {
    "LEAF": 19, "ACC": 10, "BWD": 17, "GRAD": 10, "HOOK": 18, "NODE": 13, "INP": 14, "VIEW": 13, "FUNC": 25,
    "FWD": 15, "MODE": 11, "HOF": 8, "CHK": 10, "ANOM": 5, "SAVE": 10, "CKPT": 5, "PROF": 12, "CPLX": 5, "DTYP": 9,
    "ENG": 9, "TRF": 6, "IO": 6,
}  # fmt: skip
FIRST_COVERED = {"LEAF", "ACC", "BWD", "GRAD", "INP", "DTYP", "ENG", "VIEW", "NODE", "HOOK", "FUNC", "MODE"}


def numbers_in(section):
    """The item numbers that the tests of a section's file are named after."""
    text = (HERE / f"test_{section.lower()}.py").read_text(encoding="utf-8")
    return {int(n) for n in re.findall(rf"^def test_{section.lower()}_(\d+)_\w+\(", text, re.MULTILINE)}


def covered():
    files = {p.stem.removeprefix("test_").upper() for p in HERE.glob("test_*.py")} - {"ITEMS"}
    assert files <= set(LAST), f"files of no section: {files - set(LAST)}"
    return sorted(files)


@pytest.mark.parametrize("section", covered())
def test_every_item_has_a_test(section):
    wanted, found = set(range(1, LAST[section] + 1)), numbers_in(section)
    assert not wanted - found, "without a test: " + ", ".join(f"{section}-{n}" for n in sorted(wanted - found))
    assert not found - wanted, "of no item: " + ", ".join(f"{section}-{n}" for n in sorted(found - wanted))


def test_no_section_lost_its_file():
    assert set(covered()) >= FIRST_COVERED


@pytest.mark.parametrize("section", covered())
def test_names_are_unique_and_belong_to_the_section(section):
    text = (HERE / f"test_{section.lower()}.py").read_text(encoding="utf-8")
    names = re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert [n for n in names if not re.match(rf"test_{section.lower()}_\d+_", n)] == []


@pytest.mark.parametrize("compare", [same, close])
def test_the_comparisons_of_these_tests_refuse(compare):
    compare(rg.tensor([1.0, 2.0]), [1.0, 2.0])
    nan, inf = float("nan"), float("inf")
    for got, want in (
        (rg.tensor([nan]), [nan]),
        (rg.tensor([nan]), [1.0]),
        (rg.tensor([1.0]), [nan]),
        (rg.tensor([inf]), [1.0]),
        (rg.tensor([1.0]), 1.0),
        (rg.tensor([1.0]), [1.0, 1.0]),
        (rg.tensor([1.0]), [1.001]),
        (None, [1.0]),
        ([1.0], [1.0]),
    ):
        with pytest.raises(AssertionError):
            compare(got, want)
