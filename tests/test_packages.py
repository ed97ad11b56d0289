"""What is in the Rust crates that are published, and that they are listed in the order in which they can be."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
CARGO = os.environ.get("CARGO", "cargo")
pytestmark = pytest.mark.skipif(shutil.which(CARGO) is None, reason="cargo is not installed")


def cargo(*arguments: str) -> str:
    run = subprocess.run([CARGO, *arguments, "--offline"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def crates() -> dict[str, Any]:
    """The crates that are published, by their names."""
    packages = json.loads(cargo("metadata", "--no-deps", "--format-version", "1"))["packages"]
    return {package["name"]: package for package in packages if package["publish"] != []}


@pytest.fixture(scope="module")
def files(crates) -> dict[str, set[str]]:
    """The files of each, as they would be packed."""
    return {name: set(cargo("package", "--list", "--allow-dirty", "-p", name).splitlines()) for name in crates}


def test_each_has_its_licence_its_page_and_its_sources(crates, files):
    for name, package in crates.items():
        assert {"LICENSE", "README.md", "Cargo.toml", "src/lib.rs"} <= files[name], name
        assert package["license"] and package["description"] and package["repository"], name
        folder = Path(package["manifest_path"]).parent
        sources = {path.relative_to(folder).as_posix() for path in (folder / "src").rglob("*.rs")}
        assert sources <= files[name], name
        assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes(), name


def test_the_kernels_have_their_build_script(crates, files):
    scripts = {
        target["src_path"] for target in crates["retrograd-kernels"]["targets"] if "custom-build" in target["kind"]
    }
    assert {Path(path).name for path in scripts} == {"build.rs"}
    assert "build.rs" in files["retrograd-kernels"]


def test_tests_that_read_files_of_the_workspace_stay_at_home(files):
    packed = {
        name: {path for path in paths if path.startswith(("tests/", "benches/"))} for name, paths in files.items()
    }
    assert {name: paths for name, paths in packed.items() if paths} == {"retrograd-kernels": {"tests/memory.rs"}}


def test_nothing_packed_names_a_file_outside_of_its_crate(crates, files):
    for name, package in crates.items():
        folder = Path(package["manifest_path"]).parent
        for path in files[name]:
            if path.endswith(".rs"):
                text = (folder / path).read_text()
                for named in re.findall(
                    r'(?:include_str!|include_bytes!|include!)\("(.+?)"\)|#\[path = "(.+?)"\]', text
                ):
                    found = ((folder / path).parent / "".join(named)).resolve()
                    assert found.relative_to(folder).as_posix() in files[name], f"{name}: {path} names {found}"


def test_each_comes_after_those_that_it_depends_on(crates):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    order = re.findall(r"^    cargo publish -p (\S+)$", text, re.MULTILINE)
    assert sorted(order) == sorted(crates)
    named = re.search(r"^PUBLISHED_NAMES := ((?:.+\\\n)*.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert named
    assert named[1].replace("\\", " ").split() == order
    for place, name in enumerate(order):
        needed = {d["name"] for d in crates[name]["dependencies"] if d["kind"] != "dev"} & set(crates)
        assert needed <= set(order[:place]), name


def test_all_have_the_version_of_the_workspace(crates):
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    version = workspace["package"]["version"]
    assert {package["version"] for package in crates.values()} == {version}
    assert {name: workspace["dependencies"][name]["version"] for name in crates if name != "retrograd"} == {
        name: version for name in crates if name != "retrograd"
    }


def test_the_crate_outside_takes_every_one_from_where_it_is_unpacked(crates):
    outside = tomllib.loads((ROOT / "tests/outside/Cargo.toml").read_text())
    expected = {name: {"path": f"../../target/package/unpacked/{name}"} for name in crates}
    assert outside["patch"]["crates-io"] == expected
