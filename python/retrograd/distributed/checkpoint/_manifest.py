"""The manifest of a checkpoint: which file has which part of which tensor. It is believed only if it adds up."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from retrograd._core import dtype as DType
from retrograd._files import replacing
from retrograd.serialization._safetensors import _DTYPES, _NAMES, HEADER_LIMIT, MAX_NDIM, parse_json, write_json

NAME = "manifest.json"
_FORMAT = "retrograd.distributed.checkpoint"
# Names that `save` gives to files. Nothing else is opened, so that no path leads out of the folder.
FILE = re.compile(r"[0-9a-f]{16}-(?:values|[0-9]{5,9}-of-[0-9]{5,9})\.safetensors")
# The largest number of chunks whose overlaps are looked for in pairs.
_PAIRS = 4096


@dataclass(frozen=True)
class Chunk:
    """A part of a tensor: the array `name` of a file, which begins at `offset` in the whole."""

    file: str
    name: str
    offset: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass
class Entry:
    """A tensor."""

    dtype: DType
    shape: tuple[int, ...]
    chunks: list[Chunk]


@dataclass
class Manifest:
    """All of a checkpoint: tensors by path, the file of other values, and the bytes of each file."""

    tensors: dict[str, Entry] = field(default_factory=dict)
    values: str = ""
    files: dict[str, int] = field(default_factory=dict)


def write(manifest: Manifest, folder: str) -> None:
    """Put the manifest into its folder, in the place of an older one."""
    tensors = {
        path: {
            "dtype": _DTYPES[entry.dtype],
            "shape": list(entry.shape),
            "chunks": [
                {"file": c.file, "name": c.name, "offset": list(c.offset), "shape": list(c.shape)} for c in entry.chunks
            ],
        }
        for path, entry in manifest.tensors.items()
    }
    text = write_json(
        {"format": _FORMAT, "version": 1, "files": manifest.files, "values": manifest.values, "tensors": tensors}
    )
    with replacing(os.path.join(folder, NAME)) as file:
        file.write(text.encode())


def read(folder: str) -> Manifest:
    """The manifest in a folder, whose files have the sizes that it says.

    Raises: FileNotFoundError if there is none; RuntimeError for one that is damaged or of another kind, and for files
    that are missing or have other sizes.
    """
    path = os.path.join(folder, NAME)
    try:
        with open(path, "rb") as file:
            data = file.read(HEADER_LIMIT + 1)
    except FileNotFoundError:
        raise FileNotFoundError(f"load: there is no checkpoint in {folder!r}: it has no {NAME}") from None
    if len(data) > HEADER_LIMIT:
        raise RuntimeError(f"load: {path} is damaged: it has more than {HEADER_LIMIT} bytes")
    try:
        manifest = _parsed(parse_json(data.decode()))
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"load: {path} is damaged, or no manifest of a checkpoint: {error}") from error
    for name, size in manifest.files.items():
        try:
            found = os.stat(os.path.join(folder, name)).st_size
        except FileNotFoundError:
            raise RuntimeError(f"load: {folder!r} has no {name}, which its {NAME} lists") from None
        if found != size:
            raise RuntimeError(f"load: {name} in {folder!r} is damaged: it has {found} bytes, and {NAME} says {size}")
    return manifest


def _parsed(data: Any) -> Manifest:
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ValueError(f"its format is not {_FORMAT!r}")
    if data.get("version") != 1:
        raise ValueError(f"its version is {data.get('version')!r}, and 1 is known")
    files = _dict(data, "files")
    for name, size in files.items():
        if not FILE.fullmatch(name) or type(size) is not int or size < 0:
            raise ValueError(f"a file is named {name!r} and has {size!r} bytes")
    values = data.get("values")
    if values not in files:
        raise ValueError(f"the file of values, {values!r}, is not listed")
    tensors = {path: _entry(path, about, files) for path, about in _dict(data, "tensors").items()}
    return Manifest(tensors, values, files)


def _dict(data: dict[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key)
    if not isinstance(found, dict):
        raise ValueError(f"it has no object {key!r}")
    return found


def _entry(path: str, about: Any, files: dict[str, int]) -> Entry:
    if not isinstance(about, dict) or about.keys() != {"dtype", "shape", "chunks"}:
        raise ValueError(f"tensor {path!r} is described by other things than dtype, shape and chunks")
    dtype = _NAMES.get(about["dtype"]) if isinstance(about["dtype"], str) else None
    if dtype is None:
        raise ValueError(f"tensor {path!r} is of type {about['dtype']!r}, which is no dtype of retrograd")
    shape = _sizes(path, about["shape"])
    if not isinstance(about["chunks"], list):
        raise ValueError(f"the chunks of tensor {path!r} are no list")
    chunks = []
    for chunk in about["chunks"]:
        if not isinstance(chunk, dict) or chunk.keys() != {"file", "name", "offset", "shape"}:
            raise ValueError(
                f"a chunk of tensor {path!r} is described by other things than file, name, offset and shape"
            )
        if chunk["file"] not in files or not isinstance(chunk["name"], str):
            raise ValueError(f"a chunk of tensor {path!r} is in {chunk['file']!r}, which is not listed")
        sizes = [_sizes(path, chunk[key]) for key in ("offset", "shape")]
        chunks.append(Chunk(chunk["file"], chunk["name"], *sizes))
    check_cover(path, shape, [(chunk.offset, chunk.shape) for chunk in chunks])
    return Entry(dtype, shape, chunks)


def _sizes(path: str, items: Any) -> tuple[int, ...]:
    if not isinstance(items, list) or any(type(n) is not int or not 0 <= n < 2**63 for n in items):
        raise ValueError(f"tensor {path!r} has a shape or an offset that is no list of sizes")
    if len(items) > MAX_NDIM:
        raise ValueError(f"tensor {path!r} has {len(items)} axes")
    return tuple(items)


def check_cover(path: str, shape: tuple[int, ...], parts: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    """Whether parts, by offset and shape, make up the whole.

    Raises: ValueError for gaps, overlaps, and parts that are not inside.
    """
    for offset, sizes in parts:
        if not len(offset) == len(sizes) == len(shape) or any(
            at + size > whole for at, size, whole in zip(offset, sizes, shape, strict=True)
        ):
            raise ValueError(f"a part of {path!r}, {sizes} at {offset}, is not inside of its shape {shape}")
    filled = sum(math.prod(sizes) for _, sizes in parts)
    if filled != math.prod(shape):
        raise ValueError(f"the parts of {path!r} have {filled} elements, and its shape {shape} has {math.prod(shape)}")
    if len(parts) > _PAIRS:
        raise ValueError(f"{path!r} is in {len(parts)} parts, more than {_PAIRS}")
    for one, other in combinations(parts, 2):
        if all(max(a, b) < min(a + m, b + n) for a, m, b, n in zip(*one, *other, strict=True)):
            raise ValueError(f"parts of {path!r} overlap: {one[1]} at {one[0]}, and {other[1]} at {other[0]}")
