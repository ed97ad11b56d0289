"""A module whose call is recorded and replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrograd.nn import Module

if TYPE_CHECKING:
    from retrograd._compiled import Compiled


class CompiledModule(Module):
    """A module with the parameters of another one, whose calls are compiled."""

    def __init__(self, module: Module, call: Compiled) -> None:
        super().__init__()
        self._orig_mod = module
        object.__setattr__(self, "_compiled", call)
        self.training = module.training

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)

    def explain(self, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None) -> str:
        """What is replayed, and with ``args`` how long it takes: see :func:`retrograd.compile`."""
        return str(self._compiled.explain(args, kwargs))
