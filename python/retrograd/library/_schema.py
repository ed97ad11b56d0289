"""Schemas of custom ops: from the annotations of a function, and from text."""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections import abc
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, NoReturn

import retrograd as rg

__all__ = ["infer_schema"]


_NUMBER = int | float | bool
# Base types with their names, and whether there are lists of them.
_BASES: tuple[tuple[Any, str, bool], ...] = (
    (rg.Tensor, "Tensor", True),
    (int, "SymInt", True),
    (float, "float", True),
    (bool, "bool", True),
    (str, "str", False),
    (_NUMBER, "Scalar", True),
    (rg.dtype, "ScalarType", False),
    (rg.device, "Device", False),
)
_NAMES = {base: name for base, name, _ in _BASES}
_LISTED = {base for base, _, listed in _BASES if listed}
_RETURNS = "Tensor, list[Tensor], int, float, bool and Number"


class Parameter(NamedTuple):
    """One parameter of a schema."""

    name: str
    type: str
    default: Any
    keyword_only: bool
    mutated: bool

    def is_list_of_tensors(self) -> bool:
        """Whether its values are lists of tensors."""
        return self.type.startswith("Tensor") and "[" in self.type


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """The schema of a function, from its annotations.

    Args: `mutates_args` names of arguments that the function writes to, or "unknown" for all tensors; `op_name` a name
    to begin with. `tags` is ignored.
    Raises: ValueError for a function without annotations, and for types that an op does not take.

    >>> def scale(x: rg.Tensor, factor: float = 2.0) -> rg.Tensor: ...
    >>> rg.library.infer_schema(scale, mutates_args=())
    '(Tensor x, float factor=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def refuse(what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    names = getattr(prototype_function, "__globals__", {})
    if isinstance(mutates_args, str):
        if mutates_args != "unknown":
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
                "'unknown'. "
            )
        mutated = None
    else:
        mutated = set(mutates_args)

    parts = []
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            refuse("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        if parameter.annotation is parameter.empty:
            refuse(f"Parameter {name} must have a type annotation.")
        kind = _type_name(_evaluated(parameter.annotation, names, refuse))
        if kind is None:
            refuse(f"Parameter {name} has unsupported type {parameter.annotation}. {_advice(parameter.annotation)}")
        if name in (mutated or ()) and not kind.startswith("Tensor"):
            refuse(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        if kind.startswith("Tensor") and (mutated is None or name in mutated):
            kind = f"Tensor(a{index}!){kind.removeprefix('Tensor')}"
        parts.append(f"{kind} {name}{_default_text(name, parameter.default, refuse)}")
    if unknown := (mutated or set()) - set(signature.parameters):
        refuse(
            f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
            "names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
        )
    result = _return_name(_evaluated(signature.return_annotation, names, refuse), refuse)
    return f"{op_name or ''}({', '.join(parts)}) -> {result}"


def _evaluated(annotation: Any, names: dict[str, Any], refuse: Callable[[str], NoReturn]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)
    except Exception as error:
        refuse(
            f"Unsupported type annotation {annotation}. It is not a type. ({error}). Types must be importable at "
            "module scope."
        )


def _type_name(annotation: Any) -> str | None:
    if annotation in _NAMES:
        return _NAMES[annotation]
    inner = _optional(annotation)
    if inner is not None:
        name = _type_name(inner)
        return name and f"{name}?"
    if typing.get_origin(annotation) in (list, abc.Sequence):
        (item,) = typing.get_args(annotation)
        bare = _optional(item) or item
        if bare in _LISTED:
            return f"{_NAMES[bare]}{'' if bare is item else '?'}[]"
    return None


def _optional(annotation: Any) -> Any:
    """The type of which this is the optional one, None if it is none."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [part for part in typing.get_args(annotation) if part is not type(None)]
        if len(rest) < len(typing.get_args(annotation)):
            return rest[0] if len(rest) == 1 else reduce(or_, rest)
    return None


def _advice(annotation: Any) -> str:
    advice = (
        f"The valid types are: {', '.join(name.__name__ for name in _NAMES if hasattr(name, '__name__'))}, Number, "
    )
    advice += "optional ones, and lists of them."
    if typing.get_origin(annotation) is tuple:
        return "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. " + advice
    return advice


def _default_text(name: str, default: Any, refuse: Callable[[str], NoReturn]) -> str:
    if default is inspect.Parameter.empty:
        return ""
    if default is None or isinstance(default, (int, float)):
        return f"={default}"
    if isinstance(default, (str, rg.device)):
        return f'="{default}"'
    if isinstance(default, rg.dtype):
        return f"={str(default).rpartition('.')[2]}"
    refuse(f"Parameter {name} has an unsupported default value type {type(default)}.")


def _return_name(annotation: Any, refuse: Callable[[str], NoReturn]) -> str:
    if annotation is inspect.Signature.empty:
        refuse("No return type annotation was provided. Please add one.")
    if annotation is None:
        return "()"
    if typing.get_origin(annotation) is tuple:
        parts = [_return_name(part, refuse) for part in typing.get_args(annotation)]
        return f"({', '.join(parts)})"
    name = _type_name(annotation)
    if name not in ("Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar"):
        refuse(f"Return has unsupported type {annotation}. The valid types are: {_RETURNS}.")
    return name


def parse(schema: str) -> list[Parameter]:
    """The parameters of a schema."""
    match = re.fullmatch(r"\s*\((.*)\)\s*->\s*.+", schema, re.DOTALL)
    if match is None:
        raise RuntimeError(f"expected a schema like (Tensor x, int y=1) -> Tensor, got {schema}")
    parameters, keyword_only = [], False
    for text in _split(match[1]):
        if text == "*":
            keyword_only = True
            continue
        described, equals, default = text.partition("=")
        kind, _, name = described.strip().rpartition(" ")
        if not kind or not name.isidentifier():
            raise RuntimeError(f"expected a type and a name, got {text!r} in the schema {schema}")
        value = _default(default.strip()) if equals else inspect.Parameter.empty
        plain = re.sub(r"\(\w*!?\)", "", kind.strip()).replace("SymInt", "int")
        parameters.append(Parameter(name, plain, value, keyword_only, "!" in kind))
    return parameters


def _split(text: str) -> Sequence[str]:
    """Parts between the commas that no bracket encloses."""
    parts = re.findall(r"(?:[^,\[(]|\[[^\]]*\]|\([^)]*\))+", text)
    return [part.strip() for part in parts if part.strip()]


def _default(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(rg, text, text)  # a dtype by its name
