"""Write the pictures of docs/profiler.md: where a training step of the digits example spends its time, and its memory.

    python tools/pictures.py

The times are those of the computer that runs this, so the pictures differ a little each time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import retrograd as rg
import retrograd.nn.functional as F
from retrograd.autograd.profiler import profile, record_function

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "examples" / "digits"))

from train import Digits, Parameters, init_parameters, load_digits, predict  # noqa: E402

BATCH, STEP_SIZE = 256, 0.1


def step(p: Parameters, digits: Digits) -> None:
    """A step of training, on the images that come first."""
    with record_function("forward"):
        scores = predict(p, digits.train_images[:BATCH])
        loss = F.cross_entropy(scores, digits.train_labels[:BATCH])
    loss.backward()
    with rg.no_grad(), record_function("update"):
        for value in p.values():
            value.sub_(value.grad * STEP_SIZE)
            value.grad = None


def main() -> None:
    """Profile a step, after some that warm up, and draw it."""
    rg.manual_seed(0)
    digits, parameters = load_digits(), init_parameters(128)
    for _ in range(20):
        step(parameters, digits)
    with profile(record_shapes=True, profile_memory=True) as prof:
        step(parameters, digits)
    PICTURES.mkdir(exist_ok=True)
    for name, picture in (("flame", prof.draw()), ("memory", prof.memory_timeline().draw())):
        path = PICTURES / f"digits-{name}.svg"
        path.write_text(picture, encoding="utf-8", newline="\n")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
