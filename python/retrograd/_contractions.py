"""The forms of einsum and tensordot that only Python has: axes as lists.

They are read here and not by the core's parser. The operands and lists of `einsum` alternate, which no list of
parameters describes; and what does not fit is a ValueError or a RuntimeError, as in torch, where the parser raises
TypeError.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd import _core
from retrograd._asking import handle_torch_function, has_torch_function
from retrograd._core import Tensor

__all__ = ["einsum", "tensordot"]


def _term(labels: Sequence[Any]) -> str:
    """The subscripts of one operand, each an integer or an ellipsis, as letters."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    term = ""
    for label in labels:
        if label is Ellipsis:
            term += "..."
        elif isinstance(label, int) and 0 <= label < len(letters):
            term += letters[label]
        else:
            raise ValueError(
                f"einsum(): subscript in subscript list is not within the valid range [0, {len(letters)}), nor is it "
                f"an Ellipsis: {label!r}"
            )
    return term


def einsum(*args: Any) -> Tensor:
    """The sum of the products of the operands' elements, over every axis that the result does not name.

    Args: an equation as "ij,jk->ik" and the operands, one after the other or in a list; or every operand with a
    list of integers, one for each of its axes (Ellipsis for any further ones), and perhaps such a list for the
    result. The letters of an equation: one for every axis of each operand, and those of the result; "..." stands
    for any further axes, which broadcast; a letter that an operand has twice takes its diagonal; without "->" the
    result has the letters that come once, in alphabetical order. Returns: a tensor of the named axes. Derivative:
    the same sum with `g` in the operand's place. Raises: RuntimeError if the equation is not understood, or does
    not fit the operands or these each other; ValueError without operands or for a subscript that is no such
    integer.

    >>> x, y = rg.tensor([[1.0, 2.0], [3.0, 4.0]]), rg.ones(2)
    >>> rg.einsum("ij,j->i", x, y).tolist(), rg.einsum(x, [0, 1], y, [1], [0]).tolist()
    ([3.0, 7.0], [3.0, 7.0])
    """
    if len(args) == 2 and isinstance(args[1], list | tuple) and not isinstance(args[0], Tensor):
        args = (args[0], *args[1])
    if has_torch_function(args):
        result: Tensor = handle_torch_function(einsum, args, *args)
        return result
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, "
            "or at least one operand and its subscripts list"
        )
    if not isinstance(args[0], Tensor):
        return _core.einsum(*args)
    operands = args[: len(args) // 2 * 2 : 2]
    terms = ",".join(_term(labels) for labels in args[1::2])
    return _core.einsum(f"{terms}->{_term(args[-1])}" if len(args) % 2 else terms, *operands)


def _wrong_dims(dims: Any) -> RuntimeError:
    return RuntimeError(
        "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but "
        f"got dims={dims}"
    )


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The sum of products over axes of one tensor and as many of the other.

    Args: `a`, `b` of one dtype; `dims` a number, of the last axes of `a` and the first of `b`, or two lists of the
    axes that go together; `out` takes the result. Returns: a tensor of the axes that are left, those of `a` first.
    Derivative: the same sum with `g` in the operand's place. Raises: RuntimeError if the axes do not fit.

    >>> rg.tensordot(rg.ones(2, 3), rg.ones(3, 2), dims=([1, 0], [0, 1])).item()
    6.0
    """
    if has_torch_function((a, b)):
        result: Tensor = handle_torch_function(tensordot, (a, b), a, b, dims=dims, out=out)
        return result
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, list | tuple):
        pair = [[axes] if isinstance(axes, int) else list(axes) for axes in dims]
        if len(pair) != 2:
            raise _wrong_dims(dims)
        return _core.tensordot(a, b, *pair, out=out)
    if not hasattr(dims, "__index__"):
        raise _wrong_dims(dims)
    return _core.tensordot(a, b, dims, out=out)
