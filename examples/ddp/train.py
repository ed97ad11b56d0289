"""Train two networks on several processes, and show how much faster that is.

    mpiexec -n 2 python examples/ddp/train.py --output demo-output/ddp

Every process gets its part of each batch, and `DistributedDataParallel` averages the gradients while the backward pass
runs. A classifier learns handwritten digits; a small transformer, whose optimizer keeps a part of its state on each
process, learns to predict the next byte of a text. Rank 0 shows progress and leaves in the output folder:

- ``training.png``: the losses of both,
- ``scaling.png``: samples per second of one process while the others rest, and of all,
- ``overlap.svg``: a backward pass of rank 0 as the profiler saw it, with the collectives beside it,
- ``digits.safetensors``: the parameters of the classifier.

It runs alone as well: `python examples/ddp/train.py` is a world of one. It exits with 1 if the classifier is right on
fewer than 97 % of the held-out digits, if the transformer does no better than the frequencies of bytes would, or if the
processes end with different parameters.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import retrograd as rg
import retrograd.nn.functional as F
from overlap import observe
from retrograd import Tensor, nn
from retrograd import distributed as dist
from retrograd.distributed.checkpoint import load_everywhere, save_on_one
from retrograd.distributed.optim import ZeroRedundancyOptimizer
from retrograd.nn.parallel import DistributedDataParallel
from retrograd.utils.data import DataLoader, DistributedSampler, TensorDataset

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits" / "data" / "digits.csv.gz"
TEXT = ROOT / "LICENSE"
TARGET_ACCURACY = 0.97


@dataclass
class History:
    """The mean loss over all processes, by epoch of the classifier and by step of the transformer."""

    digits: list[float] = field(default_factory=list)
    text: list[float] = field(default_factory=list)
    frequencies: float = 0.0  # the loss of a guess by the frequencies of bytes


def mean(value: Tensor) -> float:
    """The mean over all processes."""
    total = value.detach().clone()
    dist.all_reduce(total, dist.ReduceOp.AVG)
    return float(total.item())


def load_digits() -> tuple[TensorDataset, TensorDataset]:
    """Images and labels to learn from, and every fifth image of each digit, held back."""
    table = np.loadtxt(DIGITS, delimiter=",", dtype=np.int64)
    labels = table[:, 64]
    held_out = np.zeros(len(labels), dtype=bool)
    for digit in range(10):
        held_out[np.flatnonzero(labels == digit)[::5]] = True
    images = rg.from_numpy((table[:, :64] / 16).astype(np.float32))
    classes = rg.from_numpy(labels.copy())
    parts = [rg.from_numpy(np.flatnonzero(chosen)) for chosen in (~held_out, held_out)]
    learned, tested = (TensorDataset(images[part], classes[part]) for part in parts)
    return learned, tested


def train_digits(epochs: int, batch: int, history: History) -> tuple[nn.Module, float]:
    """Returns the classifier, and the share of held-out digits that it is right on."""
    learned, tested = load_digits()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)))
    optimizer = rg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = rg.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, total_iters=epochs)
    sampler = DistributedSampler(learned)
    # The batch is divided: with any number of processes a step sees `batch` images.
    loader = DataLoader(learned, batch_size=max(1, batch // dist.get_world_size()), sampler=sampler)
    progress = tqdm(range(epochs), desc="digits", unit="epoch", disable=dist.get_rank() != 0)
    for epoch in progress:
        sampler.set_epoch(epoch)
        losses = []
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        schedule.step()
        history.digits.append(mean(rg.stack(losses).mean()))
        progress.set_postfix_str(f"loss {history.digits[-1]:.4f}")
    # Each process judges a part of the held-out images.
    images, labels = (t[dist.get_rank() :: dist.get_world_size()] for t in tested.tensors)
    with rg.no_grad():
        right = (model(images).argmax(1) == labels).sum()
    dist.all_reduce(right)
    return model, right.item() / len(tested)


class Transformer(nn.Module):
    """Scores of the next byte, of which there are 256, after each byte of a text."""

    def __init__(self, width: int, blocks: int, length: int) -> None:
        super().__init__()
        self.bytes, self.places = nn.Embedding(256, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, blocks, enable_nested_tensor=False)
        self.head = nn.Linear(width, 256)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(length), persistent=False)

    def forward(self, text: Tensor) -> Tensor:
        x = self.bytes(text) + self.places.weight
        return self.head(self.blocks(x, mask=self.mask, is_causal=True))


def train_text(steps: int, batch: int, length: int, history: History) -> DistributedDataParallel:
    """Trains the transformer on pieces of a text that each process draws by itself."""
    text = rg.tensor(list(TEXT.read_bytes()))
    shares = rg.bincount(text).double() / len(text)
    history.frequencies = -sum(p * np.log(p) for p in shares.tolist() if p > 0)
    model = DistributedDataParallel(Transformer(128, 2, length))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), rg.optim.AdamW, lr=2e-3)
    generator = rg.Generator().manual_seed(1000 + dist.get_rank())  # other pieces on every process
    own = max(1, batch // dist.get_world_size())
    progress = tqdm(range(steps), desc="text", unit="step", disable=dist.get_rank() != 0)
    for _ in progress:
        begins = rg.randint(0, len(text) - length - 1, (own, 1), generator=generator) + rg.arange(length)
        loss = F.cross_entropy(model(text[begins]).flatten(0, 1), text[begins + 1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.clip_grad_norm_(1.0)
        optimizer.step()
        history.text.append(mean(loss))
        progress.set_postfix_str(f"loss {history.text[-1]:.3f}")
    return model


def measure_scaling(length: int, batch: int, rounds: int) -> list[tuple[str, float, float]]:
    """Sequences or images per second, of rank 0 while the others rest, and of all, each with the same batch."""
    found = []
    text = rg.randint(0, 256, (batch, length))
    images, labels = rg.randn(64, 1, 16, 16), rg.randint(0, 10, (64,))
    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten()]
    for name, count, plain, loss in (
        ("transformer", batch, Transformer(128, 2, length), lambda m: m(text).flatten(0, 1).logsumexp(1).mean()),
        (
            "convolutional",
            64,
            nn.Sequential(*layers, nn.Linear(32 * 256, 10)),
            lambda m: F.cross_entropy(m(images), labels),
        ),
    ):
        times = [9e9, 9e9]
        parallel = DistributedDataParallel(plain)
        for _ in range(rounds):
            # Plain steps of rank 0, while the others sleep; then steps of all.
            dist.barrier()
            if dist.get_rank() == 0:
                times[0] = min(times[0], timed(plain, loss))
            rested = dist.barrier(async_op=True)
            while not rested.is_completed():
                time.sleep(0.01)
            times[1] = min(times[1], timed(parallel, loss))
        worst = rg.tensor(times[1])
        dist.all_reduce(worst, dist.ReduceOp.MAX)
        found.append((name, count / times[0], count * dist.get_world_size() / worst.item()))
    return found


def timed(model: nn.Module, loss: Callable[[nn.Module], Tensor], steps: int = 4) -> float:
    """Seconds of a forward and a backward pass."""
    begin = time.perf_counter()
    for _ in range(steps):
        model.zero_grad()
        loss(model).backward()
    return (time.perf_counter() - begin) / steps


def same_everywhere(model: nn.Module) -> bool:
    """Whether all processes have the same parameters, to the bit."""
    flat = rg.cat([p.detach().reshape(-1) for p in model.parameters()])
    others = [rg.empty_like(flat) for _ in range(dist.get_world_size())]
    dist.all_gather(others, flat)
    return all(bool((other == flat).all()) for other in others)


def main(argv: list[str] | None = None) -> int:
    """Train, measure, draw, save, and judge."""
    parser = argparse.ArgumentParser(description="Train on several processes with retrograd.")
    parser.add_argument("--output", type=Path, default=Path("demo-output/ddp"), help="folder for what the demo leaves")
    parser.add_argument("--epochs", type=int, default=30, help="of the classifier")
    parser.add_argument("--steps", type=int, default=150, help="of the transformer")
    parser.add_argument("--batch", type=int, default=32, help="images or pieces of text in a step of all processes")
    parser.add_argument("--length", type=int, default=64, help="bytes of a piece of text")
    parser.add_argument("--rounds", type=int, default=5, help="of the measurement")
    options = parser.parse_args(argv)

    rg.set_num_threads(1)  # a process for each core
    dist.init_process_group("mpi")
    rg.manual_seed(0)
    rank, world = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        print(f"{world} process{'es' * (world > 1)}, one thread each", flush=True)
        options.output.mkdir(parents=True, exist_ok=True)
    history = History()
    digits, accuracy = train_digits(options.epochs, options.batch, history)
    text = train_text(options.steps, options.batch, options.length, history)
    scaling = measure_scaling(options.length, 16, options.rounds)
    observed = observe(Transformer(256, 2, options.length), rg.randint(0, 256, (16, options.length)))
    path = options.output / "digits.safetensors"
    save_on_one(digits.module.state_dict(), path)
    restored: dict[str, Any] = load_everywhere(path)
    failures = []
    if not accuracy >= TARGET_ACCURACY:  # written so that NaN fails too
        failures.append(f"accuracy {accuracy:.1%} is below the target of {TARGET_ACCURACY:.0%}")
    if not history.text[-1] < history.frequencies:
        failures.append(f"loss {history.text[-1]:.3f}; the frequencies of bytes give {history.frequencies:.3f}")
    if not all(map(same_everywhere, (digits, text))):
        failures.append("the processes have different parameters")
    if not all(rg.equal(restored[name], value) for name, value in digits.module.state_dict().items()):
        failures.append("the parameters read back from the file are other ones")
    if rank == 0:
        from scaling_pictures import draw_overlap, draw_scaling, draw_training

        draw_training(history, options.output / "training.png")
        draw_scaling(scaling, world, options.output / "scaling.png")
        draw_overlap(observed, world, options.output / "overlap.svg")
        print(f"{accuracy:.1%} of the held-out digits are right; the next byte costs {history.text[-1]:.2f} nats")
        for name, one, several in scaling:
            print(f"{name}: {one:.0f} per second on one process, {several:.0f} on {world}: {several / one:.2f} times")
        for name in ("training.png", "scaling.png", "overlap.svg", "digits.safetensors"):
            print(f"  {options.output / name}")
        for failure in failures:
            print(f"FAILED: {failure}", file=sys.stderr)
    dist.destroy_process_group()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
