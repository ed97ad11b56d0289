"""The example of the Gaussian process finds its parameters, judges itself, and leaves its picture."""

import subprocess
import sys
from pathlib import Path

FIT = Path(__file__).parents[1] / "examples" / "gaussian_process" / "fit.py"


def fit(output, *arguments):
    command = [sys.executable, str(FIT), "--output", str(output), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_parameters_are_found(tmp_path):
    run = fit(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "where 0.6 was true" in run.stdout
    assert (tmp_path / "process.png").read_bytes().startswith(b"\x89PNG")


def test_a_fit_that_ends_early_fails(tmp_path):
    run = fit(tmp_path, "--iterations", "2")
    assert run.returncode == 1
    assert "FAILED: the fit did not converge" in run.stderr
