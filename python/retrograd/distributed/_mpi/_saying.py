"""What a process says on standard error goes out whole: the launcher puts what all of them say into one stream."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """Write what is said inside in one piece, also where each piece would go out by itself (python -u)."""
    stream = sys.stderr
    if not isinstance(stream, io.TextIOWrapper):
        yield
        return
    lines, through = stream.line_buffering, stream.write_through
    stream.reconfigure(line_buffering=False, write_through=False)
    try:
        yield
    finally:
        stream.reconfigure(line_buffering=lines, write_through=through)  # which flushes


def say(text: str) -> None:
    """Write a line."""
    with whole():
        print(f"retrograd.distributed: {text}", file=sys.stderr)


# Seconds that are given to the launcher: at most until it has read what was said, and then to pass it on.
_READ, _PASSED_ON = 2.0, 0.05


def until_heard() -> None:
    """Wait until the launcher has read what this process has said: it reads no more once it is told to end all."""
    end = time.monotonic() + _READ
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
            while _unread(stream) and time.monotonic() < end:
                time.sleep(0.005)
    time.sleep(_PASSED_ON)


def _unread(stream: TextIO) -> int:
    """The bytes of a pipe that nobody has read yet; 0 where that cannot be known."""
    try:
        from fcntl import ioctl
        from termios import FIONREAD

        return int.from_bytes(ioctl(stream.fileno(), FIONREAD, bytes(4)), sys.byteorder)
    except (ImportError, OSError, ValueError):  # no such call, no pipe, no file
        return 0
