"""Checkpoints in a folder: each process writes a part, and a manifest says what is where."""

from __future__ import annotations

import math
import os
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed.checkpoint import _manifest
from retrograd.distributed.checkpoint._manifest import Chunk, Entry, Manifest, check_cover
from retrograd.distributed.checkpoint._paths import Shard, flatten, nest, replace
from retrograd.distributed.checkpoint._together import group_of, shared, together
from retrograd.serialization import load as load_file
from retrograd.serialization import save as save_file
from retrograd.serialization._safetensors import _DTYPES

if TYPE_CHECKING:
    from retrograd.distributed._groups import ProcessGroup

__all__ = ["load", "load_all", "save"]

Path = str | os.PathLike[str]


class _Part(NamedTuple):
    """What processes tell each other of a tensor or a shard."""

    path: str
    dtype: Any
    whole: tuple[int, ...]
    offset: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the array in a file: no two parts of a checkpoint have the same."""
        return f"{self.path}@{','.join(map(str, self.offset))}"

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype.itemsize)


def _part(path: str, value: Tensor | Shard) -> _Part:
    if isinstance(value, Shard):
        return _Part(path, value.tensor.dtype, value.shape, value.offset, tuple(value.tensor.shape))
    return _Part(path, value.dtype, tuple(value.shape), (0,) * value.ndim, tuple(value.shape))


def _own(value: Tensor | Shard) -> Tensor:
    return (value.tensor if isinstance(value, Shard) else value).detach()


# ---- saving


def save(state_dict: dict[Any, Any], *, checkpoint_id: Path, process_group: ProcessGroup | None = None) -> None:
    """Write a nested dict of tensors and plain values to a folder. All processes call this, each with what it has.

    A tensor that several processes have is written by one of them, and these tensors are divided evenly; a `Shard` is
    written by one that has it. Other values are those of the lowest rank that has them. An older checkpoint in the
    folder stays until the new one is whole, and a program that is stopped in between leaves the older one.

    Args: `checkpoint_id` the folder, which all processes see; it is made if it is not there. `process_group` None for
    the default one; without one this process is alone.
    Raises: TypeError for what cannot be saved; ValueError for shards that do not make up a tensor; RuntimeError in all
    processes if one fails.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rg.distributed.checkpoint.save({"x": rg.ones(2), "n": 1}, checkpoint_id=folder)
    ...     rg.distributed.checkpoint.load_all(folder)["n"]
    1
    """
    group = group_of(process_group)
    rank = 0 if group is None else group.rank()
    folder = os.fspath(checkpoint_id)
    flat = together("save", lambda: _checked(state_dict), group)
    tensors = {path: value for path, value in flat.items() if isinstance(value, Tensor | Shard)}
    parts = [_part(path, value) for path, value in tensors.items()]
    values = {path: value for path, value in flat.items() if path not in tensors}
    gathered = shared((secrets.token_hex(8), parts, values), group)
    token = gathered[0][0]
    writers, entries = together("save", lambda: _plan([parts for _, parts, _ in gathered]), group)
    names = [f"{token}-{number:05}-of-{len(gathered):05}.safetensors" for number in range(len(gathered))]

    def write() -> int:
        os.makedirs(folder, exist_ok=True)
        own = {part.name: _own(tensors[part.path]) for part in parts if writers[part] == rank}
        target = os.path.join(folder, names[rank])
        save_file({name: tensor.contiguous() for name, tensor in own.items()}, target)
        return os.stat(target).st_size

    def finish() -> None:
        if rank != 0:
            return
        merged: dict[str, Any] = {}
        for _, _, others in reversed(gathered):
            merged.update(others)
        values_name = f"{token}-values.safetensors"
        target = os.path.join(folder, values_name)
        save_file(merged, target)
        files = dict(zip(names, sizes, strict=True))
        manifest = Manifest(values=values_name, files={**files, values_name: os.stat(target).st_size})
        for path, (dtype, whole, chunks) in entries.items():
            located = [Chunk(names[writers[part]], part.name, part.offset, part.shape) for part in chunks]
            manifest.tensors[path] = Entry(dtype, whole, located)
        _manifest.write(manifest, folder)
        for name in os.listdir(folder):
            if _manifest.FILE.fullmatch(name) and name not in manifest.files:
                os.unlink(os.path.join(folder, name))

    sizes = shared(together("save", write, group), group)
    together("save", finish, group)


def _checked(state_dict: dict[Any, Any]) -> dict[str, Any]:
    if not isinstance(state_dict, dict):
        raise TypeError(f"save: expected a dict, got {type(state_dict).__name__}")
    flat = dict(flatten(state_dict))
    for path, value in flat.items():
        if isinstance(value, Tensor | Shard) and _own(value).dtype not in _DTYPES:
            raise TypeError(f"save: {path} is {_own(value).dtype}, which a safetensors file has no type for")
    return flat


def _plan(all_parts: list[list[_Part]]) -> tuple[dict[_Part, int], dict[str, tuple[Any, tuple[int, ...], list[_Part]]]]:
    """Who writes which part, and the tensors with their parts. Every process finds the same."""
    holders: dict[_Part, list[int]] = {}
    for rank, parts in enumerate(all_parts):
        for part in parts:
            holders.setdefault(part, []).append(rank)
    loads = [0] * len(all_parts)
    writers: dict[_Part, int] = {}
    for part in sorted(holders, key=lambda part: (-part.bytes, part.path, part.offset)):
        writers[part] = min(holders[part], key=lambda rank: (loads[rank], rank))
        loads[writers[part]] += part.bytes
    entries: dict[str, tuple[Any, tuple[int, ...], list[_Part]]] = {}
    for part in holders:
        dtype, whole, parts = entries.setdefault(part.path, (part.dtype, part.whole, []))
        if (dtype, whole) != (part.dtype, part.whole):
            raise ValueError(
                f"save: {part.path} is {dtype} {whole} on one rank, and {part.dtype} {part.whole} on another"
            )
        parts.append(part)
    for path, (_, whole, parts) in entries.items():
        check_cover(path, whole, [(part.offset, part.shape) for part in parts])
    return writers, entries


# ---- loading


class _Reader:
    """The tensors of a checkpoint. Files are mapped into memory, so that what is not needed is not read."""

    def __init__(self, folder: str) -> None:
        self.folder, self.manifest = folder, _manifest.read(folder)
        self._files: dict[str, dict[str, Tensor]] = {}

    def values(self) -> dict[str, Any]:
        """What is no tensor, by path."""
        found = load_file(os.path.join(self.folder, self.manifest.values))
        if not isinstance(found, dict):
            raise RuntimeError(f"load: {self.manifest.values} in {self.folder!r} holds no dict")
        return found

    def _array(self, entry: Entry, chunk: Chunk) -> Tensor:
        if chunk.file not in self._files:
            self._files[chunk.file] = load_file(os.path.join(self.folder, chunk.file), mmap=True)
        found = self._files[chunk.file].get(chunk.name)
        if found is None or found.dtype != entry.dtype or tuple(found.shape) != chunk.shape:
            has = "no such array" if found is None else f"{found.dtype} {tuple(found.shape)}"
            raise RuntimeError(
                f"load: {chunk.file} in {self.folder!r} does not hold what {_manifest.NAME} says: {chunk.name!r} is "
                f"{entry.dtype} {chunk.shape} there, and the file has {has}"
            )
        return found

    @no_grad()
    def fill(self, target: Tensor, offset: tuple[int, ...], entry: Entry) -> Tensor:
        """Write into `target` the part of a tensor that begins at `offset`."""
        sizes = tuple(target.shape)
        for chunk in entry.chunks:
            begins = [max(a, b) for a, b in zip(offset, chunk.offset, strict=True)]
            ends = [min(a + m, b + n) for a, m, b, n in zip(offset, sizes, chunk.offset, chunk.shape, strict=True)]
            if any(begin >= end for begin, end in zip(begins, ends, strict=True)):
                continue
            source, place = self._array(entry, chunk), target
            for axis, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                source = source.narrow(axis, begin - chunk.offset[axis], end - begin)
                place = place.narrow(axis, begin - offset[axis], end - begin)
            place.copy_(source)
        return target


def load(state_dict: dict[Any, Any], *, checkpoint_id: Path, process_group: ProcessGroup | None = None) -> None:
    """Read a checkpoint into a nested dict: into the memory of its tensors and shards, other values are replaced.

    All processes call this, each with what it wants to have: the number of processes, and what a `Shard` covers, may
    differ from those that saved. What the dict does not ask for is not read.

    Args: `checkpoint_id` the folder; `process_group` None for the default one; without one this process is alone.
    Raises: RuntimeError in all processes if one fails, as for a checkpoint that is damaged or lacks what is asked for;
    ValueError if shapes differ; FileNotFoundError if there is none. A tensor may have been written before an error.

    >>> import tempfile
    >>> state = {"x": rg.zeros(2), "n": 0}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rg.distributed.checkpoint.save({"x": rg.ones(2), "n": 1}, checkpoint_id=folder)
    ...     rg.distributed.checkpoint.load(state, checkpoint_id=folder)
    >>> state
    {'x': tensor([1., 1.]), 'n': 1}
    """

    def read() -> None:
        reader = _Reader(os.fspath(checkpoint_id))
        flat = dict(flatten(state_dict))
        targets = {path: value for path, value in flat.items() if isinstance(value, Tensor | Shard)}
        for path, value in targets.items():
            _check_target(path, value, reader.manifest.tensors)
        values = reader.values() if len(targets) < len(flat) else {}
        for path in flat:
            if path not in targets and path not in values:
                raise _missing(path)
        for path, value in targets.items():
            reader.fill(_own(value), _part(path, value).offset, reader.manifest.tensors[path])
        replace(state_dict, {path: values[path] for path in flat if path not in targets})

    together("load", read, group_of(process_group))


def _missing(path: str) -> RuntimeError:
    return RuntimeError(f"Missing key in checkpoint state_dict: {path}.")


def _check_target(path: str, value: Tensor | Shard, entries: dict[str, Entry]) -> None:
    entry = entries.get(path)
    if entry is None:
        raise _missing(path)
    whole = _part(path, value).whole
    if whole != entry.shape:
        raise ValueError(f"Size mismatch between saved {entry.shape} and current: {whole} for {path}")


def load_all(checkpoint_id: Path, *, process_group: ProcessGroup | None = None) -> Any:
    """All of a checkpoint, as a nested dict of whole tensors. All processes call this, and each gets it.

    Args: as for `load`. Raises: as `load`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rg.distributed.checkpoint.save({"x": rg.ones(2), "n": 1}, checkpoint_id=folder)
    ...     rg.distributed.checkpoint.load_all(folder)
    {'n': 1, 'x': tensor([1., 1.])}
    """

    def read() -> Any:
        reader = _Reader(os.fspath(checkpoint_id))
        flat = dict(reader.values())
        for path, entry in reader.manifest.tensors.items():
            flat[path] = reader.fill(_core.empty(entry.shape, dtype=entry.dtype), (0,) * len(entry.shape), entry)
        try:
            return nest(flat)
        except ValueError as error:
            raise RuntimeError(f"load: {_manifest.NAME} in {checkpoint_id!r} is damaged: {error}") from error

    return together("load", read, group_of(process_group))
