"""Losses that take a function or options, and a layer with its loss."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from retrograd import _core
from retrograd._asking import asking
from retrograd._core import Tensor
from retrograd._core import _nn_functional as F

if TYPE_CHECKING:
    from retrograd.nn._options import LinearCrossEntropyOptions

__all__ = ["linear_cross_entropy", "triplet_margin_with_distance_loss"]


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


@asking
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """The loss of an anchor that is not nearer to the positive than to the negative by a margin: `max(margin +
    d(anchor, positive) - d(anchor, negative), 0)`, with a distance `d` of your own; and its mean or sum.

    Args: `anchor`, `positive`, `negative` tensors of as many dims; `distance_function` of two of them
    (`pairwise_distance`); `margin` a positive number; `swap` to take the distance of positive and negative where it is
    smaller; `reduction` 'mean', 'sum' or 'none'. Returns: a 0-dim tensor, or the losses for 'none'. Derivative: that of
    the distances, where the loss is not below 0. Raises: RuntimeError for different dims, ValueError for another
    margin or reduction.

    >>> near, far = rg.tensor([[1.0, 0.0]]), rg.tensor([[0.0, 2.0]])
    >>> rg.nn.functional.triplet_margin_with_distance_loss(
    ...     near, far, near, distance_function=lambda a, b: (a - b).abs().amax(-1)
    ... ).item()
    3.0
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    a, p, n = anchor.dim(), positive.dim(), negative.dim()
    if not a == p == n:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {a}D, positive {p}D, and negative {n}D inputs"
        )
    distance = F.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _core.minimum(far, distance(positive, negative))
    return _reduced(_core.clamp_min(margin + near - far, 0), reduction)


@asking
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """The cross entropy of the scores `linear(input, linear_weight, linear_bias)`.

    Args: `input` (N, E) or (E,), floating dtype; `linear_weight` (C, E), or (C, d1, .., E) for several scores of each
    class; `linear_bias` of its sizes without the last; `target`, `weight`, `reduction`, `ignore_index`,
    `label_smoothing` as `cross_entropy`; `options` a `LinearCrossEntropyOptions` to compute a part of the batch at a
    time, and its scores again in the backward pass: less memory, and the same derivatives of any order and mode.
    Returns: as `cross_entropy`. Derivative: those of `linear` and `cross_entropy`. Raises: RuntimeError if sizes are
    incompatible, and for an `ignore_index` with a target of probabilities.

    >>> rg.nn.functional.linear_cross_entropy(rg.ones(2), rg.zeros(4, 2), rg.tensor(3)).exp().item()
    4.0
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    width, lead = input.size(-1), tuple(linear_weight.shape[:-1])
    if width != linear_weight.size(-1):
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {width} and {linear_weight.size(-1)}, respectively"
        )
    if linear_bias is not None and linear_bias.shape != lead:
        raise RuntimeError(f"expected linear_bias shape {lead}, got {tuple(linear_bias.shape)}")
    if len(lead) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {width}), got unbatched input with shape {tuple(input.shape)}"
        )
    scores = (*input.shape[:-1], *lead)
    if ignore_index is not None and target.shape == scores:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignore_index = -100 if ignore_index is None else ignore_index

    if options is not None:
        if (
            reduction in ("mean", "sum", "none")
            and label_smoothing == 0.0
            and target.dtype is _core.int64
            and len(lead) == 1
        ):
            return _in_parts(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, options)
        warnings.warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            f"label_smoothing == 0, target.dtype == int64, out_features == (). Got reduction={reduction!r}, "
            f"label_smoothing={label_smoothing}, target.dtype={target.dtype}, out_features={lead[1:]}, tracing=False, "
            f"linear_bias.shape={None if linear_bias is None else tuple(linear_bias.shape)}.",
            stacklevel=2,
        )

    flat = math.prod(lead)
    if len(lead) > 1:
        linear_weight = linear_weight.reshape(flat, width)
        linear_bias = None if linear_bias is None else linear_bias.reshape(flat)
    logits = F.linear(input, linear_weight, linear_bias).reshape(scores)
    return F.cross_entropy(
        logits,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


def _in_parts(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    options: LinearCrossEntropyOptions,
) -> Tensor:
    """The loss of parts of the batch, whose scores are computed again when they are differentiated."""
    from retrograd.utils.checkpoint import checkpoint

    x, t = (input, target) if input.dim() == 2 else (input.unsqueeze(0), target.reshape(1))
    rows = options._rows(x.size(0), x.size(1), linear_weight.size(0))
    kind = "none" if reduction == "none" else "sum"

    def part(x: Tensor, w: Tensor, b: Tensor | None, t: Tensor) -> Tensor:
        return F.cross_entropy(F.linear(x, w, b), t, weight=weight, reduction=kind, ignore_index=ignore_index)

    pairs = zip(x.split(rows), t.split(rows), strict=True)
    losses = [checkpoint(part, x, linear_weight, linear_bias, t, use_reentrant=False) for x, t in pairs]
    if reduction == "none":
        whole = _core.cat(losses)
        return whole if input.dim() == 2 else whole.squeeze(0)
    total = _core.stack(losses).sum()
    if reduction == "sum":
        return total
    counted = t != ignore_index
    if weight is None:
        return total / counted.sum()
    return total / (weight[t.masked_fill(~counted, 0)] * counted).sum()
