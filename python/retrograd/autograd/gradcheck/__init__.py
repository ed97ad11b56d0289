"""Check gradients against differences: `gradcheck` for first derivatives, `gradgradcheck` for second ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from retrograd import _core
from retrograd._core import Generator, Tensor
from retrograd._lazy import submodules

if TYPE_CHECKING:
    from retrograd.autograd.gradcheck._differences import GradcheckError
    from retrograd.autograd.gradcheck._jacobians import (
        get_analytical_jacobian,
        get_numerical_jacobian,
        get_numerical_jacobian_wrt_specific_input,
    )

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]

# In `autograd` the function takes the place of this module, so the module is there from the start. What the functions
# call is loaded when they are called.
if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(
        __name__,
        GradcheckError="_differences",
        get_analytical_jacobian="_jacobians",
        get_numerical_jacobian="_jacobians",
        get_numerical_jacobian_wrt_specific_input="_jacobians",
    )

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
    from retrograd.autograd.gradcheck import _checks, _differences, _sparse

    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    _checks.require(check_backward_ad, "check_backward_ad", check_batched_grad=check_batched_grad)
    _checks.require(check_forward_ad, "check_forward_ad", check_batched_forward_grad=check_batched_forward_grad)
    options = _checks.Options(
        raise_exception=raise_exception,
        undefined=check_undefined_grad,
        backward=check_backward_ad,
        forward=check_forward_ad,
        batched_backward=check_batched_grad,
        batched_forward=check_batched_forward_grad,
        fast=fast_mode,
    )
    primals = _differences.as_tuple(inputs)
    named = partial(_checks.names_of, func, primals)
    func, primals = _sparse.without_sparse(func, primals, bool(masked))
    return _checks.run(func, primals, named, (eps, atol, rtol, nondet_tol, check_grad_dtypes), options)


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
    from retrograd.autograd.gradcheck import _checks, _differences, _properties, _sparse

    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    _checks.require(
        check_rev_over_rev,
        "check_rev_over_rev",
        check_undefined_grad=check_undefined_grad,
        check_batched_grad=check_batched_grad,
    )
    primals = _differences.as_tuple(inputs)
    first_names = partial(_checks.names_of, func, primals)
    func, primals = _sparse.without_sparse(func, primals, masked)
    wanted = tuple(i for i, x in enumerate(primals) if _checks.requires_grad(x))
    if grad_outputs is None:
        generator = Generator().manual_seed(_properties.SEED)
        outputs = _properties.differentiable(func(*primals))
        cotangents = tuple(_checks.random_gradient(o, generator, gen_non_contig_grad_outputs) for o in outputs)
    else:
        cotangents = _differences.as_tuple(grad_outputs)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        args, weights = args[: len(primals)], args[len(primals) :]
        outputs = tuple(_properties.differentiable(func(*args)))
        grads = _core._grad(outputs, weights, True, True, tuple(args[i] for i in wanted), True)
        return tuple(g for g in grads if g is not None)

    def names() -> tuple[str, ...]:
        first = len(primals)
        weights = (f"input {first + k} (gradient of output {k})" for k in range(len(cotangents)))
        return (*first_names(), *weights)

    options = _checks.Options(
        raise_exception=raise_exception,
        undefined=check_undefined_grad,
        backward=check_rev_over_rev,
        forward=check_fwd_over_rev,
        batched_backward=check_batched_grad,
        batched_forward=False,
        fast=fast_mode,
    )
    tolerances = eps, atol, rtol, nondet_tol, check_grad_dtypes
    return _checks.run(gradients, primals + cotangents, names, tolerances, options, _OF_GRADIENTS)
