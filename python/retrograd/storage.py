"""The memory of tensors as objects: bytes, or elements of one dtype.

>>> x = rg.tensor([1, 2], dtype=rg.int16)
>>> x.untyped_storage().tolist()
[1, 0, 2, 0]
>>> x.untyped_storage()[2] = 5
>>> x
tensor([1, 5], dtype=retrograd.int16)

A storage shares its memory with the tensors over it. A write counts as one to them.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from retrograd import _core

__all__ = ["TypedStorage", "UntypedStorage"]

_WARNING = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
    "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()"
)
_warned = False


def _warn(stacklevel: int) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(_WARNING, UserWarning, stacklevel=stacklevel + 1)


class _Storage:
    """What storages of both kinds say of the device, and how they are converted."""

    is_cuda = False
    is_hpu = False
    is_sparse = False
    is_sparse_csr = False

    @property
    def device(self) -> _core.device:
        """Where the memory is: the CPU."""
        return _core.device("cpu")

    def get_device(self) -> int:
        """The index of the accelerator that has the memory: -1."""
        return -1

    def _bytes(self) -> _core.Tensor:
        raise NotImplementedError

    def _elements(self) -> _core.Tensor:
        raise NotImplementedError

    def __len__(self) -> int:
        return self._elements().numel()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        items = "\n ".join(str(item) for item in self.tolist())
        return f" {items}\n[{self._title()} of size {len(self)}]"

    def _title(self) -> str:
        raise NotImplementedError

    def size(self) -> int:
        """How many elements there are; those of an untyped storage are bytes."""
        return len(self)

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._bytes().numel()

    def data_ptr(self) -> int:
        """The address of the memory; 0 if there is none."""
        return self._bytes().data_ptr()

    def tolist(self) -> list[Any]:
        """The elements as a list of numbers."""
        items: list[Any] = self._elements().tolist()
        return items

    def is_shared(self) -> bool:
        """Whether other processes can have the memory too."""
        return self._bytes().is_shared()

    def is_pinned(self, device: Any = "cuda") -> bool:
        """Whether the memory is pinned for an accelerator: no."""
        return False

    def pin_memory(self, device: Any = "cuda") -> NoReturn:
        """Refused: memory is pinned for accelerators."""
        self._bytes().pin_memory()
        raise AssertionError

    def cuda(self, device: Any = None, non_blocking: bool = False) -> NoReturn:
        """Refused: there is no such device."""
        self._bytes().cuda()
        raise AssertionError


class _Conversions(_Storage):
    """Storages of the same elements with another dtype."""

    def _converted(self, dtype: _core.dtype) -> TypedStorage:
        if getattr(self, "dtype", None) is dtype:
            assert isinstance(self, TypedStorage)
            return self
        return _over(self._elements().to(dtype, copy=True))

    def double(self) -> TypedStorage:
        """The elements as float64; a copy unless they are."""
        return self._converted(_core.float64)

    def float(self) -> TypedStorage:
        """The elements as float32; a copy unless they are."""
        return self._converted(_core.float32)

    def half(self) -> TypedStorage:
        """The elements as float16; a copy unless they are."""
        return self._converted(_core.float16)

    def bfloat16(self) -> TypedStorage:
        """The elements as bfloat16; a copy unless they are."""
        return self._converted(_core.bfloat16)

    def long(self) -> TypedStorage:
        """The elements as int64; a copy unless they are."""
        return self._converted(_core.int64)

    def int(self) -> TypedStorage:
        """The elements as int32; a copy unless they are."""
        return self._converted(_core.int32)

    def short(self) -> TypedStorage:
        """The elements as int16; a copy unless they are."""
        return self._converted(_core.int16)

    def char(self) -> TypedStorage:
        """The elements as int8; a copy unless they are."""
        return self._converted(_core.int8)

    def byte(self) -> TypedStorage:
        """The elements as uint8; a copy unless they are."""
        return self._converted(_core.uint8)

    def bool(self) -> TypedStorage:
        """Whether the elements are different from 0; a copy unless they are truth values."""
        return self._converted(_core.bool)

    def complex_double(self) -> TypedStorage:
        """The elements as complex128; a copy unless they are."""
        return self._converted(_core.complex128)

    def complex_float(self) -> TypedStorage:
        """The elements as complex64; a copy unless they are."""
        return self._converted(_core.complex64)


class UntypedStorage(_Conversions):
    """The memory of tensors, as bytes.

    Args: the number of bytes, which are not initialised, or a sequence of them; none by default.
    Raises: RuntimeError for anything else; AssertionError for a `device` that is not there.

    >>> s = rg.UntypedStorage([1, 2, 3])
    >>> len(s), s[-1], s[:2].tolist(), s.fill_(7).tolist()
    (3, 3, [1, 2], [7, 7, 7])
    >>> s.element_size(), s.type(), s.new().size(), s.clone().data_ptr() == s.data_ptr()
    (1, 'retrograd.storage.UntypedStorage', 0, False)
    >>> s.cpu() is s.untyped() is s.share_memory_()
    True
    """

    __module__ = "retrograd.storage"

    def __init__(self, data: Any = 0, *, device: Any = None) -> None:
        if isinstance(data, int):
            if data < 0:
                raise RuntimeError(f"UntypedStorage: Storage size must not be negative, got {data}")
            memory = _core.empty(data, dtype=_core.uint8, device=device)
        else:
            if not isinstance(data, Sequence):
                raise RuntimeError(
                    f"UntypedStorage: expected a number of bytes or a sequence of them, not {type(data).__name__}"
                )
            for item in data:
                if not isinstance(item, int):
                    raise RuntimeError(
                        "retrograd.UntypedStorage(): tried to construct a storage from a sequence "
                        f"({type(data).__name__}), but one of the items was of type {type(item).__name__} instead of "
                        "int: use a TypedStorage for other numbers"
                    )
            memory = _core.tensor(list(data), dtype=_core.uint8, device=device)
        self._take(memory)

    def _take(self, memory: _core.Tensor) -> None:
        key, self._memory = _core._storage(memory)
        _storages[key] = self

    def _bytes(self) -> _core.Tensor:
        # Not the tensor from the beginning: the memory may have grown.
        return _core._storage(self._memory)[1]

    def _elements(self) -> _core.Tensor:
        return self._bytes()

    def _title(self) -> str:
        return "retrograd.storage.UntypedStorage(device=cpu)"

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            return UntypedStorage._of(self._bytes()[index].clone())
        return self._bytes()[_checked(self, index, "retrograd.UntypedStorage")].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._bytes()[index] = value
        else:
            self._bytes()[_checked(self, index, "retrograd.UntypedStorage")] = value

    @classmethod
    def _of(cls, memory: _core.Tensor) -> UntypedStorage:
        storage = cls.__new__(cls)
        storage._take(memory)
        return storage

    def element_size(self) -> int:
        """Bytes of one element: 1."""
        return 1

    @property
    def filename(self) -> None:
        """The name of the file that has the memory: None, also of shared memory."""
        return None

    def type(self) -> str:
        """The name of the type."""
        return "retrograd.storage.UntypedStorage"

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def resizable(self) -> bool:
        """Whether the memory can grow: not if it is shared with another library or process.

        >>> rg.ones(2).share_memory_().untyped_storage().resizable()
        False
        """
        return not _core._is_fixed(self._memory)

    def resize_(self, size: int) -> UntypedStorage:
        """Make space for `size` bytes; tensors go on sharing the memory, and new bytes are not initialised.

        Raises: RuntimeError for fewer bytes than there are, since tensors may use them, and if others have the address.

        >>> rg.UntypedStorage([1, 2]).resize_(3).tolist()[:2]
        [1, 2]
        """
        memory = self._bytes()
        if size < memory.numel():
            raise RuntimeError(
                f"resize_: a storage of {memory.numel()} bytes does not shrink to {size}, as tensors may "
                "use all of them: clone what you need and drop the rest"
            )
        memory.resize_(size)
        return self

    def fill_(self, value: int) -> UntypedStorage:
        """Write `value` to all bytes."""
        self._bytes().fill_(value)
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Copy the bytes of another storage of the same size.

        Raises: RuntimeError if the sizes differ.

        >>> rg.UntypedStorage(2).copy_(rg.UntypedStorage([1, 2])).tolist()
        [1, 2]
        """
        if self.nbytes() != source.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._bytes().copy_(source._bytes())
        return self

    def clone(self) -> UntypedStorage:
        """A copy."""
        return UntypedStorage._of(self._bytes().clone())

    def cpu(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def new(self) -> UntypedStorage:
        """A storage without bytes."""
        return UntypedStorage()

    def share_memory_(self) -> UntypedStorage:
        """Move the memory to where other processes can have it too; see `Tensor.share_memory_`."""
        self._memory.share_memory_()
        return self

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        copy = memo[id(self)] = self.clone()
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return UntypedStorage._of, (self._bytes().clone(),)


class _TypedMeta(type):
    """The storages of one dtype are the instances of its class, such as `FloatStorage`."""

    def __instancecheck__(cls, instance: object) -> bool:
        kind = vars(cls).get("dtype")
        if isinstance(kind, _core.dtype):
            return super().__instancecheck__(instance) or (type(instance) is TypedStorage and instance.dtype is kind)
        return super().__instancecheck__(instance)


class TypedStorage(_Conversions, metaclass=_TypedMeta):
    """The memory of tensors, as elements of a dtype. It is deprecated: `UntypedStorage` is meant.

    Args: the number of elements, which are not initialised, or a sequence of them; none by default; `dtype` by default
    the default dtype; `wrap_storage` an untyped storage whose memory it takes, which needs a `dtype`.
    Raises: TypeError and RuntimeError for other arguments.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     s = rg.TypedStorage([1, 2, 3], dtype=rg.int16)
    >>> s[1], s.nbytes(), s.type()
    (2, 6, 'retrograd.ShortStorage')
    >>> s.element_size(), s.untyped().nbytes(), s.clone().fill_(4).tolist(), s.resizable(), s.resize_(4).size()
    (2, 6, [4, 4, 4], True, 4)
    >>> s.cpu() is s.share_memory_()
    True
    """

    __module__ = "retrograd.storage"
    dtype: _core.dtype

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: _core.dtype | None = None,
        device: Any = None,
    ) -> None:
        name = type(self).__name__
        _warn(stacklevel=2)
        if wrap_storage is not None:
            if args:
                raise RuntimeError(f"{name}: No positional arguments should be given when using 'wrap_storage'")
            if dtype is None:
                raise RuntimeError(f"{name}: Argument 'dtype' must be specified")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"{name}: Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
            self.dtype, self._untyped_storage = dtype, wrap_storage
            return
        self.dtype = _core.get_default_dtype() if dtype is None else dtype
        if len(args) > 1:
            raise RuntimeError(f"{name}: Too many positional arguments: {len(args)}, at most one is expected")
        data = args[0] if args else 0
        if isinstance(data, _core.Tensor) or not isinstance(data, (int, Sequence, _Storage)):
            raise TypeError(f"{name}: Argument type not recognized: {type(data)}")
        if isinstance(data, int):
            memory = _core.empty(data, dtype=self.dtype, device=device)
        else:
            memory = _core.tensor(list(data), dtype=self.dtype, device=device)
        self._untyped_storage = UntypedStorage._of(memory)

    def _bytes(self) -> _core.Tensor:
        return self._untyped_storage._bytes()

    def _elements(self) -> _core.Tensor:
        memory = self._bytes()
        return _core._over_storage(memory, self.dtype, (memory.numel() // self.dtype.itemsize,), (1,), 0)

    def _title(self) -> str:
        return f"retrograd.storage.TypedStorage(dtype={self.dtype}, device=cpu)"

    def __getitem__(self, index: Any) -> Any:
        return self._elements()[self._position(index, "getitem")].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._elements()[index] = value
        else:
            self._elements()[self._position(index, "setitem")] = value

    def _position(self, index: Any, access: str) -> Any:
        if isinstance(index, slice):
            raise RuntimeError(f"slices are only supported in UntypedStorage.__{access}__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        return _checked(self, index, "TypedStorage")

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def filename(self) -> None:
        """The name of the file that has the memory: None, also of shared memory."""
        return None

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the type; or the elements as another one, given by its dtype or class."""
        if dtype is None:
            return f"retrograd.{_name_of(self.dtype)}"
        return self._converted(getattr(dtype, "dtype", dtype))

    def pickle_storage_type(self) -> str:
        """The name of the class of storages of this dtype.

        >>> rg.ones(1)._typed_storage().pickle_storage_type()
        'FloatStorage'
        """
        return _name_of(self.dtype)

    def resizable(self) -> bool:
        """Whether the memory can grow; see `UntypedStorage.resizable`."""
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> TypedStorage:
        """Make space for `size` elements; see `UntypedStorage.resize_`."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def fill_(self, value: Any) -> TypedStorage:
        """Write `value` to all elements."""
        self._elements().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Copy the elements of another storage of as many elements.

        Raises: RuntimeError if the numbers differ.

        >>> x, y = rg.zeros(2), rg.tensor([1, 2])
        >>> x._typed_storage().copy_(y._typed_storage()).tolist()
        [1.0, 2.0]
        """
        if len(self) != len(source):
            raise RuntimeError(f"size does not match, self was {len(self)} elements but src was {len(source)} elements")
        self._elements().copy_(source._elements())
        return self

    def clone(self) -> TypedStorage:
        """A copy."""
        return _wrapped(self._untyped_storage.clone(), self.dtype)

    def cpu(self) -> TypedStorage:
        """The storage itself."""
        return self

    def share_memory_(self) -> TypedStorage:
        """Move the memory to where other processes can have it too; see `Tensor.share_memory_`."""
        self._untyped_storage.share_memory_()
        return self

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypedStorage)
            and self.dtype is other.dtype
            and self._untyped_storage is other._untyped_storage
        )

    def __hash__(self) -> int:
        return hash((self._untyped_storage, self.dtype))

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        from copy import deepcopy

        copy = memo[id(self)] = _wrapped(deepcopy(self._untyped_storage, memo), self.dtype)
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _wrapped, (self._untyped_storage, self.dtype)


class _DtypeStorage(TypedStorage):
    """A class for one dtype: a call makes a `TypedStorage` of it."""

    def __new__(cls, *args: Any, wrap_storage: UntypedStorage | None = None, **others: Any) -> Any:
        for name in others:
            raise RuntimeError(f"{cls.__name__}: Keyword argument '{name}' cannot be specified")
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype)


def _class_of(name: str, dtype: _core.dtype) -> _TypedMeta:
    doc = f"The storages of dtype {dtype}; a call makes one.\n\n>>> rg.{name}.dtype\n{dtype}"
    body = {"dtype": dtype, "_dtype": dtype, "__module__": "retrograd", "__doc__": doc}
    return _TypedMeta(name, (_DtypeStorage,), body)


BFloat16Storage = _class_of("BFloat16Storage", _core.bfloat16)
BoolStorage = _class_of("BoolStorage", _core.bool)
ByteStorage = _class_of("ByteStorage", _core.uint8)
CharStorage = _class_of("CharStorage", _core.int8)
ComplexDoubleStorage = _class_of("ComplexDoubleStorage", _core.complex128)
ComplexFloatStorage = _class_of("ComplexFloatStorage", _core.complex64)
DoubleStorage = _class_of("DoubleStorage", _core.float64)
FloatStorage = _class_of("FloatStorage", _core.float32)
HalfStorage = _class_of("HalfStorage", _core.float16)
IntStorage = _class_of("IntStorage", _core.int32)
LongStorage = _class_of("LongStorage", _core.int64)
ShortStorage = _class_of("ShortStorage", _core.int16)

_classes: dict[_core.dtype, _TypedMeta] = {kind.dtype: kind for kind in _DtypeStorage.__subclasses__()}
# One object for the memory of all tensors over it, as long as somebody has it.
_storages: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()


def is_storage(obj: Any, /) -> bool:
    """Whether the object is the memory of a tensor, as an object.

    >>> rg.is_storage(rg.ones(2).untyped_storage()), rg.is_storage(rg.ones(2))
    (True, False)
    """
    return isinstance(obj, _Storage)


def _checked(storage: _Storage, index: Any, title: str) -> int:
    if not isinstance(index, int):
        raise TypeError(f"can't index a {title} with {type(index).__name__}")
    if not -len(storage) <= index < len(storage):
        raise IndexError(f"index {index} out of range for storage of size {len(storage)}")
    return index


def _name_of(dtype: _core.dtype) -> str:
    if dtype not in _classes:
        raise KeyError(f"there is no class of storages of dtype {dtype}")
    return _classes[dtype].__name__


def _wrapped(storage: UntypedStorage, dtype: _core.dtype) -> TypedStorage:
    typed = TypedStorage.__new__(TypedStorage)
    typed.dtype, typed._untyped_storage = dtype, storage
    return typed


def _over(tensor: _core.Tensor) -> TypedStorage:
    return _wrapped(UntypedStorage._of(tensor), tensor.dtype)


# ---- what tensors ask for


def _untyped(tensor: _core.Tensor) -> UntypedStorage:
    if tensor.layout != _core.strided:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl: values() and indices() have memory")
    key, memory = _core._storage(tensor)
    known = _storages.get(key)
    return UntypedStorage._of(memory) if known is None else known


def _typed(tensor: _core.Tensor) -> TypedStorage:
    return _wrapped(_untyped(tensor), tensor.dtype)


def _typed_and_warn(tensor: _core.Tensor) -> TypedStorage:
    _warn(stacklevel=2)
    return _typed(tensor)


def _type_of(tensor: _core.Tensor) -> _TypedMeta:
    return _classes[tensor.dtype]


def _tensor_over(storage: Any, dtype: _core.dtype) -> _core.Tensor:
    """A tensor over all elements of a storage."""
    if isinstance(storage, TypedStorage) and storage.dtype is not dtype:
        expected, got = (_name_of(d).removesuffix("Storage") for d in (dtype, storage.dtype))
        raise RuntimeError(
            f"Expected a Storage of type {expected} or an UntypedStorage, but got type {got} for argument 1 'storage'"
        )
    return _wrapped(storage.untyped(), dtype)._elements()


def _part(tensor: _core.Tensor, source: Any, offset: Any, size: Any, stride: Any) -> _core.Tensor:
    """What `Tensor.set_` takes over, if that is not a whole tensor."""
    if source is None:
        if not (offset is size is stride is None):
            raise TypeError("set_() received an invalid combination of arguments: a source is missing")
        return _core.empty(0, dtype=tensor.dtype)
    if isinstance(source, _core.Tensor):
        if source.dtype != tensor.dtype:
            raise RuntimeError(f"set_: Could not set tensor of type {source.dtype} to a tensor of type {tensor.dtype}")
        source = _typed(source)
    elif not is_storage(source):
        raise TypeError(
            f"set_() received an invalid combination of arguments: source must be a Tensor or a Storage, not "
            f"{type(source).__name__}"
        )
    whole = _tensor_over(source, tensor.dtype)
    if offset is size is stride is None:
        return whole
    offset = 0 if offset is None else int(offset)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    sizes = (whole.numel() - offset,) if size is None else _ints(size)
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"set_: Trying to create tensor with negative dimension: {list(sizes)}")
    strides = _contiguous(sizes) if stride is None else _ints(stride)
    if len(strides) != len(sizes):
        raise RuntimeError(f"unequal size length ({len(sizes)}) and stride length ({len(strides)})")
    return _core._over_storage(whole, tensor.dtype, sizes, strides, offset)


def _ints(given: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in ([given] if isinstance(given, int) else given))


def _contiguous(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for n in reversed(sizes):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))
