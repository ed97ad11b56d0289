"""The digits once more, in a program for torch alone: nothing in it knows retrograd.

    python -m retrograd run examples/digits/train_torch.py
    python examples/digits/train_torch.py                       # where torch is installed

Trains the network of `train.py` with layers, a loader and an optimizer, writes its state to a checkpoint if `--output`
names one, and exits with 1 if it is right on fewer than 97 % of the held-out images.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
TARGET_ACCURACY = 0.97


class Digits(Dataset):
    """Images as rows of 64 pixels in [0, 1], each with its digit."""

    def __init__(self, path: Path = DATA) -> None:
        with gzip.open(path, "rt") as file:
            table = torch.tensor([[int(value) for value in row] for row in csv.reader(file)])
        self.images = table[:, :64] / 16
        self.labels = table[:, 64]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.images[i], self.labels[i]

    def split(self) -> tuple[Subset, Subset]:
        """Hold back every fifth image of each digit."""
        held_out = torch.cat([torch.nonzero(self.labels == digit).flatten()[::5] for digit in range(10)])
        rest = torch.ones(len(self), dtype=torch.bool)
        rest[held_out] = False
        return Subset(self, torch.nonzero(rest).flatten().tolist()), Subset(self, held_out.tolist())


def main() -> int:
    """Train, judge, and save."""
    parser = argparse.ArgumentParser(description="Train a digit classifier with torch.")
    parser.add_argument("--output", type=Path, help="file for the checkpoint")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    learning, held_out = Digits().split()
    loader = DataLoader(learning, batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs)
    for epoch in range(options.epochs):
        total = 0.0
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        scheduler.step()
        print(f"epoch {epoch + 1}: loss {total / len(learning):.4f}")

    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in DataLoader(held_out, batch_size=64):
            right += int((model(images.to(device)).argmax(1) == labels.to(device)).sum())
    accuracy = right / len(held_out)
    print(f"{accuracy:.1%} of the held-out digits are right")
    if options.output is not None:
        torch.save(model.state_dict(), options.output)
    if not accuracy >= TARGET_ACCURACY:
        print(f"FAILED: accuracy {accuracy:.1%} is below the target of {TARGET_ACCURACY:.0%}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
