"""`vmap` of before `func`, which programs import from here."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from retrograd.func import vmap as _new

__all__ = ["vmap"]


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """`retrograd.vmap`, which is meant.

    >>> import warnings
    >>> from retrograd._vmap_internals import vmap
    >>> with warnings.catch_warnings(action="ignore"):
    ...     vmap(rg.sum)(rg.ones(2, 3))
    tensor([3., 3.])
    """
    warnings.warn(
        "Please use `retrograd.vmap` instead of `retrograd._vmap_internals.vmap`.", FutureWarning, stacklevel=2
    )
    return _vmap(func, in_dims, out_dims)


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """As `vmap`, without its warning.

    Args: `allow_none_pass_through` whether results of `func` may be None, and are then.

    >>> from retrograd._vmap_internals import _vmap
    >>> _vmap(lambda x: (x.sum(), None), allow_none_pass_through=True)(rg.ones(2, 3))
    (tensor([3., 3.]), None)
    """
    if not allow_none_pass_through:
        return _new(func, in_dims, out_dims)

    @functools.wraps(func)
    def mapped(*args: Any) -> Any:
        found: list[Any] = []
        dims: list[Any] = []

        def kept(*entries: Any) -> Any:
            """What is not None, of which alone there are batches."""
            result = func(*entries)
            found[:] = [result]
            results = result if isinstance(result, tuple) else (result,)
            dims[:] = out_dims if isinstance(out_dims, tuple) else [out_dims] * len(results)
            return tuple([y for y in results if y is not None])

        batches = iter(_new(kept, in_dims)(*args))
        (result,) = found
        moved = [None if y is None else next(batches) for y in (result if isinstance(result, tuple) else (result,))]
        placed = tuple([y if y is None else y.movedim(0, dim) for y, dim in zip(moved, dims, strict=True)])
        return placed if isinstance(result, tuple) else placed[0]

    return mapped
