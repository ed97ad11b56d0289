"""The pictures of the data parallel demo, drawn with Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")  # draws to files: no window, no display

import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from overlap import Observed
    from train import History

STYLE = Path(__file__).parents[1] / "pictures.mplstyle"
# Kinds of nodes that are told apart; the others are grey.
KINDS = {"Addmm": "C0", "Mm": "C0", "Bmm": "C0", "ScaledDotProduct": "C2", "AccumulateGrad": "C3"}


def draw_training(history: History, path: Path) -> None:
    """The losses of the classifier and of the transformer."""
    with plt.style.context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12, wspace=0.04)
        left.plot(range(1, len(history.digits) + 1), history.digits)
        left.set(title="Digits", xlabel="epoch", ylabel="cross-entropy", yscale="log")
        right.plot(range(1, len(history.text) + 1), history.text, label="transformer")
        right.axhline(history.frequencies, color="C1", linestyle="--", label="frequencies of bytes")
        right.set(title="Next byte", xlabel="step", ylabel="nats", ylim=(0, None))
        right.legend(frameon=False)
        for axes in (left, right):
            axes.grid(axis="x", visible=False)
            axes.xaxis.get_major_locator().set_params(integer=True)
        figure.savefig(path)
        plt.close(figure)


def draw_scaling(scaling: list[tuple[str, float, float]], world: int, path: Path) -> None:
    """How many times as many samples per second all processes make as one, and as many as there are processes."""
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(7, 1.6 + 0.8 * len(scaling)), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
        for place, (_, one, several) in enumerate(scaling):
            axes.barh(place - 0.2, 1, 0.36, color="C0", label="one, others at rest" if place == 0 else None)
            axes.barh(place + 0.2, several / one, 0.36, color="C1", label=f"all {world}" if place == 0 else None)
            axes.text(1.02, place - 0.2, f"{one:,.0f} per s", va="center", size=9)
            axes.text(several / one + 0.02, place + 0.2, f"{several:,.0f} per s", va="center", size=9)
            axes.text(0.02, place + 0.2, f"{several / one:.2f} x", va="center", size=9, color="white", weight="bold")
        axes.axvline(world, color="C2", linestyle="--", linewidth=1.5, label=f"{world} x")
        axes.set(
            title=f"Samples per second, {world} process{'es' * (world > 1)}",
            xlim=(0, world * 1.25),
            ylim=(len(scaling) - 0.5, -0.5),
        )
        axes.set_yticks(range(len(scaling)), [name for name, *_ in scaling])
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("times one process")
        axes.grid(axis="y", visible=False)
        figure.legend(*axes.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=3)
        figure.savefig(path)
        plt.close(figure)


def draw_overlap(observed: Observed, world: int, path: Path) -> None:
    """Nodes of the backward pass in one lane, and below it each collective from its start to its end."""
    with plt.style.context(STYLE):
        lanes = len(observed.collectives)
        figure, axes = plt.subplots(figsize=(10.5, 2.4 + 0.28 * lanes), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
        labelled = set()
        for name, begin, end in observed.nodes:
            colour = next((c for kind, c in KINDS.items() if name.startswith(kind)), "0.75")
            label = {"C0": "matrix products", "C2": "attention", "C3": "gradients handed over"}.get(
                colour, "other nodes"
            )
            axes.barh(0, end - begin, 0.8, begin, color=colour, label=None if label in labelled else label)
            labelled.add(label)
        for lane, (size, begin, end) in enumerate(observed.collectives, 1):
            axes.barh(lane + 0.3, end - begin, 0.7, begin, color="C1", label="all_reduce" if lane == 1 else None)
            text = f"{size / 2**20:.2f} MiB"
            left = end < 0.8 * observed.end
            axes.text(
                end if left else begin, lane + 0.3, f" {text} ", va="center", ha="left" if left else "right", size=8
            )
        axes.axvline(observed.end, color="0.4", linewidth=1)
        axes.set(
            title=f"A backward pass of rank 0 of {world}, and what it sends meanwhile",
            xlabel="ms",
            ylim=(lanes + 1.0, -0.6),
            xlim=(0, observed.end * 1.02),
        )
        axes.set_yticks([0, (lanes + 1.6) / 2], ["nodes", "buckets"])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        figure.legend(*axes.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=5)
        figure.savefig(path)
        plt.close(figure)
