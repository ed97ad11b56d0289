"""Jacobians, Hessians and what is made of them. All rows, or columns, are computed together.

By rows `func` is called once, and its graph gives the VJPs of a batch of unit vectors. By columns it is called once on
inputs that move along a batch of unit vectors: values are computed once, tangents are batches.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd._tree import TreeSpec, flatten, unflatten
from retrograd.autograd._batched_derivatives import joined, jvp_batch, rows, units
from retrograd.func._derivatives import (
    Argnums,
    Func,
    Record,
    chosen,
    demand_tensor,
    demand_tensors,
    grad,
    jvp,
    pushing,
    recorded,
    replaced,
    reversing,
    settled,
    split_aux,
    vjp,
)
from retrograd.func._vmap import demand_randomness

__all__ = ["ggnvp", "hessian", "hvp", "jacfwd", "jacrev", "laplacian"]


def _demand_real(leaves: Sequence[Any], caller: str, what: str) -> None:
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{caller}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}"
            )


def jacrev(
    func: Func,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Func:
    """The function that gives the Jacobian of `func`, by reverse mode: for few results of many arguments.

    Args: `func` takes and returns tensors or trees of them; `argnums` says which arguments to differentiate for, by
    position: one, or a tuple. With `has_aux` it returns a pair, of what is differentiated and of anything made of
    tensors. `chunk_size` is the most rows that are computed together, by default all those of a result.
    Returns: a function of the same arguments. It returns the structure of the result, with a tensor of shape
    `out.shape + in.shape` at each place, or a tree of these like the argument, or a tuple for a tuple `argnums`; with
    `has_aux` a pair of that and the rest.
    Raises: ValueError for a `chunk_size` below 1 and for arguments that are no tensors; RuntimeError for complex
    arguments or results, and for results that `vjp` refuses.

    >>> rg.func.jacrev(lambda x: x * x.sum())(rg.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def of(*args: Any) -> Any:
        _demand_real(flatten(args)[0], "jacrev", "inputs")
        with reversing(args) as outside:
            record = recorded(func, args, argnums, has_aux, outside)
            _demand_real(record.outs, "jacrev", "outputs")
            blocks = [unflatten(_blocks(record, out, chunk_size), record.xs_shape) for out in record.outs]
        jacobian = unflatten(blocks, record.out_shape)
        return (jacobian, record.aux) if has_aux else jacobian

    return of


def _blocks(record: Record, out: Tensor, chunk_size: int | None) -> list[Tensor]:
    """The Jacobians of one result, for each of the inputs."""
    xs, count = record.xs, out.numel()
    found: Sequence[Tensor | None] = (None,) * len(xs)
    if count and out.requires_grad:
        found = joined(list(rows(out, xs, record.keep, chunk_size or count)))
    shapes = [(*out.shape, *x.shape) for x in xs]
    return [
        _core.zeros(shape, dtype=x.dtype) if block is None else settled(block.reshape(shape), record.inner, record.keep)
        for block, shape, x in zip(found, shapes, xs, strict=True)
    ]


class _Moving:
    """A function whose chosen arguments move, and what is to know of its results to put derivatives in their place."""

    __slots__ = ("argnums", "args", "aux", "caller", "func", "has_aux", "out_shape", "shape", "xs")

    out_shape: TreeSpec

    def __init__(self, func: Func, args: tuple[Any, ...], argnums: Argnums, has_aux: bool, caller: str) -> None:
        self.func, self.args, self.argnums, self.has_aux, self.caller = func, args, argnums, has_aux, caller
        self.xs, self.shape = flatten(chosen(args, argnums))
        self.aux: Any = None
        for x in self.xs:
            if not isinstance(x, Tensor):
                raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        _demand_real(flatten(args)[0], caller, "inputs")

    def run(self, duals: list[Tensor]) -> list[Tensor]:
        result = self.func(*replaced(self.args, self.argnums, unflatten(duals, self.shape)))
        if self.has_aux:
            result, self.aux = split_aux(result, "jvp(f, primals, tangents)")
            for leaf in flatten(self.aux)[0]:
                demand_tensor(leaf)
        outs, self.out_shape = flatten(result)
        demand_tensors(outs, "jvp(f, primals, tangents)")
        _demand_real(outs, self.caller, "outputs")
        return outs

    def along_units(self, order: int, randomness: str = "same") -> list[Tensor]:
        """Derivatives of all results along each element of the inputs, in a first axis."""
        count = sum([x.numel() for x in self.xs])
        with pushing(self.args):
            return jvp_batch(self.run, self.xs, units(self.xs, 0, count), order, randomness=randomness)[0]


def jacfwd(func: Func, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Func:
    """The function that gives the Jacobian of `func`, by forward mode: for many results of few arguments.

    Args: as of `jacrev`. `randomness` says whether `func` may draw random numbers, "error" or one of "same" and
    "different": it is called once, so they are the same for all columns.
    Returns: as `jacrev`.
    Raises: ValueError for arguments that are no tensors of floating point; RuntimeError for complex arguments or
    results, for results that are no tensors, and for an unknown `randomness`.

    >>> rg.func.jacfwd(lambda x: x * x.sum())(rg.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """
    demand_randomness(randomness)

    @functools.wraps(func)
    def of(*args: Any) -> Any:
        moving = _Moving(func, args, argnums, has_aux, "jacfwd")
        moved = moving.along_units(1, "error" if randomness == "error" else "same")
        jacobian = unflatten([unflatten(_columns(t, moving.xs), moving.shape) for t in moved], moving.out_shape)
        return (jacobian, moving.aux) if has_aux else jacobian

    return of


def _columns(moved: Tensor, xs: Sequence[Tensor]) -> list[Tensor]:
    """The Jacobians of one result, for each of the inputs, from its derivatives along all their elements."""
    shape = moved.shape[1:]
    parts = moved.split([x.numel() for x in xs]) if len(xs) > 1 else (moved,)
    return [part.movedim(0, -1).reshape((*shape, *x.shape)) for part, x in zip(parts, xs, strict=True)]


def hessian(func: Func, argnums: Argnums = 0) -> Func:
    """The function that gives the Hessian of `func`, by forward mode over reverse mode: `jacfwd(jacrev(func))`.

    Args: as of `jacrev`. `func` may return any tensors: the result has second derivatives of all their elements.
    Returns: a function of the same arguments. At each place of the structure of the result it returns a tensor of shape
    `out.shape + in.shape + in.shape`, or trees of trees of these.
    Raises: what `jacrev` and `jacfwd` raise.

    >>> rg.func.hessian(lambda x: x.prod())(rg.tensor([2.0, 3.0, 5.0]))
    tensor([[0., 5., 3.],
            [5., 0., 2.],
            [3., 2., 0.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def laplacian(func: Func, argnums: Argnums = 0) -> Func:
    """The function that gives the Laplacian of `func`, the trace of its Hessian, without computing the Hessian.

    All arguments are moved along each of their elements by forward mode over forward mode, in one call of `func`.

    Args: as of `jacrev`; for several arguments, or trees, it is the sum over all elements of all of them.
    Returns: a function of the same arguments, whose results have the structure and shapes of those of `func`.
    Raises: what `jacfwd` raises.

    >>> rg.func.laplacian(lambda x: (x**3).sum())(rg.tensor([1.0, 2.0]))
    tensor(18.)
    """

    @functools.wraps(func)
    def of(*args: Any) -> Any:
        moving = _Moving(func, args, argnums, False, "laplacian")
        return unflatten([t.sum(0) for t in moving.along_units(2)], moving.out_shape)

    return of


def hvp(func: Func, primals: Any, tangents: Any) -> Any:
    """The product of the Hessian of a function with a vector, by forward mode over reverse mode.

    Args: `func` takes the primals and returns a tensor without axes. `primals` is its argument, a tensor or a tree of
    them, or the tuple of its arguments; `tangents` is the vector, of the same structure and shapes.
    Returns: the product, like `primals`.
    Raises: what `grad` and `jvp` raise.

    >>> rg.func.hvp(lambda x: (x**3).sum(), rg.tensor([1.0, 2.0]), rg.tensor([1.0, 10.0]))
    tensor([  6., 120.])
    """
    many = isinstance(primals, tuple)
    args, along = (primals, tangents) if many else ((primals,), (tangents,))
    _, product = jvp(grad(func, tuple(range(len(args)))), args, along)
    return product if many else product[0]


def ggnvp(model: Func, loss: Callable[[Any], Tensor], params: Any, vector: Any) -> Any:
    """The product of the Gauss-Newton matrix with a vector: `J.T @ H @ J @ vector`.

    J is the Jacobian of the model, and H the Hessian of the loss for the model's outputs. The matrix is the part of the
    Hessian of `loss(model(params))` that is positive semidefinite if the loss is convex.

    Args: `model` takes `params`, a tensor or a tree of them, and returns outputs, likewise; `loss` takes these and
    returns a tensor without axes; `vector` is like `params`. Both are called once.
    Returns: the product, like `params`.
    Raises: what `vjp`, `jvp` and `grad` raise.

    >>> inputs = rg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> rg.func.ggnvp(lambda w: inputs @ w, lambda y: (y**2).sum(), rg.zeros(2), rg.tensor([1.0, 0.0]))
    tensor([20., 28.])
    """
    pullback: Func

    def outputs(params: Any) -> Any:
        nonlocal pullback
        value, pullback = vjp(model, params)
        return value

    value, moved = jvp(outputs, (params,), (vector,))
    (curved,) = hvp(loss, (value,), (moved,))
    (product,) = pullback(curved)
    return product
