"""Functions with a derivative of their own: subclass `Function`, define `forward` and `backward`, call `apply`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.graph import Node

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "VmapInfo",
    "once_differentiable",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")


class FunctionCtx(_core._FunctionBase):
    """What `forward` leaves for `backward`: the object that both get as `ctx`, and the `grad_fn` of the outputs.

    Any attribute may be set on it. Tensors should be saved with `save_for_backward`: those are checked for in-place
    writes and freed with the graph.

    >>> class Cube(rg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * g
    >>> x = rg.tensor([2.0], requires_grad=True)
    >>> y = Cube.apply(x)
    >>> isinstance(y.grad_fn, rg.autograd.function.FunctionCtx), y.grad_fn.saved_tensors[0] is x
    (True, True)
    """


class BackwardCFunction(FunctionCtx):
    """Base of the node classes, one for each `Function`: `type(y.grad_fn)` is `Cube._backward_cls`.

    >>> class Double(rg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * 2
    ...     @staticmethod
    ...     def jvp(ctx, t):
    ...         return t * 2
    >>> node = Double.apply(rg.ones(1, requires_grad=True)).grad_fn
    >>> type(node) is Double._backward_cls
    True
    >>> node.apply(rg.ones(1)), node.apply_jvp(rg.ones(1)), node.apply_boxed([rg.ones(1)])
    (tensor([2.]), tensor([2.]), tensor([2.]))
    """

    _forward_cls: type[Function]

    def apply(self, *args: Any) -> Any:  # type: ignore[override]
        """Run the function's backward outside of a backward pass.

        Args: one gradient per output, passed on as they are.
        Returns: what the function's `backward` (or `vjp`) returns.
        """
        return self._call_backward(*args)

    def apply_boxed(self, *args: Any) -> Any:
        """Run the backward of a function with `boxed_grads_call`, on a list of gradients that it may empty."""
        return self._call_backward(*args[0])

    def apply_jvp(self, *args: Any) -> Any:
        """Run the function's `jvp`, on one tangent per argument."""
        return self._forward_cls.jvp(self, *args)


Node.register(BackwardCFunction)


class FunctionMeta(type):
    """Gives every `Function` the class of its nodes, `_backward_cls`, named after it with `Backward` appended.

    >>> class Cube(rg.autograd.Function): ...
    >>> Cube._backward_cls.__name__
    'CubeBackward'
    """

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        super().__init__(name, bases, attrs)


class VmapInfo(NamedTuple):
    """What the `vmap` method of a `Function` gets to know of the batch: its size, and what random ops do.

    >>> rg.autograd.function.VmapInfo(batch_size=3, randomness="error")
    VmapInfo(batch_size=3, randomness='error')
    """

    batch_size: int
    randomness: str


class Function(FunctionCtx, metaclass=FunctionMeta):
    """A function of tensors with a derivative of its own.

    Subclass it with static methods, and call the class method `apply`. Tensors that are direct arguments get
    gradients; those inside lists or dicts do not.

    - `forward(ctx, *args)` computes the result without grad mode, and leaves on `ctx` what the backward needs. Or
      `forward(*args)`, with `setup_context(ctx, inputs, output)` for the second half.
    - `backward(ctx, *grads)` gets a gradient per output and returns one per argument, None for what has none. Its
      shape may be larger than the argument's by broadcasting. It is itself differentiated under `create_graph`.

    >>> class Exp(rg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         result = x.exp()
    ...         ctx.save_for_backward(result)
    ...         return result
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (result,) = ctx.saved_tensors
    ...         return g * result
    >>> x = rg.zeros(1, requires_grad=True)
    >>> y = Exp.apply(x)
    >>> y.grad_fn.name()
    'ExpBackward'
    >>> rg.autograd.grad(y, x)[0].item()
    1.0
    """

    generate_vmap_rule = False
    """Whether `vmap` may derive its rule by running forward and backward on batched tensors."""

    clear_saved_tensors_on_access = False
    """Whether `ctx.saved_tensors` can be read once only, which frees memory early."""

    boxed_grads_call = False
    """Whether backward gets its gradients in one list, from which it may take them to free memory early."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method: define it with @staticmethod and call the class method apply."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the function: `forward(ctx, *args)`, or `forward(*args)` where `setup_context` is defined.

        Returns: a tensor, or a tuple. What is no tensor passes through, and is one gradient (None) in backward.
        Raises: NotImplementedError unless overridden.
        """
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Prepare `ctx` after a `forward` that does not take it.

        Args: `inputs` the arguments of `forward`, defaults included; `output` what it returned.

        >>> class Scale(rg.autograd.Function):
        ...     @staticmethod
        ...     def forward(x, factor=3.0):
        ...         return x * factor
        ...     @staticmethod
        ...     def setup_context(ctx, inputs, output):
        ...         _, ctx.factor = inputs
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         return g * ctx.factor, None
        >>> x = rg.ones(1, requires_grad=True)
        >>> Scale.apply(x).backward()
        >>> x.grad
        tensor([3.])
        """
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the arguments from those of the outputs. Another name for it is `vjp`; define one of them.

        Returns: one gradient per argument of `forward`, as a tuple or, for one argument, by itself.
        Raises: NotImplementedError unless overridden.

        >>> class Double(rg.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def vjp(ctx, g):
        ...         return g * 2
        >>> x = rg.ones(1, requires_grad=True)
        >>> Double.apply(x).backward()
        >>> x.grad
        tensor([2.])
        """
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Tangents of the outputs from those of the arguments, None for arguments that are no tensors.

        Raises: NotImplementedError unless overridden.

        >>> class Double(rg.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def jvp(ctx, t):
        ...         return t * 2
        >>> Double.apply(rg.ones(1, requires_grad=True)).grad_fn.apply_jvp(rg.ones(1))
        tensor([2.])
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The function on batched arguments.

        A transform inside the mapped function takes derivatives by `backward`, `vjp` or `jvp` of the function; one
        outside differentiates what is done here.

        Args: `info` with `batch_size` and `randomness`; `in_dims` per argument the position of its batch axis or None,
        or a tree of them like the argument.
        Returns: the outputs, and the positions of their batch axes in the same structure, or one for all.
        Raises: NotImplementedError unless overridden.

        >>> class Double(rg.autograd.Function):
        ...     @staticmethod
        ...     def forward(x):
        ...         return x * 2
        ...     @staticmethod
        ...     def setup_context(ctx, inputs, output):
        ...         pass
        ...     @staticmethod
        ...     def vmap(info, in_dims, x):
        ...         print(info.batch_size, "at once, along axis", in_dims[0])
        ...         return Double.apply(x), in_dims[0]
        >>> rg.vmap(Double.apply, in_dims=1)(rg.tensor([[1.0, 2.0, 3.0]])).tolist()
        3 at once, along axis 1
        [[2.0], [4.0], [6.0]]
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )


def _bind(
    forward: Callable[..., Any], separate: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments of `forward` by position. With `separate` (it takes no ctx) defaults are filled in as well."""
    code = getattr(forward, "__code__", None)
    names = _positional(forward, code)
    if not separate:
        return _by_position(names[1:], args, kwargs)
    if isinstance(code, CodeType) and code.co_kwonlyargcount == 0 and not code.co_flags & 0xC:  # no *args or **kwargs
        defaults = forward.__defaults__ or ()
        given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) | kwargs
        missing = names[len(args) :]
        if kwargs.keys() <= set(missing) and given.keys() >= set(missing):
            return (*args, *(given[name] for name in missing))
    import inspect  # slow to load, and rarely needed

    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if any(isinstance(x, Tensor) and _core._batch_parts(x) is not None for x in bound.kwargs.values()):
        raise NotImplementedError(
            "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
            f"autograd.Function. Got: {bound.kwargs}"
        )
    for name in bound.kwargs:
        raise TypeError(f"forward() got an unexpected keyword argument '{name}': parameters must be positional")
    return bound.args


def _positional(forward: Callable[..., Any], code: CodeType | None) -> tuple[str, ...]:
    if code is not None:
        return code.co_varnames[: code.co_argcount]
    import inspect

    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in inspect.signature(forward).parameters.values() if p.kind in kinds)


def _by_position(names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """`args` followed by the keywords in the order of `names`. Defaults are left to the call, so no gap may arise."""
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in names[: len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    bound = list(args)
    for position in range(len(args), len(args) + len(kwargs)):
        if names[position] not in kwargs:
            raise TypeError(f"forward() missing required argument: '{names[position]}' (position {position})")
        bound.append(kwargs[names[position]])
    return tuple(bound)


_core._register_function(Function, _bind)


def once_differentiable(fn: Callable[Concatenate[_T, _P], _R]) -> Callable[Concatenate[_T, _P], _R]:
    """Mark a `backward` that cannot be differentiated again, because it uses more than tensor ops.

    It runs without grad mode. Differentiating its results raises RuntimeError.

    >>> class Double(rg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @rg.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         return rg.from_numpy(g.numpy() * 2)
    >>> x = rg.ones(1, requires_grad=True)
    >>> (g,) = rg.autograd.grad(Double.apply(x) ** 2, x, create_graph=True)
    >>> g.backward()
    Traceback (most recent call last):
    RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable
    """

    @functools.wraps(fn)
    def wrapper(ctx: _T, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return cast(_R, _core._once_differentiable(fn, (ctx, *args), kwargs))

    return wrapper


class InplaceFunction(Function):
    """A `Function` with an option to work in place. Only for old programs; use `Function`.

    >>> class Exp(rg.autograd.function.InplaceFunction):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x.exp()
    >>> Exp.apply(rg.zeros(1))
    tensor([1.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _iter_tensors(obj: Any) -> Iterator[Any]:
    """The tensors in nested lists, tuples and dicts.

    Raises: ValueError if there is anything else than these and None.
    """
    return (item for item in _iter_flat(obj, "Tensors") if item is not None)


def _iter_tensors_or_none(obj: Any) -> Iterator[Any]:
    """As `_iter_tensors`, with the Nones."""
    return _iter_flat(obj, "Tensors or None")


def _iter_flat(obj: Any, accepted: str) -> Iterator[Any]:
    if obj is None or isinstance(obj, Tensor):
        yield obj
    elif isinstance(obj, list | tuple | dict):
        for item in obj.values() if isinstance(obj, dict) else obj:
            yield from _iter_flat(item, accepted)
    else:
        raise ValueError(
            f"Auto nesting doesn't know how to process an input object of type {type(obj).__name__}. Accepted types: "
            f"{accepted}, or lists/tuples of them"
        )


def _map_data(obj: Any) -> Any:
    """The same nesting, with the `.data` of its tensors."""
    if isinstance(obj, dict):
        return {key: _map_data(item) for key, item in obj.items()}
    if isinstance(obj, list | tuple):
        items = [_map_data(item) for item in obj]
        return type(obj)(*items) if hasattr(obj, "_fields") else type(obj)(items)
    return None if obj is None else next(_iter_tensors(obj)).data


def _unflatten(flat: Iterator[Any], like: Any) -> Any:
    """Items of `flat` in the nesting of `like`, None where it has None."""
    if not isinstance(like, list | tuple):
        return next(flat)
    return type(like)(None if item is None else _unflatten(flat, item) for item in like)


class NestedIOFunction(Function):
    """A `Function` of nested lists of tensors. Only for old programs, and torch no longer runs it; use `Function`."""

    def _do_forward(self, *input: Any) -> Any:
        self._nested_input = input
        flat = super()._do_forward(*_iter_tensors(input))  # type: ignore[misc]
        return _unflatten(iter(flat), self._nested_output)

    def _do_backward(self, gradients: Any, retain_variables: bool) -> Any:
        self.retain_variables = retain_variables
        result = super()._do_backward(gradients, retain_variables)  # type: ignore[misc]
        if not retain_variables:
            del self._nested_output
            del self._to_save_nested
        return result

    def backward(self, *gradients: Any) -> Any:  # type: ignore[override]
        """Nest the gradients as the outputs are, and flatten what `backward_extended` makes of them."""
        nested = _unflatten(iter(gradients), self._nested_output)
        return tuple(_iter_tensors_or_none(self.backward_extended(*nested)))

    __call__ = _do_forward

    def forward(self, *args: Any) -> Any:  # type: ignore[override]
        """Flatten what `forward_extended` makes of the nested inputs."""
        nested = _map_data(self._nested_input)
        result = self.forward_extended(*nested)
        del self._nested_input
        self._nested_output = result
        return tuple(_iter_tensors(result))

    def save_for_backward(self, *args: Any) -> None:
        """Save nested tensors for the backward."""
        self.to_save = tuple(_iter_tensors(args))
        self._to_save_nested = args

    @property
    def saved_tensors(self) -> Any:
        """What `save_for_backward` saved, nested as it was."""
        return _unflatten(iter(super().saved_tensors), self._to_save_nested)

    def mark_dirty(self, *args: Any, **kwargs: Any) -> None:
        """Say which tensors of nested inputs were written to."""
        self.dirty_tensors = tuple(_iter_tensors((args, kwargs)))

    def mark_non_differentiable(self, *args: Any, **kwargs: Any) -> None:
        """Say which tensors of nested outputs have no derivative."""
        self.non_differentiable = tuple(_iter_tensors((args, kwargs)))

    def forward_extended(self, *input: Any) -> Any:
        """The function of nested tensors, to be overridden."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> Any:
        """Its gradients, to be overridden."""
        raise NotImplementedError
