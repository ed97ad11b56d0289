"""What the modules of accelerators answer: there is none, so questions get "no" or 0, and work is refused.

Programs ask (`cuda.is_available()`), seed and clean up without asking (`cuda.manual_seed_all`, `cuda.empty_cache`), and
do the rest behind their question. A module of this kind is three lists of names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

REMEDY = "retrograd computes on the CPU; ask is_available() first, or use device 'cpu'"


def answers(module: str, constants: Mapping[str, Callable[[], Any]]) -> dict[str, Callable[..., Any]]:
    """Functions of any arguments, each of which returns what its maker makes."""

    def answering(name: str, make: Callable[[], Any]) -> Callable[..., Any]:
        def answer(*args: Any, **kwargs: Any) -> Any:
            return make()

        return _named(answer, module, name, "Answer as a machine without such a device does.")

    return {name: answering(name, make) for name, make in constants.items()}


def idle(module: str, names: Iterable[str]) -> dict[str, Callable[..., None]]:
    """Functions that have nothing to do."""

    def idling(name: str) -> Callable[..., None]:
        def nothing(*args: Any, **kwargs: Any) -> None:
            return None

        return _named(nothing, module, name, "Do nothing: there is no such device.")

    return {name: idling(name) for name in names}


def refusals(module: str, phrase: str, names: Iterable[str]) -> dict[str, Callable[..., NoReturn]]:
    """Functions that raise an AssertionError of torch's phrase, and of what to do instead."""

    def refusing(name: str) -> Callable[..., NoReturn]:
        def refuse(*args: Any, **kwargs: Any) -> NoReturn:
            raise AssertionError(f"{phrase}: {module.removeprefix('retrograd.')}.{name}: {REMEDY}")

        refuse.__refused__ = REMEDY  # type: ignore[attr-defined]
        return _named(refuse, module, name, "Raise an AssertionError: there is no such device.")

    return {name: refusing(name) for name in names}


def classes(module: str, phrase: str, names: Iterable[str]) -> dict[str, type]:
    """Classes of which nothing can be made; they are there for `isinstance` and for annotations."""

    def refused(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{phrase} {cls.__name__}: {REMEDY}")

    doc = "Of this there is nothing: there is no such device."
    members = {"__new__": refused, "__module__": module, "__doc__": doc, "__refused__": REMEDY}
    return {name: type(name, (), members) for name in names}


class NoDevice:
    """A context that would select a device, and changes nothing."""

    def __init__(self, device: Any = None) -> None:
        self.idx = -1

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None


def _named(function: Callable[..., Any], module: str, name: str, doc: str) -> Callable[..., Any]:
    function.__module__, function.__name__, function.__qualname__, function.__doc__ = module, name, name, doc
    return function
