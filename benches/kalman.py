"""The likelihood of a Kalman filter: many small ops, one after another, and its second derivatives.

Imported for the cases that it adds. `hvp_in_gradients` says what a product with the Hessian costs beside a gradient.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from cases import Thunk, case
from timing import Plan, race

STEPS = 40
# The row of what `hvp_in_gradients` gives, and the most that it may be.
HVP_IN_GRADIENTS, MOST = f"Kalman filter of {STEPS} steps, hvp in gradients", 5.0


def likelihood(m: ModuleType) -> tuple[Any, Any, Any]:
    """The negative log likelihood of a plane state that turns and shrinks, a point, and a direction there.

    The four parameters: angle of a step, logarithms of the variances of state and measurement, shrinkage.
    """
    f64 = m.float64
    measured, eye = m.randn(STEPS, 2, dtype=f64), m.eye(2, dtype=f64)

    def matrix(a: Any, b: Any, c: Any, d: Any) -> Any:
        return m.stack([m.stack([a, b]), m.stack([c, d])])

    def negative_log_likelihood(p: Any) -> Any:
        angle, q, r = p[0], p[1].exp() * eye, p[2].exp() * eye
        step = matrix(angle.cos(), angle.sin(), -angle.sin(), angle.cos()) * p[3]
        mean, covariance, total = m.zeros(2, dtype=f64), eye, 0.0
        for t in range(STEPS):
            mean = step @ mean
            covariance = step @ covariance @ step.T + q
            s, error = covariance + r, measured[t] - mean
            determinant = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
            inverse = matrix(s[1, 1], -s[0, 1], -s[1, 0], s[0, 0]) / determinant
            gain = covariance @ inverse
            total = total + 0.5 * (determinant.log() + error @ (inverse @ error))
            mean, covariance = mean + gain @ error, covariance - gain @ covariance
        return total

    return (
        negative_log_likelihood,
        m.tensor([0.3, -1.0, -0.5, 0.9], dtype=f64),
        m.tensor([0.3, 0.7, -0.2, 0.5], dtype=f64),
    )


def gradient(m: ModuleType) -> Thunk:
    f, p, _ = likelihood(m)
    by_p = m.func.grad(f)
    return lambda: by_p(p)


def product(m: ModuleType) -> Thunk:
    f, p, v = likelihood(m)
    by_p = m.func.grad(f)
    return lambda: m.func.jvp(by_p, (p,), (v,))


case(f"Kalman filter of {STEPS} steps, gradient", 5.0)(gradient)
case(f"Kalman filter of {STEPS} steps, jvp of grad (hvp)", 5.0)(product)


def hvp_in_gradients(package: ModuleType, plan: Plan) -> float:
    """How many gradients of the likelihood a product with its Hessian, by `jvp` of `grad`, takes as long as."""
    samples = race({"hvp": partial(product, package), "gradient": partial(gradient, package)}, plan)
    return samples["hvp"].seconds / samples["gradient"].seconds
