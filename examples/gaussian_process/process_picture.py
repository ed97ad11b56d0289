"""The picture of the Gaussian process, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from numpy.typing import NDArray

mpl.use("Agg")  # draws to files: no window, no display

import matplotlib.pyplot as plt

INK, FAINT, GRID = "#1f2933", "#7b8794", "#e4e7eb"
BLUE, ORANGE, GREEN = "#2563eb", "#ea7317", "#0f9d78"

STYLE: dict[str, Any] = {
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": FAINT,
    "axes.edgecolor": GRID,
    "axes.titlecolor": INK,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "lines.linewidth": 2.2,
    "figure.dpi": 150,
}


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
    with plt.rc_context(STYLE):
        figure, (left, middle, right) = plt.subplots(
            1, 3, figsize=(15, 4.2), layout="constrained", width_ratios=(2, 1, 1)
        )
        left.fill_between(places, mean - 2 * deviation, mean + 2 * deviation, color=BLUE, alpha=0.15, linewidth=0)
        left.plot(places, mean, color=BLUE, label="mean, and two standard deviations")
        left.plot(x, y, "o", color=INK, markersize=3.5, label="samples")
        left.set(title="What the process says", xlabel="x")
        left.legend(frameon=False)
        iterations = range(1, len(losses) + 1)
        middle.plot(iterations, losses, color=BLUE)
        middle.set(title="Negative log likelihood", xlabel="iteration of Newton's method")
        for k, (name, color) in enumerate(zip(names, (BLUE, ORANGE, GREEN), strict=True)):
            right.plot(iterations, [p[k] for p in parameters], color=color, label=name)
            right.axhline(truth[k], color=color, linestyle=":", linewidth=1.2)
        right.set(title="Parameters, and the true ones", xlabel="iteration", yscale="log")
        right.legend(frameon=False)
        figure.savefig(path)
        plt.close(figure)
