"""Check derivative rules against central differences, in float64 and NumPy alone.

A function maps a list of arrays to a list of arrays, real or complex. Its VJP maps (inputs, cotangents) to one gradient
per input, its JVP maps (inputs, tangents) to one tangent per output. A gradient by a complex number is
`dL/dRe + i dL/dIm`, so what pairs it with a direction is the real part of `conj(g) d`, and a rule without conjugates
is wrong. All checks raise `WrongRule` and compare as `not error <= bound`, so that NaN fails.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Function = Callable[[list[Array]], Sequence[Array]]
Rule = Callable[[list[Array], list[Array]], Sequence[Array]]

# The step balances truncation (EPS**2) against rounding (2**-52 / EPS): the error of a difference is about 1e-10 of the
# function's size. The bounds leave a factor 1e3 to 1e4 for third derivatives, and still see one part in 1e5.
EPS = 2.0**-17
RTOL = 1e-6
ATOL = 1e-8
# Two rules of one op differ by rounding alone.
ADJOINT_RTOL = 1e-10


def normal_like(x: Array, rng: np.random.Generator) -> Array:
    """Random numbers of the shape of `x`, complex if it is."""
    real = np.asarray(rng.standard_normal(np.shape(x)))
    return np.asarray(real + 1j * rng.standard_normal(np.shape(x))) if np.iscomplexobj(x) else real


class WrongRule(AssertionError):
    """A derivative rule disagrees with the function."""


def differences(f: Function, xs: list[Array], ds: list[Array]) -> list[Array]:
    """The derivative of `f` at `xs` in the direction `ds`."""
    above = f([x + EPS * d for x, d in zip(xs, ds, strict=True)])
    below = f([x - EPS * d for x, d in zip(xs, ds, strict=True)])
    return [(np.asarray(p) - np.asarray(m)) / (2 * EPS) for p, m in zip(above, below, strict=True)]


def check_vjp(f: Function, vjp: Rule, xs: list[Array], rng: np.random.Generator, rounds: int = 1) -> None:
    """Compare <g, f'(x) d> with <vjp(g), d>, for each input by itself, in random directions.

    One input at a time, so that no error hides behind a larger input. Cotangents are random: with all ones a
    permuted gradient looks right.
    """
    ys = f(xs)
    for _ in range(rounds):
        gs = [normal_like(y, rng) for y in ys]
        grads = vjp(xs, gs)
        _same_shapes("gradient", grads, xs)
        for i, x in enumerate(xs):
            d = normal_like(x, rng)
            dys = differences(f, xs, [d if i == k else np.zeros_like(other) for k, other in enumerate(xs)])
            _within(f"gradient of input {i}", float(np.vdot(grads[i], d).real), *_paired(gs, dys), RTOL, ATOL)


def check_jvp(f: Function, jvp: Rule, xs: list[Array], rng: np.random.Generator) -> None:
    """Compare every entry of jvp(d) with f'(x) d, for a random direction in each input and in all at once."""
    ys = f(xs)
    for i in range(-1, len(xs)):
        ds = [normal_like(x, rng) * (i in (-1, k)) for k, x in enumerate(xs)]
        tangents = jvp(xs, ds)
        _same_shapes("tangent", tangents, ys)
        for k, (tangent, dy) in enumerate(zip(tangents, differences(f, xs, ds), strict=True)):
            scale = np.abs(dy).max(initial=0.0)
            error = np.abs(tangent - dy).max(initial=0.0)
            if not error <= RTOL * scale + ATOL:
                raise WrongRule(f"tangent of output {k}: off by {error:.3g} where the largest entry is {scale:.3g}")


def check_adjoint(jvp: Rule, vjp: Rule, xs: list[Array], ys: Sequence[Array], rng: np.random.Generator) -> None:
    """Compare <g, jvp(d)> with <vjp(g), d>: two rules for one derivative agree to rounding."""
    ds = [normal_like(x, rng) for x in xs]
    gs = [normal_like(y, rng) for y in ys]
    grads, tangents = vjp(xs, gs), jvp(xs, ds)
    _same_shapes("gradient", grads, xs)
    _same_shapes("tangent", tangents, ys)
    by_vjp, size = _paired(grads, ds)
    by_jvp, other_size = _paired(gs, tangents)
    _within("JVP against VJP", by_vjp, by_jvp, size + other_size, ADJOINT_RTOL, 1e-12)


def _paired(left: Sequence[Array], right: Sequence[Array]) -> tuple[float, float]:
    """<left, right>, and the same with absolute values: what rounding errors are proportional to."""
    terms = [(np.conj(a) * np.asarray(b)).real for a, b in zip(left, right, strict=True)]
    if not all(np.isfinite(term).all() for term in terms):
        return float("nan"), float("nan")
    return float(sum(t.sum() for t in terms)), float(sum(np.abs(t).sum() for t in terms))


def _within(what: str, got: float, want: float, scale: float, rtol: float, atol: float) -> None:
    if not abs(got - want) <= rtol * scale + atol:
        raise WrongRule(f"{what}: {got:.12g}, expected {want:.12g} (terms add up to {scale:.3g})")


def _same_shapes(what: str, got: Sequence[Array], like: Sequence[Array]) -> None:
    shapes, wanted = [np.shape(a) for a in got], [np.shape(a) for a in like]
    if shapes != wanted:
        raise WrongRule(f"{what} shapes {shapes}, expected {wanted}")
