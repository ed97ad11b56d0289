"""Builds of the extension from a copy of the source: with every mutant behind its switch, or with one mutant alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import switches
from entries import ROOT, Mutant

WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
PACKAGE = ROOT / "python" / "retrograd"
PARTS = ("Cargo.toml", "Cargo.lock", ".cargo", "rust")

# As in a release, neither overflow nor the duties of unsafe code are looked for: what is wrong must be seen by a test.
PROFILE = {
    "inherits": '"dev"',
    "debug": "false",
    "debug-assertions": "false",
    "overflow-checks": "false",
}


def cargo(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    settings = [part for key, value in PROFILE.items() for part in ("--config", f"profile.mutants.{key}={value}")]
    where = ["--profile", "mutants", "--target-dir", str(WORK / "build"), "-p", "retrograd-python"]
    return subprocess.run(
        ["cargo", *settings, command, *where, *arguments], cwd=TREE, stdout=subprocess.PIPE, text=True, check=False
    )


def sources() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PARTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]


def copy_tree(texts: dict[str, str]) -> None:
    """Makes the copy hold the source, with these texts in place of those of their files. What stays is not touched."""
    paths = sources()
    for path in paths:
        to = TREE / path
        content = texts[path].encode() if path in texts else (ROOT / path).read_bytes()
        if not to.is_file() or to.read_bytes() != content:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(content)
    kept = {TREE / path for path in paths}
    for stale in [path for path in TREE.rglob("*") if path.is_file() and path not in kept]:
        stale.unlink()


def crate_roots() -> list[str]:
    return [path for path in sources() if path.endswith("src/lib.rs") and "macros" not in path]


def write_switched(mutants: Iterable[Mutant]) -> None:
    by_file: dict[str, list[switches.Change]] = defaultdict(list)
    for mutant in mutants:
        if not mutant.is_python and not mutant.alone:
            by_file[mutant.file].append(mutant.change())
    texts = {path: (ROOT / path).read_text() for path in [*by_file, *crate_roots()]}
    for path, changes in by_file.items():
        texts[path] = switches.rewrite(texts[path], changes)
    for path in crate_roots():
        # Of what the switches look like nobody needs to be warned.
        texts[path] = "#![allow(warnings)]\n" + texts[path] + switches.MODULE
    copy_tree(texts)


def write_alone(mutant: Mutant) -> None:
    copy_tree({mutant.file: mutant.change().plain((ROOT / mutant.file).read_text())})


def broken() -> dict[int, str]:
    """The mutants whose code the compiler refuses, with the error. An error elsewhere ends the program."""
    done = cargo("check", "--message-format=json")
    found: dict[int, str] = {}
    for line in done.stdout.splitlines():
        message = json.loads(line).get("message") or {}
        if message.get("level") != "error" or not message.get("spans"):
            continue
        for span in message["spans"]:
            text = (TREE / span["file_name"]).read_bytes().decode() if (TREE / span["file_name"]).is_file() else ""
            at = len(text.encode()[: span["byte_start"]].decode(errors="ignore"))
            for number in switches.mutants_at(text, at)[-1:]:
                found.setdefault(number, message["message"])
    if done.returncode != 0 and not found:
        raise SystemExit(f"the copy does not compile:\n{done.stdout[-4000:]}")
    return found


def extension() -> Path:
    done = cargo("build")
    if done.returncode != 0:
        raise SystemExit(f"the copy in {TREE} does not compile")
    return next(path for path in (WORK / "build" / "mutants").glob("lib_core.*") if path.suffix in (".so", ".dylib"))


def make_site(name: str, library: Path, texts: dict[str, str] | None = None) -> Path:
    """A folder to import the package from: the Python sources, with these texts for some, and an extension."""
    site = WORK / name
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(PACKAGE, site / "retrograd", ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in (texts or {}).items():
        (site / "retrograd" / Path(path).relative_to("python/retrograd")).write_text(text)
    shutil.copy(library, site / "retrograd" / "_core.abi3.so")
    return site
