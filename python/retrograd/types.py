"""Names for annotations, as programs import them.

>>> isinstance(2.5, rg.types.Number)
True
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from retrograd._core import Tensor, device, dtype, layout
from retrograd._size import Size

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
PySymType: TypeAlias = int | float | bool

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge: TypeAlias = Any
_dtype: TypeAlias = dtype
_device: TypeAlias = device
_layout: TypeAlias = layout
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_symsize: TypeAlias = _size
_dispatchkey: TypeAlias = str
_int: TypeAlias = int
_float: TypeAlias = float
_bool: TypeAlias = bool
_complex: TypeAlias = complex


class Storage:
    """What annotations call the memory of a tensor; nothing is made of this."""
