"""Programs for hypothesis.

A program is drawn as a list of steps, each a few small numbers that say what to do with what there is: every list means
some program, so that hypothesis can take steps away and make numbers smaller as it likes. NumPy's model runs along, and
a step whose results would be huge or no numbers is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import ops
from .program import Alias, Arrays, Compute, Model, Op, Program, Ref, Reshape, Step, View, Write

SHAPES: list[tuple[int, ...]] = [(2,), (), (3,), (2, 2), (2, 3), (1, 2), (3, 1), (4,), (2, 1, 3)]
LARGEST = 64  # elements of a tensor
BOUND = 30.0  # of a value


def numbers(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Values without a pattern: none is 0, no two are equal."""
    count = int(np.prod(shape, dtype=int))
    return np.asarray(np.round(1.7 * np.sin(1.0 + seed + 2.3 * np.arange(count)) + 0.013, 3)).reshape(shape)


class Buffer:
    """What is known of memory besides its values."""

    def __init__(self, given: bool, row_major: bool) -> None:
        self.given = given  # belongs to the caller, who does not want it written
        self.row_major = row_major  # surely
        self.saved = False  # some op saves it for reverse mode: a write would be an error


class Builder:
    """Makes the steps of a program out of numbers."""

    def __init__(self, inputs: Sequence[np.ndarray], modes: bool, row_major: bool) -> None:
        self.model = Model(Arrays, inputs)
        self.known = [Buffer(True, row_major) for _ in inputs]
        self.several: set[str] = set()  # views from a method that gives several
        self.steps: list[Step] = []
        self.modes = modes
        self.count = 0
        self.choices: list[int] = []
        self.compute(ops.FRESH[0], (Ref("x0"),))

    def pick(self, options: Sequence[Any]) -> Any:
        return options[(self.choices.pop(0) if self.choices else 0) % len(options)]

    def newest_first(self) -> list[str]:
        return list(self.model.names)[::-1]

    def shape(self, ref: Ref) -> tuple[int, ...]:
        return self.model.view(ref).places.shape

    def is_row_major(self, view: View) -> bool:
        places = view.places.reshape(-1)
        return self.known[view.buffer].row_major and bool((np.diff(places) == 1).all())

    # -- references

    def name(self) -> Ref:
        return Ref(self.pick(self.newest_first()))

    def seen(self, ref: Ref, times: int) -> Ref:
        """A view of it, through as many steps."""
        for _ in range(times):
            view = self.model.view(ref)
            options = list(ops.views(view.places.shape, self.is_row_major(view)))
            ref = ref._replace(suffixes=(*ref.suffixes, self.pick(options)))
        return ref

    def operand(self) -> Ref:
        ref = self.name()
        return self.seen(ref, self.pick([0, 0, 0, 1]))

    def fitting(self, fits: Callable[[tuple[int, ...]], bool], otherwise: Ref) -> Ref:
        """A name of a fitting shape."""
        return Ref(self.pick([n for n in self.newest_first() if fits(self.shape(Ref(n)))] or [otherwise.name]))

    # -- steps

    def compute(self, op: Op, operands: tuple[Ref, ...], constant: bool = False, hooked: bool = False) -> bool:
        step = Compute(f"v{self.count}", op, operands, constant, hooked)
        if not self.accept(step):
            return False
        self.count += 1
        seen = [self.model.view(ref) for ref in operands]
        result = self.model.names[step.name]
        even = all(self.is_row_major(v) and v.places.shape == result.places.shape for v in seen)
        self.known.append(Buffer(False, even))
        self.mark(op, seen, result)
        return True

    def mark(self, op: Op, operands: Sequence[View], result: View) -> None:
        for view in operands if "in" in op.keeps else ():
            self.known[view.buffer].saved = True
        if "out" in op.keeps:
            self.known[result.buffer].saved = True

    def accept(self, step: Step) -> bool:
        """Runs the step, unless its values are not good ones."""
        buffers, names = list(self.model.buffers), dict(self.model.names)
        with np.errstate(all="ignore"):
            step.apply(self.model)
        new = self.model.buffers
        changed = [b for i, b in enumerate(new) if i >= len(buffers) or b is not buffers[i]]
        if all(b.size <= LARGEST and np.isfinite(b).all() and (np.abs(b) < BOUND).all() for b in changed):
            self.steps.append(step)
            return True
        self.model.buffers, self.model.names = buffers, names
        return False

    def mode(self) -> dict[str, bool]:
        choice = self.pick(["", "", "", "", "constant", "hooked"]) if self.modes else ""
        return {"constant": choice == "constant", "hooked": choice == "hooked"}

    def fresh(self) -> None:
        op = self.pick(ops.FRESH)
        self.compute(op, (self.name(),))

    def one(self) -> None:
        op = self.pick(ops.ONE)
        self.compute(op, (self.operand(),), **self.mode())

    def along(self) -> None:
        a = self.operand()
        self.compute(self.pick(list(ops.along(self.shape(a)))), (a,), **self.mode())

    def two(self) -> None:
        op, a = self.pick(ops.TWO), self.operand()
        shape = self.shape(a)
        b = self.fitting(lambda s: broadcast(s, shape) is not None, a)
        if broadcast(self.shape(b), shape) is not None:
            self.compute(op, (a, b), **self.mode())

    def join(self) -> None:
        a, b = self.name(), self.name()
        options = list(ops.joined(self.shape(a), self.shape(b)))
        if options:
            self.compute(self.pick(options), (a, b))

    def alias(self) -> None:
        ref = self.seen(self.name(), self.pick([1, 1, 2]))
        if self.accept(Alias(f"v{self.count}", ref)):
            if ref.name in self.several or any(s.several for s in ref.suffixes):
                self.several.add(f"v{self.count}")
            self.count += 1

    def target(self) -> Ref | None:
        """What may be written to: of the caller nothing, and no views that overlap themselves."""
        may = [
            n for n in self.newest_first() if n not in self.several and not self.known[self.model.names[n].buffer].given
        ]
        spoiled = self.pick([False] * 7 + [True])
        kept = [n for n in may if not self.known[self.model.names[n].buffer].saved]
        may = may if spoiled else kept
        if not may:
            self.compute(ops.FRESH[0], (self.name(),))
            may = self.newest_first()[:1]
        ref = self.seen(Ref(self.pick(may)), self.pick([0, 1, 1, 2]))
        places = self.model.view(ref).places
        if any(s.several for s in ref.suffixes) or np.unique(places).size < places.size:
            return None
        return ref

    def source(self, target: Ref) -> Ref:
        """What can be written there, cloned if it shares a part of that memory."""
        shape = self.shape(target)
        may = [n for n in self.newest_first() if broadcast(self.shape(Ref(n)), shape) == shape]
        choice = self.pick([0, 1, 2])
        if choice == 2 or not (may or choice):
            ref = target
        elif may:
            ref = Ref(self.pick(may))
        elif self.compute(ops.SUM, (self.name(),)):
            ref = Ref(self.newest_first()[0])
        else:
            ref = target
        a, t = self.model.view(ref).places, self.model.view(target).places
        same = a.shape == t.shape and (a == t).all()
        return ref._replace(text_end=".clone()") if self.meet(ref, target) and not same else ref

    def meet(self, a: Ref, b: Ref) -> bool:
        """Whether they share memory."""
        one, other = self.model.view(a), self.model.view(b)
        return one.buffer == other.buffer and bool(np.intersect1d(one.places, other.places).size)

    def write(self, target: Ref, text: str, op: Op, operands: tuple[Ref, ...]) -> None:
        constant = self.mode()["constant"]
        seen = [self.model.view(ref) for ref in operands if not ref.text_end]
        view = self.model.view(target)
        if self.accept(Write(target, text, op, operands, constant)):
            self.mark(op, seen, view)
            self.forget_several(view.buffer)

    def forget_several(self, buffer: int) -> None:
        """Views that came with others are not to be used after their base was written."""
        for name in [n for n in self.several if self.model.names[n].buffer == buffer]:
            del self.model.names[name]
            self.several.discard(name)

    def write_alone(self) -> None:
        if target := self.target():
            self.write(target, *self.pick(list(ops.writes_alone(self.shape(target)))), ())

    def write_other(self) -> None:
        if target := self.target():
            a = self.source(target)
            text, op = self.pick(list(ops.writes_of(self.shape(target), self.shape(a))))
            if "rg.tensor(" in text and self.meet(a, target):  # not element by element: all of it must lie elsewhere
                a = a._replace(text_end=".clone()")
            self.write(target, text, op, (a,))

    def assign(self) -> None:
        if (target := self.target()) is None:
            return
        indices = [s for s in ops.views(self.shape(target), False) if s.text.startswith("[")]
        indices += list(ops.parts(self.shape(target)))
        target = target._replace(suffixes=(*target.suffixes, self.pick(indices)))
        statement, op = self.pick([ops.ASSIGNED, *ops.AUGMENTED])
        self.write(target, statement, op, (self.source(target),))

    def reshape(self) -> None:
        may = [
            n for n in self.newest_first() if n not in self.several and not self.known[self.model.names[n].buffer].given
        ]
        if may:
            name = self.pick(may)
            self.accept(Reshape(name, *self.pick(list(ops.shapings(self.shape(Ref(name)))))))
            self.forget_several(self.model.names[name].buffer)

    def step(self, numbers: Sequence[int]) -> None:
        self.choices = list(numbers)
        self.pick(KINDS)(self)


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


KINDS: list[Callable[[Builder], None]] = [
    Builder.one,
    Builder.write_alone,
    Builder.alias,
    Builder.write_other,
    Builder.two,
    Builder.assign,
    Builder.write_other,
    Builder.alias,
    Builder.write_alone,
    Builder.fresh,
    Builder.along,
    Builder.reshape,
    Builder.join,
    Builder.assign,
]


@st.composite
def programs(draw: st.DrawFn, modes: bool = False, row_major: bool = True, most: int = 12) -> Program:
    """Programs of up to `most` steps; with `modes` some of them in no_grad or with a hook, for reverse mode alone.

    `row_major` says that arguments lie in memory row by row, so that all axes can be made one.
    """
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=2))
    inputs = tuple(numbers(shape, draw(st.integers(0, 9))) for shape in shapes)
    builder = Builder(inputs, modes, row_major)
    for step in draw(st.lists(st.tuples(*[st.integers(0, 359)] * 9), max_size=most)):
        builder.step(step)
    made = [n for n in builder.newest_first() if not n.startswith("x")]
    picked = draw(st.lists(st.integers(0, 9), min_size=1, max_size=2))
    results = tuple(dict.fromkeys(made[i % len(made)] for i in picked))
    return Program(inputs, tuple(builder.steps), results)
