"""Zip checkpoints as `torch.save` writes them, read and written."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from retrograd import _core
from retrograd._core import Tensor
from retrograd.serialization import _weights
from retrograd.serialization._copy import Storage
from retrograd.serialization._pickler import Pickler
from retrograd.serialization._weights import Reference
from retrograd.serialization._zip import ALIGNMENT, Damaged, Reader, Writer


class Encoded(NamedTuple):
    """A pickle, and the storages that it refers to, in the order of their keys."""

    data: bytes
    storages: list[Storage]


def encode(obj: object, protocol: int, refusal: Exception | None = None) -> Encoded:
    """The pickle of an object.

    Raises: `refusal`, or else TypeError, for an object that has none.
    """
    file = io.BytesIO()
    pickler = Pickler(file, protocol)
    try:
        pickler.dump(obj)
    except (AttributeError, RecursionError, TypeError, pickle.PicklingError) as e:
        raise refusal or TypeError(f"save: the object cannot be pickled: {e}") from e
    return Encoded(file.getvalue(), pickler.storages)


def write(checkpoint: Encoded, file: IO[bytes], name: Any) -> None:
    """Writes a checkpoint that torch reads, too."""
    stem = os.path.splitext(os.path.basename(os.fspath(name)))[0] if isinstance(name, str | os.PathLike) else ""
    archive = Writer(file, str(stem) or "archive")
    archive.write("data.pkl", checkpoint.data)
    archive.write(".format_version", b"1")
    archive.write(".storage_alignment", str(ALIGNMENT).encode())
    archive.write("byteorder", b"little")
    for key, storage in enumerate(checkpoint.storages):
        archive.write(f"data/{key}", storage.view())
    archive.write("version", b"3\n")
    archive.close()


class _Storages:
    """The storages of a checkpoint, each read when the pickle first refers to it."""

    def __init__(self, archive: Reader, place: Callable[[Tensor], None], pages: Any, read_into: Any) -> None:
        self.archive, self.place, self.pages, self.read_into = archive, place, pages, read_into
        self.known: dict[str, Reference] = {}

    def find(self, reference: Any) -> Reference:
        """The storage by its persistent id.

        Raises: ValueError if there is none.
        """
        tag, kind, key, _, length = reference
        if tag != "storage" or not isinstance(kind, _weights.Kind) or type(key) is not str or type(length) is not int:
            raise ValueError(f"a reference to {tag!r} {key!r}")
        if key not in self.known:
            size = length * (1 if kind.dtype is None else kind.dtype.itemsize)
            if self.archive.size(f"data/{key}") != size:
                raise ValueError(f"storage {key} has {self.archive.size(f'data/{key}')} bytes, not {size}")
            memory = self.memory(f"data/{key}", size)
            self.place(memory)
            self.known[key] = Reference(memory, kind.dtype)
        return self.known[key]

    def memory(self, name: str, size: int) -> Tensor:
        if self.pages is None or size == 0:
            memory = _core.empty(size, dtype=_core.uint8)
            if size:
                self.archive.fill(name, memory, self.read_into)
            return memory
        at = self.archive.place(name, memoryview(self.pages))
        memory = _core.frombuffer(self.pages, dtype=_core.uint8, count=size, offset=at)
        return memory if at % 16 == 0 else memory.clone()


class _Trusted(pickle.Unpickler):
    """The standard reader, which runs what the file says, with torch's names for ours."""

    def __init__(self, file: IO[bytes], storages: _Storages, **options: Any) -> None:
        super().__init__(file, **options)
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:
        return _weights.found(module, name)

    def persistent_load(self, pid: Any) -> Any:
        return self._storages.find(pid)


def read(
    file: IO[bytes],
    place: Callable[[Tensor], None],
    pages: Any,
    read_into: Callable[[Any, memoryview], None],
    trusted: bool,
    options: dict[str, Any],
) -> Any:
    """The object in a checkpoint. `pages` is the file in memory, or None; `trusted` lets its code run.

    Raises: ValueError for a damaged file; UnpicklingError for one that asks for more than weights.
    """
    archive = Reader(file)
    if "byteorder" in archive and archive.read("byteorder") != b"little":
        raise Damaged("its bytes are big-endian")
    storages = _Storages(archive, place, pages, read_into)
    data = archive.read("data.pkl")
    if trusted:
        return _Trusted(io.BytesIO(data), storages, **options).load()
    return _weights.read(data, storages.find)
