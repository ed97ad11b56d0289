"""The zip archives of `torch.save`: what is in one, by name.

An archive has a pickle, `data.pkl`, that refers to storages by keys, and a record of bytes for each, `data/KEY`. All
are stored as they are, so nothing in an archive is larger than its file; whatever is compressed is refused.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from typing import IO, Any

from retrograd._core import Tensor

ALIGNMENT = 64
_LOCAL_HEADER = 30


class Damaged(ValueError):
    """What is in the file is not what such a file has."""


class Reader:
    """The records of an archive.

    Raises: Damaged if it is none.
    """

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as e:
            raise Damaged(f"no zip archive: {e}") from e
        pickles = [name for name in self._zip.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise Damaged(f"{len(pickles)} pickles named data.pkl, where torch.save writes one")
        self._folder = pickles[0].removesuffix("data.pkl")

    def __contains__(self, name: str) -> bool:
        return self._folder + name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        """A record, whole."""
        with self._open(self._info(name)) as record:
            return record.read()

    def fill(self, name: str, memory: Tensor, read_into: Callable[[Any, memoryview], None]) -> None:
        """Reads a record that has as many bytes as the memory into it."""
        with self._open(self._info(name)) as record:
            try:
                read_into(record, memoryview(memory))  # type: ignore[arg-type]  # __buffer__ is there from 3.12 on
            except zipfile.BadZipFile as e:
                raise Damaged(f"record {name!r}: {e}") from e

    def size(self, name: str) -> int:
        """The bytes of a record."""
        return self._info(name).file_size

    def place(self, name: str, pages: memoryview) -> int:
        """Where in the mapped file the bytes of a record begin."""
        info = self._info(name)
        head = pages[info.header_offset : info.header_offset + _LOCAL_HEADER]
        if len(head) < _LOCAL_HEADER or bytes(head[:4]) != b"PK\x03\x04":
            raise Damaged(f"record {name!r} has no header")
        lengths: tuple[int, int] = struct.unpack("<HH", head[26:30])
        at = info.header_offset + _LOCAL_HEADER + sum(lengths)
        if at + info.file_size > len(pages):
            raise Damaged(f"record {name!r} ends behind the file")
        return at

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._zip.NameToInfo.get(self._folder + name)
        if info is None:
            raise Damaged(f"no record {name!r}")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise Damaged(f"record {name!r} is compressed, which torch.save never does")
        return info

    def _open(self, info: zipfile.ZipInfo) -> IO[bytes]:
        try:
            return self._zip.open(info)
        except (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, struct.error) as e:
            raise Damaged(f"record {info.filename!r}: {e}") from e


class Writer:
    """An archive that is written record by record."""

    def __init__(self, file: IO[bytes], folder: str) -> None:
        self._file, self._folder = file, folder
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Adds a record, whose bytes begin at a multiple of 64 in the file."""
        info = zipfile.ZipInfo(f"{self._folder}/{name}", (1980, 1, 1, 0, 0, 0))
        size = memoryview(data).nbytes
        zip64 = size >= 1 << 31
        begin = self._zip.start_dir + _LOCAL_HEADER + len(info.filename.encode()) + (20 if zip64 else 0)
        # A field that readers skip: two letters, its length, and zeros.
        padding = (-begin - 4) % ALIGNMENT
        info.extra = b"FB" + struct.pack("<H", padding) + bytes(padding)
        info.file_size = size
        with self._zip.open(info, "w", force_zip64=zip64) as record:
            record.write(data)

    def close(self) -> None:
        """Writes the list of records at the end."""
        self._zip.close()
