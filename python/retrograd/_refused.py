"""Modules of torch that retrograd has in name only: a program may import them, and whatever it then uses is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def everything(module: str, reason: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose public names are classes of which nothing can be made.

    So names can be imported, subclassed and annotated with; a call raises NotImplementedError for the `reason`.
    """
    public = module.removeprefix("retrograd.")

    def refused(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")

        def refuse(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
            raise NotImplementedError(f"{public}.{name}: {reason}")

        doc = f"Refused: {reason}."
        return type(name, (), {"__new__": refuse, "__module__": module, "__doc__": doc, "__refused__": reason})

    return refused
