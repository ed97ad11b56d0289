"""Names: what the error of a missing one says, what `dir` lists, and that everything has a signature."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import retrograd as rg
from retrograd._torch_names import ABSENT


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        ("retrograd", "manual_sed", "did you mean 'manual_seed'?"),
        ("retrograd", "Linear", "did you mean 'retrograd.nn.Linear'?"),
        ("retrograd", "lstsq", "torch has it, retrograd does not; use 'retrograd.linalg.lstsq'"),
        (
            "retrograd",
            "quantize_per_tensor",
            "torch has it, retrograd does not; nothing is quantised",
        ),
        ("retrograd", "float8_e5m2", "torch has it, retrograd does not; there is no such dtype; the smallest are"),
        ("retrograd", "contrib", "torch has it, retrograd does not"),
        ("retrograd.nn", "Lineer", "did you mean 'Linear'?"),
        ("retrograd.nn", "LAYERNORM", "did you mean 'LayerNorm'?"),
        ("retrograd.nn", "relu", "did you mean 'retrograd.relu'?"),
        ("retrograd.nn.functional", "scaled_mm", "torch has it, retrograd does not"),
        ("retrograd.nn.functional", "RELU", "did you mean 'relu'?"),
        ("retrograd.nn.init", "xavier_unifrom_", "did you mean 'xavier_uniform_'?"),
        ("retrograd.linalg", "eigvls", "did you mean 'eigvals'?"),
        ("retrograd.optim", "Adm", "did you mean 'Adam'?"),
        ("retrograd.optim.lr_scheduler", "SetpLR", "did you mean 'StepLR'?"),
        ("retrograd.distributions", "Norml", "did you mean 'Normal'?"),
        ("retrograd.utils.data", "IterDataPipe", "torch has it, retrograd does not; write an IterableDataset"),
    ],
)
def test_a_missing_name_says_what_to_use(module, name, advice):
    with pytest.raises(AttributeError) as caught:
        getattr(importlib.import_module(module), name)
    phrase, _, rest = str(caught.value).partition(": ")
    assert phrase == f"module {module!r} has no attribute {name!r}"
    assert rest.startswith(advice)
    assert (caught.value.name, caught.value.obj) == (name, None)


@pytest.mark.parametrize("name", ["zzzzzz", "_zeros", "__wrapped__"])
def test_a_name_like_no_other_has_the_message_of_python(name):
    with pytest.raises(AttributeError, match=f"^module 'retrograd' has no attribute '{name}'$"):
        getattr(rg, name)


def test_names_of_torch_are_loaded_at_the_error_alone():
    program = "import sys, retrograd as r; hasattr(r, '_private'); print('retrograd._torch_names' in sys.modules); "
    program += "hasattr(r, 'absent'); print('retrograd._torch_names' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


def test_the_list_of_absent_names_is_sorted_and_of_modules_that_are_there():
    for module, names in ABSENT.items():
        assert names.split() == sorted(names.split())
        assert importlib.import_module(f"retrograd.{module}".rstrip("."))


def test_dir_lists_public_names_only():
    assert set(dir(rg)) == set(rg.__all__)
    for module in (rg.nn, rg.nn.functional, rg.linalg, rg.optim, rg.nn.init, rg.distributions):
        assert not {"TYPE_CHECKING", "annotations", "Any", "Callable", "math"} & set(dir(module))
        assert not [name for name in dir(module) if name.startswith("_")]


def callables():
    """Public functions and methods, by their full names."""
    modules = [info.name for info in pkgutil.walk_packages(rg.__path__, "retrograd.") if "._" not in info.name]
    for module in map(importlib.import_module, ["retrograd", *modules]):
        for name in dir(module):
            value = getattr(module, name)
            if isinstance(value, type) and value.__module__.startswith("retrograd"):
                for method in vars(value):
                    if not method.startswith("_") and callable(getattr(value, method)):
                        yield f"{module.__name__}.{name}.{method}", getattr(value, method)
            elif inspect.isroutine(value) and getattr(value, "__module__", "") != "time":  # a clock, in C
                yield f"{module.__name__}.{name}", value


def test_every_function_and_method_has_a_signature():
    found = dict(callables())
    assert len(found) > 3000
    lacking = []
    for name, value in found.items():
        try:
            inspect.signature(value)
        except (TypeError, ValueError):
            lacking.append(name)
    assert lacking == []


def test_names_that_torch_has_twice():
    x = rg.tensor([[1.0, 3.0], [2.0, 6.0]])
    assert rg.spmm(rg.eye(2).to_sparse(), x).tolist() == x.tolist()
    assert rg.nn.functional.relu_(rg.tensor([-1.0])).tolist() == [0.0]
    assert rg.threshold_(rg.tensor([-1.0]), 0.0, 5.0).tolist() == [5.0]
    assert rg.GradScaler is rg.amp.GradScaler
    assert rg.nn.functional.conv_tbc is rg.conv_tbc


def test_batch_norm_without_statistics_can_be_mapped():
    model = rg.nn.Sequential(rg.nn.BatchNorm1d(2, affine=False), rg.nn.Sequential(rg.nn.InstanceNorm1d(2)))
    assert rg.func.replace_all_batch_norm_modules_(model) is model
    assert list(model.state_dict()) == [] and model[0].running_mean is None and not model[0].track_running_stats
    x = rg.arange(12.0).view(3, 2, 2)
    assert rg.vmap(model[0])(x).tolist() == rg.stack([model[0](one) for one in x]).tolist()
    single = rg.nn.BatchNorm1d(2)
    rg.func.replace_all_batch_norm_modules_(single)
    assert single.num_batches_tracked is None


@pytest.mark.parametrize(("mode", "number"), [("default", 0), ("warn", 1), ("error", 2), (0, 0), (1, 1), (2, 2)])
def test_the_mode_of_deterministic_algorithms_has_a_number(mode, number):
    try:
        rg.set_deterministic_debug_mode(mode)
        assert rg.get_deterministic_debug_mode() == number
        assert rg.are_deterministic_algorithms_enabled() is (number > 0)
        assert rg.is_deterministic_algorithms_warn_only_enabled() is (number == 1)
    finally:
        rg.use_deterministic_algorithms(False)
    assert rg.get_deterministic_debug_mode() == 0


def test_other_modes_of_deterministic_algorithms_are_refused():
    with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`, but got x"):
        rg.set_deterministic_debug_mode("x")
    with pytest.raises(RuntimeError, match="expected 0, 1, or 2, but got 3"):
        rg.set_deterministic_debug_mode(3)
    with pytest.raises(TypeError, match="debug_mode must be str or int, but got <class 'float'>"):
        rg.set_deterministic_debug_mode(1.5)
