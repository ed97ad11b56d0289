"""`__torch_function__`: what objects and modes are told of that take over functions, and how functions ask them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Self, TypeVar

from retrograd import _core
from retrograd._core import (
    Tensor,
    _get_function_stack_at,
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)
from retrograd._core import _get_overloaded_args as _get_overloaded_args
from retrograd._core import _handle_torch_function as handle_torch_function
from retrograd._core import _has_torch_function as has_torch_function
from retrograd._core import _has_torch_function_unary as has_torch_function_unary
from retrograd._core import _has_torch_function_variadic as has_torch_function_variadic
from retrograd._core import _is_torch_function_mode_enabled as _is_torch_function_mode_enabled

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


# ---- asking


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[_Function], _Function]:
    """A decorator of functions that ask first the objects that `dispatcher` picks from their arguments.

    >>> @rg.overrides.wrap_torch_function(lambda x: (x,))
    ... def double(x):
    ...     return 2 * x
    >>> double(rg.ones(1))
    tensor([2.])
    """

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def asking(*args: Any, **kwargs: Any) -> Any:
            relevant_args = dispatcher(*args, **kwargs)
            if has_torch_function(relevant_args):
                return handle_torch_function(asking, relevant_args, *args, **kwargs)
            return function(*args, **kwargs)

        return asking  # type: ignore[return-value]

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or has `__torch_function__`.

    >>> rg.overrides.is_tensor_like(rg.ones(1)), rg.overrides.is_tensor_like(1.0)
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# ---- switching it off


class _Switch:
    _state: int

    def __init__(self) -> None:
        self._before: list[int] = []

    def __enter__(self) -> Self:
        before = _core._torch_function_state()
        self._before.append(before)
        _core._set_torch_function_state(max(before, self._state))
        return self

    def __exit__(self, *error: object) -> None:
        _core._set_torch_function_state(self._before.pop())


class DisableTorchFunctionSubclass(_Switch):
    """A context in which arguments do not take over functions; modes still do.

    >>> class Named(rg.Tensor): pass
    >>> with rg.DisableTorchFunctionSubclass():
    ...     type(Named([1.0]) + 1).__name__
    'Tensor'
    """

    _state = 1


class DisableTorchFunction(_Switch):
    """A context in which nobody takes over functions, modes neither.

    >>> class Named(rg.Tensor): pass
    >>> with rg.DisableTorchFunction():
    ...     type(Named([1.0]) + 1).__name__
    'Tensor'
    """

    _state = 2


@contextmanager
def _enable_torch_function() -> Iterator[None]:
    before = _core._torch_function_state()
    _core._set_torch_function_state(0)
    try:
        yield
    finally:
        _core._set_torch_function_state(before)


# ---- modes


class TorchFunctionMode:
    """A context in which `__torch_function__` of the mode takes over every function, also those without tensors.

    Functions that the mode itself calls go to the next mode outside of it.

    >>> class Named(rg.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Named():
    ...     x = rg.ones(2).exp()
    ones
    exp
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError("a mode defines __torch_function__(self, func, types, args=(), kwargs=None)")

    def __enter__(self) -> Self:
        _push_mode(self)
        return self

    def __exit__(self, *error: object) -> None:
        _pop_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every function run as it is.

    >>> with rg.overrides.BaseTorchFunctionMode():
    ...     rg.ones(1)
    tensor([1.])
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _push_mode(mode: TorchFunctionMode) -> None:
    _push_on_torch_function_stack(mode)


def _pop_mode() -> Any:
    return _pop_torch_function_stack()


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_current_function_mode_stack() -> list[Any]:
    return [_get_function_stack_at(level) for level in range(_len_torch_function_stack())]


def _get_current_function_mode() -> Any:
    modes = _get_current_function_mode_stack()
    return modes[-1] if modes else None


# ---- the functions that ask

# Members of tensors that run without asking: what every object has, what makes objects, and what is never an op.
_SILENT_MEMBERS = (
    "__class__",
    "__del__",
    "__delattr__",
    "__delitem__",
    "__dir__",
    "__getattribute__",
    "__getstate__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__iter__",
    "__new__",
    "__setattr__",
    "__subclasshook__",
    "__torch_dispatch__",
    "__torch_function__",
    "_make_subclass",
    "_make_wrapper_subclass",
    "as_subclass",
)

# Functions of the package that take no tensors, or read settings and state.
_SILENT_FUNCTIONS = (
    "as_tensor",
    "asarray",
    "broadcast_shapes",
    "compile",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "get_default_dtype",
    "inference_mode",
    "is_tensor",
    "load",
    "manual_seed",
    "save",
    "sparse_coo_tensor",
    "sparse_csr_tensor",
    "tensor",
    "typename",
    "vmap",
)


@cache
def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """The functions whose results `Tensor.__torch_function__` leaves as they are: they return a tensor that is stored.

    >>> rg.Tensor.grad.__get__ in rg.overrides.get_default_nowrap_functions()
    True
    """
    members: Any = Tensor
    return {members._base.__get__, members.grad.__get__}


@cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Public functions that ask nobody.

    >>> rg.Tensor.as_subclass in rg.overrides.get_ignored_functions(), rg.add in rg.overrides.get_ignored_functions()
    (True, False)
    """
    import retrograd

    members = (getattr(Tensor, name) for name in _SILENT_MEMBERS if hasattr(Tensor, name))
    functions = (getattr(retrograd, name) for name in _SILENT_FUNCTIONS)
    asking = (has_torch_function, has_torch_function_unary, has_torch_function_variadic, handle_torch_function)
    return {*members, *functions, *_factories(), *asking}


def _factories() -> set[Callable[..., Any]]:
    """Ops without an operand: only modes are told of them."""
    import retrograd

    operands = ("Tensor", "Operand", "Tensors", "Varargs")
    names = [
        op["name"]
        for op in _core._roster()
        if op["module"] == "" and not any(kind in operands for params, *_ in op["entries"] for _, kind, *_ in params)
    ]
    return {getattr(retrograd, name) for name in names if hasattr(retrograd, name)}


def _namespaces() -> list[tuple[str, Any]]:
    import retrograd
    from retrograd import fft, linalg, nn, special

    return [
        ("retrograd", retrograd),
        ("retrograd.nn.functional", nn.functional),
        ("retrograd.nn.init", nn.init),
        ("retrograd.Tensor", Tensor),
        ("retrograd.linalg", linalg),
        ("retrograd.fft", fft),
        ("retrograd.special", special),
    ]


def _members() -> Iterator[tuple[str, Any]]:
    for name in dir(Tensor):
        member = getattr(Tensor, name)
        if getattr(object, name, None) != member and (callable(member) or inspect.isdatadescriptor(member)):
            yield name, member


def _functions(namespace: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in dir(namespace):
        member = getattr(namespace, name, None)
        if isinstance(member, FunctionType | BuiltinFunctionType) and not name.startswith("__"):
            yield name, member


@cache
def _overridable() -> tuple[dict[Any, list[Callable[..., Any]]], dict[Callable[..., Any], str]]:
    """The functions that ask, by where they are, and the names of these and others."""
    asking: dict[Any, list[Callable[..., Any]]] = {}
    names: dict[Callable[..., Any], str] = {}
    ignored = get_ignored_functions()
    for path, namespace in _namespaces():
        is_class = namespace is Tensor
        for name, member in _members() if is_class else _functions(namespace):
            if not callable(member):
                names[member.__get__] = f"{path}.{name}.__get__"
                names[member.__set__] = f"{path}.{name}.__set__"
                asking.setdefault(member, []).append(member.__get__)
                continue
            names.setdefault(member, f"{path}.{name}")
            is_public = is_class or not (name.startswith("_") or name.endswith("_"))
            if is_public and member not in ignored and _asks(member):
                asking.setdefault(namespace, []).append(member)
    return asking, names


def _asks(function: Any) -> bool:
    """Whether a function is an op, a member of tensors, or one in Python that asks."""
    if not isinstance(function, FunctionType):
        module = getattr(function, "__module__", None)
        return module is None or not isinstance(function, BuiltinFunctionType) or function in _ops()
    code = function.__code__
    return bool({"handle_torch_function", "_asked"} & set(code.co_names))


@cache
def _ops() -> set[Callable[..., Any]]:
    modules = [_core] + [module for name, module in vars(_core).items() if isinstance(module, ModuleType)]
    names = {op["name"] for op in _core._roster() if op["role"] == "Function"}
    return {member for module in modules for name, member in vars(module).items() if name in names}


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that ask, by the module or class that has them; a property is listed under itself.

    >>> functions = rg.overrides.get_overridable_functions()
    >>> rg.add in functions[rg], rg.Tensor.add in functions[rg.Tensor], rg.linalg.inv in functions[rg.linalg]
    (True, True, True)
    """
    return _overridable()[0]


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The full name of a function that `__torch_function__` is given; None for another one.

    >>> rg.overrides.resolve_name(rg.Tensor.add), rg.overrides.resolve_name(rg.Tensor.shape.__get__)
    ('retrograd.Tensor.add', 'retrograd.Tensor.shape.__get__')
    """
    return _overridable()[1].get(f)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function that `__torch_function__` is given is a member of tensors, with the tensor as first argument.

    >>> rg.overrides.is_tensor_method_or_property(rg.Tensor.add), rg.overrides.is_tensor_method_or_property(rg.add)
    (True, False)
    """
    return func.__name__ == "__get__" or func in _methods()


@cache
def _methods() -> set[Callable[..., Any]]:
    return set(get_overridable_functions()[Tensor])


@cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """For each function that asks one with the same parameters that returns -1: to test a `__torch_function__` with.

    >>> import inspect
    >>> inspect.signature(rg.overrides.get_testing_overrides()[rg.exp])
    <Signature (input, *, out=None)>
    """
    return {f: _dummy(f) for functions in get_overridable_functions().values() for f in functions}


def _dummy(function: Callable[..., Any]) -> Callable[..., Any]:
    def dummy(*args: Any, **kwargs: Any) -> int:
        return -1

    with suppress(ValueError):  # what a descriptor calls has none
        dummy.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return dummy
