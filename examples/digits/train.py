"""Train a two-layer network on handwritten digits, and show what happened.

    python examples/digits/train.py --output demo-output

Reads the 1,797 images next to this file, holds a fifth of them back, trains on the rest with momentum
written out by hand, and leaves in the output folder:

- ``learning_curve.png``: loss and accuracy by epoch,
- ``predictions.png``: held-out digits and what the network says they are,
- ``graph.svg``: the graph that ``loss.backward()`` walks,
- ``memory.svg``: the memory that this graph keeps alive until then, by line of this file,
- ``parameters.safetensors``: the trained parameters.

Exits with 1 if the network is right on fewer than 97 % of the held-out images, or if the parameters read
back from the file predict anything else than the ones that were written.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tqdm import trange

import retrograd as rg
import retrograd.nn.functional as F
from pictures import draw_learning_curve, draw_predictions
from retrograd import Tensor
from retrograd.utils.graph import draw as draw_graph
from retrograd.utils.graph import memory

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
TARGET_ACCURACY = 0.97

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class Digits:
    """Images as float32 rows of 64 pixels in [0, 1], labels as int64."""

    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor


@dataclass
class History:
    """One entry per epoch."""

    train_loss: list[float] = field(default_factory=list)
    test_loss: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)


def load_digits(path: Path = DATA) -> Digits:
    """Read the images and hold back every fifth one of each digit."""
    table = np.loadtxt(path, delimiter=",", dtype=np.int64)
    images = (table[:, :64] / 16.0).astype(np.float32)
    labels = table[:, 64].copy()
    # Digit by digit, because the file repeats 0, 1, 2, ...: every fifth row would hold few of the classes.
    held_out = np.concatenate([np.flatnonzero(labels == digit)[::5] for digit in range(10)])
    is_test = np.zeros(len(labels), dtype=bool)
    is_test[held_out] = True
    return Digits(
        train_images=rg.from_numpy(images[~is_test]),
        train_labels=rg.from_numpy(labels[~is_test]),
        test_images=rg.from_numpy(images[is_test]),
        test_labels=rg.from_numpy(labels[is_test]),
    )


def init_parameters(hidden: int) -> Parameters:
    """Normal weights scaled by the fan-in (He), biases at zero."""
    parameters = {
        "weight1": rg.randn(hidden, 64) * (2 / 64) ** 0.5,
        "bias1": rg.zeros(hidden),
        "weight2": rg.randn(10, hidden) * (2 / hidden) ** 0.5,
        "bias2": rg.zeros(10),
    }
    return {name: p.requires_grad_() for name, p in parameters.items()}


def predict(p: Parameters, images: Tensor) -> Tensor:
    """Scores of shape (batch, 10); the largest in a row is the digit."""
    hidden = F.relu(F.linear(images, p["weight1"], p["bias1"]))
    return F.linear(hidden, p["weight2"], p["bias2"])


def evaluate(p: Parameters, images: Tensor, labels: Tensor) -> tuple[float, float]:
    """Return mean loss and share of right answers, without recording a graph."""
    with rg.no_grad():
        scores = predict(p, images)
        loss = F.cross_entropy(scores, labels)
        right = scores.argmax(1).eq(labels).sum()
    return loss.item(), right.item() / len(labels)


def train(p: Parameters, digits: Digits, *, epochs: int, batch: int, rate: float, momentum: float) -> History:
    """Minimise the cross-entropy by stochastic gradient descent with momentum, changing `p` in place."""
    count = len(digits.train_labels)
    velocity = {name: rg.zeros_like(value) for name, value in p.items()}
    history = History()
    progress = trange(epochs, desc="training", unit="epoch")
    for epoch in progress:
        step_size = rate * (1 - epoch / epochs)  # falls to zero, so that the last epochs settle
        order = rg.randperm(count)
        for start in range(0, count, batch):
            chosen = order[start : start + batch]
            loss = F.cross_entropy(predict(p, digits.train_images[chosen]), digits.train_labels[chosen])
            loss.backward()
            with rg.no_grad():
                for name, value in p.items():
                    velocity[name].mul_(momentum).add_(value.grad)
                    value.sub_(velocity[name] * step_size)
                    value.grad = None
        for images, labels, losses, accuracies in (
            (digits.train_images, digits.train_labels, history.train_loss, history.train_accuracy),
            (digits.test_images, digits.test_labels, history.test_loss, history.test_accuracy),
        ):
            loss_now, accuracy_now = evaluate(p, images, labels)
            losses.append(loss_now)
            accuracies.append(accuracy_now)
        progress.set_postfix_str(
            f"loss {history.train_loss[-1]:.4f}, train {history.train_accuracy[-1]:.1%}, "
            f"held out {history.test_accuracy[-1]:.1%}"
        )
    return history


def main(argv: list[str] | None = None) -> int:
    """Train, draw, save, load, and judge."""
    parser = argparse.ArgumentParser(description="Train a digit classifier with retrograd.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for what the demo leaves")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--rate", type=float, default=0.1, help="step size of the first epoch")
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)

    rg.manual_seed(options.seed)
    digits = load_digits()
    parameters = init_parameters(options.hidden)
    size = sum(value.numel() for value in parameters.values())
    print(
        f"{len(digits.train_labels)} images to learn from, {len(digits.test_labels)} held out, "
        f"{size} parameters (64-{options.hidden}-10)",
        flush=True,  # in a log file, too, before the progress bar
    )
    history = train(
        parameters,
        digits,
        epochs=options.epochs,
        batch=options.batch,
        rate=options.rate,
        momentum=options.momentum,
    )

    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)

    with rg.no_grad():
        answers = predict(parameters, digits.test_images).argmax(1)
    draw_learning_curve(history, output / "learning_curve.png")
    draw_predictions(
        digits.test_images.numpy(), digits.test_labels.numpy(), answers.numpy(), output / "predictions.png"
    )

    loss = F.cross_entropy(predict(parameters, digits.test_images), digits.test_labels)
    (output / "graph.svg").write_text(draw_graph(loss, params=parameters), encoding="utf-8")
    (output / "memory.svg").write_text(memory(loss, params=parameters).draw(), encoding="utf-8")

    rg.save(parameters, output / "parameters.safetensors")
    restored = rg.load(output / "parameters.safetensors")
    with rg.no_grad():
        same = bool((predict(restored, digits.test_images) == predict(parameters, digits.test_images)).all())

    accuracy = history.test_accuracy[-1]
    wrong = int(answers.ne(digits.test_labels).sum())
    print(f"{accuracy:.1%} of the held-out digits are right ({wrong} wrong of {len(digits.test_labels)})")
    for name in ("learning_curve.png", "predictions.png", "graph.svg", "memory.svg", "parameters.safetensors"):
        print(f"  {output / name}")

    failures = []
    if not accuracy >= TARGET_ACCURACY:  # written so that NaN fails too
        failures.append(f"accuracy {accuracy:.1%} is below the target of {TARGET_ACCURACY:.0%}")
    if not same:
        failures.append("the parameters read back from the file predict something else")
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
