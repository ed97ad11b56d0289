"""What `functional` computes with: arguments of functions, strict mode, reverse and forward mode, blocks of Jacobians.

Forward mode is taken where it agrees with the recorded graph. Where it does not, because something was computed without
recording or is altered by a hook, or because an op has no forward rule, the graph is differentiated instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd._batches import generator, joined, push_batch, rows, units

Func: TypeAlias = Callable[..., Any]
Tensors: TypeAlias = tuple[Tensor, ...]
Gaps: TypeAlias = Sequence[Tensor | None]
Blocks: TypeAlias = tuple[Tensors, ...]  # of a Jacobian: a row per output, in it a tensor per input

OUTPUTS = "outputs of the user-provided function"
_STRICT = " This is not allowed in strict mode"
_ROWS_AT_ONCE = 2**20  # elements of the unit vectors that are pulled back together: 8 MiB in float64

_grad = _core._grad
_zeros_like = _core.zeros_like


# ---- arguments and results


def tensors_of(given: Any, what: str, caller: str) -> tuple[Tensors, bool]:
    """A tensor or a tuple of tensors as a tuple, and whether it was one."""
    if isinstance(given, Tensor):
        return (given,), False
    if not isinstance(given, tuple):
        where = f"given {what} has type {type(given)}"
    else:
        wrong = [i for i, t in enumerate(given) if not isinstance(t, Tensor)]
        if not wrong:
            return given, True
        where = f"value at index {wrong[0]} has type {type(given[wrong[0]])}"
    raise TypeError(f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {where}.")


def fresh(inputs: Tensors, create_graph: bool) -> Tensors:
    """Copies that require grad and share memory; with `create_graph` linked to those inputs that require grad."""
    return tuple([x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs])


def linked(tensors: Tensors, create_graph: bool) -> Tensors:
    """What results may depend on: the tensors, or without `create_graph` their values alone."""
    return tensors if create_graph else tuple([t.detach() for t in tensors])


def vector(v: Any, like: Tensors, many: bool, caller: str, of: str, create_graph: bool) -> Tensors | None:
    """The vector of a product, checked; None, where it may be left out, stands for 1."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {of} a single Tensor with a single element: give v of its shape."
            )
        return None
    vs, _ = tensors_of(v, "v", caller)
    if len(vs) != len(like):
        if not many:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vs)}.")
    for i, (given, t) in enumerate(zip(vs, like, strict=True)):
        if given.shape != t.shape:
            entry = f"Entry {i} in " if many else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {t.shape} but got {given.shape}.")
    return tuple([t if create_graph and t.requires_grad else t.detach() for t in vs])


OF_OUTPUT = "user-provided function returns"
OF_INPUT = "input to the user-provided function is"


def single(result: Any, caller: str, strict: bool) -> Tensor:
    """The result of a function that has a Hessian: one tensor with one element."""
    outs, many = tensors_of(result, OUTPUTS, caller)
    if strict:
        demand_graph(outs)
    if many:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {caller} should contain a single element")
    return outs[0]


def mirrored(tensors: Tensors, many: bool) -> Any:
    """A tuple if what it mirrors was a tuple, else its only member."""
    return tensors if many else tensors[0]


def nested(blocks: Blocks, many_outputs: bool, many_inputs: bool) -> Any:
    rows: Any = blocks if many_inputs else tuple([row[0] for row in blocks])
    return rows if many_outputs else rows[0]


# ---- what strict mode asks for


def demand_graph(outs: Tensors) -> None:
    for i, out in enumerate(outs):
        if not out.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients."
                f"{_STRICT}: compute it from the inputs by differentiable ops."
            )


def demand_varying(gradients: Gaps, about: str) -> None:
    """Every gradient is there and requires grad itself, so that there is something to differentiate again."""
    for i, g in enumerate(gradients):
        if g is None:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}.{_STRICT}.")
        if not g.requires_grad:
            raise RuntimeError(f"{about.format(i)}.{_STRICT}, and true of a linear function, for one.")


JACOBIAN_VARIES = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input"
)
PULLBACK_VARIES = "The gradient with respect to input {} is independent of the inputs of the user-provided function"


def filled(gradients: Gaps, like: Tensors, strict: bool, create_graph: bool, missing: str, constant: str) -> Tensors:
    """Zeros in place of None, which strict mode forbids with the message `missing`; with `create_graph` it also forbids
    gradients that are constants, with the message `constant`."""
    if strict:
        for i, g in enumerate(gradients):
            if g is None:
                raise RuntimeError(f"{missing.format(i)}.{_STRICT}.")
            if create_graph and not g.requires_grad:
                raise RuntimeError(f"{constant.format(i)}.{_STRICT} when create_graph=True.")
    return tuple([_zeros_like(t) if g is None else g for g, t in zip(gradients, like, strict=True)])


OUTPUT_FREE = "The output of the user-provided function is independent of input {}"
JACOBIAN_FREE = "The jacobian of the user-provided function is independent of input {}"
HESSIAN_FREE = "The hessian of the user-provided function is independent of input {}"
COTANGENT_FREE = "The gradient with respect to the input is independent of entry {} in the grad_outputs"
DIRECTION_FREE = "The hessian of the user-provided function is independent of entry {} in the grad_jacobian"


# ---- the two modes


def pull(outs: Gaps, vs: Tensors | None, xs: Tensors, create_graph: bool) -> tuple[Tensor | None, ...]:
    """Reverse mode: the gradients of the outputs that have a graph, None for an input that they do not depend on."""
    live = [(out, vs[i] if vs else None) for i, out in enumerate(outs) if out is not None and out.requires_grad]
    if not live:
        return (None,) * len(xs)
    roots, cotangents = zip(*live, strict=True)
    found: tuple[Tensor | None, ...] = _grad(roots, cotangents, create_graph, create_graph, xs, True)
    return found


def push(run: Callable[[Tensors], Any], inputs: Tensors, vs: Tensors | None) -> tuple[Tensors, Any, Gaps | None]:
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
    batches, differs = push_batch(run, inputs, units(inputs, 0, sum(sizes)), once=once)
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
