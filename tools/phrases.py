"""Writes `tests/phrases/said.json`: what PyTorch says to the programs of that folder and the refusals of the records.

python tools/phrases.py             writes the file; needs a Python with PyTorch 2.13 and pytest
python tools/phrases.py --compare   prints where retrograd says something else; needs no PyTorch
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
SAID = TESTS / "phrases" / "said.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--only", default="", help="a part of the programs to compare")
    options = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    if options.compare:
        compare(options.only)
    else:
        write()


def write() -> None:
    os.environ["RETROGRAD_STANDIN"] = "torch"
    phrases = importlib.import_module("phrases")
    torch = importlib.import_module("torch")
    for name in ("torch.utils.checkpoint", "torch.func", "torch.autograd.forward_ad", "torch.utils.dlpack"):
        importlib.import_module(name)
    torch.set_warn_always(True)
    torch.set_num_threads(1)
    programs = phrases.programs()
    rows = dict(zip(programs, apart([partial(phrases.run, torch, program) for program in programs]), strict=True))
    refusals = dict(importlib.import_module("phrases.refusals").calls())
    calls = dict(zip(refusals, apart([partial(phrases.said, call) for call in refusals.values()]), strict=True))
    kinds = (f"{json.dumps(kind)}: {lines(found)}" for kind, found in (("programs", rows), ("refusals", calls)))
    SAID.write_text("{" + ",\n".join(kinds) + "}\n")
    for program in (program for program, row in rows.items() if row == CRASH):
        print(f"PyTorch crashes:\n{program}")
    silent = list(rows.values()).count({})
    print(f"{len(rows)} programs, {len(calls)} refusals of records; to {silent} PyTorch says nothing")


CRASH = {"crash": True}


def apart(calls: list[Callable[[], object]]) -> list[dict[str, object]]:
    """What each call says, in another process: one that crashes ends that, and the next goes on behind."""
    rows: list[dict[str, object]] = []
    while len(rows) < len(calls):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            with open(writer, "w") as pipe, open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 2)
                for call in calls[len(rows) :]:
                    print(json.dumps(pack(call())), file=pipe, flush=True)
                os._exit(0)
        os.close(writer)
        with open(reader) as pipe:
            rows += map(json.loads, pipe)
        if os.waitpid(child, 0)[1]:
            rows.append(CRASH)
    return rows


def lines(rows: dict[str, dict[str, object]]) -> str:
    """JSON with a line for each row."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()) + "\n}"


def pack(said: object) -> dict[str, object]:
    """In as few words as possible: an exception by its class, warnings only where nothing is raised."""
    raised, warned = said.raised, said.warned  # type: ignore[attr-defined]
    if raised is not None:
        return {"raises": raised[0][0], "says": brief(raised[1])}
    return {"warns": [[kinds[0], brief(text)] for kinds, text in warned]} if warned else {}


def brief(text: str) -> str:
    """As far as it may be compared, and the same in every run: without stack traces, which name places of a machine."""
    words = re.split(r"\n(?:Exception raised from |[^\n]*(?:^|[\s(\"'])/(?:tmp|home|root|work)/)", text, maxsplit=1)[0]
    return re.sub("0x[0-9a-f]{8,}", "0x0", words[:700])


def compare(only: str) -> None:
    tests = importlib.import_module("test_phrases")
    for name in tests.names(only):
        theirs, ours = tests.stored(name), tests.ours(name)
        what = tests.differs(theirs, ours)
        if what and not tests.reason(name, theirs):
            print(
                f"--- {what}\n{name}\n  torch: {theirs.raised or theirs.warned}\n  ours:  {ours.raised or ours.warned}"
            )


if __name__ == "__main__":
    main()
