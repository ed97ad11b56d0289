"""Modules made without initial values."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from retrograd.nn.modules.module import Module
from retrograd.random import fork_rng

__all__ = ["skip_init"]

_M = TypeVar("_M", bound=Module)


def skip_init(module_cls: type[_M], *args: Any, **kwargs: Any) -> _M:
    """A module whose parameters have any values; the generator of random numbers is where it was before.

    Args: the class, which must take a `device`, and its arguments.
    Raises: RuntimeError for what is no class of modules, or one that takes no device.

    >>> class Scale(rg.nn.Module):
    ...     def __init__(self, device=None):
    ...         super().__init__()
    ...         self.weight = rg.nn.Parameter(rg.randn(2, device=device))
    >>> rg.nn.utils.skip_init(Scale).weight.shape
    retrograd.Size([2])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    kwargs.setdefault("device", "cpu")
    with fork_rng():
        return module_cls(*args, **kwargs)
