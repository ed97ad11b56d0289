"""Ops by namespace and name, `ops.namespace.name`: custom ops, and in `ops.aten` those of the package.

An op of `aten` has overloads, by which torch's dispatcher tells calls with different arguments apart. They are names
here: what policies of selective checkpoints are asked about.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NoReturn

from retrograd import _core
from retrograd._core import Tensor
from retrograd.library._custom_op import _ops

# ---- ops of the package

# What torch runs for an op, where that has another name or overload: where it runs several, the one that computes.
_RUN_AS = {
    "_to_copy.default": "to double float half bfloat16 bool byte char short int long type",
    "clone.default": "contiguous",
    "convolution.default": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    "constant_pad_nd.default": "pad",
    "div.Tensor": "div true_divide divide",
    "hardtanh.default": "relu6",
    "im2col.default": "unfold",
    "linalg_vector_norm.default": "norm linalg_norm linalg_vector_norm",
    "_log_softmax.default": "log_softmax",
    "max_pool2d_with_indices.default": "max_pool2d",
    "add.Tensor": "add",
    "mul.Tensor": "mul multiply",
    "native_batch_norm.default": "batch_norm",
    "native_group_norm.default": "group_norm",
    "native_layer_norm.default": "layer_norm",
    "pow.Tensor_Scalar": "square",
    "rsub.Scalar": "rsub",
    "_scaled_dot_product_flash_attention_for_cpu.default": "scaled_dot_product_attention",
    "select.int": "select",
    "slice.Tensor": "narrow",
    "_softmax.default": "softmax",
    "split.Tensor": "split chunk",
    "std.correction": "std",
    "sub.Tensor": "sub subtract",
    "transpose.int": "transpose mT swapaxes swapdims",
    "unbind.int": "unbind",
    "var.correction": "var",
    "view.default": "reshape flatten unflatten view_as",
    "where.self": "where",
}
_ALIASES = {op: overload for overload, ops in _RUN_AS.items() for op in ops.split()}

# Whose overload says whether the last operand is a tensor or a number.
_TENSOR_OR_SCALAR = frozenset(["eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod", "masked_fill", "lerp"])
# The overload with an axis, where the one without is the default.
_ALONG = {"sum": "dim_IntList", "mean": "dim", "max": "dim", "min": "dim", "prod": "dim_int", "squeeze": "dim"}
# Whose operands decide what it is.
_BY_SHAPES = ("matmul", "linear")
# What torch runs on other devices: nothing here is ever one of them, and lists of ops name them.
_ELSEWHERE = frozenset(
    [
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_flash_attention",
        "_scaled_mm",
    ]
)


# Modules whose ops have names in torch's dispatcher that begin with that of the module.
_PREFIXES = {"": "", "nn.functional": "", "fft": "fft_", "linalg": "linalg_", "special": "special_"}
# The names of operators, where they are others than Python has between the underscores.
_OPERATORS = {
    "__getitem__": "index",
    "__setitem__": "index_put_",
    "__rfloordiv__": "floor_divide",
    "__rmod__": "remainder",
    "__rpow__": "pow",
    "__rtruediv__": "div",
    "__mod__": "remainder",
    "__truediv__": "div",
    "__floordiv__": "floor_divide",
}


@cache
def _roster() -> dict[str, tuple[str, str]]:
    """By their names in torch's dispatcher, the modules and names of the functions and methods of the package."""
    found: dict[str, tuple[str, str]] = {}
    for op in sorted(_core._roster(), key=lambda op: len(op["module"])):  # those of no module first
        module, name = op["module"], op["name"]
        if module in _PREFIXES:
            found.setdefault(_PREFIXES[module] + name, (module, name))
    return found


@cache
def _dispatched() -> frozenset[str]:
    """The names that ops are called by in torch's dispatcher, without their overloads."""
    named = {overload.partition(".")[0] for overload in _RUN_AS}
    return frozenset(named | _ELSEWHERE | {"addmm", "bmm", "dot", "index", "mm", "mv", "pow", "slice"})


def op_of(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> OpOverload | None:
    """What torch's dispatcher would call for a call of a function or method; None if that is no op."""
    name = getattr(function, "__name__", "")
    if hasattr(function, "__code__"):
        return None
    if name.startswith("__"):  # an operator that is no method
        args = args[::-1] if name.startswith("__r") else args
        name = _OPERATORS.get(name, name.strip("_"))
    module = getattr(function, "__module__", None) or ""
    name = _PREFIXES.get(module.rpartition("._")[2], "") + name
    if name == "index":
        key = args[1] if isinstance(args[1], tuple) else (args[1],)
        by_tensor = any(isinstance(part, Tensor | list) for part in key)
        by_int = any(type(part) is int for part in key)
        return _overload("index.Tensor" if by_tensor else "select.int" if by_int else "slice.Tensor")
    if name in _ALIASES:
        return _overload(_ALIASES[name])
    return _overload(_by_operands(name, args, kwargs)) if name in _roster() else None


def _by_operands(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """The name and overload of an op whose operands decide it."""
    if name in _BY_SHAPES:
        a, b = (x.dim() for x in (*args, *(kwargs[k] for k in ("other", "weight") if k in kwargs))[:2])
        bias = args[2] if len(args) > 2 else kwargs.get("bias")
        if name == "linear" and a > 1:
            return "mm.default" if bias is None else "addmm.default"
        if min(a, b) > 2:
            return "bmm.default"
        return "dot.default" if a == b == 1 else "mv.default" if b == 1 or name == "linear" else "mm.default"
    if name == "pow":
        a, b = (isinstance(x, Tensor) for x in (*args, kwargs.get("exponent"))[:2])
        return "pow.Tensor_Tensor" if a and b else "pow.Tensor_Scalar" if a else "pow.Scalar"
    if name in _TENSOR_OR_SCALAR:
        last = args[-1] if len(args) > 1 else next(iter(kwargs.values()), None)
        return f"{name}.{'Tensor' if isinstance(last, Tensor) else 'Scalar'}"
    if name in _ALONG and (len(args) > 1 or kwargs.get("dim") is not None):
        return f"{name}.{_ALONG[name]}"
    return f"{name}.default"


@cache
def _overload(path: str) -> OpOverload:
    name, _, overload = path.partition(".")
    found: OpOverload = getattr(_packet(name), overload)
    return found


@cache
def _packet(name: str) -> OpOverloadPacket:
    return OpOverloadPacket(name)


class OpOverloadPacket:
    """An op of `aten`: its attributes are its overloads, and a call is one of the function or method of its name.

    >>> rg.ops.aten.mm, rg.ops.aten.mm.default
    (<OpOverloadPacket(op='aten.mm')>, <OpOverload(op='aten.mm', overload='default')>)
    >>> rg.ops.aten.neg(rg.ones(1))
    tensor([-1.])
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._overloads: dict[str, OpOverload] = {}

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(f"'OpOverloadPacket' object has no attribute {overload!r}")
        return self._overloads.setdefault(overload, OpOverload(self, overload))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function()(*args, **kwargs)

    def _function(self) -> Callable[..., Any]:
        import retrograd

        module, name = _roster().get(self.__name__, ("", ""))
        for place in (functools.reduce(getattr, filter(None, module.split(".")), retrograd), Tensor):
            if callable(found := getattr(place, name, None)):
                return found  # type: ignore[no-any-return]
        raise NotImplementedError(
            f"ops.aten.{self.__name__} is a name alone, of what functions run in torch: call the function"
        )

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"

    def __str__(self) -> str:
        return f"aten.{self.__name__}"


class OpOverload:
    """An op of `aten` with the kinds of its arguments; a call is one of the op.

    >>> str(rg.ops.aten.add.Tensor), rg.ops.aten.add.Tensor.overloadpacket is rg.ops.aten.add
    ('aten.add.Tensor', True)
    """

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket = packet
        self._overloadname = overload
        self.__name__ = f"{packet.__name__}.{overload}"
        self.namespace = "aten"

    def name(self) -> str:
        """The name of old, `aten::add.Tensor`."""
        suffix = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"aten::{self.overloadpacket.__name__}{suffix}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"


# ---- namespaces


class _OpNamespace:
    """The ops of one namespace."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        found = _ops.get(self.name, {}).get(name)
        if found is not None:
            return found
        if self.name == "aten" and (name in _roster() or name in _dispatched()):
            return _packet(name)
        raise AttributeError(f"'_OpNamespace' {self.name!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*_ops.get(self.name, {}), *(_roster() if self.name == "aten" else ())})


class _Ops:
    """Namespaces of ops."""

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(f"'_Ops' object has no attribute {name!r}")
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def load_library(self, path: Any) -> NoReturn:
        """Refused: a library of C++ registers its ops with torch."""
        raise NotImplementedError("ops.load_library: a library of C++ registers its ops with torch; write a custom_op")


ops = _Ops()
