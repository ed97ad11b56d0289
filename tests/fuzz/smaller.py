"""Making a failing program smaller by its lines, after hypothesis did so by the numbers that it was made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .program import Alias, Compute, Program, Ref, Step, Write


def with_refs(step: Step, change: Callable[[Ref], Ref]) -> Step:
    if isinstance(step, Compute):
        return replace(step, operands=tuple(map(change, step.operands)))
    if isinstance(step, Write):
        return replace(step, target=change(step.target), operands=tuple(map(change, step.operands)))
    if isinstance(step, Alias):
        return replace(step, ref=change(step.ref))
    return step


def instead(step: Step, old: str, new: str) -> Step:
    """The step with another tensor in place of one."""
    step = with_refs(step, lambda ref: ref._replace(name=new) if ref.name == old else ref)
    return replace(step, name=new) if not isinstance(step, Write) and step.name == old else step


def attempts(program: Program) -> Iterator[Program]:
    steps, results = program.steps, program.results
    for i in reversed(range(len(steps))):
        yield replace(program, steps=steps[:i] + steps[i + 1 :])
    for i, step in reversed(list(enumerate(steps))):  # an operand in place of what is made of it
        for ref in step.operands if isinstance(step, Compute) else (step.ref,) if isinstance(step, Alias) else ():
            after = tuple(instead(s, step.name, ref.name) for s in steps[i + 1 :])
            renamed = tuple(dict.fromkeys(ref.name if r == step.name else r for r in results))
            if ref.name.startswith("v"):
                yield replace(program, steps=steps[:i] + after, results=renamed)
    for i in range(len(results) if len(results) > 1 else 0):
        yield replace(program, results=results[:i] + results[i + 1 :])
    for i, step in enumerate(steps):  # no view where one was
        plain = with_refs(step, lambda ref: ref._replace(suffixes=ref.suffixes[:-1]))
        if plain != step and not (isinstance(step, Write) and step.text.startswith("{t} ")):
            yield replace(program, steps=(*steps[:i], plain, *steps[i + 1 :]))


def means_something(program: Program) -> bool:
    try:
        with np.errstate(all="ignore"):
            return all(np.isfinite(v).all() for v in program.values())
    except (KeyError, IndexError, ValueError, TypeError):  # a name that is gone, or shapes that do not fit any more
        return False


def smallest(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Takes away what can be taken away such that it still fails."""
    for attempt in attempts(program):
        if means_something(attempt) and fails(attempt):
            return smallest(attempt, fails)
    return program
