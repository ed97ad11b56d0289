"""Instructions per op, counted by callgrind: a measure that a busy machine does not disturb.

    python benches/instructions.py SITE [SITE ...]
    python benches/instructions.py --check | --renew [SITE --build NAME]

Each SITE is a folder that holds a built `retrograd`; the first is what the others are compared with. Every row runs in
a loop of n and one of 3 n; the difference, divided by 2 n, is what one run of the row costs, the interpreter's share
included. Small tensors only: kernels differ by instruction set, which valgrind limits.

`--check` counts some of the small statements of `statements.py` and compares them with those in `counts.json`; one that
takes more instructions than `LEEWAY` allows is an error. `--renew` writes the counts there. They are those of the
installed wheel, or of the build at SITE, whose profile NAME tells: a count belongs to a compiler, an interpreter, a
libc, a machine's architecture and a build.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import statements

# A function of the C library that nothing else calls here: at its entry callgrind writes down what it counted.
MARK = "getpgrp"
LOOPS = 200
STORED = Path(__file__).parent / "counts.json"
# A count may be so much above the stored one; one that is so much below asks for renewal.
LEEWAY = 0.03
# malloc's lists differ from process to process, by some 200 instructions per op: the least of so many counts holds.
PROCESSES = 3
# The statements whose counts are stored, by their names in `statements.py`.
COUNTED = (
    *("p + q", "a + b, recorded", "a * 2.0, recorded", "a.exp(), recorded", "a.sum(), recorded"),
    *("a.view(2, 2), recorded", "a[0], recorded", "p.add_(q)", "m @ m, 4 x 4", "chain of 100, both ways"),
)

# By name: a function, and how often a call of it runs what is counted.
Rows = dict[str, tuple[Callable[[], object], int]]


def counted() -> Rows:
    import retrograd as rg

    chosen = {name: statements.STATEMENTS[name] for name in COUNTED}
    return {name: (statements.statement(code, count)(rg), count) for name, (code, count) in chosen.items()}


def rows() -> Rows:
    """The rows that builds are compared by."""
    import retrograd as rg
    from retrograd import func
    from retrograd.autograd import forward_ad

    a, b = rg.tensor([1.0, 2.0, 3.0, 4.0]), rg.tensor([0.5, 0.25, 0.125, 1.0])
    x = rg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    matrix, requiring_grad = rg.ones(4, 4), rg.ones(4, 4, requires_grad=True)

    def write() -> object:
        y = x * b
        y[1:].mul_(b[1:])
        return y

    def chain() -> None:
        y = x
        for _ in range(20):
            y = y * b
        y.sum().backward()
        x.grad = None

    def chain_forward() -> object:
        y = x
        for _ in range(20):
            y = y * b
        return y

    class Double(rg.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t + t

        @staticmethod
        def backward(ctx, g):
            return g + g

    def function() -> None:
        Double.apply(x).backward(b)
        x.grad = None

    class Saving(rg.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Separate(rg.autograd.Function):
        @staticmethod
        def forward(t):
            return t * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (t,) = ctx.saved_tensors
            return g * t

    def saving() -> None:
        Saving.apply(x).backward(b)
        x.grad = None

    def separate() -> None:
        Separate.apply(x).backward(b)
        x.grad = None

    def hooked() -> None:
        y = x * b
        y.register_hook(lambda g: None)
        y.backward(b)
        x.grad = None

    def grad_of_chain() -> object:
        return rg.autograd.grad(chain_forward(), x, b)

    def second() -> object:
        (g,) = rg.autograd.grad((x * x).sum(), x, create_graph=True)
        return rg.autograd.grad(g.sum(), x)

    def dual() -> object:
        with forward_ad.dual_level():
            return forward_ad.make_dual(a, b).mul(b).sin()

    def jvp() -> object:
        return func.jvp(lambda v: (v * b + v).exp(), (a,), (b,))

    entries = func.vmap(func.grad(lambda row: (row * row).sum()))

    once = {
        "nothing": lambda: None,
        "add": lambda: a + b,
        "add recorded": lambda: x + b,
        "mul recorded": lambda: x * b,
        "mul by a number": lambda: a * 2.0,
        "mul by a number, recorded": lambda: x * 2.0,
        "exp": lambda: a.exp(),
        "exp recorded": lambda: x.exp(),
        "x[0]": lambda: matrix[0],
        "x[0] recorded": lambda: requiring_grad[0],
        "x[1:]": lambda: matrix[1:],
        "x[1:] recorded": lambda: requiring_grad[1:],
        "x[1:, :2]": lambda: matrix[1:, :2],
        "x[:, 0]": lambda: matrix[:, 0],
        "reshape recorded": lambda: requiring_grad.reshape(2, 8),
        "view": lambda: a.view(2, 2),
        "view recorded": lambda: x.view(2, 2),
        "permute": lambda: matrix.permute(1, 0),
        "unsqueeze": lambda: a.unsqueeze(0),
        "transpose": lambda: matrix.transpose(0, 1),
        "rg.exp(x)": lambda: rg.exp(a),
        "x.add(y)": lambda: a.add(b),
        "sum": lambda: a.sum(),
        "sum recorded": lambda: x.sum(),
        "sum(dim=0)": lambda: matrix.sum(dim=0),
        "sum(0)": lambda: matrix.sum(0),
        "sum(0, keepdim=True)": lambda: matrix.sum(0, keepdim=True),
        "softmax(dim=-1)": lambda: rg.softmax(matrix, dim=-1),
        "cat(dim=0)": lambda: rg.cat([a, b], dim=0),
        "sum(0) recorded": lambda: requiring_grad.sum(0),
        "where recorded": lambda: rg.where(a > b, x, b),
        "add_": lambda: a.add_(b),
        "mul_ by a number": lambda: a.mul_(1.0),
        "matmul 4x4": lambda: matrix @ matrix,
        "write to a view, recorded": write,
        "20 mul, forward": chain_forward,
        "20 mul, forward and backward": chain,
        "20 mul, grad": grad_of_chain,
        "double backward": second,
        "Function, forward": lambda: Double.apply(x),
        "Function, forward and backward": function,
        "Function that saves, plain": lambda: Saving.apply(a),
        "Function that saves, forward": lambda: Saving.apply(x),
        "Function that saves, forward and backward": saving,
        "Function with setup_context, forward": lambda: Separate.apply(x),
        "Function with setup_context, forward and backward": separate,
        "hook": hooked,
        "dual mul, sin": dual,
        "func.jvp": jvp,
        "vmap(grad)": lambda: entries(matrix),
    }
    return {name: (row, 1) for name, row in once.items()}


TABLES: dict[str, Callable[[], Rows]] = {"rows": rows, "counted": counted}


def run(table: str, chosen: str) -> None:
    """Runs the rows whose name contains `chosen`, each in two loops between marks."""
    for name, (row, per) in TABLES[table]().items():
        if chosen in name:
            loops = LOOPS // per
            for _ in range(20 // per + 2):
                row()
            for n in (0, loops, 3 * loops):
                for _ in range(n):
                    row()
                os.getpgrp()


def count(site: Path | None, table: str, chosen: str = "") -> dict[str, float]:
    """Instructions of one run of each row, with the build at `site` or the installed one."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "RETROGRAD_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    if site is not None:
        environment["PYTHONPATH"] = str(site.resolve())
    command = [sys.executable, __file__, "--table", table, "-k", chosen]
    names = subprocess.run([*command, "--names"], env=environment, check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={folder}/out"]
        subprocess.run([*tool, *command, "--run"], env=environment, check=True, capture_output=True)
        dumps = sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        totals = [int(re.findall(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)[-1]) for path in dumps]
    counts = [(many - few) / (2 * LOOPS) for few, many in zip(totals[1::3], totals[2::3], strict=False)]
    return dict(zip(names.splitlines(), counts, strict=True))


def extension(site: Path | None) -> Path:
    """The file of the engine."""
    not_installed = {os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    folders = (
        [str(site.resolve())] if site else [path for path in sys.path if os.path.abspath(path) not in not_installed]
    )
    found = importlib.machinery.PathFinder.find_spec("retrograd", folders)
    files = sorted(Path(str(found.origin)).parent.glob("_core*")) if found else []
    libraries = [path for path in files if path.suffix in (".so", ".pyd", ".dylib")]
    if not libraries:
        raise SystemExit(f"no retrograd in {site or 'the installed packages'}")
    return libraries[0]


def of_a_wheel(library: Path) -> bool:
    """Whether an installed distribution says that the file is its own."""
    try:
        files = importlib.metadata.distribution("retrograd").files or []
    except importlib.metadata.PackageNotFoundError:
        return False
    return any(Path(str(file.locate())).resolve() == library.resolve() for file in files if "_core" in file.name)


def rustc(library: Path) -> str | None:
    """The version that rustc leaves in what it compiles."""
    found = re.search(rb"rustc version ([\d.]+)", library.read_bytes())
    return found[1].decode() if found else None


def key(library: Path, build: str) -> str:
    """What a count belongs to. CPython's compiler and malloc have their share."""
    python = f"{platform.python_implementation()} {platform.python_version()} by {platform.python_compiler()}"
    libc = " ".join(platform.libc_ver()) or "another libc"
    return f"rustc {rustc(library) or 'unknown'}, {python}, {libc}, {platform.machine()}, {build}"


def differences(stored: Mapping[str, float], found: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Lines about the statements that take more instructions than they may, and about those that take fewer."""
    more, fewer = [], []
    for name, now in found.items():
        if name not in stored:
            more.append(f"{name}: no count is stored: run make counts")
            continue
        line = f"{name}: {stored[name]:.0f} instructions are stored, {now:.0f} found ({now / stored[name]:.3f})"
        if now > stored[name] * (1 + LEEWAY):
            more.append(line)
        elif now < stored[name] * (1 - LEEWAY):
            fewer.append(line)
    return more, fewer


def lookup(stored: Mapping[str, Mapping[str, float]], wanted: str) -> Mapping[str, float]:
    """The counts of a key; a LookupError says how to store them."""
    try:
        return stored[wanted]
    except KeyError:
        raise LookupError(f"no counts are stored for {wanted}: run make counts") from None


def least(site: Path | None, enough: Callable[[Mapping[str, float]], bool]) -> dict[str, float]:
    """The least counts of a few processes, of fewer where those are `enough`."""
    found = count(site, "counted")
    for _ in range(PROCESSES - 1):
        if enough(found):
            break
        again = count(site, "counted")
        found = {name: min(n, again[name]) for name, n in found.items()}
    return found


def check(stored: Mapping[str, float], site: Path | None) -> tuple[list[str], list[str]]:
    """`differences` from the counts of now."""
    return differences(stored, least(site, lambda found: not differences(stored, found)[0]))


def report(more: list[str], fewer: list[str]) -> int:
    for line in more:
        print(f"more instructions: {line}")
    for line in fewer:
        print(f"fewer instructions, so renew them with make counts: {line}")
    if not more and not fewer:
        print(f"{len(COUNTED)} counts are within {LEEWAY:.0%} of the stored ones")
    return 1 if more else 0


def compared(sites: list[Path], chosen: str) -> None:
    """Prints one line per row: the count of the first site, and the counts of the others with their ratios to it."""
    first, *others = (count(site, "rows", chosen) for site in sites)
    for name, base in first.items():
        ratios = " ".join(f"{other[name]:10.0f} ({other[name] / base:.3f})" for other in others)
        print(f"{name:32} {base:10.0f} {ratios}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", type=Path)
    parser.add_argument("-k", default="", help="only rows whose name contains this")
    parser.add_argument("--check", action="store_true", help="compare the small statements with the stored counts")
    parser.add_argument("--renew", action="store_true", help="store the counts of the small statements")
    parser.add_argument("--build", help="the profile of a build that is no installed wheel")
    parser.add_argument("--table", choices=TABLES, default="rows", help=argparse.SUPPRESS)
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--names", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.table, given.k)
        return 0
    if given.names:
        print("\n".join(name for name in TABLES[given.table]() if given.k in name))
        return 0
    if not (given.check or given.renew):
        if not given.sites:
            parser.error("name a folder, or --check or --renew")
        compared(given.sites, given.k)
        return 0
    site = given.sites[0] if given.sites else None
    library = extension(site)
    build = given.build or ("wheel" if of_a_wheel(library) else None)
    if build is None:
        parser.error(f"{library.parent} is no installed wheel: tell its profile with --build")
    wanted = key(library, build)
    stored = json.loads(STORED.read_text())
    if given.renew:
        stored[wanted] = {name: round(n) for name, n in least(site, lambda found: False).items()}
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
        print(f"{STORED.name}: {wanted}")
        return 0
    try:
        before = lookup(stored, wanted)
    except LookupError as error:
        print(f"{error}\nFound, and compared with nothing:\n{json.dumps(count(site, 'counted'), indent=1)}")
        return 0
    print(wanted)
    return report(*check(before, site))


if __name__ == "__main__":
    sys.exit(main())
