"""What the extension has of each thread fits into the room that the C library keeps for it.

Then the values that every op asks for are found in a few instructions; see `thread_values.rs`.
"""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys
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


pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine(), platform.libc_ver()[0]) != ("Linux", "x86_64", "glibc"),
    reason="values of threads are found in another way here",
)


def test_what_a_thread_has_fits_where_it_is_quickly_found() -> None:
    memory, alignment = headers(Path(_core.__file__).read_bytes())[PT_TLS]
    assert memory + alignment <= ROOM


PROGRAM = """
import threading
import retrograd as rg

def work(results, k):
    x = rg.tensor([float(k)] * 4, requires_grad=True)
    for _ in range(50):
        with rg.no_grad():
            assert not (x * 2.0).requires_grad
        (x * x).sum().backward()
    results[k] = x.grad.tolist()

results = {}
work(results, 4)
threads = [threading.Thread(target=work, args=(results, k)) for k in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == {k: [100.0 * k] * 4 for k in range(5)}, results
"""


@pytest.mark.parametrize("room", [0, ROOM])
def test_threads_have_values_of_their_own_wherever_the_linker_puts_them(room: int) -> None:
    settings = os.environ | {"GLIBC_TUNABLES": f"glibc.rtld.optional_static_tls={room}"}
    subprocess.run([sys.executable, "-c", PROGRAM], env=settings, check=True)
