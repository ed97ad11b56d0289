"""The source distribution holds what the wheel is built from."""

import importlib.util
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(importlib.util.find_spec("maturin") is None, reason="needs maturin")
def test_it_has_the_flags_that_the_extension_is_compiled_with(tmp_path):
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as files:
        held = files.extractfile(archive.name.removesuffix(".tar.gz") + "/.cargo/config.toml")
        assert held is not None
        assert held.read() == (ROOT / ".cargo/config.toml").read_bytes()
        assert b"rustflags" in (ROOT / ".cargo/config.toml").read_bytes()
