"""The two pictures of the digits demo, drawn with Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

mpl.use("Agg")  # draws to files: no window, no display

import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator, NullLocator

if TYPE_CHECKING:
    from train import History

STYLE = Path(__file__).parents[1] / "pictures.mplstyle"


def draw_learning_curve(history: History, path: Path) -> None:
    """Loss on the left, accuracy on the right, training and held-out images in each."""
    epochs = range(1, len(history.train_loss) + 1)
    with plt.style.context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12, wspace=0.04)

        for name, colour, losses, accuracies in (
            ("training", "C0", history.train_loss, history.train_accuracy),
            ("held out", "C1", history.test_loss, history.test_accuracy),
        ):
            left.plot(epochs, losses, color=colour, label=f"{name}, {losses[-1]:.2g}")
            right.plot(epochs, [100 * a for a in accuracies], color=colour, label=f"{name}, {accuracies[-1]:.1%}")
        left.set(title="Loss", xlabel="epoch", ylabel="cross-entropy", yscale="log")
        left.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        left.yaxis.set_major_formatter("{x:g}")
        left.yaxis.set_minor_locator(NullLocator())
        right.set(title="Accuracy", xlabel="epoch", ylabel="% right")
        for axes, corner in ((left, "upper right"), (right, "lower right")):
            axes.legend(frameon=False, loc=corner)
            axes.grid(axis="x", visible=False)
            axes.margins(x=0.02)
            axes.xaxis.get_major_locator().set_params(integer=True)
        figure.savefig(path)
        plt.close(figure)


def draw_predictions(
    images: NDArray[np.float32], labels: NDArray[np.int64], answers: NDArray[np.int64], path: Path, *, columns: int = 12
) -> None:
    """A grid of held-out digits: every wrong answer first, in red, then right ones of each digit in turn."""
    rows = 5
    wrong = np.flatnonzero(labels != answers)
    right = np.flatnonzero(labels == answers)
    # The n-th image of each digit before the (n+1)-th of any.
    nth = np.array([np.count_nonzero(labels[right[:i]] == labels[index]) for i, index in enumerate(right)])
    right = right[np.lexsort((labels[right], nth))]
    shown = np.concatenate([wrong, right])[: rows * columns]

    with plt.style.context(STYLE):
        figure, grid = plt.subplots(rows, columns, figsize=(10.5, 5.6), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05, rect=(0.008, 0.012, 0.984, 0.976))
        figure.suptitle(
            f"Held-out digits: {len(labels) - len(wrong)} of {len(labels)} right",
            x=0.02,
            ha="left",
            weight="bold",
            size=14,
        )
        for axes in grid.flat:
            axes.axis("off")
        for axes, index in zip(grid.flat, shown, strict=False):
            missed = answers[index] != labels[index]
            axes.axis("on")
            axes.imshow(images[index].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            axes.grid(visible=False)
            for spine in axes.spines.values():
                spine.set(
                    visible=True, color="C3" if missed else plt.rcParams["grid.color"], linewidth=2 if missed else 1
                )
            axes.set_title(
                f"{answers[index]}, not {labels[index]}" if missed else f"{answers[index]}",
                loc="center",
                size=10,
                pad=4,
                color="C3" if missed else plt.rcParams["text.color"],
                weight="bold" if missed else "normal",
            )
        figure.savefig(path)
        plt.close(figure)
