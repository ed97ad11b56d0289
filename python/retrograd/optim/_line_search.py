"""A line search along a direction, to a step that fulfils the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from retrograd._core import Tensor


class Point(NamedTuple):
    """A step along the direction: its length, and the loss, the gradient and the slope there."""

    t: Any
    loss: float
    grad: Tensor
    slope: Tensor

    def cubic_to(self, other: Point, bounds: tuple[Any, Any] | None = None) -> Any:
        """Where the cubic through both is smallest."""
        return _cubic_interpolate(self.t, self.loss, self.slope, other.t, other.loss, other.slope, bounds)


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Tensor], tuple[float, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Tensor,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, Any, int]:
    """Search from `x` along `d`, beginning with a step of length `t`; other packages use it, too.

    Args: `obj_func(x, t, d)` returns the loss and the gradient at `x + t * d`; `f`, `g` and `gtd` are the loss, the
    gradient and the slope at `x`.
    Returns: the loss, the gradient and the length of the step, and how often `obj_func` was called.
    """
    start = Point(0, f, g, gtd)

    def at(t: Any) -> Point:
        loss, grad = obj_func(x, t, d)
        return Point(t, loss, grad, grad.dot(d))

    def is_too_high(point: Point) -> bool:
        return bool(point.loss > start.loss + c1 * point.t * start.slope)

    def is_flat(point: Point) -> bool:
        return bool(abs(point.slope) <= -c2 * start.slope)

    # Longer and longer steps, until two of them have a good one between them.
    previous, new = start, at(t)
    iteration, done = 0, False
    ends = None
    while iteration < max_ls:
        if is_too_high(new) or (iteration > 1 and new.loss >= previous.loss):
            ends = [previous, new]
            break
        if is_flat(new):
            ends, done = [new, new], True
            break
        if new.slope >= 0:
            ends = [previous, new]
            break
        bounds = (new.t + 0.01 * (new.t - previous.t), new.t * 10)
        previous, new = new, at(previous.cubic_to(new, bounds))
        iteration += 1
    if ends is None:
        ends = [start, new]

    # Shrink the interval; `low` is its better end.
    size = d.abs().max()
    is_slow = False
    low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
    while not done and iteration < max_ls:
        smallest, largest = min(ends[0].t, ends[1].t), max(ends[0].t, ends[1].t)
        if abs(ends[1].t - ends[0].t) * size < tolerance_change:
            break
        t = ends[0].cubic_to(ends[1])
        # A point near an end makes little progress: once that may be; twice, or at the end itself, move it inwards.
        margin = 0.1 * (largest - smallest)
        is_near_end = bool(min(largest - t, t - smallest) < margin)
        if is_near_end and (is_slow or t >= largest or t <= smallest):
            t = largest - margin if abs(t - largest) < abs(t - smallest) else smallest + margin
            is_near_end = False
        is_slow = is_near_end
        new = at(t)
        iteration += 1
        if is_too_high(new) or new.loss >= ends[low].loss:
            ends[high] = new
            low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
        else:
            if is_flat(new):
                done = True
            elif new.slope * (ends[high].t - ends[low].t) >= 0:
                ends[high] = ends[low]
            ends[low] = new
    best = ends[low]
    return best.loss, best.grad, best.t, iteration + 1


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Where the cubic with losses `f` and slopes `g` at two points is smallest, between them or within the bounds.

    Other packages use it, too.
    """
    lower, upper = bounds if bounds is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    d2_square = d1**2 - g1 * g2
    if not d2_square >= 0:
        return (lower + upper) / 2.0
    d2 = d2_square.sqrt()
    if x1 <= x2:
        x = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        x = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(x, lower), upper)
