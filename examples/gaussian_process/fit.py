"""Fit a Gaussian process by its likelihood: first and second derivatives through a Cholesky factorization.

    python examples/gaussian_process/fit.py --output gp-output

Noisy samples of a smooth function have a gap in the middle. The covariance of the process has an amplitude, a length
and a noise; their logarithms maximise the marginal likelihood (Rasmussen and Williams, Gaussian Processes for Machine
Learning, 2006, section 5.4.1), found by Newton's method with the Hessian of ``rg.func.hessian``, forward mode over
reverse mode. The Hessian at the end tells how certain each of the three is.

Leaves ``process.png`` in the output folder: the samples and what the process says between them, and the steps.

Exits with 1 if the fit does not converge, a parameter is off by more than three of its standard deviations, or a
derivative does not agree with differences.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import trange

import retrograd as rg
from process_picture import draw_process
from retrograd import Tensor

NAMES = ("amplitude", "length", "noise")
TRUTH = (1.2, 0.6, 0.15)
START = (0.5, 2.0, 0.5)
STEP = 0.7  # the largest change of a logarithm in one iteration


def covariance(x: Tensor, z: Tensor, log_parameters: Tensor) -> Tensor:
    """The covariances of the process, without noise, between the places `x` and `z`, of shape (len(x), len(z))."""
    amplitude, length, _ = log_parameters.exp().unbind()
    return amplitude**2 * rg.exp(-0.5 * ((x[:, None] - z[None, :]) / length) ** 2)


def factor(x: Tensor, log_parameters: Tensor) -> Tensor:
    """The lower Cholesky factor of the covariance of noisy samples at `x`."""
    noise = log_parameters[2].exp()
    return rg.linalg.cholesky(covariance(x, x, log_parameters) + noise**2 * rg.eye(len(x), dtype=x.dtype))


def loss_of(log_parameters: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The negative logarithm of the marginal likelihood of the samples `y` at `x`."""
    lower = factor(x, log_parameters)
    white = rg.linalg.solve_triangular(lower, y[:, None], upper=False)
    return 0.5 * (white**2).sum() + lower.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)


def posterior(log_parameters: Tensor, x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of the process at the places `z`."""
    lower = factor(x, log_parameters)
    both = rg.cat([y[:, None], covariance(x, z, log_parameters)], 1)
    white = rg.linalg.solve_triangular(lower, both, upper=False)
    mean = white[:, 1:].t() @ white[:, 0]
    variance = log_parameters[0].exp() ** 2 - (white[:, 1:] ** 2).sum(0)
    return mean, variance.clamp(min=0).sqrt()


@dataclass
class Found:
    """What was fitted; the Hessian of the loss there; the loss and the parameters of each iteration."""

    log_parameters: Tensor
    hessian: Tensor
    losses: list[float] = field(default_factory=list)
    parameters: list[list[float]] = field(default_factory=list)
    converged: bool = False


def fit(x: Tensor, y: Tensor, *, iterations: int) -> Found:
    """Newton's method; where the loss is not convex, the eigenvalues of the Hessian are replaced by their sizes."""
    p = rg.tensor(START, dtype=x.dtype).log()
    value_and_gradient = rg.func.grad_and_value(lambda q: loss_of(q, x, y))
    hessian_of = rg.func.hessian(lambda q: loss_of(q, x, y))
    found = Found(p, hessian_of(p))
    progress = trange(iterations, desc="fitting", unit="iteration")
    for _ in progress:
        gradient, loss = value_and_gradient(p)
        found.losses.append(loss.item())
        found.parameters.append(p.exp().tolist())
        found.log_parameters, found.hessian = p, hessian_of(p)
        progress.set_postfix_str(f"loss {loss.item():.4f}")
        if gradient.abs().max().item() < 1e-6:
            found.converged = True
            break
        sizes, axes = rg.linalg.eigh(found.hessian)
        step = axes @ ((axes.t() @ gradient) / sizes.abs().clamp(min=1e-3))
        p = p - step * min(1.0, STEP / step.abs().max().item())
    return found


def derivative_errors(x: Tensor, y: Tensor) -> tuple[float, float]:
    """How far gradient and Hessian along a direction are from differences, relative to them."""
    p, direction, h = rg.tensor(START, dtype=x.dtype).log(), rg.tensor([0.3, -0.7, 0.5], dtype=x.dtype), 1e-4
    gradient_of, hessian_of = rg.func.grad(lambda q: loss_of(q, x, y)), rg.func.hessian(lambda q: loss_of(q, x, y))
    slope = (loss_of(p + h * direction, x, y) - loss_of(p - h * direction, x, y)) / (2 * h)
    bend = (gradient_of(p + h * direction) - gradient_of(p - h * direction)) / (2 * h)
    first = (gradient_of(p) @ direction - slope).abs() / slope.abs()
    second = (hessian_of(p) @ direction - bend).norm() / bend.norm()
    return first.item(), second.item()


def samples(n: int) -> tuple[Tensor, Tensor]:
    """Places on both sides of a gap, and a draw of the true process there, with noise."""
    x = rg.cat([rg.linspace(-4.0, -0.8, n // 2, dtype=rg.float64), rg.linspace(1.0, 4.0, n - n // 2, dtype=rg.float64)])
    return x, factor(x, rg.tensor(TRUTH, dtype=x.dtype).log()) @ rg.randn(n, dtype=rg.float64)


def main(argv: list[str] | None = None) -> int:
    """Draw samples, fit, draw the picture, and judge."""
    parser = argparse.ArgumentParser(description="Fit a Gaussian process by Newton's method on its likelihood.")
    parser.add_argument("--output", type=Path, default=Path("gp-output"), help="folder for the picture")
    parser.add_argument("--samples", type=int, default=90)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)

    rg.manual_seed(options.seed)
    x, y = samples(options.samples)
    errors = derivative_errors(x, y)
    found = fit(x, y, iterations=options.iterations)
    places = rg.linspace(-5.0, 5.0, 301, dtype=rg.float64)
    mean, deviation = posterior(found.log_parameters, x, y, places)

    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "process.png"
    process = [t.numpy() for t in (places, mean, deviation)]
    draw_process(x.numpy(), y.numpy(), process, found.losses, found.parameters, NAMES, TRUTH, path)
    print(f"{len(found.losses)} iterations, loss {found.losses[-1]:.4f}")

    failures = []
    if not found.converged:
        failures.append("the fit did not converge")
    # The inverse of the Hessian of the loss is the covariance of the logarithms, near enough.
    uncertainty = rg.linalg.inv(found.hessian).diagonal().abs().sqrt().tolist()
    for name, log, true, deviates in zip(NAMES, found.log_parameters.tolist(), TRUTH, uncertainty, strict=True):
        print(f"{name} {math.exp(log):.3f}, within a factor of {math.exp(deviates):.2f}, where {true} was true")
        if not abs(log - math.log(true)) <= 3 * deviates:  # written so that NaN fails too
            failures.append(f"the {name} is {math.exp(log):.3f} and not {true}")
    print(f"gradient and Hessian differ from differences by {errors[0]:.1e} and {errors[1]:.1e}")
    print(f"  {path}")
    if not max(errors) <= 1e-6:
        failures.append(f"derivatives differ from differences by {errors[0]:.1e} and {errors[1]:.1e}")
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
