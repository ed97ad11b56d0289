"""The fixtures for pytest: verdicts, what a failure shows, seeds, and that nothing but the plugin needs pytest."""

import importlib
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import retrograd

ROOT = Path(__file__).parents[1]
HALF = """
import retrograd as rg


class Half(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0] * g


def point():
    return rg.randn(3, dtype=rg.float64, requires_grad=True)

"""


# Where the package is installed, pytest finds the plugin itself, and refuses to have it named too.
NAMED = () if any(p.name == "retrograd" for p in entry_points(group="pytest11")) else ("-p", "retrograd.testing.plugin")


@pytest.fixture
def run(tmp_path):
    """Run pytest on a file with this code, in a process of its own."""

    def run(code, *arguments, plugin=NAMED, path=()):
        file = tmp_path / "test_it.py"
        file.write_text(HALF + code)
        # the package may be installed, or found through PYTHONPATH
        places = [*path, str(Path(retrograd.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", *plugin, *arguments, file],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_right_derivatives_pass(run):
    done = run("""
def test_it(gradcheck, gradgradcheck):
    assert gradcheck(lambda x: x.exp(), point(), check_forward_ad=True, check_batched_grad=True) is True
    assert gradgradcheck(lambda x: x.exp(), point(), fast_mode=True) is True
    assert gradcheck(Half.apply, point(), raise_exception=False) is False
""")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_wrong_derivative_fails_with_the_diagnosis_alone(run):
    done = run("""
def test_it(gradcheck):
    gradcheck(Half.apply, point())


def test_second(gradgradcheck):
    third = type("Third", (Half,), {"backward": staticmethod(lambda ctx, g: (ctx.saved_tensors[0] * g).detach())})
    gradgradcheck(third.apply, point())
""")
    assert done.returncode == 1 and "2 failed" in done.stdout
    for said in (
        "Failed: Jacobian mismatch for output 0 with respect to input 0",
        "Worst at input 0 (x), entry (",
        "Likely cause: the gradient is 0.5 times what it should be",
        "The random numbers of this test start from seed",
        "Failed: Numerical gradient for function expected to be zero",
    ):
        assert said in done.stdout
    # lines of the test, and none of the package
    assert "gradcheck(Half.apply, point())" in done.stdout
    named = re.findall(r"^(\S+\.py):\d+: ", done.stdout, re.MULTILINE)
    assert set(named) == {"test_it.py"}
    assert "_differences" not in done.stdout and "plugin.py" not in done.stdout and "During handling" not in done.stdout


def test_other_errors_come_through(run):
    done = run("""
def test_it(gradcheck):
    gradcheck(lambda x: x, point().detach())
""")
    assert "ValueError: gradcheck expects at least one input tensor to require gradient" in done.stdout


def test_each_test_has_a_seed_of_its_own_that_stays(run):
    code = """
import pytest


@pytest.fixture
def early():
    return point().tolist()


@pytest.mark.parametrize("n", [1, 2])
def test_it(early, gradcheck, n):
    print("points", early, point().tolist())


def test_state_before():
    rg.manual_seed(7)
    assert rg.rand(1).item() == rg.rand(1, generator=rg.Generator().manual_seed(7)).item()


def test_in_between(gradcheck):
    rg.manual_seed(8)


def test_state_after():
    generator = rg.Generator().manual_seed(7)
    rg.rand(1, generator=generator)
    assert rg.rand(1).item() == rg.rand(1, generator=generator).item()
"""
    runs = [run(code, "-s") for _ in range(2)]
    assert [done.returncode for done in runs] == [0, 0], runs[0].stdout
    points = [re.findall(r"points (.*)", done.stdout) for done in runs]
    assert points[0] == points[1] and len(set(points[0])) == 2


def test_the_example_of_the_documentation_runs(run):
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/gradcheck.md").read_text(), re.MULTILINE | re.DOTALL)
    (code,) = [code for code in blocks if "def test_" in code]
    done = run(code)
    assert "1 passed" in done.stdout, done.stdout


def test_an_installed_package_needs_no_option(run, tmp_path):
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert points == {"retrograd": "retrograd.testing.plugin"}
    (tmp_path / "site/retrograd_probe-1.dist-info").mkdir(parents=True)
    (tmp_path / "site/retrograd_probe-1.dist-info/METADATA").write_text("Name: retrograd-probe\nVersion: 1\n")
    entries = "".join(f"{name} = {module}\n" for name, module in points.items())
    (tmp_path / "site/retrograd_probe-1.dist-info/entry_points.txt").write_text(f"[pytest11]\n{entries}")
    done = run(
        "def test_it(gradcheck):\n    assert gradcheck(rg.exp, point())\n", plugin=(), path=[str(tmp_path / "site")]
    )
    assert "1 passed" in done.stdout, done.stdout


def test_only_the_plugin_imports_pytest():
    code = "import sys; sys.modules['pytest'] = None; import retrograd.testing; assert '_pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    plugin = importlib.import_module("retrograd.testing.plugin")
    package = Path(retrograd.__file__).parent
    files = [Path(folder, name) for folder, _, names in os.walk(package, followlinks=True) for name in names]
    texts = {path: path.read_text() for path in files if path.suffix == ".py"}
    importing = [path for path, text in texts.items() if re.search(r"^\s*(import|from) pytest", text, re.MULTILINE)]
    assert importing == [Path(plugin.__file__)]
