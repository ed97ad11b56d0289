"""What the extension has of each thread fits into the room that the C library keeps for it.

Then the values that every op asks for are found in a few instructions; see `thread_values.rs`.
"""

from __future__ import annotations

import platform
import struct
from pathlib import Path

import pytest

from retrograd import _core

# The default of glibc's tunable glibc.rtld.optional_static_tls.
ROOM = 512
PT_TLS = 7


def headers(elf: bytes) -> dict[int, tuple[int, int]]:
    """By type: bytes in memory and alignment of the segments of a 64-bit little-endian file."""
    start, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    found = {}
    for at in range(start, start + size * count, size):
        kind, _, _, _, _, _, memory, alignment = struct.unpack_from("<IIQQQQQQ", elf, at)
        found[kind] = (memory, alignment)
    return found


@pytest.mark.skipif(
    (platform.system(), platform.machine(), platform.libc_ver()[0]) != ("Linux", "x86_64", "glibc"),
    reason="values of threads are found in another way here",
)
def test_what_a_thread_has_fits_where_it_is_quickly_found() -> None:
    memory, alignment = headers(Path(_core.__file__).read_bytes())[PT_TLS]
    assert memory + alignment <= ROOM
