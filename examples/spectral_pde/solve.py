"""Find what a flow began as, and its viscosity, from how it looked later: gradients through a spectral solver.

    python examples/spectral_pde/solve.py --output pde-output

Burgers' equation ``u_t + u u_x = viscosity u_xx`` on a circle is solved in Fourier space: derivatives are products
with ``i k``, the nonlinear term is computed on a grid, and the viscous term is integrated exactly. The solver is made
of ``rg.fft.rfft`` and ``rg.fft.irfft``, so ``backward()`` goes through all of its steps, to the complex coefficients
of the initial state and to the viscosity. Adam, written out by hand, fits both to noisy observations at four times.

Leaves ``burgers.png`` in the output folder: the flow, what it began as and what was found, and the loss.

Exits with 1 if the viscosity found is off by more than 10 %, the initial state by more than 5 %, or the gradient does
not agree with differences.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import trange

import retrograd as rg
from flow_picture import draw_flow
from retrograd import Tensor

MODES = 6
TIME = 1.2
VISCOSITY = 0.05
NOISE = 0.02
TOLERANCE_OF_VISCOSITY, TOLERANCE_OF_STATE = 0.1, 0.05


@dataclass(frozen=True)
class Solver:
    """Burgers' equation at `n` points of a circle, in `steps` steps, with `seen` of the states returned."""

    n: int
    steps: int
    seen: int = 4

    def grid(self) -> Tensor:
        return rg.arange(self.n, dtype=rg.float64) * (2 * math.pi / self.n)

    def run(self, modes: Tensor, viscosity: Tensor) -> Tensor:
        """States of shape (1 + seen, n), the initial one first; `modes` are its Fourier coefficients 1, 2, ..."""
        n, dt = self.n, TIME / self.steps
        k = rg.arange(n // 2 + 1, dtype=rg.float64)
        # -1/2 d/dx, without the upper third of the frequencies, into which products of the others fold.
        slope = rg.complex(rg.zeros_like(k), -0.5 * k * (k < n / 3))
        half = rg.exp(-0.5 * dt * viscosity * k**2)  # what half a step of viscosity leaves of each frequency
        whole = half * half

        def push(v: Tensor) -> Tensor:
            u = rg.fft.irfft(v, n)
            return dt * slope * rg.fft.rfft(u * u)

        v = rg.nn.functional.pad(modes, (1, n // 2 - modes.shape[0])) * (n / 2)
        states = [rg.fft.irfft(v, n)]
        for step in range(1, self.steps + 1):  # Runge-Kutta of fourth order, in the variables that viscosity leaves
            a = push(v)
            b = push(half * (v + 0.5 * a))
            c = push(half * v + 0.5 * b)
            d = push(whole * v + half * c)
            v = whole * v + (whole * a + 2 * half * (b + c) + d) / 6
            if step % (self.steps // self.seen) == 0:
                states.append(rg.fft.irfft(v, n))
        return rg.stack(states)


@dataclass
class Found:
    """What was fitted, with an entry per iteration in the lists."""

    modes: Tensor
    log_viscosity: Tensor
    losses: list[float] = field(default_factory=list)
    viscosities: list[float] = field(default_factory=list)


def loss_of(solver: Solver, modes: Tensor, log_viscosity: Tensor, observed: Tensor) -> Tensor:
    """The mean square of what is between the states after the first one and the observations."""
    return ((solver.run(modes, log_viscosity.exp())[1:] - observed) ** 2).mean()


def fit(solver: Solver, observed: Tensor, *, iterations: int, rate: float) -> Found:
    """Minimise the loss with Adam, from a still flow of twice the viscosity."""
    modes = rg.zeros(MODES, dtype=rg.complex128, requires_grad=True)
    log_viscosity = rg.tensor(math.log(2 * VISCOSITY), dtype=rg.float64, requires_grad=True)
    found = Found(modes, log_viscosity)
    mean = [rg.zeros_like(p) for p in (modes, log_viscosity)]
    square = [rg.zeros_like(p.detach().abs()) for p in (modes, log_viscosity)]
    progress = trange(1, iterations + 1, desc="fitting", unit="iteration")
    for i in progress:
        loss = loss_of(solver, modes, log_viscosity, observed)
        loss.backward()
        step = rate * (1 - (i - 1) / iterations)
        with rg.no_grad():
            for p, m, s in zip((modes, log_viscosity), mean, square, strict=True):
                m.mul_(0.9).add_(0.1 * p.grad)
                s.mul_(0.99).add_(0.01 * p.grad.abs() ** 2)  # of a complex number one size, not one for each part
                p.sub_(step * (m / (1 - 0.9**i)) / ((s / (1 - 0.99**i)).sqrt() + 1e-12))
                p.grad = None
        found.losses.append(loss.item())
        found.viscosities.append(math.exp(log_viscosity.item()))
        progress.set_postfix_str(f"loss {found.losses[-1]:.2e}, viscosity {found.viscosities[-1]:.4f}")
    return found


def gradient_error(solver: Solver, observed: Tensor) -> float:
    """How far the derivative along a direction is from a difference, relative to it."""
    modes = rg.full((MODES,), 0.2 + 0.1j, dtype=rg.complex128, requires_grad=True)
    log_viscosity = rg.tensor(math.log(VISCOSITY), dtype=rg.float64, requires_grad=True)
    loss_of(solver, modes, log_viscosity, observed).backward()
    direction, h = rg.complex(rg.linspace(-1, 1, MODES), rg.linspace(0.5, 2, MODES)).to(rg.complex128), 1e-5
    # A gradient is dL/dRe + i dL/dIm, so its product with a direction is the real part of conj(gradient) direction.
    predicted = (modes.grad.conj() * direction).sum().real.item() + 0.5 * log_viscosity.grad.item()
    with rg.no_grad():
        ahead = loss_of(solver, modes + h * direction, log_viscosity + h * 0.5, observed)
        behind = loss_of(solver, modes - h * direction, log_viscosity - h * 0.5, observed)
    difference = (ahead - behind).item() / (2 * h)
    return abs(predicted - difference) / abs(difference)


def main(argv: list[str] | None = None) -> int:
    """Make observations, fit, draw, and judge."""
    parser = argparse.ArgumentParser(description="Fit a flow by gradients through a spectral solver.")
    parser.add_argument("--output", type=Path, default=Path("pde-output"), help="folder for the picture")
    parser.add_argument("--points", type=int, default=64)
    parser.add_argument("--steps", type=int, default=32, help="of the solver, a multiple of 4")
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--rate", type=float, default=0.15, help="step size of the first iteration")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)

    rg.manual_seed(options.seed)
    solver = Solver(options.points, options.steps)
    x = solver.grid()
    start = rg.sin(x) + 0.5 * rg.cos(2 * x + 1.0) - 0.3 * rg.sin(3 * x - 0.5)
    modes = rg.fft.rfft(start)[1 : MODES + 1] / (options.points / 2)
    truth = solver.run(modes, rg.tensor(VISCOSITY, dtype=rg.float64))
    observed = truth[1:] + NOISE * rg.randn(*truth[1:].shape, dtype=rg.float64)

    wrong_gradient = gradient_error(solver, observed)
    found = fit(solver, observed, iterations=options.iterations, rate=options.rate)
    with rg.no_grad():
        states = solver.run(found.modes, found.log_viscosity.exp())
    viscosity = found.viscosities[-1]
    state_error = ((states[0] - start).norm() / start.norm()).item()

    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "burgers.png"
    draw_flow(x.numpy(), truth.numpy(), observed.numpy(), states.numpy(), found.losses, path)
    print(f"viscosity {viscosity:.4f}, where {VISCOSITY} was true; initial state off by {state_error:.1%}")
    print(f"the gradient and a difference differ by {wrong_gradient:.1e}")
    print(f"  {path}")

    failures = []
    if not abs(viscosity / VISCOSITY - 1) <= TOLERANCE_OF_VISCOSITY:  # written so that NaN fails too
        failures.append(f"the viscosity is {viscosity:.4f} and not {VISCOSITY}")
    if not state_error <= TOLERANCE_OF_STATE:
        failures.append(f"the initial state is off by {state_error:.1%}")
    if not wrong_gradient <= 1e-6:
        failures.append(f"the gradient and a difference differ by {wrong_gradient:.1e}")
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
