"""Turns what was measured into pages.

    python benches/figures.py ONE... [TWO...] [COMPILED...] [--page FILE]     docs/figures.md
    python benches/figures.py --adbench FILE [--page FILE]                    the table of docs/adbench.md

ONE and TWO are what `compare.py --json` wrote at one and at two threads, COMPILED is that of `compiled.py`; the kind of
a file is seen from what is in it. Of several runs of one kind the least of each figure counts: on a shared machine a
busy neighbour lasts longer than the rounds of a row. `make bench` and `make bench-adbench` call this. A page that
compares with torch is not replaced by one that does not.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import instructions
import statements
from cases import PARITY
from compare import Row as Compared
from compare import figure

Row = dict[str, Any]
DOCS = Path(__file__).parents[1] / "docs"
# A row belongs to the first kind whose expression is found in its name.
KINDS = {
    "Small statements": r"^statement: |, 4 floats|^x\[0\]$|^backward, |^chain of 100|^custom Function|^record_function"
    r"|^an event|^nn: (call|access)",
    "Import and size": r"^import|^installed size",
    "Training steps": r"^MLP step|^nn: |^optim: ",
    "Transforms": r"^(jacobian|hessian|hvp|func\.|vmap|jvp|Laplacian|forward mode|gradcheck|6th derivative|Kalman)",
    "Products and decompositions": r"^(mm|bmm|einsum|linalg)\b",
    "Fourier transforms": r"fft",
    "Large work": r"",
}
MARK = "▼"
HEAD = f"""# Figures

Written by `make bench TORCH=<site-packages>` ([benches](../benches)): do not edit. A figure is the least time of rounds
in which both libraries take turns in one process; a ratio is torch's time over ours, so more is better. Rows whose
ratio is below parity ({PARITY}) are marked {MARK}. The verdict holds a row against its budget.
"""


def kind(name: str) -> str:
    return next(title for title, expression in KINDS.items() if re.search(expression, name))


def processor() -> str:
    cpu = Path("/proc/cpuinfo")
    model = re.search(r"^model name\s*: (.+)$", cpu.read_text(), re.MULTILINE) if cpu.exists() else None
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    return f"{model[1] if model else platform.machine()}, {cores} cores"


def machine() -> list[str]:
    """What the figures depend on, without names of machines."""
    lines, caches = [f"- Processor: {processor()}"], []
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, which, size = ((cache / part).read_text().strip() for part in ("level", "type", "size"))
        caches.append(f"L{level} {which.lower()} {size}" if which != "Unified" else f"L{level} {size}")
    if caches:
        lines.append(f"- Caches: {', '.join(caches)}")
    return [*lines, f"- Date: {time.strftime('%Y-%m-%d')}"]


def python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"


def engine() -> str:
    """The compiler of the engine that is imported here."""
    site = next((path for path in sys.path if (Path(path) / "retrograd/__init__.py").exists()), None)
    version = instructions.rustc(instructions.extension(Path(site))) if site else None
    return f"rustc {version or 'unknown'}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Of Markdown; what follows the first column is aligned to the right."""
    head = list(head)
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x{f' {MARK}' if value < PARITY else ''}"


def measured(row: Row | None) -> list[str]:
    """Our figure, torch's and their ratio."""
    if row is None:
        return ["-"] * 3
    if row["error"]:
        return ["failed", figure(row["torch"], row["kind"]), "-"]
    return [figure(row["ours"], row["kind"]), figure(row["torch"], row["kind"]), times(row["ratio"])]


def budget(row: Row) -> str:
    least = [] if row["at_least"] is None else [f">= {row['at_least']:.3g}x"]
    most = [] if row["at_most"] is None else [f"<= {figure(row['at_most'], row['kind'])}"]
    return ", ".join(least + most)


def verdicts(*rows: Row | None) -> str:
    """One verdict where all runs agree, or one for each."""
    found = [row["verdict"] for row in rows if row]
    return found[0] if len(set(found)) == 1 else " / ".join(v or "-" for v in found)


def comparison(one: Mapping[str, Any], two: Mapping[str, Any] | None) -> list[str]:
    lines: list[str] = []
    again = {row["name"]: row for row in two["rows"]} if two else {}
    ratios = [row["ratio"] for row in one["rows"] if row["name"].startswith(statements.PREFIX) and row["ratio"]]
    head = ["", "retrograd", "torch", "ratio", *(["2 threads", "torch", "ratio"] if two else []), "budget", "verdict"]
    for title in [*(title for title in KINDS if title != "Import and size"), "Import and size"]:
        rows = [row for row in one["rows"] if kind(row["name"]) == title]
        if not rows:
            continue
        lines += ["", f"## {title}", ""]
        if title == "Small statements" and len(ratios) == len(statements.STATEMENTS):
            mean = statements.geometric_mean(ratios)
            lines += [
                f"Geometric mean of the rows named *statement*: {mean:.1f}x (budget: {statements.MEAN:.1f}x).",
                "",
            ]
        cells = []
        for row in rows:
            second = again.get(row["name"])
            both = [*measured(row), *(measured(second) if two else [])]
            cells.append([row["name"], *both, budget(row), verdicts(row, second)])
        lines += table(head, cells)
    return lines


def compiled(given: Mapping[str, Any]) -> list[str]:
    """Microseconds of the steps of `compiled.py`, in the order of its columns."""
    columns = [c for c in ("torch", "jax.jit", "eager", "compiled") if any(c in row for row in given["rows"].values())]
    beside = [c for c in ("torch", "jax.jit") if c in columns]
    head = ["", *columns, *(f"{c} / compiled" for c in beside)] + ["budget", "verdict"] * ("jax.jit" in columns)
    rows = []
    for name, row in given["rows"].items():
        cells = [name, *(figure(row[c] * 1e-6) if c in row else "-" for c in columns)]
        cells += [times(row[c] / row["compiled"] if c in row else None) for c in beside]
        if "jax.jit" in columns:
            enough = "jax.jit" in row and row["jax.jit"] / row["compiled"] >= given["at_least"]
            cells += [f">= {given['at_least']:.3g}x of jax.jit", "ok" if enough else "SHORT"]
        rows.append(cells)
    told = "" if given.get("jax") else " JAX was not installed."
    return ["", "## Compiled", "", f"`retrograd.compile` beside others, one thread.{told}", "", *table(head, rows)]


def least(runs: Iterable[Mapping[str, Any]], threads: int) -> dict[str, Any]:
    """The runs at so many threads as one: in each row the least figure of either side."""
    runs = [run for run in runs if run["threads"] == threads]
    rows = []
    for first in runs[0]["rows"]:
        same = [row for run in runs for row in run["rows"] if row["name"] == first["name"]]
        row = Compared(**{name: value for name, value in first.items() if name not in ("ratio", "verdict")})
        for side in ("ours", "torch"):
            setattr(row, side, min((r[side] for r in same if r[side] is not None), default=None))
        row.error = next((r["error"] for r in same if r["error"]), "")
        rows.append(asdict(row) | {"ratio": row.ratio, "verdict": row.verdict})
    return {**runs[0], "rows": rows}


def least_compiled(runs: list[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What `compiled.py` wrote in several runs as one."""
    if not runs:
        return None
    rows = {
        name: {column: min(run["rows"][name][column] for run in runs) for column in row}
        for name, row in runs[0]["rows"].items()
    }
    return {**runs[0], "rows": rows}


def page(given: Iterable[Mapping[str, Any]]) -> str:
    """docs/figures.md of what `compare.py` and `compiled.py` wrote."""
    given = list(given)
    runs = [part for part in given if "threads" in part]
    if not runs:
        raise SystemExit("there is nothing that compare.py wrote")
    one, two, *_ = [*(least(runs, threads) for threads in sorted({run["threads"] for run in runs})), None]
    compiled_rows = least_compiled([part for part in given if "threads" not in part])
    versions = [f"- {one['package']}, {python()}, {engine()}", f"- torch {one['torch']}" if one["torch"] else NO_TORCH]
    if compiled_rows and compiled_rows.get("jax"):
        versions.append(f"- JAX {compiled_rows['jax']}")
    plan, count = one["plan"], len([run for run in runs if run["threads"] == one["threads"]])
    rounds = f"- Rounds: {plan['heats']} set-ups of {plan['rounds']} rounds"
    rounds += f" in each of {count} runs" if count > 1 else ""
    lines = [HEAD, *machine(), *versions, rounds, *comparison(one, two)]
    return "\n".join(lines + (compiled(compiled_rows) if compiled_rows else [])) + "\n"


NO_TORCH = "- torch is not installed: own times only"


def write(path: Path, text: str) -> None:
    """Writes a page, unless it would lose the comparison with torch."""
    if NO_TORCH in text and path.exists() and re.search(r"^- torch \d", path.read_text(), re.MULTILINE):
        print(f"{path.name} compares with torch, and these figures do not: it is left as it is (make bench TORCH=...)")
        return
    path.write_text(text)


BEGIN, END = "<!-- figures: make bench-adbench -->", "<!-- end of figures -->"


def adbench(given: Mapping[str, Any], text: str) -> str:
    """docs/adbench.md with the figures replaced."""
    forms = ("tapenade", "switch", "eager", "compiled", "ratio")
    if not all("tapenade" in row for row in given["rows"]):
        raise SystemExit("there are no figures of Tapenade: give a checkout of ADBench")
    rows = []
    for row in given["rows"]:
        cells = [figure(row[form]) if form in row else "-" for form in forms[:-1]]
        rows.append([row["name"], *cells, times(row["ratio"]), f">= {row['at_least']:.2g}x", row["verdict"]])
    head = ["Jacobian of", "Tapenade", "switch", "own, eager", "own, compiled", "Tapenade / own", "budget", "verdict"]
    lines = [BEGIN, "", *machine(), f"- retrograd {given['retrograd']}, {python()}, {engine()}, {given['gcc']}", ""]
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"the page has no {BEGIN} ... {END}")
    return before + "\n".join([*lines, *table(head, rows), "", END]) + after


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--adbench", type=Path, metavar="FILE", help="what adbench.py --json wrote")
    parser.add_argument("--page", type=Path, metavar="FILE", help="the page to write")
    args = parser.parse_args()
    given = [json.loads(file.read_text()) for file in ([args.adbench] if args.adbench else args.files)]
    if not given:
        parser.error("name files of figures")
    path = args.page or DOCS / ("adbench.md" if args.adbench else "figures.md")
    if any(part.get("only") for part in given):
        print(f"{path.name} is left as it is: these are figures of some rows")
    elif args.adbench:
        path.write_text(adbench(given[0], path.read_text()))
    else:
        write(path, page(given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
