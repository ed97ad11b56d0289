"""Jacobians as tensors, for programs that compare them by themselves: a row per element of the input, a column per
element of the output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.gradcheck._differences import Move, as_tuple, entry_moves, units
from retrograd.autograd.gradcheck._differences import _unit_vectors as unit_vectors

Func = Callable[..., Any]
Tensors = tuple[Tensor, ...]


def get_numerical_jacobian(
    fn: Func, inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> Tensors:
    """The Jacobians of the first output of a function by central differences.

    Args: `fn` takes all inputs as one argument; `inputs` a tensor or a sequence of them; `target` the tensors that are
    moved by `eps` to either side, by default those inputs that require grad. `grad_out` must be 1.
    Returns: a tensor for each, as in `get_numerical_jacobian_wrt_specific_input`.
    Raises: ValueError for another `grad_out`, and for a complex output.

    >>> from retrograd.autograd.gradcheck import get_numerical_jacobian
    >>> x = rg.tensor([1.0, 2.0], dtype=rg.float64, requires_grad=True)
    >>> (jacobian,) = get_numerical_jacobian(lambda inputs: inputs[0] ** 2, (x,))
    >>> jacobian.round(decimals=4).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    _demand_one("get_numerical_jacobian", grad_out)

    def function(*args: Any) -> Any:
        return fn(args)

    args = as_tuple(inputs)
    outputs = as_tuple(function(*args))
    if any(output.is_complex() for output in outputs):
        raise _no_complex("get_numerical_jacobian")
    moved = _requiring_grad(args if target is None else target)
    return tuple([_by_differences(function, x, args, outputs, eps)[0] for x in moved])


def get_numerical_jacobian_wrt_specific_input(
    fn: Func,
    input_idx: int,
    inputs: Sequence[Any],
    outputs: Sequence[Tensor],
    eps: float,
    input: Tensor | None = None,
    is_forward_ad: bool = False,
) -> Tensors:
    """The Jacobian of each output of a function with respect to one input by central differences.

    Args: `fn` takes the `inputs`, of which that at `input_idx` is moved by `eps` to either side, or `input` if it is
    given; `outputs` are what it returns. With `is_forward_ad` outputs may be complex.
    Returns: for each output a tensor of `input.numel()` rows and `output.numel()` columns. Of a complex input a row is
    the slope along the real part plus 1j times that along the imaginary one.
    Raises: AssertionError for an input that does not require grad, for complex outputs, and for outputs whose shapes or
    dtypes depend on the input.

    >>> from retrograd.autograd.gradcheck import get_numerical_jacobian_wrt_specific_input
    >>> x = rg.tensor([1.0, 2.0], dtype=rg.float64, requires_grad=True)
    >>> (jacobian,) = get_numerical_jacobian_wrt_specific_input(rg.exp, 0, (x,), (x.exp(),), 1e-6)
    >>> jacobian.round(decimals=4).tolist()
    [[2.7183, 0.0], [0.0, 7.3891]]
    """
    x: Tensor = inputs[input_idx] if input is None else input
    if not x.requires_grad:
        raise AssertionError("Expected input to have requires_grad=True")
    if any(output.is_complex() for output in outputs) and (x.is_complex() or not is_forward_ad):
        raise AssertionError("Expected ds_dx to be real-valued, not complex.")
    return _by_differences(fn, x, inputs, outputs, eps)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[Tensors, bool, bool, bool]:
    """The Jacobians of an output by its recorded graph, row by row.

    Args: `inputs` a tensor or a sequence of them, of which those that require grad count; `output` what was computed of
    them. `grad_out` must be 1.
    Returns: a tensor for each input, of `input.numel()` rows and `output.numel()` columns; whether a second pass gives
    the same within `nondet_tol`; whether gradients have the sizes and the dtypes of the inputs.
    Raises: ValueError for another `grad_out`, and for a complex output.

    >>> from retrograd.autograd.gradcheck import get_analytical_jacobian
    >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> (jacobian,), reentrant, sizes, dtypes = get_analytical_jacobian((x,), x**2)
    >>> jacobian, reentrant and sizes and dtypes
    (tensor([[2., 0.],
            [0., 4.]]), True)
    """
    _demand_one("get_analytical_jacobian", grad_out)
    if output.is_complex():
        raise _no_complex("get_analytical_jacobian")
    sources = tuple(_requiring_grad(inputs))
    runs = [
        [_core._grad((output,), (unit,), True, False, sources, True) for unit in unit_vectors(output, 1.0)]
        for _ in range(2)
    ]
    found = [(g, x) for row in runs[0] for g, x in zip(row, sources, strict=True) if g is not None]
    first, second = ([_stacked(rows, i, x) for i, x in enumerate(sources)] for rows in runs)
    reentrant = all(
        a.numel() == 0 or bool((a - b).abs().max() <= nondet_tol) for a, b in zip(first, second, strict=True)
    )
    sizes = all(g.shape == x.shape for g, x in found)
    return tuple(first), reentrant, sizes, all(g.dtype == x.dtype for g, x in found)


def _demand_one(caller: str, grad_out: float) -> None:
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {caller} no longer supports values of grad_out != 1.0.")


def _no_complex(caller: str) -> ValueError:
    return ValueError(
        f"Expected output to be non-complex. {caller} no longer supports functions that return complex outputs."
    )


def _requiring_grad(given: Any) -> Iterator[Tensor]:
    if isinstance(given, Tensor):
        if given.requires_grad:
            yield given
    elif isinstance(given, Iterable) and not isinstance(given, str):
        for part in given:
            yield from _requiring_grad(part)


def _by_differences(fn: Func, x: Tensor, inputs: Sequence[Any], outputs: Sequence[Tensor], eps: float) -> Tensors:
    rows = []
    for moves in zip(*[entry_moves(x, unit, eps) for unit in units(x)], strict=True):
        parts = [_slopes(fn, inputs, move, eps) for move in moves]
        rows.append(parts[0] if len(parts) == 1 else [re + im * 1j for re, im in zip(*parts, strict=True)])
    if not rows:
        return tuple([output.new_zeros(0, output.numel()) for output in outputs])
    return tuple([_core.stack(column) for column in zip(*rows, strict=True)])


def _slopes(fn: Func, inputs: Sequence[Any], move: Move, eps: float) -> list[Tensor]:
    """The central difference of each output, flat; the input is then as it was."""
    write, above, below, here = move
    try:
        write(above)
        high = [output.detach().clone() for output in as_tuple(fn(*inputs))]
        write(below)
        low = [output.detach() for output in as_tuple(fn(*inputs))]
        for a, b in zip(high, low, strict=True):
            for what in ("shape", "dtype"):
                if getattr(a, what) != getattr(b, what):
                    raise AssertionError(
                        f"Expected `func` to return outputs with the same {what} when inputs are perturbed by {eps}, "
                        f"but got: {what}s {getattr(a, what)} and {getattr(b, what)}."
                    )
        return [((a - b) / (2 * eps)).reshape(-1) for a, b in zip(high, low, strict=True)]
    finally:
        write(here)


def _stacked(rows: Sequence[Sequence[Tensor | None]], i: int, x: Tensor) -> Tensor:
    columns = [_core.zeros_like(x) if row[i] is None else row[i] for row in rows]
    if not columns:
        return x.new_zeros(x.numel(), 0)
    return _core.stack([column.to_dense().reshape(-1).to(x.dtype) for column in columns], 1)  # type: ignore[union-attr]
