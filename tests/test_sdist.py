"""The source distribution holds what the wheel is built from. `make sdist-test` builds and installs it."""

import importlib.util
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(importlib.util.find_spec("maturin") is None, reason="needs maturin")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the archive, by their paths in the repository."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = folder.iterdir()
    top = archive.name.removesuffix(".tar.gz") + "/"
    with tarfile.open(archive) as files:
        held = {member.name: files.extractfile(member) for member in files if member.isfile()}
        return {name.removeprefix(top): file.read() for name, file in held.items() if file is not None}


@pytest.mark.parametrize("path", [".cargo/config.toml", "Cargo.lock", "LICENSE", "README.md"])
def test_it_has_what_the_build_reads(sdist, path):
    assert sdist[path] == (ROOT / path).read_bytes()


def test_it_has_the_flags_that_the_extension_is_compiled_with(sdist):
    assert tomllib.loads(sdist[".cargo/config.toml"].decode())["build"]["rustflags"]


def needed_crates(name: str) -> set[str]:
    """The folders of a crate and of those of this workspace that it depends on."""
    folder = f"rust/{name}"
    manifest = tomllib.loads((ROOT / folder / "Cargo.toml").read_text())
    own = [crate for crate in manifest["dependencies"] if (ROOT / "rust" / crate).is_dir()]
    return {folder}.union(*(needed_crates(crate) for crate in own))


def test_it_has_every_crate_of_the_extension_and_every_python_file(sdist):
    crates = needed_crates("retrograd-python")
    assert crates > {"rust/retrograd-engine", "rust/retrograd-kernels", "rust/retrograd-macros"}
    wanted = {f"{crate}/Cargo.toml" for crate in crates}
    for folder, kinds in [*((f"{crate}/src", {".rs"}) for crate in crates), ("python", {".py", ".pyi", "py.typed"})]:
        files = (path for path in (ROOT / folder).rglob("*") if path.suffix in kinds or path.name in kinds)
        wanted |= {path.relative_to(ROOT).as_posix() for path in files}
    assert wanted - set(sdist) == set()


def test_its_workspace_has_the_crates_that_are_in_it(sdist):
    members = tomllib.loads(sdist["Cargo.toml"].decode())["workspace"]["members"]
    assert {f"{member}/Cargo.toml" for member in members} <= set(sdist)
    assert "rust/retrograd-kernels/build.rs" in sdist
