"""The picture of the spectral solver, drawn with Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from numpy.typing import NDArray

mpl.use("Agg")  # draws to files: no window, no display

import matplotlib.pyplot as plt

STYLE = Path(__file__).parents[1] / "pictures.mplstyle"


def draw_flow(
    x: NDArray[Any],
    truth: NDArray[Any],
    observed: NDArray[Any],
    found: NDArray[Any],
    losses: list[float],
    path: Path,
) -> None:
    """What the flow began as on the left, the last observation in the middle, the loss on the right."""
    with plt.style.context(STYLE):
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
        left.plot(x, truth[0], color="C0", label="true")
        left.plot(x, found[0], color="C1", linestyle="--", label="found")
        left.set(title="Where it began", xlabel="x", ylabel="u")
        left.legend(frameon=False)
        middle.plot(x, observed[-1], "o", color=plt.rcParams["xtick.color"], markersize=3, label="observed")
        middle.plot(x, truth[-1], color="C0", label="true")
        middle.plot(x, found[-1], color="C1", linestyle="--", label="found")
        middle.set(title="The last observation", xlabel="x", ylabel="u")
        middle.legend(frameon=False)
        right.plot(range(1, len(losses) + 1), losses, color="C0")
        right.set(title="Loss", xlabel="iteration", ylabel="mean square", yscale="log")
        figure.savefig(path)
        plt.close(figure)
