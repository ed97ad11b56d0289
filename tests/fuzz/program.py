"""What a program is: lines of Python for the package, and a model of the same lines in which nothing shares memory.

In the model a tensor is a list of places in a buffer. A view is another list of places in the same buffer, a write
makes a new buffer, and whoever reads afterwards reads from that. So aliasing is arithmetic on indices, done by NumPy,
and there are no views, no writes in place and no version counters to get wrong. Buffers are NumPy's arrays, where the
model gives expected values, or tensors of the package, where it gives a function that means the same and writes nothing
in place.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = Any


class View(NamedTuple):
    """Where the elements of a tensor lie."""

    buffer: int
    places: np.ndarray


class Suffix(NamedTuple):
    """One step from a tensor to a view of it, such as `.t()` or `[0]`, and the same step for an array of places."""

    text: str
    of: Callable[[np.ndarray], np.ndarray]
    several: bool = False  # whether the method gives several views, which may not be written to


class Ref(NamedTuple):
    """A tensor that has a name, or a view of it without one."""

    name: str
    suffixes: tuple[Suffix, ...] = ()
    text_end: str = ""  # such as `.clone()`, where the operand must not share memory with what is written

    def __str__(self) -> str:
        return self.name + "".join(s.text for s in self.suffixes) + self.text_end


class Op(NamedTuple):
    """An op: an expression in `{t}`, the tensor that a write changes, and its operands; and NumPy's version of it.

    `keeps` says whether reverse mode needs operands ("in") or the result ("out") later, so that they should stay.
    """

    text: str
    array: Callable[..., np.ndarray]
    keeps: str = ""


@functools.cache
def compiled(expression: str) -> Any:
    return compile(expression, "<op>", "eval")


class Arrays:
    """The model's arithmetic on NumPy's arrays."""

    @staticmethod
    def take(buffer: Array, places: np.ndarray) -> Array:
        return buffer[places]

    @staticmethod
    def put(buffer: Array, places: np.ndarray, value: Array) -> Array:
        buffer = buffer.copy()
        buffer[places] = value
        return buffer

    @staticmethod
    def flat(value: Array) -> Array:
        return np.array(value, dtype=np.float64).reshape(-1)

    @staticmethod
    def call(op: Op, operands: dict[str, Array]) -> Array:
        return op.array(*operands.values())

    @staticmethod
    def constant(value: Array) -> Array:
        return value

    @staticmethod
    def hooked(value: Array) -> Array:
        return value


class Tensors:
    """The model's arithmetic on tensors of the package, without views and writes in place."""

    def __init__(self, rg: Any) -> None:
        self.rg = rg

    def take(self, buffer: Array, places: np.ndarray) -> Array:
        return buffer.index_select(0, self.rg.tensor(places.reshape(-1).tolist(), dtype=self.rg.int64)).reshape(
            places.shape
        )

    def put(self, buffer: Array, places: np.ndarray, value: Array) -> Array:
        index = self.rg.tensor(places.reshape(-1).tolist(), dtype=self.rg.int64)
        return buffer.index_copy(0, index, value.broadcast_to(places.shape).reshape(-1))

    def flat(self, value: Array) -> Array:
        return value.reshape(-1)

    def call(self, op: Op, operands: dict[str, Array]) -> Array:
        return eval(compiled(op.text.format_map({n: n for n in operands})), {"rg": self.rg}, operands)

    def constant(self, value: Array) -> Array:
        return value.detach()

    def hooked(self, value: Array) -> Array:
        return 2 * value - value.detach()


class Model:
    """The state of a program: named tensors as places in buffers."""

    def __init__(self, space: Any, inputs: Sequence[Array]) -> None:
        self.space = space
        self.buffers: list[Array] = []
        self.names: dict[str, View] = {}
        for i, x in enumerate(inputs):
            self.new(f"x{i}", x)

    def new(self, name: str, value: Array) -> None:
        count = int(np.prod(value.shape, dtype=int))
        self.names[name] = View(len(self.buffers), np.arange(count).reshape(tuple(value.shape)))
        self.buffers.append(self.space.flat(value))

    def view(self, ref: Ref) -> View:
        buffer, places = self.names[ref.name]
        for suffix in ref.suffixes:
            places = suffix.of(places)
        return View(buffer, places)

    def read(self, ref: Ref) -> Array:
        buffer, places = self.view(ref)
        return self.space.take(self.buffers[buffer], places)


@dataclass(frozen=True)
class Compute:
    """`name = op(operands)`: a new tensor."""

    name: str
    op: Op
    operands: tuple[Ref, ...]
    constant: bool = False  # under no_grad
    hooked: bool = False  # a hook doubles its gradient

    def lines(self) -> list[str]:
        line = f"{self.name} = {self.op.text.format_map(dict(zip('abc', self.operands, strict=False)))}"
        lines = ["with rg.no_grad():", "    " + line] if self.constant else [line]
        if self.hooked:
            lines += [f"if {self.name}.requires_grad:", f"    {self.name}.register_hook(lambda g: 2 * g)"]
        return lines

    def apply(self, model: Model) -> None:
        space = model.space
        value = space.call(self.op, dict(zip("abc", map(model.read, self.operands), strict=False)))
        value = space.constant(value) if self.constant else value
        model.new(self.name, space.hooked(value) if self.hooked else value)


@dataclass(frozen=True)
class Alias:
    """`name = view`: a new name for memory that exists."""

    name: str
    ref: Ref

    def lines(self) -> list[str]:
        return [f"{self.name} = {self.ref}"]

    def apply(self, model: Model) -> None:
        model.names[self.name] = model.view(self.ref)


@dataclass(frozen=True)
class Write:
    """A write to `target`, such as `v0[1:].mul_(x0)`; `op` gives the new values out of place."""

    target: Ref
    text: str
    op: Op
    operands: tuple[Ref, ...]
    constant: bool = False

    def lines(self) -> list[str]:
        line = self.text.format_map({"t": self.target} | dict(zip("abc", self.operands, strict=False)))
        return ["with rg.no_grad():", "    " + line] if self.constant else [line]

    def apply(self, model: Model) -> None:
        space = model.space
        buffer, places = model.view(self.target)
        old = model.buffers[buffer]
        operands = {"t": space.take(old, places)} | dict(zip("abc", map(model.read, self.operands), strict=False))
        new = space.put(old, places, space.call(self.op, operands))
        model.buffers[buffer] = old + space.constant(new - old) if self.constant else new


@dataclass(frozen=True)
class Reshape:
    """`name.t_()` and the like: the name has other elements of its memory from here on."""

    name: str
    text: str
    of: Callable[[np.ndarray], np.ndarray]

    def lines(self) -> list[str]:
        return [f"{self.name}{self.text}"]

    def apply(self, model: Model) -> None:
        buffer, places = model.names[self.name]
        model.names[self.name] = View(buffer, self.of(places))


Step = Compute | Alias | Write | Reshape


@dataclass(frozen=True, repr=False)
class Program:
    """A function of `inputs`: steps, and the names of what it returns."""

    inputs: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]
    results: tuple[str, ...]

    def text(self, results: str | None = None) -> str:
        body = [line for step in self.steps for line in step.lines()]
        body.append("return " + (results or "".join(f"{r}, " for r in self.results).rstrip()))
        names = ", ".join(f"x{i}" for i in range(len(self.inputs)))
        return f"def f({names}):\n" + textwrap.indent("\n".join(body), "    ") + "\n"

    def __str__(self) -> str:
        inputs = [
            f"x{i} = rg.tensor({x.tolist()!r}, dtype=rg.float64)" + (f".reshape({x.shape})" if 0 in x.shape else "")
            for i, x in enumerate(self.inputs)
        ]
        return self.text() + "\n" + "\n".join(inputs) + "\n"

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How hypothesis prints it."""
        printer.text("\n" + str(self))

    def function(self, rg: Any, results: str | None = None) -> Callable[..., tuple[Any, ...]]:
        """The program on the package, as it is printed."""
        space = {"rg": rg}
        exec(compile(self.text(results), "<program>", "exec"), space)
        return space["f"]  # type: ignore[return-value]

    def _run(self, space: Any, inputs: Sequence[Array]) -> tuple[Array, ...]:
        model = Model(space, inputs)
        for step in self.steps:
            step.apply(model)
        return tuple(model.read(Ref(name)) for name in self.results)

    def twin(self, rg: Any) -> Callable[..., tuple[Any, ...]]:
        """A function of tensors that means the same and writes nothing in place."""
        return lambda *inputs: self._run(Tensors(rg), inputs)

    def walk(self, rg: Any, inputs: Sequence[Any]) -> Iterator[tuple[Step | None, Model, dict[str, Any]]]:
        """Runs line by line: the step that was done, the model, and all tensors that have names, by these."""
        model = Model(Arrays, self.inputs)
        space = {"rg": rg} | {f"x{i}": x for i, x in enumerate(inputs)}
        yield None, model, {n: space[n] for n in model.names}
        for step in self.steps:
            step.apply(model)
            exec("\n".join(step.lines()), space)
            yield step, model, {n: space[n] for n in model.names}

    def values(self) -> tuple[np.ndarray, ...]:
        """The results that NumPy finds."""
        return self._run(Arrays, self.inputs)
