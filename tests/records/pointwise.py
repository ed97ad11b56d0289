"""Records of the elementwise ops."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from records.record import (
    ALL,
    BINARY,
    DISTINCT,
    FLOATS,
    INTS,
    NUMBERS,
    OFF_ZERO,
    POSITIVE,
    REAL,
    UNARY,
    Array,
    Domain,
    Edge,
    OpRecord,
    Refusal,
    Sample,
    T,
    given,
    mask,
    s,
    t,
)

MISFIT = (
    Refusal(s(t(2, 3), t(4)), RuntimeError, r"3.*4", r"\(2, 3\).*\(4,\)"),
    Refusal(s(t(2, 3), t(3, 2)), RuntimeError),
    Refusal(s(t(2, 3), "x"), TypeError),
)


def unary(name: str, reference: Callable[..., Any], **facts: Any) -> OpRecord:
    merged: dict[str, Any] = {"samples": UNARY, "out": True, "inplace": True} | facts
    return OpRecord(name=name, reference=reference, **merged)


def smooth(name: str, reference: Callable[..., Any], **facts: Any) -> OpRecord:
    """A function on the reals: integers become float32, and do not fit back in place."""
    refuses = (Refusal(s(t(3, domain=POSITIVE)), RuntimeError, r"can't be cast", dtype="int64", inplace=True),)
    return unary(name, reference, **{"dtypes": ALL, "halves": 0, "result": "float", "refuses": refuses} | facts)


def elementary(name: str, reference: Callable[..., Any], **facts: Any) -> OpRecord:
    """A function on the reals and of complex numbers."""
    return smooth(name, reference, complex=True, **facts)


def no_complex(words: str, *more: T) -> Refusal:
    """Complex numbers are refused in PyTorch's words, as what they are not supported or not implemented for."""
    return Refusal(s(t(3), *more), RuntimeError, words, dtype="complex64")


def binary(name: str, reference: Callable[..., Any], **facts: Any) -> OpRecord:
    growing = Refusal(s(t(3), t(2, 3)), RuntimeError, r"doesn't match the broadcast shape", inplace=True)
    merged: dict[str, Any] = {"samples": BINARY, "dtypes": ALL, "halves": 0, "inplace": True} | facts
    more = merged.pop("refuses", ())
    refuses = (*MISFIT, growing, *more) if merged["inplace"] else (*MISFIT, *more)
    return OpRecord(name=name, reference=reference, out=True, refuses=refuses, **merged)


def comparison(name: str, reference: Callable[..., Any], op: Callable[..., Any] | None = None) -> OpRecord:
    samples = (*BINARY, s(t(3, 4), 1), s(t(5), given([0, 1, 2, 3, 4])))
    return binary(name, reference, samples=samples, result="bool", differentiable=False, operator=op)


def order(name: str, reference: Callable[..., Any], op: Callable[..., Any]) -> OpRecord:
    refuses = (Refusal(s(t(3), t(3)), NotImplementedError, r"not implemented for 'ComplexDouble'", dtype="complex128"),)
    record = comparison(name, reference, op)
    return replace(record, refuses=(*record.refuses, *refuses))


def logical(name: str, reference: Callable[..., Any]) -> OpRecord:
    return binary(name, reference, complex=True, result="bool", differentiable=False, domain=Domain(ints=(-1, 2)))


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def add(a: Any, b: Any, alpha: Any = 1) -> Any:
    return a + b if alpha == 1 else a + np.multiply(alpha, b)


def divide(a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return np.floor_divide(a, b)
    quotient = np.divide(a, b)
    return np.trunc(quotient) if rounding_mode == "trunc" else quotient


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    low, high = (-np.inf if min is None else min), (np.inf if max is None else max)
    return np.minimum(np.maximum(x, low), high)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    a, b = (np.asarray(x, None if np.iscomplexobj(x) else float) for x in (a, b))
    near = np.less_equal(np.abs(a - b), atol + rtol * np.abs(b))
    return (near & np.isfinite(b)) | (np.asarray(a) == b) | (equal_nan & np.isnan(a) & np.isnan(b))


def whole(judge: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **how: np.asarray(judge(*args, **how))


def told(name: str) -> Callable[..., Any]:
    """An op that answers with a Python bool, as an op with a tensor; function and method must agree."""

    def call(rg: Any, x: Any, *args: Any, **how: Any) -> Any:
        answer = getattr(rg, name)(x, *args, **how)
        assert isinstance(answer, bool)
        assert isinstance(x, rg.Tensor)
        assert getattr(x, name)(*args, **how) is answer
        return rg.tensor(answer)

    return call


def bitwise(name: str, reference: Callable[..., Any], op: Callable[..., Any]) -> OpRecord:
    return OpRecord(
        name=name,
        reference=reference,
        samples=(*BINARY, s(t(3, 4), 6).but(dtypes=INTS), s(mask([True, False]), True).but(dtypes=("bool",))),
        dtypes=(*INTS[::-1], "bool"),
        differentiable=False,
        operator=op,
        inplace=True,
        out=True,
        refuses=(
            Refusal(s(t(2, 3), t(4)), RuntimeError, r"3.*4", r"\(2, 3\).*\(4,\)", dtype="int64"),
            Refusal(s(t(3), t(2, 3)), RuntimeError, r"doesn't match the broadcast shape", inplace=True, dtype="int8"),
            Refusal(s(t(3), t(3)), NotImplementedError, r"not implemented for 'Double'"),
            Refusal(s(t(2, 3), "x"), TypeError, dtype="int64"),
            Refusal(s(2, 3), TypeError),
        ),
    )


def shift(name: str, reference: Callable[..., Any], op: Callable[..., Any]) -> OpRecord:
    record = bitwise(name, reference, op)
    samples = tuple(x for x in record.samples if x.dtypes != ("bool",))
    floats = (Refusal(s(t(3), t(3)), NotImplementedError, r"shift_cpu.*not implemented for 'Double'"),)
    truth = (Refusal(s(t(3), t(3)), NotImplementedError, r"shift_cpu.*not implemented for 'Bool'", dtype="bool"),)
    others = tuple(r for r in record.refuses if r.error is not NotImplementedError)
    return replace(
        record, samples=samples, dtypes=INTS[::-1], domain=Domain(ints=(0, 6)), refuses=(*others, *floats, *truth)
    )


def rounding(name: str, reference: Callable[..., Any], *more: Sample, **facts: Any) -> OpRecord:
    edges = (Edge(s(given([1.0, 2.5, -0.5, 0.0])), [2.0, 3.0, 5.0, 7.0], ([0.0, 0.0, 0.0, 0.0],)),)
    ties = s(given([-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 1e20, np.inf, np.nan])).but(dtypes=FLOATS, smooth=False)
    domain = Domain(1.05, 1.45, signed=True)  # off the integers and off the halves
    return unary(
        name,
        reference,
        samples=(*UNARY, ties, *more),
        domain=domain,
        dtypes=NUMBERS,
        halves=0,
        edges=edges,
        **{"refuses": (NO_BOOLS,)} | facts,
    )


def predicate(name: str, reference: Callable[..., Any]) -> OpRecord:
    special = given([0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 5e-324])
    samples = (*UNARY, s(special).but(dtypes=FLOATS))
    facts: Any = {"dtypes": ALL, "complex": True, "halves": 0, "result": "bool", "differentiable": False}
    return OpRecord(name=name, reference=reference, samples=samples, **facts)


def bounded(name: str, reference: Callable[..., Any], edges: tuple[Edge, ...]) -> OpRecord:
    """A clamp to one side, by a tensor or a number."""
    samples = (*BINARY, s(t(3, 4), 1), s(t(9), 0.3).but(dtypes=FLOATS), s(t(), -0.5).but(dtypes=FLOATS))
    facts: Any = {"domain": DISTINCT, "dtypes": NUMBERS, "edges": edges, "covers": (f"{name}_",)}
    return binary(name, reference, samples=samples, **facts)


SCALED = (s(t(3, 4), t(3, 4), alpha=3), s(t(3, 4), 2, alpha=-2))
HALF = Domain(0.3, 1.9)
BOOL3 = mask([True, False, True])
NO_BOOLS = Refusal(s(BOOL3), NotImplementedError, r"not implemented for 'Bool'")
SCALAR = (s(t(3, 4), 2),)
# Signs, infinities and zeros as operands of what division leaves.
SIGNED = given([7.0, -7.0, 7.0, -0.0, 1.0, -1.0, np.inf, 1.0])
LEFTOVER = (s(SIGNED, given([3.0, 3.0, -3.0, 2.0, np.inf, np.inf, 2.0, 0.0])).but(dtypes=FLOATS, smooth=False),)
NEAR = (given([1.0, 1.0, np.nan, np.inf, -np.inf, 0.0]), given([1.0 + 1e-9, 1.1, np.nan, np.inf, np.inf, 1e-9]))
CLOSE = (
    s(*NEAR).but(dtypes=FLOATS),
    s(*NEAR, equal_nan=True).but(dtypes=FLOATS),
    s(t(3, 4), t(4), rtol=0.5, atol=0.1).but(dtypes=FLOATS),
    s(t(3, 4), t(4), atol=2.5).but(dtypes=FLOATS),
)
SAME = (
    s(given([1, 2]), given([1, 2])),
    s(given([1.0, np.nan]), given([1.0, np.nan])).but(dtypes=FLOATS),
    s(given([[True, False]]), given([[True, False]])),
)
UNLIKE = (
    Refusal(s(t(2, 3), t(4)), RuntimeError, r"3.*4"),
    Refusal(s(t(3), t(3, dtype="float32")), RuntimeError, r"(?i)Float.*Double|Double.*Float|dtype"),
    Refusal(s(t(3), t(3), rtol=-1.0), RuntimeError, r"rtol"),
    Refusal(s(t(3), t(3), atol=-1.0), RuntimeError, r"atol"),
    Refusal(s(t(3), 2), TypeError),
)
FRACTION: tuple[Sample, ...] = (s(t(3, 4), 0.75).but(dtypes=FLOATS), s(t(17), -1.5).but(dtypes=FLOATS))

BINARIES = [
    binary(
        "add",
        add,
        complex=True,
        operator=operator.add,
        samples=(*BINARY, *FRACTION, *(x.but(dtypes=NUMBERS) for x in SCALED)),
        covers=(),
    ),
    binary(
        "sub",
        lambda a, b, alpha=1: add(a, b, -alpha),
        complex=True,
        operator=operator.sub,
        samples=(*BINARY, *FRACTION, *SCALED),
        dtypes=NUMBERS,
        refuses=(Refusal(s(BOOL3, BOOL3), RuntimeError, r"(?i)bool"),),
    ),
    binary("mul", np.multiply, complex=True, operator=operator.mul, samples=(*BINARY, *FRACTION)),
    binary(
        "div",
        divide,
        complex=True,
        operator=operator.truediv,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        result="float",
        samples=(
            *BINARY,
            *FRACTION,
            *SCALAR,
            s(t(3, 4), t(4), rounding_mode="floor").but(result="same"),
            s(t(3, 4), t(4), rounding_mode="trunc").but(result="same"),
        ),
        refuses=(
            Refusal(s(t(3), t(3), rounding_mode="up"), RuntimeError, r"rounding_mode", r"up"),
            Refusal(s(t(3), t(3)), RuntimeError, r"can't be cast", dtype="int64", inplace=True),
        ),
    ),
    binary(
        "floor_divide",
        np.floor_divide,
        operator=operator.floordiv,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        differentiable=False,  # nor does PyTorch know the derivative of this name
        samples=(
            *BINARY,
            *FRACTION,
            *SCALAR,
            s(given([7.0, -7.0, 0.0, 1.0]), given([-2.0, 2.0, 5.0, 0.0])).but(dtypes=FLOATS),
        ),
        refuses=(Refusal(s(t(3), 0), RuntimeError, r"ZeroDivisionError", dtype="int64"),),
    ),
    binary(
        "remainder",
        np.remainder,
        operator=operator.mod,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        samples=(*BINARY, *FRACTION, *SCALAR, *LEFTOVER),
        edges=(Edge(s(given([5.0, -5.0]), given([2.0, 2.0])), [3.0, 7.0], ([3.0, 7.0], [-6.0, 21.0])),),
        refuses=(
            Refusal(s(t(3), 0), RuntimeError, r"ZeroDivisionError", dtype="int64"),
            Refusal(s(BOOL3, BOOL3), NotImplementedError, r"not implemented for 'Bool'"),
            Refusal(s(7, 2), TypeError),
        ),
    ),
    binary(
        "fmod",
        np.fmod,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        samples=(*BINARY, *FRACTION, *SCALAR, *LEFTOVER),
        edges=(Edge(s(given([5.0, -5.0]), given([2.0, 2.0])), [3.0, 7.0], ([3.0, 7.0], [-6.0, 14.0])),),
        refuses=(
            Refusal(s(t(3), 0), RuntimeError, r"ZeroDivisionError", dtype="int64"),
            Refusal(s(BOOL3, BOOL3), NotImplementedError, r"not implemented for 'Bool'"),
            Refusal(s(7, t(2)), TypeError),
        ),
    ),
    OpRecord(
        name="rsub",
        reference=lambda a, b, alpha=1: np.subtract(b, np.multiply(alpha, a)),
        dtypes=NUMBERS,
        complex=True,
        halves=0,
        method=False,
        samples=(*BINARY, *SCALED, *FRACTION),
        refuses=(
            Refusal(s(t(2, 3), t(4)), RuntimeError, r"4.*3", r"\(4,\).*\(2, 3\)"),
            *MISFIT[1:],
            Refusal(s(BOOL3, BOOL3), RuntimeError, r"(?i)bool"),
        ),
    ),
    bounded(
        "clamp_min",
        np.maximum,
        (
            Edge(s(given([-1.0, 1.0, 2.0]), 1), [2.0, 3.0, 5.0], ([0.0, 3.0, 5.0],)),
            Edge(s(given([1.0, 0.0]), given([1.0, 1.0])), [3.0, 5.0], ([3.0, 0.0], [0.0, 5.0])),
        ),
    ),
    bounded(
        "clamp_max",
        np.minimum,
        (
            Edge(s(given([-1.0, 1.0, 2.0]), 1), [2.0, 3.0, 5.0], ([2.0, 3.0, 0.0],)),
            Edge(s(given([1.0, 2.0]), given([1.0, 1.0])), [3.0, 5.0], ([3.0, 0.0], [0.0, 5.0])),
        ),
    ),
    bitwise("bitwise_and", np.bitwise_and, operator.and_),
    bitwise("bitwise_or", np.bitwise_or, operator.or_),
    bitwise("bitwise_xor", np.bitwise_xor, operator.xor),
    shift("bitwise_left_shift", np.left_shift, operator.lshift),
    shift("bitwise_right_shift", np.right_shift, operator.rshift),
    OpRecord(
        name="isclose",
        reference=isclose,
        dtypes=ALL,
        complex=True,
        halves=0,
        result="bool",
        differentiable=False,
        samples=(*BINARY, *CLOSE),
        refuses=UNLIKE,
    ),
    OpRecord(
        name="allclose",
        reads=True,
        reference=lambda *a, **k: np.all(isclose(*a, **k)),
        call=told("allclose"),
        dtypes=ALL,
        complex=True,
        halves=0,
        result="bool",
        differentiable=False,
        method=False,
        samples=(*BINARY, *CLOSE, *SAME),
        refuses=UNLIKE,
    ),
    OpRecord(
        name="equal",
        reads=True,
        reference=whole(np.array_equal),
        call=told("equal"),
        dtypes=ALL,
        complex=True,
        halves=0,
        result="bool",
        differentiable=False,
        method=False,
        samples=(s(t(3, 4), t(3, 4)), s(t(3), t(3, 1)), s(t(0), t(0, 1)), s(t(), t()), *SAME),
        refuses=(Refusal(s(t(3), 2), TypeError),),
    ),
    binary(
        "pow",
        np.power,
        complex=True,
        operator=operator.pow,
        domain=HALF,
        samples=(*BINARY, s(t(3, 4), 2), s(t(3, 4), 3), s(t(9), 0.5), s(t(9), -1.5), s(t(4), 0), s(t(4), 1)),
        dtypes=FLOATS,
        edges=(
            Edge(s(given([0.0, 0.0, -2.0]), 2.0), [1.0, 3.0, 5.0], ([0.0, 0.0, -20.0],)),
            Edge(s(given([0.0]), 0.0), [2.0], ([0.0],)),
            Edge(s(given([0.0]), 0.5), [2.0], ([np.inf],)),
            Edge(s(given([0.0, 2.0]), given([2.0, 0.0])), [1.0, 3.0], ([0.0, 0.0], [0.0, 3 * np.log(2.0)])),
        ),
        refuses=(Refusal(s(t(3), -1), RuntimeError, r"[Ii]ntegers to negative integer powers", dtype="int64"),),
    ),
    binary(
        "maximum",
        np.maximum,
        domain=DISTINCT,
        inplace=False,
        refuses=(no_complex(r"maximum not implemented for complex tensors", t(3)),),
        edges=(Edge(s(given([1.0, 2.0]), given([1.0, 0.0])), [3.0, 5.0], ([1.5, 5.0], [1.5, 0.0])),),
    ),
    binary(
        "minimum",
        np.minimum,
        domain=DISTINCT,
        inplace=False,
        refuses=(no_complex(r"minimum not implemented for complex tensors", t(3)),),
        edges=(Edge(s(given([1.0, 2.0]), given([1.0, 0.0])), [3.0, 5.0], ([1.5, 0.0], [1.5, 5.0])),),
    ),
    replace(comparison("eq", np.equal, operator.eq), complex=True),
    replace(comparison("ne", np.not_equal, operator.ne), complex=True),
    order("lt", np.less, operator.lt),
    order("le", np.less_equal, operator.le),
    order("gt", np.greater, operator.gt),
    order("ge", np.greater_equal, operator.ge),
    logical("logical_and", np.logical_and),
    logical("logical_or", np.logical_or),
    logical("logical_xor", np.logical_xor),
]

UNARIES = [
    unary(
        "neg",
        np.negative,
        complex=True,
        halves=0,
        operator=operator.neg,
        dtypes=NUMBERS,
        refuses=(Refusal(s(BOOL3), RuntimeError, r"(?i)bool"),),
    ),
    unary(
        "abs",
        np.abs,
        complex=True,
        halves=0,
        operator=operator.abs,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        edges=(Edge(s(given([0.0, -2.0, 3.0])), [2.0, 3.0, 5.0], ([0.0, -3.0, 5.0],)),),
    ),
    unary(
        "sign",
        np.sign,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        halves=0,
        refuses=(no_complex(r"torch.sign is not intended to support complex numbers"),),
        edges=(Edge(s(given([0.0, -2.0, 3.0])), [2.0, 3.0, 5.0], ([0.0, 0.0, 0.0],)),),
    ),
    unary("square", np.square, complex=True, halves=0, dtypes=NUMBERS),
    unary(
        "relu",
        lambda x: np.maximum(x, 0),
        halves=0,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        out=False,
        edges=(Edge(s(given([0.0, -2.0, 3.0])), [2.0, 3.0, 5.0], ([0.0, 0.0, 5.0],)),),
        refuses=(Refusal(s(BOOL3), RuntimeError, r"(?i)bool"),),
    ),
    unary("logical_not", np.logical_not, complex=True, halves=0, dtypes=ALL, result="bool", differentiable=False),
    unary(
        "positive",
        np.positive,
        complex=True,
        halves=0,
        operator=operator.pos,
        out=False,
        inplace=False,
        dtypes=NUMBERS,
        refuses=(Refusal(s(BOOL3), RuntimeError, r"(?i)bool"),),
    ),
    rounding("floor", np.floor, refuses=(NO_BOOLS, no_complex(r"floor is not supported for complex inputs"))),
    rounding("ceil", np.ceil, refuses=(NO_BOOLS, no_complex(r"ceil is not supported for complex inputs"))),
    rounding("trunc", np.trunc, refuses=(NO_BOOLS, no_complex(r"trunc is not supported for complex inputs"))),
    rounding(
        "round",
        np.round,
        *(s(t(3, 4), decimals=n).but(dtypes=FLOATS) for n in (0, 1, 3)),
        s(given([1234.5, -55.0, 45.0, 0.0]), decimals=-1).but(dtypes=FLOATS, smooth=False),
        s(t(17), decimals=2).but(dtypes=FLOATS, smooth=False),
        covers=("special.round",),
        refuses=(
            NO_BOOLS,
            Refusal(s(t(3), decimals=1), NotImplementedError, r"not implemented for 'Long'", dtype="int64"),
            Refusal(s(t(3), 1), TypeError),
        ),
    ),
    predicate("isnan", np.isnan),
    predicate("isinf", np.isinf),
    predicate("isfinite", np.isfinite),
    unary(
        "bitwise_not",
        np.invert,
        operator=operator.invert,
        dtypes=(*INTS[::-1], "bool"),
        differentiable=False,
        refuses=(Refusal(s(t(3)), NotImplementedError, r"'Double'"),),
    ),
    elementary("exp", np.exp),
    elementary(
        "log",
        np.log,
        domain=POSITIVE,
        edges=(Edge(s(given([0.0, 0.5])), [1.0, 2.0], ([np.inf, 4.0],)),),
    ),
    elementary("log1p", np.log1p, covers=("special.log1p",), domain=Domain(-0.7, 2.0, ints=(0, 5))),
    elementary(
        "sqrt",
        np.sqrt,
        domain=POSITIVE,
        edges=(Edge(s(given([0.0, 4.0])), [1.0, 2.0], ([np.inf, 0.5],)),),
    ),
    elementary("rsqrt", lambda x: 1 / np.sqrt(x), domain=POSITIVE),
    elementary("sin", np.sin),
    elementary("cos", np.cos),
    elementary("tanh", np.tanh),
    elementary("sigmoid", sigmoid, covers=("special.expit",)),
    elementary("reciprocal", lambda x: 1 / x, domain=OFF_ZERO),
]

SELECTING = [
    OpRecord(
        name="clamp",
        covers=("clamp_",),
        reference=clamp,
        dtypes=NUMBERS,
        halves=0,
        out=True,
        inplace=True,
        samples=(
            s(t(3, 4), 1, 3),
            s(t(3, 4), -1, 1).but(dtypes=FLOATS),
            s(t(3, 4), min=0.3).but(dtypes=FLOATS),
            s(t(9), max=0.3).but(dtypes=FLOATS),
            s(t(9), 3, 1),
            s(t(3, 4), t(4), t(3, 1)),
            s(t(5), min=t(5)),
            s(t(), -0.5, 0.5).but(dtypes=FLOATS),
            s(t(0, 3), 0, 1),
        ),
        edges=(Edge(s(given([-1.0, 1.0, 2.0, 0.0]), -1, 1), [2.0, 3.0, 5.0, 7.0], ([2.0, 3.0, 0.0, 7.0],)),),
        refuses=(
            Refusal(s(t(3)), (RuntimeError), r"[Aa]t least one|min|max"),
            Refusal(s(t(2, 3), t(4)), RuntimeError, r"3.*4"),
            Refusal(s(t(3), 0.5, t(3)), TypeError, r"number|combination"),
            no_complex(r"clamp is not supported for complex types", t(3), t(3)),
        ),
    ),
    OpRecord(
        name="where",
        reference=np.where,
        dtypes=ALL,
        complex=True,
        halves=0,
        method=False,
        out=True,
        samples=(
            s(t(3, 4, dtype="bool"), t(3, 4), t(3, 4)),
            s(t(3, 1, dtype="bool"), t(4), t()),
            s(t(dtype="bool"), t(2, 3), t(3)),
            s(t(0, 3, dtype="bool"), t(0, 3), t(3)),
            *(s(t(n, dtype="bool"), t(n), t(n)) for n in (1, 7, 16, 33)),
        ),
        edges=(
            Edge(s(mask([True, False]), given([1.0, 2.0]), given([3.0, 4.0])), [5.0, 7.0], ([5.0, 0.0], [0.0, 7.0])),
        ),
        refuses=(
            Refusal(s(mask([True, False]), t(3), t(3)), RuntimeError, r"2.*3"),
            Refusal(s(t(3), t(3), t(3)), RuntimeError, r"(?i)bool"),
        ),
    ),
    OpRecord(
        name="Tensor.where",
        reference=lambda x, condition, other: np.where(condition, x, other),
        dtypes=ALL,
        complex=True,
        halves=0,
        samples=(
            s(t(3, 4), t(3, 4, dtype="bool"), t(3, 4)),
            s(t(4), t(3, 1, dtype="bool"), t()),
            s(t(0, 3), t(3, dtype="bool"), t(1)),
            s(t(3), BOOL3, 2).but(dtypes=NUMBERS),
        ),
        refuses=(
            Refusal(s(t(3), mask([True, False]), t(3)), RuntimeError, r"2.*3|3.*2"),
            Refusal(s(t(3), t(3), t(3)), RuntimeError, r"(?i)bool"),
        ),
    ),
]

RECORDS = [*BINARIES, *UNARIES, *SELECTING]
__all__ = ["REAL", "RECORDS"]
