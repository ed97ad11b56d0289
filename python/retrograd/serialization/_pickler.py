"""Pickles of weights as torch writes them: classes and functions of retrograd are named as torch names its own."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import IO, Any, ClassVar, NoReturn

from retrograd import _core
from retrograd._core import Tensor
from retrograd._core import device as Device
from retrograd._core import dtype as DType
from retrograd._size import Size
from retrograd.nn.parameter import Parameter
from retrograd.serialization._copy import Storage, storage_of, warn_of_hooks
from retrograd.serialization._weights import STORAGES

# The one written in Python, whose methods can be replaced.
_Pickler: Any = pickle._Pickler
_TYPED = {dtype: name for name, dtype in STORAGES.items()}


class _Global:
    """A name in the file that need not be there in this process."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> NoReturn:
        raise TypeError(f"{self.module}.{self.name} is a name")


class _Stored:
    """A storage as a tensor of some dtype sees it, or as bytes."""

    def __init__(self, storage: Storage, dtype: DType | None) -> None:
        self.storage, self.dtype = storage, dtype


_TENSOR_V2 = _Global("torch._utils", "_rebuild_tensor_v2")
_TENSOR_V3 = _Global("torch._utils", "_rebuild_tensor_v3")
_PARAMETER = _Global("torch._utils", "_rebuild_parameter")
_PARAMETER_WITH_STATE = _Global("torch._utils", "_rebuild_parameter_with_state")
_FROM_TYPE = _Global("torch._tensor", "_rebuild_from_type_v2")
_SIZE = _Global("torch", "Size")
_DEVICE = _Global("torch", "device")
_BYTES = _Global("torch.storage", "UntypedStorage")


class Pickler(_Pickler):  # type: ignore[misc]  # untyped
    """Writes the pickle, and collects the storages that it refers to, in the order of their keys."""

    def __init__(self, file: IO[bytes], protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: list[Storage] = []
        self._keys: dict[int, int] = {}
        # The dtype by which a reader first meets a storage is that of all plain tensors over it.
        self._dtypes: dict[int, DType | None] = {}
        self._globals: dict[str, _Global] = {}

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, _Global):
            self._save_name(obj)
        elif id(obj) in self.memo:
            super().save(obj, save_persistent_id)
        elif isinstance(obj, Tensor):
            self._save_tensor(obj)
        elif type(obj) is Size:
            self.save_reduce(_SIZE, (tuple(obj),), obj=obj)
        elif type(obj) is Device:
            args = (obj.type,) if obj.index is None else (obj.type, obj.index)
            self.save_reduce(_DEVICE, args, obj=obj)
        elif type(obj) is DType:
            self._save_name(self._global("torch", str(obj).rpartition(".")[2]))
        else:
            super().save(obj, save_persistent_id)

    def persistent_id(self, obj: Any) -> Any:
        if type(obj) is not _Stored:
            return None
        nbytes = obj.storage.memory.nbytes
        if obj.dtype is None:
            return "storage", _BYTES, self._key(obj.storage), "cpu", nbytes
        kind = self._global("torch", _TYPED[obj.dtype])
        return "storage", kind, self._key(obj.storage), "cpu", nbytes // obj.dtype.itemsize

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module = getattr(obj, "__module__", None)
        if isinstance(module, str) and module.partition(".")[0] == "retrograd":
            self._save_name(self._global("torch" + module.removeprefix("retrograd"), name or obj.__qualname__))
        else:
            super().save_global(obj, name)

    # Functions go by this table; classes find the method.
    dispatch: ClassVar[dict[type, Any]] = {**_Pickler.dispatch, type(save_global): save_global}

    def _global(self, module: str, name: str) -> _Global:
        return self._globals.setdefault(f"{module} {name}", _Global(module, name))

    def _save_name(self, name: _Global) -> None:
        """Writes a name as protocols up to 3 do, which all readers know."""
        known = self.memo.get(id(name))
        if known is not None:
            self.write(self.get(known[0]))
        else:
            self.write(b"c" + f"{name.module}\n{name.name}\n".encode())
            self.memoize(name)

    def _key(self, storage: Storage) -> str:
        if id(storage) not in self._keys:
            self._keys[id(storage)] = len(self.storages)
            self.storages.append(storage)
        return str(self._keys[id(storage)])

    def _save_tensor(self, tensor: Tensor) -> None:
        warn_of_hooks(tensor, stacklevel=2)
        state = tensor.__getstate__()
        if type(tensor) is Parameter:
            data = tensor.detach()
            args: tuple[Any, ...] = (data, tensor.requires_grad, OrderedDict())
            function = _PARAMETER_WITH_STATE if state else _PARAMETER
            self.save_reduce(function, (*args, state) if state else args, obj=tensor)
            return
        function, args = self._parts(tensor)
        if type(tensor) is Tensor and not state:
            self.save_reduce(function, args, obj=tensor)
        else:
            kind = self._global("torch", "Tensor") if type(tensor) is Tensor else type(tensor)
            self.save_reduce(_FROM_TYPE, (function, kind, args, state or {}), obj=tensor)

    def _parts(self, tensor: Tensor) -> tuple[_Global, tuple[Any, ...]]:
        plain = _core._make_subclass(Tensor, tensor, False).resolve_neg()  # whatever a subclass makes of functions
        storage = storage_of(plain)
        dtype = plain.dtype if plain.dtype in _TYPED and not storage.memory.nbytes % plain.dtype.itemsize else None
        first = self._dtypes.setdefault(id(storage), dtype)
        layout: tuple[Any, ...] = (
            plain.storage_offset(),
            tuple(plain.shape),
            plain.stride(),
            tensor.requires_grad,
            OrderedDict(),
        )
        bits = ({"conj": True},) if plain.is_conj() else ()
        if dtype is None or first is not dtype:
            return _TENSOR_V3, (_Stored(storage, None), *layout, plain.dtype, *bits)
        return _TENSOR_V2, (_Stored(storage, dtype), *layout, *bits)
