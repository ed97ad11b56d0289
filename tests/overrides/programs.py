"""Short programs, for torch and for retrograd, and what a logging subclass, a duck and a mode are told of each.

`tools/overrides.py` writes torch's answers to `calls.json`.
"""

import copy
import operator
import pickle
import warnings
from collections.abc import Callable
from typing import Any

BINARY = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
]
IN_PLACE = [
    "iadd",
    "isub",
    "imul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "iand",
    "ior",
    "ixor",
    "ilshift",
    "irshift",
    "imatmul",
]
UNARY = ["neg", "pos", "abs", "invert"]
SHIFTS = ("lshift", "rshift", "ilshift", "irshift")
OF_INTEGERS = ("and_", "or_", "xor", "iand", "ior", "ixor", "invert", *SHIFTS)

# Programs of a matrix of the logging class `x`, a number of it `s`, a plain matrix `t` and a duck `d`.
MEMBERS: dict[str, Callable[..., object]] = {
    "len": lambda rg, x, s, t, d: len(x),
    "bool": lambda rg, x, s, t, d: bool(s),
    "int": lambda rg, x, s, t, d: int(s),
    "float": lambda rg, x, s, t, d: float(s),
    "complex": lambda rg, x, s, t, d: complex(s),
    "index": lambda rg, x, s, t, d: operator.index(s),
    "x[0]": lambda rg, x, s, t, d: x[0],
    "t[s]": lambda rg, x, s, t, d: t[s],
    "t[[s, s]]": lambda rg, x, s, t, d: t[[s, s]],
    "t[s, None]": lambda rg, x, s, t, d: t[s, None],
    "t[d]": lambda rg, x, s, t, d: t[d],
    "x[0] = 1": lambda rg, x, s, t, d: operator.setitem(x, 0, 1.0),
    "t[0] = s": lambda rg, x, s, t, d: operator.setitem(t, 0, s),
    "t[0] = d": lambda rg, x, s, t, d: operator.setitem(t, 0, d),
    "1 in x": lambda rg, x, s, t, d: 1.0 in x,
    "reversed": lambda rg, x, s, t, d: reversed(x),
    "repr": lambda rg, x, s, t, d: repr(x),
    "format": lambda rg, x, s, t, d: f"{x}",
    "hash": lambda rg, x, s, t, d: hash(x),
    "copy": lambda rg, x, s, t, d: copy.copy(x),
    "dumps": lambda rg, x, s, t, d: pickle.dumps(x),
    "tolist": lambda rg, x, s, t, d: x.tolist(),
    "item": lambda rg, x, s, t, d: s.item(),
    "numpy": lambda rg, x, s, t, d: x.numpy(),
    "x.grad = None": lambda rg, x, s, t, d: setattr(x, "grad", None),
    "x.requires_grad = True": lambda rg, x, s, t, d: setattr(x, "requires_grad", True),
    "new_tensor": lambda rg, x, s, t, d: x.new_tensor([1]),
    "new_zeros": lambda rg, x, s, t, d: x.new_zeros(2),
    "as_subclass": lambda rg, x, s, t, d: x.as_subclass(rg.Tensor),
    "detach": lambda rg, x, s, t, d: x.detach(),
    "clone": lambda rg, x, s, t, d: x.clone(),
    "requires_grad_": lambda rg, x, s, t, d: x.requires_grad_(),
    "size": lambda rg, x, s, t, d: x.size(),
    "dim": lambda rg, x, s, t, d: x.dim(),
    "stride": lambda rg, x, s, t, d: x.stride(),
    "type": lambda rg, x, s, t, d: x.type(),
    "to": lambda rg, x, s, t, d: x.to(rg.float64),
    "max": lambda rg, x, s, t, d: x.max(0),
    "split": lambda rg, x, s, t, d: x.split(1),
    "t.add(d)": lambda rg, x, s, t, d: t.add(d),
    "t.sum(d)": lambda rg, x, s, t, d: t.sum(d),
    **{
        name: (lambda rg, x, s, t, d, name=name: getattr(x, name))
        for name in [
            "dtype",
            "device",
            "data",
            "T",
            "mT",
            "grad_fn",
            "grad",
            "is_leaf",
            "shape",
            "_version",
            "_base",
            "layout",
            "ndim",
            "requires_grad",
        ]
    },
}

FUNCTIONS: dict[str, Callable[..., object]] = {
    "tensor": lambda rg, x, s, t, d: rg.tensor(s),
    "as_tensor": lambda rg, x, s, t, d: rg.as_tensor(x),
    "Tensor": lambda rg, x, s, t, d: rg.Tensor(x),
    "is_tensor": lambda rg, x, s, t, d: rg.is_tensor(x),
    "numel": lambda rg, x, s, t, d: rg.numel(x),
    "is_floating_point": lambda rg, x, s, t, d: rg.is_floating_point(d),
    "cat": lambda rg, x, s, t, d: rg.cat([t, x]),
    "cat ducks": lambda rg, x, s, t, d: rg.cat([t, d]),
    "cat of a duck": lambda rg, x, s, t, d: rg.cat(d),
    "stack": lambda rg, x, s, t, d: rg.stack((t, x)),
    "out": lambda rg, x, s, t, d: rg.add(t, t, out=x),
    "keywords": lambda rg, x, s, t, d: rg.add(input=t, other=x, alpha=2),
    "einsum": lambda rg, x, s, t, d: rg.einsum("ij->i", x),
    "einsum of a duck": lambda rg, x, s, t, d: rg.einsum("ij,ij->i", t, d),
    "tensordot": lambda rg, x, s, t, d: rg.tensordot(t, d),
    "relu": lambda rg, x, s, t, d: rg.nn.functional.relu(x),
    "linear": lambda rg, x, s, t, d: rg.nn.functional.linear(t, x),
    "normal_": lambda rg, x, s, t, d: rg.nn.init.normal_(x),
    "isnan": lambda rg, x, s, t, d: rg.isnan(d),
    "mean": lambda rg, x, s, t, d: rg.mean(d),
    "zeros": lambda rg, x, s, t, d: rg.zeros(d),
    "where": lambda rg, x, s, t, d: rg.where(t > 0, t, d),
    "inv": lambda rg, x, s, t, d: rg.linalg.inv(x + rg.eye(2)),
    "fft": lambda rg, x, s, t, d: rg.fft.fft(x),
    "gammaln": lambda rg, x, s, t, d: rg.special.gammaln(d),
    "ones_like": lambda rg, x, s, t, d: rg.ones_like(x),
    "allclose": lambda rg, x, s, t, d: rg.allclose(t, x),
    "autograd.grad": lambda rg, x, s, t, d: rg.autograd.grad((y := x.requires_grad_()).sum(), y),
    "backward": lambda rg, x, s, t, d: x.requires_grad_().sum().backward(),
}

# Programs of a plain matrix under a mode.
MODES: dict[str, Callable[..., object]] = {
    "ones": lambda rg, t: rg.ones(2),
    "tensor": lambda rg, t: rg.tensor([1]),
    "arange": lambda rg, t: rg.arange(3),
    "as_tensor": lambda rg, t: rg.as_tensor([1]),
    "asarray": lambda rg, t: rg.asarray([1]),
    "from_numpy": lambda rg, t: rg.from_numpy(t.numpy()),
    "Tensor": lambda rg, t: rg.Tensor(2),
    "add": lambda rg, t: t + t,
    "eq": lambda rg, t: t == t,
    "iadd": lambda rg, t: operator.iadd(t, 1),
    "shape": lambda rg, t: t.shape,
    "T": lambda rg, t: t.T,
    "repr": lambda rg, t: repr(t),
    "len": lambda rg, t: len(t),
    "x[0] = 1": lambda rg, t: operator.setitem(t, 0, 1),
    "fill_": lambda rg, t: t.fill_(2),
    "new_zeros": lambda rg, t: t.new_zeros(2),
    "empty_like": lambda rg, t: rg.empty_like(t),
    "sparse": lambda rg, t: rg.sparse_coo_tensor([[0]], [1.0]),
    "manual_seed": lambda rg, t: rg.manual_seed(1),
    "default dtype": lambda rg, t: rg.get_default_dtype(),
    "is_grad_enabled": lambda rg, t: rg.is_grad_enabled(),
    "hash": lambda rg, t: hash(t),
    "einsum": lambda rg, t: rg.einsum("ij->i", t),
}


def told(rg: Any) -> dict[str, Any]:
    """For each program the kind of its result, and the functions that were told, with the kinds of their tensors."""
    log: list[tuple[Any, Any]] = []

    class Logging(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append((func, (*args, *(kwargs or {}).values())))
            return super().__torch_function__(func, types, args, kwargs)

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append((func, (*args, *(kwargs or {}).values())))
            return cls()

    class Mode(rg.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append((func, (*args, *(kwargs or {}).values())))
            return func(*args, **(kwargs or {}))

    def kinds(args: Any) -> list[str]:
        return [type(a).__name__ for a in args if isinstance(a, rg.Tensor | Duck)]

    def name(func: Any) -> str:
        found = rg.overrides.resolve_name(func)
        if found is None:
            found = getattr(func, "__name__", "?")
        return (
            str(found)
            .replace("torch.", "")
            .replace("retrograd.", "")
            .replace("functional.einsum", "einsum")
            .replace("functional.tensordot", "tensordot")
        )

    def run(program: Callable[[], object]) -> list[Any]:
        log.clear()
        with warnings.catch_warnings(action="ignore"):
            try:
                result = type(program()).__name__
            except (TypeError, RuntimeError, ValueError, IndexError, AttributeError, pickle.PicklingError) as error:
                result = type(error).__name__
        return [result, [[name(func), kinds(args)] for func, args in log]]

    def operands(op: str) -> tuple[Any, Any]:
        plain = rg.ones(2, 2, dtype=rg.int64 if op in OF_INTEGERS else rg.float32)
        return plain, plain.clone().as_subclass(Logging)

    answers: dict[str, Any] = {}
    for op in BINARY + IN_PLACE:
        f = getattr(operator, op)
        for form, a, b in (
            ("x, x", 1, 1), ("t, x", 0, 1), ("x, 2", 1, 2), ("2, x", 2, 1), ("t, d", 0, 3), ("d, t", 3, 0)
        ):  # fmt: skip
            given = (*operands(op), 2, Duck())
            answers[f"{op}({form})"] = run(lambda f=f, a=given[a], b=given[b]: f(a, b))
    for op in UNARY:
        f, x = getattr(operator, op), operands(op)[1]
        answers[f"{op}(x)"] = run(lambda f=f, x=x: f(x))
    for program_name, program in (MEMBERS | FUNCTIONS).items():
        x, s = rg.ones(2, 2).as_subclass(Logging), rg.tensor(1).as_subclass(Logging)
        answers[program_name] = run(lambda p=program, x=x, s=s: p(rg, x, s, rg.ones(2, 2), Duck()))
    for program_name, program in MODES.items():
        t = rg.ones(2, 2)

        def under_mode(p=program, t=t):
            with Mode():
                return p(rg, t)

        answers[f"{program_name}, under a mode"] = run(under_mode)
    return answers
