"""Finds comments and prose that run past the 120 columns to which rustfmt and ruff hold the code.

python tools/width.py PATH...         looks at the files, and at all files in the folders, of the kinds below
python tools/width.py --fix PATH...   moves the words that run past the margin to the next line of their paragraph

Rust code and Python are left to rustfmt and ruff. What cannot be broken passes: rows of tables, text without a space,
and code in Markdown.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

WIDTH = 120
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
# What stands before the text of a line, by the kind of file: in Markdown nothing, elsewhere the sign of a comment.
LEADS = {".md": "", ".rs": r"\s*//[/!]?", ".toml": r"\s*#", ".yml": r"\s*#", "Makefile": r"\s*#"}
TRAILING = re.compile(r"\s//\s+(.*)")
# Text that is laid out: rows of tables, headings, programs. It neither is wrapped nor continues a paragraph.
LAID_OUT = ("|", "#", ">>>", "...", "```")
# What a docstring states begins a line of its own.
SECTION = re.compile(r"[A-Z][a-z]+: ")


class Line(NamedTuple):
    """What stands before the text of a line, spaces included, and the text."""

    lead: str
    text: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("paths", nargs="+", type=Path)
    options = parser.parse_args()
    paths = list(files(options.paths))
    if options.fix:
        for path in paths:
            wrap(path)
    found = [f"{path}:{number}" for path in paths for number in too_wide(path)]
    for place in found:
        print(f"{place}: a comment or a line of prose has more than {WIDTH} columns: wrap it", file=sys.stderr)
    return 1 if found else 0


def files(paths: list[Path]) -> Iterator[Path]:
    for given in paths:
        if not given.exists():
            raise SystemExit(f"tools/width.py: no file or folder {given}")
        inside = sorted(given.rglob("*")) if given.is_dir() else [given]
        yield from (path for path in inside if kind(path) in LEADS and path.is_file())


def kind(path: Path) -> str:
    return path.suffix or path.name


def too_wide(path: Path) -> Iterator[int]:
    code = False
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = parse(text, kind(path))
        code ^= kind(path) == ".md" and text.lstrip().startswith("```")
        if len(text) > WIDTH and not code and " " in line.text and not line.text.startswith("|"):
            yield number


def parse(text: str, kind: str) -> Line:
    """Of a line without prose the text is empty."""
    lead = re.match(rf"{LEADS[kind]}\s*", text)
    if lead:
        return Line(lead[0], text[lead.end() :])
    trailing = TRAILING.search(STRING.sub('""', text)) if kind == ".rs" else None
    return Line(text, trailing[1]) if trailing else Line(text, "")


def wrap(path: Path) -> None:
    rest = path.read_text(encoding="utf-8").split("\n")
    rest.reverse()
    done: list[str] = []
    code = False
    while rest:
        text = rest.pop()
        line = parse(text, kind(path))
        code ^= line.text.startswith("```")
        cut = place_to_break(line) if len(text) > WIDTH and not code else 0
        if not cut:
            done.append(text)
            continue
        moved = line.text[cut:].lstrip()
        lead = line.lead + " " * len(mark(line.text))
        following = parse(rest[-1], kind(path)) if rest else Line("", "")
        if following.lead == lead and continues(following.text):
            moved += " " + following.text
            rest.pop()
        done.append(line.lead + line.text[:cut].rstrip())
        rest.append(lead + moved)
    path.write_text("\n".join(done), encoding="utf-8")


def place_to_break(line: Line) -> int:
    """The last space within the margin behind which no list entry or heading would begin; 0 if there is none."""
    if line.text.startswith(LAID_OUT) or line.lead.strip() not in ("", "//", "///", "//!", "#"):
        return 0
    spaces = [found.start() for found in re.finditer(" ", line.text[: WIDTH - len(line.lead) + 1])]
    return next((at for at in reversed(spaces) if at and continues(line.text[at:].lstrip())), 0)


def continues(text: str) -> bool:
    """Whether a line with this text belongs to the paragraph of the line before it."""
    return bool(text) and not text.startswith(LAID_OUT) and not mark(text) and not SECTION.match(text)


def mark(text: str) -> str:
    """The sign of a list entry."""
    found = re.match(r"[-*] |\d+\. ", text)
    return found[0] if found else ""


if __name__ == "__main__":
    sys.exit(main())
