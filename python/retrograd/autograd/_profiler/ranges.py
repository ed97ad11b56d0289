"""`emit_nvtx` and `emit_itt`: ranges for tools outside, by their C libraries."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self

from retrograd.autograd._profiler.session import Ranges

__all__ = ["emit_itt", "emit_nvtx", "itt", "nvtx"]


class Functions(NamedTuple):
    """What a tool offers: `push` begins a range with a text, `pop` ends the innermost one."""

    push: Callable[[str], object]
    pop: Callable[[], object]


# The functions in use: found at the first entry, and replaced by tests.
nvtx: Functions | None = None
itt: Functions | None = None


def _load(*names: str | None) -> ctypes.CDLL | None:
    for name in names:
        try:
            return ctypes.CDLL(name) if name else None
        except OSError:
            continue
    return None


def _find_nvtx() -> Functions:
    library = _load("libnvToolsExt.so.1", "libnvToolsExt.so", "nvToolsExt64_1.dll")
    if library is None:
        raise RuntimeError(
            "emit_nvtx: NVTX is not there (libnvToolsExt.so.1): it needs a CUDA installation. Found no NVIDIA driver "
            "on your system, or not its tools: leave emit_nvtx out, or give enabled=False"
        )
    push, pop = library.nvtxRangePushA, library.nvtxRangePop
    push.argtypes = [ctypes.c_char_p]
    return Functions(lambda text: push(text.encode()), pop)


class _Id(ctypes.Structure):
    """`__itt_id`; zeros stand for none."""

    _fields_ = (("d1", ctypes.c_ulonglong), ("d2", ctypes.c_ulonglong), ("d3", ctypes.c_ulonglong))


def _find_itt() -> Functions:
    library = _load(os.environ.get("INTEL_LIBITTNOTIFY64") or "libittnotify.so")
    if library is None:
        # As without a tool attached: nobody listens.
        return Functions(lambda text: None, lambda: None)
    make_domain, make_text = library["__itt_domain_create"], library["__itt_string_handle_create"]
    begin, end = library["__itt_task_begin"], library["__itt_task_end"]
    make_domain.restype = make_text.restype = ctypes.c_void_p
    begin.argtypes, end.argtypes = [ctypes.c_void_p, _Id, _Id, ctypes.c_void_p], [ctypes.c_void_p]
    domain = make_domain(b"retrograd")
    return Functions(lambda text: begin(domain, _Id(), _Id(), make_text(text.encode())), lambda: end(domain))


class _Emitter:
    """Inside the block, a tool outside is told of every op, node and label.

    Args: `enabled` False does nothing, and gives None to `as`; `record_shapes` adds the sizes of tensors.
    """

    _tool = ""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes
        self._session: Ranges | None = None

    def _functions(self) -> Functions:
        raise NotImplementedError

    def __enter__(self) -> Self | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(
                f"{self._tool} annotation context manager is not reentrant: make another one for another block"
            )
        functions = self._functions()
        self._session = Ranges(functions.push, functions.pop, shapes=self.record_shapes)
        self.entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


class emit_nvtx(_Emitter):
    """Inside the block, every op, node and label is a range of NVTX, which NVIDIA's profilers show.

    The text of a range is its name; with `, seq = N` for an op whose node has the number N, and `, stashed seq = N` for
    what the engine does for that node.

    Args: `enabled` False does nothing, and gives None to `as`; `record_shapes` adds `, sizes = [...]`.
    Raises: on entry RuntimeError if there is no NVTX, a session is open on this thread, or it was entered before.

    >>> with rg.autograd.profiler.emit_nvtx(enabled=False) as emitter:
    ...     print(emitter)
    None
    """

    _tool = "NVTX"

    def _functions(self) -> Functions:
        global nvtx
        if nvtx is None:
            nvtx = _find_nvtx()
        return nvtx


class emit_itt(_Emitter):
    """Inside the block, every op, node and label is a task of ITT, which VTune shows. Texts as of `emit_nvtx`.

    Where the library is not there (`libittnotify.so`, or what INTEL_LIBITTNOTIFY64 names) nobody listens.

    Args: `enabled` False does nothing, and gives None to `as`; `record_shapes` adds `, sizes = [...]`.
    Raises: on entry RuntimeError if a session is open on this thread, or it was entered before.

    >>> with rg.autograd.profiler.emit_itt() as emitter:
    ...     y = rg.ones(2) * 3
    >>> emitter.entered, emitter.record_shapes
    (True, False)
    """

    _tool = "ITT"

    def _functions(self) -> Functions:
        global itt
        if itt is None:
            itt = _find_itt()
        return itt
