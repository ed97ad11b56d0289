"""Jacobians by differences, by the recorded rules and by forward mode, as `gradcheck` compares them.

A Jacobian is measured along directions: an input is moved by eps times one, or a gradient is sent back along one. With
the unit vectors as directions its entries come out, with random ones a projection that depends on all of them.

A complex tensor has two real parts. Of a complex output, reverse mode looks at one part at a time; a complex input is
moved along both, and the row of the Jacobian is the gradient as reverse mode has it: the slope along the real part plus
1j times that along the imaginary one. Forward mode moves one part of a complex input at a time, and compares outputs
whole.

Values are Python numbers: the checks use none of the ops that they are there to check, beyond those of the function.
For the same reason each entry is moved alone, and each row is pulled back in a run of its own: in a batch of rows, a
wrong derivative could be hidden by a wrong batching rule.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, product, repeat
from operator import add, mul, sub, truediv
from struct import Struct
from typing import Any, NamedTuple

from retrograd import _core
from retrograd._core import Generator, Tensor, dtype

Values = Sequence[Any]  # of float or complex: the elements of a tensor, row-major
Read = Callable[[Tensor], Values]
# The dtypes whose memory Python can read and write, with their codes.
BUFFERED = {_core.float64: "d", _core.float32: "f"}
BLOCK = 2**14  # how many elements of unit vectors are made at a time
Move = tuple[Callable[[Any], object], Any, Any, Any]  # writes to an input; what is eps above, eps below, and here
Matrix = Sequence[Values]  # a row per direction in the input, a column per element of the output
Slopes = Sequence[Sequence[Values]]  # along each direction in one real part of an input, of each output


class GradcheckError(RuntimeError):
    """A derivative is not what differences say, or a backward pass does not behave as it must.

    >>> x = rg.ones(1, dtype=rg.float64, requires_grad=True)
    >>> rg.autograd.gradcheck(lambda x: x * x.detach(), x)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    retrograd.autograd.gradcheck.GradcheckError: Jacobian mismatch
    """

    __module__ = "retrograd.autograd.gradcheck"  # where users find it


class Check(NamedTuple):
    """What is checked: `func` at `inputs`, its differentiable inputs and outputs, and how closely."""

    func: Callable[..., Any]
    inputs: tuple[Any, ...]
    naming: Callable[[], tuple[str, ...]]  # what messages call the inputs; made when one is needed, for it takes long
    note: str  # what a message says of the inputs and outputs
    differentiable: tuple[int, ...]  # positions of the inputs that require grad
    sources: tuple[Tensor, ...]  # these inputs
    outputs: tuple[Tensor, ...]  # those that are compared
    positions: tuple[int, ...]  # where they are in what func returns
    looks: tuple[tuple[int, tuple[int, ...], dtype, Read], ...]  # their positions, shapes, dtypes, and what reads them
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool

    def name(self, source: int) -> str:
        """What messages call a differentiable input."""
        return self.naming()[self.differentiable[source]]

    def of(self, positions: Sequence[int], outputs: Sequence[Tensor]) -> Check:
        """The check with these outputs in place of its own."""
        looks = tuple((k, o.shape, o.dtype, reader(o)) for k, o in zip(positions, outputs, strict=True))
        return self._replace(positions=tuple(positions), outputs=tuple(outputs), looks=looks)

    def evaluate(self) -> list[Values]:
        """The outputs as they are now."""
        results = as_tuple(self.func(*self.inputs))
        found: list[Values] = []
        for k, shape, kind, read in self.looks:
            o = results[k]
            if o.shape != shape or o.dtype != kind:
                what, at, near = ("dtype", kind, o.dtype) if o.shape == shape else ("shape", shape, o.shape)
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed by {self.eps}, "
                    f"but got: {what}s {at} and {near}. This is output {k}, at the inputs and near them."
                )
            found.append(read(o))
        return found


class Pair(NamedTuple):
    """One block of the Jacobian, measured in two ways."""

    source: int  # index in `Check.sources`
    output: int  # index in `Check.outputs`
    imaginary: bool  # which part of a complex output was looked at, or of a complex input was moved in forward mode
    forward: bool  # the rules were run in forward mode
    projected: bool  # along random directions, instead of entry by entry
    atol: float  # of the entries, or of their projection
    numerical: Matrix
    analytical: Matrix


def as_tuple(x: Any) -> tuple[Any, ...]:
    """The members of a tuple or list, or the object itself as the only member."""
    if isinstance(x, Tensor):
        return (x,)
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def flat(t: Tensor) -> list[Any]:
    """The elements, row-major."""
    values: list[Any] = t.data.ravel().tolist()
    return values


def reader(like: Tensor) -> Read:
    """What gives the elements of tensors like this one: Python itself, without any op, where it can."""
    if like.dtype not in BUFFERED:
        return flat
    unpack: Callable[[Any], Values] = Struct(f"{like.numel()}{BUFFERED[like.dtype]}").unpack

    def read(t: Tensor) -> Values:
        try:
            return unpack(t.data)
        except BufferError:  # not contiguous
            return flat(t)

    return read


def writer(t: Any) -> Callable[[Any, Any], object]:
    """What writes an element, given its index: Python itself where it can, without any op."""
    if t.dtype in BUFFERED:
        write: Callable[[Any, Any], object] = memoryview(t).__setitem__
        return write
    return lambda index, value: t[index].fill_(value)


def tensor_like(values: Values, t: Tensor, *batch: int) -> Tensor:
    """A tensor of the dtype and shape of `t`, or of a batch of such tensors."""
    like: Tensor = _core.tensor(values, dtype=t.dtype).reshape((*batch, *t.shape))
    return like


def zeros_like(t: Tensor) -> Tensor:
    """Zeros of the dtype and shape of `t`, contiguous."""
    zeros: Tensor = _core.zeros(tuple(t.shape), dtype=t.dtype)
    return zeros


def units(t: Tensor) -> tuple[complex, ...]:
    """A unit for each real part of a tensor."""
    return (1 + 0j, 1j) if t.is_complex() else (1.0,)


def random_values(t: Tensor, generator: Generator) -> list[Any]:
    """Random numbers for each element, complex for a complex tensor."""
    draws = [_core.randn(t.numel(), dtype=_core.float64, generator=generator).tolist() for _ in units(t)]
    return list(map(complex, *draws)) if t.is_complex() else draws[0]


def random_direction(t: Tensor, generator: Generator) -> list[float]:
    """A random vector of length 1, with a weight for each element."""
    draws = _core.randn(t.numel(), dtype=_core.float64, generator=generator).tolist()
    length = math.sqrt(sum(map(mul, draws, draws))) or 1.0
    return [w / length for w in draws]


def scaled(weights: Values, unit: float | complex) -> Values:
    """The weights times a unit: that of a real tensor is 1."""
    return weights if isinstance(unit, float) else [w * unit for w in weights]


# ---- by differences


def entry_moves(x: Tensor, unit: complex, eps: float) -> list[Move]:
    """For each entry of an input, how it is moved along one of its real parts."""
    memory = x.data  # no version counts the writes: what the graph saved is restored before it is read
    write = writer(memory)
    step, places = eps * unit, product(*map(range, x.shape))
    return [(partial(write, p), here + step, here - step, here) for p, here in zip(places, flat(x), strict=True)]


def random_move(x: Tensor, direction: Values, eps: float) -> Move:
    """How an input is moved along a direction."""
    here, memory, steps = flat(x), x.data, [eps * w for w in direction]
    above, below = (list(map(apply, here, steps)) for apply in (add, sub))
    return lambda values: memory.copy_(tensor_like(values, x)), above, below, here


def neighbours(check: Check, move: Move) -> tuple[list[Values], list[Values]]:
    """The outputs eps above and eps below the inputs, which are then as they were."""
    write, above, below, here = move
    try:
        write(above)
        high = check.evaluate()
        write(below)
        return high, check.evaluate()
    finally:
        write(here)


def slopes(check: Check, moves: Iterable[Move]) -> Slopes:
    """The central differences of every output, for each move."""
    width = 2 * check.eps or math.nan
    found = []
    for move in moves:
        above, below = neighbours(check, move)
        found.append([list(map(truediv, map(sub, a, b), repeat(width))) for a, b in zip(above, below, strict=True)])
    return found


# ---- by the rules


def packed(t: Tensor | None, like: Tensor) -> bytes:
    """The elements as doubles, both parts of a complex number in turn, and zeros for none: shorter than a list."""
    if t is None:
        return bytes(8 * len(units(like)) * like.numel())
    if t.dtype == _core.float64:
        memory: Any = t
        return memoryview(memory).tobytes()
    values = flat(t)
    return array("d", [part for v in values for part in (v.real, v.imag)] if t.is_complex() else values).tobytes()


def columns(rows: list[bytes], like: Tensor) -> list[Values]:
    """For each element of what was packed, its values in all rows."""
    doubles, size = memoryview(b"".join(rows)).cast("d"), like.numel()
    if not like.is_complex():
        return [doubles[i::size].tolist() for i in range(size)]
    parts = [[doubles[2 * i + k :: 2 * size].tolist() for i in range(size)] for k in range(2)]
    return [list(map(complex, re, im)) for re, im in zip(*parts, strict=True)]


def rows_of(check: Check, output: Tensor, weights: Callable[[], Iterable[Tensor]]) -> list[list[bytes]]:
    """The gradients of <w, output> for each source, packed, for each w of the weights.

    Two runs must agree. The second gets weights of its own, since a rule may write to what it gets; and what the first
    gave is read before, since a rule may give the same memory each time.
    """
    sources, root = check.sources, (output,)
    rows: list[list[bytes]] = []
    for first, second in zip(weights(), weights(), strict=True):
        grads = _core._grad(root, (first,), True, False, sources, True)
        if not rows:
            _check_looks(check, grads)
        row = list(map(packed, grads, sources))
        again = list(map(packed, _core._grad(root, (second,), True, False, sources, True), sources))
        if row != again:
            _check_repeats(check, row, again)
        rows.append(row)
    return [[row[i] for row in rows] for i in range(len(sources))]


def _check_looks(check: Check, grads: Sequence[Tensor | None]) -> None:
    for i, (g, x) in enumerate(zip(grads, check.sources, strict=True)):
        if g is not None and g.shape != x.shape:
            raise GradcheckError(
                f"Analytical gradient has incorrect size: {tuple(g.shape)} for {check.name(i)} of {tuple(x.shape)}"
            )
        if g is not None and check.check_grad_dtypes and g.dtype != x.dtype:
            raise GradcheckError(f"Gradient has dtype mismatch: {g.dtype} for {check.name(i)}, which is {x.dtype}")


def _check_repeats(check: Check, row: list[bytes], again: list[bytes]) -> None:
    for i, x in enumerate(check.sources):
        for entry, (a, b) in enumerate(columns([row[i], again[i]], x)):
            if abs(a - b) > check.nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives "
                    "different values, although analytical gradient matches numerical gradient. The tolerance for "
                    f"nondeterminism was {check.nondet_tol}. Of two passes one gives {check.name(i)} the gradient "
                    f"{a!r} at {place(entry, x.shape)}, the next {b!r}. "
                    "Likely cause: the backward draws random numbers, or changes what it has saved"
                )


def place(entry: int, shape: Iterable[int]) -> str:
    """The index of an element, given its position in row-major order."""
    index: list[str] = []
    for size in reversed(tuple(shape)):
        index.insert(0, str(entry % size))
        entry //= size
    return f"({', '.join(index)})"


def _unit_vectors(t: Tensor, unit: complex) -> Iterator[Tensor]:
    """Tensors like `t` of zeros with one element of `unit`, one for each element."""
    size = t.numel()
    count = max(1, BLOCK // max(1, size))  # of them at a time, which is quicker; all of them may be too much memory
    for start in range(0, size, count):
        vectors = _core.zeros((min(count, size - start), *t.shape), dtype=t.dtype)
        write = writer(vectors.view(-1))
        for n, vector in enumerate(vectors.unbind(0)):
            write(n * size + start + n, unit)
            yield vector


def output_tangents(check: Check, tangents: Sequence[Tensor | None], batch: int | None = None) -> list[Tensor | None]:
    """The tangent of every output in forward mode, given one or none for each source; or batches of them.

    Args: `batch` the private level that the tangents are batched at.
    """
    with _core._private_dual_level() as level:
        args = list(check.inputs)
        for i, x, t in zip(check.differentiable, check.sources, tangents, strict=True):
            dual = x.detach()
            if t is not None:
                dual = (
                    _core._make_dual(dual, t, level) if batch is None else _core._make_dual_along(dual, t, level, batch)
                )
            args[i] = dual.requires_grad_()
        results = as_tuple(check.func(*args))
        found = [_core._unpack_dual(results[k], level)[1] for k in check.positions]
    for k, (o, t) in enumerate(zip(check.outputs, found, strict=True)):
        if check.check_grad_dtypes and t is not None and t.is_complex() != o.is_complex():
            raise GradcheckError(
                f"Forward AD gradient has dtype mismatch: {t.dtype} for output {k}, which is {o.dtype}"
            )
    return found


def column_of(check: Check, source: int, direction: Values) -> list[Values]:
    """The derivative of every output along a direction in one source, by forward mode."""
    tangents = [zeros_like(x) for x in check.sources]
    tangents[source] = tensor_like(direction, check.sources[source])
    found = output_tangents(check, tangents)
    return [[0.0] * o.numel() if t is None else flat(t) for o, t in zip(check.outputs, found, strict=True)]


# ---- both


class Measured(NamedTuple):
    """The Jacobian by differences: in full, or along random directions."""

    directions: list[list[list[float]]] | None  # of each source, for each of its real parts
    slopes: list[list[Slopes]]  # of each source, for each of its real parts: of its entries, or along its direction


def measure(check: Check, generator: Generator | None = None) -> Measured:
    """The Jacobian by differences, entry by entry, or with a generator along random directions."""
    if generator is None:
        return Measured(
            None, [[slopes(check, entry_moves(x, unit, check.eps)) for unit in units(x)] for x in check.sources]
        )
    directions = [[random_direction(x, generator) for _ in units(x)] for x in check.sources]
    moves = [
        [random_move(x, scaled(ws, unit), check.eps) for ws, unit in zip(parts, units(x), strict=True)]
        for x, parts in zip(check.sources, directions, strict=True)
    ]
    return Measured(directions, [[slopes(check, [move]) for move in parts] for parts in moves])


def passes(tensors: Sequence[Tensor]) -> list[tuple[bool, list[int]]]:
    """Which parts are looked at one after the other, of which tensors: imaginary parts, then real ones, as torch does.

    A tensor that is not complex is looked at once, in the first pass.
    """
    chosen = [k for k, t in enumerate(tensors) if t.is_complex()]
    every = list(range(len(tensors)))
    return [(True, every), (False, chosen)] if chosen else [(False, every)]


def reverse_pairs(check: Check, measured: Measured, generator: Generator | None = None) -> Iterator[Pair]:
    """Every block of the Jacobian by differences and by the backward pass. `generator` as for `measure`."""
    for imaginary, outputs in passes(check.outputs):
        for k in outputs:
            yield from _reverse_pairs(check, measured, k, imaginary and check.outputs[k].is_complex(), generator)


def _reverse_pairs(
    check: Check, measured: Measured, k: int, imaginary: bool, generator: Generator | None
) -> Iterator[Pair]:
    output = check.outputs[k]
    unit = units(output)[imaginary]
    weights = [] if generator is None else random_direction(output, generator)
    rows = rows_of(
        check,
        output,
        lambda: _unit_vectors(output, unit) if generator is None else [tensor_like(scaled(weights, unit), output)],
    )
    for i, x in enumerate(check.sources):
        numerical = _joined([[_part(s[k], output, imaginary) for s in along] for along in measured.slopes[i]])
        if measured.directions is None:
            yield Pair(i, k, imaginary, False, False, check.atol, numerical, columns(rows[i], x))
        else:
            directions = measured.directions[i]
            # Errors of atol in every entry move the projection by at most atol times the 1-norms of the directions.
            atol = check.atol * sum(map(abs, weights)) * sum(map(abs, chain(*directions)))
            projections = [[sum(map(mul, weights, row))] for row in numerical]
            projected = [[_projection(x, rows[i][0], directions)]]
            yield Pair(i, k, imaginary, False, True, atol, projections, projected)


def _part(values: Values, output: Tensor, imaginary: bool) -> Values:
    if not output.is_complex():
        return values
    return [v.imag for v in values] if imaginary else [v.real for v in values]


def _joined(parts: list[list[Values]]) -> Matrix:
    """The slopes along the real parts of an input, as the gradient has them."""
    return parts[0] if len(parts) == 1 else [list(map(complex, re, im)) for re, im in zip(*parts, strict=True)]


def _projection(x: Tensor, gradient: bytes, directions: list[list[float]]) -> float | complex:
    doubles, count = memoryview(gradient).cast("d"), len(directions)
    parts = [float(sum(map(mul, weights, doubles[k::count].tolist()))) for k, weights in enumerate(directions)]
    return complex(*parts) if x.is_complex() else parts[0]


def forward_pairs(check: Check, measured: Measured) -> Iterator[Pair]:
    """Every block of the Jacobian by differences and by forward mode."""
    for imaginary, sources in passes(check.sources):
        columns = {i: _columns(check, measured, i, imaginary) for i in sources}
        for k in range(len(check.outputs)):
            for i in sources:
                part = imaginary and check.sources[i].is_complex()
                numerical = [s[k] for s in measured.slopes[i][part]]
                atol, projected = check.atol, measured.directions is not None
                if measured.directions is not None:
                    atol *= sum(map(abs, measured.directions[i][part]))
                yield Pair(i, k, part, True, projected, atol, numerical, [column[k] for column in columns[i]])


def _columns(check: Check, measured: Measured, i: int, imaginary: bool) -> list[list[Values]]:
    x = check.sources[i]
    part = imaginary and x.is_complex()
    unit = units(x)[part]
    if measured.directions is not None:
        return [column_of(check, i, scaled(measured.directions[i][part], unit))]
    size = x.numel()
    return [column_of(check, i, [unit if j == entry else 0.0 for j in range(size)]) for entry in range(size)]
