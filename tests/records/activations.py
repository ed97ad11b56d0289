"""Records of activations."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import (
    NUMBERS,
    OFF_ZERO,
    UGLY,
    UNARY,
    Array,
    Edge,
    OpRecord,
    Refusal,
    Sample,
    given,
    mask,
    s,
    t,
)

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805
CURVED = 64.0  # a few roundings one upon the other, near zeros of the function


def logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def softplus(x: Array, beta: float = 1, threshold: float = 20) -> Array:
    return np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)


def elu(x: Array, alpha: float = 1.0, inplace: bool = False, scale: float = 1.0) -> Array:
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def celu(x: Array, alpha: float = 1.0, inplace: bool = False) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(x / alpha))


def leaky_relu(x: Array, negative_slope: float = 0.01, inplace: bool = False) -> Array:
    return np.where(x > 0, x, negative_slope * x)


def rrelu(x: Array, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Array:
    return leaky_relu(x, (lower + upper) / 2)


def hardtanh(x: Array, low: float = -1.0, high: float = 1.0, inplace: bool = False) -> Array:
    return np.clip(
        x, math.trunc(low) if x.dtype.kind == "i" else low, math.trunc(high) if x.dtype.kind == "i" else high
    )


def threshold(x: Array, at: float, value: float, inplace: bool = False) -> Array:
    return np.where(x > at, x, value)


def softshrink(x: Array, lambd: float = 0.5) -> Array:
    return np.asarray(np.sign(x) * np.maximum(np.abs(x) - lambd, 0))


def glu(x: Array, dim: int = -1) -> Array:
    a, b = np.split(x, 2, dim)
    return np.asarray(a * logistic(b))


def prelu(x: Array, weight: Array) -> Array:
    sizes = [1, weight.size, *[1] * (x.ndim - 2)] if x.ndim > 1 else [1] * x.ndim
    return np.where(x > 0, x, weight.reshape(sizes) * x)


def on_a_copy(name: str) -> Callable[..., Any]:
    """The function on a copy of its input, which it may write to."""
    return lambda rg, x, *args, **kwargs: getattr(rg.nn.functional, name)(x.clone(), *args, **kwargs)


def activation(name: str, reference: Any, *more: Sample, **facts: Any) -> OpRecord:
    """A function of one variable, of tensors of every shape, and of `more` calls."""
    known: dict[str, Any] = {"method": False, "domain": OFF_ZERO, "slack": CURVED, "call": on_a_copy(name)}
    # PyTorch has no derivative of the derivatives of these, or none forward over reverse.
    sound = name not in ("silu", "mish", "hardsigmoid")
    samples = tuple(sample.but(sound=sound) for sample in (*UNARY, *more))
    return OpRecord(name=f"nn.functional.{name}", reference=reference, samples=samples, **known | facts)


INTEGER = Refusal(s(given([1, 2], "int64")), NotImplementedError, r"not implemented for 'Long'")
PLACED = s(t(3, 4), inplace=True)
AT_KINKS = given([-2.0, 0.0, 3.0])
G = [2.0, 3.0, 5.0]
CUT = [math.inf, 3.0, math.nan]

RECORDS = [
    activation(
        "elu",
        elu,
        PLACED,
        s(t(3, 4), 1.5),
        s(t(17), alpha=0.5),
        edges=(Edge(s(AT_KINKS), G, ([2 * math.exp(-2), 3.0, 5.0],), ([2 * math.exp(-2), 0.0, 0.0],)),),
        refuses=(INTEGER,),
        halves=0,
    ),
    activation("elu_", elu, s(t(3, 4), 1.5), refuses=(INTEGER,), halves=0),
    activation(
        "selu",
        lambda x, inplace=False: elu(x, SELU_ALPHA, scale=SELU_SCALE),
        PLACED,
        edges=(
            Edge(s(given([0.0, 3.0])), [3.0, 5.0], ([3 * SELU_ALPHA * SELU_SCALE, 5 * SELU_SCALE],), ([0.0, 0.0],)),
        ),
        refuses=(INTEGER,),
        halves=0,
    ),
    activation("selu_", lambda x: elu(x, SELU_ALPHA, scale=SELU_SCALE), refuses=(INTEGER,), halves=0),
    activation(
        "celu",
        celu,
        PLACED,
        s(t(3, 4), 1.5),
        s(t(17), alpha=-0.5),
        edges=(Edge(s(AT_KINKS, 2.0), G, ([2 * math.exp(-1), 3.0, 5.0],), ([math.exp(-1), 0.0, 0.0],)),),
        refuses=(INTEGER, Refusal(s(t(3), 0.0), RuntimeError, r"alpha cannot be 0")),
        halves=0,
    ),
    activation("celu_", celu, s(t(3, 4), 1.5), refuses=(INTEGER,), halves=0),
    activation("silu", lambda x, inplace=False: x * logistic(x), PLACED, refuses=(INTEGER,), complex=True, halves=0),
    activation("mish", lambda x, inplace=False: x * np.tanh(softplus(x)), PLACED, refuses=(INTEGER,), halves=0),
    activation(
        "softplus",
        softplus,
        s(t(3, 4), 2),
        s(t(3, 4), 1.5, threshold=0.7),
        out=True,
        call=None,
        refuses=(INTEGER,),
        halves=0,
    ),
    activation("logsigmoid", lambda x: np.log(logistic(x)), out=True, call=None, refuses=(INTEGER,), halves=0),
    activation(
        "leaky_relu",
        leaky_relu,
        PLACED,
        s(t(3, 4), 0.25),
        s(t(17), negative_slope=-0.5),
        edges=(Edge(s(AT_KINKS, 0.25), G, ([0.5, 0.75, 5.0],)),),
        refuses=(INTEGER,),
        halves=0,
    ),
    activation(
        "rrelu",
        rrelu,
        PLACED,
        s(t(3, 4), 0.2, 0.6),
        edges=(Edge(s(AT_KINKS, 0.25, 0.75), G, ([1.0, 1.5, 5.0],)),),
        refuses=(
            INTEGER,
            Refusal(s(t(3), 0.5, 0.2), RuntimeError, r"Lower bound should be less than or equal to the upper bound"),
            Refusal(s(t(3), math.nan), RuntimeError, r"rrelu: lower bound must be finite, got nan"),
            Refusal(s(t(3), 0.1, math.inf), RuntimeError, r"rrelu: upper bound must be finite, got inf"),
        ),
        halves=0,
    ),
    activation("rrelu_", rrelu, s(t(3, 4), 0.2, 0.6), refuses=(INTEGER,), halves=0),
    activation("leaky_relu_", leaky_relu, s(t(3, 4), 0.25), refuses=(INTEGER,), halves=0),
    activation(
        "hardtanh",
        hardtanh,
        PLACED,
        s(t(3, 4), -0.5, 1.5),
        dtypes=tuple(d for d in NUMBERS if d != "uint8"),
        edges=(
            Edge(s(given([-1.0, 0.0, 1.0])), G, ([0.0, 3.0, 0.0],)),
            Edge(s(given([-2.0, 0.0, 1.0])), CUT, ([0.0, 3.0, 0.0],)),
        ),
        refuses=(
            Refusal(s(t(3), 2.0, 1.0), ValueError, r"min_val cannot be greater"),
            Refusal(s(mask([True])), RuntimeError, r"Bool"),
        ),
        halves=0,
    ),
    activation("hardtanh_", hardtanh, s(t(3, 4), -0.5, 1.5), halves=0),
    activation(
        "relu6",
        lambda x, inplace=False: np.clip(x, 0, 6),
        PLACED,
        dtypes=NUMBERS,
        edges=(
            Edge(s(given([0.0, 1.0, 6.0])), G, ([0.0, 3.0, 0.0],)),
            Edge(s(given([-1.0, 1.0, 6.0])), CUT, ([0.0, 3.0, 0.0],)),
        ),
        halves=0,
    ),
    activation(
        "hardsigmoid",
        lambda x, inplace=False: np.clip(x + 3, 0, 6) / 6,
        edges=(
            Edge(s(given([-3.0, 4.0, 3.0])), G, ([0.0, 0.0, 0.0],)),
            Edge(s(given([-3.0, 0.0, 4.0])), [math.inf, 0.0, math.nan], ([0.0, 0.0, 0.0],)),
        ),
        refuses=(INTEGER,),
        halves=0,
    ),
    activation(
        "hardswish",
        lambda x, inplace=False: x * np.clip(x + 3, 0, 6) / 6,
        PLACED,
        edges=(
            Edge(s(given([-3.0, 0.0, 3.0])), G, ([0.0, 1.5, 5.0],)),
            Edge(s(given([-4.0, 4.0, -3.0])), CUT, ([0.0, 3.0, 0.0],)),
        ),
        refuses=(INTEGER,),
        halves=0,
    ),
    activation(
        "softshrink",
        softshrink,
        s(t(3, 4), 0.25),
        s(t(17), lambd=1.0),
        out=True,
        call=None,
        refuses=(INTEGER, Refusal(s(t(3), -1.0), RuntimeError, r"lambda must be")),
        edges=(
            Edge(s(given([-0.5, 0.5, 1.0])), G, ([0.0, 0.0, 5.0],)),
            Edge(s(given([0.5, 1.0, 0.0])), CUT, ([0.0, 3.0, 0.0],)),
        ),
        halves=0,
    ),
    activation(
        "hardshrink",
        lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0),
        s(t(3, 4), 0.25),
        s(t(17), lambd=1.0),
        out=True,
        method=True,
        call=None,
        refuses=(INTEGER,),
        edges=(
            Edge(s(given([-0.5, 0.5, 1.0])), G, ([0.0, 0.0, 5.0],)),
            Edge(s(given([0.5, 1.0, 0.0])), CUT, ([0.0, 3.0, 0.0],)),
        ),
        halves=0,
    ),
    OpRecord(
        name="nn.functional.threshold",
        reference=threshold,
        call=on_a_copy("threshold"),
        method=False,
        dtypes=NUMBERS,
        samples=(
            s(t(3, 4), 1, 2),
            s(t(), 1, 2),
            s(t(2, 0), 1, 2),
            *(s(t(n), 0, 3) for n in UGLY),
            s(t(3, 4), 0.1, 20.0, True).but(dtypes=("float64", "float32")),
        ),
        edges=(
            Edge(s(given([1.0, 0.0, 2.0]), 1, 2), G, ([0.0, 0.0, 5.0],)),
            Edge(s(given([1.0, 2.0, 0.0]), 1, 2), CUT, ([0.0, 3.0, 0.0],)),
        ),
        refuses=(Refusal(s(mask([True]), 1, 2), NotImplementedError, r"not implemented for 'Bool'"),),
        halves=0,
    ),
    OpRecord(
        name="nn.functional.threshold_",
        reference=threshold,
        call=on_a_copy("threshold_"),
        method=False,
        samples=(s(t(3, 4), 0.1, 2.0), s(t(17), 0.1, 2.0)),
        halves=0,
    ),
    activation(
        "softsign",
        lambda x: x / (1 + np.abs(x)),
        dtypes=NUMBERS[:2] + NUMBERS[3:],
        result="float",
        call=None,
        complex=True,
        halves=1,
    ),
    activation(
        "tanhshrink", lambda x: x - np.tanh(x), dtypes=NUMBERS, result="float", call=None, complex=True, halves=28
    ),
    OpRecord(
        name="nn.functional.glu",
        reference=glu,
        method=False,
        slack=CURVED,
        samples=(s(t(3, 4)), s(t(4, 3), 0), s(t(2, 6, 3), dim=1), s(t(0, 4)), s(t(3, 0)), *(s(t(2 * n)) for n in UGLY)),
        refuses=(
            Refusal(s(t(3)), RuntimeError, r"Halving dimension must be even"),
            Refusal(s(t()), RuntimeError, r"does not support scalars"),
            Refusal(s(t(4), 3), IndexError, r"3"),
        ),
        halves=0,
    ),
    OpRecord(
        name="nn.functional.prelu",
        reference=prelu,
        domain=OFF_ZERO,
        samples=(
            s(t(3, 4), t(4)),
            s(t(2, 3, 5), t(3)),
            s(t(2, 3, 5), t(1)),
            s(t(5), t(1)),
            s(t(), t()),
            s(t(2, 3), t()),
            s(t(0, 3), t(3)),
            *(s(t(2, n), t(n)) for n in UGLY if n > 1),
        ),
        edges=(Edge(s(AT_KINKS, given([0.25])), G, ([0.5, 0.75, 5.0], [-4.0])),),
        refuses=(
            Refusal(s(t(2, 3), t(2)), RuntimeError, r"= 2 and channel size = 3"),
            Refusal(s(t(2, 3), t(1, 3)), RuntimeError, r"scalar or 1D"),
            Refusal(s(t(), t(2)), RuntimeError, r"zero-dim"),
            Refusal(s(t(3), t(1, dtype="float32")), RuntimeError, r"Type promoting"),
        ),
        halves=0,
    ),
    OpRecord(
        name="nn.functional.gumbel_softmax",
        reference=lambda x, tau=1, hard=False, dim=-1: np.zeros_like(x),
        method=False,
        seed=5,
        layouts=False,
        samples=(
            *(s(t(3, n)).but(values=False) for n in UGLY if n),
            s(t(3, 4), 0.5, dim=0).but(values=False),
            s(t(3, 4), hard=True).but(values=False, smooth=False),
        ),
        refuses=(Refusal(s(t(3), dim=1), IndexError, r"1"),),
    ),
]
