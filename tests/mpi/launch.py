"""Starts ranks, and ends them when their time is over."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent


class Result(NamedTuple):
    code: int
    output: str


def mpiexec():
    """The launcher beside mpi4py; without mpi4py the test is skipped, or fails in `make test-mpi`."""
    if importlib.util.find_spec("mpi4py") is None:
        reason = "needs mpi4py and mpich: make test-mpi installs them"
        if os.environ.get("RETROGRAD_TEST_MPI"):
            pytest.fail(reason)
        pytest.skip(reason)
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else "mpiexec"


def launch(size, *arguments, before=(), options=(), limit=60, interrupt_after=None, **environment):
    """Run Python with the arguments in so many ranks. Past the limit all are killed, and the test fails.

    The command line begins with `before`, and the launcher gets the `options` and the variables of `environment`.
    """
    variables = {**os.environ, "RETROGRAD_TEST_RANKS": str(size), "OMP_NUM_THREADS": "1", **environment}
    for name in ("WORLD_SIZE", "RANK", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        variables.pop(name, None)
    command = [*before, mpiexec(), *options, "-n", str(size), sys.executable, *map(str, arguments)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=variables,
        start_new_session=True,
    )
    try:
        if interrupt_after is not None:
            try:
                process.wait(interrupt_after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"{size} ranks did not end within {limit} s:\n{output}")
    return Result(process.returncode, output)
