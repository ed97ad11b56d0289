"""Every public submodule can be reached from `import retrograd` alone, and costs that import no more than it must."""

import importlib
import pickle
import pkgutil
import subprocess
import sys

import pytest

import retrograd

PUBLIC = [
    module.name
    for module in pkgutil.walk_packages(retrograd.__path__, "retrograd.")
    if not any(part.startswith("_") for part in module.name.split("."))
]
# Functions have the names that their modules would have.
HIDDEN = [
    "retrograd.autograd.gradcheck",
    "retrograd.autograd.variable",
    "retrograd.multiprocessing.spawn",
    "retrograd.nn.utils.spectral_norm",
    "retrograd.nn.utils.weight_norm",
]


def printed(program: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_every_public_submodule_is_an_attribute_and_listed():
    assert {"retrograd.func", "retrograd.nn.functional", "retrograd.optim.adam"} <= set(PUBLIC)
    program = ["import retrograd, sys"]
    for name in PUBLIC:
        package, _, last = name.rpartition(".")
        program += [f"print('{name}' if '{last}' in dir({package}) else 'unlisted')"]
        if name not in HIDDEN:
            program += [f"assert {name} is sys.modules['{name}']"]
    assert printed("\n".join(program)) == PUBLIC


def test_gradcheck_is_a_function_and_the_module_that_has_it():
    module = importlib.import_module("retrograd.autograd.gradcheck")
    assert module.gradcheck is retrograd.autograd.gradcheck
    error = pickle.loads(pickle.dumps(module.GradcheckError("wrong")))
    assert type(error) is module.GradcheckError and error.args == ("wrong",)


def loaded_by(program: str) -> set[str]:
    """The modules that a program loads besides those of an interpreter that runs none."""
    return set(printed(f"import sys; before = set(sys.modules); {program}; print(*set(sys.modules) - before)"))


def test_the_import_loads_the_core_and_what_loads_the_rest():
    # A module of Python takes 0.1 ms and more, `typing` with what it needs 10: the core alone takes 7.
    loaded = loaded_by("import retrograd")
    ours = {name for name in loaded if name.startswith("retrograd") and not name.startswith("retrograd._core.")}
    assert ours == {f"retrograd{name}" for name in ("", "._core", "._inplace", "._lazy", "._size")}
    assert {name for name in loaded if not name.startswith("retrograd")} <= {"_operator", "math", "operator"}


def test_a_backward_pass_loads_nothing():
    program = "x = retrograd.ones(2, requires_grad=True); (x * x).sum().backward()"
    assert loaded_by(f"import retrograd; {program}") == loaded_by("import retrograd")


def test_the_modes_load_no_checks_transforms_or_profiler():
    loaded = loaded_by("import retrograd; retrograd.no_grad; retrograd.autograd.gradcheck; retrograd.nn.Linear")
    assert not {"array", "ctypes", "inspect", "json", "pickle", "pytest", "sqlite3", "struct", "threading"} & loaded
    unasked = ("autograd.functional", "autograd.forward_ad", "func", "optim", "serialization", "testing")
    assert not {f"retrograd.{name}" for name in unasked} & loaded
    assert not [name for name in loaded if "profiler" in name]


def test_names_from_submodules_are_loaded_when_asked_for():
    program = "import retrograd; a = retrograd.autograd; print('DeviceType' in dir(a), 'DeviceType' in vars(a), "
    program += "a.DeviceType is a.profiler_util.DeviceType, 'DeviceType' in vars(a))"
    assert printed(program) == ["True", "False", "True", "True"]


@pytest.mark.parametrize("package", ["retrograd", "retrograd.autograd", "retrograd.utils", "retrograd.testing"])
def test_other_names_are_attribute_errors(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        sys.modules.get(package, retrograd.testing).nothing  # noqa: B018
