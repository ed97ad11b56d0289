"""The model of a data parallel step, its fit to what benches/distributed.py measured, and where it bends."""

from __future__ import annotations

import math
import textwrap
from typing import Any, NamedTuple

# The cluster of the projection: nodes of so many cores like the measured one, and a network.
CORES = 64
NETWORK_ALPHA = 2e-6  # seconds before the first byte, of 100 Gbit/s adapters that bypass the kernel
NETWORK_RATE = 12.5e9  # bytes per second in each direction
TOKENS = 1 << 19  # of the batch of all nodes together
NODES = (1, 64, 1024)
# What a training step of a dense model computes for each parameter and token, and the part that is the backward pass.
FLOPS, BACKWARD = 6, 2 / 3
# An exposed part of a step from which on we say that scaling bends.
BENDS = 0.1


class Line(NamedTuple):
    """Seconds of a message of n bytes: `alpha + n * beta`."""

    alpha: float
    beta: float

    def __call__(self, size: float) -> float:
        return self.alpha + size * self.beta


def fit(sizes: list[int], seconds: list[float]) -> Line:
    """The line with the least sum of squared relative errors; its constants are not negative."""
    weights = [1 / t**2 for t in seconds]
    s0 = sum(weights)
    s1 = sum(w * n for w, n in zip(weights, sizes, strict=True))
    s2 = sum(w * n * n for w, n in zip(weights, sizes, strict=True))
    t0 = sum(w * t for w, t in zip(weights, seconds, strict=True))
    t1 = sum(w * n * t for w, n, t in zip(weights, sizes, seconds, strict=True))
    beta = max(0.0, (s0 * t1 - s1 * t0) / (s0 * s2 - s1 * s1))
    return Line(max(0.0, (t0 - beta * s1) / s0), beta)


def all_reduce(nodes: int, size: float, alpha: float = NETWORK_ALPHA, rate: float = NETWORK_RATE) -> float:
    """Seconds of an all_reduce by halving and doubling: 2 log2 p messages, each byte over each link about twice."""
    if nodes == 1:
        return 0.0
    return 2 * math.ceil(math.log2(nodes)) * alpha + 2 * (nodes - 1) / nodes * size / rate


def exposed(compute: float, buckets: list[float]) -> float:
    """What the backward pass cannot hide of collectives of so many seconds: the last one, or what outlasts the pass."""
    return max(buckets[-1], sum(buckets) - BACKWARD * compute)


class Projected(NamedTuple):
    """A step on some nodes."""

    nodes: int
    compute: float
    sent: float
    exposed: float

    @property
    def step(self) -> float:
        return self.compute + self.exposed

    @property
    def efficiency(self) -> float:
        return self.compute / self.step


def project(parameters: float, buckets: int, nodes: int, core_rate: float, width: float = 4.0) -> Projected:
    """A step of a dense model whose gradients have `width` bytes, in so many buckets of one size."""
    compute = FLOPS * parameters * TOKENS / nodes / (CORES * core_rate)
    each = all_reduce(nodes, parameters * width / buckets)
    return Projected(nodes, compute, each * buckets, exposed(compute, [each] * buckets) if nodes > 1 else 0.0)


def bend(parameters: float, buckets: int, core_rate: float, width: float = 4.0) -> int:
    """The number of nodes, a power of two, from which on more than a tenth of a step is exposed."""
    for exponent in range(1, 25):
        found = project(parameters, buckets, 1 << exponent, core_rate, width)
        if found.exposed > BENDS * found.step:
            return 1 << exponent
    raise ValueError("no number of nodes bends it")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, numbers to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def shown(seconds: float) -> str:
    """Three digits and a unit."""
    if seconds >= 1000:
        return f"{seconds:.0f} s"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return "0"


def size_shown(size: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


def tables(results: list[dict[str, Any]], sizes: list[int]) -> str:
    """All tables of the page."""
    threaded = [r for r in results if r["progress"] == "thread"]
    lines = {r["ranks"]: fit(sizes, r["messages"]["all_reduce"]) for r in threaded if r["messages"]}
    parts = [_messages(threaded, sizes), _fits(threaded, sizes, lines), _steps(results, lines)]
    one = next(step for step in results[0]["steps"] if step["name"] == "transformer")
    rate = FLOPS * one["parameters"] * one["tokens"] / one["alone"]
    parts.append(_projection(one["parameters"], one["buckets"], rate))
    return "\n\n".join(parts) + "\n"


def _messages(results: list[dict[str, Any]], sizes: list[int]) -> str:
    several = [r for r in results if r["messages"]]
    head = ["bytes", "to another rank", *[f"all_reduce, {r['ranks']} ranks" for r in several]]
    rows = []
    for number, size in enumerate(sizes):
        row = [size_shown(size), shown(several[0]["messages"]["there"][number])]
        rows.append(row + [shown(r["messages"]["all_reduce"][number]) for r in several])
    return table(head, rows)


def _fits(results: list[dict[str, Any]], sizes: list[int], lines: dict[int, Line]) -> str:
    there = fit(sizes, next(r["messages"]["there"] for r in results if r["messages"]))
    rows = [["to another rank", shown(there.alpha), f"{1e-9 / there.beta:.2f} GB/s"]]
    rows += [[f"all_reduce, {n} ranks", shown(x.alpha), f"{1e-9 / x.beta:.2f} GB/s"] for n, x in lines.items()]
    return table(["fit", "alpha", "1 / beta"], rows)


def _steps(results: list[dict[str, Any]], lines: dict[int, Line]) -> str:
    rows = []
    for result in results:
        for step in result["steps"]:
            n, size = result["ranks"], step["parameters"] * 4
            sent = step["buckets"] * lines[n](size / step["buckets"]) if n > 1 else 0.0
            model = step["together"] + sent
            rows.append(
                [
                    f"{step['name']}, {n} rank{'s' * (n > 1)}{', calls' * (result['progress'] == 'calls')}",
                    shown(step["alone"]),
                    shown(step["together"]),
                    shown(sent),
                    shown(model),
                    shown(step["parallel"]),
                    f"{step['parallel'] / model - 1:+.1%}",
                    f"{step['alone'] / step['parallel']:.1%}",
                ]
            )
    head = ["step", "alone", "all at once", "sent", "model", "measured", "model is off by", "efficiency"]
    return table(head, rows)


def _projection(parameters: int, buckets: int, rate: float) -> str:
    rows = []
    for name, count, several in (
        (f"{parameters / 1e6:.1f} M parameters", parameters, buckets),
        ("1.3 G parameters", 1_300_000_000, 200),
    ):
        for nodes in NODES:
            p = project(count, several, nodes, rate)
            rows.append(
                [name, str(nodes), shown(p.compute), shown(p.sent), shown(p.exposed), f"{p.efficiency:.0%}", ""]
            )
        for way, width in (("float32", 4.0), ("bfloat16", 2.0)):
            rows[-1][-1] += f"{', ' if rows[-1][-1] else ''}{way}: {bend(count, several, rate, width)}"
    head = ["model", "nodes", "compute", "sent", "exposed", "efficiency", "bends at nodes"]
    text = (
        f"A core computes {rate * 1e-9:.3g} GFLOP/s of the transformer here. The projection has nodes of {CORES} "
        f"such cores, a network of {NETWORK_RATE * 8e-9:.0f} Gbit/s with {NETWORK_ALPHA * 1e6:.0f} us before the first "
        f"byte, and {TOKENS} tokens in the batch of all nodes."
    )
    return f"{textwrap.fill(text, 120)}\n\n{table(head, rows)}"
