"""The numbered items of the semantics, and which of them have a test: a test is named after its item."""

import re
from pathlib import Path

HERE = Path(__file__).parent

# The last number of each section; numbers run from 1 without a gap. Made from the list of semantics with
#   grep -oP '^- \K[A-Z]+-\d+' semantics.md | sort -V | awk -F- '{n[$1]=$2} END {for (s in n) print s, n[s]}'
LAST = {
    "LEAF": 19, "ACC": 10, "BWD": 17, "GRAD": 10, "HOOK": 18, "NODE": 13, "INP": 14, "VIEW": 13, "FUNC": 25,
    "FWD": 15, "MODE": 11, "HOF": 8, "CHK": 10, "ANOM": 5, "SAVE": 10, "CKPT": 5, "PROF": 12, "CPLX": 5, "DTYP": 9,
    "ENG": 9, "TRF": 6, "IO": 6,
}  # fmt: skip
FIRST_COVERED = {
    "LEAF", "ACC", "BWD", "GRAD", "INP", "DTYP", "ENG", "VIEW", "NODE", "HOOK", "FUNC", "MODE",
    "ANOM", "SAVE", "CKPT", "IO", "FWD", "HOF", "CHK", "TRF", "PROF",
}  # fmt: skip


def text_of(section):
    """The tests of a section: those of its file, and of files that add a word to its name."""
    name = section.lower()
    files = [HERE / f"test_{name}.py", *sorted(HERE.glob(f"test_{name}_*.py"))]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def numbers_in(section):
    """The item numbers that the tests of a section are named after."""
    return {int(n) for n in re.findall(rf"^def test_{section.lower()}_(\d+)_\w+\(", text_of(section), re.MULTILINE)}


def covered():
    files = {p.stem.split("_")[1].upper() for p in HERE.glob("test_*.py")} - {"ITEMS"}
    assert files <= set(LAST), f"files of no section: {files - set(LAST)}"
    return sorted(files)


def without_a_test():
    """Items of the covered sections that no test is named after."""
    return [f"{s}-{n}" for s in covered() for n in sorted(set(range(1, LAST[s] + 1)) - numbers_in(s))]
