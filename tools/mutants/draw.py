"""Draws mutants from those that cargo-mutants lists for the source, and writes them down as a list of their own."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from typing import Any

import build
import switches
from entries import HERE, ROOT, Lists, Mutant, load

TARGET = HERE / "drawn.toml"

# Tests, what is only printed for who debugs, and code that runs in the compiler.
SKIPPED = re.compile(r"(^|/)(tests|benches|testing)[/.]|retrograd-macros/|build\.rs$")
PRINTED = re.compile(r"\bimpl (\w+::)*(Debug|Display) for\b")


@dataclass(frozen=True)
class Listed:
    """A mutant of cargo-mutants' list."""

    file: str
    function: str
    around: switches.Span
    span: switches.Span
    genre: str
    put: str


def write(seed: int, count: int) -> None:
    lists = load()
    base = [m for m in lists.mutants if m.source != "drawn"]
    before = {(m.file, m.function, m.find, m.put): m for m in lists.mutants if m.source == "drawn"}
    candidates = listed()
    random.Random(seed).shuffle(candidates)
    print(f"seed {seed}: {len(candidates)} mutants to draw from")
    chosen: list[Mutant] = []
    while len(chosen) < count and candidates:
        while len(chosen) < count and candidates:
            mutant = entry(candidates.pop(0), len(base) + len(chosen) + 1, lists)
            if mutant is not None and fits(mutant, base + chosen):
                chosen.append(mutant)
        build.write_switched(base + chosen)
        # What does not compile is no mutant: the next one is drawn in its place.
        refused = build.broken()
        for mutant in chosen:
            if mutant.number in refused:
                print(f"does not compile: {mutant.name}: {refused[mutant.number]}")
        kept = [m for m in chosen if m.number not in refused]
        chosen = [replace(m, number=len(base) + i + 1) for i, m in enumerate(kept)]
        if not refused:
            break
    for i, mutant in enumerate(chosen):
        if known := before.get((mutant.file, mutant.function, mutant.find, mutant.put)):
            chosen[i] = replace(mutant, name=known.name, tests=known.tests, equivalent=known.equivalent)
    head = f"# {len(chosen)} of {len(candidates) + len(chosen)} places that cargo-mutants lists"
    TARGET.write_text("\n".join([f"{head}, drawn with seed {seed}.", *map(toml, chosen)]) + "\n")


def listed() -> list[Listed]:
    if shutil.which("cargo-mutants") is None:
        raise SystemExit("cargo-mutants is not installed: cargo install --locked cargo-mutants")
    done = subprocess.run(
        ["cargo", "mutants", "--list", "--json", "--workspace"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows = [read(row) for row in json.loads(done.stdout) if row.get("function")]
    rows = [r for r in rows if not SKIPPED.search(r.file) and not PRINTED.search(r.function)]
    return sorted(rows, key=lambda r: (r.file, r.span.start, r.span.end, r.put))


def read(row: dict[str, Any]) -> Listed:
    function = row["function"]
    lines = (ROOT / row["file"]).read_text().splitlines(keepends=True)

    def span(of: dict[str, dict[str, int]]) -> switches.Span:
        at = [sum(map(len, lines[: of[end]["line"] - 1])) + of[end]["column"] - 1 for end in ("start", "end")]
        return switches.Span(*at)

    around, name = span(function["span"]), function["function_name"]
    return Listed(row["file"], name, around, span(row["span"]), row["genre"], row["replacement"])


def entry(row: Listed, number: int, lists: Lists) -> Mutant | None:
    """The mutant as an entry; `None` if its function cannot be distinguished from others."""
    text = (ROOT / row.file).read_text()
    name = row.function.rpartition("::")[2]
    match = re.compile(rf"\bfn {re.escape(name)}\b").search(text, row.around.start, row.around.end)
    if match is None:
        return None
    body = switches.body_after(text, match.end())
    function = unique(text, switches.Span(match.start(), body.start), switches.Span(0, len(text)))
    place = f"{name}-{row.file.removesuffix('.rs').removesuffix('/mod').rpartition('/')[2]}"
    own = {"number": number, "source": "drawn", "area": lists.area_of(row.file), "file": row.file, "function": function}
    if row.genre == "FnValue":
        return Mutant(name=f"{place} returns {row.put}", put=row.put, **own)
    old = text[row.span.start : row.span.end]
    before, after = split(text, row.span, body)
    find = f"{before}{switches.OPEN}{old}{switches.CLOSE}{after}"
    return Mutant(name=f"{place}: {short(old)} becomes {short(row.put) or 'nothing'}", find=find, put=row.put, **own)


def short(code: str) -> str:
    return " ".join(code.split())[:40]


def lines_around(text: str, span: switches.Span, within: switches.Span, more: int) -> switches.Span:
    """The lines of the span and `more` before and behind them."""
    start, end = span.start, span.end
    for _ in range(more + 1):
        start = max(text.rfind("\n", within.start, max(start - 1, within.start)) + 1, within.start)
        end = text.find("\n", end + 1, within.end)
        end = within.end if end < 0 else end
    return switches.Span(start, end)


def unique(text: str, span: switches.Span, within: switches.Span) -> str:
    before, after = split(text, span, within)
    return before + text[span.start : span.end] + after


def split(text: str, span: switches.Span, within: switches.Span) -> tuple[str, str]:
    """What must stand before and behind the span for it to be the only one."""
    if text.count(text[span.start : span.end], within.start, within.end) == 1:
        return "", ""
    for more in range(200):
        around = lines_around(text, span, within, more)
        before, after = text[around.start : span.start].lstrip(), text[span.end : around.end].rstrip()
        if text.count(before + text[span.start : span.end] + after, within.start, within.end) == 1:
            return before, after
    raise switches.Misplaced("no text tells the place")


def fits(mutant: Mutant, others: list[Mutant]) -> bool:
    """Whether the place can be switched together with those of the others."""
    beside = [m for m in others if m.file == mutant.file and not m.alone]
    try:
        switches.rewrite((ROOT / mutant.file).read_text(), [m.change() for m in [*beside, mutant]])
    except switches.Misplaced:
        return False
    return True


def toml(mutant: Mutant) -> str:
    rows = [f"{key} = {json.dumps(getattr(mutant, key))}" for key in ("name", "area", "file")]
    for key in ("function", "find", "put"):
        value = getattr(mutant, key)
        if value is not None:
            rows.append(f"{key} = " + (f"'{value}'" if "\n" not in value and "'" not in value else f"'''\n{value}'''"))
    rows.append(f"tests = {json.dumps(mutant.tests)}")
    if mutant.equivalent:
        rows.append(f"equivalent = {json.dumps(mutant.equivalent)}")
    return "\n".join(["\n[[mutant]]", *rows])
