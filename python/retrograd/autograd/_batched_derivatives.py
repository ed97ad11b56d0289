"""Many gradients by one pass, and many tangents by one call: batches that only derivatives have.

A private batch level is opened for the time of the pass. Values are computed once and unbatched, so the function sees
nothing of it. Where a rule cannot work on batches there is a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from retrograd import _core
from retrograd._core import Tensor

Tensors: TypeAlias = Sequence[Tensor]
Found: TypeAlias = tuple[Tensor | None, ...]

_grad = _core._grad
generator = _core.default_generator


def units(tensors: Tensors, start: int, stop: int) -> list[Tensor]:
    """Unit vectors from `start` to `stop` of the space that all elements of `tensors` span, a batch for each tensor."""
    batches = []
    rows = stop - start
    first = start  # counted from the tensor's own elements
    for t in tensors:
        size = t.numel()
        if first == 0 and rows == size:
            batch = _core.eye(size, dtype=t.dtype)
        else:
            batch = _core.zeros(rows, size, dtype=t.dtype)
            batch.diagonal(first).fill_(1)
        batches.append(batch.reshape(rows, *t.shape))
        first -= size
    return batches


# ---- reverse mode


def vjp_batch(
    outs: Sequence[Any],
    cotangents: Sequence[Tensor | None],
    size: int,
    retain_graph: bool,
    create_graph: bool,
    inputs: Sequence[Any],
    allow_unused: bool,
) -> Found:
    """`_core._grad` of a batch of `size` cotangents along their first axis, which gradients have too; of None, ones."""
    with _core._private_level(size) as level:
        batched = tuple([None if g is None else _core._batch(g, 0, level) for g in cotangents])
        found = _grad(tuple(outs), batched, retain_graph, create_graph, tuple(inputs), allow_unused)
        return tuple([None if g is None else _core._unbatch(g, 0, level) for g in found])


def rows(out: Tensor, xs: Tensors, create_graph: bool, at_once: int) -> Iterator[Found]:
    """The rows of the Jacobian of `out`, at most so many at once: for each of `xs` a tensor of rows, None for zeros."""
    count = out.numel()
    inputs = tuple(xs)
    if count == 1:
        found = _grad((out,), (_core.ones_like(out),), True, create_graph, inputs, True)
        yield tuple([None if g is None else g.unsqueeze(0) for g in found])
        return
    for start in range(0, count, at_once):
        stop = min(start + at_once, count)
        (batch,) = units((out,), start, stop)
        yield _rows_of(out, batch, inputs, create_graph)


def _rows_of(out: Tensor, batch: Tensor, inputs: tuple[Tensor, ...], create_graph: bool) -> Found:
    size = len(batch)
    if size > 1:
        try:
            return vjp_batch((out,), (batch,), size, True, create_graph, inputs, True)
        except RuntimeError:  # whatever it was, the loop decides whether it is an error
            pass
    each = [_grad((out,), (unit,), True, create_graph, inputs, True) for unit in batch.unbind(0)]
    return tuple([None if column[0] is None else _core.stack(column) for column in zip(*each, strict=True)])


def joined(parts: Sequence[Found]) -> Found:
    """Rows that came in parts."""
    if len(parts) == 1:
        return parts[0]
    return tuple([None if column[0] is None else _core.cat(column) for column in zip(*parts, strict=True)])


# ---- forward mode

# A function of copies of the inputs that move, and the tensors that it computes from them.
Run: TypeAlias = Callable[[list[Tensor]], Sequence[Tensor]]


def jvp_batch(
    run: Run, xs: Tensors, tangents: Tensors, order: int = 1, *, once: bool = False, randomness: str = "same"
) -> tuple[list[Tensor], bool]:
    """The derivatives of the results of `run` along each of a batch of tangents of the inputs: batches, too.

    Of second `order` they are the second derivatives along the same tangent. Also says whether the recorded graph may
    have other derivatives. `run` is called once; but if a rule cannot work on batches, and `once` does not forbid it,
    again for each tangent, with the random numbers of the first call. With `randomness` "error" it must draw none.
    """
    size = len(tangents[0])
    state = generator.get_state()
    with _core._private_level(size, randomness) as level:
        if size == 1:
            moved, differs = _jvp(run, _copies(xs), [t[0] for t in tangents], None, order)
            return [t.unsqueeze(0) for t in moved], differs
        try:
            batched = [_core._batch(t, 0, level) for t in tangents]
            moved, differs = _jvp(run, _copies(xs), batched, level, order)
            return [_core._unbatch(t, 0, level) for t in moved], differs
        except RuntimeError:  # whatever it was, the loop decides whether it is an error
            if once or size == 0:
                raise
        each = []
        for unit in zip(*[t.unbind(0) for t in tangents], strict=True):
            generator.set_state(state)
            each.append(_jvp(run, _copies(xs), unit, None, order))
    columns = zip(*[moved for moved, _ in each], strict=True)
    return [_core.stack(column) for column in columns], any(differs for _, differs in each)


def _copies(xs: Tensors) -> list[Tensor]:
    """So that what a function writes to its inputs in place stays inside, and is not there in the next call."""
    return [x.clone() for x in xs]


def _jvp(run: Run, xs: Tensors, tangents: Tensors, private: int | None, order: int) -> tuple[list[Tensor], bool]:
    """The derivatives of what `run` returns, zeros where there is none; tangents may be batched at `private`."""
    with _core._private_dual_level() as level:
        if private is None:
            duals = [_core._make_dual(x, t, level) for x, t in zip(xs, tangents, strict=True)]
        else:
            duals = [_core._make_dual_along(x, t, level, private) for x, t in zip(xs, tangents, strict=True)]
        results = run(duals) if order == 1 else _jvp(run, duals, tangents, private, order - 1)[0]
        parts = [_core._unpack_dual(y, level) for y in results]
        return [_core.zeros_like(y) if t is None else t for y, t in parts], _core._dual_level_differs(level)
