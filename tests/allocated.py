"""What the C allocator has handed out: every tensor, node and hook of the engine lies there."""

import ctypes
from collections.abc import Callable


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keep",
        )
    ]


def _teller() -> Callable[[], _Mallinfo2] | None:
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return None
    ask.restype = _Mallinfo2
    return ask


_ask = _teller()  # once: loading a library leaves cycles behind, which would be counted


def c_bytes() -> int | None:
    """Bytes that the C allocator has handed out; None where it does not tell."""
    if _ask is None:
        return None
    info = _ask()
    return info.uordblks + info.hblkhd
