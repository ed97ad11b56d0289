"""From a list of items to a batch: tensors are stacked, numbers become tensors, containers stay."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, TypeAlias

from retrograd import _core
from retrograd._core import Tensor

__all__ = ["collate", "default_collate", "default_convert"]

# What makes a batch of items of a type, or of one of several types.
_Map: TypeAlias = dict[Any, Callable[..., Any]]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data: Any) -> Any:
    """NumPy's arrays and numbers as tensors, also in containers; all else as it is.

    >>> import numpy as np
    >>> rg.utils.data.default_convert({"a": np.zeros(2), "b": [1, "c"]})
    {'a': tensor([0., 0.], dtype=retrograd.float64), 'b': [1, 'c']}
    """
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        return data if kind.__name__ == "ndarray" and _has_no_numbers(data) else _core.as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        items = [default_convert(item) for item in data]
        return kind(*items) if hasattr(data, "_fields") else items
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _sequence(data, [default_convert(item) for item in data])
    return data


def default_collate(batch: Any) -> Any:
    """A batch of a list of equal items: tensors and numbers with a new first dimension, containers of such.

    Raises: TypeError for items of other types; RuntimeError for lists of different lengths.

    >>> rg.utils.data.default_collate([{"a": 1.0, "b": [rg.ones(2), "x"]}, {"a": 2.0, "b": [rg.zeros(2), "y"]}])
    {'a': tensor([1., 2.], dtype=retrograd.float64), 'b': [tensor([[1., 1.],
            [0., 0.]]), ('x', 'y')]}
    """
    _know_numpy()
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: _Map | None = None) -> Any:
    """A batch by the functions for types of a dict, which get the list and the dict as `collate_fn_map`.

    Types in containers that the dict does not name are looked up inside.

    >>> from retrograd.utils.data._utils.collate import collate
    >>> collate([(1, "a"), (2, "b")], collate_fn_map={int: lambda batch, *, collate_fn_map: sum(batch),
    ...                                               str: lambda batch, *, collate_fn_map: "".join(batch)})
    [3, 'ab']
    """
    elem = batch[0]
    kind = type(elem)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(elem, known):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(elem, Mapping):
        return _mapping(
            elem, {key: collate([item[key] for item in batch], collate_fn_map=collate_fn_map) for key in elem}
        )
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return kind(*(collate(items, collate_fn_map=collate_fn_map) for items in zip(*batch, strict=False)))
    if isinstance(elem, Sequence):
        if any(len(item) != len(elem) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(items, collate_fn_map=collate_fn_map) for items in zip(*batch, strict=False)]
        return columns if isinstance(elem, tuple) else _sequence(elem, columns)
    raise TypeError(default_collate_err_msg_format.format(kind))


def _mapping(like: Any, items: dict[Any, Any]) -> Any:
    """The items in a mapping of the kind of `like`, if one can be made of them."""
    try:
        if not isinstance(like, MutableMapping):
            return type(like)(items)
        clone = copy.copy(like)  # with whatever else it holds
        clone.update(items)
        return clone
    except TypeError:
        return items


def _sequence(like: Any, items: list[Any]) -> Any:
    """The items in a sequence of the kind of `like`, if one can be made of them."""
    try:
        if not isinstance(like, MutableSequence):
            return type(like)(items)
        clone = copy.copy(like)
        for i, item in enumerate(items):
            clone[i] = item
        return clone
    except TypeError:
        return items


# ---- functions for types


def collate_tensor_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """The tensors, stacked."""
    if batch[0].is_sparse:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; please provide a custom "
            "collate_fn to handle them appropriately."
        )
    return _core.stack(batch, 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Any:
    """The arrays as tensors, stacked."""
    if _has_no_numbers(batch[0]):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([_core.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """A tensor of NumPy's numbers, with their dtype."""
    return _core.as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """A tensor of floats, which have 64 bits."""
    return _core.tensor(batch, dtype=_core.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """A tensor of ints, or of bools."""
    return _core.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Any:
    """The strings as they are."""
    return batch


default_collate_fn_map: _Map = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def _know_numpy() -> None:
    """Add NumPy's types to the table, once there can be items of them."""
    np = sys.modules.get("numpy")
    if np is not None and np.ndarray not in default_collate_fn_map:
        default_collate_fn_map[np.ndarray] = collate_numpy_array_fn
        default_collate_fn_map[np.bool_, np.number, np.object_] = collate_numpy_scalar_fn


def _has_no_numbers(array: Any) -> bool:
    """Whether an array of NumPy holds text or objects."""
    return any(code in array.dtype.str for code in "SaUO")
