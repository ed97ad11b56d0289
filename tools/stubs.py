"""Writes the type stubs of `retrograd._core` from the built module; `--check` compares instead.

    python tools/stubs.py [--check]

Ops come from the roster. What the extension writes by hand (the members of `Tensor` that are no ops, and a few
functions) gets its types from the tables below; a name that is missing there is an error.
"""

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from retrograd import _core

FOLDER = Path(__file__).parents[1] / "python" / "retrograd" / "_core"

HEAD = """# Written by tools/stubs.py from the built module: run `make stubs` after a change of signatures.
# ruff: noqa
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self, TypeAlias, overload

"""

KINDS = {
    "Tensor": "Tensor",
    "Operand": "Tensor | Number",
    "Scalar": "Number",
    "Bool": "bool",
    "Int": "int",
    "Float": "float",
    "Ints": "int | Sequence[int]",
    "Size": "int | Sequence[int]",
    "Tensors": "Sequence[Tensor]",
    "DType": "dtype | type",
    "Str": "str",
    "Generator": "Generator",
    "Device": "device | str",
}

RETURNS = {
    "Result<Tensor>": "Tensor",
    "Result<Vec<Tensor>>": "tuple[Tensor, ...]",
    "Result<(Tensor,Tensor)>": "tuple[Tensor, Tensor]",
    "Result<bool>": "bool",
    "Result<i64>": "int",
    "Result<Scalar>": "Number",
}

BINARY = "add radd sub rsub mul rmul truediv rtruediv matmul pow rpow and rand or ror xor rxor"
BINARY += " eq ne lt le gt ge mod rmod floordiv rfloordiv"
INPLACE = "iadd isub imul itruediv ipow iand ior ixor"

# Members of Tensor that are no ops: "property: type" or the signature after the name.
TENSOR = {
    "shape": "property: Any",
    "dtype": "property: dtype",
    "device": "property: device",
    "ndim": "property: int",
    "itemsize": "property: int",
    "nbytes": "property: int",
    "is_cpu": "property: bool",
    "is_cuda": "property: bool",
    "is_sparse": "property: bool",
    "T": "property: Tensor",
    "mT": "property: Tensor",
    "requires_grad": "attribute: bool",
    "is_leaf": "property: bool",
    "retains_grad": "property: bool",
    "output_nr": "property: int",
    "grad_fn": "property: Any",
    "grad": "attribute: Tensor | None",
    "grad_dtype": "attribute: dtype | None",
    "data": "attribute: Tensor",
    "_version": "property: int",
    "_base": "property: Tensor | None",
    "size": "(self, dim: int | None = None) -> Any",
    "stride": "(self, dim: int | None = None) -> Any",
    "dim": "(self) -> int",
    "ndimension": "(self) -> int",
    "numel": "(self) -> int",
    "nelement": "(self) -> int",
    "storage_offset": "(self) -> int",
    "data_ptr": "(self) -> int",
    "element_size": "(self) -> int",
    "is_contiguous": "(self, memory_format: Any = None) -> bool",
    "is_floating_point": "(self) -> bool",
    "is_complex": "(self) -> bool",
    "is_inference": "(self) -> bool",
    "requires_grad_": "(self, requires_grad: bool = True) -> Self",
    "retain_grad": "(self) -> None",
    "_is_view": "(self) -> bool",
    "detach_": "(self) -> Self",
    "backward": "(self, gradient: Tensor | None = None, retain_graph: bool | None = None, "
    "create_graph: bool = False, inputs: Any = None) -> None",
    "register_hook": "(self, hook: Callable[[Tensor], Any]) -> RemovableHandle",
    "register_post_accumulate_grad_hook": "(self, hook: Callable[[Tensor], None]) -> RemovableHandle",
    "item": "(self) -> Any",
    "tolist": "(self) -> Any",
    "numpy": "(self, *, force: bool = False) -> Any",
    "new_tensor": "(self, data: Any, *, dtype: dtype | None = None, device: device | str | None = None, "
    "requires_grad: bool = False) -> Tensor",
    "__array__": "(self, dtype: Any = None, copy: bool | None = None) -> Any",
    "__len__": "(self) -> int",
    "__iter__": "(self) -> Iterator[Tensor]",
    "__bool__": "(self) -> bool",
    "__float__": "(self) -> float",
    "__int__": "(self) -> int",
    "__index__": "(self) -> int",
    "__complex__": "(self) -> complex",
    "__contains__": "(self, element: Any, /) -> bool",
    "__format__": "(self, spec: str, /) -> str",
    "__getitem__": "(self, key: Any, /) -> Tensor",
    "__setitem__": "(self, key: Any, value: Any, /) -> None",
    "__neg__": "(self) -> Tensor",
    "__pos__": "(self) -> Tensor",
    "__abs__": "(self) -> Tensor",
    "__invert__": "(self) -> Tensor",
    "__hash__": "(self) -> int",
    "__new__": "(cls, data: Any = None) -> Self",
    "__deepcopy__": "(self, memo: dict[int, Any], /) -> Tensor",
    "__reduce__": "(self) -> tuple[Any, ...]",
    "__reduce_ex__": "(self, protocol: int, /) -> tuple[Any, ...]",
    **{f"__{n}__": "(self, other: Any, /) -> Tensor" for n in BINARY.split()},
    **{f"__{n}__": "(self, other: Any, /) -> Self" for n in INPLACE.split()},
}
SKIPPED = {
    "__doc__",
    "__module__",
    "__repr__",
    "__str__",
    "__buffer__",
    "__release_buffer__",
    "__weakref__",
    "__dict__",
}

# Classes with members of their own, written out.
CLASSES = """class dtype:
    itemsize: int
    is_floating_point: bool
    is_complex: bool
    is_signed: bool

class device:
    type: str
    index: int | None
    def __new__(cls, type: Any = "cpu", index: int | None = None) -> Self: ...

class Generator:
    def __new__(cls, device: str = "cpu") -> Self: ...
    def manual_seed(self, seed: int) -> Self: ...
    def initial_seed(self) -> int: ...
    def get_state(self) -> Tensor: ...
    def set_state(self, new_state: Tensor) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

class RemovableHandle:
    id: int
    def remove(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...

class Node:
    next_functions: tuple[tuple[Any, int], ...]
    metadata: dict[Any, Any]
    requires_grad: bool
    def name(self) -> str: ...
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle: ...
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle: ...
    def __call__(self, *grads: Tensor | None) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

"""


def parameter(name: str, kind: str, optional: bool, default: str | None) -> str:
    typed = KINDS[kind] + (" | None" if optional else "")
    return f"{name}: {typed}" + (f" = {default}" if default is not None else "")


def signatures(callable_: dict[str, Any]) -> Iterator[str]:
    """One `(...) -> ...` per overload."""
    method = callable_["role"] != "Function"
    for params, fields, out, returns in callable_["entries"]:
        result = RETURNS[returns]
        if fields and result == "tuple[Tensor, Tensor]":
            result = f"_{'_'.join(fields)}"
        spread = any(kind == "Size" for _, kind, *_ in params)
        for variadic in (False, True) if spread else (False,):
            parts: list[str] = []
            starred = False
            for i, (name, kind, optional, default, keyword) in enumerate(params):
                if i == 0 and method:
                    parts.append("self")
                    continue
                if kind == "Size" and variadic:
                    parts.append(f"*{name}: int")
                    starred = True
                    continue
                if keyword and not starred:
                    parts.append("*")
                    starred = True
                parts.append(parameter(name, kind, optional, default))
            if out:
                parts += ([] if starred else ["*"]) + ["out: Any = None"]
            yield f"({', '.join(parts)}) -> {result}"


def definitions(callable_: dict[str, Any], indent: str = "") -> Iterator[str]:
    forms = list(signatures(callable_))
    for form in forms:
        if len(forms) > 1:
            yield f"{indent}@overload"
        yield f"{indent}def {callable_['name']}{form}: ..."


def tensor_members(methods: list[dict[str, Any]]) -> Iterator[str]:
    ops = {m["name"] for m in methods}
    for name in sorted(vars(_core.Tensor)):
        if name in ops or name in SKIPPED:
            continue
        form = TENSOR.get(name)
        if form is None:
            sys.exit(f"tools/stubs.py: Tensor.{name} has no type in TENSOR")
        if form.startswith("property: "):
            yield "    @property"
            yield f"    def {name}(self) -> {form[10:]}: ..."
        elif form.startswith("attribute: "):
            yield f"    {name}: {form[11:]}"
        else:
            ignore = "  # type: ignore[override]" if name in {"__eq__", "__ne__"} else ""
            yield f"    def {name}{form}: ...{ignore}"
    for m in sorted(methods, key=lambda m: m["name"]):
        yield from definitions(m, "    ")


def functions_by_hand(known: set[str]) -> Iterator[str]:
    for name, value in sorted(vars(_core).items()):
        if name.startswith("__") or name in known or inspect.ismodule(value):
            continue
        if isinstance(value, type):
            if f"class {name}" not in CLASSES and name != "Tensor":
                yield f"class {name}:"
                yield "    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ..."
                yield "    def __getattr__(self, name: str) -> Any: ..."
        elif isinstance(value, _core.dtype):
            yield f"{name}: dtype"
        elif callable(value):
            yield f"def {name}(*args: Any, **kwargs: Any) -> Any: ..."
        else:
            yield f"{name}: {type(value).__name__}"


def stubs() -> dict[str, str]:
    roster = _core._roster()
    top = [c for c in roster if c["role"] == "Function" and not c["module"]]
    functional = [c for c in roster if c["module"] == "nn.functional"]
    methods = [c for c in roster if c["role"] != "Function"]
    named = {tuple(e[1]) for c in roster for e in c["entries"] if e[1]}
    lines = [HEAD, "Number: TypeAlias = int | float | complex | bool", "", CLASSES]
    for fields in sorted(named):
        lines += [f"class _{'_'.join(fields)}(NamedTuple):", *[f"    {f}: Tensor" for f in fields], ""]
    lines += ["class Tensor:", *tensor_members(methods), ""]
    lines += list(functions_by_hand({c["name"] for c in top}))
    for c in sorted(top, key=lambda c: c["name"]):
        lines += definitions(c)
    nn = [HEAD, "from . import Generator, Number, Tensor, device, dtype", ""]
    for c in sorted(functional, key=lambda c: c["name"]):
        nn += definitions(c)
    return {"__init__.pyi": "\n".join(lines) + "\n", "nn_functional.pyi": "\n".join(nn) + "\n"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the stubs differ from the built module")
    check = parser.parse_args().check
    for name, text in stubs().items():
        path = FOLDER / name
        if check:
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path.name} is not what the built module has: run `make stubs`")
        else:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main()
