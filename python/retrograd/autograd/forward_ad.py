"""Forward mode: tensors that carry tangents, and the levels that the tangents live in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import _Mode, _Setting

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_is_fwd_grad_enabled = _core._is_fwd_grad_enabled


_innermost = _core._current_dual_level


if TYPE_CHECKING:
    _current_level: int
else:

    def __getattr__(name: str) -> int:
        if name == "_current_level":  # of the calling thread, so no variable of the module
            return _innermost()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def enter_dual_level() -> int:
    """Open a level, inside those that are open, and make it the one that `make_dual` and `unpack_dual` work at.

    Levels belong to the calling thread. They nest, which torch refuses: an outer level sees what is computed with the
    tangents of an inner one, and no level takes the tangents of another for its own.

    Returns: the number of the level, from 0.

    >>> fwd = rg.autograd.forward_ad
    >>> fwd.enter_dual_level(), fwd.enter_dual_level()
    (0, 1)
    >>> fwd.exit_dual_level(), fwd.exit_dual_level()
    (None, None)
    """
    level: int = _core._enter_dual_level()
    return level


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level: its tangents are gone, the tensors stay.

    Args: `level` the number of the innermost level, as a check.
    Raises: RuntimeError if no level is open, or if `level` is not the innermost.

    >>> fwd = rg.autograd.forward_ad
    >>> level = fwd.enter_dual_level()
    >>> x = fwd.make_dual(rg.ones(2), rg.ones(2))
    >>> fwd.exit_dual_level(level=level)
    >>> fwd.unpack_dual(x).tangent is None
    True
    """
    _core._exit_dual_level(level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that carries `tangent`: the derivative of its elements in some direction.

    What is computed from it carries the derivative in that direction, for `unpack_dual`. The view shares memory and
    version with `tensor`, which itself gets no tangent. The tangent is used as it is if it is laid out like `tensor`,
    else copied; what is written to the view in place changes it too.

    Args: `tensor` of a floating point or complex dtype; `tangent` too, of the same shape; `level` an open level, by
    default the innermost. The derivatives of `tensor` and `tangent` in reverse mode are those of a view.
    Raises: RuntimeError if no level is open, if the shapes differ, or if one of the two has a tangent at this level;
    ValueError for other dtypes.

    >>> fwd = rg.autograd.forward_ad
    >>> with fwd.dual_level():
    ...     x = fwd.make_dual(rg.tensor([3.0]), rg.tensor([1.0]))
    ...     fwd.unpack_dual(x * x).tangent
    tensor([6.])
    """
    if level is None:
        level = _innermost()
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    dual: Tensor = _core._make_dual(tensor, tangent, level)
    return dual


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives: `primal`, the values, and `tangent`, their derivative, or None if there is none.

    >>> rg.autograd.forward_ad.UnpackedDualTensor(rg.ones(1), None)
    UnpackedDualTensor(primal=tensor([1.]), tangent=None)
    """

    primal: Tensor
    tangent: Tensor | None


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The values of a tensor, without tangent at this level, and its tangent.

    Args: `tensor` any tensor; `level` the number of a level, by default the innermost.
    Returns: a named tuple of a view of `tensor` and of the tangent, None if it has none. If the level is not open it is
    `tensor` itself, and None. Both parts are differentiable in reverse mode, and by outer levels.

    >>> fwd = rg.autograd.forward_ad
    >>> with fwd.dual_level():
    ...     fwd.unpack_dual(fwd.make_dual(rg.tensor([2.0]), rg.tensor([1.0])) * 3)
    UnpackedDualTensor(primal=tensor([6.]), tangent=tensor([3.]))
    """
    last = _innermost()
    if level is None:
        level = last
    if level < 0 or level > last:
        return UnpackedDualTensor(tensor, None)
    return tuple.__new__(UnpackedDualTensor, _core._unpack_dual(tensor, level))


class dual_level(_core._DualLevel, _Mode):
    """A level for the time of a block, or of each call of the decorated function.

    At the end of the block its tangents are gone, and so are levels opened inside and left open. Blocks nest, unlike
    those of torch, which says `Nested forward mode AD is not supported`; inside, the innermost level is meant unless
    another is named.

    >>> fwd = rg.autograd.forward_ad
    >>> def derivative(f, x):
    ...     with fwd.dual_level():
    ...         return fwd.unpack_dual(f(fwd.make_dual(x, rg.ones_like(x)))).tangent
    >>> derivative(lambda x: x * derivative(lambda y: x * y * y, x), rg.tensor(3.0))
    tensor(54.)
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __enter__(self) -> int: ...


class _set_fwd_grad_enabled(_core._ForwardSwitch, _Setting):
    """Whether ops of the calling thread compute tangents: acts when it is made, until the end of a with statement."""

    __slots__ = ()
