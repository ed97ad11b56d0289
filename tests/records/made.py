"""Records of further factories: windows, powers, indices of triangles, choices; and of questions about dtypes."""

import itertools
from typing import Any

import numpy as np

from records.create import BOOL, F32, F64, I32, I64, made, once
from records.record import ALL, FLOATS, POSITIVE, Array, Dtype, Edge, OpRecord, Refusal, given, index, s, t, ugly


def logspace(start: float, end: float, steps: int, base: float = 10.0, dtype: Any = np.float32) -> Array:
    if np.dtype(dtype).kind == "i":
        start, end = int(start), int(end)
    return (base ** np.linspace(start, end, steps)).astype(dtype)


def indices(upper: bool) -> Any:
    def reference(row: int, col: int, offset: int = 0, dtype: Any = np.int64) -> Array:
        at = np.triu_indices(row, offset, col) if upper else np.tril_indices(row, offset, col)
        return np.stack(at).astype(dtype)

    return reference


def triangle_of(name: str, upper: bool) -> OpRecord:
    return made(
        name,
        indices(upper),
        *once(
            s(3, 3),
            s(2, 4, 1),
            s(4, 2, offset=-1),
            s(0, 3),
            s(3, 0),
            s(2, 3, 5),
            s(2, 3, -5),
            s(3, 3, dtype=I32),
            s(17, 9),
        ),
        refuses=(
            Refusal(s(-1, 2), RuntimeError, r"row must be non-negative"),
            Refusal(s(1, -2), RuntimeError, r"col must be non-negative"),
            Refusal(s(2, 2, dtype=F32), NotImplementedError, rf"{name}.*'Float'"),
            Refusal(s(2, 2, dtype=BOOL), NotImplementedError, rf"{name}.*'Bool'"),
        ),
    )


def window(shape: Any) -> Any:
    """A window over places from 0 to 1; a periodic one is longer by one place, which it leaves out."""

    def reference(n: int, periodic: bool = True, *args: float, dtype: Any = np.float32, **how: float) -> Array:
        if n == 1:
            return np.ones(1, dtype)
        steps = max(n - 1 + periodic, 1)
        return np.asarray(shape(np.arange(n) / steps, *args, **how), dtype)

    return reference


def cosines(x: Array, alpha: float, beta: float, gamma: float = 0.0) -> Array:
    return alpha - beta * np.cos(2 * np.pi * x) + gamma * np.cos(4 * np.pi * x)


def kaiser(x: Array, beta: float = 12.0) -> Array:
    return np.i0(beta * np.sqrt(1 - (2 * x - 1) ** 2)) / np.i0(beta)


def window_of(name: str, shape: Any, *more: Any) -> OpRecord:
    return made(
        name,
        window(shape),
        *once(
            s(8),
            s(5, False),
            s(5, periodic=False, dtype=F64),
            s(1),
            s(0),
            s(2),
            s(33, dtype=F64),
            *more,
        ),
        slack=64.0,
        refuses=(
            Refusal(s(-1), RuntimeError, r"requires non-negative window_length, got window_length=-1"),
            Refusal(s(3, dtype=I64), RuntimeError, r"expects floating point dtypes"),
            Refusal(s(3.0), TypeError),
        ),
    )


def choice(x: Array, count: int, replacement: bool = False) -> Array:
    """Known where one element alone is possible."""
    return np.broadcast_to(x.argmax(-1)[..., None], (*x.shape[:-1], count)).astype(np.int64)


def digamma(x: Array) -> Array:
    """By the recurrence, up to where the asymptotic series is exact."""
    less = sum(1 / (x + k) for k in range(20))
    y = x + 20
    return np.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6) + 1 / (240 * y**8) - less


def gamma_slope(a: Array, x: Array) -> Array:
    """Of `P = x^a e^-x sum(x^n / (a)_(n + 1)) / gamma(a)`, term by term: `-(dP/da) / p`."""
    term, slope = 1 / a, -1 / a**2
    total, slopes = term, slope
    for n in range(1, 200):
        term, slope = term * x / (a + n), (slope - term / (a + n)) * x / (a + n)
        total, slopes = total + term, slopes + slope
    return -x * (total * (np.log(x) - digamma(a)) + slopes)


def combinations(x: Array, r: int = 2, with_replacement: bool = False) -> Array:
    if r == 0:
        return np.zeros(0, x.dtype)
    take = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(take(range(len(x)), r))
    return x[np.array(rows, np.int64).reshape(len(rows), r)]


def around(mean: Any, std: Any = 1.0, size: Any = None) -> Array:
    """Known where the deviation is zero."""
    return np.asarray(mean + 0 * np.asarray(std), np.float32 if size is not None else None) * np.ones(size or ())


def asked(name: str, reference: Any, *samples: Any, **facts: Any) -> OpRecord:
    """A question about dtypes; the answer as a tensor that has it."""

    def call(rg: Any, *args: Any, **named: Any) -> Any:
        answer = getattr(rg, name)(*args, **named)
        return rg.tensor(answer) if isinstance(answer, bool) else rg.zeros(2, dtype=answer)

    return made(name, reference, *(x.but(dtypes=x.dtypes or ("float32",)) for x in samples), call=call, **facts)


def zeros(dtype: Any) -> Array:
    return np.zeros(2, dtype)


PROMOTED = {("int32", "uint8"): "int32", ("uint8", "int8"): "int16", ("int64", "float32"): "float32"}
ZERO = given([0.0, 0.0, 0.0], grad=False)

RECORDS = [
    made(
        "logspace",
        logspace,
        *once(
            s(0, 2, 3),
            s(0, 2, 5, 2.0),
            s(-1, 1, 17, dtype=F64),
            s(0, 3, 4, dtype=I64),
            s(0.3, 2.9, 7, base=3.0, dtype=I64),
            s(0, 2, 1),
            s(0, 2, 0),
            s(0, 2, 3, -2.0),
        ),
        slack=64.0,
        refuses=(
            Refusal(s(0, 2, -1), RuntimeError, r"number of steps must be non-negative"),
            Refusal(s(0, 2, 3, dtype=BOOL), NotImplementedError, r"logspace_cpu.*'Bool'"),
            Refusal(s(t(1), 2, 3), RuntimeError, r"only supports 0-dimensional start and end tensors"),
        ),
    ),
    made(
        "fft.fftfreq",
        lambda n, d=1.0, dtype=np.float32: np.fft.fftfreq(n, d).astype(dtype) if n else np.zeros(0, dtype),
        *once(s(8), s(7), s(1), s(0), s(7, 3.0), s(8, d=0.1, dtype=F64)),
        refuses=(
            Refusal(s(-1), RuntimeError, r"negative dimension -1"),
            Refusal(s(4, dtype=I64), RuntimeError, r"requires a floating point or complex dtype"),
        ),
    ),
    made(
        "fft.rfftfreq",
        lambda n, d=1.0, dtype=np.float32: np.fft.rfftfreq(n, d).astype(dtype),
        *once(s(8), s(7), s(1), s(7, 3.0), s(8, d=0.1, dtype=F64)),
        refuses=(Refusal(s(4, dtype=I64), RuntimeError, r"requires a floating point or complex dtype"),),
    ),
    triangle_of("tril_indices", False),
    triangle_of("triu_indices", True),
    window_of("hann_window", lambda x: cosines(x, 0.5, 0.5)),
    window_of(
        "hamming_window",
        lambda x, alpha=0.54, beta=0.46: cosines(x, alpha, beta),
        s(5, True, 0.5),
        s(5, True, 0.75, 0.25),
        s(5, False, alpha=0.5, beta=0.25),
    ),
    window_of("blackman_window", lambda x: cosines(x, 0.42, 0.5, 0.08)),
    window_of("bartlett_window", lambda x: 1 - np.abs(2 * x - 1)),
    window_of("kaiser_window", kaiser, s(5, True, 8.0), s(9, False, beta=0.0, dtype=F64)),
    OpRecord(
        name="combinations",
        halves=0,
        reference=combinations,
        dtypes=ALL,
        method=False,
        samples=(
            s(t(4)),
            s(t(5), 3),
            s(t(3), with_replacement=True),
            s(t(4), 1),
            s(t(4), 0).but(smooth=False),
            s(t(2), 3),
            s(t(0), 2),
            s(t(2), 3, True),
        ),
        refuses=(
            Refusal(s(t(2, 3)), RuntimeError, r"Expect a 1D vector", r"2, 3"),
            Refusal(s(t(2), -1), RuntimeError, r"non-negative number, but got -1"),
        ),
        complex=True,
    ),
    OpRecord(
        name="multinomial",
        reference=choice,
        result="int64",
        differentiable=False,
        out=True,
        seed=5,
        samples=(
            s(given([0.0, 2.0, 0.0], grad=False), 1),
            s(given([0.0, 2.0, 0.0], grad=False), 5, True),
            s(given([[0.0, 1.0], [0.5, 0.0]], grad=False), 3, replacement=True),
            s(t(5, domain=POSITIVE), 3).but(values=False),
            s(t(2, 5, domain=POSITIVE), 5).but(values=False),
            s(t(0, 3), 1),
        ),
        refuses=(
            Refusal(s(t(2, domain=POSITIVE), 3), RuntimeError, r"samples without replacement", r"3.*2"),
            Refusal(s(t(2, domain=POSITIVE), 0), RuntimeError, r"n_sample <= 0"),
            Refusal(s(index([1, 2]), 1), RuntimeError, r"floating-point dtypes for input, got: Long"),
            Refusal(s(t(), 1), RuntimeError, r"1 or 2 dim"),
            Refusal(s(given([-1.0, 2.0]), 1), RuntimeError, r"element < 0"),
            Refusal(s(given([0.0, 0.0]), 2, True), RuntimeError, r"sum of probabilities <= 0"),
        ),
    ),
    OpRecord(
        name="poisson",
        reference=np.zeros_like,
        method=False,
        seed=5,
        samples=(
            s(given([0.0, 0.0])).but(smooth=False),
            s(t(0, 3)).but(smooth=False),
            s(t(33, domain=POSITIVE)).but(values=False, smooth=False),
        ),
        edges=(Edge(s(given([1.0, 20.0])), [3.0, 5.0], ([0.0, 0.0],)),),
        refuses=(
            Refusal(s(given([1.0, -1.0])), RuntimeError, r"invalid Poisson rate, expected rate to be non-negative"),
            Refusal(s(index([1])), NotImplementedError, r"poisson_cpu.*'Long'"),
        ),
        halves=0,
    ),
    OpRecord(
        name="binomial",
        reference=lambda count, prob: count * prob,
        differentiable=False,
        method=False,
        seed=5,
        samples=(
            s(given([5.0, 5.0], grad=False), given([0.0, 1.0], grad=False)),
            s(given([[5.0], [7.0]], grad=False), given([0.0, 1.0], grad=False)),
            s(t(33, domain=POSITIVE, grad=False), given(0.5, grad=False)).but(values=False),
            s(t(0, 3, grad=False), given(0.5, grad=False)),
        ),
        refuses=(
            Refusal(s(index([1]), t(1)), ValueError, r"floating-point dtypes for count, got: Long"),
            Refusal(s(t(1), index([1])), ValueError, r"floating-point dtypes for prob, got: Long"),
            Refusal(s(t(1), given([0.5], "float32")), RuntimeError, r"Found dtype Float but expected Double"),
            Refusal(s(t(2), t(3)), RuntimeError, r"2.*3"),
            Refusal(s(t(2), t(2)), NotImplementedError, r"binomial_cpu.*'Half'", dtype="float16"),
        ),
    ),
    *(
        OpRecord(
            name=name,
            reference=np.copy,
            method=False,
            seed=5,
            domain=POSITIVE,
            # Known by their streams and their derivatives, in `tests/test_variates.py`.
            samples=tuple(
                x.but(values=False, smooth=False, sound=False) for x in (s(t(3, 4)), s(t(17)), s(t(0, 3)), s(t()))
            ),
            refuses=(
                Refusal(s(index([1])), NotImplementedError, rf"{kernel}.*'Long'"),
                Refusal(s(t(2)), NotImplementedError, rf"{kernel}.*'Half'", dtype="float16"),
            ),
        )
        for name, kernel in (("_standard_gamma", "gamma_cpu"), ("_sample_dirichlet", "dirichlet"))
    ),
    OpRecord(
        name="_standard_gamma_grad",
        reference=gamma_slope,
        # It has first derivatives alone, which `tests/test_variates.py` compares.
        differentiable=False,
        method=False,
        domain=POSITIVE,
        slack=256.0,
        samples=tuple(x.but(sound=False) for x in (s(t(3, 4), t(3, 4)), s(t(3, 1), t(4)), s(t(), t()), *ugly(2))),
    ),
    OpRecord(
        name="_dirichlet_grad",
        # The distribution function is a power.
        reference=lambda x, alpha, total: -x * np.log(x) / alpha / (1 - x),
        differentiable=False,
        method=False,
        slack=256.0,
        samples=(
            s(*(given(v, grad=False) for v in ([0.1, 0.5, 0.9], [0.5, 1.0, 3.0], [1.5, 2.0, 4.0]))),
            s(*(given(v, grad=False) for v in ([[0.1], [0.5]], [0.5, 3.0], [1.5, 4.0]))),
        ),
        refuses=(
            Refusal(s(t(1), t(1), given([0.5], "float32")), RuntimeError, r"Found dtype Float but expected Double"),
        ),
    ),
    OpRecord(
        name="normal",
        reference=around,
        dtypes=FLOATS,
        method=False,
        seed=5,
        layouts=False,
        samples=(
            # The numbers are as good as constant, whatever lies around them: no gradient.
            s(t(3, 4), 0.0).but(smooth=False),
            s(t(3), ZERO).but(smooth=False),
            s(t(2, 1), ZERO).but(smooth=False),
            s(2.5, ZERO),
            s(1.0, 0.0, (2, 3)).but(dtypes=("float32",), result="float32"),
            s(t(33)).but(values=False, smooth=False),
            s(t(3, 4), t(4, domain=POSITIVE)).but(values=False, smooth=False),
        ),
        refuses=(
            Refusal(s(t(2), -1.0), RuntimeError, r"normal expects std >= 0.0"),
            Refusal(s(1.0, given([-1.0])), RuntimeError, r"all elements of std >= 0.0"),
            Refusal(s(t(2), given([1.0, 1.0, 1.0])), RuntimeError, r"2.*3"),
            Refusal(s(index([1]), 1.0), NotImplementedError, r"normal_kernel_cpu.*'Long'"),
            Refusal(s(1.0, 2.0), TypeError),
        ),
    ),
    asked(
        "result_type",
        lambda *xs, **named: zeros(
            np.result_type(*(np.asarray(x, "float32") if isinstance(x, float) else x for x in (*xs, *named.values())))
        ),
        s(index([1]), given([1.0], "float32")).but(result="float32"),
        s(given([1.0], "float32"), given(1.0, "float64")).but(result="float32"),
        s(given([1], "int32"), 3).but(result="int32"),
        s(given([1], "int32"), 2.5).but(result="float32"),
        s(True, 2).but(result="int64"),
        s(1, 2.5).but(result="float32"),
        s(tensor=given([1], "int32"), other=2.5).but(result="float32"),
        s(scalar=2.5, tensor=given([1], "int32")).but(result="float32"),
        s(scalar1=1, scalar2=2.5).but(result="float32"),
        s(1, scalar2=True).but(result="int64"),
        refuses=(
            Refusal(s(index([1]), [1]), TypeError),
            Refusal(s(1, other=2.5), TypeError),
            Refusal(s(scalar=1, other=2.5), TypeError),
            Refusal(s(scalar=index([1, 2]), tensor=index([1])), TypeError),
        ),
    ),
    asked(
        "promote_types",
        lambda a, b: zeros(PROMOTED[a.name, b.name]),
        *(s(Dtype(a), Dtype(b)) for a, b in PROMOTED),
        refuses=(Refusal(s(I32, 1), TypeError),),
    ),
    asked(
        "can_cast",
        lambda a, b: np.asarray(np.dtype(a).kind != "f" and np.dtype(b).kind != "b"),
        s(F32, I64),
        s(I64, Dtype("uint8")),
        s(I64, BOOL),
        s(BOOL, Dtype("uint8")),
        refuses=(Refusal(s(I32, 1), TypeError),),
    ),
]
