"""What the extension asks of the C library of a Linux system."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import retrograd._core

READELF = shutil.which("readelf")
EXTENSION = Path(retrograd._core.__file__)
# The version that released wheels promise to run with: manylinux_2_17.
OLDEST = (2, 17)
# What had another version there. A build on a newer system asks for the newer one, a released wheel for the older one.
RENEWED = {
    *("exp", "exp2", "expf", "hypot", "log", "log2", "logf", "pow", "powf", "fstat64", "stat64", "dlsym"),
    *("pthread_attr_getguardsize", "pthread_attr_getstack", "pthread_attr_setstacksize", "pthread_create"),
    *("pthread_detach", "pthread_getattr_np", "pthread_join", "pthread_key_create", "pthread_key_delete"),
    *("pthread_setname_np", "pthread_setspecific"),
}

pytestmark = pytest.mark.skipif(
    READELF is None or EXTENSION.read_bytes()[:4] != b"\x7fELF", reason="needs an ELF file and readelf"
)


def asked() -> dict[str, tuple[int, ...]]:
    """The symbols that must be found in glibc, with the version that has them; weak ones may be absent."""
    table = subprocess.run([READELF, "--wide", "--dyn-syms", EXTENSION], capture_output=True, text=True, check=True)
    found = re.findall(r" GLOBAL +DEFAULT +UND (\w+)@GLIBC_([\d.]+)", table.stdout)
    return {name: tuple(map(int, version.split("."))) for name, version in found}


def test_every_symbol_is_as_old_as_released_wheels_promise():
    symbols = asked()
    assert "malloc" in symbols
    newer = {name: version for name, version in symbols.items() if version > OLDEST}
    assert {name: version for name, version in newer.items() if name not in RENEWED} == {}


def test_the_wheel_asks_for_no_newer_glibc_than_its_name_says():
    tags = [
        tuple(map(int, found))
        for wheel in EXTENSION.parent.parent.glob("retrograd-*.dist-info/WHEEL")
        for found in re.findall(r"^Tag: .*-manylinux_(\d+)_(\d+)_", wheel.read_text(), re.MULTILINE)
    ]
    if not tags:
        pytest.skip("not installed from a wheel that names a glibc")
    assert max(asked().values()) <= min(tags)
