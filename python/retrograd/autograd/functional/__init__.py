"""Jacobians, Hessians and their products with vectors, of functions of tensors.

Each function calls `func` on copies of the inputs that require grad, and differentiates what it returns. The way is
chosen by cost: rows of a Jacobian by reverse mode, its columns and its products with a vector by forward mode.
"""

from __future__ import annotations

from typing import Any

from retrograd._core import Tensor, zeros_like
from retrograd.autograd._batched_derivatives import generator
from retrograd.autograd.functional._arguments import (
    COTANGENT_FREE,
    DIRECTION_FREE,
    HESSIAN_FREE,
    JACOBIAN_FREE,
    JACOBIAN_VARIES,
    OF_INPUT,
    OF_OUTPUT,
    OUTPUT_FREE,
    OUTPUTS,
    PULLBACK_VARIES,
    Func,
    Gaps,
    Tensors,
    demand_graph,
    demand_varying,
    filled,
    fresh,
    linked,
    mirrored,
    nested,
    single,
    tensors_of,
    vector,
)
from retrograd.autograd.functional._jacobians import (
    agree,
    by_columns,
    by_fewer_columns,
    by_rows,
    compute_jvp,
    compute_vjp,
)
from retrograd.autograd.functional._steps import _as_tuple as _as_tuple
from retrograd.autograd.functional._steps import _as_tuple_nocheck as _as_tuple_nocheck
from retrograd.autograd.functional._steps import _autograd_grad as _autograd_grad
from retrograd.autograd.functional._steps import _check_requires_grad as _check_requires_grad
from retrograd.autograd.functional._steps import _construct_standard_basis_for as _construct_standard_basis_for
from retrograd.autograd.functional._steps import _fill_in_zeros as _fill_in_zeros
from retrograd.autograd.functional._steps import _grad_postprocess as _grad_postprocess
from retrograd.autograd.functional._steps import _grad_preprocess as _grad_preprocess
from retrograd.autograd.functional._steps import _tuple_postprocess as _tuple_postprocess
from retrograd.autograd.functional._steps import _validate_v as _validate_v
from retrograd.autograd.grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _demand_known(strategy: str) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", but got {strategy!r}. Forward mode '
            "suits functions with more outputs than inputs, reverse mode the others."
        )


def _demand_possible(create_graph: bool, strict: bool, vectorize: bool) -> None:
    """What the strategy of forward mode cannot be combined with."""
    if create_graph:
        raise NotImplementedError(
            'jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). Please '
            'either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). Please either set '
            '`strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )


def _demand_loop(outs: Tensors, strict: bool, vectorize: bool) -> None:
    """What goes with rows one by one alone, and with rows all at once alone."""
    if strict and vectorize:
        raise RuntimeError(
            "jacobian: `strict=True` and `vectorized=True` are not supported together. Please either set "
            "`strict=False` or `vectorize=False`."
        )
    for out in outs:
        if out.is_complex() and out.requires_grad and not vectorize:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {out.dtype}: "
                "use vectorize=True for the matrix of a function with complex outputs."
            )


def jacobian(
    func: Func,
    inputs: Tensor | Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of a function: the derivative of every element of its outputs by every element of its inputs.

    Args: `func` takes tensors and returns a tensor or a tuple of tensors; `inputs` is a tensor or a tuple of tensors.
    `create_graph` makes the result differentiable. `strict` refuses outputs that do not depend on all inputs, which
    otherwise have zeros there. `vectorize` and `strategy="forward-mode"`, which needs it, prescribe the way; by default
    it is chosen: rows by reverse mode, or, of real functions with many more outputs than inputs, columns by forward
    mode, for which func is called a second time with random numbers as in the first call.
    Returns: a tensor of shape `out.shape + in.shape`; if there is a tuple of inputs a tuple of them, one per input, and
    if there is a tuple of outputs a tuple with one of these per output.
    Raises: TypeError for inputs or outputs that are no tensors; RuntimeError for what `strict` refuses, and without
    `vectorize` for complex outputs; AssertionError for an unknown strategy; NotImplementedError or RuntimeError for
    options that do not go together.

    >>> def f(x, y):
    ...     return x * y.sum()
    >>> rg.autograd.functional.jacobian(f, (rg.tensor([1.0, 2.0]), rg.tensor([3.0])))
    (tensor([[3., 0.],
            [0., 3.]]), tensor([[1.],
            [2.]]))
    """
    _demand_known(strategy)
    if strategy == "forward-mode":
        _demand_possible(create_graph, strict, vectorize)
        given, many_inputs = tensors_of(inputs, "inputs", "jacobian")
        blocks, many_outputs, _ = by_columns(func, given, "jacobian")
        return nested(blocks, many_outputs, many_inputs)
    given, many_inputs = tensors_of(inputs, "inputs", "jacobian")
    with enable_grad():
        state = generator.get_state()
        xs = fresh(given, create_graph)
        outs, many_outputs = tensors_of(func(*xs), OUTPUTS, "jacobian")
        if strict:
            demand_graph(outs)
        _demand_loop(outs, strict, vectorize)
        found = None if create_graph or strict or vectorize else by_fewer_columns(func, given, outs, state)
        blocks = by_rows(outs, xs, create_graph, strict) if found is None else found
    return nested(blocks, many_outputs, many_inputs)


def hessian(
    func: Func,
    inputs: Tensor | Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function with one result: its second derivatives by all pairs of elements of its inputs.

    Args: `func` takes tensors and returns a tensor with one element; the others as in `jacobian`, of the gradient.
    `outer_jacobian_strategy="forward-mode"`, which needs `vectorize`, differentiates the gradient by forward mode.
    Returns: a tensor of shape `in.shape + in.shape`, or for a tuple of inputs a tuple of tuples: entry `[i][j]` has the
    shape of input i, then that of input j.
    Raises: RuntimeError if func does not return one tensor with one element; the rest as `jacobian`.

    >>> rg.autograd.functional.hessian(lambda x: (x**3).sum(), rg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    given, many = tensors_of(inputs, "inputs", "hessian")
    _demand_known(outer_jacobian_strategy)

    def gradient(xs: Tensors) -> Tensors:
        out = single(func(*xs), "hessian", strict)
        found = filled(compute_vjp((out,), None, xs, True), xs, False, True, "", "")
        if strict:
            demand_varying(found, JACOBIAN_VARIES)
        return found

    if outer_jacobian_strategy == "forward-mode":
        _demand_possible(create_graph, strict, vectorize)
        with enable_grad():
            blocks, _, _ = by_columns(
                lambda *duals: gradient(tuple([x.requires_grad_() for x in duals])), given, "hessian"
            )
        return nested(blocks, many, many)
    with enable_grad():
        xs = fresh(given, create_graph)
        outs = gradient(xs)
        _demand_loop(outs, strict, vectorize)
        return nested(by_rows(outs, xs, create_graph, strict), many, many)


# ---- products with vectors


def vjp(
    func: Func,
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a function, and the product of a vector with its Jacobian, by one pass of reverse mode.

    Args: `func` and `inputs` as in `jacobian`; `v` like the outputs, or None for 1 if there is a single element;
    `create_graph` makes both results differentiable; `strict` refuses inputs that no output depends on.
    Returns: the outputs of func, and the product, like `inputs`.
    Raises: RuntimeError if `v` is missing or does not have the number and shapes of the outputs, and for what `strict`
    refuses; TypeError for inputs, outputs or vectors that are no tensors.

    >>> rg.autograd.functional.vjp(lambda x: x * x, rg.tensor([1.0, 2.0]), rg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    given, many_inputs = tensors_of(inputs, "inputs", "vjp")
    with enable_grad():
        xs = fresh(given, create_graph)
        outs, many_outputs = tensors_of(func(*xs), OUTPUTS, "vjp")
        if strict:
            demand_graph(outs)
        vs = vector(v, outs, many_outputs, "vjp", OF_OUTPUT, create_graph)
        found = compute_vjp(outs, vs, xs, create_graph)
        product = filled(found, xs, strict, create_graph, OUTPUT_FREE, JACOBIAN_FREE)
        return (
            mirrored(linked(outs, create_graph), many_outputs),
            mirrored(linked(product, create_graph), many_inputs),
        )


def jvp(
    func: Func,
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a function, and the product of its Jacobian with a vector.

    It is computed by forward mode where that says the same as the graph, else, and with `create_graph` or
    `strict`, from the graph by differentiating its pullback.

    Args: `func` and `inputs` as in `jacobian`; `v` like the inputs, or None for 1 if there is a single element;
    `create_graph` makes both results differentiable; `strict` refuses outputs that do not depend on all inputs.
    Returns: the outputs of func, and the product, like the outputs.
    Raises: RuntimeError if `v` is missing or does not have the number and shapes of the inputs, and for what `strict`
    refuses; TypeError for inputs, outputs or vectors that are no tensors.

    >>> rg.autograd.functional.jvp(lambda x: x * x.sum(), rg.tensor([1.0, 2.0]), rg.tensor([1.0, 0.0]))
    (tensor([3., 6.]), tensor([4., 2.]))
    """
    given, many_inputs = tensors_of(inputs, "inputs", "jvp")
    many = False

    def run(xs: Tensors) -> Tensors:
        nonlocal many
        outs, many = tensors_of(func(*xs), OUTPUTS, "jvp")
        if strict:
            demand_graph(outs)
        return outs

    with enable_grad():
        vs = vector(v, given, many_inputs, "jvp", OF_INPUT, create_graph)
        tangents: Gaps | None = None
        if agree(given, vs, create_graph, strict):
            xs, outs, tangents = compute_jvp(run, given, vs)
        else:
            xs = fresh(given, create_graph)
            outs = run(xs)
        if tangents is None or not all(y.is_floating_point() or y.is_complex() for y in outs):
            # The pullback is linear in its cotangents, and differentiating it by them transposes it.
            cotangents = tuple([zeros_like(y, requires_grad=True) for y in outs])
            gradients = compute_vjp(outs, cotangents, xs, True)
            if strict:
                demand_varying(gradients, PULLBACK_VARIES)
            tangents = compute_vjp(gradients, vs, cotangents, create_graph)
        product = filled(tangents, outs, strict, create_graph, COTANGENT_FREE, JACOBIAN_FREE)
        return mirrored(linked(outs, create_graph), many), mirrored(linked(product, create_graph), many)


def vhp(
    func: Func,
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a function with one result, and the product of a vector with its Hessian.

    Args: `func` takes tensors and returns a tensor with one element; `v` like the inputs, or None for 1 if there is a
    single element; `create_graph` makes both results differentiable; `strict` refuses a gradient that does not depend
    on all inputs.
    Returns: the output of func, and the product, like the inputs.
    Raises: RuntimeError if func does not return one tensor with one element, if `v` is missing or does not have the
    number and shapes of the inputs, and for what `strict` refuses; TypeError for what should be a tensor and is not.

    >>> rg.autograd.functional.vhp(lambda x: (x**3).sum(), rg.tensor([1.0, 2.0]), rg.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    given, many = tensors_of(inputs, "inputs", "vhp")
    with enable_grad():
        vs = vector(v, given, many, "vhp", OF_INPUT, create_graph)
        xs = fresh(given, create_graph)
        out = single(func(*xs), "vhp", strict)
        gradient = compute_vjp((out,), None, xs, True)
        if strict:
            demand_varying(gradient, JACOBIAN_VARIES)
        found = compute_vjp(gradient, vs, xs, create_graph)
        product = filled(found, xs, strict, create_graph, JACOBIAN_FREE, HESSIAN_FREE)
        return linked((out,), create_graph)[0], mirrored(linked(product, create_graph), many)


def hvp(
    func: Func,
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a function with one result, and the product of its Hessian with a vector.

    It is the forward derivative of the gradient where that says the same as the graph, else, and with `create_graph`
    or `strict`, the graph is differentiated twice. Where the second derivatives are continuous it equals `vhp`.

    Args, returns and raises as `vhp`.

    >>> rg.autograd.functional.hvp(lambda x: (x**3).sum(), rg.tensor([1.0, 2.0]), rg.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    given, many = tensors_of(inputs, "inputs", "hvp")

    def run(xs: Tensors) -> list[Tensor | None]:
        out = single(func(*xs), "hvp", strict)
        gradient = compute_vjp((out,), None, xs, True)
        if strict:
            demand_varying(gradient, JACOBIAN_VARIES)
        return [*gradient, out]

    with enable_grad():
        vs = vector(v, given, many, "hvp", OF_INPUT, create_graph)
        tangents: Gaps | None = None
        if agree(given, vs, create_graph, strict):
            xs, (*gradient, out), tangents = compute_jvp(run, given, vs)
        else:
            xs = fresh(given, create_graph)
            *gradient, out = run(xs)
        if tangents is None:
            # The product with a vector on the other side is linear in it; differentiating by it transposes it.
            directions = tuple([zeros_like(x, requires_grad=True) for x in xs])
            products = compute_vjp(gradient, directions, xs, True)
            found: Gaps = compute_vjp(products, vs, directions, create_graph)
        else:
            found = tangents[:-1]
        product = filled(found, xs, strict, create_graph, DIRECTION_FREE, HESSIAN_FREE)
        return linked((out,), create_graph)[0], mirrored(linked(product, create_graph), many)
