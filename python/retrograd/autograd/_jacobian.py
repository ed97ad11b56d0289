"""Jacobians by differences, by the recorded rules and by forward mode, as `gradcheck` compares them.

A Jacobian is measured along probes: directions in an input and in an output. With the unit vectors as probes its
entries come out, with one random probe on each side a single number that depends on all of them. A complex tensor
counts as two real ones, so that its probes are the unit vectors and 1j times them, and products are real parts.

Values are Python numbers: the checks use none of the ops that they are there to check, beyond those of the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from retrograd import _core
from retrograd._core import Generator, Tensor

Number = float | complex
Values = list[Any]  # of Number: the elements of a tensor, row-major
Probe = list[tuple[int, Number]]  # entries and their weights
Matrix = list[list[float]]  # a row per probe of the input, a column per probe of the output
Function = Callable[[], Sequence[Tensor]]


class Check(NamedTuple):
    """What is checked: `func` at `inputs`, its differentiable inputs and outputs, and how closely."""

    func: Callable[..., Any]
    inputs: tuple[Any, ...]
    names: tuple[str, ...]  # of the inputs, as messages call them
    differentiable: tuple[int, ...]  # positions of the inputs that require grad
    outputs: tuple[Tensor, ...]  # those that are compared
    positions: tuple[int, ...]  # where they are in what func returns
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool

    @property
    def sources(self) -> tuple[Tensor, ...]:
        """The inputs that require grad."""
        return tuple(self.inputs[i] for i in self.differentiable)

    def evaluate(self) -> list[Values]:
        """The outputs as they are now."""
        results = as_tuple(self.func(*self.inputs))
        return [flat(results[k]) for k in self.positions]


class Pair(NamedTuple):
    """One block of the Jacobian, measured in two ways."""

    source: int  # index in `Check.sources`
    output: int  # index in `Check.outputs`
    imaginary: bool  # of a complex output: which part of it
    forward: bool  # the rules were run in forward mode
    numerical: Matrix
    analytical: Matrix


def as_tuple(x: Any) -> tuple[Any, ...]:
    """The members of a tuple or list, or the object itself as the only member."""
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def flat(t: Tensor) -> Values:
    """The elements, row-major."""
    values: Values = t.detach().reshape(-1).tolist()
    return values


def tensor_like(values: Values, t: Tensor) -> Tensor:
    """A tensor of the dtype and shape of `t`."""
    like: Tensor = _core.tensor(values, dtype=t.dtype).reshape(t.shape)
    return like


def unit_probes(t: Tensor, unit: Number = 1.0) -> list[Probe]:
    """The unit vectors times `unit`."""
    return [[(i, unit)] for i in range(t.numel())]


def source_probes(t: Tensor) -> list[Probe]:
    """The unit vectors; of a complex tensor each followed by 1j times it."""
    if not t.is_complex():
        return unit_probes(t)
    units: tuple[Number, Number] = (1.0, 1j)
    return [[(i, unit)] for i in range(t.numel()) for unit in units]


def random_probe(t: Tensor, generator: Generator, unit: Number = 1.0) -> Probe:
    """A random direction of length 1, times `unit`."""
    draws = _core.randn(t.numel(), dtype=_core.float64, generator=generator).tolist()
    length = math.sqrt(sum(w * w for w in draws)) or 1.0
    return [(i, unit * w / length) for i, w in enumerate(draws)]


def product(probe: Probe, values: Values) -> float:
    """The real inner product."""
    return sum(float((w.conjugate() * values[i]).real) for i, w in probe)


def spread(probe: Probe, size: int) -> Values:
    """The probe as a dense vector."""
    values: Values = [0.0] * size
    for i, w in probe:
        values[i] += w
    return values


def differences(check: Check, x: Tensor, probe: Probe) -> Iterator[list[Values]]:
    """The outputs at `x` plus eps times the probe, then at `x` minus it. `x` is then as it was."""
    before = flat(x)
    # Through `.data`, so that no version counts the writes: what the graph saved is restored before it is read.
    memory = x.data
    try:
        for step in (check.eps, -check.eps):
            moved = list(before)
            for i, w in probe:
                moved[i] += step * w
            memory.copy_(tensor_like(moved, x))
            yield check.evaluate()
    finally:
        memory.copy_(tensor_like(before, x))


def slopes(check: Check, x: Tensor, probe: Probe) -> list[Values]:
    """The central difference of every output along the probe."""
    above, below = differences(check, x, probe)
    for k, (a, b, o) in enumerate(zip(above, below, check.outputs, strict=True)):
        if not len(a) == len(b) == o.numel():
            raise ValueError(
                f"gradcheck: func must return outputs of the same shape when an input moves by eps, but output {k} has "
                f"{o.numel()}, {len(a)} and {len(b)} elements at x, x + eps and x - eps"
            )
    return [[(p - m) / (2 * check.eps) for p, m in zip(a, b, strict=True)] for a, b in zip(above, below, strict=True)]


class Irreproducible(Exception):
    """A second backward pass gave other gradients than the first, beyond the tolerance."""


class WrongGradient(Exception):
    """A gradient's dtype or size is not its input's."""


def pulled(check: Check, output: Tensor, probe: Probe) -> list[Values]:
    """The gradient of <probe, output> with respect to each source; zeros where there is none."""
    weights = (tensor_like(spread(probe, output.numel()), output),)
    grads, again = (_core._grad((output,), weights, True, False, check.sources, True) for _ in range(2))
    rows = []
    for i, (x, g, h) in enumerate(zip(check.sources, grads, again, strict=True)):
        if g is None or h is None:
            rows.append([0.0] * x.numel())
            continue
        if check.check_grad_dtypes and g.dtype != x.dtype:
            raise WrongGradient(f"Gradient has dtype mismatch: {g.dtype} for input {i}, which is {x.dtype}")
        if g.shape != x.shape:
            raise WrongGradient(
                f"Analytical gradient has incorrect size: {tuple(g.shape)} for input {i} of {tuple(x.shape)}"
            )
        row = flat(g)
        if any(abs(a - b) > check.nondet_tol for a, b in zip(row, flat(h), strict=True)):
            raise Irreproducible
        rows.append(row)
    return rows


def pushed(check: Check, source: int, probe: Probe) -> list[Values]:
    """The directional derivative of every output along the probe in one source, by forward mode."""
    sources = check.sources
    tangents = [tensor_like(spread(probe if i == source else [], x.numel()), x) for i, x in enumerate(sources)]

    def func(*duals: Tensor) -> tuple[Tensor, ...]:
        args = list(check.inputs)
        for i, dual in zip(check.differentiable, duals, strict=True):
            args[i] = dual.requires_grad_()
        results = as_tuple(check.func(*args))
        return tuple(results[k] for k in check.positions)

    _, results = _core._jvp(func, [x.detach() for x in sources], tangents)
    return [[0.0] * o.numel() if t is None else flat(t) for o, t in zip(check.outputs, results, strict=True)]


def pairs(check: Check, *, forward: bool, generator: Generator | None = None) -> Iterator[Pair]:
    """Every block of the Jacobian by differences and by rules: entry by entry, or along one random probe on each side.

    Args: `forward` runs the rules in forward mode; `generator` asks for random probes.
    """
    if generator is None:
        inward = [source_probes(x) for x in check.sources]
    else:  # a complex probe is a real one and an imaginary one
        units = [(1.0, 1j) if x.is_complex() else (1.0,) for x in check.sources]
        inward = [
            [[part for unit in us for part in random_probe(x, generator, unit)]]
            for x, us in zip(check.sources, units, strict=True)
        ]
    measured = [[slopes(check, x, p) for p in probes] for x, probes in zip(check.sources, inward, strict=True)]
    tangents = [[pushed(check, i, p) for p in probes] for i, probes in enumerate(inward)] if forward else []
    for k, output in enumerate(check.outputs):
        for imaginary in (False, True) if output.is_complex() else (False,):
            unit = 1j if imaginary else 1.0
            outward = [random_probe(output, generator, unit)] if generator else unit_probes(output, unit)
            grads = [] if forward else [pulled(check, output, w) for w in outward]
            for i, probes in enumerate(inward):
                numerical = [[product(w, measured[i][d][k]) for w in outward] for d in range(len(probes))]
                if forward:
                    analytical = [[product(w, tangents[i][d][k]) for w in outward] for d in range(len(probes))]
                else:
                    analytical = [[product(p, row[i]) for row in grads] for p in probes]
                yield Pair(i, k, imaginary, forward, numerical, analytical)
