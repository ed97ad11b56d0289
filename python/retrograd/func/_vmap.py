"""`vmap`: one call of a function on batched tensors instead of a call on each entry of the batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

from retrograd import _core
from retrograd._core import Tensor
from retrograd._tree import TreeSpec, broadcast_prefix, describe, flatten, unflatten

__all__ = ["debug_unwrap", "vmap"]

Func: TypeAlias = Callable[..., Any]

_batch = _core._batch
_unbatch = _core._unbatch
_generator = _core.default_generator


def demand_randomness(randomness: str) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def vmap(
    func: Func,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Func:
    """The function that maps `func` over an axis of its arguments, by a single call of `func`.

    `func` gets batched tensors, which show the sizes of one entry and hold all of them.

    Args: `func` takes tensors, or trees of them (tuples, named tuples, lists, dicts), and returns the same; it cannot
    branch on values, or take them out with `item`. `in_dims` says which axis of the arguments is mapped over: an
    integer for all, or a tuple with one for each, a tree like an argument or a part of it; None for what goes to every
    entry as it is, as keyword arguments do. `out_dims` says likewise where the results have the axis; None for what is
    the same for all entries, and comes back as it is. `randomness` says what random ops do: "error", or draw
    "different" numbers for the entries, or the "same". `chunk_size` is the most entries that one call has; by default
    all of them.
    Returns: a function of the same arguments.
    Raises: ValueError for axes that the arguments or results do not have, for sizes that differ, and for results that
    are no tensors; RuntimeError for an unknown `randomness`, and in `func` for what a batched tensor cannot do.

    >>> x, y = rg.tensor([[1.0, 2.0], [3.0, 4.0]]), rg.tensor([10.0, 100.0])
    >>> rg.vmap(rg.dot, in_dims=(0, None))(x, y)
    tensor([210., 430.])
    >>> rg.vmap(lambda p: {"sum": p["x"] + p["y"]}, in_dims=({"x": 1, "y": None},))({"x": x, "y": y})["sum"]
    tensor([[ 11., 103.],
            [ 12., 104.]])
    """
    demand_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        _demand_dims(func, out_dims)
        size, leaves, dims, shape = _mapped_over(func, in_dims, args)
        if chunk_size is not None and chunk_size < size:
            parts = _in_chunks(leaves, dims, size, chunk_size)
            return _map_chunks(func, parts, dims, shape, kwargs, out_dims, randomness)
        return _map(func, size, leaves, dims, shape, kwargs, out_dims, randomness)

    return mapped


def _name(func: Func) -> str:
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return getattr(func, "__name__", None) or repr(func)


# ---- arguments


def _mapped_over(
    func: Func, in_dims: Any, args: tuple[Any, ...]
) -> tuple[int, Sequence[Any], Sequence[Any], TreeSpec | None]:
    """The size of the batch, the leaves of the arguments, the axis of each or None, and the shape of their tree.

    The tree is None where all arguments are leaves themselves.
    """
    if type(in_dims) is int and len(args) == 1 and isinstance(x := args[0], Tensor) and -x.ndim <= in_dims < x.ndim:
        return x.size(in_dims), args, (in_dims,), None
    shape: TreeSpec | None = None
    leaves: Sequence[Any] = args
    if type(in_dims) is int and args and all(isinstance(arg, Tensor) for arg in args):
        dims: Sequence[Any] = (in_dims,) * len(args)
    else:
        leaves, dims, shape = _dims_of_leaves(func, in_dims, args)
    size = None
    for leaf, dim in zip(leaves, dims, strict=True):
        if dim is None:
            continue
        if not isinstance(dim, int) or not isinstance(leaf, Tensor) or not -leaf.ndim <= dim < leaf.ndim:
            _refuse(func, in_dims, _fault(leaf, dim))
        if size is None:
            size = leaf.shape[dim]
        elif size != leaf.shape[dim]:
            sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, "
                f"got sizes {sizes} for the mapped dimension"
            )
    if size is None:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    return size, leaves, dims, shape


def _dims_of_leaves(func: Func, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], TreeSpec]:
    """The leaves of the arguments, the axis of each, and the shape of the tree."""
    if not isinstance(in_dims, int | tuple):
        _refuse(
            func,
            in_dims,
            "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}.",
        )
    if not args:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. There must be a tensor to map over.")
    leaves, shape = flatten(args)
    dims = broadcast_prefix(in_dims, shape)
    if dims is None:
        _refuse(
            func,
            in_dims,
            "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{describe(flatten(in_dims)[1])} but inputs has structure {describe(shape)}.",
        )
    return leaves, dims, shape


def _fault(leaf: Any, dim: Any) -> str:
    """Why this leaf has no such axis."""
    if not isinstance(dim, int):
        return f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
    if not isinstance(leaf, Tensor):
        return (
            f"Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
    return (
        f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.ndim} so expected in_dim "
        f"to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}."
    )


def _refuse(func: Func, in_dims: Any, why: str) -> NoReturn:
    raise ValueError(f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): {why}")


# ---- one call


def _map(
    func: Func,
    size: int,
    leaves: Sequence[Any],
    dims: Sequence[Any],
    shape: TreeSpec | None,
    kwargs: dict[str, Any],
    out_dims: Any,
    randomness: str,
) -> Any:
    with _core._batch_level(size, randomness) as level:
        batched = [leaf if dim is None else _batch(leaf, dim, level) for leaf, dim in zip(leaves, dims, strict=True)]
        result = func(*(batched if shape is None else unflatten(batched, shape)), **kwargs)
        if isinstance(result, Tensor) and type(out_dims) is int:
            return _unbatch(result, out_dims, level)
        results, result_shape = flatten(result)
        places = _places(func, out_dims, result_shape)
        unbatched = [_out(func, leaf, place, level) for leaf, place in zip(results, places, strict=True)]
        return unflatten(unbatched, result_shape)


def _demand_dims(func: Func, out_dims: Any) -> None:
    if type(out_dims) is int:
        return
    for dim in flatten(out_dims)[0]:
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )


def _places(func: Func, out_dims: Any, shape: TreeSpec) -> list[int | None]:
    """The place of the mapped axis for each leaf of the results."""
    if (
        shape.is_leaf() and type(out_dims) is tuple and len(out_dims) == 1
    ):  # a result by itself counts as a tuple of one
        out_dims = out_dims[0]
    places = broadcast_prefix(out_dims, shape)
    if places is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure "
            f"of `outputs`. out_dims has structure {describe(flatten(out_dims)[1])} but outputs has structure "
            f"{describe(shape)}."
        )
    return places


def _out(func: Func, result: Any, place: int | None, level: int) -> Any:
    name = _name(func)
    if place is None:
        if isinstance(result, Tensor) and _is_batched(result, level):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None: its entries differ."
            )
        return result
    if not isinstance(result, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(result)}. "
            "Did you mean to set out_dims= to None for output?"
        )
    return _unbatch(result, place, level)


def _is_batched(t: Tensor, level: int) -> bool:
    parts = _core._batch_parts(t)
    return parts is not None and parts[-1] == level  # what is batched at the innermost level is on the outside


# ---- calls for parts of the batch


def _in_chunks(leaves: Sequence[Any], dims: Sequence[Any], size: int, chunk_size: int) -> list[tuple[int, list[Any]]]:
    """For each part of the batch its size, and the leaves with that part."""
    chunks = []
    for start in range(0, size, chunk_size):
        length = min(chunk_size, size - start)
        part = [
            leaf if dim is None else leaf.narrow(dim, start, length) for leaf, dim in zip(leaves, dims, strict=True)
        ]
        chunks.append((length, part))
    return chunks


def _map_chunks(
    func: Func,
    parts: list[tuple[int, list[Any]]],
    dims: Sequence[Any],
    shape: TreeSpec | None,
    kwargs: dict[str, Any],
    out_dims: Any,
    randomness: str,
) -> Any:
    state = _generator.get_state() if randomness == "same" else None
    rows = []
    for size, leaves in parts:
        if state is not None:
            _generator.set_state(state)
        rows.append(flatten(_map(func, size, leaves, dims, shape, kwargs, out_dims, randomness)))
    result_shape = rows[0][1]
    places = _places(func, out_dims, result_shape)
    columns = zip(*[leaves for leaves, _ in rows], strict=True)
    whole = [
        column[0] if place is None else _core.cat(column, dim=place)
        for column, place in zip(columns, places, strict=True)
    ]
    return unflatten(whole, result_shape)


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor with all entries behind a batched tensor, to look at in a debugger.

    Args: `tensor` any tensor; others than batched ones are returned as they are. `recurse` False takes off the
    innermost batch alone. What is computed with the result inside of the mapped function has no meaning for it.

    >>> shapes = []
    >>> def f(x):
    ...     shapes.append((x.shape, rg.func.debug_unwrap(x).shape))
    ...     return x
    >>> _ = rg.vmap(f)(rg.ones(3, 2))
    >>> shapes
    [(retrograd.Size([2]), retrograd.Size([3, 2]))]
    """
    parts = _core._batch_parts(tensor)
    while parts is not None:
        tensor = parts[0]
        parts = _core._batch_parts(tensor) if recurse else None
    return tensor
