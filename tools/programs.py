"""Runs public torch programs, unchanged, with torch and through the switch, and compares what they print and take.

    python tools/programs.py FOLDER --torch PYTHON [--only NAME ...] [--threads N]

FOLDER has a folder `owner+name` for each repository, at the commit that `PROGRAMS` names; what the programs import
besides torch must be importable by both Pythons, for instance from PYTHONPATH. A program runs from its own folder. One
that is a library is driven by a few lines of code, which stand here. Prints the rows of the table in docs/programs.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


class Program(NamedTuple):
    name: str
    repository: str
    commit: str
    arguments: list[str]
    folder: str = "."
    results: str = ""  # files that it writes, in OUT: compared as what it prints is
    path: str = ""  # what it imports from, in the repository
    needs: str = ""  # a file for which it looks, made from one of the repository


class Run(NamedTuple):
    code: int
    text: str
    seconds: float
    error: str


PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", "-W", "ignore"]

PYHESSIAN = """
import torch
from pyhessian import hessian
from density_plot import density_generate
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(144, 10)
)
data = torch.randn(64, 1, 8, 8), torch.randint(0, 10, (64,))
h = hessian(model, torch.nn.CrossEntropyLoss(), data=data, cuda=False)
values, _ = h.eigenvalues(maxIter=50, top_n=2)
print("eigenvalues", values, "trace", sum(h.trace(maxIter=30)) / 30)
density, weight = h.density(iter=20, n_v=1)
print("density", max(density[0]), min(density[0]))
"""

MUON = """
import torch
from muon import SingleDeviceMuon, SingleDeviceMuonWithAuxAdam
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Linear(64, 8))
x, y = torch.randn(128, 32), torch.randn(128, 8)
hidden = [p for p in model.parameters() if p.ndim == 2]
rest = [p for p in model.parameters() if p.ndim < 2]
groups = [dict(params=hidden, lr=0.02, use_muon=True), dict(params=rest, lr=0.003, use_muon=False)]
for optimizer in SingleDeviceMuon(hidden, lr=0.02), SingleDeviceMuonWithAuxAdam(groups):
    for step in range(100):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(step, f"{loss.item():.3f}")
"""

NANOGPT = """
import torch
from model import GPT, GPTConfig
torch.manual_seed(0)
model = GPT(GPTConfig(block_size=64, vocab_size=65, n_layer=2, n_head=4, n_embd=64, dropout=0.1))
optimizer = model.configure_optimizers(0.1, 1e-3, (0.9, 0.95), "cpu")
for step in range(30):
    x = torch.randint(0, 65, (8, 64))
    logits, loss = model(x, x.roll(-1, 1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 5 == 0:
        print(step, f"{loss.item():.4f}")
model.eval()
print(model.generate(torch.zeros((1, 1), dtype=torch.long), 30, top_k=5).tolist())
"""

VIT = """
import torch
from simple_vit import SimpleViT
from vit import ViT
torch.manual_seed(0)
for kind, more in (SimpleViT, {}), (ViT, dict(dropout=0.1, emb_dropout=0.1)):
    model = kind(image_size=32, patch_size=8, num_classes=10, dim=64, depth=2, heads=4, mlp_dim=128, **more)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(10):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 3, 32, 32)), torch.randint(0, 10, (16,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.4f}")
"""

SUMMARY = """
import torch
from torchsummary import summary
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(7200, 10)
)
summary(model, (3, 32, 32), device="cpu")
"""

# Programs of which each run would draw other numbers.
SEED = "import random, numpy, torch; random.seed(0); numpy.random.seed(0); torch.manual_seed(0)"

# So that tensorboard need not be installed.
NO_BOARD = """
import sys, types
board = types.ModuleType("torch.utils.tensorboard")
methods = dict.fromkeys(("__init__", "add_scalar", "flush"), lambda *_, **__: None)
board.SummaryWriter = type("SummaryWriter", (), methods)
sys.modules["torch.utils.tensorboard"] = board
"""

# ADBench has arrays as defaults of dataclasses, which Python refuses since 3.11.
DEFAULTS = """
import copy, dataclasses
make = dataclasses.dataclass
def relaxed(kind=None, /, **options):
    if kind is None:
        return lambda kind: relaxed(kind, **options)
    for name in kind.__annotations__ if kind.__module__.startswith("shared") else ():
        given = vars(kind).get(name)
        value = given.default if isinstance(given, dataclasses.Field) else given
        if type(value).__hash__ is None:
            setattr(kind, name, dataclasses.field(default_factory=lambda value=value: copy.copy(value)))
    return make(kind, **options)
dataclasses.dataclass = relaxed
"""


def after(code: str, script: str, *arguments: str) -> list[str]:
    """The arguments for Python that run some code, and then a script as Python does."""
    start = (
        "import os, runpy, sys; sys.argv = sys.argv[1:]; sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))"
    )
    return ["-c", f"{code}\n{start}\nrunpy.run_path(sys.argv[0], run_name='__main__')", script, *arguments]


def adbench(test: str, data: str) -> list[str]:
    module = f"src/python/modules/PyTorch/PyTorch{test}.py"
    return after(DEFAULTS, "src/python/runner/main.py", test, module, data, "OUT", "0.5", "3", "3", "60")


PROGRAMS = [
    Program(
        "micrograd, its tests", "karpathy/micrograd", "c911406e5ace8742e5841a7e0df113ecb5d54685", [*PYTEST, "test"],
        path=".",
    ),
    *(
        Program(f"pytorch-examples, {Path(file).stem}", "jcjohnson/pytorch-examples",
                "0003fcdc606a79951e53bf8f46f8574fa4739f23", after(SEED, file))
        for file in (
            "tensor/two_layer_net_tensor.py", "autograd/two_layer_net_autograd.py",
            "autograd/two_layer_net_custom_function.py", "nn/two_layer_net_nn.py", "nn/two_layer_net_optim.py",
            "nn/two_layer_net_module.py", "nn/dynamic_net.py",
        )
    ),
    *(
        Program(f"ADBench, {test} of the PyTorch module", "microsoft/ADBench",
                "38cb7931303a830c3700ca36ba9520868327ac87", adbench(test, data), results="*")
        for test, data in (
            ("GMM", "data/gmm/1k/gmm_d10_K5.txt"), ("LSTM", "data/lstm/lstm_l2_c1024.txt"),
        )
    ),
    *(
        Program(f"makemore, {kind}", "karpathy/makemore", "988aa59e4d8fefa526d06f3b453ad116258398d4",
                after(NO_BOARD, "makemore.py", "-i", "names.txt", "-o", "OUT", "--max-steps", "101", "-n", workers,
                      "--type", kind))
        for kind, workers in (
            ("transformer", "0"), ("mlp", "2"), ("rnn", "0"), ("gru", "0"), ("bow", "0"), ("bigram", "0")
        )
    ),
    *(
        Program(f"minGPT, {project}", "karpathy/minGPT", "37baab71b9abea1b76ab957409a1cc2fbfba8a26",
                [f"projects/{project}/{project}.py", "--system.work_dir='OUT'", "--trainer.max_iters=60",
                 "--trainer.num_workers=0", "--model.model_type=gpt-nano"], path=".", needs=needs)
        for project, needs in (("adder", ""), ("chargpt", "input.txt=README.md"))
    ),
    Program("examples, regression", "pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8",
            after(SEED, "main.py"), folder="regression"),
    *(
        Program(f"examples, word_language_model, {kind}", "pytorch/examples",
                "77f55b912142e11fcfdf5b530231fb9c52f181e8",
                ["main.py", "--data", "OUT", "--model", kind, "--emsize", "32", "--nhid", "32", "--nlayers", "2",
                 "--epochs", "1", "--lr", "1", "--batch_size", "20", "--log-interval", "20", "--save", "OUT/model.pt"],
                folder="word_language_model", needs="train.txt valid.txt test.txt=data/wikitext-2/test.txt:1200")
        for kind in ("LSTM", "Transformer")
    ),
    Program("PyHessian", "amirgholami/PyHessian", "de8cf239ace21c7754ee599255897ebf3eed19cb", ["-c", PYHESSIAN],
            path="."),
    Program("pytorchviz, its tests", "szagoruyko/pytorchviz", "5cf04c13e601366f6b9cf5939b5af5144d55b887",
            [*PYTEST, "test/test.py"], path="."),
    Program("Muon", "KellerJordan/Muon", "857d1adc159e098212f828d927460782d3da59e9", ["-c", MUON], path="."),
    Program("nanoGPT, its model", "karpathy/nanoGPT", "3adf61e154c3fe3fca428ad6bc3818b27a3b8291", ["-c", NANOGPT],
            path="."),
    Program("torchdiffeq, ode_demo", "rtqichen/torchdiffeq", "657943acefa826ef04c025ebeb1ff5e9d60dc268",
            after(SEED, "examples/ode_demo.py", "--niters", "40"), path="."),
    Program("pytorch-optimizer, its tests", "jettify/pytorch-optimizer", "19c3e41952b94f2d60db06e559ee9a1433b25e53",
            [*PYTEST, "tests"], path="."),
    Program("pytorch-minimize, its tests", "rfeinman/pytorch-minimize", "7fed93e99ae7d1af6576737165b8068ea65c2a29",
            [*PYTEST, "tests"], path="."),
    Program("pytorch-summary", "sksq96/pytorch-summary", "345d898d84507b848e92dab4629e03405e19afce", ["-c", SUMMARY],
            path="."),
    Program("vit-pytorch, SimpleViT and ViT", "lucidrains/vit-pytorch", "69d24fe9e3024c0d4b02761123b8583a24ebed1e",
            ["-c", VIT], path="vit_pytorch"),
]  # fmt: skip

# Times, which differ from run to run, and where the program is.
NOISE = re.compile(
    r"[\d.]+ ?(?:ms\b|s\b|seconds)|ms/batch +[\d.]+|\bin [\d.]+s|0x[0-9a-f]+|\d+%\|.*?\||={5,}|\(\d+:\d\d:\d\d\)"
)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b")


def run(program: Program, command: list[str], folder: Path, threads: int) -> Run:
    """Runs a program in its folder, with a place for what it writes."""
    repository = folder / program.repository.replace("/", "+")
    with tempfile.TemporaryDirectory() as out:
        names, _, source = program.needs.partition("=")
        source, _, lines = source.partition(":")
        for name in names.split():
            text = (repository / program.folder / source).read_text().splitlines(keepends=True)
            (Path(out) / name).write_text("".join(text[: int(lines or len(text))]))
        arguments = [argument.replace("OUT", out) for argument in program.arguments]
        paths = [str(repository / program.path)] if program.path else []
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "agg",
        }
        copies = []
        if "input.txt" in names:  # which is looked for where the program runs
            copies.append(Path(shutil.copy(Path(out) / "input.txt", repository / program.folder)))
        start = time.perf_counter()
        done = subprocess.run(
            [*command, *arguments], cwd=repository / program.folder, env=environment, capture_output=True, text=True
        )
        seconds = time.perf_counter() - start
        for copy in copies:
            copy.unlink()
        written = [p for p in sorted(Path(out).glob(program.results or "-")) if "_times_" not in p.name]
        text = "\n".join([done.stdout, *(p.read_text() for p in written)]).replace(out, "OUT")
        code = done.returncode or (1 if program.results and not written else 0)
        own = [float(x) for p in Path(out).glob("*_times_*") for x in p.read_text().split()]  # what ADBench measured
        seconds = sum(own) if own else seconds
    return Run(code, NOISE.sub("", text), seconds, done.stderr)


def difference(ours: str, theirs: str) -> str:
    """How the outputs differ: the text, or the numbers in it by their largest relative difference."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return "text differs"
    pairs = zip(map(float, NUMBER.findall(ours)), map(float, NUMBER.findall(theirs)), strict=True)
    differ = [0.0 if a == b else abs(a - b) / max(abs(a), abs(b), 1e-6) for a, b in pairs]
    if not any(differ):
        return "equal"
    return f"numbers within {max(differ):.0e}, those of the first half within {max(differ[: len(differ) // 2]):.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--torch", required=True, help="a Python with torch")
    parser.add_argument("--only", nargs="*", default=[], help="programs whose name has one of these")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="what the programs print")
    options = parser.parse_args()
    switch = [sys.executable, "-m", "retrograd", "run"]
    for program in PROGRAMS:
        if options.only and not any(word in program.name for word in options.only):
            continue
        theirs = run(program, [options.torch], options.folder.resolve(), options.threads)
        ours = run(program, switch, options.folder.resolve(), options.threads)
        if theirs.code:
            outcome = f"torch: exit code {theirs.code}: {(theirs.error.splitlines() or [''])[-1]}"
        elif ours.code:
            outcome = f"exit code {ours.code}: {(ours.error.splitlines() or ours.text.splitlines() or [''])[-1]}"
        else:
            outcome = difference(ours.text, theirs.text)
        times = f"{theirs.seconds:.1f} s | {ours.seconds:.1f} s | {theirs.seconds / ours.seconds:.1f}"
        print(f"| {program.name} | {program.repository}@{program.commit[:10]} | {outcome} | {times} |", flush=True)
        if options.show:
            print("--- torch", theirs.text, theirs.error, "--- retrograd", ours.text, ours.error, sep="\n")


if __name__ == "__main__":
    main()
