"""Gradients, and products with Jacobians, as functions of functions.

Reverse mode needs no levels: a transform differentiates with respect to fresh views of its arguments, and the graph
shows what was computed from them. A forward transform opens a level of tangents. Entries of batches do not mix in
either.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from retrograd import _core
from retrograd._core import Tensor, zeros_like
from retrograd._tree import TreeSpec, describe, flatten, unflatten
from retrograd.autograd.forward_ad import make_dual

__all__ = ["grad", "grad_and_value", "jvp", "linearize", "vjp"]

Func: TypeAlias = Callable[..., Any]
Argnums: TypeAlias = int | tuple[int, ...]
Tensors: TypeAlias = Sequence[Tensor]

_grad = _core._grad
# Times of transforms, as scopes that give whether ops record outside. Each takes what the function is given: to other
# tensors from before it must not write.
reversing = _core._reversing
pushing = _core._pushing
out_of_inference = _core._out_of_inference
settled = _core._settled


# ---- arguments and results


def selected(args: tuple[Any, ...], argnums: Argnums) -> list[int]:
    """The positions that `argnums` names, counted from the front."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    places = []
    for n in (argnums,) if isinstance(argnums, int) else argnums:
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
        places.append(n % len(args))
    if not places:
        raise RuntimeError("argnums must be non-empty")
    if len(set(places)) < len(places):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return places


def chosen(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """The arguments that `argnums` names: one, or a tuple."""
    if argnums == 0 and args:
        return args[0]
    places = selected(args, argnums)
    return args[places[0]] if isinstance(argnums, int) else tuple([args[i] for i in places])


def replaced(args: tuple[Any, ...], argnums: Argnums, new: Any) -> tuple[Any, ...]:
    """The arguments with others in the place of those that `argnums` names."""
    if len(args) == 1 and isinstance(argnums, int):
        return (new,)
    out = list(args)
    for place, arg in zip(selected(args, argnums), (new,) if isinstance(argnums, int) else new, strict=True):
        out[place] = arg
    return tuple(out)


def differentiable(x: Any, link: bool) -> Tensor:
    """A view of x that requires grad: with `link` part of the graph of x, if it has one, else the start of a graph."""
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    if x.is_inference():
        x = x.clone()
    x = _core._batch_at_all_levels(x)
    view = x.view_as(x)
    return view if link and x.requires_grad else _core._variable(view)


def split_aux(result: Any, caller: str) -> tuple[Any, Any]:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{caller}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def demand_tensors(results: list[Any], caller: str) -> None:
    if not results or (len(results) == 1 and results[0] is None):
        raise RuntimeError(f"{caller}: Expected f to be a function that has non-empty output (got output = {results})")
    for result in results:
        if not isinstance(result, Tensor):
            raise RuntimeError(
                f"{caller}: expected f(*primals) to return only tensors, got unsupported type {type(result)}"
            )


def demand_tensor(t: Any) -> Tensor:
    """A leaf of what `has_aux` lets a function return."""
    if not isinstance(t, Tensor):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(t)}")
    return t


def settled_tree(tree: Any, inner: tuple[Tensor, ...], keep: bool) -> Any:
    if isinstance(tree, Tensor):
        return settled(tree, inner, keep)
    leaves, shape = flatten(tree)
    return unflatten([settled(demand_tensor(leaf), inner, keep) for leaf in leaves], shape)


def zeros_if_none(found: Sequence[Tensor | None], xs: Tensors) -> list[Tensor]:
    return [zeros_like(x) if g is None else g for g, x in zip(found, xs, strict=True)]


# ---- reverse mode


class Record:
    """A function that was called on fresh views `xs` of its arguments, and recorded."""

    __slots__ = ("aux", "inner", "keep", "out_shape", "outs", "result", "xs", "xs_shape")

    outs: list[Tensor]
    out_shape: TreeSpec
    aux: Any

    def __init__(self, func: Func, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums, link: bool):
        given, self.xs_shape = flatten(chosen(args, argnums))
        self.xs = tuple([differentiable(x, link) for x in given])
        # Where nothing outside can be reached, `inner` are the leaves at which the graph ends.
        self.inner = tuple([x for x, g in zip(self.xs, given, strict=True) if not (link and g.requires_grad)])
        self.keep = link
        self.aux = None
        # An op in place raises at a leaf. At a view that is part of a graph it does not.
        linked = [x for x in self.xs if not x.is_leaf]
        versions = [x._version for x in linked]
        self.result = func(*replaced(args, argnums, unflatten(self.xs, self.xs_shape)), **kwargs)
        if versions != [x._version for x in linked]:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation: an argument that is "
                "differentiated for was written to. Write to a clone of it."
            )

    def take_aux(self, caller: str) -> None:
        self.result, aux = split_aux(self.result, caller)
        self.aux = settled_tree(aux, self.inner, self.keep)

    def take_outputs(self, caller: str) -> None:
        """Check and flatten what the function returned, and see whether derivatives of it can have a graph."""
        self.outs, self.out_shape = flatten(self.result)
        del self.result
        demand_tensors(self.outs, caller)
        for out in self.outs:
            if not (out.is_floating_point() or out.is_complex()):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{out.dtype}"
                )
        self.see_whether_to_keep()

    def see_whether_to_keep(self) -> None:
        linked = len(self.inner) < len(self.xs)
        self.keep = self.keep and (linked or _core._leads_elsewhere(tuple(self.outs), self.inner))

    def settled_outputs(self) -> Any:
        return unflatten([settled(out, self.inner, self.keep) for out in self.outs], self.out_shape)

    def vjp(self, cotangents: Sequence[Any], retain_graph: bool, create_graph: bool) -> list[Tensor]:
        """The gradients of the outputs, zeros where there is none."""
        pairs = [(out, g) for out, g in zip(self.outs, cotangents, strict=True) if out.requires_grad]
        if not pairs:
            return [zeros_like(x) for x in self.xs]
        roots, gs = zip(*pairs, strict=True)
        return zeros_if_none(_grad(roots, gs, retain_graph, create_graph, self.xs, True), self.xs)


def recorded(func: Func, args: tuple[Any, ...], argnums: Argnums, has_aux: bool, link: bool) -> Record:
    """A call of a function that returns tensors or trees of them, with `has_aux` in a pair with a rest."""
    record = Record(func, args, {}, argnums, link)
    if has_aux:
        record.take_aux(_VJP)
    record.take_outputs(_VJP)
    return record


_VJP = "vjp(f, *primals)"
_JVP = "jvp(f, primals, tangents)"


def grad_and_value(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """The function that gives the gradient of `func`, and its value. See `grad` for the arguments.

    Returns: a function that returns the gradient and the value; with `has_aux` the gradient and the pair of value and
    the rest.

    >>> rg.func.grad_and_value(lambda x: (x**2).sum())(rg.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def of(*args: Any, **kwargs: Any) -> Any:
        gradient, value, aux = _gradient("grad_and_value", func, argnums, has_aux, args, kwargs)
        return gradient, (value, aux) if has_aux else value

    return of


def grad(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """The function that gives the gradient of `func`, which returns a tensor without axes.

    Inside of `func` ops record, whether or not they do outside; what it computes under `no_grad` counts as constant.
    The gradient is itself differentiable: by another transform around this one, and by `backward` if an argument, or
    another tensor that `func` uses, requires grad.

    Args: `argnums` says which arguments to differentiate for, tensors or trees of them: the position of one, or a
    tuple of positions. With `has_aux` the function returns a pair, of the tensor and of anything made of tensors.
    Returns: a function of the same arguments. It returns the gradient, of the structure of the argument or a tuple of
    these; with `has_aux` a pair of it and the rest.
    Raises: RuntimeError if `func` does not return a tensor without axes (or such a pair), or for positions that do not
    exist; ValueError for arguments to differentiate for that are no tensors.

    >>> from retrograd.func import grad
    >>> f = lambda x, y: (x**3 * y).sum()
    >>> grad(f)(rg.tensor(2.0), rg.tensor(1.0)), grad(grad(f))(rg.tensor(2.0), rg.tensor(1.0))
    (tensor(12.), tensor(12.))
    >>> grad(f, argnums=(0, 1))(rg.tensor(2.0), rg.tensor(1.0))
    (tensor(12.), tensor(8.))
    """

    @functools.wraps(func)
    def of(*args: Any, **kwargs: Any) -> Any:
        gradient, _, aux = _gradient("grad", func, argnums, has_aux, args, kwargs)
        return (gradient, aux) if has_aux else gradient

    return of


def _gradient(
    caller: str, func: Func, argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any, Any]:
    called = f"{caller}(f)(*args)"
    with reversing((args, kwargs)) as outside:
        record = Record(func, args, kwargs, argnums, outside)
        if has_aux:
            record.take_aux(called)
        out = record.result
        if not isinstance(out, Tensor):
            raise RuntimeError(f"{called}: Expected f(*args) to return a Tensor, got {type(out)}")
        if out.ndim:
            raise RuntimeError(
                f"{called}: Expected f(*args) to return a scalar Tensor, got tensor with {out.ndim} dims. Sum it up, "
                "or use vjp or jacrev."
            )
        record.outs = [out]
        record.see_whether_to_keep()
        keep, inner = record.keep, record.inner
        found = [settled(g, inner, keep) for g in record.vjp((None,), keep, keep)]
        return unflatten(found, record.xs_shape), settled(out, inner, keep), record.aux


def vjp(func: Func, *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function, and its pullback: the product of a vector with the Jacobian, as a function of it.

    Args: `primals` the arguments of `func`, tensors or trees of them; it returns tensors or a tree of them, with
    `has_aux` a pair of that and of anything made of tensors.
    Returns: the value and the pullback, with `has_aux` also the rest. The pullback takes cotangents in the structure
    of the value, and returns a tuple of what has the structure of the primals. It can be called often, and inside of
    `vmap`; with `retain_graph=False` it frees what `func` recorded. Its results have a graph if a primal, a cotangent
    or another tensor that `func` used requires grad, unless under `no_grad` or with `create_graph=False`.
    Raises: RuntimeError if `func` returns anything else than tensors of floating point or complex dtype, and from the
    pullback if structure or shape of the cotangents are not those of the value.

    >>> value, pullback = rg.func.vjp(lambda x: x * x.sum(), rg.tensor([1.0, 2.0]))
    >>> value, pullback(rg.tensor([1.0, 0.0]))
    (tensor([3., 6.]), (tensor([4., 1.]),))
    """
    with reversing(primals) as outside:
        record = recorded(func, primals, tuple(range(len(primals))), has_aux, outside)

    def pullback(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, shape = flatten(cotangents)
        if shape != record.out_shape:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function."
                f" cotangents: {describe(shape)}, primal output: {describe(record.out_shape)}"
            )
        return unflatten(_checked_vjp(record, given, retain_graph, create_graph), record.xs_shape)

    value = record.settled_outputs()
    return (value, pullback, record.aux) if has_aux else (value, pullback)


def _checked_vjp(record: Record, cotangents: list[Any], retain_graph: bool, create_graph: bool | None) -> list[Tensor]:
    with out_of_inference() as outside:
        create_graph = outside if create_graph is None else create_graph
        keep = create_graph and (record.keep or any(isinstance(g, Tensor) and g.requires_grad for g in cotangents))
        return [settled(g, record.inner, keep) for g in record.vjp(cotangents, retain_graph, keep)]


def linearize(func: Func, *primals: Any) -> tuple[Any, Func]:
    """The value of a function, and its pushforward: the product of the Jacobian with a vector, as a function of it.

    `func` is called and recorded once. The pullback is linear in its cotangents, so it is recorded too, and the
    pushforward is its derivative; ops must be differentiable twice.

    Args: `primals` the arguments of `func`, tensors or trees of them; it returns tensors or a tree of them.
    Returns: the value and the pushforward, which takes tangents like the primals, and returns what has the structure of
    the value. It can be called often, and inside of `vmap`.
    Raises: what `vjp` raises; RuntimeError from the pushforward if structure, shape or dtype of the tangents are not
    those of the primals.

    >>> value, pushforward = rg.func.linearize(lambda x: x * x.sum(), rg.tensor([1.0, 2.0]))
    >>> value, pushforward(rg.tensor([1.0, 0.0]))
    (tensor([3., 6.]), tensor([4., 2.]))
    """
    with reversing(None) as outside:  # as torch, whose linearize lets the function write to anything
        record = recorded(func, primals, tuple(range(len(primals))), False, outside)
        # What is gradients back: any cotangents, as the result is linear in them. They are not batched by themselves.
        cotangents = tuple([_core._variable(_core._batch_at_all_levels(zeros_like(out))) for out in record.outs])
        gradients = record.vjp(cotangents, True, True)
    inner = (*record.inner, *cotangents)

    def pushforward(*tangents: Any) -> Any:
        given, shape = flatten(tangents)
        if shape != record.xs_shape:
            raise RuntimeError(
                f"Expected the tangents {describe(shape)} to have the same argspec as the primals "
                f"{describe(record.xs_shape)}"
            )
        for i, (t, x) in enumerate(zip(given, record.xs, strict=True)):
            for what in ("shape", "dtype"):
                if getattr(t, what) != getattr(x, what):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't match the {what} "
                        f"{getattr(x, what)} of the corresponding primal."
                    )
        with out_of_inference() as outside:
            keep = outside and (record.keep or any(t.requires_grad for t in given))
            pairs = [(g, t) for g, t in zip(gradients, given, strict=True) if g.requires_grad]
            found: Sequence[Tensor | None] = (None,) * len(cotangents)
            if pairs:
                roots, ts = zip(*pairs, strict=True)
                found = _grad(roots, ts, True, keep, cotangents, True)
            moved = [settled(t, inner, keep) for t in zeros_if_none(found, record.outs)]
        return unflatten(moved, record.out_shape)

    return record.settled_outputs(), pushforward


# ---- forward mode


def jvp(func: Func, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value of a function, and the product of its Jacobian with a vector: how the value moves along `tangents`.

    Args: `primals` the tuple of the arguments of `func`, tensors or trees of them; `tangents` a tuple like it. `func`
    returns tensors or a tree of them, with `has_aux` a pair of that and of anything made of tensors. `strict` refuses
    results that do not depend on the primals, whose tangents are zeros otherwise.
    Returns: the value and its tangents, in the same structure; with `has_aux` also the rest.
    Raises: RuntimeError if primals and tangents are no tuples of tensors of the same structure and shapes, if `func`
    returns anything else than tensors, and for what `strict` refuses; ValueError for integers.

    >>> rg.func.jvp(lambda x: x * x.sum(), (rg.tensor([1.0, 2.0]),), (rg.tensor([1.0, 0.0]),))
    (tensor([3., 6.]), tensor([4., 2.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. It should be valid to call f(*primals).")
    xs, shape = flatten(primals)
    ts, tangents_shape = flatten(tangents)
    if shape != tangents_shape:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. Got primals with structure "
            f"{describe(shape)} and tangents with structure {describe(tangents_shape)}"
        )
    _demand_only_tensors(xs, "primals")
    _demand_only_tensors(ts, "tangents")
    aux = None
    with pushing((primals, tangents)), _core._private_dual_level() as level:
        duals = [make_dual(x, t, level=level) for x, t in zip(xs, ts, strict=True)]
        result = func(*unflatten(duals, shape))
        if has_aux:
            result, aux = split_aux(result, _JVP)
            for leaf in flatten(aux)[0]:
                demand_tensor(leaf)  # which loses its tangent with the level
        outs, out_shape = flatten(result)
        demand_tensors(outs, _JVP)
        parts = [_unpacked(out, level, strict) for out in outs]
    value = unflatten([y for y, _ in parts], out_shape)
    moved = unflatten([t for _, t in parts], out_shape)
    return (value, moved, aux) if has_aux else (value, moved)


def _demand_only_tensors(leaves: list[Any], what: str) -> None:
    if not leaves:
        raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(leaf)}")


def _unpacked(out: Tensor, level: int, strict: bool) -> tuple[Tensor, Tensor]:
    """A result without its tangent, and the tangent."""
    primal, tangent = _core._unpack_dual(out, level)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        tangent = zeros_like(primal)
    return primal, tangent
