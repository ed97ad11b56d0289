"""Event files that TensorBoard shows, written by `SummaryWriter` through the package `tensorboard`, if it is installed.

Without that package, the names of this module raise an ImportError, and nothing else of retrograd needs it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrograd.utils.tensorboard._writer import FileWriter as FileWriter
    from retrograd.utils.tensorboard._writer import SummaryWriter as SummaryWriter
else:
    _NAMES = ("FileWriter", "SummaryWriter")

    def __getattr__(name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if find_spec("tensorboard") is None:
            raise ImportError(
                "utils.tensorboard writes through the package tensorboard, which is absent: pip install tensorboard",
                name="tensorboard",
            )
        from retrograd.utils.tensorboard import _writer

        return getattr(_writer, name)

    def __dir__() -> list[str]:
        return list(_NAMES) if find_spec("tensorboard") else []
