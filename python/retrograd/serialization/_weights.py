"""Pickles of weights, read without running code from them, and written as torch would.

The reader is a loop over opcodes that makes tensors, containers and numbers, and nothing else: a pickle that asks for
another class or function is refused by its name, unless the user allowed it.
"""

from __future__ import annotations

import pickletools
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pickle import UnpicklingError
from typing import Any, NamedTuple, TypeVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd._core import device as Device
from retrograd._core import dtype as DType
from retrograd._size import Size
from retrograd.nn.parameter import Parameter
from retrograd.serialization._copy import restore
from retrograd.serialization._structure import attribute

STORAGES = {
    "BFloat16Storage": _core.bfloat16,
    "BoolStorage": _core.bool,
    "ByteStorage": _core.uint8,
    "CharStorage": _core.int8,
    "ComplexDoubleStorage": _core.complex128,
    "ComplexFloatStorage": _core.complex64,
    "DoubleStorage": _core.float64,
    "FloatStorage": _core.float32,
    "HalfStorage": _core.float16,
    "IntStorage": _core.int32,
    "LongStorage": _core.int64,
    "ShortStorage": _core.int16,
}
"""Names of typed storages in pickles."""

_SCALARS = (str, bytes, int, float, complex, bool, type(None), DType, Device)


class Kind(NamedTuple):
    """A class of storages: the dtype of their elements, or None for bytes."""

    dtype: DType | None


class Reference(NamedTuple):
    """A storage that a pickle refers to."""

    memory: Tensor
    dtype: DType | None


# ---- what the user allows

_allowed: dict[str, Any] = {}


def _name_of(thing: Any) -> str:
    name = f"{thing.__module__}.{thing.__qualname__}"
    return "torch" + name.removeprefix("retrograd") if name.startswith("retrograd.") else name


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Allow classes and functions in pickles that `load` reads with `weights_only=True`, the default.

    Args: `safe_globals` classes and functions, or pairs of one and the name by which a file calls it. A class is made
    without its `__init__`, and gets the attributes in the file; a function is called with the arguments in the file.

    >>> from fractions import Fraction
    >>> rg.serialization.add_safe_globals([Fraction])
    >>> rg.serialization.get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> rg.serialization.clear_safe_globals()
    """
    for item in safe_globals:
        thing, name = item if isinstance(item, tuple) else (item, _name_of(item))
        _allowed[name] = thing


def get_safe_globals() -> list[Any]:
    """The classes and functions that the user allowed: see `add_safe_globals`.

    >>> rg.serialization.get_safe_globals()
    []
    """
    return list(_allowed.values())


def clear_safe_globals() -> None:
    """Forget the classes and functions that the user allowed: see `add_safe_globals`.

    >>> rg.serialization.clear_safe_globals()
    """
    _allowed.clear()


@contextmanager
def safe_globals(safe_globals: Iterable[Any]) -> Iterator[None]:
    """Allow classes and functions, as `add_safe_globals` does, for a while.

    >>> from fractions import Fraction
    >>> with rg.serialization.safe_globals([Fraction]):
    ...     len(rg.serialization.get_safe_globals())
    1
    """
    before = dict(_allowed)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _allowed.clear()
        _allowed.update(before)


# ---- what pickles of weights may call


def _tensor_v2(
    storage: Reference,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool = False,
    hooks: Any = None,
    metadata: Mapping[str, bool] | None = None,
) -> Tensor:
    if storage.dtype is None:
        raise ValueError("a tensor without a dtype")
    return _tensor_v3(storage, offset, size, stride, requires_grad, hooks, storage.dtype, metadata)


def _tensor_v3(
    storage: Reference,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    hooks: Any,
    dtype: DType,
    metadata: Mapping[str, bool] | None = None,
) -> Tensor:
    tensor = _core._over_storage(storage.memory, dtype, _sizes(size), _sizes(stride), *_sizes([offset]))
    for bit in metadata or ():
        if bit == "conj":
            tensor = tensor.conj().detach()
        elif bit == "neg":
            tensor = -tensor
        else:
            raise ValueError(f"a tensor with the unknown bit {bit!r}")
    return tensor.requires_grad_() if requires_grad is True else tensor


def _sizes(items: Any) -> tuple[int, ...]:
    found = tuple(items)
    if any(type(n) is not int or n < 0 for n in found):
        raise ValueError(f"{found} instead of integers that are not negative")
    return found


def _tensor_v1(storage: Reference, offset: int, size: Any, stride: Any) -> Tensor:
    return _tensor_v2(storage, offset, size, stride)


def _parameter(data: Tensor, requires_grad: bool, hooks: Any = None) -> Parameter:
    return Parameter(data, requires_grad is True)


def _parameter_with_state(data: Tensor, requires_grad: bool, hooks: Any, state: Any) -> Parameter:
    return _with_attributes(_parameter(data, requires_grad), state)


def _from_type(make: Callable[..., Tensor], kind: type, args: tuple[Any, ...], state: Any) -> Tensor:
    tensor = make(*args)
    if kind is Parameter and type(tensor) is Tensor:
        tensor = Parameter(tensor.detach(), tensor.requires_grad)
    elif kind is not type(tensor):
        tensor = _core._make_subclass(kind, tensor.detach(), tensor.requires_grad)
    return _with_attributes(tensor, state)


_T = TypeVar("_T", bound=Tensor)


def _with_attributes(tensor: _T, state: Any) -> _T:
    for part in state if isinstance(state, tuple) else (state,):
        for name in part or ():
            attribute(name)
    restore(tensor, state)
    return tensor


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise ValueError(f"bytes in the encoding {encoding!r}")
    return text.encode("latin1")


def _bytearray(data: bytes | str = b"", encoding: str = "latin1") -> bytearray:
    return bytearray(_encode(data, encoding.replace("-", "")) if isinstance(data, str) else bytes(memoryview(data)))


def _set(items: Iterable[Any] = ()) -> set[Any]:
    return {_key(item) for item in items}


def _ordered(items: Iterable[Any] = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((_key(key), value) for key, value in items)


def _counter(counts: Mapping[Any, int] | None = None) -> Counter[Any]:
    return Counter({_key(key): count for key, count in (counts or {}).items()})


_CALLABLE: dict[str, Any] = {
    "_codecs.encode": _encode,
    "builtins.bytearray": _bytearray,
    "builtins.complex": complex,
    "builtins.set": _set,
    "collections.Counter": _counter,
    "collections.OrderedDict": _ordered,
    "torch.Size": Size,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter_with_state,
    "torch._utils._rebuild_tensor": _tensor_v1,
    "torch._utils._rebuild_tensor_v2": _tensor_v2,
    "torch._utils._rebuild_tensor_v3": _tensor_v3,
    "torch.device": Device,
}
_PLAIN: dict[str, Any] = {
    "collections.defaultdict": defaultdict,
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.storage.UntypedStorage": Kind(None),
    "builtins.dict": dict,
    "builtins.float": float,
    "builtins.int": int,
    "builtins.list": list,
    **{f"torch.{name}": Kind(dtype) for name, dtype in STORAGES.items()},
    **{f"torch.{name}": x for name, x in vars(_core).items() if isinstance(x, DType)},
}
_CALLS = set(map(id, _CALLABLE.values()))


def known(module: str, name: str) -> Any:
    """What a pickle of weights may mean by a global name.

    Raises: UnpicklingError for one that is not known, and that the user did not allow.
    """
    module = {"__builtin__": "builtins"}.get(module, module)
    full = f"{module}.{name}"
    for table in (_CALLABLE, _PLAIN, _allowed):
        if full in table:
            return table[full]
    raise UnpicklingError(
        f"Weights only load failed: Unsupported global: GLOBAL {full} was not an allowed global by default. Code of "
        "the file could run: if you trust where it comes from, allow the name with serialization.add_safe_globals, or "
        "pass weights_only=False"
    )


def found(module: str, name: str) -> Any:
    """What a trusted pickle means by a global name: torch's names are ours."""
    try:
        return known(module, name)
    except UnpicklingError:
        if module.partition(".")[0] == "torch":
            module = "retrograd" + module.removeprefix("torch")
        value: Any = import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
        return value


# ---- reading


def read(data: bytes, storage: Callable[[Any], Reference]) -> Any:
    """The object of a pickle of weights. `storage` finds what a persistent id refers to.

    Raises: UnpicklingError for names that are not known; ValueError for a pickle that makes no sense.
    """
    try:
        return _Machine(data, storage).run()
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError) as e:
        raise ValueError(f"{type(e).__name__}: {e}") from e


def _key(key: Any) -> Any:
    """Refuses keys whose hash could run long or deep."""
    if isinstance(key, _SCALARS) or (type(key) is tuple and all(isinstance(part, _SCALARS) for part in key)):
        return key
    raise ValueError(f"a key of type {type(key).__name__}")


class _Machine:
    """The stack of a pickle. Its opcodes are methods, by their names in `pickletools`."""

    def __init__(self, data: bytes, storage: Callable[[Any], Reference]) -> None:
        self.data, self.storage = data, storage
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        for opcode, argument, _ in pickletools.genops(self.data):
            name = opcode.name
            if name in _CONSTANTS:
                self.stack.append(_CONSTANTS[name])
            elif name in _LITERALS:
                self.stack.append(argument)
            elif name in _SILENT:
                continue
            elif name == "STOP":
                return self.stack.pop()
            else:
                step = getattr(self, name, None)
                if step is None:
                    raise UnpicklingError(f"Weights only load failed: Unsupported operand {name}")
                step(argument)
        raise ValueError("a pickle without an end")

    def MARK(self, _: Any) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def items(self) -> list[Any]:
        items = self.stack
        self.stack = self.marks.pop()
        return items

    def POP(self, _: Any) -> None:
        self.stack.pop()

    def EMPTY_DICT(self, _: Any) -> None:
        self.stack.append({})

    def EMPTY_LIST(self, _: Any) -> None:
        self.stack.append([])

    def EMPTY_SET(self, _: Any) -> None:
        self.stack.append(set())

    def EMPTY_TUPLE(self, _: Any) -> None:
        self.stack.append(())

    def TUPLE(self, _: Any) -> None:
        items = tuple(self.items())
        self.stack.append(items)

    def last(self, n: int) -> None:
        if len(self.stack) < n:
            raise ValueError("a stack without so many items")
        self.stack[-n:] = [tuple(self.stack[-n:])]

    def TUPLE1(self, _: Any) -> None:
        self.last(1)

    def TUPLE2(self, _: Any) -> None:
        self.last(2)

    def TUPLE3(self, _: Any) -> None:
        self.last(3)

    def FROZENSET(self, _: Any) -> None:
        items = frozenset(_key(item) for item in self.items())
        self.stack.append(items)

    def APPEND(self, _: Any) -> None:
        item = self.stack.pop()
        self.extend([item])

    def APPENDS(self, _: Any) -> None:
        items = self.items()
        self.extend(items)

    def extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            raise ValueError(f"items for a {type(target).__name__}")
        list.extend(target, items)

    def ADDITEMS(self, _: Any) -> None:
        items = self.items()
        target = self.stack[-1]
        if type(target) is not set:
            raise ValueError(f"items for a {type(target).__name__}")
        target.update(map(_key, items))

    def SETITEM(self, _: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.put([key, value])

    def SETITEMS(self, _: Any) -> None:
        items = self.items()
        self.put(items)

    def put(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict):
            raise ValueError(f"keys for a {type(target).__name__}")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[_key(key)] = value

    def BINPUT(self, index: int) -> None:
        self.memo[index] = self.stack[-1]

    LONG_BINPUT = BINPUT

    def MEMOIZE(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def BINGET(self, index: int) -> None:
        self.stack.append(self.memo[index])

    LONG_BINGET = BINGET

    def GLOBAL(self, names: str) -> None:
        self.stack.append(known(*names.split(" ", 1)))

    def STACK_GLOBAL(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise ValueError("a name that is no string")
        self.stack.append(known(module, name))

    def BINPERSID(self, _: Any) -> None:
        self.stack.append(self.storage(self.stack.pop()))

    def REDUCE(self, _: Any) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if type(arguments) is not tuple:
            raise ValueError("arguments that are no tuple")
        if id(function) in _CALLS or any(function is allowed for allowed in _allowed.values()):
            self.stack.append(function(*arguments))
        elif function is defaultdict and len(arguments) <= 1 and all(kind in _DEFAULTS for kind in arguments):
            self.stack.append(defaultdict(*arguments))
        else:
            raise UnpicklingError(
                f"Weights only load failed: Trying to call reduce for unrecognized function {function}"
            )

    def NEWOBJ(self, _: Any) -> None:
        arguments, kind = self.stack.pop(), self.stack.pop()
        if type(arguments) is not tuple or not isinstance(kind, type):
            raise ValueError("an object of no class")
        if not any(kind is allowed for allowed in _allowed.values()):
            raise UnpicklingError(f"Weights only load failed: Can not create new object for {kind}")
        self.stack.append(kind.__new__(kind, *arguments))

    def BUILD(self, _: Any) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, Tensor):
            _with_attributes(target, state)
        elif type(target) is OrderedDict:
            vars(target).update(_strings(state))
        elif any(type(target) is allowed for allowed in _allowed.values()):
            if hasattr(target, "__setstate__"):
                target.__setstate__(state)
            else:
                vars(target).update(_strings(state))
        else:
            raise UnpicklingError(
                f"Weights only load failed: Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {type(target)}"
            )


def _strings(state: Any) -> dict[str, Any]:
    if type(state) is not dict or any(type(name) is not str or name.startswith("__") for name in state):
        raise ValueError("a state that is no dict of attributes")
    return state


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = {
    "BINBYTES",
    "BINBYTES8",
    "BINFLOAT",
    "BININT",
    "BININT1",
    "BININT2",
    "BINUNICODE",
    "BINUNICODE8",
    "LONG1",
    "LONG4",
    "SHORT_BINBYTES",
    "SHORT_BINUNICODE",
}
_SILENT = {"FRAME", "PROTO"}
_DEFAULTS = (None, dict, float, int, list)
