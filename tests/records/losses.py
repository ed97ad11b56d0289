"""Records of losses, and of the distances that they are made of."""

import itertools
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from records.activations import logistic
from records.nn import functional, reduced, reductions
from records.record import DISTINCT, POSITIVE, Array, Domain, Edge, Refusal, Sample, given, index, s, t
from records.running import vector_norm

CHANCE = Domain(0.1, 0.9)
SIGNS = given([1.0, -1.0, -1.0, 1.0, 1.0], grad=False)
SIZES = [((3, 4), (3, 4)), ((33,), (33,)), ((), ()), ((17,), (17,))]
BAD_REDUCTION = r"most is not a valid value"
AGAINST_MISUSE = (
    Refusal(s(t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
    Refusal(s(t(2, 3), t(2, 4)), (RuntimeError, UserWarning)),
)


def pairs(target: Domain | None = None, grad: bool = True, **kwargs: Any) -> tuple[Sample, ...]:
    """An input and a target of several sizes, with every reduction."""
    return tuple(one for a, b in SIZES for one in reductions(t(*a), t(*b, domain=target, grad=grad), **kwargs))


def smooth_l1(x: Array, y: Array, reduction: str = "mean", beta: float = 1.0) -> Any:
    d = np.abs(x - y)
    return reduced(np.where(d < beta, d**2 / (2 * max(beta, 1e-30)), d - beta / 2), reduction)


def huber(x: Array, y: Array, reduction: str = "mean", delta: float = 1.0, weight: Any = 1) -> Any:
    d = np.abs(x - y)
    return reduced(weight * np.where(d < delta, d**2 / 2, delta * (d - delta / 2)), reduction)


def bce(x: Array, y: Array, weight: Any = 1, reduction: str = "mean") -> Any:
    with np.errstate(divide="ignore"):
        logs = [np.maximum(np.log(v), -100) for v in (x, 1 - x)]
    return reduced(-weight * (y * logs[0] + (1 - y) * logs[1]), reduction)


def bce_with_logits(x: Array, y: Array, weight: Any = 1, pos_weight: Any = 1, reduction: str = "mean") -> Any:
    p = logistic(x)
    return reduced(-weight * (pos_weight * y * np.log(p) + (1 - y) * np.log(1 - p)), reduction)


def kl_div(x: Array, y: Array, reduction: str = "mean", log_target: bool = False) -> Any:
    losses = np.exp(y) * (y - x) if log_target else y * (np.log(np.where(y == 0, 1, y)) - x)
    return losses.sum() / x.shape[0] if reduction == "batchmean" else reduced(losses, reduction)


def kl_div_quietly(rg: Any, *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rg.nn.functional.kl_div(*args, **kwargs)


def margin_ranking(x: Array, y: Array, target: Array, margin: float = 0, reduction: str = "mean") -> Any:
    return reduced(np.maximum(-target * (x - y) + margin, 0), reduction)


def hinge_embedding(x: Array, y: Array, margin: float = 1.0, reduction: str = "mean") -> Any:
    return reduced(np.where(y == 1, x, np.maximum(margin - x, 0)), reduction)


def cosine(x: Array, y: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    x, y = np.broadcast_arrays(x, y)
    norms = [np.maximum(np.sqrt((v**2).sum(dim)), eps) for v in (x, y)]
    return np.asarray((x * y).sum(dim) / norms[0] / norms[1])


def cosine_embedding(x: Array, y: Array, target: Array, margin: float = 0, reduction: str = "mean") -> Any:
    cos = (x * y).sum(-1) / np.sqrt(((x**2).sum(-1) + 1e-12) * ((y**2).sum(-1) + 1e-12))
    return reduced(np.where(target == 1, 1 - cos, np.maximum(cos - margin, 0)), reduction)


def distance(x: Array, y: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Array:
    return np.asarray(vector_norm(x - y + eps, p, -1, keepdim))


def triplet(
    anchor: Array, near: Array, far: Array, margin: float = 1.0, swap: bool = False, reduction: str = "mean", **how: Any
) -> Any:
    away = distance(anchor, far, **how)
    away = np.minimum(away, distance(near, far, **how)) if swap else away
    return reduced(np.maximum(distance(anchor, near, **how) - away + margin, 0), reduction)


def gaussian(x: Array, y: Array, var: Array, full: bool = False, reduction: str = "mean") -> Any:
    var = var[..., None] if np.ndim(var) == x.ndim - 1 else var
    return reduced((np.log(var) + (x - y) ** 2 / var) / 2 + full * math.log(2 * math.pi) / 2, reduction)


def poisson(x: Array, y: Array, log_input: bool = True, full: bool = False, reduction: str = "mean") -> Any:
    losses = np.exp(x) - y * x if log_input else x - y * np.log(x + 1e-8)
    stirling = y * np.log(y) - y + np.log(2 * np.pi * y) / 2
    return reduced(losses + full * np.where(y > 1, stirling, 0), reduction)


def standardized(x: Array, over: tuple[int, ...], eps: float) -> Array:
    centred = x - x.mean(over, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(over, keepdims=True) + eps))


def by_channel(v: Any, x: Array) -> Any:
    return v.reshape(-1, *[1] * (x.ndim - 2)) if isinstance(v, np.ndarray) else v


def scaled(h: Array, weight: Any, bias: Any) -> Array:
    weight, bias = (1 if weight is None else weight), (0 if bias is None else bias)
    return np.asarray(h * by_channel(weight, h) + by_channel(bias, h))


def batch_norm(
    x: Array, mean: Any, var: Any, weight: Any = None, bias: Any = None, training: bool = False, eps: float = 1e-5
) -> Array:
    if training:
        return scaled(standardized(x, (0, *range(2, x.ndim)), eps), weight, bias)
    return scaled((x - by_channel(mean, x)) / np.sqrt(by_channel(var, x) + eps), weight, bias)


def instance_norm(
    x: Array, mean: Any = None, var: Any = None, weight: Any = None, bias: Any = None, eps: float = 1e-5, **how: Any
) -> Array:
    if how.get("use_input_stats", True):
        return scaled(standardized(x, tuple(range(2, x.ndim)), eps), weight, bias)
    return batch_norm(x, mean, var, weight, bias, eps=eps)


def group_norm(x: Array, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Array:
    h = standardized(x.reshape(x.shape[0], groups, -1), (2,), eps).reshape(x.shape)
    return scaled(h, weight, bias)


def rms_norm(x: Array, shape: Any, weight: Any = None, eps: float = 2.0**-52) -> Array:
    over = tuple(range(x.ndim - len(shape), x.ndim))
    return np.asarray(x / np.sqrt((x**2).mean(over, keepdims=True) + eps) * (1 if weight is None else weight))


def local_response_norm(x: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Array:
    mean = np.zeros_like(x)
    for c in range(x.shape[1]):
        window = x[:, max(c - size // 2, 0) : c + (size - 1) // 2 + 1]
        mean[:, c] = (window**2).sum(1) / size
    return np.asarray(x / (k + alpha * mean) ** beta)


def multilabel(x: Array, y: Array, weight: Any = 1.0, reduction: str = "mean") -> Any:
    """`log(1 + exp(x)) - x y`, weighted."""
    return reduced((weight * (np.log1p(np.exp(x)) - x * y)).mean(-1), reduction)


def multi_margin(
    x: Array, target: Array, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean"
) -> Any:
    rows, at = np.atleast_2d(x), np.atleast_1d(target)
    own = np.take_along_axis(rows, at[:, None], 1)
    excess = np.maximum(margin - own + rows, 0) ** p
    excess[np.arange(len(at)), at] = 0
    losses = excess.mean(1) * (1 if weight is None else weight[at])
    return reduced(losses.reshape(target.shape) if x.ndim < 2 else losses, reduction)


def multilabel_margin(x: Array, target: Array, reduction: str = "mean") -> Any:
    def lost(x: Array, target: Array) -> Any:
        own = list(itertools.takewhile(lambda t: t >= 0, target))
        others = [c for c in range(len(x)) if c not in own]
        return sum(max(1 - x[a] + x[b], 0.0) for a in own for b in others) / len(x)

    rows = [lost(*row) for row in zip(np.atleast_2d(x), np.atleast_2d(target), strict=True)]
    losses = np.array(rows) if x.ndim == 2 else np.asarray(rows[0])
    return reduced(losses, reduction)


UNEVEN = Domain(-2.0, 2.3, distinct=True)  # whose distances are no margins
THREE = index([0, 3, 1])
LABELS = index([[0, 2, -1, 1], [3, 3, 1, -1], [-1, 0, 1, 2]])
STEEP = 2048.0  # divided by the deviation of a few values; if those are equal (expanded), by rounding errors
MEAN, VAR = t(4, grad=False), t(4, domain=POSITIVE, grad=False)

# PyTorch has no forward mode over the derivatives of these.
NOT_OVER_REVERSE = ("huber_loss", "soft_margin_loss", "group_norm")

RECORDS = [
    functional(
        "smooth_l1_loss",
        smooth_l1,
        (*pairs(), *reductions(t(3, 4), t(3, 4), beta=0.3), s(t(3, 4), t(3, 4), beta=0.0)),
        domain=DISTINCT,
        edges=(
            # From the border on it is straight.
            Edge(s(given([1.0, 2.0]), given([1.0, 3.0]), reduction="sum"), 2.0, ([0.0, -2.0], [0.0, 2.0])),
            Edge(s(given([0.0]), given([1.0]), reduction="none"), [2.0], ([-2.0], [2.0]), ([0.0], [0.0])),
        ),
        refuses=(*AGAINST_MISUSE, Refusal(s(t(3), t(3), beta=-1.0), RuntimeError, r"negative values for beta")),
        halves=0,
    ),
    functional(
        "huber_loss",
        huber,
        (
            *pairs(),
            *reductions(t(3, 4), t(3, 4), delta=0.3),
            *reductions(t(3, 4), t(3, 4), weight=t(3, 4, domain=CHANCE)),
        ),
        domain=DISTINCT,
        edges=(
            Edge(s(given([0.0]), given([2.0]), reduction="none", delta=2.0), [3.0], ([-6.0], [6.0]), ([0.0], [0.0])),
        ),
        refuses=(
            *AGAINST_MISUSE,
            Refusal(s(t(3), t(3), delta=0.0), RuntimeError, r"non-positive values for delta"),
            Refusal(s(t(3), t(3), weight=t(2)), ValueError, r"same size", r"\(2,\).*\(3,\)"),
        ),
        halves=1,
    ),
    functional(
        "soft_margin_loss",
        lambda x, y, reduction="mean": reduced(np.log1p(np.exp(-x * y)), reduction),
        pairs(grad=False),
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
            Refusal(s(t(2, 3), t(4)), RuntimeError),
        ),
        halves=0,
    ),
    functional(
        "multilabel_soft_margin_loss",
        multilabel,
        (
            *reductions(t(3, 4), t(3, 4, domain=CHANCE, grad=False)),
            *reductions(t(3, 4), t(3, 4, domain=CHANCE, grad=False), t(4, domain=CHANCE, grad=False)),
            s(t(5), t(5, domain=CHANCE, grad=False)),
            s(t(2, 3, 7), t(7, domain=CHANCE, grad=False)),
        ),
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, r"most is not valid"),
            Refusal(s(t(2, 3), t(4)), RuntimeError),
            Refusal(s(t(), t()), IndexError, r"tensor has no dimensions"),
        ),
        halves=4,
    ),
    functional(
        "multi_margin_loss",
        multi_margin,
        tuple(
            x.but(sound=False)
            for x in (
                *reductions(t(3, 4), THREE),
                *reductions(t(3, 4), THREE, p=2, margin=0.3),
                *reductions(t(3, 4), THREE, weight=t(4, domain=POSITIVE, grad=False)),
                s(t(4), index(2)),
                s(t(4), index([2]), 2, reduction="none"),
                s(t(), index(0)),
                s(t(3, 33), index([0, 32, 7])),
            )
        ),
        domain=UNEVEN,
        refuses=(
            Refusal(s(t(3, 4), THREE, reduction="most"), ValueError, BAD_REDUCTION),
            Refusal(s(t(3, 4), THREE, 3), ValueError, r"only p == 1 and p == 2 supported"),
            Refusal(s(t(3, 4), THREE, weight=t(4, 1)), ValueError, r"weight must be one-dimensional"),
            Refusal(
                s(t(3, 4), THREE, weight=t(3)), RuntimeError, r"inconsistent weight size, expected 4 but got \[3\]"
            ),
            Refusal(s(t(3, 0), THREE), RuntimeError, r"Expected non-empty vector or matrix", r"\[3, 0\]"),
            Refusal(s(t(2, 4), THREE), RuntimeError, r"Expected target size \[2\], but got \[3\]"),
            Refusal(s(t(3, 3), THREE), RuntimeError, r"target out of range"),
            Refusal(s(t(3, 4), t(3)), RuntimeError, r"expected scalar type Long but found Double"),
            Refusal(s(t(3, 4), THREE), NotImplementedError, r"multi_margin_loss_cpu_kernel.*'Half'", dtype="float16"),
        ),
    ),
    functional(
        "multilabel_margin_loss",
        multilabel_margin,
        tuple(
            x.but(sound=False)
            for x in (
                *reductions(t(3, 4), LABELS),
                s(t(4), index([1, 2, -1, 0])),
                s(t(4), index([1, 2, -1, 0]), reduction="none"),
                s(t(), index(0)),
                s(t(2, 17), index([[5, 16, *[-1] * 15], [*range(17)]])),
            )
        ),
        domain=UNEVEN,
        refuses=(
            Refusal(s(t(3, 4), LABELS, reduction="most"), ValueError, BAD_REDUCTION),
            Refusal(s(t(3, 0), index([[], [], []])), RuntimeError, r"Expected non-empty vector or matrix"),
            Refusal(
                s(t(2, 4), LABELS), RuntimeError, r"inconsistent target size: \[3, 4\] for input of size: \[2, 4\]"
            ),
            Refusal(s(t(3), index([0, 3, 0])), RuntimeError, r"argument #2 'target' is out of range"),
            Refusal(s(t(3), t(3)), RuntimeError, r"expected scalar type Long but found Double"),
            Refusal(s(t(3), index([0, 1, 2])), NotImplementedError, r"out_frame.*'Half'", dtype="float16"),
        ),
    ),
    functional(
        "binary_cross_entropy",
        bce,
        (*pairs(), *reductions(t(3, 4), t(3, 4), weight=t(4, domain=CHANCE, grad=False))),
        domain=CHANCE,
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
            Refusal(s(given([0.5, 1.5]), t(2)), RuntimeError, r"between 0 and 1"),
            Refusal(s(t(3), t(2)), ValueError, r"Using a target size", r"\(2,\).*\(3,\)"),
            Refusal(s(t(3), t(3, dtype="float32")), RuntimeError, r"Found dtype Float but expected Double"),
        ),
        edges=(Edge(s(given([0.0, 1.0]), given([0.0, 1.0], grad=False), reduction="sum"), 2.0, ([0.0, 0.0],)),),
        halves=0,
    ),
    functional(
        "binary_cross_entropy_with_logits",
        bce_with_logits,
        (
            *pairs(CHANCE),
            *reductions(t(3, 4), t(3, 4, domain=CHANCE), weight=t(3, 1, domain=CHANCE, grad=False)),
            *reductions(t(3, 4), t(3, 4, domain=CHANCE), pos_weight=t(4, domain=POSITIVE, grad=False)),
            s(t(3, 4), t(3, 4), weight=t(4, domain=CHANCE, grad=False), pos_weight=t(4, domain=POSITIVE, grad=False)),
        ),
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
            Refusal(s(t(3), t(2)), ValueError, r"must be the same as input size", r"\(2,\).*\(3,\)"),
            Refusal(s(t(3), t(3), weight=t(2, 3, grad=False)), RuntimeError, r"(?s)2.*3|3.*2"),
        ),
        halves=0,
    ),
    functional(
        "kl_div",
        kl_div,
        (
            *pairs(CHANCE),
            *reductions(t(3, 4), t(3, 4), log_target=True),
            s(t(3, 4), t(3, 4, domain=CHANCE), reduction="batchmean"),
            s(t(3, 4), t(4, domain=CHANCE), reduction="sum"),
        ),
        call=kl_div_quietly,
        edges=(Edge(s(given([1.0, 2.0]), given([0.0, 0.5], grad=False), reduction="sum"), 2.0, ([0.0, -1.0],)),),
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
            Refusal(s(t(2, 3), t(2, 4)), RuntimeError),
        ),
    ),
    functional(
        "margin_ranking_loss",
        margin_ranking,
        (
            *reductions(t(5), t(5), SIGNS),
            *reductions(t(5), t(5), SIGNS, margin=0.5),
            s(t(3, 4), t(3, 4), t(3, 4)),
            s(t(3, 4), t(1, 4), t(3, 1)),
        ),
        domain=DISTINCT,
        refuses=(
            Refusal(s(t(3), t(3), t()), RuntimeError, r"same dimension"),
            Refusal(s(t(3), t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
        ),
        halves=1,
    ),
    functional(
        "hinge_embedding_loss",
        hinge_embedding,
        (*reductions(t(5), SIGNS), *reductions(t(3, 5), SIGNS, margin=0.3)),
        refuses=(
            Refusal(s(t(3), t(2)), RuntimeError),
            Refusal(s(t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
        ),
        halves=1,
    ),
    functional(
        "cosine_embedding_loss",
        cosine_embedding,
        (
            *reductions(t(5, 3), t(5, 3), SIGNS),
            *reductions(t(5, 3), t(5, 3), SIGNS, margin=0.3),
            s(t(3), t(3), given(1.0, grad=False)).but(layouts=("transposed", "stepped")),
        ),
        refuses=(
            Refusal(s(t(2, 3), t(2, 3), t(2, 2)), RuntimeError, r"multi-target not supported"),
            Refusal(s(t(3), t(3), t(3)), RuntimeError, r"1D target tensor expects 2D"),
        ),
        halves=10,
    ),
    functional(
        "triplet_margin_loss",
        triplet,
        (
            *reductions(t(5, 3), t(5, 3), t(5, 3)),
            *reductions(t(5, 3), t(5, 3), t(5, 3), margin=0.5, swap=True),
            s(t(5, 3), t(5, 3), t(1, 3), p=3),
            s(t(3), t(3), t(3)),
        ),
        refuses=(
            Refusal(s(t(3), t(1, 3), t(3)), RuntimeError, r"same number of dimensions"),
            Refusal(s(t(3), t(3), t(3), margin=0.0), ValueError, r"greater than 0"),
        ),
        complex=True,
        halves=16,
    ),
    functional(
        "gaussian_nll_loss",
        gaussian,
        (
            *reductions(t(3, 4), t(3, 4), t(3, 4, domain=POSITIVE)),
            s(t(3, 4), t(3, 4), t(3, domain=POSITIVE), full=True),
            s(t(3, 4), t(3, 4), t(3, 1, domain=POSITIVE)),
            s(t(3, 4), t(3, 4), 0.5),
        ),
        refuses=(
            Refusal(s(t(3), t(3), t(2, domain=POSITIVE)), ValueError, r"incorrect size", r"\(2,\).*\(3,\)"),
            Refusal(s(t(3), t(3), -1.0), ValueError, r"negative"),
            Refusal(s(t(3), t(3), 1.0, reduction="most"), ValueError, r"most is not"),
        ),
        halves=2,
    ),
    functional(
        "poisson_nll_loss",
        poisson,
        (
            *pairs(POSITIVE),
            *reductions(t(3, 4, domain=POSITIVE), t(3, 4, domain=POSITIVE), log_input=False),
            s(t(3, 4), t(3, 4, domain=POSITIVE), full=True),
        ),
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, BAD_REDUCTION),
            Refusal(s(t(2, 3), t(2, 4)), RuntimeError),
        ),
        halves=67,
    ),
    functional(
        "cosine_similarity",
        cosine,
        (
            s(t(3, 4), t(3, 4)),
            s(t(3, 4), t(1, 4), dim=0),
            s(t(2, 3, 5), t(3, 5), -1),
            s(t(4), t(4), dim=0),
            s(t(0, 4), t(0, 4)),
            s(t(3, 17), t(3, 17)),
        ),
        refuses=(
            Refusal(s(t(3), t(3), dim=2), IndexError, r"2"),
            Refusal(s(t(3), t(2), dim=0), RuntimeError),
            Refusal(s(index([1, 2]), index([1, 2]), dim=0), RuntimeError, r"floating point.*Long"),
        ),
        halves=40,  # differences of products of halves may cancel
    ),
    functional(
        "pairwise_distance",
        distance,
        (
            s(t(3, 4), t(3, 4)),
            s(t(3, 4), t(4)),
            s(t(4), t(3, 4), 3.0),
            s(t(3, 4), t(3, 4), p=1.0, keepdim=True),
            s(t(4), t(4)),
            s(t(0, 4), t(0, 4)),
            s(t(3, 33), t(3, 33)),
        ),
        domain=DISTINCT,
        refuses=(Refusal(s(t(3), t(2)), RuntimeError),),
        complex=True,
        halves=1,
    ),
    functional(
        "normalize",
        lambda x, p=2.0, dim=1, eps=1e-12: x / np.maximum(vector_norm(x, p, dim, True), eps),
        (
            s(t(3, 4)),
            s(t(3, 4), dim=0),
            s(t(2, 3, 5), 3.0, -1),
            s(t(3, 4), p=1.0),
            s(t(4), dim=0),
            s(t(0, 4)),
            s(t(3, 4), eps=10.0),
            s(t(3, 33)),
        ),
        out=True,
        edges=(Edge(s(given([[0.0, 0.0]]), eps=0.5), [[2.0, 3.0]], ([[4.0, 6.0]],)),),
        refuses=(Refusal(s(t(3)), IndexError, r"1"), Refusal(s(index([[1, 2]])), RuntimeError, r"Long")),
        complex=True,
        halves=1,
    ),
    functional(
        "batch_norm",
        batch_norm,
        (
            s(t(3, 4), MEAN, VAR),
            s(t(3, 4, 2), MEAN, VAR, t(4), t(4)),
            s(t(2, 4, 3, 5), MEAN, VAR, t(4)),
            s(t(3, 4), None, None, training=True),
            s(t(3, 4, 2), None, None, t(4), t(4), training=True),
            s(t(2, 4, 3, 5), None, None, t(4), training=True, eps=0.1),
            s(t(9, 1), None, None, t(1), t(1), training=True),
            s(t(33, 17), None, None, t(17), t(17), training=True).but(layouts=("transposed", "stepped")),
            s(t(70, 130), None, None, t(130), t(130), training=True).but(layouts=()),
            s(t(35, 9, 2), None, None, t(9), t(9), training=True).but(layouts=()),
            s(t(35, 9, 2), t(9, grad=False), t(9, domain=POSITIVE, grad=False), t(9), t(9)).but(layouts=()),
        ),
        slack=STEEP,
        refuses=(
            Refusal(s(t(1, 4), None, None, training=True), ValueError, r"more than 1 value per channel"),
            Refusal(s(t(2, 4), None, None), RuntimeError, r"running_mean must be defined"),
            Refusal(s(t(2, 4), t(3), t(4)), RuntimeError, r"running_mean should contain 4 elements not 3"),
            Refusal(s(t(2, 4), MEAN, VAR, t(3)), RuntimeError, r"weight should contain 4 elements not 3"),
            Refusal(s(t(2, 4), None, None, training=True, eps=0.0), ValueError, r"eps must be positive"),
        ),
        halves=0,
    ),
    functional(
        "instance_norm",
        instance_norm,
        (
            s(t(3, 4, 5)),
            s(t(2, 4, 3, 2), weight=t(4), bias=t(4)),
            s(t(1, 1, 17), weight=t(1)),
            s(t(2, 4, 3), MEAN, VAR, use_input_stats=False),
            s(t(2, 4, 3), MEAN, VAR, t(4), t(4), use_input_stats=False),
        ),
        slack=STEEP,
        refuses=(
            Refusal(s(t(2, 4, 1)), ValueError, r"more than 1 spatial element"),
            Refusal(s(t(2, 4, 3), use_input_stats=False), RuntimeError, r"running_mean and running_var"),
        ),
        halves=0,
    ),
    functional(
        "group_norm",
        group_norm,
        (
            s(t(3, 4), 2),
            s(t(3, 4), 1, t(4), t(4)),
            s(t(2, 4, 3), 2, t(4)),
            s(t(2, 6, 3, 2), 3, t(6), t(6)),
            s(t(2, 4, 3), 4, eps=0.1),
            s(t(1, 17, 9), 1, t(17), t(17)),
        ),
        slack=STEEP,
        refuses=(
            Refusal(s(t(2, 3), 2), RuntimeError, r"divisible by num_groups.*\[2, 3\]"),
            Refusal(s(t(3), 1), RuntimeError, r"at least 2 dimensions"),
            Refusal(s(t(1, 4), 4), ValueError, r"more than 1 value per channel"),
            Refusal(s(t(2, 4, 3), 2, t(3)), RuntimeError, r"Expected weight to be a vector.*\[3\].*\[2, 4, 3\]"),
        ),
        halves=0,
    ),
    functional(
        "rms_norm",
        rms_norm,
        (
            s(t(3, 4), (4,)).but(dtypes=("float64",)),
            s(t(3, 4), (4,), t(4), 1e-5),
            s(t(2, 3, 4), (3, 4), t(3, 4), eps=0.1),
            s(t(17, 33), (33,), t(33), eps=1e-5),
            s(t(0, 4), (4,), eps=1e-5),
        ),
        refuses=(
            Refusal(s(t(3, 4), (3,)), RuntimeError, r"shape \[\*(, )?3\].*size ?\[3, 4\]"),
            Refusal(s(t(3, 4), ()), RuntimeError, r"at least 1-dimensional"),
            Refusal(s(t(3, 4), (4,), t(3)), RuntimeError, r"(?s)3.*4|4.*3"),
        ),
        complex=True,
        halves=0,
    ),
    functional(
        "local_response_norm",
        local_response_norm,
        (
            s(t(2, 4, 3), 2),
            s(t(2, 4, 3), 3, alpha=0.5, beta=0.5, k=2.0),
            s(t(2, 5, 2, 3), 9, 1.0),
            s(t(2, 4, 3), 1, 1.0),
            s(t(1, 17, 2), 4, 1.0),
        ),
        refuses=(Refusal(s(t(2, 4), 2), ValueError, r"3D or higher"),),
        complex=True,
        halves=1,
    ),
]
RECORDS = [
    replace(r, samples=[x.but(sound=False) for x in r.samples]) if r.short in NOT_OVER_REVERSE else r for r in RECORDS
]
