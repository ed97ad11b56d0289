"""Records of `nn.functional`."""

import math
from typing import Any

import numpy as np

from records.record import (
    ALL,
    DISTINCT,
    NUMBERS,
    OFF_ZERO,
    UGLY,
    UNARY,
    Array,
    Domain,
    Dtype,
    Edge,
    OpRecord,
    Refusal,
    Sample,
    given,
    index,
    s,
    t,
)

LONG = 128.0  # sums of products in another order than NumPy's
FINE = Domain(0.2, 0.9)
CLASSES = index([1, 0, 3, 2, 1])
ONE_IGNORED = index([1, -100, 3, 2, 1])
WEIGHT = t(4, domain=FINE, grad=False)


ALONG = (
    s(t(3, 4), dim=1),
    s(t(2, 3, 5), 0),
    s(t(3, 0), dim=-1),
    s(t(0, 3), dim=1),
    *(s(t(3, n), dim=-1) for n in UGLY if n),
    s(t(3, 4, dtype="float32"), dim=1, dtype=Dtype("float64")).but(result="float64", smooth=False),
)
BAD_DIM = (Refusal(s(t(3, 4), dim=2), IndexError, r"-2.*1"), Refusal(s(t(3, 4), dim="x"), TypeError))


def log_softmax(x: Array, axis: int) -> Array:
    return np.asarray(x - np.log(np.exp(x).sum(axis=axis, keepdims=True)))


def reduced(losses: Array, reduction: str, over: Any = None) -> Any:
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else total / (losses.size if over is None else over)


def nll_loss(x: Array, target: Array, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    axis = 1 if x.ndim > 1 else 0
    kept = target != ignore_index
    at = np.where(kept, target, 0)
    picked = np.take_along_axis(x, np.expand_dims(at, axis), axis).squeeze(axis)
    weights = (np.ones(x.shape[axis]) if weight is None else weight)[at] * kept
    return reduced(-weights * picked, reduction, weights.sum())


def cross_entropy(
    x: Array,
    target: Array,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    axis = 1 if x.ndim > 1 else 0
    logs = log_softmax(x, axis)
    scale = np.ones(x.shape[axis]) if weight is None else weight
    if target.dtype.kind == "f":
        target = target * (1 - label_smoothing) + label_smoothing / x.shape[axis]
        shape = [-1 if k == axis else 1 for k in range(x.ndim)]
        return reduced(-(logs * target * scale.reshape(shape)).sum(axis), reduction, x.size / x.shape[axis])
    kept = target != ignore_index
    over = (scale[np.where(kept, target, 0)] * kept).sum()
    sharp = nll_loss(logs, target, weight, ignore_index, "none")
    shape = [-1 if k == axis else 1 for k in range(x.ndim)]
    flat = -(logs * scale.reshape(shape)).sum(axis) * kept / x.shape[axis]
    return reduced((1 - label_smoothing) * sharp + label_smoothing * flat, reduction, over)


def gelu(x: Array, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))


def layer_norm(x: Array, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    over = tuple(range(x.ndim - len(shape), x.ndim))
    centred = x - x.mean(axis=over, keepdims=True)
    y = centred / np.sqrt((centred**2).mean(axis=over, keepdims=True) + eps)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def linear(x: Array, weight: Array, bias: Any = None) -> Any:
    return x @ weight.T + (0 if bias is None else bias)


def reductions(*sample: Any, **kwargs: Any) -> tuple[Sample, ...]:
    return tuple(s(*sample, **kwargs, reduction=how) for how in ("mean", "sum", "none"))


def functional(name: str, reference: Any, samples: tuple[Sample, ...], **facts: Any) -> OpRecord:
    return OpRecord(
        name=f"nn.functional.{name}", reference=reference, samples=samples, **{"method": False, "slack": LONG} | facts
    )


OUT_OF_CLASSES = Refusal(s(t(2, 3), index([0, 3])), IndexError, r"3.*(out of bounds|out of range)")
BAD_REDUCTION = Refusal(s(t(5, 4), CLASSES, reduction="most"), ValueError, r"most", r"most")

RECORDS = [
    functional(
        "linear",
        linear,
        (
            s(t(2, 3), t(4, 3)),
            s(t(2, 3), t(4, 3), t(4)),
            s(t(3), t(4, 3), t(4)),
            s(t(2, 5, 3), t(4, 3), t(4)),
            s(t(0, 3), t(4, 3), t(4)),
            s(t(17, 9), t(33, 9), t(33)),
            s(t(2, 0), t(4, 0), t(4)),
            s(t(1, 8), t(1, 8)),
        ),
        refuses=(
            Refusal(s(t(2, 3), t(4, 2)), RuntimeError, r"cannot be multiplied \(2x3 and 2x4\)"),
            Refusal(s(t(2, 3), t(4, 3), t(5)), RuntimeError, r"4.*5|5.*4"),
            Refusal(s(t(2, 3), t(4, 3, dtype="float32")), RuntimeError, r"(?i)dtype|double|float"),
        ),
        complex=True,
        halves=2,
    ),
    functional(
        "cross_entropy",
        cross_entropy,
        (
            *reductions(t(5, 4), CLASSES),
            *reductions(t(5, 4), CLASSES, weight=WEIGHT),
            *reductions(t(5, 4), ONE_IGNORED),
            s(t(5, 4), CLASSES, label_smoothing=0.1),
            s(t(5, 4), ONE_IGNORED, weight=WEIGHT, label_smoothing=0.2),
            s(t(5, 4), CLASSES, ignore_index=1),
            s(t(4), index(2)),
            s(t(2, 4, 3), index([[0, 1, 3], [2, 2, 0]])),
            *reductions(t(5, 4), t(5, 4, domain=FINE)),
            s(t(5, 4), t(5, 4, domain=FINE), weight=WEIGHT, label_smoothing=0.1),
            s(t(33, 17), given([k % 17 for k in range(33)], "int64")),
        ),
        edges=(Edge(s(given([[1000.0, 0.0]]), index([1])), 2.0, ([[2.0, -2.0]],)),),
        refuses=(OUT_OF_CLASSES, BAD_REDUCTION, Refusal(s(t(3, 4), CLASSES), ValueError, r"3.*5|5.*3")),
        halves=1,
    ),
    functional(
        "nll_loss",
        nll_loss,
        (
            *reductions(t(5, 4), CLASSES),
            *reductions(t(5, 4), ONE_IGNORED, weight=WEIGHT),
            s(t(4), index(2)),
            s(t(5, 4), CLASSES, ignore_index=1),
            s(t(2, 4, 3), index([[0, 1, 3], [2, 2, 0]])),
        ),
        refuses=(OUT_OF_CLASSES, BAD_REDUCTION, Refusal(s(t(3, 4), CLASSES), ValueError, r"3.*5|5.*3")),
        halves=0,
    ),
    functional(
        "mse_loss",
        lambda x, y, reduction="mean": reduced((x - y) ** 2, reduction),
        (*reductions(t(3, 4), t(3, 4)), *reductions(t(33), t(33)), s(t(), t()), s(t(0), t(0), reduction="sum")),
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, r"most"),
            Refusal(s(t(2, 3), t(2, 4)), (RuntimeError, UserWarning)),
        ),
        halves=0,
    ),
    functional(
        "l1_loss",
        lambda x, y, reduction="mean", weight=1: reduced(
            weight * np.abs(x - y), reduction, np.broadcast_to(weight, x.shape).sum()
        ),
        (
            *reductions(t(3, 4), t(3, 4)),
            *reductions(t(33), t(33)),
            s(t(), t()),
            s(t(0), t(0), reduction="sum"),
            s(t(3, 4), t(3, 4), weight=t(3, 4, domain=FINE, grad=False)),
        ),
        domain=DISTINCT,
        edges=(
            Edge(
                s(given([1.0, 2.0, 3.0]), given([1.0, 0.0, 5.0]), reduction="sum"),
                2.0,
                ([0.0, 2.0, -2.0], [0.0, -2.0, 2.0]),
            ),
        ),
        refuses=(
            Refusal(s(t(3), t(3), reduction="most"), ValueError, r"most"),
            Refusal(s(t(2, 3), t(2, 4)), (RuntimeError, UserWarning)),
        ),
        complex=True,
        halves=1,
    ),
    functional(
        "one_hot",
        lambda at, num_classes=-1: np.eye(at.max() + 1 if num_classes < 0 else num_classes, dtype=np.int64)[at],
        (
            s(index([0, 2, 1])),
            s(index([[0, 2], [1, 1]]), 4),
            s(index(1), num_classes=3),
            s(given(np.zeros((0,)), "int64"), 3),
            s(index([16, 0, 5])),
        ),
        differentiable=False,
        result="int64",
        refuses=(
            Refusal(s(index([3]), 3), RuntimeError, r"(?i)smaller than num_classes"),
            Refusal(s(index([-1])), RuntimeError, r"(?i)non-negative"),
            Refusal(s(t(3)), RuntimeError, r"(?i)index tensor"),
            Refusal(s(given(np.zeros((0,)), "int64")), RuntimeError, r"(?i)infer|empty"),
        ),
    ),
    functional(
        "relu",
        lambda x, inplace=False: np.maximum(x, 0),
        (*UNARY, s(t(3, 4), inplace=True)),
        call=lambda rg, x, inplace=False: rg.nn.functional.relu(x.clone(), inplace),
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        edges=(Edge(s(given([0.0, -2.0, 3.0])), [2.0, 3.0, 5.0], ([0.0, 0.0, 5.0],)),),
        halves=0,
    ),
    functional("tanh", np.tanh, UNARY, dtypes=ALL, result="float", halves=0),
    functional("sigmoid", lambda x: 1 / (1 + np.exp(-x)), UNARY, dtypes=ALL, result="float", halves=0),
    functional("softmax", lambda x, dim, dtype=None: np.exp(log_softmax(x, dim)), ALONG, refuses=BAD_DIM, halves=0),
    functional("log_softmax", lambda x, dim, dtype=None: log_softmax(x, dim), ALONG, refuses=BAD_DIM, halves=0),
    functional("softmin", lambda x, dim, dtype=None: np.exp(log_softmax(-x, dim)), ALONG, refuses=BAD_DIM, halves=0),
    functional(
        "gelu",
        gelu,
        (
            s(t(3, 4)),
            s(t()),
            s(t(0)),
            *(s(t(n)) for n in (1, 7, 8, 9, 16, 17, 33)),
            s(t(3, 4), approximate="tanh"),
            s(t(17), approximate="tanh"),
        ),
        out=True,
        refuses=(Refusal(s(t(3), approximate="erf"), RuntimeError, r"approximate", r"erf"),),
        halves=0,
    ),
    functional(
        "layer_norm",
        layer_norm,
        (
            s(t(3, 4), (4,)),
            s(t(3, 4), (4,), t(4), t(4)),
            s(t(3, 4), (4,), t(4)),
            s(t(3, 4), (4,), None, t(4)).but(sound=False),
            s(t(2, 3, 4), (3, 4), t(3, 4), t(3, 4)),
            s(t(17, 33), (33,), t(33), t(33)),
            s(t(0, 4), (4,), t(4), t(4)),
            s(t(3, 8), (8,), eps=0.1),
            s(t(9), (9,)),
        ),
        refuses=(
            Refusal(s(t(3, 4), (3,)), RuntimeError, r"shape \[\*, 3\].*size ?\[3, 4\]"),
            Refusal(s(t(3, 4), (4,), t(3)), RuntimeError, r"(?s)3.*4|4.*3"),
        ),
        halves=0,
    ),
    functional(
        "embedding",
        lambda at, weight, padding_idx=None: weight[at],
        (
            s(index([1, 0, 3]), t(4, 3)),
            s(index([[1, 1], [1, 3]]), t(4, 3)),
            s(index(2), t(4, 3)),
            s(given(np.zeros((0,)), "int64"), t(4, 3)).but(sound=False),
            s(index([16, 0, 16, 5]), t(17, 9)),
            s(given([3, 3], "int32"), t(4, 3)),
        ),
        edges=(
            Edge(s(index([0, 1, 0]), given([[1.0], [2.0]]), padding_idx=0), [[3.0], [5.0], [7.0]], ([[0.0], [5.0]],)),
        ),
        refuses=(
            Refusal(s(index([4]), t(4, 3)), IndexError, r"(?i)index out of range"),
            Refusal(s(index([4]), t(4, 3), max_norm=1.0), IndexError, r"(?i)index.*out of range"),
            Refusal(s(index([0]), index([[1, 2]]), max_norm=1.0), RuntimeError, r"floating point or complex.*Long"),
            Refusal(s(t(2), t(4, 3)), RuntimeError, r"(?i)int|long|indices"),
            Refusal(s(index([1]), t(4)), RuntimeError, r"2-?[dD]|weight"),
        ),
        halves=0,
    ),
    functional(
        "dropout",
        lambda x, p=0.5, training=True: x if not training or p == 0 else np.zeros_like(x),
        (
            s(t(3, 4), training=False),
            s(t(3, 4), 0.0),
            s(t(3, 4), 1.0),
            s(t(0, 3), 0.5),
            *(s(t(n), 0.3).but(values=False) for n in (1, 7, 16, 33)),
            s(t(3, 4)).but(values=False),
        ),
        seed=5,
        layouts=False,
        refuses=(
            Refusal(s(t(3), 1.5), ValueError, r"between 0 and 1.*1\.5|1\.5.*between 0 and 1"),
            Refusal(s(t(3), -0.1), ValueError, r"-0\.1"),
        ),
        halves=1,
    ),
]
