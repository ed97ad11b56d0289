"""Submodules, and names in them, that are loaded when they are first used."""

import sys

# Type checkers take this for true. The module `typing` takes longer to import than all of the package.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def submodules(package: str, *names: str, **taken: str) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """The `__getattr__` and `__dir__` of a module whose submodules `names` are imported at first use.

    The module has also the names that `taken` lists, each with the submodule that it is taken from. Its `dir` lists
    what is public; the error of any other name says where to look instead.
    """

    def load(name: str) -> "Any":
        if name in names:
            return _imported(f"{package}.{name}")  # which makes it an attribute, so this is not called again
        if name in taken:
            value = getattr(_imported(f"{package}.{taken[name]}"), name)
            setattr(sys.modules[package], name, value)
            return value
        if name.startswith("_"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from retrograd._names import absent

        raise absent(package, name)

    def listed() -> list[str]:
        module = sys.modules[package]
        named = {*getattr(module, "__all__", vars(module)), *names, *taken}
        named |= {name for name, value in vars(module).items() if _belongs(value, package)}
        return sorted(name for name in named if not name.startswith("_") or name == "__version__")

    return load, listed


def _imported(name: str) -> "Any":
    __import__(name)
    return sys.modules[name]


def _belongs(value: object, package: str) -> bool:
    return isinstance(value, type(sys)) and value.__name__.startswith(f"{package}.")
