"""Every public name has a docstring, what it must say is there, and its examples run.

Ops are taken from the roster, classes and functions from `_core`, the rest from the modules of the package.
"""

import doctest
import importlib
import inspect
import pkgutil
import re
import runpy
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import retrograd as rg
from retrograd import _core

OPS_PAGE = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "ops_page.py"))
ops, facts, table = OPS_PAGE["ops"], OPS_PAGE["facts"], OPS_PAGE["table"]

# What cannot have an example, and why.
WITHOUT_EXAMPLE = {
    "retrograd.autograd.function.NestedIOFunction": "for classes of old programs that torch refuses to run as well",
    "retrograd._core._FunctionBase.mark_shared_storage": "it warns, and does nothing else",
    "retrograd.multiprocessing.reductions.reduce_storage": "it starts a thread that gives a file to other processes",
    "retrograd.multiprocessing.reductions.rebuild_storage": "its argument is made by `reduce_storage`",
    "retrograd._core._WeakEdges": "a part of `register_multi_grad_hook`",
}


class Documented(NamedTuple):
    name: str
    doc: str
    is_callable: bool
    around: str  # the docstring of its class, whose examples count for its members

    def has_example(self) -> bool:
        called = rf"(>>>|\.\.\.) .*\b{re.escape(self.name.rpartition('.')[2])}\("
        return ">>>" in self.doc or bool(re.search(called, self.around))


ROSTER = {(op["role"] == "Function", op["module"], op["name"]) for op in _core._roster()}


def members(where: str, kind: type) -> Iterator[Documented]:
    private = kind.__name__.startswith("_")
    yield Documented(where, kind.__doc__ or "", not private, "")
    for name, value in vars(kind).items():
        if name.startswith("_") or (kind is _core.Tensor and (False, "", name) in ROSTER):
            continue
        if any(name in vars(base) for base in kind.__mro__[1:]):  # documented there
            continue
        value = getattr(value, "__func__", value)
        if isinstance(value, types.MemberDescriptorType):  # a slot, described by the class
            continue
        if callable(value) or inspect.isdatadescriptor(value):
            yield Documented(
                f"{where}.{name}", inspect.getdoc(value) or "", callable(value), documentation_around(kind)
            )


def documentation_around(kind: type) -> str:
    """Docstrings of a class and of those it is there for."""
    below = [k for k in kind.__subclasses__() if k.__module__.startswith("retrograd")]
    return "\n".join(filter(None, [kind.__doc__, *(k.__doc__ for k in below)]))


def of_core() -> Iterator[Documented]:
    for name, value in vars(_core).items():
        where = f"retrograd._core.{name}"
        if isinstance(value, type):
            yield from members(where, value)
        elif callable(value) and not name.startswith("_") and (True, "", name) not in ROSTER:
            yield Documented(where, value.__doc__ or "", True, "")


def of_python() -> Iterator[Documented]:
    for info in pkgutil.walk_packages(rg.__path__, "retrograd."):
        if info.name.startswith("retrograd._core"):
            continue
        module = importlib.import_module(info.name)
        yield Documented(info.name, module.__doc__ or "", False, "")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if getattr(value, "__module__", None) not in (info.name, "retrograd") or isinstance(value, _core.Generator):
                continue
            if isinstance(value, type):
                yield from members(f"{info.name}.{name}", value)
            elif isinstance(value, types.FunctionType):
                yield Documented(f"{info.name}.{name}", value.__doc__ or "", True, "")
    yield Documented("retrograd", rg.__doc__ or "", False, "")


OTHERS = sorted({d.name: d for d in [*of_core(), *of_python()]}.values())


def run(name: str, doc: str) -> None:
    """Runs the examples of a docstring, in which the package is imported."""
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(doc), {"rg": rg}, name, None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.names[0]) for op in ops()])
def test_examples_of_ops_run(op):
    assert ">>>" in op.doc
    run(op.names[0], op.doc)


@pytest.mark.parametrize("it", [pytest.param(d, id=d.name) for d in OTHERS if ">>>" in d.doc])
def test_examples_run(it):
    run(it.name, it.doc)


def test_examples_do_not_import_what_they_all_have():
    """Only the docstring of the package says under which name it is imported."""
    names = [info.name for info in pkgutil.walk_packages(rg.__path__, "retrograd.") if "._core" not in info.name]
    texts = {name: inspect.getsource(importlib.import_module(name)) for name in ["retrograd", *names]}
    assert [name for name in texts if re.search(r">>> import .*\bretrograd as rg\b", texts[name])] == ["retrograd"]


def test_everything_public_has_a_docstring():
    assert [d.name for d in OTHERS if not d.doc.strip()] == []


def test_every_function_has_an_example():
    lacking = {d.name for d in OTHERS if d.is_callable and not d.has_example()}
    assert {n for n in lacking if not any(n.startswith(known) for known in WITHOUT_EXAMPLE)} == set()
    assert [known for known in WITHOUT_EXAMPLE if not any(n.startswith(known) for n in lacking)] == []


# Parameters that mean the same everywhere, and those that torch has had for long and ignores.
KNOWN = {
    "input",
    "self",
    "dtype",
    "layout",
    "device",
    "pin_memory",
    "requires_grad",
    "memory_format",
    "generator",
    "out",
}
KNOWN |= {"size_average", "reduce", "non_blocking"}


@pytest.mark.parametrize("op", [pytest.param(op, id=op.names[0]) for op in ops()])
def test_docstrings_of_ops_name_parameters_and_derivative(op):
    """Unless they refer to another op for them."""
    refers = re.search(r"\b([Ss]ee|[Aa]s) `", op.doc)
    if not refers:
        named = {name for one in op.callables for params, *_ in one["entries"] for name, *_ in params} - KNOWN
        assert {name for name in named if name[0] != "_" and f"`{name}`" not in op.doc} == set()
    states = re.search(r"Derivative\b(?!:\s+(none|not))", op.doc)
    if facts()[op.names[0]].node:
        assert states or refers
    # Of these the result is their input, or the node that of complex numbers.
    elif op.names[0] not in OF_COMPLEX:
        assert not states, "the example shows none"


def test_orders_of_arguments_are_listed():
    """Each as it is called: a method has no place for its tensor, and a function alone takes `out=`."""
    called = ["input, *", "input, dim, keepdim=False, *", "input, other, *"]
    assert rg.max.__doc__.split("\n\n")[0].split("\n") == [f"max({form}, out=None)" for form in called]
    called = ["max()", "max(dim, keepdim=False)", "max(other)"]
    assert rg.Tensor.max.__doc__.split("\n\n")[0].split("\n") == called
    with pytest.raises(TypeError) as raised:
        rg.ones(2).max(1, 2, 3)
    assert str(raised.value).split("expected one of:\n")[1].split("\n") == [f" * {form}" for form in called]


def test_the_page_of_ops_is_that_of_the_built_module():
    assert OPS_PAGE["PAGE"].read_text() == table(), "run make docs"


def test_programs_do_not_pay_for_documentation():
    code = "import sys, retrograd; print(*sorted({'doctest', 'inspect', 'numpy'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


# Ops whose examples show no node of real numbers.
OF_COMPLEX = ("positive", "conj_physical", "conj", "real", "imag", "resolve_conj", "resolve_neg", "view_as_real")
# Ops whose docstrings say more than their examples show.
DTYPES_BY_ARGUMENTS = {
    "fmod": "a bool tensor is taken with a float, of which the example has one",
    "nn.functional.hardtanh": "uint8 is refused with negative limits, as in the example",
    "nn.functional.pad": "bools are taken in the mode that the example does not have",
}


@pytest.mark.parametrize(
    "op", [op for op in OPS_PAGE["ops"]() if OPS_PAGE["claim"](op.doc)], ids=lambda op: op.names[0]
)
def test_docstrings_say_which_dtypes_an_op_takes(op: Any) -> None:
    """What a docstring says of the dtypes of `input` is what its example takes."""
    taken = OPS_PAGE["dtypes"](op)
    if taken and op.names[0] not in DTYPES_BY_ARGUMENTS:
        assert OPS_PAGE["claim"](op.doc) == OPS_PAGE["phrase"](taken)
