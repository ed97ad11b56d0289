"""Records of the factorizations of matrices, and of solutions, inverses and determinants by them.

Random matrices may be nearly singular, and are not positive-definite, so most calls make theirs of them: shifted by a
multiple of the identity, or products. The references are NumPy's and the definitions.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from records import rg
from records.record import Array, OpRecord, Refusal, Sample, given, s, t

SQUARE = (*(s(t(n, n)) for n in (1, 2, 3, 8)), s(t(2, 3, 3)), s(t(0, 3, 3)), s(t(2, 0, 0)), s(t(2, 1, 2, 2)))
# Beyond the blocks of the recursions: values alone, since differences of so many numbers take long.
LARGE = tuple(s(t(n, n)).but(smooth=False) for n in (17, 33, 70))
SLACK = 4000.0  # sums of many terms, divided by small numbers
INTEGER = "Expected a floating point or complex tensor as input"


def adjoint(x: Any) -> Any:
    y = x.swapaxes(-1, -2)
    return y.conj() if np.iscomplexobj(x) else y


def conj_turned(x: Any) -> Any:
    return x.mT.conj() if x.is_complex() else x.mT


def shifted(rg: Any, x: Any, by: float = 1.0) -> Any:
    n = x.shape[-1]
    return x + by * (2 * n + 1) * rg.eye(n, dtype=x.dtype)


def shifted_array(x: Array, by: float = 1.0) -> Array:
    n = x.shape[-1]
    return x + (by * (2 * n + 1) * np.eye(n)).astype(x.dtype)


def positive(rg: Any, x: Any) -> Any:
    return x @ conj_turned(x) / max(x.shape[-1], 1) + rg.eye(x.shape[-1], dtype=x.dtype)


def positive_array(x: Array) -> Array:
    return x @ adjoint(x) / max(x.shape[-1], 1) + np.eye(x.shape[-1], dtype=x.dtype)


def ldl_solve(rg: Any, a: Any, b: Any) -> Any:
    factors, pivots = rg.linalg.ldl_factor(a + a.mT)
    return rg.linalg.ldl_solve(factors, pivots, b)


def named(name: str) -> Callable[[Any], Any]:
    return lambda rg: reduce(getattr, name.split("."), rg)


def on(
    name: str,
    make: Callable[[Any, Any], Any] | None,
    make_array: Callable[[Array], Array] | None,
    reference: Callable[..., Any],
    take: Callable[[Any], Any] = lambda y: y,
    at: int = 0,
    takes_any: bool = False,
    **facts: Any,
) -> OpRecord:
    """A record of an op whose operand `at` is made of the random one."""

    def call(rg: Any, *args: Any, **kwargs: Any) -> Any:
        # What is refused is refused as it is.
        square = takes_any or (args[at].ndim > 1 and args[at].shape[-1] == args[at].shape[-2])
        made = [make(rg, x) if make and square and i == at else x for i, x in enumerate(args)]
        return take(named(name)(rg)(*made, **kwargs))

    def expected(*args: Any, **kwargs: Any) -> Any:
        made = [make_array(x) if make_array and i == at else x for i, x in enumerate(args)]
        return reference(*made, **kwargs)

    merged: dict[str, Any] = {
        "samples": (*SQUARE, *LARGE),
        "complex": True,
        "slack": SLACK,
        "method": False,
    } | facts
    return OpRecord(name=name, call=call, reference=expected, **merged)


def cholesky(a: Array, upper: bool = False) -> Array:
    factor = np.linalg.cholesky(a) if a.size else a
    return adjoint(factor) if upper else factor


def refuses(*rows: tuple[Sample, str]) -> tuple[Refusal, ...]:
    return tuple(Refusal(sample, RuntimeError, says) for sample, says in rows)


def not_square(name: str) -> tuple[Refusal, ...]:
    return refuses(
        (s(t(2, 3)), f"{name}: A must be batches of square matrices, but they are 2 by 3 matrices"),
        (s(t(3)), f"{name}: The input tensor A must have at least 2 dimensions"),
    )


UPPER = (*(Sample(x.args, {"upper": True}) for x in SQUARE[1:5]), *LARGE[:2])


def triangle(a: Array, upper: bool, unitriangular: bool = False) -> Array:
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        i = np.arange(a.shape[-1])
        a = a.copy()
        a[..., i, i] = 1
    return a


def solution(a: Array, b: Array, left: bool = True) -> Array:
    if not left:
        return np.swapaxes(solution(a.swapaxes(-1, -2), b.swapaxes(-1, -2)), -1, -2)
    if a.shape[-1] == 0:
        return np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), 0, b.shape[-1]), b.dtype)
    return np.linalg.solve(a, b)


def solve(a: Array, b: Array, left: bool = True) -> Array:
    if b.ndim == 1 or (b.ndim + 1 == a.ndim and b.shape == a.shape[:-1]):
        return solution(a, b[..., None])[..., 0]
    return solution(a, b, left)


def solve_triangular(a: Array, b: Array, upper: bool, left: bool = True, unitriangular: bool = False) -> Array:
    return solution(triangle(a, upper, unitriangular), b, left)


SYSTEMS = (
    s(t(3, 3), t(3, 2)),
    s(t(1, 1), t(1, 1)),
    s(t(2, 3, 3), t(2, 3, 1)),
    s(t(2, 1, 2, 2), t(3, 2, 2)),
    s(t(3, 3), t(2, 3, 2)),
    s(t(0, 0), t(0, 2)),
    s(t(0, 2, 2), t(0, 2, 3)),
    s(t(2, 2), t(2, 0)),
    s(t(33, 33), t(33, 9)).but(smooth=False),
    s(t(70, 70), t(70, 20)).but(smooth=False),
)
FROM_THE_RIGHT = (s(t(3, 3), t(2, 3), left=False), s(t(2, 3, 3), t(2, 3, 3), left=False))
TRIANGULAR = tuple(
    Sample(x.args, {"upper": upper, "unitriangular": unit and x.smooth, **x.kwargs}).but(smooth=x.smooth)
    for i, x in enumerate((*SYSTEMS, *FROM_THE_RIGHT))
    for upper, unit in (((True, False), (False, True)) if i % 2 else ((False, False), (True, True)))
)
VECTORS = (s(t(3, 3), t(3)), s(t(2, 3, 3), t(2, 3)), s(t(2, 3, 3), t(3)))


def gentle(rg: Any, x: Any) -> Any:
    return shifted(rg, x / max(x.shape[-1], 1), 0.3)


def gentle_array(x: Array) -> Array:
    return shifted_array(x / max(x.shape[-1], 1), 0.3)


def eliminated(a: Array) -> tuple[Array, Array, Array]:
    """`P`, `L`, `U` of matrices, by elimination with the largest pivots."""
    m, n = a.shape[-2:]
    k = min(m, n)
    p, lower = np.zeros((*a.shape[:-2], m, m), a.dtype), np.zeros((*a.shape[:-2], m, k), a.dtype)
    upper = np.zeros((*a.shape[:-2], k, n), a.dtype)
    for place in np.ndindex(*a.shape[:-2]):
        u, order = a[place].copy(), np.arange(m)
        for i in range(k):
            size = np.abs(u[i:, i].real) + np.abs(u[i:, i].imag)
            j = i + int(np.argmax(size))
            u[[i, j]], order[[i, j]] = u[[j, i]], order[[j, i]]
            u[i + 1 :, i] /= u[i, i]
            u[i + 1 :, i + 1 :] -= np.outer(u[i + 1 :, i], u[i, i + 1 :])
        p[place][order, np.arange(m)] = 1
        lower[place], upper[place] = np.tril(u[:, :k], -1) + np.eye(m, k), np.triu(u[:k])
    return p, lower, upper


def packed(a: Array) -> Array:
    _, lower, upper = eliminated(a)
    m, n = a.shape[-2:]
    both = np.zeros_like(a)
    both[..., :, : min(m, n)] += np.tril(lower, -1)
    both[..., : min(m, n), :] += upper
    return both


RECTANGLES = (
    s(t(1, 1)),
    s(t(3, 3)),
    s(t(2, 4)),
    s(t(4, 2)),
    s(t(2, 3, 2)),
    s(t(2, 2, 3)),
    s(t(0, 2, 2)),
    s(t(0, 3)),
    s(t(3, 0)),
    s(t(9, 17)).but(smooth=False),
    s(t(40, 33)).but(smooth=False),
    s(t(33, 70)).but(smooth=False),
)
# Equal rows have no derivative.
RECTANGLES = tuple(x.but(layouts=("transposed", "stepped")) for x in RECTANGLES)


def unpacked(a: Array) -> tuple[Array, Array]:
    m, n = a.shape[-2:]
    k = min(m, n)
    return np.tril(a[..., :k], -1) + np.eye(m, k, dtype=a.dtype), np.triu(a[..., :k, :])


def unpack(rg: Any, x: Any, **kwargs: Any) -> Any:
    k = min(x.shape[-2:])
    pivots = rg.arange(1, k + 1, dtype=rg.int32).expand((*x.shape[:-2], k))
    return rg.lu_unpack(x, pivots, **kwargs)[1:]


PIVOTS = given([2, 3, 3], "int32")


def by_factors(a: Array, pivots: Array, b: Array, left: bool = True, adjoint: bool = False) -> Array:
    lower, upper = unpacked(a)
    whole = lower @ upper
    for i in reversed(range(len(pivots))):
        j = pivots[i] - 1
        whole[..., [i, j], :] = whole[..., [j, i], :]
    return solution(np.swapaxes(whole.conj(), -1, -2) if adjoint else whole, b, left)


def of_cholesky(factor: Array, upper: bool) -> Array:
    factor = triangle(factor, upper)
    return adjoint(factor) @ factor if upper else factor @ adjoint(factor)


def slogdet(a: Array) -> tuple[Array, Array]:
    sign, log = np.linalg.slogdet(a)
    return np.asarray(sign, a.dtype), np.asarray(log, a.real.dtype)


def det(a: Array) -> Array:
    return np.asarray(np.linalg.det(a), a.dtype)


def regular(rg: Any, x: Any) -> Any:
    """A matrix whose determinant is of order one."""
    return x / (3 * max(x.shape[-1], 1)) + rg.eye(x.shape[-1], dtype=x.dtype)


def regular_array(x: Array) -> Array:
    return x / (3 * max(x.shape[-1], 1)) + np.eye(x.shape[-1], dtype=x.dtype)


def logdet(a: Array) -> Array:
    sign, log = slogdet(a)
    return np.asarray(log + np.log(sign) if np.iscomplexobj(a) else log)


def symmetric(rg: Any, x: Any) -> Any:
    return x + x.mT


def multiplied(y: Any) -> Any:
    """`A` of its factors, by `ldl_solve` with the identity, inverted."""
    n = y.LD.shape[-1]
    whole = rg.linalg.ldl_solve(y.LD, y.pivots, rg.eye(n, dtype=y.LD.dtype).expand(y.LD.shape))
    return rg.linalg.inv(whole)


# Of equal rows they are singular.
SYMMETRIC = tuple(
    x.but(layouts=("transposed", "stepped")) for x in (s(t(1, 1)), s(t(3, 3)), s(t(2, 9, 9)), s(t(33, 33)))
)


def cross_ended(x: Array, ind: int = 2) -> Array:
    first, last = x.shape[:ind], x.shape[ind:]
    n = int(np.prod(first))
    return np.linalg.inv(x.reshape(n, n)).reshape(last + first)


def tensors_shifted(rg: Any, x: Any) -> Any:
    n = round(x.numel() ** 0.5)
    if n * n != x.numel():  # refused
        return x
    return x + (4.0 * rg.eye(n, dtype=x.dtype)).reshape(x.shape)


def tensors_shifted_array(x: Array) -> Array:
    n = round(x.size**0.5)
    return x + (4.0 * np.eye(n)).astype(x.dtype).reshape(x.shape)


def tensorsolve(a: Array, b: Array, dims: Any = None) -> Array:
    return np.linalg.tensorsolve(a, b, dims)


ROUNDED = {"result": "reference"}

RECORDS = [
    on(
        "linalg.cholesky",
        positive,
        positive_array,
        cholesky,
        samples=(*SQUARE, *LARGE, *UPPER),
        refuses=not_square("linalg.cholesky"),
    ),
    on("linalg.cholesky_ex", positive, positive_array, cholesky, lambda y: y.L, samples=(*SQUARE[:5], *UPPER[:2])),
    on("cholesky", positive, positive_array, cholesky, samples=(*SQUARE[:5], *UPPER[:2])),
    on(
        "linalg.solve_triangular",
        shifted,
        shifted_array,
        solve_triangular,
        samples=TRIANGULAR,
        slack=SLACK,
        refuses=refuses(
            (s(t(2, 3), t(2, 2), upper=True), "A must be batches of square matrices"),
            (
                s(t(3, 3), t(2, 2), upper=True),
                r"Incompatible shapes of A and B for the equation AX = B \(3x3 and 2x2\)",
            ),
            (s(t(3, 3), t(2, 2), upper=True, left=False), "for the equation XA = B"),
            (s(t(3, 3), t(3), upper=True), "The input tensor B must have at least 2 dimensions"),
        ),
    ),
    on(
        "triangular_solve",
        shifted,
        shifted_array,
        lambda b, a, upper=True, transpose=False, unitriangular=False: solution(
            np.swapaxes(triangle(a, upper, unitriangular), -1, -2) if transpose else triangle(a, upper, unitriangular),
            b,
        ),
        lambda y: y.solution,
        at=1,
        samples=(
            s(t(3, 2), t(3, 3)),
            s(t(2, 3, 2), t(3, 3), upper=False),
            s(t(3, 2), t(2, 3, 3), transpose=True),
            s(t(3, 2), t(3, 3), False, True, True),
        ),
    ),
    on(
        "cholesky_solve",
        shifted,
        shifted_array,
        lambda b, a, upper=False: solution(of_cholesky(a, upper), b),
        at=1,
        samples=(
            s(t(3, 2), t(3, 3)),
            s(t(2, 3, 1), t(3, 3), upper=True),
            s(t(3, 2), t(2, 3, 3)),
            s(t(0, 2), t(0, 0)),
            s(t(17, 3), t(17, 17)).but(smooth=False),
        ),
        refuses=refuses((s(t(3, 2), t(2, 2)), "Incompatible matrix sizes for cholesky_solve")),
    ),
    on(
        "cholesky_inverse",
        gentle,
        gentle_array,
        lambda a, upper=False: np.linalg.inv(of_cholesky(a, upper)) if a.size else a,
        samples=(*SQUARE[:5], Sample(SQUARE[2].args, {"upper": True}), LARGE[0]),
        refuses=not_square("cholesky_inverse"),
    ),
    on(
        "linalg.inv",
        shifted,
        shifted_array,
        lambda a: np.linalg.inv(a) if a.size else a,
        refuses=not_square("linalg.inv"),
    ),
    on("inverse", shifted, shifted_array, lambda a: np.linalg.inv(a) if a.size else a, samples=SQUARE[:5]),
    on(
        "linalg.inv_ex",
        shifted,
        shifted_array,
        lambda a: np.linalg.inv(a) if a.size else a,
        lambda y: y.inverse,
        samples=SQUARE[:5],
    ),
    on(
        "linalg.solve",
        shifted,
        shifted_array,
        solve,
        samples=(*SYSTEMS, *FROM_THE_RIGHT, *VECTORS),
        refuses=refuses(
            (
                s(t(3, 3), t(2, 2)),
                r"linalg.solve: Incompatible shapes of A and B for the equation AX = B \(3x3 and 2x2\)",
            ),
            (s(t(3, 3), t(3, 2, dtype="float32")), "Expected A and B to have the same dtype"),
        ),
    ),
    on(
        "linalg.solve_ex",
        shifted,
        shifted_array,
        solve,
        lambda y: y.result,
        samples=(*SYSTEMS[:4], *FROM_THE_RIGHT, *VECTORS[:2]),
    ),
    on(
        "linalg.lu",
        None,
        None,
        eliminated,
        samples=RECTANGLES,
        result=("same",) * 3,
        refuses=refuses((s(t(3)), "linalg.lu: Expected tensor with 2 or more dimensions")),
    ),
    on("linalg.lu_factor", None, None, packed, lambda y: y.LU, samples=(*RECTANGLES[:6], *RECTANGLES[-3:])),
    on("linalg.lu_factor_ex", None, None, packed, lambda y: y.LU, samples=RECTANGLES),
    on("lu", None, None, packed, lambda y: y[0], samples=RECTANGLES[:6]),
    OpRecord(
        name="lu_unpack",
        call=unpack,
        reference=unpacked,
        samples=RECTANGLES,
        complex=True,
        result=("same",) * 2,
        method=False,
    ),
    on(
        "linalg.lu_solve",
        shifted,
        shifted_array,
        by_factors,
        samples=(
            s(t(3, 3), PIVOTS, t(3, 2)),
            s(t(3, 3), PIVOTS, t(2, 3, 2), adjoint=True),
            s(t(3, 3), PIVOTS, t(2, 3), left=False),
            s(t(3, 3), PIVOTS, t(2, 3), left=False, adjoint=True),
        ),
        refuses=refuses(
            (
                s(t(3, 3), given([0, 1, 2], "int32"), t(3, 2)),
                "Pivots given to lu_solve must all be greater or equal to 1",
            ),
            (s(t(3, 3), given([1, 2, 3]), t(3, 2)), "pivots should be a Tensor of scalar type"),
            (s(t(3, 3), PIVOTS, t(2, 2)), "Incompatible shapes of A and B"),
        ),
    ),
    on(
        "lu_solve",
        shifted,
        shifted_array,
        lambda b, a, pivots: by_factors(a, pivots, b),
        at=1,
        samples=(s(t(3, 2), t(3, 3), PIVOTS), s(t(2, 3, 2), t(3, 3), PIVOTS)),
    ),
    on("linalg.det", regular, regular_array, det, refuses=not_square("linalg.det")),
    on("det", regular, regular_array, det, samples=SQUARE[:5]),
    on("linalg.slogdet", regular, regular_array, slogdet, tuple, **ROUNDED, refuses=not_square("linalg.slogdet")),
    on("slogdet", regular, regular_array, slogdet, tuple, **ROUNDED, samples=SQUARE[:5]),
    on("logdet", regular, regular_array, logdet, samples=SQUARE),
    on(
        "linalg.ldl_factor",
        symmetric,
        None,
        lambda a: a + a.swapaxes(-1, -2),
        multiplied,
        samples=SYMMETRIC,
        differentiable=False,
        covers=("linalg.ldl_factor_ex",),
        refuses=not_square("torch.linalg.ldl_factor_ex"),
    ),
    OpRecord(
        name="linalg.ldl_solve",
        call=ldl_solve,
        reference=lambda a, b: solution(a + a.swapaxes(-1, -2), b),
        samples=tuple(s(t(n, n), t(n, k)).but(layouts=("transposed", "stepped")) for n, k in ((3, 2), (9, 1), (33, 2))),
        differentiable=False,
        complex=True,
        slack=SLACK,
        method=False,
    ),
    on(
        "linalg.tensorinv",
        tensors_shifted,
        tensors_shifted_array,
        cross_ended,
        takes_any=True,
        samples=(s(t(2, 3, 6)), s(t(4, 2, 2), ind=1), s(t(1, 1, 1, 1))),
        refuses=refuses(
            (s(t(2, 3, 5)), "but got 5 != 6"), (s(t(2, 3, 6), ind=0), "strictly positive integer for 'ind'")
        ),
    ),
    on(
        "linalg.tensorsolve",
        tensors_shifted,
        tensors_shifted_array,
        tensorsolve,
        takes_any=True,
        samples=(s(t(2, 3, 6), t(2, 3)), s(t(2, 3, 2, 3), t(2, 3))),
        refuses=refuses((s(t(2, 3, 5), t(2, 3)), "but got 5 != 6")),
    ),
]
