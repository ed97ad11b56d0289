"""Check gradients against differences: `gradcheck` for first derivatives, `gradgradcheck` for second ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
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
from retrograd.autograd.gradcheck._jacobians import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)
from retrograd.autograd.gradcheck._properties import (
    SEED,
    check_batched_gradients,
    check_batched_tangents,
    check_undefined_gradients,
    check_undefined_tangents,
    check_zero_gradients,
    differentiable,
)
from retrograd.autograd.gradcheck._report import PRECISE, headline, passed, report
from retrograd.autograd.gradcheck._sparse import without_sparse

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]

_Inputs = Tensor | Sequence[Any]
_OF_GRADIENTS = (
    "(Outputs are gradients here, in the order of the inputs of func that require grad. Inputs are those of func, then "
    "the gradients of its outputs.)\n"
)


def gradcheck(
    func: Callable[..., Any],
    inputs: _Inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of a function with central differences, and see that its backward pass behaves.

    Args: `func` takes `inputs` and returns a tensor or a tuple of them; outputs that do not require grad are left
    alone, but if none does, all must be constant. `inputs` a tensor or a tuple with tensors in it; those that require
    grad are checked and should be of double precision. An entry passes if |analytical - numerical| <= `atol` + `rtol` *
    |numerical|, where differences are taken `eps` to either side. `raise_exception` False returns False instead of
    raising GradcheckError. Two backward passes must agree within `nondet_tol`. `check_undefined_grad`: gradients and
    tangents that are zero or undefined must lead to ones that are zero or undefined. `check_grad_dtypes`: gradients
    have the dtypes of their inputs. `check_backward_ad`, `check_forward_ad`: which modes are checked.
    `check_batched_grad`, `check_batched_forward_grad`: a batch of gradients or tangents, as `vmap` runs it, must give
    what its members give. `fast_mode` compares one random projection of each Jacobian. `masked`: elements that a
    sparse input does not give are constants; without it they are zeros like others. Outputs must be dense.
    Returns: True.
    Raises: GradcheckError, which names the input, the entry, both values, the bound and a likely cause; ValueError if
    no input requires grad; RuntimeError for an expanded input; AssertionError for options that contradict each other,
    and for outputs whose shape or dtype depends on the values of the inputs.

    >>> x = rg.tensor([0.5, 1.5], dtype=rg.float64, requires_grad=True)
    >>> rg.autograd.gradcheck(lambda x: x * x.exp(), (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    _require(check_backward_ad, "check_backward_ad", check_batched_grad=check_batched_grad)
    _require(check_forward_ad, "check_forward_ad", check_batched_forward_grad=check_batched_forward_grad)
    options = _Options(
        raise_exception=raise_exception,
        undefined=check_undefined_grad,
        backward=check_backward_ad,
        forward=check_forward_ad,
        batched_backward=check_batched_grad,
        batched_forward=check_batched_forward_grad,
        fast=fast_mode,
    )
    primals = as_tuple(inputs)
    named = partial(_names, func, primals)
    func, primals = without_sparse(func, primals, bool(masked))
    return _run(func, primals, named, (eps, atol, rtol, nondet_tol, check_grad_dtypes), options)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: _Inputs,
    grad_outputs: _Inputs | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second derivatives with differences: `gradcheck` of the map from inputs and gradients to gradients.

    Args: as in `gradcheck`, and: `grad_outputs` the gradients of the outputs, random if None, and then not contiguous
    with `gen_non_contig_grad_outputs`. `check_rev_over_rev` differentiates the backward pass in reverse mode,
    `check_fwd_over_rev` in forward mode; `check_undefined_grad` and `check_batched_grad` need the former.
    Returns: True.
    Raises: as `gradcheck`. A backward that cannot be differentiated shows as an analytical Jacobian of zeros.

    >>> x = rg.tensor([0.5, 1.5], dtype=rg.float64, requires_grad=True)
    >>> rg.autograd.gradgradcheck(lambda x: x * x.exp(), (x,))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    _require(
        check_rev_over_rev,
        "check_rev_over_rev",
        check_undefined_grad=check_undefined_grad,
        check_batched_grad=check_batched_grad,
    )
    primals = as_tuple(inputs)
    first_names = partial(_names, func, primals)
    func, primals = without_sparse(func, primals, masked)
    wanted = tuple(i for i, x in enumerate(primals) if _requires_grad(x))
    if grad_outputs is None:
        generator = Generator().manual_seed(SEED)
        outputs = differentiable(func(*primals))
        cotangents = tuple(_random_gradient(o, generator, gen_non_contig_grad_outputs) for o in outputs)
    else:
        cotangents = as_tuple(grad_outputs)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        args, weights = args[: len(primals)], args[len(primals) :]
        outputs = tuple(differentiable(func(*args)))
        grads = _core._grad(outputs, weights, True, True, tuple(args[i] for i in wanted), True)
        return tuple(g for g in grads if g is not None)

    def names() -> tuple[str, ...]:
        first = len(primals)
        weights = (f"input {first + k} (gradient of output {k})" for k in range(len(cotangents)))
        return (*first_names(), *weights)

    options = _Options(
        raise_exception=raise_exception,
        undefined=check_undefined_grad,
        backward=check_rev_over_rev,
        forward=check_fwd_over_rev,
        batched_backward=check_batched_grad,
        batched_forward=False,
        fast=fast_mode,
    )
    tolerances = eps, atol, rtol, nondet_tol, check_grad_dtypes
    return _run(gradients, primals + cotangents, names, tolerances, options, _OF_GRADIENTS)


class _Options(NamedTuple):
    """What is checked, beyond the tolerances."""

    raise_exception: bool
    undefined: bool
    backward: bool
    forward: bool
    batched_backward: bool
    batched_forward: bool
    fast: bool


def _run(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    naming: Callable[[], tuple[str, ...]],
    tolerances: tuple[float, float, float, float, bool],
    how: _Options,
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


def _check_derivatives(check: Check, how: _Options) -> None:
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


def _require(mode: bool, name: str, **options: bool) -> None:
    for option, asked in options.items():
        if asked and not mode:
            raise AssertionError(f"Setting {option}=True requires {name} to be True")


def _requires_grad(x: object) -> bool:
    return isinstance(x, Tensor) and bool(x.requires_grad)


def _random_gradient(output: Tensor, generator: Generator, strided: bool) -> Tensor:
    values = random_values(output, generator)
    if not strided:
        return tensor_like(values, output).requires_grad_()
    spaced = _core.tensor([v for value in values for v in (value, 0.0)], dtype=output.dtype)
    cotangent: Tensor = spaced.reshape((*output.shape, 2)).select(-1, 0)
    return cotangent.requires_grad_()


def _names(func: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[str, ...]:
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
    wanted = tuple(i for i, x in enumerate(inputs) if _requires_grad(x))
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
    positions = [k for k, o in enumerate(results) if _requires_grad(o)]
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
