"""Side by side with torch: one process, interleaved rounds, minima; the ratio is torch's time over ours.

    python benches/compare.py [--quick] [--only REGEX] [--threads N] [--json FILE] [--torch-site DIR] [--package NAME]

The cost of noting lines races the package against itself.

Verdict: `ok` or `SHORT` against the row's budget, `FAILED` where the package raised, empty where a row has no budget.
Without torch the package's own times are printed. `--package torch` races torch against itself: the noise of a run.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import platform
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial, reduce
from pathlib import Path
from types import ModuleType

import kalman
import ops  # noqa: F401  (adds its rows)
import programs  # noqa: F401  (adds its rows)
import statements
import transforms  # noqa: F401  (adds its rows)
from cases import CASES, Case, mlp, mlp_step
from timing import FULL, QUICK, Plan, race

# Import a package in a fresh interpreter; print seconds and, where /proc tells, MB of resident memory added.
# (ru_maxrss would not do: a child starts with the peak of its parent.)
PROBE = """
import os, resource, sys, time
def resident():
    if not os.path.exists("/proc/self/statm"):
        return float("nan")
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 1e6
sys.path += {path!r}
before, start = resident(), time.perf_counter()
import {package}
print(time.perf_counter() - start, resident() - before)
"""

# Seconds after which the workers of a usual OpenMP have gone to sleep.
REST = 0.1
LINES_NOTED = "MLP step, noting lines for errors"
NAN_DETECTED = "MLP step, batch 128, width 256, detect_nan"
EVENT_NOTED = "an event of a profile"
LABEL_UNNOTED = "record_function, without a profile"


@dataclass
class Row:
    """One line of the table: times in seconds, sizes in MB, costs in % or in so many times another.

    `at_most` limits our own figure.
    """

    name: str
    kind: str = "time"
    ours: float | None = None
    torch: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    faults_ours: float | None = None
    faults_torch: float | None = None
    rate_ours: float | None = None
    rate_torch: float | None = None
    unit: str = ""
    error: str = ""

    @property
    def ratio(self) -> float | None:
        return self.torch / self.ours if self.ours and self.torch else None

    @property
    def verdict(self) -> str:
        if self.error:
            return "FAILED"
        checks = []
        if self.at_least is not None and self.ratio is not None:
            checks.append(self.ratio >= self.at_least)
        if self.at_most is not None and self.ours is not None:
            checks.append(self.ours <= self.at_most)
        return "" if not checks else "ok" if all(checks) else "SHORT"


def figure(value: float | None, kind: str = "time") -> str:
    if value is None:
        return "-"
    if kind in ("MB", "%", "times"):
        return f"{value:.1f} {kind}"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def pair(ours: float | None, torch: float | None) -> str:
    if ours is None and torch is None:
        return ""
    return " / ".join("-" if v is None else f"{v:.3g}" if v < 1000 else f"{v:.0f}" for v in (ours, torch))


def cells(row: Row) -> list[str]:
    budget = [] if row.at_least is None else [f">= {row.at_least:.3g}x"]
    budget += [] if row.at_most is None else [f"<= {figure(row.at_most, row.kind)}"]
    return [
        row.name,
        figure(row.ours, row.kind),
        figure(row.torch, row.kind),
        "-" if row.ratio is None else f"{row.ratio:.2f}x",
        ", ".join(budget),
        row.verdict,
        pair(row.faults_ours, row.faults_torch),
        row.error or f"{pair(row.rate_ours, row.rate_torch)} {row.unit}".strip(),
    ]


def line(columns: list[str], width: int) -> str:
    name, ours, torch, ratio, budget, verdict, faults, rate = columns
    timed = f"{name:<{width}} {ours:>10} {torch:>10} {ratio:>8}"
    return f"{timed}  {budget:<18} {verdict:<7} {faults:>13}  {rate}".rstrip()


def time_case(case: Case, ours: ModuleType, torch: ModuleType | None, plan: Plan) -> Row:
    row = Row(case.name, at_least=case.at_least, unit=case.unit)

    modules = {"ours": ours} if torch is None else {"ours": ours, "torch": torch}
    setups = {side: partial(case.setup, module) for side, module in modules.items()}
    try:
        samples = race(setups, plan)
    except Exception as error:
        row.error = f"{type(error).__name__}: {error}".splitlines()[0][:80]
        del setups["ours"]
        samples = race(setups, plan)
    for side, sample in samples.items():
        seconds = sample.seconds / case.per
        setattr(row, side, seconds)
        setattr(row, f"faults_{side}", sample.faults / case.per)
        if case.work:
            setattr(row, f"rate_{side}", case.work / seconds / 1e9)
    return row


def probe_import(names: list[str], rounds: int, path: list[str]) -> list[tuple[float, float]]:
    """Least seconds and MB of each import, interleaved; the first round only fills the file cache."""
    seen: list[list[tuple[float, float]]] = [[] for _ in names]
    for _ in range(rounds + 1):
        for name, runs in zip(names, seen, strict=True):
            code = PROBE.format(package=name, path=path)
            out = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True).stdout
            seconds, megabytes = map(float, out.split())
            runs.append((seconds, megabytes))
    return [(min(r[0] for r in runs[1:]), min(r[1] for r in runs[1:])) for runs in seen]


def installed(module: ModuleType) -> float:
    """MB of the package folder, without bytecode caches and without other packages it depends on."""
    root = Path(module.__path__[0])
    return sum(f.stat().st_size for f in root.rglob("*") if f.is_file() and "__pycache__" not in f.parts) / 1e6


def footprint(
    wanted: Callable[[str], bool], ours: ModuleType, torch: ModuleType | None, rounds: int, path: list[str]
) -> list[Row]:
    modules = [ours] if torch is None else [ours, torch]
    time = Row("import", at_least=1.0 / 0.030, at_most=0.030)
    memory = Row("import, resident memory added", "MB", at_most=15.0)
    size = Row("installed size", "MB", at_most=20.0)
    if wanted(time.name) or wanted(memory.name):
        probed = probe_import([m.__name__ for m in modules], rounds, path)
        time.ours, memory.ours = probed[0]
        if torch is not None:
            time.torch, memory.torch = probed[1]
    if wanted(size.name):
        size.ours, size.torch = installed(ours), None if torch is None else installed(torch)
    if memory.ours is not None and math.isnan(memory.ours):
        memory.ours = memory.torch = None
    return [row for row in (time, memory, size) if wanted(row.name)]


def lines_noted(ours: ModuleType, plan: Plan) -> Row:
    """What an MLP step takes longer because recorded ops and writes note the caller's line for errors."""
    row = Row(LINES_NOTED, "%", at_most=3.0)
    note = ours._core._note_places

    def setup(on: bool) -> Callable[[], object]:
        step = mlp_step(ours)

        def run() -> None:
            note(on)
            step()

        return run

    try:
        samples = race({"on": partial(setup, True), "off": partial(setup, False)}, plan)
    finally:
        note(True)
    row.ours = max(0.0, (samples["on"].seconds / samples["off"].seconds - 1) * 100)
    return row


def nan_detected(ours: ModuleType, plan: Plan) -> Row:
    """What an MLP step takes longer in `autograd.detect_nan`."""

    def setup(on: bool) -> Callable[[], object]:
        step, block = mlp(ours, 128, 256), ours.autograd.detect_nan(on)

        def run() -> None:
            with block:
                step()

        return run

    samples = race({"on": partial(setup, True), "off": partial(setup, False)}, plan)
    return Row(NAN_DETECTED, "%", max(0.0, (samples["on"].seconds / samples["off"].seconds - 1) * 100), at_most=50.0)


def event_noted(package: ModuleType, plan: Plan) -> float:
    """Seconds that a profile adds to an op, per event."""
    x, many = package.rand(4), 1000

    def setup(on: bool) -> Callable[[], object]:
        def run() -> None:
            with package.autograd.profiler.profile(on):
                for _ in range(many):
                    x + x

        return run

    samples = race({"on": partial(setup, True), "off": partial(setup, False)}, plan)
    return (samples["on"].seconds - samples["off"].seconds) / many


def label_unnoted(package: ModuleType, plan: Plan) -> float:
    """Seconds that a label takes while there is no profile."""
    many = 1000

    def setup() -> Callable[[], object]:
        def run() -> None:
            for _ in range(many):
                with package.autograd.profiler.record_function("part"):
                    pass

        return run

    return race({"label": setup}, plan)["label"].seconds / many


def loops(ours: ModuleType) -> str:
    """Which ops vmap runs entry by entry, for want of a batching rule, of those that take nothing but tensors."""
    x, tried = ours.rand(3, 4, 4), 0
    for path in ours._core._op_names():
        if path.endswith("_"):
            continue
        try:
            op = reduce(getattr, path.split("."), ours)
        except AttributeError:
            continue
        for count in (1, 2, 3):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ours.vmap(op, randomness="same")(*[x] * count)
            except Exception:  # of an op that wants something else
                continue
            tried += 1
            break
    return f"ops without a batching rule, of {tried} on tensors alone: {', '.join(ours._core._looped()) or 'none'}"


def load(name: str, threads: int) -> ModuleType | None:
    """Import `name` with a fixed seed, on so many threads; None where it is not installed."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
    for setting, value in (("set_num_threads", threads), ("manual_seed", 0)):
        if hasattr(module, setting):
            getattr(module, setting)(value)
    return module


def regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time retrograd against torch.")
    parser.add_argument("--package", default="retrograd", help="the package to time (default: retrograd)")
    parser.add_argument("--torch-site", metavar="DIR", help="a site-packages folder that holds torch")
    parser.add_argument("--only", metavar="REGEX", type=regex, default="", help="rows whose name matches")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows here too")
    parser.add_argument("--threads", type=int, default=1, help="threads that an op may use (default: 1)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    path = [args.torch_site] if args.torch_site else []
    sys.path += path
    ours, torch = load(args.package, args.threads), load("torch", args.threads)
    if ours is None:
        print(f"{args.package} is not installed", file=sys.stderr)
        return 2
    plan = replace(QUICK if args.quick else FULL, rest=0.0 if args.threads == 1 else REST)

    def wanted(name: str) -> bool:
        return args.only.search(name) is not None

    terminal = sys.stderr.isatty()

    def progress(text: str) -> None:
        """One line that is overwritten on a terminal, one line each in a log."""
        if terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif text:
            print(text, file=sys.stderr, flush=True)

    def show(row: Row) -> None:
        progress("")
        print(line(cells(row), width), flush=True)

    versions = f"{args.package} {getattr(ours, '__version__', '?')}"
    print(f"{versions}, " + (f"torch {torch.__version__}" if torch else "torch is not installed: own times only"))
    rounds = f"{plan.heats} x {plan.rounds}"
    print(
        f"Python {platform.python_version()}, {platform.machine()}, threads: {args.threads}, best of {rounds} rounds\n"
    )
    selected = [case for case in CASES if wanted(case.name)]
    width = max([30, *(len(case.name) for case in selected)])
    head = [" ", args.package, "torch", "ratio", "budget", "verdict", "faults/op", "rate"]
    print(line(head, width), flush=True)

    rows = []
    for number, case in enumerate(selected, 1):
        progress(f"[{number}/{len(selected)}] {case.name}")
        rows.append(time_case(case, ours, torch, plan))
        show(rows[-1])
    if wanted(LINES_NOTED) and hasattr(getattr(ours, "_core", None), "_note_places"):
        progress(LINES_NOTED)
        rows.append(lines_noted(ours, plan))
        show(rows[-1])
    if wanted(NAN_DETECTED) and hasattr(ours.autograd, "detect_nan"):
        progress(NAN_DETECTED)
        rows.append(nan_detected(ours, plan))
        show(rows[-1])
    for name, cost, most in ((EVENT_NOTED, event_noted, 1e-6), (LABEL_UNNOTED, label_unnoted, 5e-7)):
        if wanted(name) and hasattr(ours.autograd, "profiler"):
            progress(name)
            rows.append(Row(name, "time", cost(ours, plan), cost(torch, plan) if torch else None, at_most=most))
            show(rows[-1])
    if wanted(kalman.HVP_IN_GRADIENTS):
        progress(kalman.HVP_IN_GRADIENTS)
        cost = partial(kalman.hvp_in_gradients, plan=plan)
        own, theirs = cost(ours), cost(torch) if torch else None
        rows.append(Row(kalman.HVP_IN_GRADIENTS, "times", own, theirs, at_most=kalman.MOST))
        show(rows[-1])
    progress("imports and sizes")
    for row in footprint(wanted, ours, torch, 2 if args.quick else 5, path):
        rows.append(row)
        show(row)
    progress("")
    if not rows:
        print(f"no row matches {args.only.pattern!r}", file=sys.stderr)
        return 2
    verdicts = [row.verdict for row in rows]
    print("\n" + ", ".join(f"{verdicts.count(v)} {v}" for v in ("ok", "SHORT", "FAILED")))
    ratios = [row.ratio for row in rows if row.name.startswith(statements.PREFIX) and row.ratio]
    if len(ratios) == len(statements.STATEMENTS):
        print(
            f"geometric mean of small statements: {statements.geometric_mean(ratios):.1f}x (budget: {statements.MEAN})"
        )
    if hasattr(getattr(ours, "_core", None), "_looped"):
        print(loops(ours))
    if args.json:
        table = [asdict(row) | {"ratio": row.ratio, "verdict": row.verdict} for row in rows]
        facts = {"package": versions, "torch": getattr(torch, "__version__", None)}
        only = args.only.pattern if args.only else ""
        facts |= {"threads": args.threads, "plan": asdict(plan), "only": only}
        args.json.write_text(json.dumps(facts | {"rows": table}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
