"""Writes the type stubs of `retrograd._core`; with `--check` it compares them instead.

    python tools/stubs.py [--check]

Ops come from the roster of the built module. What the extension writes by hand has its types in `tools/core.pyi`: a
member of the module that is missing there, or that is there only, is an error.
"""

import argparse
import ast
import keyword
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from retrograd import _core

HERE = Path(__file__).parent
FOLDER = HERE.parent / "python" / "retrograd" / "_core"
BY_HAND = HERE / "core.pyi"
HEAD = "# Written by tools/stubs.py from the built module and tools/core.pyi; after a change of either: make stubs.\n"
WIDTH = 120  # ruff's line-length

KINDS = {
    "Tensor": "Tensor",
    "Operand": "Tensor | _Number",
    "Scalar": "_Number",
    "Bool": "_bool",
    "Int": "_int",
    "Float": "_float",
    "Ints": "_int | Sequence[_int]",
    "Size": "_int | Sequence[_int]",
    "OpenInts": "_int | Sequence[_int | None]",
    "Floats": "_float | Sequence[_float]",
    "Tensors": "Sequence[Tensor]",
    "Varargs": "Sequence[Tensor]",
    "DType": "_DType",
    "Str": "str",
    "Generator": "Generator",
    "Device": "_Device",
    "Layout": "_layout",
    "MemoryFormat": "memory_format",
}

# What may be given as separate arguments, too.
SEPARATE = {"Size": "_int", "Varargs": "Tensor"}

RETURNS = {
    "Tensor": "Tensor",
    "Vec<Tensor>": "tuple[Tensor, ...]",
    "OneOrMany": "Tensor | tuple[Tensor, ...]",
    "MaybeNamed": "tuple[Tensor, ...]",
    "(Tensor,Tensor)": "tuple[Tensor, Tensor]",
    "(Tensor,Vec<Tensor>)": "tuple[Tensor, tuple[Tensor, ...]]",
    "bool": "_bool",
    "DType": "_DType",
    "i64": "_int",
    "Scalar": "_Number",
}

# Modules of the roster besides the top level, and the submodules of `_core` that hold their functions.
MODULES = {
    "fft": "_fft",
    "linalg": "_linalg",
    "masked": "_masked",
    "nn.functional": "_nn_functional",
    "signal.windows": "_signal_windows",
    "sparse": "_sparse",
    "special": "_special",
}

# Members that need no types: those of every class or module, slots that come along with another one, and
# `__getattr__` and `__buffer__`, which are in the stub without being there in every Python.
UNTYPED = {"__dict__", "__doc__", "__module__", "__name__", "__weakref__", "__repr__", "__str__", "__ge__", "__gt__"}
UNTYPED |= {"__le__", "__lt__", "__eq__", "__ne__", "__delattr__", "__setattr__", "__release_buffer__"}
UNTYPED |= {"__file__", "__loader__", "__package__", "__spec__", "__all__"}
UNTYPED |= {"__getattr__", "__getattribute__", "__buffer__", "__delitem__"}

Op = dict[str, Any]


# ---- ops


def typed(op: Op, table: dict[str, str], key: str) -> str:
    if key not in table:
        where = "KINDS" if table is KINDS else "RETURNS"
        sys.exit(f"tools/stubs.py: {where} has no Python type for {key!r}, which `{op['name']}` of the roster uses")
    return table[key]


def results(op: Op, fields: list[str], returns: str) -> str:
    """The type of the result of one entry."""
    if op["role"] == "InPlace":
        return "Self"
    returns = returns.removeprefix("Result<").removesuffix(">")
    if fields:
        return tuple_name(fields, returns)
    return typed(op, RETURNS, returns)


def tuple_name(fields: list[str], returns: str) -> str:
    """The class of results with these names; another one if the last of them is a tuple."""
    return "_" + "".join(field.title() for field in fields) + "_Each" * returns.endswith("Vec<Tensor>)")


def parameters(op: Op, entry: Any, spread: bool) -> Iterator[str]:
    """Of one entry; with `spread`, a size is given as separate integers, tensors as separate ones."""
    params, _, out, _ = entry
    keyword_only = False
    for i, (name, kind, optional, default, by_name) in enumerate(params):
        if i == 0 and op["role"] != "Function":
            yield "self"
            continue
        if kind in SEPARATE and spread:
            yield f"*{name}: {SEPARATE[kind]}"
            keyword_only = True
            continue
        if by_name and not keyword_only:
            yield "*"
            keyword_only = True
        type_ = typed(op, KINDS, kind) + (" | None" if optional else "")
        reserved = keyword.iskeyword(name)  # callers cannot write it as a keyword either
        yield f"{name}{'_' * reserved}: {type_}" + (f" = {default}".replace("'", '"') if default is not None else "")
        if reserved:
            yield "/"
    if out:
        yield from ("out: Any = None",) if keyword_only else ("*", "out: Any = None")


def definition(name: str, params: list[str], result: str, indent: str) -> str:
    """A `def`, broken where ruff would break it."""
    head, tail = f"{indent}def {name}(", f") -> {result}: ..."
    line = f"{head}{', '.join(params)}{tail}"
    if len(line) <= WIDTH:
        return line
    inner = f"{indent}    {', '.join(params)}"
    if len(inner) <= WIDTH:
        return f"{head}\n{inner}\n{indent}{tail}"
    return "\n".join([head, *(f"{indent}    {p}," for p in params), f"{indent}{tail}"])


def definitions(op: Op, indent: str = "") -> Iterator[str]:
    forms: list[str] = []
    for entry in op["entries"]:
        result = results(op, entry[1], entry[3])
        sized = any(kind in SEPARATE for _, kind, *_ in entry[0])
        for spread in (False, True) if sized else (False,):
            form = definition(op["name"], list(parameters(op, entry, spread)), result, indent)
            if form not in forms:
                forms.append(form)
    for form in forms:
        yield f"{indent}@overload\n{form}" if len(forms) > 1 else form


def ops(roster: Iterable[Op], indent: str = "") -> str:
    return "\n".join(line for op in sorted(roster, key=lambda op: op["name"]) for line in definitions(op, indent))


def named_tuples(roster: list[Op]) -> str:
    named: dict[str, tuple[list[str], str]] = {}
    for op in roster:
        for _, fields, _, returns in op["entries"]:
            if fields:
                returns = returns.removeprefix("Result<").removesuffix(">")
                named[tuple_name(fields, returns)] = (fields, returns)
    lines: list[str] = []
    for name, (fields, returns) in sorted(named.items()):
        types = ["Tensor"] * len(fields)
        if returns.endswith("Vec<Tensor>)"):
            types[-1] = "tuple[Tensor, ...]"
        lines += [f"class {name}(NamedTuple):", *(f"    {f}: {t}" for f, t in zip(fields, types, strict=True)), ""]
    return "\n".join(lines).rstrip()


# ---- what is written by hand


def names_of(body: list[ast.stmt]) -> set[str]:
    """What the statements of a stub define."""
    names = {s.name for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef)}
    return names | {s.target.id for s in body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}


def compare(where: str, have: Iterable[str], typed: Iterable[str]) -> Iterator[str]:
    for name in sorted(set(have) - set(typed) - UNTYPED):
        yield f"{where}.{name} has no types: add it to {where} in tools/core.pyi"
    # Names with an underscore that the module lacks are those of the stub alone, such as type aliases.
    for name in sorted(set(typed) - set(have) - UNTYPED):
        yield f"{where}.{name} is in tools/core.pyi, but not in the built module: remove it there"


def complaints(roster: list[Op]) -> Iterator[str]:
    """Where the built module and `tools/core.pyi` have different members."""
    body = ast.parse(BY_HAND.read_text()).body
    functions = {op["name"] for op in roster if op["role"] == "Function" and not op["module"]}
    members = {n: v for n, v in vars(_core).items() if n not in functions and not isinstance(v, ModuleType)}
    aliases = {s.target.id for s in body if isinstance(s, ast.AnnAssign) and "TypeAlias" in ast.unparse(s.annotation)}
    yield from compare("_core", members, names_of(body) - aliases)
    methods = {op["name"] for op in roster if op["role"] != "Function"}
    classes = {s.name: s for s in body if isinstance(s, ast.ClassDef)}
    for name, statement in classes.items():
        bases = [classes[b.id] for b in statement.bases if isinstance(b, ast.Name) and b.id in classes]
        inherited = {n for base in bases for n in names_of(base.body)}
        if isinstance(members.get(name), type):
            have = vars(members[name]).keys() - (methods if name == "Tensor" else set()) - inherited
            yield from compare(name, have, names_of(statement.body))


def stubs() -> dict[str, str]:
    """The text of each stub file."""
    roster: list[Op] = _core._roster()
    wrong = list(complaints(roster))
    if wrong:
        sys.exit("\n".join(wrong))
    text = BY_HAND.read_text()
    _, _, text = text.partition("\n\n")
    for line, found in {
        "# named tuples": named_tuples(roster),
        "    # methods": "    # ops\n" + ops((op for op in roster if op["role"] != "Function"), "    "),
        "# functions": "# ops\n" + ops(op for op in roster if op["role"] == "Function" and not op["module"]),
    }.items():
        text = text.replace(f"\n{line}\n", f"\n{found}\n")
    files = {"__init__.pyi": HEAD + text}
    tuples = re.findall(r"^class (\w+)\(NamedTuple\)", text, re.MULTILINE)
    for module, name in MODULES.items():
        functions = ops(op for op in roster if op["role"] == "Function" and op["module"] == module)
        files[f"{name}.pyi"] = f"{HEAD}{imports(functions, tuples)}\n{functions}\n"
    return files


def imports(body: str, tuples: list[str]) -> str:
    """Import statements for the names that a stub without classes uses; `tuples` are those of named results."""

    def used(*names: str) -> str:
        return ", ".join(name for name in names if re.search(rf"\b{name}\b", body))

    lines = [f"from builtins import {n} as _{n}\n" for n in ("bool", "complex", "float", "int") if used(f"_{n}")]
    lines += [f"from collections.abc import {used('Sequence')}\n"] if used("Sequence") else []
    lines += [f"from typing import {used('Any', 'overload')}\n"] if used("Any", "overload") else []
    # As ruff sorts them: capitals, classes, others.
    capitals = sorted(filter(str.isupper, tuples))
    classes = sorted({*tuples, "_Device", "_DType", "_Number"} - {*capitals}, key=str.lower)
    core = used(*capitals, "Generator", "Tensor", *classes, "_layout", "memory_format")
    line = f"from retrograd._core import {core}\n"
    if len(line) > WIDTH + 1:  # one name a line, as ruff wraps them
        line = "from retrograd._core import (\n" + "".join(f"    {name},\n" for name in core.split(", ")) + ")\n"
    return "".join(lines) + "\n" + line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if the stubs differ from the built module")
    check = parser.parse_args().check
    for name, text in stubs().items():
        path = FOLDER / name
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path.name} is not what the built module has: run `make stubs`")


if __name__ == "__main__":
    main()
