"""Calls of a tensor, or of a tensor with another one or integers, take a short cut around the interpreter of
signatures (`rust/retrograd-python/src/call/direct.rs`), with the last arguments by name or not. Programs in which
tensors may be asked take none; so each call is made twice, before and after the first object of a subclass, and must do
the same.
"""

import inspect
import json
import subprocess
import sys

import pytest


def calls_of_all_callables() -> None:
    """Prints what calls of every callable of the roster did that did not do the same without the short cut."""
    import warnings

    import retrograd as rg
    from retrograd import _core

    warnings.simplefilter("ignore")

    def operands(requires_grad: bool) -> dict[str, object]:
        matrix = rg.tensor([[0.5, -0.25], [0.75, 1.5]], requires_grad=requires_grad)
        vector = rg.tensor([0.25, 0.5], requires_grad=requires_grad)
        return {"m": matrix * 1 if requires_grad else matrix, "v": vector, "n": rg.tensor([1, 0]), "s": rg.tensor(1.0)}

    forms = [
        ("m",), ("v",), ("n",), ("s",), ("m", "m"), ("m", "v"), ("v", "n"), ("n", "n"), ("m", "s"), ("s", "n"),
        ("m", 0), ("m", 1), ("n", 1), ("s", 0), ("m", 0, 1), ("m", 2, 2), ("m", 4), ("m", -1), ("m", 9), ("m", 1, 2, 2),
        ("m", (0, 1)), ("m", (4,)), ("m", ()), ("m", [2, 2]), ("m", True), ("m", 2**63), ("m", 0.5), ("m", None),
        ("m", (0, True)), ("m", (2**64,)), ("m", "m", 1), ("m", "m", "m"),
    ]  # fmt: skip

    # The last arguments of these by names of parameters, in their order and in the opposite one, and by other names.
    named_forms = [("m", 0), ("n", 1), ("m", -1), ("m", (0, 1)), ("m", (4,)), ("m", None), ("m", "m"), ("m", "n"),
                   ("m", 0, 1), ("m", 1, 0), ("m", 2**64)]  # fmt: skip
    others = {"dim": "axis", "input": "x", "other": "x2"}

    def shown(value: object) -> object:
        if not isinstance(value, rg.Tensor):
            return [shown(item) for item in value] if isinstance(value, tuple | list) else repr(value)
        facts = [list(value.shape), str(value.dtype), str(value.layout), type(value.grad_fn).__name__]
        dense = value.layout is rg.strided
        return facts + ([list(value.stride()), value.storage_offset(), repr(value.tolist())] if dense else [])

    def done(function: object, form: tuple[object, ...], requires_grad: bool, names: tuple[str, ...] = ()) -> object:
        rg.manual_seed(1)
        given = operands(requires_grad)
        args = [given[a] if isinstance(a, str) else a for a in form]
        try:
            first = len(args) - len(names)
            result = function(*args[:first], **dict(zip(names, args[first:], strict=True)))  # type: ignore[operator]
        except Exception as e:
            return [type(e).__name__, str(e)]
        same = [i for i, a in enumerate(args) if a is result]
        return [shown(result), same, [shown(a) for a in args], [a._version for a in given.values()]]

    modules = {path: getattr(_core, "_" + path.replace(".", "_")) for path in _core_modules(_core)}
    calls = {}
    for one in _core._roster():
        name, module = one["name"], one["module"]
        if "empty" in name or "resize" in name:  # Memory of any content.
            continue
        owner = (modules[module] if module else _core) if one["role"] == "Function" else rg.Tensor
        for form in forms:
            for requires_grad in (False, True):
                calls[f"{one['role']} {module}.{name} {form} {requires_grad}"] = (
                    getattr(owner, name), form, requires_grad
                )  # fmt: skip
            own = [[p[0] for p in params] for params, *_ in one["entries"]]
            for form in named_forms:
                for count in range(1, len(form) + (one["role"] == "Function")):
                    wanted = {tuple(params[len(form) - count : len(form)]) for params in own}
                    wanted |= {tuple(reversed(names)) for names in wanted}
                    wanted |= {tuple(others.get(n, n) for n in names) for names in wanted}
                    for names in sorted(names for names in wanted if len(names) == count):
                        key = f"{one['role']} {module}.{name} {form} by {names}"
                        calls[key] = (getattr(owner, name), form, True, names)
    assert not _core._torch_function_possible()
    direct = {name: done(*call) for name, call in calls.items()}

    class Asked(rg.Tensor):
        pass

    Asked([1.0])
    assert _core._torch_function_possible()
    differing = [[name, direct[name], again] for name, call in calls.items() if (again := done(*call)) != direct[name]]
    json.dump([len(calls), sum(len(did) == 4 for did in direct.values()), differing], sys.stdout)


def _core_modules(core: object) -> list[str]:
    return sorted({one["module"] for one in core._roster() if one["module"]})  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def compared():
    program = "\n".join(inspect.getsource(f) for f in (_core_modules, calls_of_all_callables))
    program = f"import json, sys\n{program}\ncalls_of_all_callables()\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def test_the_short_cut_does_what_the_interpreter_of_signatures_does(compared):
    many, ran, differing = compared
    assert many > 100_000 and ran > 15_000
    assert differing == []


def test_a_mode_sees_calls_that_would_take_the_short_cut(rg):
    seen = []

    class Noting(rg.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function.__name__)
            return function(*args, **(kwargs or {}))

    x = rg.ones(4)
    with Noting():
        x.exp()
        x.add_(x)
        x.view(2, 2)
        rg.exp(x)
        x[1:3]
    assert seen == ["exp", "add_", "view", "exp", "__getitem__"]
