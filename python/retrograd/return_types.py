"""The named tuples that ops return, such as `retrograd.return_types.max`.

>>> rg.max(rg.tensor([[1.0, 3.0], [2.0, 0.0]]), 1)
retrograd.return_types.max(
values=tensor([3., 2.]),
indices=tensor([1, 0]))
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from retrograd import _core


def _shown(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{_core.Tensor.__module__}.return_types.{type(self).__name__}(\n{fields})"  # torch's under the switch


def _of(name: str, fields: Sequence[str]) -> type[tuple[Any, ...]]:
    """The class of the results of one op; the extension calls this once for each."""
    made = namedtuple(name, fields, module=__name__)  # type: ignore[misc]
    made.__repr__ = _shown  # type: ignore[method-assign]
    made.n_fields = len(fields)  # type: ignore[attr-defined]
    globals()[name] = made
    return made


def __getattr__(name: str) -> Any:
    # A pickled result names a class that nobody may have used here so far.
    if not name.startswith("_"):
        for op in _core._roster():
            fields = next((entry[1] for entry in op["entries"] if entry[1]), None)
            prefix = "linalg_" if op["module"] == "linalg" else ""
            if prefix + op["name"] == name and fields:
                return _of(name, fields)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
