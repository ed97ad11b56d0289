"""Writes docs/ops.md, the table of the ops of the built module.

    python tools/ops_page.py

What it says of derivatives is seen, not claimed: the example in an op's docstring is run, and the op is called again
with the same arguments, recorded and with tangents. `tests/test_docstrings.py` reads the same facts.
"""

import contextlib
import doctest
import functools
import io
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import retrograd
from retrograd import Tensor, _core

PAGE = Path(__file__).parents[1] / "docs" / "ops.md"


class Op(NamedTuple):
    """Callables of the roster that are one op: a function, its method, in-place form and aliases."""

    names: tuple[str, ...]
    forms: tuple[str, ...]
    doc: str
    callables: tuple[dict[str, Any], ...]


class Facts(NamedTuple):
    """What is known of the derivative of an op: the name of its node, "" for none, and whether it has a tangent."""

    node: str
    forward: bool


# In the order of the page, with the names that stand for several.
DTYPES = {
    "bool": ("bool",),
    "integers": ("uint8", "int8", "int16", "int32", "int64"),
    "halves": ("float16", "bfloat16"),
    "floats": ("float32", "float64"),
    "complex": ("complex64", "complex128"),
}


class _Call(NamedTuple):
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _form(one: dict[str, Any]) -> str:
    return {"Function": "function", "Method": "method", "InPlace": "in-place"}[one["role"]]


def _path(one: dict[str, Any]) -> str:
    """The name as users write it; that of the other forms is the function's if there is one."""
    return f"{one['module']}.{one['name']}".lstrip(".")


@functools.cache
def ops() -> tuple[Op, ...]:
    """The ops of the roster, one entry for all names and forms of each, by name."""
    by_doc: dict[str, list[dict[str, Any]]] = {}
    for one in _core._roster():
        by_doc.setdefault(one["docs"][0], []).append(one)
    found = []
    for same in by_doc.values():
        docs = max((one["docs"] for one in same), key=len)  # an alias may have some of the overloads only
        functions = [_path(one) for one in same if one["role"] == "Function"]
        methods = [f"Tensor.{one['name']}" for one in same if one["role"] == "Method"]
        inplace = [f"Tensor.{one['name']}" for one in same if one["role"] == "InPlace"]
        forms = [form for form in ("function", "method", "in-place") if form in map(_form, same)]
        if any(out for one in same for _, _, out, _ in one["entries"]):
            forms.append("out=")
        found.append(Op(tuple(functions or methods or inplace), tuple(forms), "\n\n".join(docs), tuple(same)))
    return tuple(sorted(found, key=lambda op: (op.names[0].count("."), op.names)))


@contextlib.contextmanager
def _watched(op: Op, calls: list[_Call]) -> Iterator[None]:
    """Inside, calls of the op's callables are noted."""
    owners: dict[str, Any] = {
        "": retrograd,
        "fft": retrograd.fft,
        "linalg": retrograd.linalg,
        "masked": retrograd.masked,
        "nn.functional": retrograd.nn.functional,
        "signal.windows": retrograd.signal.windows,
        "sparse": retrograd.sparse,
        "special": retrograd.special,
    }
    before: list[tuple[Any, str, Any]] = []
    for one in op.callables:
        owner = owners[one["module"]] if one["role"] == "Function" else _core.Tensor
        original = getattr(owner, one["name"])
        before.append((owner, one["name"], original))

        def noting(*args: Any, _original: Callable[..., Any] = original, **kwargs: Any) -> Any:
            calls.append(_Call(_original, args, kwargs))
            return _original(*args, **kwargs)

        setattr(owner, one["name"], noting)
    try:
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)


def _example_calls(op: Op) -> list[_Call]:
    """The calls of the op in its example."""
    calls: list[_Call] = []
    names: dict[str, Any] = {"rg": retrograd}
    with _watched(op, calls), contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(op.doc):
            with contextlib.suppress(Exception) if example.exc_msg else contextlib.nullcontext():
                exec(example.source, names)
    if not calls:
        raise LookupError(f"{op.names[0]}: the example in its docstring does not call it")
    return calls


def _tensors(value: Any) -> list[Tensor]:
    """The tensors among results or arguments, which may be in a sequence."""
    if isinstance(value, Tensor):
        return [value]
    return [t for item in value for t in _tensors(item)] if isinstance(value, list | tuple) else []


def _replaced(value: Any, new: Iterator[Tensor]) -> Any:
    """The same arguments with other tensors."""
    if isinstance(value, Tensor):
        return next(new)
    return type(value)(_replaced(item, new) for item in value) if isinstance(value, list | tuple) else value


def _observe(call: _Call, as_floats: bool) -> Facts:
    """The derivative in one call; with `as_floats` integers become floats first."""
    given = (call.args, list(call.kwargs.values()))
    inputs = [t.detach() for t in _tensors(given)]
    if as_floats:
        inputs = [t if t.is_floating_point() or t.dtype == retrograd.bool else t.to(retrograd.float64) for t in inputs]
    follow = [i for i, t in enumerate(inputs) if t.is_floating_point()]

    def again(*tensors: Tensor) -> Any:
        mixed = list(inputs)
        for i, t in zip(follow, tensors, strict=True):
            mixed[i] = t
        args, kwargs = _replaced(given, iter(mixed))
        return call.function(*args, **dict(zip(call.kwargs, kwargs, strict=True)))

    operands = [inputs[i].clone().requires_grad_() for i in follow]
    if call.function.__name__.endswith("_"):
        operands = [t.clone() for t in operands]  # leaves cannot be written to
    before = [(t.grad_fn, t._version) for t in operands]
    nodes = [
        t.grad_fn.name() for t in _tensors(again(*operands)) if t.grad_fn and (t.grad_fn, t._version) not in before
    ]
    if not nodes or nodes[0] == "NotImplemented":  # the node of ops that refuse a backward pass
        return Facts("", False)
    try:
        _, tangents = _core._jvp(again, *[[inputs[i].clone() for i in follow] for _ in range(2)])
    except NotImplementedError:
        return Facts(nodes[0], False)
    return Facts(nodes[0], bool(_tensors(tangents)))


def _facts(op: Op) -> Facts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ops that are deprecated
        for call in _example_calls(op):
            for as_floats in (False, True):
                with contextlib.suppress(Exception):  # not every op takes floats where its example has integers
                    seen = _observe(call, as_floats)
                    if seen.node:
                        return seen
    return Facts("", False)


@functools.cache
def facts() -> dict[str, Facts]:
    """What is known of the derivatives of the ops, by every name that they have."""
    found = {}
    for op in ops():
        found.update(dict.fromkeys(op.names, _facts(op)))
    return found


def _takes(call: _Call, name: str) -> bool:
    """Whether the call is possible with this dtype in the place of its tensors' own: that of the highest category."""
    given = (call.args, list(call.kwargs.values()))
    ranks = [
        [t.dtype == retrograd.bool, not t.dtype.is_floating_point and not t.dtype.is_complex] for t in _tensors(given)
    ]
    least = min(ranks)
    tensors = [
        t.detach().to(getattr(retrograd, name)) if rank == least else t.detach().clone()
        for t, rank in zip(_tensors(given), ranks, strict=True)
    ]
    args, kwargs = _replaced(given, iter(tensors))
    error, _ = _core._observed(lambda: call.function(*args, **dict(zip(call.kwargs, kwargs, strict=True))))
    return error is None


def dtypes(op: Op) -> tuple[str, ...]:
    """The dtypes that the tensors of the op's example may have, in the order of `DTYPES`; none for factories."""
    calls = [call for call in _example_calls(op) if _tensors((call.args, list(call.kwargs.values())))]
    if not calls:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(name for names in DTYPES.values() for name in names if _takes(calls[0], name))


def _shown(taken: tuple[str, ...]) -> str:
    """The dtypes in few words."""
    kinds = [kind for kind, names in DTYPES.items() if set(names) <= set(taken)]
    missing = [kind for kind in DTYPES if kind not in kinds]
    rest = [name for kind in missing for name in DTYPES[kind] if name in taken]
    if not taken or rest or len(missing) > 1:
        return ", ".join(kinds + rest)
    return f"all but {missing[0]}" if missing else "all"


# What docstrings say of the dtypes of `input`, by the kinds that stand for it.
_PHRASES = {
    ("bool", "integers", "halves", "floats", "complex"): "any dtype",
    ("bool", "integers", "halves", "floats"): "any real dtype",
    ("bool", "integers", "floats", "complex"): "any dtype but halves",
    ("bool", "integers", "floats"): "any real dtype but halves",
    ("integers", "halves", "floats", "complex"): "any dtype but bool",
    ("integers", "halves", "floats"): "any real dtype but bool",
    ("halves", "floats", "complex"): "a floating or complex dtype",
    ("halves", "floats"): "a floating dtype",
    ("floats", "complex"): "float32, float64 or a complex dtype",
    ("floats",): "float32 or float64",
    ("complex",): "a complex dtype",
    ("bool", "integers"): "an integer dtype or bool",
    ("integers",): "an integer dtype",
}
_CLAIM = re.compile(
    r"`input` (?:a tensor of |of )?((?:any (?:real )?dtype(?: but [a-z0-9]+(?:,? (?:and )?[a-z0-9]+64)*)?)"
    r"|float32(?: or float64|, float64 or a complex dtype)"
    r"|a(?:n integer| floating(?: point)?(?: or complex)?| complex) dtype(?: or bool)?)(?![a-z])"
)


def claim(doc: str) -> str | None:
    """What a docstring says of the dtypes of `input`, if it does."""
    found = _CLAIM.search(" ".join(doc.split()))
    return found[1] if found else None


def phrase(taken: tuple[str, ...]) -> str:
    """The dtypes, as docstrings say them."""
    kinds = tuple(kind for kind, names in DTYPES.items() if set(names) <= set(taken))
    if sum(len(DTYPES[kind]) for kind in kinds) == len(taken) and kinds in _PHRASES:
        return _PHRASES[kinds]
    missing = [name for names in DTYPES.values() for name in names if name not in taken]
    return "any dtype but " + ", ".join(missing[:-1]) + " and " * (len(missing) > 1) + missing[-1]


def table() -> str:
    """The page, in Markdown."""
    lines = [
        "# Ops",
        "",
        "Written by `make docs` from the built module. Names are those in `retrograd`; *node* is the `grad_fn` of the",
        "result when a floating point argument requires grad: an op without one has no derivative. *Forward* says if",
        "there is a directional derivative too. *Dtypes* are those that the tensors of its example may have:",
        "*floats* are float32 and float64, *halves* float16 and bfloat16. Integers that become floats are among them.",
        "",
        "| op | forms | dtypes | node | forward |",
        "|---|---|---|---|---|",
    ]
    for op in ops():
        names = ", ".join(f"`{name}`" for name in op.names)
        known = facts()[op.names[0]]
        node = f"`{known.node}`" if known.node else ""
        columns = (names, ", ".join(op.forms), _shown(dtypes(op)), node, "yes" if known.forward else "")
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table())
