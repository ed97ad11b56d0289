"""Lockfiles apart from the workspace know what its crates depend on: `cargo --locked` refuses one that does not."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKFILE = ROOT / "benches/peers-rust/Cargo.lock"
LOCKED = {package["name"]: package for package in tomllib.loads(LOCKFILE.read_text())["package"]}
CRATES = sorted(name for name in LOCKED if (ROOT / "rust" / name / "Cargo.toml").exists())


def test_it_has_crates_of_the_workspace():
    assert {"retrograd", "retrograd-engine", "retrograd-kernels"} <= set(CRATES)


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_is_locked_with_the_dependencies_of_its_manifest(crate):
    manifest = tomllib.loads((ROOT / "rust" / crate / "Cargo.toml").read_text())
    targets = manifest.get("target", {}).values()
    known = {name: given for part in (manifest, *targets) for name, given in part.get("dependencies", {}).items()}
    # With the version behind the name where there are several.
    locked = {entry.split()[0] for entry in LOCKED[crate].get("dependencies", [])}
    needed = {name for name, given in known.items() if not (isinstance(given, dict) and given.get("optional"))}
    assert needed <= locked <= set(known)
