"""Reverse and forward mode for `functional`, and the blocks of Jacobians that they compute.

Forward mode is taken where it agrees with the recorded graph. Where it does not, because something was computed without
recording or is altered by a hook, or because an op has no forward rule, the graph is differentiated instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd._batched_derivatives import generator, joined, jvp_batch, rows, units
from retrograd.autograd.functional._arguments import (
    JACOBIAN_FREE,
    OUTPUTS,
    Blocks,
    Func,
    Gaps,
    Tensors,
    filled,
    fresh,
    linked,
    tensors_of,
)

_ROWS_AT_ONCE = 2**20  # elements of the unit vectors that are pulled back together: 8 MiB in float64

_grad = _core._grad


# ---- the two modes


def compute_vjp(outs: Gaps, vs: Tensors | None, xs: Tensors, create_graph: bool) -> tuple[Tensor | None, ...]:
    """Reverse mode: the gradients of the outputs that have a graph, None for an input that they do not depend on."""
    live = [(out, vs[i] if vs else None) for i, out in enumerate(outs) if out is not None and out.requires_grad]
    if not live:
        return (None,) * len(xs)
    roots, cotangents = zip(*live, strict=True)
    found: tuple[Tensor | None, ...] = _grad(roots, cotangents, create_graph, create_graph, xs, True)
    return found


def compute_jvp(run: Callable[[Tensors], Any], inputs: Tensors, vs: Tensors | None) -> tuple[Tensors, Any, Gaps | None]:
    """Forward mode: what `run` makes of fresh copies of the inputs that move along `vs`.

    Returns the copies, the tensors that `run` returned, and their tangents: None altogether if the recorded graph has
    other derivatives. The graph is recorded as ever, and can be differentiated where the tangents are not there.
    """
    state = generator.get_state()
    try:
        with _core._private_dual_level() as level:
            # Copies, because what func writes to an input in place is written to its tangent too.
            tangents = [_core.ones_like(x) for x in inputs] if vs is None else [v.clone() for v in vs]
            xs: Tensors = tuple(
                [_core._make_dual(x.detach(), t, level).requires_grad_() for x, t in zip(inputs, tangents, strict=True)]
            )
            results = run(xs)
            moved = [None if y is None else _core._unpack_dual(y, level)[1] for y in results]
            return xs, results, None if _core._dual_level_differs(level) else moved
    except NotImplementedError:  # an op has no forward rule
        pass
    generator.set_state(state)
    xs = fresh(inputs, False)
    return xs, run(xs), None


def agree(inputs: Tensors, vs: Tensors | None, create_graph: bool, strict: bool) -> bool:
    """Whether forward mode may stand in for the graph.

    What results depend on, and so whether they require grad, is known by the graph alone. A vector of another dtype is
    cast by reverse mode, and not by forward mode. In inference mode there is neither graph nor tangent.
    """
    if create_graph or strict or _core.is_inference_mode_enabled() or not _core._is_fwd_grad_enabled():
        return False
    return vs is None or all(v.dtype == x.dtype for v, x in zip(vs, inputs, strict=True))


# ---- Jacobians


def _rows(index: int, out: Tensor, xs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The blocks of one output, by reverse mode: every row pulls a unit vector back."""
    count = out.numel()
    shapes = [(*out.shape, *x.shape) for x in xs]
    if count == 0 or not out.requires_grad:
        return tuple([_core.zeros(shape, dtype=x.dtype) for shape, x in zip(shapes, xs, strict=True)])
    found = joined(list(rows(out, xs, create_graph, max(1, _ROWS_AT_ONCE // count))))
    if strict:
        missing = f"Output {index} of the user-provided function is independent of input {{}}"
        found = filled(found, xs, True, create_graph, missing, JACOBIAN_FREE)
    return tuple(
        [
            _core.zeros(shape, dtype=x.dtype) if block is None else block.view(shape)
            for block, shape, x in zip(found, shapes, xs, strict=True)
        ]
    )


def by_columns(func: Func, inputs: Tensors, caller: str, once: bool = False) -> tuple[Blocks, bool, bool]:
    """The blocks by forward mode: every column moves one element of the inputs. With `once` func is called once only.

    Also returns whether func returned a tuple, and whether the recorded graph may have other derivatives.
    """
    shapes: list[tuple[int, ...]] = []
    many = False

    def run(duals: list[Tensor]) -> Tensors:
        nonlocal many
        outs, many = tensors_of(func(*duals), OUTPUTS, caller)
        shapes[:] = [tuple(y.shape) for y in outs]
        return outs

    sizes = [x.numel() for x in inputs]
    batches, differs = jvp_batch(run, inputs, units(inputs, 0, sum(sizes)), once=once)
    blocks = []
    for batch, shape in zip(batches, shapes, strict=True):
        parts = batch.split(sizes) if len(sizes) > 1 else (batch,)
        blocks.append(tuple([p.movedim(0, -1).reshape((*shape, *x.shape)) for p, x in zip(parts, inputs, strict=True)]))
    return tuple(blocks), many, differs


def by_fewer_columns(func: Func, inputs: Tensors, outs: Tensors, state: Tensor) -> Blocks | None:
    """The blocks by forward mode, if that is less work than rows and has the same result.

    It calls func again, so it must spare at least half of the rows, and func must be called once for all columns. The
    random numbers are those of the first call, which began in `state`.
    """
    count = sum([x.numel() for x in inputs])
    if count == 0 or 2 * count + 2 > sum([y.numel() for y in outs if y.requires_grad]):
        return None
    dtype = inputs[0].dtype
    if not dtype.is_floating_point or not agree(inputs, None, False, False):
        return None
    if any(t.dtype != dtype for t in (*inputs, *outs)):  # rows have the dtype of the input, columns of the output
        return None
    after = generator.get_state()
    generator.set_state(state)
    try:
        blocks, _, differs = by_columns(func, fresh(inputs, False), "jacobian", once=True)
        if not differs and len(blocks) == len(outs):
            blocks = tuple([linked(row, False) for row in blocks])
            expected = [(*y.shape, *x.shape) for y in outs for x in inputs]
            found = [block for row in blocks for block in row]
            # Where a derivative is infinite, times zero in some products, the modes differ.
            if [tuple(b.shape) for b in found] == expected and all(bool(b.isfinite().all()) for b in found):
                return blocks
    except Exception:  # whatever it was, rows decide whether it is an error
        pass
    generator.set_state(after)
    return None


def by_rows(outs: Tensors, xs: Tensors, create_graph: bool, strict: bool) -> Blocks:
    return tuple([linked(_rows(i, out, xs, create_graph, strict), create_graph) for i, out in enumerate(outs)])
