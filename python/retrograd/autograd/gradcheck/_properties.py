"""What a backward pass and a forward mode must do besides giving the right numbers, as `gradcheck` checks it.

Gradients of zero lead to gradients of zero; gradients and tangents that are not there count as zeros; and a batch of
gradients or tangents, at a private level of `vmap`, leads to what each of them leads to alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from retrograd import _core
from retrograd._core import Generator, Tensor
from retrograd.autograd.function import Function
from retrograd.autograd.gradcheck._differences import (
    Check,
    GradcheckError,
    as_tuple,
    flat,
    output_tangents,
    place,
    random_values,
    tensor_like,
    zeros_like,
)
from retrograd.autograd.gradcheck._report import agree, comparison, worst

# Two ways through the same rules differ by rounding alone: the tolerances of allclose.
RTOL, ATOL = 1e-5, 1e-8
BATCH = 2
SEED = 21  # of the random gradients and tangents: a check gives the same answer each time


def differentiable(results: Any) -> list[Tensor]:
    """What requires grad of what a function returned."""
    return [o for o in as_tuple(results) if isinstance(o, Tensor) and o.requires_grad]


def check_zero_gradients(check: Check) -> None:
    """Zero gradients of all outputs give zero gradients of the inputs, of their dtype and size."""
    grads = _core._grad(check.outputs, tuple(map(zeros_like, check.outputs)), True, False, check.sources, True)
    for i, (x, g) in enumerate(zip(check.sources, grads, strict=True)):
        if g is None:
            continue
        if any(flat(g)):
            raise GradcheckError(
                f"backward not multiplied by grad_output: with grad_outputs of zero, {check.name(i)} gets the gradient "
                f"{g}. Likely cause: a term of the rule lacks the factor grad_output, or the rule gives NaN or infinity"
            )
        if g.dtype != x.dtype:
            raise GradcheckError(f"grad is incorrect type: {g.dtype} for {check.name(i)}, which is {x.dtype}")
        if g.shape != x.shape:
            raise GradcheckError(f"grad is incorrect size: {tuple(g.shape)} for {check.name(i)} of {tuple(x.shape)}")


class _Undefined(Function):
    """The identity; its backward gives no gradient at all."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        copy: Tensor = x.clone()
        return copy

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> None:
        return None


def check_undefined_gradients(check: Check) -> None:
    """Output gradients that are undefined, all or one at a time, are handled, and count as zero."""
    count = len(check.outputs)
    subsets = [set(range(count))] + ([{k} for k in range(count)] if count > 1 else [])
    for undefined in subsets:
        outputs = differentiable(check.func(*check.inputs))
        roots = tuple(_Undefined.apply(o) if k in undefined else o for k, o in enumerate(outputs))
        try:
            grads = _core._grad(roots, tuple(map(zeros_like, roots)), True, False, check.sources, True)
        except RuntimeError as error:
            raise GradcheckError(
                f"Expected backward function to handle undefined output grads: with {_those(undefined)} undefined it "
                f"raised {type(error).__name__}: {error}. Rules that are not given zeros (materialize_grads) get None "
                "for them; check_undefined_grad=False leaves this out"
            ) from error
        for i, g in enumerate(grads):
            if g is not None and any(flat(g)):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero, but "
                    f"with {_those(undefined)} undefined {check.name(i)} gets the gradient {g}. Likely cause: the rule "
                    "takes None for something else than zeros"
                )


def _those(outputs: set[int]) -> str:
    return "the gradient of output " + " and ".join(map(str, sorted(outputs)))


def check_undefined_tangents(check: Check) -> None:
    """A tangent that is not there leads to what a tangent of zeros leads to."""
    generator = Generator().manual_seed(SEED)
    drawn = [tensor_like(random_values(x, generator), x) for x in check.sources]
    for i, x in enumerate(check.sources):
        tangents: list[Tensor | None] = list(drawn)
        tangents[i] = zeros_like(x)
        expected = output_tangents(check, tangents)
        tangents[i] = None
        found = output_tangents(check, tangents)
        for k, (e, g) in enumerate(zip(expected, found, strict=True)):
            if e is None or g is None:
                continue
            if not agree(flat(e), flat(g), ATOL, RTOL):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {k} when {check.name(i)} has an undefined "
                    f"tangent value. Got: {g} but expected, as for a tangent of zeros: {e}"
                )


# ---- batches


_Run = Callable[[Tensor, int | None], Sequence[Tensor | None]]  # of a tensor, and the private level it is batched at


def check_batched_gradients(check: Check) -> None:
    """A batch of gradients of an output gives what each of them gives alone."""
    generator = Generator().manual_seed(SEED)
    for k, output in enumerate(check.outputs):

        def vjp(weights: Tensor, level: int | None, output: Tensor = output) -> Sequence[Tensor | None]:
            grads: Sequence[Tensor | None] = _core._grad((output,), (weights,), True, False, check.sources, True)
            return grads

        alone, batched = _both_ways(vjp, output, generator)
        for i, x in enumerate(check.sources):
            _compare(check, i, k, x, [grads[i] for grads in alone], batched[i])


def check_batched_tangents(check: Check) -> None:
    """A batch of tangents of an input gives what each of them gives alone."""
    generator = Generator().manual_seed(SEED)
    for i, x in enumerate(check.sources):

        def jvp(tangent: Tensor, level: int | None, i: int = i) -> Sequence[Tensor | None]:
            tangents: list[Tensor | None] = [None] * len(check.sources)
            tangents[i] = tangent
            return output_tangents(check, tangents, level)

        alone, batched = _both_ways(jvp, x, generator)
        for k, output in enumerate(check.outputs):
            _compare(check, i, k, output, [tangents[k] for tangents in alone], batched[k], forward=True)


def _both_ways(
    run: _Run, like: Tensor, generator: Generator
) -> tuple[list[Sequence[Tensor | None]], list[Tensor | None]]:
    """What `run` gives for random tensors alone, and for a batch of them: with the batch as first axis."""
    draws = [random_values(like, generator) for _ in range(BATCH)]
    alone = [run(tensor_like(values, like), None) for values in draws]
    stacked = tensor_like(list(chain(*draws)), like, BATCH)
    try:
        with _core._private_level(BATCH) as level:
            batched = run(_core._batch(stacked, 0, level), level)
            return alone, [None if t is None else _core._unbatch(t, 0, level) for t in batched]
    except RuntimeError as error:
        raise GradcheckError(
            f"While computing batched gradients, got: {error}\n\n"
            "Likely cause: a rule looks at values (item(), a branch), or writes what is batched into memory that is "
            "not; it runs once for the whole batch"
        ) from error


def _compare(
    check: Check, i: int, k: int, like: Tensor, alone: list[Tensor | None], batch: Tensor | None, forward: bool = False
) -> None:
    """Whether the runs alone and the run of the batch gave the same; `like` is what a single result looks like."""
    size = like.numel()
    expected = [[0.0] * size if t is None else flat(t) for t in alone]
    values = [0.0] * (BATCH * size) if batch is None else flat(batch)
    got = [values[n * size : (n + 1) * size] for n in range(BATCH)]
    if all(agree(e, g, ATOL, RTOL) for e, g in zip(expected, got, strict=True)):
        return
    _, n, at = worst(expected, got, ATOL, RTOL)
    what = f"the tangent of output {k}" if forward else f"the gradient of {check.name(i)}"
    raise GradcheckError(
        "While computing batched gradients: a batch gives something else than its members give one by one"
        + (" (computed with forward mode)" if forward else "")
        + f".\nFor output {k} and input {i}:\nGot:\n{tensor_like(values, like, BATCH)}\n"
        + f"Expected:\n{tensor_like(list(chain(*expected)), like, BATCH)}\n"
        + f"Worst in {what}, member {n} of the batch, entry {place(at, like.shape)}:\n"
        + f"  {comparison(('alone', 'batched'), (expected[n][at], got[n][at]), ATOL, RTOL)}\n"
        + "Likely cause: the batching rule of an op that the derivative rests on is wrong (the vmap of a Function), or "
        + "a rule depends on more of its gradients than their values"
    )
