"""How a function is checked once the options are read: prepared, measured, and compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple, NoReturn

from retrograd import _core
from retrograd._core import Generator, Tensor
from retrograd.autograd.function import Function
from retrograd.autograd.gradcheck._differences import (
    Check,
    GradcheckError,
    Measured,
    Pair,
    as_tuple,
    forward_pairs,
    measure,
    random_values,
    reverse_pairs,
    tensor_like,
)
from retrograd.autograd.gradcheck._properties import (
    SEED,
    check_batched_gradients,
    check_batched_tangents,
    check_undefined_gradients,
    check_undefined_tangents,
    check_zero_gradients,
)
from retrograd.autograd.gradcheck._report import PRECISE, headline, passed, report


class Options(NamedTuple):
    """What is checked, beyond the tolerances."""

    raise_exception: bool
    undefined: bool
    backward: bool
    forward: bool
    batched_backward: bool
    batched_forward: bool
    fast: bool


def run(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    naming: Callable[[], tuple[str, ...]],
    tolerances: tuple[float, float, float, float, bool],
    how: Options,
    note: str = "",
) -> bool:
    check = _prepare(func, inputs, naming, note, tolerances)
    try:
        if check.outputs:
            _check_derivatives(check, how)
        else:
            _check_constant(check, how.fast)
    except GradcheckError:
        if how.raise_exception:
            raise
        return False
    return True


def _check_derivatives(check: Check, how: Options) -> None:
    generator = Generator().manual_seed(SEED) if how.fast else None
    measured = measure(check, generator)
    if how.backward:
        for pair in reverse_pairs(check, measured, generator):
            _compare(check, pair)
    if how.forward:
        for pair in forward_pairs(check, measured):
            _compare(check, pair)
        if how.undefined:
            check_undefined_tangents(check)
    if how.batched_forward:
        check_batched_tangents(check)
    if how.batched_backward:
        check_batched_gradients(check)
    if how.backward:
        check_zero_gradients(check)
        if how.undefined:
            check_undefined_gradients(check)


# ---- preparation


def require(mode: bool, name: str, **options: bool) -> None:
    for option, asked in options.items():
        if asked and not mode:
            raise AssertionError(f"Setting {option}=True requires {name} to be True")


def requires_grad(x: object) -> bool:
    return isinstance(x, Tensor) and bool(x.requires_grad)


def random_gradient(output: Tensor, generator: Generator, strided: bool) -> Tensor:
    values = random_values(output, generator)
    if not strided:
        return tensor_like(values, output).requires_grad_()
    spaced = _core.tensor([v for value in values for v in (value, 0.0)], dtype=output.dtype)
    cotangent: Tensor = spaced.reshape((*output.shape, 2)).select(-1, 0)
    return cotangent.requires_grad_()


def names_of(func: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[str, ...]:
    """What messages call the inputs: their positions, with the parameters' names if they have any."""
    import inspect  # it takes longer to import than all of this package

    owner = getattr(func, "__self__", None)
    custom = isinstance(owner, type) and issubclass(owner, Function)
    try:
        parameters = list(inspect.signature(owner.forward if custom else func).parameters.values())  # type: ignore[union-attr]
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if custom and owner.setup_context is Function.setup_context:  # type: ignore[union-attr]
        names = names[1:]  # ctx
    names += [""] * (len(inputs) - len(names))
    return tuple(f"input {i} ({name})" if name else f"input {i}" for i, name in enumerate(names[: len(inputs)]))


def _prepare(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    naming: Callable[[], tuple[str, ...]],
    note: str,
    tolerances: tuple[float, float, float, float, bool],
) -> Check:
    wanted = tuple(i for i, x in enumerate(inputs) if requires_grad(x))
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i in wanted:
        x = inputs[i]
        if x.dtype not in PRECISE:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex: it is "
                f"{x.dtype}, and differences will probably drown in rounding errors",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0, so that its elements cannot be moved one by one. Call "
                ".contiguous() on it before passing it to gradcheck."
            )
    results = as_tuple(func(*inputs))
    if results and not any(isinstance(o, Tensor) for o in results):
        raise ValueError("gradcheck: func must return a tensor, or a tuple with tensors")
    positions = [k for k, o in enumerate(results) if requires_grad(o)]
    sources = tuple(inputs[i] for i in wanted)
    check = Check(func, inputs, naming, note, wanted, sources, (), (), (), *tolerances)
    return check.of(positions, [results[k] for k in positions])


# ---- comparisons


def _check_constant(check: Check, fast: bool) -> None:
    """Outputs that do not require grad do not depend on inputs that do."""
    results = as_tuple(check.func(*check.inputs))
    numbers = [k for k, o in enumerate(results) if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]
    check = check.of(numbers, [results[k] for k in numbers])
    measured = measure(check, Generator().manual_seed(SEED) if fast else None)
    limit = check.nondet_tol if fast else 0.0
    for i, parts in enumerate(measured.slopes):
        for outputs in chain(*parts):
            for k, values in zip(numbers, outputs, strict=True):
                if not all(abs(v) <= limit for v in values):  # NaN is not constant
                    raise GradcheckError(
                        f"Numerical gradient for function expected to be zero: no output requires grad, but output {k} "
                        f"depends on {check.name(i)}. Likely cause: a detach(), .data, no_grad, item() or conversion "
                        "on the way cuts the graph"
                    )


def _compare(check: Check, pair: Pair) -> None:
    if not passed(pair, check.rtol):
        if pair.projected:
            _fail_slowly(check, pair)
        raise GradcheckError(report(check, pair))


def _fail_slowly(check: Check, pair: Pair) -> NoReturn:
    """A projection differs: the block of the Jacobian is measured entry by entry, for the message."""
    message = headline(check, pair) + "\nThese are random projections of the Jacobians (fast mode). "
    i, k = pair.source, pair.output
    block = check.of((check.positions[k],), (check.outputs[k],))
    block = block._replace(differentiable=(check.differentiable[i],), sources=(check.sources[i],))
    measured: Measured = measure(block)
    for slow in forward_pairs(block, measured) if pair.forward else reverse_pairs(block, measured):
        if not passed(slow, check.rtol):
            raise GradcheckError(
                f"{message}Entry by entry (slow mode):\n\n{report(check, slow._replace(source=i, output=k))}"
            )
    raise GradcheckError(
        message
        + "Fast gradcheck failed but element-wise differences are small: slow mode passes here. Likely cause: the "
        "backward is not linear in grad_output, or the errors of the entries add up; then check with fast_mode=False"
    )
