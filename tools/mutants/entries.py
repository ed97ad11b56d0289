"""The lists of mutants: `review.toml`, `own.toml` and `drawn.toml`, read and placed in the source."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

import switches

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LISTS = ("review", "own", "drawn")


@dataclass(frozen=True)
class Mutant:
    """One entry of a list.

    `find` occurs once in the file, or once in the body of `function`: text that ends within the signature. Of `find`,
    what stands between « and » is replaced by `put`, or all of it. Without `find`, `put` is the function's body.

    With a function, the body is compiled twice. Without, the place is an expression, or a statement if it ends with a
    semicolon; a `put` in which `MUTANT` occurs takes the place as it is and asks with it whether the mutant is on.
    """

    number: int
    name: str
    # review, own or drawn.
    source: str
    area: str
    file: str
    put: str
    find: str | None = None
    function: str | None = None
    # Arguments of pytest, one run each: tests that are likely to see it.
    tests: tuple[str, ...] = ()
    # Cannot be switched, as in a constant: has a build of its own.
    alone: bool = False
    # Why no test can see it.
    equivalent: str | None = None

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")

    def change(self, root: Path = ROOT) -> switches.Change:
        try:
            text = (root / self.file).read_text()
            return switches.change(text, self.number, self.function, self.find, self.put)
        except (OSError, switches.Misplaced) as error:
            raise switches.Misplaced(f"{self.name} in {self.file}: {error}") from error


@dataclass(frozen=True)
class Area:
    """A part of the source."""

    paths: tuple[str, ...]
    # What a mutant of the area must survive, besides its own tests, to count as a survivor.
    wider: tuple[str, ...]


@dataclass(frozen=True)
class Lists:
    mutants: tuple[Mutant, ...]
    areas: dict[str, Area]

    def area_of(self, file: str) -> str:
        """The area with the longest of the paths that lead to the file."""
        paths = [(len(path), name) for name, area in self.areas.items() for path in area.paths if file.startswith(path)]
        return max(paths)[1]

    def named(self, parts: list[str]) -> list[Mutant]:
        """The mutants whose source, area, file or name has one of the parts; all, if there are none."""
        words = {m: f"{m.source}: {m.area} {m.file} {m.name}" for m in self.mutants}
        where = [m for m in self.mutants if not parts or any(part in words[m] for part in parts)]
        if not where:
            raise SystemExit(f"no mutant matches {shlex.join(parts)}")
        return where


def load(folder: Path = HERE) -> Lists:
    areas = tomllib.loads((folder / "areas.toml").read_text())
    mutants: list[Mutant] = []
    for source in LISTS:
        for row in tomllib.loads((folder / f"{source}.toml").read_text()).get("mutant", []):
            row["tests"] = tuple(row.get("tests", ()))
            mutants.append(Mutant(number=len(mutants) + 1, source=source, **row))
    return Lists(tuple(mutants), {name: Area(tuple(a["paths"]), tuple(a["wider"])) for name, a in areas.items()})
