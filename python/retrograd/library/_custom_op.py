"""Custom ops: a function with a schema, kernels, and a derivative and batching rule that are given apart."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

from retrograd._core import Tensor, is_grad_enabled, stack
from retrograd.autograd.function import Function
from retrograd.autograd.grad_mode import set_grad_enabled
from retrograd.autograd.graph import increment_version
from retrograd.library._schema import Parameter, parse

__all__ = ["CustomOpDef"]


# By namespace and name.
_ops: dict[str, dict[str, CustomOpDef]] = {}

_KINDS: dict[str, Any] = {"Tensor": Tensor, "int": int, "float": (int, float), "bool": bool, "str": str}


class _Call(NamedTuple):
    """What a call has besides its tensors: how many are in each list, None for a single value, and keywords."""

    counts: list[int | None]
    keywords: dict[str, Any]

    def structured(self, flat: Sequence[Any]) -> list[Any]:
        """The arguments of the op, from those of the node."""
        values = iter(flat)
        return [next(values) if count is None else [next(values) for _ in range(count)] for count in self.counts]

    def flat(self, values: Sequence[Any]) -> list[Any]:
        """The inverse of `structured`; None stands for a list of it."""
        if len(values) != len(self.counts):
            raise RuntimeError(f"expected {len(self.counts)} values, one for each argument, got {len(values)}")
        result: list[Any] = []
        for value, count in zip(values, self.counts, strict=True):
            if count is None:
                result.append(value)
            elif value is not None and len(value) != count:
                raise RuntimeError(
                    "Expected the return from backward to be of the same structure as the inputs. Got: "
                    f"{len(value)} (return from backward), {count} (inputs) items of a list"
                )
            else:
                result += [None] * count if value is None else value
        return result


class _Context:
    """The context of a node, whose `needs_input_grad` has the structure of the arguments of the op."""

    def __init__(self, ctx: Any, call: _Call) -> None:
        object.__setattr__(self, "_ctx", ctx)
        object.__setattr__(self, "_call", call)

    @property
    def needs_input_grad(self) -> tuple[Any, ...]:
        return tuple(self._call.structured(self._ctx.needs_input_grad))

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_ctx"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


class CustomOpDef:
    """What `custom_op` makes of a function: called as the function is, with types checked.

    >>> @rg.library.custom_op("doc::double", mutates_args=())
    ... def double(x: rg.Tensor) -> rg.Tensor:
    ...     return x * 2
    >>> double
    <CustomOpDef(doc::double)>
    >>> double(rg.ones(2)), rg.ops.doc.double(rg.ones(2))
    (tensor([2., 2.]), tensor([2., 2.]))
    """

    def __init__(self, namespace: str, name: str, schema: str, *, opaque: bool = False) -> None:
        self._namespace, self._name, self._schema = namespace, name, schema
        self._parameters = parse(schema)
        self._opaque = opaque  # whether it is a node of the graph even without a derivative
        self._kernels: dict[str | None, Callable[..., Any]] = {}
        self._disabled: set[str] = set()
        self._composite: Callable[..., Any] | None = None
        self._fake: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._setup_context: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        self._node = _node(self)
        _ops.setdefault(namespace, {})[name] = self

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def default(self) -> CustomOpDef:
        """The op itself, which has one overload."""
        return self

    _opoverload = default

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the op: its kernel, in a node of the graph if a tensor requires grad."""
        values, keywords = self._bound(args, kwargs)
        if self._composite is not None:
            return self._composite(*values, **keywords)
        if not self._opaque and self._backward is None:
            return self._run(values, keywords, is_grad_enabled())
        counts = [
            len(value) if parameter.is_list_of_tensors() and value is not None else None
            for parameter, value in zip(self._positional, values, strict=True)
        ]
        call = _Call(counts, keywords)
        result = self._node.apply(*call.flat(values), call)
        return list(result) if self._schema.endswith("-> Tensor[]") else result

    @property
    def _positional(self) -> list[Parameter]:
        return [parameter for parameter in self._parameters if not parameter.keyword_only]

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values of the positional and of the keyword-only parameters."""
        declared = f"{self._qualname}{self._schema}"
        if len(args) > len(self._positional):
            raise RuntimeError(
                f"{self._qualname}() takes {len(self._positional)} positional argument(s) but {len(args)} was/were "
                f"given.  Declaration: {declared}"
            )
        given = dict(zip((parameter.name for parameter in self._positional), args, strict=False))
        for name, value in kwargs.items():
            if name in given or name not in {parameter.name for parameter in self._parameters}:
                raise RuntimeError(
                    f"Unknown keyword argument '{name}' for operator '{self._qualname}'. Schema: {declared}"
                )
            given[name] = value
        for position, parameter in enumerate(self._parameters):
            name = parameter.name
            if name not in given:
                if parameter.default is inspect.Parameter.empty:
                    raise RuntimeError(
                        f"{self._qualname}() is missing value for argument '{name}'. Declaration: {declared}"
                    )
                given[name] = parameter.default
            elif (kind := _KINDS.get(parameter.type)) and not isinstance(given[name], kind):
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type '{parameter.type}' for argument '{name}' but instead "
                    f"found type '{type(given[name]).__name__}'.\nPosition: {position}\nValue: {given[name]!r}\n"
                    f"Declaration: {declared}"
                )
        values = [given[parameter.name] for parameter in self._positional]
        return values, {p.name: given[p.name] for p in self._parameters if p.keyword_only}

    def _run(self, values: list[Any], keywords: dict[str, Any], recorded: bool = False) -> Any:
        """What the kernel for the CPU makes of the arguments; its own ops may be recorded."""
        kernel = None if "cpu" in self._disabled else self._kernels.get("cpu")
        kernel = kernel or self._kernels.get(None)
        if kernel is None:
            there = sorted(str(device) for device in self._kernels) or ["none"]
            raise NotImplementedError(
                f"Could not run '{self._qualname}' with arguments from the 'CPU' backend. Kernels are there for: "
                f"{', '.join(there)}; add one with register_kernel('cpu')"
            )
        with set_grad_enabled(recorded):
            result = kernel(*values, **keywords)
        given = {**dict(zip((p.name for p in self._positional), values, strict=True)), **keywords}
        for parameter in self._parameters:
            if parameter.mutated and given[parameter.name] is not None:
                increment_version(given[parameter.name])
        self._check_aliases(_tensors(list(given.values())), _tensors([result]))
        return result

    def _check_aliases(self, given: list[Tensor], results: list[Tensor]) -> None:
        for index, result in enumerate(results):
            if any(_alias(result, other) for other in [*given, *results[:index]]):
                raise RuntimeError(
                    f"{self._name}: The output of this custom operator (1) must not also be an input to this custom "
                    "operator and (2) may not alias any inputs to this custom operator or other returns. The most "
                    "common way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. "
                    "Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or "
                    "refactor the custom operator to not return y."
                )

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Take a function as the kernel for some devices, of which "cpu" is used; None means all.

        Without a function, this is a decorator.

        >>> @rg.library.custom_op("doc::twice", mutates_args=())
        ... def twice(x: rg.Tensor) -> rg.Tensor:
        ...     return x * 2
        >>> @twice.register_kernel("cpu")
        ... def _(x):
        ...     return x + x
        >>> twice(rg.ones(1))
        tensor([2.])
        """

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            for device in [device_types] if device_types is None or isinstance(device_types, str) else device_types:
                self._kernels[device] = fn
            return fn

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Keep a function that computes sizes alone; nothing here calls it.

        >>> @rg.library.custom_op("doc::same", mutates_args=())
        ... def same(x: rg.Tensor) -> rg.Tensor:
        ...     return x.clone()
        >>> @same.register_fake
        ... def _(x):
        ...     return rg.empty_like(x)
        """
        self._fake = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Take a function as the derivative: `backward(ctx, *cotangents)` returns a gradient for each argument.

        Args: `setup_context(ctx, inputs, output)` saves what that needs, with `keyword_only_inputs` as well if the op
        has such arguments.
        Raises: RuntimeError for an op that writes to its arguments.

        >>> @rg.library.custom_op("doc::square", mutates_args=())
        ... def square(x: rg.Tensor) -> rg.Tensor:
        ...     return x * x
        >>> def setup_context(ctx, inputs, output):
        ...     ctx.save_for_backward(*inputs)
        >>> def backward(ctx, g):
        ...     (x,) = ctx.saved_tensors
        ...     return 2 * x * g
        >>> square.register_autograd(backward, setup_context=setup_context)
        >>> x = rg.tensor(3.0, requires_grad=True)
        >>> square(x).backward()
        >>> x.grad
        tensor(6.)
        """
        if any(parameter.mutated for parameter in self._parameters):
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema "
                f"{self._qualname}{self._schema}. Please create a functional operator and register an autograd formula "
                "for that."
            )
        self._backward, self._setup_context = backward, setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Take a function as the batching rule; without one, `vmap` calls the op for each element of a batch.

        It is called with `(info, in_dims, *args)`, and returns a result and the dimension of its batch. Without a
        function, this is a decorator.

        >>> @rg.library.custom_op("doc::sine", mutates_args=())
        ... def sine(x: rg.Tensor) -> rg.Tensor:
        ...     return x.sin()
        >>> @sine.register_vmap
        ... def _(info, in_dims, x):
        ...     return sine(x), in_dims[0]
        >>> rg.vmap(sine)(rg.zeros(2, 1))
        tensor([[0.],
                [0.]])
        """

        def register(func: Callable[..., Any]) -> Callable[..., Any]:
            self._vmap = func
            return func

        return register if func is None else register(func)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """A block in which the kernel of a device is used or not, and else the one for all devices.

        >>> @rg.library.custom_op("doc::three", mutates_args=())
        ... def three(x: rg.Tensor) -> rg.Tensor:
        ...     return x * 3
        >>> with three.set_kernel_enabled("cpu", False):
        ...     three(rg.ones(1))
        tensor([3.])
        """
        before = set(self._disabled)
        (self._disabled.discard if enabled else self._disabled.add)(device_type)
        try:
            yield
        finally:
            self._disabled = before


def _tensors(values: Any) -> list[Tensor]:
    if isinstance(values, Tensor):
        return [values]
    return [t for value in values for t in _tensors(value)] if isinstance(values, (list, tuple)) else []


def _alias(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors share memory, as one is a view of the other, or both are of a third."""
    if (a if a._base is None else a._base) is (b if b._base is None else b._base):
        return True
    try:
        return a.numel() > 0 and b.numel() > 0 and a.data_ptr() == b.data_ptr()
    except RuntimeError:  # within a transform, tensors have no address
        return False


def _node(op: CustomOpDef) -> type[Function]:
    """The function of autograd that calls an op. Its last argument is the call, for which there is no gradient."""

    def forward(*args: Any) -> Any:
        *flat, call = args
        result = op._run(call.structured(flat), call.keywords)
        return tuple(result) if isinstance(result, list) else result

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *flat, call = inputs
        ctx._custom_op_call = call
        if op._setup_context is None:
            return
        keywords: dict[str, Any] = {"keyword_only_inputs": call.keywords} if call.keywords else {}
        if op._schema.endswith("-> Tensor[]"):
            output = list(output)
        op._setup_context(ctx=_Context(ctx, call), inputs=tuple(call.structured(flat)), output=output, **keywords)

    def backward(ctx: Any, *cotangents: Any) -> Any:
        if op._backward is None:
            raise RuntimeError(
                f"Trying to backward through {op._namespace}.{op._name}.default but no autograd formula was "
                "registered. Please use register_autograd to add one."
            )
        call = ctx._custom_op_call
        lists = op._schema.endswith("-> Tensor[]")
        result = op._backward(_Context(ctx, call), *([list(cotangents)] if lists else cotangents))
        return (*call.flat(result if isinstance(result, tuple) else (result,)), None)

    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        *flat, call = args
        values, dims = call.structured(flat), tuple(call.structured(in_dims[:-1]))
        if op._vmap is not None:
            return op._vmap(info, dims, *values, **call.keywords)
        results = []
        for index in range(info.batch_size):
            chosen = [x if dim is None else x.select(dim, index) for x, dim in zip(flat, in_dims, strict=False)]
            results.append(op(*call.structured(chosen), **call.keywords))
        return _stacked(results)

    members = {"forward": forward, "setup_context": setup_context, "backward": backward, "vmap": vmap}
    methods = {name: staticmethod(function) for name, function in members.items()}
    return type(f"GeneratedBackwardFor_{op._namespace}_{op._name}_default", (Function,), methods)


def _stacked(results: list[Any]) -> tuple[Any, Any]:
    """Results of the elements of a batch as one, and where its batch is."""
    first = results[0]
    if isinstance(first, Tensor):
        return stack(results), 0
    if isinstance(first, (list, tuple)):
        parts = [_stacked(list(part)) for part in zip(*results, strict=True)]
        return tuple(value for value, _ in parts), tuple(dim for _, dim in parts)
    return first, None


def refuse_key(key: str) -> NoReturn:
    """Say that there is no place for a kernel of a dispatch key."""
    raise NotImplementedError(
        f"a kernel for the dispatch key {key!r}: ops here have kernels for devices, and register_autograd, "
        "register_fake and register_vmap for the rest"
    )
