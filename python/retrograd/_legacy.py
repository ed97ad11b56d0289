"""Types of tensors with a dtype in their name, as older programs make and ask for them.

>>> rg.LongTensor([1, 2]), rg.FloatTensor(2, 3).shape
(tensor([1, 2]), retrograd.Size([2, 3]))
>>> isinstance(rg.ones(2), rg.FloatTensor)
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _core
from retrograd._size import Size

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]


class TensorType(type):
    """A type whose instances are the tensors of one dtype; calling it makes one."""

    dtype: _core.dtype
    is_cuda = False
    is_sparse = False
    layout = _core.strided

    def __call__(cls, *data: Any, device: Any = None) -> _core.Tensor:
        """A tensor of numbers in a sequence, uninitialised of sizes, over a storage, or an alias of a tensor.

        Raises: TypeError if it is none of them.
        """
        return _made(cls.__name__, cls.dtype, data, device)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _core.Tensor) and instance.dtype == cls.dtype


def _made(name: str, dtype: _core.dtype, data: tuple[Any, ...], device: Any) -> _core.Tensor:
    if device is not None and _core.device(device).type != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {_core.device(device).type} was passed"
        )
    if all(type(size) is int for size in data):
        return _core.empty(data or (0,), dtype=dtype)
    if len(data) != 1:
        raise TypeError(f"{name}(): expected sizes, or one sequence of numbers, not {len(data)} values")
    (value,) = data
    if isinstance(value, Size):
        return _core.empty(value, dtype=dtype)
    if isinstance(value, _core.Tensor):
        if value.dtype != dtype:
            raise TypeError(
                f"{name}(): expected a tensor of dtype {dtype}, but got one of {value.dtype}: "
                f"convert it with .to({dtype})"
            )
        return value.detach()
    if isinstance(value, str):
        raise TypeError("new(): invalid data type 'str'")
    if not isinstance(value, Sequence) and not hasattr(value, "__array__"):
        from retrograd import storage

        if storage.is_storage(value):
            return storage._tensor_over(value, dtype)
        raise TypeError(f"new(): data must be a sequence (got {type(value).__name__})")
    return _core.tensor(value, dtype=dtype)


def new(tensor: _core.Tensor) -> Callable[..., _core.Tensor]:
    """What `tensor.new` calls, which makes tensors of its dtype."""

    def new(*data: Any, size: Sequence[int] | None = None, device: Any = None) -> _core.Tensor:
        return _made("new", tensor.dtype, data if size is None else (*data, Size(size)), device)

    return new


def _of(name: str, dtype: _core.dtype) -> TensorType:
    doc = f"The tensors of dtype {dtype}; a call makes one.\n\n>>> rg.{name}([1]).dtype\n{dtype}"
    return TensorType(name, (), {"dtype": dtype, "__module__": "retrograd", "__doc__": doc})


BFloat16Tensor = _of("BFloat16Tensor", _core.bfloat16)
BoolTensor = _of("BoolTensor", _core.bool)
ByteTensor = _of("ByteTensor", _core.uint8)
CharTensor = _of("CharTensor", _core.int8)
DoubleTensor = _of("DoubleTensor", _core.float64)
FloatTensor = _of("FloatTensor", _core.float32)
HalfTensor = _of("HalfTensor", _core.float16)
IntTensor = _of("IntTensor", _core.int32)
LongTensor = _of("LongTensor", _core.int64)
ShortTensor = _of("ShortTensor", _core.int16)
