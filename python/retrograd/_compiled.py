"""Functions that are recorded and replayed: which calls are recorded, and what holds for a recording.

The first two calls of a kind run as they are, while the core notes what they do (`rust/retrograd-engine/src/compile`).
If both did the same, later calls of that kind are replayed. What the function reads besides its arguments is found
while it runs (`_Reads`), and compared before every replay.
"""

from __future__ import annotations

import dis
import functools
import os
import sys
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from retrograd import _core, _tree, random

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

# How many recordings a function may have, and how many calls of one kind are recorded in the hope that two are alike.
LIMIT = 8
ATTEMPTS = 3

_PACKAGE = os.path.dirname(__file__) + os.sep
_LAYERS = _PACKAGE + "nn" + os.sep
_OPTIMIZERS = _PACKAGE + "optim" + os.sep

# What a function reads: a root (where a name is looked up, and the name), and attributes or entries from there on.
_Path = tuple[str, str, tuple[tuple[str, Any], ...]]
_ROOTS = {
    "LOAD_FAST": "local",
    "LOAD_FAST_BORROW": "local",
    "LOAD_FAST_CHECK": "local",
    "LOAD_GLOBAL": "global",
    "LOAD_NAME": "global",
    "LOAD_DEREF": "cell",
}
_NOTHING = {"CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL", "RESUME", "PRECALL"}
_MISSING = object()
# Where modules have what their attributes lead to.
_MEMBERS = ("_parameters", "_buffers", "_modules")


def _paths(code: CodeType) -> list[_Path]:
    """What a function reads of its names, as far as that is written down as `name.attribute[constant]`."""
    found: dict[_Path, None] = {}
    path: _Path | None = None
    entry: Any = _MISSING
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in _NOTHING:
            continue
        if name in _ROOTS:
            path, entry = (_ROOTS[name], value, ()), _MISSING
        elif name.startswith("LOAD_FAST") and isinstance(value, tuple):
            # Two names at once.
            path, entry = ("local", value[-1], ()), _MISSING
        elif path is not None and name in ("LOAD_ATTR", "LOAD_METHOD"):
            path, entry = (path[0], path[1], (*path[2], ("attribute", value))), _MISSING
        elif path is not None and name in ("LOAD_CONST", "LOAD_SMALL_INT") and isinstance(value, str | int):
            entry = value
            continue
        elif path is not None and entry is not _MISSING and _is_subscript(name, instruction.argrepr):
            path, entry = (path[0], path[1], (*path[2], ("entry", entry))), _MISSING
        else:
            path, entry = None, _MISSING
            continue
        found[path] = None
    return list(found)


def _is_subscript(name: str, argument: str) -> bool:
    return name == "BINARY_SUBSCR" or (name == "BINARY_OP" and argument == "[]")


class _Reads:
    """What a call reads: an object for `sys.setprofile`, which is told of each function that is entered."""

    def __init__(self, function: Any) -> None:
        # By holder and key: the holder, the key, what was found, and how many entries that has.
        self.found: dict[tuple[int, Any], tuple[Any, Any, Any, int | None]] = {}
        # Functions by their code, for the cells of their closures.
        self._functions: dict[CodeType, Any] = {}
        self._paths: dict[CodeType, list[_Path]] = {}
        self._meet(function)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        file = code.co_filename
        if file.startswith(_PACKAGE):
            if file.startswith(_OPTIMIZERS) and code.co_name == "step":
                if hasattr(frame.f_locals.get("self"), "last_epoch"):
                    _core._record_refuse("a scheduler steps inside of it: step it outside, between calls")
                self._read_groups(frame.f_locals.get("self"))
            if not file.startswith(_LAYERS):
                return
        paths = self._paths.get(code)
        if paths is None:
            paths = self._paths[code] = _paths(code)
        arguments = frame.f_locals
        members = getattr(arguments.get("self"), "__dict__", None)
        if isinstance(members, dict):
            for kind in _MEMBERS:
                held = members.get(kind)
                for name, value in held.items() if isinstance(held, dict) else ():
                    self._note(held, name, value)
        for root, name, steps in paths:
            value = _MISSING
            if root == "global":
                if name in frame.f_globals:
                    value = self._note(frame.f_globals, name, frame.f_globals[name])
            elif name in arguments:
                value = arguments[name]
                if root == "cell":
                    self._read_cell(code, name)
                self._meet(value)
            for kind, key in steps:
                if value is _MISSING:
                    break
                value = self._attribute(value, key) if kind == "attribute" else self._entry(value, key)

    def _note(self, holder: Any, key: Any, found: Any) -> Any:
        entries = len(found) if isinstance(found, dict | list | tuple | set) else None
        self.found[id(holder), key] = (holder, key, found, entries)
        self._meet(found)
        return found

    def _meet(self, value: Any) -> None:
        """Keep a function, whose closure tells where its names are."""
        function = getattr(value, "__func__", value)
        code = getattr(function, "__code__", None)
        if code is not None:
            self._functions[code] = function

    def _read_cell(self, code: CodeType, name: str) -> None:
        function = self._functions.get(code)
        if function is not None and name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                self.found[id(cell), None] = (cell, None, cell.cell_contents, None)
            except ValueError:
                return
            self._meet(cell.cell_contents)

    def _attribute(self, value: Any, name: str) -> Any:
        if isinstance(value, _core.Tensor):
            return _MISSING
        own = getattr(value, "__dict__", None)
        if isinstance(own, dict):
            if name in own:
                return self._note(own, name, own[name])
            for kind in _MEMBERS:
                held = own.get(kind)
                if isinstance(held, dict) and name in held:
                    return self._note(held, name, held[name])
        for base in type.mro(value if isinstance(value, type) else type(value)):
            if name in vars(base):
                found = vars(base)[name]
                if _is_plain(found):
                    return self._note(vars(base), name, found)
                self._meet(found)
                return _MISSING
        return _MISSING

    def _entry(self, value: Any, key: Any) -> Any:
        if type(value) in (dict, list, tuple):
            try:
                return self._note(value, key, value[key])
            except LookupError:
                return _MISSING
        return _MISSING

    def _read_groups(self, optimizer: Any) -> None:
        members = getattr(optimizer, "__dict__", {})
        state = members.get("state")
        if isinstance(state, dict):
            self._note(members, "state", state)
            for p, begun in state.items():
                self._note(state, p, begun)
                for key, value in begun.items() if isinstance(begun, dict) else ():
                    self._note(begun, key, value)
        for group in getattr(optimizer, "param_groups", ()):
            self._note(group, "params", group["params"])
            if getattr(optimizer, "_recorded_as", None) is None:
                for key, value in group.items():
                    if _is_plain(value):
                        self._note(group, key, value)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | complex | str)


class Compiled(_core._Replays):
    """A function whose calls are recorded and replayed."""

    def __init__(self, function: Callable[..., Any], *, fullgraph: bool = False) -> None:
        self._function = function
        self._name = getattr(function, "__qualname__", None) or type(function).__qualname__
        self._fullgraph = fullgraph
        self._pending: list[tuple[Any, int]] = []
        self._given_up: str | None = None
        self._warned: set[str] = set()
        functools.update_wrapper(self, function, updated=())
        _ALL.add(self)

    def _forget(self) -> None:
        self._clear()
        self._pending.clear()
        self._warned.clear()
        self._given_up = None

    def __repr__(self) -> str:
        return f"<compiled {self._name}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return _Method(self, instance)

    def _miss(self, *args: Any, **kwargs: Any) -> Any:
        """A call for which there is no replay."""
        function = self._function
        if self._given_up is not None or _core._is_recording():
            return function(*args, **kwargs)
        if not _core._can_record():
            self._say("a transform, a profiler session, anomaly mode or hooks for saved tensors see what it does")
            return function(*args, **kwargs)
        reads = _Reads(function)
        _core._record_begin(args, kwargs)
        before = sys.getprofile()
        sys.setprofile(reads)
        try:
            result = function(*args, **kwargs)
        except BaseException:
            _core._record_abandon()
            raise
        finally:
            sys.setprofile(before)
        call, refused = _core._record_end(args, kwargs, result)
        if call is None:
            self._give_up(*(refused or ("it cannot be recorded", None)))
            return result
        for place in reads.found.values():
            call._guard(*place)
        self._take(call)
        return result

    def _take(self, call: Any) -> None:
        """Make a program of a call and an earlier one that is like it."""
        # Of the same numbers first: those that differ may be operands, and may be no tensors' numbers at all.
        for with_other_numbers in (False, True):
            for i, (before, attempts) in enumerate(self._pending):
                if not call._is_like(before, with_other_numbers):
                    continue
                replay, why = call._program(before)
                if replay is not None:
                    del self._pending[i]
                    if len(self._all()) >= LIMIT:
                        self._give_up(f"{LIMIT} kinds of calls were recorded, and this one is another", None)
                    else:
                        self._add(replay)
                    return
                if not with_other_numbers:
                    if attempts + 1 >= ATTEMPTS:
                        self._give_up(f"no two calls did the same: {why}", None)
                    else:
                        self._pending[i] = (call, attempts + 1)
                    return
        if len(self._pending) >= LIMIT:
            self._give_up(f"{LIMIT} calls in a row were of different kinds", None)
        else:
            self._pending.append((call, 1))

    def _give_up(self, why: str, where: str | None) -> None:
        self._given_up = why if where is None else f"{why} ({where})"
        self._pending.clear()
        self._clear()
        self._say(self._given_up)

    def _say(self, why: str) -> None:
        if why in self._warned:
            return
        self._warned.add(why)
        message = f"compile: {self._name} runs as it is, and is not replayed: {why}"
        if self._fullgraph:
            raise RuntimeError(message)
        warnings.warn(message, stacklevel=4)

    def explain(self, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None) -> str:
        """What is replayed: for each recording, its steps, with the bytes that each reads and writes.

        Steps with the same run are taken together, block by block; what is ``(a block)`` is never in memory as a whole.
        With ``args``, the function is called with them and ``kwargs`` once more, as any call does, and the steps of the
        recording that is replayed show their time in microseconds, a run that of all its steps.

        >>> f = rg.compile(lambda x: (x * 2).sin().sum())
        >>> x = rg.ones(4)
        >>> for _ in range(3):
        ...     y = f(x)
        >>> "sin" in f.explain(), " us " in f.explain((x,))
        (True, True)
        """
        texts = []
        timed = None
        for i, replay in enumerate(self._all()):
            title = f"{self._name}, recording {i}"
            if args is not None and timed is None:
                timed = replay._timed(title, self._function, args, kwargs or {})
                texts.append(timed or replay._explain(title))
            else:
                texts.append(replay._explain(title))
        if args is not None and timed is None:
            self(*args, **(kwargs or {}))
            return self.explain()
        return "\n\n".join(texts) or (
            f"{self._name}: {self._given_up or 'nothing is recorded yet: the first two calls of a kind are'}"
        )


class Checked(Compiled):
    """A compiled function, some of whose replays are compared with what the function does."""

    def __init__(self, function: Callable[..., Any], *, check: int, fullgraph: bool) -> None:
        super().__init__(function, fullgraph=fullgraph)
        self._every = check
        self._calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _core._can_record():
            self._calls += 1
            for replay in self._all():
                before = _State(replay, args, kwargs) if self._calls % self._every == 0 else None
                replayed = replay._call(self._function, args, kwargs)
                if replayed is None:
                    continue
                if before is None:
                    return replayed[0]
                after = _State(replay, args, kwargs)
                before.restore()
                result = self._function(*args, **kwargs)
                _compare(self._name, (replayed[0], after.kept), (result, _State(replay, args, kwargs).kept))
                return result
        return self._miss(*args, **kwargs)


class _State:
    """What a replay may change: tensors that it writes to, gradients, and the state of the random generator."""

    def __init__(self, replay: Any, args: Any, kwargs: Any) -> None:
        written, leaves = replay._state()
        given = [x for x in _tree.flatten((args, kwargs))[0] if isinstance(x, _core.Tensor)]
        self._tensors = [*written, *given]
        self._leaves = [*leaves, *(x for x in given if x.requires_grad and x.is_leaf)]
        self._grads = [x.grad for x in self._leaves]
        self._generator = random.get_rng_state()
        self.kept = [None if x is None else x.detach().clone() for x in (*self._tensors, *self._grads)]

    def restore(self) -> None:
        with _core._Recording(False):
            for x, kept in zip((*self._tensors, *self._grads), self.kept, strict=True):
                if x is not None and kept is not None and not _core.equal(x, kept):
                    x.detach().copy_(kept)
            for leaf, grad in zip(self._leaves, self._grads, strict=True):
                leaf.grad = grad
        random.set_rng_state(self._generator)


def _compare(name: str, replayed: Any, result: Any) -> None:
    pairs = zip(_tree.flatten(replayed)[0], _tree.flatten(result)[0], strict=True)
    for i, (a, b) in enumerate(pairs):
        if isinstance(a, _core.Tensor) and isinstance(b, _core.Tensor):
            if a.shape == b.shape and a.dtype == b.dtype and _core.allclose(a, b, rtol=1e-5, atol=1e-7, equal_nan=True):
                continue
            how = f"{tuple(a.shape)} {a.dtype} and {tuple(b.shape)} {b.dtype}" + (
                f", by at most {(a - b).abs().max().item():.3g}" if a.shape == b.shape and a.numel() else ""
            )
        elif a is b or a == b:
            continue
        else:
            how = f"{a!r} and {b!r}"
        raise RuntimeError(
            f"compile: {name}: the replay and the function differ in result {i} of those returned and those changed: "
            f"{how}. The function reads something that a recording does not see: see compile()"
        )


class _Method:
    """A compiled function of a class, of an instance."""

    def __init__(self, compiled: Compiled, instance: Any) -> None:
        self.__func__, self.__self__ = compiled, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)


_ALL: weakref.WeakSet[Compiled] = weakref.WeakSet()


def forget() -> None:
    """Forget all recordings."""
    for function in list(_ALL):
        function._forget()


def compiled(model: Any, *, fullgraph: bool, check: int | None) -> Any:
    """The function or module, compiled."""
    if isinstance(model, Compiled):
        return model
    if not callable(model):
        raise TypeError(f"compile: expected a function or a module, got {type(model).__name__}")
    if check is not None and check < 1:
        raise ValueError(f"compile: check is a number of calls, at least 1, got {check}")
    from retrograd.nn import Module

    if isinstance(model, Module):
        from retrograd._compiled_module import CompiledModule

        return CompiledModule(model, _of(model, fullgraph, check))
    return _of(model, fullgraph, check)


def _of(function: Any, fullgraph: bool, check: int | None) -> Compiled:
    if check is None:
        return Compiled(function, fullgraph=fullgraph)
    return Checked(function, check=check, fullgraph=fullgraph)
