"""Writing files so that none is ever half written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

Path = str | os.PathLike[str]


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that appears at `path`, whole, at the end. After an error, what was there is there still."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):  # such as a pipe
        with open(target, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    part = os.path.join(folder, f".{name[:100]}.{os.getpid()}.{os.urandom(4).hex()}.part")
    try:
        with open(part, "xb") as file:
            yield file
        if os.path.exists(target):
            os.chmod(part, os.stat(target).st_mode & 0o7777)
        os.replace(part, target)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
