"""Instructions per op, counted by callgrind: a measure that a busy machine does not disturb.

    python benches/instructions.py SITE [SITE ...]

Each SITE is a folder that holds a built `retrograd`; the first is what the others are compared with. Every row runs in
a loop of n and one of 3 n; the difference, divided by 2 n, is what one run of the row costs, the interpreter's share
included. Small tensors only: kernels differ by instruction set, which valgrind limits.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# A function of the C library that nothing else calls here: at its entry callgrind writes down what it counted.
MARK = "getpgrp"
LOOPS = 200


def rows() -> dict[str, Callable[[], object]]:
    """The rows by name: each a function that runs its op once."""
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

    return {
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


def run(chosen: str) -> None:
    """Runs the rows whose name contains `chosen`, each in two loops between marks."""
    for name, row in rows().items():
        if chosen in name:
            for _ in range(20):
                row()
            for n in (0, LOOPS, 3 * LOOPS):
                for _ in range(n):
                    row()
                os.getpgrp()


def count(site: Path, chosen: str) -> list[float]:
    """Instructions of one run of each row, with the build at `site`."""
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONHASHSEED": "0", "RETROGRAD_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={folder}/out"]
        program = [sys.executable, __file__, "--run", "-k", chosen]
        subprocess.run([*command, *program], env=environment, check=True, capture_output=True)
        dumps = sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        totals = [int(re.findall(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)[-1]) for path in dumps]
    return [(many - few) / (2 * LOOPS) for few, many in zip(totals[1::3], totals[2::3], strict=False)]


def main() -> None:
    """Prints one line per row: the count of the first site, and the counts of the others with their ratios to it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", type=Path)
    parser.add_argument("-k", default="", help="only rows whose name contains this")
    parser.add_argument("--run", action="store_true", help="run the rows, uncounted")
    given = parser.parse_args()
    if given.run:
        run(given.k)
        return
    sys.path.insert(0, str(given.sites[0].resolve()))
    names = [name for name in rows() if given.k in name]
    for name, *counts in zip(names, *(count(site.resolve(), given.k) for site in given.sites), strict=True):
        ratios = " ".join(f"{n:10.0f} ({n / counts[0]:.3f})" for n in counts[1:])
        print(f"{name:32} {counts[0]:10.0f} {ratios}")


if __name__ == "__main__":
    main()
