"""Custom functions under `vmap`: by a rule of their own, or by one made from their methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from retrograd import _core
from retrograd._core import Tensor
from retrograd._tree import TreeSpec, broadcast_prefix, describe, flatten, unflatten
from retrograd.autograd.function import Function, VmapInfo

Dims: TypeAlias = tuple[Any, ...]
"""For each argument the place of its batch axis or None, or a tree of them like the argument."""


def on_batches(cls: type[Function], args: tuple[Any, ...]) -> Any:
    """`cls.apply(*args)`, where tensors among the arguments, or in lists, tuples and dicts of them, may be batched.

    Those of the innermost level are unwrapped. NotImplemented if no tensor is batched.
    """
    leaves, shape = flatten(args)
    parts = [_core._batch_parts(x) if isinstance(x, Tensor) else None for x in leaves]
    levels = [part[2] for part in parts if part is not None]
    if not levels:
        return NotImplemented
    level = max(levels)
    inside = [part if part is not None and part[2] == level else None for part in parts]
    each = [None if part is None else part[1] for part in inside]
    unwrapped = [x if part is None else part[0] for part, x in zip(inside, leaves, strict=True)]
    dims, values = unflatten(each, shape), unflatten(unwrapped, shape)
    size, randomness, private, around = _core._vmap_info(level)
    info = VmapInfo(size, randomness)
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity."
        )
    ruled = (own or cls.generate_vmap_rule) and cls.setup_context is not Function.setup_context
    if private and not ruled:  # it is not the user who maps
        return _one_by_one(cls, unwrapped, each, shape, size, level)
    if not ruled:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            "the vmap staticmethod or set generate_vmap_rule=True. The latter will do if its methods consist of tensor "
            "ops."
        )
    with _core._rule_of_level(level):
        if around or not own:
            batch = Batch(cls, info, dims)
            return _entries(_generated(cls).apply(batch, *values), 0, level)
        outputs, out_dims = _two(cls.vmap(info, dims, *values))
        written = [(value, x) for value, x, part in zip(unwrapped, leaves, inside, strict=True) if part is not None]
        return _entries(outputs, out_dims, level, written)


def _one_by_one(
    cls: type[Function], leaves: Sequence[Any], dims: Sequence[int | None], shape: TreeSpec, size: int, level: int
) -> Any:
    """A call for every entry, the results put together."""
    rows = []
    for i in range(size):
        entry = [x if dim is None else x.select(dim, i) for x, dim in zip(leaves, dims, strict=True)]
        rows.append(cls.apply(*unflatten(entry, shape)))
    if not isinstance(rows[0], tuple):
        return _stacked(rows, level)
    return tuple([_stacked(column, level) for column in zip(*rows, strict=True)])


def _stacked(column: Sequence[Any], level: int) -> Any:
    return _core._batch(_core.stack(column), 0, level) if isinstance(column[0], Tensor) else column[0]


def _two(returned: Any) -> tuple[Any, Any]:
    """The outputs that a vmap staticmethod returned, and their out_dims."""
    if isinstance(returned, tuple) and len(returned) == 2:
        return returned
    got = f"{len(returned)} returns" if isinstance(returned, tuple) else f"a {type(returned)}"
    raise RuntimeError(
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
        f"with the output. Got {got} instead"
    )


def _entries(outputs: Any, dims: Any, level: int, written: Sequence[tuple[Any, Any]] = ()) -> Any:
    """The outputs as batched tensors; `dims` has their structure, or ends early and is used for all below.

    `written` are pairs of values and the batched tensors they came from: an output that is such a value is that tensor.
    """
    leaves, shape = flatten(outputs)
    each = broadcast_prefix(dims, shape)
    if each is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{describe(flatten(dims)[1])} but output has structure {describe(shape)}."
        )
    return unflatten([_entry(out, dim, level, written) for out, dim in zip(leaves, each, strict=True)], shape)


def _entry(out: Any, dim: int | None, level: int, written: Sequence[tuple[Any, Any]]) -> Any:
    if not isinstance(out, Tensor):
        return out
    for value, batched in written:
        if out is value:
            return batched
    return out if dim is None else _core._batch(out, dim, level)


class Batch:
    """One call of a function on a batch, by a rule made from its methods."""

    def __init__(self, cls: type[Function], info: VmapInfo, dims: Dims) -> None:
        self.cls, self.info, self.dims = cls, info, dims
        self.sizes: list[Sequence[int] | None] = []
        """The sizes of each argument for one entry, None if it is no tensor."""
        self.single = True
        self.entry = Entry()

    def level(self) -> _core._Scope:
        return _core._batch_level(self.info.batch_size, self.info.randomness)

    def inside(self, values: Sequence[Any], level: int, dims: Sequence[int | None] | None = None) -> list[Any]:
        """The arguments, or what belongs to them, for one entry."""
        dims = self.dims if dims is None else dims
        return [_inside(x, dim, level) for x, dim in zip(values, dims, strict=True)]


def _inside(value: Any, dims: Any, level: int) -> Any:
    """One argument for one entry; of a list, tuple or dict, `dims` has the structure."""
    if value is None or dims is None:
        return value
    leaves, shape = flatten(value)
    each = broadcast_prefix(dims, shape) or ()
    return unflatten([_entry(x, dim, level, ()) for x, dim in zip(leaves, each, strict=True)], shape)


class Entry:
    """Takes the place of ctx while a method runs for one entry: the same notes, of batched tensors."""

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def __init__(self) -> None:
        self._save: tuple[Any, ...] = ()
        self._forward: tuple[Any, ...] = ()
        self._still: tuple[Any, ...] = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        self._save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self._forward = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._still = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        if tensors:
            raise RuntimeError(
                "A rule for vmap cannot be generated for a function that writes to its inputs (mark_dirty): override "
                "the vmap staticmethod."
            )

    def set_materialize_grads(self, value: bool) -> None:
        self._materialize = value


_made: WeakKeyDictionary[type[Function], type[Function]] = WeakKeyDictionary()


def _generated(cls: type[Function]) -> type[Function]:
    """The function on whole values, named after `cls`."""
    made = _made.get(cls)
    if made is None:
        made = type(f"Vmapped{cls.__name__}", (Vmapped,), {})
        _made[cls] = made
    return made


class Vmapped(Function):
    """Runs the methods of a function on batched tensors, once for all entries.

    If the function has a rule of its own, that runs in the place of forward. This is the way where a transform inside
    the batch differentiates, by the backward or the jvp; a transform outside differentiates what the rule does.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(batch: Batch, *values: Any) -> Any:
        own = batch.cls.vmap is not Function.vmap
        found = _two(batch.cls.vmap(batch.info, batch.dims, *values)) if own else None
        with batch.level() as level:
            args = batch.inside(values, level)
            batch.sizes = [x.shape if isinstance(x, Tensor) else None for x in args]
            if found is None:
                returned = batch.cls.forward(*args)
            else:
                returned = _entries(*found, level, [*zip(flatten(values)[0], flatten(args)[0], strict=True)])
            entry = batch.entry
            batch.cls.setup_context(entry, tuple(args), returned)
            batch.single = not isinstance(returned, tuple)
            outputs = (returned,) if batch.single else returned
            whole = [_whole(y, level) for y in outputs]
            # What is saved: an argument or an output itself where it is one, so that it has its gradient.
            known = [*zip(args, values, batch.dims, strict=True), *zip(outputs, whole, (0,) * len(whole), strict=True)]
            for notes in ("_save", "_forward", "_still"):
                setattr(entry, notes, [_outside(t, known, level) for t in getattr(entry, notes)])
            return whole[0] if batch.single else tuple(whole)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        batch = inputs[0]
        ctx.batch = batch
        entry = batch.entry
        ctx.saved_dims = [dim for _, dim in entry._save]
        ctx.forward_dims = [dim for _, dim in entry._forward]
        ctx.set_materialize_grads(entry._materialize)
        ctx.save_for_backward(*[t for t, _ in entry._save])
        ctx.save_for_forward(*[t for t, _ in entry._forward])
        ctx.mark_non_differentiable(*[t for t, _ in entry._still if t is not None])
        entry._save = entry._forward = entry._still = ()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        batch = ctx.batch
        with batch.level() as level:
            entry = batch.entry
            try:
                entry.saved_tensors = tuple(batch.inside(ctx.saved_tensors, level, ctx.saved_dims))
                entry.needs_input_grad = ctx.needs_input_grad[1:]
                method = batch.cls.vjp if batch.cls.vjp is not Function.vjp else batch.cls.backward
                found = method(entry, *batch.inside(grads, level, (0,) * len(grads)))
                found = found if isinstance(found, tuple) else (found,)
                if len(found) < len(batch.dims) or any(g is not None for g in found[len(batch.dims) :]):
                    raise RuntimeError(
                        f"function {batch.cls.__name__}Backward returned an incorrect number of gradients (expected "
                        f"{len(batch.dims)}, got {len(found)})"
                    )
                return (None, *[_gradient(batch, at, g, level) for at, g in enumerate(found[: len(batch.dims)])])
            finally:
                entry.saved_tensors = ()

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        batch = ctx.batch
        with batch.level() as level:
            entry = batch.entry
            try:
                entry.saved_tensors = tuple(batch.inside(ctx.saved_tensors, level, ctx.forward_dims))
                found = batch.cls.jvp(entry, *batch.inside(tangents[1:], level))
                found = found if isinstance(found, tuple) else (found,)
                whole = [t if t is None else _core._unbatch(t, 0, level) for t in found]
                return whole[0] if batch.single else tuple(whole)
            finally:
                entry.saved_tensors = ()


def _whole(output: Any, level: int) -> Any:
    """An output with all entries, or a tree of them."""
    leaves, shape = flatten(output)
    return unflatten([_core._unbatch(y, 0, level) if isinstance(y, Tensor) else y for y in leaves], shape)


def _outside(t: Any, known: Sequence[tuple[Any, Any, int | None]], level: int) -> tuple[Any, int | None]:
    """A noted tensor as a whole value, and its batch axis."""
    if t is None:
        return None, None
    for entry, value, dim in known:
        if t is entry:
            return value, dim
    return _core._unbatch(t, 0, level), 0


def _gradient(batch: Batch, at: int, g: Any, level: int) -> Any:
    """The gradient of argument `at`: that of all entries for one that is batched, their sum for one that is not."""
    dim, sizes = batch.dims[at], batch.sizes[at]
    if g is None or sizes is None:
        return None
    if g.shape != sizes:  # summed here: outside, the axis of the batch would stand among those of the entry
        try:
            g = g.sum_to_size(sizes)
        except RuntimeError:
            raise RuntimeError(
                f"Function {batch.cls.__name__}Backward returned an invalid gradient at index {at} - got "
                f"{list(g.shape)} but expected shape compatible with {list(sizes)}"
            ) from None
    if dim is None:
        parts = _core._batch_parts(g)
        inside = parts is not None and parts[2] == level
        return _core._unbatch(g, 0, level).sum(0) if inside else g * _size(level)
    return _core._unbatch(g, dim, level)


def _size(level: int) -> int:
    size: int = _core._vmap_info(level)[0]
    return size
