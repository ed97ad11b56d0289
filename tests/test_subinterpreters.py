"""Other interpreters of the process cannot import the package: they are told, and do not hang."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
try:
    import _interpreters as interpreters
    create = lambda: interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    create = lambda: interpreters.create(isolated=False)
inside = '''
import sys
sys.path[:] = %r
try:
    import retrograd
    retrograd.ones(2)
except ImportError as error:
    print("refused:", error)
''' % sys.path
"""
RUN = "interpreters.run_string(create(), inside)\n"
USE = "import retrograd; print(retrograd.ones(2).tolist())\n"


@pytest.mark.skipif(sys.platform == "win32", reason="programs are given on the command line")
@pytest.mark.parametrize(("steps", "rows"), [(RUN + USE, "rm"), (USE + RUN + USE, "mrm"), (USE + RUN + RUN, "mrr")])
def test_a_sub_interpreter_is_refused_and_the_main_one_goes_on(steps, rows):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + steps], capture_output=True, text=True, timeout=60, check=True
    )
    want = {"r": "refused: retrograd does not support sub-interpreters", "m": "[1.0, 1.0]"}
    assert done.stdout.splitlines() == [want[row] for row in rows], done.stderr
