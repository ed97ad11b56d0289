"""The picture of the spectral solver, drawn with Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from numpy.typing import NDArray

mpl.use("Agg")  # draws to files: no window, no display

import matplotlib.pyplot as plt

INK, FAINT, GRID = "#1f2933", "#7b8794", "#e4e7eb"
BLUE, ORANGE = "#2563eb", "#ea7317"

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


def draw_flow(
    x: NDArray[Any],
    truth: NDArray[Any],
    observed: NDArray[Any],
    found: NDArray[Any],
    losses: list[float],
    path: Path,
) -> None:
    """What the flow began as on the left, the last observation in the middle, the loss on the right."""
    with plt.rc_context(STYLE):
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
        left.plot(x, truth[0], color=BLUE, label="true")
        left.plot(x, found[0], color=ORANGE, linestyle="--", label="found")
        left.set(title="Where it began", xlabel="x", ylabel="u")
        left.legend(frameon=False)
        middle.plot(x, observed[-1], "o", color=FAINT, markersize=3, label="observed")
        middle.plot(x, truth[-1], color=BLUE, label="true")
        middle.plot(x, found[-1], color=ORANGE, linestyle="--", label="found")
        middle.set(title="The last observation", xlabel="x", ylabel="u")
        middle.legend(frameon=False)
        right.plot(range(1, len(losses) + 1), losses, color=BLUE)
        right.set(title="Loss", xlabel="iteration", ylabel="mean square", yscale="log")
        figure.savefig(path)
        plt.close(figure)
