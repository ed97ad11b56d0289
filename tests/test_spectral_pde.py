"""The example of the spectral solver finds the flow, judges itself, and leaves its picture."""

import subprocess
import sys
from pathlib import Path

SOLVE = Path(__file__).parents[1] / "examples" / "spectral_pde" / "solve.py"


def solve(output, *arguments):
    command = [sys.executable, str(SOLVE), "--output", str(output), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_flow_is_found(tmp_path):
    run = solve(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "where 0.05 was true" in run.stdout
    assert (tmp_path / "burgers.png").read_bytes().startswith(b"\x89PNG")


def test_a_fit_that_ends_early_fails(tmp_path):
    run = solve(tmp_path, "--iterations", "3")
    assert run.returncode == 1
    assert "FAILED: the viscosity" in run.stderr and "FAILED: the initial state" in run.stderr
