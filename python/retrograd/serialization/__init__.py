"""Saving and loading: tensors and what they are nested in, as safetensors files, or as pickles for those who ask.

docs/saving.md describes the format.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NoReturn

from retrograd import _core
from retrograd._core import Tensor
from retrograd._core import device as Device
from retrograd._core import dtype as DType
from retrograd._files import replacing
from retrograd._lazy import submodules

if TYPE_CHECKING:
    from retrograd.serialization._weights import (
        add_safe_globals,
        clear_safe_globals,
        get_safe_globals,
        safe_globals,
    )

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

_SAFE = dict.fromkeys(("add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"), "_weights")
if not TYPE_CHECKING:
    __getattr__, __dir__ = submodules(__name__, **_SAFE)

File = str | os.PathLike[str] | IO[bytes]
MapLocation = Device | str | Mapping[str, str] | Callable[[Any, str], Any] | None

# The key of our structure in the metadata of a safetensors file.
_KEY = "retrograd"
# Names of files that programs take for checkpoints of torch.
_CHECKPOINTS = (".pt", ".pth", ".bin", ".ckpt")


def save(
    obj: object,
    f: File,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a file: a tensor, or tensors in dicts, lists and tuples, along with numbers, strings and such.

    Values, dtypes, strides, requires_grad, attributes, and which tensors share memory come back from `load`; hooks and
    `.grad` do not. A path that ends in .pt, .pth, .bin or .ckpt becomes a zip checkpoint, which torch reads, too. Every
    other file is a safetensors file, whose arrays other programs can read; or a zip checkpoint if the object holds more
    than safetensors files can, unless the path ends in .safetensors. Where `install_as_torch` made retrograd torch,
    every file is a zip checkpoint.

    Args: `f` a path, or a file open for writing in binary mode. At a path the old file is replaced once the new one is
    whole. `pickle_module` given, such as `pickle`: write a pickle of protocol `pickle_protocol` instead. It holds any
    object, and `load` reads it with `weights_only=False` alone: for files that are trusted.
    Raises: TypeError for an object of a type that the file cannot hold, ValueError for one that contains itself; both
    say where it is.

    >>> import io
    >>> file = io.BytesIO()
    >>> rg.save({"weight": rg.ones(2, requires_grad=True), "step": 3}, file)
    >>> _ = file.seek(0)
    >>> rg.load(file)
    {'weight': tensor([1., 1.], requires_grad=True), 'step': 3}
    """
    if pickle_module is not None:
        with _writing(f) as file:
            pickle_module.dump(obj, file, protocol=pickle_protocol)
        return
    _check_byte_order()
    from retrograd.serialization import _safetensors, _structure

    suffix = os.path.splitext(os.fspath(f))[1] if isinstance(f, str | os.PathLike) else ""
    refusal: Exception | None = None
    whole = None
    if suffix not in _CHECKPOINTS and not _is_torch():
        try:
            whole = _structure.encode(obj)
        except (TypeError, ValueError) as e:
            if suffix == ".safetensors":
                raise
            refusal = e
    if whole is None:
        from retrograd.serialization import _checkpoint

        checkpoint = _checkpoint.encode(obj, pickle_protocol, refusal)
        with _writing(f) as file:
            _checkpoint.write(checkpoint, file, f)
        return
    structure, entries = whole
    header, order = _safetensors.write_header(
        {_KEY: _safetensors.write_json(structure)}, [(name, e.dtype, e.shape) for name, e in entries.items()]
    )
    with _writing(f) as file:
        _write(file, header)
        for name in order:
            _write(file, entries[name].storage.view())


def load(
    f: File,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` or `torch.save` wrote, or a safetensors file of other programs: that is a dict of tensors.

    No code from the file runs; a zip checkpoint that asks for other classes and functions than tensors, containers and
    numbers need is refused by their names, which `serialization.add_safe_globals` allows. A tensor that was no leaf
    comes back as a leaf that requires grad.

    Args: `f` a path, or a file open for reading in binary mode; `weights_only` False to read a pickle, or all that a
    zip checkpoint holds, which can run any code; `pickle_module` the module for a pickle, and `pickle_load_args` its
    options; `mmap` True to map the file at a path into memory, so that pages are read when needed (writes to the
    tensors do not reach the file); `map_location` 'cpu', or a callable that sees each storage and the name 'cpu'.
    Raises: RuntimeError for a damaged file; `pickle.UnpicklingError` for one of another kind.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "points.safetensors")
    ...     rg.save([rg.ones(2), "note", (1, 2.5)], path)
    ...     rg.load(path)
    [tensor([1., 1.]), 'note', (1, 2.5)]
    """
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    trusted = pickle_module is not None if weights_only is None else not weights_only
    place = _placer(map_location)
    if mmap and not isinstance(f, str | os.PathLike):
        raise ValueError("load: f must be a path for mmap=True")
    with _reading(f) as file:
        start, size = _extent(file)
        head = _read(file, min(9, size))
        if _is_safetensors(head):
            return _load_safetensors(file, start, size, place, bool(mmap), exactly=file is not f)
        file.seek(start)
        if head.startswith(b"PK"):
            return _load_checkpoint(file, place, mmap, trusted, pickle_module, pickle_load_args)
        if trusted:
            if mmap:
                raise ValueError("load: mmap=True is for safetensors files and zip checkpoints, and this is none")
            if pickle_module is None:
                import pickle as pickle_module
            return pickle_module.load(file, **pickle_load_args)
        _refuse(head)


def _is_torch() -> bool:
    """Whether the program takes retrograd for torch: see `install_as_torch`."""
    return sys.modules.get("torch") is sys.modules["retrograd"]


# ---- the zip file


def _load_checkpoint(
    file: IO[bytes], place: Any, mapped: bool | None, trusted: bool, pickle_module: Any, options: dict[str, Any]
) -> Any:
    from retrograd.serialization import _checkpoint

    if pickle_module is not None:
        raise ValueError("load: pickle_module is for pickles, and this is a zip archive: pass weights_only=False alone")
    _check_byte_order()
    pages = _map(file) if mapped else None
    try:
        return _checkpoint.read(file, place, pages, _read_into, trusted, options)
    except ValueError as e:
        raise RuntimeError(f"load: the file is damaged, or no checkpoint of torch: {e}") from e


# ---- the safetensors file


def _is_safetensors(head: bytes) -> bool:
    from retrograd.serialization._safetensors import HEADER_LIMIT, LENGTH

    return len(head) > LENGTH and int.from_bytes(head[:LENGTH], "little") <= HEADER_LIMIT and head[LENGTH:] == b"{"


def _load_safetensors(
    file: IO[bytes], start: int, size: int, place: Callable[[Tensor], None], mapped: bool, exactly: bool
) -> Any:
    """The object in a file of `size` bytes from `start` on; with `exactly`, none may follow what it says it has."""
    from retrograd.serialization import _safetensors, _structure
    from retrograd.serialization._copy import Storage

    _check_byte_order()
    file.seek(start)
    length = int.from_bytes(_read(file, _safetensors.LENGTH), "little")
    begin = _safetensors.LENGTH + length
    if begin > size:
        raise _damaged(f"its header has {length} bytes, and {size - _safetensors.LENGTH} are there")
    try:
        metadata, spans, end = _safetensors.parse(_read(file, length))
        structure = _safetensors.parse_json(metadata[_KEY]) if _KEY in metadata else _structure.plain(spans)
    except ValueError as e:
        raise _damaged(str(e)) from e
    if begin + end > size or (exactly and begin + end < size):
        raise _damaged(f"its arrays have {end} bytes, and {size - begin} are there")
    pages = _map(file) if mapped else None
    entries: dict[str, tuple[Any, Any]] = {}
    for name, span in sorted(spans.items(), key=lambda item: item[1].begin):
        if pages is None:
            storage = Storage(_core.empty(span.end - span.begin, dtype=_core.uint8))
            _read_into(file, storage.view())
        else:
            storage = Storage(_mapped(pages, start + begin + span.begin, span.end - span.begin))
        place(storage.memory)
        entries[name] = (_structure.Entry(span.dtype, span.shape, storage), _maker(storage.memory))
    try:
        return _structure.decode(structure, entries)
    except ValueError as e:
        raise _damaged(str(e)) from e


def _maker(memory: Tensor) -> Callable[[DType, tuple[int, ...], tuple[int, ...], int], Tensor]:
    return lambda dtype, sizes, strides, offset: _core._over_storage(memory, dtype, sizes, strides, offset)


def _damaged(what: str) -> RuntimeError:
    return RuntimeError(f"load: the file is damaged, or no safetensors file: {what}")


def _refuse(head: bytes) -> NoReturn:
    """Says what a file is that is not read."""
    from pickle import UnpicklingError

    if not head:
        raise EOFError("load: Ran out of input: the file is empty")
    if head.startswith(b"\x80"):
        what = "a pickle, which can run any code: if you trust where it comes from, pass weights_only=False"
    else:
        what = "neither a safetensors file nor a zip checkpoint (a pickle, if you trust it, needs weights_only=False)"
    raise UnpicklingError(f"Weights only load failed: the file is {what}")


def _check_byte_order() -> None:
    if sys.byteorder != "little":
        raise NotImplementedError("safetensors files are read and written on little-endian machines only")


def _placer(map_location: Any) -> Callable[[Tensor], None]:
    """What looks at each storage; all stay where they are, on the CPU."""
    if map_location is None or isinstance(map_location, str | Device):
        _demand_cpu(map_location or "cpu")
    elif isinstance(map_location, Mapping):
        _demand_cpu(map_location.get("cpu", "cpu"))
    elif callable(map_location):
        return lambda memory: _check_placed(memory, map_location(memory, "cpu"))
    else:
        kind = type(map_location).__name__
        raise TypeError(f"load: map_location is a device, its name, a dict of names or a callable, not {kind}")
    return lambda memory: None


def _demand_cpu(place: Device | str) -> None:
    kind = Device(place).type
    if kind != "cpu":
        raise RuntimeError(
            f"load: Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() "
            "is False. 'cpu' is the only device of this build: leave map_location out"
        )


def _check_placed(memory: Tensor, result: object) -> None:
    if result is not None and result is not memory:
        raise TypeError("load: map_location must return the storage it was given, or None: all are on the CPU")


# ---- files


@contextmanager
def _writing(f: Any) -> Iterator[IO[bytes]]:
    """A file to write to; that at a path appears there, whole, at the end."""
    if not isinstance(f, str | os.PathLike):
        if not hasattr(f, "write"):
            raise AttributeError(
                "expected 'f' to be string, path, or a file-like object with a 'write' attribute, but got "
                f"{type(f).__name__}"
            )
        if isinstance(f, io.TextIOBase):
            raise TypeError(f"save: expected a path or a file open for writing in binary mode, got {type(f).__name__}")
        yield f
        return
    with replacing(f) as file:
        yield file


def _write(file: IO[bytes], view: bytes | memoryview) -> None:
    view = memoryview(view)
    while view.nbytes:
        written: object = file.write(view)
        # Raw files may write a part; file-like objects need not say how much they wrote.
        view = view[written if isinstance(written, int) else view.nbytes :]


@contextmanager
def _reading(f: Any) -> Iterator[IO[bytes]]:
    """A file to read from, in which one can seek."""
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            yield file
        return
    if not hasattr(f, "read"):
        raise AttributeError(
            f"{type(f).__name__!r} object has no attribute 'read': load expects a path or a file open for reading"
        )
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"load: expected a path or a file open for reading in binary mode, got {type(f).__name__}")
    yield f if _can_seek(f) else io.BytesIO(f.read())


def _can_seek(f: IO[bytes]) -> bool:
    try:
        at = f.tell()
        f.seek(0, os.SEEK_END)
        f.seek(at)
    except (AttributeError, OSError, ValueError):
        return False
    return True


def _extent(file: IO[bytes]) -> tuple[int, int]:
    """Where the file is now, and the number of bytes from there."""
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    return start, size


def _read(file: IO[bytes], n: int) -> bytes:
    data = b""
    while len(data) < n and (more := file.read(n - len(data))):
        data += more
    if len(data) < n:
        raise _damaged("it ends too early")
    return data


def _read_into(file: IO[bytes], view: memoryview) -> None:
    read = getattr(file, "readinto", None)
    while view.nbytes:
        if read is not None:
            n = read(view) or 0
        else:
            data = file.read(view.nbytes)
            n = len(data)
            view[:n] = data
        if n == 0:
            raise _damaged("it ends too early")
        view = view[n:]


def _map(file: IO[bytes]) -> Any:
    """The whole file as memory; writes to it stay with this process."""
    import mmap

    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def _mapped(pages: Any, at: int, size: int) -> Tensor:
    if size == 0:
        return _core.empty(0, dtype=_core.uint8)
    memory = _core.frombuffer(pages, dtype=_core.uint8, count=size, offset=at)
    # Files of others may have odd headers.
    return memory if at % 8 == 0 else memory.clone()
