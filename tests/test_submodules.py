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
# Not needed before somebody asks for them.
LAZY = [
    "retrograd.amp",
    "retrograd.amp.autocast_mode",
    "retrograd.amp.grad_scaler",
    "retrograd.autograd.profiler",
    "retrograd.autograd.profiler_util",
    "retrograd.cpu",
    "retrograd.cpu.amp",
    "retrograd.cpu.amp.autocast_mode",
    "retrograd.cpu.amp.grad_scaler",
    "retrograd.distributed",
    "retrograd.distributions",
    "retrograd.library",
    "retrograd.nn.init",
    "retrograd.nn.modules.linear",
    "retrograd.nn.modules.transformer",
    "retrograd.nn.utils.init",
    "retrograd.nn.utils.memory_format",
    "retrograd.nn.utils.parametrizations",
    "retrograd.nn.utils.parametrize",
    "retrograd.nn.utils.prune",
    "retrograd.nn.utils.rnn",
    "retrograd.nn.utils.stateless",
    "retrograd.optim",
    "retrograd.optim.adam",
    "retrograd.optim.lr_scheduler",
    "retrograd.quasirandom",
    "retrograd.testing",
    "retrograd.testing.plugin",
    "retrograd.utils.checkpoint",
    "retrograd.utils.data",
    "retrograd.utils.graph",
    "retrograd.utils.pytree",
]


def printed(program: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_every_public_submodule_is_an_attribute_and_listed():
    assert {"retrograd.func", "retrograd.nn.functional", *LAZY} <= set(PUBLIC)
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


def test_what_the_import_does_not_need_is_not_loaded():
    loaded = printed("import sys, retrograd; print(*sys.modules)")
    assert not set(LAZY) & set(loaded)
    assert not {"pytest", "json", "sqlite3", "ctypes"} & set(loaded)
    assert not [name for name in loaded if "profiler" in name]


def test_names_from_submodules_are_loaded_when_asked_for():
    program = "import retrograd; a = retrograd.autograd; print('DeviceType' in dir(a), 'DeviceType' in vars(a), "
    program += "a.DeviceType is a.profiler_util.DeviceType, 'DeviceType' in vars(a))"
    assert printed(program) == ["True", "False", "True", "True"]


@pytest.mark.parametrize("package", ["retrograd", "retrograd.autograd", "retrograd.utils", "retrograd.testing"])
def test_other_names_are_attribute_errors(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        sys.modules.get(package, retrograd.testing).nothing  # noqa: B018
