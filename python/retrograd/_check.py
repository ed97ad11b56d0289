"""Which names of torch a program uses, read from its source, and whether retrograd has them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

# Functions whose results are tensors, so that what is called on them is a method of tensors.
_MAKERS = {
    "torch.arange",
    "torch.as_tensor",
    "torch.empty",
    "torch.empty_like",
    "torch.eye",
    "torch.from_numpy",
    "torch.full",
    "torch.full_like",
    "torch.linspace",
    "torch.logspace",
    "torch.ones",
    "torch.ones_like",
    "torch.rand",
    "torch.rand_like",
    "torch.randint",
    "torch.randn",
    "torch.randn_like",
    "torch.randperm",
    "torch.tensor",
    "torch.zeros",
    "torch.zeros_like",
}


class Use(NamedTuple):
    """A name of torch in a program, such as `torch.nn.Linear`."""

    name: str
    path: str
    line: int


class Answer(NamedTuple):
    """Whether retrograd has a name: 'have', 'missing' or 'refused'; which part of it is not there; and what to do."""

    verdict: str
    name: str
    advice: str = ""


def main(arguments: list[str]) -> int:
    """Print a table of the names in files and folders.

    Returns: the exit code: 0, or 1 if a name is missing or a file is no Python, or 2 if there is no such file.
    """
    brief = "--brief" in arguments
    paths = [Path(a) for a in arguments if a != "--brief"]
    absent = [path for path in paths if not path.exists()]
    for path in absent:
        print(f"check: there is no {path}", file=sys.stderr)
    if absent or not paths:
        return 2
    uses: list[Use] = []
    unread = 0
    files = list(python_files(paths))
    for file in files:
        try:
            uses += names_in(file.read_bytes(), str(file))
        except (SyntaxError, ValueError) as error:
            unread += 1
            print(f"{file}:{getattr(error, 'lineno', None) or 1}: no Python: {error}", file=sys.stderr)
    missing = report(uses, brief, len(files) - unread)
    return 1 if missing or unread else 0


def python_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files, and those in the folders, without hidden ones."""
    for path in paths:
        if path.is_dir():
            inside = sorted(path.rglob("*.py"))
            yield from (p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts))
        else:
            yield path


def report(uses: Iterable[Use], brief: bool, files: int) -> int:
    """Print the table, the worst first, and the totals; return how many names are missing."""
    places: dict[Answer, list[Use]] = {}
    answers: dict[str, Answer] = {}
    for use in uses:
        answer = answers.setdefault(use.name, ask(use.name))
        places.setdefault(answer, []).append(use)
    count = dict.fromkeys(("missing", "refused", "have"), 0)
    rows = []
    for answer in sorted(places, key=lambda answer: (list(count).index(answer.verdict), answer.name)):
        count[answer.verdict] += 1
        if answer.verdict != "have" or not brief:
            rows.append((answer, _shown(places[answer])))
    name_width = max((len(answer.name) for answer, _ in rows), default=0)
    place_width = max((len(where) for _, where in rows), default=0)
    for answer, where in rows:
        line = f"{answer.verdict:8} {answer.name:{name_width}}  {where:{place_width}}  {answer.advice}"
        print(line.rstrip())
    totals = ", ".join(f"{n} {verdict}" for verdict, n in count.items())
    print(f"{sum(count.values())} names of torch in {files} file{'s' * (files != 1)}: {totals}")
    return count["missing"]


def _shown(uses: list[Use]) -> str:
    first = f"{uses[0].path}:{uses[0].line}"
    return first if len(uses) == 1 else f"{first} and {len(uses) - 1} more"


# ---- what retrograd has


def ask(name: str) -> Answer:
    """Whether retrograd has a name of torch.

    >>> from retrograd._check import ask
    >>> ask("torch.nn.Linear")
    Answer(verdict='have', name='torch.nn.Linear', advice='')
    >>> ask("torch.nn.Linaer").verdict
    'missing'
    """
    parts = name.split(".")
    value: Any = import_module("retrograd")
    for i, part in enumerate(parts[1:], start=2):
        asked = ".".join(parts[:i])
        try:
            value = _member(value, part)
        except AttributeError as error:
            if not isinstance(value, ModuleType | type):
                break  # an attribute of some value, which programs may give it themselves
            return Answer("missing", asked, _advice(str(error), value, asked))
        refused = getattr(value, "__refused__", None)
        if refused is not None:
            return Answer("refused", asked, str(refused))
    return Answer("have", name)


def _member(value: Any, part: str) -> Any:
    """An attribute, or a submodule that nothing has imported yet."""
    try:
        return getattr(value, part)
    except AttributeError:
        if not isinstance(value, ModuleType) or not hasattr(value, "__path__"):
            raise
        name = f"{value.__name__}.{part}"
        if find_spec(name) is None:
            raise
        return import_module(name)


def _advice(error: str, owner: Any, name: str) -> str:
    """What the error says besides that there is no such name, else a name that looks like it."""
    said = error.partition("has no attribute")[2].partition("'")[2].partition("'")[2].lstrip(" :;,.")
    if said:
        return said.replace("retrograd.", "torch.")
    package, _, last = name.rpartition(".")
    near = get_close_matches(last, [n for n in dir(owner) if not n.startswith("_")], n=1, cutoff=0.8)
    return f"did you mean {package}.{near[0]}?" if near else ""


# ---- what a program uses


def names_in(source: bytes | str, path: str) -> list[Use]:
    """The names of torch in a program, in the order of their lines.

    >>> from retrograd._check import names_in
    >>> program = "import torch.nn as nn; from torch import optim; m = nn.Linear(1, 1); optim.SGD(m.parameters(), 1)"
    >>> [use.name for use in names_in(program, "program.py")]
    ['torch.nn', 'torch.optim', 'torch.nn.Linear', 'torch.optim.SGD']
    """
    reader = _Reader(path)
    tree = ast.parse(source, path)
    reader.import_all(tree)
    reader.visit(tree)
    return sorted(dict.fromkeys(reader.uses), key=lambda use: use.line)


class _Reader(ast.NodeVisitor):
    """Follows what names of the program mean: some name of torch, or something else, `None`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.uses: list[Use] = []
        self.scopes: list[dict[str, str | None]] = [{}]

    def use(self, name: str, node: ast.AST) -> None:
        self.uses.append(Use(name, self.path, getattr(node, "lineno", 1)))

    def meaning(self, name: str) -> str | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def import_all(self, tree: ast.AST) -> None:
        """Knows the imports of a scope before it is read: functions use what is imported below them."""
        for node in _of_scope(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.bind(node)

    def bind(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """Enters the names that an import gives a meaning; returns those of torch that it asks for."""
        scope = self.scopes[-1]
        asked = []
        for alias in node.names:
            if isinstance(node, ast.Import):
                package = alias.name.partition(".")[0]
                ours = package == "torch"
                scope[alias.asname or package] = (alias.name if alias.asname else package) if ours else None
                asked += [alias.name] if ours else []
            elif node.level or (node.module or "").partition(".")[0] != "torch":
                scope[alias.asname or alias.name] = None
            elif alias.name == "*":
                asked.append(str(node.module))
                scope.update({name: f"{node.module}.{name}" for name in _starred(str(node.module))})
            else:
                asked.append(f"{node.module}.{alias.name}")
                scope[alias.asname or alias.name] = asked[-1]
        return asked

    def visit_Import(self, node: ast.Import) -> None:
        for name in self.bind(node):
            if name != "torch":
                self.use(name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for name in self.bind(node):
            self.use(name, node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self.chain(node)
        if name is None:
            self.generic_visit(node)
            made = self.chain(node.value.func) if isinstance(node.value, ast.Call) else None
            if made in _MAKERS:
                self.use(f"torch.Tensor.{node.attr}", node)
        elif isinstance(node.ctx, ast.Load):
            self.use(name, node)

    def visit_Name(self, node: ast.Name) -> None:
        name = self.meaning(node.id)
        if isinstance(node.ctx, ast.Load):
            if name is not None and "." in name:
                self.use(name, node)
        else:
            self.scopes[-1][node.id] = None

    def chain(self, node: ast.AST) -> str | None:
        """The name of torch that `a.b.c` is, if it is one."""
        if isinstance(node, ast.Name):
            return self.meaning(node.id)
        if isinstance(node, ast.Attribute):
            before = self.chain(node.value)
            return before and f"{before}.{node.attr}"
        return None

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
        name = self.chain(node.value)
        if name is not None and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.scopes[-1][node.targets[0].id] = name  # F = torch.nn.functional

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for part in (node.annotation, node.value, node.target):
            if part is not None:
                self.visit(part)

    def visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        for argument in every:
            if argument is not None and argument.annotation is not None:
                self.visit(argument.annotation)
        if not isinstance(node, ast.Lambda):
            self.scopes[-1][node.name] = None
            for outside in (*node.decorator_list, node.returns):
                if outside is not None:
                    self.visit(outside)
        self.scopes.append({argument.arg: None for argument in every if argument is not None})
        self.import_all(node)
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement)
        self.scopes.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside)
        self.scopes.append({})
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()
        self.scopes[-1][node.name] = None


def _of_scope(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one that are not in functions and classes of their own."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _of_scope(node)


def _starred(module: str) -> list[str]:
    """What `from module import *` gives."""
    answer = ask(module)
    if answer.verdict != "have":
        return []
    ours = import_module("retrograd" + module.removeprefix("torch"))
    return list(getattr(ours, "__all__", [name for name in dir(ours) if not name.startswith("_")]))
