"""The switch: `import torch` answers with retrograd, until it is put back.

A module of torch is the very module of retrograd, under a second name in `sys.modules`. Classes and functions say that
they are torch's, as programs print, compare and pickle these names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from threading import RLock
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import retrograd
from retrograd import _core
from retrograd.nn.parameter import Parameter
from retrograd.torch_version import TorchVersion

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc takes long to import

__all__ = ["install_as_torch", "uninstall_as_torch"]

VERSION = TorchVersion("2.13.0+retrograd")
"""What `torch.__version__` is under the switch: the version of torch whose behaviour retrograd has."""

# What prints the name of the package.
_SPOKEN = [
    (_core.Tensor, "__repr__"),
    (_core.Tensor, "type"),
    (_core.dtype, "__repr__"),
    (_core.layout, "__repr__"),
    (_core.memory_format, "__repr__"),
]

# By its home the extension knows the class whose values print as parameters.
_UNNAMED = {Parameter}

_lock = RLock()
_undo: list[Callable[[], object]] = []


def install_as_torch() -> None:
    """Let `import torch`, and of any submodule of torch, answer with retrograd, in this process from now on.

    `torch` is then the module `retrograd` itself, and `torch.nn` is `retrograd.nn`. Classes, dtypes and sizes print as
    torch's, `torch.__version__` is 2.13.0+retrograd, and `save` writes checkpoints as torch does. A second call does
    nothing. Call it before anything imports torch.

    Raises: RuntimeError if the real torch is already imported.

    >>> rg.install_as_torch()
    >>> import torch
    >>> from torch.nn import Linear
    >>> torch.ones(2, dtype=torch.float64).shape, Linear is rg.nn.Linear
    (torch.Size([2]), True)
    >>> rg.uninstall_as_torch()
    """
    with _lock:
        present = sys.modules.get("torch")
        if present is retrograd:
            return
        if present is not None:
            where = getattr(present, "__file__", None) or "a module without a file"
            raise RuntimeError(
                f"install_as_torch: torch is already imported, from {where}; call install_as_torch() before anything "
                "imports torch, or start the program by: python -m retrograd run"
            )
        for kind, method in _SPOKEN:
            _say_torch(kind, method)
        from retrograd import version

        for module in (retrograd, version):
            _set(module, "__version__", VERSION)
        finder = _Finder()
        sys.meta_path.insert(0, finder)
        _undo.append(partial(sys.meta_path.remove, finder))
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "retrograd":
                _name_as_torch(module, name)


def uninstall_as_torch() -> None:
    """Put back what `install_as_torch` changed: `import torch` finds the real one again, if there is one.

    What a program imported before keeps working: it has the modules of retrograd. Without the switch this does nothing.

    >>> rg.install_as_torch()
    >>> rg.uninstall_as_torch()
    >>> rg.float32
    retrograd.float32
    """
    with _lock:
        while _undo:
            _undo.pop()()
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in ("torch", "functorch") and sys.modules.get(_ours(name)) is module:
                del sys.modules[name]


def _ours(name: str) -> str:
    """The module that answers for one of torch, or for `functorch`, which is a package of its own there."""
    return "retrograd" + name.removeprefix("torch") if name.startswith("torch") else f"retrograd.{name}"


def _theirs(name: str) -> str:
    return "torch" + name.removeprefix("retrograd")


def _set(owner: Any, name: str, value: Any) -> None:
    before = vars(owner)[name] if isinstance(owner, type | ModuleType) else getattr(owner, name)
    setattr(owner, name, value)
    _undo.append(partial(setattr, owner, name, before))


def _say_torch(kind: type, method: str) -> None:
    original = vars(kind)[method]

    def said(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        return result.replace("retrograd.", "torch.") if isinstance(result, str) else result

    said.__name__, said.__qualname__, said.__doc__ = method, f"{kind.__name__}.{method}", original.__doc__
    _set(kind, method, said)


def _is_public(module: str) -> bool:
    return "._" not in module


def _name_as_torch(module: ModuleType, name: str) -> None:
    """Enter a loaded module under its name of torch, and let what is public in it say that it is torch's.

    What has its home in a private module says the public one that has it.
    """
    sys.modules[_theirs(name)] = module
    for attribute, value in list(vars(module).items()):
        if attribute.startswith("_") or not isinstance(value, type | FunctionType | BuiltinFunctionType):
            continue
        before: Any = value.__module__
        if not isinstance(before, str) or before.partition(".")[0] != "retrograd" or value in _UNNAMED:
            continue
        home = before if _is_public(before) else name
        if _is_public(home):
            value.__module__ = _theirs(home)
            _undo.append(partial(setattr, value, "__module__", before))


class _Finder:
    """Finds modules of torch, and names those of retrograd that are loaded later."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = fullname.partition(".")[0]
        if package in ("torch", "functorch"):
            ours = find_spec(_ours(fullname))
            if ours is None:
                return None
            is_package = ours.submodule_search_locations is not None
            return ModuleSpec(fullname, _Alias(), origin=ours.origin, is_package=is_package)
        if package == "retrograd":
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                _after_loading(spec.loader, fullname)
            return spec
        return None


class _Alias(Loader):
    """Loads a module of torch: what is left in `sys.modules` is that of retrograd."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(_ours(module.__name__))


def _after_loading(loader: Any, name: str) -> None:
    execute = loader.exec_module

    def execute_and_name(module: ModuleType) -> None:
        execute(module)
        with _lock:
            if sys.modules.get("torch") is retrograd:
                _name_as_torch(module, name)

    loader.exec_module = execute_and_name
