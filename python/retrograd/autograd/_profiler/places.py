"""Places in the program, and how they are shown: as paths that say nothing of the computer."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

__all__ = ["Place", "shown_line", "shown_path"]

# A place in the program: file, line, function, and the text of the line.
Place = tuple[str, int, str, str | None]


@lru_cache(1024)
def shown_path(file: str) -> str:
    """A path below an entry of `sys.path` relative to that, so that it says nothing of the computer."""
    below = [entry for entry in sys.path if entry and file.startswith(entry.rstrip(os.sep) + os.sep)]
    return os.path.relpath(file, max(below, key=len)) if below else file


def shown_line(place: Place | None) -> str:
    """A line of the program as `file:line`, for pictures and tables that others see: never with a whole path.

    >>> from retrograd.autograd._profiler.places import shown_line
    >>> shown_line(("/nowhere/train.py", 12, "step", None)), shown_line(None)
    ('train.py:12', 'elsewhere')
    """
    if place is None:
        return "elsewhere"
    path = shown_path(place[0])
    return f"{os.path.basename(path) if os.path.isabs(path) else path}:{place[1]}"
