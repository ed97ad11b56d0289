"""The switch: `import torch` answers with retrograd, says so as torch would, and can be put back."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import io
import os
import pickle
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import retrograd as rg
from retrograd.torch_version import TorchVersion


@pytest.fixture
def torch() -> Iterator[types.ModuleType]:
    rg.install_as_torch()
    try:
        yield importlib.import_module("torch")
    finally:
        rg.uninstall_as_torch()


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python ARGUMENTS` where retrograd is found, in a folder of its own."""

    def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
        places = [str(Path(rg.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
        command = [sys.executable, *map(str, arguments)]
        settings = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, **options}
        return subprocess.run(command, timeout=120, **settings)  # type: ignore[call-overload, no-any-return]

    return run


def test_modules_are_the_very_modules(torch: types.ModuleType) -> None:
    import torch.nn as nn
    import torch.nn.functional as F
    import torch.optim.lr_scheduler
    from torch import Tensor, optim
    from torch.autograd.functional import jacobian
    from torch.nn import Linear
    from torch.utils.data import DataLoader

    assert torch is rg and sys.modules["torch"] is rg and Tensor is rg.Tensor
    assert nn is rg.nn and F is rg.nn.functional and optim is rg.optim
    assert torch.optim.lr_scheduler is rg.optim.lr_scheduler
    assert jacobian is rg.autograd.functional.jacobian
    assert Linear is rg.nn.Linear and DataLoader is rg.utils.data.DataLoader
    assert nn.__spec__.name == "retrograd.nn"


def test_importing_a_module_does_not_hide_the_function_of_its_name(torch: types.ModuleType) -> None:
    from torch.autograd.gradcheck import GradcheckError

    assert issubclass(GradcheckError, RuntimeError)
    assert torch.autograd.gradcheck is rg.autograd.gradcheck.__globals__["gradcheck"]


def test_modules_that_are_not_there_are_not_found(torch: types.ModuleType) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'torch\.nothing'"):
        importlib.import_module("torch.nothing")
    assert importlib.util.find_spec("torch.nothing") is None
    assert importlib.util.find_spec("torch") is not None
    finder = sys.meta_path[0]
    for name, locations in (("torch.nn", []), ("torch.nn.functional", None)):
        spec = finder.find_spec(name, None)  # as before a program has imported it
        assert spec is not None and spec.submodule_search_locations == locations
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from torch.nn import Nothing")


def test_what_is_printed_is_torch(torch: types.ModuleType) -> None:
    x = torch.ones(2, dtype=torch.float64)
    assert repr(x) == str(x) == f"{x}" == "tensor([1., 1.], dtype=torch.float64)"
    assert repr(x.shape) == "torch.Size([2])" and repr(x.dtype) == "torch.float64"
    assert repr(x.device) == "device(type='cpu')"
    assert repr(torch.strided) == "torch.strided" and repr(torch.contiguous_format) == "torch.contiguous_format"
    assert repr(torch.nn.Parameter(x)).startswith("Parameter containing:\ntensor([1., 1.], dtype=torch.float64, ")
    assert x.type() == torch.typename(x) == "torch.DoubleTensor"
    assert x.type(torch.float32).dtype is x.type("torch.FloatTensor").dtype is torch.float32
    assert "layout=torch.sparse_coo" in repr(torch.eye(2).to_sparse())
    assert repr(torch.max(torch.ones(1, 1), 1)).startswith("torch.return_types.max(\nvalues=")
    assert repr(type(x)) == "<class 'torch.Tensor'>"
    assert torch.typename(torch.nn.Linear(1, 1)) == "torch.nn.modules.linear.Linear"


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("torch.Tensor", "torch"),
        ("torch.relu", "torch"),
        ("torch.nn.functional.relu", "torch.nn.functional"),
        ("torch.nn.Linear", "torch.nn.modules.linear"),
        ("torch.optim.Adam", "torch.optim.adam"),
        ("torch.func.grad", "torch.func"),
        ("torch.FloatTensor", "torch"),
        ("torch.distributions.Normal", "torch.distributions.normal"),
    ],
)
def test_classes_and_functions_say_that_they_are_of_torch(torch: types.ModuleType, name: str, home: str) -> None:
    import pkgutil

    thing = pkgutil.resolve_name(name)
    assert thing.__module__ == home
    assert getattr(sys.modules[home], thing.__name__) is thing
    assert pickle.loads(pickle.dumps(thing)) is thing


def test_modules_loaded_later_are_named_too(program: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    code = """
import sys, retrograd
retrograd.install_as_torch()
import torch
assert "retrograd.distributions" not in sys.modules
print(torch.distributions.Normal, sys.modules["torch.distributions"] is retrograd.distributions)
retrograd.uninstall_as_torch()
print(retrograd.distributions.Normal, [name for name in sys.modules if name.startswith("torch")])
"""
    run = program("-c", code)
    assert run.stdout.splitlines() == [
        "<class 'torch.distributions.normal.Normal'> True",
        "<class 'retrograd.distributions.normal.Normal'> []",
    ], run.stderr


def test_a_module_that_is_loaded_after_the_switch_is_not_named(torch: types.ModuleType) -> None:
    spec = sys.meta_path[0].find_spec("retrograd.version", rg.__path__)
    assert spec is not None and spec.loader is not None
    rg.uninstall_as_torch()
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert "torch.version" not in sys.modules


def test_the_version_compares_as_one(torch: types.ModuleType) -> None:
    assert torch.__version__ == torch.version.__version__ == "2.13.0+retrograd"
    assert torch.__version__ > "2.4" and torch.__version__ >= (2, 13) and not torch.__version__ < "1.13.1"


def test_versions() -> None:
    earlier = ["1.9", "1.10.0a0", "1.10.0b2", "1.10.0rc1", "1.10.0rc2", "1.10", "1.10.0+cpu", "2.0.1", "2.13.0"]
    for i, a in enumerate(earlier):
        for b in earlier[i + 1 :]:
            assert TorchVersion(a) < b and TorchVersion(a) <= b and TorchVersion(a) != b
            assert TorchVersion(b) > a and TorchVersion(b) >= a and TorchVersion(b) != a
    assert TorchVersion("1.10") == "1.10.0" == TorchVersion("1.10.0") and TorchVersion("1.10") <= (1, 10)
    assert TorchVersion("1.10") == TorchVersion("v1.10.0") and TorchVersion("1.10") != "trunk"
    assert hash(TorchVersion("1.10")) == hash("1.10") and isinstance(TorchVersion("1"), str)
    assert TorchVersion("1.10") != 1.10


def test_everything_is_put_back() -> None:
    names = {name: sys.modules[name] for name in sys.modules if name.partition(".")[0] == "torch"}
    said = [rg.Tensor, rg.relu, rg.nn.functional.relu, rg.nn.Linear, rg.optim.Adam, rg.FloatTensor]
    before = [thing.__module__ for thing in said]
    members = [vars(rg.Tensor)["__repr__"], vars(rg.Tensor)["type"], vars(rg.dtype)["__repr__"]]
    finders, version = list(sys.meta_path), rg.__version__
    rg.install_as_torch()
    import torch.nn  # noqa: F401

    rg.install_as_torch()  # a second time: nothing
    assert len(sys.meta_path) == len(finders) + 1
    rg.uninstall_as_torch()
    rg.uninstall_as_torch()
    assert [thing.__module__ for thing in said] == before
    assert [vars(rg.Tensor)["__repr__"], vars(rg.Tensor)["type"], vars(rg.dtype)["__repr__"]] == members
    assert sys.meta_path == finders and rg.__version__ is rg.version.__version__ is version
    assert {name: sys.modules[name] for name in sys.modules if name.partition(".")[0] == "torch"} == names
    assert repr(rg.ones(1, dtype=rg.float64)) == "tensor([1.], dtype=retrograd.float64)"
    assert repr(rg.ones(1).shape) == "retrograd.Size([1])"


def test_the_real_torch_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    real = types.ModuleType("torch")
    real.__file__ = "/somewhere/torch/__init__.py"
    monkeypatch.setitem(sys.modules, "torch", real)
    with pytest.raises(RuntimeError, match=r"torch is already imported, from /somewhere/.*retrograd run"):
        rg.install_as_torch()
    rg.uninstall_as_torch()
    assert sys.modules["torch"] is real and repr(rg.float32) == "retrograd.float32"


def test_threads_install_one_switch() -> None:
    count = len(sys.meta_path)
    threads = [threading.Thread(target=rg.install_as_torch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert len(sys.meta_path) == count + 1
    finally:
        rg.uninstall_as_torch()
    assert len(sys.meta_path) == count


def test_copies_and_pickles(torch: types.ModuleType) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    x = torch.ones(1, 2)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(twin(x), model(x))
    assert b"torch.nn.modules.container" in pickle.dumps(model)
    for value in (torch.float32, torch.Size([2]), torch.device("cpu"), torch.max(torch.ones(1, 1), 1)):
        assert pickle.loads(pickle.dumps(value)) == value


def test_pickles_of_before_are_read(torch: types.ModuleType) -> None:
    rg.uninstall_as_torch()
    data = pickle.dumps([rg.ones(2), rg.nn.Linear(1, 1), rg.float64])
    assert b"torch" not in data.replace(b"_as_torch", b"")
    rg.install_as_torch()
    x, layer, dtype = pickle.loads(data)
    assert x.tolist() == [1.0, 1.0] and type(layer) is torch.nn.Linear and dtype is torch.float64


@pytest.mark.parametrize("name", ["weights", "weights.safetensors", "weights.pt"])
def test_files_are_those_of_torch(torch: types.ModuleType, tmp_path: Path, name: str) -> None:
    model = torch.nn.Linear(2, 3)
    torch.save(model.state_dict(), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(b"PK")
    assert torch.equal(torch.load(tmp_path / name)["weight"], model.weight)


def test_files_in_memory_are_those_of_torch(torch: types.ModuleType) -> None:
    file = io.BytesIO()
    torch.save({"model": torch.nn.Linear(1, 1), "dtype": torch.float16}, file)
    assert file.getvalue().startswith(b"PK")
    file.seek(0)
    assert torch.load(file, weights_only=False)["dtype"] is torch.float16
    rg.uninstall_as_torch()
    file = io.BytesIO()
    rg.save(rg.ones(2, dtype=rg.float64), file)
    assert not file.getvalue().startswith(b"PK")
    rg.install_as_torch()
    file.seek(0)
    assert torch.load(file).dtype is torch.float64


def test_structures_name_dtypes_as_they_do_without_the_switch(torch: types.ModuleType) -> None:
    from retrograd.serialization import _structure

    structure, _ = _structure.encode([torch.float16, torch.ones(2, dtype=torch.float64)])
    rg.uninstall_as_torch()
    assert _structure.encode([rg.float16, rg.ones(2, dtype=rg.float64)])[0] == structure


# ---- python -m retrograd run

SCRIPT = """
import sys
import torch

print(__name__, __file__, sys.argv, sys.path[0], torch.__version__, sep="|")


class Mine(torch.nn.Module):
    pass


if sys.argv[1:] == ["raise"]:
    raise ValueError("mine")
if sys.argv[1:] == ["exit"]:
    sys.exit(3)
if sys.argv[1:] == ["spawn"]:
    import subprocess

    import pickle

    assert type(pickle.loads(pickle.dumps(Mine()))) is Mine
    subprocess.run([sys.executable, "-c", "import torch; print(torch.ones(1).shape)"], check=True)
"""


def test_a_script_runs_as_python_runs_it(
    program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(SCRIPT)
    run = program("-W", "error", "-m", "retrograd", "run", script, "a", "--b")
    expected = f"__main__|{script}|{[str(script), 'a', '--b']}|{folder}|2.13.0+retrograd\n"
    assert (run.stdout, run.stderr, run.returncode) == (expected, "", 0)
    assert program("-m", "retrograd", "run", script, "exit").returncode == 3
    failed = program("-m", "retrograd", "run", script, "raise")
    assert failed.returncode == 1
    assert failed.stderr == (
        f'Traceback (most recent call last):\n  File "{script}", line 13, in <module>\n    raise ValueError("mine")\n'
        "ValueError: mine\n"
    )
    assert program("-m", "retrograd", "run", script, "spawn").stdout.endswith("\ntorch.Size([1])\n")
    module = program("-m", "retrograd", "run", "-m", "script", "x", cwd=folder)
    assert module.stdout.startswith(f"__main__|{script}|{[str(script), 'x']}|{folder}|")
    code = "import torch.nn.functional as F, torch; print(F.relu(torch.ones(1)), __debug__)"
    assert program("-O", "-m", "retrograd", "run", "-c", code).stdout == "tensor([1.]) False\n"


def test_workers_of_a_script_have_the_switch(
    program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text("""
import multiprocessing

import torch


def double(x):
    return 2 * x


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [torch.ones(2)]))
""")
    run = program("-m", "retrograd", "run", "script.py")
    assert run.stdout == "[tensor([2., 2.])]\n", run.stderr


def test_wrong_commands_say_how(program: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    for arguments in ([], ["run"], ["check"], ["walk", "x"]):
        run = program("-m", "retrograd", *arguments)
        assert run.returncode == 2 and run.stderr.startswith("usage: python -m retrograd run")
    run = program("-m", "retrograd", "--help")
    assert run.returncode == 0 and run.stdout.startswith("usage: ")


def test_an_interpreter_that_ignores_the_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from retrograd import __main__ as command

    flags = types.SimpleNamespace(ignore_environment=1)
    monkeypatch.setattr(command, "sys", types.SimpleNamespace(flags=flags, stderr=sys.stderr))
    assert command.main(["run", "script.py"]) == 2 and "leave out -E and -I" in capsys.readouterr().err


# ---- pytest -p retrograd.as_torch


def test_pytest_runs_tests_of_torch(program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import torch\n")
    (tmp_path / "test_it.py").write_text(
        "import torch\n\ndef test_it():\n    assert torch.__version__.endswith('+retrograd')\n"
    )
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run = program(*command, "-p", "retrograd.as_torch")
    assert run.returncode == 0 and "1 passed" in run.stdout, run.stdout + run.stderr
    if importlib.util.find_spec("torch") is None:
        assert program(*command).returncode != 0


def test_the_plugin_takes_the_switch_back() -> None:
    from retrograd import as_torch

    as_torch.pytest_addoption(None)
    try:
        assert sys.modules["torch"] is rg
    finally:
        as_torch.pytest_unconfigure(None)
    assert sys.modules.get("torch") is not rg
