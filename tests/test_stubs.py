"""The type stubs are what the built module has, and type checkers can work with them."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "typed_program.py"


def python(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a tool that finds the checked-in stubs first."""
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def mypy(*arguments: object) -> str:
    """What mypy says in the strict mode, as it comes to users."""
    return python("-m", "mypy", "--config-file=", "--strict", "--follow-imports=silent", *arguments).stdout


def test_the_checked_in_stubs_are_those_of_the_built_module():
    run = python("tools/stubs.py", "--check")
    assert run.returncode == 0, run.stderr


def test_stubs_agree_with_the_module_as_introspection_shows_it():
    options = ["--mypy-config-file=pyproject.toml", "--allowlist=tests/stubtest-allowlist.txt", "--concise"]
    run = python("-m", "mypy.stubtest", *options, "retrograd._core")
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_typed_program_is_accepted():
    assert mypy(PROGRAM).startswith("Success")


def test_a_typed_program_runs():
    runpy.run_path(str(PROGRAM), run_name="__main__")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("rg.ones(2).no_such_op()", "attr-defined"),
        ("rg.no_such_op()", "attr-defined"),
        ("rg.ones('two')", "arg-type"),
        ("rg.ones(2) + 'two'", "operator"),
        ("rg.ones(2).sum(axes=0)", "call-overload"),
        ("rg.nn.functional.linear(rg.ones(2, 2))", "call-arg"),
        ("rg.ones(2).grad.sum()", "union-attr"),
        ("rg.ones(2).is_leaf = True", "misc"),
    ],
)
def test_a_wrong_program_is_refused(line, code, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"import retrograd as rg\n{line}\n")
    assert f"[{code}]" in mypy(program)


def test_a_name_that_a_module_lacks_is_an_error(tmp_path):
    modules = ["autograd", "fft", "func", "linalg", "masked", "nn", "nn.functional", "random", "sparse", "special"]
    modules += ["autograd.forward_ad", "cpu", "serialization", "utils"]
    program = tmp_path / "program.py"
    program.write_text("import retrograd as rg\n" + "".join(f"rg.{module}.no_such_name\n" for module in modules))
    assert mypy(program).count('has no attribute "no_such_name"') == len(modules)


def test_the_generator_names_what_lacks_types(tmp_path):
    """A member that `tools/core.pyi` does not know, and one that the module does not have."""
    by_hand = tmp_path / "core.pyi"
    text = (ROOT / "tools" / "core.pyi").read_text()
    by_hand.write_text(text.replace("    def retain_grad(", "    def retain_gradient("))
    code = "import stubs, pathlib, sys; stubs.BY_HAND = pathlib.Path(sys.argv.pop()); stubs.main()"
    run = python("-c", f"import sys; sys.path.insert(0, 'tools'); {code}", "--check", by_hand)
    assert run.returncode == 1
    assert "Tensor.retain_grad has no types: add it to Tensor in tools/core.pyi" in run.stderr
    assert "Tensor.retain_gradient is in tools/core.pyi, but not in the built module" in run.stderr
