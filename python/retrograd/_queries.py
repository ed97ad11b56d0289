"""Questions about objects, tensors and shapes, as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from retrograd._asking import handle_torch_function, has_torch_function
from retrograd._core import Tensor
from retrograd._size import Size

__all__ = [
    "broadcast_shapes",
    "is_complex",
    "is_floating_point",
    "is_inference",
    "is_tensor",
    "numel",
    "typename",
]


def _asked(query: Callable[[Any], Any], x: Any) -> Any:
    """The answer to a query of something other than a plain tensor."""
    if has_torch_function((x,)):
        return handle_torch_function(query, (x,), x)
    name = query.__name__
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}")
    return getattr(x, name)()


def is_tensor(obj: object) -> TypeGuard[Tensor]:
    """Whether the object is a tensor, of the class itself or a subclass.

    >>> rg.is_tensor(rg.ones(1)), rg.is_tensor(1.0)
    (True, False)
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating point numbers; complex ones are not.

    Raises: TypeError if it is not a tensor.

    >>> rg.is_floating_point(rg.ones(1)), rg.is_floating_point(rg.tensor([1]))
    (True, False)
    """
    answer: bool = input.is_floating_point() if type(input) is Tensor else _asked(is_floating_point, input)
    return answer


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers.

    Raises: TypeError if it is not a tensor.

    >>> rg.is_complex(rg.ones(1))
    False
    """
    answer: bool = input.is_complex() if type(input) is Tensor else _asked(is_complex, input)
    return answer


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode.

    Raises: TypeError if it is not a tensor.

    >>> rg.is_inference(rg.ones(1))
    False
    """
    answer: bool = input.is_inference() if type(input) is Tensor else _asked(is_inference, input)
    return answer


def numel(input: Tensor) -> int:
    """The number of elements.

    Raises: TypeError if it is not a tensor.

    >>> rg.numel(rg.ones(2, 3))
    6
    """
    answer: int = input.numel() if type(input) is Tensor else _asked(numel, input)
    return answer


def typename(obj: object) -> str:
    """The name of the object's type; for a tensor one with its dtype.

    >>> rg.typename(rg.ones(1)), rg.typename(1)
    ('retrograd.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = type(obj)
    return kind.__qualname__ if kind.__module__ in ("builtins", "") else f"{kind.__module__}.{kind.__qualname__}"


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The sizes that tensors of these sizes broadcast to; an int is the size of a vector.

    Raises: RuntimeError if they do not broadcast together, or are no sizes; ValueError for a negative size.

    >>> rg.broadcast_shapes((2, 1), 3)
    retrograd.Size([2, 3])
    """
    whole: list[int] = []
    name = "broadcast_shapes()"
    for at, given in enumerate(shapes):
        if not isinstance(given, int | tuple | list):
            kinds = "ints, a tuple of ints, or a list of ints"
            raise RuntimeError(f"{name}: Input shapes should be of type {kinds}, got {given}")
        shape = (given,) if isinstance(given, int) else given
        whole = [1] * (len(shape) - len(whole)) + whole
        for axis in range(-1, -1 - len(shape), -1):
            size = shape[axis]
            if size == 1 or size == whole[axis]:
                continue
            if whole[axis] == 1 and size < 0:
                raise ValueError(f"{name}: Attempting to broadcast a dimension with negative length! Got {given}")
            if whole[axis] != 1:
                raise RuntimeError(
                    f"{name}: Attempting to broadcast a dimension of length {size} at {axis}! Mismatching argument at "
                    f"index {at} had {given}; but expected shape should be broadcastable to {whole}"
                )
            whole[axis] = size
    return Size(whole)
