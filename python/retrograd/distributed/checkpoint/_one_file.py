"""Files that one process writes or reads for all."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from retrograd import _core
from retrograd.distributed._calls import broadcast
from retrograd.distributed._groups import get_group_rank
from retrograd.distributed.checkpoint._together import group_of, shared, together
from retrograd.serialization import load, save

if TYPE_CHECKING:
    from retrograd.distributed._groups import ProcessGroup

__all__ = ["load_everywhere", "save_on_one"]

Path = str | os.PathLike[str]

# Bytes that are broadcast at a time.
_PIECE = 64 << 20


def save_on_one(obj: object, f: Path, *, rank: int = 0, process_group: ProcessGroup | None = None) -> None:
    """`rg.save` in one process, while the others wait. All processes call this.

    The file appears whole or not at all, and is there when this returns, in every process that sees the folder.

    Args: `rank` that of the process, in the world; its `obj` is written.
    Raises: its error there, RuntimeError that tells it elsewhere.

    >>> import os, tempfile
    >>> rg.distributed.init_process_group("gloo")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     rg.distributed.checkpoint.save_on_one({"weight": rg.ones(2)}, path)
    ...     rg.distributed.checkpoint.load_everywhere(path)
    {'weight': tensor([1., 1.])}
    >>> rg.distributed.destroy_process_group()
    """
    group = group_of(process_group)
    here = group is None or group.rank() == get_group_rank(group, rank)
    together("save_on_one", lambda: save(obj, f) if here else None, group)


def load_everywhere(f: Path, *, rank: int = 0, process_group: ProcessGroup | None = None) -> Any:
    """`rg.load` in every process of a file that one of them reads, and sends to the others. All processes call this.

    Args: `rank` that of the process, in the world; the others need not see the file.
    Raises: its error there, RuntimeError that tells it elsewhere.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.safetensors")
    ...     rg.save(rg.ones(2), path)
    ...     rg.distributed.checkpoint.load_everywhere(path)
    tensor([1., 1.])
    """
    group = group_of(process_group)
    if group is None or group.size() == 1:
        return load(f)
    root = get_group_rank(group, rank)
    here = group.rank() == root

    def read() -> Any:
        if not here:
            return None
        with open(f, "rb") as file:
            return file.read()

    data = together("load_everywhere", read, group)
    size = shared(len(data) if here else 0, group)[root]
    memory = (
        _core.frombuffer(bytearray(data), dtype=_core.uint8) if here and size else _core.empty(size, dtype=_core.uint8)
    )
    for piece in memory.split(_PIECE) if size else ():
        broadcast(piece, group=group, group_src=root)
    return together("load_everywhere", lambda: load(io.BytesIO(memoryview(memory))), group)  # type: ignore[arg-type]
