"""Records of functions beyond arithmetic: other bases, angles, three operands, special functions, whole numbers."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from records.pointwise import (
    BOOL3,
    FRACTION,
    MISFIT,
    SCALAR,
    binary,
    elementary,
    no_complex,
    predicate,
    smooth,
    unary,
)
from records.record import (
    ALL,
    BINARY,
    DISTINCT,
    FLOATS,
    INTS,
    NUMBERS,
    OFF_ZERO,
    POSITIVE,
    UNARY,
    Array,
    Domain,
    Edge,
    OpRecord,
    Refusal,
    Sample,
    given,
    s,
    t,
    ugly,
)

UNIT = Domain(-0.9, 0.9, ints=(0, 2))
HALF = Domain(0.1, 0.9, ints=(0, 2))
# Off the integers and off the halves.
BETWEEN = Domain(1.05, 1.45, signed=True)
NOT_FINITE = given([np.nan, np.inf, -np.inf, -2.0])


def each(f: Callable[[float], float], at_poles: float = np.inf) -> Callable[[Any], Array]:
    """A function of one number as a function of arrays."""

    def call(x: float) -> float:
        try:
            return f(x)
        except ValueError:
            return at_poles

    return np.vectorize(call, otypes=[np.float64])


def digamma(x: float) -> float:
    """The series `-euler - 1 / x + sum(x / (k (k + x)))`, its tail by the Euler-Maclaurin formula."""
    if x == 0:
        return -np.inf
    n = 60
    head = sum(1 / (x + k) for k in range(n))
    y = x + n
    return math.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6) - head


def polygamma(n: int, x: Any) -> Any:
    """`(-1)^(n + 1) n!` times the sum of `(x + k)^-(n + 1)`, its tail by the Euler-Maclaurin formula."""
    if n == 0:
        return each(digamma)(x)
    power, terms = n + 1, 100
    head = np.sum([np.power(x + k, -float(power)) for k in range(terms)], axis=0)
    y = x + float(terms)
    tail = y ** (1 - power) / n + y**-power / 2 + power / 12 * y ** -(power + 1)
    tail -= power * (power + 1) * (power + 2) / 720 * y ** -(power + 3)
    return (-1) ** (n + 1) * math.factorial(n) * (head + tail)


def multigamma(x: Any, p: int) -> Any:
    constant = p * (p - 1) / 4 * math.log(math.pi)
    return constant + sum(each(math.lgamma)(np.asarray(x, float) - i / 2) for i in range(p))


def erfinv(y: float) -> float:
    """By bisection, but for the ends."""
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    low, high = -6.0, 6.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return low


def bessel_i(order: int) -> Callable[[Any], Array]:
    """The mean of `exp(x cos a) cos(order a)` over all angles: the rectangle rule is exact for periodic functions."""
    angles = np.arange(64) * (math.pi / 32)

    def call(x: Any) -> Array:
        waves = np.exp(np.multiply.outer(np.asarray(x, float), np.cos(angles)))
        return np.asarray((waves * np.cos(order * angles)).mean(-1))

    return call


def logit(x: Any, eps: float | None = None) -> Any:
    x = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def entropy(x: Any) -> Any:
    return np.where(x == 0, 0, np.where(x < 0, -np.inf, -x * np.log(x)))


def product_with_log(log: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: np.where((np.asarray(x) == 0) & ~np.isnan(y), 0, x * log(np.asarray(y, float)))


def step(x: Any, values: Any) -> Any:
    return np.where(x == 0, values, x > 0)


def lerp(a: Any, b: Any, weight: Any) -> Any:
    return a + weight * (b - a)


def nan_to_num(x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    if np.iscomplexobj(x):
        return nan_to_num(x.real, nan, posinf, neginf) + 1j * nan_to_num(x.imag, nan, posinf, neginf)
    most = np.finfo(x.dtype).max if x.dtype.kind == "f" else 0
    given = zip((np.isnan, np.isposinf, np.isneginf), (nan, posinf, neginf), (0, most, -most), strict=True)
    for judge, number, default in given:
        x = np.where(judge(x), default if number is None else number, x).astype(x.dtype)
    return x


def special(name: str, reference: Callable[..., Any], **facts: Any) -> OpRecord:
    """A smooth function that is in the module `special` only."""
    return smooth(f"special.{name}", reference, **{"method": False, "inplace": False, "refuses": ()} | facts)


DOUBLES: dict[str, Any] = {"halves": None}  # torch takes no halves


def each2(f: Callable[[float, float], float]) -> Callable[[Any, Any], Array]:
    return np.vectorize(f, otypes=[np.float64])


def lower_gamma(a: float, x: float) -> float:
    """The power series, regularised."""
    if x == 0:
        return 0.0
    term = total = 1.0
    for k in range(1, 200):
        term *= x / (a + k)
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a + 1))


def zeta(a: Any, q: Any) -> Any:
    """A sum, its tail by the Euler-Maclaurin formula."""
    terms = 100
    y = q + float(terms)
    tail = y ** (1 - a) / (a - 1) + y**-a / 2 + a / 12 * y ** -(a + 1) - a * (a + 1) * (a + 2) / 720 * y ** -(a + 3)
    return sum((q + k) ** -a for k in range(terms)) + tail


def integral(f: Callable[[Any, Array], Array], until: float, count: int = 4000) -> Callable[[Any], Array]:
    """The mean over equal steps, the ends with half their weight: exact for periodic and for quickly falling `f`."""
    steps = np.linspace(0, until, count + 1)
    weights = np.full(count + 1, until / count)
    weights[[0, -1]] /= 2

    def call(x: Any) -> Array:
        x = np.asarray(x, float)
        return np.asarray(f(x[..., None], steps) @ weights)

    return call


def airy(x: Any) -> Array:
    """The Maclaurin series (DLMF 9.4.1)."""
    x = np.asarray(x, float)
    first, second = np.ones_like(x), x.copy()
    f, g = first.copy(), second.copy()
    for k in range(1, 40):
        first = first * x**3 / ((3 * k - 1) * (3 * k))
        second = second * x**3 / ((3 * k) * (3 * k + 1))
        f, g = f + first, g + second
    return np.asarray(f / (3 ** (2 / 3) * math.gamma(2 / 3)) - g / (3 ** (1 / 3) * math.gamma(1 / 3)))


J = [
    integral(lambda x, a: np.cos(x * np.sin(a)) / math.pi, math.pi),
    integral(lambda x, a: np.cos(a - x * np.sin(a)) / math.pi, math.pi),
]
# Infinite at 0.
K = [
    integral(lambda x, u: np.where(x == 0, np.inf, np.exp(-x * np.cosh(u))), 8.0),
    integral(lambda x, u: np.where(x == 0, np.inf, np.exp(-x * np.cosh(u)) * np.cosh(u)), 8.0),
]


def bessel_y(order: int) -> Callable[[Any], Array]:
    """DLMF 10.8.1, with the logarithm of half the argument and the series of digammas."""

    def call(x: Any) -> Array:
        x = np.asarray(x, float)
        total = 2 / math.pi * np.log(x / 2) * J[order](x) - (2 / (math.pi * x) if order else 0)
        for k in range(40):
            weight = digamma(k + 1) + digamma(k + order + 1)
            power = (-1) ** k * (x / 2) ** (2 * k + order) / math.factorial(k) / math.factorial(k + order)
            total = total - weight * power / math.pi
        return np.where(x == 0, -np.inf, total)  # where terms cancel

    return call


NEAR_ONE: dict[str, Any] = {"domain": POSITIVE, "halves": None}
HALF_AT_ZERO: dict[str, Any] = {"domain": OFF_ZERO, "edges": (Edge(s(given([0.0])), [3.0], ([1.5],)),), "halves": None}
BESSEL: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
    ("bessel_j0", J[0], DOUBLES),
    ("bessel_j1", J[1], HALF_AT_ZERO),
    ("bessel_y0", bessel_y(0), NEAR_ONE),
    ("bessel_y1", bessel_y(1), NEAR_ONE),
    ("modified_bessel_i0", bessel_i(0), DOUBLES),
    ("modified_bessel_i1", bessel_i(1), HALF_AT_ZERO),
    ("modified_bessel_k0", K[0], NEAR_ONE),
    ("modified_bessel_k1", K[1], NEAR_ONE),
    ("scaled_modified_bessel_k0", lambda x: K[0](x) * np.exp(np.asarray(x, float)), NEAR_ONE),
    ("scaled_modified_bessel_k1", lambda x: K[1](x) * np.exp(np.asarray(x, float)), NEAR_ONE),
    (
        "spherical_bessel_j0",
        lambda x: np.sinc(x / math.pi),
        {"domain": OFF_ZERO, "edges": (Edge(s(given([0.0])), [3.0], ([0.0],)),), "halves": None},
    ),
    ("airy_ai", airy, {"differentiable": False, "halves": None}),
]


def polynomial(first: Callable[[Any], Any], following: Callable[..., Any]) -> Callable[[Any, Any], Array]:
    """The recurrence from 1 and the polynomial of degree 1."""

    def one(x: float, n: float) -> float:
        if n < 1:
            return float(n >= 0)
        before, p = 1.0, first(x)
        for k in range(1, int(n)):
            before, p = p, following(k, p, before, x)
        return float(p)

    return each2(one)


TWICE = lambda _, p, before, x: 2 * x * p - before  # noqa: E731
SHIFTED = lambda _, p, before, x: 2 * (2 * x - 1) * p - before  # noqa: E731
POLYNOMIALS: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
    ("chebyshev_polynomial_t", lambda x: x, TWICE),
    ("chebyshev_polynomial_u", lambda x: 2 * x, TWICE),
    ("chebyshev_polynomial_v", lambda x: 2 * x - 1, TWICE),
    ("chebyshev_polynomial_w", lambda x: 2 * x + 1, TWICE),
    ("shifted_chebyshev_polynomial_t", lambda x: 2 * x - 1, SHIFTED),
    ("shifted_chebyshev_polynomial_u", lambda x: 4 * x - 2, SHIFTED),
    ("shifted_chebyshev_polynomial_v", lambda x: 4 * x - 3, SHIFTED),
    ("shifted_chebyshev_polynomial_w", lambda x: 4 * x - 1, SHIFTED),
    ("hermite_polynomial_h", lambda x: 2 * x, lambda k, p, before, x: 2 * (x * p - k * before)),
    ("hermite_polynomial_he", lambda x: x, lambda k, p, before, x: x * p - k * before),
    (
        "laguerre_polynomial_l",
        lambda x: 1 - x,
        lambda k, p, before, x: ((2 * k + 1 - x) * p - k * before) / (k + 1),
    ),
    ("legendre_polynomial_p", lambda x: x, lambda k, p, before, x: ((2 * k + 1) * x * p - k * before) / (k + 1)),
]

NO_CAST = Refusal(s(t(3, domain=POSITIVE), t(3, domain=POSITIVE)), RuntimeError, r"can't be cast", "", True, "int64")
NO_INTS = Refusal(s(t(3), t(3)), NotImplementedError, r"not implemented for 'Long'", dtype="int64")
NO_INT = Refusal(s(t(3)), NotImplementedError, r"not implemented for 'Long'", dtype="int64")
NO_NUMBER = Refusal(s(t(3), 2.5), TypeError)


def quotient(name: str, reference: Callable[..., Any], **facts: Any) -> OpRecord:
    """A binary function on the reals: integers become float32."""
    return binary(name, reference, **{"result": "float", "refuses": (NO_CAST,)} | facts)


EXPONENTIALS = [
    elementary("exp2", np.exp2, covers=("special.exp2",)),
    elementary("expm1", np.expm1, covers=("special.expm1",)),
    elementary("log2", np.log2, domain=POSITIVE, edges=(Edge(s(given([0.0])), [1.0], ([np.inf],)),)),
    elementary("log10", np.log10, domain=POSITIVE, edges=(Edge(s(given([0.0])), [1.0], ([np.inf],)),)),
    smooth("erf", each(math.erf), covers=("special.erf",)),
]

ANGLES = [
    elementary("tan", np.tan, domain=Domain(-1.2, 1.2)),
    elementary("asin", np.arcsin, domain=UNIT, edges=(Edge(s(given([1.0, 0.0])), [2.0, 3.0], ([np.inf, 3.0],)),)),
    elementary("acos", np.arccos, domain=UNIT, edges=(Edge(s(given([1.0, 0.0])), [2.0, 3.0], ([-np.inf, -3.0],)),)),
    elementary("atan", np.arctan),
    elementary("sinh", np.sinh),
    elementary("cosh", np.cosh),
    elementary("asinh", np.arcsinh, lacks=("inplace",)),
    elementary("acosh", np.arccosh, domain=Domain(1.2, 3.0, ints=(1, 5)), lacks=("inplace",)),
    elementary("atanh", np.arctanh, domain=Domain(-0.9, 0.9, ints=(0, 1)), lacks=("inplace",)),
    smooth("deg2rad", np.deg2rad, refuses=(no_complex(r"deg2rad is not supported for complex tensors"),)),
    smooth("rad2deg", np.rad2deg, refuses=(no_complex(r"rad2deg is not supported for complex tensors"),)),
]

PARTS = [
    unary("frac", lambda x: x - np.trunc(x), halves=0, domain=BETWEEN, refuses=(NO_INT,)),
    unary(
        "sgn",
        np.sign,
        complex=True,
        halves=0,
        domain=OFF_ZERO,
        dtypes=NUMBERS,
        edges=(Edge(s(given([0.0, -2.0])), [2.0, 3.0], ([0.0, 0.0],)),),
    ),
    unary(
        "nan_to_num",
        nan_to_num,
        complex=True,
        halves=0,
        dtypes=ALL,
        result="reference",
        samples=(
            *UNARY,
            s(NOT_FINITE).but(dtypes=FLOATS, smooth=False),
            s(NOT_FINITE, 1.5, 2.5, -3.5).but(dtypes=FLOATS, smooth=False),
            s(NOT_FINITE, posinf=7.0).but(dtypes=FLOATS, smooth=False),
        ),
        edges=(Edge(s(NOT_FINITE), [2.0, 3.0, 5.0, 7.0], ([0.0, 0.0, 0.0, 7.0],)),),
    ),
    unary(
        "angle",
        lambda x: np.where(np.isnan(x), x.real, np.angle(x)),
        complex=True,
        halves=0,
        domain=OFF_ZERO,
        dtypes=ALL,
        result="float",
        inplace=False,
        edges=(Edge(s(given([0.0, -2.0, np.nan])), [2.0, 3.0, 5.0], ([0.0, 0.0, 0.0],)),),
    ),
    unary("conj_physical", np.conjugate, complex=True, dtypes=ALL, inplace=False, lacks=("out",)),
    unary("conj", np.conjugate, complex=True, dtypes=ALL, inplace=False, out=False),
]

SPECIAL = [
    smooth("erfc", each(math.erfc), covers=("special.erfc",)),
    smooth(
        "erfinv",
        each(erfinv),
        domain=UNIT,
        covers=("special.erfinv",),
        edges=(Edge(s(given([1.0, 0.0])), [2.0, 3.0], ([np.inf, 3 * math.sqrt(math.pi) / 2],)),),
    ),
    elementary(
        "sinc",
        np.sinc,
        domain=OFF_ZERO,
        dtypes=FLOATS,
        covers=("special.sinc",),
        edges=(Edge(s(given([0.0, 0.5])), [2.0, 3.0], ([0.0, -12 / math.pi],)),),
    ),
    smooth("i0", bessel_i(0), covers=("special.i0",)),
    special("i1", bessel_i(1), domain=OFF_ZERO, edges=(Edge(s(given([0.0])), [3.0], ([1.5],)),)),
    special(
        "i0e",
        lambda x: bessel_i(0)(x) * np.exp(-np.abs(x)),
        domain=OFF_ZERO,
        edges=(Edge(s(given([0.0])), [3.0], ([0.0],)),),
    ),
    special(
        "i1e",
        lambda x: bessel_i(1)(x) * np.exp(-np.abs(x)),
        domain=OFF_ZERO,
        edges=(Edge(s(given([0.0])), [3.0], ([1.5],)),),
    ),
    special("erfcx", lambda x: np.exp(np.square(x, dtype=float)) * each(math.erfc)(x), slack=32.0, **DOUBLES),
    special("ndtri", each(lambda p: math.sqrt(2) * erfinv(2 * p - 1)), domain=HALF, slack=32.0, **DOUBLES),
    special("log_ndtr", lambda x: np.log(each(math.erfc)(-x / math.sqrt(2)) / 2), slack=32.0, **DOUBLES),
    *(special(name, reference, slack=64.0, **facts) for name, reference, facts in BESSEL),
    *(
        special(
            name,
            polynomial(first, following),
            dtypes=FLOATS,
            halves=None,
            differentiable=False,
            # PyTorch computes in float32, and its errors grow with the degree.
            slack=256.0,
            samples=(
                *(s(t(3, 4), n).but(values=True) for n in (0, 1, 2, 5)),
                s(t(3, 1), given([0.0, 1.0, 4.0])),
                s(0.5, given([[0.0, 3.0]])),
                s(t(2, 0, 3), 2),
                s(t(), given(3.0)),
                s(t(17), 3),
                s(t(3), -1),
            ),
            refuses=(Refusal(s(2, 3), TypeError), no_complex(r"not implemented for 'ComplexFloat'", t(3))),
        )
        for name, first, following in POLYNOMIALS
    ),
    special(
        "zeta",
        lambda a, q: zeta(np.asarray(a, float), np.asarray(q, float)),
        domain=Domain(1.5, 4.0, ints=(2, 5)),
        dtypes=FLOATS,
        halves=None,
        slack=64.0,
        samples=(
            *(
                x.but(args=(replace(x.args[0], grad=False), x.args[1]))
                for x in (*BINARY, s(t(3), given([0.5, 1.0, 20.0])))
            ),
            s(2.5, t(3)),
        ),
        edges=(Edge(s(3.0, given([1.0])), [2.0], ([-6 * math.pi**4 / 90],)),),
        refuses=(*MISFIT[:2], Refusal(s(2.0, 3.0), TypeError)),
    ),
    *(
        binary(
            name,
            each2(reference),
            domain=Domain(0.5, 4.0),
            dtypes=FLOATS,
            covers=(f"special.{called}",),
            slack=64.0,
            # PyTorch has no derivative by the first operand.
            samples=tuple(x.but(sound=False) for x in (*BINARY, s(t(3, grad=False), t(3)))),
            edges=(
                Edge(
                    s(given([1.0, 2.0], grad=False), given([0.0, 0.0])),
                    [3.0, 5.0],
                    ([sign * 3.0, 0.0],),
                ),
            ),
            refuses=(NO_INTS, NO_NUMBER),
        )
        for name, called, reference, sign in (
            ("igamma", "gammainc", lower_gamma, 1.0),
            ("igammac", "gammaincc", lambda a, x: 1 - lower_gamma(a, x), -1.0),
        )
    ),
    smooth("lgamma", each(math.lgamma), domain=POSITIVE, covers=("special.gammaln",)),
    smooth(
        "digamma", each(digamma), domain=POSITIVE, slack=32.0, covers=("special.digamma", "special.psi")
    ),  # near its root the terms cancel
    OpRecord(
        name="polygamma",
        reference=polygamma,
        covers=("special.polygamma",),
        halves=0,
        method=False,
        out=True,
        domain=POSITIVE,
        slack=64.0,  # values up to 1e3 in size
        dtypes=NUMBERS,
        result="float",
        # Without order 1, of which PyTorch gives nine digits: the derivatives of order 0 hold it to differences.
        samples=(
            *(s(n, t(3, 4)) for n in (0, 2, 3)),
            s(2, t()),
            s(2, t(2, 0, 3)),
            s(3, t(17)),
            *(s(n, given([-0.4, -1.5, -2.6])).but(dtypes=FLOATS) for n in (2, 3)),
        ),
        refuses=(Refusal(s(-1, t(3)), RuntimeError, r"does not support negative n"),),
    ),
    OpRecord(
        name="Tensor.polygamma",
        reference=lambda x, n: polygamma(n, x),
        halves=0,
        inplace=True,
        domain=POSITIVE,
        slack=64.0,
        samples=(*(s(t(3, 4), n) for n in (0, 2)), s(t(), 3)),
        refuses=(Refusal(s(t(3), -1), RuntimeError, r"does not support negative n"),),
    ),
    OpRecord(
        name="mvlgamma",
        reference=multigamma,
        halves=0,
        covers=("special.multigammaln",),
        inplace=True,
        out=True,
        domain=Domain(2.2, 4.0, ints=(3, 6)),
        dtypes=NUMBERS,
        result="float",
        slack=16.0,
        samples=(*(s(t(3, 4), p) for p in (1, 2, 5)), s(t(), 3), s(t(2, 0, 3), 2), s(t(17), p=3)),
        refuses=(
            Refusal(s(t(3), 0), RuntimeError, r"greater than or equal to 1"),
            Refusal(s(BOOL3, 1), RuntimeError, r"boolean"),
        ),
    ),
    smooth(
        "logit",
        logit,
        domain=HALF,
        covers=("special.logit",),
        # PyTorch has no forward mode for the derivative.
        samples=tuple(
            x.but(sound=False)
            for x in (*UNARY, s(t(3, 4), 0.01).but(dtypes=FLOATS), s(t(9), eps=0.05).but(dtypes=FLOATS))
        ),
        edges=(
            Edge(s(given([0.0, 0.5, 1.5])), [2.0, 3.0, 5.0], ([np.inf, 12.0, np.nan],)),
            Edge(s(given([0.0, 0.5, 1.5]), 0.25), [2.0, 3.0, 5.0], ([0.0, 12.0, 0.0],)),
        ),
        refuses=(Refusal(s(t(3), "x"), TypeError),),
    ),
    special("entr", entropy, domain=POSITIVE, edges=(Edge(s(given([0.0, 1.0])), [2.0, 3.0], ([np.inf, -3.0],)),)),
    special("ndtr", lambda x: (1 + each(math.erf)(x / math.sqrt(2))) / 2, halves=None, lacks=("out",)),
    special(
        "xlog1py",
        product_with_log(np.log1p),
        domain=POSITIVE,
        samples=(*BINARY, *FRACTION[:1], s(2, t(3))),
        edges=(
            Edge(
                s(given([0.0, 0.0, 2.0]), given([-2.0, 1.0, 1.0])),
                [2.0, 3.0, 4.0],
                ([0.0, 3 * math.log(2), 4 * math.log(2)], [0.0, 0.0, 4.0]),
            ),
        ),
        refuses=MISFIT,
    ),
]

PAIRS = [
    quotient(
        "atan2",
        np.arctan2,
        domain=OFF_ZERO,
        edges=(Edge(s(given([0.0, 0.0]), given([0.0, 2.0])), [2.0, 3.0], ([0.0, 1.5], [0.0, 0.0])),),
        refuses=(NO_CAST, NO_NUMBER),
    ),
    binary(
        "hypot",
        np.hypot,
        dtypes=FLOATS,
        domain=OFF_ZERO,
        edges=(Edge(s(given([0.0, 3.0]), given([0.0, 4.0])), [1.0, 5.0], ([np.nan, 3.0], [np.nan, 4.0])),),
        refuses=(NO_INTS, NO_NUMBER),
    ),
    quotient(
        "copysign",
        np.copysign,
        domain=OFF_ZERO,
        samples=(*BINARY, *FRACTION, *SCALAR, s(t(3), given([-0.0, 0.0, np.inf])).but(dtypes=FLOATS, smooth=False)),
        edges=(
            Edge(
                s(given([0.0, 2.0, -2.0]), given([-1.0, -1.0, -1.0])),
                [1.0, 3.0, 5.0],
                ([0.0, -3.0, 5.0], [0.0, 0.0, 0.0]),
            ),
        ),
    ),
    binary(
        "nextafter",
        np.nextafter,
        dtypes=FLOATS,
        # Differences do not see that the result moves with the operand, in steps as fine as those.
        samples=(
            *(x.but(smooth=False) for x in BINARY),
            s(given([0.0, -0.0, 1.0, np.inf, np.nan, -1.0]), given([1.0, -1.0, 1.0, 0.0, 1.0, np.nan])).but(
                smooth=False, dtypes=("float64",)
            ),
        ),
        # A half's next number is not that of float32.
        halves=None,
        edges=(Edge(s(given([1.0, 2.0]), given([2.0, 2.0])), [3.0, 5.0], ([3.0, 0.0], [0.0, 0.0])),),
        refuses=(NO_INTS, NO_NUMBER),
    ),
    OpRecord(
        name="frexp",
        reference=np.frexp,
        samples=(*UNARY, s(given([0.0, -0.0, np.inf, 1e-30])).but(smooth=False)),
        domain=Domain(1.05, 1.95, signed=True),  # off the powers of two
        result=("same", "reference"),
        halves=0,
        out=True,
        refuses=(Refusal(s(t(3)), RuntimeError, r"only supports floating-point dtypes", dtype="int64"),),
    ),
    quotient("ldexp", lambda x, e: x * np.exp2(e), complex=True, refuses=(NO_CAST, NO_NUMBER)),
    binary(
        "logaddexp",
        lambda a, b: np.logaddexp(a, b) if np.isrealobj(a) and np.isrealobj(b) else np.log(np.exp(a) + np.exp(b)),
        complex=True,
        dtypes=FLOATS,
        inplace=False,
        samples=(*BINARY, s(given([1000.0, -1000.0]), given([1.0, -1000.0])).but(dtypes=FLOATS, smooth=False)),
        edges=(Edge(s(given([1.0, np.inf]), given([1.0, -np.inf])), [2.0, 3.0], ([1.0, 3.0], [1.0, 0.0])),),
        refuses=(NO_INTS, NO_NUMBER),
    ),
    binary(
        "logaddexp2",
        np.logaddexp2,
        dtypes=FLOATS,
        inplace=False,
        samples=(*BINARY, s(given([2000.0, -2000.0]), given([1.0, -2000.0])).but(smooth=False)),
        edges=(Edge(s(given([1.0, np.inf]), given([1.0, -np.inf])), [2.0, 3.0], ([1.0, 3.0], [1.0, 0.0])),),
        refuses=(NO_INTS, NO_NUMBER),
    ),
    binary(
        "fmax",
        np.fmax,
        domain=DISTINCT,
        inplace=False,
        samples=(
            *BINARY,
            s(given([np.nan, 1.0, np.nan]), given([1.0, np.nan, np.nan])).but(dtypes=FLOATS, smooth=False),
        ),
        refuses=(no_complex(r"fmax not implemented for complex tensors", t(3)),),
        edges=(
            Edge(
                s(given([1.0, np.nan, 1.0]), given([1.0, 2.0, np.nan])),
                [2.0, 3.0, 5.0],
                ([2.0, 0.0, 5.0], [0.0, 3.0, 0.0]),
            ),
        ),
    ),
    binary(
        "fmin",
        np.fmin,
        domain=DISTINCT,
        inplace=False,
        samples=(
            *BINARY,
            s(given([np.nan, 1.0, np.nan]), given([1.0, np.nan, np.nan])).but(dtypes=FLOATS, smooth=False),
        ),
        refuses=(no_complex(r"fmin not implemented for complex tensors", t(3)),),
        edges=(
            Edge(
                s(given([1.0, np.nan, 1.0]), given([1.0, 2.0, np.nan])),
                [2.0, 3.0, 5.0],
                ([2.0, 0.0, 5.0], [0.0, 3.0, 0.0]),
            ),
        ),
    ),
    quotient(
        "xlogy",
        product_with_log(np.log),
        domain=POSITIVE,
        covers=("special.xlogy",),
        samples=(*BINARY, *FRACTION[:1], *SCALAR),
        edges=(
            Edge(
                s(given([0.0, 0.0, 2.0]), given([-2.0, 2.0, 2.0])),
                [2.0, 3.0, 4.0],
                ([0.0, 3 * math.log(2), 4 * math.log(2)], [0.0, 0.0, 4.0]),
            ),
        ),
    ),
    binary(
        "float_power",
        np.float_power,
        domain=Domain(0.3, 1.9, ints=(1, 5)),
        dtypes=NUMBERS,
        result="float64",
        samples=(*BINARY, *FRACTION[:1], s(t(3, 4), 2)),
        refuses=(
            Refusal(s(t(3), 2), RuntimeError, r"float_power_ has dtype Float", dtype="float32", inplace=True),
            Refusal(s(2, 3), TypeError),
        ),
    ),
]

TRIPLES: tuple[Sample, ...] = (
    s(t(3, 4), t(3, 4), t(3, 4)),
    s(t(3, 1), t(4), t()),
    s(t(), t(2, 3), t(3)),
    s(t(2, 3), t(3), t(2, 1)),
    s(t(0, 3), t(0, 3), t(3)),
    s(t(), t(), t()),
    *ugly(3),
)
WEIGHTED = (s(t(3, 4), t(3, 4), t(4), value=-2), s(t(3, 1), t(4), t(3, 4), value=0.75).but(dtypes=FLOATS))

OF_THREE = [
    OpRecord(
        name="addcmul",
        reference=lambda x, a, b, value=1: x + value * a * b,
        complex=True,
        halves=0,
        inplace=True,
        out=True,
        dtypes=NUMBERS,
        samples=(*TRIPLES, *WEIGHTED),
        refuses=(
            Refusal(s(t(2, 3), t(4), t(4)), RuntimeError, r"3.*4", r"\(2, 3\).*\(4,\)"),
            Refusal(s(t(3), t(2, 3), t(3)), RuntimeError, r"doesn't match the broadcast shape", inplace=True),
            Refusal(s(BOOL3, BOOL3, BOOL3), NotImplementedError, r"not implemented for 'Bool'"),
            Refusal(s(t(3), 2, t(3)), TypeError),
        ),
    ),
    OpRecord(
        name="addcdiv",
        reference=lambda x, a, b, value=1: x + value * a / b,
        complex=True,
        halves=0,
        inplace=True,
        out=True,
        domain=OFF_ZERO,
        slack=16.0,
        samples=(*TRIPLES, *WEIGHTED),
        refuses=(
            Refusal(s(t(2, 3), t(4), t(4)), RuntimeError, r"3.*4", r"\(2, 3\).*\(4,\)"),
            Refusal(s(t(3), t(2, 3), t(3)), RuntimeError, r"doesn't match the broadcast shape", inplace=True),
            Refusal(s(t(3), t(3), t(3)), RuntimeError, r"Integer division with addcdiv", dtype="int64"),
            Refusal(s(t(3), t(3), 2), TypeError),
        ),
    ),
    OpRecord(
        name="lerp",
        reference=lerp,
        complex=True,
        halves=0,
        inplace=True,
        out=True,
        samples=(*TRIPLES, s(t(3, 4), t(4), 0.25), s(t(9), t(9), 0.75), s(t(), t(2, 3), 2), s(t(0, 3), t(3), -1.5)),
        refuses=(
            Refusal(s(t(2, 3), t(4), 0.5), RuntimeError, r"3.*4", r"\(2, 3\).*\(4,\)"),
            Refusal(s(t(3), t(2, 3), 0.5), RuntimeError, r"doesn't match the broadcast shape", inplace=True),
            Refusal(s(t(3), t(3, dtype="float32"), 0.5), RuntimeError, r"expected dtype .* for `end`"),
            Refusal(s(t(3), t(3), t(3, dtype="float32")), RuntimeError, r"expected dtype .* for `weight`"),
            Refusal(s(t(3), t(3), 0.5), NotImplementedError, r"not implemented for 'Long'", dtype="int64"),
            Refusal(s(t(3), 2.0, 0.5), TypeError),
        ),
    ),
]


def divisor(name: str, reference: Callable[..., Any]) -> OpRecord:
    return OpRecord(
        name=name,
        reference=reference,
        samples=BINARY,
        dtypes=INTS[::-1],
        differentiable=False,
        inplace=True,
        out=True,
        refuses=(
            Refusal(s(t(2, 3), t(4)), RuntimeError, r"3.*4", r"\(2, 3\).*\(4,\)", dtype="int64"),
            Refusal(s(t(3), t(2, 3)), RuntimeError, r"doesn't match the broadcast shape", inplace=True, dtype="int8"),
            Refusal(s(t(3), t(3)), NotImplementedError, r"not implemented for 'Double'"),
            Refusal(s(BOOL3, BOOL3), NotImplementedError, r"not implemented for 'Bool'"),
            Refusal(s(t(3), 2), TypeError, dtype="int64"),
        ),
    )


def real_predicate(name: str, reference: Callable[..., Any], words: str) -> OpRecord:
    return replace(predicate(name, reference), complex=False, out=True, refuses=(no_complex(words),))


DISCRETE = [
    divisor("gcd", np.gcd),
    divisor("lcm", np.lcm),
    binary(
        "heaviside",
        step,
        differentiable=False,
        samples=(*BINARY, s(given([-1.0, 0.0, -0.0, 2.0, np.nan]), given([0.5])).but(dtypes=FLOATS)),
        refuses=(
            Refusal(s(t(3), t(3, dtype="float32")), RuntimeError, r"different dtypes"),
            no_complex(r"heaviside is not yet implemented for complex tensors", t(3)),
            NO_NUMBER,
        ),
    ),
    real_predicate("isposinf", np.isposinf, r"isposinf does not support complex inputs"),
    real_predicate("isneginf", np.isneginf, r"isneginf does not support complex inputs"),
    predicate("isreal", np.isreal),
    real_predicate(
        "signbit",
        lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0,
        r"signbit is not implemented for complex tensors",
    ),
    OpRecord(
        name="isin",
        reference=lambda x, tests, assume_unique=False, invert=False: np.isin(x, tests, invert=invert),
        samples=(
            s(t(3, 4), t(5)),
            s(t(2, 3), t(2, 2), invert=True).but(layouts=()),  # PyTorch takes a view that a transposed tensor has not
            s(t(), t(3)),
            s(t(3), t(0)),
            s(t(0, 3), t(2)),
            s(given([1, 2, 3, 2]), given([3, 2])),
            s(given([1, 2, 3, 2]), 2),
            s(3, given([[3], [2]])).but(sound=False),  # PyTorch resizes out=
            s(given([0.0, np.nan, -0.0]), given([0.0, np.nan])).but(dtypes=FLOATS),
            s(given([1.0, 2.0]), given([1, 3], "int64")).but(dtypes=FLOATS),
        ),
        dtypes=NUMBERS,
        halves=0,
        result="bool",
        differentiable=False,
        method=False,
        out=True,
        refuses=(Refusal(s(BOOL3, BOOL3), RuntimeError, r"Bool"), Refusal(s(1, 2), TypeError)),
    ),
]

OF_PARTS = [
    OpRecord(
        name=name,
        reference=reference,
        # Differences of complex results by real operands are those of gradcheck in `polar.rs`.
        samples=tuple(x.but(smooth=False) for x in BINARY),
        dtypes=FLOATS,
        result="reference",
        method=False,
        out=True,
        domain=OFF_ZERO,
        refuses=(
            *MISFIT[:2],
            Refusal(s(t(3), t(3, dtype="float32")), RuntimeError, r"scalar type Double but got scalar type Float"),
            Refusal(s(t(3), t(3)), RuntimeError, r"Half, Float or Double tensors but got Long and Long", dtype="int64"),
            Refusal(s(t(3), 1.0), TypeError),
        ),
    )
    for name, reference in (("complex", lambda x, y: x + 1j * y), ("polar", lambda r, a: r * np.exp(1j * a)))
]

RECORDS = [*OF_PARTS, *EXPONENTIALS, *ANGLES, *PARTS, *SPECIAL, *PAIRS, *OF_THREE, *DISCRETE]
