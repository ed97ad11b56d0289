"""Where PyTorch raises or warns for the same reason, its phrase stands in our message unbroken, and its type holds."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import phrases
from phrases import Said, differs, fragments, holds, refusals
from phrases.differences import DIFFERENCES, PENDING

STORED: dict[str, dict[str, Any]] = json.loads((phrases.HERE / "said.json").read_text())
PROGRAMS, REFUSALS = phrases.programs(), dict(refusals.calls())
pytestmark = pytest.mark.skipif("RETROGRAD_STANDIN" in os.environ, reason="what is compared is retrograd")


@pytest.fixture(scope="module", autouse=True)
def package() -> Iterator[Any]:
    for name in ("utils.checkpoint", "func", "autograd.forward_ad", "utils.dlpack"):
        importlib.import_module(f"retrograd.{name}")
    package = importlib.import_module("retrograd")
    yield package
    package.autograd.set_detect_anomaly(False)  # for all threads, and some programs switch it on


def unpack(row: dict[str, Any]) -> Said:
    raised = ((row["raises"],), row["says"]) if "raises" in row else None
    return Said(raised, tuple(((name,), text) for name, text in row.get("warns", ())))


def stored(name: str) -> Said:
    return unpack(STORED["refusals" if name in REFUSALS else "programs"][name])


def ours(name: str) -> Said:
    """What retrograd says; once more in a process of its own where only a first time may warn."""
    if name in REFUSALS:
        return phrases.said(REFUSALS[name])
    said = phrases.run(importlib.import_module("retrograd"), name)
    if differs(stored(name), said) != "does not warn so":
        return said
    code = "import json, phrases, sys, retrograd, retrograd.utils.checkpoint; s = phrases.run(retrograd, sys.argv[1]); "
    code += "print(json.dumps(s.warned))"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    told = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, check=True, env=env)
    return Said(said.raised, tuple((tuple(kinds), text) for kinds, text in json.loads(told.stdout)))


def reason(name: str, theirs: Said) -> str | None:
    """The pattern of the difference that this is."""
    texts = (name, theirs.raised[1] if theirs.raised else " ".join(text for _, text in theirs.warned))
    return next((p for p in (*DIFFERENCES, *PENDING) if any(re.search(p, text) for text in texts)), None)


def names(only: str = "") -> Iterator[str]:
    yield from (p for p in PROGRAMS if only in p and "crash" not in STORED["programs"][p])
    yield from (r for r in REFUSALS if only in r)


@pytest.mark.parametrize("name", [pytest.param(n, id=n.replace("\n", "; ")[:120]) for n in names()])
def test_the_phrase_and_the_type_hold(name: str) -> None:
    theirs, said = stored(name), ours(name)
    what = differs(theirs, said)
    if reason(name, theirs) is None:
        assert not what, f"{what}:\n{name}\n  PyTorch: {theirs}\n  here:    {said}"


def test_every_difference_is_one() -> None:
    different = {reason(n, theirs) for n in names() if differs(theirs := stored(n), ours(n))}
    assert sorted(set(DIFFERENCES) - different) == []


def test_every_program_and_refusal_is_stored() -> None:
    assert set(STORED["programs"]) == set(PROGRAMS)
    assert set(STORED["refusals"]) == set(REFUSALS)
    assert len(PROGRAMS) == len(set(PROGRAMS)) > 800


def test_most_phrases_are_compared_at_length() -> None:
    """The comparison is of words: few phrases come down to nothing."""
    said = [row["says"] for kind in STORED.values() for row in kind.values() if "says" in row]
    words = [sum(len(part.split()) for part in fragments(text)) for text in said]
    assert sum(n >= 3 for n in words) > 0.8 * len(said)


SAID = Said((("RuntimeError",), "add: The size of a (3) must match b. Or not"))


@pytest.mark.parametrize(
    ("kinds", "message", "what"),
    [
        (("RuntimeError",), "sum: The size of a (4) must match b: broadcast it", ""),
        (("NotImplementedError", "RuntimeError"), "The size of a (3) must match b", ""),
        (("RuntimeError",), "The sizes of a (3) must match b", "phrase"),
        (("RuntimeError",), "The size of tensor a (3) must match b", "phrase"),
        (("RuntimeError",), "must match b. The size of a", "phrase"),
        (("RuntimeError",), "", "phrase"),
        (("ValueError",), "The size of a (3) must match b", "raises ValueError"),
    ],
)
def test_the_comparison_sees_a_broken_phrase_and_a_wrong_type(kinds: tuple[str, ...], message: str, what: str) -> None:
    assert differs(SAID, Said((kinds, message))) == what


def test_the_comparison_sees_what_is_missing_and_what_is_new() -> None:
    quiet, warned = Said(None), Said(None, ((("UserWarning",), "x is old. Use y"),))
    assert differs(SAID, quiet) == "does not raise"
    assert differs(quiet, SAID) == "raises RuntimeError, where nothing is raised"
    assert differs(warned, quiet) == "does not warn so"
    assert differs(warned, Said(None, ((("FutureWarning",), "x is old"),))) == "does not warn so"
    assert differs(warned, Said(None, ((("UserWarning",), "x is quite old"),))) == "does not warn so"
    assert differs(warned, Said(None, ((("UserWarning",), "x is old: z"),))) == ""


def test_names_of_the_package_and_of_dtypes_are_no_part_of_a_phrase() -> None:
    assert holds("torch.cat(): expected Float for torch.Size([2, 3])", "stack: expected float32 for (3, 4)")
    assert not holds("expected Float for torch.Size([2, 3])", "expected a float32 for (3, 4)")
