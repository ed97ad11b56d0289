"""What data parallelism costs on this machine, for docs/distributed.md.

    python benches/distributed.py --ranks 1 2 4 --write

starts `mpiexec` with each number of ranks, one thread each, and measures

- the time to send a message to another rank and back, and of an all_reduce, by bytes: from the slopes follow alpha, the
  seconds before the first byte, and 1 / beta, the bytes per second;
- a training step of a transformer and of a convolutional network: of the plain module on one rank while the others
  sleep, on all ranks at once without a message between them, and inside `DistributedDataParallel`. Two ranks are
  measured twice: with the thread that makes progress, and with progress in calls alone.

All are minima over rounds in which the variants take turns. The machine must be idle: two ranks that share a core with
something else wait for each other. `--write` puts the tables into docs/distributed.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn

ROOT = Path(__file__).parents[1]
SIZES = [4 << (2 * i) for i in range(13)]  # 4 bytes to 64 MiB


class Transformer(nn.Module):
    """Predicts the next of 256 bytes: `blocks` blocks of width `d`."""

    def __init__(self, d: int = 384, blocks: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(256, d)
        layer = nn.TransformerEncoderLayer(d, 6, 4 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, blocks, enable_nested_tensor=False)
        self.head = nn.Linear(d, 256)

    def forward(self, tokens: rg.Tensor) -> rg.Tensor:
        return self.head(self.blocks(self.embedding(tokens)))


def convolutional() -> nn.Module:
    """Three stages of convolution, normalisation and pooling on images of 3 x 32 x 32, then 10 classes."""
    layers: list[nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 128)):
        layers += [
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 16, 10))


def transformer_case(batch: int, length: int) -> tuple[Callable[[], nn.Module], Callable[[nn.Module], rg.Tensor]]:
    """What makes the model, and what computes a loss of it."""
    tokens = rg.randint(0, 256, (batch, length))
    targets = rg.randint(0, 256, (batch * length,))
    return Transformer, lambda model: nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets)


def convolutional_case(batch: int) -> tuple[Callable[[], nn.Module], Callable[[nn.Module], rg.Tensor]]:
    """What makes the model, and what computes a loss of it."""
    images, labels = rg.randn(batch, 3, 32, 32), rg.randint(0, 10, (batch,))
    return convolutional, lambda model: nn.functional.cross_entropy(model(images), labels)


def stepper(model: nn.Module, loss: Callable[[nn.Module], rg.Tensor]) -> Callable[[], None]:
    """A training step."""
    optimizer = rg.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()

    return step


def rest_until_called(mark: rg.Tensor) -> None:
    """Sleep until rank 0 sends `mark`, without taking its core."""
    work = dist.irecv(mark, 0)
    assert work is not None
    while not work.is_completed():
        time.sleep(0.005)


def timed(run: Callable[[], None], calls: int) -> float:
    """Seconds per call."""
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - begin) / calls


def steps(name: str, case: Any, rounds: int, tokens: int) -> dict[str, Any]:
    """Seconds of a step: of rank 0 alone, of the slowest of all at once, and of the slowest inside the module."""
    make, loss = case
    rank, world = dist.get_rank(), dist.get_world_size()
    rg.manual_seed(0)
    plain = stepper(make(), loss)
    model = nn.parallel.DistributedDataParallel(make())
    parallel = stepper(model, loss)
    for _ in range(2):
        plain()
        parallel()
    calls = max(1, round(0.3 / timed(plain, 1)))
    calls = broadcast_number(calls)
    best = {"alone": 9e9, "together": 9e9, "parallel": 9e9}
    mark = rg.zeros(1)
    for _ in range(rounds):
        dist.barrier()
        if rank == 0:
            best["alone"] = min(best["alone"], timed(plain, calls))
            for other in range(1, world):
                dist.send(mark, other)
        else:
            rest_until_called(mark)
        for key, run in (("together", plain), ("parallel", parallel)):
            dist.barrier()
            best[key] = min(best[key], largest(timed(run, calls)))
    count = sum(p.numel() for p in model.parameters())
    buckets = len(model.reducer.buckets)
    return {"name": name, "parameters": count, "buckets": buckets, "tokens": tokens, "ranks": world, **best}


def largest(number: float) -> float:
    """The largest of the numbers of all ranks."""
    tensor = rg.tensor(number, dtype=rg.float64)
    dist.all_reduce(tensor, dist.ReduceOp.MAX)
    return float(tensor.item())


def broadcast_number(number: int) -> int:
    """The number of rank 0."""
    tensor = rg.tensor(number)
    dist.broadcast(tensor, 0)
    return int(tensor.item())


def messages(rounds: int, sizes: list[int]) -> dict[str, list[float]]:
    """Seconds by size: half of there and back between ranks 0 and 1, and of an all_reduce of all."""
    rank, world = dist.get_rank(), dist.get_world_size()
    found: dict[str, list[float]] = {"there": [], "all_reduce": []}
    for size in sizes:
        tensor = rg.ones(size // 4)
        calls = max(3, min(200, (4 << 20) // size))

        def back_and_forth(tensor: rg.Tensor = tensor) -> None:
            if rank == 0:
                dist.send(tensor, 1)
                dist.recv(tensor, 1)
            elif rank == 1:
                dist.recv(tensor, 0)
                dist.send(tensor, 0)

        def reduced(tensor: rg.Tensor = tensor) -> None:
            dist.all_reduce(tensor, dist.ReduceOp.MAX)  # which leaves ones

        for key, run, part in (("there", back_and_forth, 0.5), ("all_reduce", reduced, 1.0)):
            best = 9e9
            for _ in range(rounds if world > 1 else 0):
                dist.barrier()
                best = min(best, largest(timed(run, calls)) * part)
            found[key].append(best)
    return found


def worker(rounds: int, quick: bool) -> dict[str, Any]:
    """All that is measured in one world; `quick` takes small messages and batches, for a test."""
    rg.set_num_threads(1)
    dist.init_process_group("mpi")
    rg.manual_seed(1)
    result = {
        "rank": dist.get_rank(),
        "ranks": dist.get_world_size(),
        "messages": messages(rounds, SIZES[:4] if quick else SIZES) if dist.get_world_size() > 1 else None,
        "steps": [
            steps("transformer", transformer_case(1, 8) if quick else transformer_case(8, 128), rounds, 8 * 128),
            steps("convolutional", convolutional_case(2 if quick else 32), rounds, 32),
        ],
    }
    dist.destroy_process_group()
    return result


def measured(ranks: int, progress: str, rounds: int, mpiexec: str) -> dict[str, Any]:
    """What `worker` finds in a world of so many ranks, where a thread makes progress, or calls alone do."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        command = [mpiexec, "-n", str(ranks), sys.executable, __file__, "--worker", path, "--rounds", str(rounds)]
        variables = {"OMP_NUM_THREADS": "1", "RETROGRAD_DISTRIBUTED_PROGRESS": progress}
        subprocess.run(command, check=True, env={**os.environ, **variables})
        return {"progress": progress, **json.loads(Path(path).read_text())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mpiexec", default=str(Path(sys.executable).with_name("mpiexec")))
    parser.add_argument("--json", type=Path, help="write what was measured here")
    parser.add_argument("--on", help="date and machine of what `--read` takes")
    parser.add_argument("--read", type=Path, help="take what `--json` wrote before, and measure nothing")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/distributed.md")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        result = worker(options.rounds, options.quick)
        if result["rank"] == 0:
            Path(options.worker).write_text(json.dumps(result))
        return
    if options.read:
        results = json.loads(options.read.read_text())
    else:
        worlds = [(ranks, "thread") for ranks in options.ranks] + [(n, "calls") for n in options.ranks if n == 2]
        results = [measured(*world, options.rounds, options.mpiexec) for world in worlds]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    from distributed_model import tables
    from figures import processor

    when = options.on or f"{datetime.now(UTC):%Y-%m-%d}, {processor()}"
    text = f"Measured on {when}.\n\n{tables(results, SIZES)}"
    print(text)
    if options.write:
        page = ROOT / "docs" / "distributed.md"
        before, _, rest = page.read_text().partition("<!-- measured -->\n")
        _, _, after = rest.partition("<!-- /measured -->")
        page.write_text(f"{before}<!-- measured -->\n\n{text}\n<!-- /measured -->{after}")


if __name__ == "__main__":
    main()
