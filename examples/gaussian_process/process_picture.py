"""The picture of the Gaussian process, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from numpy.typing import NDArray

mpl.use("Agg")  # draws to files: no window, no display

import matplotlib.pyplot as plt

STYLE = Path(__file__).parents[1] / "pictures.mplstyle"


def draw_process(
    x: NDArray[Any],
    y: NDArray[Any],
    process: Sequence[NDArray[Any]],
    losses: list[float],
    parameters: list[list[float]],
    names: Sequence[str],
    truth: Sequence[float],
    path: Path,
) -> None:
    """Samples and process (places, mean, standard deviation) on the left, loss and parameters by iteration right."""
    places, mean, deviation = process
    with plt.style.context(STYLE):
        figure, (left, middle, right) = plt.subplots(
            1, 3, figsize=(15, 4.2), layout="constrained", width_ratios=(2, 1, 1)
        )
        left.fill_between(places, mean - 2 * deviation, mean + 2 * deviation, color="C0", alpha=0.15, linewidth=0)
        left.plot(places, mean, color="C0", label="mean, and two standard deviations")
        left.plot(x, y, "o", color=plt.rcParams["text.color"], markersize=3.5, label="samples")
        left.set(title="What the process says", xlabel="x")
        left.legend(frameon=False)
        iterations = range(1, len(losses) + 1)
        middle.plot(iterations, losses, color="C0")
        middle.set(title="Negative log likelihood", xlabel="iteration of Newton's method")
        for k, (name, color) in enumerate(zip(names, ("C0", "C1", "C2"), strict=True)):
            right.plot(iterations, [p[k] for p in parameters], color=color, label=name)
            right.axhline(truth[k], color=color, linestyle=":", linewidth=1.2)
        right.set(title="Parameters, and the true ones", xlabel="iteration", yscale="log")
        right.legend(frameon=False)
        figure.savefig(path)
        plt.close(figure)
