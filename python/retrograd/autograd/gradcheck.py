"""Check gradients against differences: `gradcheck` for first derivatives, `gradgradcheck` for second ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from retrograd import _core
from retrograd._core import Generator, Tensor
from retrograd.autograd._diagnosis import PRECISE, headline, part, report, worst
from retrograd.autograd._jacobian import (
    Check,
    Irreproducible,
    Pair,
    WrongGradient,
    as_tuple,
    flat,
    pairs,
    random_probe,
    slopes,
    source_probes,
    tensor_like,
)
from retrograd.autograd.function import Function

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

_Inputs = Tensor | Sequence[Any]
SEED = 20  # of the random probes and gradients: a check gives the same answer each time


class GradcheckError(RuntimeError):
    """A derivative is not what differences say, or a backward pass does not behave as it must.

    >>> import retrograd as rg
    >>> x = rg.ones(1, dtype=rg.float64, requires_grad=True)
    >>> rg.autograd.gradcheck(lambda x: x * x.detach(), x)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    retrograd.autograd.gradcheck.GradcheckError: Jacobian mismatch
    """


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
    """Compare the gradients of a function with central differences.

    Args: `func` takes `inputs` and returns a tensor or a tuple of them; outputs that do not require grad are left
    alone, but if none does, all must be constant. `inputs` a tensor or a tuple with tensors in it; those that require
    grad are checked and should be of double precision. An entry passes if |analytical - numerical| <= `atol` + `rtol` *
    |numerical|, where differences are taken `eps` to either side. `raise_exception` False returns False instead of
    raising GradcheckError. Two backward passes must agree within `nondet_tol`. `check_undefined_grad`: gradients that
    are zero or undefined must lead to gradients that are zero or undefined. `check_grad_dtypes`: gradients have the
    dtypes of their inputs. `check_forward_ad`, `check_backward_ad`: which rules are checked. `fast_mode` compares one
    random projection of each Jacobian. `masked` has no meaning for dense tensors. `check_batched_grad` and
    `check_batched_forward_grad` need vmap and raise NotImplementedError until there is one.
    Returns: True.
    Raises: GradcheckError, which names the input, the entry, both values, the bound and a likely cause; ValueError if
    no input requires grad; RuntimeError for an expanded input; AssertionError for options that contradict each other.

    >>> import retrograd as rg
    >>> x = rg.tensor([0.5, 1.5], dtype=rg.float64, requires_grad=True)
    >>> rg.autograd.gradcheck(lambda x: x * x.exp(), (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    _refuse_batches(check_batched_grad, check_backward_ad, "check_batched_grad", "check_backward_ad")
    _refuse_batches(check_batched_forward_grad, check_forward_ad, "check_batched_forward_grad", "check_forward_ad")
    primals = as_tuple(inputs)
    how = _Options(raise_exception, check_undefined_grad, check_forward_ad, check_backward_ad, fast_mode)
    return _run(func, primals, _names(func, primals), (eps, atol, rtol, nondet_tol, check_grad_dtypes), how)


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
    `check_fwd_over_rev` in forward mode.
    Returns: True.
    Raises: as `gradcheck`. A backward that cannot be differentiated shows as an analytical Jacobian of zeros.

    >>> import retrograd as rg
    >>> x = rg.tensor([0.5, 1.5], dtype=rg.float64, requires_grad=True)
    >>> rg.autograd.gradgradcheck(lambda x: x * x.exp(), (x,))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    _refuse_batches(check_batched_grad, check_rev_over_rev, "check_batched_grad", "check_rev_over_rev")
    primals = as_tuple(inputs)
    wanted = tuple(i for i, x in enumerate(primals) if _requires_grad(x))
    if grad_outputs is None:
        generator = Generator().manual_seed(SEED)
        outputs = _differentiable(func(*primals))
        cotangents = tuple(_random_like(o, generator, gen_non_contig_grad_outputs) for o in outputs)
    else:
        cotangents = as_tuple(grad_outputs)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        args, weights = args[: len(primals)], args[len(primals) :]
        outputs = tuple(_differentiable(func(*args)))
        grads = _core._grad(outputs, weights, True, True, tuple(args[i] for i in wanted), True)
        return tuple(g for g in grads if g is not None)

    names = _names(func, primals) + tuple(f"gradient of output {i}" for i in range(len(cotangents)))
    how = _Options(raise_exception, check_undefined_grad, check_fwd_over_rev, check_rev_over_rev, fast_mode)
    return _run(gradients, primals + cotangents, names, (eps, atol, rtol, nondet_tol, check_grad_dtypes), how)


class _Options(NamedTuple):
    """What is checked, beyond the tolerances."""

    raise_exception: bool
    undefined: bool
    forward: bool
    backward: bool
    fast: bool


def _run(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    names: tuple[str, ...],
    tolerances: tuple[float, float, float, float, bool],
    how: _Options,
) -> bool:
    check = _prepare(func, inputs, names, tolerances)
    try:
        if not check.outputs:
            _check_constant(check, how.fast)
            return True
        if how.backward:
            _check_jacobians(check, how.fast, forward=False)
        if how.forward:
            _check_jacobians(check, how.fast, forward=True)
        if how.backward:
            _check_zero_gradients(check)
            if how.undefined:
                _check_undefined_gradients(check)
    except GradcheckError:
        if how.raise_exception:
            raise
        return False
    return True


# ---- preparation


def _refuse_batches(asked: bool, base: bool, name: str, base_name: str) -> None:
    if not asked:
        return
    if not base:
        raise AssertionError(f"Setting {name}=True requires {base_name} to be True")
    raise NotImplementedError(f"{name}: batched gradients are checked with vmap, which comes with func's transforms")


def _requires_grad(x: object) -> bool:
    return isinstance(x, Tensor) and bool(x.requires_grad)


def _differentiable(results: Any) -> list[Tensor]:
    return [o for o in as_tuple(results) if _requires_grad(o)]


def _random_like(output: Tensor, generator: Generator, strided: bool) -> Tensor:
    shape = (*output.shape, 2) if strided else tuple(output.shape)
    values = _core.randn(shape, dtype=output.dtype, generator=generator)
    cotangent: Tensor = (values.select(-1, 0) if strided else values).requires_grad_()
    return cotangent


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
    names: tuple[str, ...],
    tolerances: tuple[float, float, float, float, bool],
) -> Check:
    differentiable = tuple(i for i, x in enumerate(inputs) if _requires_grad(x))
    if not differentiable:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them does")
    for i in differentiable:
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
    if not any(isinstance(o, Tensor) for o in results):
        raise ValueError("gradcheck: func must return a tensor, or a tuple with tensors")
    positions = tuple(k for k, o in enumerate(results) if _requires_grad(o))
    outputs = tuple(results[k] for k in positions)
    return Check(func, inputs, names, differentiable, outputs, positions, *tolerances)


# ---- the checks


def _check_constant(check: Check, fast_mode: bool) -> None:
    """Outputs that do not require grad do not depend on inputs that do."""
    results = as_tuple(check.func(*check.inputs))
    numbers = [k for k, o in enumerate(results) if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]
    check = check._replace(positions=tuple(numbers), outputs=tuple(results[k] for k in numbers))
    generator = Generator().manual_seed(SEED)
    for i, x in enumerate(check.sources):
        for probe in [random_probe(x, generator)] if fast_mode else source_probes(x):
            for position, values in zip(numbers, slopes(check, x, probe), strict=True):
                if any(abs(v) > (check.atol if fast_mode else 0.0) or v != v for v in values):
                    raise GradcheckError(
                        "Numerical gradient for function expected to be zero: no output requires grad, but output "
                        f"{position} depends on {check.names[check.differentiable[i]]}. Likely cause: a detach(), "
                        ".data, no_grad, item() or conversion on the way cuts the graph"
                    )


def _check_jacobians(check: Check, fast_mode: bool, *, forward: bool) -> None:
    try:
        if fast_mode:
            _check_projections(check, forward)
        else:
            for pair in pairs(check, forward=forward):
                if worst(pair, check.atol, check.rtol)[0] > 1:
                    raise GradcheckError(report(check, pair))
    except Irreproducible as error:
        raise GradcheckError(
            "Backward is not reentrant, i.e., two backward passes with the same inputs and grad_outputs give different "
            f"gradients. The tolerance for nondeterminism was {check.nondet_tol}."
        ) from error
    except WrongGradient as error:
        raise GradcheckError(str(error)) from error


def _check_projections(check: Check, forward: bool) -> None:
    """The fast mode: one random projection of each block; where it fails, the entries are compared for the message."""
    generator = Generator().manual_seed(SEED)
    for pair in pairs(check, forward=forward, generator=generator):
        x, output = check.sources[pair.source], check.outputs[pair.output]
        # An error of atol in every entry moves the projection by at most atol times the 1-norms of the probes, and
        # those of random probes of length 1 are about the root of 2 n / pi.
        atol = check.atol * max(1.0, 0.64 * (x.numel() * output.numel()) ** 0.5)
        if worst(pair, atol, check.rtol)[0] > 1:
            _fail_slowly(check, pair)


def _fail_slowly(check: Check, pair: Pair) -> NoReturn:
    message = part(check, pair) + headline(pair, pair.numerical[0][0], pair.analytical[0][0])
    message += "\nThese are random projections of the Jacobians (fast mode). Entry by entry (slow mode):\n\n"
    for slow in pairs(check, forward=pair.forward):
        if worst(slow, check.atol, check.rtol)[0] > 1:
            raise GradcheckError(message + report(check, slow))
    raise GradcheckError(
        message + "Fast gradcheck failed but element-wise differences are small. This means that the test might've "
        "passed in slow_mode!"
    )


def _check_zero_gradients(check: Check) -> None:
    """Zero gradients of all outputs give zero gradients of the inputs, of their dtype and size."""
    zeros = tuple(tensor_like([0.0] * o.numel(), o) for o in check.outputs)
    grads = _core._grad(check.outputs, zeros, True, False, check.sources, True)
    for i, (x, g) in enumerate(zip(check.sources, grads, strict=True)):
        if g is None:
            continue
        name = check.names[check.differentiable[i]]
        if g.dtype != x.dtype:
            raise GradcheckError(f"grad is incorrect type: {g.dtype} for {name}, which is {x.dtype}")
        if g.shape != x.shape:
            raise GradcheckError(f"grad is incorrect size: {tuple(g.shape)} for {name} of {tuple(x.shape)}")
        if not all(v == 0 for v in flat(g)):
            raise GradcheckError(
                f"backward not multiplied by grad_output: with grad_outputs of zero, {name} gets the gradient {g}"
            )


class _Undefined(Function):
    """The identity; its backward gives no gradient at all."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        copy: Tensor = x.clone()
        return copy

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> None:
        return None


def _check_undefined_gradients(check: Check) -> None:
    """Output gradients that are undefined, all or one at a time, are handled, and count as zero."""
    count = len(check.outputs)
    subsets = [set(range(count))] + ([{k} for k in range(count)] if count > 1 else [])
    for undefined in subsets:
        outputs = _differentiable(check.func(*check.inputs))
        roots = tuple(_Undefined.apply(o) if k in undefined else o for k, o in enumerate(outputs))
        zeros = tuple(tensor_like([0.0] * o.numel(), o) for o in roots)
        try:
            grads = _core._grad(roots, zeros, True, False, check.sources, True)
        except Exception as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: with those of outputs "
                f"{sorted(undefined)} undefined it raised {type(error).__name__}: {error}. Rules take None for zeros"
            ) from error
        for i, g in enumerate(grads):
            if g is not None and not all(v == 0 for v in flat(g)):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero, but "
                    f"{check.names[check.differentiable[i]]} gets the gradient {g}"
                )
