"""What two calls of a checkpointed function saved, and the comparison of the two."""

from __future__ import annotations

import sys
from types import FrameType
from typing import NamedTuple

from retrograd._core import Tensor, dtype

MACHINERY = __file__.removesuffix("_saves.py")  # where the frames live that are not of the function


class Facts(NamedTuple):
    """What must be the same of a saved tensor and of the recomputed one."""

    shape: tuple[int, ...]
    dtype: dtype
    device: object

    def __str__(self) -> str:
        return str({"shape": self.shape, "dtype": _last(self.dtype), "device": str(self.device)})


class Origin(NamedTuple):
    """Where a saved tensor comes from, and the Python calls in which it was saved, innermost first."""

    source: str
    calls: list[tuple[str, int, str]]  # file, line, name

    def place(self) -> str:
        if not self.calls:
            return ""
        file, line, name = self.calls[0]
        return f", saved at {file}:{line} in {name}"


class Saves:
    """The tensors that one call saved, in order: facts about them, and for debugging their origins."""

    __slots__ = ("debug", "facts", "origins")

    def __init__(self, debug: bool) -> None:
        self.debug = debug
        self.facts: list[Facts] = []
        self.origins: list[Origin] = []

    def add(self, x: Tensor) -> None:
        self.facts.append(Facts(tuple(x.shape), x.dtype, x.device))
        if self.debug:
            node = x.grad_fn
            source = node.name() if node is not None else "leaf" if x.requires_grad else "constant"
            self.origins.append(Origin(source, _calls_of_function(sys._getframe(1))))


def _calls_of_function(frame: FrameType | None) -> list[tuple[str, int, str]]:
    """Outwards from `frame`: past the frames of the machinery, those of the function, until the machinery again."""
    while frame is not None and frame.f_code.co_filename.startswith(MACHINERY):
        frame = frame.f_back
    calls = []
    while frame is not None and not frame.f_code.co_filename.startswith(MACHINERY):
        calls.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return calls


def different_number(forward: Saves, recomputed: Saves) -> str:
    was, now = forward.facts, recomputed.facts
    more = "trying to save more tensors during recomputation than during the original forward pass. "
    both = min(len(was), len(now))
    first = next((i for i in range(both) if was[i] != now[i]), both)
    return (
        f"checkpoint: {more if len(now) > len(was) else ''}A different number of tensors was saved during the original "
        f"forward and recomputation.\n{_numbers(was, now)}The first that differs is the {_pair(was, now, first)}"
    )


def different_facts(forward: Saves, recomputed: Saves, positions: list[int]) -> str:
    was, now = forward.facts, recomputed.facts
    return (
        "checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
        "pass.\n" + "".join(_pair(was, now, i) for i in positions) + _numbers(was, now)
    )


def with_origins(text: str, forward: Saves, recomputed: Saves) -> str:
    """The text of an error, after what each call saved, where, and the first line in which they differ."""
    was, now = _list(forward), _list(recomputed)
    both = min(len(was), len(now))
    first = next((i for i in range(both) if was[i] != now[i]), both)
    return "\n".join(
        [
            "checkpoint: An error happened while unpacking tensors; dumping logs of latest computation",
            "because you passed `debug=True` to checkpoint().",
            "",
            "Stack traces of the operators that ran in the original forward, and saved a tensor",
            *_stacks(forward, "original"),
            "",
            "Stack traces of the operators that ran during recomputation, and saved a tensor",
            *_stacks(recomputed, "recompute"),
            "",
            "Operations executed during the original forward, by what they saved:",
            *was,
            "",
            "Operations executed during recomputation, by what they saved:",
            *now,
            "",
            "They differ first in:",
            *(was[first : first + 1] or [f"{first}: none"]),
            *(now[first : first + 1] or [f"{first}: none"]),
            "",
            "ERROR: Detected non-determinism while running activation checkpointing.",
            text,
        ]
    )


def _numbers(was: list[Facts], now: list[Facts]) -> str:
    return (
        f"Number of tensors saved during forward: {len(was)}\n"
        f"Number of tensors saved during recomputation: {len(now)}.\n"
    )


def _pair(was: list[Facts], now: list[Facts], i: int) -> str:
    return (
        f"tensor at position {i}:\n"
        f"saved metadata: {was[i] if i < len(was) else 'none was saved'}\n"
        f"recomputed metadata: {now[i] if i < len(now) else 'none was saved'}\n"
    )


def _list(saves: Saves) -> list[str]:
    return [
        f"{i}: {_last(facts.dtype)}[{', '.join(map(str, facts.shape))}] ({origin.source}){origin.place()}"
        for i, (facts, origin) in enumerate(zip(saves.facts, saves.origins, strict=True))
    ]


def _stacks(saves: Saves, label: str) -> list[str]:
    lines = []
    for i, origin in enumerate(saves.origins):
        lines.append(f"\n{origin.source}   ({i + 1} of {len(saves.origins)} in {label})")
        lines += [f"{file}:{line}:{name}" for file, line, name in reversed(origin.calls)]
    return lines


def _last(name: object) -> str:
    return str(name).rpartition(".")[2]
