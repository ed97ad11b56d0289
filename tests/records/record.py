"""What a record says about an op: where it is, what it computes, what it accepts and what it refuses.

A record is a row of a table. It holds no test: `test_records.py` reads the rows and checks every claim. Shapes and
constants of a call are a `Sample`, `s(t(3, 1), t(4), dim=1)`; numbers are drawn when a test runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FLOATS = ("float64", "float32")
COMPLEX = ("complex128", "complex64")
HALVES = ("bfloat16", "float16")
STORED = ("uint16", "uint32", "uint64", "complex32")  # no op has loops of its own for them
DIFFERENTIABLE = FLOATS + COMPLEX
INTS = ("uint8", "int8", "int16", "int32", "int64")
NUMBERS = FLOATS + INTS
ALL = (*NUMBERS, "bool")
LAYOUTS = ("transposed", "stepped", "expanded")

# Around the lengths at which vector loops change their path, and nothing at all.
UGLY = (0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33)


@dataclass(frozen=True)
class Domain:
    """Where the inputs of an op lie: away from its kinks and poles, so that differences exist."""

    low: float = -2.0
    high: float = 2.0
    signed: bool = False  # a random sign in front: a band around zero is left out
    distinct: bool = False  # no two entries near each other, within a tensor or across two
    ints: tuple[int, int] = (-4, 5)
    imaginary: float = 1.0  # how far complex numbers are off the reals

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: str, position: int) -> Array:
        if dtype == "bool":
            return np.asarray(rng.random(shape) < 0.5)
        if dtype in COMPLEX:
            imaginary = rng.uniform(-self.imaginary, self.imaginary, shape)
            return np.asarray(self.draw(rng, shape, "float64", position) + 1j * imaginary, dtype)
        if dtype not in FLOATS:
            low, high = self.ints
            whole = np.asarray(rng.integers(max(low, 0) if dtype == "uint8" else low, high, shape))
            return np.where(whole == 0, 1, whole).astype(dtype) if self.signed else whole.astype(dtype)
        values: Array = np.asarray(rng.random(shape))
        if self.distinct:
            values = (rng.permutation(values.size).reshape(shape) + 0.21 + 0.37 * position) / max(values.size, 1)
        values = self.low + (self.high - self.low) * values
        sign = rng.choice([-1.0, 1.0], shape) if self.signed else 1.0
        return np.asarray(values * sign, dtype)


REAL = Domain()
POSITIVE = Domain(0.3, 3.0, ints=(1, 5))
OFF_ZERO = Domain(0.2, 2.0, signed=True)
DISTINCT = Domain(distinct=True)


@dataclass(frozen=True)
class T:
    """A tensor argument. Without `dtype` it takes the dtype under test; `values` fixes its numbers."""

    shape: tuple[int, ...]
    dtype: str | None = None
    domain: Domain | None = None
    values: Any = None
    grad: bool = True

    def draw(self, rng: np.random.Generator, dtype: str, domain: Domain, position: int) -> Array:
        dtype = self.dtype or dtype
        if self.values is not None:
            return np.array(self.values, dtype)
        return (self.domain or domain).draw(rng, self.shape, dtype, position)

    @property
    def fixed(self) -> bool:
        return self.values is not None or self.dtype not in (None, *DIFFERENTIABLE)


def t(*shape: int, dtype: str | None = None, domain: Domain | None = None, grad: bool = True) -> T:
    """A tensor of this shape with random numbers."""
    return T(shape, dtype, domain, None, grad)


def given(values: Any, dtype: str | None = None, grad: bool = True) -> T:
    """A tensor of these numbers."""
    return T(np.shape(values), dtype, None, values, grad)


def index(values: Any) -> T:
    return given(values, "int64")


def mask(values: Any) -> T:
    return given(values, "bool")


@dataclass(frozen=True)
class Dtype:
    """A dtype as an argument: the package's own object in a call, NumPy's in the reference."""

    name: str


@dataclass(frozen=True)
class Sample:
    """One call. `result` and `dtypes` override the record's."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    dtypes: tuple[str, ...] | None = None
    values: bool = True  # False: the reference tells shape and dtype only
    smooth: bool = True  # False: differences do not exist or are too coarse; an `Edge` tells the gradient
    sound: bool = True  # False: PyTorch fails here (out=, forward mode, second order): only retrograd is held to it
    layouts: tuple[str, ...] = LAYOUTS  # without "expanded": equal entries, which it makes, have no derivative

    def but(self, **changes: Any) -> Sample:
        return replace(self, **changes)

    def __str__(self) -> str:
        parts = [_brief(a) for a in self.args] + [f"{k}={_brief(v)}" for k, v in self.kwargs.items()]
        return "(" + ",".join(parts) + ")"


def s(*args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs)


def _brief(value: Any) -> str:
    if isinstance(value, T):
        return "x".join(map(str, value.shape)) + (f":{value.dtype}" if value.dtype else "") if value.shape else "0d"
    if isinstance(value, tuple | list):
        return "[" + ",".join(map(_brief, value)) + "]"
    if isinstance(value, slice):
        return ":".join("" if v is None else str(v) for v in (value.start, value.stop, value.step))
    return value.name if isinstance(value, Dtype) else str(value)


@dataclass(frozen=True)
class Refusal:
    """A call that must raise. `says` holds everywhere; `ours` only where the message is retrograd's own.

    `ours` is searched too, for the facts and shapes that the message tells. Where PyTorch's words print a shape in
    their own way, `2x3` or `[2, 3]`, ours keep it; elsewhere it is printed as `(2, 3)`. The message always names the
    op.
    """

    sample: Sample
    error: type[Exception] | tuple[type[Exception], ...]
    says: str | None = None
    ours: str = ""
    inplace: bool = False  # the in-place method refuses, while the function may accept
    dtype: str = "float64"
    sound: bool = True  # False: PyTorch raises, but changes its inputs


@dataclass(frozen=True)
class Edge:
    """A point where the derivative is a convention: kinks, ties, poles. Cotangent and gradients are given.

    An infinite cotangent tells a result that is cut off and passes none of it from a slope of 0, which makes it NaN.
    """

    sample: Sample
    cotangent: Any
    grads: tuple[Any, ...]
    again: tuple[Any, ...] | None = None  # the gradients of the sum of `grads`: what second derivatives are there


@dataclass(frozen=True, kw_only=True)
class OpRecord:
    name: str  # in the roster, and where the function is: "mul", "nn.functional.linear", "Tensor.view"
    reference: Callable[..., Any]  # NumPy, written from the definition
    samples: Sequence[Sample]
    covers: tuple[str, ...] = ()  # further roster names that this record covers
    called: str = ""  # in messages, if not the last part of the name
    call: Callable[..., Any] | None = None  # call(rg, *args): when the name alone is no pure function
    domain: Domain = REAL
    dtypes: tuple[str, ...] = FLOATS
    # Of each output: "same" as the inputs, "bool", "int64", "float" (integers become float32), "sum" (integers become
    # int64), "truth" (bool, but uint8 stays), or "reference" (what the reference returns).
    result: str | tuple[str, ...] = "same"
    differentiable: bool = True
    # Complex numbers are taken, wherever a sample does not name dtypes; the reference says what results are.
    complex: bool = False
    # Halves are taken: the result is that in float32, rounded, or so many last places off (sums).
    halves: int | None = None
    slack: float = 8.0  # the forward error allowed, in units of the dtype's last place
    method: bool = True
    inplace: bool = False
    out: bool = False
    operator: Callable[..., Any] | None = None
    view: bool = False  # the outputs share storage and version with the first input
    seed: int | None = None  # for random ops: set before each call
    layouts: bool = True
    # The result, or its shape, depends on numbers in Python: not for batches. Of all tensors, or of those at these
    # positions that are integers or masks of integers.
    reads: bool | tuple[int, ...] = False
    loops: bool = False  # it has no batching rule, nor has torch: a batch warns, and runs it once for each entry
    sparse: bool = False  # it makes sparse tensors on the way, of which there are no batches
    edges: tuple[Edge, ...] = ()
    refuses: tuple[Refusal, ...] = ()
    # What PyTorch's op lacks, so that only retrograd is held to it: "inplace", derivatives of the in-place form; "out",
    # the refusal to record the `out=` form.
    lacks: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.covers)

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def inplace_method(self) -> str:
        return self.short if self.short.endswith("_") else self.short + "_"


def ugly(arity: int, *rest: Any, **kwargs: Any) -> tuple[Sample, ...]:
    """One call per ugly length, with `arity` vectors of that length."""
    return tuple(s(*(t(n) for _ in range(arity)), *rest, **kwargs) for n in UGLY)


UNARY = (s(t(3, 4)), s(t()), s(t(2, 0, 3)), s(t(2, 3, 5)), *ugly(1))
BINARY = (
    s(t(3, 4), t(3, 4)),
    s(t(3, 1), t(4)),
    s(t(), t(2, 3)),
    s(t(2, 3), t()),
    s(t(), t()),
    s(t(0, 3), t(0, 3)),
    s(t(0, 3), t(1)),
    s(t(2, 1, 3), t(4, 1)),
    s(t(33), t(1)),
    *ugly(2),
)
